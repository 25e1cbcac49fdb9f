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

from aria_dream.dream.features import FEATURES, Block

if TYPE_CHECKING:
    import numpy.typing as npt

    from aria_dream.dream.features import NoteSpace
    from aria_dream.dream.structure import Structure

    Doubles = npt.NDArray[np.float64]
    Ints = npt.NDArray[np.int64]

VERSION: Final = 1
"""Goes up whenever the same vault would yield other weights."""

_PRIOR: Final = {"text": 1.0, "neighbourhoods_text": 1.0, "coactivation": 0.5, "mention": 1.0}
_SCALES: Final[dict[str, float]] = {}
_STRENGTHS: Final = (10.0, 30.0, 100.0, 300.0, 1000.0, 1e6)
_FOLDS: Final = 5
_MOST_CELLS: Final = 2_500_000
"""Bound on sources × notes measured for learning: about two seconds of CPU."""
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
    rows_per_fold = max(16, _MOST_CELLS // max(1, space.size) // _FOLDS)
    parts: list[Sample] = []
    for fold, held in enumerate(np.array_split(shuffled, _FOLDS)):
        masked = structure.without(held)
        sources = np.unique(held)
        if len(sources) > rows_per_fold:
            sources = np.sort(chance.permutation(sources)[:rows_per_fold])
        for start in range(0, len(sources), _SOURCES_AT_ONCE):
            some = sources[start : start + _SOURCES_AT_ONCE]
            block = Block(space, masked, some)
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
    block: Block,
    column: int,
    held: Ints,
    chance: np.random.Generator,
    fold: int,
) -> Sample:
    """One source's held-out partners, the unlinked notes the prior likes best, and others by chance."""
    source = int(block.sources[column])
    partners = np.unique(np.concatenate([held[held[:, 0] == source, 1], held[held[:, 1] == source, 0]]))
    free = np.array([note.visible for note in space.notes], dtype=np.bool_)
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
    """The strength under which fits without a fold predict that fold best; the stronger of equals."""
    losses = np.zeros(len(_STRENGTHS))
    for fold in np.unique(sample.folds):
        inside, outside = _part(sample, sample.folds != fold), _part(sample, sample.folds == fold)
        if not inside.linked.any() or not outside.linked.any():
            continue
        for position, strength in enumerate(_STRENGTHS):
            losses[position] += ranking_loss(outside, _regress(inside, centre, strength)[:-1])
    return _STRENGTHS[len(losses) - 1 - int(np.argmin(losses[::-1]))]


def _part(sample: Sample, kept: npt.NDArray[np.bool_]) -> Sample:
    return Sample(
        sample.features[kept], sample.linked[kept], sample.weights[kept], sample.groups[kept], sample.folds[kept]
    )


def ranking_loss(sample: Sample, weights: Doubles) -> float:
    """Sum over held-out links of -ln of the share that the partner has among its source's candidates."""
    score = sample.features @ weights
    _, group = np.unique(sample.groups, return_inverse=True)
    best = np.full(group.max() + 1, -np.inf)
    np.maximum.at(best, group, score)
    odds = np.exp(score - best[group])
    others = np.bincount(group, weights=odds * sample.weights * (1 - sample.linked), minlength=len(best))
    partner = sample.linked == 1
    return float(np.sum(np.log(odds[partner] + others[group[partner]]) - (score - best[group])[partner]))


def _regress(sample: Sample, centre: Doubles, strength: float) -> Doubles:
    """Weights and, last, the intercept: the minimum of the weighted log loss plus ½ strength |weights - centre|².

    Convex; damped Newton steps. The intercept is free but for a trace of ridge that keeps it finite.
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

    weights, now = target.copy(), loss(target)
    for _ in range(60):
        chance = 1 / (1 + np.exp(-np.clip(table @ weights, -500, 500)))
        slope = table.T @ (sample.weights * (chance - sample.linked)) + ridge * (weights - target)
        bend = (table * (sample.weights * chance * (1 - chance))[:, None]).T @ table + np.diag(ridge)
        step = np.linalg.solve(bend, slope)
        size = 1.0
        while size > 1e-6 and loss(weights - size * step) > now:
            size /= 2
        after = loss(weights - size * step)
        if now - after <= 1e-8 * abs(now):
            break
        weights, now = weights - size * step, after
    return weights
