"""What `runs.jsonl` keeps of a consolidation: a record an item, so that one which was cut off goes on exactly there.

A `Consolidation` is the fold of its records. Readers tolerate torn, repeated and foreign lines.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import date, datetime
from enum import Enum
from typing import TYPE_CHECKING, Final, Literal

from aria_dream.consolidate.judged import CONFLICT_ONLY, WORDS, Judged
from aria_dream.notes.jsonl import (
    as_list,
    as_mapping,
    as_moment,
    as_number,
    as_text,
    as_texts,
    as_whole,
    parse_records,
)

if TYPE_CHECKING:
    from collections.abc import Mapping

VERSION = 1
TYPE = "consolidation"


class Part(Enum):
    """The three stages, in their order."""

    TRIAGE = "triage"
    """What there is, what is new, what lies near and what disagrees. No judge."""
    CONSOLIDATE = "consolidate"
    """One verdict a near pair; one proposal a cluster."""
    RESOLVE = "resolve"
    """One verdict a contradiction; what is stale."""


ALL_PARTS: Final = tuple(Part)


class End(Enum):
    """How a consolidation ended; one without an end was cut off."""

    DONE = "done"
    """Nothing is left."""
    STOPPED = "stopped"
    """A breaker: the night is over, and the next one goes on with what is left."""
    INTERRUPTED = "interrupted"
    """Somebody returned, or ended it; it is resumed exactly there."""


What = Literal["cluster", "conflict", "stale", "copy"]
"""Of what a finding is."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Brought:
    """What became of a finding: it was proposed, left to a person, or could not be planned."""

    finding: str
    """Mark of the cluster, contradiction, stale note or copy."""
    what: What
    proposals: tuple[str, ...]
    reason: str = ""
    """Why nothing was proposed; holds no note text."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Scan:
    """What triage counted."""

    passages: int
    new: int
    """Never analysed before."""
    pairs: int
    conflicts: int
    stale: int = 0
    at_odds: tuple[tuple[str, str, str], ...] = ()
    """Of each contradiction its key and the vault paths of both notes; empty in records of earlier versions."""


@dataclass(slots=True, kw_only=True)
class Consolidation:
    """One consolidation as far as its records go. `take` brings it up to date; nothing else changes it."""

    id: str
    at: datetime
    """Aware, in the writer's zone."""
    night: date
    """The night whose caps it counts against."""
    parts: tuple[Part, ...]
    judge: str
    scan: Scan | None = None
    judged: dict[str, Judged] = field(default_factory=dict)
    """By key; pairs and contradictions have keys of their own."""
    brought: dict[str, Brought] = field(default_factory=dict)
    """By mark."""
    tokens: int = 0
    seconds: float = 0.0
    """Of work, pauses left out."""
    failures: int = 0
    """Unreadable answers in a row."""
    end: End | None = None
    stop_reason: str = ""
    left: int = 0
    """Pairs and contradictions that no verdict was given for."""
    is_told: bool = False
    """What it found stands in the report and the notes of the night."""
    proposals: list[str] = field(default_factory=list)
    """Ids, in the order they were made."""
    pairs_judged: int = 0
    conflicts_judged: int = 0
    _seen_at: datetime | None = None

    @property
    def is_over(self) -> bool:
        """Whether it came to its end, or a breaker ended it for that night."""
        return self.end in (End.DONE, End.STOPPED)

    @property
    def escalated(self) -> int:
        """Contradictions that wait for a person."""
        return sum(one.what == "conflict" and not one.proposals for one in self.brought.values())

    @property
    def resolutions(self) -> int:
        """Contradictions with a proposal."""
        return sum(one.what == "conflict" and bool(one.proposals) for one in self.brought.values())

    @property
    def questions_answered(self) -> int:
        """Pairs and contradictions that this run has put to a judge."""
        return self.pairs_judged + self.conflicts_judged

    def take(self, record: Mapping[str, object]) -> None:
        """Adds one record of this consolidation. Raises KeyError, TypeError or ValueError where it is none."""
        at, event = as_moment(record["at"]), as_text(record["event"])
        match event:
            case "resumed":
                self.end, self.failures, self._seen_at = None, 0, at
                return
            case "told":
                self.is_told = True
                return
            case "triaged":
                self.scan = Scan(
                    passages=as_whole(record["atoms"]),
                    new=as_whole(record["new"]),
                    pairs=as_whole(record["pairs"]),
                    conflicts=as_whole(record["conflicts"]),
                    stale=as_whole(record.get("stale", 0)),
                    at_odds=tuple(map(_at_odds, as_list(record.get("at_odds", [])))),
                )
            case "judged":
                self._take_judged(record)
            case "brought":
                self._take_brought(record)
            case "ended":
                self.end = End(record["end"])
                self.stop_reason = as_text(record.get("reason", ""))
                self.left = as_whole(record.get("left", 0))
            case _:
                return  # of a later version
        since = self._seen_at or self.at
        self.seconds += max(0.0, (at - since).total_seconds())
        self._seen_at = at

    def _take_judged(self, record: Mapping[str, object]) -> None:
        made = _judged(record)
        if made.key in self.judged:
            return
        self.judged[made.key] = made
        self.tokens += max(0, as_whole(record.get("tokens", 0)))
        self.failures = self.failures + 1 if made.word == "unreadable" else 0
        if as_text(record["what"]) == "conflict":
            self.conflicts_judged += 1
        else:
            self.pairs_judged += 1

    def _take_brought(self, record: Mapping[str, object]) -> None:
        made = _brought(record)
        if made.finding not in self.brought:
            self.brought[made.finding] = made
            self.proposals += made.proposals


def started(run: Consolidation) -> dict[str, object]:
    """The record of one that is about to start."""
    return {
        **_head(run, "started", run.at),
        "night": run.night.isoformat(),
        "parts": [part.value for part in run.parts],
        "judge": run.judge,
    }


def resumed(run: Consolidation, at: datetime) -> dict[str, object]:
    """The record of one that goes on."""
    return _head(run, "resumed", at)


def triaged(run: Consolidation, at: datetime, scan: Scan) -> dict[str, object]:
    """The record of its first stage."""
    return {
        **_head(run, "triaged", at),
        "atoms": scan.passages,
        "new": scan.new,
        "pairs": scan.pairs,
        "conflicts": scan.conflicts,
        "stale": scan.stale,
        "at_odds": [list(one) for one in scan.at_odds],
    }


def judged_record(
    run: Consolidation, at: datetime, what: Literal["pair", "conflict"], judged: Judged, *, tokens: int
) -> dict[str, object]:
    """The record of one verdict. `tokens`: what it cost."""
    return {
        **_head(run, "judged", at),
        "what": what,
        "key": judged.key,
        "verdict": judged.word,
        "reason": judged.reason,
        "confidence": judged.confidence,
        "wording": judged.wording,
        "judge": judged.judge,
        "tokens": tokens,
    }


def brought_record(run: Consolidation, at: datetime, brought: Brought) -> dict[str, object]:
    """The record of a finding that became proposals, or did not."""
    return {
        **_head(run, "brought", at),
        "finding": brought.finding,
        "what": brought.what,
        "proposals": list(brought.proposals),
        "reason": brought.reason,
    }


def ended(run: Consolidation, at: datetime, end: End, reason: str, left: int) -> dict[str, object]:
    """The record of its end."""
    return {**_head(run, "ended", at), "end": end.value, "reason": reason, "left": left}


def told(run: Consolidation, at: datetime) -> dict[str, object]:
    """The record that the night's report is written."""
    return _head(run, "told", at)


def _head(run: Consolidation, event: str, at: datetime) -> dict[str, object]:
    return {"type": TYPE, "version": VERSION, "event": event, "id": run.id, "at": at.isoformat()}


def parse_consolidations(text: str) -> tuple[Consolidation, ...]:
    """Every consolidation in `runs.jsonl`, oldest first. Lines that lack something are left out. Never raises."""
    runs: dict[str, Consolidation] = {}
    for _, record in parse_records(text)[0]:
        if record.get("type") != TYPE:
            continue
        try:
            if record.get("event") == "started":
                run = _started(record)
                runs.setdefault(run.id, run)
            elif (known := runs.get(as_text(record["id"]))) is not None:
                known.take(record)
        except (KeyError, TypeError, ValueError):
            continue
    return tuple(runs.values())


def _started(record: Mapping[str, object]) -> Consolidation:
    return Consolidation(
        id=as_text(record["id"]),
        at=as_moment(record["at"]),
        night=date.fromisoformat(as_text(record["night"])),
        parts=tuple(Part(name) for name in as_texts(record["parts"])),
        judge=as_text(record.get("judge", "")),
    )


def _at_odds(row: object) -> tuple[str, str, str]:
    key, first, second = as_texts(row)
    return key, first, second


def _judged(record: Mapping[str, object]) -> Judged:
    word = record["verdict"]
    if word not in WORDS or (as_text(record["what"]) == "pair" and word in CONFLICT_ONLY):
        raise ValueError("verdict")
    return Judged(
        key=as_text(record["key"]),
        word=word,
        reason=as_text(record.get("reason", "")),
        confidence=as_number(record.get("confidence", 0.0)),
        wording=as_text(record.get("wording", "")),
        judge=as_text(record.get("judge", "")),
    )


def _brought(record: Mapping[str, object]) -> Brought:
    what = record["what"]
    if what not in ("cluster", "conflict", "stale", "copy"):
        raise ValueError("what")
    return Brought(
        finding=as_text(record["finding"]),
        what=what,
        proposals=tuple(as_text(one) for one in as_list(record["proposals"])),
        reason=as_text(as_mapping(record).get("reason", "")),
    )
