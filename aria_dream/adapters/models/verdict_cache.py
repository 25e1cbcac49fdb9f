"""What judges keep in the cache: the verdicts of a language model.

At temperature 0 a model still does not always say the same twice (prompt caches, batches of other users), so what it
said once stands until a note, the prompt or the model changes. A reason quotes the notes, so a verdict is dropped as
soon as one of its notes is invisible.
"""

from __future__ import annotations

import json
from contextlib import suppress
from dataclasses import dataclass, field
from hashlib import sha256
from typing import TYPE_CHECKING, Final

from aria_dream.adapters.index.cache_store import OF_VAULT
from aria_dream.consolidate.answers import wording_fault
from aria_dream.consolidate.verdict import BothValid, KeepA, KeepB, Merge, NeedsHuman, Normalize, NotDuplicate
from aria_dream.judging.triage_prompt import RECIPE, Drop, Keep, Unreadable
from aria_dream.ranking.embedding import vector_key
from aria_dream.ranking.juxtaposition import title_of

if TYPE_CHECKING:
    from collections.abc import Collection
    from datetime import date

    from aria_dream.adapters.index.cache_store import ContentCache
    from aria_dream.adapters.index.dreamt_vault import DreamtVault
    from aria_dream.consolidate.verdict import ConflictVerdict, Escalated, PairVerdict

NoteKey = tuple[bytes, str]
"""A note's content hash and its title."""


def verdict_kind(prompt_hash: str, model: str, digest: str) -> str:
    """The kind of blobs under which verdicts of this prompt and this model are kept."""
    told = f"{RECIPE}\0{prompt_hash}\0{model}\0{digest}"
    return f"verdicts:1:{sha256(told.encode('utf-8', 'surrogatepass')).hexdigest()[:16]}"


@dataclass(kw_only=True)
class VerdictCache:
    """Verdicts of one prompt and one model. A blob holds those of one note with the others, so that dropping the blobs
    of invisible notes (`ContentCache.retain_only`) drops its verdicts."""

    cache: ContentCache
    kind: str
    visible: Collection[bytes]
    """Content hashes of the notes that may be dreamt now."""
    today: date
    """A question that failed is not asked again on the same day."""
    lasting: bool = True
    """False where the model has no digest: only what failed is kept then."""
    _read: dict[bytes, dict[str, dict[str, str]]] = field(default_factory=dict)

    def get(self, first: NoteKey, second: NoteKey) -> Keep | Drop | Unreadable | None:
        """The verdict on the pair, in either direction; None where it has to be asked."""
        found = self.lookup(first, second)
        if found is None:
            return None
        match found.get("verdict"):
            case "keep":
                return Keep(None, found["reason"])
            case "drop":
                return Drop(None, found["reason"])
            case "failed" if found.get("day") == self.today.isoformat():
                return Unreadable(found["reason"])
            case _:
                return None

    def put(self, first: NoteKey, second: NoteKey, verdict: Keep | Drop | Unreadable) -> None:
        """Keep the verdict; an unreadable one for this day only."""
        if isinstance(verdict, Unreadable):
            entry = {"verdict": "failed", "reason": verdict.reason, "day": self.today.isoformat()}
        elif not self.lasting:
            return
        else:
            entry = {"verdict": "keep" if isinstance(verdict, Keep) else "drop", "reason": verdict.reason}
        self.store(first, second, entry)

    def lookup(self, first: NoteKey, second: NoteKey) -> dict[str, str] | None:
        """What is kept of the pair, in either direction."""
        home, key = _place(first, second)
        return self._entries(home).get(key)

    def store(self, first: NoteKey, second: NoteKey, entry: dict[str, str]) -> None:
        """Keep `entry`, which has a `verdict` and a `reason`, for the pair."""
        home, key = _place(first, second)
        entries = self._entries(home)
        entries[key] = entry
        self.cache.put_many(self.kind, {home: json.dumps(entries).encode()})

    def prune(self) -> None:
        """Drop every verdict of which one note is no longer visible."""
        shown = {each.hex() for each in self.visible}
        gone: list[bytes] = []
        changed: dict[bytes, bytes] = {}

        def look(home: bytes, blob: bytes) -> None:
            entries = _parse(blob)
            left = {key: entry for key, entry in entries.items() if key.partition(":")[0] in shown}
            if home.hex() not in shown:
                gone.append(home)
            elif len(left) != len(entries):
                changed[home] = json.dumps(left).encode()

        self.cache.each(self.kind, look)
        self.cache.put_many(self.kind, changed, without=gone)

    def _entries(self, home: bytes) -> dict[str, dict[str, str]]:
        if home not in self._read:
            blob = self.cache.get_many(self.kind, [home]).get(home)
            self._read[home] = {} if blob is None else _parse(blob)
        return self._read[home]


def _place(first: NoteKey, second: NoteKey) -> tuple[bytes, str]:
    """The hash under which the pair's blob lies, and the pair's key in it, the same for either direction."""
    low, high = sorted((first, second))
    titles = sha256(f"{low[1]}\0{high[1]}".encode("utf-8", "surrogatepass")).hexdigest()[:16]
    return low[0], f"{high[0].hex()}:{titles}"


def _parse(blob: bytes) -> dict[str, dict[str, str]]:
    found: object = None
    with suppress(ValueError, RecursionError):
        found = json.loads(blob)
    if not isinstance(found, dict):
        return {}
    return {
        key: entry
        for key, entry in found.items()
        if isinstance(entry, dict) and isinstance(entry.get("reason"), str) and isinstance(entry.get("verdict"), str)
    }


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


STATE_KIND: Final = f"{OF_VAULT}state"
"""The state of the vault that the cache was last cleared for."""


def retain_visible(cache: ContentCache, vault: DreamtVault) -> None:
    """Drop what invisible notes left, once for each state of the vault."""
    keys = {vector_key(fact.content_hash, title_of(fact.path)) for fact in vault.facts}
    state = sha256(vault.state_hash.encode()).digest()
    if cache.get(STATE_KIND) != state:
        cache.retain_only({fact.content_hash for fact in vault.facts} | keys)
        cache.put(STATE_KIND, state)
