"""Sparse rows in plain arrays: one row a note, and the inverted index that makes a row's products cheap.

numpy alone: importing scipy.sparse costs 0.34 s of CPU, a third of what a whole dream may take at 10,000 notes.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeVar

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy.typing as npt

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
