"""A child at work, with real processes: it asks, is permitted or not, and is gone when told, with all it started."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import TYPE_CHECKING

import psutil
import pytest

from aria_dream.adapters.child import episode_process
from aria_dream.adapters.child.episode_process import EpisodeEnd, EpisodeProcess
from aria_dream.adapters.child.permit import ABANDONED
from tests.watched import GENEROUS_S

if TYPE_CHECKING:
    from collections.abc import Callable

REPOSITORY = Path(__file__).resolve().parents[4]
PERMIT = """
import os, sys, time
from aria_dream.adapters.child.permit import Permit, WRITE, protocol_streams
out, answers = protocol_streams()
permit = Permit(out, answers, unit_s=0)
"""


def start(code: str, wake: Callable[[], None] = lambda: None) -> EpisodeProcess:
    environ = {**os.environ, "PYTHONPATH": str(REPOSITORY)}
    return EpisodeProcess([sys.executable, "-c", code], wake=wake, environ=environ)


def until(done: Callable[[], object]) -> None:
    give_up_s = time.monotonic() + GENEROUS_S
    while not done():
        assert time.monotonic() < give_up_s
        time.sleep(0.01)  # between two looks at another process; nothing rests on its length


def ended(process: EpisodeProcess) -> EpisodeEnd:
    until(lambda: process.ended() is not None)
    found = process.ended()
    assert found is not None
    return found


def test_it_works_only_with_leave_and_reports(tmp_path: Path) -> None:
    units = tmp_path / "units"
    process = start(f"{PERMIT}\nfor unit in 'abc':\n    permit(unit)\n    open({str(units)!r}, 'a').write(unit)\n"
                    "print('noise')\npermit.say({'result': {'pairs': 2}})")  # fmt: skip
    for number, unit in enumerate("abc"):
        until(lambda unit=unit: process.asked == unit)  # type: ignore[misc] # bound now
        assert (units.read_text() if units.exists() else "") == "abc"[:number]
        process.grant_permit()
        assert process.asked in ("", "bc"[number : number + 1])
    end = ended(process)
    assert (end.result, end.error, end.exit_code) == ({"pairs": 2}, "", 0)


def test_it_wakes_whoever_waits() -> None:
    woken = threading.Event()
    process = start(f"{PERMIT}\npermit('x')", woken.set)
    assert woken.wait(GENEROUS_S)
    until(lambda: process.asked)
    woken.clear()
    process.grant_permit()
    assert woken.wait(GENEROUS_S)
    assert ended(process).exit_code == 0


@pytest.mark.parametrize("stubborn", [False, True])
def test_it_is_gone_with_all_it_started(stubborn: bool) -> None:
    ignore = "signal.signal(signal.SIGTERM, signal.SIG_IGN); " if stubborn else ""
    sleeper = f"import signal, time; {ignore}print(1, flush=True); time.sleep(10000)"
    process = start(
        f"import signal, subprocess, sys\n{ignore}\nchild = subprocess.Popen([sys.executable, '-c', {sleeper!r}], "
        "stdout=subprocess.PIPE)\nchild.stdout.readline()\nprint('{\"ask\": \"%d\"}' % child.pid, flush=True)\n"
        "import time; time.sleep(10000)"
    )
    until(lambda: process.asked)
    grandchild = psutil.Process(int(process.asked))
    end = process.end()
    assert end.result is None
    assert end.exit_code == (-9 if stubborn else -15)
    until(lambda: not grandchild.is_running() or grandchild.status() == psutil.STATUS_ZOMBIE)
    assert not psutil.pid_exists(process.pid)


def test_what_is_being_written_is_written_to_the_end(tmp_path: Path) -> None:
    done = tmp_path / "done"
    process = start(f"{PERMIT}\npermit(WRITE)\npermit.say({{'ask': 'busy'}})\ntime.sleep(1)\nopen({str(done)!r}, 'w')\n"
                    "permit.say({'result': {}})")  # fmt: skip
    until(lambda: process.asked == "write")
    process.grant_permit()
    until(lambda: process.asked == "busy")
    assert process.end().result == {}
    assert done.exists()


def test_a_child_without_its_parent_ends_itself() -> None:
    """Its stdin ends when the parent dies, however it dies."""
    code = f"{PERMIT}\npermit('start')\npermit.say({{'ask': 'nothing'}})\ntime.sleep(10000)"
    child = subprocess.Popen([sys.executable, "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                             env={**os.environ, "PYTHONPATH": str(REPOSITORY)})  # fmt: skip
    assert child.stdout is not None
    assert child.stdin is not None
    assert b"start" in child.stdout.readline()
    child.stdin.write(b"\n")
    child.stdin.flush()
    assert b"nothing" in child.stdout.readline()
    child.stdin.close()
    assert child.wait(GENEROUS_S) == ABANDONED
    child.stdout.close()


@pytest.mark.parametrize(
    ("code", "error", "exit_code"),
    [
        ("raise ValueError('the words of a note')", "ValueError", 1),
        ("import sys; sys.exit(7)", "it ended with code 7 and said nothing", 7),
        ("import os, signal; os.kill(os.getpid(), signal.SIGKILL)", "it was ended by signal 9", -9),
        ("print('{\"failed\": {\"error\": \"no model\"}}'); raise SystemExit(9)", "no model", 9),
        ("print('[1]'); print('{'); print('{\"result\": 3}')", "it ended with code 0 and said nothing", 0),
    ],
)
def test_how_it_failed_is_told_without_a_notes_words(code: str, error: str, exit_code: int) -> None:
    end = ended(start(code))
    assert (end.result, end.error, end.exit_code) == (None, error, exit_code)


def test_it_cannot_be_started() -> None:
    with pytest.raises(OSError, match="no-such-program"):
        EpisodeProcess(["/no-such-program"], wake=lambda: None)


def test_nothing_is_left_open() -> None:
    process = psutil.Process()
    ended(start("pass"))
    before = (process.num_fds() if hasattr(process, "num_fds") else 0, threading.active_count())
    for _ in range(5):
        ended(start("pass"))
        start("import time; time.sleep(10000)").end()
    after = (process.num_fds() if hasattr(process, "num_fds") else 0, threading.active_count())
    assert after == before


@pytest.mark.skipif(sys.platform == "win32", reason="needs nice values, not Windows")
def test_it_has_the_lowest_priority() -> None:
    process = start("import time; time.sleep(10000)")
    assert psutil.Process(process.pid).nice() == 19
    process.end()
    episode_process.lower_priority(process.pid)  # gone: nothing to do
