"""SIGKILL at every point of a night, in a real process: the next sitting goes on, nothing is lost or done twice."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.killing import folder_in_memory, points

if TYPE_CHECKING:
    from collections.abc import Iterator

DRIVER = Path(__file__).with_name("night_crash_driver.py")

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="forks and kills, needs no Windows")


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[Path]:
    """Where SIGKILL is tried."""
    with folder_in_memory(tmp_path) as folder:
        yield folder


def test_killed_at_every_step(memory: Path) -> None:
    assert points(DRIVER, "steps", str(memory)) >= 60


@pytest.mark.slow
def test_killed_at_every_call(memory: Path) -> None:
    assert points(DRIVER, "calls", str(memory)) >= 150
