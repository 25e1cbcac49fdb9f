"""A child whose parent was killed ends at its next unit of work, whatever it does, and holds nothing; one whose parent
only stands still goes on with it."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

import psutil
import pytest

from aria_dream.adapters.disk.places import find_places
from aria_dream.adapters.index.live_policy import read_live_policy
from tests.e2e.test_consolidate import NOTES as CONSOLIDATED
from tests.e2e.test_run import is_alive
from tests.reviewed import COMPOST, NOTES, SLACK, id_of, night, run, state_folder, states, tick, write
from tests.watched import GENEROUS_S

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

REPOSITORY = Path(__file__).resolve().parents[2]
pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="needs signals, not Windows")
TIDES = ("Tides.md", "Slack water.md")
FED = ("Sourdough starter.md", "Tides.md")
PAIRS = (COMPOST, SLACK, TIDES, FED)

PARENT = """
import sys, time
from pathlib import Path
from aria_dream.cli.run import launch_with
from aria_dream.adapters.child.episode_process import Order
from aria_dream.adapters.child import episode_process
from aria_dream.adapters.disk.places import find_places
from aria_dream.policy.triggers import Stage

episode_process.lower_priority = lambda _pid: None
root, state, errand, stage, moment = sys.argv[1:]
order = Order(root=Path(root), stage=Stage(stage), kind="idle dream", quiet_s=0.0, host="", state_folder=Path(state),
              errand=errand)
episode = launch_with(find_places())(order, lambda: None)
print(episode.pid, flush=True)
given = stood = 0
while (end := episode.ended()) is None:
    asked = episode.asked
    if asked:
        given += asked == "write" if moment == "write" else 1
        if moment != "write" and given == int(moment) + 1:
            break
        episode.grant_permit()
        if moment == "write" and given:
            break
    time.sleep(0.002)
print("now" if end is None else "over", flush=True)
if sys.stdin.readline():  # told to go on
    while (end := episode.ended()) is None:
        episode.grant_permit()
        time.sleep(0.002)
    print(end.result, flush=True)
"""
"""The daemon's part: it gives leave up to a moment, and then no more."""


class Parent:
    """Stands for the daemon; `child` is at its moment."""

    def __init__(self, root: Path, errand: str, stage: str, moment: str) -> None:
        state = read_live_policy(root, find_places()).state_folder(find_places())
        state.mkdir(parents=True, exist_ok=True)
        self.process = subprocess.Popen(
            [sys.executable, "-c", PARENT, str(root), str(state), errand, stage, moment], stdin=subprocess.PIPE,
            stdout=subprocess.PIPE, text=True, env={**os.environ, "PYTHONPATH": str(REPOSITORY)},
        )  # fmt: skip
        self.child = int(self.read())

    def read(self) -> str:
        assert self.process.stdout is not None
        return self.process.stdout.readline()

    def is_lost(self) -> None:
        self.process.kill()
        self.process.communicate()
        until(lambda: not is_alive(self.child))


def until(done: Callable[[], object]) -> None:
    give_up_s = time.monotonic() + GENEROUS_S
    while not done():
        assert time.monotonic() < give_up_s
        time.sleep(0.01)  # between two looks at another process; nothing rests on its length


def episodes_of(pid: int) -> list[psutil.Process]:
    """The children of the daemon that do its work; it has others, that ask the system things and are gone soon."""
    found = []
    for child in psutil.Process(pid).children():
        with suppress(psutil.Error):
            if "aria_dream.usecases.episode" in child.cmdline():
                found.append(child)
    return found


@pytest.fixture
def ticked(tmp_path: Path) -> Iterator[Path]:
    """A vault with four ticked links; whatever a failed test leaves is ended."""
    vault = tmp_path / "vault"
    note = night(vault, PAIRS)
    for pair in PAIRS:
        tick(note, id_of(pair))
    yield vault
    for process in psutil.process_iter(["cmdline"]):
        if str(vault) in (process.info["cmdline"] or []):
            process.kill()


@pytest.mark.parametrize("moment", ["2", "write"])
def test_ticks(ticked: Path, tmp_path: Path, moment: str) -> None:
    parent = Parent(ticked, "ticks", "dream", moment)
    assert parent.read() == "now\n"
    parent.is_lost()
    done = json.loads(run("apply", ticked, "--json").stdout)  # no lock is held, and the rest is done
    assert done["waiting"] == []
    known = states(tmp_path / "home")
    assert [known[id_of(pair)].state for pair in PAIRS] == ["applied"] * 4
    assert [known[id_of(pair)].applies for pair in PAIRS] == [1] * 4
    assert not list(ticked.rglob(".aria-*"))


def test_a_parent_that_stood_still_is_no_lost_one(ticked: Path, tmp_path: Path) -> None:
    parent = Parent(ticked, "ticks", "dream", "write")
    assert parent.read() == "now\n"
    parent.process.send_signal(signal.SIGSTOP)
    history = state_folder(tmp_path / "home") / "history"
    until(lambda: history.exists() and list(history.iterdir()))  # the write was allowed, and is made
    until(lambda: psutil.Process(parent.child).status() == psutil.STATUS_SLEEPING)
    parent.process.send_signal(signal.SIGCONT)
    out, _ = parent.process.communicate("go on\n", timeout=GENEROUS_S)
    assert "'applied': 4" in out


@pytest.mark.parametrize("stage", ["dream", "consolidate", "synthesize"])
def test_other_work(tmp_path: Path, stage: str) -> None:
    vault = tmp_path / "vault"
    for name, text in {**NOTES, **CONSOLIDATED}.items():
        write(vault, name, text)
    shutil.copytree(REPOSITORY / "examples" / "memory", vault / "memory")
    before = {path: path.read_bytes() for path in vault.rglob("*.md")}
    parent = Parent(vault, "dream", stage, "write")
    assert parent.read() == "now\n"
    parent.is_lost()
    if stage != "synthesize":  # which writes into notes of the memory
        assert {path: path.read_bytes() for path in before} == before
    words = {"dream": ["--start", "Compost"], "consolidate": [], "synthesize": []}[stage]
    run(stage, vault, *words)  # no lock is held
    assert not list(vault.rglob(".aria-*"))


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM])
def test_the_daemon_itself(ticked: Path, number: signal.Signals) -> None:
    """As found: `aria-dream run` is ended while its child carries out ticks."""
    write(ticked, "dreaming.md", "---\naria-dream: policy\n---\n- tick_quiet_s: 0\n- poll_s: 5\n- dreaming: off\n")
    daemon = subprocess.Popen(
        [sys.executable, "-m", "aria_dream", "run", str(ticked)], stderr=subprocess.DEVNULL,
        env={**os.environ, "PYTHONPATH": str(REPOSITORY)},
    )  # fmt: skip
    found: list[psutil.Process] = []
    while not found:
        until(lambda: psutil.Process(daemon.pid).children())
        found = episodes_of(daemon.pid)
    (child,) = found
    text = (ticked / "Compost.md").read_bytes()
    until(lambda: (ticked / "Compost.md").read_bytes() != text or not child.is_running())
    daemon.send_signal(number)
    assert daemon.wait(GENEROUS_S) in (0, -signal.SIGKILL)
    until(lambda: not is_alive(child.pid))
    run("apply", ticked)
