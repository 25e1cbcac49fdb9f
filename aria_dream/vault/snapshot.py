"""The state of a vault's files at one moment, and the pure difference of two such states.

Events wake; snapshots tell: what changed in a vault is always derived from two of these, never from watch events.
"""

from __future__ import annotations

import unicodedata
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Mapping


class FileState(NamedTuple):
    """What `stat` says of one file. A NamedTuple: 50,000 of them are made at every start, and its making costs a
    fifth of a frozen dataclass."""

    size_bytes: int
    modified_ns: int
    changed_ns: int
    """`st_ctime_ns`: the last change of the inode (creation time on Windows). It betrays an edit whose mtime was set
    back; a mere rename changes it too, which costs one needless read."""
    inode: int
    """0 where the system does not tell (directory listings on Windows)."""
    device: int
    here: bool = True
    """False for a file that a cloud drive keeps elsewhere: it exists, but reading it would start a download."""


@dataclass(frozen=True, slots=True)
class Snapshot:
    """Files of a vault by vault path."""

    files: Mapping[str, FileState]


@dataclass(frozen=True, slots=True, kw_only=True)
class SnapshotDifference:
    """What happened between two snapshots. Each path is named in one field only; all sorted."""

    added: tuple[str, ...]
    removed: tuple[str, ...]
    changed: tuple[str, ...]
    """Present in both, and the content may differ: only its hash tells."""
    renamed: tuple[tuple[str, str], ...]
    """`(old, new)`: the same file under another name, folder or spelling. Its content may have changed as well where
    only the spelling differs."""
    evicted: tuple[str, ...]
    """Still there, but moved off this device by a cloud drive: neither removed nor changed."""

    def __bool__(self) -> bool:
        """Whether anything happened."""
        return bool(self.added or self.removed or self.changed or self.renamed or self.evicted)


def folded_path(path: str) -> str:
    """`path` as a disk that keeps neither case nor Unicode form apart would compare it."""
    return unicodedata.normalize("NFC", unicodedata.normalize("NFC", path).lower())


def difference(before: Snapshot, after: Snapshot) -> SnapshotDifference:
    """What turned `before` into `after`.

    A rename is seen where a path vanished and another appeared with the same inode and either the same size and
    modification time, or a name that differs in case or Unicode form only. The inode alone proves nothing: file
    systems hand the inode of a deleted file to the next new one.
    """
    old, new = before.files, after.files
    removed = {path for path in old if path not in new}
    added = {path for path in new if path not in old}
    renamed = _renames(before, after, removed, added)
    for source, target in renamed:
        removed.discard(source)
        added.discard(target)
    changed: list[str] = []
    evicted: list[str] = []
    for path, state in new.items():
        was = old.get(path)
        if was is None or was == state:
            continue
        if state.here:
            changed.append(path)
        elif was.here:
            evicted.append(path)
    return SnapshotDifference(
        added=tuple(sorted(added)),
        removed=tuple(sorted(removed)),
        changed=tuple(sorted(changed)),
        renamed=tuple(sorted(renamed)),
        evicted=tuple(sorted(evicted)),
    )


def _renames(before: Snapshot, after: Snapshot, removed: set[str], added: set[str]) -> list[tuple[str, str]]:
    by_inode: dict[tuple[int, int], list[str]] = {}
    by_folded: dict[str, list[str]] = {}
    for path in sorted(removed):
        state = before.files[path]
        if state.inode:
            by_inode.setdefault((state.device, state.inode), []).append(path)
        by_folded.setdefault(folded_path(path), []).append(path)
    taken: set[str] = set()
    renamed: list[tuple[str, str]] = []
    for path in sorted(added):
        state = after.files[path]
        candidates = by_inode.get((state.device, state.inode), ()) if state.inode else ()
        source = next((old for old in candidates if old not in taken and _same_file(before, after, old, path)), None)
        if source is None and not state.inode:  # no inodes to go by: only the spelling can tell
            source = next((old for old in by_folded.get(folded_path(path), ()) if old not in taken), None)
        if source is not None:
            taken.add(source)
            renamed.append((source, path))
    return renamed


def _same_file(before: Snapshot, after: Snapshot, old: str, new: str) -> bool:
    was, now = before.files[old], after.files[new]
    unchanged = (was.size_bytes, was.modified_ns) == (now.size_bytes, now.modified_ns)
    return unchanged or folded_path(old) == folded_path(new)


def shrank_suddenly(before: Snapshot, after: Snapshot) -> bool:
    """Whether more than half of at least ten files vanished at once: a drive that went away, not a writer tidying."""
    gone = sum(1 for path in before.files if path not in after.files)
    return len(before.files) >= 10 and gone - len(after.files.keys() - before.files.keys()) > len(before.files) // 2
