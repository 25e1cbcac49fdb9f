"""The verdicts of L1: whatever judge sat, a pair is kept, dropped, or its answer could not be read."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, assert_never

from aria_dream.ranking.juxtaposition import Dropped, Survivor

if TYPE_CHECKING:
    from aria_dream.ranking.juxtaposition import Juxtaposition


@dataclass(frozen=True, slots=True)
class Keep:
    """The pair is worth the writer's morning."""

    probability: float | None
    """0 to 1. Of the embedded judge: 0.5 is its threshold, and odds above and below are those it learned. None of a
    model that says yes or no and no more."""
    reason: str
    """One clause in the writer's words, true of the two notes, without a full stop."""
    by: str = ""
    """The judge's name, where another one than was asked for has judged."""


@dataclass(frozen=True, slots=True)
class Drop:
    """The pair is not worth it; shown folded, with its reason."""

    probability: float | None
    """As in `Keep`: how likely the judge held the pair to be worth keeping, not how sure it is of the drop."""
    reason: str
    by: str = ""


@dataclass(frozen=True, slots=True)
class Unreadable:
    """The judge answered something that is no verdict. Never guessed at: it counts as a drop that says so."""

    reason: str
    """What was wrong with the answer, in our words, never the answer itself."""
    by: str = ""


Verdict = Keep | Drop | Unreadable


def outcome(juxtaposition: Juxtaposition, verdict: Verdict, judge: str) -> Survivor | Dropped:
    """The survivor or the dropped pair that `verdict` makes of `juxtaposition`; `judge` is named in the log."""
    by = verdict.by or judge
    match verdict:
        case Keep(probability, reason):
            return Survivor(juxtaposition=juxtaposition, probability=probability, reason=reason, judge=by)
        case Drop(probability, reason):
            return Dropped(juxtaposition=juxtaposition, probability=probability, reason=reason, judge=by)
        case Unreadable(reason):
            return Dropped(
                juxtaposition=juxtaposition, probability=None, reason=reason, judge=by, unreadable=True
            )
        case _:
            assert_never(verdict)
