"""Where a vault path lies on the disk, and whether it may be read or written there. Changes nothing."""

from __future__ import annotations

import os
import stat
import sys
from contextlib import suppress
from typing import TYPE_CHECKING

from aria_dream.markdown.note import NotePath
from aria_dream.vault.edit import ABSENT, ContentHash, Exists, content_hash
from aria_dream.vault.names import fold_path, path_refusal
from aria_dream.world import Refused

if TYPE_CHECKING:
    from pathlib import Path

_TRASH = ".trash"
_DATALESS = 0x40000000  # SF_DATALESS, <sys/stat.h> of macOS: the content lies in the cloud
_RECALL = 0x00400000 | 0x00040000 | 0x00001000  # FILE_ATTRIBUTE_RECALL_ON_DATA_ACCESS, _ON_OPEN, OFFLINE
_LINK_TAGS = frozenset({0xA0000003, 0xA000000C})  # junction, symbolic link; cloud folders bear other tags
_COPY_XATTR_AND_ACL = (1 << 0) | (1 << 2)  # COPYFILE_ACL | COPYFILE_XATTR, <copyfile.h> of macOS


def locate(root: Path, path: NotePath, *, new: bool = False) -> Path | Refused:
    """The file that `path` means under `root` (a real path), whether it exists or not.

    Refused: a path out of the vault or into a hidden folder (the vault's own `.trash` excepted), and any symbolic link
    or junction on the way, the file itself included (but for a `new` one: `way_is_free` says what lies there).
    Looked at afresh on every call; a folder that another program
    turns into a link between this look and the system call that follows is not seen.
    """
    if path.is_absolute() or not path.parts or ".." in path.parts or any("\0" in part for part in path.parts):
        return Refused(path, "the path leaves the vault")
    if sys.platform == "win32" and (refusal := path_refusal(path, trash=True)):
        return Refused(path, refusal)
    folders = path.parts[1:-1] if path.parts[0] == _TRASH else path.parts[:-1]
    if any(folder.startswith(".") for folder in folders):
        return Refused(path, "the path leads into a hidden folder")
    place = root
    for number, part in enumerate(path.parts[:-1] if new else path.parts):
        place = place / part
        try:
            found = os.lstat(place)
        except FileNotFoundError:
            break
        except NotADirectoryError:
            return Refused(path, "a folder of the path is a file")
        if stat.S_ISLNK(found.st_mode) or getattr(found, "st_reparse_tag", 0) in _LINK_TAGS:
            return Refused(path, "the path leads through a symbolic link")
        is_last = number == len(path.parts) - 1
        if not is_last and not stat.S_ISDIR(found.st_mode):
            return Refused(path, "a folder of the path is a file")
        if is_last and not stat.S_ISREG(found.st_mode):
            return Refused(path, "it is no ordinary file")
    return root.joinpath(*path.parts)


def is_placeholder(found: os.stat_result) -> bool:
    """Whether the file's content lies in a cloud and reading it would fetch it: flags of macOS and Windows, and
    anywhere a file that has a size but not one block.
    """
    if getattr(found, "st_flags", 0) & _DATALESS or getattr(found, "st_file_attributes", 0) & _RECALL:
        return True
    return found.st_size > 0 and getattr(found, "st_blocks", 1) == 0


def read_plain(place: Path) -> bytes | None:
    """The bytes of an ordinary file; None where there is none. Follows no link at the last name."""
    try:
        handle = os.open(place, os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_BINARY", 0))
    except (FileNotFoundError, NotADirectoryError):
        return None
    with open(handle, "rb", buffering=0) as file:  # noqa: PTH123 - a descriptor has no path
        return file.read()


def hash_of(place: Path) -> ContentHash:
    """The content's hash; `ABSENT` where there is no file."""
    content = read_plain(place)
    return ABSENT if content is None else content_hash(content)


def touch_refusal(path: NotePath, place: Path) -> Refused | None:
    """Why an existing file may not be changed: read-only, not on this device, in a folder that may not be written.

    The file's own mode bits count even for root: who makes a note read-only means it.
    """
    found = os.lstat(place)
    if is_placeholder(found):
        return Refused(path, "the note is not on this device")
    # UF_IMMUTABLE and SF_IMMUTABLE of macOS: what Finder calls "Locked".
    if not found.st_mode & 0o222 or getattr(found, "st_flags", 0) & 0x20002 or not os.access(place, os.W_OK):
        return Refused(path, "the note is read-only")
    return folder_refusal(path, place.parent)


def folder_refusal(path: NotePath, folder: Path) -> Refused | None:
    """Why nothing may be put into the folder, or into the nearest that exists above it."""
    while not folder.exists() and folder != folder.parent:
        folder = folder.parent
    if not os.access(folder, os.W_OK | os.X_OK):
        return Refused(path, "the folder is read-only")
    return None


def way_is_free(root: Path, path: NotePath) -> Exists | Refused | None:
    """None where a new file may get this name; else what is in its way.

    In the way is whatever has that name on a disk that ignores case or Unicode form, a folder of the path under
    another spelling, and a cloud placeholder's stub.
    """
    refusal = path_refusal(path, trash=True)
    if refusal:
        return Refused(path, refusal)
    place = root
    for number, part in enumerate(path.parts):
        try:
            names = [entry.name for entry in place.iterdir()]
        except FileNotFoundError:
            break
        is_last = number == len(path.parts) - 1
        if part in names and not is_last:
            place = place / part
            continue
        other = next((name for name in names if fold_path(name) == fold_path(part)), None)
        if other is not None:
            return Exists(NotePath(*path.parts[:number], other))
        if is_last and f".{part}.icloud" in names:
            return Refused(path, "the note is not on this device")
        if not is_last:
            break
    return folder_refusal(path, root.joinpath(*path.parts[:-1]))


def copy_attributes(source: Path, handle: int, target: Path) -> None:
    """Give the new file (open at `handle`, named `target`) the mode, owner and extended attributes of `source`.

    What the system does not let this process give (another owner, protected attributes) is left out silently. Never
    kept: the creation time (but on Windows, where ReplaceFile keeps it), and other hard links to the old file, which
    go on naming the old content.
    """
    if sys.platform == "win32":
        return  # ReplaceFile merges attributes, access list and alternate streams itself
    found = source.stat(follow_symlinks=False)
    with suppress(OSError):
        os.fchown(handle, found.st_uid, found.st_gid)
    os.fchmod(handle, stat.S_IMODE(found.st_mode))
    if sys.platform == "darwin":
        import ctypes

        with suppress(OSError, AttributeError):
            copyfile = ctypes.CDLL(None).copyfile
            copyfile(os.fsencode(source), os.fsencode(target), None, ctypes.c_uint32(_COPY_XATTR_AND_ACL))
        return
    with suppress(OSError):
        for name in os.listxattr(source, follow_symlinks=False):
            with suppress(OSError):
                os.setxattr(handle, name, os.getxattr(source, name, follow_symlinks=False))


def open_for_writing(handle: int) -> bool:
    """Whether another program has the file open for writing, where the system can say so (Linux, local disks).

    A read lease (fcntl(2) F_SETLEASE) is granted only where nobody writes. False where leases are unknown.
    """
    if sys.platform != "linux":
        return False
    import fcntl
    import signal

    try:
        # Should somebody open the file while we hold the lease, the kernel signals; SIGURG is ignored by default.
        fcntl.fcntl(handle, fcntl.F_SETSIG, signal.SIGURG)
        fcntl.fcntl(handle, fcntl.F_SETLEASE, fcntl.F_RDLCK)
    except BlockingIOError:
        return True
    except OSError:
        return False
    with suppress(OSError):
        fcntl.fcntl(handle, fcntl.F_SETLEASE, fcntl.F_UNLCK)
    return False
