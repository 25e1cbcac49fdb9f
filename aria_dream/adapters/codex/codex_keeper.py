"""Keeps one program: starts it, waits for it, and lets nothing of it outlive whoever asked for it.

Run as a script of its own, `python -I -S codex_keeper.py DESCRIPTOR PROGRAM WORD…`, with the standard library alone.
The descriptor is the reading end of a pipe whose other end only the parent holds. When that ends, because the parent
closed it or is gone however it went, the program's whole group is told to end, and soon after made to. The same is done
with what the program leaves behind when it ends by itself. Not for Windows, which has job objects for this.
"""

from __future__ import annotations

import os
import select
import signal
import subprocess
import sys
import time
from contextlib import suppress

GRACE_S = 0.5
LOOK_S = 0.05
_PR_SET_CHILD_SUBREAPER = 36


def keep(control: int, command: list[str]) -> int:
    """The program's exit code; 128 and the signal's number where one ended it; 127 where it cannot be started."""
    for number in (signal.SIGINT, signal.SIGHUP, signal.SIGTERM):
        signal.signal(number, _pass_over)  # the pipe is what ends us; a handler, unlike SIG_IGN, is not inherited
    _adopt_orphans()
    try:
        child = subprocess.Popen(command, start_new_session=True)  # noqa: S603 - what our own parent names
    except (OSError, ValueError) as error:
        sys.stderr.write(f"it cannot be started: {error}\n")
        return 127
    for descriptor in (0, 1, 2):  # else its readers would wait for us as well
        os.close(descriptor)
    while child.poll() is None:
        readable, _, _ = select.select([control], [], [], LOOK_S)
        if readable and not os.read(control, 1):
            break
    _end(child)
    return child.returncode if child.returncode >= 0 else 128 - child.returncode


def _pass_over(_number: int, _frame: object) -> None:
    """Does nothing."""


def _end(child: subprocess.Popen[bytes]) -> None:
    if child.poll() is None:
        with suppress(OSError):
            os.killpg(child.pid, signal.SIGTERM)
        with suppress(subprocess.TimeoutExpired):
            child.wait(GRACE_S)
    with suppress(OSError):
        os.killpg(child.pid, signal.SIGKILL)
    child.wait()
    until = time.monotonic() + 2.0
    while time.monotonic() < until and (orphans := _children()):
        for orphan in orphans:
            with suppress(OSError):
                os.kill(orphan, signal.SIGKILL)
        with suppress(OSError):
            while os.waitpid(-1, os.WNOHANG)[0]:
                pass
        time.sleep(0.01)


def _adopt_orphans() -> None:
    """On Linux, what left the program's group and lost its parent becomes our child, so that it can be found."""
    if sys.platform != "linux":
        return
    with suppress(OSError, AttributeError, ImportError):
        import ctypes

        ctypes.CDLL(None).prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)


def _children() -> list[int]:
    if sys.platform != "linux":
        return []
    entries = os.listdir("/proc")  # noqa: PTH208 - numbers, not files; and pathlib would double our start-up
    return [int(entry) for entry in entries if entry.isdigit() and _parent_of(entry) == os.getpid()]


def _parent_of(entry: str) -> int:
    with suppress(OSError, ValueError, IndexError), open(f"/proc/{entry}/stat", encoding="latin-1") as file:  # noqa: PTH123 - as above
        return int(file.read().rpartition(")")[2].split()[1])
    return 0


if __name__ == "__main__":
    sys.exit(keep(int(sys.argv[1]), sys.argv[2:]))
