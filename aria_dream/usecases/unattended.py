"""What is not written after all, right before it is: a change that nobody has ticked and that gives reason for doubt,
and one that was approved together with another that excludes it. Both are open again and say why.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from aria_dream.notes.change_grammar import DONE
from aria_dream.review.proposal import event_record
from aria_dream.usecases.review_session import pair_of

if TYPE_CHECKING:
    from aria_dream.review.plan import VaultView
    from aria_dream.review.proposal import ProposalState
    from aria_dream.usecases.review_session import ReviewSession, Settlement
    from aria_dream.vault.edit import ChangeSet

UNATTENDED: Final = "auto"
"""`by` of an approval that no person gave."""


def leave_to_writer(
    session: ReviewSession, state: ProposalState, changes: ChangeSet, view: VaultView, done: Settlement
) -> bool:
    """Whether the change stays unwritten because something speaks against it and no person has approved it. It is open
    again then, says why, and never passes by itself any more."""
    if state.by != UNATTENDED:
        return False
    from aria_dream.consolidate.unattended_guard import contradictions_left, find_doubt  # numpy

    others = session.store.read().states.values()
    at_odds = contradictions_left(session.store.consolidations(), session.store.settled().keys(), others)
    doubt = find_doubt(state, changes, view, others=others, at_odds=at_odds)
    if not doubt:
        return False
    id_ = state.proposal.id
    session.store.note(event_record("reopened", id_, session.now, by=UNATTENDED, reason=doubt))
    done.approved[:] = [one for one in done.approved if one != id_]
    done.held.append(f"{pair_of(state)}: waits for your tick, {doubt}")
    done.said.append(done.held[-1])
    return True


def leave_out(session: ReviewSession, state: ProposalState, rival: ProposalState, done: Settlement) -> None:
    """Opens an approved proposal again because `rival`, which was approved with it, goes first."""
    id_ = state.proposal.id
    reason = f"{pair_of(rival)} is about the same notes, and only one of the two can be done; look at this one again"
    session.store.note(event_record("reopened", id_, session.now, by=state.by, reason=reason))
    done.approved[:] = [one for one in done.approved if one != id_]
    done.excluded.append(id_)
    done.said.append(f"{pair_of(state)}: not {DONE[state.proposal.kind]}, {reason}")
