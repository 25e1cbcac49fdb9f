"""All readings of one moment: input, power, load, and the writer's local time."""

from __future__ import annotations

import time
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING
from zoneinfo import ZoneInfo

from aria_dream.adapters.machine.idle import IdleProbe
from aria_dream.adapters.machine.load import LoadProbe
from aria_dream.adapters.machine.power import read_power
from aria_dream.errors import Problem
from aria_dream.schedule.presence import Absent
from aria_dream.schedule.scheduler_state import Moment, Readings

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from datetime import tzinfo

    from aria_dream.schedule.presence import Power, Reading
    from aria_dream.vault.snapshot import FileState


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
        percent = self._load.read() if load else Absent("not asked")
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


