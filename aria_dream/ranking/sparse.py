"""Sparse rows in plain arrays, one row a note: its words, with the inverted index that makes products cheap; its links.

numpy alone: importing scipy.sparse costs 0.34 s of CPU, a third of what a whole dream may take at 10,000 notes.

Of the links there is what their shape alone says about two notes, and how long what they taught stays true. What is
learned from links takes seconds to learn and changes little with an edit; so it is kept, with a sketch of the links it
was learned from, until enough of them have changed.
"""

from __future__ import annotations

import heapq
from array import array
from dataclasses import dataclass
from hashlib import sha256
from typing import TYPE_CHECKING, Final, TypeVar

import numpy as np

from aria_dream.vault.graph import Neighbours

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Sequence

    import numpy.typing as npt

    from aria_dream.vault.graph import LinkGraph

    Floats = npt.NDArray[np.float32]
    Ints = npt.NDArray[np.int64]

Whole = TypeVar("Whole", bound=np.integer)


@dataclass(frozen=True, slots=True, kw_only=True)
class SparseRows:
    """A matrix of rows × columns, by row and by column."""

    offsets: Ints
    """Row i is `columns[offsets[i]:offsets[i + 1]]`; length rows + 1."""
    columns: npt.NDArray[np.integer]
    values: Floats
    column_offsets: Ints
    """Column c occurs in `column_rows[column_offsets[c]:column_offsets[c + 1]]`; length columns + 1."""
    column_rows: npt.NDArray[np.int32]
    column_values: Floats

    @property
    def height(self) -> int:
        """Number of rows."""
        return len(self.offsets) - 1

    @property
    def width(self) -> int:
        """Number of columns."""
        return len(self.column_offsets) - 1

    def row(self, index: int) -> tuple[npt.NDArray[np.integer], Floats]:
        """Columns and values of one row."""
        here = slice(int(self.offsets[index]), int(self.offsets[index + 1]))
        return self.columns[here], self.values[here]

    def dot(self, columns: npt.NDArray[np.integer], values: Floats, *, present: bool = False) -> Floats:
        """Inner product of every row with one sparse vector; `present` counts a row's values as 1."""
        starts = self.column_offsets[columns]
        lengths = self.column_offsets[columns + 1] - starts
        at = spans(starts, lengths)
        weights = np.repeat(values, lengths)
        if not present:
            weights = weights * self.column_values[at]
        return np.bincount(self.column_rows[at], weights=weights, minlength=self.height).astype(np.float32)

    def mean_of(self, rows: Ints) -> tuple[npt.NDArray[np.integer], Floats]:
        """The mean of some rows as columns and values; empty for no rows."""
        if not len(rows):
            return np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.float32)
        starts = self.offsets[rows]
        at = spans(starts, self.offsets[rows + 1] - starts)
        columns, inverse = np.unique(self.columns[at], return_inverse=True)
        sums = np.bincount(inverse, weights=self.values[at], minlength=len(columns))
        return columns, (sums / len(rows)).astype(np.float32)


def distinct(values: npt.NDArray[Whole]) -> npt.NDArray[Whole]:
    """The different values, ascending. `np.unique` hashes them first, which takes ten times as long, and imports
    numpy.ma, which takes longer still."""
    ordered = np.sort(values)
    first = np.ones(len(ordered), dtype=np.bool_)
    np.not_equal(ordered[1:], ordered[:-1], out=first[1:])
    return ordered[first]


def spans(starts: Ints, lengths: Ints) -> Ints:
    """Positions of several ranges, one after the other."""
    ends = np.cumsum(lengths)
    total = int(ends[-1]) if len(ends) else 0
    return np.repeat(starts - (ends - lengths), lengths) + np.arange(total, dtype=np.int64)


def sparse_rows(
    lengths: Sequence[int] | Ints, columns: npt.NDArray[np.integer], values: Floats, *, width: int
) -> SparseRows:
    """Rows laid one after the other, each with distinct columns in any order."""
    offsets = np.concatenate([[0], np.cumsum(np.asarray(lengths, dtype=np.int64))]).astype(np.int64)
    by_column = np.argsort(columns, kind="stable")
    owners = np.repeat(np.arange(len(offsets) - 1, dtype=np.int64), np.diff(offsets))
    column_offsets = np.concatenate([[0], np.cumsum(np.bincount(columns, minlength=width))]).astype(np.int64)
    return SparseRows(
        offsets=offsets,
        columns=columns,
        values=values,
        column_offsets=column_offsets,
        column_rows=owners[by_column].astype(np.int32),
        column_values=values[by_column],
    )


def unit_rows(lengths: Sequence[int] | Ints, values: npt.NDArray[np.floating]) -> Floats:
    """`values` with every row scaled to length 1; a row of zeros stays."""
    owners = np.repeat(np.arange(len(lengths)), lengths)
    squares = np.bincount(owners, weights=values.astype(np.float64) ** 2, minlength=len(lengths))
    norms = np.sqrt(np.where(squares > 0, squares, 1.0))
    return (values / norms[owners]).astype(np.float32)


def labelled_rows(labels: Sequence[Sequence[str]], *, rare: bool = True) -> SparseRows:
    """One row a note from its labels (tags, trigrams, folders), each once.

    A shared label counts 1 / ln(2 + its notes) when `rare`, and 1 otherwise.
    """
    numbers: dict[str, int] = {}
    rows = [sorted({numbers.setdefault(label, len(numbers)) for label in row}) for row in labels]
    lengths = [len(row) for row in rows]
    columns = np.array([column for row in rows for column in row], dtype=np.int64)
    held_by = np.bincount(columns, minlength=max(1, len(numbers)))
    weights = 1 / np.sqrt(np.log(2.0 + held_by[columns])) if rare else np.ones(len(columns))
    return sparse_rows(lengths, columns, weights.astype(np.float32), width=max(1, len(numbers)))


RESTART: Final = 0.5
"""Share of the walkers that go home at every step. A half did best of the values measured; see `benchmarks/`."""
_SMALLEST_STEP: Final = 1e-4
SKETCH_SIZE: Final = 400
STILL_ALIKE: Final = 0.95
"""Learned again from this loss of likeness on: an edit or two teach nothing new."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Structure:
    """Directed links and the undirected graph under them, in compressed sparse rows."""

    sources: Ints
    """Ends of the distinct directed links, sorted by source, then target; no self links."""
    targets: Ints
    offsets: Ints
    """Undirected: the neighbours of i are `neighbours[offsets[i]:offsets[i + 1]]`, ascending; length n + 1."""
    neighbours: Ints
    out_degree: Ints
    in_degree: Ints

    @property
    def size(self) -> int:
        """Number of notes."""
        return len(self.offsets) - 1

    @property
    def degree(self) -> Ints:
        """Number of notes linked to or from each note."""
        return np.diff(self.offsets)

    def around(self, note: int) -> Ints:
        """The notes linked to or from `note`."""
        return self.neighbours[int(self.offsets[note]) : int(self.offsets[note + 1])]

    def pairs(self) -> npt.NDArray[np.int64]:
        """The linked pairs (a, b) with a < b, in order, as an array of shape (pairs, 2)."""
        first = np.repeat(np.arange(self.size, dtype=np.int64), self.degree)
        once = first < self.neighbours
        return np.stack([first[once], self.neighbours[once]], axis=1)

    def without(self, pairs: npt.NDArray[np.int64]) -> Structure:
        """The same graph with every link between the given pairs, in both directions, taken out."""
        gone = _keys(pairs.min(axis=1), pairs.max(axis=1), self.size) if len(pairs) else np.zeros(0, dtype=np.int64)
        low, high = np.minimum(self.sources, self.targets), np.maximum(self.sources, self.targets)
        kept = ~np.isin(_keys(low, high, self.size), gone)
        return structure_of(self.size, self.sources[kept], self.targets[kept])

    def sums(self, values: npt.NDArray[np.floating]) -> Floats:
        """For every note the sum of `values` (n × columns) over its neighbours."""
        total = np.zeros(values.shape, dtype=np.float32)
        rows = np.flatnonzero(self.degree)
        if len(rows):
            # reduceat sums from one start to the next: right because only notes with neighbours start anywhere
            total[rows] = np.add.reduceat(values[self.neighbours], self.offsets[rows], axis=0)
        return total

    def means(self, values: Floats) -> Floats:
        """For every note the mean of `values` (n × columns) over its neighbours, 0 where it has none."""
        return self.sums(values) * _inverse(self.degree)[:, None]

    def walkers(self, starts: Ints) -> Floats:
        """Personalised PageRank: shape (n, starts); column b is where walkers from `starts[b]` are, summing to ≤ 1.

        Walkers choose any link of a note, in either direction, with equal chance. Power iteration down to 1e-4; the
        walk's return to its start is included. Source: Page et al. 1999; Haveliwala 2002.
        """
        steps = int(np.ceil(np.log(_SMALLEST_STEP) / np.log(1 - RESTART)))
        here = np.zeros((self.size, len(starts)), dtype=np.float32)
        here[starts, np.arange(len(starts))] = 1
        spread = (_inverse(self.degree) * (1 - RESTART))[:, None]
        found = RESTART * here
        for _ in range(steps):
            here = self.sums(here * spread)
            found += RESTART * here
        return found

    def linked_to(self, starts: Ints) -> Floats:
        """Shape (n, starts): 1 where a note is linked to or from the start."""
        flags = np.zeros((self.size, len(starts)), dtype=np.float32)
        for column, start in enumerate(starts):
            flags[self.around(int(start)), column] = 1
        return flags


def structure_of(size: int, sources: Iterable[int] | Ints, targets: Iterable[int] | Ints) -> Structure:
    """The structure of directed links given by their ends, in any order, repeats and self links allowed."""
    first = np.asarray(sources, dtype=np.int64).reshape(-1)
    second = np.asarray(targets, dtype=np.int64).reshape(-1)
    directed = distinct(_keys(first, second, size)[first != second])
    first, second = directed // max(1, size), directed % max(1, size)
    both = distinct(np.concatenate([directed, _keys(second, first, size)]))
    degree = np.bincount(both // max(1, size), minlength=size)
    return Structure(
        sources=first,
        targets=second,
        offsets=np.concatenate([[0], np.cumsum(degree)]).astype(np.int64),
        neighbours=both % max(1, size),
        out_degree=np.bincount(first, minlength=size),
        in_degree=np.bincount(second, minlength=size),
    )


def link_structure(graph: LinkGraph) -> Structure:
    """The structure of a vault's resolved note-to-note links."""
    offsets = np.array(graph.offsets, dtype=np.int64)
    size = len(graph.paths)
    return structure_of(size, np.repeat(np.arange(size), np.diff(offsets)), np.array(graph.targets, dtype=np.int64))


def neighbours_of(graph: LinkGraph) -> Neighbours:
    """Who is linked with whom, in either direction: the rows of each note's neighbours, ascending."""
    structure = link_structure(graph)
    return Neighbours(
        offsets=array("i", structure.offsets.astype(np.intc).tobytes()),
        neighbours=array("i", structure.neighbours.astype(np.intc).tobytes()),
    )


def _keys(first: Ints, second: Ints, size: int) -> Ints:
    return first * max(1, size) + second


def _inverse(counts: Ints) -> Floats:
    return np.where(counts > 0, 1 / np.maximum(counts, 1), 0).astype(np.float32)


def link_sketch(graph: LinkGraph) -> list[str]:
    """The smallest hashes of the links: what two sketches share says how alike two sets of links are (Broder 1997)."""
    paths, offsets, targets = graph.paths, graph.offsets, graph.targets
    hashes = (
        sha256(f"{paths[row]}\0{paths[target]}".encode("utf-8", "surrogatepass")).hexdigest()[:16]
        for row in range(len(paths))
        for target in targets[offsets[row] : offsets[row + 1]]
    )
    return heapq.nsmallest(SKETCH_SIZE, hashes)


def still_alike(then: Collection[str], now: Collection[str]) -> bool:
    """Whether what was learned from the links of one sketch holds for those of the other."""
    one, two = set(then), set(now)
    return one == two or len(one & two) >= STILL_ALIKE * len(one | two)
