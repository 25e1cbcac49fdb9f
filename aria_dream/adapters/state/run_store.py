"""The journals as the daemon wants them: read again only when they changed, and kept as a few figures."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from aria_dream.adapters.disk.journal import Journal
from aria_dream.adapters.disk.lock import writer_lock
from aria_dream.adapters.state.record_store import PROPOSALS, RUNS, RecordStore
from aria_dream.consolidate.record import parse_consolidations
from aria_dream.errors import StateDamagedError
from aria_dream.reach.reach_record import find_unfinished, parse_reaches
from aria_dream.review.proposal import open_count
from aria_dream.schedule.run_record import (
    PastRun,
    RunEnd,
    RunLog,
    ended_record,
    last_trouble,
    parse_run_log,
    since_record,
    started_record,
)

if TYPE_CHECKING:
    from datetime import date, datetime
    from pathlib import Path

    from aria_dream.consolidate.record import Consolidation
    from aria_dream.notes.episode import EpisodeRecord
    from aria_dream.schedule.run_record import JudgeTrouble


@dataclass(frozen=True, slots=True, kw_only=True)
class Remembered:
    """What matters of the journals to whoever decides about the present moment."""

    log: RunLog
    episodes: tuple[EpisodeRecord, ...] = ()
    """The last dreams, oldest first."""
    open_proposals: int = 0
    last_night: LastNight | None = None
    judge_trouble: JudgeTrouble | None = None
    """What last went wrong with a model that judges; None where the last time all went well."""
    unfinished_reaches: int = 0
    """Reaches that are paid for and stand in no dream note yet, the one that is under way included."""
    problems: tuple[str, ...] = ()
    damage: str = ""
    """Why the journals cannot be read, as a sentence; nothing may be started then."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LastNight:
    """The last consolidation that got as far as a count."""

    night: date
    proposals: int
    escalated: int
    is_over: bool
    reason: str
    """Why it ended early; `""` where it came to its end."""


_KEPT = 200
"""Dreams that are kept: more than any two days hold."""
_RUNS_KEPT = 1000
"""Runs that are kept, for as long as seeds that brought nothing are not tried again."""


class RunStore:
    """The runs of one vault. Only the daemon writes here; `RecordStore` writes the dreams into the same file."""

    def __init__(self, state_folder: Path) -> None:
        self._folder = state_folder
        self._journal = Journal(state_folder / RUNS, writer_lock(state_folder))
        self._seen: tuple[object, ...] = ()
        self._known = Remembered(log=RunLog())

    def read(self) -> Remembered:
        """What the journals say now. Never raises for what is in them."""
        state = tuple(_state(self._folder / name) for name in (RUNS, PROPOSALS))
        if state != self._seen:
            self._known, self._seen = self._read(), state
        return self._known

    def _read(self) -> Remembered:
        try:
            records = RecordStore(self._folder).read()
            text = (self._folder / RUNS).read_text("utf-8", "replace") if (self._folder / RUNS).exists() else ""
        except StateDamagedError as error:
            return replace(self._known, damage=str(error))
        except OSError as error:
            return replace(self._known, damage=f"{self._folder / RUNS} cannot be read ({error.strerror or error})")
        log = parse_run_log(text)
        return Remembered(
            log=replace(log, runs=log.runs[-_RUNS_KEPT:]),
            episodes=tuple(replace(one, params={}, memory=type(one.memory)()) for one in records.episodes[-_KEPT:]),
            open_proposals=open_count(records.states.values()),
            last_night=_last_night(parse_consolidations(text)),
            judge_trouble=last_trouble(text),
            unfinished_reaches=len(find_unfinished(parse_reaches(text)[0])),
            problems=tuple(str(problem) for problem in records.problems),
        )

    def is_open(self, proposal: str) -> bool:
        """Whether the proposal waits to be decided, as far as this machine knows: one it never heard of may. So may a
        finding without a proposal, by its key."""
        store = RecordStore(self._folder)
        state = store.read().states.get(proposal)
        return proposal not in store.settled() if state is None else state.state == "proposed"

    def look_after(self, at: datetime) -> None:
        """Notes that a daemon looks after the vault, and the end of runs that were torn away with an earlier one."""
        log = self.read().log
        if log.since is None:
            self._journal.append(since_record(at))
        for run in log.unended:
            said = "aria-dream itself was ended in the middle of it"
            self.end(replace(run, end=RunEnd.BROKEN_OFF, ended_at=at, reason=said))

    def start(self, run: PastRun) -> None:
        """Journal a run; it is on the disk when this returns."""
        self._journal.append(started_record(run))

    def end(self, run: PastRun) -> None:
        """Journal how it ended."""
        self._journal.append(ended_record(run))


def _last_night(past: tuple[Consolidation, ...]) -> LastNight | None:
    counted = [run for run in past if run.scan is not None]
    if not counted:
        return None
    last = counted[-1]
    same = [run for run in counted if run.night == last.night]
    return LastNight(
        night=last.night,
        proposals=sum(len(run.proposals) for run in same),
        escalated=last.escalated,
        is_over=last.is_over,
        reason=last.stop_reason,
    )


def _state(path: Path) -> tuple[int, int, int] | None:
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_ino, found.st_size, found.st_mtime_ns
