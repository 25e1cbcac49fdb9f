"""`aria-dream doctor`: every sensor as it reads now, every part that is needed, and what holds a dream back."""

from __future__ import annotations

import os
import socket
from pathlib import Path
from typing import TYPE_CHECKING

import click

import aria_dream
from aria_dream.adapters.disk.places import find_places
from aria_dream.adapters.index.live_policy import read_live_policy
from aria_dream.adapters.index.scan import scan_vault
from aria_dream.adapters.machine.presence import Sensors, last_edit_s, read_moment
from aria_dream.adapters.state.record_store import RecordStore
from aria_dream.adapters.state.run_store import RunStore
from aria_dream.cli import checks, checks_disk
from aria_dream.cli.checks import Finding, Health, Patient
from aria_dream.cli.output import counted, echo_json
from aria_dream.cli.vault_argument import find_vault
from aria_dream.errors import StateDamagedError
from aria_dream.schedule.due import Due, NotYet, due
from aria_dream.schedule.presence import Known, Plug, Power, Reading
from aria_dream.schedule.run_record import as_runs
from aria_dream.schedule.scheduler_state import RunHistory, SchedulerState

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

CHECKS: list[Callable[[Patient], Iterator[Finding]]] = [
    checks.check_input, checks.check_power, checks.check_load, checks.check_clock, checks.check_vault,
    checks.check_misread, checks_disk.check_notes, checks_disk.check_vault_disk, checks.check_watching,
    checks.check_policy, checks.check_judge, checks.check_records, checks.check_ticks, checks_disk.check_locks,
    checks_disk.check_service, checks.check_program, checks.check_consent, checks.check_model, checks.check_codex,
]  # fmt: skip
"""Every check, in the order of the report. A part that is added later adds its own."""


@click.command("doctor")
@click.argument("vault", required=False)
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
@click.pass_context
def command(context: click.Context, vault: str | None, *, as_json: bool) -> None:
    """Show what aria-dream sees of this machine, and what keeps it from dreaming now.

    Ends with exit code 1 where something is broken. A file is written into the vault's dream folder, the state folder
    and the cache folder, to see whether they take one, and removed at once; a sync passes it over.
    """
    patient = _admit(find_vault(vault, os.environ, Path()))
    findings = [finding for check in CHECKS for finding in check(patient)]
    verdict = _verdict(patient)
    if as_json:
        echo_json(_object(patient, findings, verdict))
    else:
        _print(findings, verdict)
    if any(finding.health is Health.BROKEN for finding in findings):
        context.exit(1)


def _admit(root: Path | None) -> Patient:
    places, sensors = find_places(), Sensors()
    scan = live = records = None
    damage = ""
    if root is not None:
        scan = scan_vault(root)
        live = read_live_policy(root, places)
        try:
            records = RecordStore(live.state_folder(places)).read()
        except StateDamagedError as error:
            damage = str(error)
    moment, problems = read_moment(live.policy.settings.timezone if live else "local")
    edit_s = None
    if scan and live:
        ours = f"{live.policy.settings.dream_folder}/".lower()
        edit_s = last_edit_s(scan.snapshot.files, moment.now, lambda path: path.lower().startswith(ours))
    readings = sensors.read(edit_s)
    others = () if isinstance(readings.input_idle, Known) else sensors.idle.read_all()
    return Patient(places=places, sensors=sensors, readings=readings, moment=moment, scan=scan, live=live,
                   records=records, damage=damage, other_sensors=others,
                   zone_problems=tuple(str(problem) for problem in problems))


def _verdict(patient: Patient) -> Due | NotYet | None:
    """What a daemon would do now; None without a vault."""
    if patient.live is None:
        return None
    known = RunStore(patient.live.state_folder(patient.places)).read()
    history = RunHistory(started_monotonic_s=patient.moment.monotonic_s, since=known.log.since or patient.moment.now,
                      runs=as_runs(known.log, known.episodes, {}))
    around = SchedulerState(open_proposals=known.open_proposals,
                           this_host=socket.gethostname(), hindrance=patient.damage)
    return due(patient.live.policy, patient.live.triggers, patient.moment, patient.readings, history, around)


_TITLES = {"machine": "This machine", "vault": "The vault", "program": "The program"}


def _print(findings: list[Finding], verdict: Due | NotYet | None) -> None:
    width = max(len(finding.name) for finding in findings)
    for topic, title in _TITLES.items():
        click.echo(f"{title}")
        for finding in findings:
            if finding.topic == topic:
                click.echo(f"  {finding.health.value:<6}  {finding.name:<{width}}  {finding.text}")
        click.echo()
    if verdict is not None:
        said = f"a dream can start; {verdict.why}" if isinstance(verdict, Due) else verdict.reason
        click.echo(f"Now: {said}.")
        for remark in verdict.remarks:
            click.echo(f"Also: {remark}.")
    broken = sum(finding.health is Health.BROKEN for finding in findings)
    click.echo(f"{counted(broken, 'thing is', 'things are')} broken." if broken else "Nothing is broken.")


def _object(patient: Patient, findings: list[Finding], verdict: Due | NotYet | None) -> dict[str, object]:
    idle = patient.readings.input_idle
    return {
        "version": aria_dream.__version__,
        "vault": patient.scan.root if patient.scan else None,
        "healthy": all(finding.health is not Health.BROKEN for finding in findings),
        "findings": [
            {"topic": each.topic, "name": each.name, "health": each.health.value, "text": each.text}
            for each in findings
        ],
        "readings": {
            "input_sensor": patient.sensors.idle.chosen or None,
            "input_idle_s": idle.value if isinstance(idle, Known) else None,
            "power": _plug(patient.readings.power).value,
            "load_percent": _value(patient.readings.load_percent),
            "last_edit_s": patient.readings.last_edit_s,
        },
        "due": None if verdict is None else isinstance(verdict, Due),
        "reason": None if verdict is None else verdict.why if isinstance(verdict, Due) else verdict.reason,
        "until": verdict.until.isoformat() if isinstance(verdict, NotYet) and verdict.until else None,
        "holds": [
            {"what": hold.what, "reason": hold.reason, "until": hold.until.isoformat() if hold.until else None}
            for hold in (verdict.blockers if isinstance(verdict, NotYet) else ())
        ],
        "remarks": list(verdict.remarks) if verdict else [],
    }


def _value(reading: Reading[float]) -> float | None:
    return reading.value if isinstance(reading, Known) else None


def _plug(reading: Reading[Power]) -> Plug:
    return reading.value.plug if isinstance(reading, Known) else Plug.UNKNOWN
