"""Links as a note's text holds them: wikilinks, embeds and Markdown links, with exact source spans.

Source: the link rules of Obsidian as collected in the project's conformance cases (`tests/conformance`).
"""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass
from typing import Final, NamedTuple
from urllib.parse import unquote

WIKILINK: Final = re.compile(r"\[\[((?:[^\[\]\n\r]++|\[(?!\[)|\](?!\]))*+)\]\]")
"""One `[[…]]` on one line; a single bracket may be inside, a double one may not: of `[[a [[In]] c]]` it finds `[[In]]`.
Possessive throughout, so that 100,000 opening brackets cost one pass."""

EXTERNAL: Final = re.compile(r"[A-Za-z][A-Za-z0-9+.\-]*:")
"""A destination that starts like this has a scheme and lies outside the vault."""

_ESCAPE = re.compile(r"\\([!-/:-@\[-`{-~])")
_BARE_DESTINATION = re.compile(r"[^ \t\r\n]*")
_ANGLE_DESTINATION = re.compile(r"<((?:[^<>\\\r\n]|\\.)*+)>")
_ENTITY = re.compile(r"&(?:#[0-9]{1,7}|#[xX][0-9a-fA-F]{1,6}|[A-Za-z][A-Za-z0-9]*);")
_MAX_LABEL_ENDS = 50


@dataclass(frozen=True, slots=True, kw_only=True)
class Link:
    """One occurrence of a link to something in the vault. External links (`scheme:`) are never `Link`s."""

    raw: str
    """The link as written, brackets and a leading `!` included. For a canvas file card: the card's path."""
    start: int
    """Offset of `raw` in `Note.text`, in characters."""
    end: int
    """Offset behind `raw`: `note.text[link.start:link.end] == link.raw`."""
    path: str
    """What is looked up: trimmed, percent-decoded for Markdown links, NFC, `""` for a link into the same note."""
    subpath: str
    """`"#Heading"`, `"#^block"`, `"#page=3"` or `""`; decoded like `path`."""
    display: str | None
    """Text after `|`, or the label of a Markdown link, stripped; None when there is no `|`."""
    embed: bool
    """Written with a leading `!`."""
    markdown: bool
    """`[text](dest)` rather than `[[dest]]`."""
    in_frontmatter: bool


class ScannedLink(NamedTuple):
    """A link as the index keeps it; fields as in `Link`."""

    path: str
    subpath: str
    embed: bool
    in_frontmatter: bool
    markdown: bool
    start: int
    """Offset in the body, in characters, of the link's start or, in a Markdown link, of a place within; -1 in the
    frontmatter, where nothing cheap tells it."""


def normal_name(name: str) -> str:
    """`name` as Obsidian compares it but for case: trimmed, no-break spaces as spaces, NFC."""
    name = name.strip()
    if name.isascii():
        return name
    return unicodedata.normalize("NFC", name.replace("\u00a0", " ").replace("\u202f", " ")).strip()


def split_linktext(linktext: str) -> tuple[str, str]:
    """`(path, subpath)` of a link's target, both normal; the subpath keeps its `#` and is `""` where there is none."""
    path, mark, rest = linktext.partition("#")
    return normal_name(path), "#" + normal_name(rest) if mark else ""


def split_wikilink(inner: str) -> tuple[str, str, str | None]:
    """`(path, subpath, display)` of the text between `[[` and `]]`. In a table the `|` is written `\\|`."""
    target, mark, display = inner.partition("|")
    if not mark:
        return *split_linktext(target), None
    target = target.removesuffix("\\")
    return *split_linktext(target), display.strip()


def split_target(inner: str) -> tuple[str, str]:
    """`split_wikilink` without the display, for the half of its cost."""
    target, bar, _ = inner.partition("|")
    if bar:
        target = target.removesuffix("\\")
    if "#" in target:
        return split_linktext(target)
    return (target.strip() if target.isascii() else normal_name(target)), ""


def split_destination(destination: str) -> tuple[str, str] | None:
    """`(path, subpath)` of a Markdown link's destination, percent-decoded; None where it is empty or external."""
    destination = destination.strip()
    if not destination or EXTERNAL.match(destination):
        return None
    path, mark, rest = destination.partition("#")
    return normal_name(_decoded(path)), "#" + normal_name(_decoded(rest)) if mark else ""


def _decoded(text: str) -> str:
    """Percent-decoded; what is no valid escape, or no valid UTF-8, stays as written."""
    if "%" not in text:
        return text
    try:
        return unquote(text, errors="strict")
    except UnicodeDecodeError:
        return text


def find_label_end(raw: str, expected: str) -> tuple[int, str]:
    """`(offset of the label's closing bracket, destination)` of an inline Markdown link `raw`, a leading `!` allowed.

    `expected` is the destination as the Markdown parser read it from the text with every non-ASCII character replaced;
    the first `](` whose destination agrees with it ends the label. `(-1, expected)` where none does.
    """
    at = raw.find("](")
    for _ in range(_MAX_LABEL_ENDS):
        if at < 0:
            break
        destination = _destination(raw[at + 2 : -1])
        if len(destination) == len(expected) and _same_twin(destination, expected):
            return at, destination
        at = raw.find("](", at + 1)
    return -1, expected


def _destination(inside: str) -> str:
    """The destination written in the round brackets of an inline link, title dropped, escapes and entities resolved."""
    inside = inside.strip(" \t\r\n")
    angle = _ANGLE_DESTINATION.match(inside)
    found = angle[1] if angle else _BARE_DESTINATION.match(inside)[0]  # type: ignore[index]  # it matches the empty text
    if "\\" in found:
        found = _ESCAPE.sub(r"\1", found)
    return _ENTITY.sub(lambda entity: unescape_entities(entity[0]), found) if "&" in found else found


def unescape_entities(text: str) -> str:
    """`text` with HTML's entities resolved."""
    import html  # its table of two thousand names costs 2 ms, and few links hold an entity

    return html.unescape(text)


def _same_twin(one: str, other: str) -> bool:
    return ascii_twin(one).replace("?", "x") == ascii_twin(other).replace("?", "x")


def ascii_twin(text: str) -> str:
    """`text` with each character that is no ASCII replaced by one `x`: same length, same Markdown structure.

    Question marks become `x` too; they mean nothing in Markdown but in `<?`, which the caller excludes.
    """
    if text.isascii():
        return text
    return text.encode("ascii", "replace").replace(b"?", b"x").decode("ascii")
