"""What stands under the eight labels of an entry: where every word comes from, and what was left out."""

from __future__ import annotations

import re
from collections import Counter
from hashlib import sha256
from typing import TYPE_CHECKING, Final

from aria_dream.markdown.note import decode_note
from aria_dream.notes.plain_text import escape_plain
from aria_dream.synthesis.claim_words import Role
from aria_dream.synthesis.claims import set_aside_reason
from aria_dream.synthesis.entry import NO_LESSONS, NONE, Said
from aria_dream.synthesis.log_text import LABELS, find_sections, section_texts, visible
from aria_dream.synthesis.sources import SourceKind
from aria_dream.synthesis.wording import citable, quotable

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from aria_dream.synthesis.claims import Claim
    from aria_dream.synthesis.entry import NewCandidate
    from aria_dream.synthesis.findings import Findings, Inputs
    from aria_dream.synthesis.lesson import Lesson
    from aria_dream.synthesis.sources import Entry

ITEMS_SHOWN: Final = 12
"""List items under one label; the rest is counted."""



def account(
    inputs: Inputs,
    entries: Sequence[Entry],
    claims: Sequence[Claim],
    aside: Sequence[Claim],
    found: Findings,
    lessons: Sequence[Lesson],
    candidates: Sequence[NewCandidate],
    *,
    beyond: int,
) -> Mapping[str, Said]:
    """What stands under each of the eight labels; a line where the sources are as they were and nothing is new."""
    total, state = len(entries) + len(inputs.evidence), _state(inputs, entries)
    since = _day_of_state(inputs.log, state)
    if since and not lessons and not candidates:
        quiet = Said("as before")
        return {
            **dict.fromkeys(LABELS, quiet),
            LABELS[0]: Said(f"{total}, as on {since} (state {state})"),
            LABELS[1]: Said(NO_LESSONS),
            LABELS[2]: Said(NONE),
        }
    under = (
        _sources(inputs, entries, state),
        _lessons(lessons),
        Said("; ".join(f"{one.id} - {one.name}" for one in candidates)),
        _patterns(found),
        _discarded(found, aside, beyond),
        _of_role(claims, Role.MISCALL),
        _of_role(claims, Role.SURPRISE),
        _open_items(entries),
    )
    return dict(zip(LABELS, under, strict=True))


def _state(inputs: Inputs, entries: Sequence[Entry]) -> str:
    """Stands for all that was read, earlier lessons left out: eight hexadecimal digits."""
    told = [f"{entry.path}\0{entry.title}\0{entry.text}" for entry in entries if entry.kind is not SourceKind.LESSON]
    told += [f"{row.ref}\0{row.exit}" for row in inputs.evidence]
    return sha256("\1".join((*told, *inputs.said)).encode("utf-8", "replace")).hexdigest()[:8]


def _day_of_state(log: bytes, state: str) -> str:
    """The day since which the log's newest section says that state; "" where it says another."""
    sections = find_sections(visible(decode_note(log)))
    said = section_texts(sections[-1].body).get(LABELS[0], "") if sections else ""
    if f"state {state})" not in said:
        return ""
    before = re.search(r"as on (\d{4}-\d{2}-\d{2})", said)
    return before[1] if before else sections[-1].date


def _sources(inputs: Inputs, entries: Sequence[Entry], state: str) -> Said:
    counts = Counter(entry.kind for entry in entries)
    counts[SourceKind.EVIDENCE] = len(inputs.evidence)
    told = [f"{counts[kind]} {kind.value}{'s' if counts[kind] != 1 else ''}" for kind in SourceKind if counts[kind]]
    items = [
        f"{kind.value}: {'; '.join(_refs([entry for entry in entries if entry.kind is kind]))}"
        for kind in SourceKind
        if counts[kind] and kind is not SourceKind.EVIDENCE
    ]
    if inputs.evidence:
        items.append(f"evidence row: {'; '.join(escape_plain(citable(row.ref)) for row in inputs.evidence)}")
    left_out = [escape_plain(citable(reason)) for reading in inputs.readings for reason in reading.left_out]
    items += [f"left out: {reason}" for reason in _shortened(left_out)]
    items += [escape_plain(citable(sentence)) for sentence in inputs.said]
    total = len(entries) + len(inputs.evidence)
    return Said(f"{total} ({', '.join(told)}; state {state})" if total else NONE, tuple(items))


def _refs(entries: Sequence[Entry]) -> list[str]:
    """Every entry's reference; of many rows of one file, the lines from first to last."""
    rows = (SourceKind.LESSON, SourceKind.STAGED)
    paths = {entry.path for entry in entries}
    if len(entries) <= ITEMS_SHOWN or len(paths) > 1 or entries[0].kind not in rows:
        return [escape_plain(citable(entry.ref)) for entry in entries]
    return [escape_plain(citable(f"{entries[0].path}:{entries[0].line}-{entries[-1].line}"))]


def _lessons(lessons: Sequence[Lesson]) -> Said:
    if not lessons:
        return Said(NO_LESSONS)
    items = tuple(
        f"{one.lesson_id} ({one.type}, confidence {one.confidence:.2f}): {quotable(one.lesson, one.source_events[0])}"
        f" — from {'; '.join(escape_plain(citable(ref)) for ref in one.source_events)}"
        for one in lessons
    )
    return Said(", ".join(one.lesson_id for one in lessons), items)


def _patterns(found: Findings) -> Said:
    items = []
    for pattern in found.patterns:
        count = len(pattern.events)
        times = "told more than once, of one event" if count == 1 else f"in {count} independent events"
        more = f"; {found.known[id(pattern)]} says it already" if id(pattern) in found.known else ""
        staged = f"; {found.pressure[id(pattern)]} staged" if id(pattern) in found.pressure else ""
        denied = f"; denied by {'; '.join(escape_plain(citable(one.ref)) for one in pattern.against)}"
        against = denied if pattern.against else ""
        items.append(f"{quotable(pattern.text, pattern.refs[0])} ({times}{more}{staged}{against})")
    return Said(f"{len(items)} found" if items else NONE, _shortened(items))


def _discarded(found: Findings, aside: Sequence[Claim], beyond: int) -> Said:
    reasons = Counter(set_aside_reason(claim) for claim in aside)
    told = [f"{found.single} claims stand alone"] if found.single else []
    retold = sum(len(pattern.events) == 1 for pattern in found.patterns)
    told += [f"{retold} retold, of one event"] if retold else []
    told += [f"{count} {reason}" for reason, count in sorted(reasons.items())]
    told += [f"{beyond} not compared, more than one run does"] if beyond else []
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
