"""Instants at which a program that knows dates goes wrong, and a clock that shows them, to children as well."""

from __future__ import annotations

import os
import subprocess
import time
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any
from zoneinfo import ZoneInfo

import time_machine

if TYPE_CHECKING:
    from collections.abc import Iterator

    import pytest

_BERLIN = ZoneInfo("Europe/Berlin")
INSTANTS = {
    "leap-day": datetime(2028, 2, 29, 0, 20, tzinfo=UTC),
    "year-end": datetime(2027, 12, 31, 23, 58, tzinfo=UTC),
    "skipped-hour": datetime(2027, 3, 28, 2, 30, tzinfo=_BERLIN),  # no clock shows it: it is 03:30
    "repeated-hour": datetime(2027, 10, 31, 2, 30, fold=1, tzinfo=_BERLIN),
}
_HOOK = Path(__file__).with_name("faked_clock")


@contextmanager
def clock_at(name: str, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """The wall clock stands at that instant and goes on from there, here and in every child; the times of files and
    monotonic clocks are as they are."""
    started_s = time.time()
    start: Any = subprocess.Popen.__init__

    def start_too(self: subprocess.Popen[Any], *args: Any, env: Any = None, **others: Any) -> None:
        env = {**(os.environ if env is None else env), "FAKED_CLOCK_AHEAD_S": str(instant.timestamp() - started_s)}
        env["PYTHONPATH"] = os.pathsep.join(filter(None, (str(_HOOK), env.get("PYTHONPATH"))))
        start(self, *args, env=env, **others)

    instant = INSTANTS[name]
    monkeypatch.setattr(subprocess.Popen, "__init__", start_too)
    if instant.tzinfo is UTC:
        instant = instant.replace(tzinfo=ZoneInfo("UTC"))  # time_machine sets TZ from a named zone alone
    with time_machine.travel(instant, tick=True):
        yield
