"""A decision taken back: an applied change is rolled back, a refusal forgotten; or it is said what to do by hand."""

from __future__ import annotations

from typing import TYPE_CHECKING, assert_never

from aria_dream.cycle.desk import is_structural, pair_of
from aria_dream.review.application import edits_now
from aria_dream.review.proposal import event_record
from aria_dream.review.rollback import Impossible, Partly, Restored, plan_rollback
from aria_dream.vault.edit import Exists
from aria_dream.vault.note import NotePath
from aria_dream.world import Conflict, Content, Failed, Refused, Written

if TYPE_CHECKING:
    from aria_dream.cycle.desk import Desk, Settlement
    from aria_dream.review.proposal import ProposalState
    from aria_dream.vault.edit import ChangeSet
    from aria_dream.world import PastChange


UNDONE = "it was settled, and that was undone"


def take_back(desk: Desk, state: ProposalState, done: Settlement, *, by: str) -> tuple[str, ...]:
    """What is left to be done by hand, one sentence each; empty where the decision is undone, or can be later.

    An applied change is rolled back, a refusal forgotten. `done` says what came of it.
    """
    id_ = state.proposal.id
    if state.state == "rejected":
        desk.book.note(event_record("reopened", id_, desk.now, by=by))
        done.undone.append(id_)
        return ()
    if state.state != "applied":
        done.said.append(f"{pair_of(state)} ({id_}): nothing to undo, it is {state.state.replace('_', ' ')}")
        return ()
    change = next((one for one in desk.files.past_changes() if one.change_id == state.history), None)
    if desk.now - state.since > desk.window or (change is None and state.history):
        hours = desk.vault.live.policy.settings.rollback_window_h
        return _by_hand(state, (f"the {hours} hours are over; {_hint(state)}",), done)
    if change is None:
        done.said.append(
            f"{pair_of(state)}: this was done on another machine, which can undo it; or {_hint(state)}"
        )
        return ()
    return _roll_back(desk, state, change, done, by=by)


def open_again(desk: Desk) -> None:
    """A contradiction whose settling was taken back is open: it is proposed as before."""
    for id_, state in desk.book.read().states.items():
        if state.proposal.kind == "resolve_contradiction" and state.state == "rolled_back":
            desk.book.note(event_record("reopened", id_, desk.now, by=state.by, reason=UNDONE))


def _hint(state: ProposalState) -> str:
    if state.proposal.kind == "link":
        source, target = state.proposal.titles if len(state.proposal.titles) == 2 else state.paths[:2]
        return f"to undo it, take the link to {target} out of {source} by hand"
    changed = dict.fromkeys(edit.path for edit in edits_now(state)) or state.paths
    return f"to undo it, change {', '.join(changed)} by hand"


def _by_hand(state: ProposalState, sentences: tuple[str, ...], done: Settlement) -> tuple[str, ...]:
    done.said += [f"{pair_of(state)}: not undone, {sentence}" for sentence in sentences]
    return sentences


def _roll_back(desk: Desk, state: ProposalState, change: PastChange, done: Settlement, *, by: str) -> tuple[str, ...]:
    renamed = {NotePath(old): NotePath(new) for old, new in zip(state.proposal.paths, state.paths, strict=True)}
    places = {path for file in change.files for path in (file.path, file.moved_to) if path is not None}
    places |= {renamed[path] for path in places if path in renamed}
    read = {path: desk.files.read(path) for path in places}
    contents = {path: content.data for path, content in read.items() if isinstance(content, Content)}
    plan = plan_rollback(change.files, contents, renamed=renamed)
    match plan:
        case Impossible(by_hand=by_hand):
            return _by_hand(state, by_hand, done)
        case Restored(changes=changes):
            return _write(desk, state, changes, done, by=by)
        case Partly(changes=changes, left=left):
            done.said += left
            return _write(desk, state, changes, done, by=by)
        case _:
            assert_never(plan)


def _write(desk: Desk, state: ProposalState, changes: ChangeSet, done: Settlement, *, by: str) -> tuple[str, ...]:
    outcome = desk.files.write(changes, label=f"roll back {state.proposal.id}", quiet_s=desk.quiet_s)
    match outcome:
        case Written():  # also where a crash came before the journal: then there was nothing left to write
            desk.book.note(event_record("rolled_back", state.proposal.id, desk.now, by=by))
            done.undone.append(state.proposal.id)
            done.moved = done.moved or is_structural(changes)
            open_again(desk)
            return ()
        case Exists():
            return _by_hand(state, (f"“{outcome.path}” is in the way; rename it and undo again",), done)
        case Conflict() | Refused() | Failed():
            done.said.append(f"{pair_of(state)}: not undone yet, {outcome.path}: {outcome.reason}")
            return ()
        case _:
            assert_never(outcome)
