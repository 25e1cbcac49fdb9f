"""What a synthesis reads, in the order of its specification, as entries that each know where they stand.

An entry is one thing that was told once: a capsule, a dated block of the session log, a capture, a row. Everything here
is total: what cannot be used is left out with its reason.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, time
from enum import Enum
from typing import TYPE_CHECKING, Final

from aria_dream.markdown.properties import find_frontmatter, parse_properties
from aria_dream.synthesis.blocks import (
    date_in,
    find_blocks,
    find_items,
    line_of,
    properties_of,
    property_of,
    status_of,
)
from aria_dream.synthesis.log_text import find_sections, section_labels, visible

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from datetime import tzinfo

CAPSULES_READ: Final = 5
SESSIONS_READ: Final = 5
HONESTY_READ: Final = 3
FAILURES_READ: Final = 5
"""Newest entries of Failed Experiments, and as many of Failure Modes: the specification says only "recent"."""


class SourceKind(Enum):
    """Where an entry comes from; the value is its name in the log."""

    CAPSULE = "capsule"
    SESSION = "session log block"
    TRUST_DECAY = "open trust-decay capture"
    HONESTY = "honesty ledger session"
    FAILED_EXPERIMENT = "failed experiment"
    FAILURE_MODE = "failure mode"
    LESSON = "earlier lesson"
    STAGED = "staged capture row"
    EVIDENCE = "evidence row"


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryFile:
    """One text file of the memory folder."""

    path: str
    """Vault path."""
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """One source entry."""

    kind: SourceKind
    path: str
    line: int
    """1-based line of its heading, item or first property."""
    title: str
    text: str
    """Its own text, hidden parts (code, comments) blanked; for a capsule without the frontmatter."""
    text_line: int
    """1-based line of the text's first character."""
    at: datetime | None = None
    day: date | None = None
    properties: Mapping[str, str] = field(default_factory=dict)
    ref: str = ""
    """How the entry is cited."""


@dataclass(frozen=True, slots=True)
class Reading:
    """Entries of one kind, newest first, and what was left out, each with its reason."""

    entries: tuple[Entry, ...]
    left_out: tuple[str, ...] = ()


def is_own_output(text: str) -> bool:
    """Whether a file is of this program: its properties bear our marker, or it is a copy of a Dream log."""
    frontmatter = find_frontmatter(text)
    if frontmatter is not None:
        properties, _ = parse_properties(text[frontmatter.start : frontmatter.end])
        if "aria-dream" in properties:
            return True
    return any(len(section_labels(section.body)) >= _LABELS_OF_A_LOG for section in find_sections(visible(text)))


_LABELS_OF_A_LOG: Final = 6
"""So many of the eight labels in one dated section are a Dream log's, whoever wrote it."""
_NOT_LIVE = re.compile(r"\b(?:archived?|superseded|template|example)\b", re.IGNORECASE)
_CLOSED = re.compile(
    r"\b(?:closed|resolved|reviewed|expired|retired|done|settled|dismissed|archived?|superseded)\b", re.IGNORECASE
)
_OPEN = re.compile(r"\b(?:open|active|watch(?:ing)?|pending|live|unresolved|due|new)\b", re.IGNORECASE)


def read_capsules(files: Iterable[MemoryFile], zone: tzinfo | None) -> Reading:
    """The newest valid capsules by `created_at`. Valid: readable properties, a time or date, and some text."""
    found: list[Entry] = []
    left_out: list[str] = []
    for file in sorted(files, key=lambda file: file.path):
        entry = _capsule(file, zone)
        if isinstance(entry, str):
            left_out.append(f"{file.path}: {entry}")
        else:
            found.append(entry)
    found.sort(key=lambda entry: entry.at or datetime.min.replace(tzinfo=UTC), reverse=True)
    return Reading(tuple(found[:CAPSULES_READ]), tuple(left_out))


def _capsule(file: MemoryFile, zone: tzinfo | None) -> Entry | str:
    frontmatter = find_frontmatter(file.text)
    if frontmatter is None:
        return "it has no frontmatter"
    properties, problems = parse_properties(file.text[frontmatter.start : frontmatter.end])
    if not properties:
        return problems[0].message if problems else "its frontmatter says nothing"
    at = _moment(properties.get("created_at"), zone)
    if at is None:
        return "created_at is missing" if "created_at" not in properties else "created_at is no date or time"
    body = visible(file.text)[frontmatter.body_start :]
    values = {str(key): str(value) for key, value in properties.items() if isinstance(value, str | int | float)}
    said = "\n".join(str(values.get(key, "")) for key in ("objective", "summary"))
    if not re.search(r"\w", body) and not said.strip():
        return "it has no text"
    return Entry(
        kind=SourceKind.CAPSULE, path=file.path, line=1, title=values.get("id", _stem(file.path)), text=body,
        text_line=line_of(file.text, frontmatter.body_start), at=at, day=at.date(), properties=values, ref=file.path,
    )  # fmt: skip


def _moment(value: object, zone: tzinfo | None) -> datetime | None:
    if isinstance(value, datetime):
        found = value
    elif isinstance(value, date):
        found = datetime.combine(value, time())
    elif isinstance(value, str):
        try:
            found = datetime.fromisoformat(value.strip())
        except ValueError:
            return None
    else:
        return None
    try:
        aware = found if found.tzinfo is not None else found.replace(tzinfo=zone).astimezone()
        return aware.astimezone(zone)
    except (OverflowError, OSError, ValueError):
        return None


def read_dated(files: Iterable[MemoryFile], kind: SourceKind, limit: int) -> Reading:
    """The newest live dated blocks: those whose heading (or, where no heading has one, whose list item) has a date.

    Not live is what is called archived, superseded, a template or an example, itself or by a heading above. Of one
    date the one further towards the newer end of its file comes first.
    """
    found: list[tuple[tuple[date, str, int], Entry]] = []
    left_out: list[str] = []
    for file in files:
        shown = visible(file.text)
        dated = _dated_blocks(file, shown, kind)
        live = [entry for entry, is_live in dated if is_live]
        left_out += [f"{entry.ref}: not live" for entry, is_live in dated if not is_live]
        days = [entry.day for entry in live if entry.day is not None]
        grows_down = len(days) < 2 or days[0] <= days[-1]
        for number, entry in enumerate(live):
            clock = f"{entry.at:%H:%M}" if entry.at else ""
            found.append(((entry.day or date.min, clock, number if grows_down else -number), entry))
        if not dated and re.search(r"\w", shown):
            left_out.append(f"{file.path}: it has no dated block")
    found.sort(key=lambda pair: pair[0], reverse=True)
    return Reading(tuple(entry for _, entry in found[:limit]), tuple(left_out))


def _dated_blocks(file: MemoryFile, shown: str, kind: SourceKind) -> list[tuple[Entry, bool]]:
    found: list[tuple[Entry, bool]] = []
    taken = -1
    for block in find_blocks(shown):
        when = date_in(block.title)
        if when is None or block.start < taken:
            continue
        taken = block.end
        status = status_of(shown[block.body : block.end])
        is_live = not any(_NOT_LIVE.search(title) for title in (block.title, status, *block.above))
        found.append((_entry(file, shown, kind, block.title, block.start, block.body, block.end, when), is_live))
    if found:
        return found
    for start, body, end, _mark in find_items(shown, 0, len(shown)):
        when = date_in(shown[body : body + 40])
        if when is not None:
            title = " ".join(shown[body:end].split())[:80]
            found.append((_entry(file, shown, kind, title, start, body, end, when), True))
    return found


def read_notes(files: Iterable[tuple[MemoryFile, date | None]], limit: int) -> Reading:
    """Notes of a memory that keeps one note a day or a topic, as entries of the session log: the newest `limit` days,
    and every topic (a note without a day whose properties have a `description`)."""
    dated = sorted(((day, file) for file, day in files if day is not None), key=lambda pair: (pair[0], pair[1].path))
    topics = [file for file, day in files if day is None]
    newest = [_whole(file, day) for day, file in reversed(dated)][:limit]
    return Reading((*newest, *(_whole(file, None) for file in topics if _is_topic(file))))


def _is_topic(file: MemoryFile) -> bool:
    frontmatter = find_frontmatter(file.text)
    if frontmatter is None:
        return False
    properties, _ = parse_properties(file.text[frontmatter.start : frontmatter.end])
    return "description" in properties


def _whole(file: MemoryFile, day: date | None) -> Entry:
    shown = visible(file.text)
    when = (day, "") if day is not None else None
    return _entry(file, shown, SourceKind.SESSION, _stem(file.path), 0, 0, len(shown), when)


def read_trust_decay(files: Iterable[MemoryFile]) -> Reading:
    """Every open capture. A tick box says whether one is open, else its status, else the heading it lies under."""
    found: list[Entry] = []
    left_out: list[str] = []
    for file in files:
        shown = visible(file.text)
        for entry, is_open in _captures(file, shown):
            if is_open:
                found.append(entry)
            else:
                left_out.append(f"{entry.ref}: closed")
    return Reading(tuple(found), tuple(left_out))


def _captures(file: MemoryFile, shown: str) -> Iterator[tuple[Entry, bool]]:
    kind = SourceKind.TRUST_DECAY
    blocks = [block for block in find_blocks(shown) if block.level > 1 or date_in(block.title)]
    spans = [(block.title, block.above, block.start, block.body, block.end) for block in blocks if block.leaf]
    for title, above, start, body, end in spans or [("", (), 0, 0, len(shown))]:
        items = list(find_items(shown, body, end))
        is_group = not title or _is_state(title) or any(mark is not None for *_, mark in items)
        shut_above = any(_CLOSED.search(one) for one in (title, *above))
        if not is_group:
            status = status_of(shown[body:end])
            is_open = bool(_OPEN.search(status)) if status else not shut_above
            yield _entry(file, shown, kind, title, start, body, end, date_in(title)), is_open
            continue
        for at, text, until, mark in items:
            said = " ".join(shown[text:until].split())
            status = status_of(shown[text:until])
            is_open = mark == " " if mark is not None else bool(_OPEN.search(status)) if status else not shut_above
            yield _entry(file, shown, kind, said, at, text, until, date_in(said)), is_open


def _is_state(title: str) -> bool:
    words = re.findall(r"[a-z]+", title.lower())
    return bool(words) and len(words) <= 3 and bool(_OPEN.search(title) or _CLOSED.search(title))


def read_failures(files: Iterable[MemoryFile], kind: SourceKind) -> Reading:
    """The newest entries of Failed Experiments or Failure Modes; those without a date in the order of the file, last
    first, behind the dated ones."""
    found: list[tuple[tuple[date, int], Entry]] = []
    for file in files:
        shown = visible(file.text)
        blocks = [block for block in find_blocks(shown) if block.level > 1 and block.leaf]
        spans = [(block.title, block.start, block.body, block.end) for block in blocks]
        if not spans:
            spans = [("", start, body, end) for start, body, end, _ in find_items(shown, 0, len(shown))]
        for number, (title, start, body, end) in enumerate(spans):
            text = shown[body:end]
            if not re.search(r"\w", title + text):
                continue
            when = date_in(title) or date_in(property_of(text, "date")) or date_in(text)
            name = title or " ".join(text.split())[:80]
            key = (when[0] if when else date.min, number)
            found.append((key, _entry(file, shown, kind, name, start, body, end, when)))
    found.sort(key=lambda pair: pair[0], reverse=True)
    return Reading(tuple(entry for _, entry in found[:FAILURES_READ]))


def _entry(
    file: MemoryFile,
    shown: str,
    kind: SourceKind,
    title: str,
    start: int,
    body: int,
    end: int,
    when: tuple[date, str] | None,
) -> Entry:
    text = shown[body:end]
    line = line_of(shown, start)
    at = None
    if when is not None and when[1]:
        at = datetime.combine(when[0], time.fromisoformat(when[1].rjust(5, "0")))
    return Entry(
        kind=kind, path=file.path, line=line, title=title, text=text, text_line=line_of(shown, body), at=at,
        day=when[0] if when else None, properties=_properties(title, text), ref=f"{file.path}:{line}",
    )  # fmt: skip


def _properties(title: str, text: str) -> dict[str, str]:
    return {"title": title, **properties_of(text)}


def _stem(path: str) -> str:
    return path.rpartition("/")[2].rpartition(".")[0] or path


def entries_of(readings: Sequence[Reading]) -> tuple[Entry, ...]:
    """All entries, in order."""
    return tuple(entry for reading in readings for entry in reading.entries)
