"""The zones of a body that is written simply, in one pass and without a Markdown parser.

Four notes in five hold nothing but prose, closed fences at the margin, code and formulas within a line, wikilinks and
plain Markdown links. For those one regular expression says what the parser would, at a third of its cost. Whatever is
not certain (raw HTML, escapes, indented code, tabs, anything unpaired or nested) makes `read_simple` give up, and the
parser decides; a property test and every vault at hand hold the two together.
"""

from __future__ import annotations

import re
from typing import Final

from aria_dream.vault.link import ascii_twin
from aria_dream.vault.zones import MarkdownLink, Wikilink, Zones

_new: Final = tuple.__new__
"""Makes a NamedTuple in a third of the time its own constructor takes."""

_INLINE: Final = re.compile(
    r"`([^`\n|]+)`(?!`)"
    r"|\$(?![\s$])([^$\n`|\[\]]*)(?<![\s\\])\$(?![\d$])"
    r"|\[\[((?:[^\[\]\n`$\\]|\\\|)*)\]\]"
    r"|\[\^[^\[\]\n`$\\|]*\]:?(?!\()"
    r"|\[((?!\^)[^\[\]\n`$\\|]*)\]\(([^()\s`$&\"'\\|\[\]]*)\)"
    r"|(?:\A|(?<=\n\n))\$\$((?:[^$`|\[\]\n]|\n(?![\s\-+*#>=_\d]))+)\$\$(?!\$)"
)
_OPEN_PARAGRAPH: Final = re.compile(r"[ \t]*((?:[-+*]|\d{1,9}[.)]) )*(?:\*{0,3}[^\W\d_]|\[|\d+(?![\d.)]))")
"""A line that ends in a paragraph: text, or list items on one line with text in the last. (No heading, rule, quote,
fence, or empty item.)"""
_CODE, _MATH, _WIKILINK, _MARKDOWN, _DISPLAY = 1, 2, 3, 5, 6


def read_simple(body: str) -> tuple[Zones, list[Wikilink]] | None:
    """What `zones.read_body` says of `body`, headings left out; None where the body is not simple."""
    if "<" in body or "\r" in body or ("~" in body and "~~~" in body):
        return None
    zones = Zones()
    wikilinks: list[Wikilink] = []
    if "`" not in body or "```" not in body:
        return (zones, wikilinks) if _read_prose(body, 0, len(body), zones, wikilinks) else None
    at = 0
    while True:
        fence = body.find("```", at)
        end = fence if fence >= 0 else len(body)
        if not _read_prose(body, at, end, zones, wikilinks):
            return None
        if fence < 0:
            return zones, wikilinks
        at = _end_of_fence(body, fence)
        if at < 0:
            return None
        zones.opaque.append((fence, at))


def _end_of_fence(body: str, start: int) -> int:
    """The end of the code fence that opens at `start`; -1 where it is not a plain one at the margin, or not closed."""
    if start and body[start - 1] != "\n":
        return -1
    line_end = body.find("\n", start)
    closing = body.find("```", start + 3)
    if line_end < 0 or closing <= line_end or body[closing - 1] != "\n" or body.find("`", start + 3, line_end) >= 0:
        return -1
    end = closing + 3
    return end if end == len(body) or body[end] == "\n" else -1


def _read_prose(  # noqa: C901  # one loop over five cursors; taken apart it costs twice as much
    body: str, start: int, end: int, zones: Zones, wikilinks: list[Wikilink]
) -> bool:
    """Adds what stands in `body[start:end]`, whole lines without a fence. False where it is not simple."""
    if not _is_flush(body, start, end, "    ") or ("\t" in body and not _is_flush(body, start, end, "\t")):
        return False
    # The next of each character that may mean something. Searching for five single characters is a fifth of the cost of
    # searching with a regular expression for one of the five.
    find, never = body.find, end
    code, formula, escape, opening, closing = [
        at if (at := find(char, start, end)) >= 0 else never for char in "`$\\[]"
    ]
    while True:
        place = min(code, formula, escape, opening, closing)
        if place == end:
            return True
        if place == closing:
            if body[place + 1 : place + 2] in ("(", ":"):
                return False
            closing = at if (at := find("]", place + 1, end)) >= 0 else never
            continue
        found = _INLINE.match(body, place, end)
        if found is None:
            if place != opening or body.startswith("[[", place):
                return False
            opening = at if (at := find("[", place + 1, end)) >= 0 else never
            continue
        if not _take(body, found, zones, wikilinks):
            return False
        stop = found.end()
        if code < stop:
            code = at if (at := find("`", stop, end)) >= 0 else never
        if formula < stop:
            formula = at if (at := find("$", stop, end)) >= 0 else never
        if escape < stop:
            escape = at if (at := find("\\", stop, end)) >= 0 else never
        if opening < stop:
            opening = at if (at := find("[", stop, end)) >= 0 else never
        if closing < stop:
            closing = at if (at := find("]", stop, end)) >= 0 else never


def _take(body: str, found: re.Match[str], zones: Zones, wikilinks: list[Wikilink]) -> bool:
    """Adds what was found. False where the parser might see something else."""
    kind = found.lastindex
    place = found.start()
    if kind == _WIKILINK:
        inner = found[_WIKILINK]
        if inner and not inner.isspace():
            embed = place > 0 and body[place - 1] == "!"
            wikilinks.append(_new(Wikilink, (place - embed, found.end(), inner, embed)))
    elif kind == _CODE:
        zones.opaque.append(found.span())
    elif kind == _MARKDOWN:
        embed = place > 0 and body[place - 1] == "!"
        destination = found[_MARKDOWN]
        if not body.isascii():  # as the parser would read it from the body's ASCII twin
            destination = ascii_twin(destination + "\x80")[:-1]
        zones.links.append(MarkdownLink(place - embed, found.end(), destination, embed))
    elif kind in (_MATH, _DISPLAY):
        if ("{" in found[0] or "}" in found[0]) and not _is_nested(found[0]):
            return False
        zones.opaque.append(found.span())
    return True


def _is_flush(body: str, start: int, end: int, indent: str) -> bool:
    """Whether no `indent` (four spaces, or a tab) in `body[start:end]` can begin indented code.

    It cannot at the start of a line below one that leaves a paragraph open: code interrupts no paragraph. Four spaces
    elsewhere are harmless too; five after a list's or quote's mark, or a tab there, may not be.
    """
    at = body.find(indent, start, end)
    while at >= 0:
        line = body.rfind("\n", 0, at) + 1
        if not body[line:at].strip(" \t"):
            if line == 0:
                return False
            above = body.rfind("\n", 0, line - 1) + 1
            opened = _OPEN_PARAGRAPH.match(body, above, line - 1)
            if opened is None or (opened[1] is None and body.find("|", above, line) >= 0):
                return False  # a table's row is no paragraph; a list item is no table's row
            while body[at : at + 1] in (" ", "\t"):
                at += 1
        elif indent == "\t" or body.startswith("     ", at):
            return False
        else:
            at += 4
        at = body.find(indent, at, end)
    return True


def _is_nested(formula: str) -> bool:
    """Whether every brace that opens is closed, in that order."""
    depth = 0
    for char in formula:
        depth += (char == "{") - (char == "}")
        if depth < 0:
            return False
    return depth == 0
