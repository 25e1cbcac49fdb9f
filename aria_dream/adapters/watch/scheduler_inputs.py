"""All that a decision about the present moment rests on, gathered from a watched vault, its state and the machine."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

from aria_dream.adapters.index.live_policy import LivePolicy, read_live_policy
from aria_dream.adapters.machine.presence import last_edit_s, read_moment
from aria_dream.adapters.state.run_store import Remembered, RunStore
from aria_dream.adapters.watch.own_notes import find_own_notes, read_day_owner, read_new_seeds
from aria_dream.adapters.watch.vault_change import Present
from aria_dream.errors import VaultUnreadableError
from aria_dream.policy.triggers import BUILT, Stage
from aria_dream.schedule.due import Due, NotYet, due, must_stop
from aria_dream.schedule.run_record import as_runs, failures_in_a_row
from aria_dream.schedule.scheduler_state import Moment, RunHistory, SchedulerState, owed_night

if TYPE_CHECKING:
    from collections.abc import Callable
    from datetime import date
    from pathlib import Path

    from aria_dream.adapters.disk.places import Places
    from aria_dream.adapters.machine.presence import Sensors
    from aria_dream.adapters.watch.own_notes import OwnNotes
    from aria_dream.adapters.watch.watcher import VaultWatcher
    from aria_dream.errors import Problem

SLOW_AFTER = 10
"""Failures in a row after which the daemon slows down."""
SLOW_S = 3600.0


@dataclass(frozen=True, slots=True, kw_only=True)
class View:
    """One look: what was so, and what follows from it."""

    moment: Moment
    verdict: Due | NotYet
    remembered: Remembered
    new_seeds: tuple[str, ...]
    """Marks of the seeds that no run was started for yet, the one that comes next first."""
    problems: tuple[str, ...]
    """What the writer should mend."""
    owed_night: date | None
    """The night whose work is not done yet; None where none is asked for."""


class SchedulerInputs:
    """One vault and one machine, looked at again and again. Remembers what can be remembered between two looks."""

    def __init__(
        self,
        watcher: VaultWatcher,
        places: Places,
        *,
        sensors: Sensors,
        host: str,
        moment: Callable[[str], tuple[Moment, tuple[Problem, ...]]] = read_moment,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """`clock` is the monotonic clock that `moment` tells.

        Raises:
            VaultUnreadableError: the vault cannot be read.
        """
        self.watcher = watcher
        self.root: Path = watcher.index.root
        self.host = host
        self.moment = moment
        self.clock = clock
        self.live: LivePolicy = read_live_policy(self.root, places)
        self.state_folder = self.live.state_folder(places)
        self.store = RunStore(self.state_folder)
        self.has_run = False
        """Something was started since these inputs were read."""
        self.ended_s: dict[str, float] = {}
        """By run id: when it ended, by `clock`."""
        self.slow_until_s = 0.0
        """Until then nothing is started, where `SLOW_AFTER` runs in a row have failed."""
        self.unmerged: tuple[str, ...] = ()
        """Copies that a sync made of our notes and that a person has to merge, each as a sentence."""
        self._places = places
        self._sensors = sensors
        self._away = ""
        self._started_s = clock()
        self._own: tuple[object, str, OwnNotes] | None = None
        files, now = watcher.index.scan.snapshot.files, self.local_moment()[0].now
        self._edited_before_s = last_edit_s(files, now, self._is_own_path)

    def local_moment(self) -> tuple[Moment, tuple[Problem, ...]]:
        """Now, in the writer's zone."""
        return self.moment(self.live.policy.settings.timezone)

    def look(self) -> View:
        """How it stands now."""
        self.refresh()
        moment, zone_problems = self.local_moment()
        remembered = self.store.read()
        own = self.own_notes()
        seeds = read_new_seeds(self.watcher.index, own, remembered.log.tried_seeds())
        around = SchedulerState(
            open_proposals=remembered.open_proposals,
            new_seeds=len(seeds),
            starting=not self.has_run,
            this_host=self.host,
            day_owner=read_day_owner(self.watcher.index, own, moment.now.astimezone(moment.zone).date()),
            hindrance=self._hindrance(remembered),
        )
        history = RunHistory(
            started_monotonic_s=self._started_s,
            runs=as_runs(remembered.log, remembered.episodes, self.ended_s),
            since=remembered.log.since,
        )
        readings = self._sensors.read(self._last_edit_s())
        why = self.watcher.report.why
        return View(
            moment=moment,
            verdict=due(self.live.policy, self.live.triggers, moment, readings, history, around),
            remembered=remembered,
            new_seeds=seeds,
            problems=(
                *map(str, (*self.live.problems, *zone_problems)),
                *remembered.problems,
                *self.unmerged,
                *([why] if why else []),
            ),
            owed_night=self._owed_night(moment, history),
        )

    def stop_reason(self, running_s: float, stage: Stage = Stage.DREAM) -> str:
        """Why a run of `stage` that started `running_s` ago has to end at once; `""` where it may go on."""
        self.refresh()
        state = self.watcher.state
        hindrance = self._away if isinstance(state, Present) else state.reason
        readings = self._sensors.read(self._last_edit_s(), load=False)
        return must_stop(self.live.policy, readings, running_s, hindrance=hindrance, stage=stage)

    def refresh(self) -> None:
        """The policy as it stands on the disk now, and what the last events meant.

        Where the vault is away the policy stays as it was, and the vault's state holds everything back. What events
        told is looked at at once: our own child's writing is no edit, anybody else's is.
        """
        try:
            self.live = read_live_policy(self.root, self._places)
        except VaultUnreadableError as error:
            self._away = str(error)
        else:
            self._away = ""
            settings = self.live.policy.settings
            self.watcher.poll_s = float(settings.poll_s)
            self.watcher.index_debounce_ms = float(settings.index_debounce_ms)
        if self.watcher.has_news:
            self.watcher.look()

    def own_notes(self) -> OwnNotes:
        """Our notes in the vault as it is indexed now."""
        index, folder = self.watcher.index, self.live.policy.settings.dream_folder
        if self._own is None or self._own[0] is not index or self._own[1] != folder:
            self._own = (index, folder, find_own_notes(index, folder))
        return self._own[2]

    def is_slowed(self, failures: int) -> bool:
        """Whether so many failures in a row hold everything back for now."""
        return failures >= SLOW_AFTER and self.clock() < self.slow_until_s

    def _is_own_path(self, path: str) -> bool:
        folder = self.own_notes().folder
        return bool(folder) and path.startswith(f"{folder}/")

    def _last_edit_s(self) -> float | None:
        watched_s = self.watcher.last_foreign_edit_s()
        if watched_s is not None or self._edited_before_s is None:
            return watched_s
        return self._edited_before_s + self.clock() - self._started_s

    def _hindrance(self, remembered: Remembered) -> str:
        """Why nothing may be started, for reasons that no policy states."""
        state = self.watcher.state
        if not isinstance(state, Present):
            return state.reason
        failures = failures_in_a_row(remembered.log)
        if self.is_slowed(failures):
            return f"{failures} runs failed in a row, so the next one waits for up to an hour"
        return self._away or remembered.damage

    def _owed_night(self, moment: Moment, history: RunHistory) -> date | None:
        settings = self.live.policy.settings
        if not settings.nightly or not BUILT.intersection(self.live.triggers.on_nightly):
            return None
        done = {run.night for run in history.runs if run.night is not None}
        owed = owed_night(moment.now, settings.quiet_hours, moment.zone, done=done, since=history.since)
        return None if owed is None else owed.date
