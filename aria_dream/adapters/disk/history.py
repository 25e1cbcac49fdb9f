"""What was about to change and what did: an intent with whole images of every file, before and after.

One folder a change, `<state>/history/<id>/`:

- `intent.json`: `id`, `at` (ISO 8601 with offset), `label`, `steps` (`path`, `before` and `after` as SHA-256 or "",
  `temp`: the name of the temp file beside it, `moved_to` or null), `folders`: those the change creates, `names`: by
  vault path what each file that a link of it could mean is known by, `there`: which files there were (see
  `vault/identity`)
- `N.before`, `N.after`: the images of step N, where there is a file
- `N.displaced…`: text of another program that was met on the way and is kept so that no byte is lost
- `outcome.json`: `verdict` (`applied` or `undone`), `at`, `left_alone`. Without it the change is pending.

The folder appears under its name only when everything in it is on the disk. So a write of our processes is known here
before it can be seen in the vault, and which contents of the vault are our own needs no announcement and no clock.
"""

from __future__ import annotations

import json
import os
import shutil
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

from aria_dream.adapters.disk.swap import retry_call, sync_file, sync_folder
from aria_dream.errors import StateDamagedError
from aria_dream.markdown.note import NotePath
from aria_dream.vault.edit import ABSENT, ContentHash, content_hash
from aria_dream.vault.identity import Names
from aria_dream.world import PastChange, PastWrite, Verdict

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from pathlib import Path

_UNFINISHED = ".unfinished"


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """One file of a change."""

    path: NotePath
    before: ContentHash
    """`ABSENT`: the file is created."""
    after: ContentHash
    """`ABSENT`: the file is removed. Equal to `before` for a move."""
    temp: str
    """Name of the file that lies beside `path` while the step is under way."""
    moved_to: NotePath | None = None

    def inverse(self) -> Step:
        """The step that takes this one back. Its temp file has a name of its own: each tells its own story."""
        if self.moved_to is not None:
            return Step(path=self.moved_to, before=self.after, after=self.before, temp=self.temp, moved_to=self.path)
        return Step(path=self.path, before=self.after, after=self.before, temp=f"{self.temp}-undo")


@dataclass(frozen=True, slots=True, kw_only=True)
class Intent:
    """A change that is to happen, as it lies on the disk."""

    change_id: str
    at: datetime
    label: str
    steps: tuple[Step, ...]
    folders: tuple[NotePath, ...]
    """Folders that do not exist yet, outermost first."""
    names: Names = field(default_factory=Names)


class History:
    """The folder of intents and their images. Whoever calls holds the vault's writer lock."""

    def __init__(self, folder: Path, sleep: Callable[[float], None]) -> None:
        self._folder = folder
        self._sleep = sleep

    def begin(self, intent: Intent, images: Sequence[tuple[bytes | None, bytes | None]]) -> None:
        """Put the intent and each step's images (before, after) on the disk: all of it, or nothing.

        Raises:
            OSError: the disk would not.
        """
        self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        folder = self._folder / (intent.change_id + _UNFINISHED)
        folder.mkdir(mode=0o700)
        try:
            for number, pair in enumerate(images):
                for kind, image in zip(("before", "after"), pair, strict=True):
                    if image is not None:
                        _write_new(folder / f"{number}.{kind}", image)
            _write_new(folder / "intent.json", _render_intent(intent))
            sync_folder(folder)
            retry_call(lambda: folder.rename(self._folder / intent.change_id), self._sleep)
        except BaseException:
            shutil.rmtree(folder, ignore_errors=True)
            raise
        sync_folder(self._folder)

    def finish(self, change_id: str, verdict: Verdict, at: datetime, left_alone: Sequence[NotePath] = ()) -> None:
        """Record how the change ended. Raises OSError where the disk would not; the change then stays pending."""
        record = {"verdict": verdict.value, "at": at.isoformat(), "left_alone": [str(path) for path in left_alone]}
        self._replace(change_id, "outcome.json", json.dumps(record).encode())

    def image(self, change_id: str, number: int, kind: str) -> bytes | None:
        """The image of a step, `kind` `before` or `after`; None where there is no file."""
        try:
            return (self._folder / change_id / f"{number}.{kind}").read_bytes()
        except FileNotFoundError:
            return None

    def keep_displaced(self, change_id: str, number: int, text: bytes) -> None:
        """Keep another program's text that was met on the way of step `number`. Twice the same is kept once."""
        self._replace(change_id, f"{number}.displaced-{content_hash(text)[:12]}", text)

    def pending(self) -> tuple[Intent, ...]:
        """The changes that were begun and not finished, oldest first.

        Raises:
            StateDamagedError: an intent cannot be read, so what it meant must not be guessed.
        """
        return tuple(
            self.read_intent(change_id)
            for change_id in self._ids()
            if not (self._folder / change_id / "outcome.json").exists()
        )

    def sweep(self) -> None:
        """Remove what a crash left of intents that never came to be, and half-written records."""
        for folder in list(self._folder.glob(f"*{_UNFINISHED}")):
            shutil.rmtree(folder, ignore_errors=True)
        for name in list(self._folder.glob("*/*.new")):
            name.unlink(missing_ok=True)

    def applied(self) -> Iterator[PastChange]:
        """The changes that were applied, with their images, oldest first. One that cannot be read is left out."""
        for change_id in self._ids():
            try:
                outcome = json.loads((self._folder / change_id / "outcome.json").read_bytes())
                intent = self.read_intent(change_id)
                if outcome["verdict"] == Verdict.APPLIED.value:
                    files = tuple(
                        PastWrite(
                            path=step.path,
                            before=self.image(change_id, number, "before"),
                            after=self.image(change_id, number, "after"),
                            moved_to=step.moved_to,
                        )
                        for number, step in enumerate(intent.steps)
                    )
                    yield PastChange(
                        change_id=change_id, label=intent.label, at=intent.at, files=files, names=intent.names
                    )
            except (OSError, ValueError, KeyError, TypeError, StateDamagedError):
                continue

    def purge(self, now: datetime, window_h: float) -> int:
        """How many settled changes older than the window were removed. Pending ones stay, however old."""
        removed = 0
        for change_id in self._ids():
            try:
                intent = _parse_intent((self._folder / change_id / "intent.json").read_bytes())
            except (OSError, ValueError, KeyError, TypeError):
                continue
            if intent.at + timedelta(hours=window_h) <= now and (self._folder / change_id / "outcome.json").exists():
                # Renamed first: a half-removed folder without its outcome would look pending.
                grave = self._folder / (change_id + _UNFINISHED)
                (self._folder / change_id).rename(grave)
                shutil.rmtree(grave)
                removed += 1
        return removed

    def read_intent(self, change_id: str) -> Intent:
        """One intent. Raises StateDamagedError where it or an image cannot be trusted."""
        path = self._folder / change_id / "intent.json"
        try:
            intent = _parse_intent(path.read_bytes())
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise StateDamagedError(f"{path} cannot be read; if the vault is whole, remove its folder") from error
        for number, step in enumerate(intent.steps):
            for kind, expected in (("before", step.before), ("after", step.after)):
                image = self.image(change_id, number, kind)
                if (ABSENT if image is None else content_hash(image)) != expected:
                    raise StateDamagedError(f"{path.with_name(f'{number}.{kind}')} is damaged; see {path}")
        return intent

    def _ids(self) -> list[str]:
        try:
            names = [entry.name for entry in self._folder.iterdir()]
        except FileNotFoundError:
            return []
        return sorted(name for name in names if not name.endswith(_UNFINISHED) and not name.startswith("."))

    def _replace(self, change_id: str, name: str, content: bytes) -> None:
        path = self._folder / change_id / name
        temp = path.with_name(f"{name}.new")
        temp.unlink(missing_ok=True)
        try:
            _write_new(temp, content)
            retry_call(lambda: temp.replace(path), self._sleep)
        except OSError:
            temp.unlink(missing_ok=True)
            raise
        sync_folder(path.parent)


def _write_new(path: Path, content: bytes) -> None:
    handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0), 0o600)
    try:
        write_all(handle, content)
        sync_file(handle)
    finally:
        os.close(handle)


def write_all(handle: int, content: bytes) -> None:
    """Write every byte; `os.write` may take fewer. Raises OSError where the disk would not."""
    view = memoryview(content)
    while view:
        view = view[os.write(handle, view) :]


def _render_intent(intent: Intent) -> bytes:
    steps = [
        {
            "path": str(step.path),
            "before": step.before,
            "after": step.after,
            "temp": step.temp,
            "moved_to": None if step.moved_to is None else str(step.moved_to),
        }
        for step in intent.steps
    ]
    record = {
        "id": intent.change_id,
        "at": intent.at.isoformat(),
        "label": intent.label,
        "steps": steps,
        "folders": [str(folder) for folder in intent.folders],
        "names": {path: list(known) for path, known in intent.names.known.items()},
        "there": intent.names.there,
    }
    return json.dumps(record, indent=1).encode()


def _parse_intent(content: bytes) -> Intent:
    record = json.loads(content)
    return Intent(
        change_id=str(record["id"]),
        at=datetime.fromisoformat(record["at"]),
        label=str(record["label"]),
        steps=tuple(
            Step(
                path=NotePath(step["path"]),
                before=ContentHash(step["before"]),
                after=ContentHash(step["after"]),
                temp=step["temp"],
                moved_to=None if step["moved_to"] is None else NotePath(step["moved_to"]),
            )
            for step in record["steps"]
        ),
        folders=tuple(NotePath(folder) for folder in record["folders"]),
        names=Names(
            known={path: tuple(known) for path, known in record.get("names", {}).items()},
            there=record.get("there", ""),
        ),
    )


class OwnContents:
    """The steps of the changes in one history folder. `update` reads those that are new."""

    def __init__(self, history_folder: Path | None) -> None:
        """`history_folder` is `history` in the vault's state folder and need not exist; None: we never write."""
        self.history_folder = history_folder
        self._steps: dict[str, frozenset[tuple[str, str]]] = {}

    def update(self) -> None:
        """Takes in new changes and forgets those that were purged. Never raises."""
        if self.history_folder is None:
            return
        try:
            names = {entry.name for entry in os.scandir(self.history_folder)}
        except OSError:
            names = set()
        for name in self._steps.keys() - names:
            del self._steps[name]
        for name in names - self._steps.keys():
            if "." not in name:  # `….unfinished`: nothing was written yet
                steps = _read_steps(self.history_folder / name / "intent.json")
                if steps is not None:
                    self._steps[name] = steps

    def holds(self, path: str, digest: bytes) -> bool:
        """Whether we once gave the file at `path` the content with this SHA-256."""
        key = (path, digest.hex())
        return any(key in steps for steps in self._steps.values())

    def removed(self, path: str) -> bool:
        """Whether a kept change removed or moved the file at `path`."""
        return any((path, "") in steps for steps in self._steps.values())


def _read_steps(path: Path) -> frozenset[tuple[str, str]] | None:
    """Every `(path, SHA-256)` that the change leaves behind; `""` for no file. None: unreadable."""
    try:
        steps = json.loads(path.read_bytes())["steps"]
        states: set[tuple[str, str]] = set()
        for step in steps:
            if step["moved_to"] is None:
                states.add((str(step["path"]), str(step["after"])))
            else:
                states |= {(str(step["path"]), ""), (str(step["moved_to"]), str(step["after"]))}
    except (OSError, ValueError, KeyError, TypeError):
        return None
    return frozenset(states)
