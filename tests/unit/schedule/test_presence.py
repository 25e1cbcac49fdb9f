"""Idle, active or unknown; mains or not: what is said when sensors are missing or wrong."""

from __future__ import annotations

import math

import pytest

from aria_dream.schedule.presence import (
    IdleState,
    Known,
    NoSensor,
    Plug,
    Power,
    Reading,
    SensorFailed,
    ago,
    in_words,
    judge_idleness,
    power_refusal,
)

DAY_S = 86_400.0


@pytest.mark.parametrize(
    ("reading", "last_edit_s", "state"),
    [
        (Known(1000.0), None, IdleState.IDLE),
        (Known(900.0), 5000.0, IdleState.IDLE),
        (Known(899.9), None, IdleState.ACTIVE),
        (Known(0.0), None, IdleState.ACTIVE),
        (Known(5000.0), 20.0, IdleState.ACTIVE),
        (SensorFailed("broken"), 20.0, IdleState.ACTIVE),
        (NoSensor("none"), 20.0, IdleState.ACTIVE),
        (Known(5000.0), -3600.0, IdleState.IDLE),  # a file dated in the future says nothing
        (SensorFailed("broken"), 5000.0, IdleState.UNKNOWN),
        (NoSensor("none"), None, IdleState.UNKNOWN),
        (Known(-5.0), None, IdleState.UNKNOWN),
        (Known(math.nan), None, IdleState.UNKNOWN),
        (Known(math.inf), None, IdleState.UNKNOWN),
    ],
)
def test_the_state_of_the_writer(reading: Reading[float], last_edit_s: float | None, state: IdleState) -> None:
    assert judge_idleness(reading, last_edit_s, 900).state is state


def test_the_later_sign_is_the_one_that_is_named() -> None:
    typed = judge_idleness(Known(10.0), 300.0, 900)
    assert (typed.reason, typed.idle_s, typed.edited) == ("you typed or clicked 10 seconds ago", 10.0, False)
    edited = judge_idleness(Known(2000.0), 300.0, 900)
    assert (edited.reason, edited.idle_s, edited.edited) == ("a note was edited 5 minutes ago", 300.0, True)


def test_only_a_missing_sensor_lets_the_night_stand_in() -> None:
    assert judge_idleness(NoSensor("no X display"), None, 900).no_sensor
    assert not judge_idleness(SensorFailed("it hangs"), None, 900).no_sensor


@pytest.mark.parametrize(
    ("power", "refusal"),
    [
        (Known(Power(plug=Plug.MAINS)), ""),
        (Known(Power(plug=Plug.BATTERY, percent=100.0)), "the machine runs on battery"),
        (Known(Power(plug=Plug.UNKNOWN)), "whether the machine is plugged in is unknown, which counts as battery"),
        (SensorFailed("OSError"), "whether the machine is plugged in is unknown (OSError), which counts as battery"),
    ],
)
def test_doubt_about_the_plug_counts_as_battery(power: Reading[Power], refusal: str) -> None:
    assert power_refusal(power) == refusal


@pytest.mark.parametrize(
    ("seconds", "words"),
    [(0.4, "0 seconds"), (1, "1 second"), (59.9, "59 seconds"), (60, "1 minute"), (900, "15 minutes"),
     (7199, "119 minutes"), (7200, "2 hours"), (2 * DAY_S, "2 days")],
)
def test_spans_in_words(seconds: float, words: str) -> None:
    assert in_words(seconds) == words


def test_now_is_just_now() -> None:
    assert (ago(1.9), ago(2)) == ("just now", "2 seconds ago")
