"""The data path of a reach, in order, as code: choose, ask leave, count, ask, read, remember, write."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Callable

    from aria_dream.dream.reach_events import ReachEnd
    from aria_dream.effects.egress import ClearedText
    from aria_dream.effects.ledger import Granted


class Reacher(Protocol):
    """Who carries a cleared text out and brings an answer back."""

    @property
    def destination(self) -> str:
        """As the log names it: `Codex (gpt-5.5)`."""
        ...

    def missing(self) -> str:
        """Why nobody can be asked from this machine (no program, no login), as one clause; `""` where somebody can.

        Asked before anything is counted. Sends nothing.
        """
        ...

    def run(self, cleared: ClearedText, granted: Granted, *, should_stop: Callable[[], str]) -> ReachEnd:
        """One run, ended before it answers where `should_stop()` gives a reason.

        Never raises for what the program or the network does: that is in the `ReachEnd`.
        """
        ...
