"""Who holds the locks of a vault now, and whether that is a process that will let go of them."""

from __future__ import annotations

import socket
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING

from aria_dream.adapters.disk.lock import is_held, read_holder

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from aria_dream.adapters.disk.lock import Holder

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
