"""Append-only files of JSON lines: proposals, runs, what left the machine."""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING

from aria_dream.adapters.disk.swap import sync_file, sync_folder
from aria_dream.errors import Problem, StateDamagedError, WriteRefusedError

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from aria_dream.adapters.disk.lock import VaultLock


class Journal:
    """One file of JSON objects, one a line, only ever appended to, under the vault's writer lock."""

    def __init__(self, path: Path, lock: VaultLock) -> None:
        self._path = path
        self._lock = lock

    def append(self, record: Mapping[str, object]) -> int:
        """The length in bytes of `record` as one line of ASCII; it is on the disk, synced, when this returns.

        One `write` a record. Where an earlier crash tore the last line, the record starts a new one, and the torn
        line stays as it is.

        Raises:
            WriteRefusedError: the disk would not; the file is as it was, or ends in a torn line that readers skip.
            TypeError: `record` holds something that is no JSON.
        """
        line = json.dumps(record, ensure_ascii=True, separators=(",", ":")).encode() + b"\n"
        with self._lock.held():
            try:
                self._append(line)
            except OSError as error:
                raise WriteRefusedError(f"{self._path} was not written: {error.strerror or error}") from error
        return len(line)

    def _append(self, line: bytes) -> None:
        self._path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        is_new = not self._path.exists()
        handle = os.open(self._path, os.O_RDWR | os.O_APPEND | os.O_CREAT | getattr(os, "O_BINARY", 0), 0o600)
        try:
            size_bytes = os.fstat(handle).st_size
            if size_bytes and not _ends_line(handle, size_bytes):
                line = b"\n" + line
            written = os.write(handle, line)
            if written != len(line):
                os.ftruncate(handle, size_bytes)  # our own half line, under the lock: nobody else's byte is cut
                raise OSError(28, "the disk is full")  # a short write to a regular file has no other cause
            sync_file(handle)
        finally:
            os.close(handle)
        if is_new:
            sync_folder(self._path.parent)

    def read(self) -> tuple[tuple[dict[str, object], ...], tuple[Problem, ...]]:
        """The records in the order they were written, and a Problem for each line that is none.

        Tolerates a torn last line (no Problem: it was never promised), blank lines, CRLF, a BOM, unknown fields and
        lines that occur twice (one record). A file that does not exist holds nothing. Takes no lock.
        """
        try:
            content = self._path.read_bytes()
        except FileNotFoundError:
            return (), ()
        return parse_records(content, self._path.name)


def _ends_line(handle: int, size_bytes: int) -> bool:
    os.lseek(handle, size_bytes - 1, os.SEEK_SET)
    return os.read(handle, 1) == b"\n"


def parse_records(content: bytes, name: str) -> tuple[tuple[dict[str, object], ...], tuple[Problem, ...]]:
    """The JSON objects of a journal's bytes, in order, each different line once, and the Problems. Never raises."""
    records: list[dict[str, object]] = []
    problems: list[Problem] = []
    seen: set[bytes] = set()
    lines = content.removeprefix(b"\xef\xbb\xbf").split(b"\n")
    for number, raw in enumerate(lines, start=1):
        line = raw.strip(b" \t\r\0")
        if not line or line in seen:
            continue
        seen.add(line)
        try:
            record = json.loads(line)
        except (ValueError, RecursionError):
            record = None
        if isinstance(record, dict):
            records.append(record)
        elif number < len(lines):
            problems.append(Problem(name, number, "this line is no JSON object; it is skipped"))
    return tuple(records), tuple(problems)


def read_text(path: Path) -> str:
    """What a journal reads; `""` where there is none.

    Raises:
        StateDamagedError: it is there and cannot be read at all; what it says must not be guessed.
    """
    try:
        return path.read_bytes().decode("utf-8", "replace")
    except FileNotFoundError:
        return ""
    except OSError as error:
        raise StateDamagedError(
            f"{path} cannot be read ({error.strerror or error}); make it readable, or move it away to start afresh"
        ) from error
