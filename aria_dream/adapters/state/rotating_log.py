"""The daemon's log: a few files of bounded size in the vault's state folder, for people who look for a fault.

It holds vault paths, hashes, counts and our own sentences; never note text. So the words of an exception stay out
unless they are ours or the system's: any other may quote what it stumbled over.
"""

from __future__ import annotations

import logging
import traceback
from contextlib import contextmanager
from logging.handlers import RotatingFileHandler
from pathlib import Path
from typing import TYPE_CHECKING

from aria_dream.errors import AriaDreamError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import TextIO

LOG_NAME = "daemon.log"
SIZE_BYTES = 256 * 1024
KEPT = 4
"""Full files kept beside the current one: `daemon.log.1` is the youngest."""

_FORMAT = "%(asctime)s %(levelname)s %(message)s"


@contextmanager
def logging_to(
    folder: Path, *, echo: TextIO | None = None, size_bytes: int = SIZE_BYTES, kept: int = KEPT
) -> Iterator[Path]:
    """Everything our modules log goes to the log file in `folder` inside the `with` block, and to `echo` as well.

    Where the file cannot be written, only to `echo`: a full disk must not end a daemon.
    """
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    logger = logging.getLogger("aria_dream")
    handlers: list[logging.Handler] = []
    path = folder / LOG_NAME
    try:
        handlers.append(_QuietFile(path, maxBytes=size_bytes, backupCount=kept, encoding="utf-8",
                                   errors="backslashreplace"))
    except OSError as error:
        if echo is not None:
            echo.write(f"{path} cannot be written ({error.strerror or error}); this run keeps no log\n")
    if echo is not None:
        handlers.append(logging.StreamHandler(echo))
    before = (logger.level, logger.propagate)
    logger.setLevel(logging.INFO)
    logger.propagate = False
    for handler in handlers:
        handler.setFormatter(_OneLine(_FORMAT, datefmt="%Y-%m-%dT%H:%M:%S%z"))
        logger.addHandler(handler)
    try:
        yield path
    finally:
        for handler in handlers:
            logger.removeHandler(handler)
            handler.close()
        logger.setLevel(before[0])
        logger.propagate = before[1]


class _QuietFile(RotatingFileHandler):
    """A full disk is no reason to print a traceback for every line."""

    def handleError(self, record: logging.LogRecord) -> None:  # noqa: N802 - the library's name
        """Drops the line."""


class _OneLine(logging.Formatter):
    """A line a record: no vault path forges a second one."""

    def format(self, record: logging.LogRecord) -> str:
        """The record as one line."""
        return "".join(char if char.isprintable() else " " for char in super().format(record))


def cause_of(error: BaseException) -> str:
    """What went wrong and where, without words that could be a note's: `ValueError in ranking/walk.py:120`."""
    frames = traceback.extract_tb(error.__traceback__)
    ours = [frame for frame in frames if "aria_dream" in Path(frame.filename).parts]
    frame = ours[-1] if ours else frames[-1] if frames else None
    where = f" in {_short(frame.filename)}:{frame.lineno}" if frame is not None else ""
    if isinstance(error, AriaDreamError):
        return f"{error}"
    name = type(error).__name__
    if isinstance(error, OSError):
        return f"{name} ({error.strerror or error.errno}){where}"
    return f"{name}{where}"


def _short(filename: str) -> str:
    parts = Path(filename).parts
    start = len(parts) - 1 - parts[::-1].index("aria_dream") + 1 if "aria_dream" in parts else len(parts) - 1
    return "/".join(parts[start:])
