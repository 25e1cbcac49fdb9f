"""The child's side of `episode_process`: no unit of work without a permit, and none after the parent has gone."""

from __future__ import annotations

import json
import os
import signal
import sys
import threading
import time
from contextlib import suppress
from typing import TYPE_CHECKING, Protocol, TextIO

from aria_dream.adapters.child.episode_process import REACH, WRITE

if TYPE_CHECKING:
    from collections.abc import Callable
    from datetime import datetime
    from pathlib import Path

    from aria_dream.adapters.gate.egress import ClearedText
    from aria_dream.adapters.gate.ledger import Granted
    from aria_dream.markdown.note import NotePath
    from aria_dream.reach.reach_events import ReachEnd
    from aria_dream.vault.edit import ChangeSet, Exists
    from aria_dream.vault.identity import Names
    from aria_dream.world import (
        Absent,
        Conflict,
        Content,
        Failed,
        PastChange,
        Refused,
        RootedFiles,
        Settled,
        VaultFiles,
        Written,
    )

UNIT_S = 0.25
"""A unit of work ends at the first step after so long; a permit is asked for again then."""
ABANDONED = 143
"""Exit code of a child whose parent has gone: that of a SIGTERM, as shells tell it."""


class Permit:
    """Asks for permits on `out`, hears them on the descriptor `answers`. One thread asks."""

    def __init__(
        self,
        out: TextIO,
        answers: int,
        *,
        unit_s: float = UNIT_S,
        clock: Callable[[], float] = time.monotonic,
        leave_at_once: Callable[[int], object] = os._exit,
    ) -> None:
        self._out = out
        self._answers = answers
        self._unit_s = unit_s
        self._clock = clock
        self._leave_at_once = leave_at_once
        self._given = threading.Semaphore(0)
        self._begun_s: float | None = None
        self._is_writing = False
        self._is_reaching = False
        self._is_abandoned = False
        threading.Thread(target=self._hear, name="permit", daemon=True).start()

    def _hear(self) -> None:
        while True:
            try:
                heard = os.read(self._answers, 1)
            except OSError:
                heard = b""
            if not heard:
                break
            self._given.release()
        self._is_abandoned = True
        if not (self._is_writing or self._is_reaching):
            self._leave_at_once(ABANDONED)
        self._given.release()

    def __call__(self, unit: str) -> None:
        """Returns when the next unit may begin: at once while the last one is still short, else once a permit is given.

        Before a `WRITE`, a permit is always asked for; until it asks again the process does not let itself be ended.
        Before a `REACH` too; when it is told to end, it ends the reach. A process whose parent has gone, or that was
        told to end, comes no further than here.
        """
        self._end_if_abandoned()
        now = self._clock()
        if unit not in (WRITE, REACH) and self._begun_s is not None and now - self._begun_s < self._unit_s:
            return
        self._is_writing = self._is_reaching = False
        self.say({"ask": unit})
        self._given.acquire()
        self._end_if_abandoned()  # `_hear` lets go of us once more for that
        if unit == WRITE:
            self._is_writing = True
            with suppress(ValueError):  # not in the main thread: then SIGTERM still ends it, and the journal settles
                signal.signal(signal.SIGTERM, signal.SIG_IGN)
        if unit == REACH:
            self._is_reaching = True
            with suppress(ValueError):
                signal.signal(signal.SIGTERM, self._hear_the_end)
        self._begun_s = self._clock()

    def _end_if_abandoned(self) -> None:
        if self._is_abandoned:
            self._leave_at_once(ABANDONED)

    def _hear_the_end(self, _number: int, _frame: object) -> None:
        self._is_abandoned = True

    def reach_reason(self) -> str:
        """Why the reach that is under way has to end, as one clause; `""` where it may go on."""
        return "the daemon ended it, since somebody came back or something changed" if self._is_abandoned else ""

    def say(self, line: dict[str, object]) -> None:
        """Tells the parent; a parent that has gone ends the process."""
        try:
            self._out.write(json.dumps(line) + "\n")
            self._out.flush()
        except OSError:
            if not self._is_writing:
                self._leave_at_once(ABANDONED)


class Reaching(Protocol):
    """Who reaches out, as `CodexReacher` does."""

    @property
    def destination(self) -> str: ...

    def missing(self) -> str: ...

    def run(self, cleared: ClearedText, granted: Granted, *, should_stop: Callable[[], str]) -> ReachEnd: ...


class AskingReacher:
    """Somebody who reaches out, once a permit is given, and who ends it when the parent says so or has gone."""

    def __init__(self, reacher: Reaching, permit: Permit) -> None:
        self._reacher = reacher
        self._permit = permit

    @property
    def destination(self) -> str:
        """As the reacher says."""
        return self._reacher.destination

    def missing(self) -> str:
        """As the reacher says."""
        return self._reacher.missing()

    def run(self, cleared: ClearedText, granted: Granted, *, should_stop: Callable[[], str]) -> ReachEnd:
        """As the reacher runs. What came of it can be kept; the process ends where it next asks for a permit."""
        self._permit(REACH)
        return self._reacher.run(cleared, granted, should_stop=lambda: self._permit.reach_reason() or should_stop())


class AskingVault:
    """A vault whose every write needs a permit."""

    def __init__(self, files: VaultFiles, permit: Callable[[str], None]) -> None:
        self._files = files
        self._permit = permit

    def read(self, path: NotePath) -> Content | Absent | Refused:
        """As the vault reads."""
        return self._files.read(path)

    def write(
        self, changes: ChangeSet, *, label: str = "", quiet_s: float = 0.0, names: Names | None = None
    ) -> Written | Conflict | Exists | Refused | Failed:
        """As the vault writes, once a permit is given."""
        self._permit(WRITE)
        return self._files.write(changes, label=label, quiet_s=quiet_s, names=names)

    def recover(self) -> tuple[Settled, ...]:
        """As the vault recovers."""
        return self._files.recover()

    def past_changes(self) -> tuple[PastChange, ...]:
        """As the vault remembers."""
        return self._files.past_changes()

    def purge(self, now: datetime, window_h: float) -> int:
        """As the vault forgets."""
        return self._files.purge(now, window_h)


class AskingRootedVault(AskingVault):
    """The same, and where the vault lies."""

    def __init__(self, files: RootedFiles, permit: Callable[[str], None]) -> None:
        super().__init__(files, permit)
        self._root = files.root

    @property
    def root(self) -> Path:
        """Real path of the vault."""
        return self._root


def protocol_streams() -> tuple[TextIO, int]:
    """The real stdout, and stdin's descriptor; whatever else prints from now on goes to stderr."""
    out = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    sys.stdout = sys.stderr
    return out, 0
