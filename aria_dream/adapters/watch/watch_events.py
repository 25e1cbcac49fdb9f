"""Watch events, and nothing more than the news that one should look again: which files, or that it is the whole vault.

Reading a note wakes nobody: only creations, changes of content, moves and deletions are asked for. An atomic save
names the note only as the destination of a move; a folder moved out of the vault is one deletion and nothing per note;
events may be lost (`adapters/watch/watcher` looks for itself now and then).
"""

from __future__ import annotations

import logging
import os
import sys
import threading
import time
import warnings
from contextlib import suppress
from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING, Protocol

from watchdog.events import (
    DirCreatedEvent,
    DirDeletedEvent,
    DirMovedEvent,
    FileCreatedEvent,
    FileDeletedEvent,
    FileModifiedEvent,
    FileMovedEvent,
    FileSystemEvent,
    FileSystemEventHandler,
)

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from watchdog.observers.api import BaseObserver

log = logging.getLogger(__name__)

HEEDED: list[type[FileSystemEvent]] = [
    FileCreatedEvent, FileModifiedEvent, FileMovedEvent, FileDeletedEvent,
    DirCreatedEvent, DirMovedEvent, DirDeletedEvent,
]  # fmt: skip
"""Opening, reading and closing are not among them, nor `DirModified`, which only repeats the others."""

PATHS_MAX = 50
"""Above so many files one walk over the vault costs less than a look at each of their folders."""

SETTINGS_FILES = frozenset(
    {
        "app.json",
        "daily-notes.json",
        "templates.json",
        "plugins/periodic-notes/data.json",
        "plugins/templater-obsidian/data.json",
    }
)
"""Those of Obsidian's settings that `adapters/disk/config_folder` reads. The rest changes with every click."""

_JOIN_S = 10.0


class EventMeaning(Enum):
    """What a path in an event calls for."""

    NOTHING = "nothing"
    FILE = "file"
    WHOLE = "whole"
    SETTINGS = "settings"


def meaning_of(path: str, *, is_folder: bool) -> EventMeaning:
    """What a change at this vault path (`""`: the vault itself) calls for. Pure."""
    parts = path.split("/")
    hidden = next((depth for depth, part in enumerate(parts) if part.startswith(".")), None)
    if hidden is None:
        return EventMeaning.WHOLE if is_folder or not path else EventMeaning.FILE
    is_last = hidden == len(parts) - 1
    if is_folder:  # a dot folder at the root may be Obsidian's, under whatever name
        return EventMeaning.WHOLE if is_last and hidden == 0 else EventMeaning.NOTHING
    if is_last:  # an editor's temp file, unless iCloud left it in place of a note
        return EventMeaning.FILE if path.endswith(".icloud") else EventMeaning.NOTHING
    if hidden == 0 and "/".join(parts[1:]) in SETTINGS_FILES:
        return EventMeaning.SETTINGS
    return EventMeaning.NOTHING


@dataclass(frozen=True, slots=True)
class Hints:
    """What events said since the last look."""

    paths: frozenset[str] = frozenset()
    whole: bool = False
    settings: bool = False
    last_at_s: float | None = None
    """When the last of them came, by the watcher's clock."""

    def __bool__(self) -> bool:
        return bool(self.paths) or self.whole or self.settings


class EventBox(FileSystemEventHandler):
    """Collects events in watchdog's thread, until the watcher takes them. Bounded, whatever comes."""

    def __init__(self, root: Path, nudge: Callable[[], None], clock: Callable[[], float] = time.monotonic) -> None:
        """`nudge` is called once when the box stops being empty."""
        self._root = str(root)
        self._prefix = self._root.rstrip(os.sep) + os.sep
        self._nudge = nudge
        self.clock = clock
        """Tells when events came."""
        self._lock = threading.Lock()
        self._paths: set[str] = set()
        self._whole = False
        self._settings = False
        self._first_at_s: float | None = None
        self._last_at_s = 0.0

    def dispatch(self, event: FileSystemEvent) -> None:
        """Takes in one event."""
        for named in (event.src_path, event.dest_path):
            if named:
                self.changed(os.fsdecode(named), is_folder=event.is_directory)

    def changed(self, system_path: str, *, is_folder: bool) -> None:
        """Something happened at that path of the system. What lies outside the vault is no news."""
        if system_path.rstrip(os.sep) == self._root.rstrip(os.sep):
            path = ""
        elif system_path.startswith(self._prefix):
            path = system_path[len(self._prefix) :].replace(os.sep, "/")
        else:
            return
        meaning = meaning_of(path, is_folder=is_folder)
        if meaning is EventMeaning.FILE and sys.platform != "linux" and not path.isascii():
            meaning = EventMeaning.WHOLE  # the event may spell the name otherwise than the folder's listing does
        if meaning is not EventMeaning.NOTHING:
            self._keep(meaning, path)

    def everything(self) -> None:
        """Anything may have happened: events were lost."""
        self._keep(EventMeaning.WHOLE, "")

    def _keep(self, meaning: EventMeaning, path: str) -> None:
        now = self.clock()
        with self._lock:
            if meaning is EventMeaning.SETTINGS:
                self._settings = True
            elif meaning is EventMeaning.FILE and not self._whole:
                self._paths.add(path)
            self._whole = self._whole or meaning is EventMeaning.WHOLE or len(self._paths) > PATHS_MAX
            if self._whole:
                self._paths.clear()
            is_first = self._first_at_s is None
            if is_first:
                self._first_at_s = now
            self._last_at_s = now
        if is_first:
            self._nudge()

    def times(self) -> tuple[float, float] | None:
        """When the first and the last event in the box came; None where it is empty."""
        with self._lock:
            return None if self._first_at_s is None else (self._first_at_s, self._last_at_s)

    def take(self) -> Hints:
        """What is in the box, which is empty then."""
        with self._lock:
            last = None if self._first_at_s is None else self._last_at_s
            hints = Hints(frozenset(self._paths), self._whole, self._settings, last)
            self._paths.clear()
            self._whole = self._settings = False
            self._first_at_s = None
        return hints

    def put_back(self, hints: Hints) -> None:
        """Keeps `hints` for a later look, as if they came now."""
        for path in hints.paths:
            self._keep(EventMeaning.FILE, path)
        if hints.whole:
            self._keep(EventMeaning.WHOLE, "")
        if hints.settings:
            self._keep(EventMeaning.SETTINGS, "")


class Observing(Protocol):
    """An observer at work."""

    def is_alive(self) -> bool:
        """Whether events still come, as far as it knows itself."""
        ...

    def descriptors(self) -> frozenset[int]:
        """The inotify descriptors it holds; empty where the system has none."""
        ...

    def stop(self) -> None:
        """Ends its threads and waits for them."""
        ...


class _OverflowEar(logging.Handler):
    """Hears the one sign that watchdog gives when the kernel's queue was full: a line in its log."""

    def __init__(self, box: EventBox) -> None:
        super().__init__(logging.WARNING)
        self._box = box

    def emit(self, record: logging.LogRecord) -> None:
        if "overflow" in record.getMessage().lower():
            self._box.everything()


class WatchdogObserving:
    """A watchdog observer over a whole vault.

    Raises:
        OSError: ENOSPC or EMFILE where the system's limit on watches or on observers is reached at once. Where it is
            reached further down, watchdog says nothing (see `adapters/watch/watch_probe`).
    """

    def __init__(self, root: Path, box: EventBox) -> None:
        from watchdog.observers import Observer

        from aria_dream.adapters.watch.watch_probe import inotify_descriptors

        # Said of every folder that appears while watchdog walks over its parent. It means nothing; as an error (`-W
        # error`) it would end watchdog's thread.
        warnings.filterwarnings("ignore", message="Callback with id ", category=RuntimeWarning)
        self._ear = _OverflowEar(box)
        before, threads = inotify_descriptors(), set(threading.enumerate())
        observer = Observer()  # may raise: it opens the descriptor
        try:
            observer.schedule(box, str(root), recursive=True, event_filter=HEEDED)
            observer.start()
        except BaseException:
            _end(observer)
            raise
        self._observer = observer
        self._descriptors = inotify_descriptors() - before
        self._threads = tuple(thread for thread in threading.enumerate() if thread not in threads)
        logging.getLogger("watchdog").addHandler(self._ear)

    def is_alive(self) -> bool:
        """False once the vault's folder was removed, or one of watchdog's threads died of something."""
        return all(thread.is_alive() for thread in self._threads)

    def descriptors(self) -> frozenset[int]:
        """Those that were opened while this observer started."""
        return self._descriptors

    def stop(self) -> None:
        """Ends watchdog's threads; gives up waiting for one that hangs after ten seconds. Never raises."""
        logging.getLogger("watchdog").removeHandler(self._ear)
        _end(self._observer)


def _end(observer: BaseObserver) -> None:
    """Ends the threads of `observer`, whatever state it is in, within `_JOIN_S`: its own waits know no limit."""
    ending = threading.Thread(target=_end_all, args=(observer,), name="watch-end", daemon=True)
    ending.start()
    ending.join(_JOIN_S)


def _end_all(observer: BaseObserver) -> None:
    # A folder that took the name of one that was moved away leaves watchdog's tables torn: it stops half way then, with
    # a KeyError, and its threads and watches stay. What its second try would wait for is let go of in between.
    queues = [getattr(getattr(emitter, "_inotify", None), "_move_event_grouper", None) for emitter in observer.emitters]
    for _ in range(2):
        try:
            observer.stop()
        except Exception as error:  # noqa: BLE001 - a library's fault is no reason to end; a new observer comes
            log.debug("the observer did not end at once: %s", type(error).__name__)
            for queue in queues:
                if queue is not None:
                    queue.close()
        else:
            break
    with suppress(RuntimeError):  # it was never started
        observer.join(_JOIN_S)
