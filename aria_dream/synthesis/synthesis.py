"""One synthesis, from what was read to what is to be appended. Pure: `usecases/synthesis` reads and writes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from aria_dream.markdown.note import decode_note
from aria_dream.synthesis.account import account
from aria_dream.synthesis.claims import claims_to_compare, find_claims
from aria_dream.synthesis.entry import render_entry
from aria_dream.synthesis.findings import Inputs, compare, find
from aria_dream.synthesis.improvement import gap_of, is_known, make_candidate, next_candidate_number
from aria_dream.synthesis.lesson import Lesson, lesson_id, next_number, read_rows
from aria_dream.synthesis.log_text import find_candidates, visible
from aria_dream.synthesis.sources import entries_of
from aria_dream.synthesis.wording import without_secrets

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

    from aria_dream.synthesis.claims import Claim
    from aria_dream.synthesis.entry import NewCandidate
    from aria_dream.synthesis.findings import Findings
    from aria_dream.synthesis.patterns import Encode

__all__ = ["Inputs", "Synthesis", "synthesise"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Synthesis:
    """What is to be appended."""

    date: str
    entry: str
    lessons: tuple[Lesson, ...]
    candidates: tuple[NewCandidate, ...]
    sources: int
    """Entries that were reviewed."""


def synthesise(inputs: Inputs, at: datetime, occasion: str, encode: Encode | None) -> Synthesis:
    """What a synthesis at the local time `at` appends. `encode` gives vectors; None: there is no model, so nothing is
    compared, and only the evidence rows and directives whose outcome names them can admit a lesson.
    """
    entries = entries_of(inputs.readings)
    told, aside = find_claims(entries, inputs.operators)
    claims = claims_to_compare(told)
    found = find(compare(inputs, entries, claims, encode), inputs)
    date = f"{at:%Y-%m-%d}"
    number = next_number(row.record.get("lesson_id") for row in read_rows(inputs.lessons) if row.record is not None)
    lessons = tuple(
        Lesson(
            lesson_id=lesson_id(number + offset), lesson=without_secrets(one.text), type=one.type,
            confidence=one.confidence, source_events=one.source_events, created_at=date, admission=one.admission,
        )
        for offset, one in enumerate(found.admitted)
    )  # fmt: skip
    candidates = _candidates(found, claims, inputs.log, date)
    said = account(inputs, entries, claims, aside, found, lessons, candidates, beyond=len(told) - len(claims))
    return Synthesis(
        date=date,
        entry=render_entry(at, occasion, said, candidates),
        lessons=lessons,
        candidates=candidates,
        sources=len(entries) + len(inputs.evidence),
    )


def _candidates(found: Findings, claims: Sequence[Claim], log: bytes, date: str) -> tuple[NewCandidate, ...]:
    earlier = find_candidates(visible(decode_note(log)))
    day = date.replace("-", "")
    number = next_candidate_number(earlier, day)
    made: list[NewCandidate] = []
    for pattern in found.patterns:
        gap = gap_of(pattern, claims)
        if gap is not None and not is_known(pattern, earlier):
            made.append(make_candidate(pattern, gap, day, number + len(made)))
    return tuple(made)
