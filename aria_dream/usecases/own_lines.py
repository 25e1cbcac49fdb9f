"""The lines of our notes: what is ticked in them and what of it counts, and brought up to date with the journal."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import datetime
from typing import TYPE_CHECKING

from aria_dream.adapters.disk.files import DiskVault
from aria_dream.adapters.index.dreamt_vault import read_dreamt_vault
from aria_dream.adapters.state.record_store import RecordStore
from aria_dream.consolidate.open_lists import read_ticked
from aria_dream.errors import Problem
from aria_dream.notes.review_note import empty_review
from aria_dream.notes.tick_lines import with_ids
from aria_dream.notes.ticks import read_ticks
from aria_dream.policy.file_layout import log_notes
from aria_dream.policy.settings import local_now
from aria_dream.review.change_lines import renew_changes
from aria_dream.review.decision import Ticked, decide, identified
from aria_dream.review.journal import renamed
from aria_dream.review.lines import pair_ids, renew_log, renew_review, reopened_items
from aria_dream.review.proposal import plan_renames
from aria_dream.review.showing import shown_change
from aria_dream.usecases.change_preview import with_plan
from aria_dream.usecases.reconcile import is_lost
from aria_dream.usecases.review_session import ReviewSession, pair_of
from aria_dream.vault.edit import decode_note

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from aria_dream.adapters.disk.places import Places
    from aria_dream.notes.change_grammar import ChangeItem
    from aria_dream.review.decision import Decision
    from aria_dream.review.proposal import ProposalState
    from aria_dream.usecases.review_session import Settlement


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
    """The proposals under the names that their notes bear now, as the next session will have them. Writes nothing."""
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


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenTicks:
    """What the boxes in our notes, and the approvals in the journal, still ask for."""

    ignored: tuple[Problem, ...] = ()
    """Ticked boxes that do not count."""
    hindered: tuple[Problem, ...] = ()
    """Our notes that cannot be read, and notes that keep an approved change from being made."""
    waiting: int = 0
    """Ticks and approvals that the next look will carry out."""
    kept: int = 0
    """Answers that wait for the next night."""
    home: str = ""
    """Where our notes lie, where the policy says otherwise."""


def read_open_ticks(root: Path, places: Places) -> OpenTicks:
    """What is ticked and approved in the vault at `root` now.

    Raises:
        VaultUnreadableError: the vault cannot be read.
        StateDamagedError: a journal cannot be read.
    """
    vault = read_dreamt_vault(root, places)
    state = vault.live.state_folder(places)
    now = local_now(datetime.now().astimezone(), vault.live.policy.settings.timezone)
    session = ReviewSession(vault=vault, files=DiskVault(vault.root, state), store=RecordStore(state), now=now)
    states = states_now(session)
    seen = read_current_ticks(session, states)
    approved = [one for one in states.values() if one.state == "approved"]
    refused = {one.proposal.id: found for one in approved if (found := session.hindrance(one)) is not None}
    hindered = [
        Problem(str(found.path), 0, f"{found.reason}, so {pair_of(states[id_])} waits")
        for id_, found in refused.items()
    ]
    return OpenTicks(
        ignored=seen.ignored,
        hindered=(*seen.shut, *hindered),
        waiting=len(seen.decisions) - sum(one.choice == "ask" for one in seen.decisions) + len(approved) - len(refused),
        kept=seen.kept,
        home=vault.home.moved,
    )


def renew_lines(session: ReviewSession, done: Settlement) -> None:
    """Brings every line of ours up to date with the journal: decided lines say so, decided pairs leave the review, and
    what was proposed since stands there."""
    states = session.store.read().states
    days = dict(log_notes(session.vault.names))
    surfaces = session.surfaces()
    logs = [(decode_note(surfaces[path]), day) for path, day in days.items() if path in surfaces]
    home, lost = session.vault.home, is_lost(session.vault, session.files)
    reopened = [item for text, day in logs for item in reopened_items(text, day, states, all_open=lost)]
    in_logs = {id_ for text, _ in logs for id_ in pair_ids(text)}

    def changes(items: Sequence[ChangeItem], pairs: frozenset[str]) -> Sequence[ChangeItem]:
        return renew_changes(
            items,
            states,
            lambda state: shown_change(with_plan(session, state), session.shelf(state)),
            now=session.now,
            window=session.window,
            elsewhere=pairs | in_logs,
            all_open=lost,
        )

    for path, data in surfaces.items():
        text = decode_note(data)
        if not session.is_review(path):
            changed = renew_log(text, states, now=session.now, window=session.window)
        elif path != home.review or not lost:
            changed = renew_review(text, states, reopened, changes=changes)
        else:
            continue
        if changed != text:
            session.put(path, data, changed, done)
    made = renew_review(empty_review(), states, reopened, changes=changes) if lost else ""
    if lost and made != empty_review() and session.put(home.review, surfaces.get(home.review), made, done):
        done.said.append(f"{home.review} was gone or empty, so it was made anew with all that waits")
