"""What the sources claim, sentence by sentence, and which claims tell of one and the same event.

A claim says that something was claimed, never that it is so. Two claims are independent only if nothing ties them to
one event: the same entry, an id that both name, a mention of the other's entry, a quotation, the same moment to the
minute, the same day (of claims that say the same), or words that tell something again (`retold_days`). Ties are
transitive, and doubt counts as a tie: a lesson that waits a night costs less than one from a
retelling.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Final

from aria_dream.synthesis.claim_words import (
    EVENT_FIELDS,
    EVENT_IDS,
    FIELDS_LEFT_OUT,
    HEDGED,
    PROPERTIES_THAT_TELL,
    SELF_CONFIRMED,
    Role,
    is_claim,
    is_task_list,
    not_a_lesson,
    retold_days,
    role_of,
    role_of_label,
    with_dates,
)
from aria_dream.synthesis.contrast import plain
from aria_dream.synthesis.days import days_named
from aria_dream.synthesis.orders import ORDERS
from aria_dream.synthesis.reference import make_ref
from aria_dream.synthesis.sources import SourceKind

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from datetime import date

    from aria_dream.synthesis.sources import Entry

OPERATORS: Final = ("operator", "user", "human")
"""Whose word is a directive, where the policy names nobody."""
CLAIMS_OF_A_KIND: Final = 150
"""Claims of one kind of source that a run compares, newest entries first: all with all takes seconds."""
COPIED_WORDS: Final = 14
"""So many words in a row that two claims share are a copy, unless their entries name different events. Fewer are how
people say a thing twice."""
LONG_ENOUGH: Final = 4
"""Characters of an event's id that mean it wherever they stand; shorter ones mean it under their own name only."""
QUOTED_WORDS: Final = 4
"""So many words between quotation marks that another claim has too are a quotation of it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Claim:
    """One claim of one entry."""

    text: str
    """As a reader sees it, without its label."""
    ref: str
    """As `reference.make_ref` makes it."""
    entry: Entry
    role: Role
    quotes: tuple[str, ...]
    """What stands in it between quotation marks (the whole of it in a block quote), folded to words."""
    ids: frozenset[str]
    """Ids of events that it or its entry names."""
    retold_days: int
    """How many days back its words may tell something again; 0: it tells of its own day."""
    days: frozenset[str]
    """Days that its words name, `2026-11-20`: it may tell of one of them."""
    moments: frozenset[str]
    """`2026-11-30 14:32` of its entry, where that has a time, and of every time it names whose date is known."""


_LABEL = re.compile(r"^[*_`]*([A-Za-z][\w' ().,-]{1,60}?)[*_`]*[ \t]*:[*_`]*[ \t]+(?=\S)")
_TASK = re.compile(r"[>\s]*(?:[-*+]|\d{1,3}[.)])[ \t]+\[.\][ \t]")
_BRACKETED = re.compile(r"[ \t]*\([^()]*\)")
_SENTENCE = re.compile(r"(?<=[.!?。！？])(?<! \d\.)(?<! \d\d\.)[ \t]+(?=[^\s\da-z])|(?<=[。！？])")
_QUOTE = re.compile(r"[“\"„«»]([^“”\"„«»\n]{8,400})[”\"“«»]")
_STAMP = re.compile(r"(\d{4}-\d{2}-\d{2})[T ](\d{2}:\d{2})")
_CLOCK = re.compile(r"(?<![\d:.T-])(\d{1,2}:\d{2})(?::\d{2})?(?![\d:])")


def find_claims(
    entries: Sequence[Entry], operators: tuple[str, ...] = OPERATORS
) -> tuple[tuple[Claim, ...], tuple[Claim, ...]]:
    """`(claims that may become a pattern, claims that may not)`: of the latter, hedged stories of causes, what only
    confirms an earlier lesson, and what is no lesson by its form. Staged rows, earlier lessons and evidence claim
    nothing here. `operators` are the names of those whose word is a directive.
    """
    told = [entry for entry in entries if entry.kind in _TELLING]
    names = {name: entry for entry in told for name in _names(entry)}
    kept: list[Claim] = []
    set_aside: list[Claim] = []
    for entry in told:
        own = _entry_ids(entry)
        for claim in _claims(entry, own, names, operators):
            (set_aside if set_aside_reason(claim) else kept).append(claim)
    return tuple(kept), tuple(set_aside)


def claims_to_compare(claims: Sequence[Claim]) -> tuple[Claim, ...]:
    """The claims that one run compares: the first `CLAIMS_OF_A_KIND` of each kind, so that none crowds out another."""
    counts: Counter[SourceKind] = Counter()
    kept: list[Claim] = []
    for claim in claims:
        counts[claim.entry.kind] += 1
        if counts[claim.entry.kind] <= CLAIMS_OF_A_KIND:
            kept.append(claim)
    return tuple(kept)


_TELLING = frozenset(
    {
        SourceKind.CAPSULE,
        SourceKind.SESSION,
        SourceKind.TRUST_DECAY,
        SourceKind.HONESTY,
        SourceKind.FAILED_EXPERIMENT,
        SourceKind.FAILURE_MODE,
    }
)


def set_aside_reason(claim: Claim) -> str:
    """Why a claim can never be part of a pattern; "" where it can."""
    if SELF_CONFIRMED.search(claim.text):
        return "echo of an earlier lesson"
    if HEDGED.search(claim.text):
        return "unverified causal story"
    if claim.role in (Role.DIRECTIVE, Role.OUTCOME):
        return "an order to the reader" if ORDERS.search(plain(claim.text)) else ""
    return not_a_lesson(claim.text)


def _claims(
    entry: Entry, own: frozenset[str], names: dict[str, Entry], operators: tuple[str, ...]
) -> Iterator[Claim]:
    for line, text, quoted in _passages(entry):
        label = _LABEL.match(text)
        name = _BRACKETED.sub("", label[1]).strip().lower() if label else ""
        if name.replace(" ", "_") in FIELDS_LEFT_OUT:
            continue
        role = role_of_label(name, operators)
        said = text[label.end() :] if label and (role or len(name.split()) <= 3) else text
        if label and role is None and not_a_lesson(said):
            said = text  # "The cache: it took an hour": its pronoun means the label
        pieces = [said] if role is Role.DIRECTIVE else _SENTENCE.split(said)
        for sentence in pieces:
            as_written = _plain(sentence)
            if not is_claim(as_written, role):
                continue
            shown = with_dates(as_written, entry.day)
            quotes = [shown] if quoted else [found[1] for found in _QUOTE.finditer(shown)]
            yield Claim(
                text=shown,
                ref=make_ref(entry.path, line, entry.day, as_written),
                entry=entry,
                role=role or role_of(shown, operators),
                quotes=tuple(" ".join(_words(quote)) for quote in quotes),
                ids=own | _ids(shown) | _mentions(sentence, entry, names),
                retold_days=retold_days(f"{entry.title}\n{name}: {as_written}"),
                days=days_named(f"{entry.title}\n{as_written}", entry.day) - {str(entry.day)},
                moments=frozenset(_moments(shown, entry)),
            )


def _passages(entry: Entry) -> Iterator[tuple[int, str, bool]]:
    """`(line, text, whether it is a block quote)` of every list item and paragraph, its wrapped lines joined."""
    start, quoted, is_skipped = 0, False, is_task_list(entry.title)
    parts: list[str] = []
    if entry.kind is SourceKind.CAPSULE:
        told = ((name.replace("_", " "), value) for name, value in entry.properties.items())
        yield from ((entry.line, f"{name}: {value}", False) for name, value in told if name in PROPERTIES_THAT_TELL)
    elif not re.search(r"\w", entry.text):
        yield entry.line, entry.title, False
    for number, raw in enumerate(entry.text.split("\n"), start=entry.text_line):
        line = raw.strip()
        if line.startswith("#"):
            is_skipped = is_task_list(line.lstrip("# "))
        if is_skipped or (entry.kind is not SourceKind.TRUST_DECAY and _TASK.match(line)):
            line = ""
        is_quote = line.startswith(">")
        opens = re.match(r"(?:[-*+]|\d{1,3}[.)])[ \t]+(?:\[.\][ \t]+)?", line.lstrip("> "))
        is_field = _LABEL.match(line) is not None
        if parts and (not line or opens or is_field or line.startswith(("#", "|")) or is_quote is not quoted):
            yield start, " ".join(parts), quoted
            parts = []
        text = line.lstrip("> ")
        text = text[opens.end() :] if opens else text
        if line and not line.startswith(("#", "|", "---", "===")):
            if not parts:
                start, quoted = number, is_quote
            parts.append(text)
    if parts:
        yield start, " ".join(parts), quoted


def _plain(text: str) -> str:
    shown = re.sub(r"!?\[\[(?:[^\]|\n]*\|)?([^\]\n]*)\]\]", r"\1", text)
    shown = re.sub(r"!?\[([^\]\n]*)\]\([^)\n]*\)", r"\1", shown)
    return " ".join(re.sub(r"[*`]|(?<!\w)_|_(?!\w)", "", shown).split())


def _entry_ids(entry: Entry) -> frozenset[str]:
    fields = _event_fields(entry)
    named = {f"{name} {value}" for name, value in fields.items()}
    values = {value for value in fields.values() if len(value) >= LONG_ENOUGH}
    own = {f"entry {_fold(name)}" for name in _names(entry)}
    return frozenset(named | values | own | _ids(entry.title))


def _event_fields(entry: Entry) -> dict[str, str]:
    """The properties that name the entry's event: `session` (or `session_id`) to its value."""
    values = ((name.removesuffix("_id"), entry.properties.get(name, "")) for name in EVENT_FIELDS)
    return {name: _fold(value) for name, value in values if value}


def _names(entry: Entry) -> Iterator[str]:
    """How other entries may mention this one: a capsule's id and file name."""
    if entry.kind is SourceKind.CAPSULE:
        stem = entry.path.rpartition("/")[2].removesuffix(".md")
        for name in {stem, entry.title}:
            if len(name) >= 6 and re.search(r"[\d_-]", name):
                yield name


def _mentions(text: str, entry: Entry, names: dict[str, Entry]) -> frozenset[str]:
    found = {name for name in names if name in text and names[name] is not entry}
    return frozenset(f"entry {_fold(name)}" for name in found)


def _ids(text: str) -> frozenset[str]:
    found = {match for pattern in EVENT_IDS for match in pattern.findall(text)}
    return frozenset(re.sub(r"[\s_#/-]+", "-", _fold(one)).strip("-.") for one in found)


def _fold(text: str) -> str:
    return " ".join(text.split()).casefold().strip("\"'")


def _moments(text: str, entry: Entry) -> Iterator[str]:
    if entry.at is not None and (entry.at.hour, entry.at.minute) != (0, 0):  # midnight: only a date was given
        yield f"{entry.at:%Y-%m-%d %H:%M}"
    for found in _STAMP.finditer(text):
        yield f"{found[1]} {found[2]}"
    if entry.day is not None:
        for found in _CLOCK.finditer(_STAMP.sub(" ", text)):
            yield f"{entry.day} {found[1].rjust(5, '0')}"


@lru_cache(maxsize=4096)
def _words(text: str) -> tuple[str, ...]:
    return tuple(re.findall(r"\w+", text.casefold()))


def one_event(a: Claim, b: Claim) -> bool:
    """Whether the two claims tell, or may tell, of one event."""
    if a.entry is b.entry or a.ids & b.ids or a.moments & b.moments:
        return True
    first, second = _words(a.text), _words(b.text)
    if _quotes(a, second) or _quotes(b, first):
        return True
    if _said_to_differ(a.entry, b.entry):
        return False
    same_day = a.entry.day is not None and a.entry.day == b.entry.day
    return _shares_run(first, second, COPIED_WORDS) or (same_day and first == second)


def _one_event_if_alike(a: Claim, b: Claim) -> bool:
    """Whether two claims that say the same tell of one event: also if they are of one day and name no different events,
    or if one of them tells an earlier one again."""
    if one_event(a, b):
        return True
    if _said_to_differ(a.entry, b.entry) or (_named(a) and _named(b)):
        return False
    if a.entry.day is None or b.entry.day is None:
        return False
    earlier, later = (a, b) if a.entry.day <= b.entry.day else (b, a)
    if str(earlier.entry.day) in later.days or earlier.days & later.days:
        return True
    return (_day(later) - _day(earlier)).days <= later.retold_days


def _named(claim: Claim) -> frozenset[str]:
    return frozenset(one for one in claim.ids if not one.startswith("entry "))


def _day(claim: Claim) -> date:
    assert claim.entry.day is not None
    return claim.entry.day


def _said_to_differ(a: Entry, b: Entry) -> bool:
    """Whether both entries name their session or event, and name different ones."""
    first, second = _event_fields(a), _event_fields(b)
    shared = (first.keys() & second.keys()) - {"id"}
    return bool(shared) and all(first[name] != second[name] for name in shared)


def _quotes(claim: Claim, words: Sequence[str]) -> bool:
    line = f" {' '.join(words)} "
    return any(
        len(quote.split()) >= QUOTED_WORDS and (f" {quote} " in line or _shares_run(quote.split(), words, 8))
        for quote in claim.quotes
    )


def _shares_run(first: Sequence[str], second: Sequence[str], length: int) -> bool:
    if min(len(first), len(second)) < length:
        return False
    runs = {tuple(first[at : at + length]) for at in range(len(first) - length + 1)}
    return any(tuple(second[at : at + length]) in runs for at in range(len(second) - length + 1))


def events(claims: Iterable[Claim]) -> tuple[tuple[Claim, ...], ...]:
    """The claims, which say the same, by event; two claims in different groups are independent."""
    groups: list[list[Claim]] = []
    for claim in claims:
        tied = [group for group in groups if any(_one_event_if_alike(claim, other) for other in group)]
        merged = [one for group in tied for one in group]
        groups = [group for group in groups if group not in tied] + [[*merged, claim]]
    return tuple(tuple(group) for group in groups)
