"""What speaks for either of two claims, as text: dates, sources, links, and what the notes called the truth say.

Facts only, each one readable from the notes themselves; who reads them decides what they weigh.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Literal

from aria_dream.consolidate.claim_difference import contradiction
from aria_dream.consolidate.claims import read_claims
from aria_dream.consolidate.passages import Passage
from aria_dream.markdown.note import parse_note
from aria_dream.markdown.properties import leaf_texts, named, render_property
from aria_dream.notes.plain_text import clean

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from datetime import date

    from aria_dream.consolidate.claims import Claim
    from aria_dream.consolidate.verdict import Conflict
    from aria_dream.markdown.note import Note

DATES: Final = (
    "created", "date", "published", "updated", "modified", "last_modified", "as_of", "valid_from", "reviewed",
)  # fmt: skip
"""Properties that date what a note says; spaces and hyphens count as `_`."""
SOURCES: Final = ("source", "sources", "url", "citation", "reference", "references", "quelle", "fuente", "doi", "isbn")
MOST_SOURCES: Final = 4
LONGEST_FACT: Final = 160
_ADDRESS = re.compile(r"https?://[^\s)>\]]{4,}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Side:
    """What is known of the note that makes one of the claims."""

    dates: tuple[tuple[str, str], ...] = ()
    """Property and value, as written."""
    changed_on: date | None = None
    """Local day of the file's last change."""
    sources: tuple[str, ...] = ()
    """As the note names them: properties first, then addresses near the claim."""
    links_in: int = 0
    """Notes that link to it."""
    is_truth: bool = False
    """Whether the policy calls it the truth."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Drift:
    """A truth note that agrees with one of two claims and contradicts the other."""

    agrees_with: Literal["first", "second"]
    path: str
    claim: str
    """Its own sentence."""


def read_side(note: Note, claim: str, *, changed_on: date | None, links_in: int, is_truth: bool = False) -> Side:
    """The facts of the note that makes `claim`. Total."""
    properties = {re.sub(r"[\s-]+", "_", key.strip().lower()): value for key, value in note.properties.items()}
    dates = [(key, render_property(value, 40)) for key in DATES if (value := named(properties, key)) is not None]
    told = [text for key in SOURCES for text in leaf_texts(named(properties, key))]
    at = note.text.find(claim)
    around = note.text[max(0, at - 400) : at + len(claim) + 400] if at >= 0 else ""
    sources = [clean(text)[:LONGEST_FACT] for text in (*told, *_ADDRESS.findall(around))]
    return Side(
        dates=tuple(dates),
        changed_on=changed_on,
        sources=tuple(dict.fromkeys(source for source in sources if source))[:MOST_SOURCES],
        links_in=links_in,
        is_truth=is_truth,
    )


def find_drift(conflict: Conflict, truths: Sequence[Passage]) -> Drift | None:
    """The first truth note that contradicts exactly one of the two claims, and so agrees with the other one."""
    first, second = _claim(conflict.first, conflict.first_claim), _claim(conflict.second, conflict.second_claim)
    if first is None or second is None:
        return None
    for passage in truths:
        if passage.path in (conflict.first.path, conflict.second.path):
            continue
        for said in read_claims(passage):
            against_first, against_second = contradiction(said, first), contradiction(said, second)
            if (against_first is None) != (against_second is None):
                agrees: Literal["first", "second"] = "second" if against_first else "first"
                return Drift(agrees_with=agrees, path=passage.path, claim=said.text)
    return None


def _claim(passage: Passage, text: str) -> Claim | None:
    return next((claim for claim in read_claims(passage) if claim.text == text), None)


def render_evidence(conflict: Conflict, first: Side, second: Side, drift: Drift | None, *, quotes: bool = True) -> str:
    """The evidence for a judge and a person, one fact a line. `quotes`: whether the truth note's words may be shown."""
    lines = [f"Both speak of: {clean(conflict.subject)}. They differ in: {', '.join(conflict.signals[1:])}."]
    lines += _side_lines("a", first)
    lines += _side_lines("b", second)
    newer = _newer(first, second)
    if newer:
        lines.append(newer)
    if first.is_truth != second.is_truth:
        lines.append(f"The writer calls the note of ({'a' if first.is_truth else 'b'}) right where two disagree.")
    if drift is not None:
        side = "a" if drift.agrees_with == "first" else "b"
        said = f": “{clean(drift.claim)[:LONGEST_FACT]}”" if quotes else ""
        lines.append(f"A note that the writer calls right where two disagree supports ({side}){said}")
    return "\n".join(lines)


def _side_lines(name: str, side: Side) -> Iterator[str]:
    for key, value in side.dates:
        yield f"({name}) {key}: {value}"
    if side.changed_on is not None:
        yield f"({name}) the note was last changed on {side.changed_on.isoformat()}"
    for source in side.sources:
        yield f"({name}) names as source: {source}"
    if not side.sources:
        yield f"({name}) names no source"
    yield f"({name}) notes that link to it: {side.links_in}"


def _newer(first: Side, second: Side) -> str:
    """Which note tells the later day, else which was changed later; `""` where that is not known or the same."""
    days = [max((_iso_day(value) for _, value in side.dates), default="") for side in (first, second)]
    if all(days) and days[0] != days[1]:
        return f"By its own date ({'a' if days[0] > days[1] else 'b'}) is newer."
    changed = first.changed_on, second.changed_on
    if changed[0] is not None and changed[1] is not None and changed[0] != changed[1]:
        return f"The note of ({'a' if changed[0] > changed[1] else 'b'}) was changed later."
    return ""


def _iso_day(value: str) -> str:
    found = re.match(r"\d{4}-\d{2}-\d{2}", value)
    return found[0] if found else ""


def truth_passage(path: str, text: str) -> Passage:
    """A truth note as one passage, however short it is: whatever stands in it counts."""
    note = parse_note(text)
    body = note.text[note.body_start :]
    return Passage(
        id=path, path=path, headings=(), start=note.body_start, end=len(note.text), text=body, words="", fingerprint=""
    )
