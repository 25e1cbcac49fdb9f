"""Whether anybody is at the machine, from readings that may be missing. Unknown is never idle."""

from __future__ import annotations

import math
from dataclasses import dataclass
from enum import Enum
from typing import Generic, TypeAlias, TypeVar, assert_never

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Known(Generic[T]):
    """What the sensor says."""

    value: T


@dataclass(frozen=True, slots=True)
class SensorFailed:
    """The sensor is there and does not answer, or says nonsense. Counts as busy."""

    reason: str
    """In words that fit behind "because"."""


@dataclass(frozen=True, slots=True)
class NoSensor:
    """There is no such sensor here."""

    reason: str


Reading: TypeAlias = Known[T] | SensorFailed | NoSensor


class Plug(Enum):
    MAINS = "mains"
    BATTERY = "battery"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True, kw_only=True)
class Power:
    """What the machine runs on."""

    plug: Plug
    percent: float | None = None
    """Charge of the battery, as told (0 and 101.3 occur); None where there is no battery."""


def power_refusal(power: Reading[Power]) -> str:
    """Why this does not count as mains power; `""` where it does. Doubt counts as battery, and is called doubt."""
    match power:
        case Known(Power(plug=Plug.MAINS)):
            return ""
        case Known(Power(plug=Plug.BATTERY)):
            return "the machine runs on battery"
        case Known(Power(plug=Plug.UNKNOWN)):
            return "whether the machine is plugged in is unknown, which counts as battery"
        case SensorFailed(reason) | NoSensor(reason):
            return f"whether the machine is plugged in is unknown ({reason}), which counts as battery"
        case Known():
            raise AssertionError(power)
        case _:
            assert_never(power)


class IdleState(Enum):
    IDLE = "idle"
    ACTIVE = "active"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True, kw_only=True)
class Idleness:
    """What `judge_idleness` concludes."""

    state: IdleState
    reason: str
    """In words for the writer, without a full stop."""
    idle_s: float = 0.0
    """Seconds since the last sign of somebody; 0 where unknown."""
    edited: bool = False
    """The sign was an edit in the vault."""
    no_sensor: bool = False
    """Unknown because there is nothing to ask: the night and the vault's own quiet may stand in."""


def judge_idleness(input_idle: Reading[float], last_edit_s: float | None, threshold_s: float) -> Idleness:
    """Idle, active or unknown, and why.

    `input_idle` is seconds since the last key, click or touch; `last_edit_s` seconds since anybody but us last changed
    the vault, None where no edit is known. A recent edit means active, whatever the sensor says: the X11 counter of a
    Wayland session goes up while its user types. An edit in the future (another machine's clock) says nothing.
    """
    edit_s = last_edit_s if last_edit_s is not None and last_edit_s >= 0 else math.inf
    if edit_s < threshold_s and not (isinstance(input_idle, Known) and 0 <= input_idle.value < edit_s):
        reason = f"a note was edited {ago(edit_s)}"
        return Idleness(state=IdleState.ACTIVE, reason=reason, idle_s=edit_s, edited=True)
    match input_idle:
        case Known(value) if not (math.isfinite(value) and value >= 0):
            return Idleness(state=IdleState.UNKNOWN, reason=f"the sensor says {value:g} seconds, which cannot be")
        case Known(value) if value < threshold_s:
            reason = f"you typed or clicked {ago(value)}"
            return Idleness(state=IdleState.ACTIVE, reason=reason, idle_s=value)
        case Known(value):
            reason = f"nobody has touched the machine for {in_words(value)}"
            return Idleness(state=IdleState.IDLE, reason=reason, idle_s=min(value, edit_s))
        case SensorFailed(reason):
            said = f"it cannot be told whether anybody is at the machine ({reason}), which counts as busy"
            return Idleness(state=IdleState.UNKNOWN, reason=said)
        case NoSensor(reason):
            said = f"nothing here tells whether anybody is at the machine ({reason})"
            return Idleness(state=IdleState.UNKNOWN, reason=said, no_sensor=True)
        case _:
            assert_never(input_idle)


def in_words(seconds: float) -> str:
    """The span as a person says it, rounded down: `20 seconds`, `1 minute`, `3 hours`, `2 days`."""
    for unit_s, name in ((86_400, "day"), (3600, "hour"), (60, "minute")):
        if seconds >= (unit_s if name == "minute" else 2 * unit_s):
            return _counted(int(seconds // unit_s), name)
    return _counted(int(seconds), "second")


def ago(seconds: float) -> str:
    """`just now`, or the span with `ago`."""
    return "just now" if seconds < 2 else f"{in_words(seconds)} ago"


def _counted(number: int, name: str) -> str:
    return f"{number} {name}{'' if number == 1 else 's'}"
