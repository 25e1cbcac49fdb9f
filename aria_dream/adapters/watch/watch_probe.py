"""Whether events can be trusted for a vault: what the drive is, and how many of its folders are really watched.

Nothing is written anywhere to find out: the kernel lists a process's watches in `/proc/self/fdinfo`, by inode. FACTS:
with its limit reached, watchdog goes on without a word, blind for the rest of the folders.
"""

from __future__ import annotations

import errno
import os
import re
import sys
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

PROC = Path("/proc")
_WATCH = re.compile(rb"^inotify wd:\S+ ino:([0-9a-f]+) ", re.MULTILINE)
_NETWORK = frozenset(
    {
        "9p", "afpfs", "afs", "beegfs", "ceph", "cifs", "coda", "davfs", "drvfs", "fuse", "glusterfs", "gpfs",
        "lustre", "macfuse", "ncpfs", "nfs", "nfs3", "nfs4", "osxfuse", "prl_fs", "smb", "smb2", "smb3",
        "smbfs", "sshfs", "vboxsf", "virtiofs", "vmhgfs", "webdav",
    }
)  # fmt: skip
"""File systems that change without this kernel's doing: another machine, the Windows side of WSL, a program.
`fuseblk` (NTFS and exFAT disks) is local and not among them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Mount:
    """A mounted file system."""

    place: str
    kind: str
    remote: bool = False
    """Said so by the system itself (Windows)."""


def network_reason(root: str, mounts: Iterable[Mount]) -> str:
    """Why changes to the vault at `root` may come without events: the drive it, or a folder in it, is on. `""`: they
    do not. Pure."""
    if root.startswith("\\\\") and not root.startswith(("\\\\?\\", "\\\\.\\")):
        return "the vault is on a network drive"
    known = sorted(mounts, key=lambda mount: len(mount.place))
    around = [mount for mount in known if _contains(mount.place, root)]
    inside = [mount for mount in known if _contains(root, mount.place) and mount.place != root]
    for mount in (*around[-1:], *inside):
        if mount.remote or mount.kind.lower() in _NETWORK or mount.kind.lower().startswith("fuse."):
            where = "the vault" if mount in around else "a folder of the vault"
            return f"{where} is on a drive that changes from outside ({mount.kind})"
    return ""


def _contains(folder: str, path: str) -> bool:
    folder, path = os.path.normcase(folder).rstrip("/\\"), os.path.normcase(path).rstrip("/\\")
    return path == folder or path.startswith((folder + "/", folder + "\\"))


def read_mounts() -> tuple[Mount, ...]:
    """What is mounted now; empty where the system does not say."""
    import psutil

    try:
        found = psutil.disk_partitions(all=True)
    except (OSError, psutil.Error, NotImplementedError):
        return ()
    return tuple(
        Mount(place=part.mountpoint, kind=part.fstype, remote="remote" in part.opts.split(",")) for part in found
    )


def inotify_descriptors() -> frozenset[int]:
    """This process's inotify descriptors; empty where the system has none."""
    found: set[int] = set()
    with suppress(OSError):
        for place in (PROC / "self" / "fd").iterdir():
            with suppress(OSError):
                if str(place.readlink()) == "anon_inode:inotify":
                    found.add(int(place.name))
    return frozenset(found)


def read_watched(descriptors: Iterable[int], proc: Path = PROC) -> tuple[int, ...] | None:
    """The inode of each watch behind those descriptors; None where the system does not tell (no Linux)."""
    inodes: list[int] = []
    told = False
    for descriptor in descriptors:
        with suppress(OSError):
            text = (proc / "self" / "fdinfo" / str(descriptor)).read_bytes()
            inodes += (int(ino, 16) for ino in _WATCH.findall(text))
            told = True
    return tuple(inodes) if told else None


def read_folders(root: Path) -> tuple[int, ...]:
    """The inode of each folder that has to be watched, the root first: all below it, hidden ones too, no links."""
    inodes = [root.stat().st_ino]
    pending = [str(root)]
    while pending:
        with suppress(OSError), os.scandir(pending.pop()) as entries:
            for entry in entries:
                with suppress(OSError):
                    if entry.is_dir(follow_symlinks=False):
                        inodes.append(entry.inode())
                        pending.append(entry.path)
    return tuple(inodes)


def count_unwatched(folders: tuple[int, ...], watched: tuple[int, ...]) -> int:
    """How many of `folders` (inodes, the root's first) have no watch. Pure.

    A layered file system may show other inodes than the kernel watches; the root's, which is watched if any is, tells,
    and then only the counts are compared.
    """
    if not watched:
        return len(folders)
    known = set(watched)
    if folders[0] in known:
        return sum(1 for inode in folders if inode not in known)
    return max(0, len(folders) - len(watched))


@dataclass(frozen=True, slots=True, kw_only=True)
class WatchLimits:
    """The system's limits for one user; None where there are none or they are not told."""

    watches: int | None
    watches_name: str
    """The sysctl that sets `watches`."""
    observers: int | None
    observers_name: str
    """The sysctl that sets `observers`."""


def read_watch_limits(proc: Path = PROC) -> WatchLimits:
    """The limits now. In a container the user namespace has its own, and the lower one counts."""
    watches = _lowest(proc, "fs.inotify.max_user_watches", "user.max_inotify_watches")
    observers = _lowest(proc, "fs.inotify.max_user_instances", "user.max_inotify_instances")
    return WatchLimits(
        watches=watches[0], watches_name=watches[1], observers=observers[0], observers_name=observers[1]
    )


def _lowest(proc: Path, *names: str) -> tuple[int | None, str]:
    """The lowest value among the sysctls, and whose it is; the first's name where none can be read."""
    found = [(value, name) for name in names if (value := _sysctl(proc, name)) is not None]
    return min(found, default=(None, names[0]), key=lambda pair: pair[0])


def _sysctl(proc: Path, name: str) -> int | None:
    try:
        return int((proc / "sys" / Path(*name.split("."))).read_text(encoding="ascii"))
    except (OSError, ValueError):
        return None


def read_watches_in_use(proc: Path = PROC) -> tuple[int, ...] | None:
    """The inode of every watch of this user's processes, as far as they may be seen; None where nothing is told."""
    if not (proc / "self" / "fdinfo").is_dir():
        return None
    inodes: list[int] = []
    mine = os.getuid() if sys.platform != "win32" else 0
    for process in proc.iterdir():
        with suppress(OSError):
            if process.name.isdigit() and process.stat().st_uid == mine:
                for info in (process / "fdinfo").iterdir():
                    with suppress(OSError):
                        inodes += (int(ino, 16) for ino in _WATCH.findall(info.read_bytes()))
    return tuple(inodes)


def limit_sentence(error: OSError, limits: WatchLimits) -> str:
    """Why no observer could be started, and what to do about it. Pure."""
    if error.errno == errno.ENOSPC:
        return "no folder can be watched; " + _raise_watches(limits, 0)
    if error.errno == errno.EMFILE:
        name, is_now = limits.observers_name, limits.observers
        return (
            f"no watcher can be started: the limit on them{_set_to(is_now)} or on open files is reached; raise it with "
            f"`sudo sysctl {name}={max(1024, 2 * (is_now or 0))}` (or `ulimit -n`)"
        )
    return f"the vault's folders cannot be watched ({(error.strerror or str(error)).lower()})"


def blind_sentence(missing: int, folders: int, limits: WatchLimits) -> str:
    """That some folders are not watched, and what to do about it. Pure."""
    return f"{missing} of {folders} folders cannot be watched; " + _raise_watches(limits, folders)


def _raise_watches(limits: WatchLimits, folders: int) -> str:
    wanted = max(524_288, 2 * folders, 2 * (limits.watches or 0))
    return (
        f"the system's limit{_set_to(limits.watches)} is reached by this and other programs; raise it with "
        f"`sudo sysctl {limits.watches_name}={wanted}`"
    )


def _set_to(value: int | None) -> str:
    return "" if value is None else f" (now {value})"


@dataclass(frozen=True, slots=True, kw_only=True)
class WatchInputs:
    """What a daemon would find if it watched this vault now."""

    folders: int
    limit: int | None
    used: int | None
    """Watches in use by this user's programs, a running daemon's among them."""
    why_polling: str
    """Why events would not do, and what to do about it; `""` where they do."""

    def sentence(self) -> str:
        """All of it for the writer, without a full stop."""
        if self.why_polling:
            return f"{self.why_polling}; so the vault is looked at every minute or so instead"
        room = "" if self.limit is None or self.used is None else f"; {self.used} of {self.limit} watches are in use"
        return f"changes are told by the system, {self.folders} {'folder' if self.folders == 1 else 'folders'}{room}"


def read_watch_inputs(
    root: Path, *, proc: Path = PROC, mounts: Callable[[], tuple[Mount, ...]] = read_mounts
) -> WatchInputs:
    """What watching the vault at `root` would meet. Starts nothing, writes nothing.

    Raises:
        OSError: `root` is not there.
    """
    real = Path(os.path.realpath(root))
    folders = read_folders(real)
    limits, in_use = read_watch_limits(proc), read_watches_in_use(proc)
    why = network_reason(str(real), mounts())
    if not why and limits.watches is not None and in_use is not None:
        wanted = set(folders) - set(in_use)  # a running daemon has the rest
        room = limits.watches - len(in_use)
        if len(wanted) > room:
            why = blind_sentence(len(wanted) - max(0, room), len(folders), limits)
    used = None if in_use is None else len(in_use)
    return WatchInputs(folders=len(folders), limit=limits.watches, used=used, why_polling=why)
