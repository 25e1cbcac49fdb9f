"""What `doctor` looks at, one check after the other."""

from __future__ import annotations

import platform
from dataclasses import dataclass, field
from enum import Enum
from pathlib import Path
from typing import TYPE_CHECKING, assert_never

import aria_dream
from aria_dream.adapters.disk.write_probe import write_refusal
from aria_dream.adapters.gate.consent import Confirmed, read_consent
from aria_dream.adapters.index.index import read_vault
from aria_dream.adapters.state.run_store import RunStore
from aria_dream.adapters.watch.watch_probe import read_watch_inputs
from aria_dream.cli.output import counted
from aria_dream.cli.review_session import tick_remarks
from aria_dream.errors import MissingPartError
from aria_dream.markdown.misread import is_misread
from aria_dream.review.proposal import open_count
from aria_dream.schedule.presence import Known, NoSensor, Plug, Power, Reading, SensorFailed, ago
from aria_dream.usecases.own_lines import OpenTicks, read_open_ticks

if TYPE_CHECKING:
    from collections.abc import Iterator

    from aria_dream.adapters.disk.places import Places
    from aria_dream.adapters.index.live_policy import LivePolicy
    from aria_dream.adapters.index.scan import VaultScan
    from aria_dream.adapters.machine.presence import Sensors
    from aria_dream.adapters.state.record_store import Records
    from aria_dream.schedule.scheduler_state import Moment, Readings


MISREAD_MOST = 10
"""Notes that the report names one by one."""


class Health(Enum):
    OK = "ok"
    NOTE = "note"
    """Works, and the writer should know something."""
    BROKEN = "broken"


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """One line of the report."""

    topic: str
    """`machine`, `vault` or `program`."""
    name: str
    health: Health
    text: str
    """A sentence without a full stop; where something is broken it says what to do."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Patient:
    """What the checks look at."""

    places: Places
    sensors: Sensors
    readings: Readings
    moment: Moment
    zone_problems: tuple[str, ...] = ()
    scan: VaultScan | None = None
    """None where no vault is examined."""
    live: LivePolicy | None = None
    records: Records | None = None
    """None where no vault is examined, or where its records are damaged; `damage` says how."""
    damage: str = ""
    other_sensors: tuple[tuple[str, Reading[float]], ...] = field(default=())


def check_input(patient: Patient) -> Iterator[Finding]:
    """Which idle sensor is used and what it says; where none is, what every one of them says."""
    match patient.readings.input_idle:
        case Known(value):
            sensor = patient.sensors.idle.chosen
            text = f"the last input was {ago(value)}, says {sensor}"
            if sensor == "Wayland":
                text = "the Wayland compositor tells when nobody is there; it is counted from this look on"
            yield Finding(topic="machine", name="input", health=Health.OK, text=text)
        case SensorFailed(reason):
            text = f"the sensor cannot be read ({reason}), so somebody may be there and dreams wait"
            yield Finding(topic="machine", name="input", health=Health.BROKEN, text=text)
        case NoSensor():
            text = "no sensor tells when you are there; the vault's own quiet and the quiet hours stand in"
            yield Finding(topic="machine", name="input", health=Health.NOTE, text=text)
        case _:
            assert_never(patient.readings.input_idle)
    if not isinstance(patient.readings.input_idle, Known):
        for name, reading in patient.other_sensors:
            yield Finding(topic="machine", name=f"input: {name}", health=Health.NOTE, text=_said(reading))


def _said(reading: Reading[float]) -> str:
    return f"{reading.value:.0f} seconds" if isinstance(reading, Known) else reading.reason


def check_power(patient: Patient) -> Iterator[Finding]:
    match patient.readings.power:
        case Known(Power(plug=Plug.UNKNOWN)) | SensorFailed() | NoSensor():
            reason = getattr(patient.readings.power, "reason", "the system does not say")
            text = f"unknown whether it is plugged in ({reason}); this counts as battery"
            yield Finding(topic="machine", name="power", health=Health.NOTE, text=text)
        case Known(Power(plug=plug, percent=percent)):
            charge = "" if percent is None else f", charged to {percent:.0f} %"
            source = "mains power" if plug is Plug.MAINS else "battery"
            yield Finding(topic="machine", name="power", health=Health.OK, text=f"{source}{charge}")
        case Known():
            raise AssertionError(patient.readings.power)
        case _:
            assert_never(patient.readings.power)


def check_load(patient: Patient) -> Iterator[Finding]:
    load = patient.readings.load_percent
    if isinstance(load, Known):
        yield Finding(topic="machine", name="load", health=Health.OK, text=f"{load.value:.0f} % busy, without us")
    else:
        yield Finding(topic="machine", name="load", health=Health.BROKEN, text=f"cannot be read ({load.reason})")


def check_clock(patient: Patient) -> Iterator[Finding]:
    local = patient.moment.now.astimezone(patient.moment.zone)
    text = f"{local:%Y-%m-%d %H:%M} in {getattr(patient.moment.zone, 'key', None) or local.tzname()}"
    yield Finding(topic="machine", name="clock", health=Health.OK, text=text)
    for problem in patient.zone_problems:
        yield Finding(topic="machine", name="clock", health=Health.NOTE, text=problem)


def check_vault(patient: Patient) -> Iterator[Finding]:
    if patient.scan is None:
        text = "none named, so only the machine and the program are looked at"
        yield Finding(topic="vault", name="vault", health=Health.NOTE, text=text)
        return
    files = patient.scan.snapshot.files
    notes = sum(path.lower().endswith(".md") for path in files)
    text = f"{counted(notes, 'note')} among {counted(len(files), 'file')} in {patient.scan.root}"
    yield Finding(topic="vault", name="vault", health=Health.OK, text=text)
    for problem in patient.scan.problems:
        yield Finding(topic="vault", name="vault", health=Health.NOTE, text=str(problem))
    edit_s = patient.readings.last_edit_s
    text = "no edit is known" if edit_s is None else f"a file that is not ours changed {ago(edit_s)}"
    yield Finding(topic="vault", name="last edit", health=Health.OK, text=text)


def check_misread(patient: Patient) -> Iterator[Finding]:
    """Notes that Obsidian cannot read right: in another encoding, or left half merged by git."""
    if patient.scan is None:
        return
    index = read_vault(Path(patient.scan.root.removeprefix("\\\\?\\")), patient.places.cache)
    misread = [problem for problem in index.problems if is_misread(problem)]
    for problem in misread[:MISREAD_MOST]:
        yield Finding(topic="vault", name="note", health=Health.NOTE, text=str(problem))
    if len(misread) > MISREAD_MOST:
        text = f"{counted(len(misread) - MISREAD_MOST, 'more note')} like these; `aria-dream links --all` names them"
        yield Finding(topic="vault", name="note", health=Health.NOTE, text=text)


def check_watching(patient: Patient) -> Iterator[Finding]:
    """Whether a daemon would hear of changes, or has to walk over the vault."""
    if patient.scan is None:
        return
    try:
        inputs = read_watch_inputs(Path(patient.scan.root.removeprefix("\\\\?\\")))
    except OSError as error:
        yield Finding(topic="vault", name="watching", health=Health.NOTE, text=f"cannot be told ({error.strerror})")
    else:
        health = Health.NOTE if inputs.why_polling else Health.OK
        yield Finding(topic="vault", name="watching", health=health, text=inputs.sentence())


def check_policy(patient: Patient) -> Iterator[Finding]:
    if patient.live is None:
        return
    note = patient.live.policy.path
    text = note or "no policy note; the defaults hold (`aria-dream init` writes one)"
    yield Finding(topic="vault", name="policy", health=Health.OK if note else Health.NOTE, text=text)
    for problem in patient.live.problems:
        yield Finding(topic="vault", name="policy", health=Health.BROKEN, text=str(problem))


def check_records(patient: Patient) -> Iterator[Finding]:
    if patient.damage:
        yield Finding(topic="vault", name="records", health=Health.BROKEN, text=patient.damage)
    if patient.records is None:
        return
    waiting = open_count(patient.records.states.values())
    dreams = patient.records.episodes
    last = f", the last {ago((patient.moment.now - dreams[-1].at).total_seconds())}" if dreams else ""
    text = f"{counted(len(dreams), 'dream')}{last}; {counted(waiting, 'proposal')} open"
    yield Finding(topic="vault", name="records", health=Health.OK, text=text)
    for problem in patient.records.problems:
        yield Finding(topic="vault", name="records", health=Health.NOTE, text=str(problem))
    if patient.live is not None:
        folder = patient.live.state_folder(patient.places)
        if left := RunStore(folder).read().unfinished_reaches:
            text = f"{counted(left, 'reach is', 'reaches are')} paid for and not in a dream note yet"
            text += "; `aria-dream reach` tries again"
            yield Finding(topic="vault", name="reach", health=Health.NOTE, text=text)


def check_ticks(patient: Patient) -> Iterator[Finding]:
    """Every ticked box that does not count, and what keeps an approved change from being made."""
    if patient.scan is None or patient.damage:
        return
    ticks = read_open_ticks(Path(patient.scan.root.removeprefix("\\\\?\\")), patient.places)
    for problem in (*ticks.ignored, *ticks.hindered):
        yield Finding(topic="vault", name="ticks", health=Health.BROKEN, text=str(problem))
    for remark in tick_remarks(ticks):
        yield Finding(topic="vault", name="ticks", health=Health.NOTE, text=remark)
    if ticks == OpenTicks():
        yield Finding(topic="vault", name="ticks", health=Health.OK, text="no ticked box is left over")


def check_program(patient: Patient) -> Iterator[Finding]:
    text = f"aria-dream {aria_dream.__version__}, Python {platform.python_version()}, {platform.platform(terse=True)}"
    yield Finding(topic="program", name="version", health=Health.OK, text=text)
    for name, folder in (("state folder", patient.places.state), ("cache folder", patient.places.cache)):
        if folder.exists() and not folder.is_dir():
            yield Finding(topic="program", name=name, health=Health.BROKEN, text=f"{folder} is a file; move it away")
        elif refusal := write_refusal(folder):
            yield Finding(topic="program", name=name, health=Health.BROKEN, text=refusal)
        else:
            yield Finding(topic="program", name=name, health=Health.OK, text=str(folder))


def check_consent(patient: Patient) -> Iterator[Finding]:
    """Whether text of notes may leave this machine."""
    found = read_consent(patient.places.state)
    if isinstance(found, Confirmed):
        text = f"confirmed on {found.at:%Y-%m-%d}: text of notes may leave this machine where a policy asks for it"
        yield Finding(topic="program", name="consent", health=Health.NOTE, text=text)
    else:
        text = f"not confirmed ({found.reason}), so no text of a note leaves this machine"
        yield Finding(topic="program", name="consent", health=Health.OK, text=text)


def check_model(_: Patient) -> Iterator[Finding]:
    """Whether the embedded model is there, whole, and answers."""
    from aria_dream.adapters.models.embedding import load_embedder

    embedder = load_embedder()
    try:
        embedder.encode(("A sentence.",))
    except MissingPartError as error:
        yield Finding(topic="program", name="model", health=Health.BROKEN, text=str(error))
    else:
        yield Finding(topic="program", name="model", health=Health.OK, text=f"{embedder.name} answers")


def check_judge(patient: Patient) -> Iterator[Finding]:
    """Who would judge a dream now. Asks a server for its list of models and sends it nothing of the vault."""
    from aria_dream.adapters.gate.egress import Gate
    from aria_dream.adapters.models.judges import find_model_server
    from aria_dream.adapters.models.model_server import NoModel
    from aria_dream.privacy.sharing import survey

    if patient.live is None:
        return
    settings = patient.live.policy.settings
    backend = settings.triage_backend
    health, text = Health.OK, "the built-in judge"
    if backend == "off":
        health, text = Health.NOTE, "nobody judges (`triage_backend: off`): what resonates is shown as it is ranked"
    elif backend != "embedded":
        sharing, _ = survey((), patient.live.policy)
        gate = Gate(
            state=patient.places.state, sharing=sharing, purpose="doctor", allowed=settings.allow_remote_triage
        )
        found = find_model_server(settings, gate, backend)
        if not isinstance(found, NoModel):
            text = f"“{found.model.name}” at {found.server.endpoint}"
        elif backend != "auto":
            health, text = Health.BROKEN, f"`triage_backend: {backend}`: {found.reason}"
        else:
            health = Health.NOTE if found.is_running else Health.OK
            text = f"the built-in judge; {found.reason}"
    trouble = RunStore(patient.live.state_folder(patient.places)).read().judge_trouble
    if trouble is not None and backend not in ("embedded", "off"):
        health = Health.NOTE if health is Health.OK else health
        text += f"; at the last {trouble.occasion}: {trouble.trouble}"
    yield Finding(topic="vault", name="judge", health=health, text=text)


def check_codex(patient: Patient) -> Iterator[Finding]:
    """Whether a reach could be made: the program and the login. Sends nothing."""
    from aria_dream.adapters.codex.codex import TESTED_VERSION
    from aria_dream.adapters.codex.codex_reacher import CodexReacher
    from aria_dream.policy.settings import Settings

    vault = Path(patient.scan.root) if patient.scan is not None else patient.places.state
    settings = patient.live.policy.settings if patient.live is not None else Settings()
    reacher = CodexReacher(vault=vault, state=patient.places.state, settings=settings)
    if missing := reacher.missing():
        yield Finding(topic="program", name="reach", health=Health.NOTE, text=f"no reach can be made: {missing}")
        return
    version = reacher.version()
    tested = "" if version == TESTED_VERSION else f"; tested with {TESTED_VERSION}"
    text = f"Codex CLI {version or '(it does not say its version)'} is here and somebody is logged in{tested}"
    yield Finding(topic="program", name="reach", health=Health.OK, text=text)
