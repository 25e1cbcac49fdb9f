"""Whatever the clocks do: one run a night, no more dreams a day than allowed, a rest between two, and never never."""

from __future__ import annotations

from collections import Counter
from datetime import UTC, date, datetime, timedelta
from itertools import pairwise
from zoneinfo import ZoneInfo

from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from aria_dream.policy.keys import Settings
from aria_dream.policy.kinds import Window
from aria_dream.policy.policy import Policy
from aria_dream.policy.triggers import Stage, Triggers
from aria_dream.schedule.due import Due, NotYet, due
from aria_dream.schedule.presence import Known, NoSensor, Plug, Power, Reading, SensorFailed
from aria_dream.schedule.scheduler_state import (
    Moment,
    Readings,
    RunHistory,
    SchedulerState,
    StartedRun,
    find_night,
    latest_night,
    local_instant,
    next_midnight,
    next_night,
)

ZONES = [
    ZoneInfo(name)
    for name in ("UTC", "Europe/Berlin", "America/New_York", "Australia/Lord_Howe", "Africa/Cairo", "Asia/Kathmandu",
                 "America/Nuuk", "America/Havana", "Pacific/Chatham", "Africa/Casablanca", "America/Santiago")
]
TRIGGERS = Triggers(on_idle=(Stage.DREAM,), on_nightly=(Stage.DREAM, Stage.CONSOLIDATE), on_seed=(Stage.DREAM,),
                    on_start=(Stage.DREAM,))
BUILT = frozenset({Stage.DREAM, Stage.CONSOLIDATE})
ABOUT_CHANGES = [datetime(2026, month, day, 20, tzinfo=UTC) for month, day in
                 ((3, 7), (3, 28), (4, 4), (4, 23), (9, 5), (9, 26), (10, 3), (10, 24), (10, 29), (10, 31), (11, 30))]

CHANGES = [(ZoneInfo(name), date(2026, month, day)) for name, month, day in (
    ("Europe/Berlin", 3, 29), ("America/New_York", 3, 8), ("Australia/Lord_Howe", 10, 4), ("Africa/Cairo", 4, 24),
    ("America/Havana", 3, 8), ("Pacific/Chatham", 9, 27), ("America/Santiago", 9, 6), ("Europe/Berlin", 10, 25),
    ("America/Havana", 11, 1), ("Africa/Cairo", 10, 29))]

windows = st.tuples(st.integers(0, 1439), st.integers(0, 1439)).filter(lambda ends: ends[0] != ends[1]).map(
    lambda ends: Window(*ends))
zones = st.sampled_from(ZONES)
instants = st.one_of(
    st.datetimes(datetime(1975, 1, 1), datetime(2037, 1, 1)).map(lambda face: face.replace(tzinfo=UTC)),  # noqa: DTZ001
    st.tuples(st.sampled_from(ABOUT_CHANGES), st.integers(-600, 1800)).map(lambda p: p[0] + timedelta(minutes=p[1])))
inputs = st.sampled_from([Known(0.0), Known(1e5), Known(1e5), Known(1e5), NoSensor("none"), SensorFailed("broken")])

ticks = st.lists(
    st.tuples(
        st.integers(1, 7200),  # seconds that really pass
        st.one_of(st.just(0), st.just(0), st.just(0), st.integers(-200_000, 200_000), st.sampled_from(
            [-3600, 3600, -86_400, 86_400, 400 * 86_400, -400 * 86_400])),  # seconds that the wall clock jumps besides
        inputs,
        st.sampled_from([False, False, False, False, True]),  # the process starts anew
        st.integers(0, 2),  # new seeds
    ),
    max_size=80)


NOBODY: Reading[float] = Known(1e5)
MAINS: Reading[Power] = Known(Power(plug=Plug.MAINS))


def ask(policy: Policy, moment: Moment, history: RunHistory, around: SchedulerState | None = None,
        input_idle: Reading[float] = NOBODY) -> Due | NotYet:
    readings = Readings(input_idle=input_idle, power=MAINS, load_percent=Known(0.0), last_edit_s=None)
    return due(policy, TRIGGERS, moment, readings, history, around or SchedulerState(), built=BUILT)


@settings(max_examples=150, suppress_health_check=[HealthCheck.too_slow])
@given(zone=zones, window=windows, begin=instants, steps=ticks, cap=st.integers(0, 4), rest_min=st.integers(0, 300))
def test_no_storm(
    zone: ZoneInfo, window: Window, begin: datetime, steps: list[tuple[int, int, Reading[float], bool, int]],
    cap: int, rest_min: int,
) -> None:
    policy = Policy(settings=Settings(daily_dream_cap=cap, cooldown_min=rest_min, quiet_hours=window))
    wall, monotonic_s = begin, 1000.0
    history = RunHistory(started_monotonic_s=monotonic_s, since=begin)
    process, jumps = 0, 0
    started: list[tuple[float, datetime, Due]] = []
    scheduler_state: list[tuple[int, int]] = []
    fresh = True
    for passed_s, jump_s, input_idle, anew, seeds in steps:
        monotonic_s += passed_s
        wall += timedelta(seconds=passed_s + jump_s)
        jumps += jump_s != 0
        if anew:
            fresh, process = True, process + 1
            history = RunHistory(
                started_monotonic_s=monotonic_s,
                since=begin,
                runs=tuple(StartedRun(at=run.at, dreamt=run.dreamt, night=run.night) for run in history.runs),
            )
        around = SchedulerState(new_seeds=seeds, starting=fresh)
        answer = ask(policy, Moment(now=wall, monotonic_s=monotonic_s, zone=zone), history, around, input_idle)
        if isinstance(answer, NotYet):
            assert answer.blockers
            assert answer.until is None or answer.until > wall, "a wait lies ahead"
            continue
        assert isinstance(input_idle, Known | NoSensor)
        started.append((monotonic_s, wall, answer))
        scheduler_state.append((process, jumps))
        fresh = False
        run = StartedRun(at=wall, dreamt=Stage.DREAM in answer.stages, night=answer.night, monotonic_s=monotonic_s)
        history = RunHistory(started_monotonic_s=history.started_monotonic_s, since=begin, runs=(*history.runs, run))
    nights = Counter(answer.night for _, _, answer in started if answer.night is not None)
    assert all(times == 1 for times in nights.values()), nights
    days = Counter(at.astimezone(zone).date() for _, at, answer in started if Stage.DREAM in answer.stages)
    assert all(times <= cap for times in days.values()), days
    for number, (one, later) in enumerate(pairwise(started)):
        (process, jumps), (later_process, later_jumps) = scheduler_state[number : number + 2]
        if process == later_process or jumps == later_jumps:  # else nothing is left that could know the time between
            assert later[0] - one[0] >= rest_min * 60


@settings(max_examples=150)
@given(
    zone=zones, window=windows, now=instants, rest_min=st.integers(0, 1440), cap=st.integers(1, 5),
    old=st.lists(st.tuples(st.integers(-500_000, 500_000), st.booleans(), st.booleans()), max_size=12),
    since_h=st.integers(-100_000, 100_000))
def test_never_never(
    zone: ZoneInfo, window: Window, now: datetime, rest_min: int, cap: int, old: list[tuple[int, bool, bool]],
    since_h: int,
) -> None:
    """From any history, even one that lies in the future, something is due within two days of nobody being there."""
    policy = Policy(settings=Settings(daily_dream_cap=cap, cooldown_min=rest_min, quiet_hours=window))
    instants_of_old = [(now + timedelta(minutes=minutes), night, here) for minutes, night, here in old]
    runs = tuple(
        StartedRun(at=at, dreamt=True, night=at.date() if night else None, monotonic_s=500.0 if here else None)
        for at, night, here in instants_of_old)
    history = RunHistory(started_monotonic_s=500.0, runs=runs, since=now + timedelta(hours=since_h))
    blocked = Counter(run.at.astimezone(zone).date() for run in runs)
    steps_min = range(0, 60 * 24 * 9, 30)
    full = {day for day, times in blocked.items() if times >= cap}
    assume(len([day for day in full if abs((day - now.date()).days) <= 9]) <= 6)
    moments = ((minutes, Moment(now=now + timedelta(minutes=minutes), monotonic_s=1000.0 + 60 * minutes, zone=zone))
               for minutes in steps_min)
    waited = next((minutes for minutes, moment in moments if isinstance(ask(policy, moment, history), Due)), None)
    assert waited is not None
    free_from = 60 * 24 * (2 + len(full)) + rest_min
    assert waited <= free_from


@settings(max_examples=300)
@given(zone=zones, window=windows, now=instants)
def test_nights_follow_each_other(zone: ZoneInfo, window: Window, now: datetime) -> None:
    latest, following = latest_night(now, window, zone), next_night(now, window, zone)
    assert latest.opens_at <= now < following.opens_at
    assert latest.date < following.date
    assert following.date - latest.date <= timedelta(days=1)
    assert latest_night(following.opens_at, window, zone) == following
    assert latest_night(following.opens_at - timedelta(seconds=1), window, zone) == latest
    for night in (latest, following):
        assert night.opens_at <= night.closes_at <= night.opens_at + timedelta(hours=25)
    midnight = next_midnight(now, zone)
    assert midnight > now
    assert midnight.astimezone(zone).date() > now.astimezone(zone).date()


@settings(max_examples=300)
@given(where=st.one_of(st.tuples(zones, st.dates(date(1975, 1, 2), date(2036, 12, 30))), st.sampled_from(CHANGES)),
       minute=st.one_of(st.integers(0, 1439), st.integers(0, 240)))
def test_the_first_instant_of_a_clock_face(where: tuple[ZoneInfo, date], minute: int) -> None:
    """The clock shows the time, or has just jumped over it; and it has not shown it on that day before."""
    zone, day = where
    instant = local_instant(day, minute, zone)
    face = datetime(day.year, day.month, day.day) + timedelta(minutes=minute)  # noqa: DTZ001 - what the clock shows
    shown = instant.astimezone(zone)
    before = (instant - timedelta(seconds=1)).astimezone(zone)
    assert shown.replace(tzinfo=None) >= face > before.replace(tzinfo=None)
    assert shown.replace(tzinfo=None) == face or shown.utcoffset() != before.utcoffset()
    assert find_night(day, Window(minute, (minute + 1) % 1440), zone) is not None
