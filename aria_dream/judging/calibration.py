"""What the embedded judge learned: how much each feature of a pair weighs in this vault, and where the threshold lies.

A logistic regression with a prior (Gaussian, centred on weights that hold across vaults of different kinds), trained on
links of the vault's own that were hidden from every feature, and on the writer's decisions. Features are centred and
scaled by the vault's own pool of undrawn pairs, so that weights mean the same in every vault. Deterministic.

The threshold keeps `RECALL` of the held-out links, each scored by a judge that had not seen it, and one standard error
more; up to `MOST_KEPT` where links stand out so well that what is kept is still `LIFT` times richer in them than what
was offered. A few scores of links of other vaults (`Prior.scores`) stand beside the vault's own.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

RECALL: Final = 0.80
"""Share of the links still to be drawn that is to be kept."""
RECALL_MARGIN: Final = 0.5
"""Over the root of the number of held-out links it is added to `RECALL`: a little more than the standard error of a
share of 0.8, so that chance seldom costs the promise, and costs little purity where links are many."""
MOST_KEPT: Final = 0.92
LIFT: Final = 3.0
"""What is kept is to hold links twice as often as what was offered; half as much again is for chance."""
SHY_OF_HUBS: Final = 0.3
"""A held-out link counts in proportion to this power of one over the mean degree of its ends. Links are hidden evenly,
so most are a hub's, but the hubs' links were drawn long ago: what an author drew later lay at the edges."""
PRIOR_STRENGTH: Final = 5.0
"""Held-out links it takes, roughly, before the vault weighs as much as the prior."""
DECISION_WEIGHT: Final = 4.0
"""A writer's decision counts as much as four held-out links: it was made about just such a pair."""
FOLDS: Final = 5
_LEAST_SHARE: Final = 0.5
"""Of the prior's scale: where a vault shows no variety in a feature, its small differences are not blown up."""
_INTERCEPT_STRENGTH: Final = 1e-3
_MAX_STEPS: Final = 50
_TOLERANCE: Final = 1e-7


@dataclass(frozen=True, slots=True, kw_only=True)
class Prior:
    """What is believed before the vault is seen, one entry a feature."""

    weights: tuple[float, ...]
    strengths: tuple[float, ...]
    """Multiples of `PRIOR_STRENGTH`; a large one pins a weight."""
    means: tuple[float, ...]
    scales: tuple[float, ...]
    """Used only where the vault has no pool of its own to measure them."""
    scores: tuple[float, ...]
    """Scores of links of other vaults: stand-ins for the vault's own held-out links when the threshold is chosen."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Calibration:
    """A judge's state of learning. `score` and `probability` are all that is done with it."""

    means: tuple[float, ...]
    scales: tuple[float, ...]
    weights: tuple[float, ...]
    threshold: float
    """The score from which on a pair is kept."""
    links: int
    """Held-out links of the vault that were learned from."""
    decisions: int
    """Decisions of the writer that were learned from."""


def scores(calibration: Calibration, features: Floats) -> Floats:
    """Log odds, up to a constant, that the writer would draw the link; one a row of `features` [pairs, features]."""
    return np.asarray(_scaled(features, calibration.means, calibration.scales) @ np.array(calibration.weights))


def probabilities(calibration: Calibration, features: Floats) -> Floats:
    """0.5 at the threshold; the odds of two pairs differ as the learned odds do."""
    margin = np.clip(scores(calibration, features) - calibration.threshold, -30.0, 30.0)
    return np.asarray(1.0 / (1.0 + np.exp(-margin)), np.float64)


def contributions(calibration: Calibration, features: Floats) -> Floats:
    """What each feature added to the score of each pair; the rows of `scores`, term by term."""
    return np.asarray(_scaled(features, calibration.means, calibration.scales) * np.array(calibration.weights))


def _scaled(features: Floats, means: Sequence[float] | Floats, scales: Sequence[float] | Floats) -> Floats:
    """Features centred and scaled; what is not known (NaN) lies on the mean."""
    return np.asarray(np.nan_to_num((features - np.asarray(means)) / np.asarray(scales), nan=0.0), np.float64)


def _moments(pool: Floats, counts: Floats, prior: Prior) -> tuple[Floats, Floats]:
    """Means and scales of the pool's columns; the prior's where a column is not known at all."""
    weight = np.where(np.isnan(pool), 0.0, counts[:, None])
    total = weight.sum(axis=0)
    least = np.maximum(total, 1e-9)
    means = np.nan_to_num(pool * weight).sum(axis=0) / least
    scales = np.sqrt((np.nan_to_num(pool - means) ** 2 * weight).sum(axis=0) / least)
    return (
        np.where(total > 0, means, np.array(prior.means)),
        np.where(total > 1, np.maximum(scales, _LEAST_SHARE * np.array(prior.scales)), np.array(prior.scales)),
    )


def calibrate(
    prior: Prior,
    pool: Floats,
    linked: Sequence[bool] | NDArray[np.bool_],
    *,
    stands_for: Floats | None = None,
    worth: Floats | None = None,
    pairs: NDArray[np.int64] | None = None,
    decided: Floats | None = None,
    approved: Sequence[bool] = (),
) -> Calibration:
    """The judge of this vault.

    `pool`: features [pairs, features] of undrawn pairs of the vault with some of its links hidden; `linked` says which
    of them are those hidden links, `stands_for` how many pairs of the vault each unlinked one represents (1 by
    default), `worth` how much each linked one counts relative to the others (alike by default), `pairs` which rows are
    one pair seen from either side: it is kept if either is (default: each row its own). `decided`: features of pairs
    the writer decided on, `approved` how. An empty pool
    leaves means, scales and threshold to the prior.
    """
    answers = np.asarray(linked, dtype=bool)
    width = len(prior.weights)
    counts = np.ones(len(answers)) if stands_for is None else np.where(answers, 1.0, stands_for)
    if worth is not None and answers.any():
        counts = np.where(answers, worth / worth[answers].mean(), counts)
    means, scales = _moments(pool.reshape(-1, width), counts, prior)
    examples = _scaled(pool.reshape(-1, width), means, scales)
    verdicts = np.asarray(approved, dtype=bool)
    said = np.zeros((0, width)) if decided is None else _scaled(decided.reshape(-1, width), means, scales)
    weights = _fit(prior, examples, answers, counts, said, verdicts)
    # The bar is set by links alone, so that a rejection lowers pairs like it and no bar that falls with them.
    untold = _fit(prior, examples, answers, counts, said[:0], verdicts[:0]) if len(verdicts) else weights
    seen = _held_out_scores(prior, examples, answers, counts)
    own = seen if pairs is None else _best_of_each(pairs[answers], seen)
    return Calibration(
        means=tuple(means.tolist()),
        scales=tuple(scales.tolist()),
        weights=tuple(weights.tolist()),
        threshold=_threshold(np.concatenate([own, np.array(prior.scores)]), examples @ untold, counts),
        links=int(answers.sum()),
        decisions=len(verdicts),
    )


def _best_of_each(groups: NDArray[np.int64], values: Floats) -> Floats:
    _, group = np.unique(groups, return_inverse=True)
    best = np.full(int(group.max()) + 1 if len(group) else 0, -np.inf)
    np.maximum.at(best, group, values)
    return best


def _threshold(kept: Floats, pool: Floats, counts: Floats) -> float:
    """Where to cut: `kept` are scores of links, `pool` of all pairs offered, each counting as `counts` says."""
    if not len(kept):
        return 0.0
    least = min(MOST_KEPT, RECALL + RECALL_MARGIN / np.sqrt(len(kept)))
    total = float(counts.sum())
    for recall in np.arange(MOST_KEPT, least, -0.01) if total else ():
        cut = float(np.quantile(kept, 1.0 - recall))
        if recall * total >= LIFT * float(counts[pool >= cut].sum()):
            return cut
    return float(np.quantile(kept, 1.0 - least))


def _held_out_scores(
    prior: Prior,
    examples: Floats,
    answers: NDArray[np.bool_],
    counts: Floats,
) -> Floats:
    """The score of each linked example, in their order, by a judge trained without its fold."""
    found = np.flatnonzero(answers)
    others = np.flatnonzero(~answers)
    held = np.zeros(len(found))
    nothing, nobody = np.zeros((0, examples.shape[1])), np.zeros(0, dtype=bool)
    for fold in range(min(FOLDS, len(found))):
        mine = found[fold::FOLDS]
        rest = np.concatenate([np.setdiff1d(found, mine), others])
        weights = _fit(prior, examples[rest], answers[rest], counts[rest], nothing, nobody)
        held[fold::FOLDS] = examples[mine] @ weights
    return held


def _fit(
    prior: Prior,
    examples: Floats,
    answers: NDArray[np.bool_],
    counts: Floats,
    said: Floats,
    verdicts: NDArray[np.bool_],
) -> Floats:
    """Weights of highest posterior. Links and other pairs weigh the same in sum, so that log odds centre on zero."""
    share = float(answers.sum()) / max(1.0, float(counts[~answers].sum()))
    rows = np.concatenate([examples, said])
    targets = np.concatenate([answers, verdicts]).astype(np.float64)
    importance = np.concatenate([np.where(answers, counts, share * counts), np.full(len(said), DECISION_WEIGHT)])
    design = np.c_[rows, np.ones(len(rows))]
    centre = np.array([*prior.weights, 0.0])
    strength = np.array([*(PRIOR_STRENGTH * np.array(prior.strengths)), _INTERCEPT_STRENGTH])
    if not len(rows):
        return centre[:-1]
    return _newton(design, targets, importance, centre, strength)[:-1]


def _newton(design: Floats, targets: Floats, importance: Floats, centre: Floats, strength: Floats) -> Floats:
    """Newton's method with halved steps: the loss is convex, so it ends in the one minimum."""

    def loss(at: Floats) -> float:
        logits = design @ at
        fit = importance @ (np.logaddexp(0.0, logits) - targets * logits)
        return float(fit + 0.5 * strength @ (at - centre) ** 2)

    at = centre.copy()
    now = loss(at)
    for _ in range(_MAX_STEPS):
        likely = 1.0 / (1.0 + np.exp(-np.clip(design @ at, -30.0, 30.0)))
        slope = design.T @ (importance * (likely - targets)) + strength * (at - centre)
        bend = (design.T * (importance * likely * (1.0 - likely))) @ design + np.diag(strength)
        step = np.linalg.solve(bend, slope)
        size = 1.0
        while size > _TOLERANCE and loss(at - size * step) > now:
            size /= 2
        at = at - size * step
        after = loss(at)
        if now - after < _TOLERANCE:
            break
        now = after
    return at


def render_calibration(calibration: Calibration) -> bytes:
    """`calibration` for the cache, exact; `parse_calibration` is the inverse."""
    fields = ("means", "scales", "weights", "threshold", "links", "decisions")
    return json.dumps({name: getattr(calibration, name) for name in fields}).encode()


def parse_calibration(blob: bytes, features: int) -> Calibration | None:
    """What `render_calibration` wrote; None for anything else, or for another number of features."""
    try:
        found = json.loads(blob)
        rows = {name: tuple(map(float, found[name])) for name in ("means", "scales", "weights")}
        threshold, links, decisions = float(found["threshold"]), int(found["links"]), int(found["decisions"])
    except (ValueError, TypeError, KeyError):
        return None
    numbers = [threshold, *(number for row in rows.values() for number in row)]
    if any(len(row) != features for row in rows.values()) or not np.isfinite(numbers).all() or min(rows["scales"]) <= 0:
        return None
    return Calibration(**rows, threshold=threshold, links=links, decisions=decisions)
