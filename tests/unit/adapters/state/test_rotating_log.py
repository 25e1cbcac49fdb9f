"""The log is bounded, a line a record, and quotes no note."""

from __future__ import annotations

import io
import logging
from pathlib import Path

import pytest

from aria_dream.adapters.state.rotating_log import cause_of, logging_to
from aria_dream.errors import BusyError
from aria_dream.markdown.note import NotePath


def test_it_rotates_and_stays_small(tmp_path: Path) -> None:
    with logging_to(tmp_path / "log", size_bytes=2000, kept=2) as path:
        for number in range(500):
            logging.getLogger("aria_dream.some.where").info("line %d", number)
    files = sorted(path.parent.iterdir())
    assert [file.name for file in files] == ["daemon.log", "daemon.log.1", "daemon.log.2"]
    assert sum(file.stat().st_size for file in files) < 3 * 2100
    assert path.read_text("utf-8").endswith("line 499\n")
    assert not logging.getLogger("aria_dream").handlers


def test_one_line_a_record_whatever_a_path_holds(tmp_path: Path) -> None:
    echo = io.StringIO()
    with logging_to(tmp_path, echo=echo) as path:
        logging.getLogger("aria_dream").warning("%s", "a\n2026-11-30T00:00:00+0000 ERROR forged\u2028\x1b[31m \ud800")
    assert len(path.read_text("utf-8").splitlines()) == 1
    assert len(echo.getvalue().splitlines()) == 1
    assert "\x1b" not in path.read_text("utf-8")


def test_a_log_that_cannot_be_written_ends_nothing(tmp_path: Path) -> None:
    (tmp_path / "daemon.log").mkdir()
    echo = io.StringIO()
    with logging_to(tmp_path, echo=echo):
        logging.getLogger("aria_dream").info("still heard")
    assert "keeps no log" in echo.getvalue()
    assert "still heard" in echo.getvalue()


def test_other_peoples_records_are_none_of_ours(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    with logging_to(tmp_path) as path:
        logging.getLogger("somebody.else").error("theirs")
    assert path.read_text("utf-8") == ""
    assert "theirs" in caplog.text


def test_a_cause_says_where_and_not_what_a_note_said() -> None:
    words = "my secret words"
    with pytest.raises(ValueError, match=words) as theirs:
        raise ValueError(words)
    assert cause_of(theirs.value).startswith("ValueError in test_rotating_log.py:")
    with pytest.raises(TypeError) as ours:
        NotePath(3)  # type: ignore[arg-type] # on purpose
    assert words not in cause_of(theirs.value)
    assert "TypeError" in cause_of(ours.value)
    with pytest.raises(FileNotFoundError) as missing:
        Path("/no/such/file").read_bytes()
    assert cause_of(missing.value).startswith("FileNotFoundError (No such file or directory) in ")
    assert cause_of(BusyError("a daemon is here")) == "a daemon is here"
