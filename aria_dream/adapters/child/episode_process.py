"""A child process that dreams: at the lowest priority, in steps that each need a permit, and gone at once when told.

Child and parent speak lines of JSON on its stdout and bytes on its stdin. Before each unit of work the child asks
(`{"ask": "reading"}`) and waits for one byte; only then it goes on. So nothing is begun after the parent has stopped
giving permits, and a parent that dies takes the child along: its stdin ends. The last line is `{"result": …}` or
`{"failed": …}`.
"""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import tempfile
import threading
from contextlib import suppress
from dataclasses import dataclass
from typing import IO, TYPE_CHECKING, Literal, Protocol

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from datetime import date
    from pathlib import Path

    from aria_dream.policy.triggers import Stage

GRACE_S = 0.5
"""Between asking the child to end and ending it."""
WRITING_GRACE_S = 10.0
"""The same while it writes, which takes milliseconds, and seconds on a slow drive. Cut short it would be journalled and
settled later; finished it is simply there."""

REACHING_GRACE_S = 15.0
"""The same while it reaches out: the program outside is ended at once, and what it has said so far is written down."""

WRITE = "write"
"""What the child asks a permit for before it writes."""
REACH = "reach"
"""What it asks a permit for before it reaches out."""


@dataclass(frozen=True, slots=True, kw_only=True)
class EpisodeEnd:
    """How a child ended."""

    result: Mapping[str, object] | None = None
    """What it reported; None where it did not come to its end."""
    error: str = ""
    """What went wrong, in words that hold no note text."""
    exit_code: int = 0
    """An exit code of `errors`, or a negative signal number."""


class EpisodeProcess:
    """One running child. `ended` and `grant_permit` are cheap; nothing here waits but `end`."""

    def __init__(
        self,
        command: Sequence[str],
        *,
        wake: Callable[[], None],
        environ: Mapping[str, str] = os.environ,
        folder: Path | None = None,
    ) -> None:
        """Starts `command` in `folder`; `wake` is called from another thread whenever there is something to see.

        Raises:
            OSError: it cannot be started.
        """
        self._wake = wake
        self._asked = ""
        self._last: Mapping[str, object] = {}
        self._told: EpisodeEnd | None = None
        self._complaints: IO[bytes] = tempfile.TemporaryFile()  # noqa: SIM115 - closed in `_end`
        try:
            self._process = subprocess.Popen(  # noqa: S603 - our own command
                command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self._complaints, env=dict(environ),
                cwd=folder, start_new_session=os.name == "posix", creationflags=_creation_flags(),
            )  # fmt: skip
        except BaseException:
            self._complaints.close()
            raise
        lower_priority(self._process.pid)
        self.is_writing = False
        self.is_reaching = False
        self._reader = threading.Thread(target=self._read, name="episode", daemon=True)
        self._reader.start()

    @property
    def pid(self) -> int:
        """The child's process number."""
        return self._process.pid

    @property
    def asked(self) -> str:
        """The unit of work that it asks a permit for; `""` where it does not ask."""
        return self._asked

    def _read(self) -> None:
        assert self._process.stdout is not None
        for line in self._process.stdout:
            try:
                said = json.loads(line)
            except ValueError:
                continue
            if isinstance(said, dict) and isinstance(said.get("ask"), str):
                self._asked = said["ask"]
            elif isinstance(said, dict):
                self._last = said
            self._wake()
        self._wake()

    def grant_permit(self) -> None:
        """Lets the child do the unit it asked for; nothing where it does not ask."""
        if not self._asked:
            return
        self.is_writing = self._asked == WRITE
        self.is_reaching = self._asked == REACH
        self._asked = ""
        assert self._process.stdin is not None
        with suppress(OSError):  # it has ended meanwhile
            self._process.stdin.write(b"\n")
            self._process.stdin.flush()

    def ended(self) -> EpisodeEnd | None:
        """How it ended; None while it runs."""
        if self._told is None and (code := self._process.poll()) is not None:
            self._told = self._end(code)
        return self._told

    def end(self) -> EpisodeEnd:
        """Ends it, and everything it started, and says how it ended. Waits for a fraction of a second; while the child
        writes, until it has written; while it reaches out, until what came of that is on the disk."""
        if (told := self.ended()) is not None:
            return told
        assert self._process.stdin is not None
        _signal_group(self._process, gently=True)
        with suppress(OSError):
            self._process.stdin.close()
        try:
            code = self._process.wait(self._grace_s())
        except subprocess.TimeoutExpired:
            _signal_group(self._process, gently=False)
            code = self._process.wait()
        self._told = self._end(code)
        return self._told

    def _grace_s(self) -> float:
        if self.is_reaching:
            return REACHING_GRACE_S
        return WRITING_GRACE_S if self.is_writing else GRACE_S

    def _end(self, code: int) -> EpisodeEnd:
        _signal_group(self._process, gently=False)  # what it may have left behind
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._reader.join(timeout=GRACE_S)
        with suppress(OSError):
            self._process.stdin.close()
        if not self._reader.is_alive():
            self._process.stdout.close()
        complaint = _last_complaint(self._complaints)
        self._complaints.close()
        result, failed = self._last.get("result"), self._last.get("failed")
        if isinstance(result, dict):
            return EpisodeEnd(result=result, exit_code=code)
        if isinstance(failed, dict):
            return EpisodeEnd(error=str(failed.get("error")), exit_code=code)
        return EpisodeEnd(error=complaint or _code_in_words(code), exit_code=code)


def lower_priority(pid: int) -> None:
    """Lets a process, and all it starts from now on, wait for everybody else. What a system lacks is left out."""
    import psutil

    with suppress(psutil.Error, OSError, AttributeError):
        process = psutil.Process(pid)
        if sys.platform == "win32":
            process.nice(psutil.IDLE_PRIORITY_CLASS)
            process.ionice(psutil.IOPRIO_VERYLOW)
        else:
            process.nice(19)
            if sys.platform == "linux":
                process.ionice(psutil.IOPRIO_CLASS_IDLE)
    if sys.platform == "darwin":
        with suppress(OSError):
            os.setpriority(4, pid, 0x1000)  # PRIO_DARWIN_PROCESS, PRIO_DARWIN_BG: disk and network too (sys/resource.h)


def _creation_flags() -> int:
    if sys.platform == "win32":
        return subprocess.IDLE_PRIORITY_CLASS | subprocess.CREATE_NEW_PROCESS_GROUP | subprocess.CREATE_NO_WINDOW
    return 0


def _signal_group(process: subprocess.Popen[bytes], *, gently: bool) -> None:
    """SIGTERM or SIGKILL to the child's whole session; on Windows to the child and what it started, at once."""
    if sys.platform != "win32":
        with suppress(OSError):
            os.killpg(process.pid, signal.SIGTERM if gently else signal.SIGKILL)
    elif not gently:  # nothing can be asked there; closing stdin is the asking
        import psutil

        with suppress(psutil.Error):
            for child in psutil.Process(process.pid).children(recursive=True):
                child.kill()
        with suppress(OSError):
            process.kill()


_RAISED = re.compile(rb"^([A-Za-z_][\w.]*(?:Error|Exception|Exit|Interrupt))\b", re.MULTILINE)


def _last_complaint(file: IO[bytes]) -> str:
    """The kind of the exception that a traceback on stderr ends with; its words may be a note's."""
    file.seek(max(0, file.seek(0, os.SEEK_END) - 8192))
    found = _RAISED.findall(file.read())
    return found[-1].decode("ascii", "replace") if found else ""


def _code_in_words(code: int) -> str:
    return f"it was ended by signal {-code}" if code < 0 else f"it ended with code {code} and said nothing"


class Episode(Protocol):
    """A child at work, as `EpisodeProcess` is one."""

    def grant_permit(self) -> None:
        """Lets it do the unit of work that it asked for, if it did."""

    def ended(self) -> EpisodeEnd | None:
        """How it ended; None while it works."""

    def end(self) -> EpisodeEnd:
        """How it ended, which it does now."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Order:
    """What a child is to do."""

    root: Path
    stage: Stage
    kind: str
    quiet_s: float
    """A note of ours that somebody touched so recently is left alone."""
    host: str
    state_folder: Path
    night: date | None = None
    """The night whose work it is."""
    errand: Literal["dream", "ticks"] = "dream"
    """`ticks`: carry out what was ticked in our notes, and write down reaches that stand in none of them yet, whoever
    is there; `stage` and `kind` say nothing then."""
