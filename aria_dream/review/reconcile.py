"""Proposals that stand in dream notes and in no journal: of another machine, or of a dream that was killed. Pure.

A line vouches for itself: its id is the hash of its two notes, so a proposal can be taken over from the text alone.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, assert_never

from aria_dream.notes.dream_log import parse_blocks
from aria_dream.notes.tick_lines import parse_short_moment
from aria_dream.ranking.juxtaposition import title_of
from aria_dream.review.decision import ROUNDS_TRIED, titles_match
from aria_dream.review.proposal import KNEW_IT, Proposal, event_record, is_id_of, proposed_record

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping
    from datetime import date

    from aria_dream.notes.dream_note_grammar import LoggedPair, Verdict
    from aria_dream.review.proposal import Event, ProposalState


@dataclass(frozen=True, slots=True, kw_only=True)
class LogNote:
    """A dream note of ours."""

    path: str
    day: date
    text: str


def missing_records(
    notes: Iterable[LogNote],
    states: Mapping[str, ProposalState],
    *,
    resolve: Callable[[str, str], str | None],
    hash_of: Callable[[str], str],
    now: datetime,
    expiry_days: int,
) -> tuple[dict[str, object], ...]:
    """The journal records that `states` lacks, in the order of the notes: each pair proposed, then what became of it.

    `resolve(target, note)`: vault path that a link target means in that note. `hash_of`: content hash of a vault path,
    `""` where it is unknown. A pair whose notes are gone, or whose id does not vouch for them, is left out. Of a pair
    that is known, what another machine has written into its line since is taken over.

    `now`: aware, in the writer's zone. A block or a decision that lies later (another machine's clock, another zone, a
    clock set back) is of now: no record is dated later than it was made.
    """
    records: list[dict[str, object]] = []
    known = set(states)
    for note in notes:
        blocks, _ = parse_blocks(note.text)
        for block in blocks:
            at = _until(datetime.combine(note.day, block.at, now.tzinfo), now)
            for pair in block.pairs:
                proposal = None if pair.id in known else _proposal(note, pair, at, resolve, hash_of, expiry_days)
                if proposal is not None:
                    known.add(pair.id)
                    records.append(proposed_record(proposal))
                    records.extend(_outcome(pair, at, now, _events))
                elif pair.id in states and titles_match((pair.from_, pair.to), states[pair.id]):
                    records.extend(_news(pair, states[pair.id], at, now))
    return tuple(records)


def _until(moment: datetime, now: datetime) -> datetime:
    """The moment, or `now` where it lies later."""
    return min(moment, now, key=datetime.timestamp)  # one zone's own `<` does not know a repeated hour


def _proposal(
    note: LogNote,
    pair: LoggedPair,
    at: datetime,
    resolve: Callable[[str, str], str | None],
    hash_of: Callable[[str], str],
    expiry_days: int,
) -> Proposal | None:
    ends = [resolve(link.target, note.path) if link.target else None for link in (pair.from_, pair.to)]
    paths = tuple(path for path in ends if path is not None)
    if not pair.id or len(set(paths)) < 2:
        return None
    turn = next((turn for turn in range(ROUNDS_TRIED) if is_id_of(pair.id, "link", paths, turn)), None)
    if turn is None:
        return None
    return Proposal(
        id=pair.id,
        kind="link",
        paths=paths,
        round=turn,
        at=at,
        expires_at=at + timedelta(days=expiry_days),
        titles=tuple(title_of(path) for path in paths),
        hashes={path: hash_of(path) for path in paths},
        confidence=pair.probability or 0.0,
        score=pair.score,
        reason=pair.reason,
        judge=pair.judge,
    )


def _outcome(
    pair: LoggedPair, at: datetime, now: datetime, events: Callable[[Verdict], tuple[Event, ...]]
) -> Iterator[dict[str, object]]:
    if pair.outcome is not None:
        decided_at = parse_short_moment(pair.outcome.at, seen_from=at) or at
        known = {"reason": KNEW_IT} if pair.outcome.verdict == "knew it" else {}
        for event in events(pair.outcome.verdict):
            yield event_record(event, pair.id, _until(max(at, decided_at), now), by="tick", **known)


def _news(pair: LoggedPair, state: ProposalState, at: datetime, now: datetime) -> Iterator[dict[str, object]]:
    """What the line of a known pair says beyond the journal: it was decided elsewhere, and later than here."""
    if pair.outcome is None:
        return
    decided_at = parse_short_moment(pair.outcome.at, seen_from=at)
    was, since = state.state, state.since
    if was == "applied":  # lines know minutes only, and an undo may come within the one of the change
        since = since.replace(second=0, microsecond=0) - timedelta(minutes=1)
    is_later = since == state.proposal.at or (decided_at is not None and decided_at > since)
    is_told = was == "applied" and not state.history  # by this very line: what it says now, it says since

    def missed(verdict: Verdict) -> tuple[Event, ...]:
        if was in ("stale", "expired", "superseded"):  # a person's word goes before what a machine only noticed
            return _events(verdict) if verdict in ("linked", "knew it", "never again", "undone") else ()
        if was == "proposed" and is_later:
            return _events(verdict)
        return ("rolled_back",) if was == "applied" and verdict == "undone" and (is_later or is_told) else ()

    yield from _outcome(pair, at, now, missed)


def _events(verdict: Verdict) -> tuple[Event, ...]:
    match verdict:
        case "linked":
            return ("applied",)
        case "knew it" | "never again":
            return ("rejected",)
        case "expired":
            return ("expired",)
        case "undone":
            return ("applied", "rolled_back")
        case "not placed":
            return ("stale",)
        case _:
            assert_never(verdict)
