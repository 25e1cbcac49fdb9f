"""A note as a value: its text, what a reader of Markdown sees in it, with exact spans, and what a link names in it."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Final

from aria_dream.errors import Problem
from aria_dream.markdown.body import find_block_ids, find_tags, heading_text, hidden_spans
from aria_dream.markdown.link import Link, find_label_end, split_destination, split_wikilink
from aria_dream.markdown.properties import SECOND_BLOCK, find_frontmatter, parse_properties, read_names
from aria_dream.markdown.property_links import find_property_links
from aria_dream.markdown.zones import MarkdownLink, Wikilink, read_body

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator


def decode_note(data: bytes) -> str:
    """The text of a note's bytes; `text.encode("utf-8", "surrogateescape")` gives them back, whatever they are."""
    return data.decode("utf-8", "surrogateescape")


class NotePath(PurePosixPath):
    """A vault path, `/`-separated, relative to the vault's root. It cannot open a file: that is its purpose."""

    __slots__ = ()


@dataclass(frozen=True, slots=True)
class Span:
    """Half-open range of characters in `Note.text`."""

    start: int
    end: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Heading:
    level: int
    """1 to 6."""
    text: str
    """Raw Markdown of the heading, without `#`s, closing `#`s and surrounding space."""
    span: Span
    """The heading's whole line or lines, line end excluded."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BlockId:
    name: str
    """Without `^`."""
    span: Span
    """`^name` itself."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Note:
    """What `parse_note` makes of a text. Total: any bytes give a Note."""

    text: str
    """The file's bytes as UTF-8 with `surrogateescape`, BOM and line ends kept: `text.encode("utf-8",
    "surrogateescape")` gives the file's bytes back."""
    body_start: int
    """Offset of the first character after BOM and frontmatter; 0 where there is neither."""
    properties: dict[str, object]
    """Frontmatter as YAML 1.2 core values, keys as written; empty when absent or unreadable."""
    links: tuple[Link, ...]
    """In source order, frontmatter first."""
    headings: tuple[Heading, ...]
    block_ids: tuple[BlockId, ...]
    tags: tuple[str, ...]
    """Without `#`, as written, frontmatter first, in source order, repeats kept."""
    aliases: tuple[str, ...]
    """As written in the frontmatter: `000` stays `"000"`."""
    opaque: tuple[Span, ...]
    """Where prose is not: frontmatter, code, math, HTML, comments (`%%` and `<!-- -->`). Sorted, disjoint.
    (Links inside `%% %%` do count as links, as Obsidian counts them.)"""
    problems: tuple[Problem, ...]
    """With `path=""`: a text does not know where it lies; the reader of the vault fills it in."""


def parse_note(text: str) -> Note:
    """Everything a reader of Markdown sees in `text`, as Obsidian 1.13 reads it. Total, and near linear in its length.

    Links inside `%% %%` count; those in code, math, HTML and its comments do not.
    """
    frontmatter = find_frontmatter(text)
    body_start = frontmatter.body_start if frontmatter else int(text.startswith("\ufeff"))
    body = text[body_start:]
    zones, wikilinks = read_body(body)
    properties: dict[str, object] = {}
    problems: list[Problem] = []
    tags: list[str] = []
    aliases: list[str] = []
    links: list[Link] = []
    if frontmatter:
        source = text[frontmatter.start : frontmatter.end]
        properties, unreadable = parse_properties(source)
        tags, aliases, odd = read_names(properties, source)
        problems += [*unreadable, *odd]
        links += find_property_links(properties, source, frontmatter.start)
        if body.startswith("---") and find_frontmatter(body):
            problems.append(Problem("", text.count("\n", 0, body_start) + 1, SECOND_BLOCK))
    links += _body_links(body, body_start, [*zones.links, *wikilinks])
    tags += find_tags(body, zones, wikilinks)
    opaque = [Span(start + body_start, end + body_start) for start, end in hidden_spans(body, zones.opaque)]
    if body_start:
        opaque.insert(0, Span(0, body_start))
    return Note(
        text=text,
        body_start=body_start,
        properties=properties,
        links=tuple(links),
        headings=tuple(_headings(body, body_start, zones.headings)),
        block_ids=tuple(
            BlockId(name=body[start + 1 : end], span=Span(start + body_start, end + body_start))
            for start, end in find_block_ids(body, zones.opaque)
        ),
        tags=tuple(tags),
        aliases=tuple(aliases),
        opaque=tuple(opaque),
        problems=tuple(problems),
    )


def _headings(body: str, body_start: int, found: Iterable[tuple[int, int, int]]) -> Iterator[Heading]:
    for level, start, end in found:
        written = body[start:end].rstrip("\r\n")
        span = Span(start + body_start, start + len(written) + body_start)
        yield Heading(level=level, text=heading_text(written), span=span)


def _body_links(body: str, body_start: int, places: list[MarkdownLink | Wikilink]) -> Iterator[Link]:
    for place in sorted(places, key=lambda place: place.start):
        raw = body[place.start : place.end]
        display: str | None
        if isinstance(place, MarkdownLink):
            label_end, destination = find_label_end(raw, place.destination)
            target = split_destination(destination)
            if target is None:
                continue
            path, subpath = target
            display = raw[2 if place.embed else 1 : max(label_end, 0)].strip()
        else:
            path, subpath, display = split_wikilink(place.inner)
            if not path and not subpath:
                continue
        yield Link(
            raw=raw,
            start=place.start + body_start,
            end=place.end + body_start,
            path=path,
            subpath=subpath,
            display=display,
            embed=place.embed,
            markdown=isinstance(place, MarkdownLink),
            in_frontmatter=False,
        )


_FOLDED: Final = re.compile(r"[!\"#$%&()*+,.:;<=>?@^`{|}~/\[\]\\\s]+")


def fold_heading(text: str) -> str:
    """A heading as links address it: lower-cased, runs of punctuation and white space as one space."""
    return _FOLDED.sub(" ", text).strip().lower()


def subpath_found(note: Note, subpath: str) -> bool:
    """Whether `note` has what `subpath` names: `#^block`, or `#A#B`: a heading A and later, deeper, a heading B.

    `""` and `"#"` name the note itself.
    """
    wanted = subpath.removeprefix("#").strip()
    if wanted.startswith("^"):
        name = wanted[1:].lower()
        return any(block.name.lower() == name for block in note.block_ids)
    steps = [step for step in map(fold_heading, wanted.split("#")) if step]
    if not steps:
        return True
    at, level = 0, 0
    for heading in note.headings:
        if heading.level > level and fold_heading(heading.text) == steps[at]:
            at, level = at + 1, heading.level
            if at == len(steps):
                return True
        elif at and heading.level <= level:
            # The section has ended without the next step; a later one of the same name may still have it.
            at, level = (1, heading.level) if fold_heading(heading.text) == steps[0] else (0, 0)
    return False
