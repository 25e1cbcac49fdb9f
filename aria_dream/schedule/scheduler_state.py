"""What a decision about the present moment rests on: the clocks, the sensors, what was run before, and the night.

A night belongs to the local date on which its window opens. Everything is reckoned in instants, never by comparing
clock faces or adding 24 hours: where the clock skips the opening time the window opens at the first valid moment after
it, where the clock shows it twice the first time counts, and a night whose date is recorded is never run again.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Collection
    from datetime import tzinfo

    from aria_dream.policy.kinds import Window
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
class StartedRun:
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
class RunHistory:
    """What was run before. Recent runs suffice: those of the last two days, and the latest night's."""

    started_monotonic_s: float
    """When this process started to look after the vault."""
    runs: tuple[StartedRun, ...] = ()
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


@dataclass(frozen=True, slots=True, kw_only=True)
class ScheduledNight:
    """One night. Its window can be empty, where the clock skips all of it; its work is owed all the same."""

    date: date
    """The local date on which the window opens, though it may close on the next."""
    opens_at: datetime
    closes_at: datetime
    """Not before `opens_at`. Both in UTC."""

    def is_open(self, now: datetime) -> bool:
        return self.opens_at <= now < self.closes_at


def local_instant(day: date, minute: int, zone: tzinfo, *, second_pass: bool = False) -> datetime:
    """The instant, in UTC, at which the clocks of `zone` show that minute of that day.

    Where they skip it: the first instant after the gap. Where they show it twice: the first, or the `second_pass`.
    """
    face = datetime(day.year, day.month, day.day) + timedelta(minutes=minute)  # noqa: DTZ001 - what the clock shows
    one, two = (face.replace(tzinfo=zone, fold=fold).astimezone(UTC) for fold in (0, 1))
    if one <= two:
        return two if second_pass else one
    # In a gap fold=0 reckons with the offset before it and fold=1 with the one after, so the clocks jump between the
    # two. Looked for by halving, to the second; zones have changed at odd seconds.
    before, after = two, one
    while after - before > timedelta(seconds=1):
        middle = before + timedelta(seconds=(after - before) // timedelta(seconds=2))
        if middle.astimezone(zone).replace(tzinfo=None, fold=0) >= face:
            after = middle
        else:
            before = middle
    return after


def find_night(day: date, window: Window, zone: tzinfo) -> ScheduledNight | None:
    """The night of that date; None for a date that the calendar of `zone` has skipped (Samoa, 30 December 2011)."""
    if local_instant(day, 0, zone).astimezone(zone).date() != day:
        return None
    opens_at = local_instant(day, window.start_min, zone)
    last_day = day if window.end_min > window.start_min else day + timedelta(days=1)
    closes_at = local_instant(last_day, window.end_min, zone, second_pass=True)
    return ScheduledNight(date=day, opens_at=opens_at, closes_at=max(opens_at, closes_at))


def latest_night(now: datetime, window: Window, zone: tzinfo) -> ScheduledNight:
    """The night whose window opened last; it may still be open."""
    today = now.astimezone(zone).date()
    nights = (find_night(today - timedelta(days=days), window, zone) for days in (-1, 0, 1, 2, 3))
    return next(night for night in nights if night is not None and night.opens_at <= now)


def next_night(now: datetime, window: Window, zone: tzinfo) -> ScheduledNight:
    """The night whose window opens next, after `now`."""
    today = now.astimezone(zone).date()
    nights = (find_night(today + timedelta(days=days), window, zone) for days in (-1, 0, 1, 2, 3))
    return next(night for night in nights if night is not None and night.opens_at > now)


def owed_night(
    now: datetime, window: Window, zone: tzinfo, *, done: Collection[date], since: datetime | None = None
) -> ScheduledNight | None:
    """The night whose work may be done now: the latest, unless its date is in `done`.

    So a missed night is made up for until the next window opens, and older ones are let go. `since` is when the vault
    was first looked after: a window that had closed by then is nobody's debt. A `since` in the future is a clock that
    was wrong, and is not heeded.
    """
    night = latest_night(now, window, zone)
    if night.date in done or (since is not None and night.closes_at <= since <= now):
        return None
    return night


def next_midnight(now: datetime, zone: tzinfo) -> datetime:
    """The instant, in UTC, at which the next local date begins."""
    today = now.astimezone(zone).date()
    starts = (local_instant(today + timedelta(days=days), 0, zone) for days in (1, 2))
    return next(start for start in starts if start > now)
