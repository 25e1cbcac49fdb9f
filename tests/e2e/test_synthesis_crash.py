"""SIGKILL at every point of a synthesis: after the next start log and lessons are both old or both new, and whole."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.killing import folder_in_memory, points

if TYPE_CHECKING:
    from collections.abc import Iterator

DRIVER = Path(__file__).with_name("synthesis_crash_driver.py")

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="forks and kills")


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[Path]:
    """Where SIGKILL is tried."""
    with folder_in_memory(tmp_path) as folder:
        yield folder


@pytest.mark.parametrize(("mode", "least"), [("steps", 30), ("calls", 150)])
def test_killed_at_every_point(mode: str, least: int, memory: Path) -> None:
    assert points(DRIVER, mode, str(memory)) >= least
