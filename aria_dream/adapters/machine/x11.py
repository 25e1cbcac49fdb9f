"""Seconds since the last input at an X display, asked over the display's socket.

Spoken here rather than through Xlib, because Xlib ends the whole process when the server goes away, and nothing there
has a timeout. Four small messages of the X protocol (X11R7 protocol §8 and appendix B, MIT-SCREEN-SAVER 1.1 §4).
"""

from __future__ import annotations

import os
import re
import socket
import struct
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from aria_dream.schedule.presence import Known, NoSensor, Reading, SensorFailed

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

_COOKIE = b"MIT-MAGIC-COOKIE-1"
_QUERY_EXTENSION = 98
_QUERY_INFO = 1
_LOCAL = 256
_LARGEST_REPLY_BYTES = 1 << 20


class _ProtocolError(Exception):
    """What came back is not what the protocol says."""


@dataclass(frozen=True, slots=True)
class Setup:
    """What the server says of itself on connecting, as far as it is needed."""

    root: int
    """The root window of the first screen."""


def read_x11_idle(environ: Mapping[str, str] = os.environ, *, timeout_s: float = 2.0) -> Reading[float]:
    """Seconds since the last input at the local display that DISPLAY names. Never raises; takes `timeout_s` at most.

    Absent: no DISPLAY, a display of another machine, nobody listening, or the X server of a Wayland session, whose
    counter goes up while the user types into Wayland windows.
    """
    display = environ.get("DISPLAY", "")
    number = parse_display(display)
    if number is None:
        return NoSensor(f"“{display}” is no display of this machine" if display else "no X display")
    deadline = time.monotonic() + timeout_s
    try:
        connection = _connect(number, timeout_s)
    except OSError:
        return NoSensor(f"no X server at display {display}")
    with connection:
        try:
            return _Conversation(connection, deadline).idle(_cookies(environ, number))
        except TimeoutError:
            return SensorFailed(f"the X server did not answer within {timeout_s:g} s")
        except (OSError, _ProtocolError, struct.error) as error:
            return SensorFailed(f"the X server cannot be asked: {error}")


def parse_display(display: str) -> int | None:
    """The number of a display of this machine (`:0`, `unix:1.0`, `host/unix:0`); None for any other name."""
    found = re.fullmatch(r"(?:[^:/]*/)?(?:unix)?:([0-9]{1,5})(?:\.[0-9]{1,3})?", display)
    return int(found[1]) if found else None


def parse_authority(data: bytes, number: int) -> tuple[bytes, ...]:
    """The cookies of an Xauthority file that may fit display `number`, the likeliest first. Total on any bytes."""
    found: list[tuple[bool, bytes]] = []
    for family, display, kind, cookie in _authority_entries(data):
        if kind == _COOKIE and display in (b"", str(number).encode()):
            found.append((family != _LOCAL, cookie))
    return tuple(dict.fromkeys(cookie for _, cookie in sorted(found, key=lambda entry: entry[0])))


def _authority_entries(data: bytes) -> Iterator[tuple[int, bytes, bytes, bytes]]:
    at = 0
    while at + 2 <= len(data):
        family = int.from_bytes(data[at : at + 2], "big")
        at += 2
        fields: list[bytes] = []
        for _ in range(4):
            size = int.from_bytes(data[at : at + 2], "big")
            fields.append(data[at + 2 : at + 2 + size])
            at += 2 + size
        if at > len(data):
            return
        yield family, fields[1], fields[2], fields[3]


def parse_setup(body: bytes) -> Setup:
    """The server's answer to the connection request, behind its first eight bytes."""
    vendor, formats, screens = struct.unpack_from("<16xH2xBB", body)[0], body[21], body[20]
    root_at = 32 + vendor + -vendor % 4 + 8 * formats
    if not screens:
        raise _ProtocolError("it has no screen")
    return Setup(root=struct.unpack_from("<I", body, root_at)[0])


def _cookies(environ: Mapping[str, str], number: int) -> tuple[bytes, ...]:
    path = Path(environ.get("XAUTHORITY") or Path(environ.get("HOME", "/"), ".Xauthority"))
    try:
        with path.open("rb") as file:
            return parse_authority(file.read(1 << 20), number)
    except OSError:
        return ()


def _connect(number: int, timeout_s: float) -> socket.socket:
    """A socket that is connected to the display: the file, else the abstract name that Linux servers also listen on."""
    path = f"/tmp/.X11-unix/X{number}"  # noqa: S108 - the place that the X servers agree on
    for address in (path, f"\0{path}"):
        connection = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        connection.settimeout(timeout_s)
        try:
            connection.connect(address)
        except OSError:
            connection.close()
            if address != path:
                raise
        else:
            return connection
    raise AssertionError


class _Conversation:
    def __init__(self, connection: socket.socket, deadline: float) -> None:
        self._connection = connection
        self._deadline = deadline

    def idle(self, cookies: tuple[bytes, ...]) -> Reading[float]:
        """The answer to all three questions: who are you, are you Xwayland, how long is nobody there?"""
        cookie = cookies[0] if cookies else b""
        name = _COOKIE if cookie else b""
        hello = struct.pack("<BxHHHH2x", ord("l"), 11, 0, len(name), len(cookie))
        self._connection.sendall(hello + _padded(name) + _padded(cookie))
        status, reason_bytes, length = struct.unpack("<BB4xH", self._take(8))
        body = self._take(4 * length)
        if status != 1:
            return SensorFailed(f"the X server does not let us in: {body[:reason_bytes].decode('latin-1').strip()}")
        root = parse_setup(body).root
        if self._extension(b"XWAYLAND") is not None:
            return NoSensor("the X server belongs to a Wayland session and does not see all input")
        saver = self._extension(b"MIT-SCREEN-SAVER")
        if saver is None:
            return SensorFailed("the X server does not count idle time (no MIT-SCREEN-SAVER)")
        self._connection.sendall(struct.pack("<BBHI", saver, _QUERY_INFO, 2, root))
        idle_ms: int = struct.unpack_from("<16xI", self._reply())[0]
        return Known(idle_ms / 1000)

    def _extension(self, name: bytes) -> int | None:
        """The number by which the extension is called; None where the server does not have it."""
        padded = _padded(name)
        self._connection.sendall(struct.pack("<BxHH2x", _QUERY_EXTENSION, 2 + len(padded) // 4, len(name)) + padded)
        present, opcode = struct.unpack_from("<8xBB", self._reply())
        return opcode if present else None

    def _reply(self) -> bytes:
        """The next reply. Events that the server sends to everybody are passed over."""
        while True:
            head = self._take(32)
            if head[0] == 0:
                raise _ProtocolError(f"error {head[1]}")
            if head[0] == 1:
                return head + self._take(4 * struct.unpack_from("<4xI", head)[0])

    def _take(self, size: int) -> bytes:
        if size > _LARGEST_REPLY_BYTES:
            raise _ProtocolError("an answer is too long")
        data = b""
        while len(data) < size:
            left_s = self._deadline - time.monotonic()
            if left_s <= 0:
                raise TimeoutError
            self._connection.settimeout(left_s)
            piece = self._connection.recv(size - len(data))
            if not piece:
                raise _ProtocolError("it hung up")
            data += piece
        return data


def _padded(data: bytes) -> bytes:
    return data + bytes(-len(data) % 4)
