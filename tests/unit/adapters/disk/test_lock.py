"""The lock: one holder at a time, whatever the file says; a dead holder never blocks."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
from pathlib import Path

import psutil
import pytest

from aria_dream.adapters.disk.lock import Holder, VaultLock, daemon_lock, read_holder, writer_lock
from aria_dream.errors import BusyError

REPOSITORY = Path(__file__).parents[4]

HOLD = """
import sys
from pathlib import Path
from aria_dream.adapters.disk.lock import VaultLock
with VaultLock(Path(sys.argv[1]), "a long dream", system_locks=sys.argv[2] == "system").held():
    print("held", flush=True)
    sys.stdin.readline()
"""

COUNT = """
import sys
from pathlib import Path
from aria_dream.adapters.disk.lock import VaultLock
path = Path(sys.argv[1])
lock = VaultLock(path, "counting", system_locks=sys.argv[2] == "system")
counter = path.with_name("counter")
sys.stdin.readline()
for _ in range(100):
    with lock.held(60):
        number = int(counter.read_text())
        counter.write_text(str(number + 1))
"""

kinds = pytest.mark.parametrize("kind", ["system", "file"])


def start(script: str, path: Path, kind: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-c", script, str(path), kind],
        env={**os.environ, "PYTHONPATH": str(REPOSITORY)},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )


def lock_of(path: Path, kind: str, purpose: str = "a write") -> VaultLock:
    return VaultLock(path, purpose, system_locks=kind == "system", sleep=lambda _pause_s: None)


@kinds
def test_another_process_that_holds_it_is_named(tmp_path: Path, kind: str) -> None:
    path = tmp_path / "state" / "lock"
    with start(HOLD, path, kind) as holder:
        assert holder.stdout is not None
        assert holder.stdout.readline() == "held\n"
        with pytest.raises(BusyError, match=f"a long dream .process {holder.pid} on"), lock_of(path, kind).held(0):
            pass
        with pytest.raises(BusyError), lock_of(path, kind).held(1):
            pass
        holder.communicate("go\n")
    with lock_of(path, kind).held(0):
        pass


@kinds
def test_a_killed_holder_does_not_block(tmp_path: Path, kind: str) -> None:
    path = tmp_path / "lock"
    with start(HOLD, path, kind) as holder:
        assert holder.stdout is not None
        assert holder.stdout.readline() == "held\n"
        holder.send_signal(signal.SIGKILL)
        holder.wait()
    with lock_of(path, kind).held(1):
        found = read_holder(path if kind == "system" else path.with_name("lock.owner"))
        assert found is not None
        assert found.pid == os.getpid()


@kinds
def test_two_processes_never_hold_it_together(tmp_path: Path, kind: str) -> None:
    (tmp_path / "counter").write_text("0")
    with start(COUNT, tmp_path / "lock", kind) as one, start(COUNT, tmp_path / "lock", kind) as two:
        for process in (one, two):
            assert process.stdin is not None
            process.stdin.write("go\n")
            process.stdin.flush()
        for process in (one, two):
            process.communicate(timeout=120)
            assert process.returncode == 0
    assert (tmp_path / "counter").read_text() == "200"


def _owner(path: Path, **changed: object) -> None:
    holder = Holder.of_this_process("something")
    said = {name: getattr(holder, name) for name in Holder.__slots__} | changed
    path.with_name("lock.owner").write_text(json.dumps(said))


def test_a_reused_process_number_does_not_block(tmp_path: Path) -> None:
    """The file names this very process number, but one that started at another time."""
    path = tmp_path / "lock"
    _owner(path, started_at=psutil.Process().create_time() - 1000)
    with lock_of(path, "file").held(1):
        pass


def test_the_same_process_and_other_hosts_block_in_doubt(tmp_path: Path) -> None:
    path = tmp_path / "lock"
    _owner(path)
    with pytest.raises(BusyError), lock_of(path, "file").held(0):
        pass
    _owner(path, host="another-machine", pid=1)
    with pytest.raises(BusyError, match="another-machine"), lock_of(path, "file").held(0):
        pass


def test_an_empty_holders_file_blocks_only_while_it_may_be_being_written(tmp_path: Path) -> None:
    path = tmp_path / "lock"
    owner = tmp_path / "lock.owner"
    owner.touch()
    with pytest.raises(BusyError), lock_of(path, "file").held(0):
        pass
    os.utime(owner, (1, 1))
    with lock_of(path, "file").held(1):
        pass


@pytest.mark.parametrize("text", [b"", b"{", b"[]", b'{"pid": 1}', b"\xff\0", b"null"])
def test_a_system_lock_heeds_no_text(tmp_path: Path, text: bytes) -> None:
    (tmp_path / "lock").write_bytes(text)
    assert read_holder(tmp_path / "lock") is None
    with writer_lock(tmp_path).held(0):
        found = read_holder(tmp_path / "lock")
        assert found is not None
        assert found.purpose == "a write"


def test_whoever_has_it_may_take_it_again_and_a_thread_may_not(tmp_path: Path) -> None:
    lock = writer_lock(tmp_path)
    outcomes: list[str] = []

    def other() -> None:
        try:
            with lock.held(0):
                outcomes.append("held")
        except BusyError:
            outcomes.append("busy")

    with lock.held(), lock.held():
        thread = threading.Thread(target=other)
        thread.start()
        thread.join()
    with lock.held(0), pytest.raises(BusyError), writer_lock(tmp_path, sleep=lambda _pause_s: None).held(0.1):
        pass
    assert outcomes == ["busy"]
    with writer_lock(tmp_path).held(0):
        pass


def test_the_daemons_lock_and_the_writers_are_two(tmp_path: Path) -> None:
    with daemon_lock(tmp_path).held(0), writer_lock(tmp_path).held(0):
        pass


def test_an_error_inside_lets_go(tmp_path: Path) -> None:
    with pytest.raises(ZeroDivisionError), writer_lock(tmp_path).held():
        raise ZeroDivisionError
    with writer_lock(tmp_path).held(0):
        pass
