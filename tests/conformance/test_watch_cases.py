"""Cases 31 (atomic saves), 33 (overflow and limits) and 34 (self feedback), with their own replay scripts."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from aria_dream.adapters.disk.files import DiskVault
from aria_dream.markdown.note import NotePath
from aria_dream.vault.edit import ChangeSet, plan_append
from aria_dream.vault.names import Refusal
from aria_dream.world import Written
from tests.watched import Driver, digests


def vault_of(case: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(case / "vault", tmp_path / "vault", copy_function=shutil.copyfile))


def replay(case: Path, root: Path) -> None:
    subprocess.run([sys.executable, str(case / "replay.py"), str(root)], check=True)


def test_31_atomic_saves(cases: Path, tmp_path: Path) -> None:
    case = cases / "31-atomic-save"
    root = vault_of(case, tmp_path)
    with Driver(root, tmp_path / "state", tmp_path / "cache") as driver:
        assert driver.ready["ready"] == "events"
        replay(case, root)
        answer = driver.until(lambda answer: answer["index"] == digests(root))
        assert answer["files"] == ["Note.md"]
        assert 1 <= len(driver.changes) <= 3
        assert {path for change in driver.changes for path in change["edited"]} == {"Note.md"}
        assert all(not (change["created"] or change["removed"] or change["renamed"]) for change in driver.changes)


@pytest.mark.skipif(sys.platform == "win32", reason="needs macOS or Linux: a process is halted and let go on")
def test_33_overflow(cases: Path, tmp_path: Path) -> None:
    """The watcher is halted while 20,000 writes go on, so that the kernel's queue really overflows."""
    case = cases / "33-event-overflow-and-limits"
    root = vault_of(case, tmp_path)
    with Driver(root, tmp_path / "state", tmp_path / "cache") as driver:
        os.kill(driver.process.pid, signal.SIGSTOP)
        try:
            replay(case, root)
        finally:
            os.kill(driver.process.pid, signal.SIGCONT)
        driver.until(lambda answer: answer["index"] == digests(root))
        assert len(driver.changes) == 1
        assert len(driver.changes[0]["created"]) == 2000


def test_34_self_feedback(cases: Path, tmp_path: Path) -> None:
    case = cases / "34-self-feedback"
    root = vault_of(case, tmp_path)
    state = tmp_path / "state"
    with Driver(root, state, tmp_path / "cache") as driver:
        plan = plan_append(NotePath("Note.md"), (root / "Note.md").read_bytes(), "## Related\n\nours\n")
        assert not isinstance(plan, Refusal)
        assert isinstance(DiskVault(root, state).write(ChangeSet(writes=(plan,)), label="own"), Written)
        driver.until(lambda answer: answer["index"] == digests(root))
        assert [(change["own"], change["foreign"]) for change in driver.changes] == [(["Note.md"], [])]
        replay(case, root)  # reads every file three times, then stamps `modified`
        driver.until(lambda answer: answer["index"] == digests(root))
        assert len(driver.changes) == 2
        assert driver.changes[1]["edited"] == ["Note.md"]
        assert not driver.ask()["news"]
