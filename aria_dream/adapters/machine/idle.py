"""How long nobody has touched this machine: the sensors of each system, and which of them to believe.

Every sensor is a parser (pure, total) and a probe (short, with its own timeout, never raising).
"""

from __future__ import annotations

import math
import os
import re
import shutil
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from aria_dream.adapters.machine.wayland import WaylandIdle
from aria_dream.adapters.machine.x11 import read_x11_idle
from aria_dream.schedule.presence import Known, NoSensor, Reading, SensorFailed

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

TIMEOUT_S = 2.0
LOOK_AGAIN_S = 600.0
"""How long "there is no sensor" is believed. Somebody may log in after we were started at boot."""
_DOUBT_READINGS, _DOUBT_S = 10, 1800.0
"""A counter that said exactly 0 so often, over so long, and never anything else, counts nothing."""


@dataclass(frozen=True, slots=True)
class Output:
    """What a command printed."""

    code: int
    text: str
    complaint: str


class CommandRunner(Protocol):
    def __call__(self, command: Sequence[str]) -> Output | SensorFailed:
        """What the command printed, or why there is nothing."""
        ...


def run_command(command: Sequence[str], *, timeout_s: float = TIMEOUT_S) -> Output | SensorFailed:
    """What the command printed within `timeout_s`; Unreadable where it did not end or could not be started."""
    try:
        done = subprocess.run(  # noqa: S603 - fixed words, from this module
            command, stdin=subprocess.DEVNULL, capture_output=True, timeout=timeout_s, check=False,
            env={**os.environ, "LC_ALL": "C"})
    except subprocess.TimeoutExpired:
        return SensorFailed(f"{command[0]} did not answer within {timeout_s:g} s")
    except (OSError, ValueError) as error:
        return SensorFailed(f"{command[0]} cannot be started: {error}")
    return Output(done.returncode, done.stdout.decode("utf-8", "replace"), done.stderr.decode("utf-8", "replace"))


def parse_idle_ms(text: str) -> Reading[float]:
    """Seconds, from whole milliseconds that stand alone or as D-Bus tools print them: `(uint64 1234,)`, `t 1234`."""
    found = re.fullmatch(r"\s*(?:\(\s*)?(?:u?int(?:32|64)\s+|[tuxi]\s+)?(-?[0-9]{1,20})\s*(?:,?\s*\))?\s*", text)
    if found is None:
        return SensorFailed(f"“{text.strip()[:40]}” is no number of milliseconds")
    return _plausible(int(found[1]) / 1000)


def parse_ioreg(text: str) -> Reading[float]:
    """Seconds, from the smallest `HIDIdleTime` (nanoseconds) that `ioreg` lists."""
    found = re.findall(r'"HIDIdleTime"\s*=\s*([0-9]{1,20})\b', text)
    if not found:
        return SensorFailed("ioreg lists no HIDIdleTime")
    return _plausible(min(map(int, found)) / 1e9)


def parse_logind(text: str, *, now_s: float, monotonic_s: float) -> Reading[float]:
    """Seconds since the desktop declared itself idle, from `loginctl show-session`; 0 where it says that it is not.

    `now_s` is the wall clock, `monotonic_s` CLOCK_MONOTONIC, which is asked first because nobody sets it. Absent where
    the desktop has never told logind anything: most do not (KDE, bare compositors).
    """
    fields = dict(line.split("=", 1) for line in text.splitlines() if "=" in line)
    since_us, since_monotonic_us = _whole(fields.get("IdleSinceHint")), _whole(fields.get("IdleSinceHintMonotonic"))
    match fields.get("IdleHint"):
        case "no" if not since_us and not since_monotonic_us:
            return NoSensor("the desktop does not tell logind when it is idle")
        case "no":
            return Known(0.0)
        case "yes" if since_monotonic_us:
            return _plausible(monotonic_s - since_monotonic_us / 1e6)
        case "yes" if since_us:
            return _plausible(now_s - since_us / 1e6)
        case _:
            return SensorFailed("logind does not say since when the session is idle")


def parse_tick_count(now_ms: int, last_ms: int) -> Reading[float]:
    """Seconds between two readings of the 32-bit millisecond counter of Windows, which starts again after 49.7 days."""
    return Known(((now_ms - last_ms) & 0xFFFFFFFF) / 1000)


def _whole(text: str | None) -> int:
    return int(text) if text is not None and re.fullmatch(r"[0-9]{1,20}", text) else 0


def _plausible(seconds: float) -> Reading[float]:
    if not math.isfinite(seconds) or seconds < 0 or seconds > 10 * 366 * 86_400:
        return SensorFailed(f"{seconds:g} seconds cannot be")
    return Known(seconds)


@dataclass(frozen=True, slots=True)
class Sensor:
    """One way to learn how long nobody was there."""

    name: str
    """For people."""
    read: Callable[[], Reading[float]]
    counts: bool = True
    """It counts time, so that saying exactly 0 again and again is no answer."""


def find_sensors(
    environ: Mapping[str, str] = os.environ, platform: str = sys.platform, run: CommandRunner = run_command
) -> tuple[Sensor, ...]:
    """The sensors to try on this system, the best first. Asks none of them yet."""
    if platform == "win32":
        return (Sensor("Windows", _read_windows),)
    if platform == "darwin":
        return (Sensor("ioreg", lambda: _read_ioreg(run)),)
    return (
        Sensor("X11", lambda: _read_x11(environ)),
        Sensor("GNOME", lambda: _read_monitor(environ, run, "org.gnome.Mutter", "/org/gnome/Mutter")),
        Sensor("Cinnamon", lambda: _read_monitor(environ, run, "org.cinnamon.Muffin", "/org/cinnamon/Muffin")),
        Sensor("Wayland", WaylandIdle(environ, timeout_s=TIMEOUT_S).read, counts=False),
        Sensor("logind", _Logind(environ, run).read, counts=False),
    )


def is_wayland(environ: Mapping[str, str]) -> bool:
    """Whether a Wayland compositor has the screen: the environment says so, or its socket lies where sockets lie.

    The socket counts because a service started at login may have been given DISPLAY alone.
    """
    if environ.get("WAYLAND_DISPLAY") or environ.get("XDG_SESSION_TYPE", "").lower() == "wayland":
        return True
    folder = environ.get("XDG_RUNTIME_DIR", "")
    try:
        return bool(folder) and any(re.fullmatch(r"wayland-[0-9]+", place.name) for place in Path(folder).iterdir())
    except OSError:
        return False


def _read_x11(environ: Mapping[str, str]) -> Reading[float]:
    if environ.get("DISPLAY") and is_wayland(environ):
        return NoSensor("under Wayland the X counter does not see all input")
    return read_x11_idle(environ, timeout_s=TIMEOUT_S)


def _read_monitor(environ: Mapping[str, str], run: CommandRunner, name: str, path: str) -> Reading[float]:
    """The idle monitor of Mutter or of its fork, over the session's D-Bus."""
    runtime = environ.get("XDG_RUNTIME_DIR", "")
    if not (environ.get("DBUS_SESSION_BUS_ADDRESS") or (runtime and Path(runtime, "bus").exists())):
        return NoSensor("no session bus")
    target, place, method = f"{name}.IdleMonitor", f"{path}/IdleMonitor/Core", "GetIdletime"
    if shutil.which("gdbus", path=environ.get("PATH")):
        output = run(["gdbus", "call", "--session", f"--timeout={TIMEOUT_S:g}",
                      "--dest", target, "--object-path", place, "--method", f"{target}.{method}"])
    elif shutil.which("busctl", path=environ.get("PATH")):
        output = run(["busctl", "--user", f"--timeout={TIMEOUT_S:g}", "call", target, place, target, method])
    else:
        return NoSensor("neither gdbus nor busctl is installed")
    if isinstance(output, SensorFailed):
        return output
    if output.code == 0:
        return parse_idle_ms(output.text)
    # The name of the error where the tool prints it, else the words of dbus-daemon and of dbus-broker.
    if re.search(r"ServiceUnknown|NameHasNoOwner|not provided by any|not activatable|has no owner", output.complaint):
        return NoSensor(f"no {target} on the session bus")
    return SensorFailed(output.complaint.strip()[:120] or f"the session bus gave no answer (code {output.code})")


class _Logind:
    """The idle hint of the user's graphical session. Its id is looked up once, and again when it is gone."""

    def __init__(self, environ: Mapping[str, str], run: CommandRunner) -> None:
        self._installed = shutil.which("loginctl", path=environ.get("PATH")) is not None
        self._run = run
        self._session = ""

    def read(self) -> Reading[float]:
        if not self._installed or not Path("/run/systemd/seats").is_dir():
            return NoSensor("no logind")
        known = bool(self._session)
        reading = self._ask()
        if known and not isinstance(reading, Known):
            self._session = ""
            reading = self._ask()
        return reading

    def _ask(self) -> Reading[float]:
        if not self._session:
            output = self._run(["loginctl", "show-user", str(os.getuid()), "--property=Display"])
            if isinstance(output, SensorFailed):
                return output
            found = re.search(r"^Display=([A-Za-z0-9_-]+)$", output.text, re.MULTILINE)
            if output.code or found is None:
                return NoSensor("logind knows no graphical session of yours")
            self._session = found[1]
        output = self._run(["loginctl", "show-session", self._session, "--property=IdleHint",
                            "--property=IdleSinceHint", "--property=IdleSinceHintMonotonic"])
        if isinstance(output, SensorFailed):
            return output
        if output.code:
            return SensorFailed(output.complaint.strip()[:120] or "logind gave no answer")
        return parse_logind(output.text, now_s=time.time(), monotonic_s=time.clock_gettime(time.CLOCK_MONOTONIC))


def _read_ioreg(run: CommandRunner) -> Reading[float]:
    output = run(["/usr/sbin/ioreg", "-r", "-d", "1", "-c", "IOHIDSystem"])
    return output if isinstance(output, SensorFailed) else parse_ioreg(output.text)


def _read_windows() -> Reading[float]:
    """GetLastInputInfo: of this session only, so it says nothing to a service, which has session 0 to itself."""
    if sys.platform == "win32":
        import ctypes
        from ctypes import wintypes

        class LastInputInfo(ctypes.Structure):
            _fields_ = (("cbSize", wintypes.UINT), ("dwTime", wintypes.DWORD))

        kernel32, user32 = ctypes.windll.kernel32, ctypes.windll.user32
        session = wintypes.DWORD()
        if kernel32.ProcessIdToSessionId(os.getpid(), ctypes.byref(session)) and session.value == 0:
            return NoSensor("a service has no session that anybody could type into")
        info = LastInputInfo(ctypes.sizeof(LastInputInfo), 0)
        if not user32.GetLastInputInfo(ctypes.byref(info)):
            return SensorFailed("GetLastInputInfo failed")
        kernel32.GetTickCount.restype = wintypes.DWORD
        return parse_tick_count(kernel32.GetTickCount(), info.dwTime)
    return NoSensor("not Windows")


class IdleProbe:
    """The one sensor that works. It is chosen once, and again when it fails."""

    def __init__(
        self,
        sensors: Sequence[Sensor] | None = None,
        *,
        monotonic: Callable[[], float] = time.monotonic,
    ) -> None:
        self._sensors = list(find_sensors() if sensors is None else sensors)
        self._monotonic = monotonic
        self._chosen: Sensor | None = None
        self._none: NoSensor | None = None
        self._looked_at = -math.inf
        self._zeros: dict[str, tuple[int, float]] = {}
        self._proven: set[str] = set()

    @property
    def chosen(self) -> str:
        """Name of the sensor in use; `""` where there is none."""
        return self._chosen.name if self._chosen else ""

    def read(self) -> Reading[float]:
        """Seconds since the last input. Never raises, and starts no process that is not needed."""
        if self._chosen is not None:
            reading = self._believed(self._chosen)
            if isinstance(reading, Known):
                return reading
            return self._choose((self._chosen, reading))
        if self._none is not None and self._monotonic() - self._looked_at < LOOK_AGAIN_S:
            return self._none
        return self._choose()

    def read_all(self) -> tuple[tuple[str, Reading[float]], ...]:
        """What every sensor of this system says now, for people who look for a fault."""
        return tuple((sensor.name, sensor.read()) for sensor in self._sensors)

    def _choose(self, failed: tuple[Sensor, Reading[float]] | None = None) -> Reading[float]:
        self._chosen, self._none, self._looked_at = None, None, self._monotonic()
        readings: list[Reading[float]] = []
        for sensor in self._sensors:
            reading = failed[1] if failed and failed[0] is sensor else self._believed(sensor)
            if isinstance(reading, Known):
                self._chosen = sensor
                return reading
            readings.append(reading)
        broken = next((reading for reading in readings if isinstance(reading, SensorFailed)), None)
        if broken is not None:
            return broken
        reasons = dict.fromkeys(reading.reason for reading in readings if isinstance(reading, NoSensor))
        self._none = NoSensor("; ".join(reasons) or "no sensor is known for this system")
        return self._none

    def _believed(self, sensor: Sensor) -> Reading[float]:
        reading = sensor.read()
        if not isinstance(reading, Known) or not sensor.counts or sensor.name in self._proven:
            return reading
        if reading.value:
            self._proven.add(sensor.name)
            return reading
        count, first = self._zeros.get(sensor.name, (0, self._monotonic()))
        self._zeros[sensor.name] = (count + 1, first)
        if count + 1 >= _DOUBT_READINGS and self._monotonic() - first >= _DOUBT_S:
            return NoSensor(f"{sensor.name} has only ever said 0")
        return reading
