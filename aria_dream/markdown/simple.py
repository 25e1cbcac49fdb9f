"""The links and zones of a body that is written simply, in one pass and without a Markdown parser.

Most notes hold nothing but prose, closed fences at the margin, code and formulas within a line, wikilinks and plain
Markdown links. For those one regular expression says what the parser would, at a fifth of its cost. Whatever is not
certain (raw HTML, escapes, indented code, tabs, anything unpaired or nested) makes `read_simple` give up, and the
parser decides; a property test and every vault at hand hold the two together.
"""

from __future__ import annotations

import re
from typing import Final, NamedTuple

from aria_dream.markdown.link import ScannedLink, split_destination, split_target

_new: Final = tuple.__new__
"""Makes a NamedTuple in a third of the time its own constructor takes."""

_FOUND: Final = re.compile(
    # Each alternative starts with a plain character, so that the search skips all others in one tight loop.
    r"`([^`\n|]+)`(?!`)"
    r"|`(?:(?<=\n`)|(?<=\A`))``([^`\n]*\n[^`]*+(?:`(?!``)[^`]*+)*+)(?<=\n)```(?=\n|\Z)"
    r"|\$(?![\s$])([^$\n`|\[\]]*)(?<![\s\\])\$(?![\d$])"
    r"|\$(?:(?<=\n\n\$)|(?<=\A\$))\$((?:[^$`|\[\]\n]|\n(?![\s\-+*#>=_\d]))+)(?<!\\)\$\$(?!\$)"
    r"|\[\[([^\[\]\n`$\\]*+(?:\\\|[^\[\]\n`$\\]*+)*+)\]\]"
    r"|\[(?!\^)[^\[\]\n`$\\|]*+\]\(([^()\s`$&\"'\\|\[\]]*+)\)"
    r"|\[\^[^\[\]\n`$\\|]*\]:?(?!\()()"
    # What stands alone and may mean something to the parser.
    r"|`|\$|\\|\[\[|\]\(|\]:"
)
_CODE, _FENCE, _MATH, _DISPLAY, _WIKILINK, _MARKDOWN, _FOOTNOTE = range(1, 8)
_BLANKS: Final = re.compile(r"[ \t]*")
_OPEN_PARAGRAPH: Final = re.compile(r"[ \t]*((?:[-+*]|\d{1,9}[.)]) )*(?:\*{0,3}[^\W\d_]|\[(?!\^)|\d+(?![\d.)]))")
"""A line that ends in a paragraph: text, or list items on one line with text in the last. (No heading, rule, quote,
fence, footnote, or empty item.)"""


class SimpleBody(NamedTuple):
    """What a simple body holds; spans are half-open, disjoint and in source order."""

    links: list[ScannedLink]
    opaque: list[tuple[int, int]]
    """Code and math."""
    covered: list[tuple[int, int]]
    """`opaque`, and every wikilink and Markdown link, external ones too: where no tag begins."""


def read_simple(body: str) -> SimpleBody | None:  # noqa: C901  # one loop over 100,000 matches: calls would double it
    """What `zones.read_body` says of `body`; None where the body is not simple."""
    if "<" in body or "\r" in body or ("~" in body and "~~~" in body):
        return None
    links: list[ScannedLink] = []
    opaque: list[tuple[int, int]] = []
    covered: list[tuple[int, int]] = []
    prose_start = 0
    for found in _FOUND.finditer(body):
        kind = found.lastindex
        if kind == _WIKILINK:
            inner = found[_WIKILINK]
            if not inner or inner.isspace():
                return None  # no wikilink; brackets in brackets may be a Markdown link
            span = found.span()
            covered.append(span)
            path, subpath = split_target(inner)
            if path or subpath:
                start = span[0]
                embed = start > 0 and body[start - 1] == "!"
                links.append(_new(ScannedLink, (path, subpath, embed, False, False, start - embed)))
        elif kind == _CODE:
            span = found.span()
            covered.append(span)
            opaque.append(span)
        elif kind == _MARKDOWN:
            span = found.span()
            covered.append(span)
            target = split_destination(found[_MARKDOWN])
            if target:
                start = span[0]
                embed = start > 0 and body[start - 1] == "!"
                links.append(_new(ScannedLink, (*target, embed, False, True, start - embed)))
        elif kind is None:
            return None
        elif kind != _FOOTNOTE:
            span = found.span()
            if kind == _FENCE:
                if not _is_flush(body, prose_start, span[0]):
                    return None
                prose_start = span[1]
            elif ("{" in found[0] or "}" in found[0]) and not _is_nested(found[0]):
                return None
            covered.append(span)
            opaque.append(span)
    return SimpleBody(links, opaque, covered) if _is_flush(body, prose_start, len(body)) else None


def _is_flush(body: str, start: int, end: int) -> bool:
    """Whether nothing in `body[start:end]` (whole lines without a fence) can begin indented code."""
    if body.find("    ", start, end) >= 0 and not _is_continued(body, start, end, "    "):
        return False
    return body.find("\t", start, end) < 0 or _is_continued(body, start, end, "\t")


def _is_continued(body: str, start: int, end: int, indent: str) -> bool:
    """Whether each `indent` (four spaces, or a tab) there is at a place where no code can begin.

    Those are the start of a line below one that leaves a paragraph open: code interrupts no paragraph. Four spaces
    elsewhere are harmless too; five after a list's or quote's mark, or a tab there, may not be.
    """
    at = body.find(indent, start, end)
    while at >= 0:
        line = body.rfind("\n", 0, at) + 1
        if line == at or not body[line:at].strip(" \t"):
            if line == 0:
                return False
            above = body.rfind("\n", 0, line - 1) + 1
            opened = _OPEN_PARAGRAPH.match(body, above, line - 1)
            if opened is None or (opened[1] is None and body.find("|", above, line) >= 0):
                return False  # a table's row is no paragraph; a list item is no table's row
            at = _BLANKS.match(body, at).end()  # type: ignore[union-attr]  # it matches the empty text
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
