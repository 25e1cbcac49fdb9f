"""Evidence that is handed over explicitly (`--evidence`): what a local command or git really did.

These rows are the only place where an exit code may come from. A source that tells of a red and a green run tells a
story; a row is the run.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import datetime
from itertools import pairwise
from typing import TYPE_CHECKING

from aria_dream.errors import Problem
from aria_dream.notes.jsonl import as_text, as_whole, parse_records
from aria_dream.privacy.secrets import holds_issued_key
from aria_dream.synthesis.contrast import plain
from aria_dream.synthesis.orders import ORDERS

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from datetime import tzinfo


@dataclass(frozen=True, slots=True, kw_only=True)
class EvidenceRow:
    """One row of the evidence file."""

    line: int
    kind: str
    """`command`, `git`, or what the giver calls it; nothing depends on it."""
    ref: str
    at: datetime
    """Aware."""
    command: str
    exit: int | None
    """The literal exit code; None where the row has none (a commit)."""
    artifact_ref: str


@dataclass(frozen=True, slots=True, kw_only=True)
class RedGreen:
    """One command that failed and then passed."""

    red: EvidenceRow
    green: EvidenceRow
    artifact_ref: str


def parse_evidence(
    text: str, zone: tzinfo | None, path: str = ""
) -> tuple[tuple[EvidenceRow, ...], tuple[Problem, ...]]:
    """The rows in order, and a Problem for each line that is none. A time without offset is local (`zone`)."""
    records, problems = parse_records(text)
    rows: list[EvidenceRow] = []
    found = [Problem(path, problem.line, problem.message) for problem in problems]
    if text.strip() and not text.endswith("\n") and (not records or records[-1][0] < text.count("\n") + 1):
        found.append(Problem(path, text.count("\n") + 1, "this line is no JSON object and was left out"))
    for number, record in records:
        try:
            rows.append(_row(number, record, zone))
        except (TypeError, ValueError) as error:
            found.append(Problem(path, number, f"this evidence is left out: {error}"))
    return tuple(rows), tuple(found)


def _row(line: int, record: Mapping[str, object], zone: tzinfo | None) -> EvidenceRow:
    ref = _named(record, "ref")
    if not ref:
        raise ValueError("it has no ref")
    try:
        at = datetime.fromisoformat(_named(record, "at"))
    except ValueError:
        raise ValueError("its time `at` is not ISO 8601") from None
    code = record.get("exit")
    try:
        exit_ = None if code is None else as_whole(code)
    except TypeError:
        raise ValueError("its `exit` is no whole number") from None
    return EvidenceRow(
        line=line,
        kind=_named(record, "kind"),
        ref=ref,
        at=at if at.tzinfo is not None else at.replace(tzinfo=zone).astimezone(),
        command=" ".join(_named(record, "command").split()),
        exit=exit_,
        artifact_ref=_named(record, "artifact_ref"),
    )


def _named(record: Mapping[str, object], name: str) -> str:
    value = record.get(name)
    try:
        said = "" if value is None else as_text(value).strip()
    except TypeError:
        raise ValueError(f"its `{name}` is no text") from None
    if holds_issued_key(said) or ORDERS.search(plain(said)):
        raise ValueError(f"its `{name}` holds a key or orders its reader about")
    return said


def find_red_green(rows: Sequence[EvidenceRow]) -> tuple[RedGreen, ...]:
    """Of each command, the last time it was red right before it was green, by time; with the artifact that shows it.

    Left out: a command without an artifact, a green before any red, and two runs of one moment (which was first, nobody
    knows).
    """
    runs: dict[str, list[EvidenceRow]] = {}
    for row in rows:
        if row.command and row.exit is not None:
            runs.setdefault(row.command, []).append(row)
    found = []
    for of_command in runs.values():
        ordered = sorted(of_command, key=lambda row: row.at)
        turns = [(red, green) for red, green in pairwise(ordered) if _turned(red, green)]
        for red, green in turns[-1:]:
            found.append(RedGreen(red=red, green=green, artifact_ref=green.artifact_ref or red.artifact_ref))
    return tuple(found)


def _turned(red: EvidenceRow, green: EvidenceRow) -> bool:
    return (
        red.exit != 0
        and green.exit == 0
        and red.at < green.at
        and bool(re.search(r"\w", green.artifact_ref or red.artifact_ref))
    )
