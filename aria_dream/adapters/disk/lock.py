"""Who may work on a vault: one short lock for whoever writes, one long lock for the daemon.

The system's own lock on the lock file is the truth (flock on Linux and macOS, a byte range on Windows): it ends with
the process that holds it, however that ends, so a stale file or a reused process number never blocks and never lets
two in. The text in the file is for people. The file is never removed: removing it would let two processes hold two
files of one name.

Where the file system of the state folder has no locks (some network and FUSE mounts), a file that only one process
can create stands in; a holder is then gone when its process is (host, number and start time are compared). A
holder on another host counts as alive: doubt closes, and the message says which file to remove.
"""

from __future__ import annotations

import errno
import json
import os
import socket
import sys
import threading
import time
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Self

from aria_dream.adapters.disk.swap import rename_new
from aria_dream.errors import BusyError, WriteRefusedError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

if sys.platform == "win32":
    import msvcrt
else:
    import fcntl

WRITER_WAIT_S = 10.0
"""How long a writer waits for another one. A write takes milliseconds; a slow network drive takes seconds."""

_NO_LOCKS = frozenset({errno.ENOLCK, errno.ENOSYS, errno.ENOTSUP, errno.EOPNOTSUPP})
_EMPTY_FILE_S = 60.0
_WINDOWS_OFFSET = 0x7FFF0000  # far behind the text, which others must be able to read while the byte is locked


@dataclass(frozen=True, slots=True, kw_only=True)
class Holder:
    """Who holds a lock, as written into its file. For people: it may be old where nobody holds the lock."""

    host: str
    pid: int
    started_at: float
    """When the process started, in seconds since 1970, as psutil tells it: tells a reused number from the same one."""
    purpose: str
    since: str
    """ISO 8601 with offset."""

    def __str__(self) -> str:
        return f"{self.purpose} (process {self.pid} on {self.host}, since {self.since})"

    @classmethod
    def of_this_process(cls, purpose: str) -> Self:
        """This process, now."""
        import psutil

        return cls(
            host=socket.gethostname(),
            pid=os.getpid(),
            started_at=psutil.Process().create_time(),
            purpose=purpose,
            since=datetime.now(UTC).astimezone().isoformat(timespec="seconds"),
        )

    def is_alive(self) -> bool:
        """Whether that very process still runs. True in doubt: another host, or a process that may not be looked at."""
        import psutil

        if self.host != socket.gethostname():
            return True
        try:
            process = psutil.Process(self.pid)
            is_same = abs(process.create_time() - self.started_at) < 1.0
            return is_same and process.status() != psutil.STATUS_ZOMBIE
        except psutil.NoSuchProcess:
            return False
        except psutil.Error:
            return True


def read_holder(path: Path) -> Holder | None:
    """Who last wrote into the lock file; None where there is none or it says nothing legible."""
    try:
        found = json.loads(path.read_bytes())
        return Holder(**{name: found[name] for name in Holder.__slots__})
    except (OSError, ValueError, KeyError, TypeError):
        return None


def is_held(path: Path) -> bool:
    """Whether some process has the lock of the lock file at this moment. Writes nothing.

    Raises:
        OSError: the file cannot be opened.
    """
    owner = path.with_name(path.name + ".owner")
    if owner.exists():
        holder = read_holder(owner)
        return holder.is_alive() if holder else not _is_old(owner)
    if not path.exists():
        return False
    handle = os.open(path, os.O_RDWR | getattr(os, "O_BINARY", 0))
    try:
        if not _lock(handle):
            return True
        _unlock(handle)
    except OSError as error:
        if error.errno not in _NO_LOCKS:
            raise
    finally:
        os.close(handle)
    return False


class VaultLock:
    """One lock file. Within one thread it may be taken again by whoever has it; other threads wait like processes.

    A child made by fork shares the lock until it ends or starts another program (the file is not inherited by exec).
    """

    def __init__(
        self,
        path: Path,
        purpose: str,
        *,
        sleep: Callable[[float], None] = time.sleep,
        system_locks: bool = True,
    ) -> None:
        self._path = path
        self._purpose = purpose
        self._sleep = sleep
        self._system_locks = system_locks
        self._thread = threading.RLock()
        self._depth = 0
        self._handle: int | None = None

    @contextmanager
    def held(self, wait_s: float = WRITER_WAIT_S) -> Iterator[None]:
        """Hold the lock inside the `with` block. `wait_s=0` tries once, as a daemon does that finds another running.

        Raises:
            BusyError: another process has it and kept it for `wait_s`; the message says who.
            WriteRefusedError: the lock's folder cannot be made or written to.
        """
        if not self._thread.acquire(timeout=max(wait_s, 0.0)):
            raise BusyError(f"another part of this process holds {self._path.name}")
        try:
            if self._depth == 0:
                self._acquire(wait_s)
            self._depth += 1
            try:
                yield
            finally:
                self._depth -= 1
                if self._depth == 0:
                    self._release()
        finally:
            self._thread.release()

    def _acquire(self, wait_s: float) -> None:
        waited_s, pause_s = 0.0, 0.005
        while not self._try_in_its_folder():
            if waited_s >= wait_s:
                holder = read_holder(self._owner_path() if not self._system_locks else self._path)
                raise BusyError(f"the vault is in use by {holder or 'another process'}; lock file: {self._path}")
            self._sleep(pause_s)  # neither flock nor a byte range can wait with a limit
            waited_s += pause_s
            pause_s = min(pause_s * 2, 0.1)

    def _try_in_its_folder(self) -> bool:
        try:
            self._path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            return self._try()
        except OSError as error:  # a full or read-only disk: nobody can keep a journal there either
            reason = (error.strerror or str(error)).lower()
            raise WriteRefusedError(
                f"nothing was written: the state folder {self._path.parent} cannot be used ({reason})"
            ) from error

    def _try(self) -> bool:
        if not self._system_locks:
            return self._try_owner_file()
        handle = os.open(self._path, os.O_RDWR | os.O_CREAT | getattr(os, "O_BINARY", 0), 0o600)
        try:
            taken = _lock(handle)
        except OSError as error:
            os.close(handle)
            if error.errno not in _NO_LOCKS:
                raise
            self._system_locks = False
            return self._try_owner_file()
        if not taken:
            os.close(handle)
            return False
        self._handle = handle
        with suppress(OSError):  # the text is for people; a full disk must not keep the lock
            os.ftruncate(handle, 0)
            os.write(handle, self._text())
        return True

    def _text(self) -> bytes:
        return json.dumps(asdict(Holder.of_this_process(self._purpose))).encode() + b"\n"

    def _owner_path(self) -> Path:
        return self._path.with_name(self._path.name + ".owner")

    def _try_owner_file(self) -> bool:
        path = self._owner_path()
        try:
            handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        except FileExistsError:
            holder = read_holder(path)
            if holder.is_alive() if holder else not _is_old(path):
                return False
            # Two processes may both find the holder dead: only one of them can move the file away.
            grave = path.with_name(f"{path.name}.{os.getpid()}")
            with suppress(OSError):
                path.rename(grave)
                if read_holder(grave) == holder:
                    grave.unlink()
                else:  # somebody was quicker, and it was their new file that was moved: give it back
                    rename_new(grave, path)
            return False
        os.write(handle, self._text())
        os.close(handle)
        return True

    def _release(self) -> None:
        if not self._system_locks:
            self._owner_path().unlink(missing_ok=True)
            return
        assert self._handle is not None
        handle, self._handle = self._handle, None
        with suppress(OSError):
            os.ftruncate(handle, 0)
        _unlock(handle)
        os.close(handle)


def writer_lock(state_folder: Path, *, sleep: Callable[[float], None] = time.sleep) -> VaultLock:
    """The lock that every write to the vault and its journals takes for as long as it lasts."""
    return VaultLock(state_folder / "lock", "a write", sleep=sleep)


def daemon_lock(state_folder: Path, purpose: str = "the daemon") -> VaultLock:
    """The lock that the one daemon of a vault holds while it lives; take it with `wait_s=0`."""
    return VaultLock(state_folder / "daemon.lock", purpose)


def dream_lock(state_folder: Path) -> VaultLock:
    """The lock of one dream, from reading what was shown to remembering it: two at once would show the same pair."""
    return VaultLock(state_folder / "dream.lock", "a dream")


def consolidation_lock(state_folder: Path) -> VaultLock:
    """The lock of one consolidation, from its first record to its last. Dreams and reviews go on beside it."""
    return VaultLock(state_folder / "consolidation.lock", "a consolidation")


def _is_old(path: Path) -> bool:
    """Whether a holder's file without text is no longer one that is just being written: its writer died."""
    try:
        return abs(time.time() - path.stat().st_mtime) > _EMPTY_FILE_S
    except OSError:
        return False


def _lock(handle: int) -> bool:
    try:
        if sys.platform == "win32":
            os.lseek(handle, _WINDOWS_OFFSET, os.SEEK_SET)
            msvcrt.locking(handle, msvcrt.LK_NBLCK, 1)
            os.lseek(handle, 0, os.SEEK_SET)
        else:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        if error.errno in (errno.EWOULDBLOCK, errno.EACCES, errno.EDEADLK):
            return False
        raise
    return True


def _unlock(handle: int) -> None:
    if sys.platform == "win32":
        os.lseek(handle, _WINDOWS_OFFSET, os.SEEK_SET)
        msvcrt.locking(handle, msvcrt.LK_UNLCK, 1)
    else:
        fcntl.flock(handle, fcntl.LOCK_UN)
