"""A child under the keeper: fed to the end, drained, and ended with everything it started, however we end."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import psutil
import pytest

from aria_dream.adapters.codex import codex_process
from aria_dream.adapters.codex.codex_process import CodexProcess
from tests.reaching import wait_until

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="needs another system than Windows")

STUBBORN = """
import signal, subprocess, sys, time
signal.signal(signal.SIGTERM, signal.SIG_IGN)
child = "import os, signal, time\\nsignal.signal(15, 1)\\n" + sys.argv[1]
child += "\\nprint(os.getpid(), flush=True)\\ntime.sleep(600)"
subprocess.Popen([sys.executable, "-c", child])
time.sleep(600)
"""


class Running:
    """A script as the child, and what it said."""

    def __init__(self, code: str, folder: Path, *words: str, prompt: str = "") -> None:
        self.lines: list[str] = []
        self.complaints: list[str] = []
        self.process = CodexProcess(
            [sys.executable, "-c", code, *words], prompt=prompt, environ={"PATH": os.environ["PATH"]}, folder=folder,
            on_line=self.lines.append, on_complaint=self.complaints.append)  # fmt: skip


def test_it_is_fed_to_the_end_and_both_streams_are_drained(tmp_path: Path) -> None:
    code = "import sys; text = sys.stdin.read(); print(len(text)); sys.stderr.write('x' * 300_000 + '\\n'); sys.exit(7)"
    running = Running(code, tmp_path, prompt="ä" * 200_000)
    assert running.process.wait(30) == 7
    assert running.process.close()
    assert running.lines == ["200000"]
    assert running.complaints == ["x" * 300_000]


def test_one_that_reads_nothing_blocks_nobody(tmp_path: Path) -> None:
    running = Running("print('done')", tmp_path, prompt="x" * 1_000_000)
    assert running.process.wait(30) == 0
    assert running.process.close()
    assert running.lines == ["done"]


def test_a_line_without_end_is_cut(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(codex_process, "LONGEST_LINE_BYTES", 1000)
    running = Running("print('x' * 500_000); print('after'); print('y' * 999, end='')", tmp_path)
    assert running.process.wait(30) == 0
    running.process.close()
    assert running.lines == ["x" * 1000, "after", "y" * 999]


def test_what_cannot_be_started_says_so(tmp_path: Path) -> None:
    lines: list[str] = []
    process = CodexProcess([tmp_path / "none"], prompt="", environ={}, folder=tmp_path, on_line=lines.append,
                           on_complaint=lines.append)  # fmt: skip
    assert process.wait(30) == 127
    process.close()
    assert "cannot be started" in "".join(lines)


@pytest.mark.parametrize("escape", ["", "os.setsid()", "os.setpgid(0, 0)"])
def test_a_helper_that_heeds_no_signal_and_holds_the_pipe_is_ended_too(tmp_path: Path, escape: str) -> None:
    if escape and sys.platform != "linux":
        pytest.skip("needs Linux: elsewhere only the group is ended")
    running = Running(STUBBORN, tmp_path, escape)
    wait_until(lambda: running.lines, what="the helper")
    helper = psutil.Process(int(running.lines[0]))
    assert running.process.close()  # the pipe has ended: nobody holds it any more
    assert not helper.is_running() or helper.status() == psutil.STATUS_ZOMBIE


def test_the_group_alone_is_ended_where_orphans_cannot_be_adopted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As on macOS, which lets nobody adopt them."""
    keeper = tmp_path / "keeper.py"
    text = codex_process._KEEPER.read_text(encoding="utf-8").replace('sys.platform != "linux"', "True")
    keeper.write_text(text, encoding="utf-8")
    monkeypatch.setattr(codex_process, "_KEEPER", keeper)
    running = Running(STUBBORN.replace("\ntime.sleep(600)\n", "\ntime.sleep(1)\n"), tmp_path, "")
    assert running.process.wait(60) == 0  # it has ended by itself, and left its helper behind
    assert running.process.close()
    wait_until(lambda: not psutil.pid_exists(int(running.lines[0])), what="the helper's end")


def test_what_it_leaves_behind_when_it_ends_by_itself_is_ended(tmp_path: Path) -> None:
    code = STUBBORN.replace("\ntime.sleep(600)\n", "\ntime.sleep(1)\n")
    running = Running(code, tmp_path, "os.setsid()" if sys.platform == "linux" else "")
    assert running.process.wait(60) == 0
    assert running.process.close()
    assert not psutil.pid_exists(int(running.lines[0]))


def test_it_ends_when_we_are_killed(tmp_path: Path) -> None:
    code = f"""
import sys
sys.path.insert(0, {str(Path(__file__).resolve().parents[4])!r})
from pathlib import Path
from tests.unit.adapters.codex.test_codex_process import STUBBORN, Running
import time
running = Running(STUBBORN, Path({str(tmp_path)!r}), "")
while not running.lines:
    time.sleep(0.02)
print(running.lines[0], flush=True)
time.sleep(600)
"""
    with subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True) as asking:
        assert asking.stdout is not None
        helper = int(asking.stdout.readline())
        assert psutil.pid_exists(helper)
        asking.kill()
    wait_until(lambda: not psutil.pid_exists(helper), what="the helper's end")
