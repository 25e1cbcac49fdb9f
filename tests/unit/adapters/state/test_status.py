"""`status.json` is whole at every moment, and says what it was told."""

from __future__ import annotations

import json
import threading
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from aria_dream.adapters.disk.lock import daemon_lock
from aria_dream.adapters.state.status import (
    LastRun,
    Status,
    parse_status,
    read_daemon,
    read_status,
    render_status,
    write_status,
)

if TYPE_CHECKING:
    from pathlib import Path

LAST = LastRun(at="2026-11-30T03:12:07+01:00", occasion="on_idle", end="done", reason="", pairs=3)
STATUS = Status(doing="waiting", reason="waiting: you typed just now", at="2026-11-30T03:15:00+01:00", last_run=LAST,
                holds=("input", "rest"), until="2026-11-30T03:30:00+01:00", owed_night="2026-11-30")  # fmt: skip


@pytest.mark.parametrize("status", [STATUS, replace(STATUS, last_run=None, until=None, problems=("a\nb", "日記"))])
def test_what_is_written_is_read(tmp_path: Path, status: Status) -> None:
    assert parse_status(render_status(status)) == status
    write_status(tmp_path / "new", status)
    assert read_status(tmp_path / "new") == status
    assert [path.name for path in (tmp_path / "new").iterdir()] == ["status.json"]


@pytest.mark.parametrize(
    "text", ["", "{", "[]", "null", "{}", '{"doing": "waiting"}', '{"doing": "flying", "reason": "", "at": ""}', "\x00",
             '{"doing": "waiting", "reason": 3, "at": ""}', "[" * 100_000],
)  # fmt: skip
def test_what_is_none_is_none(text: str) -> None:
    assert parse_status(text) is None


def test_a_later_versions_keys_are_passed_over() -> None:
    assert parse_status(json.dumps({**json.loads(render_status(STATUS)), "mood": "calm"})) == STATUS


def test_a_reader_never_sees_half_of_it(tmp_path: Path) -> None:
    write_status(tmp_path, STATUS)
    torn: list[str] = []
    done = threading.Event()

    def read() -> None:
        while not done.is_set():
            if read_status(tmp_path) is None:
                torn.append((tmp_path / "status.json").read_text("utf-8"))

    reader = threading.Thread(target=read)
    reader.start()
    for number in range(500):
        write_status(tmp_path, replace(STATUS, reason="x" * (number * 40)))
    done.set()
    reader.join()
    assert torn == []


def test_a_folder_that_refuses_is_no_error(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    write_status(tmp_path / "file", STATUS)
    (tmp_path / "status.json").mkdir()
    write_status(tmp_path, STATUS)
    assert read_status(tmp_path) is None
    assert sorted(path.name for path in tmp_path.iterdir() if "status" in path.name) == ["status.json"]


def test_who_is_there_is_told_by_the_lock(tmp_path: Path) -> None:
    assert read_daemon(tmp_path) is None
    with daemon_lock(tmp_path, "aria-dream run").held(wait_s=0):
        holder = read_daemon(tmp_path)
        assert holder is not None
        assert holder.purpose == "aria-dream run"
        left = (tmp_path / "daemon.lock").read_text("utf-8")
    assert read_daemon(tmp_path) is None
    (tmp_path / "daemon.lock").write_text(left.replace('"started_at": ', '"started_at": 1'), encoding="utf-8")
    assert read_daemon(tmp_path) is None  # the number is another process's now
