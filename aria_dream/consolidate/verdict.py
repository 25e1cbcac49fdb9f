"""What a consolidation may decide about two passages. Values only; who decides lies elsewhere."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from aria_dream.judging import triage_prompt

if TYPE_CHECKING:
    from aria_dream.consolidate.passages import Passage


@dataclass(frozen=True, slots=True, kw_only=True)
class NearPair:
    """Two passages that may say the same."""

    first: Passage
    second: Passage
    cosine: float
    """Of the two embeddings, -1 to 1."""
    overlap: float
    """Of the words, 0 to 1: the second, independent signal."""
    rank: int
    """1 is the nearest pair of the night."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Conflict:
    """Two passages that may contradict each other."""

    first: Passage
    second: Passage
    subject: str
    """What both speak of, in words that stand in both."""
    first_claim: str
    """The sentence of the first passage, as written."""
    second_claim: str
    signals: tuple[str, ...]
    """Names of the independent signals: `number`, `date`, `polarity`, `state`, `roles`. Never fewer than two in all,
    of which one is that the subject is the same."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Merge:
    """Both say the same; one can go."""

    reason: str
    confidence: float
    """0 to 1."""


@dataclass(frozen=True, slots=True, kw_only=True)
class NotDuplicate:
    reason: str
    confidence: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Normalize:
    """Both say the same, and this wording says it better."""

    reason: str
    confidence: float
    wording: str
    """The whole new text of the passage, Markdown, bounded."""


@dataclass(frozen=True, slots=True, kw_only=True)
class KeepA:
    """The first passage's claim is right."""

    reason: str
    confidence: float


@dataclass(frozen=True, slots=True, kw_only=True)
class KeepB:
    """The second passage's claim is right."""

    reason: str
    confidence: float


@dataclass(frozen=True, slots=True, kw_only=True)
class BothValid:
    """No contradiction after all: other times, other places, two sides of an argument."""

    reason: str
    confidence: float


@dataclass(frozen=True, slots=True, kw_only=True)
class NeedsHuman:
    """Left for a person, always."""

    reason: str
    confidence: float = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Escalated:
    """The judge does not decide this one; it goes to whoever can, with its rank."""

    reason: str


Unreadable = triage_prompt.Unreadable
"""The judge did not answer, or not as asked. Never guessed at; it counts as a failure of the judge."""

PairVerdict = Merge | NotDuplicate | Normalize | Escalated | Unreadable
ConflictVerdict = KeepA | KeepB | BothValid | NeedsHuman | Escalated | Unreadable


class ConsolidationJudge(Protocol):
    """Whoever judges in a consolidation: the built-in judge, or a language model."""

    @property
    def name(self) -> str:
        """As report and journal name it."""

    @property
    def tokens(self) -> int:
        """Tokens spent so far in this run, questions and answers; 0 for the built-in judge."""

    @property
    def hindrance(self) -> str:
        """Why nobody judges any more in this run, as one clause; `""` while somebody does."""

    def compare(self, pair: NearPair) -> PairVerdict:
        """Whether the two say the same."""

    def resolve(self, conflict: Conflict, evidence: str) -> ConflictVerdict:
        """Which of two claims holds. `evidence`: dates, sources, links and what the truth notes say, as text."""
