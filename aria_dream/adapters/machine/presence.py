"""All readings of one moment: input, power, load, and the writer's local time.

No battery is mains; a sensor that fails is not.
"""

from __future__ import annotations

import sys
import time
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING
from zoneinfo import ZoneInfo

from aria_dream.adapters.machine.idle import IdleProbe
from aria_dream.adapters.machine.load import LoadProbe
from aria_dream.errors import Problem
from aria_dream.schedule.presence import Known, NoSensor, Plug, Power, Reading, SensorFailed
from aria_dream.schedule.scheduler_state import Moment, Readings

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping
    from datetime import tzinfo

    from aria_dream.vault.snapshot import FileState

SUPPLIES = Path("/sys/class/power_supply")


def read_power(
    battery: Callable[[], object] | None = None, supplies: Path | None = SUPPLIES if sys.platform == "linux" else None
) -> Reading[Power]:
    """Mains, battery, or unknown. Never raises.

    `battery` stands for `psutil.sensors_battery`. Where it does not say mains, Linux's own list in `supplies` is heard
    as well: psutil knows only two names of mains adapters, and takes a wireless mouse's battery for the machine's.
    """
    reading = parse_battery(battery or _ask_psutil)
    if isinstance(reading, Known) and reading.value.plug is Plug.MAINS:
        return reading
    second = judge_supplies(_read_supplies(supplies)) if supplies is not None else None
    if second is None:
        return reading
    return Known(Power(plug=second, percent=reading.value.percent if isinstance(reading, Known) else None))


def parse_battery(ask: Callable[[], object]) -> Reading[Power]:
    """What psutil's answer means: None is a machine without a battery, an unknown plug state is unknown."""
    try:
        found = ask()
    except Exception as error:  # noqa: BLE001 - psutil passes on whatever the system's files and calls hold
        return SensorFailed(f"the battery cannot be read: {type(error).__name__}")
    if found is None:
        return Known(Power(plug=Plug.MAINS))
    plugged, percent = getattr(found, "power_plugged", None), getattr(found, "percent", None)
    plug = Plug.MAINS if plugged is True else Plug.BATTERY if plugged is False else Plug.UNKNOWN
    return Known(Power(plug=plug, percent=float(percent) if isinstance(percent, int | float) else None))


@dataclass(frozen=True, slots=True, kw_only=True)
class Supply:
    """One entry of Linux's list of power supplies, as far as the kernel fills it in (ABI/testing/sysfs-class-power)."""

    kind: str
    """`Mains`, `USB`, `Battery`, `UPS`, `Wireless` …"""
    online: str = ""
    """`1` or `2` where an adapter gives power."""
    scope: str = ""
    """`Device` where it supplies a mouse or a headset, not the machine."""


def judge_supplies(supplies: Iterable[Supply]) -> Plug | None:
    """Mains where an adapter certainly gives power, or where only batteries of devices are listed; None in doubt."""
    mine, devices = [], 0
    for supply in supplies:
        if supply.scope == "Device":
            devices += 1
        else:
            mine.append(supply)
    if any(supply.kind not in ("Battery", "UPS") and supply.online in ("1", "2") for supply in mine):
        return Plug.MAINS
    return Plug.MAINS if devices and not mine else None


def _read_supplies(folder: Path) -> list[Supply]:
    try:
        places = sorted(folder.iterdir())
    except OSError:
        return []
    return [
        Supply(kind=_word(place / "type"), online=_word(place / "online"), scope=_word(place / "scope"))
        for place in places
    ]


def _word(path: Path) -> str:
    try:
        return path.read_text(encoding="ascii", errors="replace").strip()
    except OSError:
        return ""


def _ask_psutil() -> object:
    import psutil

    return psutil.sensors_battery()


class Sensors:
    """The machine's sensors, kept between readings: which of them works, and what the processor had done by then."""

    def __init__(
        self,
        *,
        idle: IdleProbe | None = None,
        load: LoadProbe | None = None,
        power: Callable[[], Reading[Power]] = read_power,
    ) -> None:
        self.idle = idle or IdleProbe()
        self._load = load or LoadProbe()
        self._power = power

    def read(self, last_edit_s: float | None, *, load: bool = True) -> Readings:
        """What they say now. `last_edit_s` is passed on: who changed the vault, the watcher knows. Never raises.

        Without `load`, which is ten times the rest, for whoever looks every second whether a run has to stop.
        """
        percent = self._load.read() if load else NoSensor("not asked")
        return Readings(
            input_idle=self.idle.read(), power=self._power(), load_percent=percent, last_edit_s=last_edit_s)


def read_moment(timezone: str = "local") -> tuple[Moment, tuple[Problem, ...]]:
    """Now, in the zone that the policy's `timezone` names, and what is wrong with that. The system is asked afresh."""
    zone, problems = read_zone(timezone)
    return Moment(now=datetime.now(UTC), monotonic_s=time.monotonic(), zone=zone), problems


def read_zone(timezone: str) -> tuple[tzinfo, tuple[Problem, ...]]:
    """The zone of that name; for `local` the system's, with its rules for summer time where they can be found out."""
    if timezone != "local":
        try:
            return ZoneInfo(timezone), ()
        except (ValueError, OSError, LookupError):
            message = f"`timezone: {timezone}` is no zone that this machine knows; its local time is used"
            return read_zone("local")[0], (Problem("", 0, message),)
    import tzlocal

    try:
        return tzlocal.reload_localzone(), ()
    except Exception as error:  # noqa: BLE001 - it raises what it finds: bad TZ, contradicting files, unknown names
        fixed = datetime.now(UTC).astimezone().tzinfo or UTC
        message = f"the system's time zone has no name ({error}); name it as `timezone` in the policy"
        return fixed, (Problem("", 0, message),)


def last_edit_s(files: Mapping[str, FileState], now: datetime, is_ours: Callable[[str], bool]) -> float | None:
    """Seconds since the youngest file that is not ours was changed; None where there is none.

    Files dated in the future say nothing about now and are passed over.
    """
    horizon_ns = int((now + timedelta(seconds=1)).timestamp() * 1e9)
    theirs = (state.modified_ns for path, state in files.items() if not is_ours(path))
    youngest_ns = max((modified_ns for modified_ns in theirs if modified_ns <= horizon_ns), default=None)
    return None if youngest_ns is None else max(0.0, now.timestamp() - youngest_ns / 1e9)
