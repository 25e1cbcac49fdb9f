"""The executable postcondition of a synthesis: a check against the snapshot from before that trusts nobody's word.

`check` is pure and total: it knows nothing of who wrote the two files, or how.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from aria_dream.markdown.note import decode_note
from aria_dream.notes.plain_text import unescape_plain
from aria_dream.synthesis.lesson import FIELDS_OF_A_ROW, next_number, read_rows, repeated_keys, row_failures
from aria_dream.synthesis.log_text import (
    FIELDS,
    LABELS,
    find_candidates,
    find_sections,
    find_status_changes,
    section_labels,
    section_texts,
    visible,
)
from aria_dream.synthesis.operator_evidence import evidence_refusal, step_refusal
from aria_dream.synthesis.reference import path_of
from aria_dream.synthesis.snapshot import bytes_hash, lines_hash
from aria_dream.synthesis.wording import ratifying_words

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from aria_dream.synthesis.lesson import Row
    from aria_dream.synthesis.log_text import Candidate, StatusChange
    from aria_dream.synthesis.snapshot import DreamState, LessonsState, Snapshot

_LESSON_ID = re.compile(r"\bl\d{3,}\b")
_CANDIDATE_ID = re.compile(r"ni-(\d{4})(\d{2})(\d{2})-\d{2,}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """What the check found."""

    date: str
    lessons_added: int
    candidates: int
    failures: tuple[str, ...]
    """Each `rule: what is wrong`, without a `|`; empty where everything is as it must be."""

    @property
    def passed(self) -> bool:
        return not self.failures


def render_verdict(verdict: Verdict) -> str:
    """The validator's one line."""
    word = "PASS" if verdict.passed else "FAIL"
    return (
        f"DREAM_CONTRACT {word} date={verdict.date} lessons_added={verdict.lessons_added}"
        f" candidates={verdict.candidates} failures={'|'.join(verdict.failures) or 'none'}"
    )


def check(
    before: Snapshot, dream: bytes | None, lessons: bytes | None, date: str, exists: Callable[[str], bool] | None = None
) -> Verdict:
    """Whether the two files are `before` plus what a synthesis of the local `date` may append, and agree.

    `exists` says whether a vault path is there; with None, references are not looked up.

    A tail of the log that holds nothing but changes of status is no synthesis: it needs no section, and every one of
    its changes needs the operator's own evidence.
    """
    failures: list[str] = []
    added = _check_lessons(before.lessons, lessons, date, failures)
    candidates: tuple[Candidate, ...] = ()
    if dream is None:
        failures.append("dream-missing: DREAM_LOG.md is not there")
    else:
        candidates = _check_dream(before.dream, dream, date, failures, lessons_added=added)
        rows = read_rows(lessons or b"")[before.lessons.line_count :]
        if not failures:  # what is wrong in itself explains a disagreement
            failures += _disagreements(before.dream, dream, rows, candidates)
            failures += _lost_references(rows, candidates, exists)
    clean = tuple(dict.fromkeys(" ".join(failure.replace("|", "/").split()) for failure in failures))
    return Verdict(date=date, lessons_added=added, candidates=len(candidates), failures=clean)


def _disagreements(
    before: DreamState, dream: bytes, rows: Sequence[Row], candidates: Sequence[Candidate]
) -> Iterator[str]:
    """Where the new sections say other lessons and candidates than there are."""
    size = 0 if before.missing else before.byte_length
    sections = find_sections(visible(decode_note(dream[size:])))
    if not sections:
        return
    texts = [section_texts(section.body) for section in sections]
    lessons = " ".join(said.get(LABELS[1], "") for said in texts)
    proposed = " ".join(said.get(LABELS[2], "") for said in texts)
    ids = {str(row.record.get("lesson_id")) for row in rows if row.record is not None}
    named = {one for line in lessons.splitlines() if not line.startswith("  ") for one in _LESSON_ID.findall(line)}
    yield from (f"agreement: the log names {one}, which is no new row" for one in sorted(named - ids))
    yield from (f"agreement: {one} is a new row and not in the log" for one in sorted(ids - named))
    blocks = {one.id.casefold() for one in candidates}
    told = set(re.findall(r"\bni-\d{8}-\d{2,}", proposed.casefold()))
    yield from (f"agreement: the log names {one}, which has no block" for one in sorted(told - blocks))
    yield from (f"agreement: {one} has a block and is not named" for one in sorted(blocks - told))


def _lost_references(
    rows: Sequence[Row], candidates: Sequence[Candidate], exists: Callable[[str], bool] | None
) -> Iterator[str]:
    if exists is None:
        return
    cited = [ref for row in rows if row.record is not None for ref in _listed(row.record.get("source_events"))]
    cited += [unescape_plain(ref) for one in candidates for ref in one.first("evidence").split(";")]
    paths = {path_of(ref) for ref in cited if re.search(r"\.(?:md|jsonl)(?::\d+)?(?:-\d+)?(?:#\S*)?$", ref.strip())}
    yield from (f"reference: {path} is not there" for path in sorted(paths) if not exists(path))


def _listed(value: object) -> list[str]:
    return [str(one) for one in value] if isinstance(value, list) else []


def _check_lessons(before: LessonsState, lessons: bytes | None, date: str, failures: list[str]) -> int:
    if lessons is None:
        if not before.missing:
            failures.append("lessons-missing: LESSONS.jsonl is gone")
        return 0
    rows = read_rows(lessons)
    failures += [f"lessons-json: line {row.line} is no JSON object" for row in rows if row.record is None]
    old, new = rows[: before.line_count], rows[before.line_count :]
    if len(old) < before.line_count or lines_hash(row.data for row in old) != before.prefix_hash:
        failures.append("lessons-prefix: the lines that were there are not as they were")
    _check_rows(before.ids, old, new, date, failures)
    return len(new)


def _check_rows(
    known: Sequence[str], old: Sequence[Row], new: Sequence[Row], date: str, failures: list[str]
) -> None:
    taken: list[object] = [*known, *(row.record.get("lesson_id") for row in old if row.record is not None)]
    number = next_number(taken)
    for row in new:
        if row.record is None:
            continue
        name = row.record.get("lesson_id")
        if name in taken:
            failures.append(f"lesson-id: line {row.line} repeats {str(name)[:40]}")
        taken.append(name)
        failures += (f"lesson: line {row.line}: {key} stands twice" for key in repeated_keys(row.data))
        unknown = sorted(row.record.keys() - FIELDS_OF_A_ROW)
        failures += (f"lesson: line {row.line}: {key} is no field of a lesson" for key in unknown)
        for failure in row_failures(row.record, number=number, date=date):
            rule = "lesson-id" if failure.startswith("lesson_id") else "lesson"
            failures.append(f"{rule}: line {row.line}: {failure}")
        words = next(ratifying_words(str(row.record.get("lesson", ""))), None) if _speaks_of_itself(row) else None
        if words:
            failures.append(f"self-ratifying: line {row.line} says {words}")
        number += 1


def _speaks_of_itself(row: Row) -> bool:
    """A lesson may speak of merged branches; it may not speak of itself, a lesson or a candidate, as decided."""
    text = str((row.record or {}).get("lesson", ""))
    return re.search(r"\b(?:this|the) (?:lesson|candidate|proposal)\b|\bni-\d{8}", text, re.IGNORECASE) is not None


def _check_dream(
    before: DreamState, dream: bytes, date: str, failures: list[str], *, lessons_added: int
) -> tuple[Candidate, ...]:
    size = 0 if before.missing else before.byte_length
    if len(dream) < size or (size and bytes_hash(dream[:size]) != before.prefix_hash):
        failures.append("dream-prefix: the bytes that were there are not as they were")
    head = decode_note(dream[:size])
    text = head + decode_note(dream[size:])
    shown = visible(text)
    everything = find_candidates(shown)
    new = tuple(one for one in everything if one.start >= len(head))
    old = tuple(one for one in everything if one.start < len(head))
    changes = tuple(one for one in find_status_changes(shown) if one.start >= len(head))
    generated = _without(shown, len(head), changes)
    if not (changes and not new and not lessons_added and not generated.strip()):
        _check_sections(shown, len(head), date, failures)
    for candidate in new:
        failures += (f"candidate: {candidate.id}: {reason}" for reason in _candidate_failures(candidate, date))
    ids = [one.id.casefold() for one in everything]
    failures += (f"candidate: {one.id}: the id is taken" for one in new if ids.count(one.id.casefold()) > 1)
    known = {one.id: one.first("status").strip("*_`") for one in reversed(old)}
    known |= {one.id: one.status for one in find_status_changes(shown) if one.start < len(head) and one.id in known}
    for change in changes:
        was = known.get(change.id, "")
        failures += (f"status: {change.id}: {reason}" for reason in _change_failures(change, old, new, was))
        known[change.id] = change.status
    failures += (f"self-ratifying: the entry says {words}" for words in ratifying_words(generated))
    return new


def _without(shown: str, start: int, changes: Iterable[StatusChange]) -> str:
    """What was appended, the blocks of status changes left out: those are the operator's word, not generated."""
    pieces = []
    for change in changes:
        pieces.append(shown[start : change.start])
        start = change.end
    return "".join([*pieces, shown[start:]])


def _check_sections(shown: str, start: int, date: str, failures: list[str]) -> None:
    sections = find_sections(shown)
    new = [section for section in sections if section.start >= start]
    if not new:
        failures.append("section-missing: no dated section was appended")
        return
    failures += (f"section-date: a section of {one.date} was appended" for one in new if one.date != date)
    newest = max(section.date for section in sections)
    if newest != date:
        failures.append(f"newest-date: the newest section is of {newest} and not of {date}")
    for section in new:
        said = section_labels(section.body)
        failures += (f"label-missing: {label}" for label in LABELS if label not in said)
        failures += (f"label-empty: {label}" for label in LABELS if said.get(label) is False)


def _candidate_failures(candidate: Candidate, date: str) -> Iterator[str]:
    found = _CANDIDATE_ID.fullmatch(candidate.id)
    if found is None:
        yield "the id is not ni-YYYYMMDD-NN"
    elif "-".join(found.groups()) != date:
        yield f"the id is not of {date}"
    if candidate.level != 3:
        yield "the heading is not of level three"
    if not candidate.name:
        yield "it has no name"
    statuses = [value for key, value in candidate.fields if key == "status"]
    if not statuses or candidate.fields[0][0] != "status":
        yield "it does not start with its status"
    failing = [value for value in statuses if value.strip("*_`") != "proposed"]
    if failing:
        yield f"the status is {failing[0][:40]} and must be proposed"
    for name in FIELDS[1:]:
        if not re.search(r"[^\W_]", candidate.first(name)):
            yield f"it has no {name}"
    gate = candidate.first("operator gate").lower()
    if gate and not ("approve" in gate and "reject" in gate):
        yield "its operator gate does not leave the choice to approve or reject"
    evidence = candidate.first("operator evidence")
    if evidence and evidence.strip("*_`. ").lower() != "pending":
        yield "its operator evidence is not pending"


def _change_failures(
    change: StatusChange, old: Sequence[Candidate], new: Sequence[Candidate], was: str
) -> Iterator[str]:
    if change.id in {candidate.id for candidate in new}:
        yield "a candidate is decided in the run that proposes it"
    elif change.id not in {candidate.id for candidate in old}:
        yield "there is no such candidate"
    if change.status not in ("approved", "merged", "rejected", "blocked"):
        yield "the status is none of approved, merged, rejected, blocked"
    refusal = evidence_refusal(change.operator_evidence, change.status) or step_refusal(was, change.status)
    if refusal:
        yield refusal
