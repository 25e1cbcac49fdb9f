"""What `runs.jsonl` keeps of the daemon's runs: when one started, what for, how it ended; and which judge failed.

A run is on the disk before its child starts, so that a crash in the middle is known afterwards. Records of another
type in the same file belong to others.
"""

from __future__ import annotations

from collections import Counter
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import date
from enum import Enum
from hashlib import sha256
from typing import TYPE_CHECKING, Literal

from aria_dream.notes.jsonl import as_moment, as_text, as_texts, as_whole, parse_records
from aria_dream.schedule.scheduler_state import StartedRun

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from datetime import datetime

    from aria_dream.notes.episode import EpisodeRecord
    from aria_dream.notes.seeds import Seed

VERSION = 1

BROKEN_OFF_MAX = 3
"""A night whose runs were torn away so often with the daemon itself is let go: something in it may be what kills."""


class RunEnd(Enum):
    """How a run ended."""

    DONE = "done"
    """It came to its end, with or without a dream."""
    INTERRUPTED = "interrupted"
    """Ended because somebody returned, the power went, the policy closed or the vault vanished; taken up again."""
    REFUSED = "refused"
    """The vault or its policy did not allow it at that moment; nothing is broken."""
    FAILED = "failed"
    """Something is broken. A night is not tried again after that."""
    BROKEN_OFF = "broken off"
    """The daemon itself was torn away in the middle."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PastRun:
    """One run of the daemon."""

    id: str
    at: datetime
    """Start; aware."""
    occasion: str
    """A key of `triggers.md`."""
    stages: tuple[str, ...]
    night: date | None = None
    """The night whose work it is."""
    seed: str = ""
    """`seed_mark` of the seed that waited when it started."""
    end: RunEnd | None = None
    """None: it runs, or the daemon was torn away."""
    ended_at: datetime | None = None
    reason: str = ""
    """Why it ended so, in words; holds no note text."""
    episode: str = ""
    """Id of the dream it wrote; `""` where it wrote none."""
    pairs: int = 0
    proposals: int = 0
    """Made by a consolidation."""
    finished: tuple[str, ...] = ()
    """The stages that came to their end, whatever became of the others."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RunLog:
    """The runs of one vault on this machine."""

    runs: tuple[PastRun, ...] = ()
    """Oldest first."""
    since: datetime | None = None
    """When a daemon first looked after the vault."""

    @property
    def unended(self) -> tuple[PastRun, ...]:
        """Runs without an end. Where no run is on, they were torn away."""
        return tuple(run for run in self.runs if run.end is None)

    def finished_stages(self, night: date | None) -> frozenset[str]:
        """The stages of that night's work that are done, by whichever of its runs."""
        return frozenset(stage for run in self.runs if night and run.night == night for stage in run.finished)

    def tried_seeds(self) -> frozenset[str]:
        """Marks of the seeds that a run was started for and came to an end with."""
        kept = (RunEnd.DONE, RunEnd.FAILED)
        return frozenset(run.seed for run in self.runs if run.seed and run.end in kept)


def as_runs(log: RunLog, episodes: Sequence[EpisodeRecord], ended_s: Mapping[str, float]) -> tuple[StartedRun, ...]:
    """The runs, and the dreams that a person asked for, as `due` wants them; `ended_s`: monotonic ends by run id.

    A run that was ended early does not count for its night, nor as a dream of the day unless its dream was written all
    the same; it rests like any other. So does a dream that a person asked for, which is none of the daemon's a day.
    """
    by_id = {episode.id: episode for episode in episodes}
    dreams = {run.id: by_id.get(run.episode) or _torn_dream(run, episodes) for run in log.runs}
    torn = Counter(run.night for run in log.runs if run.end in (None, RunEnd.BROKEN_OFF))
    found = [
        StartedRun(
            at=run.at,
            dreamt="dream" in run.stages and (run.end is RunEnd.DONE or dreams[run.id] is not None),
            night=run.night if _settles(run, torn[run.night]) else None,
            monotonic_s=ended_s.get(run.id),
            reached=_came_to(run, "reach"),
        )
        for run in log.runs
    ]
    ours = {episode.id for episode in dreams.values() if episode is not None}
    found += [StartedRun(at=episode.at) for episode in episodes if episode.id not in ours]
    return tuple(found)


def _torn_dream(run: PastRun, episodes: Sequence[EpisodeRecord]) -> EpisodeRecord | None:
    """The dream, of `episodes` oldest first, that a run wrote before it was ended early and could say so."""
    if run.episode or run.end is RunEnd.DONE or "dream" not in run.stages:
        return None
    within = (one for one in episodes if one.at >= run.at and (run.ended_at is None or one.at <= run.ended_at))
    return next(within, None)


def _came_to(run: PastRun, stage: str) -> bool:
    """Whether the run began that stage: all before it came to their end. In doubt it did."""
    if stage not in run.stages:
        return False
    before = run.stages[: run.stages.index(stage)]
    return run.end in (None, RunEnd.BROKEN_OFF) or set(before) <= set(run.finished)


def _settles(run: PastRun, torn: int) -> bool:
    return run.end in (RunEnd.DONE, RunEnd.FAILED) or (torn >= BROKEN_OFF_MAX and run.end is RunEnd.BROKEN_OFF)


def seed_mark(seed: Seed) -> str:
    """A name for the seed that survives being moved and ticked, and says nothing about it: 16 hex digits."""
    return sha256(f"{seed.deposited_on}\0{seed.title}".encode("utf-8", "surrogatepass")).hexdigest()[:16]


def started_record(run: PastRun) -> dict[str, object]:
    """The record of a run that is about to start."""
    return {
        "type": "run",
        "version": VERSION,
        "event": "started",
        "id": run.id,
        "at": run.at.isoformat(),
        "occasion": run.occasion,
        "stages": list(run.stages),
        "night": None if run.night is None else run.night.isoformat(),
        "seed": run.seed,
    }


def ended_record(run: PastRun) -> dict[str, object]:
    """The record of its end."""
    assert run.end is not None
    assert run.ended_at is not None
    return {
        "type": "run",
        "version": VERSION,
        "event": "ended",
        "id": run.id,
        "at": run.ended_at.isoformat(),
        "end": run.end.value,
        "reason": run.reason,
        "episode": run.episode,
        "pairs": run.pairs,
        "proposals": run.proposals,
        "finished": list(run.finished),
    }


def since_record(at: datetime) -> dict[str, object]:
    """The record of a daemon that looks after the vault for the first time."""
    return {"type": "since", "version": VERSION, "at": at.isoformat()}


def parse_run_log(text: str) -> RunLog:
    """Every run in `runs.jsonl`. Lines that are none, or lack something, are left out. Never raises."""
    runs: dict[str, PastRun] = {}
    since: datetime | None = None
    for _, record in parse_records(text)[0]:
        try:
            if record.get("type") == "since":
                at = as_moment(record["at"])
                since = at if since is None else min(since, at)
            elif record.get("type") == "run" and record.get("event") == "started":
                run = _started(record)
                runs.setdefault(run.id, run)
            elif record.get("type") == "run" and record.get("event") == "ended":
                name = as_text(record["id"])
                if name in runs and runs[name].end is None:
                    runs[name] = _ended(runs[name], record)
        except (KeyError, TypeError, ValueError):
            continue
    return RunLog(runs=tuple(runs.values()), since=since)


def _started(record: Mapping[str, object]) -> PastRun:
    night = record.get("night")
    return PastRun(
        id=as_text(record["id"]),
        at=as_moment(record["at"]),
        occasion=as_text(record["occasion"]),
        stages=as_texts(record["stages"]),
        night=None if night is None else date.fromisoformat(as_text(night)),
        seed=as_text(record.get("seed", "")),
    )


def _ended(run: PastRun, record: Mapping[str, object]) -> PastRun:
    return replace(
        run,
        end=RunEnd(record["end"]),
        ended_at=as_moment(record["at"]),
        reason=as_text(record.get("reason", "")),
        episode=as_text(record.get("episode", "")),
        pairs=as_whole(record.get("pairs", 0)),
        proposals=as_whole(record.get("proposals", 0)),
        finished=as_texts(record.get("finished", [])),
    )


def failures_in_a_row(log: RunLog) -> int:
    """How many of the last runs failed; runs that were ended early, or not allowed, say nothing either way."""
    count = 0
    for run in reversed(log.runs):
        if run.end is RunEnd.FAILED:
            count += 1
        elif run.end is RunEnd.DONE:
            break
    return count


def with_stage(run: PastRun, stage: str, found: Mapping[str, object]) -> PastRun:
    """The run with what a child reported that came to the end of a stage."""
    said = str(found.get("reason") or found.get("note") or "")
    pairs, proposals = found.get("pairs"), found.get("proposals")
    return replace(
        run,
        end=RunEnd.DONE,
        reason="; ".join(filter(None, (run.reason, said))),
        episode=str(found.get("episode") or "") or run.episode,
        pairs=run.pairs + (pairs if isinstance(pairs, int) else 0),
        proposals=run.proposals + (proposals if isinstance(proposals, int) else 0),
        finished=(*run.finished, stage),
    )


_JUDGE_VERSION = 1
Occasion = Literal["dream", "consolidation"]


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgeTrouble:
    """The last word on a model that judges."""

    at: datetime
    """Aware."""
    occasion: str
    """An `Occasion`, or one of a later version."""
    trouble: str
    """One sentence without its full stop: what went wrong, and who judged instead; `""` once all went well again."""


def judge_record(at: datetime, occasion: Occasion, trouble: str) -> dict[str, object]:
    """The record, ready for the journal."""
    return {"type": "judge", "version": _JUDGE_VERSION, "at": at.isoformat(), "occasion": occasion, "trouble": trouble}


def last_trouble(text: str, occasion: Occasion | None = None) -> JudgeTrouble | None:
    """The newest trouble that is not over, of that occasion or of any; None where there is none. Never raises."""
    last: dict[str, JudgeTrouble] = {}
    for _, record in parse_records(text)[0]:
        if record.get("type") != "judge":
            continue
        with suppress(KeyError, TypeError, ValueError):
            found = JudgeTrouble(
                at=as_moment(record["at"]), occasion=as_text(record["occasion"]), trouble=as_text(record["trouble"])
            )
            last[found.occasion] = found
    told = [one for one in last.values() if one.trouble and occasion in (None, one.occasion)]
    return max(told, key=lambda one: one.at, default=None)
