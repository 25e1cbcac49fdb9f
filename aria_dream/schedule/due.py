"""Whether something is due now, and if not, what it waits for. Pure: every reading and every clock is given.

Days and nights go by the wall clock, because they are the writer's; rests go by a clock that nobody can set. So a wall
clock that jumps can neither make a storm of dreams nor keep the vault from ever dreaming again.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from enum import Enum
from typing import TYPE_CHECKING

from aria_dream.policy.triggers import BUILT, MEANINGS, Stage, Triggers
from aria_dream.schedule.blockers import Blocker, StartRequest, busy_blockers, lasting_blockers, stage_blockers
from aria_dream.schedule.presence import Known, Plug, SensorFailed, ago, judge_idleness, power_refusal
from aria_dream.schedule.scheduler_state import next_night, owed_night

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator
    from datetime import date, datetime

    from aria_dream.policy.policy import Policy
    from aria_dream.schedule.scheduler_state import Moment, Readings, RunHistory, SchedulerState


class Occasion(Enum):
    """What starts a run, the most urgent first. Values are the keys of `triggers.md`."""

    NIGHT = "on_nightly"
    START = "on_start"
    SEED = "on_seed"
    IDLE = "on_idle"


@dataclass(frozen=True, slots=True, kw_only=True)
class Due:
    """Start these stages, in this order."""

    occasion: Occasion
    stages: tuple[Stage, ...]
    night: date | None
    """The night whose work it is; belongs into the record of the run."""
    why: str
    remarks: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class NotYet:
    """Nothing is due."""

    reason: str
    """One sentence for the writer, without a full stop."""
    until: datetime | None
    """Nothing can be due before; None where nobody can tell."""
    blockers: tuple[Blocker, ...]
    """Everything that holds it back, the weightiest first. Never empty."""
    remarks: tuple[str, ...] = ()
    """What the writer should know besides: stages that do not exist yet, sensors that are missing."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Plan:
    occasion: Occasion
    stages: tuple[Stage, ...]
    night: date | None = None


def due(
    policy: Policy,
    triggers: Triggers,
    moment: Moment,
    readings: Readings,
    history: RunHistory,
    around: SchedulerState,
    *,
    built: Collection[Stage] = BUILT,
) -> Due | NotYet:
    """What to start now, or why nothing and until when. `built` are the stages that exist.

    All occasions wait for the same things: nobody there, a quiet vault, mains, a machine with nothing else to do, the
    rest after the last run. A dream also counts against the day's, and whatever makes proposals waits for the writer.
    """
    asking = StartRequest(
        policy=policy, triggers=triggers, moment=moment, readings=readings, history=history, around=around, built=built
    )
    remarks = tuple(_remarks(asking))
    if shut := tuple(lasting_blockers(asking)):
        return _not_yet(asking, (shut,), remarks)
    plans = tuple(_plans(asking))
    if not plans:
        return _not_yet(asking, ((_coming_night(asking) or _NOTHING_ASKED,),), remarks)
    shared = tuple(busy_blockers(asking))
    waiting: list[tuple[Blocker, ...]] = []
    for plan in plans:
        own = {stage: tuple(stage_blockers(asking, stage)) for stage in plan.stages}
        stages = tuple(stage for stage in plan.stages if not own[stage])
        if stages and not shared:
            return Due(occasion=plan.occasion, stages=stages, night=plan.night, why=_why(asking, plan), remarks=remarks)
        found = () if stages else tuple(dict.fromkeys(blocker for blockers in own.values() for blocker in blockers))
        waiting.append((*found, *shared))
    if Occasion.NIGHT not in [plan.occasion for plan in plans] and (night := _coming_night(asking)):
        waiting.append((night, *shared))
    return _not_yet(asking, tuple(waiting), remarks)


def must_stop(
    policy: Policy, readings: Readings, running_s: float, *, hindrance: str = "", stage: Stage = Stage.DREAM
) -> str:
    """Why a run that started `running_s` seconds ago has to end at once, in words; `""` where it may go on.

    A reach is more careful than other stages: it runs on mains power whatever the policy says of dreams, and only
    while a sensor says that nobody is there.
    """
    if refusal := hindrance or policy.dream_refusal():
        return refusal
    if stage is Stage.REACH:
        if not policy.settings.autonomous_reach:
            return "the policy says `autonomous_reach: off`"
        if refusal := policy.reach_refusal():
            return refusal
        if not isinstance(readings.input_idle, Known):
            return f"it cannot be told any more whether anybody is at the machine ({readings.input_idle.reason})"
    if readings.last_edit_s is not None and 0 <= readings.last_edit_s < running_s:
        return f"a note was edited {ago(readings.last_edit_s)}"
    match readings.input_idle:
        case Known(value) if not value >= running_s:  # a value that is no number stops, too
            return f"you typed or clicked {ago(max(0.0, value))}"
        case SensorFailed(reason):
            return f"it cannot be told any more whether anybody is at the machine ({reason})"
    needs_mains = policy.settings.require_ac_power or stage is Stage.REACH
    return power_refusal(readings.power) if needs_mains else ""


def _plans(asking: StartRequest) -> Iterator[_Plan]:
    """What the triggers ask for at this moment, the most urgent first."""
    settings, moment = asking.policy.settings, asking.moment
    for occasion in Occasion:
        stages = _existing(asking, occasion)
        night = None
        if occasion is Occasion.NIGHT:
            done = {run.night for run in asking.history.runs if run.night is not None}
            owed = owed_night(moment.now, settings.quiet_hours, moment.zone, done=done, since=asking.history.since)
            night = owed.date if owed else None
        asked = {
            Occasion.NIGHT: settings.nightly and night is not None,
            Occasion.START: asking.around.starting,
            Occasion.SEED: asking.around.new_seeds > 0,
            Occasion.IDLE: True,
        }
        if stages and asked[occasion]:
            yield _Plan(occasion=occasion, stages=stages, night=night)


def _existing(asking: StartRequest, occasion: Occasion) -> tuple[Stage, ...]:
    named: tuple[Stage, ...] = getattr(asking.triggers, occasion.value)
    if occasion is Occasion.IDLE and _reaches_anyway(asking):
        named = (*named, Stage.REACH)
    return tuple(stage for stage in named if stage in asking.built)


def _reaches_anyway(asking: StartRequest) -> bool:
    """Whether an idle machine reaches out although no trigger names it: `autonomous_reach: on` asks for it. Where a
    trigger names `reach`, it says when; where the line of `on_idle` is not understood, it starts nothing."""
    triggers = asking.triggers
    named = any(Stage.REACH in getattr(triggers, name) for name in MEANINGS)
    return asking.policy.settings.autonomous_reach and not named and Occasion.IDLE.value not in triggers.closed


def _coming_night(asking: StartRequest) -> Blocker | None:
    """The wait for the next night; None where the triggers ask for nothing that could be done in it."""
    settings, moment = asking.policy.settings, asking.moment
    if not (settings.nightly and _existing(asking, Occasion.NIGHT)):
        return None
    until = next_night(moment.now, settings.quiet_hours, moment.zone).opens_at
    return Blocker(what="night", reason="the work of the last night is done", until=until)


_NOTHING_ASKED = Blocker(what="triggers", reason="the triggers ask for nothing that this version can do")


def _why(asking: StartRequest, plan: _Plan) -> str:
    readings, settings = asking.readings, asking.policy.settings
    idleness = judge_idleness(readings.input_idle, readings.last_edit_s, settings.idle_threshold_s)
    occasion = {
        Occasion.NIGHT: f"the work of the night of {plan.night} is not done yet",
        Occasion.START: "aria-dream has started",
        Occasion.SEED: "there is a new seed",
        Occasion.IDLE: "",
    }[plan.occasion]
    stand_in = f"{idleness.reason}, but the vault is quiet and it is night"
    return "; ".join(filter(None, (occasion, stand_in if idleness.no_sensor else idleness.reason)))


def _not_yet(asking: StartRequest, waiting: tuple[tuple[Blocker, ...], ...], remarks: tuple[str, ...]) -> NotYet:
    """From the holds of every plan: those of the plan with the fewest, and the earliest end of any plan's."""
    ends = [
        max((blocker.until for blocker in blockers if blocker.until is not None), default=None) for blockers in waiting
    ]
    known = [end for end in ends if end is not None]
    until = min(known) if len(known) == len(ends) else None
    blockers = min(waiting, key=len)
    also = "; ".join(blocker.reason for blocker in blockers[1:])
    at = f", {_clock(asking, until)} at the earliest" if until else ""
    reason = f"waiting: {blockers[0].reason}{at}" + (f" (also: {also})" if also else "")
    return NotYet(reason=reason, until=until, blockers=blockers, remarks=remarks)


def _clock(asking: StartRequest, instant: datetime) -> str:
    """`at 14:32` today, else with the date. Rounded up, so that it is true."""
    local = (instant + timedelta(seconds=59, microseconds=999_999)).astimezone(asking.moment.zone)
    today = asking.moment.now.astimezone(asking.moment.zone).date()
    if local.date() == today:
        return f"at {local:%H:%M}"
    tomorrow = local.date() == today + timedelta(days=1)
    return f"tomorrow at {local:%H:%M}" if tomorrow else f"on {local:%Y-%m-%d at %H:%M}"


def _remarks(asking: StartRequest) -> Iterator[str]:
    named = {stage for name in MEANINGS for stage in getattr(asking.triggers, name)}
    missing = [f"“{stage.value}”" for stage in Stage if stage in named and stage not in asking.built]
    if missing:
        what = "is a stage that is" if len(missing) == 1 else "are stages that are"
        yield f"{' and '.join(missing)} {what} not there yet"
    for name in asking.triggers.closed:
        yield f"the line `{name}` of the triggers is not understood, so it starts nothing"
    idleness = judge_idleness(asking.readings.input_idle, None, asking.policy.settings.idle_threshold_s)
    if idleness.no_sensor:
        yield "without a sensor for it, the vault's own quiet and the quiet hours stand in for your absence"
    if not isinstance(asking.readings.power, Known) or asking.readings.power.value.plug is Plug.UNKNOWN:
        yield "whether the machine is plugged in is unknown"
