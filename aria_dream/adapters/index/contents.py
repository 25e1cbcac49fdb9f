"""What the notes of a vault hold, read where the cache does not know it; and which of them are copies that a sync made.

A copy is told by its name, and where a name is not enough by its text.
"""

from __future__ import annotations

import errno
import gc
import os
import time
from contextlib import contextmanager
from functools import lru_cache
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple

from aria_dream.adapters.index.index_cache import FileRow, IndexCache
from aria_dream.adapters.index.scan import VaultScan, file_path
from aria_dream.errors import Problem
from aria_dream.markdown.note import decode_note
from aria_dream.vault.linkage import kind_of
from aria_dream.vault.record import EMPTY, pack_record, record_of_canvas, record_of_note
from aria_dream.vault.sync_conflict import is_near_copy, originals_of_copy

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from aria_dream.vault.linkage import Linkage
    from aria_dream.vault.snapshot import FileState

MAX_NOTE_BYTES = 64 * 1024 * 1024
"""A file larger than this is a note by its name only: it counts, and its text is left alone."""
_READ = os.O_RDONLY | getattr(os, "O_BINARY", 0) | getattr(os, "O_CLOEXEC", 0)
_new: Final = tuple.__new__
"""Makes a NamedTuple in a third of the time its own constructor takes."""
_BATCH = 2000
"""Files per transaction: what an interrupted run loses at most. (500 cost a third more.)"""
_STEP = 500
"""Files between two reports of progress."""


class FileContent(NamedTuple):
    """What a file held when it was last read."""

    digest: bytes
    """SHA-256; `b""` where the file was never read."""
    packed: bytes
    """What `pack_record` made."""


UNREAD = FileContent(b"", pack_record(EMPTY))


def cached_contents(scan: VaultScan, cache: IndexCache) -> tuple[dict[str, FileContent], list[FileRow]]:
    """Contents that the cache knows to be those of the files as they are; and its other rows.

    The last known content of a file that is not on this device still counts.
    """
    files = scan.snapshot.files
    contents: dict[str, FileContent] = {}
    stale: list[FileRow] = []

    def take(row: FileRow) -> None:
        state = files.get(row.path)
        if state is not None and (row.still_holds(state) or not state.here):
            contents[row.path] = FileContent(row.digest, row.record)
        else:
            stale.append(row)

    cache.each_row(take)
    return contents, stale


def read_contents(
    scan: VaultScan,
    paths: Iterable[str],
    known: Mapping[tuple[bool, bytes], bytes],
    cache: IndexCache,
    progress: Callable[[int, int], None] | None = None,
) -> tuple[dict[str, FileContent], tuple[Problem, ...]]:
    """The contents of `paths`, and the problems of those that could not be read, which have `UNREAD`.

    `known` holds packed records by `content_key`: what was parsed before is not parsed again, under whatever path. The
    cache is filled as reading goes on, so that an interrupted run has not read in vain.
    """
    contents: dict[str, FileContent] = {}
    problems: list[Problem] = []
    pending: list[FileRow] = []
    ordered = list(paths)
    files = scan.snapshot.files
    try:
        for done, path in enumerate(ordered):
            state = files[path]
            if not state.here:
                contents[path] = UNREAD
                continue
            checked_ns = time.time_ns()
            data = _read(scan.root, path, state, problems)
            if data is None:
                contents[path] = UNREAD
                continue
            digest = sha256(data).digest()
            is_canvas = path[-3:] != ".md" and kind_of(path) == "canvas"
            packed = known.get((is_canvas, digest))
            if packed is None:
                packed = pack_record(record_of_canvas(data) if is_canvas else record_of_note(data))
            contents[path] = _new(FileContent, (digest, packed))
            if len(data) == state.size_bytes:  # else it grew or shrank since the walk: look again next time
                pending.append(_new(FileRow, (path, *state[:4], checked_ns, digest, packed)))
            if len(pending) >= _BATCH:
                cache.put(pending)
                pending.clear()
            if progress is not None and (done + 1) % _STEP == 0:
                progress(done + 1, len(ordered))
    finally:
        if pending:
            cache.put(pending)
    return contents, tuple(problems)


def content_key(path: str, digest: bytes) -> tuple[bool, bytes]:
    """What a record depends on: the bytes, and whether they are read as a canvas."""
    return kind_of(path) == "canvas", digest


def _read(root: str, path: str, state: FileState, problems: list[Problem]) -> bytes | None:
    """The bytes of a file; None, and a problem, where they cannot be had."""
    if state.size_bytes > MAX_NOTE_BYTES:
        problems.append(Problem(path, 0, f"is larger than {MAX_NOTE_BYTES // 2**20} MB; its text is not read"))
        return None
    try:
        # One system call each: half the cost of a file object, and three quarters of what reading small files costs.
        descriptor = os.open(file_path(root, path), _READ)
        try:
            data = os.read(descriptor, state.size_bytes + 1)
            if len(data) != state.size_bytes:  # it changed since the walk, or the system gives it in pieces
                os.lseek(descriptor, 0, os.SEEK_SET)
                with open(descriptor, "rb", closefd=False) as file:
                    data = file.read(MAX_NOTE_BYTES)
        finally:
            os.close(descriptor)
    except OSError as error:
        if error.errno != errno.ENOENT:  # gone since the walk: the next look will not find it
            why = (error.strerror or str(error)).lower()
            problems.append(Problem(path, 0, f"cannot be read ({why}), so its links and text are left out"))
        return None
    return data


def find_copies(scan: VaultScan, linkage: Linkage, contents: Sequence[FileContent]) -> dict[str, str]:
    """Each copy and its original. By a name that a writer may choose as well only where both say the same or nearly so.

    `contents` are those of the linkage's sources. Two texts are read once for each two contents.
    """
    found = scan.copies
    files = scan.snapshot.files
    for source, content in enumerate(contents):
        path = linkage.path_of(source)
        if path in found or content == UNREAD or not files[path].size_bytes:
            continue  # an empty `Untitled 2` is no copy of an empty `Untitled`
        for original in originals_of_copy(path, weak=True):
            other = linkage.source_of(original)
            if other is None or original in found:
                continue
            if _are_near(scan, path, content.digest, original, contents[other].digest):
                found[path] = original
                break
    return found


def _are_near(scan: VaultScan, path: str, digest: bytes, original: str, other: bytes) -> bool:
    if digest == other:
        return True
    if not other or kind_of(path) != "note":
        return False
    smaller, larger = sorted(scan.snapshot.files[one].size_bytes for one in (path, original))
    return smaller >= 0.7 * larger and _read_near(scan.root, path, digest, original, other)


@lru_cache(maxsize=1 << 12)
def _read_near(root: str, path: str, _digest: bytes, original: str, _other: bytes) -> bool:
    """Whether the texts of two notes are nearly equal; known by their digests until one of them changes."""
    try:
        one, other = (decode_note(Path(file_path(root, name)).read_bytes()) for name in (path, original))
    except OSError:
        return False  # gone since the walk
    return is_near_copy(one, other)


@contextmanager
def collector_paused() -> Iterator[None]:
    """No garbage collection inside: loading makes many objects and no cycles (saves 14 to 20 % of the time)."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()
