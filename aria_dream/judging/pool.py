"""Pairs whose answer is known: some of a vault's own links, hidden from graph, text and vectors, among what L0 offers.

They are what the judge is calibrated on, so they are made just as the pairs it will judge: the best of `resonances`.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np

from aria_dream.judging.calibration import SHY_OF_HUBS, Calibration, calibrate
from aria_dream.judging.judge import PRIOR, feature_matrix, pair_features
from aria_dream.ranking.rank import EVIDENCE
from aria_dream.ranking.sparse import structure_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from aria_dream.judging.judge import PairFeatures
    from aria_dream.ranking.meaning import Meanings, PairLikeness
    from aria_dream.ranking.rank import Ranking
    from aria_dream.ranking.sparse import Structure

    Ints = NDArray[np.int64]
    Floats = NDArray[np.float64]

HIDDEN_SHARE: Final = 0.1
ROUNDS: Final = 2
"""Each hides another tenth. With a fifth hidden at once the graph is so much poorer that held-out links look weaker
than the links still to be drawn will, and the threshold comes out too low."""
POOL_PER_NOTE: Final = 10
MOST_CELLS: Final = 1_500_000
"""Bound on asking notes × notes: about two seconds of CPU, once for each state of a vault."""
FEWEST_LINKS: Final = 10
"""A vault with fewer linked pairs teaches no weights; what its pairs are like is still measured."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PooledPairs:
    """Undrawn pairs as L0 offers them, row by row; a pair that two notes offer is there twice."""

    first: Ints
    """Row of the asking note."""
    second: Ints
    features: tuple[PairFeatures, ...]


@dataclass(frozen=True, slots=True)
class NoteSizes:
    """What the judge knows of the notes beside words, links and vectors, by row."""

    words: Sequence[int]
    folders: Sequence[str]


def links_of(ranking: Ranking, size: int) -> Structure:
    """The linked pairs of visible notes that a ranking of `size` notes knows."""
    pairs = ranking.linked_pairs()
    return structure_of(size, pairs[:, 0], pairs[:, 1])


def pool_of(
    ranking: Ranking,
    meanings: Meanings,
    sizes: NoteSizes,
    *,
    notes: Sequence[int] | None = None,
    per_note: int = POOL_PER_NOTE,
) -> PooledPairs:
    """The best undrawn pairs of every visible note (of `notes`, where given)."""
    found = [(note, scored) for note, best in ranking.all(per_note, notes) for scored in best]
    first = np.array([note for note, _ in found], dtype=np.int64)
    second = np.array([scored.to for _, scored in found], dtype=np.int64)
    told = meanings.likeness(links_of(ranking, len(sizes.words)), first, second)
    together = Counter(sizes.folders)
    features = tuple(
        pair_features(
            scored.score,
            dict(zip(EVIDENCE, scored.terms, strict=True)),
            values,
            words=(sizes.words[note], sizes.words[scored.to]),
            folder_notes=together[sizes.folders[note]] if sizes.folders[note] == sizes.folders[scored.to] else 0,
        )
        for (note, scored), values in zip(found, features_of(told), strict=True)
    )
    return PooledPairs(first=first, second=second, features=features)


def features_of(told: PairLikeness) -> list[tuple[float, float, float, float]]:
    """For each pair what `judge.pair_features` asks for."""
    columns = (told.nearness.tolist(), told.passages.tolist(), told.kinship.tolist(), told.analogy.tolist())
    return list(zip(*columns, strict=True))


def learn_calibration(
    ranking: Ranking,
    meanings: Meanings,
    sizes: NoteSizes,
    decisions: Sequence[tuple[PairFeatures, bool]] = (),
) -> Calibration:
    """The judge that this vault teaches: from links hidden for the purpose, and from the writer's decisions.

    `decisions`: features of pairs the writer approved (True) or rejected. Deterministic.
    """
    pairs = ranking.linked_pairs()
    said = feature_matrix([features for features, _ in decisions])
    approved = [answer for _, answer in decisions]
    chance = np.random.Generator(np.random.PCG64(len(pairs)))
    shuffled = pairs[chance.permutation(len(pairs))]
    share = round(HIDDEN_SHARE * len(pairs)) if len(pairs) >= FEWEST_LINKS else 0
    size = len(sizes.words)
    features, linked, stands_for, worth, keys = [], [], [], [], []
    for turn in range(ROUNDS if share else 1):
        held = shuffled[turn * share : (turn + 1) * share]
        asking, weight = _asking(held, size, chance)
        asked = ranking.without(held) if share else ranking
        pool = pool_of(asked, meanings, sizes, notes=asking.tolist())
        key = np.minimum(pool.first, pool.second) * size + np.maximum(pool.first, pool.second)
        features.append(feature_matrix(pool.features))
        linked.append(np.isin(key, held[:, 0] * size + held[:, 1]))
        stands_for.append(weight[pool.first])
        degree = np.maximum(links_of(asked, size).degree, 1).astype(np.float64)
        worth.append((degree[pool.first] * degree[pool.second]) ** (-SHY_OF_HUBS / 2))
        keys.append(key)
    return calibrate(
        PRIOR,
        np.concatenate(features),
        np.concatenate(linked),
        stands_for=np.concatenate(stands_for),
        worth=np.concatenate(worth),
        pairs=np.concatenate(keys),
        decided=said,
        approved=approved,
    )


def _asking(held: Ints, size: int, chance: np.random.Generator) -> tuple[Ints, Floats]:
    """`(notes, weight)`: notes to ask for their best, and by row how many notes an asked one stands for.

    In a large vault not every note can be asked: half of those asked are ends of hidden links, for only they can find
    one, the rest are any others. The weight is relative to that of an end.
    """
    ends = np.unique(held)
    others = np.setdiff1d(np.arange(size, dtype=np.int64), ends)
    most = max(2, MOST_CELLS // ROUNDS // max(1, size))
    if size <= most:
        return np.arange(size, dtype=np.int64), np.ones(size)
    asked_ends = np.sort(chance.permutation(ends)[: max(1, most // 2)])
    asked_others = np.sort(chance.permutation(others)[: max(1, most - len(asked_ends))])
    weight = np.ones(size)
    if len(asked_ends) and len(asked_others):
        weight[others] = (len(others) / len(asked_others)) / (len(ends) / len(asked_ends))
    return np.concatenate([asked_ends, asked_others]), weight
