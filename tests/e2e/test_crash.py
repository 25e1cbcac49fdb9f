"""SIGKILL at every point of a change, in a real process: after the next start each file is wholly old or wholly new."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Iterator

DRIVER = Path(__file__).with_name("crash_driver.py")
REPOSITORY = DRIVER.parents[2]

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="forks and kills")


def points(scenario: str, mode: str, folder: Path) -> int:
    """How many points the driver tried; it raises at the first broken promise."""
    done = subprocess.run(
        [sys.executable, str(DRIVER), scenario, mode, str(folder)],
        env={**os.environ, "PYTHONPATH": str(REPOSITORY)},
        capture_output=True,
        text=True,
        timeout=280,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-2000:]
    return int(done.stdout)


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[Path]:
    """A folder in memory where there is one: SIGKILL loses nothing that only a sync would save, and syncs are slow."""
    if not os.access("/dev/shm", os.W_OK):
        yield tmp_path
        return
    with tempfile.TemporaryDirectory(dir="/dev/shm") as folder:
        yield Path(folder)


ONE_FILE = ["append", "append-without-exchange", "create", "remove"]
MANY_FILES = ["merge", "merge-without-exchange"]


@pytest.mark.parametrize("scenario", ONE_FILE)
def test_killed_at_every_step_of_one_file(scenario: str, memory: Path) -> None:
    assert points(scenario, "steps", memory) >= 5


@pytest.mark.parametrize("scenario", ONE_FILE)
def test_killed_at_every_call_of_one_file(scenario: str, memory: Path) -> None:
    assert points(scenario, "calls", memory) >= 50


@pytest.mark.parametrize("scenario", MANY_FILES)
def test_killed_at_every_step_of_many_files(scenario: str, memory: Path) -> None:
    assert points(scenario, "steps", memory) >= 20


@pytest.mark.parametrize("scenario", MANY_FILES)
def test_killed_at_every_call_of_many_files(scenario: str, memory: Path) -> None:
    assert points(scenario, "calls", memory) >= 150


@pytest.mark.parametrize("scenario", [*ONE_FILE, *MANY_FILES])
def test_what_a_writer_typed_after_the_crash_is_left_alone(scenario: str, memory: Path) -> None:
    assert points(scenario, "edited", memory) >= 5


@pytest.mark.parametrize("scenario", ["append", "create", "remove"])
def test_killed_again_in_the_recovery_of_one_file(scenario: str, memory: Path) -> None:
    assert points(scenario, "recovery", memory) >= 50


@pytest.mark.slow
@pytest.mark.parametrize("scenario", MANY_FILES)
def test_killed_again_in_the_recovery_of_many_files(scenario: str, memory: Path) -> None:
    assert points(scenario, "recovery", memory) >= 150


@pytest.mark.parametrize("mode", ["raced-steps", "raced-calls"])
def test_killed_while_an_editors_save_is_put_back(mode: str, memory: Path) -> None:
    assert points("merge", mode, memory) >= 20
