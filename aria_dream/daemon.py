"""F7: the daemon. It waits until something is due, has a child do it, ends the child when somebody returns, repeats.

Nothing here writes into a writer's note, computes a dream or waits busily: it looks every `poll_s` seconds, wakes for
what happens in the vault, and while a child works looks twice a second, and before each step of the child's once more.
"""

from __future__ import annotations

import logging
import math
import os
import socket
import time
from contextlib import suppress
from dataclasses import replace
from enum import Enum
from typing import TYPE_CHECKING

from aria_dream.adapters.child.episode_process import Episode, Order
from aria_dream.adapters.disk.files import DiskVault
from aria_dream.adapters.machine.notice import give_notice
from aria_dream.adapters.machine.presence import read_moment
from aria_dream.adapters.state.rotating_log import cause_of
from aria_dream.adapters.watch.own_notes import Boxes, merge_conflict_copies, read_boxes
from aria_dream.adapters.watch.scheduler_inputs import SLOW_AFTER, SLOW_S, SchedulerInputs
from aria_dream.adapters.watch.status_writer import StatusWriter
from aria_dream.errors import (
    AriaDreamError,
    BusyError,
    PolicyClosedError,
    VaultUnreadableError,
    WriteRefusedError,
)
from aria_dream.policy.policy import is_policy_name
from aria_dream.policy.triggers import BUILT, Stage, is_triggers_name
from aria_dream.schedule.due import Due, NotYet, Occasion
from aria_dream.schedule.run_record import PastRun, RunEnd, failures_in_a_row, with_stage

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from aria_dream.adapters.child.episode_process import EpisodeEnd
    from aria_dream.adapters.disk.places import Places
    from aria_dream.adapters.machine.presence import Sensors
    from aria_dream.adapters.watch.scheduler_inputs import View
    from aria_dream.adapters.watch.vault_change import VaultChange
    from aria_dream.adapters.watch.watcher import VaultWatcher
    from aria_dream.errors import Problem
    from aria_dream.schedule.scheduler_state import Moment

log = logging.getLogger(__name__)

UNDO_LOOK_S = 6 * 3600.0
"""How often a line is looked at that can still be undone, so that its box goes when the time is over."""

ATTEND_S = 0.5
"""While a child works, somebody's return is looked for at least so often."""

KINDS = {
    Occasion.IDLE: "idle dream",
    Occasion.NIGHT: "nightly dream",
    Occasion.SEED: "seed dream",
    Occasion.START: "dream",
}
"""What the heading of a dream says of its occasion."""

_REFUSALS = frozenset(
    error.exit_code for error in (VaultUnreadableError, BusyError, WriteRefusedError, PolicyClosedError)
)


class Parting(Enum):
    """Why `Daemon.run` returned."""

    STOPPED = "stopped"
    MOVED = "moved"
    """The vault has another id now (a policy note was made or exchanged): state, lock and log lie elsewhere."""


class Daemon:
    """The daemon of one vault. Whoever makes it holds the vault's daemon lock."""

    def __init__(
        self,
        watcher: VaultWatcher,
        places: Places,
        *,
        sensors: Sensors,
        launch: Callable[[Order, Callable[[], None]], Episode],
        moment: Callable[[str], tuple[Moment, tuple[Problem, ...]]] = read_moment,
        clock: Callable[[], float] = time.monotonic,
        host: str | None = None,
        notice: Callable[[str], object] = give_notice,
    ) -> None:
        """`launch(order, wake)` starts a child that calls `wake` when there is something to see. `clock` is the
        monotonic clock that `moment` tells.

        Raises:
            VaultUnreadableError: the vault cannot be read.
            WriteRefusedError: its state folder cannot be written.
        """
        self._watcher = watcher
        self._launch = launch
        self._clock = clock
        self._host = socket.gethostname() if host is None else host
        self._inputs = SchedulerInputs(watcher, places, sensors=sensors, host=self._host, moment=moment, clock=clock)
        self._status_writer = StatusWriter(self._inputs)
        self._notice = notice
        self._is_stopping = False
        self._view: View | None = None
        self._ticks_at_s = clock()
        """When our notes are to be looked through for ticks."""
        self._inputs.store.look_after(self._now().now)
        self._settle()

    @property
    def state_folder(self) -> Path:
        """The vault's state folder, as it was when the daemon was made."""
        return self._inputs.state_folder

    def _now(self) -> Moment:
        return self._inputs.local_moment()[0]

    def stop(self) -> None:
        """Ends `run`, and the child if one works. Safe in a signal handler and in any thread."""
        self._is_stopping = True
        self._watcher.call()

    def run(self) -> Parting:
        """Looks, waits, and lets dream, until `stop` or until the vault's id changes. Survives whatever goes wrong."""
        while not self._is_stopping:
            try:
                self._view = self._tick()[1]
                if self._inputs.live.vault_id != self.state_folder.name:
                    log.info("the vault has another id now; starting afresh")
                    return Parting.MOVED
                self._rest(self._clock() + float(self._inputs.live.policy.settings.poll_s))
                self._status_writer.looks_failed = 0
            except Exception as error:  # noqa: BLE001 - HOUSE: one of the two places that catch whatever comes
                self._recover(error)
        log.info("stopped")
        if self._view is not None:
            with suppress(Exception):  # nothing is left to do but to end
                self._status_writer.write_view(self._view, doing="stopped")
        return Parting.STOPPED

    def run_once(self) -> Due | NotYet:
        """What was due now, done; or why nothing was."""
        first, last = self._tick()
        self._status_writer.write_view(last, doing="stopped")
        return first.verdict

    def _recover(self, error: Exception) -> None:
        """Tells of a look, or of a wait, that failed, and rests; without looking at anything where that fails, too."""
        status_writer, self._view = self._status_writer, None
        status_writer.looks_failed += 1
        log.error("this look failed: %s", cause_of(error))  # a traceback may quote a note
        with suppress(Exception):  # it is in the log
            status_writer.write_failure(cause_of(error))
        poll_s = float(self._inputs.live.policy.settings.poll_s)
        until_s = self._clock() + (max(poll_s, SLOW_S) if status_writer.looks_failed >= SLOW_AFTER else poll_s)
        try:
            self._rest(until_s)
        except Exception as worse:  # noqa: BLE001 - as above
            log.error("nor can it be waited with open eyes: %s", cause_of(worse))  # noqa: TRY400
            while not self._is_stopping and (left_s := until_s - self._clock()) > 0:
                self._watcher.rest(left_s)

    def _tick(self) -> tuple[View, View]:
        """Looks, and does what is due; how it stood before and how it stands after."""
        view = self._inputs.look()
        self._status_writer.log_news(view)
        if isinstance(view.verdict, NotYet):
            self._status_writer.write_view(view)
            return view, view
        self._status_writer.write_view(view, doing="dreaming")
        self._run(view, view.verdict)
        after = self._inputs.look()
        self._status_writer.write_view(after)
        return view, after

    def _run(self, view: View, due: Due) -> None:
        """One run, from its record on the disk to the record of its end."""
        inputs, at = self._inputs, view.moment.now.astimezone(view.moment.zone)
        run = PastRun(
            id=f"{at:%Y%m%d-%H%M%S}-{os.getpid()}-{len(inputs.ended_s)}",
            at=at,
            occasion=due.occasion.value,
            stages=tuple(stage.value for stage in due.stages),
            night=due.night,
            seed=next(iter(view.new_seeds), ""),
        )
        inputs.store.start(run)
        inputs.has_run = True
        log.info("starting %s: %s", ", ".join(run.stages), due.why)
        ended = replace(run, end=RunEnd.DONE)
        try:
            self._merge_copies()
            if inputs.store.read().unfinished_reaches:
                self._run_errand()
            done_before = inputs.store.read().log.finished_stages(due.night)
            for stage in due.stages:
                if stage.value not in done_before:
                    ended = self._stage(ended, stage, KINDS[due.occasion])
                if ended.end is not RunEnd.DONE:
                    break
        except Exception as error:  # noqa: BLE001 - the run's own record must say how it ended
            ended = replace(run, end=RunEnd.FAILED, reason=cause_of(error))
        finally:
            inputs.ended_s = {**dict(list(inputs.ended_s.items())[-100:]), run.id: self._clock()}
        inputs.store.end(replace(ended, ended_at=self._now().now.astimezone(at.tzinfo)))
        self._status_writer.log_end(ended)
        self._give_notice(ended)
        if ended.end is RunEnd.FAILED and failures_in_a_row(inputs.store.read().log) >= SLOW_AFTER:
            inputs.slow_until_s = self._clock() + SLOW_S
        if inputs.store.read().unfinished_reaches:  # what somebody's return broke off is told once the note is quiet
            quiet_s = float(inputs.live.policy.settings.tick_quiet_s)
            self._ticks_at_s = min(self._ticks_at_s, self._clock() + quiet_s)
        self._settle()

    def _stage(self, run: PastRun, stage: Stage, kind: str) -> PastRun:
        assert stage in BUILT, stage
        inputs = self._inputs
        quiet_s = float(inputs.live.policy.settings.tick_quiet_s)
        order = Order(root=inputs.root, stage=stage, kind=kind, quiet_s=quiet_s, host=self._host, night=run.night,
                      state_folder=self.state_folder)  # fmt: skip
        end, stopped = self._attend(self._launch(order, self._watcher.call), stage, self._clock())
        if end.result is not None:
            return with_stage(run, stage.value, end.result)
        if stopped:
            return replace(run, end=RunEnd.INTERRUPTED, reason=stopped)
        kind_of_end = RunEnd.REFUSED if end.exit_code in _REFUSALS else RunEnd.FAILED
        return replace(run, end=kind_of_end, reason=end.error)

    def _attend(self, episode: Episode, stage: Stage, started_s: float) -> tuple[EpisodeEnd, str]:
        """How the child ended, and why it was ended early (`""`: it was not).

        The permit for the next unit of work is given only right after a look that found nobody.
        """
        try:
            while (end := episode.ended()) is None:
                told = "aria-dream was told to stop" if self._is_stopping else ""
                if reason := told or self._inputs.stop_reason(self._clock() - started_s, stage):
                    return episode.end(), reason
                episode.grant_permit()
                self._watcher.wait(ATTEND_S)
        except BaseException:
            episode.end()
            raise
        return end, ""

    def _give_notice(self, run: PastRun) -> None:
        """Tells the desktop how much was found, where the policy wants it; never what."""
        if not self._inputs.live.policy.settings.notify or run.end is not RunEnd.DONE:
            return
        found = [f"{count} {one if count == 1 else many}" for count, one, many in (
            (run.pairs, "pair of notes", "pairs of notes"), (run.proposals, "proposal", "proposals")
        ) if count]  # fmt: skip
        if found:
            self._notice(f"While you were away: {' and '.join(found)} to look at.")

    def _merge_copies(self) -> None:
        """What a sync could not merge of our own notes, merged before a dream adds to them."""
        inputs = self._inputs
        left = merge_conflict_copies(self._watcher.index, inputs.own_notes(), self._files(), inputs.store.is_open)
        inputs.unmerged = tuple(map(str, left))

    def _files(self) -> DiskVault:
        return DiskVault(self._inputs.root, self.state_folder)

    def _settle(self) -> None:
        """Finishes or undoes what a crash or an early end left half done; forgets what cannot be undone any more."""
        if not self._watcher.may_write:
            return
        try:
            files = self._files()
            for settled in files.recover():
                log.info("an interrupted change is settled: %s", settled.verdict.value)
            files.purge(self._now().now, self._inputs.live.policy.settings.rollback_window_h)
        except (AriaDreamError, OSError) as error:
            log.warning("an interrupted change waits to be settled: %s", cause_of(error))

    def _rest(self, until_s: float) -> None:
        """Waits. The vault's going and coming, a changed policy, and `stop` end it early; other edits do not."""
        was = type(self._watcher.state)
        while not self._is_stopping and (left_s := until_s - self._clock()) > 0:
            self._carry_out_ticks()
            left_s = min(left_s, max(0.0, self._ticks_at_s - self._clock()))
            change = self._watcher.wait(left_s)
            if change is not None and self._is_about_our_notes(change):
                quiet_s = float(self._inputs.live.policy.settings.tick_quiet_s)
                self._ticks_at_s = self._clock() + quiet_s
            if (change is not None and _is_policy_change(change)) or type(self._watcher.state) is not was:
                return
            del change  # it holds an index, and the next one is on its way

    def _is_about_our_notes(self, change: VaultChange) -> bool:
        own = self._inputs.own_notes()
        return bool({own.review, *own.logs}.intersection(change.foreign))

    def _carry_out_ticks(self) -> None:
        """Has a child carry out what was ticked, and write down a reach that was broken off, once nobody has typed into
        our notes for `tick_quiet_s`."""
        if self._clock() < self._ticks_at_s:
            return
        # Where this comes to nothing it is tried again.
        self._ticks_at_s = self._clock() + float(self._inputs.live.policy.settings.poll_s)
        if not self._watcher.may_write:
            return
        boxes = read_boxes(self._watcher.index, self._inputs.own_notes())
        if boxes is Boxes.NOTHING and not self._inputs.store.read().unfinished_reaches:
            self._ticks_at_s = math.inf
            return
        end = self._run_errand()
        settings = self._inputs.live.policy.settings
        result = {} if end is None or end.result is None else end.result
        waits = end is None or end.result is None or bool(result.get("waiting"))
        self._ticks_at_s = self._clock() + (max(settings.tick_quiet_s, settings.poll_s) if waits else UNDO_LOOK_S)
        told = ", ".join(f"{value} {name}" for name, value in result.items() if value)
        log.info("ticks were looked through: %s", told or (end.error if end is not None and end.error else "nothing"))

    def _run_errand(self) -> EpisodeEnd | None:
        """How the child ended that carries out ticks and finishes reaches; None where it had to be ended."""
        settings = self._inputs.live.policy.settings
        order = Order(root=self._inputs.root, stage=Stage.DREAM, kind="", quiet_s=float(settings.tick_quiet_s),
                      host=self._host, state_folder=self.state_folder, errand="ticks")  # fmt: skip
        episode = self._launch(order, self._watcher.call)
        try:
            while (end := episode.ended()) is None and not self._is_stopping:
                episode.grant_permit()
                self._watcher.wait(ATTEND_S)
        finally:
            if end is None:
                episode.end()
        return end


def _is_policy_change(change: VaultChange) -> bool:
    moved = [path for pair in change.renamed for path in pair]
    named = (*change.created, *change.edited, *change.removed, *moved)
    return any(is_policy_name(path) or is_triggers_name(path) for path in named if "/" not in path)
