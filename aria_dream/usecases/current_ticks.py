"""What is ticked in our notes at this moment: what counts, and every ticked box that does not, with the reason."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from aria_dream.consolidate.open_lists import read_ticked
from aria_dream.notes.tick_lines import with_ids
from aria_dream.notes.ticks import read_ticks
from aria_dream.review.decision import Ticked, decide, identified
from aria_dream.review.journal import renamed
from aria_dream.review.proposal import plan_renames
from aria_dream.vault.edit import decode_note

if TYPE_CHECKING:
    from collections.abc import Mapping

    from aria_dream.errors import Problem
    from aria_dream.review.decision import Decision
    from aria_dream.review.proposal import ProposalState
    from aria_dream.usecases.review_session import ReviewSession, Settlement


@dataclass(frozen=True, slots=True, kw_only=True)
class CurrentTicks:
    """What the boxes in our notes say."""

    ticked: tuple[Ticked, ...]
    decisions: tuple[Decision, ...]
    """What is left to do of them."""
    ignored: tuple[Problem, ...]
    """One for each ticked box that does not count."""
    shut: tuple[Problem, ...]
    """Notes of ours that cannot be read."""
    kept: int
    """Answers in the night's lists, which the next night reads."""


def read_current_ticks(session: ReviewSession, states: Mapping[str, ProposalState]) -> CurrentTicks:
    """Every ticked box of our notes that nobody is typing in, held against the proposals in `states`."""
    ticked: list[Ticked] = []
    ignored: list[Problem] = []
    kept = 0
    for path, data in session.surfaces().items():
        if not session.is_quiet(path):
            continue
        text = decode_note(data)
        ticks, problems = read_ticks(text)
        ticked += [Ticked(tick=tick, surface=path) for tick in ticks]
        ignored += [replace(problem, path=path) for problem in problems]
        if path == session.vault.home.review:
            kept, problems = read_ticked(text)
            ignored += [replace(problem, path=path) for problem in problems]
    decisions, problems = decide(ticked, states, session.vault.index.resolver.resolve)
    return CurrentTicks(
        ticked=tuple(ticked),
        decisions=decisions,
        ignored=tuple(sorted((*ignored, *problems), key=lambda problem: (problem.path, problem.line))),
        shut=tuple(session.shut_surfaces()),
        kept=kept,
    )


def states_now(session: ReviewSession) -> dict[str, ProposalState]:
    """The proposals under the names that their notes bear now, as the next sitting will have them. Writes nothing."""
    states = dict(session.store.read().states)
    hashes = {fact.path: fact.content_hash.hex() for fact in session.vault.index.facts}
    for one in plan_renames(states.values(), hashes, session.now, earlier=session.store.note_hashes()):
        states = renamed(states, one.from_, one.to)
    return states


def restore_ids(session: ReviewSession, states: Mapping[str, ProposalState], done: Settlement) -> None:
    """Gives the boxes that count without their ids the ids back, so that their lines can be renewed."""
    for path, data in session.surfaces().items():
        text = before = decode_note(data)
        for tick in read_ticks(text)[0] if session.is_quiet(path) else ():
            one = identified(Ticked(tick=tick, surface=path), states) if tick.lost else None
            if one is not None:
                text = with_ids(text, one.tick.id, tick.lost)
        if text != before:
            session.put(path, data, text, done)
