"""Whether a vault is still the vault: a drive that went away must not be taken for a writer who deleted everything."""

from __future__ import annotations

import os
import stat
from dataclasses import dataclass
from typing import TYPE_CHECKING

from aria_dream.vault.linkage import kind_of
from aria_dream.vault.snapshot import Snapshot, shrank_suddenly

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from aria_dream.errors import Problem
    from aria_dream.vault.snapshot import SnapshotDifference

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
class SafePath:
    """The folder that the vault is, as it was at one moment."""

    device: int
    inode: int


def read_safe_path(root: Path, *, had_files: bool) -> SafePath | str:
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
    return SafePath(status.st_dev, status.st_ino)


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
