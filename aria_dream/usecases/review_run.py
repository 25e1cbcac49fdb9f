"""A review session over a real vault: opened under its lock, and settled until nothing is left."""

from __future__ import annotations

import os
from contextlib import ExitStack, contextmanager
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

from aria_dream.adapters.disk.files import DiskVault
from aria_dream.adapters.disk.lock import dream_lock
from aria_dream.adapters.disk.places import find_places
from aria_dream.adapters.index.dreamt_vault import read_dreamt_vault
from aria_dream.adapters.index.live_policy import read_live_policy
from aria_dream.adapters.state.record_store import RecordStore
from aria_dream.errors import AriaDreamError, NotFoundError, PolicyClosedError, WriteRefusedError
from aria_dream.policy.settings import local_now
from aria_dream.usecases.review import settle
from aria_dream.usecases.review_session import ReviewSession
from aria_dream.world import show_nothing

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from aria_dream.review.proposal import ProposalState
    from aria_dream.usecases.review_session import Settlement
    from aria_dream.world import ShowProgress


@contextmanager
def open_session(vault: Path, *, show: ShowProgress = show_nothing) -> Iterator[ReviewSession]:
    """The review session of a vault; nobody else dreams or decides while it is open. An interrupted write is finished
    first.

    Raises:
        VaultUnreadableError: there is no vault, or it cannot be read.
        BusyError: another of our processes is at work in it, and does not end.
    """
    places = find_places()
    root = Path(os.path.realpath(vault))
    with ExitStack() as held:
        if root.is_dir():  # else the reading says so
            held.enter_context(dream_lock(read_live_policy(root, places).state_folder(places)).held())
        with show("Reading notes") as progress:
            seen = read_dreamt_vault(root, places, progress=progress)
        state = seen.live.state_folder(places)
        files = DiskVault(seen.root, state)
        now = local_now(datetime.now().astimezone(), seen.live.policy.settings.timezone)
        files.recover()
        yield ReviewSession(vault=seen, files=files, store=RecordStore(state), now=now)


def settle_all(
    vault: Path,
    done: Settlement,
    *,
    show: ShowProgress = show_nothing,
    adapted: Callable[[ReviewSession], ReviewSession] = lambda session: session,
) -> Mapping[str, ProposalState]:
    """The proposals after everything that was ticked or approved is carried out; the vault is read again until nothing
    waits for another look. What that did is added to `done`. `adapted`: the session as it is to settle.

    Raises:
        as `open_session` and `settle`.
    """
    while True:
        with open_session(vault, show=show) as session:
            looked = settle(adapted(session))
            states = session.store.read().states
        add_settlement(done, looked)
        if not looked.again or not looked.did_something:
            return states


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


def shortfall(done: Settlement) -> AriaDreamError | None:
    """The error, with its exit code, of a run that did not carry out all that was asked for; None where it did."""
    if done.not_undone:
        count = len(done.not_undone)
        return WriteRefusedError("one place was not undone" if count == 1 else f"{count} places were not undone")
    if done.closed:
        return PolicyClosedError("what was approved waits: the policy does not permit writing")
    return WriteRefusedError("not everything was carried out") if done.left_something else None


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
