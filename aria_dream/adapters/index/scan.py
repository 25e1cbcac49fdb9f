"""Which files a vault holds: one walk over its folders, by `scandir`, that opens no file.

As Obsidian sees a vault: dot files and dot folders are no part of it (`.obsidian`, `.trash`, `.git`), a vault inside
the vault is. Symbolic links are never followed: what they lead to inside the vault is found at its real path, and what
lies outside is not the vault's.
"""

# ruff: noqa: PTH112, PTH113, PTH116, PTH118  # plain strings: a Path for each of 50,000 files costs more than the walk

from __future__ import annotations

import os
import stat
import sys
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from aria_dream.errors import Problem, VaultUnreadableError
from aria_dream.vault.snapshot import FileState, Snapshot, folded_path
from aria_dream.vault.sync_conflict import copies_among, original_of_copy

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

# Not in the stat module of every platform; the values are those of the systems' headers.
_SF_DATALESS = 0x40000000
_WINDOWS_ELSEWHERE = 0x1000 | 0x40000 | 0x400000
"""FILE_ATTRIBUTE_OFFLINE, _RECALL_ON_OPEN and _RECALL_ON_DATA_ACCESS."""
_WINDOWS_MOUNT_POINT = 0xA0000003
_TELLS_BLOCKS = sys.platform not in ("darwin", "win32")
"""Elsewhere a mark tells; on macOS compressed files have no blocks either."""
_LARGEST_INLINE_BYTES = 4096

@dataclass(frozen=True, slots=True, kw_only=True)
class VaultScan:
    """What one walk found."""

    root: str
    """Real path of the vault, in the form that opens files (on Windows with the prefix for long paths)."""
    snapshot: Snapshot
    """Every file of the vault, attachments too; files that a cloud drive keeps elsewhere with `here=False`."""
    config_folder: str
    """Name of Obsidian's config folder, "" where there is none."""
    named_copies: frozenset[str]
    """Files whose names only a sync gives, to copies of what two machines changed."""
    problems: tuple[Problem, ...]

    @property
    def copies(self) -> dict[str, str]:
        """Each of `named_copies` beside which the file lies that it is a copy of, and that file."""
        return copies_among(sorted(self.named_copies), self.snapshot.files)


def scan_vault(root: Path) -> VaultScan:
    """Every file of the vault at `root`, found without opening one.

    Raises VaultUnreadableError where `root` is missing, is no folder or cannot be listed. A folder below that cannot
    be listed is a Problem.
    """
    walk = _Walk(_openable_root(root))
    walk.run()
    files = _without_double_spellings(walk.files)
    for path in walk.blockless:
        if path in files and _is_elsewhere(files[path], walk.reference.get(files[path].device)):
            files[path] = files[path]._replace(here=False)
    return VaultScan(
        root=walk.root,
        snapshot=Snapshot(files),
        config_folder=walk.config_folder,
        named_copies=frozenset(filter(original_of_copy, files)),
        problems=tuple(sorted(walk.problems, key=lambda problem: problem.path)),
    )


def rescan(before: VaultScan, changed_paths: Iterable[str]) -> VaultScan:
    """`before` with the state that `changed_paths` have now; the same as a new scan if nothing else changed.

    Where a folder is or was among the paths, the whole vault is scanned anew.
    """
    files = dict(before.snapshot.files)
    looked_at = {_unstubbed(path) for path in changed_paths}
    for path in sorted(looked_at):
        known = files.get(path)
        is_folder = os.path.isdir(file_path(before.root, path))
        if is_folder or (known is None and path.startswith(".")) or not os.path.isdir(before.root):
            return scan_vault(Path(before.root))
        state = state_of(before.root, path)
        if state is not None:
            files[path] = state
        elif known is not None:
            del files[path]
        elif any(other.startswith(f"{path}/") for other in files):
            return scan_vault(Path(before.root))
    named = {path for path in files if path in before.named_copies or path not in before.snapshot.files}
    return replace(
        before,
        snapshot=Snapshot(files),
        named_copies=frozenset(filter(original_of_copy, named)),
        problems=tuple(problem for problem in before.problems if problem.path not in looked_at),
    )


def _unstubbed(path: str) -> str:
    """The path of the file that an iCloud stub stands for; any other path as it is."""
    folder, slash, name = path.rpartition("/")
    is_stub = name.startswith(".") and name.endswith(".icloud") and len(name) > len("..icloud")
    return f"{folder}{slash}{name[1 : -len('.icloud')]}" if is_stub else path


def file_path(root: str, path: str) -> str:
    """The system's path of the vault path `path` below `Scan.root`."""
    return f"{root}{os.sep}{path.replace('/', os.sep)}" if os.sep != "/" else f"{root}/{path}"


def state_of(root: str, path: str) -> FileState | None:
    """The state of one file as `scan_vault` would give it, at the cost of listing its folder; None where a scan would
    not list it."""
    parts = path.split("/")
    if any(part.startswith(".") for part in parts):
        return None
    if any(_is_link(file_path(root, "/".join(parts[:depth]))) for depth in range(1, len(parts))):
        return None
    folder = path.rpartition("/")[0]
    walk = _Walk(root)
    try:
        # Listed rather than asked for by name: a disk that folds case must not answer for another spelling.
        with os.scandir(file_path(root, folder) if folder else root) as entries:
            for _ in walk.folder(f"{folder}/" if folder else "", entries):
                pass
    except OSError:
        return None
    walk.add_stubs()
    state = _without_double_spellings(walk.files).get(path)
    if state is not None and path in walk.blockless and _is_elsewhere(state, walk.reference.get(state.device)):
        return state._replace(here=False)
    return state


def _openable_root(root: Path) -> str:
    try:
        real = os.path.realpath(root, strict=True)
        mode = os.stat(real).st_mode
    except FileNotFoundError:
        raise VaultUnreadableError(f"there is no folder {root}") from None
    except (OSError, ValueError) as error:
        raise VaultUnreadableError(f"the vault {root} cannot be read: {_why(error)}") from None
    if not stat.S_ISDIR(mode):
        raise VaultUnreadableError(f"{root} is a file; a vault is a folder")
    if sys.platform == "win32" and not real.startswith("\\\\"):
        real = "\\\\?\\" + real
    return real.rstrip(os.sep) if len(real) > 3 else real


def _why(error: Exception) -> str:
    return (getattr(error, "strerror", None) or str(error) or type(error).__name__).lower()


class _Walk:
    """The walk's growing result. One per scan."""

    def __init__(self, root: str) -> None:
        self.root = root
        self.files: dict[str, FileState] = {}
        self.stubs: list[tuple[str, os.stat_result]] = []
        self.problems: list[Problem] = []
        self.config_folder = ""
        self.reference: dict[int, int] = {}
        """Per device: the size of the smallest file seen that does occupy blocks."""
        self.blockless: list[str] = []
        """Files with a size and no blocks (see `_is_elsewhere`)."""
        self.seen_folders: set[tuple[int, int]] = set()

    def run(self) -> None:
        status = os.stat(self.root)
        self.seen_folders.add((status.st_dev, status.st_ino))
        pending = [""]
        while pending:
            folder = pending.pop()
            try:
                with os.scandir(file_path(self.root, folder) if folder else self.root) as entries:
                    pending.extend(self.folder(f"{folder}/" if folder else "", entries))
            except OSError as error:
                if not folder:
                    raise VaultUnreadableError(f"the vault {self.root} cannot be read: {_why(error)}") from None
                self._problem(folder, f"this folder cannot be read ({_why(error)}), so its notes are left out")
        self.add_stubs()

    def add_stubs(self) -> None:
        """Adds the evicted files whose stubs were seen, unless the file itself is there."""
        for path, status in self.stubs:
            self.files.setdefault(path, _stub_state(status))

    def _problem(self, path: str, message: str) -> None:
        self.problems.append(Problem(path, 0, message))

    def folder(self, prefix: str, entries: Iterator[os.DirEntry[str]]) -> Iterator[str]:
        """Takes in a folder's files; yields the vault paths of its folders."""
        for entry in entries:
            name = entry.name
            try:
                if name.startswith("."):
                    self._dot_entry(prefix, entry)
                elif entry.is_file(follow_symlinks=False):
                    self._file(prefix + name, entry.stat(follow_symlinks=False))
                elif _entry_is_link(entry):
                    self._link(prefix + name, entry)
                elif entry.is_dir(follow_symlinks=False):
                    if self._is_new_folder(entry):
                        yield prefix + name
                elif name[-3:].lower() == ".md":
                    self._problem(prefix + name, "is a pipe, socket or device, not a file, and is left out")
            except OSError as error:
                self._problem(prefix + name, f"cannot be looked at ({_why(error)}) and is left out")

    def _file(self, path: str, status: os.stat_result) -> None:
        self.files[path] = _state(status)
        if not _TELLS_BLOCKS or not status.st_size:
            return
        if not status.st_blocks:
            self.blockless.append(path)
        else:
            smallest = self.reference.get(status.st_dev)
            if smallest is None or status.st_size < smallest:
                self.reference[status.st_dev] = status.st_size

    def _dot_entry(self, prefix: str, entry: os.DirEntry[str]) -> None:
        name = entry.name
        if name.endswith(".icloud") and len(name) > len("..icloud") and entry.is_file(follow_symlinks=False):
            self.stubs.append((prefix + name[1 : -len(".icloud")], entry.stat(follow_symlinks=False)))
        elif not prefix and entry.is_dir() and self._rather_configures(entry):
            self.config_folder = name

    def _rather_configures(self, entry: os.DirEntry[str]) -> bool:
        """Whether a dot folder is Obsidian's, rather than the one found before. It may have any name and then holds
        app.json; `.obsidian` wins."""
        if ".obsidian" in (entry.name, self.config_folder):
            return entry.name == ".obsidian"
        first = not self.config_folder or entry.name < self.config_folder
        return first and os.path.isfile(os.path.join(entry.path, "app.json"))

    def _link(self, path: str, entry: os.DirEntry[str]) -> None:
        try:
            target = os.path.realpath(entry.path, strict=True)
        except OSError:
            self._problem(path, "is a link that leads nowhere and is left out")
            return
        inside = os.path.normcase(target) == os.path.normcase(self.root) or os.path.normcase(target).startswith(
            os.path.normcase(self.root.removeprefix("\\\\?\\")).rstrip(os.sep) + os.sep
        )
        if not inside and not os.path.normcase(self.root).startswith(os.path.normcase(target).rstrip(os.sep) + os.sep):
            self._problem(path, "is a link to a place outside the vault and is not followed")

    def _is_new_folder(self, entry: os.DirEntry[str]) -> bool:
        # On Windows a listing tells no inodes.
        status = os.stat(entry.path) if sys.platform == "win32" else entry.stat(follow_symlinks=False)
        key = (status.st_dev, status.st_ino)
        if key in self.seen_folders and status.st_ino:  # a bind mount may bring a folder back
            return False
        self.seen_folders.add(key)
        return True


def _entry_is_link(entry: os.DirEntry[str]) -> bool:
    """Whether `entry` is a symbolic link or a Windows junction."""
    if entry.is_symlink():
        return True
    if sys.platform == "win32":
        return entry.stat(follow_symlinks=False).st_reparse_tag == _WINDOWS_MOUNT_POINT
    return False


def _is_link(system_path: str) -> bool:
    try:
        status = os.stat(system_path, follow_symlinks=False)
    except OSError:
        return False
    return stat.S_ISLNK(status.st_mode) or getattr(status, "st_reparse_tag", 0) == _WINDOWS_MOUNT_POINT


def _state(status: os.stat_result) -> FileState:
    return FileState(
        status.st_size, status.st_mtime_ns, status.st_ctime_ns, status.st_ino, status.st_dev, _marked_here(status)
    )


def _stub_state(status: os.stat_result) -> FileState:
    """An evicted iCloud file: what is known of it is its stub's state, and that is none of the file's."""
    return FileState(0, status.st_mtime_ns, 0, 0, status.st_dev, here=False)


def _marked_here(status: os.stat_result) -> bool:
    """False where macOS or Windows marks the file as kept elsewhere."""
    if sys.platform == "darwin":
        return not status.st_flags & _SF_DATALESS
    if sys.platform == "win32":
        return not status.st_file_attributes & _WINDOWS_ELSEWHERE
    return True


def _is_elsewhere(state: FileState, smallest_with_blocks: int | None) -> bool:
    """Whether a file that has a size and no blocks is kept elsewhere, on a system that has no mark for it (Linux).

    Some file systems never tell blocks (many FUSE ones) and some keep small files inside the inode (btrfs, ext4 with
    inline_data). So it counts only on a device where some file does have blocks, and only when that file is no larger,
    or when this one is larger than what fits into an inode.
    """
    return smallest_with_blocks is not None and (
        state.size_bytes >= smallest_with_blocks or state.size_bytes > _LARGEST_INLINE_BYTES
    )


def _without_double_spellings(files: dict[str, FileState]) -> dict[str, FileState]:
    """`files` without second spellings of one file: same inode, and names that differ in case or Unicode form only."""
    inodes: dict[tuple[int, int], str] = {}
    double: list[str] = []
    for path, state in files.items():
        if state.inode:
            first = inodes.setdefault((state.device, state.inode), path)
            if first != path and folded_path(first) == folded_path(path):
                double.append(max(first, path))
                inodes[state.device, state.inode] = min(first, path)
    for path in double:
        del files[path]
    return files
