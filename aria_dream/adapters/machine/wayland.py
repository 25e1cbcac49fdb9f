"""Whether somebody is at a Wayland session, asked of the compositor itself (ext-idle-notify-v1).

KWin, wlroots (Sway, labwc, river), Hyprland, niri and COSMIC speak this protocol; GNOME does not and has its own. The
compositor tells when nobody has touched anything for a second, and when somebody is back. It does not tell since when,
so that is counted here, from the first look that found the session idle: the answer is never too large.

The few messages are spoken over the socket (wayland-book, chapter 4), with a timeout, like those of `x11`.
"""

from __future__ import annotations

import os
import socket
import struct
import time
from pathlib import Path
from typing import TYPE_CHECKING

from aria_dream.schedule.presence import Known, NoSensor, Reading, SensorFailed

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

_DISPLAY, _REGISTRY, _CALLBACK, _SEAT, _NOTIFIER, _NOTIFICATION = range(1, 7)
"""The ids that we give to the objects we make; the display has 1 by definition."""
_SYNC, _GET_REGISTRY, _BIND, _GET_IDLE_NOTIFICATION = 0, 1, 0, 1
_QUIET_MS = 1000
_LONGEST_MESSAGE_BYTES = 4096  # libwayland's own limit


class _GoneError(Exception):
    """The compositor has ended the conversation, or is none that can be understood."""


class WaylandIdle:
    """One connection to the compositor, kept between readings, because idling is counted from what it tells."""

    def __init__(
        self,
        environ: Mapping[str, str] = os.environ,
        *,
        timeout_s: float = 2.0,
        monotonic: Callable[[], float] = time.monotonic,
    ) -> None:
        self._environ = environ
        self._timeout_s = timeout_s
        self._monotonic = monotonic
        self._connection: socket.socket | None = None
        self._received = b""
        self._idle_since_s: float | None = None
        self._speaks = False
        self._synced = False

    def read(self) -> Reading[float]:
        """Seconds since nobody has touched anything, at least; 0 where somebody is there or just was. Never raises.

        A new connection knows nothing of the time before it.
        """
        try:
            if self._connection is None:
                place = _socket_place(self._environ)
                if place is None:
                    return NoSensor("no Wayland session")
                self._connect(place)
            self._hear_all()
        except TimeoutError:
            self.close()
            return SensorFailed(f"the Wayland compositor did not answer within {self._timeout_s:g} s")
        except (ConnectionRefusedError, FileNotFoundError):
            self.close()
            return NoSensor("no Wayland compositor listens")
        except (OSError, _GoneError, struct.error) as error:
            self.close()
            return SensorFailed(f"the Wayland compositor cannot be asked: {error}")
        if not self._speaks:
            self.close()
            return NoSensor("the Wayland compositor does not tell when nobody is there (no ext-idle-notify-v1)")
        return Known(0.0 if self._idle_since_s is None else self._monotonic() - self._idle_since_s)

    def close(self) -> None:
        """Ends the connection; the next reading begins anew."""
        if self._connection is not None:
            self._connection.close()
        self._connection, self._received, self._idle_since_s = None, b"", None

    def _connect(self, place: Path) -> None:
        self._speaks = self._synced = False
        self._connection = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self._connection.settimeout(self._timeout_s)
        self._connection.connect(str(place))
        self._send(_DISPLAY, _GET_REGISTRY, struct.pack("=I", _REGISTRY))
        self._send(_DISPLAY, _SYNC, struct.pack("=I", _CALLBACK))
        deadline = time.monotonic() + self._timeout_s
        globals_: dict[str, int] = {}
        while not self._synced:
            self._receive(deadline)
            for sender, opcode, body in self._messages():
                if (sender, opcode) == (_REGISTRY, 0):
                    name, interface = _global(body)
                    globals_.setdefault(interface, name)
                elif sender == _CALLBACK:
                    self._synced = True
                elif (sender, opcode) == (_DISPLAY, 0):
                    raise _GoneError("it reports an error")
        if "ext_idle_notifier_v1" in globals_ and "wl_seat" in globals_:
            self._bind(globals_["wl_seat"], "wl_seat", _SEAT)
            self._bind(globals_["ext_idle_notifier_v1"], "ext_idle_notifier_v1", _NOTIFIER)
            wish = struct.pack("=III", _NOTIFICATION, _QUIET_MS, _SEAT)
            self._send(_NOTIFIER, _GET_IDLE_NOTIFICATION, wish)
            self._speaks = True

    def _hear_all(self) -> None:
        """Takes in what the compositor has told since the last reading, without waiting for more."""
        assert self._connection is not None
        self._connection.settimeout(0)
        while True:
            try:
                piece = self._connection.recv(65_536)
            except BlockingIOError:
                break
            if not piece:
                raise _GoneError("it has ended")
            self._received += piece
        for sender, opcode, _ in self._messages():
            if (sender, opcode) == (_DISPLAY, 0):
                raise _GoneError("it reports an error")
            if sender == _NOTIFICATION:
                # Several of them may lie here: somebody may have come and gone since the last look.
                self._idle_since_s = self._monotonic() if opcode == 0 else None

    def _bind(self, name: int, interface: str, new_id: int) -> None:
        text = interface.encode() + b"\0"
        padded = struct.pack("=I", len(text)) + text + bytes(-len(text) % 4)
        self._send(_REGISTRY, _BIND, struct.pack("=I", name) + padded + struct.pack("=II", 1, new_id))

    def _send(self, target: int, opcode: int, body: bytes) -> None:
        assert self._connection is not None
        self._connection.sendall(struct.pack("=II", target, (8 + len(body)) << 16 | opcode) + body)

    def _receive(self, deadline: float) -> None:
        assert self._connection is not None
        left_s = deadline - time.monotonic()
        if left_s <= 0:
            raise TimeoutError
        self._connection.settimeout(left_s)
        piece = self._connection.recv(65_536)
        if not piece:
            raise _GoneError("it hung up")
        self._received += piece

    def _messages(self) -> Iterator[tuple[int, int, bytes]]:
        """The whole messages that have arrived: sender, opcode, body."""
        while len(self._received) >= 8:
            sender, word = struct.unpack_from("=II", self._received)
            size = word >> 16
            if not 8 <= size <= _LONGEST_MESSAGE_BYTES:
                raise _GoneError("what it says is no Wayland")
            if len(self._received) < size:
                return
            body, self._received = self._received[8:size], self._received[size:]
            yield sender, word & 0xFFFF, body


def _global(body: bytes) -> tuple[int, str]:
    name, size = struct.unpack_from("=II", body)
    return name, body[8 : 8 + size].rstrip(b"\0").decode("ascii", "replace")


def _socket_place(environ: Mapping[str, str]) -> Path | None:
    """The compositor's socket: as the environment names it, else the one that lies in the session's folder."""
    folder = environ.get("XDG_RUNTIME_DIR", "")
    if name := environ.get("WAYLAND_DISPLAY", ""):
        return Path(folder, name) if folder or name.startswith("/") else None
    try:
        found = sorted(place for place in Path(folder).glob("wayland-*") if place.is_socket()) if folder else []
    except OSError:
        return None
    return found[0] if found else None
