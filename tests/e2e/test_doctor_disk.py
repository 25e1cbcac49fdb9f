"""What `doctor` finds on the disk: locks that real processes hold, folders that take no file, notes nobody may read."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from aria_dream.adapters.disk.lock import daemon_lock
from aria_dream.adapters.disk.places import find_places
from aria_dream.adapters.index.live_policy import read_live_policy
from aria_dream.adapters.index.scan import scan_vault
from aria_dream.adapters.machine.presence import Sensors, read_moment
from aria_dream.adapters.machine.service import WriteFile
from aria_dream.cli.checks import Finding, Health, Patient, check_program
from aria_dream.cli.checks_disk import check_locks, check_notes, check_service, check_vault_disk
from aria_dream.cli.service import plan_for

if TYPE_CHECKING:
    from collections.abc import Iterator

REPOSITORY = Path(__file__).resolve().parents[2]
HOLDER = """
import sys, time
from pathlib import Path
from aria_dream.adapters.disk.lock import dream_lock
with dream_lock(Path(sys.argv[1])).held():
    print("held", flush=True)
    time.sleep(1000)
"""


@pytest.fixture
def vault(tmp_path: Path) -> Path:
    (tmp_path / "garden" / "dreams").mkdir(parents=True)
    (tmp_path / "garden" / "Compost.md").write_text("It must be turned.\n", encoding="utf-8")
    return tmp_path / "garden"


def patient(vault: Path) -> Patient:
    places, sensors = find_places(), Sensors()
    return Patient(places=places, sensors=sensors, readings=sensors.read(None), moment=read_moment("local")[0],
                   scan=scan_vault(vault), live=read_live_policy(vault, places))  # fmt: skip


def state_of(vault: Path) -> Path:
    folder = read_live_policy(vault, find_places()).state_folder(find_places())
    folder.mkdir(parents=True, exist_ok=True)
    return folder


@contextmanager
def holder(vault: Path) -> Iterator[subprocess.Popen[str]]:
    """A process that has the lock of a dream and looks like the daemon's child."""
    process = subprocess.Popen(
        [sys.executable, "-c", HOLDER, str(state_of(vault)), "aria_dream.usecases.episode"], stdout=subprocess.PIPE,
        text=True, env={**os.environ, "PYTHONPATH": str(REPOSITORY)},
    )  # fmt: skip
    try:
        assert process.stdout is not None
        assert process.stdout.readline() == "held\n"
        yield process
    finally:
        process.kill()
        process.communicate()


def texts(findings: Iterator[Finding]) -> list[tuple[Health, str]]:
    return [(finding.health, finding.text) for finding in findings]


def test_who_holds_a_lock_is_named_and_whether_its_daemon_is_there(vault: Path) -> None:
    with holder(vault) as process:
        ((health, text),) = texts(check_locks(patient(vault)))
        assert health is Health.BROKEN
        assert f"dream.lock is held by a dream (process {process.pid} on " in text
        assert ", since 20" in text
        assert "the daemon that started it is gone" in text
        with daemon_lock(state_of(vault)).held(0):
            (daemon, child) = texts(check_locks(patient(vault)))
            assert (daemon[0], child[0]) == (Health.OK, Health.OK)
            assert f"daemon.lock is held by the daemon (process {os.getpid()} on " in daemon[1]
    assert texts(check_locks(patient(vault))) == [(Health.OK, "nobody works on the vault now")]


@pytest.mark.skipif(sys.platform == "win32", reason="needs signals, not Windows")
def test_a_holder_that_stands_still_is_named(vault: Path) -> None:
    with holder(vault) as process, daemon_lock(state_of(vault)).held(0):
        process.send_signal(signal.SIGSTOP)
        os.waitpid(process.pid, os.WUNTRACED)
        found = texts(check_locks(patient(vault)))
        assert found[-1][0] is Health.BROKEN
        assert "it stands still" in found[-1][1]


@contextmanager
def full_disk() -> Iterator[None]:
    """No file gets longer than a kilobyte, which is what a full disk comes to."""
    import resource

    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1024, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


def everything(folder: Path) -> dict[str, bytes]:
    return {str(path): path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}


@pytest.mark.skipif(sys.platform == "win32", reason="needs resource limits, not Windows")
def test_a_full_disk_is_found_by_writing(vault: Path, tmp_path: Path) -> None:
    seen, before = patient(vault), everything(tmp_path)
    assert texts(check_vault_disk(seen)) == [(Health.OK, "a file was written and removed again")]
    assert [health for health, _ in texts(check_program(seen))] == [Health.OK] * 3
    with full_disk():
        vaults, folders = texts(check_vault_disk(seen)), texts(check_program(seen))
    assert [health for health, _ in (*vaults, *folders[1:])] == [Health.BROKEN] * 3
    assert all("the disk is full" in text for _, text in (*vaults, *folders[1:]))
    assert f"{vault / 'dreams'} cannot be written" in vaults[0][1]
    assert everything(tmp_path) == before


@pytest.mark.parametrize(
    ("number", "said"), [(30, "read-only file system"), (13, "permission denied"), (5, "look at the drive")]
)
def test_a_vault_that_takes_no_file(vault: Path, monkeypatch: pytest.MonkeyPatch, number: int, said: str) -> None:
    seen, real = patient(vault), os.open

    def refuse(path: Any, *args: Any, **named: Any) -> int:
        if str(path).startswith(str(vault)):
            raise OSError(number, os.strerror(number), str(path))
        return real(path, *args, **named)

    monkeypatch.setattr(os, "open", refuse)
    ((health, text),) = texts(check_vault_disk(seen))
    assert health is Health.BROKEN
    assert said in text
    ((health, text),) = texts(check_notes(seen))
    assert health is Health.BROKEN
    assert text.startswith(f"1 note cannot be read: Compost.md ({os.strerror(number).lower()})")


def test_a_service_with_other_folders_is_named(vault: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert texts(check_service(patient(vault))) == []
    plan = plan_for(vault)
    plan.file.parent.mkdir(parents=True)
    plan.file.write_bytes(next(step.content for step in plan.install if isinstance(step, WriteFile)))
    ((health, _),) = texts(check_service(patient(vault)))
    assert health is Health.OK
    monkeypatch.setenv("XDG_STATE_HOME", str(vault.parent / "elsewhere"))
    ((health, text),) = texts(check_service(patient(vault)))
    assert health is Health.BROKEN
    assert "XDG_STATE_HOME" in text
    assert "aria-dream service install" in text
