"""Titles and reasons as inert Markdown: they read as themselves and never become a tag, a link, math or a fetch."""

from __future__ import annotations

import re
import unicodedata

_ENTITY = {"`": "&#96;", "<": "&lt;", "↔": "&harr;", "→": "&rarr;", "⚠": "&#9888;"}
"""Characters that no backslash disarms: a code span has no escapes, plugins look for a raw `<%`, and the arrows are
the separators of our own lines."""
_CHARACTER = {entity: character for character, entity in _ENTITY.items()} | {
    "&middot;": "·", "&larr;": "←", "&#58;": ":", "&#32;": " "
}  # fmt: skip
"""The last four where a line of ours has them for separators, or must not make a link of an address."""
_ALWAYS = frozenset("\\*[]$^~")
_DOUBLED = frozenset("%=:")
"""Harmless alone; `%%` hides, `==` highlights, `::` makes a plugin's inline field."""
_BIDI = re.compile("[\u202a-\u202e\u2066-\u2069]")
_UNESCAPE = re.compile(r"\\([!-/:-@\[-`{-~])|(&(?:#96|lt|harr|rarr|#9888|middot|larr|#58|#32);)")
_ORDINAL = re.compile(r"(\d{1,9})([.)])(?=\s|$)")
_BULLET = frozenset("-+>=")


def clean(text: str) -> str:
    """`text` on one line: control characters and runs of space become one space, direction overrides vanish.

    Lone surrogates (bytes of a file name that are no UTF-8) become U+FFFD. Idempotent; `""` gives `""`.
    """
    without = _BIDI.sub("", text)
    spaced = (_spaced(character) for character in without)
    return " ".join("".join(spaced).split())


def _spaced(character: str) -> str:
    category = unicodedata.category(character)
    if category in ("Cc", "Zl", "Zp"):
        return " "
    return "\ufffd" if category == "Cs" else character


def escape_plain(text: str, *, line_start: bool = False, brackets: bool = False) -> str:
    """`text` (cleaned first) as Markdown that shows exactly it; `unescape_plain` gives the cleaned text back.

    `line_start`: nothing of ours stands before it, so list marks and quotes are disarmed too.
    `brackets`: every `(` is escaped, where one of ours ends the text.
    """
    source = clean(text)
    out = [_escaped(source, at, brackets=brackets) for at in range(len(source))]
    if line_start and source:
        ordinal = _ORDINAL.match(source)
        if ordinal is not None:
            out[ordinal.start(2)] = "\\" + source[ordinal.start(2)]
        elif source[0] in _BULLET:
            out[0] = "\\" + source[0]
        elif source[0] == "#":
            out[0] = "\\#"
    return "".join(out)


def _escaped(source: str, at: int, *, brackets: bool) -> str:
    character = source[at]
    before = source[at - 1] if at else ""
    after = source[at + 1] if at + 1 < len(source) else ""
    if character in _ENTITY:
        return _ENTITY[character]
    match character:
        case "_":
            arm = not (before.isalnum() and after.isalnum())
        case "#":
            arm = not before.isalnum()
        case "&":
            arm = after == "#" or after.isalnum()
        case "(":
            arm = brackets or after.isdigit() or after == "-"
        case _:
            arm = character in _ALWAYS or (character in _DOUBLED and before == character)
    return "\\" + character if arm else character


def unescape_plain(text: str) -> str:
    """The text that `escape_plain` was given, cleaned. Total: what a person typed unescaped stays as typed."""
    return clean(_UNESCAPE.sub(lambda found: found[1] or _CHARACTER[found[2]], text))
