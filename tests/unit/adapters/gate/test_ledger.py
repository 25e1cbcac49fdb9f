"""The ledger on a real disk: torn tails, other processes, files that cannot be kept."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
import time
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from aria_dream.adapters.disk.lock import VaultLock
from aria_dream.adapters.gate import ledger
from aria_dream.adapters.gate.ledger import LEDGER, LOCK, Granted, read_ledger, reserve, resolve, settle
from aria_dream.errors import WriteRefusedError
from aria_dream.policy.settings import Settings
from aria_dream.reach.budget import BudgetRefusal, LedgerRow, count_spent

if TYPE_CHECKING:
    from collections.abc import Callable

NOW = datetime(2026, 11, 30, 12, tzinfo=UTC)
REPOSITORY = Path(__file__).resolve().parents[4]


def limits(five: int, each: int = 1) -> Settings:
    return Settings(
        reach_requests_per_5h=five, reach_requests_per_week=1000, monthly_reach_ceiling=1000, requests_per_reach=each
    )


def at(moment: datetime) -> Callable[[], datetime]:
    return lambda: moment


def granted(state: Path, settings: Settings, moment: datetime = NOW) -> Granted:
    found = reserve(state, settings, UTC, kind="internal", clock=at(moment))
    assert isinstance(found, Granted)
    return found


def used(state: Path, settings: Settings, moment: datetime = NOW) -> int:
    return count_spent(read_ledger(state)[0], settings, moment, UTC).in_5h


def test_the_row_is_on_the_disk_before_the_call(tmp_path: Path) -> None:
    permit = granted(tmp_path, limits(1))
    assert (tmp_path / LEDGER).read_text() == f"2026-11-30T12:00:00+00:00\tinternal\tinitiated\t{permit.row.id}\t1\n"
    refused = reserve(tmp_path, limits(1), UTC, kind="internal", clock=at(NOW))
    assert isinstance(refused, BudgetRefusal)
    assert refused.again_at == NOW + timedelta(hours=5)


def test_nobody_else_grants(tmp_path: Path) -> None:
    row = LedgerRow(at=NOW, kind="internal", verdict="initiated", id="a")
    with pytest.raises(TypeError):
        Granted(row=row, state=tmp_path, zone=UTC)


def test_only_unsent_gives_back_and_excess_takes_more(tmp_path: Path) -> None:
    settings = limits(9, each=2)
    first, second, third = (granted(tmp_path, settings) for _ in range(3))
    resolve(first, "unsent", clock=at(NOW))
    resolve(second, "failed", clock=at(NOW))
    settle(tmp_path, UTC, reach_id=third.row.id, verdict="homes", requests=2, clock=at(NOW))
    assert used(tmp_path, settings) == 4
    settle(tmp_path, UTC, reach_id=third.row.id, verdict="homes", requests=5, clock=at(NOW))
    resolve(third, "orphan", clock=at(NOW))
    assert used(tmp_path, settings) == 7


@pytest.mark.parametrize("tail", [b"2026-11-30T11:59:00+00:00\tinternal\tini", b"2026-", b"\0\0\0", b"\xff\xfe"])
def test_a_torn_tail_counts_and_the_next_row_is_whole(tmp_path: Path, tail: bytes) -> None:
    place = tmp_path / LEDGER
    place.write_bytes(tail)
    assert used(tmp_path, limits(5)) == 1
    permit = granted(tmp_path, limits(5))
    assert place.read_bytes().startswith(tail + b"\n")
    assert read_ledger(tmp_path)[0][-1] == permit.row
    assert used(tmp_path, limits(5)) == 2


def test_a_torn_tail_does_not_block_for_ever(tmp_path: Path) -> None:
    (tmp_path / LEDGER).write_bytes(b"2026-")
    for _ in range(2):
        assert isinstance(reserve(tmp_path, limits(1), UTC, kind="internal", clock=at(NOW)), BudgetRefusal)
    assert (tmp_path / LEDGER).read_bytes().count(b"\n") == 2  # noted once
    granted(tmp_path, limits(1), NOW + timedelta(hours=6))


def test_a_ledger_that_cannot_be_read_grants_nothing(tmp_path: Path) -> None:
    (tmp_path / LEDGER).mkdir()
    refused = reserve(tmp_path, limits(5), UTC, kind="internal")
    assert isinstance(refused, BudgetRefusal)
    assert LEDGER in refused.reason


def test_a_state_folder_that_cannot_be_made_grants_nothing(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    assert isinstance(reserve(tmp_path / "file" / "state", limits(5), UTC, kind="internal"), BudgetRefusal)


def test_a_full_disk_grants_nothing_and_keeps_what_was_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    permit = granted(tmp_path, limits(5))
    before = (tmp_path / LEDGER).read_bytes()
    real = os.write
    monkeypatch.setattr(os, "write", lambda handle, data: real(handle, data[:7]))
    assert isinstance(reserve(tmp_path, limits(5), UTC, kind="internal"), BudgetRefusal)
    with pytest.raises(WriteRefusedError):
        resolve(permit, "unsent")
    monkeypatch.undo()
    assert (tmp_path / LEDGER).read_bytes() == before


def test_whoever_asks_in_between_waits(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The second asks when the first has read the ledger and not yet written: one request is left, one is granted."""
    met = threading.Event()
    found: list[Granted | BudgetRefusal] = []

    def sleep(pause_s: float) -> None:
        met.set()
        time.sleep(pause_s)

    def second() -> None:
        found.append(reserve(tmp_path, limits(1), UTC, kind="internal", clock=at(NOW)))
        met.set()

    thread = threading.Thread(target=second)

    def clock() -> datetime:
        thread.start()
        assert met.wait(30)
        return NOW

    monkeypatch.setattr(ledger, "_lock", lambda state: VaultLock(state / LOCK, "a test", sleep=sleep))
    found.append(reserve(tmp_path, limits(1), UTC, kind="internal", clock=clock))
    thread.join(30)
    assert sorted(type(one).__name__ for one in found) == ["BudgetRefusal", "Granted"]


WORKER = """
import os, sys
from datetime import UTC
from pathlib import Path
from aria_dream.adapters.gate.ledger import Granted, reserve, resolve
from aria_dream.policy.settings import Settings
state, end = Path(sys.argv[1]), sys.argv[2]
settings = Settings(reach_requests_per_5h=7, reach_requests_per_week=100, monthly_reach_ceiling=100)
print("ready", flush=True)
sys.stdin.readline()
for _ in range(6):
    leave = reserve(state, settings, UTC, kind="internal")
    if isinstance(leave, Granted):
        print("sent", flush=True)
        if end == "crash":
            os._exit(9)
        resolve(leave, "homes")
"""


@pytest.mark.parametrize("end", ["resolve", "crash"])
def test_processes_share_one_budget(tmp_path: Path, end: str) -> None:
    """Four at once: with a budget of 7, of 24 attempts 7 are let through; those that die after the grant count too."""
    environment = {**os.environ, "PYTHONPATH": str(REPOSITORY), "PYTHONDONTWRITEBYTECODE": "1"}
    command = [sys.executable, "-c", WORKER, str(tmp_path), end]
    workers = [
        subprocess.Popen(command, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        for _ in range(4)
    ]
    for worker in workers:
        assert worker.stdout is not None
        assert worker.stdout.readline() == "ready\n"
    for worker in workers:
        assert worker.stdin is not None
        worker.stdin.write("go\n")
        worker.stdin.flush()
    sent = sum(worker.communicate(timeout=60)[0].count("sent") for worker in workers)
    assert sent == (7 if end == "resolve" else 4)
    rows, problems = read_ledger(tmp_path)
    assert not problems
    assert len({row.id for row in rows}) == sent
    assert count_spent(rows, limits(7), datetime.now(UTC), UTC).in_5h == sent


def test_settling_says_only_what_is_not_said_yet(tmp_path: Path) -> None:
    first, second, third = (granted(tmp_path, limits(99)) for _ in range(3))
    for _ in range(2):
        settle(tmp_path, UTC, reach_id=first.row.id, verdict="homes", requests=4, clock=at(NOW))
        settle(tmp_path, UTC, reach_id=second.row.id, verdict="unsent", clock=at(NOW))
        settle(tmp_path, UTC, reach_id="nobody", verdict="homes", requests=9, clock=at(NOW))
    resolve(third, "failed", clock=at(NOW))
    settle(tmp_path, UTC, reach_id=third.row.id, verdict="unsent", clock=at(NOW))  # too late: it was said otherwise
    verdicts = [row.verdict for row in read_ledger(tmp_path)[0]]
    assert verdicts == ["initiated"] * 3 + ["excess", "homes", "unsent", "failed"]
    assert used(tmp_path, limits(99)) == 1 + 3 + 1


def test_the_resolution_says_what_was_really_sent(tmp_path: Path) -> None:
    permit = granted(tmp_path, limits(99, each=5))
    settle(tmp_path, UTC, reach_id=permit.row.id, verdict="homes", requests=2, clock=at(NOW))
    assert [(row.verdict, row.requests) for row in read_ledger(tmp_path)[0]] == [("initiated", 5), ("homes", 2)]
    assert used(tmp_path, limits(99, each=5)) == 5
