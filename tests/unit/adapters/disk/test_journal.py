"""Append-only JSON lines: whole records, torn tails, and reading whatever is there."""

from __future__ import annotations

import errno
import json
import os
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aria_dream.adapters.disk.journal import Journal, parse_records
from aria_dream.adapters.disk.lock import writer_lock
from aria_dream.errors import WriteRefusedError

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def journal(tmp_path: Path) -> Journal:
    return Journal(tmp_path / "state" / "proposals.jsonl", writer_lock(tmp_path / "state"))


def held(tmp_path: Path) -> bytes:
    return (tmp_path / "state" / "proposals.jsonl").read_bytes()


def test_records_come_back_in_order(journal: Journal, tmp_path: Path) -> None:
    assert journal.read() == ((), ())
    records: list[dict[str, object]] = [{"id": "a", "title": 'x\u2028\n"y\ud800'}, {"id": "b", "paths": ["\u65e5.md"]}]
    for record in records:
        journal.append(record)
    assert journal.read() == (tuple(records), ())
    assert held(tmp_path).count(b"\n") == 2
    assert held(tmp_path).isascii()


@pytest.mark.parametrize("tail", [b'{"id":"b', b'{"id":"b"}', b"\xe2\x80", b"\0\0\0"])
def test_a_torn_tail_is_closed_and_the_next_record_is_whole(journal: Journal, tmp_path: Path, tail: bytes) -> None:
    journal.append({"id": "a"})
    path = tmp_path / "state" / "proposals.jsonl"
    torn = path.read_bytes() + tail
    path.write_bytes(torn)
    journal.append({"id": "c"})
    assert path.read_bytes() == torn + b'\n{"id":"c"}\n'
    ids = [record["id"] for record in journal.read()[0]]
    assert ids == (["a", "b", "c"] if tail.endswith(b"}") else ["a", "c"])


def test_reading_tolerates_what_syncs_and_crashes_leave() -> None:
    content = (
        b'\xef\xbb\xbf{"id":"a","unknown":1}\r\n\r\n  \n{"id":"b"}\n{"id":"a","unknown":1}\n'
        b'[1]\nnot json\n\xff\xfe\n{"id":"c"}\n{"id":"torn'
    )
    records, problems = parse_records(content, "runs.jsonl")
    assert [record["id"] for record in records] == ["a", "b", "c"]
    assert [problem.line for problem in problems] == [6, 7, 8]
    assert parse_records(b"[" * 100_000 + b"\n", "x")[0] == ()


@given(st.binary())
def test_reading_never_raises(content: bytes) -> None:
    parse_records(content, "x")


@given(st.lists(st.dictionaries(st.text(), st.text() | st.integers() | st.none()), unique_by=json.dumps))
def test_what_is_written_is_read(records: list[dict[str, object]]) -> None:
    content = b"".join(json.dumps(record).encode() + b"\n" for record in records)
    assert parse_records(content, "x") == (tuple(records), ())


def test_each_record_is_one_write_and_one_sync(journal: Journal, monkeypatch: pytest.MonkeyPatch) -> None:
    calls: list[str] = []
    real_write, real_sync = os.write, os.fsync

    def write(handle: int, data: bytes) -> int:
        if data.startswith(b'{"id"'):
            calls.append("write")
        return real_write(handle, data)

    def fsync(handle: int) -> None:
        calls.append("sync")
        real_sync(handle)

    journal.append({"id": "first"})
    monkeypatch.setattr(os, "write", write)
    monkeypatch.setattr(os, "fsync", fsync)
    journal.append({"id": "a" * 10_000})
    assert calls == ["write", "sync"]


@pytest.mark.parametrize("taken", [0, 5])
def test_a_full_disk_leaves_the_file_as_it_was(
    journal: Journal, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, taken: int
) -> None:
    journal.append({"id": "a"})
    before = held(tmp_path)
    real_write = os.write

    def write(handle: int, data: bytes) -> int:
        if not data.startswith(b'{"id"'):
            return real_write(handle, data)
        if not taken:
            raise OSError(errno.ENOSPC, "No space left on device")
        return real_write(handle, data[:taken])

    monkeypatch.setattr(os, "write", write)
    with pytest.raises(WriteRefusedError, match=r"(?i)no space|full"):
        journal.append({"id": "b"})
    monkeypatch.undo()
    assert held(tmp_path) == before
    journal.append({"id": "c"})
    assert [record["id"] for record in journal.read()[0]] == ["a", "c"]


def test_a_record_that_is_no_json_writes_nothing(journal: Journal, tmp_path: Path) -> None:
    with pytest.raises(TypeError):
        journal.append({"id": object()})
    assert not (tmp_path / "state" / "proposals.jsonl").exists()
