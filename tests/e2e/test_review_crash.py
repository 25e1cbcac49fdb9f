"""SIGKILL at every point of a settlement, in a real process: the next start finishes it, and nothing is done twice."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.killing import folder_in_memory, points

if TYPE_CHECKING:
    from collections.abc import Iterator

DRIVER = Path(__file__).with_name("review_crash_driver.py")

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="forks and kills")


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[Path]:
    """Where SIGKILL is tried."""
    with folder_in_memory(tmp_path) as folder:
        yield folder


@pytest.mark.parametrize(("scenario", "at_least"), [("link", 20), ("undo", 15), ("merge", 40)])
def test_killed_at_every_step(scenario: str, at_least: int, memory: Path) -> None:
    assert points(DRIVER, scenario, "steps", str(memory)) >= at_least


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
    assert points(DRIVER, scenario, "steps", str(memory)) >= at_least


@pytest.mark.parametrize("scenario", ["link", "undo"])
def test_killed_at_every_call(scenario: str, memory: Path) -> None:
    assert points(DRIVER, scenario, "calls", str(memory)) >= 100


@pytest.mark.slow
def test_killed_at_calls_of_many_files(memory: Path) -> None:
    assert points(DRIVER, "merge", "calls", str(memory)) >= 100
