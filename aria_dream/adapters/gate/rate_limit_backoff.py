"""`reach-pause.json`: until when the account's plan wants no request, and what a failed reach waits for.

Of the account, as the plan is. Only what a server said about its limits pauses a reach; what the network does says
nothing about the next minute.
"""

from __future__ import annotations

import json
import math
import os
import re
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from random import random
from typing import TYPE_CHECKING

from aria_dream.notes.jsonl import as_mapping, as_moment, as_text, as_whole

if TYPE_CHECKING:
    from collections.abc import Callable
    from datetime import tzinfo
    from pathlib import Path

    from aria_dream.reach.reach_events import Failure

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
class StopReaching:
    """Trying again cannot help before the writer has done something, such as logging in."""


def reach_pause(message: str, now: datetime, zone: tzinfo) -> Wait | Backoff | StopReaching:
    """What a failure asks for. `now` is aware; times of day in the message are local to `zone`. Total.

    A reset that lies in the past, or further off than any plan's window, is no reset.
    """
    if _STOP.search(message) and not _LIMIT.search(message):
        return StopReaching()
    until = _reset(message, now, zone)
    if until is not None and now < until <= now + LONGEST_WAIT:
        return Wait(until)
    return StopReaching() if "quota exceeded" in message.lower() else Backoff()


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


PAUSE = "reach-pause.json"
VERSION = 1
_PAUSING = frozenset({"login", "usage limit", "rate limit", "capacity"})


@dataclass(frozen=True, slots=True, kw_only=True)
class ReachRest:
    """Why no reach should be made now."""

    reason: str
    """One clause."""
    until: datetime | None
    """None: time alone does not help, somebody has to do something, such as log in. Only a person's reach tries then.
    """
    failures: int
    """In a row."""


def read_backoff(state: Path, now: datetime) -> ReachRest | None:
    """The pause that is in force at `now` (aware); None where none is. A file that cannot be read is none."""
    found = _read(state)
    if found is None or found.until is None:
        return found
    # A clock that was put back far must not make a pause of hours one of years.
    return found if now < found.until <= now + LONGEST_WAIT else None


def backoff_text(state: Path, now: datetime, *, by_itself: bool = False) -> str:
    """Why the account rests from reaching at `now` (aware, in the writer's zone), as a clause; `""` where it does not.

    What only a person can end, such as a login that is not accepted, holds back what happens by itself alone.
    """
    backoff = read_backoff(state, now)
    if backoff is None or (backoff.until is None and not by_itself):
        return ""
    if backoff.until is None:
        return f"the reach rests until you have done something about it: {backoff.reason}"
    return f"the reach rests until {backoff.until.astimezone(now.tzinfo):%Y-%m-%d %H:%M}: {backoff.reason}"


def note_failure(
    state: Path, failure: Failure, reason: str, now: datetime, *, jitter: Callable[[], float] = random
) -> ReachRest | None:
    """The pause that a failure asks for, kept for the next run; None, and nothing kept, where it asks for none.

    `now` is aware and in the writer's zone, in which the message tells times of day. `reason`: as the writer reads it.
    """
    if failure.kind not in _PAUSING:
        return None
    before = _read(state)
    failures = 1 + (0 if before is None else before.failures)
    asked = reach_pause(failure.message, now, now.tzinfo) if now.tzinfo is not None else Backoff()
    match asked:
        case Wait(until):
            backoff = ReachRest(reason=reason, until=until, failures=failures)
        case Backoff():
            until = now + timedelta(seconds=pause_s(failures, jitter()))
            backoff = ReachRest(reason=reason, until=until, failures=failures)
        case StopReaching():
            backoff = ReachRest(reason=reason, until=None, failures=failures)
    _write(state, backoff)
    return backoff


def clear_backoff(state: Path) -> None:
    """Forget the pause: a request got through."""
    with suppress(OSError):
        (state / PAUSE).unlink()


def _read(state: Path) -> ReachRest | None:
    try:
        found = as_mapping(json.loads((state / PAUSE).read_bytes()))
        if found.get("version") != VERSION:
            return None
        until = found["until"]
        return ReachRest(
            reason=as_text(found["reason"]),
            until=None if until is None else as_moment(until),
            failures=as_whole(found["failures"]),
        )
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        return None


def _write(state: Path, backoff: ReachRest) -> None:
    """A disk that refuses is passed over: the ledger still counts, and a pause only spares requests."""
    path = state / PAUSE
    temp = path.with_name(f".{PAUSE}.{os.getpid()}")
    until = None if backoff.until is None else backoff.until.isoformat(timespec="seconds")
    record = {"version": VERSION, "until": until, "reason": backoff.reason, "failures": backoff.failures}
    try:
        state.mkdir(mode=0o700, parents=True, exist_ok=True)
        temp.write_text(json.dumps(record) + "\n", encoding="utf-8")
        temp.replace(path)
    except OSError:
        with suppress(OSError):
            temp.unlink()
