"""The compositor's own word on idling, from a compositor that is played here, message by message."""

from __future__ import annotations

import socket
import struct
import sys
import threading
from contextlib import suppress
from typing import TYPE_CHECKING

import pytest

from aria_dream.adapters.machine.wayland import WaylandIdle
from aria_dream.schedule.presence import Known, NoSensor, SensorFailed

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="needs Linux or macOS")

GLOBALS = ("wl_compositor", "wl_seat", "ext_idle_notifier_v1")


def message(sender: int, opcode: int, body: bytes = b"") -> bytes:
    return struct.pack("=II", sender, (8 + len(body)) << 16 | opcode) + body


def text(words: str) -> bytes:
    data = words.encode() + b"\0"
    return struct.pack("=I", len(data)) + data + bytes(-len(data) % 4)


IDLED, RESUMED = message(6, 0), message(6, 1)
SEAT_NOISE = message(4, 0, struct.pack("=I", 3)) + message(4, 1, text("seat0"))


class Compositor:
    """Lets one client in, answers its first questions, and then says what the test has it say."""

    def __init__(self, folder: Path, announced: tuple[str, ...] = GLOBALS, greeting: bytes | None = None) -> None:
        self._listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self._listener.bind(str(folder / "wayland-0"))
        self._listener.listen()
        self._announced = announced
        self._greeting = greeting
        self.connection: socket.socket | None = None
        self.heard = b""
        self.ready = threading.Event()
        self._thread = threading.Thread(target=self._serve, daemon=True)
        self._thread.start()

    def _serve(self) -> None:
        try:
            self.connection, _ = self._listener.accept()
        except OSError:
            return
        self.connection.settimeout(30)
        self._hear(12 + 12)
        greeting = self._greeting
        if greeting is None:
            greeting = b"".join(
                message(2, 0, struct.pack("=I", number) + text(name) + struct.pack("=I", 1))
                for number, name in enumerate(self._announced, 10)
            ) + message(3, 0, struct.pack("=I", 0)) + message(1, 1, struct.pack("=I", 3))
        with suppress(OSError):  # who hears nonsense hangs up before it ends
            for start in range(0, len(greeting), 7):  # messages arrive in pieces
                self.connection.sendall(greeting[start : start + 7])
        if set(GLOBALS[1:]) <= set(self._announced) and self._greeting is None:
            self._hear(24 + 32 + 48 + 20)
        self.ready.set()

    def _hear(self, size: int) -> None:
        assert self.connection is not None
        while len(self.heard) < size:
            piece = self.connection.recv(4096)
            if not piece:
                return
            self.heard += piece

    def says(self, data: bytes) -> None:
        assert self.ready.wait(30)
        assert self.connection is not None
        self.connection.sendall(data)

    def close(self) -> None:
        # shutdown wakes a thread that waits in accept or recv; close alone does not
        for each in (self._listener, self.connection):
            if each is not None:
                with suppress(OSError):
                    each.shutdown(socket.SHUT_RDWR)
                each.close()
        self._thread.join(30)


@pytest.fixture
def compositors() -> Iterator[list[Compositor]]:
    made: list[Compositor] = []
    yield made
    for compositor in made:
        compositor.close()


@pytest.fixture
def runtime(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("r")  # short: the path of a socket holds about a hundred characters


class Clock:
    now_s = 1000.0

    def __call__(self) -> float:
        return self.now_s


def test_idling_is_counted_from_the_look_that_found_it(runtime: Path, compositors: list[Compositor]) -> None:
    compositors.append(Compositor(runtime))
    compositor, clock = compositors[0], Clock()
    idle = WaylandIdle({"XDG_RUNTIME_DIR": str(runtime)}, timeout_s=30, monotonic=clock)
    assert idle.read() == Known(0.0)
    compositor.says(SEAT_NOISE + IDLED)
    clock.now_s = 1060.0
    assert idle.read() == Known(0.0), "it may have begun just now"
    clock.now_s = 1120.0
    assert idle.read() == Known(60.0)
    compositor.says(RESUMED + IDLED)  # somebody has come and gone
    assert idle.read() == Known(0.0)
    clock.now_s = 1180.0
    assert idle.read() == Known(60.0)
    compositor.says(RESUMED[:5])
    assert idle.read() == Known(60.0), "half a message says nothing yet"
    compositor.says(RESUMED[5:])
    assert idle.read() == Known(0.0)
    clock.now_s = 9000.0
    assert idle.read() == Known(0.0)
    idle.close()


def test_what_it_asks_for(runtime: Path, compositors: list[Compositor]) -> None:
    compositors.append(Compositor(runtime))
    idle = WaylandIdle({"XDG_RUNTIME_DIR": "/nowhere", "WAYLAND_DISPLAY": str(runtime / "wayland-0")}, timeout_s=30)
    assert idle.read() == Known(0.0)
    assert compositors[0].ready.wait(30)
    heard = compositors[0].heard
    assert heard.endswith(message(5, 1, struct.pack("=III", 6, 1000, 4)))
    assert message(2, 0, struct.pack("=I", 12) + text("ext_idle_notifier_v1") + struct.pack("=II", 1, 5)) in heard
    idle.close()


def test_a_compositor_that_does_not_speak_it(runtime: Path, compositors: list[Compositor]) -> None:
    compositors.append(Compositor(runtime, ("wl_compositor", "wl_seat")))
    reading = WaylandIdle({"XDG_RUNTIME_DIR": str(runtime), "WAYLAND_DISPLAY": "wayland-0"}, timeout_s=30).read()
    assert isinstance(reading, NoSensor)
    assert "ext-idle-notify" in reading.reason


@pytest.mark.parametrize(
    ("greeting", "words"),
    [
        (message(1, 0, struct.pack("=II", 1, 0) + text("no")), "reports an error"),
        (struct.pack("=II", 1, 0), "no Wayland"),
        (b"HTTP/1.1 400 Bad Request\r\n\r\n", "no Wayland"),
        (message(2, 0, b"\1\0\0\0"), "cannot be asked"),
    ],
)
def test_a_compositor_that_talks_nonsense(
    runtime: Path, compositors: list[Compositor], greeting: bytes, words: str
) -> None:
    compositors.append(Compositor(runtime, greeting=greeting))
    reading = WaylandIdle({"XDG_RUNTIME_DIR": str(runtime)}, timeout_s=30).read()
    assert isinstance(reading, SensorFailed)
    assert words in reading.reason


def test_a_compositor_that_ends_and_one_that_hangs(runtime: Path, compositors: list[Compositor]) -> None:
    compositors.append(Compositor(runtime))
    idle = WaylandIdle({"XDG_RUNTIME_DIR": str(runtime)}, timeout_s=30)
    assert idle.read() == Known(0.0)
    assert compositors[0].ready.wait(30)
    compositors[0].close()
    reading = idle.read()
    assert isinstance(reading, SensorFailed)
    assert "ended" in reading.reason
    assert idle.read() == NoSensor("no Wayland compositor listens")
    (runtime / "wayland-0").unlink()
    assert idle.read() == NoSensor("no Wayland session")
    compositors.append(Compositor(runtime, greeting=b""))
    hanging = WaylandIdle({"XDG_RUNTIME_DIR": str(runtime)}, timeout_s=0.2).read()
    assert isinstance(hanging, SensorFailed)
    assert "did not answer" in hanging.reason


def test_no_wayland_at_all(runtime: Path) -> None:
    assert WaylandIdle({}).read() == NoSensor("no Wayland session")
    assert WaylandIdle({"XDG_RUNTIME_DIR": str(runtime)}).read() == NoSensor("no Wayland session")
    assert WaylandIdle({"WAYLAND_DISPLAY": "wayland-7"}).read() == NoSensor("no Wayland session")
