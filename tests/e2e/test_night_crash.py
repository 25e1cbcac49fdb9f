"""SIGKILL at every point of a night, in a real process: the next sitting goes on, nothing is lost or done twice."""

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

DRIVER = Path(__file__).with_name("night_crash_driver.py")
REPOSITORY = DRIVER.parents[2]

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="forks and kills, needs no Windows")


def points(mode: str, folder: Path) -> int:
    """How many points the driver tried; it raises at the first broken promise."""
    done = subprocess.run(
        [sys.executable, str(DRIVER), mode, str(folder)],
        env={**os.environ, "PYTHONPATH": str(REPOSITORY)},
        capture_output=True,
        text=True,
        timeout=280,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    return int(done.stdout)


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[Path]:
    """A folder in memory where there is one: SIGKILL loses nothing that only a sync would save, and syncs are slow."""
    if not os.access("/dev/shm", os.W_OK):
        yield tmp_path
        return
    with tempfile.TemporaryDirectory(dir="/dev/shm") as folder:
        yield Path(folder)


def test_killed_at_every_step(memory: Path) -> None:
    assert points("steps", memory) >= 60


@pytest.mark.slow
def test_killed_at_every_call(memory: Path) -> None:
    assert points("calls", memory) >= 150
