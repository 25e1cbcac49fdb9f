"""A note as a value: its text, and everything a reader of Markdown sees in it, with exact source spans."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from aria_dream.errors import Problem
    from aria_dream.vault.link import Link


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
