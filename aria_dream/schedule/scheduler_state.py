"""What a decision about the present moment rests on: the clocks, the sensors, what was run before, and the rest."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from datetime import date, datetime, tzinfo

    from aria_dream.schedule.presence import Power, Reading


@dataclass(frozen=True, slots=True, kw_only=True)
class Moment:
    """Now, by both clocks."""

    now: datetime
    """Aware; any zone."""
    monotonic_s: float
    """A clock that never goes back and that nobody sets. Only differences within one process mean anything."""
    zone: tzinfo
    """The writer's zone: that of the policy's `timezone`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Readings:
    """What the sensors say, and the vault itself."""

    input_idle: Reading[float]
    """Seconds since the last key, click or touch."""
    power: Reading[Power]
    load_percent: Reading[float]
    """How busy the machine is, ourselves not counted."""
    last_edit_s: float | None
    """Seconds since anybody but us changed the vault; None where no edit is known. Best taken from the monotonic
    clock; negative (a file dated in the future) says nothing."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """Something that was started before, whatever came of it."""

    at: datetime
    """When it started; aware."""
    dreamt: bool = False
    """It was (also) a dream, and counts towards the day's."""
    night: date | None = None
    """The night whose work it was. A run that was broken off and shall be taken up again is recorded without."""
    monotonic_s: float | None = None
    """When it ended, if that was in this process."""
    reached: bool = False
    """It was (also) to reach out, whether or not it came to that."""


@dataclass(frozen=True, slots=True, kw_only=True)
class History:
    """What was run before. Recent runs suffice: those of the last two days, and the latest night's."""

    started_monotonic_s: float
    """When this process started to look after the vault."""
    runs: tuple[Run, ...] = ()
    since: datetime | None = None
    """When the vault was first looked after, by any process; None where that is not known."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SchedulerState:
    """What else decides."""

    open_proposals: int = 0
    new_seeds: int = 0
    """Open internal seeds that no run has been started for yet. One that brought nothing is not new any more, or it
    would start a dream for ever."""
    starting: bool = False
    """The daemon has started and nothing was run since."""
    this_host: str = ""
    day_owner: str = ""
    """The machine that wrote today's dream note; `""` where there is none yet."""
    hindrance: str = ""
    """Why nothing may be started, for reasons found elsewhere (the vault is not mounted, …)."""
