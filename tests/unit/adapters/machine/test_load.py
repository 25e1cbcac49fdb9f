"""The load of others between two looks."""

from __future__ import annotations

import subprocess
import sys

import pytest

from aria_dream.adapters.machine.load import CpuSeconds, LoadProbe, load_percent, read_cpu_seconds
from aria_dream.schedule.presence import Known, SensorFailed


def cpu(busy_s: float, total_s: float, own_s: float = 0.0) -> CpuSeconds:
    return CpuSeconds(busy_s=busy_s, total_s=total_s, own_s=own_s)


@pytest.mark.parametrize(
    ("after", "percent"),
    [
        (cpu(30, 200), 20.0),
        (cpu(30, 200, 15), 5.0),
        (cpu(30, 200, 25), 0.0),  # coarse counters may give us more than all
        (cpu(5, 200), 0.0),  # a core went offline
        (cpu(500, 200), 100.0),
        (cpu(30, 200, -5), 20.0),  # a child of ours ended unseen: what it used is not subtracted twice
    ],
)
def test_percent_of_all_cores(after: CpuSeconds, percent: float) -> None:
    assert load_percent(cpu(10, 100), after) == Known(percent)


@pytest.mark.parametrize("after", [cpu(10, 100), cpu(0, 50), cpu(1, float("nan"))])
def test_no_time_is_no_reading(after: CpuSeconds) -> None:
    assert isinstance(load_percent(cpu(10, 100), after), SensorFailed)


def test_only_the_first_reading_waits() -> None:
    looks = iter([cpu(0, 0), cpu(1, 10), cpu(9, 20)])
    waits: list[float] = []
    probe = LoadProbe(lambda: next(looks), sleep=waits.append)
    assert [probe.read(), probe.read()] == [Known(10.0), Known(80.0)]
    assert len(waits) == 1


def test_what_psutil_raises_is_no_crash() -> None:
    def ask() -> CpuSeconds:
        raise PermissionError("probe")

    assert LoadProbe(ask).read() == SensorFailed("the load cannot be read: PermissionError")


def test_our_own_children_are_ours() -> None:
    """A child burns CPU time until its own clock says half a second; it counts as ours while it runs and after."""
    before = read_cpu_seconds()
    burn = "import time\nwhile time.process_time() < 0.5: pass\nprint('done', flush=True)\ninput()"
    with subprocess.Popen([sys.executable, "-c", burn], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as child:
        assert child.stdout is not None
        assert child.stdout.readline().strip() == b"done"
        running = read_cpu_seconds()
        child.communicate(b"\n")
    ended = read_cpu_seconds()
    assert running.own_s - before.own_s >= 0.45
    if sys.platform != "win32":  # Windows forgets what ended children used
        assert ended.own_s - before.own_s >= 0.45
    assert ended.total_s > before.total_s
