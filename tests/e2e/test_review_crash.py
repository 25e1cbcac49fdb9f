"""SIGKILL at every point of a settlement, in a real process: the next start finishes it, and nothing is done twice."""

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

DRIVER = Path(__file__).with_name("review_crash_driver.py")
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


@pytest.mark.parametrize(("scenario", "at_least"), [("link", 20), ("undo", 15), ("merge", 40)])
def test_killed_at_every_step(scenario: str, at_least: int, memory: Path) -> None:
    assert points(scenario, "steps", memory) >= at_least


@pytest.mark.parametrize(
    ("scenario", "at_least"),
    [
        ("merging", 20),
        ("update", 8),
        ("obsolete", 8),
        ("resolve_contradiction", 8),
        ("place_orphan", 8),
        ("undo-merge", 20),
        ("undo-orphan", 8),
        ("undo-resolution", 8),
        ("overtaken", 6),
    ],
)
def test_changes_killed_at_every_step(scenario: str, at_least: int, memory: Path) -> None:
    assert points(scenario, "steps", memory) >= at_least


@pytest.mark.parametrize("scenario", ["link", "undo"])
def test_killed_at_every_call(scenario: str, memory: Path) -> None:
    assert points(scenario, "calls", memory) >= 100


@pytest.mark.slow
def test_killed_at_calls_of_many_files(memory: Path) -> None:
    assert points("merge", "calls", memory) >= 100
