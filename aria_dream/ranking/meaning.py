"""What sentence embeddings say of two notes, each figure read against this vault's own notes. Pure.

A cosine means nothing by itself: in one vault all notes are near, in another none. So a product of two vectors is
counted in units of how far each reaches over the vault (`Background`), and a pair is compared with what its notes are
linked with already.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np

from aria_dream.ranking.sparse import distinct

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from aria_dream.ranking.sparse import Structure

    Floats = NDArray[np.float64]
    Ints = NDArray[np.int64]
    Vectors = NDArray[np.float32]

BACKGROUND_NOTES: Final = 2_000
"""Notes whose vectors make the background: enough that a note's spread is known to two digits."""
VOTERS: Final = 8
"""Notes nearest in meaning whose links are asked for analogy; five and fifteen did alike."""
NEAR_COSINE: Final = 0.35
"""Centred; from here on one note is called near another in meaning."""
_MOST_RELATIVES: Final = 64
"""Of a hub's neighbours so many say what it is usually linked with."""
_ASKING_AT_ONCE: Final = 64
_NOTES_AT_ONCE: Final = 4096


@dataclass(frozen=True, slots=True, eq=False)
class Background:
    """How near any two notes of this vault are, so that a cosine can be read against it."""

    centre: Vectors
    """Mean vector of the sample, float32 [dim]."""
    spread: Vectors
    """Second moments of the centred sample, float32 [dim, dim]."""

    def reach(self, vectors: Vectors) -> tuple[Vectors, Vectors]:
        """`(centred, spreads)`: `vectors` from the centre, and the deviation of each one's product with a note."""
        centred = vectors - self.centre
        squares = np.einsum("ij,ij->i", centred @ self.spread, centred)
        return centred, np.sqrt(np.maximum(squares, 1e-8))

    def z_scores(self, first: Vectors, second: Vectors) -> Floats:
        """For each row pair: the centred inner product in units of each note's own spread over the vault, averaged.

        NaN where a row is zero (no vector is known).
        """
        known = first.any(axis=1) & second.any(axis=1)
        (one, spread_one), (two, spread_two) = self.reach(first), self.reach(second)
        product = np.einsum("ij,ij->i", one, two)
        z = 0.5 * (product / spread_one + product / spread_two)
        return np.where(known, z, np.nan).astype(np.float64)


def render_background(found: Background) -> bytes:
    """`found` for the cache, exact; `parse_background` is the inverse."""
    return np.concatenate([found.centre, found.spread.reshape(-1)]).astype("<f4").tobytes()


def parse_background(blob: bytes, dim: int) -> Background | None:
    """What `render_background` wrote; None for anything else."""
    if len(blob) != 4 * (dim + dim * dim):
        return None
    numbers = np.frombuffer(blob, "<f4").astype(np.float32)
    if not np.isfinite(numbers).all():
        return None
    return Background(numbers[:dim], numbers[dim:].reshape(dim, dim))


def background_sample(keys: Sequence[bytes], size: int = BACKGROUND_NOTES) -> list[int]:
    """Which notes' vectors make the background: positions of the `size` smallest keys.

    Keys are hashes, so this is a fair sample; it is the same one every time and hardly changes with the vault.
    """
    return sorted(range(len(keys)), key=keys.__getitem__)[:size]


def background(sample: Vectors) -> Background:
    """The background that a sample of note vectors (float32 [n, dim], zero rows ignored) makes."""
    known = sample[sample.any(axis=1)]
    if len(known) == 0:
        dim = sample.shape[1]
        return Background(np.zeros(dim, np.float32), np.eye(dim, dtype=np.float32) / dim)
    centre = known.mean(axis=0)
    centred = known - centre
    # A little of the unit matrix: in a vault of a few notes the spread would else be zero in most directions.
    dim = sample.shape[1]
    mean_square = float(np.einsum("ij,ij->", centred, centred)) / len(known) if len(known) > 1 else 1.0
    share = 20.0 / (20.0 + len(known))
    spread = (1 - share) * (centred.T @ centred) / len(known) + share * mean_square / dim * np.eye(dim)
    return Background(centre.astype(np.float32), spread.astype(np.float32))


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class PairLikeness:
    """What is measured of pairs, one entry a pair; NaN where it is not known."""

    nearness: Floats
    """The notes' vectors: z-score against the background."""
    passages: Floats
    """The same of the two passages, one of either note, that are nearest, and of the next nearest two, averaged."""
    kinship: Floats
    """How much nearer the two are than each is to the notes it is linked with; negative: less near."""
    analogy: Floats
    """Share, weighed by nearness, of the notes most like the first one that are linked with the second."""
    akin: Ints
    """Row of the nearest of them; -1 where there is none that is near enough to be called so."""


@dataclass(frozen=True, slots=True, eq=False)
class Meanings:
    """The vectors of a vault's notes, by row."""

    vectors: NDArray[np.float16]
    """[notes, dim], of length 1; zeros where none is known."""
    background: Background
    passages: Callable[[Sequence[int]], Sequence[Vectors]]
    """Vectors of the asked notes' passages, title first; none where they are not known."""

    def of(self, rows: Sequence[int] | Ints) -> Vectors:
        """The vectors of some notes."""
        return self.vectors[np.asarray(rows, dtype=np.int64)].astype(np.float32)

    def likeness(self, links: Structure, first: Ints, second: Ints) -> PairLikeness:
        """What is measured of the undrawn pairs (`first`, `second`) of a vault that is linked so. Directed: `first`
        asks."""
        analogy, akin = self._analogy(links, first, second)
        return PairLikeness(
            nearness=self.background.z_scores(self.of(first), self.of(second)),
            passages=self._passages(first, second),
            kinship=self._kinship(links, first, second),
            analogy=analogy,
            akin=akin,
        )

    def _passages(self, first: Ints, second: Ints) -> Floats:
        rows = distinct(np.concatenate([first, second]))
        known = {
            row: self.background.reach(found)
            for row, found in zip(rows.tolist(), self.passages(rows.tolist()), strict=True)
            if len(found)
        }
        told = np.full(len(first), np.nan)
        for at, (a, b) in enumerate(zip(first.tolist(), second.tolist(), strict=True)):
            if a in known and b in known:
                told[at] = _two_nearest(*known[a], *known[b])
        return told

    def _kinship(self, links: Structure, first: Ints, second: Ints) -> Floats:
        rows = distinct(np.concatenate([first, second])) if len(first) else first
        relatives = [links.around(row)[:_MOST_RELATIVES] for row in rows.tolist()]
        owner = np.repeat(np.arange(len(rows)), [len(some) for some in relatives])
        other = np.concatenate([np.zeros(0, np.int64), *relatives])
        near = self._nearness(rows[owner], other)
        seen = ~np.isnan(near)
        count = np.bincount(owner[seen], minlength=len(rows))
        total = np.bincount(owner[seen], weights=near[seen], minlength=len(rows))
        usual = np.where(count > 0, total / np.maximum(count, 1), np.nan)
        z = self._nearness(first, second)
        sides = np.stack([z - usual[np.searchsorted(rows, first)], z - usual[np.searchsorted(rows, second)]])
        told = ~np.isnan(sides)
        sums = np.where(told, sides, 0.0).sum(axis=0)
        return np.where(told.any(axis=0), sums / np.maximum(told.sum(axis=0), 1), np.nan)

    def _nearness(self, first: Ints, second: Ints) -> Floats:
        """z-scores, each note's spread computed once."""
        rows = distinct(np.concatenate([first, second]))
        vectors = self.of(rows)
        centred, spreads = self.background.reach(vectors)
        one, two = np.searchsorted(rows, first), np.searchsorted(rows, second)
        known: NDArray[np.bool_] = np.asarray(vectors.any(axis=1))
        z = np.zeros(len(first))
        for start in range(0, len(first), _NOTES_AT_ONCE):
            a, b = one[start : start + _NOTES_AT_ONCE], two[start : start + _NOTES_AT_ONCE]
            product = np.einsum("ij,ij->i", centred[a], centred[b])
            z[start : start + _NOTES_AT_ONCE] = 0.5 * (product / spreads[a] + product / spreads[b])
        return np.where(known[one] & known[two], z, np.nan)

    def _analogy(self, links: Structure, first: Ints, second: Ints) -> tuple[Floats, Ints]:
        told, akin = np.full(len(first), np.nan), np.full(len(first), -1, dtype=np.int64)
        asking = distinct(first)
        weight = np.zeros(len(self.vectors), dtype=np.float32)
        for start in range(0, len(asking), _ASKING_AT_ONCE):
            some = asking[start : start + _ASKING_AT_ONCE]
            cosines = self._cosines(some)
            for at, row in enumerate(some.tolist()):
                if not self.vectors[row].any():
                    continue
                column = cosines[:, at]
                column[row] = -1.0
                voters = np.argsort(-column, kind="stable")[:VOTERS]
                likes = np.maximum(column[voters], 0.0)
                weight[voters] = likes / max(float(likes.sum()), 1e-9)
                for pair in np.flatnonzero(first == row).tolist():
                    around = links.around(int(second[pair]))
                    told[pair] = weight[around].sum()
                    near = around[(weight[around] > 0) & (column[around] >= NEAR_COSINE)]
                    if len(near):
                        akin[pair] = near[np.argmax(column[near])]
                weight[voters] = 0.0
        return told, akin

    def _cosines(self, asking: Ints) -> Vectors:
        """Centred cosines of every note with each of `asking`: float32 [notes, asking]; -1 where none is known."""
        asked, _ = self.background.reach(self.of(asking))
        asked /= np.maximum(np.linalg.norm(asked, axis=1, keepdims=True), 1e-6)
        found = np.empty((len(self.vectors), len(asking)), dtype=np.float32)
        for start in range(0, len(self.vectors), _NOTES_AT_ONCE):
            part = self.vectors[start : start + _NOTES_AT_ONCE].astype(np.float32)
            known = np.asarray(part.any(axis=1))
            part -= self.background.centre
            length = np.maximum(np.sqrt(np.einsum("ij,ij->i", part, part)), 1e-6)
            found[start : start + len(part)] = np.where(known[:, None], (part @ asked.T) / length[:, None], -1.0)
        return found


def _two_nearest(one: Vectors, spread_one: Vectors, two: Vectors, spread_two: Vectors) -> float:
    """z-scores of the two nearest pairs of passages, averaged; titles speak only for a note without prose."""
    if len(one) > 1 and len(two) > 1:
        one, spread_one, two, spread_two = one[1:], spread_one[1:], two[1:], spread_two[1:]
    product = one @ two.T
    z = 0.5 * (product / spread_one[:, None] + product / spread_two[None, :])
    return float(np.sort(z, axis=None)[-2:].mean())
