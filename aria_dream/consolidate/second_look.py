"""Which notes tell the same in other words, though their vectors lie too far apart to be near at once.

Two notes on one subject lie as near as a note and its paraphrase, only not alone: a subject has more notes. So a pair
is looked at a second time where it stands out from everything else that lies near either of the two, and it is near
where sentence for sentence the one says what the other does. What both have word for word (a form, a refrain) is no
evidence of that and is left out. All of it only finds candidates; a judge decides.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

import numpy as np

from aria_dream.ranking.embedding import MARKS, prose

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from aria_dream.consolidate.near import Vectors
    from aria_dream.markdown.note import Note

    Neighbours = dict[int, float]

NEIGHBOURS: Final = 5
"""Next nearest notes of either that a pair must stand out from."""
LEAST_MARGIN: Final = 0.2
"""By so much two notes are nearer to each other than their next neighbours are to them, on average."""
LEAST_ALIGNMENT: Final = 0.42
"""Of the best matches of all sentences, on average. Measured on a corpus of its own and on five vaults, whose pairs may
not become more than a tenth more: `benchmarks/README.md`."""
MOST_LOOKS: Final = 1_000
"""Pairs of one night whose sentences are compared, those that stand out most first: a few minutes of the model."""
MOST_SENTENCES: Final = 24
"""The beginning of a note, as its vector is of its beginning."""
_LONGEST_SENTENCE: Final = 400
_ROWS_AT_ONCE: Final = 256
_CUT: Final = re.compile(
    r"(?<=[.!?…])[\"'”’)\]*_]*\s+|(?<=[。！？])|\n\s*\n|\n(?=\s*(?:[-*+>|#]|\d{1,9}[.)]))|:\s*\n"
)
_LETTER: Final = re.compile(r"\w")
_DENSE: Final = re.compile(r"[\u3041-\u30ff\u3400-\u9fff\uac00-\ud7af]")
"""Scripts that say in six letters what others need twelve for."""


def floor_of(least_cosine: float) -> float:
    """From which cosine on a pair may be looked at again: twice as far apart as those that are near at once. 1 at 1,
    where only what is the same is near."""
    return least_cosine - (1 - least_cosine)


def standing_out(
    vectors: Vectors, least_cosine: float, *, permit: Callable[[], None] = lambda: None
) -> list[tuple[int, int, float]]:
    """`(row, row, margin)` of every two unit vectors at least so near that stand out by `LEAST_MARGIN` from the next
    neighbours of both; the widest margin first. In blocks: twice the work of `near_by_meaning`, no more memory. `leave`
    is called before every block, and may raise.
    """
    if len(vectors) < 2 or least_cosine >= 1:
        return []
    count = min(NEIGHBOURS + 1, len(vectors) - 1)
    near: dict[int, Neighbours] = {}
    for top in range(0, len(vectors), _ROWS_AT_ONCE):
        permit()
        likeness = vectors[top : top + _ROWS_AT_ONCE] @ vectors.T
        likeness[np.arange(len(likeness)), np.arange(top, top + len(likeness))] = -2.0
        for row in np.flatnonzero(likeness.max(axis=1) >= least_cosine).tolist():
            best = np.argpartition(likeness[row], -count)[-count:]
            near[top + row] = dict(zip(best.tolist(), likeness[row, best].tolist(), strict=True))
    found = []
    for first, beside in near.items():
        for second, cosine in beside.items():
            if cosine < least_cosine or second not in near or (second < first and first in near[second]):
                continue  # too far apart, by a rounding too, or seen from the other side
            ours, theirs = _without(beside, second), _without(near[second], first)
            margin = margin_of(cosine, ours, theirs)
            if margin >= LEAST_MARGIN:
                found.append((min(first, second), max(first, second), margin))
    return sorted(found, key=lambda one: (-one[2], one[0], one[1]))


def _without(beside: Neighbours, partner: int) -> list[float]:
    return [cosine for row, cosine in beside.items() if row != partner]


def margin_of(cosine: float, ours: Sequence[float], theirs: Sequence[float]) -> float:
    """By how much two notes are nearer to each other than their next `NEIGHBOURS` are to them. `ours` and `theirs`:
    cosines of the first and of the second to the others, in any order; a note without others stands out from nothing.
    """
    return cosine - sum(_next_nearest(others) for others in (ours, theirs)) / 2


def _next_nearest(others: Sequence[float]) -> float:
    nearest = sorted(others, reverse=True)[:NEIGHBOURS]
    return sum(nearest) / len(nearest) if nearest else 0.0


def sentences_of(note: Note) -> tuple[str, ...]:
    """The first sentences of a note's prose, at most `MOST_SENTENCES`, without those too short to say anything."""
    found = []
    for piece in _CUT.split(prose(note)):
        text = " ".join(MARKS.sub(" ", piece).split())
        if len(_LETTER.findall(text)) >= (6 if _DENSE.search(text) else 12):
            found.append(text[:_LONGEST_SENTENCE])
            if len(found) == MOST_SENTENCES:
                break
    return tuple(found)


def alignment(first: Sequence[str], second: Sequence[str], ours: Vectors, theirs: Vectors) -> float:
    """How well the sentences of two notes match, at most 1: the mean, over both, of each sentence's cosine to its best
    match. `ours` and `theirs` are the unit vectors of `first` and `second`. Those that stand in both are left out; 1
    where one of the two then has no more to say, 0 where one has no sentence at all.
    """
    if not first or not second:
        return 0.0
    shared = set(first) & set(second)
    own = [at for at, text in enumerate(first) if text not in shared]
    other = [at for at, text in enumerate(second) if text not in shared]
    if not own or not other:
        return 1.0
    likeness = ours[own] @ theirs[other].T
    return float(likeness.max(axis=1).mean() + likeness.max(axis=0).mean()) / 2
