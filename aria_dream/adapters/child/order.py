"""What the daemon has a child do, and what it needs of the child."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, Protocol

if TYPE_CHECKING:
    from datetime import date
    from pathlib import Path

    from aria_dream.adapters.child.episode_process import EpisodeEnd
    from aria_dream.policy.triggers import Stage


class Episode(Protocol):
    """A child at work, as `EpisodeProcess` is one."""

    def grant_permit(self) -> None:
        """Lets it do the unit of work that it asked for, if it did."""

    def ended(self) -> EpisodeEnd | None:
        """How it ended; None while it works."""

    def end(self) -> EpisodeEnd:
        """How it ended, which it does now."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Order:
    """What a child is to do."""

    root: Path
    stage: Stage
    kind: str
    quiet_s: float
    """A note of ours that somebody touched so recently is left alone."""
    host: str
    state_folder: Path
    night: date | None = None
    """The night whose work it is."""
    errand: Literal["dream", "ticks"] = "dream"
    """`ticks`: carry out what was ticked in our notes, and write down reaches that stand in none of them yet, whoever
    is there; `stage` and `kind` say nothing then."""
