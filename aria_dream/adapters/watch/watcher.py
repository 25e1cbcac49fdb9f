"""A vault kept in view: events wake, snapshots tell.

An event only says that one should look again. A look walks over the files that events named (or over all of them),
compares their states with those of the look before, reads what changed and gives a new index. What events lose, a
slow look over the whole vault finds; where events cannot be had, it is a faster one.

Everything happens in the thread that calls `wait`; watchdog's threads only fill a box. Nothing is written into the
vault, and with nothing to do nothing runs but the slow look.
"""

from __future__ import annotations

import logging
import os
import time
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Self

from aria_dream.adapters.disk.config_folder import read_obsidian_settings
from aria_dream.adapters.disk.history import OwnContents
from aria_dream.adapters.index.index import read_vault
from aria_dream.adapters.index.scan import rescan, scan_vault
from aria_dream.adapters.watch.vault_change import (
    ACCEPT_AFTER_S,
    SETTLED_S,
    Gone,
    Present,
    Shrunk,
    compare_indexes,
    find_rewritten,
    read_vault_folder,
    shrunk_reason,
    unreadable_reason,
)
from aria_dream.adapters.watch.watch_events import EventBox, Hints
from aria_dream.adapters.watch.watching import WakeUpEvent, Watching
from aria_dream.errors import VaultUnreadableError
from aria_dream.vault.linkage import kind_of
from aria_dream.vault.snapshot import difference

if TYPE_CHECKING:
    from collections.abc import Callable

    from aria_dream.adapters.disk.places import Places
    from aria_dream.adapters.index.index import VaultIndex
    from aria_dream.adapters.index.scan import VaultScan
    from aria_dream.adapters.watch.vault_change import VaultChange, VaultState
    from aria_dream.adapters.watch.watching import WatchReport
    from aria_dream.vault.snapshot import SnapshotDifference

log = logging.getLogger(__name__)

MAX_DELAY_S = 30.0
"""A vault that never rests is looked at this often all the same."""

REST_PER_LOOK = 10
"""A look at events is followed by a rest of so many times the CPU time it took: a writer who types into a vault of
50,000 notes, where a look takes half a second, costs a tenth of a core at most."""

_EVENT_TAKES_NS = 5_000_000_000
"""An event that has not come after so long will not come."""


class VaultWatcher:
    """One vault, watched from its making until `close`. Not for use by several threads, `call` excepted.

    Raises:
        VaultUnreadableError: the vault is missing, no folder, or cannot be listed.
    """

    def __init__(
        self,
        root: Path,
        places: Places,
        *,
        state_folder: Path | None = None,
        index_debounce_ms: float = 300,
        poll_s: float = 60,
        watching: Callable[[Path, EventBox], Watching] = Watching,
        clock: Callable[[], float] = time.monotonic,
        wall_ns: Callable[[], int] = time.time_ns,
        cpu: Callable[[], float] = time.thread_time,
        progress: Callable[[int, int], None] | None = None,
    ) -> None:
        """`state_folder` is the vault's own (`LivePolicy.state_folder`): its history tells which writes are ours."""
        self.index_debounce_ms = index_debounce_ms
        """Quiet that a look waits for. May be set at any time, as may `poll_s`."""
        self.poll_s = poll_s
        """How often the vault is walked over where events cannot be had, or while it is away."""
        self.own = OwnContents(None if state_folder is None else state_folder / "history")
        self._clock = clock
        self._wall_ns = wall_ns
        self._cpu = cpu
        self._wake_up_event = WakeUpEvent()
        self._state: VaultState = Present()
        real = Path(os.path.realpath(root))
        self._box = EventBox(real, self._wake_up_event.nudge, clock)
        try:
            # Watching starts first: what changes while the vault is read is in the box then, and looked at after.
            self._watching = watching(real, self._box)
        except BaseException:
            self._wake_up_event.close()
            raise
        try:
            self._read_at_ns = wall_ns()
            self.index: VaultIndex = read_vault(root, places.cache, progress=progress)
        except BaseException:
            self.close()
            raise
        self._baseline = (self.index.scan, clock())
        self._folder = read_vault_folder(self.index.root, had_files=False)
        self._folder_seen_at_s = clock()
        self._is_confirming = False
        self._last_foreign_at_s: float | None = None
        self._walk_s = self._rested_at_s = 0.0
        self._next_walk_at_s = 0.0
        self._plan_walk(self._watching.check(self.index.root))

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Ends the watching and its threads."""
        self._watching.stop()
        self._wake_up_event.close()

    def rest(self, seconds: float) -> None:
        """Waits without looking; a `call` or an event ends it."""
        self._wake_up_event.wait(seconds)

    def call(self) -> None:
        """Ends a `wait`. Safe in any thread and in a signal handler."""
        self._wake_up_event.call()

    def fileno(self) -> int:
        """For `signal.set_wakeup_fd`: a signal then ends a `wait`."""
        return self._wake_up_event.fileno()

    @property
    def state(self) -> VaultState:
        """Whether the vault is there, asked of the disk now."""
        self._check_folder()
        return self._state

    @property
    def may_write(self) -> bool:
        """Whether anything may be written into the vault: it is there, and as large as it should be."""
        return isinstance(self.state, Present)

    @property
    def report(self) -> WatchReport:
        """How the vault is watched, and why so."""
        return self._watching.report

    @property
    def has_news(self) -> bool:
        """Whether events came that no look has followed yet."""
        return self._box.times() is not None

    def last_foreign_edit_s(self) -> float | None:
        """Seconds since anybody but us last changed the vault while it was watched; None: not since the start.

        0 while there is news that no look has followed yet: it may be somebody typing.
        """
        if self.has_news:
            return 0.0
        return None if self._last_foreign_at_s is None else max(0.0, self._clock() - self._last_foreign_at_s)

    def wait(self, timeout_s: float) -> VaultChange | None:
        """What changed, once it is looked at; None after `timeout_s`, after a `call`, or when `state` became another.

        Does the looks that are due by then. With 0 it does not wait at all.
        """
        deadline_s = self._clock() + timeout_s
        was = type(self._state)
        while True:
            self._check_folder()
            now = self._clock()
            due_s = self._due_s()
            if now >= due_s:
                change = self.look()
                if change is not None:
                    return change
                continue
            if type(self._state) is not was or now >= deadline_s:
                return None
            if self._wake_up_event.wait(min(due_s, deadline_s) - now):
                return None

    def _due_s(self) -> float:
        """When the next look is due."""
        times = self._box.times()
        if times is None or not isinstance(self._state, Present):
            return self._next_walk_at_s
        quiet_s = min(times[1] + self.index_debounce_ms / 1000, times[0] + MAX_DELAY_S)
        return min(max(quiet_s, self._rested_at_s), self._next_walk_at_s)

    def look(self, *, whole: bool = False) -> VaultChange | None:
        """What changed since the last look, looked at now; None where nothing did, or where it cannot be told yet.

        A note that seems to have vanished is only believed at a second look: some editors save by moving it away.
        """
        self._check_folder()
        if isinstance(self._state, Gone):
            return None
        started_s, started_ns, worked_s = self._clock(), self._wall_ns(), self._cpu()
        hints = self._box.take()
        if whole or started_s >= self._next_walk_at_s or isinstance(self._state, Shrunk):
            hints = replace(hints, whole=True)
        scan = self._scan(hints)
        if scan is None:
            return None
        seen = difference(self.index.scan.snapshot, scan.snapshot)
        if not self._is_believed(scan, seen, hints):
            return None
        change = self._take_in(scan, seen, hints)
        self._read_at_ns = started_ns
        self._rested_at_s = self._clock() + min(MAX_DELAY_S, REST_PER_LOOK * (self._cpu() - worked_s))
        if hints.whole:
            self._walk_s = self._clock() - started_s
            surprised = change is not None and hints.last_at_s is None and _is_old(change, started_ns)
            self._plan_walk(self._watching.check(self.index.root, surprised=surprised))
        return change

    def _plan_walk(self, watched: bool) -> None:  # noqa: FBT001 - what `check` says
        """Sets when the next walk over the whole vault is due; at once where some folders could not be `watched`."""
        rest_s = self._watching.rest_s(self.poll_s, self._walk_s) if watched else min(2.0, self.poll_s)
        self._next_walk_at_s = self._clock() + rest_s

    def _scan(self, hints: Hints) -> VaultScan | None:
        """The vault's files as they are; None where the vault is gone."""
        try:
            return scan_vault(self.index.root) if hints.whole else rescan(self.index.scan, hints.paths)
        except VaultUnreadableError as error:
            self._box.put_back(hints)
            self._set_gone(str(error))
            return None

    def _is_believed(self, scan: VaultScan, seen: SnapshotDifference, hints: Hints) -> bool:
        """Whether what `scan` shows may be taken for the truth. If not, a later look is planned."""
        now = self._clock()
        reason = shrunk_reason(self._baseline[0].snapshot, scan.snapshot) or unreadable_reason(seen, scan.problems)
        since_s = self._state.since_s if isinstance(self._state, Shrunk) else now
        if reason and now - since_s < ACCEPT_AFTER_S:
            said = f"{reason}; nothing is written until they are back, or an hour has passed"
            if self._state != Shrunk(reason=said, since_s=since_s):
                log.warning("%s: %s", self.index.root, said)
            self._state = Shrunk(reason=said, since_s=since_s)
            self._box.put_back(hints)
            self._next_walk_at_s = now + self.poll_s
            return False
        if not isinstance(self._state, Present):
            log.info("%s: %s", self.index.root, "taken as it is now" if reason else "the vault is back")
            self._state = Present()
        if not reason and not self._is_confirming and self._hides_notes(seen):
            self._is_confirming = True
            self._box.put_back(hints)
            if hints.whole:
                self._next_walk_at_s = now + self.poll_s  # the look that confirms comes before
            return False
        self._is_confirming = False
        if reason:  # accepted
            self._baseline = (scan, now)
        return True

    def _hides_notes(self, seen: SnapshotDifference) -> bool:
        """Whether a note or canvas seems to have vanished that we did not move away, or is another kind of file now."""
        self.own.update()
        gone = any(kind_of(path) in ("note", "canvas") and not self.own.removed(path) for path in seen.removed)
        return gone or any(kind_of(old) != kind_of(new) for old, new in seen.renamed)

    def _take_in(self, scan: VaultScan, seen: SnapshotDifference, hints: Hints) -> VaultChange | None:
        before = self.index
        reread = find_rewritten(before, scan, hints.paths, (self._read_at_ns, self._wall_ns()))
        is_same = (
            not reread
            and not seen
            and scan.problems == before.scan.problems
            and scan.config_folder == before.scan.config_folder
            and _has_same_settings(before, scan)
        )
        if not is_same:
            self.index = before.rescanned(scan, reread=reread)
        held, since_s = self._baseline
        is_larger = len(scan.snapshot.files) >= len(held.snapshot.files)
        if is_larger or self._clock() - since_s >= SETTLED_S:
            self._baseline = (self.index.scan, self._clock())  # the index's own, not a second copy of it
        if is_same:
            return None
        change = compare_indexes(before, self.index, self.own, reread)
        if change.foreign:
            self._last_foreign_at_s = self._clock() if hints.last_at_s is None else hints.last_at_s
        return change or None

    def _check_folder(self) -> None:
        """Notices that the vault's folder went away, came back, or is another one."""
        folder = read_vault_folder(self.index.root, had_files=bool(self.index.files))
        if isinstance(folder, str):
            self._set_gone(folder)
            return
        now = self._clock()
        was_gone = isinstance(self._state, Gone)
        # Some shares give the same folder a new number every time: that must not keep the machine busy. And a thread of
        # watchdog's may die of something.
        is_other = folder != self._folder or not self._watching.works
        is_other = is_other and now - self._folder_seen_at_s >= self.poll_s
        if was_gone or is_other:
            self._folder, self._folder_seen_at_s = folder, now
            self._watching.restart(self.index.root)
            self._box.everything()
            self._next_walk_at_s = now
        if was_gone:  # nothing is believed until a look has seen what came back
            self._state = Shrunk(reason="the vault is back and is being looked at", since_s=now)

    def _set_gone(self, reason: str) -> None:
        if not isinstance(self._state, Gone):
            log.warning("%s; nothing is written until it is back", reason)
            self._state = Gone(reason=f"{reason}; nothing is written until it is back", since_s=self._clock())
        self._next_walk_at_s = self._clock() + self.poll_s


def _has_same_settings(before: VaultIndex, scan: VaultScan) -> bool:
    """Whether Obsidian's settings, and what is wrong with them, are what `before` knew."""
    settings, problems = read_obsidian_settings(scan.root, scan.config_folder)
    inside = f"{scan.config_folder}/"
    known = {problem for problem in before.reading_problems if problem.path.startswith(inside)}
    return settings == before.obsidian and set(problems) == known


def _is_old(change: VaultChange, now_ns: int) -> bool:
    """Whether some file of the change was already so at a time from which an event would have come by now."""
    files = change.index.scan.snapshot.files
    states = [files[path] for path in (*change.created, *change.edited) if path in files]
    return any(max(state.modified_ns, state.changed_ns) < now_ns - _EVENT_TAKES_NS for state in states)
