"""The data path of a decision, in order, as code: read the ticks, journal, plan, write, renew the lines.

Every step can be repeated: what a crash cut off is finished by the next run, and nothing is done twice.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from datetime import timedelta
from typing import TYPE_CHECKING, assert_never, cast

from aria_dream.cycle import reconciled
from aria_dream.dream.juxtaposition import title_of
from aria_dream.dream.ticks import ask_in_text, read_ticks
from aria_dream.policy.residence import log_notes
from aria_dream.review.application import Ready, Stale, approve, plan_again, plan_application
from aria_dream.review.decision import Ticked, decide
from aria_dream.review.inbound import notes_to_read
from aria_dream.review.lines import renewed_log, renewed_review
from aria_dream.review.plan import VaultView
from aria_dream.review.proposal import due_to_expire, event_record, planned_record
from aria_dream.review.rollback import Impossible, Partly, Restored, plan_rollback
from aria_dream.vault.edit import ChangeSet, Exists, Refusal, WritePlan, content_hash, decode_note, encode_note
from aria_dream.vault.note import NotePath
from aria_dream.world import Conflict, Content, Failed, Refused, Written

if TYPE_CHECKING:
    from collections.abc import Iterable
    from datetime import datetime

    from aria_dream.effects.dreamt_vault import DreamtVault
    from aria_dream.effects.records import RecordBook, Records
    from aria_dream.review.decision import Decision
    from aria_dream.review.placement import AlreadyLinked, PlacementPolicy
    from aria_dream.review.plan import Planned
    from aria_dream.review.proposal import ProposalState
    from aria_dream.world import PastChange, VaultFiles


@dataclass(slots=True, kw_only=True)
class Settlement:
    """What one run did, in ids, and what its writer should know."""

    applied: list[str] = field(default_factory=list)
    approved: list[str] = field(default_factory=list)
    rejected: list[str] = field(default_factory=list)
    undone: list[str] = field(default_factory=list)
    asked: list[str] = field(default_factory=list)
    stale: list[str] = field(default_factory=list)
    expired: list[str] = field(default_factory=list)
    waiting: list[str] = field(default_factory=list)
    """Approved, and not written yet: somebody is typing, or the policy does not permit it now."""
    said: list[str] = field(default_factory=list)

    @property
    def did_something(self) -> bool:
        """Whether anything was decided or written."""
        return any((self.applied, self.approved, self.rejected, self.undone, self.asked, self.stale, self.expired))


@dataclass(frozen=True, kw_only=True)
class Desk:
    """Everything a decision needs."""

    vault: DreamtVault
    files: VaultFiles
    book: RecordBook
    now: datetime
    """Aware, in the writer's zone."""
    quiet_s: float = 0.0
    """A note that somebody changed within so many seconds is left for later."""

    @property
    def window(self) -> timedelta:
        """How long a change can be taken back."""
        return timedelta(hours=self.vault.live.policy.settings.rollback_window_h)

    def records(self) -> Records:
        """The journals, with what dream notes say beyond them."""
        return reconciled(self.vault, self.files, self.book, self.now)

    def surfaces(self) -> dict[str, bytes]:
        """Vault path and content of every note of ours that holds tick boxes."""
        paths = [*(path for path, _ in log_notes(self.vault.names, self.vault.home)), self.vault.home.review]
        found = {path: self.files.read(NotePath(path)) for path in paths}
        return {path: content.data for path, content in found.items() if isinstance(content, Content)}

    def view(self, paths: Iterable[str], *, inbound: bool) -> VaultView:
        """The vault as the planners see it: the notes `paths`, and with `inbound` everything that links to them."""
        index, settings = self.vault.index, self.vault.live.policy.settings
        wanted = {*paths, *(notes_to_read(index.linkage, paths) if inbound else ())}
        read = {NotePath(path): self.files.read(NotePath(path)) for path in sorted(wanted)}
        home, policy = self.vault.home, self.vault.live.policy.path
        ours = {home.review, home.seeds, home.report, home.canvas, policy}
        return VaultView(
            files=index.files,
            contents={path: content.data for path, content in read.items() if isinstance(content, Content)},
            app=index.app,
            placement=cast("PlacementPolicy", settings.placement),  # the policy's table allows no other word
            related_heading=settings.related_heading,
            protected=frozenset(path for path in ours if path),
        )


def settle(desk: Desk) -> Settlement:
    """Carries out everything that was ticked or approved, takes back what was undone, and renews our lines.

    Raises:
        BusyError: another of our processes writes and does not end.
        StateDamagedError: a journal cannot be read.
    """
    done = Settlement()
    records = _expired(desk, desk.records(), done)
    ticked = [
        Ticked(tick=tick, surface=path)
        for path, data in desk.surfaces().items()
        for tick in read_ticks(decode_note(data))[0]
    ]
    decisions, problems = decide(ticked, records.states, desk.vault.index.resolver.resolve)
    done.said += [f"{problem.path}:{problem.line}: {problem.message}" for problem in problems]
    for decision in decisions:
        _decide(desk, decision, records.states.get(decision.id), ticked, done)
    apply_approved(desk, done)
    renew_lines(desk, done)
    return done


def _expired(desk: Desk, records: Records, done: Settlement) -> Records:
    due = due_to_expire(records.states.values(), desk.now)
    for state in due:
        desk.book.note(event_record("expired", state.proposal.id, desk.now))
        done.expired.append(state.proposal.id)
    return desk.book.read() if due else records


def _decide(
    desk: Desk, decision: Decision, state: ProposalState | None, ticked: list[Ticked], done: Settlement
) -> None:
    if state is None:
        return  # its line does not vouch for it; `decide` has said so
    match decision.choice:
        case "approve":
            desk.book.note(event_record("approved", decision.id, desk.now, by="tick"))
            done.approved.append(decision.id)
        case "reject":
            desk.book.note(event_record("rejected", decision.id, desk.now, by="tick"))
            done.rejected.append(decision.id)
        case "undo":
            take_back(desk, state, done, by="tick")
        case "ask":
            _ask(desk, decision, ticked, done)
        case _:
            assert_never(decision.choice)


def _ask(desk: Desk, decision: Decision, ticked: list[Ticked], done: Settlement) -> None:
    surfaces = desk.surfaces()
    for one in ticked:
        if one.tick.id == decision.id and one.surface in surfaces:
            data = surfaces[one.surface]
            text = decode_note(data)
            changed = ask_in_text(text, one.tick)
            if changed != text and _put(desk, one.surface, data, changed, done):
                done.asked.append(decision.id)


def _put(desk: Desk, path: str, before: bytes, text: str, done: Settlement) -> bool:
    plan = WritePlan(path=NotePath(path), expected_hash=content_hash(before), content=encode_note(text))
    outcome = desk.files.write(ChangeSet(writes=(plan,)), label="lines", quiet_s=desk.quiet_s)
    if isinstance(outcome, Refused | Failed):
        done.said.append(f"{outcome.path} was not written: {outcome.reason}")
    return isinstance(outcome, Written)


def apply_approved(desk: Desk, done: Settlement) -> None:
    """Writes every approved change that can be written now."""
    records = desk.book.read()
    approved = [state for state in records.states.values() if state.state == "approved"]
    if not approved:
        return
    if refusal := desk.vault.live.policy.write_refusal():
        done.said.append(f"what you approved waits: {refusal}")
        done.waiting += [state.proposal.id for state in approved]
        return
    past = {change.label: change for change in desk.files.past_changes()}
    for state in approved:
        _apply(desk, state, past.get(_label(state)), done)


def _label(state: ProposalState) -> str:
    """Names the one application of a proposal in the history, so that a crash after it is recognised."""
    return f"apply {state.proposal.id} {state.since.isoformat()}"


def _apply(desk: Desk, state: ProposalState, earlier: PastChange | None, done: Settlement) -> None:
    id_ = state.proposal.id
    if earlier is not None:  # it was written, and a crash came before the journal
        desk.book.note(event_record("applied", id_, desk.now, history=earlier.change_id))
        done.applied.append(id_)
        return
    allowed = approve(state)
    if isinstance(allowed, Refusal):
        done.said.append(allowed.reason)
        return
    found = plan_application(allowed, desk.view(state.paths, inbound=state.proposal.kind != "link"))
    match found:
        case Ready():
            if found.replanned:
                desk.book.note(planned_record(id_, found.edits, desk.now))
            _write(desk, state, found.changes, done)
        case Stale():
            desk.book.note(event_record("stale", id_, desk.now, reason=found.reason))
            done.stale.append(id_)
            done.said.append(f"{_titles(state)}: not placed, {found.reason}")
        case Refusal():
            done.said.append(f"{_titles(state)}: not placed, {found.reason}")
            desk.book.note(event_record("stale", id_, desk.now, reason=found.reason))
            done.stale.append(id_)
        case _:
            assert_never(found)


def _write(desk: Desk, state: ProposalState, changes: ChangeSet, done: Settlement) -> None:
    id_ = state.proposal.id
    outcome = desk.files.write(changes, label=_label(state), quiet_s=desk.quiet_s)
    match outcome:
        case Written(change_id=change_id):
            desk.book.note(event_record("applied", id_, desk.now, history=change_id))
            done.applied.append(id_)
        case Conflict() | Exists():
            done.waiting.append(id_)
            done.said.append(f"{_titles(state)}: waits, {outcome.path} is being edited")
        case Refused() | Failed():
            done.waiting.append(id_)
            done.said.append(f"{_titles(state)}: waits, {outcome.path} was not written: {outcome.reason}")
        case _:
            assert_never(outcome)


def take_back(desk: Desk, state: ProposalState, done: Settlement, *, by: str) -> None:
    """Undoes a decision: an applied change is rolled back, a rejection forgotten. Says what is to be done by hand."""
    id_ = state.proposal.id
    if state.state == "rejected":
        desk.book.note(event_record("reopened", id_, desk.now, by=by))
        done.undone.append(id_)
        return
    if state.state != "applied":
        done.said.append(f"proposal {id_} is {state.state}, so there is nothing to undo")
        return
    change = next((one for one in desk.files.past_changes() if one.change_id == state.history), None)
    if change is None or desk.now - state.since > desk.window:
        hours = desk.vault.live.policy.settings.rollback_window_h
        done.said.append(
            f"{_titles(state)}: the {hours} hours in which it could be undone are over; "
            f"take it out of {', '.join(state.paths[:1])} by hand"
        )
        return
    places = {path for file in change.files for path in (file.path, file.moved_to) if path is not None}
    read = {path: desk.files.read(path) for path in places}
    contents = {path: content.data for path, content in read.items() if isinstance(content, Content)}
    plan = plan_rollback(change.files, contents)
    match plan:
        case Impossible(by_hand=by_hand):
            done.said += by_hand
        case Restored(changes=changes):
            _roll_back(desk, state, changes, by, done)
        case Partly(changes=changes, left=left):
            done.said += left
            _roll_back(desk, state, changes, by, done)
        case _:
            assert_never(plan)


def _roll_back(desk: Desk, state: ProposalState, changes: ChangeSet, by: str, done: Settlement) -> None:
    id_ = state.proposal.id
    outcome = desk.files.write(changes, label=f"roll back {id_}", quiet_s=desk.quiet_s)
    match outcome:
        case Written():
            desk.book.note(event_record("rolled_back", id_, desk.now, by=by))
            done.undone.append(id_)
        case Exists():
            done.said.append(f"{_titles(state)}: not undone, “{outcome.path}” is in the way")
        case Conflict() | Refused() | Failed():
            done.said.append(f"{_titles(state)}: not undone yet, {outcome.path}: {outcome.reason}")
        case _:
            assert_never(outcome)


def renew_lines(desk: Desk, done: Settlement) -> None:
    """Brings every line of ours up to date with the journal: decided lines say so, decided pairs leave the review."""
    states = desk.book.read().states
    for path, data in desk.surfaces().items():
        text = decode_note(data)
        if path == desk.vault.home.review:
            changed = renewed_review(text, states)
        else:
            changed = renewed_log(text, states, now=desk.now, window=desk.window)
        if changed != text:
            _put(desk, path, data, changed, done)


def show_change(desk: Desk, state: ProposalState) -> Planned | AlreadyLinked | Refusal:
    """What would be written for a proposal now, exactly."""
    view = desk.view(state.paths, inbound=state.proposal.kind != "link")
    allowed = approve(_as_approved(state))
    return allowed if isinstance(allowed, Refusal) else plan_again(allowed, view)


def _as_approved(state: ProposalState) -> ProposalState:
    return replace(state, state="approved")


def _titles(state: ProposalState) -> str:
    return " ↔ ".join(f"“{title_of(path)}”" for path in state.paths)
