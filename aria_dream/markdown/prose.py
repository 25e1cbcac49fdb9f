"""Where a note is plain prose: the places at which a link may be put without touching the note's structure.

Code, math, HTML and comments are known from `parse_note`; here everything else that only looks like prose is left out:
headings, tables, footnote and reference definitions, links and whatever stands in square brackets, addresses, tags,
callout titles, inline fields, placeholders of templates. Doubt is no prose: a place that is missed costs nothing.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Literal

from pyromark import Markdown, Options

from aria_dream.markdown.body import join_spans
from aria_dream.markdown.link import ascii_twin

if TYPE_CHECKING:
    from collections.abc import Iterator

    from aria_dream.markdown.note import Note

BlockKind = Literal["paragraph", "list", "heading", "rule", "other"]
Ranges = list[tuple[int, int]]

_MARKDOWN: Final = Markdown(options=Options.ENABLE_TABLES | Options.ENABLE_MATH | Options.ENABLE_FOOTNOTES)
_HTML_TAG = re.compile(r"<(/?)([A-Za-z][A-Za-z0-9-]{0,30})((?:[^<>\"']|\"[^\"\n]{0,2000}\"|'[^'\n]{0,2000}')*+)>")
_VOID: Final = frozenset(
    ("area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "source", "track", "wbr")
)
_NO_PROSE: Final = re.compile(
    r"""
    (?:[A-Za-z][A-Za-z0-9+.\-]{0,20}://|www\.|mailto:)\S*     # an address, to the next space
    | [^\s<>()\[\]@]{0,64}@[^\s<>()\[\]]+                   # a mail address, a mention of a person
    | (?<!\S)\#[^\s#]\S*                                 # a tag
    | (?<!\S)\^[A-Za-z0-9\-]+[ \t]*(?=\r?$)              # a block id
    | \{\{[^\n]{0,300}?\}\} | <%[^\n]{0,300}?%> | <[^<>\n]*>         # placeholders, tags
    | ^[ \t>]*\[![^\]\n]*\].*$                           # the title of a callout
    | ^[ \t>]*(?:[-*+][ \t]+)?\|.*$                      # a row of what may be a table
    | ^[ \t>]*(?:(?:[-*+]|\d{1,9}[.)])[ \t]+)*(?:\[.\][ \t]+)?[^:\n\[\]()|]{1,80}::.*$   # an inline field and its value
    | [(\[][^:\n()\[\]]{1,80}::(?:[^()\n]|\([^()\n]{0,300}\))*   # the same in brackets
    """,
    re.VERBOSE | re.MULTILINE,
)
_KINDS: Final[dict[str, BlockKind]] = {"List": "list", "Paragraph": "paragraph", "Heading": "heading"}


@dataclass(frozen=True, slots=True, kw_only=True)
class BodyBlock:
    """One block at the top level of a body."""

    kind: BlockKind
    start: int
    end: int
    """Behind its last line that is not blank, line end excluded. Both offsets are characters of the note's text."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Prose:
    """What `read_prose` finds; offsets are characters of the note's text."""

    runs: tuple[tuple[int, int], ...]
    """Plain text on one line each, sorted and disjoint. What touches a run may be emphasis, a link or anything."""
    tables: tuple[tuple[int, int], ...]
    blocks: tuple[BodyBlock, ...]


def read_prose(note: Note) -> Prose:
    """Runs of plain prose, tables and top-level blocks of a note."""
    return _Reader(note).read()


class _Reader:
    def __init__(self, note: Note) -> None:
        self._note = note
        self._body = note.text[note.body_start :]
        self._runs: Ranges = []
        self._tables: Ranges = []
        self._blocks: list[BodyBlock] = []
        self._depth = 0
        self._closed_to_prose = 0
        """How many constructs around the place are none that prose may stand in."""
        self._inline_html = 0
        self._block_html = 0

    def read(self) -> Prose:
        twin = ascii_twin(_blotted(self._body, self._note))
        for event, span in _MARKDOWN.events_with_range(twin):
            start, end = span["start"], span["end"]
            if isinstance(event, str):
                if event == "Rule" and self._depth == 0:
                    self._add_block("rule", start, end)
                continue
            name, value = next(iter(event.items()))
            if name == "Text":
                if twin[start:end] == value and not (self._closed_to_prose or self._inline_html or self._block_html):
                    self._add(start, end)
            elif name == "Start":
                self._start(value if isinstance(value, str) else next(iter(value)), start, end)
            elif name == "End":
                self._end(value if isinstance(value, str) else next(iter(value)))
            elif name == "InlineHtml":
                self._inline_html = max(0, self._inline_html + _balance(self._body[start:end]))
            elif name == "Html":
                self._block_html = max(0, self._block_html + _balance(self._body[start:end]))
        offset = self._note.body_start
        return Prose(
            runs=tuple((start + offset, end + offset) for start, end in _without(self._runs, self._excluded())),
            tables=tuple((start + offset, end + offset) for start, end in self._tables),
            blocks=tuple(self._blocks),
        )

    def _add(self, start: int, end: int) -> None:
        if self._runs and self._runs[-1][1] == start:
            self._runs[-1] = (self._runs[-1][0], end)
        else:
            self._runs.append((start, end))

    def _start(self, kind: str, start: int, end: int) -> None:
        if kind in _NOT_PROSE:
            self._closed_to_prose += 1
        if kind in ("Paragraph", "Item", "Heading"):
            self._inline_html = 0
        if kind == "Table":
            self._tables.append((start, end))
        if self._depth == 0:
            self._add_block(_KINDS.get(kind, "other"), start, end)
        self._depth += 1

    def _add_block(self, kind: BlockKind, start: int, end: int) -> None:
        offset = self._note.body_start
        stop = start + len(self._body[start:end].rstrip())
        self._blocks.append(BodyBlock(kind=kind, start=start + offset, end=stop + offset))

    def _end(self, kind: str) -> None:
        self._depth -= 1
        if kind in _NOT_PROSE:
            self._closed_to_prose -= 1

    def _excluded(self) -> Ranges:
        offset = self._note.body_start
        spans = [(link.start - offset, link.end - offset) for link in self._note.links if not link.in_frontmatter]
        spans += [(span.start - offset, span.end - offset) for span in self._note.opaque if span.end > offset]
        spans += [match.span() for match in _NO_PROSE.finditer(self._body)]
        spans += _bracketed(self._body)
        spans += _never_closed(self._body, [(span.start - offset, span.end - offset) for span in self._note.opaque])
        return join_spans(spans)


_NOT_PROSE: Final = frozenset(
    ("Heading", "CodeBlock", "HtmlBlock", "FootnoteDefinition", "Table", "Link", "Image", "MetadataBlock")
)


def _balance(html: str) -> int:
    """Elements that `html` opens and leaves open, less those it closes."""
    count = 0
    for closing, name, rest in _HTML_TAG.findall(html):
        if closing:
            count -= 1
        elif not rest.endswith("/") and name.lower() not in _VOID:
            count += 1
    return count


def _blotted(body: str, note: Note) -> str:
    """The body with every wikilink as a word: pulldown-cmark would take it for brackets."""
    pieces, at = [], 0
    for link in note.links:
        start, end = link.start - note.body_start, link.end - note.body_start
        if link.in_frontmatter or link.markdown or start < at:
            continue
        pieces += [body[at:start], "x" * (end - start)]
        at = end
    return "".join((*pieces, body[at:]))


def _bracketed(body: str) -> Iterator[tuple[int, int]]:
    """Everything from a line's `[` to the `]` that closes it, or to the line's end, with a `(` or `:` behind it.

    Checkboxes stand in brackets too, and lose nothing by it.
    """
    at = body.find("[")
    while at >= 0:
        line_end = body.find("\n", at)
        line_end = len(body) if line_end < 0 else line_end
        depth, place = 0, at
        while place < line_end:
            character = body[place]
            depth += (character == "[") - (character == "]")
            place += 1
            if depth == 0:
                break
        if depth == 0 and body[place : place + 1] == ":" and not body[body.rfind("\n", 0, at) + 1 : at].strip():
            place = line_end  # a reference definition, or what is to become one
        yield at, place
        at = body.find("[", place)


def _never_closed(body: str, opaque: Ranges) -> Iterator[tuple[int, int]]:
    """From a `%%` or `$$` that nothing closes to the body's end: what the writer is in the middle of."""
    for mark in ("%%", "$$"):
        at, zone = body.find(mark), 0
        while at >= 0:
            while zone < len(opaque) and opaque[zone][1] <= at:
                zone += 1
            if zone == len(opaque) or opaque[zone][0] > at:
                yield at, len(body)
                break
            at = body.find(mark, opaque[zone][1])


def _without(runs: Ranges, excluded: Ranges) -> Iterator[tuple[int, int]]:
    at = 0
    for start, end in runs:
        while at < len(excluded) and excluded[at][1] <= start:
            at += 1
        free, inside = start, at
        while inside < len(excluded) and excluded[inside][0] < end:
            if free < excluded[inside][0]:
                yield free, excluded[inside][0]
            free = max(free, excluded[inside][1])
            inside += 1
        if free < end:
            yield free, end
