"""The few system calls that change which file a name means, on three systems. All names are absolute paths.

`exchange` is what makes a write safe against editors that know nothing of our lock: it takes the old file out of its
name and hands it over for inspection in one step. Linux: renameat2(2) RENAME_EXCHANGE; macOS: renamex_np(2)
RENAME_SWAP; Windows: ReplaceFileW with a backup name.
"""

from __future__ import annotations

import ctypes
import errno
import os
import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

SHARING_VIOLATIONS = frozenset({5, 32, 33})
"""WinError codes for "somebody has the file open": access denied, sharing violation, lock violation."""

SHARING_WAIT_S = 2.0
"""How long a scanner or indexer may hold a file before the write is given up."""

UNSUPPORTED = frozenset({errno.ENOSYS, errno.EINVAL, errno.ENOTSUP, errno.EOPNOTSUPP})
"""What systems and file systems answer to a rename they do not know."""

BACKUP_SUFFIX = "~"
"""Windows only: the displaced file bears the temp file's name and this for an instant."""

_AT_FDCWD = -100
_RENAME_NOREPLACE = 1
_RENAME_EXCHANGE = 2
_RENAME_SWAP = 2
_RENAME_EXCL = 4
_UNABLE_TO_MOVE_REPLACEMENT_2 = 1177


class ExchangeUnavailableError(OSError):
    """Neither the system nor the file system can exchange two files."""


def exchange(first: Path, second: Path) -> None:
    """Afterwards each of the two names means the file that the other meant. Both must exist; atomic but on Windows.

    Raises:
        ExchangeUnavailableError: it cannot be done here; nothing changed.
        OSError: anything else; nothing changed.
    """
    _rename_by_flag(first, second, linux=_RENAME_EXCHANGE, mac=_RENAME_SWAP, windows=_replace_file)


def rename_new(source: Path, destination: Path) -> None:
    """Rename a file to a name that is free; never replaces anything.

    Where the file system knows neither a rename that refuses nor hard links (exFAT on macOS, some network drives), the
    name is looked at just before, and another program that takes it in that instant loses.

    Raises:
        FileExistsError: the name is taken; nothing changed.
        OSError: anything else; nothing changed.
    """
    try:
        _rename_by_flag(source, destination, linux=_RENAME_NOREPLACE, mac=_RENAME_EXCL, windows=_rename)
    except ExchangeUnavailableError:
        _rename_by_link(source, destination)


def retry_call(call: Callable[[], object], sleep: Callable[[float], None]) -> None:
    """Do `call`, again while Windows says that somebody has the file open, for `SHARING_WAIT_S` at most.

    Any other error, EACCES of a POSIX system included, is final at once.
    """
    waited_s, pause_s = 0.0, 0.02
    while True:
        try:
            call()
        except OSError as error:
            if getattr(error, "winerror", None) not in SHARING_VIOLATIONS or waited_s >= SHARING_WAIT_S:
                raise
        else:
            return
        sleep(pause_s)
        waited_s += pause_s
        pause_s = min(pause_s * 2, max(SHARING_WAIT_S - waited_s, 0.001))


def sync_folder(folder: Path) -> None:
    """Make the folder's entries survive a power cut. Windows has no such call: NTFS journals its names itself."""
    if sys.platform == "win32":
        return
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    except OSError as error:
        if error.errno not in UNSUPPORTED:  # some network and FUSE file systems sync no folders
            raise
    finally:
        os.close(handle)


def sync_file(handle: int) -> None:
    """Make the file's bytes survive a power cut; on macOS fsync(2) alone leaves them in the drive's cache."""
    if sys.platform == "darwin":
        import fcntl

        try:
            fcntl.fcntl(handle, fcntl.F_FULLFSYNC)
        except OSError:
            os.fsync(handle)
        return
    os.fsync(handle)


def _rename_by_link(source: Path, destination: Path) -> None:
    try:
        os.link(source, destination)
    except FileExistsError:
        raise
    except OSError:
        if os.path.lexists(destination):
            raise FileExistsError(errno.EEXIST, "the name is taken", str(destination)) from None
        source.rename(destination)
        return
    source.unlink()


def _rename_by_flag(
    first: Path, second: Path, *, linux: int, mac: int, windows: Callable[[Path, Path], object]
) -> None:
    if sys.platform == "win32":
        windows(first, second)
        return
    one, two = os.fsencode(first), os.fsencode(second)
    function = _libc_function("renamex_np" if sys.platform == "darwin" else "renameat2")
    if function is None:
        raise ExchangeUnavailableError(errno.ENOSYS, os.strerror(errno.ENOSYS), str(second))
    if sys.platform == "darwin":
        result = function(ctypes.c_char_p(one), ctypes.c_char_p(two), ctypes.c_uint(mac))
    else:
        here = ctypes.c_int(_AT_FDCWD)
        result = function(here, ctypes.c_char_p(one), here, ctypes.c_char_p(two), ctypes.c_uint(linux))
    if result == 0:
        return
    code = ctypes.get_errno()
    if code in UNSUPPORTED:
        raise ExchangeUnavailableError(code, os.strerror(code), str(second))
    raise OSError(code, os.strerror(code), str(second))


def _libc_function(name: str) -> Callable[..., int] | None:
    function: Callable[..., int] | None = getattr(ctypes.CDLL(None, use_errno=True), name, None)
    return function


def _rename(source: Path, destination: Path) -> None:
    source.rename(destination)  # on Windows this refuses a name that is taken


def _replace_file(temp: Path, target: Path) -> None:
    """Windows: `target` gets the new content with its own attributes, access list and creation time; `temp` the old."""
    if sys.platform == "win32":
        backup = temp.with_name(temp.name + BACKUP_SUFFIX)
        kernel = ctypes.WinDLL("kernel32", use_last_error=True)
        kernel.ReplaceFileW.argtypes = [ctypes.c_wchar_p] * 3 + [ctypes.c_ulong, ctypes.c_void_p, ctypes.c_void_p]
        if not kernel.ReplaceFileW(str(target), str(temp), str(backup), 0, None, None):
            code = ctypes.get_last_error()
            if code == _UNABLE_TO_MOVE_REPLACEMENT_2:  # the old file already bears the backup name
                backup.rename(target)
            raise ctypes.WinError(code)
        backup.rename(temp)
