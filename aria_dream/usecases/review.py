"""The data path of a decision, in order, as code: read the ticks, journal, plan, write, renew the lines.

Every step can be repeated: what a crash cut off is finished by the next run, and nothing is done twice.
"""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, assert_never

from aria_dream.adapters.state.graduation import read_graduated
from aria_dream.consolidate.figures import nights_of
from aria_dream.errors import WriteRefusedError
from aria_dream.markdown.note import NotePath
from aria_dream.notes.change_grammar import DONE
from aria_dream.notes.tick_lines import ask_in_text
from aria_dream.review.application import (
    Ready,
    Stale,
    approve,
    edits_now,
    plan_application,
    proposal_hash,
)
from aria_dream.review.change_lines import told_in_review
from aria_dream.review.graduation import bars_of, unattended
from aria_dream.review.lines import told_not_undone
from aria_dream.review.proposal import KNEW_IT, edit_rows, event_record
from aria_dream.review.rivals import in_order
from aria_dream.usecases.change_preview import (
    UNATTENDED,
    approve_shown,
    is_as_shown,
    is_changed_by_us,
    leave_out,
    leave_to_writer,
    note_shown,
    plan_fresh,
    plan_lines,
    show_change,
)
from aria_dream.usecases.own_lines import read_current_ticks, renew_lines, restore_ids
from aria_dream.usecases.review_session import ReviewSession, Settlement, is_structural, pair_of, trusted_edits
from aria_dream.usecases.undo import open_again, read_link_author, undo_decision
from aria_dream.vault.edit import Exists, Refusal, decode_note
from aria_dream.vault.graph import row_of, targets_of
from aria_dream.world import Conflict, Failed, Refused, Written

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

    from aria_dream.adapters.state.record_store import Records
    from aria_dream.review.decision import Decision, Ticked
    from aria_dream.review.proposal import PlannedEdit, ProposalState
    from aria_dream.vault.edit import ChangeSet
    from aria_dream.world import PastChange

__all__ = [
    "ReviewSession", "Settlement", "apply_approved", "approve_shown", "is_as_shown", "is_changed_by_us", "note_shown",
    "renew_lines", "settle", "show_change", "undo_decision",
]  # fmt: skip


def settle(session: ReviewSession) -> Settlement:
    """Carries out everything that was ticked or approved, takes back what was undone, and renews our lines.

    A note of ours that somebody changed within `session.quiet_s` is not looked at: its ticks may still change.

    Raises:
        BusyError: another of our processes writes and does not end.
        StateDamagedError: a journal cannot be read.
    """
    done = Settlement()
    records = session.records()
    done.expired += [id_ for id_, one in records.states.items() if one.state == "expired" and one.since == session.now]
    seen = read_current_ticks(session, records.states)
    done.ignored += seen.ignored
    done.kept, done.home = seen.kept, session.vault.home.moved
    done.said += [str(problem) for problem in seen.shut]
    done.unwritten += [problem.path for problem in seen.shut]
    restore_ids(session, records.states, done)
    for decision in _last_first(seen.decisions, records.states, session.files.past_changes()):
        state = records.states.get(decision.id)
        if state is not None:  # a line that vouches for itself is in the journal by now
            with _by_itself(state, done):
                _decide(session, decision, state, seen.ticked, done)
    open_again(session)
    records = session.store.read()
    _notice_links(session, records, done)
    _let_pass(session, records, {one.tick.id for one in seen.ticked}, done)
    apply_approved(session, done)
    renew_lines(session, done)
    session.files.purge(session.now, session.window.total_seconds() / 3600)
    return done


@contextmanager
def _by_itself(state: ProposalState, done: Settlement) -> Iterator[None]:
    """What goes wrong with one decision is said, and the next one has its turn."""
    try:
        yield
    except (OSError, WriteRefusedError) as error:
        reason = error.strerror or str(error) if isinstance(error, OSError) else str(error)
        done.said.append(f"{pair_of(state)}: not carried out, {reason}")
        done.unwritten.append(state.proposal.id)


def _last_first(
    decisions: Iterable[Decision], states: Mapping[str, ProposalState], past: Sequence[PastChange]
) -> list[Decision]:
    """What is taken back in the reverse order of what was done, before anything else."""
    order = {change.change_id: number for number, change in enumerate(past)}
    undone = [one for one in decisions if one.choice == "undo"]
    undone.sort(key=lambda one: order.get(states[one.id].history, -1) if one.id in states else -1)
    return [*reversed(undone), *(one for one in decisions if one.choice != "undo")]


def _decide(
    session: ReviewSession, decision: Decision, state: ProposalState, ticked: Sequence[Ticked], done: Settlement
) -> None:
    match decision.choice:
        case "approve":
            seen = {} if state.proposal.kind == "link" else {"shown": proposal_hash(state)}
            session.store.note(event_record("approved", decision.id, session.now, by="tick", **seen))
            done.approved.append(decision.id)
        case "reject" | "know":
            known = {"reason": KNEW_IT} if decision.choice == "know" else {}
            session.store.note(event_record("rejected", decision.id, session.now, by="tick", **known))
            done.rejected.append(decision.id)
        case "undo":
            by_hand = undo_decision(session, state, done, by="tick")
            if decision.id not in done.undone:
                done.unwritten.append(decision.id)
            for path, data in session.surfaces().items() if by_hand else ():
                tell = told_in_review if session.is_review(path) else told_not_undone
                text = tell(decode_note(data), decision.id, by_hand)
                if text != decode_note(data):
                    session.put(path, data, text, done)
        case "ask":
            _ask(session, decision, ticked, done)
        case _:
            assert_never(decision.choice)


def _ask(session: ReviewSession, decision: Decision, ticked: Sequence[Ticked], done: Settlement) -> None:
    for one in ticked:
        data = session.surfaces().get(one.surface)
        if one.tick.id == decision.id and data is not None:
            text = ask_in_text(decode_note(data), one.tick)
            if text != decode_note(data) and session.put(one.surface, data, text, done):
                done.asked.append(decision.id)


def _notice_links(session: ReviewSession, records: Records, done: Settlement) -> None:
    """A pair that the writer has linked meanwhile, in either direction, does not wait for them any more."""
    if done.moved:
        return  # links may mean other notes by now
    graph = session.vault.graph
    for state in records.states.values():
        if state.state != "proposed" or state.proposal.kind != "link":
            continue
        rows = [row_of(graph, path) for path in state.paths]
        first, second = rows if len(rows) == 2 else (None, None)
        if first is None or second is None:
            continue
        if second in targets_of(graph, first) or first in targets_of(graph, second):
            _supersede(session, state, done)


def _supersede(session: ReviewSession, state: ProposalState, done: Settlement) -> None:
    session.store.note(
        event_record("superseded", state.proposal.id, session.now, reason=read_link_author(session, state.paths))
    )
    done.superseded.append(state.proposal.id)


def _let_pass(session: ReviewSession, records: Records, ticked: Collection[str], done: Settlement) -> None:
    """Approves what may be applied without a tick: of kinds that a person has let pass and that still deserve it."""
    enabled = read_graduated(session.store.folder)
    policy = session.vault.live.policy
    if not enabled or policy.write_refusal():
        return
    states = records.states.values()
    bars, zone, nights = bars_of(policy.settings), session.now.tzinfo, nights_of(session.store.consolidations())
    for state in unattended(states, enabled, bars=bars, zone=zone, nights=nights):
        if state.proposal.id not in ticked and state.proposal.id not in done.superseded:
            session.store.note(event_record("approved", state.proposal.id, session.now, by=UNATTENDED))
            done.approved.append(state.proposal.id)


def apply_approved(session: ReviewSession, done: Settlement) -> None:
    """Writes every approved change that can be written now."""
    records = session.store.read()
    approved = [state for state in records.states.values() if state.state == "approved"]
    if not approved:
        return
    if refusal := session.vault.live.policy.write_refusal():
        done.said.append(f"what you approved waits: {refusal}")
        done.closed = True
        done.waiting += [state.proposal.id for state in approved]
        return
    past = {change.label: change for change in session.files.past_changes()}
    approved, excluded = in_order(approved, done=lambda state: _label(state) in past)
    for state, rival in excluded:
        leave_out(session, state, rival, done)
    for state in sorted(approved, key=lambda state: _TURN.get(state.proposal.kind, 0)):
        is_other = state.proposal.kind != "link"
        if done.moved or done.again or (is_other and (done.applied or done.undone)):
            done.waiting.append(state.proposal.id)  # the index knows nothing of what was just done
            done.again = True
            continue
        with _by_itself(state, done):
            if _apply(session, state, past.get(_label(state)), done):
                done.moved = True


_TURN: Mapping[str, int] = {"merge": 1, "link": 2}
"""What was approved together: first what changes a passage that stands there, then what makes one note of several, and
links last, which find their place in what is there by then."""


def _label(state: ProposalState) -> str:
    """Names the one application of a proposal in the history, so that a crash after it is recognised."""
    return f"apply {state.proposal.id} {state.since.isoformat()}"


def _apply(session: ReviewSession, state: ProposalState, earlier: PastChange | None, done: Settlement) -> bool:
    """Carries one approval out; whether files have come or gone, so that the vault must be read again first."""
    id_ = state.proposal.id
    if earlier is not None:  # it was written, and a crash came before the journal
        _record(session, state, earlier.change_id, done)
        return False
    if (shut := session.shut_note(state)) is not None:
        done.said.append(f"{pair_of(state)}: waits, {shut.path}: {shut.reason}")
        done.waiting.append(id_)
        return False
    state = _after_merges(session, state)
    if len(set(state.paths)) < len(state.paths):
        session.store.note(event_record("superseded", id_, session.now, reason="they are one note now"))
        done.superseded.append(id_)
        return False
    allowed = approve(replace(state, edits=trusted_edits(state)), state.shown or None)
    if isinstance(allowed, Refusal):
        _set_aside(session, state, allowed.reason, done, fresh=edits_now(state))
        return False
    if any(str(NotePath(path)) != path for path in state.paths):  # `Note.md/`, `./Note.md`: nothing of ours says so
        _set_aside(session, state, "it names its notes in a way that no proposal does", done)
        return False
    own, view = session.own_writes(), session.view_of(state)
    replan = partial(plan_lines if allowed.exact and allowed.kind == "link" else plan_fresh, own=own)
    found = plan_application(allowed, view, replan=replan, own=own)
    match found:
        case Ready() if leave_to_writer(session, state, found.changes, view, done):
            return False
        case Ready():
            return _write(session, state, found.changes, done) and is_structural(found.changes)
        case Stale(link=link) if link:
            _supersede(session, state, done)
        case Stale(fresh=fresh):
            _set_aside(session, state, found.reason, done, fresh=fresh)
        case Refusal():
            _set_aside(session, state, found.reason, done)
        case _:
            assert_never(found)
    return False


def _after_merges(session: ReviewSession, state: ProposalState) -> ProposalState:
    """A link of a note that a merge of ours has taken in since is one of the note that it has become."""
    gone = [path for path in state.paths if path not in session.vault.index.files]
    if state.proposal.kind != "link" or not gone:
        return state
    merges = [
        one for one in session.store.read().states.values() if one.proposal.kind == "merge" and one.state == "applied"
    ]
    became = {drop: one.paths[0] for one in merges for drop in one.paths[1:]}
    paths = tuple(became.get(path, path) if path in gone else path for path in state.paths)
    return state if paths == state.paths else replace(state, paths=paths, edits=(), shown="")


def _set_aside(
    session: ReviewSession, state: ProposalState, reason: str, done: Settlement, *, fresh: Sequence[PlannedEdit] = ()
) -> None:
    """What was approved does not fit any more. Where something else would (`fresh`), that is proposed, and waits; of a
    link it is enough that its line says so."""
    id_ = state.proposal.id
    if fresh and state.proposal.kind != "link":
        session.store.note(event_record("reopened", id_, session.now, reason=reason, edits=edit_rows(fresh)))
    else:
        session.store.note(event_record("stale", id_, session.now, reason=reason))
    done.stale.append(id_)
    done.said.append(f"{pair_of(state)}: not {DONE[state.proposal.kind]}, {reason}")


def _write(session: ReviewSession, state: ProposalState, changes: ChangeSet, done: Settlement) -> bool:
    outcome = session.files.write(changes, label=_label(state), quiet_s=session.quiet_s, names=session.names(changes))
    match outcome:
        case Written(change_id=change_id):
            _record(session, state, change_id, done)
            return True
        case Conflict() | Exists():
            done.said.append(f"{pair_of(state)}: waits, {outcome.path} is being edited")
        case Refused() | Failed():
            done.said.append(f"{pair_of(state)}: waits, {outcome.path} was not written: {outcome.reason}")
        case _:
            assert_never(outcome)
    done.waiting.append(state.proposal.id)
    return False


def _record(session: ReviewSession, state: ProposalState, change_id: str, done: Settlement) -> None:
    session.store.note(event_record("applied", state.proposal.id, session.now, history=change_id, by=state.by))
    done.applied.append(state.proposal.id)
