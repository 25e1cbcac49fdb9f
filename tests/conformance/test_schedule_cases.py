"""Cases 38 (nights across daylight-saving changes), 40 (battery readings) and 41 (idle probes that know nothing)."""

from __future__ import annotations

import builtins
import json
import sys
from collections import Counter
from datetime import UTC, datetime, timedelta
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any
from zoneinfo import ZoneInfo

import pytest

from aria_dream.adapters.machine.idle import IdleProbe, Sensor, parse_idle_ms, parse_ioreg, parse_logind, run_command
from aria_dream.adapters.machine.presence import read_power
from aria_dream.policy.policy import Policy, parse_policy
from aria_dream.policy.triggers import Triggers, parse_triggers
from aria_dream.schedule.due import Due, NotYet, Occasion, due
from aria_dream.schedule.presence import (
    IdleState,
    Known,
    NoSensor,
    Plug,
    Power,
    Reading,
    SensorFailed,
    judge_idleness,
    power_refusal,
)
from aria_dream.schedule.scheduler_state import Moment, Readings, RunHistory, SchedulerState, StartedRun

if TYPE_CHECKING:
    from pathlib import Path

NOBODY = Readings(input_idle=Known(1e6), power=Known(Power(plug=Plug.MAINS)), load_percent=Known(0.0), last_edit_s=None)


def table(cases: Path, case: str, name: str) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = json.loads((cases / case / name).read_text(encoding="utf-8"))
    return rows


def policy_of(text: str) -> Policy:
    policy, problems = parse_policy(text)
    assert not problems
    return policy


def nightly_only() -> Triggers:
    triggers, problems = parse_triggers("- on_nightly: dream\n- on_idle: none\n- on_seed: none")
    assert not problems
    return triggers


def starts(row: dict[str, Any], *, restart_every: int = 0) -> list[datetime]:
    """The instants at which a night's work starts, minute by minute; every so many minutes the process is a new one."""
    begin, end = (datetime.fromisoformat(row[key]) for key in ("frm", "to"))
    hour, minute = map(int, row["at"].split(":"))
    policy = policy_of(f"- quiet_hours: {row['at']}-{(hour + 3) % 24:02d}:{minute:02d}\n- timezone: {row['tz']}")
    triggers = nightly_only()
    history = RunHistory(started_monotonic_s=0.0, since=begin)
    found: list[datetime] = []
    for number in range(int((end - begin) / timedelta(minutes=1))):
        now = begin + timedelta(minutes=number)
        if restart_every and number % restart_every == 0:  # only what lies on the disk is left
            runs = tuple(StartedRun(at=run.at, dreamt=run.dreamt, night=run.night) for run in history.runs)
            history = RunHistory(started_monotonic_s=number * 60.0, since=begin, runs=runs)
        moment = Moment(now=now, monotonic_s=number * 60.0, zone=ZoneInfo(row["tz"]))
        answer = due(policy, triggers, moment, NOBODY, history, SchedulerState())
        if isinstance(answer, Due):
            assert answer.occasion is Occasion.NIGHT
            found.append(now)
            run = StartedRun(at=now, dreamt=True, night=answer.night, monotonic_s=moment.monotonic_s)
            history = RunHistory(
                started_monotonic_s=history.started_monotonic_s, since=begin, runs=(*history.runs, run)
            )
    return found


@pytest.mark.parametrize("number", range(6))
@pytest.mark.parametrize("restart_every", [0, 17])
def test_case_38(cases: Path, number: int, restart_every: int) -> None:
    rows = table(cases, "38-dst-nightly-run", "runs.json")
    assert len(rows) == 6
    row = rows[number]
    zone = ZoneInfo(row["tz"])
    found = starts(row, restart_every=restart_every)
    assert Counter(at.astimezone(zone).date().isoformat() for at in found) == Counter(row["dates"])
    for at in found:  # on the minute; in a gap at the first valid minute after it, in a fold at the first pass
        local = at.astimezone(zone)
        clock = f"{local:%H:%M}"
        before = (at - timedelta(minutes=1)).astimezone(zone)
        assert local.fold == 0
        assert clock == row["at"] or (f"{before:%H:%M}" < row["at"] < clock) or (f"{before:%H:%M}" > clock > row["at"])


def test_case_40(cases: Path, tmp_path: Path) -> None:
    rows = table(cases, "40-battery-readings", "readings.json")
    assert len(rows) == 12
    policy = policy_of("- require_ac_power: true")
    for row in rows:

        def battery(row: dict[str, Any] = row) -> object:
            if "raises" in row:
                raise getattr(builtins, row["raises"])("probe")
            if row["ret"] is None:
                return None
            percent, seconds_left, plugged = row["ret"]
            return SimpleNamespace(percent=percent, secsleft=seconds_left, power_plugged=plugged)

        power = read_power(battery, tmp_path)  # a machine whose own list says nothing
        readings = Readings(input_idle=Known(1e6), power=power, load_percent=Known(0.0), last_edit_s=None)
        moment = Moment(now=datetime(2026, 11, 30, 12, tzinfo=UTC), monotonic_s=1e6, zone=UTC)
        answer = due(policy, Triggers(), moment, readings, RunHistory(started_monotonic_s=0.0), SchedulerState())
        may = isinstance(answer, Due)
        assert may is (row["may"] if row["may"] is not None else False), row
        if "raises" in row or (row["ret"] and row["ret"][2] is None):
            assert isinstance(answer, NotYet)
            assert "unknown" in answer.reason
            assert "unknown" in power_refusal(power)


def reading_of(probe: dict[str, Any]) -> Reading[float]:
    """What our own parsers and probes make of the case's description of a probe."""
    if "hang_s" in probe:
        output = run_command([sys.executable, "-c", f"import time; time.sleep({probe['hang_s']})"], timeout_s=0.2)
        assert isinstance(output, SensorFailed)
        return output
    if "error" in probe:
        output = run_command([sys.executable, "-c", f"import sys; sys.exit({probe['error']!r})"], timeout_s=60)
        assert not isinstance(output, SensorFailed)
        assert output.code
        return parse_idle_ms(output.text)
    match probe["kind"]:
        case "xprintidle":
            return parse_idle_ms(str(probe["ms"]))
        case "logind":
            hint = "yes" if probe["IdleHint"] else "no"
            text = f"IdleHint={hint}\nIdleSinceHint={probe['IdleSinceHint']}\nIdleSinceHintMonotonic=0"
            return parse_logind(text, now_s=1e9, monotonic_s=1e6)
        case "ioreg":
            return parse_ioreg("" if probe["ns"] is None else f'"HIDIdleTime" = {probe["ns"]}')
        case "none":
            return IdleProbe([]).read()
        case _:
            raise AssertionError(probe)


def test_case_41(cases: Path) -> None:
    rows = table(cases, "41-idle-unknown", "probes.json")
    assert len(rows) == 8
    for row in rows:
        reading = reading_of(row["probe"])
        probe = IdleProbe([Sensor("case", lambda reading=reading: reading)])  # type: ignore[misc]
        assert judge_idleness(probe.read(), row["last_edit_s"], 900).state is IdleState(row["want"]), row


def test_case_41_headless(cases: Path) -> None:
    """The machine without a probe dreams by night alone, and says why not by day; a broken probe does not dream."""
    for row in table(cases, "41-idle-unknown", "probes.json"):
        reading = reading_of(row["probe"])
        for hour, window_open in ((14, False), (2, True)):
            readings = Readings(input_idle=reading, power=Known(Power(plug=Plug.MAINS)), load_percent=Known(0.0),
                                last_edit_s=row["last_edit_s"])
            moment = Moment(now=datetime(2026, 11, 30, hour, tzinfo=UTC), monotonic_s=1e6, zone=UTC)
            answer = due(Policy(), Triggers(), moment, readings, RunHistory(started_monotonic_s=0.0), SchedulerState())
            stands_in = isinstance(reading, NoSensor) and window_open
            assert isinstance(answer, Due) is (row["want"] == "idle" or stands_in), row
            if isinstance(reading, NoSensor):
                assert any("stand in" in remark for remark in answer.remarks)
