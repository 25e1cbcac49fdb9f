"""Whether an answer tests a seed's claim against its source: told by what it holds, in whatever language.

The prompt asks for a line `Tested:` with a word or a figure of the source as it stands there. So nothing has to be
understood: who looked at the source can show a piece of it that the claim does not hold already.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from aria_dream.ranking.function_words import function_words
from aria_dream.vault.names import fold_path

if TYPE_CHECKING:
    from collections.abc import Sequence

_LABELS = (
    "tested|test|checked|geprüft|getestet|prüfung|testé|vérifié|probado|comprobado|verificado|testado|testato"
    "|verificato|getest|getoetst|sprawdzono|przetestowano|проверено|проверка|检验|檢驗|核实|検証|검증"
)
"""The contract says `Tested:`, and a model that answers in the seed's language forgets."""
_LINE = re.compile(rf"[*_ >-]*(?:{_LABELS})[^:：]{{0,40}}[:：][*_ ]*(?P<said>\S.*)", re.IGNORECASE)
_PIECE = re.compile(r"\d+(?:[.,:]\d+)*|[^\W\d_]+")
_UNSPACED = re.compile(r"[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")
_LEAST_LETTERS = 4
_FEW = 3
"""Pieces of its own below which a source (a bare address, a title) says nothing that could be shown."""


def is_tested(argument: Sequence[str], source: str, claim: str) -> bool:
    """Whether one line of the argument tests the claim against the source. `claim`: all that the writer said of it."""
    said = [found["said"] for line in argument if (found := _LINE.fullmatch(line)) is not None]
    own = _pieces(source) - _pieces(claim)
    if len(own) < _FEW:
        return any(len(_PIECE.findall(line)) >= _FEW or _UNSPACED.search(line) for line in said)
    return any(_pieces(line) & own for line in said)


def _pieces(text: str) -> frozenset[str]:
    """Figures, words that name something, and pairs of characters of scripts that are written without spaces."""
    found: set[str] = set()
    for piece in _PIECE.findall(fold_path(text)):
        if _UNSPACED.search(piece):
            found.update(piece[at : at + 2] for at in range(len(piece) - 1))
        elif piece[0].isdigit() or (len(piece) >= _LEAST_LETTERS and piece not in function_words(None)):
            found.add(piece)
    return frozenset(found)
