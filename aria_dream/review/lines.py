"""Our own lines brought up to date with the journal. Pure; every other character of the notes stays."""

from __future__ import annotations

from typing import TYPE_CHECKING

from aria_dream.dream.dream_log import parse_blocks
from aria_dream.dream.juxtaposition import title_of
from aria_dream.dream.logged import Outcome
from aria_dream.dream.plain_text import clean
from aria_dream.dream.review_note import read_managed, with_managed
from aria_dream.dream.ticks import decide_in_text, short_moment

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import datetime, timedelta

    from aria_dream.review.proposal import ProposalState


def outcome_of(state: ProposalState, *, now: datetime, window: timedelta) -> Outcome | None:
    """What a decided line says of the proposal at `now` (aware, in the writer's zone); None while it is open."""
    at = state.since.astimezone(now.tzinfo)
    until = at + window
    undo = short_moment(until, seen_from=at) if until > now else ""
    moment = short_moment(at, seen_from=state.proposal.at.astimezone(now.tzinfo))
    match state.state:
        case "applied":
            where = clean(title_of(state.paths[0]))
            return Outcome(verdict="linked", at=moment, where=where, undo_until=undo)
        case "rejected":
            return Outcome(verdict="never again", at=moment, undo_until=undo)
        case "rolled_back":
            return Outcome(verdict="undone", at=moment)
        case "expired" | "superseded":
            return Outcome(verdict="expired", at=moment)
        case "stale":
            return Outcome(verdict="not placed", at=moment, where=clean(state.reason))
        case "proposed" | "approved":
            return None


def renewed_log(text: str, states: Mapping[str, ProposalState], *, now: datetime, window: timedelta) -> str:
    """A dream note with each decided pair's boxes turned into the line that says so, with one undo box while it can be
    taken back. A line that says it already stays as it is."""
    for block in parse_blocks(text)[0]:
        for pair in block.pairs:
            state = states.get(pair.id)
            outcome = None if state is None else outcome_of(state, now=now, window=window)
            if outcome is not None and outcome != pair.outcome:
                text = decide_in_text(text, pair.id, outcome)
    return text


def renewed_review(text: str, states: Mapping[str, ProposalState]) -> str:
    """The review note without the pairs that are decided; unchanged where its managed block cannot be read."""
    managed, problems = read_managed(text)
    if managed is None or problems:
        return text
    open_ = tuple(
        item for item in managed.items if (state := states.get(item.pair.id)) is None or state.is_open
    )
    return text if open_ == managed.items else with_managed(text, managed, open_)
