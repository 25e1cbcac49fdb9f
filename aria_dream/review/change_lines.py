"""The review's lines for changes, brought up to date with the journal: what is new, what was decided, what is over.

Pure. What a writer ticked stays ticked, and a line that says already what it should stays to the letter.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final

from aria_dream.notes.change_grammar import DecidedChange, Said
from aria_dream.notes.dream_note_grammar import LoggedLink
from aria_dream.notes.plain_text import clean
from aria_dream.notes.review_note import read_managed, with_managed
from aria_dream.notes.tick_lines import short_moment
from aria_dream.review.decision import needs_mark, shown_titles, titles_match
from aria_dream.review.proposal import plan_mark
from aria_dream.review.showing import is_of_review, why_again

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence
    from datetime import datetime, timedelta

    from aria_dream.notes.change_grammar import ChangeItem, LoggedChange
    from aria_dream.review.proposal import ProposalState, State

_SAID: Final[Mapping[State, Said]] = {
    "applied": "done", "rejected": "never again", "rolled_back": "undone", "stale": "not done"
}  # fmt: skip
"""States that are told for a while; what lapsed, or was done by hand, just goes."""


def renew_changes(
    items: Sequence[ChangeItem],
    states: Mapping[str, ProposalState],
    fresh: Callable[[ProposalState], LoggedChange | None],
    *,
    now: datetime,
    window: timedelta,
    elsewhere: Iterable[str] = (),
    all_open: bool = False,
) -> tuple[ChangeItem, ...]:
    """The items as they should read at `now` (aware, in the writer's zone), and what waits and is not among them.

    `fresh`: a proposal's lines as they would be shown now. `elsewhere`: ids that have a line in a dream note or among
    the pairs. `all_open`: those pairs too whose dream note is gone, for a review that is made anew. An item that no
    journal knows stays: another machine proposed it.
    """
    renew = (_renew(item, states.get(item.id), fresh, now=now, window=window) for item in items)
    kept = tuple(item for item in renew if item is not None)
    listed = {*(item.id for item in items), *elsewhere}
    unlisted = [
        state
        for id_, state in states.items()
        if id_ not in listed and (is_of_review(state.proposal) or (all_open and state.state == "proposed"))
    ]
    waiting = (fresh(state) if state.state == "proposed" else _made(state, now, window) for state in unlisted)
    return (*kept, *(item for item in waiting if item is not None))


def _made(state: ProposalState, now: datetime, window: timedelta) -> DecidedChange | None:
    """The line of what was done or refused before the review ever showed it, such as what needs no tick any more."""
    return decided_change(state, now=now, window=window) if state.state in ("applied", "rejected") else None


def _renew(
    item: ChangeItem,
    state: ProposalState | None,
    fresh: Callable[[ProposalState], LoggedChange | None],
    *,
    now: datetime,
    window: timedelta,
) -> ChangeItem | None:
    """The item as it should read; None where it goes."""
    if state is None or not titles_match(item.ends, state):
        return item
    if state.is_open:
        if isinstance(item, DecidedChange):
            return fresh(state)
        if needs_mark(state) and item.mark != plan_mark(state.edits, item.diff):
            return fresh(state)
        if state.reason and not any(label == why_again(state) for label, _ in item.remarks):
            return fresh(state) or item  # with empty boxes: whoever ticked had not read this
        if state.janus in ("STANDS", "FALLS", "UNSURE") and item.janus != state.janus:
            shown = fresh(state)
            return item if shown is None else replace(item, janus=shown.janus, janus_reason=shown.janus_reason)
        return item
    decided = decided_change(state, now=now, window=window)
    if isinstance(item, DecidedChange) and decided is None and item.told and now < state.since + 2 * window:
        return replace(item, undo_until="", undo_ticked=False)  # asked for too late: what to do stays for a while
    says_so = isinstance(item, DecidedChange) and decided is not None and item.said == decided.said
    if says_so or decided is None or not isinstance(item, DecidedChange):
        return item if says_so else decided
    return replace(decided, told=item.told)  # an undo that left something says what


def decided_change(state: ProposalState, *, now: datetime, window: timedelta) -> DecidedChange | None:
    """The line of a proposal that was decided; None where it has been told long enough, or needs no telling."""
    said = _SAID.get(state.state)
    at = state.since.astimezone(now.tzinfo)
    until = at + window
    if said is None or until <= now:
        return None
    return DecidedChange(
        id=state.proposal.id,
        kind=state.proposal.kind,
        ends=tuple(LoggedLink(target="", title=title, style="plain") for title in shown_titles(state)),
        said=said,
        at=short_moment(at, seen_from=state.proposal.at.astimezone(now.tzinfo)),
        why=clean(state.reason) if said == "not done" else "",
        undo_until=short_moment(until, seen_from=at) if said in ("done", "never again") else "",
    )


def told_in_review(text: str, id_: str, sentences: Sequence[str]) -> str:
    """The review note in which a ticked undo is unticked, and lines under it say what is to be done by hand."""
    block, problems = read_managed(text)
    if block is None or problems:
        return text
    told = tuple(clean(sentence) for sentence in sentences)
    changes = tuple(
        replace(item, undo_ticked=False, told=told)
        if isinstance(item, DecidedChange) and item.id == id_ and item.undo_ticked
        else item
        for item in block.changes
    )
    return text if changes == block.changes else with_managed(text, block, block.items, changes)
