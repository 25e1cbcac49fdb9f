"""What holds a run back: things no waiting helps against, things of the moment, and things of one stage."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING, assert_never

from aria_dream.policy.triggers import Stage
from aria_dream.schedule.presence import (
    IdleState,
    Known,
    NoSensor,
    Reading,
    SensorFailed,
    ago,
    in_words,
    judge_idleness,
    power_refusal,
)
from aria_dream.schedule.scheduler_state import latest_night, next_midnight, next_night

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator
    from datetime import datetime

    from aria_dream.policy.policy import Policy
    from aria_dream.policy.triggers import Triggers
    from aria_dream.schedule.scheduler_state import Moment, Readings, RunHistory, SchedulerState, StartedRun


@dataclass(frozen=True, slots=True, kw_only=True)
class Blocker:
    """One thing that holds a run back."""

    what: str
    """One word: policy, host, vault, input, quiet, power, load, review, reach, cap, rest, night,
    triggers."""
    reason: str
    until: datetime | None = None
    """The earliest it can end; None where that depends on something nobody can foretell."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StartRequest:
    """Everything that the question "now?" is asked with."""

    policy: Policy
    triggers: Triggers
    moment: Moment
    readings: Readings
    history: RunHistory
    around: SchedulerState
    built: Collection[Stage]

    @property
    def night_is_open(self) -> bool:
        window, now = self.policy.settings.quiet_hours, self.moment.now
        return latest_night(now, window, self.moment.zone).is_open(now)

    def after(self, seconds: float) -> datetime:
        return self.moment.now + timedelta(seconds=seconds)


def lasting_blockers(asking: StartRequest) -> Iterator[Blocker]:
    """What no waiting helps against. Where there is any of it nothing else is told: a closed policy closes all."""
    settings, around = asking.policy.settings, asking.around
    if refusal := asking.policy.dream_refusal():
        yield Blocker(what="policy", reason=refusal)
    if around.hindrance:
        yield Blocker(what="vault", reason=around.hindrance)
    if settings.host and not same_host(settings.host, around.this_host):
        # The writer named the machine, so it does not matter who wrote today's note.
        reason = f"“{settings.host}” is the machine that dreams, and this is “{around.this_host}”"
        yield Blocker(what="host", reason=reason)
    elif not settings.host and around.day_owner and not same_host(around.day_owner, around.this_host):
        reason = f"“{around.day_owner}” writes today's dream note, and this is “{around.this_host}”"
        yield Blocker(what="host", reason=reason, until=next_midnight(asking.moment.now, asking.moment.zone))


def busy_blockers(asking: StartRequest) -> Iterator[Blocker]:
    """What keeps anything from starting just now."""
    settings, readings = asking.policy.settings, asking.readings
    idleness = judge_idleness(readings.input_idle, readings.last_edit_s, settings.idle_threshold_s)
    if idleness.state is IdleState.ACTIVE:
        reason = f"{idleness.reason}; dreams start after {in_words(settings.idle_threshold_s)} of quiet"
        yield Blocker(what="input", reason=reason, until=asking.after(settings.idle_threshold_s - idleness.idle_s))
    elif idleness.no_sensor and not asking.night_is_open:
        night = next_night(asking.moment.now, settings.quiet_hours, asking.moment.zone)
        reason = f"{idleness.reason}, so dreams wait for the quiet hours, {settings.quiet_hours}"
        yield Blocker(what="input", reason=reason, until=night.opens_at)
    elif idleness.state is IdleState.UNKNOWN and not idleness.no_sensor:
        yield Blocker(what="input", reason=idleness.reason)
    edit_s = readings.last_edit_s
    if edit_s is not None and 0 <= edit_s < settings.vault_quiet_s and not idleness.edited:
        reason = f"a note was edited {ago(edit_s)}; the vault must be quiet for {in_words(settings.vault_quiet_s)}"
        yield Blocker(what="quiet", reason=reason, until=asking.after(settings.vault_quiet_s - edit_s))
    if settings.require_ac_power and (refusal := power_refusal(readings.power)):
        yield Blocker(what="power", reason=refusal)
    if refusal := _load_refusal(readings.load_percent, settings.max_cpu_percent):
        yield Blocker(what="load", reason=refusal)
    if (rest_s := _rest_left_s(asking)) > 0:
        reason = f"the last run is too recent; between two lie {in_words(settings.cooldown_min * 60)}"
        yield Blocker(what="rest", reason=reason, until=asking.after(rest_s))


def _load_refusal(load: Reading[float], most: int) -> str:
    match load:
        case Known(value) if value <= most:
            return ""
        case Known(value):
            return f"the machine is {value:.0f} % busy; dreams wait until it is {most} % or less"
        case _:
            return f"how busy the machine is cannot be told ({load.reason}), which counts as busy"


def _rest_left_s(asking: StartRequest) -> float:
    """Seconds until the rest after the last run is over.

    A run of this process is timed by the monotonic clock alone. Of an older one only the wall clock knows; where that
    has gone back behind it, the rest counts from the start of this process, so that it ends in any case.
    """
    rest_s, now_s = asking.policy.settings.cooldown_min * 60, asking.moment.monotonic_s
    left = 0.0
    for run in asking.history.runs:
        if run.monotonic_s is not None:
            passed_s = now_s - run.monotonic_s
        else:
            wall_s = (asking.moment.now - run.at).total_seconds()
            passed_s = max(wall_s, now_s - asking.history.started_monotonic_s)
        left = max(left, rest_s - passed_s)
    return left


def stage_blockers(asking: StartRequest, stage: Stage) -> Iterator[Blocker]:
    """What keeps this one stage from starting, whoever is there."""
    settings, moment = asking.policy.settings, asking.moment
    if stage is not Stage.SYNTHESIZE and asking.around.open_proposals >= settings.max_open_proposals:
        yield Blocker(what="review", reason=_review_full(asking.around.open_proposals))
    if stage is Stage.REACH:
        yield from _reach_blockers(asking)
    if stage is Stage.DREAM:
        today = moment.now.astimezone(moment.zone).date()
        dreams = sum(run.dreamt and run.at.astimezone(moment.zone).date() == today for run in asking.history.runs)
        if settings.daily_dream_cap == 0:
            yield Blocker(what="cap", reason="the policy allows no dream a day")
        elif dreams >= settings.daily_dream_cap:
            reason = f"today's {dreams} dreams are dreamt" if dreams > 1 else "today's dream is dreamt"
            yield Blocker(what="cap", reason=reason, until=next_midnight(moment.now, moment.zone))


def _reach_blockers(asking: StartRequest) -> Iterator[Blocker]:
    """What keeps the daemon from reaching out by itself. It spends what belongs to somebody, so all doubt closes it:
    without an idle sensor, on battery whatever the policy says of dreams, and a second time while nobody came back."""
    policy, readings = asking.policy, asking.readings
    if not policy.settings.autonomous_reach:
        yield Blocker(what="reach", reason="the policy says `autonomous_reach: off`")
    elif refusal := policy.reach_refusal():
        yield Blocker(what="reach", reason=refusal)
    if refusal := power_refusal(readings.power):
        yield Blocker(what="power", reason=f"{refusal}; a reach waits for mains power")
    match readings.input_idle:
        case Known(idle_s) if idle_s >= 0:
            if any(_is_since(asking, run, idle_s) for run in asking.history.runs if run.reached):
                yield Blocker(
                    what="reach", reason="one reach was made since you left; the next waits until you were back"
                )
        case Known():
            yield Blocker(what="input", reason="how long nobody was there cannot be told, so no reach is made")
        case SensorFailed(reason) | NoSensor(reason):
            said = f"whether anybody is there cannot be told ({reason}), so no reach is made"
            yield Blocker(what="input", reason=said)
        case _:
            assert_never(readings.input_idle)


def _is_since(asking: StartRequest, run: StartedRun, idle_s: float) -> bool:
    """Whether the run falls into the time since the last key or click. In doubt it does."""
    if run.monotonic_s is not None:
        return run.monotonic_s >= asking.moment.monotonic_s - idle_s
    return (asking.moment.now - run.at).total_seconds() <= idle_s


def _review_full(number: int) -> str:
    if not number:
        return "the policy allows no open proposal"
    return f"{number} proposals wait for you in the review" if number > 1 else "a proposal waits for you in the review"


def same_host(one: str, other: str) -> bool:
    """Whether two names mean one machine: any case, and with or without a domain (macOS adds and drops `.local`)."""
    names = [name.strip().rstrip(".").casefold() for name in (one, other)]
    short = [name.partition(".")[0] for name in names]
    return names[0] == names[1] or (short[0] == short[1] and not all("." in name for name in names))
