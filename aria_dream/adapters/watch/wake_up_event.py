"""Waiting that costs nothing and that anybody may end: another thread, a signal handler, a watch event.

A socket pair rather than a Condition: a signal handler that takes a lock its own thread holds would stop for ever,
and on Windows a wait for a lock is not ended by Ctrl-C. `fileno` may be given to `signal.set_wakeup_fd`.
"""

from __future__ import annotations

import select
import socket
from contextlib import suppress

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
