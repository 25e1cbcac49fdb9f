"""The sensors of every system: parsers on what the tools print, probes on a real X server, a real D-Bus, real hangs."""

from __future__ import annotations

import math
import os
import select
import shutil
import socket
import struct
import subprocess
import sys
import textwrap
import threading
import time
from typing import TYPE_CHECKING

import pytest

from aria_dream.adapters.machine import x11
from aria_dream.adapters.machine.idle import (
    IdleProbe,
    Output,
    Sensor,
    find_sensors,
    is_wayland,
    parse_idle_ms,
    parse_ioreg,
    parse_logind,
    parse_tick_count,
    run_command,
)
from aria_dream.adapters.machine.x11 import parse_authority, parse_display, read_x11_idle
from aria_dream.schedule.presence import Known, NoSensor, Reading, SensorFailed

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from pathlib import Path

LINUX = pytest.mark.skipif(sys.platform == "win32" or sys.platform == "darwin", reason="needs Linux")


@pytest.mark.parametrize(
    ("text", "reading"),
    [
        ("1800000", Known(1800.0)),
        ("1800000\n", Known(1800.0)),
        ("(uint64 1234,)\n", Known(1.234)),
        ("t 1234\n", Known(1.234)),
        ("(uint32 0,)", Known(0.0)),
    ],
)
def test_milliseconds(text: str, reading: Reading[float]) -> None:
    assert parse_idle_ms(text) == reading


@pytest.mark.parametrize("text", ["", "-5", "nan", "12.5", "1 2", "(uint64 1,) 2", "18446744073709551615", "\0", "٣"])
def test_what_are_no_milliseconds(text: str) -> None:
    assert isinstance(parse_idle_ms(text), SensorFailed)


def test_ioreg_tells_the_latest_device() -> None:
    text = """+-o IOHIDSystem  <class IOHIDSystem, id 0x1, registered, matched, active, busy 0, retain 10>
    {
      "HIDIdleTime" = 5000000000
      "HIDParameters" = {"HIDIdleTimeDelta"=9}
    }
      "HIDIdleTime" = 2500000000"""
    assert parse_ioreg(text) == Known(2.5)
    assert isinstance(parse_ioreg(""), SensorFailed)
    assert isinstance(parse_ioreg('"HIDIdleTime" = <00ff>'), SensorFailed)


@pytest.mark.parametrize(
    ("text", "kind", "value"),
    [
        ("IdleHint=yes\nIdleSinceHint=1000000000\nIdleSinceHintMonotonic=40000000", Known, 60.0),
        ("IdleHint=yes\nIdleSinceHint=1000000000\nIdleSinceHintMonotonic=0", Known, 1000.0),
        ("IdleHint=no\nIdleSinceHint=1000000000\nIdleSinceHintMonotonic=40000000", Known, 0.0),
        ("IdleHint=no\nIdleSinceHint=0\nIdleSinceHintMonotonic=0", NoSensor, None),
        ("IdleHint=yes\nIdleSinceHint=0\nIdleSinceHintMonotonic=0", SensorFailed, None),
        ("IdleHint=yes\nIdleSinceHint=9000000000\nIdleSinceHintMonotonic=0", SensorFailed, None),
        ("IdleHint=perhaps", SensorFailed, None),
        ("", SensorFailed, None),
    ],
)
def test_logind(text: str, kind: type, value: float | None) -> None:
    reading = parse_logind(text, now_s=2000.0, monotonic_s=100.0)
    assert isinstance(reading, kind)
    if isinstance(reading, Known):
        assert reading.value == value


def test_the_counter_of_windows_starts_again() -> None:
    assert parse_tick_count(5_000, 2_000) == Known(3.0)
    assert parse_tick_count(1_000, 0xFFFFFFFF - 999) == Known(2.0)


def test_a_command_that_hangs_or_is_not_there() -> None:
    hangs = run_command([sys.executable, "-c", "import time; time.sleep(60)"], timeout_s=0.2)
    assert isinstance(hangs, SensorFailed)
    assert "did not answer" in hangs.reason
    missing = run_command(["aria-no-such-command"])
    assert isinstance(missing, SensorFailed)
    said = run_command([sys.executable, "-c", "import sys; print('a'); print('b', file=sys.stderr); sys.exit(3)"])
    assert isinstance(said, Output)
    assert (said.code, said.text.strip(), said.complaint.strip()) == (3, "a", "b")


def test_wayland_is_told_by_its_name_or_its_socket(tmp_path: Path) -> None:
    assert is_wayland({"WAYLAND_DISPLAY": "wayland-0"})
    assert is_wayland({"XDG_SESSION_TYPE": "Wayland"})
    assert not is_wayland({"XDG_SESSION_TYPE": "x11", "XDG_RUNTIME_DIR": str(tmp_path)})
    (tmp_path / "wayland-0.lock").touch()
    assert not is_wayland({"XDG_RUNTIME_DIR": str(tmp_path)})
    (tmp_path / "wayland-0").touch()
    assert is_wayland({"XDG_RUNTIME_DIR": str(tmp_path), "DISPLAY": ":0"})
    assert not is_wayland({"XDG_RUNTIME_DIR": str(tmp_path / "gone")})
    assert not is_wayland({})


class Clock:
    def __init__(self) -> None:
        self.now_s = 0.0

    def __call__(self) -> float:
        return self.now_s


def scripted(name: str, readings: list[Reading[float]], *, counts: bool = True) -> tuple[Sensor, list[str]]:
    """A sensor that gives these readings and then the last one for ever, and the record of how often it was asked."""
    asked: list[str] = []

    def read() -> Reading[float]:
        asked.append(name)
        return readings[min(len(asked), len(readings)) - 1]

    return Sensor(name, read, counts=counts), asked


def test_the_sensor_is_chosen_once_and_again_when_it_fails() -> None:
    first, asked_first = scripted("first", [NoSensor("no")])
    second, asked_second = scripted("second", [Known(5.0), Known(6.0), SensorFailed("gone"), NoSensor("gone")])
    third, asked_third = scripted("third", [Known(7.0)])
    probe = IdleProbe([first, second, third], monotonic=Clock())
    assert [probe.read(), probe.read()] == [Known(5.0), Known(6.0)]
    assert (probe.chosen, len(asked_first), len(asked_third)) == ("second", 1, 0)
    assert probe.read() == Known(7.0)
    assert (probe.chosen, len(asked_second)) == ("third", 3)
    probe.read()
    assert (len(asked_first), len(asked_second), len(asked_third)) == (2, 3, 2)


def test_a_broken_sensor_is_not_a_missing_one() -> None:
    broken, asked = scripted("broken", [SensorFailed("it hangs")])
    missing, _ = scripted("missing", [NoSensor("not here")])
    probe = IdleProbe([missing, broken], monotonic=Clock())
    assert probe.read() == SensorFailed("it hangs")
    probe.read()
    assert len(asked) == 2, "a broken sensor may be mended at any time"


def test_that_there_is_none_is_believed_for_a_while() -> None:
    clock = Clock()
    sensor, asked = scripted("late", [NoSensor("nobody is logged in"), Known(3.0)])
    probe = IdleProbe([sensor], monotonic=clock)
    assert probe.read() == probe.read() == NoSensor("nobody is logged in")
    assert (len(asked), probe.chosen) == (1, "")
    clock.now_s = 601
    assert probe.read() == Known(3.0)


def test_a_counter_that_only_ever_says_0_is_none() -> None:
    clock = Clock()
    stuck, _ = scripted("stuck", [Known(0.0)])
    probe = IdleProbe([stuck], monotonic=clock)
    readings = []
    for _ in range(40):
        readings.append(probe.read())
        clock.now_s += 60
    assert readings[:30] == [Known(0.0)] * 30
    assert readings[-1] == NoSensor("stuck has only ever said 0")


@pytest.mark.parametrize(("readings", "counts"), [([Known(0.0)], False), ([Known(0.0), Known(4.0), Known(0.0)], True)])
def test_a_sensor_that_may_say_0(readings: list[Reading[float]], counts: bool) -> None:
    clock = Clock()
    sensor, _ = scripted("hint", readings, counts=counts)
    probe = IdleProbe([sensor], monotonic=clock)
    for _ in range(100):
        last = probe.read()
        clock.now_s += 60
    assert last == Known(0.0)


def test_each_system_has_its_sensors() -> None:
    def run(command: Sequence[str]) -> Output | SensorFailed:
        assert command[0] == "/usr/sbin/ioreg"
        return Output(0, '"HIDIdleTime" = 4000000000', "")

    assert [sensor.name for sensor in find_sensors({}, "win32")] == ["Windows"]
    (mac,) = find_sensors({}, "darwin", run)
    assert mac.read() == Known(4.0)


def mutter(answer: Output | SensorFailed, path: str, **environ: str) -> Reading[float]:
    named = {sensor.name: sensor for sensor in find_sensors({"PATH": path, **environ}, "linux", lambda _: answer)}
    return named["GNOME"].read()


@pytest.mark.parametrize(
    ("answer", "kind"),
    [
        (Output(0, "(uint64 60000,)\n", ""), Known),
        (Output(1, "", "Error: GDBus.Error:org.freedesktop.DBus.Error.ServiceUnknown: The name is unknown"), NoSensor),
        (Output(1, "", "Call failed: The name org.gnome.Mutter.IdleMonitor was not provided by any .service files"),
         NoSensor),
        (Output(1, "", "Error: Timeout was reached"), SensorFailed),
        (Output(1, "", ""), SensorFailed),
        (Output(0, "()", ""), SensorFailed),
        (SensorFailed("gdbus did not answer within 2 s"), SensorFailed),
    ],
)
def test_what_the_session_bus_answers(answer: Output | SensorFailed, kind: type, tmp_path: Path) -> None:
    (tmp_path / "gdbus").touch(0o755)
    assert isinstance(mutter(answer, str(tmp_path), DBUS_SESSION_BUS_ADDRESS="unix:path=/x"), kind)


def test_no_bus_and_no_tool(tmp_path: Path) -> None:
    assert mutter(Output(0, "1", ""), str(tmp_path)) == NoSensor("no session bus")
    answer = mutter(Output(0, "1", ""), str(tmp_path), DBUS_SESSION_BUS_ADDRESS="unix:path=/x")
    assert answer == NoSensor("neither gdbus nor busctl is installed")


@pytest.mark.parametrize(
    ("display", "number"),
    [(":0", 0), (":77.0", 77), ("unix:1", 1), ("host/unix:2.1", 2), ("localhost:10.0", None), ("other:0", None),
     ("", None), (":", None), ("/private/tmp/org.xquartz:0", None)],
)
def test_displays_of_this_machine(display: str, number: int | None) -> None:
    assert parse_display(display) == number


def entry(family: int, display: bytes, kind: bytes, cookie: bytes) -> bytes:
    fields = (b"host", display, kind, cookie)
    return struct.pack(">H", family) + b"".join(struct.pack(">H", len(each)) + each for each in fields)


def test_cookies_of_a_display() -> None:
    kind = b"MIT-MAGIC-COOKIE-1"
    data = entry(0, b"1", kind, b"tcp") + entry(256, b"1", kind, b"local") + entry(256, b"2", kind, b"other")
    data += entry(256, b"1", b"XDM-AUTHORIZATION-1", b"odd") + entry(65535, b"", kind, b"any")
    assert parse_authority(data, 1) == (b"local", b"tcp", b"any")
    assert parse_authority(data[:-3], 1) == (b"local", b"tcp")
    assert parse_authority(b"\xff" * 9, 1) == ()


@pytest.fixture(scope="module")
def x_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A real X server without a screen; the value is for DISPLAY."""
    if sys.platform != "linux":
        pytest.skip("needs Linux" if sys.platform == "win32" else "needs Linux, not macOS")
    if not shutil.which("Xvfb"):
        pytest.skip("Xvfb is not installed (Debian: xvfb)")
    told, tell = os.pipe()
    server = subprocess.Popen(
        ["Xvfb", "-displayfd", str(tell), "-screen", "0", "64x64x8", "-nolisten", "tcp", "-noreset"],
        pass_fds=[tell], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    os.close(tell)
    try:
        ready, _, _ = select.select([told], [], [], 60)
        assert ready, "Xvfb did not start"
        number = os.read(told, 16).decode().strip()
        assert number, "Xvfb ended"
        yield f":{number}"
    finally:
        server.terminate()
        server.wait(30)
        os.close(told)


@LINUX
def test_a_real_x_server_counts_and_notices_input(x_server: str) -> None:
    environ = {"DISPLAY": x_server}

    def idle_s() -> float:
        reading = read_x11_idle(environ, timeout_s=30)
        assert isinstance(reading, Known), reading
        return reading.value

    while idle_s() < 3:  # ends by the server's own counting
        select.select([], [], [], 0.2)
    number = parse_display(x_server)
    assert number is not None
    with x11._connect(number, 30) as connection:
        conversation = x11._Conversation(connection, time.monotonic() + 60)
        connection.settimeout(30)
        assert isinstance(conversation.idle(()), Known)
        fake = conversation._extension(b"XTEST")
        assert fake is not None
        # XTestFakeInput: the pointer moves to 9, 9 on the only screen.
        connection.sendall(struct.pack("<BBHBB2xIIIIhhIHxB", fake, 2, 9, 6, 0, 0, 0, 0, 0, 9, 9, 0, 0, 0))
        assert conversation._extension(b"XTEST") is not None, "the server has done what it was sent before"
    assert idle_s() < 3
    probe = IdleProbe(find_sensors(environ, "linux"))
    assert isinstance(probe.read(), Known)
    assert probe.chosen == "X11"


@LINUX
def test_the_x_server_of_a_wayland_session_is_not_asked(x_server: str) -> None:
    wayland = find_sensors({"DISPLAY": x_server, "WAYLAND_DISPLAY": "wayland-0"}, "linux")
    assert dict(IdleProbe(wayland).read_all())["X11"] == NoSensor("under Wayland the X counter does not see all input")


@LINUX
def test_a_display_where_nobody_listens() -> None:
    assert isinstance(read_x11_idle({"DISPLAY": ":64999"}), NoSensor)
    assert isinstance(read_x11_idle({}), NoSensor)



@pytest.fixture
def false_server() -> Iterator[Callable[[Callable[[socket.socket], None]], str]]:
    """Starts a server that behaves as told at a free display; returns the value for DISPLAY."""
    listeners: list[socket.socket] = []
    threads: list[threading.Thread] = []

    def start(behave: Callable[[socket.socket], None]) -> str:
        listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        number = next(n for n in range(40_000 + os.getpid() % 20_000, 65_000) if _bound(listener, n))
        listener.listen()
        listeners.append(listener)

        def serve() -> None:
            try:
                connection, _ = listener.accept()
            except OSError:
                return
            with connection:
                connection.settimeout(30)
                behave(connection)

        threads.append(threading.Thread(target=serve, daemon=True))
        threads[-1].start()
        return f":{number}"

    yield start
    for listener in listeners:
        listener.close()
    for thread in threads:
        thread.join(30)


def _bound(listener: socket.socket, number: int) -> bool:
    try:
        listener.bind(f"\0/tmp/.X11-unix/X{number}")
    except OSError:
        return False
    return True


SETUP = struct.pack("<IIIIHHBB10x", 1, 0, 0, 0, 4, 65535, 1, 1) + b"test" + bytes(8) + struct.pack("<I", 42) + bytes(36)
WELCOME = struct.pack("<BBHHH", 1, 0, 11, 0, len(SETUP) // 4) + SETUP


def extension(present: int) -> bytes:
    return struct.pack("<BxHIBB22x", 1, 1, 0, present, 140)


@LINUX
@pytest.mark.parametrize(
    ("answers", "kind", "words"),
    [
        ((WELCOME, extension(0), extension(1), struct.pack("<BBHIIIII8x", 1, 0, 3, 0, 0, 0, 7000, 0)), Known, ""),
        ((WELCOME, bytes([34]) + bytes(31) + extension(0), extension(1),
          struct.pack("<BBHIIIII8x", 1, 0, 3, 0, 0, 0, 7000, 0)), Known, ""),  # an event in between
        ((WELCOME, extension(1)), NoSensor, "Wayland"),
        ((WELCOME, extension(0), extension(0)), SensorFailed, "MIT-SCREEN-SAVER"),
        ((WELCOME, extension(0), extension(1), bytes([0, 9]) + bytes(30)), SensorFailed, "error 9"),
        ((struct.pack("<BBHHH", 0, 5, 11, 0, 2) + b"go on\0\0\0",), SensorFailed, "go on"),
        ((struct.pack("<BBHHH", 1, 0, 11, 0, 1) + bytes(4),), SensorFailed, "cannot be asked"),
        ((struct.pack("<BBHHH", 1, 0, 11, 0, 8) + bytes(32),), SensorFailed, "no screen"),
        ((WELCOME, struct.pack("<BxHI24x", 1, 1, 0xFFFFFFFF)), SensorFailed, "too long"),
        ((b"",), SensorFailed, "hung up"),
        ((WELCOME[:20],), SensorFailed, "hung up"),
    ],
)
def test_whatever_a_server_says(
    false_server: Callable[[Callable[[socket.socket], None]], str], answers: tuple[bytes, ...], kind: type, words: str
) -> None:
    def behave(connection: socket.socket) -> None:
        for answer in answers:
            connection.recv(4096)
            connection.sendall(answer)

    reading = read_x11_idle({"DISPLAY": false_server(behave), "HOME": "/nowhere"}, timeout_s=30)
    assert isinstance(reading, kind), reading
    if isinstance(reading, Known):
        assert reading.value == 7.0
    else:
        assert words in reading.reason


@LINUX
def test_a_server_that_says_nothing(false_server: Callable[[Callable[[socket.socket], None]], str]) -> None:
    done = threading.Event()

    def behave(_: socket.socket) -> None:
        done.wait(60)

    display = false_server(behave)
    reading = read_x11_idle({"DISPLAY": display}, timeout_s=0.2)
    done.set()
    assert isinstance(reading, SensorFailed)
    assert "did not answer" in reading.reason




@LINUX
def test_a_real_session_bus_without_gnome(tmp_path: Path) -> None:
    """On a real bus that nobody of GNOME is on, the monitor is absent, not broken: by gdbus and by busctl."""
    for tool in ("dbus-run-session", "gdbus"):
        if not shutil.which(tool):
            pytest.skip(f"{tool} is not installed (Debian: dbus-daemon, libglib2.0-bin)")
    code = textwrap.dedent(
        """
        from aria_dream.adapters.machine.idle import find_sensors
        print({s.name: type(s.read()).__name__ for s in find_sensors() if s.name in ("GNOME", "Cinnamon")})
        """
    )
    done = subprocess.run(
        ["dbus-run-session", "--", sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=120,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)})
    assert done.stdout.strip() == "{'GNOME': 'NoSensor', 'Cinnamon': 'NoSensor'}", done.stderr


def test_reading_never_raises_here() -> None:
    reading = IdleProbe().read()
    assert isinstance(reading, Known | SensorFailed | NoSensor)
    if isinstance(reading, Known):
        assert math.isfinite(reading.value)
