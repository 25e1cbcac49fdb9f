"""What is due, and what the writer is told when nothing is."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, date, datetime, timedelta
from typing import Any
from zoneinfo import ZoneInfo

import pytest

from aria_dream.policy.policy import Policy, parse_policy
from aria_dream.policy.triggers import Stage, Triggers, parse_triggers
from aria_dream.schedule.blockers import same_host
from aria_dream.schedule.due import Due, NotYet, Occasion, due, must_stop
from aria_dream.schedule.presence import Known, NoSensor, Plug, Power, SensorFailed
from aria_dream.schedule.scheduler_state import Moment, Readings, RunHistory, SchedulerState, StartedRun

LISBON = ZoneInfo("Europe/Lisbon")
QUIET = Readings(
    input_idle=Known(3600.0), power=Known(Power(plug=Plug.MAINS)), load_percent=Known(3.0), last_edit_s=7200.0
)
ALL = frozenset(Stage)
DREAM = frozenset({Stage.DREAM})


def moment(text: str = "2026-11-30T14:20", monotonic_s: float = 10_000.0) -> Moment:
    return Moment(now=datetime.fromisoformat(text).replace(tzinfo=LISBON), monotonic_s=monotonic_s, zone=LISBON)


def policy(text: str = "") -> Policy:
    found, problems = parse_policy(text)
    assert not problems
    return found


def triggers(text: str) -> Triggers:
    found, problems = parse_triggers(text)
    assert not problems
    return found


def ask(
    text: str = "",
    said: str = "",
    *,
    now: Moment | None = None,
    readings: Readings = QUIET,
    history: RunHistory | None = None,
    built: frozenset[Stage] = DREAM,
    **around: Any,
) -> Due | NotYet:
    return due(
        policy(text),
        triggers(said),
        now or moment(),
        readings,
        history or RunHistory(started_monotonic_s=0.0),
        SchedulerState(**around),
        built=built,
    )


def refusal(*args: Any, **named: Any) -> NotYet:
    found = ask(*args, **named)
    assert isinstance(found, NotYet)
    return found


def grant(*args: Any, **named: Any) -> Due:
    found = ask(*args, **named)
    assert isinstance(found, Due)
    return found


def test_a_quiet_vault_and_an_absent_writer_are_enough() -> None:
    found = grant()
    assert (found.occasion, found.stages, found.night) == (Occasion.IDLE, (Stage.DREAM,), None)
    assert found.why == "nobody has touched the machine for 60 minutes"


def test_the_reason_says_when() -> None:
    found = refusal(readings=replace(QUIET, input_idle=Known(180.0)))
    assert found.reason == (
        "waiting: you typed or clicked 3 minutes ago; dreams start after 15 minutes of quiet, at 14:32 at the earliest"
    )
    assert found.until == moment("2026-11-30T14:32").now


@pytest.mark.parametrize(
    ("text", "changed", "around", "what"),
    [
        ("- dreaming: off", {}, {}, "policy"),
        ("", {}, {"hindrance": "the vault is not there"}, "vault"),
        ("- host: attic", {}, {"this_host": "kitchen"}, "host"),
        ("", {}, {"day_owner": "attic", "this_host": "kitchen"}, "host"),
        ("", {"input_idle": Known(10.0)}, {}, "input"),
        ("", {"input_idle": SensorFailed("it hangs")}, {}, "input"),
        ("", {"input_idle": NoSensor("headless")}, {}, "input"),
        ("", {"last_edit_s": 20.0}, {}, "input"),
        ("- vault_quiet_s: 8000", {}, {}, "quiet"),
        ("", {"power": Known(Power(plug=Plug.BATTERY))}, {}, "power"),
        ("", {"power": Known(Power(plug=Plug.UNKNOWN))}, {}, "power"),
        ("", {"power": SensorFailed("OSError")}, {}, "power"),
        ("", {"load_percent": Known(51.0)}, {}, "load"),
        ("", {"load_percent": SensorFailed("OSError")}, {}, "load"),
        ("", {}, {"open_proposals": 15}, "review"),
        ("- max_open_proposals: 0", {}, {}, "review"),
        ("- daily_dream_cap: 0", {}, {}, "cap"),
    ],
)
def test_each_thing_alone_holds_it_back(text: str, changed: dict[str, Any], around: dict[str, Any], what: str) -> None:
    found = refusal(text, readings=replace(QUIET, **changed), **around)
    assert [blocker.what for blocker in found.blockers] == [what]
    assert found.reason.startswith("waiting: ")


@pytest.mark.parametrize(
    ("text", "changed", "around"),
    [
        ("- require_ac_power: off", {"power": Known(Power(plug=Plug.BATTERY))}, {}),
        ("", {"load_percent": Known(50.0)}, {}),
        ("- vault_quiet_s: 7200", {}, {}),
        ("- host: attic", {}, {"this_host": "Attic.local", "day_owner": "kitchen"}),
        ("", {}, {"day_owner": "attic", "this_host": "ATTIC"}),
        ("", {}, {"open_proposals": 14}),
        ("", {"last_edit_s": None}, {}),
    ],
)
def test_what_does_not_hold_it_back(text: str, changed: dict[str, Any], around: dict[str, Any]) -> None:
    grant(text, readings=replace(QUIET, **changed), **around)


def test_a_vanished_policy_closes() -> None:
    gone, _ = parse_policy(None, was_there=True)
    found = due(gone, Triggers(), moment(), QUIET, RunHistory(started_monotonic_s=0.0), SchedulerState())
    assert isinstance(found, NotYet)
    assert found.blockers[0].what == "policy"
    assert "gone" in found.reason
    assert found.until is None


def test_everything_that_holds_it_back_is_named() -> None:
    found = refusal(readings=replace(QUIET, input_idle=Known(0.0), load_percent=Known(88.4)), open_proposals=20)
    assert [blocker.what for blocker in found.blockers] == ["review", "input", "load"]
    assert "(also: " in found.reason
    assert "the machine is 88 % busy" in found.reason


def test_without_a_sensor_the_night_stands_in_and_says_so() -> None:
    headless = replace(QUIET, input_idle=NoSensor("no X display"))
    by_day = refusal(readings=headless)
    assert by_day.until == moment("2026-12-01T01:00").now
    assert "dreams wait for the quiet hours, 01:00-06:00, tomorrow at 01:00 at the earliest" in by_day.reason
    assert any("stand in" in remark for remark in by_day.remarks)
    by_night = grant(readings=headless, now=moment("2026-11-30T02:00"))
    assert "the vault is quiet and it is night" in by_night.why
    edited = replace(headless, last_edit_s=60.0)
    assert refusal(readings=edited, now=moment("2026-11-30T02:00")).blockers[0].what == "input"


def test_a_broken_sensor_is_busy_at_night_too() -> None:
    found = refusal(readings=replace(QUIET, input_idle=SensorFailed("it hangs")), now=moment("2026-11-30T02:00"))
    assert found.until is None
    assert "counts as busy" in found.reason


def test_the_rest_is_timed_by_the_clock_that_nobody_sets() -> None:
    run = StartedRun(
        at=moment("2031-01-01T00:00").now, dreamt=True, monotonic_s=9000.0
    )  # by a clock that was wrong then
    found = refusal(history=RunHistory(started_monotonic_s=0.0, runs=(run,)))
    assert [blocker.what for blocker in found.blockers] == ["rest"]
    assert found.until == moment("2026-11-30T14:33:20").now
    grant(history=RunHistory(started_monotonic_s=0.0, runs=(run,)), now=moment(monotonic_s=10_800.0))


def test_a_run_of_an_earlier_process_in_the_future_ends_its_rest_with_ours() -> None:
    history = RunHistory(started_monotonic_s=9000.0, runs=(StartedRun(at=moment("2031-01-01T00:00").now, dreamt=True),))
    assert refusal(history=history).blockers[0].what == "rest"
    grant(history=history, now=moment(monotonic_s=9000.0 + 1800))


def test_the_cap_counts_local_days() -> None:
    runs = tuple(StartedRun(at=moment(f"2026-11-30T0{hour}:30").now, dreamt=True) for hour in (0, 2, 4))
    found = refusal(history=RunHistory(started_monotonic_s=0.0, runs=runs))
    assert [blocker.what for blocker in found.blockers] == ["cap"]
    assert found.until == moment("2026-12-01T00:00").now
    assert found.reason == "waiting: today's 3 dreams are dreamt, tomorrow at 00:00 at the earliest"
    grant(history=RunHistory(started_monotonic_s=0.0, runs=runs[:2]))
    grant(history=RunHistory(started_monotonic_s=0.0, runs=runs), now=moment("2026-12-01T00:00"))


def test_a_full_day_of_dreams_does_not_stop_the_night() -> None:
    runs = tuple(StartedRun(at=moment(f"2026-11-30T0{hour}:30").now, dreamt=True) for hour in (0, 2, 4))
    found = grant(history=RunHistory(started_monotonic_s=0.0, runs=runs), built=ALL)
    assert (found.occasion, found.stages) == (Occasion.NIGHT, (Stage.CONSOLIDATE, Stage.SYNTHESIZE))
    assert found.night == date(2026, 11, 30)


def test_a_full_review_keeps_back_what_makes_proposals() -> None:
    assert grant(built=ALL, open_proposals=15).stages == (Stage.SYNTHESIZE,)


def test_the_night_of_its_date_is_done_once() -> None:
    done = StartedRun(at=moment("2026-11-30T01:00").now, night=date(2026, 11, 30))
    history = RunHistory(started_monotonic_s=0.0, runs=(done,))
    assert grant(built=ALL, history=history).occasion is Occasion.IDLE
    found = refusal("", "- on_idle: none", built=ALL, history=history)
    assert [blocker.what for blocker in found.blockers] == ["night"]
    assert found.until == moment("2026-12-01T01:00").now


def test_the_night_can_come_before_the_next_dream() -> None:
    """Waiting for midnight because of the cap must not hide the night that opens at ten."""
    runs = (
        *(StartedRun(at=moment(f"2026-11-30T0{hour}:30").now, dreamt=True) for hour in (1, 3, 5)),
        StartedRun(at=moment("2026-11-30T06:00").now, night=date(2026, 11, 29)),
    )
    found = refusal("- quiet_hours: 22:00-05:00", built=ALL, history=RunHistory(started_monotonic_s=0.0, runs=runs))
    assert found.until == moment("2026-11-30T22:00").now


def test_nightly_off_and_a_night_that_began_before_us() -> None:
    assert grant("- nightly: off", built=ALL).occasion is Occasion.IDLE
    since = RunHistory(started_monotonic_s=0.0, since=moment("2026-11-30T09:00").now)
    assert grant(built=ALL, history=since).occasion is Occasion.IDLE


def test_stages_to_come_are_named_and_not_run() -> None:
    found = grant("", "- on_idle: reach, dream")
    assert found.stages == (Stage.DREAM,)
    (remark,) = found.remarks
    assert remark.startswith("“consolidate” and “synthesize” and “reach” are stages that are not there yet")
    nothing = refusal("", "- on_idle: reach")
    assert nothing.reason == "waiting: the triggers ask for nothing that this version can do"
    assert nothing.remarks


def test_a_seed_and_a_start_are_occasions() -> None:
    assert grant(new_seeds=1).occasion is Occasion.SEED
    assert grant("", "- on_start: dream", starting=True, new_seeds=1).occasion is Occasion.START
    assert grant(starting=True).occasion is Occasion.IDLE
    assert isinstance(ask("", "- on_idle: none"), NotYet)
    assert grant("", "- on_idle: none", new_seeds=2).occasion is Occasion.SEED
    assert refusal(new_seeds=1, readings=replace(QUIET, input_idle=Known(5.0))).blockers[0].what == "input"


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({}, ""),
        ({"input_idle": Known(1300.0)}, ""),
        ({"input_idle": NoSensor("headless")}, ""),
        ({"last_edit_s": None}, ""),
        ({"load_percent": Known(100.0)}, ""),  # most of it is the run itself
        ({"input_idle": Known(0.2)}, "you typed or clicked just now"),
        ({"input_idle": Known(float("nan"))}, "you typed or clicked just now"),
        (
            {"input_idle": SensorFailed("it hangs")},
            "it cannot be told any more whether anybody is at the machine (it hangs)",
        ),
        ({"last_edit_s": 3.0}, "a note was edited 3 seconds ago"),
        ({"power": Known(Power(plug=Plug.BATTERY))}, "the machine runs on battery"),
    ],
)
def test_what_ends_a_run(changed: dict[str, Any], said: str) -> None:
    assert must_stop(policy(), replace(QUIET, **changed), 60.0) == said


def test_a_run_ends_when_the_policy_closes_or_the_vault_is_gone() -> None:
    assert "dreaming" in must_stop(policy("- dreaming: off"), QUIET, 60.0)
    assert must_stop(policy(), QUIET, 60.0, hindrance="the vault is gone") == "the vault is gone"


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("attic", "ATTIC", True),
        ("attic", "attic.local", True),
        ("attic.home", "attic.work", False),
        ("a", "b", False),
        ("attic.home.", "attic.home", True),
    ],
)
def test_names_of_machines(one: str, other: str, same: bool) -> None:
    assert same_host(one, other) is same


def test_the_clock_of_the_zone_is_told() -> None:
    found = refusal(
        now=Moment(now=datetime(2026, 11, 30, 23, 50, tzinfo=UTC), monotonic_s=1.0, zone=ZoneInfo("Asia/Kolkata")),
        readings=replace(QUIET, input_idle=Known(0.0)),
    )
    assert found.reason.endswith("at 05:35 at the earliest")
    assert found.until == datetime(2026, 11, 30, 23, 50, tzinfo=UTC) + timedelta(minutes=15)


ON = "- autonomous_reach: on"
REACHING = frozenset({Stage.DREAM, Stage.REACH})


def test_a_reach_by_itself_is_off_and_when_it_is_on_it_follows_the_dream() -> None:
    assert grant(built=REACHING).stages == (Stage.DREAM,)
    assert grant(ON, built=REACHING).stages == (Stage.DREAM, Stage.REACH)
    assert grant(f"{ON}\n- daily_dream_cap: 0", built=REACHING).stages == (Stage.REACH,)
    assert grant(ON, "- on_idle: none", built=REACHING).stages == (Stage.REACH,)
    held = refusal("", "- on_idle: reach", built=REACHING)
    assert "`autonomous_reach: off`" in held.reason


def test_where_a_trigger_names_the_reach_it_says_when() -> None:
    assert grant(ON, "- on_seed: reach", built=REACHING).stages == (Stage.DREAM,)
    seeded = grant(ON, "- on_seed: reach\n- on_idle: dream", built=REACHING, new_seeds=1)
    assert (seeded.occasion, seeded.stages) == (Occasion.SEED, (Stage.REACH,))
    unclear = parse_triggers("- on_idle: reechs")[0]
    found = due(
        policy(ON), unclear, moment(), QUIET, RunHistory(started_monotonic_s=0.0), SchedulerState(), built=REACHING
    )
    assert isinstance(found, NotYet)


@pytest.mark.parametrize(
    ("text", "changed", "what"),
    [
        ("", {"input_idle": Known(10.0)}, "input"),
        ("", {"input_idle": NoSensor("headless")}, "input"),
        ("", {"input_idle": SensorFailed("it hangs")}, "input"),
        ("- require_ac_power: off", {"power": Known(Power(plug=Plug.BATTERY))}, "power"),
        ("- require_ac_power: off", {"power": Known(Power(plug=Plug.UNKNOWN))}, "power"),
        ("- require_ac_power: off", {"power": SensorFailed("OSError")}, "power"),
    ],
)
@pytest.mark.parametrize("now", ["2026-11-30T14:20", "2026-11-30T03:20"])
def test_a_reach_by_itself_needs_a_sensor_that_says_nobody_is_there_and_mains_whatever_the_policy_says_of_dreams(
    text: str, changed: dict[str, Any], what: str, now: str
) -> None:
    readings = replace(QUIET, **changed)
    found = refusal(f"{ON}\n{text}", "- on_idle: reach", readings=readings, now=moment(now), built=REACHING)
    assert what in {blocker.what for blocker in found.blockers}


def test_a_network_that_is_off_and_a_review_that_is_full_hold_a_reach() -> None:
    assert refusal(f"{ON}\n- network: web-off", "- on_idle: reach", built=REACHING).blockers[0].what == "reach"
    assert refusal(ON, "- on_idle: reach", built=REACHING, open_proposals=15).blockers[0].what == "review"


def test_one_reach_while_nobody_is_there() -> None:
    """QUIET is an hour without a key, of which the clock shows 10,000 s now."""

    def again(run: StartedRun, text: str = ON) -> Due | NotYet:
        return ask(f"{text}\n- cooldown_min: 0", "- on_idle: reach", built=REACHING,
                   history=RunHistory(started_monotonic_s=0.0, runs=(run,)))  # fmt: skip

    early, late = moment("2026-11-30T13:10").now, moment("2026-11-30T13:40").now
    assert isinstance(again(StartedRun(at=early, reached=True, monotonic_s=6_300.0)), Due)
    assert isinstance(again(StartedRun(at=early, reached=True, monotonic_s=6_500.0)), NotYet)
    assert isinstance(again(StartedRun(at=early, dreamt=True, monotonic_s=6_500.0)), Due)
    assert isinstance(again(StartedRun(at=early, reached=True)), Due)  # of an earlier process: the wall clock tells
    held = again(StartedRun(at=late, reached=True))
    assert isinstance(held, NotYet)
    assert "one reach was made since you left" in held.reason


@pytest.mark.parametrize(
    ("text", "changed", "says"),
    [
        (ON, {}, ""),
        ("", {}, "autonomous_reach"),
        (f"{ON}\n- network: web-off", {}, "web-off"),
        (f"{ON}\n- require_ac_power: off", {"power": Known(Power(plug=Plug.BATTERY))}, "battery"),
        (ON, {"input_idle": Known(3.0)}, "you typed or clicked"),
        (ON, {"input_idle": NoSensor("headless")}, "headless"),
        (ON, {"last_edit_s": 3.0}, "a note was edited"),
    ],
)
def test_a_reach_is_ended_for_more_reasons_than_a_dream(text: str, changed: dict[str, Any], says: str) -> None:
    said = must_stop(policy(text), replace(QUIET, **changed), 60.0, stage=Stage.REACH)
    assert says in said
    assert bool(said) == bool(says)
