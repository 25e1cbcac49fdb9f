"""One synthesis, from what was read to what is to be appended. Pure: `effects/synthesis_run` reads and writes."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from aria_dream.dream.plain_text import escape_plain
from aria_dream.synthesis.admission import admit_directive, admit_mechanical, admit_pattern, pairs_of_directives
from aria_dream.synthesis.claims import Role, find_claims, set_aside_reason
from aria_dream.synthesis.entry import NO_LESSONS, NONE, Said, render_entry
from aria_dream.synthesis.evidence import find_red_green
from aria_dream.synthesis.improvement import gap_of, is_known, make_candidate, next_candidate_number
from aria_dream.synthesis.lesson import Lesson, lesson_id, next_number, read_rows
from aria_dream.synthesis.log_text import LABELS, find_candidates, visible
from aria_dream.synthesis.patterns import find_patterns, measure
from aria_dream.synthesis.sources import SourceKind, entries_of
from aria_dream.synthesis.wording import quotable
from aria_dream.vault.note import decode_note

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from datetime import datetime

    from aria_dream.synthesis.admission import Admitted
    from aria_dream.synthesis.claims import Claim
    from aria_dream.synthesis.entry import NewCandidate
    from aria_dream.synthesis.evidence import EvidenceRow
    from aria_dream.synthesis.patterns import Encode, Likeness, Pattern
    from aria_dream.synthesis.sources import Entry, Reading

ITEMS_SHOWN: Final = 12
"""List items under one label; the rest is counted."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Inputs:
    """Everything one synthesis looks at."""

    readings: tuple[Reading, ...]
    """One a kind of source, in the specification's order."""
    evidence: tuple[EvidenceRow, ...]
    log: bytes
    """`DREAM_LOG.md` as it is."""
    lessons: bytes
    """`LESSONS.jsonl` as it is."""
    said: tuple[str, ...] = ()
    """What else the entry should say about its sources: parts that are missing, lines that were left out."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Synthesis:
    """What is to be appended."""

    date: str
    entry: str
    lessons: tuple[Lesson, ...]
    candidates: tuple[NewCandidate, ...]
    sources: int
    """Entries that were reviewed."""


@dataclass(slots=True)
class _Findings:
    admitted: list[Admitted]
    known: list[tuple[Pattern, str]]
    """Patterns that an earlier lesson says already, with its id."""
    patterns: tuple[Pattern, ...]
    retold: list[Pattern]
    """Patterns of one event only."""
    pressure: Mapping[int, int]
    """By index of `patterns`: staged rows that say the same."""
    single: int
    """Claims that stand alone."""


def synthesise(inputs: Inputs, at: datetime, occasion: str, encode: Encode | None) -> Synthesis:
    """What a synthesis at the local time `at` appends. `encode` gives vectors; None: there is no model, so nothing is
    compared, and only the evidence rows and directives whose outcome names them can admit a lesson.
    """
    entries = entries_of(inputs.readings)
    claims, aside = find_claims(entries)
    earlier = _earlier_lessons(inputs.lessons)
    staged = [entry.text for entry in entries if entry.kind is SourceKind.STAGED]
    likeness = _likeness(claims, [text for _, text in earlier], staged, encode)
    found = _find(claims, earlier, staged, inputs, likeness)
    date = f"{at:%Y-%m-%d}"
    number = next_number(row.record.get("lesson_id") for row in read_rows(inputs.lessons) if row.record is not None)
    lessons = tuple(
        Lesson(
            lesson_id=lesson_id(number + offset), lesson=one.text, type=one.type, confidence=one.confidence,
            source_events=one.source_events, created_at=date, admission=one.admission,
        )
        for offset, one in enumerate(found.admitted)
    )  # fmt: skip
    candidates = _candidates(found, claims, inputs.log, date)
    said = _said(inputs, entries, claims, aside, found, lessons, candidates)
    return Synthesis(
        date=date,
        entry=render_entry(at, occasion, said, candidates),
        lessons=lessons,
        candidates=candidates,
        sources=len(entries) + len(inputs.evidence),
    )


def _earlier_lessons(data: bytes) -> list[tuple[str, str]]:
    """`(id, text)` of the lessons there are."""
    rows = (row.record for row in read_rows(data) if row.record is not None)
    return [(str(row.get("lesson_id", "?")), str(row["lesson"])) for row in rows if isinstance(row.get("lesson"), str)]


def _likeness(
    claims: Sequence[Claim], earlier: Sequence[str], staged: Sequence[str], encode: Encode | None
) -> Likeness | None:
    texts = [*(claim.text for claim in claims), *earlier, *staged]
    return measure(texts, encode) if encode is not None and claims else None


def _find(
    claims: Sequence[Claim],
    earlier: Sequence[tuple[str, str]],
    staged: Sequence[str],
    inputs: Inputs,
    likeness: Likeness | None,
) -> _Findings:
    texts = [*(claim.text for claim in claims), *(text for _, text in earlier), *staged]
    place = {id(claim): at for at, claim in enumerate(claims)}
    taught = _taught(inputs.lessons)

    def known_as(text: str, at: int | None) -> str:
        """The id of an earlier lesson that says the same; "" where none does."""
        for offset, (name, said) in enumerate(earlier):
            near = likeness is not None and at is not None and likeness.said_alike(texts, at, len(claims) + offset)
            if near or _same_words(said, text):
                return name
        return ""

    def near(a: int, b: int) -> float:
        return float(likeness.cosines[a, b]) if likeness is not None else 0.0

    admitted: list[Admitted] = []
    used: set[int] = set()
    for directive, outcomes in pairs_of_directives(claims, near):
        lesson = admit_directive(directive, outcomes, inputs.evidence)
        if lesson is not None:
            used.add(id(directive))
            if not known_as(lesson.text, None) and not taught.intersection(lesson.source_events[:1]):
                admitted.append(lesson)
    patterns = find_patterns(claims, likeness) if likeness is not None else ()
    known: list[tuple[Pattern, str]] = []
    for pattern in patterns:
        lesson = admit_pattern(pattern)
        name = known_as(pattern.text, place[id(pattern.claims[0])])
        if name and lesson is not None:
            known.append((pattern, name))
        elif lesson is not None and not used.intersection(map(id, pattern.claims)):
            admitted.append(lesson)
            used.update(map(id, pattern.claims))
    for event in find_red_green(inputs.evidence):
        lesson = admit_mechanical(event, [claim for claim in claims if id(claim) not in used])
        if not known_as(lesson.text, None) and not taught.issuperset(lesson.source_events):
            admitted.append(lesson)
    gathered = sum(len(pattern.claims) for pattern in patterns)
    return _Findings(
        admitted=admitted,
        known=known,
        patterns=patterns,
        retold=[pattern for pattern in patterns if admit_pattern(pattern) is None],
        pressure=_pressure(patterns, place, len(claims) + len(earlier), texts, likeness),
        single=len(claims) - gathered,
    )


def _taught(lessons: bytes) -> frozenset[str]:
    """Every reference that an earlier lesson was admitted on by an operator or a machine: one event teaches once."""
    found: set[str] = set()
    for row in read_rows(lessons):
        record = row.record or {}
        admission = record.get("admission")
        kind = admission.get("kind") if isinstance(admission, dict) else None
        events = record.get("source_events")
        if kind in ("operator-outcome", "mechanical-red-green") and isinstance(events, list):
            found.update(str(event) for event in events)
    return frozenset(found)


def _same_words(a: str, b: str) -> bool:
    return " ".join(a.split()).casefold() == " ".join(b.split()).casefold()


def _pressure(
    patterns: Sequence[Pattern], place: Mapping[int, int], first: int, texts: Sequence[str], likeness: Likeness | None
) -> Mapping[int, int]:
    if likeness is None:
        return {}
    counts = {
        number: sum(likeness.said_alike(texts, place[id(pattern.claims[0])], at) for at in range(first, len(texts)))
        for number, pattern in enumerate(patterns)
    }
    return {number: count for number, count in counts.items() if count}


def _candidates(found: _Findings, claims: Sequence[Claim], log: bytes, date: str) -> tuple[NewCandidate, ...]:
    earlier = find_candidates(visible(decode_note(log)))
    day = date.replace("-", "")
    number = next_candidate_number(earlier, day)
    made: list[NewCandidate] = []
    for pattern in found.patterns:
        gap = gap_of(pattern, claims)
        if gap is not None and not is_known(pattern, earlier):
            made.append(make_candidate(pattern, gap, day, number + len(made)))
    return tuple(made)


def _said(
    inputs: Inputs,
    entries: Sequence[Entry],
    claims: Sequence[Claim],
    aside: Sequence[Claim],
    found: _Findings,
    lessons: Sequence[Lesson],
    candidates: Sequence[NewCandidate],
) -> Mapping[str, Said]:
    """What stands under each of the eight labels."""
    under = (
        _sources(inputs, entries),
        _lessons(lessons),
        Said("; ".join(f"{one.id} - {one.name}" for one in candidates)),
        _patterns(found),
        _discarded(found, aside),
        _of_role(claims, Role.MISCALL),
        _of_role(claims, Role.SURPRISE),
        _open_items(entries),
    )
    return dict(zip(LABELS, under, strict=True))


def _sources(inputs: Inputs, entries: Sequence[Entry]) -> Said:
    counts = Counter(entry.kind for entry in entries)
    counts[SourceKind.EVIDENCE] = len(inputs.evidence)
    told = [f"{counts[kind]} {kind.value}{'s' if counts[kind] != 1 else ''}" for kind in SourceKind if counts[kind]]
    items = [
        f"{kind.value}: {'; '.join(escape_plain(entry.ref) for entry in entries if entry.kind is kind)}"
        for kind in SourceKind
        if counts[kind] and kind is not SourceKind.EVIDENCE
    ]
    if inputs.evidence:
        items.append(f"evidence row: {'; '.join(escape_plain(row.ref) for row in inputs.evidence)}")
    left_out = [escape_plain(reason) for reading in inputs.readings for reason in reading.left_out]
    items += [f"left out: {reason}" for reason in _shortened(left_out)]
    items += [escape_plain(sentence) for sentence in inputs.said]
    total = len(entries) + len(inputs.evidence)
    return Said(f"{total} ({', '.join(told)})" if total else NONE, tuple(items))


def _lessons(lessons: Sequence[Lesson]) -> Said:
    if not lessons:
        return Said(NO_LESSONS)
    items = tuple(
        f"{one.lesson_id} ({one.type}, confidence {one.confidence:.2f}): {quotable(one.lesson, one.source_events[0])}"
        f" — from {'; '.join(escape_plain(ref) for ref in one.source_events)}"
        for one in lessons
    )
    return Said(", ".join(one.lesson_id for one in lessons), items)


def _patterns(found: _Findings) -> Said:
    items = []
    known = {id(pattern): name for pattern, name in found.known}
    for number, pattern in enumerate(found.patterns):
        count = len(pattern.events)
        times = "told more than once, of one event" if count == 1 else f"in {count} independent events"
        more = f"; {known[id(pattern)]} says it already" if id(pattern) in known else ""
        staged = f"; {found.pressure[number]} staged" if number in found.pressure else ""
        items.append(f"{quotable(pattern.text, pattern.refs[0])} ({times}{more}{staged})")
    return Said(f"{len(items)} found" if items else NONE, _shortened(items))


def _discarded(found: _Findings, aside: Sequence[Claim]) -> Said:
    reasons = Counter(set_aside_reason(claim) for claim in aside)
    told = [f"{found.single} claims stand alone"] if found.single else []
    told += [f"{len(found.retold)} retold, of one event"] if found.retold else []
    told += [f"{count} {reason}" for reason, count in sorted(reasons.items())]
    items = [f"{set_aside_reason(claim)}: {quotable(claim.text, claim.ref)} ({escape_plain(claim.ref)})" for claim in aside]
    return Said("; ".join(told) or NONE, _shortened(items))


def _of_role(claims: Sequence[Claim], role: Role) -> Said:
    told = [claim for claim in claims if claim.role is role]
    items = [f"{quotable(claim.text, claim.ref)} ({escape_plain(claim.ref)})" for claim in told]
    return Said(str(len(items)) if items else NONE, _shortened(items))


def _open_items(entries: Sequence[Entry]) -> Said:
    told = [entry for entry in entries if entry.kind is SourceKind.TRUST_DECAY]
    items = [f"{quotable(entry.title or entry.ref, entry.ref)} ({escape_plain(entry.ref)})" for entry in told]
    return Said(str(len(items)) if items else NONE, _shortened(items))


def _shortened(items: Iterable[str]) -> tuple[str, ...]:
    listed = tuple(items)
    more = len(listed) - ITEMS_SHOWN
    return listed if more <= 0 else (*listed[:ITEMS_SHOWN], f"and {more} more")
