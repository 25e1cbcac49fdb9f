"""Two passages about one subject that pull in different directions, as far as single words show it. Pure."""

from __future__ import annotations

import re
import unicodedata
from typing import TYPE_CHECKING, Final

from aria_dream.words.opposites import STATES

if TYPE_CHECKING:
    from aria_dream.ranking.juxtaposition import Juxtaposition

SAME_SUBJECT: Final = 0.5
"""Cosine from which two passages are about one subject; nine in ten of a note's best passages lie below."""
SURELY_SAME_SUBJECT: Final = 0.6
"""The same for listed opposites, of which many are common words."""
_PREFIXES: Final = ("anti", "de", "dis", "non", "un")
_LONG: Final = 6
_TELLING: Final = 4
"""Letters of a listed opposite: `on`, `off` and `use` mean much beside it."""
_WORD: Final = re.compile(r"[^\W\d_]+(?:['\u2019][^\W\d_]+)?")


def tension_of(found: Juxtaposition) -> str:
    """How the two passages pull apart, as a clause for the writer; `""` where nothing shows it.

    One has a word, the other its listed opposite or the word with a prefix that turns it round. A denial in one of them
    is no sign: of the pairs that it brought in two shared vaults hardly one pulled apart.
    """
    resonance = found.resonance
    if resonance is None or resonance.cosine < SAME_SUBJECT:
        return ""
    first, second = map(_words, resonance.quotes)
    turned = _opposites(first, second, listed=resonance.cosine >= SURELY_SAME_SUBJECT)
    return "" if turned is None else f"they pull apart: “{turned[0]}” here, “{turned[1]}” there"


def _words(quote: str) -> dict[str, str]:
    """The words by their lower case without accents, as written."""
    return {_fold(word): word.lower() for word in _WORD.findall(quote)}


def _fold(word: str) -> str:
    decomposed = unicodedata.normalize("NFKD", word.lower().replace("\u2019", "'"))
    return "".join(sign for sign in decomposed if not unicodedata.combining(sign))


def _opposites(first: dict[str, str], second: dict[str, str], *, listed: bool) -> tuple[str, str] | None:
    """The first word of the one whose opposite only the other has."""
    for key, word in first.items():
        if key in second:
            continue
        other = next((name for name in second if name not in first and _is_opposite(key, name, listed=listed)), None)
        if other is not None:
            return word, second[other]
    return None


def _is_opposite(one: str, other: str, *, listed: bool) -> bool:
    states = STATES.get(one), STATES.get(other)
    if listed and states[0] and states[1] and min(len(one), len(other)) >= _TELLING:
        return states[0][0] == states[1][0] and states[0][1] != states[1][1]
    short, long = sorted((one, other), key=len)
    return len(short) >= _LONG and long.endswith(short) and long.removesuffix(short) in _PREFIXES
