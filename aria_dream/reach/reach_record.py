"""What `runs.jsonl` keeps of a reach, step by step, so that a crash between the request and its block loses nothing.

`begun` is on the disk before the request, `answered` before anything is done with the answer, `landed` once its block
stands in the dream note. Records of another type in the same file belong to others.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import date
from typing import TYPE_CHECKING, Literal, cast

from aria_dream.errors import Problem
from aria_dream.notes.jsonl import as_list, as_mapping, as_moment, as_text, as_whole, parse_records
from aria_dream.ranking.juxtaposition import pair_key
from aria_dream.reach.reach_block import ReachBlock, render_reach_block
from aria_dream.reach.reach_reading import parse_reach_blocks

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import datetime

    from aria_dream.reach.budget import Resolution

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


def unfinished(reaches: tuple[ReachRecord, ...]) -> tuple[ReachRecord, ...]:
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
