"""Nights by instants: gaps, folds, windows across midnight, skipped dates."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest

from aria_dream.policy.kinds import Window
from aria_dream.schedule.scheduler_state import (
    ScheduledNight,
    find_night,
    latest_night,
    local_instant,
    next_midnight,
    next_night,
    owed_night,
)

BERLIN = ZoneInfo("Europe/Berlin")
NIGHT = Window(60, 360)


def at(text: str) -> datetime:
    return datetime.fromisoformat(text).astimezone(UTC)


@pytest.mark.parametrize(
    ("zone", "day", "minute", "instant"),
    [
        ("Europe/Berlin", date(2026, 3, 28), 150, "2026-03-28T02:30+01:00"),
        ("Europe/Berlin", date(2026, 3, 29), 150, "2026-03-29T03:00+02:00"),  # 02:30 is skipped
        ("Europe/Berlin", date(2026, 10, 25), 150, "2026-10-25T02:30+02:00"),  # the first of two
        ("Australia/Lord_Howe", date(2026, 10, 4), 135, "2026-10-04T02:30+11:00"),  # half an hour is skipped
        ("Africa/Cairo", date(2026, 4, 24), 20, "2026-04-24T01:00+03:00"),  # midnight is skipped
        ("America/New_York", date(2026, 11, 1), 90, "2026-11-01T01:30-04:00"),
        ("Africa/Monrovia", date(1972, 1, 7), 10, "1972-01-07T00:44:30+00:00"),  # a gap of 44 minutes and 30 seconds
    ],
)
def test_the_instant_of_a_clock_face(zone: str, day: date, minute: int, instant: str) -> None:
    assert local_instant(day, minute, ZoneInfo(zone)) == at(instant)


def test_the_second_pass_is_an_hour_later() -> None:
    first = local_instant(date(2026, 10, 25), 150, BERLIN)
    assert local_instant(date(2026, 10, 25), 150, BERLIN, second_pass=True) - first == timedelta(hours=1)


def test_a_window_across_midnight_belongs_to_the_date_on_which_it_opens() -> None:
    night = latest_night(at("2026-11-30T02:00+01:00"), Window(22 * 60, 5 * 60), BERLIN)
    assert night == ScheduledNight(
        date=date(2026, 11, 29), opens_at=at("2026-11-29T22:00+01:00"), closes_at=at("2026-11-30T05:00+01:00")
    )
    assert night.is_open(at("2026-11-30T04:59+01:00"))
    assert not night.is_open(at("2026-11-30T05:00+01:00"))


def test_a_window_that_closes_in_the_doubled_hour_holds_both_passes() -> None:
    night = find_night(date(2026, 10, 25), Window(60, 150), BERLIN)
    assert night is not None
    assert (night.opens_at, night.closes_at) == (at("2026-10-25T01:00+02:00"), at("2026-10-25T02:30+01:00"))


def test_a_window_that_the_clock_skips_is_empty_and_its_work_is_owed() -> None:
    night = find_night(date(2026, 3, 29), Window(130, 170), BERLIN)
    assert night is not None
    assert night.opens_at == night.closes_at == at("2026-03-29T03:00+02:00")
    assert owed_night(at("2026-03-29T12:00+02:00"), Window(130, 170), BERLIN, done=()) == night


def test_a_date_that_the_calendar_skips_has_no_night() -> None:
    samoa = ZoneInfo("Pacific/Apia")
    assert find_night(date(2011, 12, 30), NIGHT, samoa) is None
    after = at("2011-12-31T00:30+14:00")
    assert latest_night(after, NIGHT, samoa).date == date(2011, 12, 29)
    assert next_night(after, NIGHT, samoa).date == date(2011, 12, 31)
    assert next_midnight(at("2011-12-29T12:00-10:00"), samoa) == at("2011-12-31T00:00+14:00")


def test_a_missed_night_is_owed_until_the_next_opens() -> None:
    missed = owed_night(at("2026-11-30T17:00+01:00"), NIGHT, BERLIN, done={date(2026, 11, 29)})
    assert missed is not None
    assert missed.date == date(2026, 11, 30)
    assert owed_night(at("2026-11-30T17:00+01:00"), NIGHT, BERLIN, done={date(2026, 11, 30)}) is None
    following = owed_night(at("2026-12-01T01:00+01:00"), NIGHT, BERLIN, done={date(2026, 11, 30)})
    assert following is not None
    assert following.date == date(2026, 12, 1)


@pytest.mark.parametrize(
    ("since", "owed"),
    [
        ("2026-11-30T05:59+01:00", True),  # looked after since the window was still open
        ("2026-11-30T06:00+01:00", False),
        ("2026-11-20T06:00+01:00", True),
        ("2031-01-01T00:00+01:00", True),  # the clock was wrong when it was written
    ],
)
def test_nobody_owes_a_night_before_the_beginning(since: str, owed: bool) -> None:
    found = owed_night(at("2026-11-30T12:00+01:00"), NIGHT, BERLIN, done=(), since=at(since))
    assert (found is not None) is owed


def test_midnight_is_found_where_the_clock_goes_back_over_it() -> None:
    cairo = ZoneInfo("Africa/Cairo")  # Friday 00:00 becomes Thursday 23:00
    assert next_midnight(at("2026-10-29T22:30+03:00"), cairo) == at("2026-10-30T00:00+02:00")
    assert next_midnight(at("2026-10-29T23:30+02:00"), cairo) == at("2026-10-30T00:00+02:00")
