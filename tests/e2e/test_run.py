"""`aria-dream run` as it lives on a machine: real processes, a real observer, a real second process that edits."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import psutil
import pytest

from aria_dream.adapters.index.index import read_vault
from aria_dream.adapters.state.record_store import RecordStore
from aria_dream.consolidate.record import End
from aria_dream.notes.dream_log import parse_blocks
from aria_dream.schedule.run_record import RunEnd, parse_run_log
from tests.e2e.test_consolidate import NOTES as CONSOLIDATED
from tests.e2e.test_dream import NOTES
from tests.watched import GENEROUS_S

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

REPOSITORY = Path(__file__).resolve().parents[2]
EDITOR = Path(__file__).with_name("editor.py")
pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="needs signals, not Windows")

POLICY = """\
---
aria-dream: policy
aria-dream-id: abcdefgh23456789
---
- poll_s: 5
- idle_threshold_s: 60
- vault_quiet_s: 0
- cooldown_min: 0
- daily_dream_cap: 100
- max_cpu_percent: 100
- require_ac_power: false
- quiet_hours: 00:00-23:59
"""
"""On a machine without an input sensor it is night all day, so a vault that was quiet for a minute is dreamt."""

TRIGGERS = "---\naria-dream: triggers\n---\n- on_nightly: none\n"


class Run:
    """A vault, and the real daemon in a process of its own."""

    def __init__(
        self, folder: Path, policy: str = POLICY, triggers: str = TRIGGERS, notes: Mapping[str, str] = NOTES
    ) -> None:
        self.root, self.state, self.folder = folder / "vault", folder / "state", folder
        self.root.mkdir()
        (self.root / ".obsidian").mkdir()
        for name, text in {**notes, "dreaming.md": policy, "triggers.md": triggers}.items():
            (self.root / name).parent.mkdir(exist_ok=True)
            (self.root / name).write_text(text, encoding="utf-8", newline="")
        self.age()
        self.environ = {
            **{name: value for name, value in os.environ.items() if name not in ("DISPLAY", "WAYLAND_DISPLAY")},
            "PYTHONPATH": str(REPOSITORY),
            "PYTHONIOENCODING": "utf-8",
            "ARIA_DREAM_STATE": str(self.state),
            "ARIA_DREAM_CACHE": str(folder / "cache"),
            "DBUS_SESSION_BUS_ADDRESS": "",
            "XDG_RUNTIME_DIR": str(folder),
            "PATH": "/nowhere",
        }
        self.process: subprocess.Popen[str] | None = None

    def age(self) -> None:
        """Nobody has touched anything for two hours."""
        for path in self.root.rglob("*"):
            os.utime(path, (time.time() - 7200,) * 2)

    def start(self, *words: str, child: str = "", polite: bool = False) -> subprocess.Popen[str]:
        """Starts it; with `child`, a Python text, in place of the real child.

        Unless it is `polite` its children have the priority of the tests: on a busy machine they would starve.
        """
        (self.folder / "child.py").write_text(child, encoding="utf-8")
        self.environ |= {"CHILD": str(self.folder / "child.py"), "UNITS": str(self.units)}
        before = ("" if polite else EAGER) + (SLOW if child else "")
        call = [sys.executable, "-c", f"{before}\nfrom aria_dream.cli import main\nmain()"]
        self.process = subprocess.Popen(
            [*call, "run", str(self.root), *words], env=self.environ, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
            text=True, encoding="utf-8",
        )  # fmt: skip
        return self.process

    def command(self, *words: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, "-m", "aria_dream", *words, str(self.root)], env=self.environ, capture_output=True,
            text=True, encoding="utf-8", check=False, timeout=GENEROUS_S,
        )  # fmt: skip

    def end(self, number: signal.Signals = signal.SIGTERM) -> tuple[int, str]:
        """Exit code and stderr."""
        assert self.process is not None
        if self.process.poll() is None:
            self.process.send_signal(number)
        _, stderr = self.process.communicate(timeout=GENEROUS_S)
        code, self.process = self.process.returncode, None
        return code, stderr

    @property
    def vault_state(self) -> Path:
        return self.state / "abcdefgh23456789"

    def status(self) -> dict[str, Any]:
        try:
            found = json.loads((self.vault_state / "status.json").read_text("utf-8"))
        except FileNotFoundError:
            return {"doing": ""}
        assert isinstance(found, dict)
        return found

    @property
    def units(self) -> Path:
        return self.folder / "units"

    def worked(self) -> list[str]:
        """What the child of `ENDLESS` wrote: its process and its own child's, then a line a unit."""
        return self.units.read_text("utf-8").splitlines() if self.units.exists() else []

    def children_are_gone(self) -> bool:
        """Whether every process that any child of `ENDLESS` named has ended."""
        pids = [int(pid) for line in self.worked() if line != "unit" for pid in line.split()]
        return bool(pids) and not any(is_alive(pid) for pid in pids)

    def ends(self) -> list[RunEnd | None]:
        path = self.vault_state / "runs.jsonl"
        return [run.end for run in parse_run_log(path.read_text("utf-8")).runs] if path.exists() else []

    def until(self, done: Callable[[], object]) -> None:
        give_up_s = time.monotonic() + GENEROUS_S
        while not done():
            assert time.monotonic() < give_up_s, self.told()
            assert self.process is None or self.process.poll() is None, (self.told(), self.process.communicate())
            time.sleep(0.02)  # between two looks at another process; nothing rests on its length

    def told(self) -> str:
        log = self.vault_state / "daemon.log"
        return (log.read_text("utf-8") if log.exists() else "no log") + json.dumps(self.status())

    def blocks(self) -> int:
        return sum(len(parse_blocks(path.read_text("utf-8"))[0]) for path in self.root.rglob("* dream.md"))


def is_alive(pid: int) -> bool:
    try:
        return psutil.Process(pid).status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


@pytest.fixture
def run(tmp_path: Path) -> Iterator[Run]:
    found = Run(tmp_path)
    yield found
    if found.process is not None:
        found.process.kill()
        found.process.communicate()


EAGER = """
import aria_dream.adapters.child.episode_process
aria_dream.adapters.child.episode_process.lower_priority = lambda pid: None
"""

SLOW = """
import os, sys
import aria_dream.cli.run as run
from aria_dream.adapters.child.episode_process import EpisodeProcess
run.launch_with = lambda places: lambda order, wake: EpisodeProcess([sys.executable, os.environ["CHILD"]], wake=wake)
"""
"""The daemon with another child: the script that the variable CHILD names."""

ENDLESS = """
import os, subprocess, sys, time
grandchild = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(10000)"])
open(os.environ["UNITS"], "a").write(f"{os.getpid()} {grandchild.pid}\\n")
while True:
    print('{"ask": "unit"}', flush=True)
    if not sys.stdin.buffer.read(1):
        break
    open(os.environ["UNITS"], "a").write("unit\\n")
grandchild.kill()  # nobody ended us: the daemon was killed, and a test leaves no process behind
"""
"""A child that works for ever, a unit whenever it is given leave, and has started a process of its own."""


def test_once_dreams_what_is_due_and_says_why_not(run: Run) -> None:
    for number in range(1, 30):  # a dream may be an empty one
        process = run.start("--once")
        out, err = process.communicate(timeout=GENEROUS_S)
        assert process.returncode == 0, err
        assert out.startswith("It was time: ")
        assert run.ends() == [RunEnd.DONE] * number
        if run.blocks():
            break
    assert run.blocks() == 1
    text = next(run.root.rglob("* dream.md")).read_text("utf-8")
    assert "— idle dream" in text
    assert "\nhost: " in text
    (run.root / "Tides.md").write_text("just typed\n", encoding="utf-8")
    process = run.start("--once")
    out, err = process.communicate(timeout=GENEROUS_S)
    assert (process.returncode, run.blocks()) == (0, 1), err
    assert out.startswith("Waiting: a note was edited ")  # just now, or some seconds ago on a busy machine
    assert {path: (run.root / path).read_text("utf-8") for path in NOTES} == NOTES


@pytest.mark.parametrize("number", ["SIGINT", "SIGHUP"])
def test_every_request_to_end_is_heard(run: Run, number: str) -> None:
    run.start()
    run.until(lambda: run.status()["doing"])
    code, err = run.end(signal.Signals[number])
    assert code == 0, err
    assert "Traceback" not in err
    assert run.status()["doing"] == "stopped"


def test_it_dreams_by_itself_says_so_and_ends_cleanly(run: Run) -> None:
    run.start()
    run.until(run.blocks)
    run.until(lambda: run.status().get("last_dream_at"))
    status = run.command("status")
    assert status.returncode == 0, status.stderr
    assert "looked after by aria-dream run (process" in status.stdout
    assert "Last dream: " in status.stdout
    found = json.loads(run.command("status", "--json").stdout)
    assert found["running"] is True
    assert found["status"]["pid"] == found["daemon"]["pid"]
    code, err = run.end()
    assert code == 0, err
    assert "Traceback" not in err
    assert run.status()["doing"] == "stopped"
    assert json.loads(run.command("status", "--json").stdout)["running"] is False


def test_a_second_one_says_who_is_there(run: Run) -> None:
    first = run.start()
    run.until(lambda: run.status()["doing"])
    done = run.command("run")
    assert done.returncode == 5
    assert f"aria-dream run (process {first.pid} on " in done.stderr
    run.process = first
    os.kill(first.pid, signal.SIGKILL)
    first.communicate()
    run.start()  # a lock that nobody holds any more blocks nobody
    run.until(lambda: run.status().get("pid") == (run.process.pid if run.process else 0))
    assert run.end()[0] == 0


@pytest.mark.parametrize("style", ["obsidian_rename", "in_place", "vim"])
def test_a_second_process_that_edits_ends_the_dream(run: Run, style: str) -> None:
    """An edit like Obsidian's while a child works: the child and what it started are gone, the edit stays."""
    run.start(child=ENDLESS)
    run.until(lambda: len(run.worked()) > 5)
    subprocess.run([sys.executable, str(EDITOR), style, str(run.root), "Compost.md", "typed\n"], check=True)
    run.until(lambda: run.ends()[:1] == [RunEnd.INTERRUPTED])
    run.until(run.children_are_gone)
    assert "a note was edited" in (run.vault_state / "runs.jsonl").read_text("utf-8")
    assert run.end()[0] == 0
    assert (run.root / "Compost.md").read_text("utf-8") == "typed\n"


def test_the_child_waits_for_everybody_else(run: Run) -> None:
    run.start(child=ENDLESS, polite=True)
    run.until(lambda: len(run.worked()) > 5)
    child = psutil.Process(int(run.worked()[0].split()[0]))
    assert child.nice() == 19
    if sys.platform == "linux":
        assert child.ionice().ioclass == psutil.IOPRIO_CLASS_IDLE
    code, err = run.end()
    assert code == 0, err
    run.until(run.children_are_gone)
    assert run.ends() == [RunEnd.INTERRUPTED]


def test_a_child_outlives_no_daemon(run: Run) -> None:
    """kill -9 of the daemon in the middle of a dream: the child goes too, the run is known, the next one dreams."""
    run.start(child=ENDLESS)
    run.until(lambda: len(run.worked()) > 5)
    child = int(run.worked()[0].split()[0])
    run.end(signal.SIGKILL)
    run.until(lambda: not is_alive(child))
    run.start()
    run.until(run.blocks)
    assert run.ends()[0] is RunEnd.BROKEN_OFF
    assert run.end()[0] == 0


def test_killed_at_any_moment_it_loses_nobodys_words(run: Run) -> None:
    """kill -9 of the daemon while its real child dreams, again and again, a little later each time."""
    for attempt in range(6):
        run.age()
        process = run.start()
        run.until(lambda attempt=attempt: run.ends()[attempt:])  # type: ignore[misc] # bound now
        started_s = time.monotonic()
        run.until(lambda started_s=started_s, attempt=attempt: time.monotonic() - started_s > 0.35 * attempt)  # type: ignore[misc] # bound now
        assert process.poll() is None
        run.end(signal.SIGKILL)
        assert {path: (run.root / path).read_text("utf-8") for path in NOTES} == NOTES
    run.age()
    before = len(run.ends())
    run.start()
    # a dream that an earlier attempt finished may have left nothing to show: an empty one ends well too
    run.until(lambda: RunEnd.DONE in run.ends()[before:])
    assert run.end()[0] == 0
    assert run.blocks() > 0
    fresh = read_vault(run.root, None)
    assert set(NOTES) <= set(fresh.files)
    assert not list(run.root.rglob(".aria-*"))
    text = "".join(path.read_text("utf-8") for path in run.root.rglob("* dream.md"))
    (*_, problems) = parse_blocks(text)
    assert problems == ()


def test_folders_that_were_renamed_and_a_vault_that_goes_away_end_nothing(run: Run) -> None:
    """A folder moved out whose name another one takes tears the watching library's tables."""
    for name in ("Old", "New"):
        (run.root / name).mkdir()
        (run.root / name / "note.md").write_text(name, encoding="utf-8")
    run.start()
    run.until(lambda: run.status()["doing"])
    (run.root / "Old").rename(run.folder / "Old")
    time.sleep(1)  # else the two moves are told as one
    (run.root / "New").rename(run.root / "Old")
    time.sleep(1)  # until the library has heard of it
    run.root.rename(run.folder / "away")
    run.until(lambda: "nothing is written until it is back" in run.told())
    (run.folder / "away").rename(run.root)
    run.until(lambda: "the vault is back" in run.told())
    code, err = run.end()
    assert code == 0, err
    assert "Traceback" not in err


def test_saving_the_policy_changes_what_it_does(run: Run) -> None:
    (run.root / "dreaming.md").write_text(f"{POLICY}- dreaming: maybe\n", encoding="utf-8")
    run.age()
    run.start()
    run.until(lambda: run.status().get("holds") == ["policy"])
    assert "dreaming.md:13" in run.command("status").stdout
    assert run.blocks() == 0
    (run.root / "dreaming.md").write_text(POLICY, encoding="utf-8")
    run.age()
    run.until(lambda: run.status().get("problems") == [])
    assert run.end()[0] == 0
    log = (run.vault_state / "daemon.log").read_text("utf-8")
    assert "no longer so: dreaming.md:13" in log


def test_the_log_holds_no_words_of_a_note(run: Run) -> None:
    run.start()
    run.until(run.blocks)
    run.end()
    log = (run.vault_state / "daemon.log").read_text("utf-8")
    words = {word for text in NOTES.values() for word in re.findall(r"\w{8,}", text)}
    assert len(words) > 10
    assert not [word for word in words if word in log]
    assert not [name for name in NOTES if name.removesuffix(".md") in log]


def test_status_without_a_daemon(run: Run) -> None:
    done = run.command("status")
    assert done.returncode == 0, done.stderr
    assert "no daemon looks after this vault" in done.stdout
    assert "No dream was dreamt on this machine yet." in done.stdout
    assert list(run.state.rglob("*.jsonl")) == []


COPIES = {path: text for path, text in CONSOLIDATED.items() if path != "dreaming.md"}
NIGHTLY = "---\naria-dream: triggers\n---\n- on_idle: none\n"


@pytest.fixture
def nightly(tmp_path: Path) -> Iterator[Run]:
    policy = f"{POLICY}- triage_backend: embedded\n"
    found = Run(tmp_path, policy, NIGHTLY, COPIES)
    yield found
    if found.process is not None:
        found.process.kill()
        found.process.communicate()


def test_a_night_is_consolidated_once_and_waits_in_the_review(nightly: Run) -> None:
    out, err = nightly.start("--once").communicate(timeout=GENEROUS_S)
    assert out.startswith("It was time: "), err
    assert nightly.ends() == [RunEnd.DONE]
    (run,) = parse_run_log((nightly.vault_state / "runs.jsonl").read_text("utf-8")).runs
    assert (run.finished, run.proposals) == (("consolidate", "synthesize"), 1)
    assert "no memory folder" in run.reason
    review = (nightly.root / "dreams" / "Dream review.md").read_text("utf-8")
    assert "[ ] merge them ^aria-" in review
    assert (nightly.root / "dreams" / "Dream report.md").exists()
    assert "one proposal waits" in next(nightly.root.rglob("* dream.md")).read_text("utf-8")
    assert {path: (nightly.root / path).read_text("utf-8") for path in COPIES} == dict(COPIES)
    out, _ = nightly.start("--once").communicate(timeout=GENEROUS_S)
    assert out.startswith("Waiting: "), out
    assert nightly.ends() == [RunEnd.DONE]
    told = nightly.command("status")
    assert "one proposal" in told.stdout or "1 proposal was made" in told.stdout


def test_a_night_that_was_killed_is_gone_on_with(nightly: Run) -> None:
    """The daemon and its child die while the night computes; the next daemon finishes the same run."""
    runs = nightly.vault_state / "runs.jsonl"
    nightly.start()
    nightly.until(lambda: runs.exists() and '"event":"started","id":"night-' in runs.read_text("utf-8"))
    assert nightly.process is not None
    children = psutil.Process(nightly.process.pid).children(recursive=True)
    nightly.process.kill()
    nightly.process.communicate()
    nightly.process = None
    _, alive = psutil.wait_procs(children, timeout=GENEROUS_S)  # their parent has gone, and so do they
    assert alive == []
    for _ in range(3):
        nightly.start("--once").communicate(timeout=GENEROUS_S)
    found = RecordStore(nightly.vault_state).consolidations()
    assert len(found) == 1
    assert found[0].end is End.DONE
    assert len(found[0].proposals) == 1
    assert len(RecordStore(nightly.vault_state).read().states) == 1
