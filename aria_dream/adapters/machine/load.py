"""How busy the machine is with other things than us, and how few threads we use of it. Imports nothing heavy."""

from __future__ import annotations

import os
import time
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from aria_dream.schedule.presence import Known, Reading, SensorFailed

if TYPE_CHECKING:
    from collections.abc import Callable

_THREAD_VARIABLES: Final = (
    "OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS", "VECLIB_MAXIMUM_THREADS", "BLIS_NUM_THREADS",
)  # fmt: skip


def pin_threads() -> None:
    """Ask every linear-algebra library for one thread, unless the user asked for another number.

    Works only before numpy is first imported, so the command line calls it first. With two threads their spin barriers
    collapse as soon as another process wants a core (measured: eight times slower).
    """
    for name in _THREAD_VARIABLES:
        os.environ.setdefault(name, "1")


FIRST_LOOK_S = 0.5
"""The first reading has nothing to compare with, so it looks twice, this far apart."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CpuSeconds:
    """Seconds of CPU time since some moment, over all cores."""

    busy_s: float
    total_s: float
    """Busy and idle together; waiting for a disk is idle."""
    own_s: float
    """Of the busy ones, those of this process and of its children."""


def load_percent(before: CpuSeconds, after: CpuSeconds) -> Reading[float]:
    """Percent of all cores that others kept busy between two looks, 0 to 100.

    A counter that went back (a core taken offline, a child of ours that ended unseen) is cut to that range; no time
    between the looks is no reading.
    """
    total_s = after.total_s - before.total_s
    if not total_s > 0:
        return SensorFailed("the clock of the processor stands still")
    others_s = (after.busy_s - before.busy_s) - max(0.0, after.own_s - before.own_s)
    return Known(min(100.0, max(0.0, 100 * others_s / total_s)))


class LoadProbe:
    """The load since the last reading. Costs half a second of waiting once, and then nothing."""

    def __init__(
        self, ask: Callable[[], CpuSeconds] | None = None, *, sleep: Callable[[float], None] = time.sleep
    ) -> None:
        self._ask = ask or read_cpu_seconds
        self._sleep = sleep
        self._before: CpuSeconds | None = None

    def read(self) -> Reading[float]:
        """Percent of all cores, 0 to 100. Never raises."""
        try:
            if self._before is None:
                self._before = self._ask()
                self._sleep(FIRST_LOOK_S)
            after = self._ask()
        except Exception as error:  # noqa: BLE001 - psutil passes on whatever the system's files and calls hold
            return SensorFailed(f"the load cannot be read: {type(error).__name__}")
        before, self._before = self._before, after
        return load_percent(before, after)


def read_cpu_seconds() -> CpuSeconds:
    """The counters now."""
    import psutil

    times = psutil.cpu_times()._asdict()
    # Linux counts a guest's time within user and nice as well.
    total_s = sum(times.values()) - times.get("guest", 0.0) - times.get("guest_nice", 0.0)
    me = psutil.Process()
    mine = me.cpu_times()
    own_s = mine.user + mine.system + getattr(mine, "children_user", 0.0) + getattr(mine, "children_system", 0.0)
    for child in me.children(recursive=True):
        with suppress(psutil.Error):
            spent = child.cpu_times()
            own_s += spent.user + spent.system
    return CpuSeconds(busy_s=total_s - times["idle"] - times.get("iowait", 0.0), total_s=total_s, own_s=own_s)
