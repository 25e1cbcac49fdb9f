"""What the tests of the daemon share: a machine whose time, input and power obey, and children that do as told."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any, Self

from aria_dream.adapters.child.episode_process import EpisodeEnd
from aria_dream.adapters.machine.presence import Sensors
from aria_dream.adapters.state.run_store import RunStore
from aria_dream.adapters.state.status import Status, read_status
from aria_dream.adapters.watch.watcher import VaultWatcher
from aria_dream.adapters.watch.watching import Watching
from aria_dream.daemon import Daemon
from aria_dream.schedule.presence import Known, NoSensor, Plug, Power, Reading
from aria_dream.schedule.scheduler_state import Moment, Readings
from tests.watched import Clock, places_in, silent, write

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from aria_dream.adapters.child.episode_process import Order
    from aria_dream.adapters.disk.places import Places
    from aria_dream.adapters.watch.vault_change import VaultChange
    from aria_dream.adapters.watch.watch_events import EventBox
    from aria_dream.errors import Problem
    from aria_dream.schedule.run_record import RunLog

NOON = datetime(2026, 11, 30, 12, 0, tzinfo=UTC)
"""When the daemons of the tests start."""
MARKED = "---\naria-dream: policy\naria-dream-id: abcdefgh23456789\n---\n"
NOTES = {
    "Compost.md": "A heap that is fed little and often. [[Microbes]]\n",
    "Microbes.md": "Small lives that do slow work. [[Compost]]\n",
    "Sourdough.md": "A culture kept alive by feeding it.\n",
    ".obsidian/app.json": "{}",
    "dreams/Dream review.md": "---\naria-dream: review\n---\n",
    "dreams/Dream seeds.md": "---\naria-dream: seeds\n---\n",
}


def policy(**settings: object) -> str:
    """A policy note with these settings; nothing but what they say holds a dream back for long."""
    return MARKED + "".join(f"- {name}: {value}\n" for name, value in settings.items())


class FakeSensors(Sensors):
    """Says what the test says."""

    def __init__(self) -> None:
        self.idle_s: Reading[float] = Known(10_000.0)
        self.plug = Plug.MAINS
        self.load = 3.0
        self.on_read: Callable[[], None] = lambda: None

    def read(self, last_edit_s: float | None, *, load: bool = True) -> Readings:
        self.on_read()
        return Readings(
            input_idle=self.idle_s,
            power=Known(Power(plug=self.plug)),
            load_percent=Known(self.load) if load else NoSensor("not asked"),
            last_edit_s=last_edit_s,
        )


@dataclass
class FakeEpisode:
    """A child of `units` units of work that starts one whenever it is given leave."""

    units: int = 3
    end_: EpisodeEnd = field(default_factory=lambda: EpisodeEnd(result={"episode": "", "pairs": 0, "reason": "empty"}))
    on_unit: Callable[[int], None] = lambda _number: None
    started: list[int] = field(default_factory=list)
    was_ended: bool = False

    def grant_permit(self) -> None:
        self.started.append(len(self.started) + 1)
        self.on_unit(len(self.started))

    def ended(self) -> EpisodeEnd | None:
        return self.end_ if len(self.started) >= self.units else None

    def end(self) -> EpisodeEnd:
        self.was_ended = True
        return EpisodeEnd(error="ended", exit_code=-15)


class HurriedWatcher(VaultWatcher):
    """A real watcher of a real folder whose waits take no time: the clock moves instead."""

    def __init__(self, root: Path, places: Places, clock: Clock, bench: DaemonBench, **others: Any) -> None:
        self.hurry = clock
        self.bench = bench
        self.waits: list[float] = []
        self.is_called = False
        """Every wait is ended at once, as by a child that has something to say."""
        super().__init__(root, places, clock=clock, **others)

    def wait(self, timeout_s: float) -> VaultChange | None:
        self.waits.append(timeout_s)
        if self.is_called:
            self.hurry.advance(0.001)
            return None
        until_s = self.hurry.now_s + timeout_s
        while (at_s := self.bench.next_at_s()) is not None and at_s <= until_s:
            self.hurry.now_s = max(self.hurry.now_s, at_s)
            self.bench.do_next()
            if change := super().wait(0) or self._later(0.4) or self._later(0.4):
                return change
        self.hurry.now_s = max(self.hurry.now_s, until_s)
        return super().wait(0)

    def rest(self, seconds: float) -> None:
        self.waits.append(seconds)
        until_s = self.hurry.now_s + seconds
        while (at_s := self.bench.next_at_s()) is not None and at_s <= until_s:
            self.hurry.now_s = max(self.hurry.now_s, at_s)
            self.bench.do_next()
        self.hurry.now_s = max(self.hurry.now_s, until_s)

    def _later(self, seconds: float) -> VaultChange | None:
        self.hurry.advance(seconds)
        return super().wait(0)


class DaemonBench:
    """A daemon of a real vault on a real disk; its clock, sensors and children are the test's."""

    def __init__(
        self, folder: Path, text: str | None = None, notes: dict[str, str] | None = None, *, host: str = "desk"
    ) -> None:
        self.folder, self.host = folder, host
        self.root = folder / "vault"
        files = dict(NOTES if notes is None else notes)
        if text is not None:
            files["dreaming.md"] = text
        write(self.root, files)
        self.places = places_in(folder)
        self.clock = Clock()
        self.began_s = self.clock.now_s
        self.sensors = FakeSensors()
        self.orders: list[Order] = []
        self.episodes: list[FakeEpisode] = []
        self.notices: list[str] = []
        self.make: Callable[[Order], FakeEpisode] = lambda _order: FakeEpisode()
        self.box: EventBox | None = None
        self.actions: list[tuple[float, Callable[[], None]]] = []
        self.age_files()
        self.open()

    def open(self) -> None:
        """Starts the daemon, as a new process would."""

        def watching(real: Path, box: EventBox) -> Watching:
            self.box = box
            return Watching(real, box, observe=silent, mounts=tuple, watched=lambda _: None)

        state = self.places.state
        self.watcher = HurriedWatcher(self.root, self.places, self.clock, self, watching=watching, state_folder=None)
        self.daemon = Daemon(
            self.watcher, self.places, sensors=self.sensors, launch=self.launch, moment=self.moment,
            clock=self.clock, host=self.host, notice=self.notices.append,
        )  # fmt: skip
        assert self.daemon.state_folder.parent == state
        self.watcher.own.history_folder = self.daemon.state_folder / "history"

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.watcher.close()

    def age_files(self) -> None:
        """Everything in the vault was last changed two hours before now."""
        stamp = (self.now() - timedelta(hours=2)).timestamp()
        for path in self.root.rglob("*"):
            os.utime(path, (stamp, stamp))

    def now(self) -> datetime:
        return NOON + timedelta(seconds=self.clock.now_s - self.began_s)

    def moment(self, _zone: str) -> tuple[Moment, tuple[Problem, ...]]:
        return Moment(now=self.now(), monotonic_s=self.clock.now_s, zone=UTC), ()

    def launch(self, order: Order, _wake: Callable[[], None]) -> FakeEpisode:
        self.orders.append(order)
        self.episodes.append(self.make(order))
        return self.episodes[-1]

    def at(self, seconds: float, action: Callable[[], None]) -> None:
        """Does `action` that long after now, while the daemon waits."""
        self.actions.append((self.clock.now_s + seconds, action))
        self.actions.sort(key=lambda one: one[0])

    def next_at_s(self) -> float | None:
        return self.actions[0][0] if self.actions else None

    def do_next(self) -> None:
        self.actions.pop(0)[1]()

    def save(self, path: str, text: str) -> None:
        """A writer saves a note, and an event tells."""
        write(self.root, {path: text})
        self.tell(path)

    def tell(self, path: str) -> None:
        assert self.box is not None
        self.box.changed(str(self.watcher.index.root / path), is_folder=False)

    def run_for(self, seconds: float) -> None:
        """The daemon at work for that long."""
        self.at(seconds, self.daemon.stop)
        self.daemon.run()
        self.daemon._is_stopping = False

    @property
    def log(self) -> RunLog:
        return RunStore(self.daemon.state_folder).read().log

    @property
    def ends(self) -> list[str]:
        """How the runs so far ended."""
        return [run.end.value if run.end else "running" for run in self.log.runs]

    @property
    def status(self) -> Status:
        found = read_status(self.daemon.state_folder)
        assert found is not None
        return found
