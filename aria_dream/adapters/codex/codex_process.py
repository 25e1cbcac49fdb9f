"""Codex CLI as a child: its prompt on stdin and then the end of it, its two streams drained, and all of it ended.

Between us and it stands `codex_keeper`, which ends it when we do, even when we are killed. On Windows a job object does
the same: the child is started suspended and put into the job before its first instruction, so that nothing it starts
escapes (after Microsoft's documentation of job objects; not run by the tests, which have no Windows). Lines are cut at
a bound, so that no stream fills the memory.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
import threading
import time
from contextlib import suppress
from pathlib import Path
from typing import IO, TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

# ruff: noqa: TRY301, S603, SLF001 - each step raises where it fails; our own command; the handle has no public name


if sys.platform == "win32":
    import ctypes
    from contextlib import suppress
    from ctypes import wintypes

    import psutil

    _CREATE_SUSPENDED = 0x00000004
    _EXTENDED_LIMITS = 9  # JobObjectExtendedLimitInformation
    _KILL_ON_JOB_CLOSE = 0x00002000

    class _Basic(ctypes.Structure):
        _fields_ = (
            ("PerProcessUserTimeLimit", ctypes.c_int64), ("PerJobUserTimeLimit", ctypes.c_int64),
            ("LimitFlags", wintypes.DWORD), ("MinimumWorkingSetSize", ctypes.c_size_t),
            ("MaximumWorkingSetSize", ctypes.c_size_t), ("ActiveProcessLimit", wintypes.DWORD),
            ("Affinity", ctypes.c_size_t), ("PriorityClass", wintypes.DWORD), ("SchedulingClass", wintypes.DWORD))

    class _Extended(ctypes.Structure):
        _fields_ = (
            ("BasicLimitInformation", _Basic), ("IoInfo", ctypes.c_uint64 * 6),
            ("ProcessMemoryLimit", ctypes.c_size_t), ("JobMemoryLimit", ctypes.c_size_t),
            ("PeakProcessMemoryUsed", ctypes.c_size_t), ("PeakJobMemoryUsed", ctypes.c_size_t))

    def start_in_job(
        command: list[str], stdin: IO[bytes], environ: Mapping[str, str], folder: Path
    ) -> tuple[subprocess.Popen[bytes], Callable[[], None]]:
        """The running child, and what ends it with all that it started.

        Raises:
            OSError: it cannot be started, or not be put into a job; nothing runs then.
        """
        kernel = ctypes.WinDLL("kernel32", use_last_error=True)
        kernel.CreateJobObjectW.restype = wintypes.HANDLE
        job = wintypes.HANDLE(kernel.CreateJobObjectW(None, None))
        if not job:
            raise ctypes.WinError(ctypes.get_last_error())
        open_jobs = [job]

        def close_job() -> None:
            while open_jobs:
                kernel.CloseHandle(open_jobs.pop())

        try:
            limits = _Extended()
            limits.BasicLimitInformation.LimitFlags = _KILL_ON_JOB_CLOSE
            if not kernel.SetInformationJobObject(job, _EXTENDED_LIMITS, ctypes.byref(limits), ctypes.sizeof(limits)):
                raise ctypes.WinError(ctypes.get_last_error())
            child = subprocess.Popen(
                command, stdin=stdin, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=dict(environ), cwd=folder,
                creationflags=_CREATE_SUSPENDED | subprocess.CREATE_NEW_PROCESS_GROUP | subprocess.CREATE_NO_WINDOW)
            try:
                if not kernel.AssignProcessToJobObject(job, wintypes.HANDLE(int(child._handle))):
                    raise ctypes.WinError(ctypes.get_last_error())
                psutil.Process(child.pid).resume()
            except BaseException as error:
                with suppress(OSError):
                    child.kill()
                child.wait()
                if isinstance(error, psutil.Error):
                    raise OSError(None, f"it cannot be resumed: {error}") from error
                raise
        except BaseException:
            close_job()
            raise
        return child, close_job

else:

    def start_in_job(
        command: list[str], stdin: IO[bytes], environ: Mapping[str, str], folder: Path
    ) -> tuple[subprocess.Popen[bytes], Callable[[], None]]:
        """There are no job objects here."""
        raise NotImplementedError


LONGEST_LINE_BYTES = 4 * 1024 * 1024
"""A longer line is given in part; the rest of it is dropped."""
_CHUNK_BYTES = 65_536
_KEEPER = Path(__file__).with_name("codex_keeper.py")
_END_S = 5.0
"""The keeper needs `codex_keeper.GRACE_S` and a little; after this it is ended itself."""
_DRAIN_S = 2.0


class CodexProcess:
    """One running child. Nothing here waits but `wait`, `end` and `close`."""

    def __init__(
        self,
        command: Sequence[str | Path],
        *,
        prompt: str,
        environ: Mapping[str, str],
        folder: Path,
        on_line: Callable[[str], None],
        on_complaint: Callable[[str], None],
    ) -> None:
        """Starts it in `folder`. `on_line` and `on_complaint` get the lines of stdout and stderr, in threads of ours.

        Raises:
            OSError: it cannot be started.
        """
        with tempfile.TemporaryFile() as stdin:  # a file has an end whatever the child does, and never blocks us
            stdin.write(prompt.encode("utf-8", "replace"))
            stdin.seek(0)
            self._process = _start([str(word) for word in command], stdin, environ, folder)
        assert self._process.child.stdout is not None
        assert self._process.child.stderr is not None
        self.stirred = threading.Event()
        """Cuts a `watch` short; set when a stream ends, and by whoever saw a reason to look again."""
        self._readers = [
            threading.Thread(target=self._read, args=(stream, take), name=name, daemon=True)
            for stream, take, name in (
                (self._process.child.stdout, on_line, "codex-events"),
                (self._process.child.stderr, on_complaint, "codex-log"),
            )
        ]
        for reader in self._readers:
            reader.start()

    def wait(self, timeout_s: float) -> int | None:
        """Its exit code; None where it still runs after `timeout_s`."""
        try:
            return self._process.child.wait(timeout_s)
        except subprocess.TimeoutExpired:
            return None

    def watch(self, timeout_s: float) -> int | None:
        """As `wait`; None as soon as something stirs as well."""
        if is_read := any(reader.is_alive() for reader in self._readers):
            self.stirred.wait(timeout_s)
            self.stirred.clear()
        return self.wait(0 if is_read else timeout_s)

    def _read(self, stream: IO[bytes], take: Callable[[str], None]) -> None:
        _read_lines(stream, take)
        self.stirred.set()

    def end(self) -> None:
        """Ends it and everything it started. Returns when that is done, within a few seconds."""
        self._process.end()

    def close(self) -> bool:
        """Ends what is left, and reads the streams to their end; False where somebody still holds one open."""
        self.end()
        until = time.monotonic() + _DRAIN_S
        for reader in self._readers:
            reader.join(max(0.0, until - time.monotonic()))
        if any(reader.is_alive() for reader in self._readers):
            return False
        for stream in (self._process.child.stdout, self._process.child.stderr):
            if stream is not None:
                stream.close()
        return True


def _read_lines(stream: IO[bytes], take: Callable[[str], None]) -> None:
    """Gives the lines of `stream` to `take`, each cut at `LONGEST_LINE_BYTES`."""
    kept, size_bytes = bytearray(), 0
    reads = getattr(stream, "read1", stream.read)
    with suppress(OSError, ValueError):  # closed under us
        while chunk := reads(_CHUNK_BYTES):
            *lines, rest = chunk.split(b"\n")
            for line in lines:
                kept += line[: max(0, LONGEST_LINE_BYTES - size_bytes)]
                take(kept.decode("utf-8", "replace"))
                kept, size_bytes = bytearray(), 0
            kept += rest[: max(0, LONGEST_LINE_BYTES - size_bytes)]
            size_bytes += len(rest)
    if kept:
        take(kept.decode("utf-8", "replace"))


class _Kept:
    """A child under the keeper: closing the pipe ends all of it."""

    def __init__(self, child: subprocess.Popen[bytes], control: int) -> None:
        self.child = child
        self._control: int | None = control

    def end(self) -> None:
        if self._control is not None:
            os.close(self._control)
            self._control = None
        try:
            self.child.wait(_END_S)
        except subprocess.TimeoutExpired:
            _kill_tree(self.child)
            self.child.wait()


class _Jobbed:
    """A child in a job object of Windows: closing the job, or our death, ends all of it."""

    def __init__(self, child: subprocess.Popen[bytes], close_job: Callable[[], None]) -> None:
        self.child = child
        self._close_job = close_job

    def end(self) -> None:
        self._close_job()
        try:
            self.child.wait(_END_S)
        except subprocess.TimeoutExpired:
            _kill_tree(self.child)
            self.child.wait()


def _start(command: list[str], stdin: IO[bytes], environ: Mapping[str, str], folder: Path) -> _Kept | _Jobbed:
    if sys.platform == "win32":
        return _Jobbed(*start_in_job(command, stdin, environ, folder))
    reading, control = os.pipe()
    try:
        child = subprocess.Popen(
            [sys.executable, "-I", "-S", str(_KEEPER), str(reading), *command],
            stdin=stdin, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=dict(environ), cwd=folder,
            pass_fds=(reading,), start_new_session=True)
    except BaseException:
        os.close(control)
        raise
    finally:
        os.close(reading)
    return _Kept(child, control)


def _kill_tree(child: subprocess.Popen[bytes]) -> None:
    """For a keeper that does not end: it, and all that descends from it."""
    import psutil

    with suppress(psutil.Error, OSError):
        for one in psutil.Process(child.pid).children(recursive=True):
            with suppress(psutil.Error):
                one.kill()
    if sys.platform != "win32":
        with suppress(OSError):
            os.killpg(child.pid, signal.SIGKILL)
    with suppress(OSError):
        child.kill()
