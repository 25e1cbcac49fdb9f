"""One model for every change anybody may approve; its states are the fold of `proposals.jsonl`."""

from __future__ import annotations

import json
import unicodedata
from base64 import b32encode
from dataclasses import dataclass, field
from hashlib import sha256
from itertools import combinations
from types import MappingProxyType
from typing import TYPE_CHECKING, Literal, get_args

from aria_dream.ranking.juxtaposition import pair_key

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from datetime import datetime

    from aria_dream.vault.edit import ContentHash

Kind = Literal["link", "place_orphan", "merge", "update", "obsolete", "resolve_contradiction", "sync_copy"]
State = Literal["proposed", "approved", "rejected", "applied", "rolled_back", "stale", "expired", "superseded"]
Event = Literal[
    "proposed", "planned", "edge", "janus", "approved", "rejected", "reopened", "applied", "rolled_back", "stale",
    "expired", "superseded",
]  # fmt: skip
KINDS: tuple[Kind, ...] = get_args(Kind)
EVENTS: tuple[Event, ...] = get_args(Event)
OPEN: frozenset[State] = frozenset({"proposed", "approved"})
DECIDED: frozenset[State] = frozenset({"approved", "rejected", "applied", "rolled_back"})
"""A person has said something about the pair; undoing a decision (`reopened`) takes it out again."""
WRITER = "you"
"""Judge of a proposal that the writer asked for: it earns no kind its graduation, and never passes without a tick."""
KNEW_IT = "knew it"
"""Reason of a refusal that says: the pair is right, and I knew it. It teaches what is dull, and counts for nobody."""
SHORTEST_ID = 6
VERSION = 1
_EMPTY: Mapping[str, object] = MappingProxyType({})
_NO_HASHES: Mapping[str, str] = MappingProxyType({})


@dataclass(frozen=True, slots=True, kw_only=True)
class PlannedEdit:
    """One file's part of the change, exact against a known content."""

    path: str
    """Vault path."""
    before: ContentHash
    """`ABSENT` where the file is created."""
    after: ContentHash
    """`ABSENT` where it is removed."""
    start: int
    """Offset in characters of what is exchanged."""
    removed: str
    inserted: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Proposal:
    """A change that was proposed, as its `proposed` record says."""

    id: str
    kind: Kind
    paths: tuple[str, ...]
    """Vault paths as proposed: for a link the note that gets it, then the target. Id and round belong to these."""
    round: int
    """0 at first; an expired or stale pair that is proposed again counts up, and gets a new id."""
    at: datetime
    """Aware."""
    expires_at: datetime | None
    titles: tuple[str, ...]
    """As rendered, in the order of `paths`: what a tick is verified against."""
    hashes: Mapping[str, str] = field(default_factory=lambda: _NO_HASHES)
    """Vault path to content hash at that time; renames are recognised by it."""
    confidence: float = 0.0
    """The judge's, 0 to 1."""
    score: float | None = None
    reason: str = ""
    judge: str = ""
    way: tuple[str, ...] | None = None
    """Vault paths that connect a pair; None where only the text does."""
    evidence: Mapping[str, object] = field(default_factory=lambda: _EMPTY)
    episode: str = ""
    """Id of the dream it came from."""
    extra: Mapping[str, object] = field(default_factory=lambda: _EMPTY)
    """Keys of a later version, kept."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ProposalState:
    """Where a proposal stands after all records so far."""

    proposal: Proposal
    state: State
    since: datetime
    """Of the record that made the state."""
    paths: tuple[str, ...]
    """`proposal.paths` under the names the notes bear now."""
    edits: tuple[PlannedEdit, ...] = ()
    """Of the last plan; empty until one is made."""
    by: str = ""
    """Surface of the last decision: `tick`, `terminal`, `page`, `auto`."""
    reason: str = ""
    """Why it is stale, what replaced it, or why it is open again."""
    edge: str = ""
    """What the relation of a link is called, where a reach named it; `""` where nobody did."""
    janus: str = ""
    """`STANDS`, `FALLS`, `UNSURE`, or `""` before Janus looked."""
    janus_reason: str = ""
    history: str = ""
    """Of an applied change: name of its before- and after-images in `history/`."""
    shown: str = ""
    """`application.proposal_hash` of the exact change that the person saw who approved it; `""` where none was shown,
    as with a tick."""
    approved_by: str = ""
    """Surface of the last approval, whatever came after it."""
    applies: int = 0
    """How often it was applied, and taken back: what graduation counts, whatever became of it later."""
    rollbacks: int = 0

    @property
    def is_open(self) -> bool:
        """Waits for the writer or for being applied."""
        return self.state in OPEN


@dataclass(frozen=True, slots=True, kw_only=True)
class Renamed:
    """A note that bears another name now; every proposal follows it."""

    from_: str
    to: str
    content_hash: str
    at: datetime


def _digest(kind: str, paths: Sequence[str], round_: int) -> str:
    named = sorted(unicodedata.normalize("NFC", path) for path in paths)
    text = json.dumps([kind, named, round_], ensure_ascii=False, separators=(",", ":"))
    return b32encode(sha256(text.encode("utf-8", "surrogatepass")).digest()).decode("ascii").rstrip("=").lower()


def proposal_id(kind: Kind, paths: Sequence[str], round_: int, taken: Iterable[str] = ()) -> str:
    """Base32 of SHA-256 over kind, sorted paths (NFC) and round, lower-case, cut to 6 characters.

    Lengthened while another proposal in `taken` bears it. Direction and order of `paths` do not matter, so every
    machine finds the same id for the same pair.
    """
    whole, used = _digest(kind, paths, round_), frozenset(taken)
    return next((whole[:n] for n in range(SHORTEST_ID, len(whole)) if whole[:n] not in used), whole)


def is_id_of(id_: str, kind: Kind, paths: Sequence[str], round_: int) -> bool:
    """Whether `id_` is the id of these: what a machine without the journal can check."""
    return len(id_) >= SHORTEST_ID and _digest(kind, paths, round_).startswith(id_.lower())


def plan_mark(edits: Sequence[PlannedEdit], lines: Sequence[str]) -> str:
    """A short name of exactly these edits, shown in exactly these lines (8 hex digits of a SHA-256); `""` of none.

    A box below them bears it, so that a tick approves what its writer saw and nothing else.
    """
    rows = [[edit.path, edit.before, edit.after, edit.start, edit.removed, edit.inserted] for edit in edits]
    return sha256(json.dumps([rows, list(lines)]).encode()).hexdigest()[:8] if rows else ""


def next_round(states: Iterable[ProposalState], kind: Kind, paths: Sequence[str]) -> int:
    """Round for proposing these notes again: 0, or one more than the last time."""
    wanted = sorted(paths)
    same = [state.proposal.round for state in states if state.proposal.kind == kind and wanted in _names(state)]
    return max(same) + 1 if same else 0


def _names(state: ProposalState) -> tuple[list[str], list[str]]:
    return sorted(state.paths), sorted(state.proposal.paths)


def decided_pairs(states: Iterable[ProposalState]) -> frozenset[tuple[str, str]]:
    """Pairs, under today's names, that no dream shows again: decided by a person, or in an open proposal of any kind.

    An expired, stale or superseded proposal leaves its pair free: nobody has decided it.
    """
    return frozenset(
        pair_key(*pair)
        for state in states
        if state.is_open or (state.proposal.kind == "link" and state.state in DECIDED)
        for pair in combinations(state.paths, 2)
    )


def open_count(states: Iterable[ProposalState]) -> int:
    """How many wait for the writer, to be held against `max_open_proposals`; approved ones wait for the machine."""
    return sum(state.state == "proposed" for state in states)


def merged_away_by(state: ProposalState) -> tuple[str, ...]:
    """Vault paths of the notes that an applied merge has moved to the trash; empty of any other proposal."""
    return state.paths[1:] if state.proposal.kind == "merge" and state.state == "applied" else ()


def due_to_expire(states: Iterable[ProposalState], now: datetime) -> tuple[ProposalState, ...]:
    """Undecided proposals whose time is over at `now` (aware)."""
    return tuple(
        state
        for state in states
        if state.state == "proposed" and state.proposal.expires_at is not None and state.proposal.expires_at <= now
    )


def plan_renames(
    states: Iterable[ProposalState], hashes: Mapping[str, str], at: datetime, earlier: Mapping[str, str] | None = None
) -> tuple[Renamed, ...]:
    """Notes of proposals that have gone from the vault and whose content lies under exactly one other name now.

    `hashes`: vault path to content hash of every note of the vault. `earlier`: the same from the last time the vault
    was read, where known; a hash from there is fresher than the proposal's own. A name that a proposal knows already
    is no new name of another note, and what an applied merge has moved to the trash bears none: a note of the same text
    is another one.
    """
    known: dict[str, str] = {}
    everything = tuple(states)
    merged_away = frozenset(path for state in everything for path in merged_away_by(state))
    for state in everything:
        for path, was in zip(state.paths, state.proposal.paths, strict=True):
            if path in merged_away:
                continue
            known.setdefault(path, (earlier or {}).get(path) or state.proposal.hashes.get(was, ""))
    by_hash: dict[str, list[str]] = {}
    for path, content in hashes.items():
        if path not in known:
            by_hash.setdefault(content, []).append(path)
    renames = []
    for path, content in sorted(known.items()):
        places = by_hash.get(content, [])
        alone = sum(other == content for gone, other in known.items() if gone not in hashes) == 1
        if content and path not in hashes and len(places) == 1 and alone:
            renames.append(Renamed(from_=path, to=places[0], content_hash=content, at=at))
    return tuple(renames)


def proposed_record(proposal: Proposal) -> dict[str, object]:
    """The `proposed` record, ready for the journal."""
    return {
        **proposal.extra,
        "event": "proposed",
        "version": VERSION,
        "at": proposal.at.isoformat(),
        "id": proposal.id,
        "kind": proposal.kind,
        "paths": list(proposal.paths),
        "round": proposal.round,
        "titles": list(proposal.titles),
        "hashes": dict(proposal.hashes),
        "confidence": proposal.confidence,
        "score": proposal.score,
        "reason": proposal.reason,
        "judge": proposal.judge,
        "way": None if proposal.way is None else list(proposal.way),
        "evidence": dict(proposal.evidence),
        "episode": proposal.episode,
        "expires_at": None if proposal.expires_at is None else proposal.expires_at.isoformat(),
    }


def planned_record(id_: str, edits: Sequence[PlannedEdit], at: datetime) -> dict[str, object]:
    """The `planned` record: the exact edits, against content hashes."""
    return event_record("planned", id_, at, edits=edit_rows(edits))


def edit_rows(edits: Sequence[PlannedEdit]) -> list[dict[str, object]]:
    """Edits as a record holds them."""
    return [
        {
            "path": edit.path,
            "before": edit.before,
            "after": edit.after,
            "start": edit.start,
            "removed": edit.removed,
            "inserted": edit.inserted,
        }
        for edit in edits
    ]


def event_record(event: Event, id_: str, at: datetime, **details: object) -> dict[str, object]:
    """Any other record of one proposal. `details`: `by`, `shown`, `reason`, `edge`, `verdict`, `judge`, `history`, as
    docs/FORMATS.md says."""
    return {"event": event, "version": VERSION, "at": at.isoformat(), "id": id_, **details}


def renamed_record(renamed: Renamed) -> dict[str, object]:
    """The `renamed` record, which belongs to no single proposal."""
    return {
        "event": "renamed",
        "version": VERSION,
        "at": renamed.at.isoformat(),
        "from": renamed.from_,
        "to": renamed.to,
        "content_hash": renamed.content_hash,
    }
