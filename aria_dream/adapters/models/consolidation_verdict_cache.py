"""Verdicts of a consolidation, kept by content: both passages, the prompt, the model.

As the dream keeps its own, and in the same blobs: a verdict goes as soon as one of its notes is invisible.
"""

from __future__ import annotations

from dataclasses import dataclass
from hashlib import sha256
from typing import TYPE_CHECKING

from aria_dream.consolidate.answers import wording_fault
from aria_dream.consolidate.verdict import (
    BothValid,
    KeepA,
    KeepB,
    Merge,
    NeedsHuman,
    Normalize,
    NotDuplicate,
    Unreadable,
)

if TYPE_CHECKING:
    from aria_dream.adapters.models.verdict_cache import NoteKey, VerdictCache
    from aria_dream.consolidate.verdict import ConflictVerdict, Escalated, PairVerdict

_NAMES = {
    Merge: "merge", NotDuplicate: "not_duplicate", Normalize: "normalize", KeepA: "keep_a", KeepB: "keep_b",
    BothValid: "both_valid", NeedsHuman: "needs_human",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class ConsolidationVerdictCache:
    """Verdicts of one prompt and one model."""

    verdicts: VerdictCache

    def pair(self, first: NoteKey, second: NoteKey, *passages: str) -> PairVerdict | None:
        """The verdict on two passages, in either direction; None where it has to be asked."""
        found = self.verdicts.lookup(first, second)
        if found is None:
            return None
        reason, confidence = found["reason"], _number(found.get("confidence"))
        match found["verdict"]:
            case "merge":
                return Merge(reason=reason, confidence=confidence)
            case "not_duplicate":
                return NotDuplicate(reason=reason, confidence=confidence)
            case "normalize" if not wording_fault(found.get("wording", ""), passages):
                return Normalize(reason=reason, confidence=confidence, wording=found["wording"])
            case _:
                return self._failed(found)

    def conflict(self, first: NoteKey, second: NoteKey) -> ConflictVerdict | None:
        """The verdict on two claims; turned round where they were asked the other way round."""
        found = self.verdicts.lookup(first, second)
        if found is None:
            return None
        reason, confidence = found["reason"], _number(found.get("confidence"))
        turned = found.get("first") != _mark(first)
        match found["verdict"]:
            case "keep_a" | "keep_b" as kept:
                keeps_first = (kept == "keep_a") != turned
                return (KeepA if keeps_first else KeepB)(reason=reason, confidence=confidence)
            case "both_valid":
                return BothValid(reason=reason, confidence=confidence)
            case "needs_human":
                return NeedsHuman(reason=reason, confidence=confidence)
            case _:
                return self._failed(found)

    def _failed(self, found: dict[str, str]) -> Unreadable | None:
        today = found.get("day") == self.verdicts.today.isoformat()
        return Unreadable(reason=found["reason"]) if found["verdict"] == "failed" and today else None

    def keep(self, first: NoteKey, second: NoteKey, verdict: PairVerdict | ConflictVerdict) -> None:
        """Keep the verdict; an unreadable one for this day only, an escalation not at all: it costs nothing."""
        match verdict:
            case Unreadable():
                day = self.verdicts.today.isoformat()
                self.verdicts.store(first, second, {"verdict": "failed", "reason": verdict.reason, "day": day})
            case Merge() | NotDuplicate() | Normalize() | KeepA() | KeepB() | BothValid() | NeedsHuman():
                if self.verdicts.lasting:
                    self.verdicts.store(first, second, _entry(first, verdict))
            case _:
                _costs_nothing(verdict)


def _costs_nothing(_verdict: Escalated) -> None:
    """Nothing is kept of it."""


def _entry(
    first: NoteKey, verdict: Merge | NotDuplicate | Normalize | KeepA | KeepB | BothValid | NeedsHuman
) -> dict[str, str]:
    return {
        "verdict": _NAMES[type(verdict)],
        "reason": verdict.reason,
        "confidence": repr(verdict.confidence),
        "first": _mark(first),
        "wording": verdict.wording if isinstance(verdict, Normalize) else "",
    }


def _mark(first: NoteKey) -> str:
    """Which of the two was asked as the first."""
    return sha256(first[1].encode("utf-8", "surrogatepass")).hexdigest()[:16]


def _number(text: str | None) -> float:
    try:
        return min(1.0, max(0.0, float(text or "0")))
    except ValueError:
        return 0.0
