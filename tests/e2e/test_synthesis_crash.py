"""SIGKILL at every point of a synthesis: after the next start log and lessons are both old or both new, and whole."""

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

DRIVER = Path(__file__).with_name("synthesis_crash_driver.py")

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="forks and kills")


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[Path]:
    """A folder in memory where there is one: SIGKILL loses nothing that only a sync would save, and syncs are slow."""
    if not os.access("/dev/shm", os.W_OK):
        yield tmp_path
        return
    with tempfile.TemporaryDirectory(dir="/dev/shm") as folder:
        yield Path(folder)


@pytest.mark.parametrize(("mode", "least"), [("steps", 30), ("calls", 150)])
def test_killed_at_every_point(mode: str, least: int, memory: Path) -> None:
    done = subprocess.run(
        [sys.executable, str(DRIVER), mode, str(memory)],
        env={**os.environ, "PYTHONPATH": str(DRIVER.parents[2])},
        capture_output=True,
        text=True,
        timeout=280,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-2000:]
    assert int(done.stdout) >= least
