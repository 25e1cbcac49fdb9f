"""The vault as a graph of notes: integers and arrays stay resident, a networkx graph is built when one is wanted."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from array import array


@dataclass(frozen=True, slots=True, kw_only=True)
class LinkGraph:
    """Resolved note-to-note links in compressed sparse rows; a note is its row number in `paths`."""

    paths: tuple[str, ...]
    """Vault paths of all notes (`*.md` outside dot folders), sorted by code point."""
    offsets: array[int]
    """`array("i")`, length n + 1: row i's targets are `targets[offsets[i]:offsets[i + 1]]`."""
    targets: array[int]
    """`array("i")`: distinct targets of each row, ascending, the row itself left out."""


@dataclass(frozen=True, slots=True, kw_only=True)
class NoteFacts:
    """What is kept of a note beside its links; small enough to hold for every note of a vault."""

    path: str
    content_hash: bytes
    """SHA-256 digest of the file's bytes (32 bytes)."""
    words: int
    """Words of prose (frontmatter, code, math, comments and HTML left out)."""
    aliases: tuple[str, ...]
    tags: tuple[str, ...]
    """Distinct, lower-cased, without `#`."""
    dream: bool
    """False where the property `dream` is present and not true, yes or on (any case)."""
    marker: str
    """Value of the property `aria-dream`, `""` where there is none: one of our own files."""
    plugin: str
    """`"excalidraw"`, `"kanban"`, … for a note whose text belongs to a plugin; `""` otherwise."""
    ignored: bool
    """Hidden by Obsidian's own `userIgnoreFilters`."""
    size_bytes: int
    modified_ns: int
