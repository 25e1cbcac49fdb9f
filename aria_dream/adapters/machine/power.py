"""What the machine runs on. No battery is mains; a sensor that fails is not."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from aria_dream.schedule.presence import Known, Plug, Power, Reading, Unreadable

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

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
        return Unreadable(f"the battery cannot be read: {type(error).__name__}")
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
