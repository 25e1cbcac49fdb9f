"""Notes whose content changed although nothing that `stat` says of them did."""

from __future__ import annotations

from hashlib import sha256
from typing import TYPE_CHECKING

from aria_dream.adapters.index.contents import MAX_NOTE_BYTES, UNREAD
from aria_dream.adapters.index.scan import file_path

if TYPE_CHECKING:
    from collections.abc import Iterable

    from aria_dream.adapters.index.index import VaultIndex
    from aria_dream.adapters.index.scan import Scan

_RACY_NS = 2_000_000_000
"""A file that changed less than this before it was looked at may change again without its times moving (FAT: 2 s)."""


def find_rewritten(
    before: VaultIndex, scan: Scan, named: Iterable[str], looks_ns: tuple[int, int]
) -> tuple[str, ...]:
    """Notes that `scan` shows as `before` knew them and that hold another text by now, sorted.

    Looked into are those that events `named`, those that were written within one tick of the disk's clock around or
    after the earlier of two `looks_ns`, and those that could not be read before (a lock, a right).
    """
    files = scan.snapshot.files
    suspects = {path for path in named if path in files}
    for source, content in enumerate(before.contents):
        if content is UNREAD:
            suspects.add(before.linkage.path_of(source))
    oldest_ns, horizon_ns = looks_ns[0] - _RACY_NS, looks_ns[1] + _RACY_NS
    for path, state in files.items():
        # What is dated in the future says nothing by that time.
        if oldest_ns <= state.modified_ns <= horizon_ns or oldest_ns <= state.changed_ns <= horizon_ns:
            suspects.add(path)
    return tuple(path for path in sorted(suspects) if _differs(before, scan, path))


def _differs(before: VaultIndex, scan: Scan, path: str) -> bool:
    state, source = scan.snapshot.files.get(path), before.linkage.source_of(path)
    if state is None or source is None or state != before.scan.snapshot.files.get(path):
        return False
    if not state.here or state.size_bytes > MAX_NOTE_BYTES:
        return False
    try:
        with open(file_path(scan.root, path), "rb") as file:  # noqa: PTH123 - the system's spelling, not a Path
            data = file.read(MAX_NOTE_BYTES)
    except OSError:
        return False
    return sha256(data).digest() != before.contents[source].digest
