"""The readings of one moment, the zone, and the youngest edit."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest

from aria_dream.adapters.machine.idle import IdleProbe, Sensor
from aria_dream.adapters.machine.load import CpuSeconds, LoadProbe
from aria_dream.adapters.machine.presence import Sensors, last_edit_s, read_moment, read_zone
from aria_dream.schedule.presence import Known, NoSensor, Plug, Power
from aria_dream.vault.snapshot import FileState

NOW = datetime(2026, 11, 30, 12, tzinfo=UTC)


def state(modified: datetime) -> FileState:
    return FileState(1, int(modified.timestamp()) * 10**9, 0, 0, 0)


def test_all_readings_of_a_moment() -> None:
    looks = iter(CpuSeconds(busy_s=n, total_s=10 * n, own_s=0) for n in range(9))
    sensors = Sensors(
        idle=IdleProbe([Sensor("test", lambda: Known(5.0))]), load=LoadProbe(lambda: next(looks), sleep=lambda _: None),
        power=lambda: Known(Power(plug=Plug.MAINS)))
    readings = sensors.read(7.0)
    assert (readings.input_idle, readings.load_percent, readings.last_edit_s) == (Known(5.0), Known(10.0), 7.0)
    assert sensors.idle.chosen == "test"
    assert isinstance(sensors.read(7.0, load=False).load_percent, NoSensor)
    assert next(looks).busy_s == 2


def test_the_zone_of_the_policy_and_of_the_system(monkeypatch: pytest.MonkeyPatch) -> None:
    assert read_zone("Europe/Lisbon") == (ZoneInfo("Europe/Lisbon"), ())
    monkeypatch.setenv("TZ", "Asia/Kolkata")
    moment, problems = read_moment()
    assert (moment.zone.utcoffset(NOW), problems) == (timedelta(hours=5.5), ())
    monkeypatch.setenv("TZ", "America/New_York")
    zone, _ = read_zone("local")
    assert [zone.utcoffset(datetime(2026, month, 1)) for month in (1, 7)] == [timedelta(hours=-5), timedelta(hours=-4)]  # noqa: DTZ001 - what a zone is asked with


def test_a_zone_that_is_none_is_loud(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TZ", "Nowhere/Atall")
    _, problems = read_zone("local")
    assert "`timezone`" in problems[0].message
    monkeypatch.setenv("TZ", "Asia/Kolkata")
    zone, problems = read_zone("Nowhere/Atall")
    assert zone.utcoffset(NOW) == timedelta(hours=5.5)
    assert "is no zone" in problems[0].message


def test_the_youngest_edit_that_is_not_ours() -> None:
    files = {
        "old.md": state(NOW - timedelta(hours=2)),
        "new.md": state(NOW - timedelta(minutes=5)),
        "dreams/ours.md": state(NOW - timedelta(seconds=5)),
        "from another clock.md": state(NOW + timedelta(days=3)),
    }
    assert last_edit_s(files, NOW, lambda path: path.startswith("dreams/")) == pytest.approx(300, abs=1)
    assert last_edit_s({}, NOW, lambda _: False) is None
    assert last_edit_s({"x": state(NOW + timedelta(days=3))}, NOW, lambda _: False) is None
