"""What a pair of notes is worth to its writer, as far as the built-in judge can tell: the odds that a reader finds it
worth a link or a thought. Pure.

A logistic regression on what the passages of two notes say (`juxtaposition.Resonance`) and on L0's ranking, fitted on
the verdicts of readers who saw pairs blind (`benchmarks/worth/`), with a Gaussian prior centred there when the writer's
own decisions are learned from (MAP estimate; Bishop, Pattern Recognition and Machine Learning, 4.5).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np

from aria_dream.ranking.juxtaposition import log_odds

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from aria_dream.ranking.juxtaposition import Juxtaposition

    Floats = NDArray[np.float64]

FEATURES: Final = ("passages", "telling", "whole", "passage length", "text", "structure", "other", "mention")
"""Cosine of the two passages, the same against their neighbours, and of the whole notes; characters of the shorter
passage; what words, links and all else add to L0's log odds; whether one names the other. A resonance that is not known
counts as none."""
_OF_PASSAGES: Final = FEATURES[:4]
TEXT_TERMS: Final = ("text", "neighbour text", "similar notes link there", "title", "missing note")
STRUCTURE_TERMS: Final = ("co-activation", "common neighbours")
MENTION_TERM: Final = "mention"
"""Terms of L0's score (`rank.EVIDENCE`)."""
_MEANS: Final = (0.46, 0.07, 0.40, 125.0, 3.0, 0.4, -8.7, 0.05)
_SCALES: Final = (0.14, 0.21, 0.16, 31.0, 1.5, 0.5, 2.0, 0.3)
_WEIGHTS: Final = (0.45, 0.10, 0.42, 0.28, 0.11, 0.04, 0.15, 0.0)
_INTERCEPT: Final = -0.97
"""Rounded from the fit over 467 judged pairs (`benchmarks/README.md`): held out vault by vault it orders worth at AUC
.71; cosine of the passages alone .67, of the notes .66, L0's rank .57."""
NO_RESONANCE: Final = (0.1, -0.4, 0.1, 80.0)
"""Of a pair whose passages are not known to resonate: as far apart as two notes taken by chance."""
DECISION_STRENGTH: Final = 10.0
"""Decisions of one kind that it takes, roughly, before they weigh as much as what the readers said."""
MOST_ODDS: Final = 30.0


@dataclass(frozen=True, slots=True)
class WorthModel:
    """What is believed of worth, for one writer."""

    weights: tuple[float, ...] = _WEIGHTS
    """One a feature, on features centred and scaled."""
    intercept: float = _INTERCEPT
    decisions: int = 0
    """Decisions of the writer that it was learned from."""

    def log_odds(self, features: Sequence[float]) -> float:
        """Log odds that a reader finds the pair worth a link or more."""
        scaled = (np.array(features) - _MEANS) / _SCALES
        return float(np.clip(scaled @ np.array(self.weights) + self.intercept, -MOST_ODDS, MOST_ODDS))


def worth_features(found: Juxtaposition) -> tuple[float, ...]:
    """The pair in the order of `FEATURES`."""
    terms = {term.name: term.value for term in found.evidence}
    return (*_of_passages(found), *_ranked(found.score, terms))


def features_kept(evidence: dict[str, float], score: float) -> tuple[float, ...]:
    """The features of a pair whose evidence a proposal kept (`evidence_kept`)."""
    said = tuple(evidence.get(name, usual) for name, usual in zip(_OF_PASSAGES, NO_RESONANCE, strict=True))
    return (*said, *_ranked(score, evidence))


def evidence_kept(found: Juxtaposition) -> dict[str, float]:
    """What a proposal keeps of the pair, so that the writer's answer can be learned from: L0's terms by name, and what
    the passages say."""
    kept = {term.name: term.value for term in found.evidence}
    if found.resonance is not None:
        kept |= {name: round(value, 4) for name, value in zip(_OF_PASSAGES, _of_passages(found), strict=True)}
    return kept


def _of_passages(found: Juxtaposition) -> tuple[float, float, float, float]:
    resonance = found.resonance
    if resonance is None:
        return NO_RESONANCE
    return resonance.cosine, resonance.telling, resonance.whole, float(min(map(len, resonance.quotes)))


def _ranked(score: float, terms: dict[str, float]) -> tuple[float, float, float, float]:
    text = sum(terms.get(name, 0.0) for name in TEXT_TERMS)
    structure = sum(terms.get(name, 0.0) for name in STRUCTURE_TERMS)
    return text, structure, log_odds(score) - text - structure, float(terms.get(MENTION_TERM, 0.0) > 0.0)


def learn_worth(decided: Sequence[Sequence[float]], approved: Sequence[bool]) -> WorthModel:
    """The model after the writer's decisions: features of each pair that was decided on, and how.

    Deterministic; without decisions it is the shipped one.
    """
    if not len(decided):
        return WorthModel()
    scaled = (np.array(decided, np.float64) - _MEANS) / _SCALES
    rows = np.c_[scaled, np.ones(len(scaled))]
    centre = np.array([*_WEIGHTS, _INTERCEPT])
    found = _newton(rows, np.array(approved, np.float64), centre, np.full(len(centre), DECISION_STRENGTH))
    return WorthModel(tuple(found[:-1].tolist()), float(found[-1]), len(rows))


def _newton(rows: Floats, targets: Floats, centre: Floats, strength: Floats) -> Floats:
    """Newton's method with halved steps: the loss is convex, so it ends in the one minimum."""

    def loss(at: Floats) -> float:
        logits = rows @ at
        return float((np.logaddexp(0.0, logits) - targets * logits).sum() + 0.5 * strength @ (at - centre) ** 2)

    at, now = centre.copy(), loss(centre)
    for _ in range(50):
        likely = 1.0 / (1.0 + np.exp(-np.clip(rows @ at, -MOST_ODDS, MOST_ODDS)))
        slope = rows.T @ (likely - targets) + strength * (at - centre)
        step = np.linalg.solve((rows.T * (likely * (1.0 - likely))) @ rows + np.diag(strength), slope)
        size = 1.0
        while size > 1e-7 and loss(at - size * step) > now:
            size /= 2
        at = at - size * step
        if now - loss(at) < 1e-7:
            break
        now = loss(at)
    return at
