"""What our history says of a change: it takes a decision back, and it tells who linked two notes."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final, assert_never

from aria_dream.errors import Problem
from aria_dream.review.application import edits_now
from aria_dream.review.following import links_of
from aria_dream.review.inbound import notes_to_read
from aria_dream.review.proposal import event_record
from aria_dream.review.rollback import Impossible, Partly, Restored, plan_rollback, without_change
from aria_dream.review.showing import change_name
from aria_dream.usecases.review_session import NotUndone, is_structural, pair_of
from aria_dream.vault.edit import Exists
from aria_dream.vault.resolve import Resolver
from aria_dream.world import Conflict, Failed, Refused, Written

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from aria_dream.review.proposal import ProposalState
    from aria_dream.usecases.review_session import ReviewSession, Settlement
    from aria_dream.vault.edit import ChangeSet
    from aria_dream.world import PastChange, PastWrite

ROLL_BACK: Final = "roll back "
UNDONE = "it was settled, and that was undone"


def undo_decision(session: ReviewSession, state: ProposalState, done: Settlement, *, by: str) -> tuple[str, ...]:
    """What is left to be done by hand, one sentence each; empty where the decision is undone whole, or can be later.

    An applied change is rolled back, a refusal forgotten. `done` says what came of it.
    """
    id_ = state.proposal.id
    if state.state == "rejected":
        session.store.note(event_record("reopened", id_, session.now, by=by))
        done.undone.append(id_)
        return ()
    if state.state != "applied":
        done.said.append(f"{pair_of(state)} ({id_}): nothing to undo, it is {state.state.replace('_', ' ')}")
        return ()
    change = next((one for one in session.files.past_changes() if one.change_id == state.history), None)
    if session.now - state.since > session.window or (change is None and state.history):
        hours = session.vault.live.policy.settings.rollback_window_h
        return _by_hand(state, (Problem("", 0, f"the {hours} hours are over; {_hint(state)}"),), done)
    if change is None:
        done.said.append(f"{pair_of(state)}: this was done on another machine, which can undo it; or {_hint(state)}")
        return ()
    if done.moved:  # what links mean by now is not known before the vault was read again
        done.again = True
        return ()
    return _roll_back(session, state, change, done, by=by)


def open_again(session: ReviewSession) -> None:
    """A contradiction whose settling was taken back is open: it is proposed as before."""
    for id_, state in session.store.read().states.items():
        if state.proposal.kind == "resolve_contradiction" and state.state == "rolled_back":
            session.store.note(event_record("reopened", id_, session.now, by=state.by, reason=UNDONE))


def _hint(state: ProposalState) -> str:
    if state.proposal.kind == "link":
        source, target = state.proposal.titles if len(state.proposal.titles) == 2 else state.paths[:2]
        return f"to undo it, take the link to {target} out of {source} by hand"
    changed = dict.fromkeys(edit.path for edit in edits_now(state)) or state.paths
    return f"to undo it, change {', '.join(changed)} by hand"


def _by_hand(state: ProposalState, left: Sequence[Problem], done: Settlement) -> tuple[str, ...]:
    done.not_undone += [NotUndone(state.proposal.id, problem) for problem in left]
    done.said += [f"{pair_of(state)}: not undone, {problem}" for problem in left]
    return tuple(str(problem) for problem in left)


def _roll_back(
    session: ReviewSession, state: ProposalState, change: PastChange, done: Settlement, *, by: str
) -> tuple[str, ...]:
    later = _later(session, change)
    if later:
        said = f"“{later}” was made later with the same notes; undo that first"
        return _by_hand(state, (Problem("", 0, said),), done)
    files = session.vault.index.files
    place = session.places(change, dict(zip(state.proposal.paths, state.paths, strict=True)))
    came_back = [str(file.path) for file in change.files if file.moved_to is not None or file.after is None]
    wanted = {str(path) for file in change.files for path in (file.path, file.moved_to) if path is not None}
    wanted |= {place[path] for path in wanted if path in place}
    wanted.update(notes_to_read(session.vault.index.linkage, came_back))
    plan = plan_rollback(
        _without_undone(session, change, place), session.contents(wanted), place=place, names=change.names,
        files_now=frozenset(files),
    )  # fmt: skip
    match plan:
        case Impossible(by_hand=by_hand):
            return _by_hand(state, by_hand, done)
        case Restored(changes=changes):
            return _write(session, state, changes, (), done, by=by)
        case Partly(changes=changes, left=left):
            return _write(session, state, changes, left, done, by=by)
        case _:
            assert_never(plan)


def _without_undone(session: ReviewSession, change: PastChange, place: Mapping[str, str]) -> tuple[PastWrite, ...]:
    """The files of the change as they would have been without what came before it and was taken back after it: a
    heading that two changes shared goes with the second one, in whatever order they are taken back."""
    past = session.files.past_changes()
    at = next(number for number, one in enumerate(past) if one.change_id == change.change_id)
    undone_after = {one.label.removeprefix(ROLL_BACK) for one in past[at:] if one.label.startswith(ROLL_BACK)}
    undone_before = {one.label.removeprefix(ROLL_BACK) for one in past[:at] if one.label.startswith(ROLL_BACK)}
    files = change.files
    for one in reversed(past[:at]):
        if _applied_id(one.label) in undone_after - undone_before:
            now = session.places(one)
            here = {now.get(str(file.path), ""): file for file in one.files}
            files = tuple(_without(file, here.get(place.get(str(file.path), "-"))) for file in files)
    return files


def _without(file: PastWrite, earlier: PastWrite | None) -> PastWrite:
    """The file as its change would have found and left it, had `earlier` not been written."""
    if earlier is None or None in (file.before, file.after, earlier.before, earlier.after) or file.moved_to is not None:
        return file
    before, after = (without_change(image or b"", earlier) for image in (file.before, file.after))
    return file if before is None or after is None else replace(file, before=before, after=after)


def _applied_id(label: str) -> str:
    """The proposal whose application is called so in the history; `""` for anything else."""
    words = label.split()
    return words[1] if len(words) > 1 and words[0] == "apply" else ""


def _later(session: ReviewSession, change: PastChange) -> str:
    """A later change that took away what this one wrote, and stands; `""` where there is none."""
    touched = {file.path for file in change.files if file.moved_to is None}
    standing = {state.history: state for state in session.store.read().states.values() if state.state == "applied"}
    for other in session.files.past_changes():
        gone = {file.path for file in other.files if file.moved_to is not None or file.after is None}
        if other.at > change.at and other.change_id in standing and gone & touched:
            return change_name(standing[other.change_id])
    return ""


def _write(
    session: ReviewSession,
    state: ProposalState,
    changes: ChangeSet,
    left: Sequence[Problem],
    done: Settlement,
    *,
    by: str,
) -> tuple[str, ...]:
    outcome = session.files.write(changes, label=f"{ROLL_BACK}{state.proposal.id}", quiet_s=session.quiet_s)
    match outcome:
        case Written():  # also where a crash came before the journal: then there was nothing left to write
            session.store.note(event_record("rolled_back", state.proposal.id, session.now, by=by))
            done.undone.append(state.proposal.id)
            done.moved = done.moved or is_structural(changes)
            open_again(session)
            return _by_hand(state, left, done)
        case Exists():
            said = f"“{outcome.path}” is in the way; rename it and undo again"
            return _by_hand(state, (Problem("", 0, said),), done)
        case Conflict() | Refused() | Failed():
            done.said.append(f"{pair_of(state)}: not undone yet, {outcome.path}: {outcome.reason}")
            return ()
        case _:
            assert_never(outcome)


LINKED_BY_HAND: Final = "you linked them yourself"


def read_link_author(session: ReviewSession, pair: tuple[str, ...]) -> str:
    """Why two notes do not wait for a link any more: an applied change of ours linked them, or the writer did."""
    standing = {
        one.history: one for one in session.store.read().states.values() if one.state == "applied" and one.history
    }
    for change in session.files.past_changes():
        state = standing.get(change.change_id)
        place = session.places(change) if state is not None else {}
        if state is not None and any(_links(file, place, pair) for file in change.files):
            return f"the change “{change_name(state)}” has linked them"
    return LINKED_BY_HAND


def _links(file: PastWrite, place: Mapping[str, str], pair: tuple[str, ...]) -> bool:
    """Whether the file is one of the pair and got a link to the other by being written."""
    source = str(file.path)
    if place.get(source) not in pair or file.moved_to is not None:
        return False
    resolver = Resolver(place)  # among the names of that time
    before, after = (
        {place.get(resolver.resolve(link.path, source) or "") for link in links_of(file.path, content)}
        for content in (file.before, file.after)
    )
    return bool((set(pair) - {place[source]}) & (after - before))
