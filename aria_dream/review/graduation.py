"""Whether a kind of proposal has earned to be applied without a tick: plain ratios, with a bound beside each. Pure.

Meeting the bars makes a kind *eligible*; letting it pass is a person's act. Rules: design §6 and seed 002.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace
from math import sqrt
from types import MappingProxyType
from typing import TYPE_CHECKING, Final

from aria_dream.review.proposal import KINDS, KNEW_IT, WRITER

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping, Sequence
    from datetime import date, tzinfo

    from aria_dream.policy.settings import Settings
    from aria_dream.review.proposal import Kind, ProposalState

NEVER: Final[frozenset[Kind]] = frozenset({"obsolete", "sync_copy"})
"""Kinds that always wait for a person, however sure the judge is."""
Z: Final = 1.959964
"""Standard normal quantile of a two-sided 95 % interval."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Bars:
    """What has to be met, from the policy."""

    min_cycles: int
    max_false_prune: float
    """Must stay below it."""
    min_acceptance: float
    confidence_floor: float
    min_proposals: int
    """A night qualifies with at least so many decided proposals of the kind,"""
    min_passages: int
    """or with one, where it read so many new passages."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Record:
    """The track record of one kind."""

    kind: Kind
    cycles: int
    """Local dates whose night qualifies."""
    approved: int
    """By a person, whatever became of it later."""
    rejected: int
    applied: int
    """Times that a change was applied, by whomever."""
    rolled_back: int
    missing: tuple[str, ...]
    """Why it is not eligible, one sentence each; empty where it is."""

    @property
    def is_eligible(self) -> bool:
        """Whether a person may let the kind pass."""
        return not self.missing

    @property
    def acceptance(self) -> float | None:
        """Approved of all that a person decided; None before there is any."""
        return _ratio(self.approved, self.approved + self.rejected)

    @property
    def acceptance_at_least(self) -> float:
        """Lower end of the 95 % interval of the acceptance."""
        return wilson(self.approved, self.approved + self.rejected)[0]

    @property
    def false_prune(self) -> float | None:
        """Rolled back of all that was applied; None before there is any."""
        return _ratio(self.rolled_back, self.applied)

    @property
    def false_prune_at_most(self) -> float:
        """Upper end of the 95 % interval of the false prunes."""
        return wilson(self.rolled_back, self.applied)[1]


def bars_of(settings: Settings) -> Bars:
    """The bars that the policy sets."""
    return Bars(
        min_cycles=settings.graduation_min_cycles,
        max_false_prune=settings.graduation_max_false_prune,
        min_acceptance=settings.graduation_min_acceptance,
        confidence_floor=settings.confidence_floor,
        min_proposals=settings.min_qualifying_proposals,
        min_passages=settings.min_qualifying_atoms_scanned,
    )


def wilson(hits: int, of: int) -> tuple[float, float]:
    """Both ends of the 95 % score interval of a proportion (Wilson, J. Amer. Statist. Assoc. 22, 1927); (0, 1) of 0."""
    if of <= 0:
        return 0.0, 1.0
    share, square = hits / of, Z * Z
    middle = share + square / (2 * of)
    half = Z * sqrt(share * (1 - share) / of + square / (4 * of * of))
    low, high = (middle - half) / (1 + square / of), (middle + half) / (1 + square / of)
    return max(0.0, min(share, low)), min(1.0, max(share, high))  # rounding may not put the share outside


def track_records(
    states: Iterable[ProposalState],
    *,
    bars: Bars,
    zone: tzinfo | None,
    nights: Mapping[str, tuple[date, int]] = MappingProxyType({}),
) -> tuple[Record, ...]:
    """The record of each kind, in the order of `KINDS`.

    A night counts for a kind by what it brought of that kind and a person has decided since: `bars.min_proposals` of
    them, or one of a night that read `bars.min_passages` new passages. A night that brought nothing counts for nothing.

    `zone`: the writer's, which says to which date a proposal belongs. `nights`: id of each run of a consolidation to
    its night and the passages that it read for the first time, so that a run which went on after midnight is one night.
    """
    everything = tuple(states)
    return tuple(_record(kind, everything, bars, zone, nights) for kind in KINDS)


def _record(
    kind: Kind,
    everything: Sequence[ProposalState],
    bars: Bars,
    zone: tzinfo | None,
    nights: Mapping[str, tuple[date, int]],
) -> Record:
    mine = [state for state in everything if state.proposal.kind == kind and state.proposal.judge != WRITER]
    decided: Counter[date] = Counter()
    new: dict[date, int] = {}
    for state in filter(_is_decided, mine):
        made = state.proposal
        day, count = nights.get(made.episode) or (made.at.astimezone(zone).date(), 0)
        decided[day] += 1
        new[day] = max(count, new.get(day, 0))
    cycles = sum(count >= bars.min_proposals or new[day] >= bars.min_passages for day, count in decided.items())
    found = Record(
        kind=kind,
        cycles=cycles,
        approved=sum(_is_decided(state) and state.state != "rejected" for state in mine),
        rejected=sum(state.state == "rejected" and state.reason != KNEW_IT for state in mine),
        applied=sum(state.applies for state in mine),
        rolled_back=sum(state.rollbacks for state in mine),
        missing=(),
    )
    return replace(found, missing=_missing(found, bars))


def _is_decided(state: ProposalState) -> bool:
    """Whether a person has approved or refused it, whatever became of it later."""
    return state.approved_by not in ("", "auto") or state.state == "rejected"


def _missing(record: Record, bars: Bars) -> tuple[str, ...]:
    if record.kind in NEVER:
        return ("this kind always waits for you",)
    missing = []
    if record.cycles < bars.min_cycles:
        missing.append(f"{record.cycles} of {bars.min_cycles} qualifying nights")
    if record.acceptance is None:
        missing.append("nothing was decided yet")
    elif record.acceptance < bars.min_acceptance:
        missing.append(f"you accepted {record.acceptance:.0%}, and {bars.min_acceptance:.0%} are asked for")
    if record.false_prune is None:
        missing.append("nothing was applied yet")
    elif record.false_prune >= bars.max_false_prune:
        limit = f"it must be less than {bars.max_false_prune:.1%}"
        missing.append(f"{record.false_prune:.1%} of what was applied was taken back, and {limit}")
    return tuple(missing)


def _ratio(part: int, whole: int) -> float | None:
    return part / whole if whole else None


def unattended(
    states: Iterable[ProposalState],
    enabled: Collection[Kind],
    *,
    bars: Bars,
    zone: tzinfo | None,
    nights: Mapping[str, tuple[date, int]] = MappingProxyType({}),
) -> tuple[ProposalState, ...]:
    """What may be applied without a tick: of the `enabled` kinds that are still eligible, from the floor on.

    A kind whose record has fallen below the bars rests until it meets them again; doubt closes. What Janus found to
    fall, or could not decide, waits for a person, and so does what a person asked for. What a change would lose is
    looked at where it is written (`consolidate.unattended_guard`).
    """
    everything = tuple(states)
    records = track_records(everything, bars=bars, zone=zone, nights=nights)
    kinds = {record.kind for record in records if record.is_eligible and record.kind in enabled}
    return tuple(
        state
        for state in everything
        if state.state == "proposed"
        and state.proposal.kind in kinds - NEVER
        and state.proposal.judge != WRITER
        and state.proposal.confidence >= bars.confidence_floor
        and state.janus not in ("FALLS", "UNSURE")
        and not state.applies
        and state.since == state.proposal.at  # else a person, or a changed note, has opened it again: let them look
    )
