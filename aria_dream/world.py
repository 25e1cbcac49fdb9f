"""What the core asks of the world, as Protocols, and the outcomes it may get."""

from __future__ import annotations

from contextlib import nullcontext
from dataclasses import dataclass, field
from enum import Enum
from typing import TYPE_CHECKING, Protocol, TypeAlias

from aria_dream.vault.identity import Names

if TYPE_CHECKING:
    from collections.abc import Callable
    from contextlib import AbstractContextManager
    from datetime import datetime
    from pathlib import Path

    from aria_dream.markdown.note import NotePath
    from aria_dream.vault.edit import ChangeSet, ContentHash, Exists


Progress: TypeAlias = "Callable[[int, int], None]"
"""Told `(done, total)` while work goes on."""
ShowProgress: TypeAlias = "Callable[[str], AbstractContextManager[Progress | None]]"
"""Shows the work of that label while its `with` block lasts; None where nobody looks."""


def unheard(_done: int, _total: int) -> None:
    """A `Progress` that nobody looks at."""


def permit_all(_unit: str) -> None:
    """Permits every unit of work at once; the daemon's child asks its parent instead."""


def show_nothing(_label: str) -> AbstractContextManager[Progress | None]:
    """Nobody looks."""
    return nullcontext()


@dataclass(frozen=True, slots=True)
class Content:
    """A file as it was when it was read."""

    data: bytes
    hash: ContentHash


@dataclass(frozen=True, slots=True)
class Absent:
    """There is no such file."""

    path: NotePath


@dataclass(frozen=True, slots=True)
class Written:
    """Every change is on the disk, and journalled."""

    change_id: str
    """Names the change in the history; "" where every file already read as planned."""


@dataclass(frozen=True, slots=True)
class Conflict:
    """A file is not as the plan expects it. Nothing was changed; plan again from what it reads now."""

    path: NotePath
    reason: str


@dataclass(frozen=True, slots=True)
class Refused:
    """The plan itself is none to carry out: read-only, through a symlink, outside the vault. Nothing was changed."""

    path: NotePath
    reason: str


@dataclass(frozen=True, slots=True)
class Failed:
    """The machine would not: disk full, an error of the disk, a file held by another program."""

    path: NotePath
    reason: str
    unsettled: bool = False
    """True where undoing failed too: files are old or new, each whole; `recover` finishes or undoes the rest."""


class Verdict(Enum):
    """How an interrupted change ended."""

    APPLIED = "applied"
    UNDONE = "undone"


@dataclass(frozen=True, slots=True, kw_only=True)
class Settled:
    """What `recover` made of one interrupted change."""

    change_id: str
    label: str
    verdict: Verdict
    left_alone: tuple[NotePath, ...]
    """Files that somebody else changed since; they are as that somebody left them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PastWrite:
    """One file of a past change, with its whole content before and after."""

    path: NotePath
    before: bytes | None
    """None: there was no file."""
    after: bytes | None
    """None: the file was removed."""
    moved_to: NotePath | None = None
    """Where the file was moved; `before` and `after` are then equal."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PastChange:
    """A change that was applied and whose images are still kept."""

    change_id: str
    label: str
    at: datetime
    files: tuple[PastWrite, ...]
    names: Names = field(default_factory=Names)
    """What its links meant, and which files there were; empty where it was not told."""


class VaultFiles(Protocol):
    """The files of one vault. Changes are all or nothing, and only happen to content that is as the plan says."""

    def read(self, path: NotePath) -> Content | Absent | Refused:
        """The file's bytes and their hash; never through a symlink, never a cloud placeholder's."""
        ...

    def write(
        self, changes: ChangeSet, *, label: str = "", quiet_s: float = 0.0, names: Names | None = None
    ) -> Written | Conflict | Exists | Refused | Failed:
        """What became of `changes`. `label` and `names` are kept in the history. A file that changed within `quiet_s`
        conflicts."""
        ...

    def recover(self) -> tuple[Settled, ...]:
        """What became of each change that a crash interrupted, oldest first. A second call returns nothing."""
        ...

    def past_changes(self) -> tuple[PastChange, ...]:
        """The applied changes whose images are kept, oldest first."""
        ...

    def purge(self, now: datetime, window_h: float) -> int:
        """How many settled changes older than `window_h` hours were forgotten, images and all."""
        ...


class RootedFiles(VaultFiles, Protocol):
    """The files of a vault that lies in a folder."""

    @property
    def root(self) -> Path:
        """Real path of the vault."""
        ...
