"""What sentence embeddings say of two notes, each figure read against this vault's own notes. Pure.

A cosine means nothing by itself: in one vault all notes are near, in another none. So a product of two vectors is
counted in units of how far each reaches over the vault (`Background`).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np

if TYPE_CHECKING:

    from numpy.typing import NDArray

    Floats = NDArray[np.float64]
    Vectors = NDArray[np.float32]

BACKGROUND_NOTES: Final = 2_000
"""Notes whose vectors make the background: enough that a note's spread is known to two digits."""

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
