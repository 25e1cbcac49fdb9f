"""One text on its way out through Codex: set aside, cleared and logged, begun; or given back. The same order for all.

The order is what keeps the promises: the row in the ledger is on the disk before the gate logs, the gate's line before
anything is noted about the run, and all of them before the program is started. What stops in between gives the request
back, since nothing has left.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Generic, TypeVar

from aria_dream.adapters.gate import ledger
from aria_dream.adapters.gate.egress import Turned
from aria_dream.adapters.gate.rate_limit_backoff import clear_backoff, note_failure
from aria_dream.errors import WriteRefusedError
from aria_dream.reach.budget import BudgetRefusal

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from datetime import datetime, tzinfo

    from aria_dream.adapters.gate.egress import ClearedText, Gate
    from aria_dream.adapters.gate.ledger import Granted
    from aria_dream.policy.settings import Settings
    from aria_dream.privacy.sharing import ShareableExcerpt
    from aria_dream.reach.reach_events import ReachEnd

T = TypeVar("T")


@dataclass(frozen=True, slots=True, kw_only=True)
class AuthorisedSend(Generic[T]):
    """What `Reacher.run` takes: counted and logged already, so whatever happens now it is spent until resolved."""

    granted: Granted
    cleared: ClearedText
    begun: T
    """What the caller noted of the run before it."""


def send_authorised(
    gate: Gate,
    settings: Settings,
    zone: tzinfo,
    *,
    kind: str,
    destination: str,
    excerpts: Sequence[ShareableExcerpt],
    text: str,
    begin: Callable[[Granted], T],
    clock: Callable[[], datetime] = ledger.utc_now,
) -> AuthorisedSend[T] | BudgetRefusal | Turned:
    """The permit to send `text` once; or why not, and then nothing counts.

    `begin` notes the run for the caller, on the disk, once all gates are open. `text` holds nothing of the vault but
    `excerpts`.

    Raises:
        TypeError: something else than a `ShareableExcerpt` was to leave.
        WriteRefusedError: what leaves cannot be logged, or `begin` cannot note it; the request is given back.
        BusyError: another process kept the ledger.
    """
    granted = ledger.reserve(gate.state, settings, zone, kind=kind, clock=clock)
    if isinstance(granted, BudgetRefusal):
        return granted
    try:
        cleared = gate.clear_text(destination, excerpts, lambda: text)
        if not isinstance(cleared, Turned):
            return AuthorisedSend(granted=granted, cleared=cleared, begun=begin(granted))
    except WriteRefusedError:
        ledger.resolve(granted, "unsent", clock=clock)
        raise
    ledger.resolve(granted, "unsent", clock=clock)
    return cleared


def note_backoff(gate: Gate, end: ReachEnd, reason: str, now: datetime) -> None:
    """Keep, or forget, until when the plan wants no request, as the end of a run tells. `reason`: of its failure, as
    the writer reads it; `now`: aware, in the writer's zone."""
    if end.run.failure is None:
        clear_backoff(gate.state)
    elif not end.stopped:
        note_failure(gate.state, end.run.failure, reason, now)
