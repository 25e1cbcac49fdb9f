"""Any sequence of reservations, answers and crashes: no more is ever sent than a window allows."""

from __future__ import annotations

import os
import tempfile
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from aria_dream.adapters.gate import ledger
from aria_dream.adapters.gate.ledger import LEDGER, Granted, reserve, resolve, settle
from aria_dream.policy.settings import Settings
from aria_dream.reach.budget import FIVE_HOURS, WEEK, Resolution

ALLOWED = Settings(reach_requests_per_5h=6, reach_requests_per_week=10, monthly_reach_ceiling=14, requests_per_reach=2)


class Crash(BaseException):
    """The process ends here; nothing that follows in it happens."""


class Reaches(RuleBasedStateMachine):
    """`sent` is what really left, with the time the clock showed."""

    def __init__(self) -> None:
        super().__init__()
        self.folder = tempfile.TemporaryDirectory()
        self.state = Path(self.folder.name)
        self.now = datetime(2026, 11, 20, tzinfo=UTC)
        self.sent: list[tuple[datetime, int]] = []
        self.open: list[tuple[Granted, datetime]] = []

    def teardown(self) -> None:
        self.folder.cleanup()

    def ask(self) -> Granted | None:
        found = reserve(self.state, ALLOWED, UTC, kind="internal", clock=lambda: self.now)
        return found if isinstance(found, Granted) else None

    @rule()
    def reach(self) -> None:
        permit = self.ask()
        if permit is not None:
            self.sent.append((self.now, 2))
            self.open.append((permit, self.now))

    @rule()
    def reach_that_cannot_connect(self) -> None:
        permit = self.ask()
        if permit is not None:
            resolve(permit, "unsent", clock=lambda: self.now)

    @rule(kept=st.integers(0, 90), step=st.sampled_from(["write", "sync", "after"]))
    def crash_while_reserving(self, kept: int, step: str) -> None:
        """The row is torn, or whole and unsynced, or synced; nothing was sent, for nobody was granted anything."""
        with pytest.MonkeyPatch.context() as patch:
            real = os.write

            def torn(handle: int, data: bytes) -> int:
                real(handle, data[:kept])
                raise Crash

            def dead(*_arguments: object, **_named: object) -> None:
                raise Crash

            if step == "write":
                patch.setattr(os, "write", _only_for_the_ledger(real, torn))
            elif step == "sync":
                patch.setattr(ledger, "sync_file", dead)
            else:
                patch.setattr(ledger, "Granted", dead)
            with suppress(Crash):
                self.ask()

    @precondition(lambda self: bool(self.open))
    @rule(verdict=st.sampled_from(["homes", "failed", "aborted"]), kept=st.none() | st.integers(0, 90))
    def answer(self, verdict: Resolution, kept: int | None) -> None:
        permit, _ = self.open.pop()
        with pytest.MonkeyPatch.context() as patch:
            real = os.write

            def torn(handle: int, data: bytes) -> int:
                real(handle, data[:kept])
                raise Crash

            if kept is not None:
                patch.setattr(os, "write", _only_for_the_ledger(real, torn))
            with suppress(Crash):
                resolve(permit, verdict, clock=lambda: self.now)

    @precondition(lambda self: bool(self.open))
    @rule(more=st.integers(1, 4))
    def send_more_than_was_set_aside(self, more: int) -> None:
        permit, _ = self.open.pop()
        self.sent.append((self.now, more))
        settle(self.state, UTC, reach_id=permit.row.id, verdict="failed", requests=2 + more, clock=lambda: self.now)

    @rule(line=st.binary(max_size=40))
    def damage(self, line: bytes) -> None:
        with (self.state / LEDGER).open("ab") as file:
            file.write(line)

    @rule(minutes=st.sampled_from([1, 61, 301, 2000, 11_000]))
    def wait(self, minutes: int) -> None:
        self.now += timedelta(minutes=minutes)

    @rule(minutes=st.sampled_from([1, 400, 20_000]))
    def clock_is_put_back(self, minutes: int) -> None:
        self.now -= timedelta(minutes=minutes)

    @invariant()
    def nothing_is_granted_beyond_a_ceiling(self) -> None:
        def sent_since(start: datetime) -> int:
            return sum(requests for at, requests in self.sent if at >= start)

        month = self.now.replace(day=1, hour=0, minute=0)
        room = min(
            ALLOWED.reach_requests_per_5h - sent_since(self.now - FIVE_HOURS),
            ALLOWED.reach_requests_per_week - sent_since(self.now - WEEK),
            ALLOWED.monthly_reach_ceiling - sent_since(month),
        )
        before = (self.state / LEDGER).read_bytes() if (self.state / LEDGER).exists() else b""
        permit = self.ask()
        assert permit is None or room >= 2
        (self.state / LEDGER).write_bytes(before)  # it was only a question


def _only_for_the_ledger(real: object, torn: object) -> object:
    """The lock writes who holds it through the same `os.write`; only rows are torn."""

    def write(handle: int, data: bytes) -> object:
        return (torn if b"\t" in data else real)(handle, data)  # type: ignore[operator] # either is a write

    return write


Reaches.TestCase.settings = hypothesis_settings(max_examples=40, stateful_step_count=25, deadline=None)
TestReaches = Reaches.TestCase
