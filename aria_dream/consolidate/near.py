"""Which passages lie near each other, by two signals that know nothing of one another: embeddings, and words.

Neither alone makes a pair: two monthly budgets have nearly one vector, two notes on one subject share half their words.
All arithmetic is in blocks, so that 50,000 passages need their vectors and a few megabytes.
"""

from __future__ import annotations

import re
import zlib
from array import array
from dataclasses import dataclass
from hashlib import sha256
from itertools import combinations, pairwise
from typing import TYPE_CHECKING, Final

import numpy as np

from aria_dream.consolidate.wording import UNSPACED

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Sequence

    from numpy.typing import NDArray

    Sketch = NDArray[np.uint32]
    Vectors = NDArray[np.float32]

LEAST_OVERLAP: Final = 0.12
"""Of the words of two passages are shared at least. Every labelled paraphrase of the corpus shares so many; of two
notes on one subject that are not one, nine in ten share fewer."""
MOSTLY: Final = 0.5
"""Two passages that share so many of their words are near from half the distance further: an embedding makes much of
the paragraph that only one of them has."""
SKETCH_WORDS: Final = 192
"""Distinct words of a passage that are kept, the same of every passage that has them (those with the smallest hash):
their share estimates that of all words."""
MOST_NEAR: Final = 8
"""Pairs that one passage takes part in, nearest first: a hundred notes from one form are no five thousand pairs."""
_ROWS_AT_ONCE, _COLUMNS_AT_ONCE = 1_024, 8_192
_SAMPLED: Final = 16
_SHARED: Final = 4
"""Of the `_SAMPLED` rare words of two sections this many in common make it worth while to embed them."""
_MOST_IN_BUCKET: Final = 50
_RUN: Final = re.compile(f"[{UNSPACED}]")


@dataclass(frozen=True, slots=True)
class NearRow:
    """Two rows of a table of passages, `first` < `second`."""

    first: int
    second: int
    cosine: float
    overlap: float


def sketch_of(words: str) -> Sketch:
    """The words of a passage as hashes, distinct, ascending, at most `SKETCH_WORDS`.

    Of scripts without spaces two neighbouring characters are a word.
    """
    keys = words.split(" ")
    found = {key for key in keys if len(key) > 2 or (key.isdigit() and key)}
    found.update(one + other for one, other in pairwise(keys) if _RUN.match(one) and _RUN.match(other))
    hashes = sorted({zlib.crc32(key.encode("utf-8", "surrogatepass")) for key in found})
    return np.array(hashes[:SKETCH_WORDS], dtype=np.uint32)


def overlap_of(first: Sketch, second: Sketch) -> float:
    """The share of the words of both that both have, 0 to 1, estimated from their sketches."""
    if not len(first) or not len(second):
        return 0.0
    shared = np.intersect1d(first, second, assume_unique=True)
    if max(len(first), len(second)) < SKETCH_WORDS:
        return len(shared) / (len(first) + len(second) - len(shared))
    union = np.union1d(first, second)[:SKETCH_WORDS]
    return float(np.isin(union, shared, assume_unique=True).sum() / len(union))


def near_by_meaning(
    vectors: Vectors, least_cosine: float, *, permit: Callable[[], None] = lambda: None
) -> list[tuple[int, int, float]]:
    """`(row, row, cosine)` of every two unit vectors at least so near, up to `MOST_NEAR` for a row. Zero rows are near
    to nothing. `leave` is called before every block, and may raise."""
    found: list[tuple[int, int, float]] = []
    for top in range(0, len(vectors), _ROWS_AT_ONCE):
        rows: list[NDArray[np.int64]] = []
        columns: list[NDArray[np.int64]] = []
        values: list[Vectors] = []
        for left in range(top, len(vectors), _COLUMNS_AT_ONCE):
            permit()
            likeness = vectors[top : top + _ROWS_AT_ONCE] @ vectors[left : left + _COLUMNS_AT_ONCE].T
            row, column = np.nonzero(likeness >= least_cosine)
            kept = column + left > row + top
            rows.append(row[kept] + top)
            columns.append(column[kept] + left)
            values.append(likeness[row[kept], column[kept]])
        found += _nearest(np.concatenate(rows), np.concatenate(columns), np.concatenate(values))
    return found


def _nearest(rows: NDArray[np.int64], columns: NDArray[np.int64], values: Vectors) -> list[tuple[int, int, float]]:
    order = np.lexsort((columns, -values, rows))
    rows, columns, values = rows[order], columns[order], values[order]
    starts = np.searchsorted(rows, rows)
    kept = np.arange(len(rows)) - starts < MOST_NEAR
    return list(zip(rows[kept].tolist(), columns[kept].tolist(), values[kept].tolist(), strict=True))


def is_near(row: NearRow, least_cosine: float, least_overlap: float) -> bool:
    """Whether both signals call two rows near. From 1 on only what is the same is."""
    least = least_cosine - (1 - least_cosine) / 2 if row.overlap >= MOSTLY else least_cosine
    return row.overlap == 1.0 or (row.overlap >= least_overlap and row.cosine >= least)


def near_by_words(sketches: Sequence[Sketch], rows: Sequence[int]) -> list[tuple[int, int]]:
    """Those of `rows` that share so many rare words that the meaning is worth asking for, as pairs, ascending."""
    if not rows:
        return []
    words, counts = np.unique(np.concatenate([sketches[row] for row in rows]), return_counts=True)
    common = words[(counts > _MOST_IN_BUCKET) | (counts == 1)]
    del words, counts
    rare = array("q")
    for place, row in enumerate(rows):
        told = sketches[row][~np.isin(sketches[row], common, assume_unique=True)][:_SAMPLED]
        rare.extend((told.astype(np.int64) << 32 | place).tolist())  # sorted, those of one word lie together
    if not rare:
        return []
    entries = np.sort(np.frombuffer(rare, dtype=np.int64))
    places = entries & 0xFFFFFFFF
    starts = np.flatnonzero(np.diff(entries >> 32, prepend=-1))
    codes = array("q")
    for start, stop in zip(starts.tolist(), [*starts[1:].tolist(), len(entries)], strict=True):
        bucket = places[start:stop].tolist()
        codes.extend(first * len(rows) + second for first, second in combinations(bucket, 2))
    pairs, shared = np.unique(np.frombuffer(codes, dtype=np.int64), return_counts=True)
    found = pairs[shared >= _SHARED]
    return [(rows[code // len(rows)], rows[code % len(rows)]) for code in found.tolist()]


def same_words(fingerprints: Sequence[str]) -> list[tuple[int, int]]:
    """Pairs of rows with one fingerprint: each further one with the first, so that a hundred copies are 99 pairs."""
    first: dict[str, int] = {}
    return [(first[one], row) for row, one in enumerate(fingerprints) if first.setdefault(one, row) != row]


def ranked(rows: Collection[NearRow]) -> list[NearRow]:
    """The rows, nearest first, each pair once, at most `MOST_NEAR` for a passage that is no verbatim copy."""
    best: dict[tuple[int, int], NearRow] = {}
    for row in rows:
        known = best.get((row.first, row.second))
        if known is None or row.overlap > known.overlap:
            best[row.first, row.second] = row
    taken: dict[int, int] = {}
    kept = []
    for row in sorted(best.values(), key=lambda row: (-row.overlap - row.cosine, row.first, row.second)):
        often = max(taken.get(row.first, 0), taken.get(row.second, 0))
        if row.overlap < 1.0 and often >= MOST_NEAR:
            continue
        taken[row.first] = taken.get(row.first, 0) + 1
        taken[row.second] = taken.get(row.second, 0) + 1
        kept.append(row)
    return kept


def verdict_key(first: tuple[str, str], second: tuple[str, str]) -> str:
    """What a verdict on two passages, each as `(id, state_hash)`, is remembered by: 64 hex digits, the same both ways.

    It changes with their names and with anything that a judge looks at, and with nothing else in their notes.
    """
    return sha256("\n".join(sorted(f"{name} {state}" for name, state in (first, second))).encode()).hexdigest()
