"""Mains or battery, from psutil's answers and from Linux's own list."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import pytest

from aria_dream.adapters.machine.presence import Supply, judge_supplies, parse_battery, read_power
from aria_dream.schedule.presence import Known, Plug, Power, SensorFailed, power_refusal

if TYPE_CHECKING:
    from pathlib import Path


@dataclass
class Battery:
    percent: float
    secsleft: int
    power_plugged: bool | None


@pytest.mark.parametrize(
    ("answer", "power"),
    [
        (None, Power(plug=Plug.MAINS)),
        (Battery(55.0, -2, True), Power(plug=Plug.MAINS, percent=55.0)),
        (Battery(100.0, 90, False), Power(plug=Plug.BATTERY, percent=100.0)),
        (Battery(55.0, -1, None), Power(plug=Plug.UNKNOWN, percent=55.0)),
        ("nonsense", Power(plug=Plug.UNKNOWN)),
    ],
)
def test_what_psutil_says(answer: object, power: Power) -> None:
    assert parse_battery(lambda: answer) == Known(power)


@pytest.mark.parametrize("error", [OSError, AttributeError, NotImplementedError, ValueError, ZeroDivisionError])
def test_whatever_it_raises_counts_as_battery(error: type[Exception], tmp_path: Path) -> None:
    def ask() -> object:
        raise error("probe")

    reading = read_power(ask, tmp_path / "gone")
    assert isinstance(reading, SensorFailed)
    assert "counts as battery" in power_refusal(reading)


@pytest.mark.parametrize(
    ("supplies", "plug"),
    [
        ([], None),
        ([Supply(kind="Mains", online="1"), Supply(kind="Battery")], Plug.MAINS),
        ([Supply(kind="Mains", online="0"), Supply(kind="USB", online="1"), Supply(kind="Battery")], Plug.MAINS),
        ([Supply(kind="Mains", online="0"), Supply(kind="Battery")], None),
        ([Supply(kind="Battery")], None),
        ([Supply(kind="Battery", scope="Device")], Plug.MAINS),  # a mouse at a desktop
        ([Supply(kind="Battery", scope="Device"), Supply(kind="Battery")], None),
        ([Supply(kind="UPS", online="1")], None),
        ([Supply(kind="USB", online="1", scope="Device"), Supply(kind="Battery")], None),
    ],
)
def test_linux_knows_better_only_where_it_is_certain(supplies: list[Supply], plug: Plug | None) -> None:
    assert judge_supplies(supplies) is plug


def test_an_adapter_that_psutil_does_not_know(tmp_path: Path) -> None:
    for name, kind, online in (("ADP1", "Mains", "1"), ("BAT0", "Battery", "")):
        (tmp_path / name).mkdir()
        (tmp_path / name / "type").write_text(kind + "\n", encoding="ascii")
        if online:
            (tmp_path / name / "online").write_text(online + "\n", encoding="ascii")
    unknown = Battery(80.0, -1, None)
    assert read_power(lambda: unknown, tmp_path) == Known(Power(plug=Plug.MAINS, percent=80.0))
    (tmp_path / "ADP1" / "online").write_text("0\n", encoding="ascii")
    assert read_power(lambda: unknown, tmp_path) == Known(Power(plug=Plug.UNKNOWN, percent=80.0))


def test_this_machine_answers() -> None:
    assert isinstance(read_power(), Known | SensorFailed)
