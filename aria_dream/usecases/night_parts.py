"""What a consolidation needs of the world, what it is asked for, and what it gives back. Values and one Protocol."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, Protocol

from aria_dream.consolidate.record import ALL_PARTS

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from datetime import date, datetime

    from aria_dream.consolidate.open_pairs import OpenPair
    from aria_dream.consolidate.record import Consolidation, Part
    from aria_dream.consolidate.verdict import Conflict, ConflictVerdict, ConsolidationJudge, NearPair, PairVerdict
    from aria_dream.consolidate.work import Candidate, Cluster, Work
    from aria_dream.review.proposal import PlannedEdit, Proposal, ProposalState
    from aria_dream.vault.edit import Refusal

    Made = tuple[Proposal, tuple[PlannedEdit, ...]]
    """A proposal, and the exact change that it stands for."""


class NightParts(Protocol):
    """What a consolidation is made from; `consolidation_parts` makes it of a real vault."""

    def consolidation_judge(self) -> ConsolidationJudge | str:
        """Who judges, or why nobody does."""

    @property
    def trouble(self) -> str:
        """What has gone wrong with whoever judges, as one sentence without its full stop."""

    @property
    def is_metered(self) -> bool:
        """Whether that judge costs tokens."""

    def find(self, parts: Sequence[Part]) -> Work:
        """What lies before the run. May take minutes the first time; what was computed is kept."""

    def foregone(self, pair: Candidate) -> PairVerdict | None:
        """What the judge would say, where that is known without the texts; None where it has to be asked."""

    def texts(self, pair: Candidate) -> NearPair | None:
        """The two with their texts; None where one of them has changed since `find`."""

    def evidence(self, conflict: Conflict) -> str:
        """What speaks for either claim, as text."""

    def collapse(self, clusters: Sequence[Cluster], states: Mapping[str, ProposalState]) -> Made | Refusal:
        """One proposal for clusters that belong together."""

    def settle(self, conflict: Conflict, verdict: ConflictVerdict, states: Mapping[str, ProposalState]) -> (
        Made | Refusal
    ):
        """A proposal for a contradiction; a Refusal where it stays open for a person."""

    def retire(self, mark: str, states: Mapping[str, ProposalState]) -> Made | Refusal:
        """A proposal for a stale note."""

    def unite(self, mark: str, states: Mapping[str, ProposalState]) -> Made | Refusal:
        """A proposal for a note and the copy that a sync left of it."""

    def note_analysed(self, work: Work, is_open: Callable[[str], bool]) -> None:
        """Remembers which texts have been looked at; `is_open(key)`: a pair that waits for its verdict."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ConsolidationRequest:
    """What was asked for."""

    at: datetime
    """Aware, in the writer's zone."""
    night: date
    """The night whose caps it counts against."""
    parts: tuple[Part, ...] = ALL_PARTS
    resume: Literal["never", "night", "last"] = "never"
    """Which unended run is gone on with: none, one of this night, or the last one."""
    dry_run: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class ConsolidationResult:
    """What came of it."""

    run: Consolidation | None
    """None where nothing was begun."""
    reason: str
    """Why nothing was begun, or why it ended before its time; `""` where everything is done."""
    made: tuple[Made, ...] = ()
    """The proposals of this run."""
    open_conflicts: tuple[Conflict, ...] = ()
    """Contradictions that wait for a person."""
    open_pairs: tuple[OpenPair, ...] | None = None
    """Near pairs that wait for a person, nearest first; None where nobody has looked for them."""
    trouble: str = ""
    """What went wrong with whoever judged, as one sentence without its full stop."""
    resumed: bool = False
    interrupted: bool = False
