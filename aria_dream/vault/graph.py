"""The vault as a graph of notes: integers and arrays stay resident, a networkx graph is built when one is wanted."""

from __future__ import annotations

from array import array
from bisect import bisect_left, bisect_right
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable



@dataclass(frozen=True, slots=True, kw_only=True)
class LinkGraph:
    """Resolved note-to-note links in compressed sparse rows; a note is its row number in `paths`."""

    paths: tuple[str, ...]
    """Vault paths of all notes (`*.md` outside dot folders), sorted by code point."""
    offsets: array[int]
    """`array("i")`, length n + 1: row i's targets are `targets[offsets[i]:offsets[i + 1]]`."""
    targets: array[int]
    """`array("i")`: distinct targets of each row, ascending, the row itself left out."""


class NoteFacts(NamedTuple):
    """What is kept of a note beside its links; small enough to hold for every note of a vault. (And made of every note:
    a frozen dataclass takes four times as long.)"""

    path: str
    content_hash: bytes
    """SHA-256 digest of the file's bytes (32 bytes)."""
    words: int
    """Words of prose (frontmatter, code, math, comments and HTML left out), counted up to `body.WORDS_COUNTED`."""
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


@dataclass(frozen=True, slots=True, kw_only=True)
class Neighbours:
    """The same graph with its arrows taken off, in compressed sparse rows: what walks and distances are made on."""

    offsets: array[int]
    """`array("i")`, length n + 1."""
    neighbours: array[int]
    """`array("i")`: distinct neighbours of each row in either direction, ascending."""

    def of(self, row: int) -> array[int]:
        """The neighbours of `row`, ascending."""
        return self.neighbours[self.offsets[row] : self.offsets[row + 1]]

    def degree(self, row: int) -> int:
        """How many distinct notes `row` is linked with, in either direction."""
        return self.offsets[row + 1] - self.offsets[row]


def graph_of(paths: tuple[str, ...], rows: Iterable[Iterable[int]]) -> LinkGraph:
    """The graph of sorted `paths` whose i-th row links to the rows in the i-th item of `rows`.

    Self links and repeats are dropped, targets sorted.
    """
    offsets, targets = array("i", [0]), array("i")
    for row, found in enumerate(rows):
        distinct = set(found)
        distinct.discard(row)
        targets.extend(sorted(distinct))
        offsets.append(len(targets))
    return LinkGraph(paths=paths, offsets=offsets, targets=targets)


def row_of(graph: LinkGraph, path: str) -> int | None:
    """The row of the note at `path`; None where the graph has no such note."""
    row = bisect_left(graph.paths, path)
    return row if row < len(graph.paths) and graph.paths[row] == path else None


def targets_of(graph: LinkGraph, row: int) -> array[int]:
    """Rows that `row` links to, ascending."""
    return graph.targets[graph.offsets[row] : graph.offsets[row + 1]]


def backlinks_of(graph: LinkGraph, row: int) -> array[int]:
    """Rows that link to `row`, ascending. Looks at every link."""
    found = array("i")
    at = -1
    while True:
        try:
            at = graph.targets.index(row, at + 1)
        except ValueError:
            return found
        found.append(bisect_right(graph.offsets, at) - 1)


def component_sizes(graph: LinkGraph) -> list[int]:
    """Sizes of the weakly connected components, largest first."""
    root = list(range(len(graph.paths)))
    start = 0
    for row in range(len(graph.paths)):
        end = graph.offsets[row + 1]
        one = row
        # The way to a root is written out: 100,000 calls for it would cost more than all else here.
        for target in graph.targets[start:end]:
            while root[one] != one:
                root[one] = one = root[root[one]]
            other = target
            while root[other] != other:
                root[other] = other = root[root[other]]
            if other < one:
                root[one] = one = other
            else:
                root[other] = one
        start = end
    for row, above in enumerate(root):  # a root is never larger than what hangs below it
        root[row] = root[above]
    return sorted(Counter(root).values(), reverse=True)
