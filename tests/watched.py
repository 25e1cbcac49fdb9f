"""What the tests of the watcher share: a clock that obeys, an observer that says nothing, and ways to wait."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from aria_dream.adapters.disk.places import Places
from aria_dream.adapters.watch.watcher import VaultWatcher
from aria_dream.adapters.watch.watching import Watching

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from aria_dream.adapters.index.index import VaultIndex
    from aria_dream.adapters.watch.vault_change import VaultChange
    from aria_dream.adapters.watch.watch_events import EventBox, Observing

GENEROUS_S = 90.0


class Clock:
    """A monotonic clock that moves when told."""

    def __init__(self) -> None:
        self.now_s = 1000.0

    def __call__(self) -> float:
        return self.now_s

    def advance(self, seconds: float) -> None:
        self.now_s += seconds


class Silent:
    """An observer that works and never says a word: events come from the test."""

    def __init__(self) -> None:
        self.alive = True
        self.stopped = False

    def is_alive(self) -> bool:
        return self.alive

    def descriptors(self) -> frozenset[int]:
        return frozenset()

    def stop(self) -> None:
        self.stopped = True


def silent(_root: Path, _box: EventBox) -> Observing:
    return Silent()


class Bench:
    """A watcher whose clock and events the test holds in its hands. The vault lies on a real disk."""

    def __init__(self, root: Path, places: Places, **others: Any) -> None:
        self.root = root
        self.clock = Clock()
        self.box: EventBox | None = None
        options: dict[str, Any] = {"observe": silent, "mounts": tuple, "watched": lambda _: None}
        watching_options = {name: others.pop(name) for name in (*options, "limits") if name in others}

        def watching(real: Path, box: EventBox) -> Watching:
            self.box = box
            return Watching(real, box, **{**options, **watching_options})

        self.watcher = VaultWatcher(root, places, watching=watching, clock=self.clock, cpu=self.clock, **others)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.watcher.close()

    def tell(self, *paths: str, is_folder: bool = False) -> None:
        """Events for those vault paths."""
        assert self.box is not None
        for path in paths:
            self.box.changed(str(self.watcher.index.root / path), is_folder=is_folder)

    def after(self, seconds: float) -> VaultChange | None:
        """What the watcher tells once that much time has passed."""
        self.clock.advance(seconds)
        return self.watcher.wait(0)

    def quiet(self) -> VaultChange | None:
        """What it tells after the quiet that a look waits for, the second look included."""
        return self.after(0.4) or self.after(0.4)


def places_in(folder: Path) -> Places:
    return Places(state=folder / "state", cache=folder / "cache")


def write(root: Path, files: dict[str, str]) -> Path:
    for path, text in files.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(text, encoding="utf-8", newline="")
    return root


def assert_same(one: VaultIndex, other: VaultIndex) -> None:
    """Two indexes say the same of the same vault."""
    assert one.files == other.files
    assert one.graph == other.graph
    assert one.linkage == other.linkage
    assert one.contents == other.contents
    assert list(one.facts) == list(other.facts)
    assert one.problems == other.problems
    assert one.obsidian == other.obsidian
    assert one.conflicts == other.conflicts


def text_is(watcher: VaultWatcher, path: str, text: str) -> bool:
    """Whether the index knows the note at `path` with that text."""
    from hashlib import sha256

    source = watcher.index.linkage.source_of(path)
    return source is not None and watcher.index.contents[source].digest == sha256(text.encode()).digest()


def settle(watcher: VaultWatcher, done: Callable[[], bool]) -> list[VaultChange]:
    """Every change that the watcher tells until `done`; fails after a generous time."""
    changes: list[VaultChange] = []
    give_up_s = time.monotonic() + GENEROUS_S
    while not done():
        assert time.monotonic() < give_up_s, f"still not so after {GENEROUS_S} s; {changes}"
        change = watcher.wait(1.0)
        if change is not None:
            changes.append(change)
    return changes


class Driver:
    """`e2e/watch_driver.py` at work in a second process."""

    def __init__(
        self, root: Path, state: Path, cache: Path, *,
        debounce_ms: float = 300, poll_s: float = 60, prefix: Sequence[str] = (),
    ) -> None:  # fmt: skip
        script = Path(__file__).parent / "e2e" / "watch_driver.py"
        environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parent.parent)}
        arguments = [str(root), str(state), str(cache), str(debounce_ms), str(poll_s)]
        self.process = subprocess.Popen(
            [*prefix, sys.executable, str(script), *arguments],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment,
        )  # fmt: skip
        self.changes: list[dict[str, Any]] = []
        """Everything told so far."""
        self.ready = self._read()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.process.communicate(timeout=GENEROUS_S)
        assert self.process.returncode == 0

    def _read(self) -> dict[str, Any]:
        assert self.process.stdout is not None
        line = self.process.stdout.readline()
        assert line, "the watcher ended"
        answer: dict[str, Any] = json.loads(line)
        return answer

    def next_change(self) -> dict[str, Any]:
        """The next change that is told, waited for."""
        self.changes.append(self._read())
        return self.changes[-1]

    def ask(self) -> dict[str, Any]:
        """The index as it stands; what was told meanwhile goes to `changes`."""
        assert self.process.stdin is not None
        self.process.stdin.write("?\n")
        self.process.stdin.flush()
        while "index" not in (answer := self._read()):
            self.changes.append(answer)
        return answer

    def until(self, done: Callable[[dict[str, Any]], bool]) -> dict[str, Any]:
        """The first answer that is `done`; fails after a generous time."""
        give_up_s = time.monotonic() + GENEROUS_S
        while not done(answer := self.ask()):
            assert time.monotonic() < give_up_s, f"still not so after {GENEROUS_S} s"
            time.sleep(0.05)  # between two questions to another process; nothing rests on its length
        return answer


def digests(root: Path) -> dict[str, str]:
    """Each note's path and SHA-256, read from the disk."""
    from hashlib import sha256

    return {path.relative_to(root).as_posix(): sha256(path.read_bytes()).hexdigest() for path in root.rglob("*.md")}
