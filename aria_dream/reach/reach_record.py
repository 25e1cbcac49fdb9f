"""What `runs.jsonl` keeps of a reach, step by step, and what a run that reached out amounts to. Pure.

`begun` is on the disk before the request, `answered` before anything is done with the answer, `landed` once its block
stands in the dream note: so a crash between the request and its block loses nothing. Records of another type in the
same file belong to others. A run amounts to an answer, something unreadable, or why there is none.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import date
from typing import TYPE_CHECKING, Literal, assert_never, cast

from aria_dream.errors import Problem
from aria_dream.judging.prompt_text import harmless_text
from aria_dream.notes.jsonl import as_list, as_mapping, as_moment, as_text, as_whole, parse_records
from aria_dream.notes.plain_text import clean
from aria_dream.ranking.juxtaposition import pair_key
from aria_dream.reach.citation import inert
from aria_dream.reach.reach import Answer, Unparsed, parse_answer
from aria_dream.reach.reach_block import NoAnswer, ReachBlock, legible, render_reach_block
from aria_dream.reach.reach_reading import parse_reach_blocks

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import datetime

    from aria_dream.reach.budget import Resolution
    from aria_dream.reach.reach_events import Failure, FailureKind, ReachEnd

VERSION = 1
ReachKind = Literal["internal", "external"]
Step = Literal["begun", "answered", "landed"]
_RESOLUTIONS = ("homes", "orphan", "neither", "unparsed", "refused", "failed", "aborted", "unsent")


@dataclass(frozen=True, slots=True, kw_only=True)
class ReachRecord:
    """One reach as far as it is known."""

    id: str
    """As in the ledger."""
    at: datetime
    """Aware, in the writer's zone; the block's day and time."""
    kind: ReachKind
    block: ReachBlock
    """What is to stand in the dream note as things are; before there is an answer it says that it was broken off."""
    resolution: Resolution
    pair: tuple[str, str] | None = None
    """Vault paths of both notes, sorted; None for a seed."""
    seed: tuple[str, date | None] | None = None
    """Title and date of the seed; None for a pair."""
    homes: tuple[str, str] | None = None
    """Vault paths of the two notes that a seed's edge connects, in the answer's order; None where there are none."""
    requests: int = 0
    """Sent in all, as far as could be seen; 0 where that is not known."""
    raw: str = ""
    """The whole answer, where no verdict could be read in it."""
    step: Step = "begun"


def reach_record(reach: ReachRecord) -> dict[str, object]:
    """The record, ready for the journal."""
    seed = None
    if reach.seed is not None:
        day = reach.seed[1]
        seed = {"title": reach.seed[0], "deposited_on": None if day is None else day.isoformat()}
    return {
        "type": "reach",
        "version": VERSION,
        "id": reach.id,
        "step": reach.step,
        "at": reach.at.isoformat(),
        "kind": reach.kind,
        "resolution": reach.resolution,
        "pair": None if reach.pair is None else list(reach.pair),
        "seed": seed,
        "homes": None if reach.homes is None else list(reach.homes),
        "requests": reach.requests,
        "raw": reach.raw,
        "block": render_reach_block(reach.block),
    }


def landed_record(reach: ReachRecord) -> dict[str, object]:
    """The last step of a reach, ready for the journal."""
    return {"type": "reach", "version": VERSION, "id": reach.id, "step": "landed"}


def parse_reaches(text: str) -> tuple[tuple[ReachRecord, ...], tuple[Problem, ...]]:
    """Every reach in `runs.jsonl` as its latest step tells it, in the order they were begun; and broken records."""
    records, problems = parse_records(text)
    reaches: dict[str, ReachRecord] = {}
    faults = list(problems)
    for line, record in records:
        if record.get("type") != "reach":
            continue
        try:
            _take(reaches, record)
        except (KeyError, TypeError, ValueError, OverflowError):
            faults.append(Problem("", line, "this record of a reach lacks something and was left out"))
    return tuple(reaches.values()), tuple(faults)


def find_unfinished(reaches: tuple[ReachRecord, ...]) -> tuple[ReachRecord, ...]:
    """Those whose block is not in its dream note yet, as far as this machine knows."""
    return tuple(reach for reach in reaches if reach.step != "landed")


def _take(reaches: dict[str, ReachRecord], record: Mapping[str, object]) -> None:
    name, step = as_text(record["id"]), as_text(record["step"])
    known = reaches.get(name)
    if step == "landed":
        if known is not None:
            reaches[name] = replace(known, step="landed")
        return
    if step not in ("begun", "answered"):
        raise ValueError("a step of a later version")
    if known is None or (known.step == "begun" and step == "answered"):
        reaches[name] = _reach(name, cast("Step", step), record)


def _reach(name: str, step: Step, record: Mapping[str, object]) -> ReachRecord:
    blocks, _ = parse_reach_blocks(as_text(record["block"]))
    kind, resolution = as_text(record["kind"]), as_text(record["resolution"])
    if len(blocks) != 1 or kind not in ("internal", "external") or resolution not in _RESOLUTIONS:
        raise ValueError("no reach")
    pair, seed, homes = record.get("pair"), record.get("seed"), record.get("homes")
    return ReachRecord(
        id=name,
        at=as_moment(record["at"]),
        kind=cast("ReachKind", kind),
        block=blocks[0],
        resolution=cast("Resolution", resolution),
        pair=None if pair is None else _pair(pair),
        seed=None if seed is None else _seed(as_mapping(seed)),
        homes=None if homes is None else _two(homes),
        requests=as_whole(record.get("requests", 0)),
        raw=as_text(record.get("raw", "")),
        step=step,
    )


def _two(value: object) -> tuple[str, str]:
    first, second = as_list(value)
    return as_text(first), as_text(second)


def _pair(value: object) -> tuple[str, str]:
    return pair_key(*_two(value))


def _seed(value: Mapping[str, object]) -> tuple[str, date | None]:
    day = value.get("deposited_on")
    return as_text(value["title"]), None if day is None else date.fromisoformat(as_text(day))


LONGEST_REASON = 200
"""Characters of what the program said about its failure."""
BROKEN_OFF = NoAnswer(reason="it was broken off before its answer was kept", sent=True)
"""The outcome of a reach whose process was torn away in the middle."""

_REFUSALS: frozenset[FailureKind] = frozenset({"login", "usage limit", "rate limit"})
"""What a server says to this account (401, 403, 429). `capacity` says nothing about it: every 500 and 503 is one."""


def read_end(end: ReachEnd) -> tuple[Answer | Unparsed | NoAnswer, Resolution]:
    """What came of the reach, and how the ledger says it.

    `unsent` only where nothing can have left; whatever was ended from outside after that is `aborted`, with what it
    had said so far.
    """
    run = end.run
    partial = legible(end.partial or run.last_message)
    if end.stopped:
        reason = _bounded(end.stopped)
        if not run.sent:
            return NoAnswer(reason=reason, sent=False), "unsent"
        return NoAnswer(reason=reason, sent=True, partial=partial), "aborted"
    if run.failure is not None or not run.sent:
        reason = "Codex ended without a word" if run.failure is None else failure_text(run.failure)
        if not run.sent:
            return NoAnswer(reason=reason, sent=False), "unsent"
        refused = run.failure is not None and run.failure.kind in _REFUSALS
        return NoAnswer(reason=reason, sent=True, partial=partial), "refused" if refused else "failed"
    answer = parse_answer(run.last_message)
    match answer:
        case Answer():
            return answer, answer.verdict
        case Unparsed(raw):
            return Unparsed(legible(raw)), "unparsed"
        case _:
            assert_never(answer)


def failure_text(failure: Failure) -> str:
    """Why there is no answer, as one clause for the writer; what the program said is text that does nothing."""
    said = _bounded(failure.message)
    if failure.kind == "not started" and said:  # ours, or the program's own first words
        return said
    return f"{_SAID[failure.kind]} ({said})" if said else _SAID[failure.kind]


_SAID: dict[FailureKind, str] = {
    "unreachable": "Codex could not reach its server",
    "login": "the login was not accepted; log in with `codex login`",
    "usage limit": "the plan's usage limit is reached",
    "rate limit": "the server asked to come back later",
    "capacity": "the server failed, or has no room for this model now",
    "cut": "the connection ended before the answer did",
    "not started": "Codex did not start",
    "failed": "the server or Codex failed",
}


def _bounded(text: str) -> str:
    said = clean(inert(clean(harmless_text(text[: 20 * LONGEST_REASON]))))
    return said if len(said) <= LONGEST_REASON else clean(said[: LONGEST_REASON - 1]) + "…"
