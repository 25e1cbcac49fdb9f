"""Notes that time or their source has left behind: found by facts alone, proposed as obsolete, never marked unasked.

Three kinds of fact. A day that the note itself gives (`valid_until`, `expires` …) is over. A source that it names is
gone from the vault. Or the source has changed since, and the note has not. A day by which it was to be looked at again
(`review_by` …), and one that nobody can read, make a reminder: they say nothing against the note.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from hashlib import sha256
from typing import TYPE_CHECKING, Final, Literal, assert_never

from aria_dream.consolidate.last_day import last_day
from aria_dream.consolidate.quantities import plain_letters
from aria_dream.markdown.link import split_linktext
from aria_dream.markdown.note import NotePath
from aria_dream.markdown.properties import leaf_texts
from aria_dream.ranking.juxtaposition import title_of
from aria_dream.review.changes import plan_obsolete
from aria_dream.review.proposal import Proposal, next_round, proposal_id
from aria_dream.vault.edit import Refusal, content_hash

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from datetime import date, datetime, tzinfo

    from aria_dream.markdown.note import Note
    from aria_dream.review.plan import VaultView
    from aria_dream.review.proposal import PlannedEdit, ProposalState

ENDS: Final = frozenset(
    {
        "valid_until", "valid_to", "valid_through", "expires", "expires_on", "expires_at", "expiry",
        "expiry_date", "expiration", "expiration_date", "expired", "expire", "until", "best_before",
        "gultig_bis", "lauft_ab_am", "ablaufdatum", "valable_jusqu_au", "expire_le", "date_d_expiration",
        "valido_hasta", "vence", "caduca", "scade", "valido_fino_a", "geldig_tot",
    }
)  # fmt: skip
"""Properties that say until when a note holds, as `property_name` spells them."""
REVIEWS: Final = frozenset(
    {
        "review_by", "review_before", "revisit_by", "check_by", "uberprufen_bis", "prufen_bis",
        "a_revoir_avant", "revisar_antes_de",
    }
)  # fmt: skip
"""Properties that say until when a note was to be looked at again. (`next_review` and its like are those of cards
that are learnt by heart.)"""
SOURCES: Final = frozenset(
    {
        "source", "sources", "based_on", "derived_from", "file", "attachment", "attachments", "quelle",
        "quellen", "fuente", "fonte", "bron",
    }
)  # fmt: skip
"""Properties that name what a note was made from."""
OBSOLETE: Final = "obsolete"
_LONGEST_VALUE: Final = 60

Why = Literal["expired", "review due", "unreadable day", "source gone", "source changed"]
REMINDERS: Final[frozenset[Why]] = frozenset({"review due", "unreadable day"})
"""Those by which a note is only to be looked at again; nothing calls it obsolete."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Stale:
    """A note that one fact calls stale."""

    path: str
    why: Why
    what: str
    """The property with its value, or the vault path of the source."""
    reason: str
    """One sentence for the writer, without its full stop."""

    @property
    def mark(self) -> str:
        """Names the finding: a note is proposed once for it, and again only for another."""
        said = f"stale\0{self.path}\0{self.why}\0{self.what}"
        return sha256(said.encode("utf-8", "surrogatepass")).hexdigest()[:32]


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceMemory:
    """What a note and its sources read when they were first seen together."""

    note: str
    """Content hash of the note."""
    sources: Mapping[str, str] = field(default_factory=dict)
    """Vault path of each source to its content hash."""


def stale_by_date(path: str, note: Note, *, today: date, zone: tzinfo | None = None) -> Iterator[Stale]:
    """Every day of the note, in its properties or a line `valid_until:: …`, that is over on `today`, the writer's local
    date, or that is none. A day is over when it has passed: a note valid until today is valid. `zone`: the writer's,
    for instants."""
    if is_obsolete(note):
        return
    for key, value in (*note.properties.items(), *_fields(note)):
        name = property_name(key)
        if name not in ENDS | REVIEWS:
            continue
        day = next(filter(None, (last_day(text, zone) for text in _texts(value))), None)
        if day is None and (said := next(filter(str.strip, leaf_texts(value)), "")):
            shown = " ".join(said.split())[:_LONGEST_VALUE]
            reason = f"`{key}: {shown}` is no day that can be read; write it as 2026-12-31"
            yield Stale(path=path, why="unreadable day", what=f"{key}: {shown}", reason=reason)
        if day is None or day >= today:
            continue
        written = f"{key}: {day.isoformat()}"
        if name in ENDS:
            yield Stale(path=path, why="expired", what=written, reason=f"`{written}` has passed")
        else:
            reason = f"it was to be looked at again: `{written}` has passed"
            yield Stale(path=path, why="review due", what=written, reason=reason)


_FIELD: Final = re.compile(
    r"^[*_]{0,2}([^\W\d_][^\n:*]{1,30}?)[*_]{0,2}::[*_]{0,2}[ \t]*(\S[^\n]{0,60}?)[ \t\r]*$", re.MULTILINE
)


def _fields(note: Note) -> Iterator[tuple[str, str]]:
    """Name and value of each line of its own that is a field as the plugin Dataview reads it: `valid_until:: 2026`."""
    for found in _FIELD.finditer(note.text, note.body_start):
        if not any(span.start <= found.start() < span.end for span in note.opaque):
            yield found[1], found[2]


def _texts(value: object) -> Iterator[str]:
    """Texts of a value; a whole number is what YAML makes of `2026` and `20261101`."""
    if isinstance(value, int) and not isinstance(value, bool):
        yield str(value)
    else:
        yield from leaf_texts(value)


def is_obsolete(note: Note) -> bool:
    """Whether the note is marked so already."""
    for key, value in note.properties.items():
        name = property_name(key)
        if name == OBSOLETE and value not in (False, None, ""):
            return True
        if name == "status" and any(plain_letters(text).strip() in _OVER for text in leaf_texts(value)):
            return True
    return False


_OVER: Final = frozenset({"obsolete", "archived", "superseded", "deprecated", "veraltet", "archiviert"})


def property_name(key: str) -> str:
    """A property's name in plain letters, parts joined by `_`: `validUntil`, `Valid until`, `valid-until` are one."""
    parted = re.sub(r"(?<=[a-z])(?=[A-Z])", "_", key.strip())
    return re.sub(r"[\s_'’-]+", "_", plain_letters(parted)).strip("_")


_CITED = re.compile(r"^\s*(?:[-*+]\s+)?[*_]*(?:source|quelle|quellen|fuente|bron|fonte)s?[*_]*\s*:", re.IGNORECASE)
_WIKI = re.compile(r"!?\[\[([^\[\]\n]+)\]\]")
_MARKDOWN = re.compile(r"!?\[[^\]\n]*\]\(<?([^()<>\s]+)>?\)")
_FILE = re.compile(r"[^\s:*?\"<>|][^:*?\"<>|\n]*\.[A-Za-z0-9]{1,5}")


def cited_sources(note: Note) -> tuple[str, ...]:
    """What the note names as its sources within the vault, as link texts: in its properties, and on lines that begin
    with `Source:`. Addresses of the web are none."""
    found: list[str] = []
    for key, value in note.properties.items():
        if property_name(key) in SOURCES:
            for text in leaf_texts(value):
                found += _targets(text) or ([text.strip()] if _FILE.fullmatch(text.strip()) else [])
    for link in note.links:
        if not link.in_frontmatter and link.path:
            start = note.text.rfind("\n", 0, link.start) + 1
            if _CITED.match(note.text[start : link.start]):
                found.append(link.path)
    return tuple(dict.fromkeys(text for text in found if text and "://" not in text))


def _targets(text: str) -> list[str]:
    wiki = [split_linktext(found[1].partition("|")[0])[0] for found in _WIKI.finditer(text)]
    return [*wiki, *(found[1] for found in _MARKDOWN.finditer(text) if "://" not in found[1])]


def stale_by_source(
    path: str,
    note: Note,
    note_hash: str,
    *,
    resolve: Callable[[str, str], str | None],
    hash_of: Callable[[str], str | None],
    earlier: SourceMemory | None,
) -> tuple[tuple[Stale, ...], SourceMemory | None]:
    """`(findings, memory)`: sources of the note that are gone or have changed, and what to remember of it; None where
    it names no source of the vault.

    `resolve(text, path)` is the file that a link text means; `hash_of(path)` that file's content hash, None where it
    cannot be read. A file with an ending of its own (`report.pdf`) that is named and not there is gone; a note that is
    not there is gone only if `earlier` knew it, since a link to a note that is yet to be written is usual. A note that
    was edited since the memory was made has seen its sources: it is remembered anew.
    """
    cited = cited_sources(note)
    known = dict(earlier.sources) if earlier is not None else {}
    if is_obsolete(note) or not (cited or known):
        return (), None
    fresh = earlier is None or earlier.note != note_hash
    found: list[Stale] = []
    sources: dict[str, str] = {}
    met: set[str] = set()
    for text in cited:
        target = resolve(text, path)
        if target is None:
            gone = _gone_as(text, known)
            if gone:
                met.add(gone)
                found.append(_gone(path, gone))
            continue
        now = hash_of(target)
        if now is None or target == path:
            continue
        met.add(target)
        was = now if fresh else known.get(target, now)
        sources[target] = was
        if was != now:
            found.append(_changed(path, target, now))
    # Kept while the note names it, so that what is gone can still be told from what was never there.
    sources |= {gone: known.get(gone, "") for gone in met if gone not in sources}
    memory = SourceMemory(note=note_hash, sources=sources) if sources else None
    return tuple(found), memory


def _gone_as(text: str, known: Mapping[str, str]) -> str:
    """The path by which a source that is not there is called gone; `""` where it may never have been there."""
    name = plain_letters(text.rpartition("/")[2])
    for path in known:
        last = plain_letters(path.rpartition("/")[2])
        if name in (last, last.removesuffix(".md")):
            return path
    ending = re.search(r"\.([A-Za-z][A-Za-z0-9]{1,4})$", text)
    return text if ending and ending[1].lower() != "md" else ""


def _gone(path: str, source: str) -> Stale:
    said = f"its source “{title_of(source)}” is not in the vault any more"
    return Stale(path=path, why="source gone", what=source, reason=said)


def _changed(path: str, source: str, now: str) -> Stale:
    said = f"its source “{title_of(source)}” has changed since, and the note has not"
    return Stale(path=path, why="source changed", what=f"{source} {now[:16]}", reason=said)


def propose_obsolete(
    stale: Stale,
    view: VaultView,
    states: Sequence[ProposalState],
    *,
    now: datetime,
    expires_at: datetime | None,
) -> tuple[Proposal, tuple[PlannedEdit, ...]] | Refusal:
    """The proposal that marks the note obsolete by a property, and its exact edits. Never applied without a person."""
    path = NotePath(stale.path)
    found = plan_obsolete(view, path)
    if isinstance(found, Refusal):
        return found
    round_ = next_round(states, "obsolete", [stale.path])
    proposal = Proposal(
        id=proposal_id("obsolete", [stale.path], round_, [state.proposal.id for state in states]),
        kind="obsolete",
        paths=(stale.path,),
        round=round_,
        at=now,
        expires_at=expires_at,
        titles=(title_of(stale.path),),
        hashes={stale.path: content_hash(view.contents[path])},
        confidence=_sureness(stale.why),
        reason=stale.reason,
        judge="calendar" if stale.why == "expired" else "sources",
        evidence={"why": f"{stale.why}: {stale.what}"},
    )
    return proposal, found.edits


def _sureness(why: Why) -> float:
    """How sure it is that the note does not hold any more."""
    match why:
        case "expired":
            return 1.0
        case "source gone":
            return 0.7
        case "source changed" | "review due" | "unreadable day":
            return 0.5
        case _:
            assert_never(why)
