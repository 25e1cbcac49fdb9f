"""What the daemon tells: each new thing once in the log, and all of it in `status.json`."""

from __future__ import annotations

import logging
import os
from dataclasses import replace
from typing import TYPE_CHECKING

from aria_dream.adapters.state.status import Doing, LastRun, Status, write_status
from aria_dream.schedule.due import Due, NotYet
from aria_dream.schedule.run_record import failures_in_a_row
from aria_dream.version import __version__

if TYPE_CHECKING:
    from datetime import datetime, tzinfo

    from aria_dream.adapters.watch.scheduler_inputs import SchedulerInputs, View
    from aria_dream.schedule.run_record import PastRun, RunLog

log = logging.getLogger("aria_dream.daemon")


class StatusWriter:
    """Log and status of one daemon."""

    def __init__(self, inputs: SchedulerInputs) -> None:
        self._inputs = inputs
        self._started_at = inputs.local_moment()[0].now
        self._said: frozenset[str] = frozenset()
        self._held: tuple[str, ...] | None = None
        self._written: Status | None = None
        self.looks_failed = 0
        """Looks that failed in a row."""

    def log_news(self, view: View) -> None:
        """Logs each problem and remark once, and once more when it is gone; and what holds a dream back, when that
        becomes something else."""
        said = frozenset((*view.problems, *view.verdict.remarks))
        for sentence in sorted(said - self._said):
            log.warning("%s", sentence)
        for sentence in sorted(self._said - said):
            log.info("no longer so: %s", sentence)
        self._said = said
        held = tuple(blocker.what for blocker in view.verdict.blockers) if isinstance(view.verdict, NotYet) else ()
        if held != self._held and isinstance(view.verdict, NotYet):
            log.info("%s", view.verdict.reason)
        self._held = held

    def write_view(self, view: View, *, doing: Doing | None = None) -> None:
        """Puts what was seen into `status.json`."""
        verdict, zone = view.verdict, view.moment.zone
        inputs, report = self._inputs, self._inputs.watcher.report
        log_, settings = view.remembered.log, self._inputs.live.policy.settings
        failures = max(failures_in_a_row(log_), self.looks_failed)
        until = verdict.until if isinstance(verdict, NotYet) else None
        dreams = [episode.at for episode in view.remembered.episodes]
        waiting: Doing = "slowed" if inputs.is_slowed(failures) else "waiting"
        self._write(
            Status(
                doing=doing or waiting,
                reason=verdict.why if isinstance(verdict, Due) else verdict.reason,
                at=_iso(view.moment.now, zone),
                until=None if until is None else _iso(until, zone),
                holds=tuple(blocker.what for blocker in verdict.blockers) if isinstance(verdict, NotYet) else (),
                remarks=verdict.remarks,
                problems=view.problems,
                vault=str(inputs.root),
                host=inputs.host,
                pid=os.getpid(),
                version=__version__,
                started_at=_iso(self._started_at, zone),
                watching=report.mode.value,
                watching_why=report.why,
                open_proposals=view.remembered.open_proposals,
                is_review_full=view.remembered.open_proposals >= settings.max_open_proposals,
                owed_night=None if view.owed_night is None else view.owed_night.isoformat(),
                last_dream_at=_iso(max(dreams), zone) if dreams else None,
                last_run=_last_run(log_),
                failures=failures,
            )
        )

    def write_failure(self, cause: str) -> None:
        """Puts a look that failed into `status.json`."""
        moment, inputs = self._inputs.local_moment()[0], self._inputs
        times = "" if self.looks_failed == 1 else f" {self.looks_failed} times in a row"
        self._write(
            Status(
                doing="slowed",
                reason=f"looking at the vault failed{times}: {cause}",
                at=_iso(moment.now, moment.zone),
                vault=str(inputs.root),
                host=inputs.host,
                pid=os.getpid(),
                version=__version__,
                started_at=_iso(self._started_at, moment.zone),
                failures=self.looks_failed,
            )
        )

    def _write(self, status: Status) -> None:
        """Puts it on the disk, unless that says so already: a disk may sleep as well."""
        said = replace(status, at="")
        if said != self._written:
            write_status(self._inputs.state_folder, status)
            self._written = said

    def log_end(self, run: PastRun) -> None:
        """Logs how a run ended."""
        assert run.end is not None
        pairs = f" ({run.pairs} pairs)" if run.pairs else ""
        level = logging.ERROR if run.end.value == "failed" else logging.INFO
        log.log(level, "%s: %s%s", run.end.value, run.reason, pairs)


def _last_run(runs: RunLog) -> LastRun | None:
    last = next((run for run in reversed(runs.runs) if run.end is not None), None)
    if last is None or last.end is None:
        return None
    at = last.at.isoformat(timespec="seconds")
    return LastRun(at=at, occasion=last.occasion, end=last.end.value, reason=last.reason, pairs=last.pairs)


def _iso(at: datetime, zone: tzinfo) -> str:
    return at.astimezone(zone).isoformat(timespec="seconds")
