"""The vault teaches its own ranking: weights of the features, learned from the links it already has.

Logistic regression with a Gaussian prior centred on hand-set weights. A fifth of the linked pairs is taken out of graph
and text, the features are measured as if those links had never been drawn, and the pairs are set against notes that are
not linked; this is done with disjoint fifths. How far the weights may leave the prior is chosen by how well held-out
fifths are predicted. Deterministic: the same notes and links give the same weights.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np

from aria_dream.ranking.features import FEATURES, FeatureBlock

if TYPE_CHECKING:
    import numpy.typing as npt

    from aria_dream.ranking.notespace import NoteSpace
    from aria_dream.ranking.sparse import Structure

    Doubles = npt.NDArray[np.float64]
    Ints = npt.NDArray[np.int64]

VERSION: Final = 1
"""Goes up whenever the same vault would yield other weights."""

# Halfway between a fixed fusion (text, text of the neighbourhoods, half the walk, mentions) and the mean of what vaults
# of several kinds taught, rounded. What cannot be told without links (shared neighbours) starts at nothing.
_PRIOR: Final = {
    "text": 0.5,
    "text_rank": 0.5,
    "text_contrast": 0.5,
    "neighbour_text": 0.15,
    "neighbourhoods_text": 0.4,
    "similar_notes_link": 0.15,
    "mention": 1.2,
    "title_words": 0.1,
    "title_shape": 0.5,
    "coactivation": 0.3,
    "links_in": 0.15,
    "links_out": 0.25,
    "folder_near": 0.1,
    "folder_links": 0.3,
    "tags": 0.3,
    "unlinked": 0.3,
    "own_links_in": 0.1,
    "own_links_out": 0.15,
    "own_unlinked": 0.3,
}
# The usual spread of each feature among candidates: the less a feature varies, the farther its weight may go.
_SCALES: Final = {
    "text": 0.9,
    "text_rank": 0.15,
    "text_contrast": 0.4,
    "neighbour_text": 1.4,
    "neighbourhoods_text": 0.9,
    "similar_notes_link": 0.8,
    "mention": 0.2,
    "title_words": 0.3,
    "title_shape": 0.1,
    "coactivation": 1.1,
    "coactivation_back": 1.1,
    "common_neighbours": 0.15,
    "neighbour_overlap": 0.15,
    "links_in": 0.5,
    "links_out": 0.6,
    "folder_near": 0.4,
    "folder_links": 1.0,
    "tags": 0.2,
    "missing_note": 0.2,
    "length": 1.3,
    "unlinked": 0.4,
    "own_links_in": 0.6,
    "own_links_out": 0.6,
    "own_length": 1.3,
    "own_unlinked": 0.4,
}
_STRENGTHS: Final = (1e5, 1000.0, 300.0, 100.0, 30.0)
"""Weaker priors won nothing in any vault and lost where links were few."""
_FOLDS: Final = 5
_MOST_CELLS: Final = 2_500_000
"""Bound on sources × notes measured for learning: about two seconds of CPU."""
_MOST_SOURCES: Final = 200
"""Sources per fold: more taught nothing that could be measured."""
_HARD: Final = 40
_RANDOM: Final = 60
_SOURCES_AT_ONCE: Final = 32
_FEWEST_PAIRS: Final = 5


def _vector(values: dict[str, float], default: float) -> Doubles:
    return np.array([values.get(name, default) for name in FEATURES])


@dataclass(frozen=True, slots=True, kw_only=True)
class Weights:
    """What a vault taught: a score is `intercept` plus the sum of weight × feature, a log-odds."""

    values: tuple[float, ...]
    """One for each of `FEATURES`."""
    intercept: float
    strength: float
    """How strongly the weights were drawn to the prior; infinite where nothing was learned."""
    links: int
    """Linked pairs they were learned from."""

    def to_json(self) -> dict[str, object]:
        """A JSON object; `from_json` is the inverse."""
        return {
            "version": VERSION,
            "values": list(self.values),
            "intercept": self.intercept,
            "strength": self.strength if np.isfinite(self.strength) else None,
            "links": self.links,
        }

    @classmethod
    def from_json(cls, record: dict[str, object]) -> Weights | None:
        """The weights in `record`; None where it is of another version or no such record."""
        values, intercept, strength = record.get("values"), record.get("intercept"), record.get("strength")
        links = record.get("links")
        if record.get("version") != VERSION or not isinstance(values, list) or len(values) != len(FEATURES):
            return None
        if not all(isinstance(value, int | float) for value in (*values, intercept)) or not isinstance(links, int):
            return None
        assert isinstance(intercept, int | float)
        return cls(
            values=tuple(float(value) for value in values),
            intercept=float(intercept),
            strength=float(strength) if isinstance(strength, int | float) else float("inf"),
            links=links,
        )


def prior_weights(size: int) -> Weights:
    """The weights of a vault that has nothing to learn from."""
    return Weights(
        values=tuple(float(value) for value in _vector(_PRIOR, 0.0)),
        intercept=-float(np.log(max(size, 2))) - 4.0,
        strength=float("inf"),
        links=0,
    )


@dataclass(frozen=True, slots=True)
class Sample:
    """Pairs with what they turned out to be."""

    features: Doubles
    """Shape (pairs, features)."""
    linked: Doubles
    """1 for a link that was taken out, 0 for a pair without one."""
    weights: Doubles
    """How many pairs of the vault each stands for."""
    groups: Ints
    """The source each is a candidate of, distinct across folds."""
    folds: Ints


def fit_weights(space: NoteSpace, structure: Structure) -> Weights:
    """The weights this vault teaches; the prior's where it has fewer than five links."""
    prior = prior_weights(space.size)
    if len(structure.pairs()) < _FEWEST_PAIRS:
        return prior
    sample = _sample(space, structure)
    if not sample.linked.any() or sample.linked.all():
        return prior
    scales = _vector(_SCALES, 1.0)
    scaled = Sample(sample.features / scales, sample.linked, sample.weights, sample.groups, sample.folds)
    centre = np.array(prior.values) * scales
    strength = _choose_strength(scaled, centre)
    found = _regress(scaled, centre, strength)
    return Weights(
        values=tuple(float(value) for value in found[:-1] / scales),
        intercept=float(found[-1]),
        strength=strength,
        links=int(sample.linked.sum()) // 2,
    )


def _sample(space: NoteSpace, structure: Structure) -> Sample:
    pairs = structure.pairs()
    chance = np.random.Generator(np.random.PCG64(len(pairs)))
    shuffled = pairs[chance.permutation(len(pairs))]
    rows_per_fold = int(np.clip(_MOST_CELLS // max(1, space.size) // _FOLDS, 16, _MOST_SOURCES))
    parts: list[Sample] = []
    for fold, held in enumerate(np.array_split(shuffled, _FOLDS)):
        masked = structure.without(held)
        sources = np.unique(held)
        if len(sources) > rows_per_fold:
            sources = np.sort(chance.permutation(sources)[:rows_per_fold])
        for start in range(0, len(sources), _SOURCES_AT_ONCE):
            some = sources[start : start + _SOURCES_AT_ONCE]
            block = FeatureBlock(space, masked, some)
            parts.extend(
                _candidates(space, structure, block, column, held, chance, fold) for column in range(len(some))
            )
    return Sample(
        np.concatenate([part.features for part in parts]),
        np.concatenate([part.linked for part in parts]),
        np.concatenate([part.weights for part in parts]),
        np.concatenate([part.groups for part in parts]),
        np.concatenate([part.folds for part in parts]),
    )


def _candidates(
    space: NoteSpace,
    structure: Structure,
    block: FeatureBlock,
    column: int,
    held: Ints,
    chance: np.random.Generator,
    fold: int,
) -> Sample:
    """One source's held-out partners, the unlinked notes the prior likes best, and others by chance."""
    source = int(block.sources[column])
    partners = np.unique(np.concatenate([held[held[:, 0] == source, 1], held[held[:, 1] == source, 0]]))
    free = space.visible.copy()
    free[structure.around(source)] = False
    free[source] = False
    others = np.flatnonzero(free)
    guess = _vector(_PRIOR, 0.0).astype(np.float32) @ block.values[:, others, column]
    order = np.argsort(-guess, kind="stable")
    hard, rest = others[order[:_HARD]], others[order[_HARD:]]
    chosen = np.sort(chance.permutation(rest)[:_RANDOM])
    notes = np.concatenate([partners, hard, chosen])
    stands_for = np.ones(len(notes))
    stands_for[len(partners) + len(hard) :] = len(rest) / max(1, len(chosen))
    return Sample(
        block.values[:, notes, column].T.astype(np.float64),
        (np.arange(len(notes)) < len(partners)).astype(np.float64),
        stands_for,
        np.full(len(notes), fold * space.size + source),
        np.full(len(notes), fold),
    )


def _choose_strength(sample: Sample, centre: Doubles) -> float:
    """The strongest prior whose fits without a fold predict that fold within one standard error of the best."""
    told: list[list[Doubles]] = [[] for _ in _STRENGTHS]
    for fold in np.unique(sample.folds // 2):  # two fifths at a time: three fits a strength, not five
        inside, outside = _part(sample, sample.folds // 2 != fold), _part(sample, sample.folds // 2 == fold)
        if not inside.linked.any() or not outside.linked.any():
            continue
        weights = None
        for position, strength in enumerate(_STRENGTHS):
            weights = _regress(inside, centre, strength, weights)
            told[position].append(ranking_losses(outside, weights[:-1]))
    if not told[0]:
        return _STRENGTHS[0]
    losses = np.stack([np.concatenate(folds) for folds in told])
    behind = losses - losses[int(np.argmin(losses.sum(axis=1)))]
    near_enough = behind.mean(axis=1) <= behind.std(axis=1) / np.sqrt(losses.shape[1])
    return _STRENGTHS[int(np.argmax(near_enough))]


def _part(sample: Sample, kept: npt.NDArray[np.bool_]) -> Sample:
    return Sample(
        sample.features[kept], sample.linked[kept], sample.weights[kept], sample.groups[kept], sample.folds[kept]
    )


def ranking_losses(sample: Sample, weights: Doubles) -> Doubles:
    """For every held-out link, -ln of the share that the partner has among its source's candidates."""
    score = sample.features @ weights
    _, group = np.unique(sample.groups, return_inverse=True)
    best = np.full(group.max() + 1, -np.inf)
    np.maximum.at(best, group, score)
    odds = np.exp(score - best[group])
    others = np.bincount(group, weights=odds * sample.weights * (1 - sample.linked), minlength=len(best))
    partner = sample.linked == 1
    losses: Doubles = np.log(odds[partner] + others[group[partner]]) - (score - best[group])[partner]
    return losses


def _regress(sample: Sample, centre: Doubles, strength: float, start: Doubles | None = None) -> Doubles:
    """Weights and, last, the intercept: the minimum of the weighted log loss plus ½ strength |weights - centre|².

    Convex; damped Newton steps from `start` (the prior where there is none). The intercept is free but for a trace of
    ridge that keeps it finite.
    """
    table = np.concatenate([sample.features, np.ones((len(sample.linked), 1))], axis=1)
    links, others = float(sample.linked.sum()), float(sample.weights[sample.linked == 0].sum())
    usual = float(np.average(sample.features @ centre, weights=sample.weights))
    target = np.append(centre, np.log(max(links, 1) / max(others, 1)) - usual)
    ridge = np.append(np.full(len(centre), strength), 1e-4)

    def loss(weights: Doubles) -> float:
        score = table @ weights
        misfit = np.logaddexp(0, score) - sample.linked * score
        return float(sample.weights @ misfit + 0.5 * ridge @ (weights - target) ** 2)

    weights = target if start is None else start
    now = loss(weights)
    for _ in range(60):
        chance = 1 / (1 + np.exp(-np.clip(table @ weights, -500, 500)))
        slope = table.T @ (sample.weights * (chance - sample.linked)) + ridge * (weights - target)
        bend = (table * (sample.weights * chance * (1 - chance))[:, None]).T @ table + np.diag(ridge)
        step = np.linalg.solve(bend, slope)
        size = 1.0
        while size > 1e-6 and loss(weights - size * step) > now:
            size /= 2
        after = loss(weights - size * step)
        if now - after <= 1e-6 * abs(now):
            break
        weights, now = weights - size * step, after
    return weights
