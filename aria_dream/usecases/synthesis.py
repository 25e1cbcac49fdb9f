"""One synthesis on a real vault: read, plan, check the plan, write both files at once, check the disk, or take it back.

Order: one synthesis at a time; settle what a crash left; make the two files where they are missing; read; plan; check
the plan against the contract (a plan that fails is never written); write log and lessons as one change; read them back
and check again; take the change back where that fails. A kill anywhere leaves both files as before or both as after.
"""

from __future__ import annotations

import tempfile
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from aria_dream.adapters.disk.lock import VaultLock
from aria_dream.adapters.disk.writing import write_or_refuse
from aria_dream.adapters.state.memory_folder import NoMemory, find_memory_folder, read_sources
from aria_dream.errors import MissingPartError, NotFoundError, WriteRefusedError
from aria_dream.markdown.note import NotePath
from aria_dream.synthesis.contract import check
from aria_dream.synthesis.entry import render_log_head, render_status
from aria_dream.synthesis.evidence import parse_evidence
from aria_dream.synthesis.lesson import lesson_record, read_rows, render_lessons
from aria_dream.synthesis.log_text import current_status, visible
from aria_dream.synthesis.memory import lessons_path, log_path
from aria_dream.synthesis.operator_evidence import evidence_refusal, step_refusal
from aria_dream.synthesis.snapshot import parse_snapshot, render_snapshot, take_snapshot
from aria_dream.synthesis.synthesis import Inputs, synthesise
from aria_dream.vault.edit import (
    ABSENT,
    ChangeSet,
    Exists,
    Refusal,
    WritePlan,
    content_hash,
    decode_note,
    encode_note,
    invert_changes,
    plan_append,
)
from aria_dream.world import Absent, Content, Refused, Written

if TYPE_CHECKING:
    from collections.abc import Callable
    from datetime import datetime

    from aria_dream.policy.policy import Policy
    from aria_dream.synthesis.contract import Verdict
    from aria_dream.synthesis.patterns import Encode
    from aria_dream.synthesis.snapshot import Snapshot
    from aria_dream.synthesis.synthesis import Synthesis
    from aria_dream.world import RootedFiles

    Check = Callable[[Snapshot, bytes | None, bytes | None, str], Verdict]


@dataclass(frozen=True, slots=True, kw_only=True)
class SynthesisRequest:
    """One run."""

    at: datetime
    """Local time of the policy's zone; its date is the entry's."""
    occasion: str
    """Stands in the heading: `nightly` or `explicit`."""
    evidence: str = ""
    """Text of the evidence file."""
    evidence_name: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class SynthesisResult:
    """What a run wrote, or why the contract turned it back."""

    folder: str
    synthesis: Synthesis
    verdict: Verdict
    restored: bool
    """The contract failed, and both files are as they were before the run."""
    said: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class StatusResult:
    """A change of status that was written, or turned back by the contract."""

    candidate: str
    was: str
    status: str
    verdict: Verdict


def synthesis_lock(state_folder: Path) -> VaultLock:
    """The lock of one synthesis, from reading the log to having checked it."""
    return VaultLock(state_folder / "synthesis.lock", "a synthesis")


def run_synthesis(
    files: RootedFiles,
    lock: VaultLock,
    policy: Policy,
    request: SynthesisRequest,
    encode: Encode,
    *,
    checked: Check | None = None,
) -> SynthesisResult | NoMemory:
    """What came of one synthesis. A vault without a memory is told so, and nothing is created in it.

    Raises:
        WriteRefusedError: a file cannot be read as what it is, changed meanwhile, or the disk would not; nothing was
            written.
        BusyError: another synthesis, or another write, does not end.
        PolicyClosedError: the policy does not say legibly where the memory lies.
    """
    checked = checked or partial(check, exists=path_exists(files.root))
    with lock.held(), tempfile.TemporaryDirectory(prefix="dream-contract-") as kept:
        files.recover()
        folder = find_memory_folder(files.root, policy)
        if isinstance(folder, NoMemory):
            return folder
        _make_missing(files, folder)
        log, lessons = _read(files, log_path(folder)), _read(files, lessons_path(folder))
        _refuse_torn(lessons, str(lessons_path(folder)))
        readings, said = read_sources(files, folder, policy, request.at.tzinfo)
        rows, problems = parse_evidence(request.evidence, request.at.tzinfo, request.evidence_name)
        said = (*said, *map(str, problems))
        operators = tuple(name for part in policy.settings.operators.split(",") if (name := part.strip()))
        inputs = Inputs(readings=readings, evidence=rows, log=log, lessons=lessons, operators=operators, said=said)
        made, missing = _synthesise(inputs, request, encode)
        changes = _changes(folder, made, log, lessons)
        before = _kept_snapshot(log, lessons, kept)
        planned = {plan.path: plan.content for plan in changes.writes}
        new_lessons = planned.get(lessons_path(folder), lessons)
        plan = checked(before, planned[log_path(folder)], new_lessons, made.date)
        if not plan.passed:
            return SynthesisResult(folder=folder, synthesis=made, verdict=plan, restored=True, said=(*said, *missing))
        write_or_refuse(files, changes, label="synthesis")
        verdict = _verified(files, folder, before, made, checked)
        if not verdict.passed:
            _restore(files, changes, {log_path(folder): log, lessons_path(folder): lessons})
        return SynthesisResult(
            folder=folder, synthesis=made, verdict=verdict, restored=not verdict.passed, said=(*said, *missing)
        )


def _synthesise(inputs: Inputs, request: SynthesisRequest, encode: Encode) -> tuple[Synthesis, tuple[str, ...]]:
    try:
        return synthesise(inputs, request.at, request.occasion, encode), ()
    except MissingPartError as error:
        sentence = f"No patterns were looked for: {error}"
        told = replace(inputs, said=(*inputs.said, sentence))
        return synthesise(told, request.at, request.occasion, None), (sentence,)


def run_status_change(
    files: RootedFiles,
    lock: VaultLock,
    policy: Policy,
    at: datetime,
    candidate: str,
    status: str,
    evidence: str,
    *,
    checked: Check = check,
) -> StatusResult | NoMemory | Refusal:
    """What came of the operator's decision about a candidate; a Refusal where the evidence is none.

    Raises:
        NotFoundError: there is no such candidate.
        WriteRefusedError, BusyError, PolicyClosedError: as `run_synthesis`.
    """
    refusal = evidence_refusal(evidence, status)
    if refusal:
        return Refusal(refusal)
    with lock.held():
        files.recover()
        folder = find_memory_folder(files.root, policy)
        if isinstance(folder, NoMemory):
            return folder
        path = log_path(folder)
        content = files.read(path)
        log = content.data if isinstance(content, Content) else b""
        known = current_status(visible(decode_note(log)))
        if candidate not in known:
            raise NotFoundError(f"there is no candidate {candidate!r} in {path}; known: {', '.join(known) or 'none'}")
        if known[candidate] == status:
            return Refusal(f"{candidate} is {status} already")
        if refusal := step_refusal(known[candidate], status):
            return Refusal(refusal)
        found = files.read(lessons_path(folder))
        lessons = found.data if isinstance(found, Content) else None
        block = render_status(candidate, status, known[candidate], evidence, at)
        changes = ChangeSet(writes=(_append(path, log, block),))
        before, date = take_snapshot(log, lessons), f"{at:%Y-%m-%d}"
        verdict = checked(before, changes.writes[0].content, lessons, date)
        if verdict.passed:
            write_or_refuse(files, changes, label=f"status {candidate}")
            verdict = checked(before, _read(files, path), lessons, date)
            now = current_status(visible(decode_note(_read(files, path))))
            if not verdict.passed or now.get(candidate) != status:
                _restore(files, changes, {path: log})
        return StatusResult(candidate=candidate, was=known[candidate], status=status, verdict=verdict)


def path_exists(root: Path) -> Callable[[str], bool]:
    """Whether a vault path is there, as the contract asks."""
    return lambda path: root.joinpath(*NotePath(path).parts).exists()


def _kept_snapshot(log: bytes, lessons: bytes, folder: str) -> Snapshot:
    """The snapshot, as the document in the system's temp folder gives it back: what is checked is what was kept."""
    document = Path(folder) / "dream-contract-before.json"
    try:
        document.write_text(render_snapshot(take_snapshot(log, lessons)), encoding="utf-8", newline="\n")
        kept = parse_snapshot(document.read_text(encoding="utf-8"))
    except OSError as error:
        raise WriteRefusedError(f"nothing was written: no snapshot was kept ({error.strerror or error})") from error
    assert not isinstance(kept, str), "a snapshot of ours reads back"
    return kept


def _make_missing(files: RootedFiles, folder: str) -> None:
    """Both files exist when this returns, so that the first snapshot has something to hold to."""
    heads = {log_path(folder): encode_note(render_log_head()), lessons_path(folder): b""}
    missing = [
        WritePlan(path=path, expected_hash=ABSENT, content=content)
        for path, content in heads.items()
        if isinstance(files.read(path), Absent)
    ]
    if missing:
        write_or_refuse(files, ChangeSet(writes=tuple(missing)), label="synthesis: new files")


def _read(files: RootedFiles, path: NotePath) -> bytes:
    try:
        content = files.read(path)
    except OSError as error:
        raise WriteRefusedError(f"nothing was written: {path} cannot be read ({error.strerror or error})") from error
    if isinstance(content, Content):
        return content.data
    reason = content.reason if isinstance(content, Refused) else "it has vanished"
    raise WriteRefusedError(f"nothing was written: {path}: {reason}")


def _refuse_torn(lessons: bytes, path: str) -> None:
    bad = next((row.line for row in read_rows(lessons) if row.record is None), 0)
    if bad:
        raise WriteRefusedError(f"nothing was written: {path}:{bad} is no JSON object; mend that line first")


def _changes(folder: str, made: Synthesis, log: bytes, lessons: bytes) -> ChangeSet:
    writes = [_append(log_path(folder), log, made.entry)]
    if made.lessons:
        content = render_lessons(lessons, made.lessons)
        writes.append(
            WritePlan(path=lessons_path(folder), expected_hash=content_hash(lessons), content=content)
        )
    return ChangeSet(writes=tuple(writes))


def _append(path: NotePath, before: bytes, block: str) -> WritePlan:
    plan = plan_append(path, before, block)
    if isinstance(plan, Refusal):
        raise WriteRefusedError(f"nothing was written: {plan.reason}")
    return plan


def _verified(files: RootedFiles, folder: str, before: Snapshot, made: Synthesis, checked: Check) -> Verdict:
    """The contract, on what lies on the disk; every new row is read back as it was meant."""
    log, lessons = _read(files, log_path(folder)), _read(files, lessons_path(folder))
    verdict = checked(before, log, lessons, made.date)
    written = [row.record for row in read_rows(lessons)][before.lessons.line_count :]
    if verdict.passed and written != [lesson_record(lesson) for lesson in made.lessons]:
        return replace(verdict, failures=("round-trip: the new lessons do not read back as they were meant",))
    return verdict




def _restore(files: RootedFiles, changes: ChangeSet, before: dict[NotePath, bytes]) -> None:
    """Both files are as they were before the run, or a WriteRefusedError says which one somebody else has changed."""
    back = invert_changes(changes, {path: before[path] for path in (plan.path for plan in changes.writes)})
    outcome = files.write(back, label="synthesis taken back")
    if not isinstance(outcome, Written):
        reason = f"{outcome.path} exists" if isinstance(outcome, Exists) else outcome.reason
        raise WriteRefusedError(
            f"the contract failed, and the state before could not be restored: {outcome.path}: {reason}; the history"
            " holds it whole"
        )
