"""How a vault is watched: by events where they can be trusted, by walking over it where they cannot; and how one waits.

A wait costs nothing and anybody may end it: another thread, a signal handler, a watch event. It is a socket pair rather
than a Condition: a signal handler that takes a lock its own thread holds would stop for ever, and on Windows a wait for
a lock is not ended by Ctrl-C. `fileno` may be given to `signal.set_wakeup_fd`.
"""

from __future__ import annotations

import logging
import select
import socket
from contextlib import suppress
from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING

from aria_dream.adapters.watch.watch_events import WatchdogObserving
from aria_dream.adapters.watch.watch_probe import (
    blind_sentence,
    count_unwatched,
    limit_sentence,
    network_reason,
    read_folders,
    read_mounts,
    read_watch_limits,
    read_watched,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from pathlib import Path

    from aria_dream.adapters.watch.watch_events import EventBox, Observing
    from aria_dream.adapters.watch.watch_probe import Mount, WatchLimits

_EVENT = b"e"
_CALL = b"c"


class WakeUpEvent:
    """One thread waits; any other wakes it."""

    def __init__(self) -> None:
        self._hear, self._say = socket.socketpair()
        for end in (self._hear, self._say):
            end.settimeout(0)
        self._was_called = False
        """Said besides the byte, for which a full pipe may have no room."""

    def fileno(self) -> int:
        """The descriptor whose every byte ends the wait; -1 after `close`."""
        return self._say.fileno()

    def nudge(self) -> None:
        """Ends the wait because the vault may have changed. Never blocks, never raises."""
        self._send(_EVENT)

    def call(self) -> None:
        """Ends the wait for the sake of whoever waits. Safe in a signal handler. Never blocks, never raises."""
        self._was_called = True
        self._send(_CALL)

    def _send(self, byte: bytes) -> None:
        with suppress(OSError):  # full: it wakes anyway; closed: nobody waits
            self._say.send(byte)

    def wait(self, timeout_s: float) -> bool:
        """Whether somebody called within the time (a nudge alone, or nothing, is False). Returns at once on either."""
        ready, _, _ = select.select([self._hear], [], [], max(0.0, timeout_s))
        called, self._was_called = self._was_called, False
        while ready:
            try:
                said = self._hear.recv(4096)
            except OSError:
                break
            called = called or bool(said.strip(_EVENT))
            if len(said) < 4096:
                break
        return called

    def close(self) -> None:
        """Lets go of both ends."""
        self._say.close()
        self._hear.close()


log = logging.getLogger(__name__)

WALK_EVERY_S = 300.0
"""Events or not, the whole vault is walked over so often, for what events lost."""
_WALK_AT_LEAST_EVERY_S = 1800.0
_WALK_SHARE = 1000
"""A walk that took a second is followed by at least a thousand of rest: a thousandth of one core."""
_POLL_SHARE = 100
RETRY_S = 3600.0
"""Where the system's limit stopped events, they are tried again after so long."""
_SURPRISES_MAX = 2
_STRAYS_MAX = 1000
"""Watches on folders that were moved away stay; above so many the observer is started afresh."""


class Mode(Enum):
    EVENTS = "events"
    POLLING = "polling"


@dataclass(frozen=True, slots=True, kw_only=True)
class WatchReport:
    """For `status` and the log."""

    mode: Mode
    why: str = ""
    """Why events are not used, and what to do about it: one sentence without a full stop. `""` where they are."""
    folders: int | None = None
    """Folders of the vault, hidden ones included; None where the system counts no watches."""
    watched: int | None = None
    """Watches that are held for them."""


class Watching:
    """The observer of one vault, replaced by walks where it cannot work. Never raises for a system that refuses."""

    def __init__(
        self,
        root: Path,
        box: EventBox,
        *,
        observe: Callable[[Path, EventBox], Observing] = WatchdogObserving,
        mounts: Callable[[], tuple[Mount, ...]] = read_mounts,
        watched: Callable[[Iterable[int]], tuple[int, ...] | None] = read_watched,
        limits: Callable[[], WatchLimits] = read_watch_limits,
        clock: Callable[[], float] | None = None,
    ) -> None:
        """`clock` is that of `box` unless it is given."""
        self._box = box
        self._observe = observe
        self._mounts = mounts
        self._watched = watched
        self._limits = limits
        self._clock = clock or box.clock
        self._observer: Observing | None = None
        self._is_network = False
        self._blind_checks = 0
        self._surprises = 0
        self._retry_at_s = 0.0
        self.report = WatchReport(mode=Mode.POLLING)
        """How it is done now."""
        self.restart(root)

    def restart(self, root: Path) -> None:
        """Starts anew: another drive may lie there now."""
        self.stop()
        self._blind_checks = self._surprises = 0
        reason = network_reason(str(root), self._mounts())
        self._is_network = bool(reason)
        if reason:
            self._poll(reason)
            return
        try:
            self._observer = self._observe(root, self._box)
        except OSError as error:
            self._poll(limit_sentence(error, self._limits()))
        except Exception as error:  # noqa: BLE001 - a fault of watchdog's; it is tried again later
            self._poll(f"the system's events cannot be had ({type(error).__name__})")
        else:
            self.report = WatchReport(mode=Mode.EVENTS)

    @property
    def works(self) -> bool:
        """Whether the observer, where there is one, still does what it is there for."""
        return self._observer is None or self._observer.is_alive()

    def stop(self) -> None:
        """Ends the observer, if one works; one that fails in that is dropped all the same."""
        observer, self._observer = self._observer, None
        if observer is not None:
            try:
                observer.stop()
            except Exception as error:  # noqa: BLE001 - the next one is made anew
                log.warning("the observer failed as it ended (%s)", type(error).__name__)

    def _poll(self, why: str, folders: int | None = None, watched: int | None = None) -> None:
        self.stop()
        if self.report.why != why:
            log.warning("the vault is walked over instead of watched: %s", why)
        self.report = WatchReport(mode=Mode.POLLING, why=why, folders=folders, watched=watched)
        self._retry_at_s = self._clock() + RETRY_S

    def rest_s(self, poll_s: float, walk_s: float) -> float:
        """How long to rest after a walk over the vault that took `walk_s`."""
        if self.report.mode is Mode.POLLING:
            return max(poll_s, min(_WALK_AT_LEAST_EVERY_S, walk_s * _POLL_SHARE))
        return max(poll_s, WALK_EVERY_S, min(_WALK_AT_LEAST_EVERY_S, walk_s * _WALK_SHARE))

    def check(self, root: Path, *, surprised: bool = False) -> bool:
        """Whether it goes on as before; False where the vault has to be walked over once more, soon.

        Call it after a walk. `surprised`: the walk found an old change that no event had told.
        """
        if self.report.mode is Mode.POLLING:
            if self._is_network or self._clock() < self._retry_at_s:
                return True
            self.restart(root)
            return self._observer is None
        assert self._observer is not None
        self._surprises += surprised
        if self._surprises >= _SURPRISES_MAX:
            self._is_network = True  # a share that does not say so: trying again would not help
            self._poll("files change here without the system telling (a shared or synced drive?)")
            return True
        if not self._observer.is_alive():
            self.restart(root)
            return False
        return self._check_watches(root, self._observer)

    def _check_watches(self, root: Path, observer: Observing) -> bool:
        watched = self._watched(observer.descriptors())
        if watched is None:
            return True
        try:
            folders = read_folders(root)
        except OSError:  # the vault is on its way out
            return False
        missing = count_unwatched(folders, watched)
        self.report = WatchReport(mode=Mode.EVENTS, folders=len(folders), watched=len(watched))
        if not missing:
            self._blind_checks = 0
            if len(watched) - len(folders) > _STRAYS_MAX:
                self.restart(root)
                return False
            return True
        self._blind_checks += 1
        if self._blind_checks == 1:  # folders that appeared this very moment get their watch within the next
            return False
        if self._blind_checks == 2:
            blind_checks = self._blind_checks
            self.restart(root)  # watches that were lost come back with a new observer; a limit stays
            self._blind_checks = blind_checks
            return False
        self._poll(blind_sentence(missing, len(folders), self._limits()), len(folders), len(watched))
        return True
