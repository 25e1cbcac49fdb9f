"""After a reach that failed: wait until the plan's window opens, pause and try another time, or stop and ask."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from datetime import tzinfo

FIRST_PAUSE_S = 60.0
LONGEST_PAUSE_S = 6 * 3600.0
LONGEST_WAIT = timedelta(days=35)
"""No window of a plan is longer than a month; a reset beyond that is a broken one."""

_STOP = re.compile(
    r"\bstatus(?:_code)?\"?:? *40[13]\b|unauthorized|forbidden|to use codex with your chatgpt plan|quota exceeded"
    r"|token (?:has )?expired|(?:log|sign) ?in again|not logged in|invalid_api_key|missing environment variable",
    re.IGNORECASE,
)
_LIMIT = re.compile(r"usage[_ ]limit|rate[_ ]limit|\b429\b|too many requests", re.IGNORECASE)
_SECONDS = re.compile(r"""\bresets_in_seconds\\?["']?\s*[:=]\s*"?(-?\d{1,18}(?:\.\d{1,9})?)""")
_INSTANT = re.compile(r"""\bresets_at\\?["']?\s*[:=]\s*"?(-?\d{1,18}(?:\.\d{1,9})?)""")
_AT = re.compile(
    r"\btry again at (?:(?P<month>[A-Z][a-z]{2})[a-z]* (?P<day>\d{1,2})(?:st|nd|rd|th)?,? (?P<year>\d{4}),? )?"
    r"(?:at )?(?P<hour>\d{1,2}):(?P<minute>\d{2})(?::\d{2})?\s*(?P<half>[AP]\.?M)?",
    re.IGNORECASE,
)
_IN = re.compile(r"\btry again in ((?:(?:about |, |and )?\d{1,6}(?:\.\d+)? ?[a-z]+[ ,]*){1,5})", re.IGNORECASE)
_PART = re.compile(r"(\d{1,6}(?:\.\d+)?) ?([a-z]+)", re.IGNORECASE)
_UNIT_S = {"ms": 0.001, "s": 1, "sec": 1, "second": 1, "m": 60, "min": 60, "minute": 60, "h": 3600, "hr": 3600,
           "hour": 3600, "d": 86_400, "day": 86_400, "w": 604_800, "week": 604_800}  # fmt: skip
_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")


@dataclass(frozen=True, slots=True)
class Wait:
    """No call before then: the plan said when its window opens."""

    until: datetime


@dataclass(frozen=True, slots=True)
class Backoff:
    """Nobody knows when; pause for `pause_s` of the failures in a row."""


@dataclass(frozen=True, slots=True)
class Stop:
    """Trying again cannot help before the writer has done something, such as logging in."""


def reach_pause(message: str, now: datetime, zone: tzinfo) -> Wait | Backoff | Stop:
    """What a failure asks for. `now` is aware; times of day in the message are local to `zone`. Total.

    A reset that lies in the past, or further off than any plan's window, is no reset.
    """
    if _STOP.search(message) and not _LIMIT.search(message):
        return Stop()
    until = _reset(message, now, zone)
    if until is not None and now < until <= now + LONGEST_WAIT:
        return Wait(until)
    return Stop() if "quota exceeded" in message.lower() else Backoff()


def pause_s(failures: int, jitter: float) -> float:
    """Seconds to pause after so many failures in a row: doubling from a minute, six hours at most.

    `jitter` (0 to 1, drawn by the caller) spreads it over its lower half, so that two machines do not meet again.
    """
    longest = min(LONGEST_PAUSE_S, FIRST_PAUSE_S * 2.0 ** min(max(failures, 1) - 1, 20))
    return longest * (1 - min(max(jitter, 0.0), 1.0) / 2)


def _reset(message: str, now: datetime, zone: tzinfo) -> datetime | None:
    try:
        if found := _SECONDS.search(message):
            return now + timedelta(seconds=float(found[1]))
        if found := _INSTANT.search(message):
            return datetime.fromtimestamp(float(found[1]), UTC).astimezone(now.tzinfo)
        if found := _IN.search(message):
            return _after(found[1], now)
        if found := _AT.search(message):
            return _local(found, now, zone)
    except (OverflowError, ValueError, OSError):
        pass
    return None


def _after(text: str, now: datetime) -> datetime | None:
    seconds = 0.0
    for number, unit in _PART.findall(text):
        name = unit.lower()
        each = _UNIT_S.get(name) or _UNIT_S.get(name.removesuffix("s"))
        if each is None:
            break
        seconds += float(number) * each
    return now + timedelta(seconds=math.ceil(seconds)) if seconds else None


def _local(found: re.Match[str], now: datetime, zone: tzinfo) -> datetime | None:
    hour, minute, half = int(found["hour"]), int(found["minute"]), (found["half"] or "").lower()
    if half:
        if not 1 <= hour <= 12:
            return None
        hour = hour % 12 + 12 * half.startswith("p")
    local = now.astimezone(zone)
    at = local.replace(hour=hour, minute=minute, second=0, microsecond=0, fold=0)
    if found["month"]:
        month = _MONTHS.index(found["month"].lower()) + 1
        return at.replace(year=int(found["year"]), month=month, day=int(found["day"]))
    # Only a time: the next such one, unless it was just now, when the message was slow and the window is open.
    return at + timedelta(days=1) if at < local - timedelta(hours=12) else at
