"""Data for a model's eyes: wrapped so that no text in it can pass for anything but data.

Three layers, after "Defending Against Indirect Prompt Injection Attacks With Spotlighting" (Hines et al., 2024): a
pair of sentinels with a nonce that is new for each call, a mark before every line between them, and a text in which
nothing is left that ends a sentinel, opens a role of a chat template, or is there without being seen. Marking lowers
how often a model obeys what it reads; it does not end it, so what an answer can do is bounded elsewhere.
"""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass
from itertools import pairwise

LINE_MARK = "│ "
"""Before every line of data: no order in it begins a line, and no line of it looks like a closer."""
NONCE_BYTES = 8

_KEPT_CONTROLS = frozenset("\n\t")
_LINE_ENDS = re.compile("\r\n?|[\u2028\u2029\x0b\x0c\x85]")
_BLANKS = re.compile("[\u2800\u3164\uffa0\u115f\u1160\u17b4\u17b5\u034f\ufe00-\ufe0f\U000e0100-\U000e01ef]")
"""Letters and marks that show nothing, whatever their category says: fillers, joiners, variation selectors."""
_COMBINING = "[\u0300-\u036f\u0483-\u0489\u1ab0-\u1aff\u1dc0-\u1dff\u20d0-\u20ff]"
_STACKED = re.compile(f"({_COMBINING}{{3}}){_COMBINING}+")
_TEMPLATE_WORD = re.compile(r"\[(/?[A-Za-z_]+)\]")
"""With two capitals in a row a role of a chat template: `[INST]`, `[/INST]`, `[TOOL_CALLS]`, `[gMASK]`."""
_ANGLES = str.maketrans({"<": "‹", ">": "›", "\uff1c": "‹", "\uff1e": "›", "\ufe64": "‹", "\ufe65": "›",
                         "◁": "‹", "▷": "›"})  # fmt: skip
_CATEGORIES_GONE = frozenset({"Cc", "Cf", "Cn", "Co"})


@dataclass(frozen=True, slots=True)
class Datamark:
    """The sentinels of one call."""

    nonce: str
    """Unguessable; whoever wrote the data cannot have known it."""

    @property
    def opener(self) -> str:
        """The line before a piece of data."""
        return f"<<<data {self.nonce}>>>"

    @property
    def closer(self) -> str:
        """The line behind it."""
        return f"<<<end {self.nonce}>>>"

    def wrap(self, text: str) -> str:
        """`text`, made harmless, between the sentinels, each of its lines marked. Without a line end."""
        harmless = harmless_text(text)
        while self.nonce in harmless:  # what closes the gap of one may be another
            harmless = harmless.replace(self.nonce, "")
        lines = [f"{LINE_MARK}{line}".rstrip() for line in harmless.split("\n")]
        return "\n".join((self.opener, *lines, self.closer))


def harmless_text(text: str) -> str:
    """`text` as a reader would see it, in NFC, with nothing in it that a program would read as more than text.

    Gone: control, format, bidirectional, tag, private-use and unassigned characters, fillers, variation selectors, the
    fourth and later mark stacked on one letter. Lone surrogates become U+FFFD. Quoted: angle brackets (sentinels, HTML,
    thinking tags, `<|role|>`) become `‹›`, template words in square brackets get round ones. Idempotent.
    """
    one_line_end = _LINE_ENDS.sub("\n", text)
    seen = "".join(map(_seen, one_line_end))
    composed = unicodedata.normalize("NFC", _STACKED.sub(r"\1", _BLANKS.sub("", seen)))
    return _TEMPLATE_WORD.sub(_rounded, composed.translate(_ANGLES))


def _rounded(found: re.Match[str]) -> str:
    word = found[1]
    is_role = any(one.isupper() and two.isupper() for one, two in pairwise(word))
    return f"({word})" if is_role else found[0]


def _seen(character: str) -> str:
    if character.isascii():
        return character if (character >= " " and character != "\x7f") or character in _KEPT_CONTROLS else ""
    category = unicodedata.category(character)
    if category == "Cs":
        return "\ufffd"
    return "" if category in _CATEGORIES_GONE else character
