"""Whether a folder takes a file, told by writing one: rights, quotas and full disks show nowhere else."""

from __future__ import annotations

import errno
import os
import secrets
from contextlib import suppress
from typing import TYPE_CHECKING, Final

from aria_dream.adapters.disk.files import TEMP_PREFIX
from aria_dream.adapters.disk.history import write_all
from aria_dream.adapters.disk.swap import sync_file

if TYPE_CHECKING:
    from pathlib import Path

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
