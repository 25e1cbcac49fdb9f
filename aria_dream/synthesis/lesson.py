"""The rows of `LESSONS.jsonl`: what a lesson is, how it is written, and every way in which a new row can be wrong.

The three kinds of admission and their caps are the specification's (`/dream`, "Lesson admission predicate"). They stand
here and nowhere else: no setting and no model widens them.
"""

from __future__ import annotations

import json
import math
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Literal, TypeAlias, TypeGuard, assert_never, get_args

from aria_dream.notes.jsonl import render_record

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

LessonType: TypeAlias = Literal["procedural", "calibration", "strategic", "failure-mode", "doctrine"]
LESSON_TYPES: Final[tuple[LessonType, ...]] = get_args(LessonType)

MECHANICAL_CAP: Final = 0.85
"""Most confidence that one mechanical event can give."""

_ID = re.compile(r"l(\d+)")


@dataclass(frozen=True, slots=True)
class TwoSource:
    """The same pattern in at least two independent events."""


@dataclass(frozen=True, slots=True, kw_only=True)
class OperatorOutcome:
    """One explicit directive of the operator, and an outcome that was observed separately."""

    operator_ref: str
    outcome_ref: str


@dataclass(frozen=True, slots=True, kw_only=True)
class MechanicalRedGreen:
    """One command that was red before and green (exit 0) after."""

    red_exit: int
    artifact_ref: str


Admission: TypeAlias = TwoSource | OperatorOutcome | MechanicalRedGreen

FIELDS_OF_A_ROW: Final = frozenset(
    {"lesson_id", "lesson", "type", "confidence", "source_events", "created_at", "admission"}
)
KINDS: Final = ("two-source", "operator-outcome", "mechanical-red-green")


@dataclass(frozen=True, slots=True, kw_only=True)
class Lesson:
    """One admitted lesson."""

    lesson_id: str
    lesson: str
    """The text, one line."""
    type: LessonType
    confidence: float
    source_events: tuple[str, ...]
    created_at: str
    """Local date, `2026-11-30`."""
    admission: Admission


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One non-empty line of the file."""

    line: int
    """1-based, blank lines counted."""
    data: bytes
    record: dict[str, object] | None
    """None: the line is no JSON object."""


def admission_record(admission: Admission) -> dict[str, object]:
    """The object that stands under `admission`."""
    match admission:
        case TwoSource():
            return {"kind": "two-source"}
        case OperatorOutcome():
            return {
                "kind": "operator-outcome",
                "operator_ref": admission.operator_ref,
                "outcome_ref": admission.outcome_ref,
            }
        case MechanicalRedGreen():
            return {
                "kind": "mechanical-red-green",
                "red_exit": admission.red_exit,
                "green_exit": 0,
                "artifact_ref": admission.artifact_ref,
            }
        case _:
            assert_never(admission)


def lesson_record(lesson: Lesson) -> dict[str, object]:
    """The row's fields, in their order."""
    return {
        "lesson_id": lesson.lesson_id,
        "lesson": lesson.lesson,
        "type": lesson.type,
        "confidence": lesson.confidence,
        "source_events": list(lesson.source_events),
        "created_at": lesson.created_at,
        "admission": admission_record(lesson.admission),
    }


def render_lessons(before: bytes, lessons: Iterable[Lesson]) -> bytes:
    """The file's new content: `before` as it is, then one line a lesson; a last line without its end gets one."""
    added = "".join(render_record(lesson_record(lesson)) for lesson in lessons).encode()
    return before + (b"\n" if added and before and not before.endswith(b"\n") else b"") + added


def nonempty_lines(data: bytes) -> Iterator[tuple[int, bytes]]:
    """`(1-based line number, line without its end)` of every line that holds more than white space."""
    for number, line in enumerate(re.split(rb"\r?\n", data), start=1):
        if line.decode("utf-8", "replace").strip(" \t\r\n\v\f\u00a0\ufeff"):
            yield number, line


def read_rows(data: bytes) -> tuple[Row, ...]:
    """Every non-empty line, parsed. Total."""
    return tuple(Row(line=number, data=line, record=_parsed(line)) for number, line in nonempty_lines(data))


def repeated_keys(line: bytes) -> tuple[str, ...]:
    """The keys that stand twice in one object of the line; none where it is no JSON."""
    found: list[str] = []

    def pairs(items: list[tuple[str, object]]) -> dict[str, object]:
        names = [name for name, _ in items]
        found.extend(name for name in dict.fromkeys(names) if names.count(name) > 1)
        return dict(items)

    try:
        json.loads(line.decode("utf-8").removeprefix("\ufeff"), object_pairs_hook=pairs)
    except (ValueError, RecursionError):
        return ()
    return tuple(found)


def _parsed(line: bytes) -> dict[str, object] | None:
    try:
        value = json.loads(line.decode("utf-8").removeprefix("\ufeff"), parse_constant=_refuse)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None


def _refuse(name: str) -> object:
    raise ValueError(name)


def lesson_number(value: object) -> int | None:
    """The number in `l017`; None for anything else."""
    found = _ID.fullmatch(value) if isinstance(value, str) and value.isascii() and len(value) < 20 else None
    return int(found[1]) if found else None


def lesson_id(number: int) -> str:
    """`l017`; more digits from 1000 on."""
    return f"l{number:03d}"


def next_number(ids: Iterable[object]) -> int:
    """One more than the largest number among `ids`; 1 where there is none. Ids of another shape do not count."""
    return max((number for value in ids if (number := lesson_number(value)) is not None), default=0) + 1


def row_failures(record: Mapping[str, object], *, number: int, date: str) -> Iterator[str]:
    """Everything that forbids this row as the new lesson `number` of the local `date`, each in a few words."""
    name = record.get("lesson_id")
    if lesson_number(name) != number or len(str(name)) < len(lesson_id(number)):
        yield f"lesson_id is {_shown(name)} and must be {lesson_id(number)}"
    if not _is_text(record.get("lesson")):
        yield "lesson has no text"
    if record.get("type") not in LESSON_TYPES:
        yield f"type is {_shown(record.get('type'))}"
    if record.get("created_at") != date:
        yield f"created_at is {_shown(record.get('created_at'))} and must be {date}"
    admission = record.get("admission")
    kind = admission.get("kind") if isinstance(admission, dict) else None
    confidence = record.get("confidence")
    if not _is_confidence(confidence):
        yield f"confidence is {_shown(confidence)} and must be a number from 0 to 1"
    elif kind == "mechanical-red-green" and confidence > MECHANICAL_CAP:
        yield f"confidence is {confidence} and one mechanical event gives at most {MECHANICAL_CAP}"
    yield from _events_failures(record.get("source_events"), least=1 if kind == "mechanical-red-green" else 2)
    yield from _admission_failures(admission) if isinstance(admission, dict) else ("admission is missing",)


def _events_failures(events: object, *, least: int) -> Iterator[str]:
    if not isinstance(events, list) or not all(_is_text(event) for event in events):
        yield "source_events is no list of references"
        return
    distinct = {" ".join(str(event).split()).casefold() for event in events}
    if len(distinct) < least:
        yield f"source_events names {len(distinct)} and needs {least}"


def _admission_failures(admission: Mapping[str, object]) -> Iterator[str]:
    match admission.get("kind"):
        case "two-source":
            return
        case "operator-outcome":
            operator, outcome = admission.get("operator_ref"), admission.get("outcome_ref")
            if not _is_text(operator) or not _is_text(outcome):
                yield "admission lacks operator_ref or outcome_ref"
            elif str(operator).strip() == str(outcome).strip():
                yield "admission takes one reference for directive and outcome"
        case "mechanical-red-green":
            red, green = admission.get("red_exit"), admission.get("green_exit")
            if isinstance(red, bool) or not isinstance(red, int) or red == 0:
                yield f"admission has red_exit {_shown(red)}, which is no failure"
            if isinstance(green, bool) or not isinstance(green, int) or green != 0:
                yield f"admission has green_exit {_shown(green)} and must have 0"
            if not _is_text(admission.get("artifact_ref")):
                yield "admission lacks artifact_ref"
        case other:
            yield f"admission is of kind {_shown(other)}"


def _is_confidence(value: object) -> TypeGuard[float]:
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value) and 0 <= value <= 1


def _is_text(value: object) -> bool:
    return isinstance(value, str) and bool(value.strip())


def _shown(value: object) -> str:
    """A foreign value in a failure: short, on one line, without the separator of failures."""
    text = json.dumps(value, ensure_ascii=True, default=str)
    return text.replace("|", "/")[:60]
