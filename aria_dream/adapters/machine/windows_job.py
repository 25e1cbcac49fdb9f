"""A child in a job object of Windows, which ends with everything it started when the job is closed, or when we end.

The child is started suspended and put into the job before its first instruction, so that nothing it starts escapes.
Written after Microsoft's documentation of job objects; not run by the tests, which have no Windows.
"""
# ruff: noqa: TRY301, S603, SLF001 - each step raises where it fails; our own command; the handle has no public name

from __future__ import annotations

import subprocess
import sys
from typing import IO, TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

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
