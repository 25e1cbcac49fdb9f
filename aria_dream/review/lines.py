"""Our own lines brought up to date with the journal. Pure; every other character of the notes stays."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from aria_dream.notes.dream_log import parse_blocks
from aria_dream.notes.dream_note_grammar import Outcome
from aria_dream.notes.plain_text import clean, escape_plain
from aria_dream.notes.review_note import ReviewItem, read_managed, with_managed
from aria_dream.notes.tick_lines import decide_in_text, reopen_in_text, short_moment, tell_in_text, without_undo
from aria_dream.ranking.juxtaposition import title_of
from aria_dream.review.decision import shown_titles, titles_match
from aria_dream.review.proposal import KNEW_IT

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence
    from datetime import date, datetime, timedelta

    from aria_dream.notes.change_grammar import ChangeItem
    from aria_dream.notes.dream_note_grammar import LoggedPair, Verdict
    from aria_dream.review.proposal import ProposalState


def outcome_of(state: ProposalState, *, now: datetime, window: timedelta) -> Outcome | None:
    """What a decided line says of the proposal at `now` (aware, in the writer's zone); None while it is open."""
    at = state.since.astimezone(now.tzinfo)
    until = at + window
    undo = short_moment(until, seen_from=at) if until > now else ""
    moment = short_moment(at, seen_from=state.proposal.at.astimezone(now.tzinfo))
    match state.state:
        case "applied":
            title, shown = clean(title_of(state.paths[0])), shown_titles(state)[0]
            where = shown if shown.endswith(f"/{title}") else title
            return Outcome(verdict="linked", at=moment, where=where, undo_until=undo)
        case "rejected":
            verdict: Verdict = "knew it" if state.reason == KNEW_IT else "never again"
            return Outcome(verdict=verdict, at=moment, undo_until=undo)
        case "rolled_back":
            return Outcome(verdict="undone", at=moment)
        case "expired":
            return Outcome(verdict="expired", at=moment)
        case "stale" | "superseded":
            return Outcome(verdict="not placed", at=moment, where=clean(state.reason))
        case "proposed" | "approved":
            return None


def renew_log(text: str, states: Mapping[str, ProposalState], *, now: datetime, window: timedelta) -> str:
    """A dream note with each decided pair's boxes turned into the line that says so, with one undo box while it can be
    taken back; the boxes of a pair that is open again; and no undo box whose time is over.

    A line that says so already stays to the letter: another machine may have written it, by its own clock.
    """
    for pair in _pairs(text):
        state = states.get(pair.id)
        if state is not None and titles_match((pair.from_, pair.to), state):
            text = _renew(text, pair, state, now=now, window=window)
    return text


def _pairs(text: str) -> list[LoggedPair]:
    return [pair for block in parse_blocks(text)[0] for pair in block.pairs]


def _renew(text: str, pair: LoggedPair, state: ProposalState, *, now: datetime, window: timedelta) -> str:
    outcome = outcome_of(state, now=now, window=window)
    if outcome is None:
        is_reopened = pair.outcome is not None and state.state == "proposed"
        return reopen_in_text(text, pair.id) if is_reopened else text
    if pair.outcome is None or pair.outcome.verdict != outcome.verdict:
        return decide_in_text(text, pair.id, outcome)
    if pair.outcome.undo_until and not outcome.undo_until:
        return decide_in_text(text, pair.id, without_undo(pair.outcome))
    return text


def told_not_undone(text: str, id_: str, sentences: Sequence[str]) -> str:
    """A dream note in which a ticked undo is unticked, and a line under it says what is to be done by hand."""
    for pair in _pairs(text):
        if pair.id == id_ and pair.outcome is not None and pair.outcome.undo_ticked:
            text = decide_in_text(text, id_, replace(pair.outcome, undo_ticked=False))
            for sentence in reversed(sentences):
                text = tell_in_text(text, id_, f"not undone: {escape_plain(sentence)}")
    return text


def pair_ids(text: str) -> tuple[str, ...]:
    """Ids of the pairs that a dream note shows."""
    return tuple(pair.id for pair in _pairs(text))


def reopened_items(
    text: str, day: date, states: Mapping[str, ProposalState], *, all_open: bool = False
) -> tuple[ReviewItem, ...]:
    """The pairs of a dream note that were decided once and are open again: the review shows them anew. With `all_open`
    every pair that waits, for a review that has lost them."""
    return tuple(
        ReviewItem(kind="link", pair=replace(pair, ticked=frozenset(), outcome=None), dreamt_on=day)
        for pair in _pairs(text)
        if (state := states.get(pair.id)) is not None
        and state.state == "proposed"
        and (all_open or state.since != state.proposal.at)
        and titles_match((pair.from_, pair.to), state)
    )


def renew_review(
    text: str,
    states: Mapping[str, ProposalState],
    reopened: Iterable[ReviewItem] = (),
    *,
    changes: Callable[[Sequence[ChangeItem], frozenset[str]], Sequence[ChangeItem]] | None = None,
) -> str:
    """The review note without the pairs that are decided, with those that are open again at its end, and with what a
    reach or Janus said of those that wait. `changes` gives the other items as they should read, of those that stand
    there and the ids of the pairs.

    Set ticks of the others stay. Unchanged where the managed block cannot be read.
    """
    managed, problems = read_managed(text)
    if managed is None or problems:
        return text
    kept = tuple(_looked_at(item, states) for item in managed.items if not _is_over(item, states))
    listed = {item.pair.id for item in kept}
    items = (*kept, *(item for item in reopened if item.pair.id not in listed))
    ids = frozenset(item.pair.id for item in (*managed.items, *items))
    others = managed.changes if changes is None else tuple(changes(managed.changes, ids))
    same = items == managed.items and others == managed.changes
    return text if same else with_managed(text, managed, items, others)


def _looked_at(item: ReviewItem, states: Mapping[str, ProposalState]) -> ReviewItem:
    """The item with the edge's name and Janus's verdict, where the journal knows them."""
    state = states.get(item.pair.id)
    if state is None or not titles_match((item.pair.from_, item.pair.to), state):
        return item
    looked = replace(item, edge=clean(state.edge)) if state.edge else item
    if state.janus not in ("STANDS", "FALLS", "UNSURE"):
        return looked
    return replace(looked, janus=state.janus, janus_reason=clean(state.janus_reason))


def _is_over(item: ReviewItem, states: Mapping[str, ProposalState]) -> bool:
    state = states.get(item.pair.id)
    return state is not None and not state.is_open and titles_match((item.pair.from_, item.pair.to), state)
