"""The desk at which proposals are decided, opened for one command."""

from __future__ import annotations

import os
from contextlib import ExitStack, contextmanager
from dataclasses import asdict
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

import click

from aria_dream.adapters.disk.files import DiskVault
from aria_dream.adapters.disk.lock import dream_lock
from aria_dream.adapters.disk.places import find_places
from aria_dream.adapters.index.dreamt_vault import read_dreamt_vault
from aria_dream.adapters.index.live_policy import read_live_policy
from aria_dream.adapters.state.record_store import RecordStore
from aria_dream.cli.output import counted, progress_bar
from aria_dream.cli.vault_argument import chosen_vault
from aria_dream.errors import AriaDreamError, NotFoundError, PolicyClosedError, WriteRefusedError
from aria_dream.notes.change_grammar import DONE, LEADS
from aria_dream.policy.settings import local_now
from aria_dream.review.showing import change_name
from aria_dream.usecases.link_author import LINKED_BY_HAND
from aria_dream.usecases.review import ReviewSession, settle

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from aria_dream.review.proposal import ProposalState, State
    from aria_dream.usecases.review import Settlement

WORDS: Mapping[State, str] = {
    "proposed": "waiting for you",
    "approved": "approved",
    "rejected": "refused",
    "applied": "applied",
    "rolled_back": "undone",
    "stale": "not done",
    "expired": "lapsed",
    "superseded": "linked otherwise",
}
"""What a state is called to its writer."""


@contextmanager
def open_session(vault: Path) -> Iterator[ReviewSession]:
    """The desk of a vault; nobody else dreams or decides while it is open. An interrupted write is finished first."""
    places = find_places()
    root = Path(os.path.realpath(vault))
    with ExitStack() as held:
        if root.is_dir():  # else the reading says so
            held.enter_context(dream_lock(read_live_policy(root, places).state_folder(places)).held())
        with progress_bar("Reading notes") as progress:
            seen = read_dreamt_vault(root, places, progress=progress)
        state = seen.live.state_folder(places)
        files = DiskVault(seen.root, state)
        now = local_now(datetime.now().astimezone(), seen.live.policy.settings.timezone)
        files.recover()
        yield ReviewSession(vault=seen, files=files, store=RecordStore(state), now=now)


def find_proposal(states: Mapping[str, ProposalState], name: str) -> ProposalState:
    """The proposal that `name` means: its id, with or without `aria-`, or an unambiguous beginning.

    Raises:
        NotFoundError: there is none, or there are several.
    """
    wanted = name.lower().removeprefix("^").removeprefix("aria-")
    found = [state for id_, state in states.items() if wanted and id_.startswith(wanted)]
    exact = [state for state in found if state.proposal.id == wanted]
    if len(exact or found) == 1:
        return (exact or found)[0]
    if found:
        raise NotFoundError(f"{name!r} could be any of {', '.join(state.proposal.id for state in found[:5])}")
    raise NotFoundError(f"there is no proposal {name!r}; `aria-dream review` lists those that wait")


def split_words(words: Sequence[str]) -> tuple[Path, tuple[str, ...]]:
    """The vault, and the ids behind it. A single word that is no folder is an id in the vault around us."""
    if not words:
        return chosen_vault(None), ()
    first = chosen_vault(words[0])
    if first.exists() or "/" in words[0] or len(words) > 1:
        return first, tuple(words[1:])
    return chosen_vault(None), tuple(words)


def settlement_object(done: Settlement, failed: AriaDreamError | None = None) -> dict[str, object]:
    """What a run did, as JSON; with `error` and `exit_code` where it ends with an error."""
    return {
        "applied": done.applied,
        "approved": done.approved,
        "rejected": done.rejected,
        "undone": done.undone,
        "asked": done.asked,
        "stale": done.stale,
        "excluded": done.excluded,
        "expired": done.expired,
        "superseded": done.superseded,
        "waiting": done.waiting,
        "ignored": [asdict(problem) for problem in done.ignored],
        "unwritten": list(dict.fromkeys(done.unwritten)),
        "kept": done.kept,
        "not_undone": [
            {"id": one.id, "path": one.problem.path, "line": one.problem.line, "said": one.problem.message}
            for one in done.not_undone
        ],
        "said": list(dict.fromkeys([*map(str, done.ignored), *done.said, *filter(None, [done.home])])),
        **({} if failed is None else {"error": str(failed), "exit_code": failed.exit_code}),
    }


def shortfall(done: Settlement) -> AriaDreamError | None:
    """The error, with its exit code, of a run that did not carry out all that was asked for; None where it did."""
    if done.not_undone:
        count = len(done.not_undone)
        return WriteRefusedError("one place was not undone" if count == 1 else f"{count} places were not undone")
    if done.closed:
        return PolicyClosedError("what was approved waits: the policy does not permit writing")
    return WriteRefusedError("not everything was carried out") if done.left_something else None


def add_settlement(done: Settlement, more: Settlement) -> None:
    """Adds to `done` what one more look did."""
    for name in (
        "applied", "approved", "rejected", "undone", "asked", "stale", "excluded", "held", "expired", "superseded",
        "not_undone", "said",
    ):  # fmt: skip
        getattr(done, name).extend(getattr(more, name))
    done.waiting, done.unwritten = list(more.waiting), list(more.unwritten)
    known = {(problem.path, problem.message) for problem in done.ignored}  # lines move as boxes become sentences
    done.ignored += [problem for problem in more.ignored if (problem.path, problem.message) not in known]
    done.kept, done.closed, done.home = more.kept, more.closed, more.home


def say_settlement(done: Settlement, states: Mapping[str, ProposalState]) -> None:
    """What a run did, in sentences."""
    for id_ in dict.fromkeys(done.applied):
        state = states[id_]
        click.echo(f"{DONE[state.proposal.kind].capitalize()}: {notes_of(state)} ({id_})")
    for name, ids in (
        ("Never again", done.rejected),
        ("Undone", done.undone),
        ("Both boxes are ticked; untick one of", done.asked),
        ("Lapsed", done.expired),
    ):
        for id_ in dict.fromkeys(ids):
            click.echo(f"{name}: {titles(states[id_])} ({id_})")
    for id_ in dict.fromkeys(done.superseded):
        click.echo(f"{_sentence(states[id_].reason or LINKED_BY_HAND)}: {titles(states[id_])} ({id_})")
    for problem in done.ignored:
        click.echo(f"Not counted: {problem}.")
    for sentence in dict.fromkeys(done.said):
        click.echo(f"{_sentence(sentence)}.")
    if done.kept:
        click.echo(f"{counted(done.kept, 'answer is', 'answers are')} kept for the next night.")
    for id_ in dict.fromkeys(done.stale):
        click.echo(f"See what would be written now: aria-dream review VAULT {id_}")
    if done.home:
        click.echo(done.home)


def _sentence(text: str) -> str:
    return text if "/" in text.partition(" ")[0] else f"{text[:1].upper()}{text[1:]}"


def titles(state: ProposalState) -> str:
    """The proposal as a person names it: both titles of a pair, `Merge: Keep ← Drop` of a change."""
    return change_name(state)


def notes_of(state: ProposalState) -> str:
    """Its notes, without what is to be done with them."""
    return change_name(state).removeprefix(f"{LEADS[state.proposal.kind]}: ")


def carry_on(vault: Path, done: Settlement) -> Mapping[str, ProposalState]:
    """Looks again and again until nothing waits for another look; what that did is in `done`. The journal after it."""
    while True:
        with open_session(vault) as session:
            looked = settle(session)
            states = session.store.read().states
        add_settlement(done, looked)
        if not looked.again or not looked.did_something:
            return states
