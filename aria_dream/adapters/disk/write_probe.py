"""What a check of the disk asks: whether a folder takes a file, and who holds the locks of a vault.

Whether a folder can be written is told by writing: rights, quotas and full disks show nowhere else.
"""

from __future__ import annotations

import errno
import os
import secrets
import socket
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from aria_dream.adapters.disk.files import TEMP_PREFIX
from aria_dream.adapters.disk.history import write_all
from aria_dream.adapters.disk.lock import is_held, read_holder
from aria_dream.adapters.disk.swap import sync_file

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from aria_dream.adapters.disk.lock import Holder

SIZE_BYTES: Final = 256 * 1024
"""More than a dream writes, its images for undoing included."""

_FULL: Final = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG})
_READ_ONLY: Final = frozenset({errno.EROFS, errno.EACCES, errno.EPERM})


def write_refusal(folder: Path) -> str:
    """Why nothing can be written into `folder`, or into the nearest that exists above it, and what to do about it, as a
    clause; `""` where it can. The file bears the name of our temp files, which no sync takes up, and is gone then."""
    while not os.path.exists(folder) and folder != folder.parent:  # noqa: PTH110 - Path's own raises where it may not look
        folder = folder.parent
    place = folder / f"{TEMP_PREFIX}{secrets.token_hex(4)}-probe"
    try:
        handle = os.open(place, os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0), 0o600)
        try:
            write_all(handle, bytes(SIZE_BYTES))
            sync_file(handle)
        finally:
            os.close(handle)
    except OSError as error:
        said = (error.strerror or str(error)).lower()
        return f"{folder} cannot be written ({said}); {_advice(error)}"
    finally:
        with suppress(OSError):
            place.unlink()
    return ""


def _advice(error: OSError) -> str:
    if error.errno in _FULL:
        return "the disk is full, or your share of it: make room"
    if error.errno in _READ_ONLY:
        return "give yourself the right to write there"
    return "look at the drive"


CHILD = "aria_dream.usecases.episode"
"""Stands in the command line of the daemon's children."""
_DAEMON = "daemon.lock"


@dataclass(frozen=True, slots=True, kw_only=True)
class Held:
    """A lock that is held."""

    name: str
    holder: Holder | None
    """None where its text says nothing legible."""
    trouble: str = ""
    """Why it will not be let go of, as a clause; `""` where nothing is wrong."""


def held_locks(folder: Path) -> Iterator[Held]:
    """Every lock in a state folder that some process holds, the daemon's first.

    Raises:
        OSError: the folder or a lock in it cannot be read.
    """
    names = {path.name.removesuffix(".owner") for path in folder.glob("*lock*") if path.is_file()}
    names = {name for name in names if name.endswith("lock")}
    daemon = _holder(folder, _DAEMON) if _DAEMON in names and is_held(folder / _DAEMON) else None
    for name in sorted(names, key=lambda name: (name != _DAEMON, name)):
        if is_held(folder / name):
            holder = _holder(folder, name)
            yield Held(name=name, holder=holder, trouble="" if holder is None else _trouble(holder, daemon))


def _holder(folder: Path, name: str) -> Holder | None:
    return read_holder(folder / f"{name}.owner") or read_holder(folder / name)


def _trouble(holder: Holder, daemon: Holder | None) -> str:
    """What is wrong with a process that holds a lock, as far as this machine can tell."""
    import psutil

    if holder.host != socket.gethostname() or not holder.is_alive():
        return ""  # elsewhere; or a child of it has the lock still
    with suppress(psutil.Error, OSError):
        process = psutil.Process(holder.pid)
        if process.status() == psutil.STATUS_STOPPED:
            return "it stands still; let it go on (`kill -CONT`) or end it"
        is_child = CHILD in process.cmdline()
        if is_child and (daemon is None or process.ppid() != daemon.pid):
            return "the daemon that started it is gone, so it ends soon; where it does not, end it"
    return ""
