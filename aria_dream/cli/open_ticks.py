"""What is ticked or approved and not carried out, as `status` and `doctor` tell it. Writes nothing."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from datetime import datetime
from typing import TYPE_CHECKING

from aria_dream.adapters.disk.files import DiskVault
from aria_dream.adapters.index.dreamt_vault import read_dreamt_vault
from aria_dream.adapters.state.record_store import RecordStore
from aria_dream.cli.output import counted
from aria_dream.errors import Problem
from aria_dream.policy.settings import local_now
from aria_dream.usecases.current_ticks import read_current_ticks, states_now
from aria_dream.usecases.review_session import ReviewSession, pair_of

if TYPE_CHECKING:
    from pathlib import Path

    from aria_dream.adapters.disk.places import Places


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

    @property
    def remarks(self) -> tuple[str, ...]:
        """What is no fault."""
        found = []
        if self.waiting:
            said = counted(self.waiting, "tick or approval is", "ticks or approvals are")
            found.append(f"{said} not carried out yet; `aria-dream apply` does it now")
        if self.kept:
            found.append(f"{counted(self.kept, 'answer is', 'answers are')} kept for the next night")
        return (*found, *filter(None, [self.home.rstrip(".")]))

    def as_json(self) -> dict[str, object]:
        """As `status --json` and `doctor --json` print it."""
        return {
            "ignored": [asdict(problem) for problem in self.ignored],
            "hindered": [asdict(problem) for problem in self.hindered],
            "waiting": self.waiting,
            "kept": self.kept,
        }


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
