"""What a server said about its limits holds until then, and nothing else does."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

import pytest

from aria_dream.adapters.gate.rate_limit_backoff import PAUSE, backoff_text, clear_backoff, note_failure, read_backoff
from aria_dream.reach.reach_events import Failure

if TYPE_CHECKING:
    from pathlib import Path

NOW = datetime(2026, 11, 30, 12, tzinfo=UTC)


def test_a_reset_is_kept_and_passes(tmp_path: Path) -> None:
    note_failure(tmp_path, Failure("usage limit", "usage limit; try again in 90 minutes"), "the limit", NOW)
    assert backoff_text(tmp_path, NOW) == "the reach rests until 2026-11-30 13:30: the limit"
    assert backoff_text(tmp_path, NOW + timedelta(minutes=91)) == ""


def test_without_a_time_it_doubles_and_a_success_ends_it(tmp_path: Path) -> None:
    waits = []
    for _ in range(4):
        found = note_failure(tmp_path, Failure("rate limit", "429 slow down"), "busy", NOW, jitter=lambda: 0.0)
        assert found is not None
        assert found.until is not None
        waits.append((found.until - NOW).total_seconds())
    assert waits == [60, 120, 240, 480]
    clear_backoff(tmp_path)
    assert read_backoff(tmp_path, NOW) is None
    clear_backoff(tmp_path)


def test_what_only_a_person_can_end_holds_back_what_happens_by_itself(tmp_path: Path) -> None:
    note_failure(tmp_path, Failure("login", "unexpected status 401 Unauthorized"), "log in", NOW)
    assert backoff_text(tmp_path, NOW) == ""
    assert "until you have done something" in backoff_text(tmp_path, NOW + timedelta(days=400), by_itself=True)


@pytest.mark.parametrize("kind", ["unreachable", "cut", "not started", "failed"])
def test_what_the_network_does_pauses_nothing(tmp_path: Path, kind: str) -> None:
    assert note_failure(tmp_path, Failure(kind, "try again in 2 hours"), "no", NOW) is None  # type: ignore[arg-type]
    assert not (tmp_path / PAUSE).exists()


def test_a_clock_that_was_put_back_makes_no_pause_of_years(tmp_path: Path) -> None:
    note_failure(tmp_path, Failure("usage limit", "usage limit; try again in 3 days"), "the limit", NOW)
    assert read_backoff(tmp_path, NOW - timedelta(days=30)) is not None
    assert read_backoff(tmp_path, NOW - timedelta(days=400)) is None


@pytest.mark.parametrize(
    "text",
    ["", "{", "[]", "null", '{"version": 1}', '{"version": 2, "until": null}', "[" * 100_000,
     '{"version": 1, "until": "soon", "reason": "x", "failures": 1}'],
)  # fmt: skip
def test_a_file_that_cannot_be_read_is_none(tmp_path: Path, text: str) -> None:
    (tmp_path / PAUSE).write_text(text, encoding="utf-8")
    assert read_backoff(tmp_path, NOW) is None


def test_a_disk_that_refuses_is_passed_over(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("", encoding="utf-8")
    assert note_failure(tmp_path / "file" / "state", Failure("rate limit", "429"), "busy", NOW) is not None
