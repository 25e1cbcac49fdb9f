"""Whether a kind of proposal has earned to be applied without a tick: plain ratios, with a bound beside each. Pure.

Meeting the bars makes a kind *eligible*; letting it pass is a person's act. Rules: design §6 and seed 002.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import sqrt
from typing import TYPE_CHECKING, Final

from aria_dream.review.proposal import KINDS, WRITER

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping, Sequence
    from datetime import date, tzinfo

    from aria_dream.dream.episode import EpisodeRecord
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
    """A night with at least so many proposals of the kind qualifies,"""
    min_atoms: int
    """or one that looked at so many atoms."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Record:
    """The track record of one kind."""

    kind: Kind
    cycles: int
    """Local dates with a qualifying cycle."""
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
        min_atoms=settings.min_qualifying_atoms_scanned,
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
    episodes: Iterable[EpisodeRecord],
    *,
    bars: Bars,
    zone: tzinfo | None,
    scans: Mapping[Kind, Mapping[date, int]] | None = None,
) -> tuple[Record, ...]:
    """The record of each kind, in the order of `KINDS`.

    `zone`: the writer's, which says to which date a cycle belongs. `scans`: atoms that the cycles of a kind looked at,
    by date; a dream is a cycle of links and looks at no atoms.
    """
    everything = tuple(states)
    dreamt = {day for day, pairs in _by_day(episodes, zone).items() if pairs >= bars.min_proposals}
    return tuple(_record(kind, everything, dreamt, bars, zone, (scans or {}).get(kind, {})) for kind in KINDS)


def _by_day(episodes: Iterable[EpisodeRecord], zone: tzinfo | None) -> dict[date, int]:
    days: dict[date, int] = {}
    for episode in episodes:
        day = episode.at.astimezone(zone).date()
        days[day] = days.get(day, 0) + len(episode.pairs)
    return days


def _record(
    kind: Kind,
    everything: Sequence[ProposalState],
    dreamt: Collection[date],
    bars: Bars,
    zone: tzinfo | None,
    scanned: Mapping[date, int],
) -> Record:
    mine = [state for state in everything if state.proposal.kind == kind and state.proposal.judge != WRITER]
    proposed: dict[date, int] = {}
    for state in mine:
        day = state.proposal.at.astimezone(zone).date()
        proposed[day] = proposed.get(day, 0) + 1
    days = {day for day, count in proposed.items() if count >= bars.min_proposals}
    days |= {day for day, atoms in scanned.items() if atoms >= bars.min_atoms}
    days |= set(dreamt) if kind == "link" else set()
    made = Record(
        kind=kind,
        cycles=len(days),
        approved=sum(state.approved_by not in ("", "auto") and state.state != "rejected" for state in mine),
        rejected=sum(state.state == "rejected" for state in mine),
        applied=sum(state.applies for state in mine),
        rolled_back=sum(state.rollbacks for state in mine),
        missing=(),
    )
    return replace(made, missing=_missing(made, bars))


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
    episodes: Iterable[EpisodeRecord],
    enabled: Collection[Kind],
    *,
    bars: Bars,
    zone: tzinfo | None,
    scans: Mapping[Kind, Mapping[date, int]] | None = None,
) -> tuple[ProposalState, ...]:
    """What may be applied without a tick: of the `enabled` kinds that are still eligible, from the floor on.

    A kind whose record has fallen below the bars rests until it meets them again; doubt closes. What Janus found to
    fall, or could not decide, waits for a person, and so does what a person asked for.
    """
    everything = tuple(states)
    records = track_records(everything, episodes, bars=bars, zone=zone, scans=scans)
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
