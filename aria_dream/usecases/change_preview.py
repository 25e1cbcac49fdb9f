"""The exact change of a proposal before it is written: planned, journalled, held against what was shown, doubted."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final

from aria_dream.markdown.note import NotePath
from aria_dream.notes.change_grammar import DONE
from aria_dream.review.application import (
    Stale,
    approve,
    edits_now,
    merged_text_refusal,
    plan_again,
    planned_before,
    proposal_hash,
)
from aria_dream.review.own_writes import NONE
from aria_dream.review.plan import Planned, whole_lines
from aria_dream.review.proposal import ProposalState, event_record, planned_record
from aria_dream.usecases.review_session import as_approved, pair_of
from aria_dream.vault.edit import ABSENT, Refusal, content_hash

if TYPE_CHECKING:
    from aria_dream.review.application import Approved
    from aria_dream.review.own_writes import OwnWrites
    from aria_dream.review.placement import AlreadyLinked
    from aria_dream.review.plan import VaultView
    from aria_dream.review.proposal import Proposal
    from aria_dream.usecases.review_session import ReviewSession, Settlement
    from aria_dream.vault.edit import ChangeSet


def with_plan(session: ReviewSession, state: ProposalState) -> ProposalState:
    """The proposal with the exact change that it is about; made and journalled where a crash came before."""
    if state.edits or state.proposal.kind == "link":
        return state
    return note_shown(session, state, show_change(session, state))


def show_change(session: ReviewSession, state: ProposalState) -> Planned | AlreadyLinked | Refusal:
    """What would be written for a proposal now, exactly: what was planned as long as it fits; of a link the whole line,
    as a diff shows it."""
    view = session.view_of(state)
    allowed = approve(as_approved(state))
    if isinstance(allowed, Refusal):
        return allowed
    before = planned_before(allowed, view) if allowed.kind != "link" else ""
    if isinstance(before, str):
        return plan_lines(allowed, view)
    return Refusal(before.reason) if isinstance(before, Stale) else before


SHOWN_AROUND: Final = 50
"""Characters shown on either side of a link that would be placed."""


def describe_link(session: ReviewSession, proposal: Proposal) -> str:
    """Where the link of a proposal would go and how its line would read, in one clause; why there would be none."""
    state = ProposalState(proposal=proposal, state="proposed", since=proposal.at, paths=proposal.paths)
    found = show_change(session, state)
    if isinstance(found, Refusal):
        return f"nowhere by itself: {found.reason}"
    if not isinstance(found, Planned) or not found.edits:
        return ""
    edit = found.edits[-1]
    name = session.vault.name_of(edit.path)
    line = next((line for line in edit.inserted.splitlines() if "[[" in line or "](" in line), edit.inserted).strip()
    at = max(line.find("[["), line.find("]("), 0)
    first, last = max(0, at - SHOWN_AROUND), at + len(session.vault.name_of(proposal.paths[1])) + SHOWN_AROUND
    shown = f"{'…' if first else ''}{line[first:last].strip()}{'…' if last < len(line) else ''}"
    return f"{name}, {'in the line' if edit.removed.strip() else 'as a new line'} “{shown}”"


def plan_lines(approved: Approved, view: VaultView, own: OwnWrites = NONE) -> Planned | AlreadyLinked | Refusal:
    """A new plan; that of a link spans whole lines, so that it fits no other line than the one that was shown."""
    found = plan_fresh(approved, view, own)
    if not isinstance(found, Planned) or approved.kind != "link":
        return found
    return replace(found, edits=tuple(whole_lines(edit, view.contents) for edit in found.edits))


def plan_fresh(approved: Approved, view: VaultView, own: OwnWrites = NONE) -> Planned | AlreadyLinked | Refusal:
    """`plan_again`, where the exact text of a merge finds the same places for the headings and blocks of its notes.

    Where its notes have changed by `own` changes alone, the text is made again from what they read now.
    """
    if approved.kind == "merge" and approved.body is not None and merged_text_refusal(approved, view, own) is None:
        from aria_dream.consolidate.note_merges import plan_note_merge

        keep, *drops = map(NotePath, approved.paths)
        found = plan_note_merge(view, keep, drops)
        is_current = merged_text_refusal(approved, view) is None
        if not isinstance(found, Refusal) and (found.body == approved.body or not (is_current or approved.is_reworded)):
            return found.planned
    return plan_again(approved, view)


def note_shown(session: ReviewSession, state: ProposalState, shown: Planned | AlreadyLinked | Refusal) -> ProposalState:
    """The proposal with the change that its reader looks at; journalled, so that an approval can be held against it."""
    if not isinstance(shown, Planned) or shown.edits == state.edits:
        return state
    session.store.note(planned_record(state.proposal.id, shown.edits, session.now))
    return replace(state, edits=shown.edits)


def is_as_shown(state: ProposalState, fresh: Planned | AlreadyLinked | Refusal) -> bool:
    """Whether `fresh` is what was shown last; also where nothing was."""
    if not state.edits or not isinstance(fresh, Planned):
        return True
    return [(one.removed, one.inserted) for one in state.edits] == [(one.removed, one.inserted) for one in fresh.edits]


def is_changed_by_us(session: ReviewSession, state: ProposalState) -> bool:
    """Whether the notes read otherwise than when the change was shown by nothing but other changes of ours."""
    own, contents = session.own_writes(), session.contents(edit.path for edit in edits_now(state))
    read = {str(path): content_hash(data) for path, data in contents.items()}
    return all(own.leads(edit.path, edit.before, read.get(edit.path, ABSENT)) for edit in edits_now(state))


def approve_shown(
    session: ReviewSession, state: ProposalState, shown: Planned | AlreadyLinked | Refusal, done: Settlement
) -> None:
    """Journals an approval of exactly what was shown: these lines are written so, or nothing is."""
    seen = note_shown(session, state, shown)
    hash_ = proposal_hash(seen) if isinstance(shown, Planned) else ""
    session.store.note(event_record("approved", state.proposal.id, session.now, by="terminal", shown=hash_))
    done.approved.append(state.proposal.id)


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
