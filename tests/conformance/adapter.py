"""The product as `data/cases/run_cases.py` asks for it. Every operation calls the code that ships.

An operation that is not here is n/a there, which is no pass: add it when its part exists. The state folder lies beside
the case's vault, in the scratch copy. `ARIA_CASE_EXCHANGE=native` lets the writes exchange files as the system can;
without it they take the path of a system that cannot, which is the one that calls `os.replace` (case 18).
"""

from __future__ import annotations

import errno
import math
import os
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, assert_never
from zoneinfo import ZoneInfo

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from aria_dream.adapters.codex.codex import Missing, find_codex
from aria_dream.adapters.codex.codex_reacher import CodexReacher, Elsewhere
from aria_dream.adapters.disk.files import DiskVault
from aria_dream.adapters.disk.swap import ExchangeUnavailableError, exchange
from aria_dream.adapters.gate import ledger
from aria_dream.adapters.gate.rate_limit_backoff import Backoff, StopReaching, Wait, pause_s, reach_pause
from aria_dream.adapters.index.index import read_vault
from aria_dream.adapters.machine.presence import read_power
from aria_dream.judging.triage_prompt import Unreadable
from aria_dream.judging.verdict import parse_object
from aria_dream.markdown.note import NotePath, decode_note, parse_note
from aria_dream.policy.policy import Policy, parse_policy
from aria_dream.policy.settings import Settings
from aria_dream.policy.triggers import Stage, Triggers
from aria_dream.ranking.embedding import passages
from aria_dream.ranking.juxtaposition import title_of
from aria_dream.reach.budget import INITIATED, LedgerRow, count_in_window, in_period, parse_ledger
from aria_dream.reach.reach_record import read_end
from aria_dream.review.changes import plan_placement
from aria_dream.review.merging import plan_merge
from aria_dream.review.placement import AlreadyLinked, Target
from aria_dream.review.plan import Planned, VaultView
from aria_dream.review.rollback import Impossible, plan_rollback
from aria_dream.review.safety import TRASH
from aria_dream.schedule.due import Due, due
from aria_dream.schedule.presence import Known, Plug, Power, Reading
from aria_dream.schedule.scheduler_state import Moment, Readings, RunHistory, SchedulerState, StartedRun
from aria_dream.vault import edit
from aria_dream.vault.edit import ChangeSet, Exists, WritePlan
from aria_dream.vault.names import Refusal, parse_target
from aria_dream.vault.property_edit import plan_property
from aria_dream.world import Absent, Conflict, Content, Failed, Refused, Written
from tests.reaching import cleared

if TYPE_CHECKING:
    from collections.abc import Callable


def _no_exchange(_first: Path, second: Path) -> None:
    raise ExchangeUnavailableError(errno.ENOSYS, "as on a system without", str(second))


def disk_vault(vault: Path) -> DiskVault:
    """The case's vault, its state beside it."""
    native = os.environ.get("ARIA_CASE_EXCHANGE") == "native"
    return DiskVault(vault, Path(vault).parent / "state", exchange=exchange if native else _no_exchange)


def _status(outcome: Written | Conflict | Exists | Refused | Failed | Refusal) -> str:
    match outcome:
        case Written():
            return "ok"
        case Conflict():
            return "conflict"
        case Exists():
            return "exists"
        case Refused() | Refusal():
            return "refused"
        case Failed():
            return "error"
        case _:
            assert_never(outcome)


def _apply(vault: Path, plan: WritePlan | Exists | Refusal) -> str:
    if isinstance(plan, WritePlan):
        return _status(disk_vault(vault).write(ChangeSet(writes=(plan,)), label="case"))
    return _status(plan)


def parse(vault: Path) -> dict[str, object]:
    """Every note of the vault as it is read, and what was passed over."""
    index = read_vault(vault, None)
    problems = {problem.path for problem in index.problems}
    notes: dict[str, object] = {}
    for path in index.graph.paths:
        if path in index.not_here:
            continue
        note = parse_note(decode_note((index.root / path).read_bytes()))
        notes[path] = {
            "links": [
                {"target": link.path, "resolved": index.resolver.resolve(link.path, path)} for link in note.links
            ],
            "aliases": list(note.aliases),
            "frontmatter": {key: str(value)[:200] for key, value in note.properties.items()},
            "error": path in problems,
        }
    return {"notes": notes, "skipped": sorted(index.not_here)}


def context(vault: Path, rel: str) -> str:
    """What of a note a model is given: its passages, as the embedded judge reads them."""
    note = parse_note(decode_note((vault / rel).read_bytes()))
    return "\n".join(passage.text for passage in passages(title_of(rel), note))


def plan_append(vault: Path, rel: str, heading: str, body: str) -> tuple[Path, WritePlan | Refusal]:
    """A plan made now, to be applied by `apply_append` later."""
    path = NotePath(rel)
    found = disk_vault(vault).read(path)
    if isinstance(found, Refused):
        return vault, Refusal(found.reason)
    before = None if isinstance(found, Absent) else found.data
    return vault, edit.plan_append(path, before, f"## {heading}\n\n{body}")


def apply_append(token: tuple[Path, WritePlan | Refusal]) -> str:
    """What became of the plan."""
    return _apply(*token)


def append(vault: Path, rel: str, heading: str, body: str) -> str:
    """Plan and apply in one go."""
    return apply_append(plan_append(vault, rel, heading, body))


def create(vault: Path, rel: str, text: str) -> str:
    """Create a note."""
    root = disk_vault(vault).root
    existing = [NotePath(place.relative_to(root).as_posix()) for place in root.rglob("*") if place.is_file()]
    return _apply(vault, edit.plan_create(NotePath(rel), text, existing))


def safe_path(_vault: Path, target: str) -> str:
    """The path that a proposal may write, else an error."""
    path = parse_target(target, protected=[NotePath("dreaming.md"), NotePath("triggers.md")])
    if isinstance(path, Refusal):
        raise ValueError(path.reason)  # noqa: TRY004 - the runner reads any error as a refusal
    return str(path)


def run_times(tz: str, at: str, begin: datetime, end: datetime) -> list[datetime]:
    """The minutes at which a night's work starts, for a night that opens at `at`."""
    hour, minute = map(int, at.split(":"))
    policy, _ = parse_policy(f"- quiet_hours: {at}-{(hour + 3) % 24:02d}:{minute:02d}")
    found: list[StartedRun] = []
    for number in range(int((end - begin) / timedelta(minutes=1))):
        moment = Moment(now=begin + timedelta(minutes=number), monotonic_s=60.0 * number, zone=ZoneInfo(tz))
        history = RunHistory(started_monotonic_s=0.0, since=begin, runs=tuple(found))
        answer = due(policy, _NIGHTS, moment, _readings(_MAINS), history, SchedulerState())
        if isinstance(answer, Due):
            found.append(StartedRun(at=moment.now, dreamt=True, night=answer.night, monotonic_s=moment.monotonic_s))
    return [run.at for run in found]


def may_run(battery: Callable[[], object]) -> bool:
    """Whether a dream may start on this power, when nothing else holds it back."""
    moment = Moment(now=datetime(2026, 11, 30, 12, tzinfo=UTC), monotonic_s=0.0, zone=UTC)
    power = read_power(battery, supplies=None)
    history = RunHistory(started_monotonic_s=0.0)
    return isinstance(due(Policy(), Triggers(), moment, _readings(power), history, SchedulerState()), Due)


def _readings(power: Reading[Power]) -> Readings:
    return Readings(input_idle=Known(1e6), power=power, load_percent=Known(0.0), last_edit_s=None)


_MAINS: Reading[Power] = Known(Power(plug=Plug.MAINS))
_NIGHTS = Triggers(on_nightly=(Stage.DREAM,), on_idle=(), on_seed=())


def set_property(vault: Path, rel: str, key: str, value: object) -> str:
    """Set one property of a note."""
    path = NotePath(rel)
    found = disk_vault(vault).read(path)
    if isinstance(found, Refused | Absent):
        return "refused"
    planned = plan_property(edit.decode_note(found.data), key, value)
    return _apply(vault, planned if isinstance(planned, Refusal) else edit.plan_edit(path, found.data, (planned,)))


def _view(vault: Path) -> VaultView:
    disk = disk_vault(vault)
    files = sorted(
        place.relative_to(disk.root).as_posix()
        for place in disk.root.rglob("*")
        if place.is_file() and not any(part.startswith(".") for part in place.relative_to(disk.root).parts)
    )
    contents = {
        NotePath(file): content.data
        for file in files
        if file.endswith((".md", ".canvas")) and isinstance(content := disk.read(NotePath(file)), Content)
    }
    trash = disk.root / TRASH
    trashed = (place.relative_to(disk.root).as_posix() for place in trash.rglob("*") if place.is_file())
    return VaultView(files=tuple(files), contents=contents, trashed=frozenset(trashed))


def _carry_out(vault: Path, planned: Planned | AlreadyLinked | Refusal) -> str:
    match planned:
        case Planned():
            return _status(disk_vault(vault).write(planned.changes, label="case"))
        case AlreadyLinked() | Refusal():
            return "refused"
        case _:
            assert_never(planned)


def insert_link(vault: Path, rel: str, phrase: str, target: str) -> str:
    """Put a link at a phrase, even where the note has one to that target."""
    return _carry_out(vault, plan_placement(_view(vault), NotePath(rel), Target(path=target, title=phrase), again=True))


def merge(vault: Path, keep: str, drop: str) -> str:
    """Merge one note into another."""
    return _carry_out(vault, plan_merge(_view(vault), NotePath(keep), NotePath(drop)))


def rollback(vault: Path) -> str:
    """Take the last change back."""
    disk = disk_vault(vault)
    files = disk.past_changes()[-1].files
    places = {place for file in files for place in (file.path, file.moved_to) if place is not None}
    contents = {place: found.data for place in places if isinstance(found := disk.read(place), Content)}
    planned = plan_rollback(files, contents)
    return "refused" if isinstance(planned, Impossible) else _status(disk.write(planned.changes, label="back"))


def parse_model_json(text: str) -> dict[str, object]:
    """The object in a model's answer, else an error."""
    found = parse_object(text)
    if isinstance(found, Unreadable):
        raise ValueError(found.reason)  # noqa: TRY004 - the runner reads any error as a refusal
    return found


def ledger_append(place: Path, note: str, cost_eur: str) -> None:
    """A row with the note as its id, as the ledger of the reach appends one. The cost of a row is one request."""
    _ = cost_eur
    ledger.append_row(Path(place), LedgerRow(at=datetime.now(UTC), kind="internal", verdict=INITIATED, id=note))


def ledger_rows(place: Path) -> list[dict[str, str]]:
    """The rows that the ledger has, by note."""
    return [{"note": row.id} for row in _ledger(place)]


def ledger_total(place: Path) -> int:
    """What all rows spent: each that counts is a request."""
    return count_in_window(_ledger(place), datetime.now(UTC), timedelta(days=100_000))


def ledger_spent_today(place: Path, now: datetime, tz: str) -> float:
    """The costs (the case's seventh column) of the rows that the ledger counts into the local day, up to `now`.

    The ledger counts rows of the future; the case, which looks back at a past evening, does not.
    """
    lines = Path(place).read_text().splitlines()[1:]
    times = [row.at for row in parse_ledger("".join(f"{line}\n" for line in lines))[0]]
    costs = [float(line.split("\t")[6]) for line in lines]
    return sum(
        cost
        for at, cost in zip(times, costs, strict=True)
        if at is not None and at <= now and in_period(at, now, ZoneInfo(tz), "day")
    )


def budget_parallel(place: Path, limit: int, workers: int, cost_each: int, call_seconds: float) -> int:
    """How many of so many that ask at once are let through. Each has a lock of its own, as a process would."""
    settings = Settings(
        reach_requests_per_5h=limit,
        reach_requests_per_week=limit,
        monthly_reach_ceiling=limit,
        requests_per_reach=cost_each,
    )
    with ThreadPoolExecutor(workers) as pool:
        asked = [pool.submit(_reach, Path(place).parent, settings, call_seconds) for _ in range(workers)]
        return sum(one.result() for one in asked)


def _reach(state: Path, settings: Settings, call_seconds: float) -> bool:
    permit = ledger.reserve(state, settings, UTC, kind="internal")
    if not isinstance(permit, ledger.Granted):
        return False
    time.sleep(call_seconds)
    ledger.resolve(permit, "homes")
    return True


def _ledger(place: Path) -> tuple[LedgerRow, ...]:
    return parse_ledger(Path(place).read_bytes().decode("utf-8", "replace"))[0]


def call_codex(prompt: str, timeout_s: float, vault: Path) -> tuple[str, str]:
    """One reach through the stand-in that comes first in the PATH: `ok`, `timeout` or `error`, and what it said.

    The stand-ins want to be told where to write what they see, which no reach tells a program of the environment.
    """
    state = Path(vault).parent / "state"
    settings = Settings(reach_timeout_s=math.ceil(timeout_s), reach_requests_per_5h=100, reach_requests_per_week=100)
    program = find_codex(Path(vault))
    if isinstance(program, Missing):
        raise FileNotFoundError(program.reason)
    told = {name: os.environ[name] for name in ("STUB_RECORD", "CANARY", "CODEX_STUB_MODE") if name in os.environ}
    elsewhere = Elsewhere(provider={"name": "case", "base_url": "http://127.0.0.1:9"}, environ=told)
    permit = ledger.reserve(state, settings, UTC, kind="internal")
    assert isinstance(permit, ledger.Granted)
    reacher = CodexReacher(vault=Path(vault), state=state, settings=settings, elsewhere=elsewhere)
    end = reacher.run(cleared(state, prompt), permit, should_stop=lambda: "")
    ledger.settle(state, UTC, reach_id=permit.row.id, verdict=read_end(end)[1])
    if end.stopped:
        return "timeout", end.partial
    return ("error" if end.run.failure else "ok"), end.run.last_message


def classify_error(text: str) -> tuple[str, float]:
    """What a failed call asks for, and for how many seconds."""
    now = datetime.now(UTC)
    match reach_pause(text, now, UTC):
        case Wait(until):
            return "wait", (until - now).total_seconds()
        case Backoff():
            return "backoff", pause_s(1, 0.0)
        case StopReaching():
            return "stop", 0.0
