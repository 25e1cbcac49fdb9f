"""`reach-pause.json`: until when the account's plan wants no request. Of the account, as the plan is.

Only what a server said about its limits pauses a reach; what the network does says nothing about the next minute.
"""

from __future__ import annotations

import json
import os
from contextlib import suppress
from dataclasses import dataclass
from datetime import timedelta
from random import random
from typing import TYPE_CHECKING

from aria_dream.notes.jsonl import as_mapping, as_moment, as_text, as_whole
from aria_dream.reach.rate_limit_backoff import LONGEST_WAIT, Backoff, Stop, Wait, pause_s, reach_pause

if TYPE_CHECKING:
    from collections.abc import Callable
    from datetime import datetime
    from pathlib import Path

    from aria_dream.reach.reach_events import Failure

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
        case Stop():
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
