"""SIGKILL at every point of a change, in a real process: after the next start each file is wholly old or wholly new."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.killing import folder_in_memory, points

if TYPE_CHECKING:
    from collections.abc import Iterator

DRIVER = Path(__file__).with_name("crash_driver.py")

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="forks and kills")


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[Path]:
    """Where SIGKILL is tried."""
    with folder_in_memory(tmp_path) as folder:
        yield folder


ONE_FILE = ["append", "append-without-exchange", "create", "remove"]
MANY_FILES = ["merge", "merge-without-exchange"]


@pytest.mark.parametrize("scenario", ONE_FILE)
def test_killed_at_every_step_of_one_file(scenario: str, memory: Path) -> None:
    assert points(DRIVER, scenario, "steps", str(memory)) >= 5


@pytest.mark.parametrize("scenario", ONE_FILE)
def test_killed_at_every_call_of_one_file(scenario: str, memory: Path) -> None:
    assert points(DRIVER, scenario, "calls", str(memory)) >= 50


@pytest.mark.parametrize("scenario", MANY_FILES)
def test_killed_at_every_step_of_many_files(scenario: str, memory: Path) -> None:
    assert points(DRIVER, scenario, "steps", str(memory)) >= 20


@pytest.mark.parametrize("scenario", MANY_FILES)
def test_killed_at_every_call_of_many_files(scenario: str, memory: Path) -> None:
    assert points(DRIVER, scenario, "calls", str(memory)) >= 150


@pytest.mark.parametrize("scenario", [*ONE_FILE, *MANY_FILES])
def test_what_a_writer_typed_after_the_crash_is_left_alone(scenario: str, memory: Path) -> None:
    assert points(DRIVER, scenario, "edited", str(memory)) >= 5


@pytest.mark.parametrize("scenario", ["append", "create", "remove"])
def test_killed_again_in_the_recovery_of_one_file(scenario: str, memory: Path) -> None:
    assert points(DRIVER, scenario, "recovery", str(memory)) >= 50


@pytest.mark.slow
@pytest.mark.parametrize("scenario", MANY_FILES)
def test_killed_again_in_the_recovery_of_many_files(scenario: str, memory: Path) -> None:
    assert points(DRIVER, scenario, "recovery", str(memory)) >= 150


@pytest.mark.parametrize("mode", ["raced-steps", "raced-calls"])
def test_killed_while_an_editors_save_is_put_back(mode: str, memory: Path) -> None:
    assert points(DRIVER, "merge", mode, str(memory)) >= 20
