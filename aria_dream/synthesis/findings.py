"""What a synthesis finds in its sources: admitted lessons, patterns, and what an earlier lesson says already."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from aria_dream.synthesis.admission import (
    admit_directive,
    admit_mechanical,
    admit_pattern,
    is_refuted,
    pairs_of_directives,
)
from aria_dream.synthesis.claims import OPERATORS
from aria_dream.synthesis.evidence import find_red_green
from aria_dream.synthesis.lesson import read_rows
from aria_dream.synthesis.patterns import find_patterns, measure
from aria_dream.synthesis.reference import identity
from aria_dream.synthesis.sources import SourceKind

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from aria_dream.synthesis.admission import Admitted
    from aria_dream.synthesis.claims import Claim
    from aria_dream.synthesis.evidence import EvidenceRow
    from aria_dream.synthesis.patterns import Encode, Likeness, Pattern
    from aria_dream.synthesis.sources import Entry, Reading


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
    operators: tuple[str, ...] = OPERATORS
    """Names of those whose word is a directive."""
    said: tuple[str, ...] = ()
    """What else the entry should say about its sources: parts that are missing, lines that were left out."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Findings:
    """What came of comparing."""

    admitted: tuple[Admitted, ...]
    patterns: tuple[Pattern, ...]
    known: Mapping[int, str]
    """By `id` of a pattern: the earlier lesson that says it already."""
    pressure: Mapping[int, int]
    """By `id` of a pattern: staged rows that say the same."""
    single: int
    """Claims that stand alone."""


def _earlier_lessons(data: bytes) -> list[tuple[str, str]]:
    """`(id, text)` of the lessons there are."""
    rows = (row.record for row in read_rows(data) if row.record is not None)
    return [(str(row.get("lesson_id", "?")), str(row["lesson"])) for row in rows if isinstance(row.get("lesson"), str)]


@dataclass(frozen=True, slots=True)
class Compared:
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


def compare(inputs: Inputs, entries: Sequence[Entry], claims: tuple[Claim, ...], encode: Encode | None) -> Compared:
    """The claims beside the lessons there are and the staged rows; `encode` as in `synthesise`."""
    earlier = tuple(_earlier_lessons(inputs.lessons))
    staged = tuple(entry.text for entry in entries if entry.kind is SourceKind.STAGED)
    texts = [*(claim.text for claim in claims), *(text for _, text in earlier), *staged]
    likeness = measure(texts, encode, own=len(claims)) if encode is not None and claims else None
    return Compared(claims, earlier, staged, likeness)


def find(compared: Compared, inputs: Inputs) -> Findings:
    """What is admitted, each claim at most once: the operator's word first, then patterns, then machines."""
    claims, taught = compared.claims, _taught(inputs.lessons)
    admitted: list[Admitted] = []
    used: set[int] = set()
    for directive, outcomes in pairs_of_directives(claims, compared.near):
        lesson = admit_directive(directive, outcomes, inputs.evidence)
        if lesson is not None or is_refuted(directive, outcomes):
            used.add(id(directive))
        if lesson is not None and not compared.known_as(lesson.text) and not taught.holds(directive):
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
        if not compared.known_as(lesson.text) and not taught.refs.issuperset(map(identity, lesson.source_events)):
            admitted.append(lesson)
    return Findings(
        admitted=tuple(admitted),
        known=known,
        patterns=patterns,
        pressure={id(pattern): count for pattern in patterns if (count := compared.pressure(pattern))},
        single=len(claims) - sum(len(pattern.claims) for pattern in patterns),
    )


@dataclass(frozen=True, slots=True)
class _Taught:
    """What earlier lessons were admitted on by an operator or a machine: one event teaches once."""

    refs: frozenset[str]
    """Identities of their references."""
    openings: tuple[str, ...]
    """Their texts, folded; a doctrine begins with its directive."""

    def holds(self, directive: Claim) -> bool:
        said = " ".join(directive.text.split()).casefold().rstrip(".")
        return identity(directive.ref) in self.refs or any(text.startswith(said) for text in self.openings)


def _taught(lessons: bytes) -> _Taught:
    refs: set[str] = set()
    openings: list[str] = []
    for row in read_rows(lessons):
        record = row.record or {}
        admission = record.get("admission")
        kind = admission.get("kind") if isinstance(admission, dict) else None
        events = record.get("source_events")
        if kind in ("operator-outcome", "mechanical-red-green") and isinstance(events, list):
            refs.update(identity(str(event)) for event in events)
            openings.append(" ".join(str(record.get("lesson", "")).split()).casefold())
    return _Taught(frozenset(refs - {""}), tuple(openings))


def _same_words(a: str, b: str) -> bool:
    return " ".join(a.split()).casefold() == " ".join(b.split()).casefold()
