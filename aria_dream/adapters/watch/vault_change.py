"""What happened to a vault between two indexes, told by content; and whether it is still the vault.

Who touches a file without changing it did nothing; a content may change although nothing that `stat` says did. A drive
that went away must not be taken for a writer who deleted everything.
"""

from __future__ import annotations

import os
import stat
from dataclasses import dataclass
from hashlib import sha256
from typing import TYPE_CHECKING, TypeVar

from aria_dream.adapters.index.contents import MAX_NOTE_BYTES, UNREAD
from aria_dream.adapters.index.scan import file_path
from aria_dream.vault.linkage import kind_of
from aria_dream.vault.snapshot import Snapshot, difference, folded_path, shrank_suddenly

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from aria_dream.adapters.disk.history import OwnContents
    from aria_dream.adapters.index.index import VaultIndex
    from aria_dream.adapters.index.scan import VaultScan
    from aria_dream.errors import Problem
    from aria_dream.vault.snapshot import SnapshotDifference

_Key = TypeVar("_Key")


@dataclass(frozen=True, slots=True, kw_only=True)
class VaultChange:
    """A vault that is not what it was. Each path is named in one field only; all sorted."""

    index: VaultIndex
    """The vault as it is now."""
    created: tuple[str, ...]
    edited: tuple[str, ...]
    """Another content: for notes and canvases by hash, for other files by size and times."""
    removed: tuple[str, ...]
    renamed: tuple[tuple[str, str], ...]
    """`(old, new)`: the same note under another name, folder or spelling. Its content may differ where only the
    spelling does."""
    evicted: tuple[str, ...]
    """Moved off this device by a cloud drive; the content is what it was."""
    ours: frozenset[str]
    """Those of the paths (of a rename, the new one) that are as one of our own processes left them."""
    settings_changed: bool
    """Obsidian's settings for this vault, as far as we read them, are others than before."""

    @property
    def foreign(self) -> tuple[str, ...]:
        """Paths that somebody else created, edited, removed or renamed, sorted."""
        named = {*self.created, *self.edited, *self.removed, *(new for _, new in self.renamed)}
        return tuple(sorted(named - self.ours))

    @property
    def own(self) -> tuple[str, ...]:
        """Paths that we changed ourselves, sorted."""
        return tuple(sorted(self.ours))

    def __bool__(self) -> bool:
        """Whether anything happened that matters to a dream."""
        named = self.created or self.edited or self.removed or self.renamed or self.evicted
        return bool(named) or self.settings_changed


def compare_indexes(
    before: VaultIndex, after: VaultIndex, own: OwnContents, reread: Iterable[str] = ()
) -> VaultChange:
    """What turned `before` into `after`; `reread` are files whose content may differ though their state does not.

    A note that was removed and came back in one look under a name that differs in case or Unicode form only, or under
    another name with the same content as no other, is the same note (a sync client moves so).
    """
    change = difference(before.scan.snapshot, after.scan.snapshot)
    added, removed = set(change.added), set(change.removed)
    renamed = [*change.renamed, *_moved_by_copy(before, after, removed, added)]
    added -= {new for _, new in renamed}
    removed -= {old for old, _ in renamed}
    edited = {path for path in (*change.changed, *reread) if _digest(before, path) != _digest(after, path)}
    edited |= {path for path in change.changed if _digest(after, path) is None}
    own.update()
    ours = {path for path in (*added, *edited, *(new for _, new in renamed)) if _is_ours(after, path, own)}
    ours |= {path for path in removed if own.removed(path)}
    return VaultChange(
        index=after,
        created=tuple(sorted(added)),
        edited=tuple(sorted(edited)),
        removed=tuple(sorted(removed)),
        renamed=tuple(sorted(renamed)),
        evicted=change.evicted,
        ours=frozenset(ours),
        settings_changed=before.obsidian != after.obsidian,
    )


def _digest(index: VaultIndex, path: str) -> bytes | None:
    """The hash of a note's or canvas's content; None for other files and for what could not be read."""
    source = index.linkage.source_of(path)
    if source is None or index.contents[source] is UNREAD:
        return None
    return index.contents[source].digest


def _is_ours(index: VaultIndex, path: str, own: OwnContents) -> bool:
    digest = _digest(index, path)
    return digest is not None and own.holds(path, digest)


def _moved_by_copy(
    before: VaultIndex, after: VaultIndex, removed: set[str], added: set[str]
) -> list[tuple[str, str]]:
    """`(old, new)` of notes that were copied and removed rather than renamed."""
    if not removed or not added:
        return []
    by_name = _only_ones((folded_path(path), path) for path in removed)
    by_content = _only_ones((digest, path) for path in removed if (digest := _digest(before, path)))
    new_contents = _only_ones((digest, path) for path in added if (digest := _digest(after, path)))
    pairs: dict[str, str] = {}
    for new in sorted(added):
        digest = _digest(after, new)
        old = by_name.get(folded_path(new))
        if old is None and digest and new_contents.get(digest) == new and after.scan.snapshot.files[new].size_bytes:
            old = by_content.get(digest)
        if old is not None and old not in pairs:
            pairs[old] = new
    return list(pairs.items())


def _only_ones(pairs: Iterable[tuple[_Key, str]]) -> dict[_Key, str]:
    """Each key that stands for one path only."""
    found: dict[_Key, str | None] = {}
    for key, path in pairs:
        found[key] = None if key in found else path
    return {key: path for key, path in found.items() if path is not None}


ACCEPT_AFTER_S = 3600.0
"""A vault that has stayed shrunken so long, its root in place, was tidied by its writer."""

SETTLED_S = 600.0
"""What a vault held is compared with what it held up to so long ago: a slow removal is one, however many looks see
it."""


@dataclass(frozen=True, slots=True)
class Present:
    """The vault is there, and may be written."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Gone:
    """The vault's folder is away or empty. Nothing may be written until it is back."""

    reason: str
    """One sentence for the writer, without a full stop."""
    since_s: float
    """By the watcher's clock."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Shrunk:
    """Most of the vault vanished. Nothing may be written until it is back, or has stayed away for `ACCEPT_AFTER_S`, or
    the writer says that it is right so."""

    reason: str
    """One sentence for the writer, without a full stop."""
    since_s: float
    """By the watcher's clock."""


VaultState = Present | Gone | Shrunk


@dataclass(frozen=True, slots=True)
class VaultFolder:
    """The folder that the vault is, as it was at one moment."""

    device: int
    inode: int


def read_vault_folder(root: Path, *, had_files: bool) -> VaultFolder | str:
    """The vault's folder; or why it counts as gone. An empty folder that `had_files` is a place where a drive was."""
    try:
        status = root.stat()
        if not stat.S_ISDIR(status.st_mode):
            return f"the vault's folder {root} is a file now"
        with os.scandir(root) as entries:
            if had_files and next(entries, None) is None:
                return f"the vault's folder {root} is empty (is its drive mounted?)"
    except FileNotFoundError:
        return f"the vault's folder {root} is gone (moved, removed, or its drive is not mounted)"
    except OSError as error:
        return f"the vault's folder {root} cannot be read ({(error.strerror or str(error)).lower()})"
    return VaultFolder(status.st_dev, status.st_ino)


def shrunk_reason(before: Snapshot, after: Snapshot) -> str:
    """Why `after` looks like a vault that lost its drive or its sync; `""` where it does not. Pure.

    That is where more than half of at least ten files, or of at least ten notes, vanished.
    """
    missing = before.files.keys() - after.files.keys()
    if len(missing) <= 5:  # half of the ten that are needed
        return ""
    notes_before, notes_after = _notes(before), _notes(after)
    if shrank_suddenly(before, after) or shrank_suddenly(notes_before, notes_after):
        return f"{len(missing)} of {len(before.files)} files vanished at once"
    return ""


def unreadable_reason(seen: SnapshotDifference, problems: Iterable[Problem]) -> str:
    """Why files that seem removed are only out of sight; `""` where none is. Pure. `problems` are those of the scan."""
    for problem in problems:
        hidden = sum(path.startswith(f"{problem.path}/") for path in seen.removed)
        if hidden:
            return f"{hidden} files are out of sight because the folder {problem.path} cannot be read"
    return ""


def _notes(snapshot: Snapshot) -> Snapshot:
    return Snapshot({path: state for path, state in snapshot.files.items() if kind_of(path) == "note"})


_RACY_NS = 2_000_000_000
"""A file that changed less than this before it was looked at may change again without its times moving (FAT: 2 s)."""


def find_rewritten(
    before: VaultIndex, scan: VaultScan, named: Iterable[str], looks_ns: tuple[int, int]
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


def _differs(before: VaultIndex, scan: VaultScan, path: str) -> bool:
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
