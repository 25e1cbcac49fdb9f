"""One synthesis, from what was read to what is to be appended. Pure: `effects/synthesis_run` reads and writes."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from aria_dream.dream.plain_text import escape_plain
from aria_dream.synthesis.admission import admit_directive, admit_mechanical, admit_pattern, pairs_of_directives
from aria_dream.synthesis.claim_words import Role
from aria_dream.synthesis.claims import find_claims, set_aside_reason
from aria_dream.synthesis.entry import NO_LESSONS, NONE, Said, render_entry
from aria_dream.synthesis.evidence import find_red_green
from aria_dream.synthesis.improvement import gap_of, is_known, make_candidate, next_candidate_number
from aria_dream.synthesis.lesson import Lesson, lesson_id, next_number, read_rows
from aria_dream.synthesis.log_text import LABELS, find_candidates, visible
from aria_dream.synthesis.patterns import find_patterns, measure
from aria_dream.synthesis.sources import SourceKind, entries_of
from aria_dream.synthesis.wording import citable, quotable
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


@dataclass(frozen=True, slots=True, kw_only=True)
class _Findings:
    admitted: tuple[Admitted, ...]
    patterns: tuple[Pattern, ...]
    known: Mapping[int, str]
    """By `id` of a pattern: the earlier lesson that says it already."""
    pressure: Mapping[int, int]
    """By `id` of a pattern: staged rows that say the same."""
    single: int
    """Claims that stand alone."""


def synthesise(inputs: Inputs, at: datetime, occasion: str, encode: Encode | None) -> Synthesis:
    """What a synthesis at the local time `at` appends. `encode` gives vectors; None: there is no model, so nothing is
    compared, and only the evidence rows and directives whose outcome names them can admit a lesson.
    """
    entries = entries_of(inputs.readings)
    claims, aside = find_claims(entries)
    found = _find(_compared(inputs, entries, claims, encode), inputs)
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


@dataclass(frozen=True, slots=True)
class _Compared:
    """Claims, earlier lessons and staged rows beside each other, and how like they are."""

    claims: tuple[Claim, ...]
    earlier: tuple[tuple[str, str], ...]
    """`(id, text)` of the lessons there are."""
    staged: tuple[str, ...]
    likeness: Likeness | None
    """None: there is no model, or nothing to compare."""

    @property
    def texts(self) -> tuple[str, ...]:
        """In the order of the likeness."""
        return (*(claim.text for claim in self.claims), *(text for _, text in self.earlier), *self.staged)

    def place(self, claim: Claim) -> int:
        return next(at for at, other in enumerate(self.claims) if other is claim)

    def known_as(self, text: str, claim: Claim | None = None) -> str:
        """The id of an earlier lesson that says the same as `text` (or as `claim`, which says it), else ""."""
        texts, at = self.texts, None if claim is None else self.place(claim)
        for offset, (name, said) in enumerate(self.earlier):
            number = len(self.claims) + offset
            if self.likeness is not None and at is not None and self.likeness.said_alike(texts, at, number):
                return name
            if _same_words(said, text):
                return name
        return ""

    def near(self, a: int, b: int) -> float:
        """Cosine of two claims."""
        return float(self.likeness.cosines[a, b]) if self.likeness is not None else 0.0

    def pressure(self, pattern: Pattern) -> int:
        """How many staged rows say the same. They are signals, never evidence."""
        if self.likeness is None:
            return 0
        texts, at = self.texts, self.place(pattern.claims[0])
        first = len(texts) - len(self.staged)
        return sum(self.likeness.said_alike(texts, at, other) for other in range(first, len(texts)))


def _compared(inputs: Inputs, entries: Sequence[Entry], claims: tuple[Claim, ...], encode: Encode | None) -> _Compared:
    earlier = tuple(_earlier_lessons(inputs.lessons))
    staged = tuple(entry.text for entry in entries if entry.kind is SourceKind.STAGED)
    texts = [*(claim.text for claim in claims), *(text for _, text in earlier), *staged]
    likeness = measure(texts, encode) if encode is not None and claims else None
    return _Compared(claims, earlier, staged, likeness)


def _find(compared: _Compared, inputs: Inputs) -> _Findings:
    """What is admitted, each claim at most once: the operator's word first, then patterns, then machines."""
    claims, taught = compared.claims, _taught(inputs.lessons)
    admitted: list[Admitted] = []
    used: set[int] = set()
    for directive, outcomes in pairs_of_directives(claims, compared.near):
        lesson = admit_directive(directive, outcomes, inputs.evidence)
        if lesson is not None:
            used.add(id(directive))
            if not compared.known_as(lesson.text) and not taught.intersection(lesson.source_events[:1]):
                admitted.append(lesson)
    patterns = find_patterns(claims, compared.likeness) if compared.likeness is not None else ()
    known: dict[int, str] = {}
    for pattern in patterns:
        lesson = admit_pattern(pattern)
        if lesson is None or used.intersection(map(id, pattern.claims)):
            continue
        used.update(map(id, pattern.claims))
        name = compared.known_as(pattern.text, pattern.claims[0])
        if name:
            known[id(pattern)] = name
        else:
            admitted.append(lesson)
    for event in find_red_green(inputs.evidence):
        lesson = admit_mechanical(event, [claim for claim in claims if id(claim) not in used])
        if not compared.known_as(lesson.text) and not taught.issuperset(lesson.source_events):
            admitted.append(lesson)
    return _Findings(
        admitted=tuple(admitted),
        known=known,
        patterns=patterns,
        pressure={id(pattern): count for pattern in patterns if (count := compared.pressure(pattern))},
        single=len(claims) - sum(len(pattern.claims) for pattern in patterns),
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
        f"{kind.value}: {'; '.join(escape_plain(citable(entry.ref)) for entry in entries if entry.kind is kind)}"
        for kind in SourceKind
        if counts[kind] and kind is not SourceKind.EVIDENCE
    ]
    if inputs.evidence:
        items.append(f"evidence row: {'; '.join(escape_plain(citable(row.ref)) for row in inputs.evidence)}")
    left_out = [escape_plain(citable(reason)) for reading in inputs.readings for reason in reading.left_out]
    items += [f"left out: {reason}" for reason in _shortened(left_out)]
    items += [escape_plain(citable(sentence)) for sentence in inputs.said]
    total = len(entries) + len(inputs.evidence)
    return Said(f"{total} ({', '.join(told)})" if total else NONE, tuple(items))


def _lessons(lessons: Sequence[Lesson]) -> Said:
    if not lessons:
        return Said(NO_LESSONS)
    items = tuple(
        f"{one.lesson_id} ({one.type}, confidence {one.confidence:.2f}): {quotable(one.lesson, one.source_events[0])}"
        f" — from {'; '.join(escape_plain(citable(ref)) for ref in one.source_events)}"
        for one in lessons
    )
    return Said(", ".join(one.lesson_id for one in lessons), items)


def _patterns(found: _Findings) -> Said:
    items = []
    for pattern in found.patterns:
        count = len(pattern.events)
        times = "told more than once, of one event" if count == 1 else f"in {count} independent events"
        more = f"; {found.known[id(pattern)]} says it already" if id(pattern) in found.known else ""
        staged = f"; {found.pressure[id(pattern)]} staged" if id(pattern) in found.pressure else ""
        items.append(f"{quotable(pattern.text, pattern.refs[0])} ({times}{more}{staged})")
    return Said(f"{len(items)} found" if items else NONE, _shortened(items))


def _discarded(found: _Findings, aside: Sequence[Claim]) -> Said:
    reasons = Counter(set_aside_reason(claim) for claim in aside)
    told = [f"{found.single} claims stand alone"] if found.single else []
    retold = sum(len(pattern.events) == 1 for pattern in found.patterns)
    told += [f"{retold} retold, of one event"] if retold else []
    told += [f"{count} {reason}" for reason, count in sorted(reasons.items())]
    items = [f"{set_aside_reason(claim)}: {_cited(claim)}" for claim in aside]
    return Said("; ".join(told) or NONE, _shortened(items))


def _of_role(claims: Sequence[Claim], role: Role) -> Said:
    told = [claim for claim in claims if claim.role is role]
    items = [_cited(claim) for claim in told]
    return Said(str(len(items)) if items else NONE, _shortened(items))


def _cited(claim: Claim) -> str:
    return f"{quotable(claim.text, claim.ref)} ({escape_plain(citable(claim.ref))})"


def _open_items(entries: Sequence[Entry]) -> Said:
    told = [entry for entry in entries if entry.kind is SourceKind.TRUST_DECAY]
    items = [f"{quotable(entry.title or entry.ref, entry.ref)} ({escape_plain(citable(entry.ref))})" for entry in told]
    return Said(str(len(items)) if items else NONE, _shortened(items))


def _shortened(items: Iterable[str]) -> tuple[str, ...]:
    listed = tuple(items)
    more = len(listed) - ITEMS_SHOWN
    return listed if more <= 0 else (*listed[:ITEMS_SHOWN], f"and {more} more")
