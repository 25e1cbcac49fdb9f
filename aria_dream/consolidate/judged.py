"""Verdicts in the form that outlives a night, and the names by which texts and findings are known again."""

from __future__ import annotations

from dataclasses import dataclass
from hashlib import sha256
from typing import TYPE_CHECKING, Final, Literal, assert_never, get_args

from aria_dream.consolidate.verdict import (
    BothValid,
    Escalated,
    KeepA,
    KeepB,
    Merge,
    NeedsHuman,
    Normalize,
    NotDuplicate,
    Unreadable,
)

if TYPE_CHECKING:
    from collections.abc import Iterable

    from aria_dream.consolidate.verdict import Conflict, ConflictVerdict, PairVerdict

Word = Literal[
    "merge", "not_duplicate", "normalize", "keep_a", "keep_b", "both_valid", "needs_human", "escalated", "unreadable"
]
WORDS: Final[tuple[Word, ...]] = get_args(Word)
CONFLICT_ONLY: Final = frozenset({"keep_a", "keep_b", "both_valid", "needs_human"})
"""Words that no near pair can get."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Judged:
    """A verdict that was given, in the form that outlives the run."""

    key: str
    """`Candidate.key` or `conflict_key`: the same texts need not be judged again."""
    word: Word
    reason: str
    confidence: float = 0.0
    wording: str = ""
    """Of a `normalize`."""
    judge: str = ""

    @property
    def is_decided(self) -> bool:
        """Whether another judge need not be asked."""
        return self.word not in ("escalated", "unreadable")


def conflict_key(conflict: Conflict) -> str:
    """A name for two claims in the texts they stand in: 32 hex digits.

    An edit elsewhere in either note leaves it as it is: what is judged is the claim.
    """
    sides = ((conflict.first, conflict.first_claim), (conflict.second, conflict.second_claim))
    return _digest("conflict", *sorted(f"{passage.id}\n{_plain(claim)}" for passage, claim in sides))


def cluster_mark(members: Iterable[tuple[str, str]]) -> str:
    """A name for a cluster of texts as they read now, each its id and its state's hash: 32 hex digits."""
    return _digest("cluster", *sorted(f"{id_}\n{state}" for id_, state in members))


def _plain(claim: str) -> str:
    return " ".join(claim.split()).casefold()


def _digest(*parts: str) -> str:
    return sha256("\0".join(parts).encode("utf-8", "surrogatepass")).hexdigest()[:32]


def as_judged(key: str, verdict: PairVerdict | ConflictVerdict, judge: str) -> Judged:
    """The verdict in the form that is kept."""
    word: Word
    confidence, wording = 0.0, ""
    match verdict:
        case Merge(confidence=confidence):
            word = "merge"
        case NotDuplicate(confidence=confidence):
            word = "not_duplicate"
        case Normalize(confidence=confidence, wording=wording):
            word = "normalize"
        case KeepA(confidence=confidence):
            word = "keep_a"
        case KeepB(confidence=confidence):
            word = "keep_b"
        case BothValid(confidence=confidence):
            word = "both_valid"
        case NeedsHuman(confidence=confidence):
            word = "needs_human"
        case Escalated():
            word = "escalated"
        case Unreadable():
            word = "unreadable"
        case _:
            assert_never(verdict)
    return Judged(key=key, word=word, reason=verdict.reason, confidence=confidence, wording=wording, judge=judge)


def as_pair_verdict(judged: Judged) -> PairVerdict:
    """The verdict about a near pair that was kept."""
    match judged.word:
        case "merge":
            return Merge(reason=judged.reason, confidence=judged.confidence)
        case "normalize":
            return Normalize(reason=judged.reason, confidence=judged.confidence, wording=judged.wording)
        case "not_duplicate":
            return NotDuplicate(reason=judged.reason, confidence=judged.confidence)
        case "unreadable":
            return Unreadable(reason=judged.reason)
        case _:
            return Escalated(reason=judged.reason)


def as_conflict_verdict(judged: Judged) -> ConflictVerdict:
    """The verdict about a contradiction that was kept."""
    match judged.word:
        case "keep_a":
            return KeepA(reason=judged.reason, confidence=judged.confidence)
        case "keep_b":
            return KeepB(reason=judged.reason, confidence=judged.confidence)
        case "both_valid":
            return BothValid(reason=judged.reason, confidence=judged.confidence)
        case "needs_human":
            return NeedsHuman(reason=judged.reason, confidence=judged.confidence)
        case "unreadable":
            return Unreadable(reason=judged.reason)
        case _:
            return Escalated(reason=judged.reason)
