"""Which passages of other notes are tellingly near to those of some notes, by sentence embeddings. Pure.

Plain cosine brings the same general passages beside everything. So a passage's nearness is read against how near it is
to its own neighbours (cross-domain similarity local scaling: Conneau et al., "Word translation without parallel data",
ICLR 2018): `telling` = 2·cos(p, q) − r(p) − r(q), where r is the mean cosine of a passage with its `NEIGHBOURS` nearest
in other notes.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator, Mapping, Sequence

    from numpy.typing import NDArray

    Vectors = NDArray[np.float32]
    Ints = NDArray[np.int64]

NEIGHBOURS: Final = 10
SAMPLE_PASSAGES: Final = 8_000
"""Passages that r is measured against. With fewer in the vault they are all of them; with more a fair sample, in which
as many of the nearest stand for ten of the whole."""
COPIES: Final = 0.9
"""Cosine from which two passages say the same in the same words: copies, which tell nothing of the two notes."""
MOST_COPIES: Final = 2
"""A passage with more copies in other notes is boilerplate."""
MOST_LOOKED_AT: Final = 300
"""Of the passages nearest to a note by cosine so many are weighed."""
_NOTES_AT_ONCE: Final = 2_000


@dataclass(frozen=True, slots=True, kw_only=True)
class PassageMatch:
    """The most telling passages of two notes."""

    note: int
    """Row of the other note."""
    mine: int
    """Which passage of the asking note, from 0."""
    other: int
    """Which passage of the other."""
    cosine: float
    telling: float
    """From about -1 to 1; 0.1 is usual among the best of a note, 0.3 is rare."""
    whole: float
    """Cosine of the two notes, each the mean of its passages."""
    rank: int
    """How many other notes are nearer to the asking one as a whole."""


class PassageSpace:
    """The passages of a vault's notes as vectors, read when asked for and never held all at once."""

    def __init__(self, rows: Sequence[int], read: Callable[[Sequence[int]], Sequence[Vectors]]) -> None:
        """`rows`: the notes that take part, in an order that says nothing of them (by hash, such as
        `meaning.background_sample` gives), so that the first of them are a fair sample. `read(rows)`: the passages of
        notes, float32 [passages, dim], rows of length 1."""
        self._rows = list(rows)
        self._read = read
        self._sample: tuple[Vectors, Ints] | None = None
        self._share = 1.0

    def matches(
        self, asking: Sequence[int], also: Mapping[int, Collection[int]] | None = None
    ) -> dict[int, list[PassageMatch]]:
        """For each asking note the other notes with their most telling passage, the most telling first, ties by row.

        Found are the notes with the nearest passages, and those that `also` names for a note, however far, whether or
        not they are among the space's. Copies and
        boilerplate are no match. A note without passages has none. Deterministic.
        """
        mine = dict(zip(asking, self._read(asking), strict=True))
        nearest = {
            row: _Nearest(row, vectors, frozenset((also or {}).get(row, ())))
            for row, vectors in mine.items()
            if len(vectors)
        }
        others = {row for rows in (also or {}).values() for row in rows}.difference(self._rows)
        for owners, vectors in self._blocks((*self._rows, *sorted(others))):
            block = _Block(owners, vectors)
            for held in nearest.values():
                held.take(block)
        return {row: self._weighed(nearest[row]) if row in nearest else [] for row in asking}

    def usual(self, owners: Ints, vectors: Vectors) -> tuple[Vectors, Ints]:
        """`(r, copies)` of passages, one entry each; `owners`: the rows of their notes."""
        sample, of = self._sampled()
        r, copies = np.zeros(len(vectors), np.float32), np.zeros(len(vectors), np.int64)
        if not len(sample):
            return r, copies
        count = max(1, min(len(sample) - 1, round(NEIGHBOURS * self._share)))
        for start in range(0, len(vectors), 1_000):
            part = slice(start, start + 1_000)
            cosines = vectors[part] @ sample.T
            cosines[owners[part, None] == of[None, :]] = -1.0
            copies[part] = (cosines >= COPIES).sum(axis=1)
            near = np.partition(cosines, len(sample) - count, axis=1)[:, len(sample) - count :]
            r[part] = np.maximum(near, 0.0).mean(axis=1)
        return r, copies

    def _blocks(self, rows: Sequence[int]) -> Iterator[tuple[Ints, Vectors]]:
        for start in range(0, len(rows), _NOTES_AT_ONCE):
            some = rows[start : start + _NOTES_AT_ONCE]
            found = self._read(some)
            owners = np.repeat(np.array(some, np.int64), [len(one) for one in found])
            if len(owners):
                yield owners, np.concatenate(list(found))

    def _sampled(self) -> tuple[Vectors, Ints]:
        if self._sample is None:
            kept: list[tuple[Ints, Vectors]] = []
            held = 0
            for number, block in enumerate(self._blocks(self._rows), start=1):
                kept.append(block)
                held += len(block[0])
                if held >= SAMPLE_PASSAGES:
                    held = held * len(self._rows) // min(len(self._rows), number * _NOTES_AT_ONCE)
                    break
            owners = np.concatenate([np.zeros(0, np.int64), *(one for one, _ in kept)])[:SAMPLE_PASSAGES]
            vectors = np.concatenate([one for _, one in kept] or [np.zeros((0, 1), np.float32)])[:SAMPLE_PASSAGES]
            self._share = min(1.0, len(owners) / max(1, held))
            self._sample = vectors, owners
        return self._sample

    def _weighed(self, held: _Nearest) -> list[PassageMatch]:
        owners, numbers, vectors, wholes = held.found()
        if not len(owners):
            return []
        r_mine, copies_mine = self.usual(np.full(len(held.mine), held.row, np.int64), held.mine)
        r_other, copies_other = self.usual(owners, vectors)
        cosines = held.mine @ vectors.T
        telling = 2.0 * cosines - r_mine[:, None] - r_other[None, :]
        telling[cosines >= COPIES] = -np.inf
        telling[copies_mine > MOST_COPIES, :] = -np.inf
        telling[:, copies_other > MOST_COPIES] = -np.inf
        best = telling.argmax(axis=0)
        values = telling[best, np.arange(len(owners))]
        found: dict[int, PassageMatch] = {}
        for at in np.lexsort((numbers, owners, -values)).tolist():
            note = int(owners[at])
            if note not in found and np.isfinite(values[at]):
                found[note] = PassageMatch(
                    note=note,
                    mine=int(best[at]),
                    other=int(numbers[at]),
                    cosine=float(cosines[best[at], at]),
                    telling=float(values[at]),
                    whole=float(wholes[at]),
                    rank=held.rank(float(wholes[at])),
                )
        return list(found.values())


class _Block:
    """Some notes' passages, and what is made of them once for all that ask."""

    def __init__(self, owners: Ints, vectors: Vectors) -> None:
        self.owners, self.vectors = owners, vectors
        starts = np.flatnonzero(np.r_[True, owners[1:] != owners[:-1]])
        counts = np.diff(np.r_[starts, len(owners)])
        self.numbers = np.arange(len(owners)) - np.repeat(starts, counts)
        """Which passage of its note each is."""
        self.notes = owners[starts]
        self.of_note = np.repeat(np.arange(len(starts)), counts)
        means = np.add.reduceat(vectors, starts, axis=0)
        self.means = means / np.maximum(np.linalg.norm(means, axis=1, keepdims=True), 1e-6)


class _Nearest:
    """The passages of other notes that are nearest to any of a note's own, by cosine; filled block by block."""

    def __init__(self, row: int, mine: Vectors, also: Collection[int]) -> None:
        self.row, self.mine = row, mine
        self._also = np.array(sorted(also), np.int64)
        mean = mine.sum(axis=0)
        self._mean = mean / max(float(np.linalg.norm(mean)), 1e-6)
        self._near: list[tuple[Vectors, Ints, Ints, Vectors, Vectors]] = []
        self._wholes: list[Vectors] = []

    def take(self, block: _Block) -> None:
        wholes = block.means @ self._mean
        self._wholes.append(wholes[block.notes != self.row])
        best = (block.vectors @ self.mine.T).max(axis=1)
        named = np.isin(block.owners, self._also)
        best[block.owners == self.row] = -2.0
        top = np.argsort(-best, kind="stable")[:MOST_LOOKED_AT]
        top = np.union1d(top, np.flatnonzero(named))
        top = top[block.owners[top] != self.row]
        key = np.where(named[top], 2.0, best[top]).astype(np.float32)
        self._near.append((key, block.owners[top], block.numbers[top], block.vectors[top], wholes[block.of_note[top]]))

    def found(self) -> tuple[Ints, Ints, Vectors, Vectors]:
        """Notes, which passage of them, its vector, and the cosine of the whole note, of the nearest of all blocks."""
        if not self._near:
            nothing = np.zeros(0, np.int64)
            return nothing, nothing, self.mine[:0], self.mine[:0, 0]
        key, owners, numbers, vectors, wholes = (np.concatenate(parts) for parts in zip(*self._near, strict=True))
        top = np.argsort(-key, kind="stable")[: MOST_LOOKED_AT + int((key > 1.5).sum())]
        return owners[top], numbers[top], vectors[top], wholes[top]

    def rank(self, whole: float) -> int:
        """How many notes are nearer than `whole`."""
        return sum(int((some > whole).sum()) for some in self._wholes)
