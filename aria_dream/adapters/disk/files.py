"""The only code that writes into a vault. A change is planned from known content, journalled, and all or nothing.

The order of a write: lock; settle what a crash left; look at every file (nothing has happened if one is not as
planned); put the intent with whole before and after images into the history, synced; carry the steps out one by one
(`adapters/disk/steps` says how, and which gaps remain); record the outcome. A change that cannot be completed is undone
from the images. See `adapters/disk/history` for what lies on the disk.
"""

from __future__ import annotations

import os
import secrets
import time
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, assert_never

from aria_dream.adapters.disk.history import History, Intent, OwnContents, Step
from aria_dream.adapters.disk.lock import WRITER_WAIT_S, writer_lock
from aria_dream.adapters.disk.safe_path import is_placeholder, locate, read_plain
from aria_dream.adapters.disk.settling import ChangeSettler
from aria_dream.adapters.disk.steps import CHANGED, Steps
from aria_dream.adapters.disk.swap import exchange as system_exchange
from aria_dream.errors import VaultUnreadableError
from aria_dream.markdown.misread import conflict_line
from aria_dream.markdown.note import NotePath
from aria_dream.vault.edit import ABSENT, ChangeSet, Exists, changes_refusal, content_hash
from aria_dream.vault.identity import Names
from aria_dream.world import Absent, Conflict, Content, Failed, Refused, Settled, Verdict, Written

if TYPE_CHECKING:
    from collections.abc import Callable

    from aria_dream.adapters.disk.lock import VaultLock
    from aria_dream.world import PastChange

TEMP_PREFIX = ".aria-"
"""Our temp files begin so. Hidden, and at most 30 bytes long whatever the note is called."""


UNREADABLE = "it cannot be read"
"""How the reason begins where the system refuses a read."""


def _now() -> datetime:
    return datetime.now(UTC).astimezone()


def _nothing(_step: str) -> None:
    return


class DiskVault:
    """A vault on the disk. The root itself may be a symbolic link; nothing below it is reached through one.

    Everything that a test may want to be otherwise is an argument: `now`, `sleep` (backoff while another program holds
    a file), `exchange` (see `adapters/disk/swap`), and `after_step`, called after each step of a write with its name.

    Raises:
        VaultUnreadableError: there is no folder at `root`.
    """

    def __init__(
        self,
        root: Path,
        state_folder: Path,
        *,
        now: Callable[[], datetime] = _now,
        sleep: Callable[[float], None] = time.sleep,
        exchange: Callable[[Path, Path], None] = system_exchange,
        after_step: Callable[[str], None] = _nothing,
        lock: VaultLock | None = None,
        lock_wait_s: float = WRITER_WAIT_S,
    ) -> None:
        self.root = Path(os.path.realpath(root))
        try:
            is_folder = self.root.is_dir()
        except PermissionError as error:
            raise VaultUnreadableError(f"{root} may not be read") from error
        if not is_folder:
            raise VaultUnreadableError(f"there is no vault at {root}")
        self._lock = lock or writer_lock(state_folder, sleep=sleep)
        self._lock_wait_s = lock_wait_s
        self._now = now
        self._after = after_step
        self._history = History(state_folder / "history", sleep)
        self._own = OwnContents(state_folder / "history")
        self._steps = Steps(
            self.root,
            sleep=sleep,
            exchange=exchange,
            after_step=after_step,
            keep=self._history.keep_displaced,
        )
        self._settling = ChangeSettler(self.root, self._steps, self._history, now=now, after_step=after_step)

    def read(self, path: NotePath) -> Content | Absent | Refused:
        """The file's bytes and their hash; never through a symbolic link, never a cloud placeholder's. Refused with
        `UNREADABLE` where the system does not let it be read."""
        try:
            place = locate(self.root, path)
            if isinstance(place, Refused):
                return place
            if not os.path.lexists(place):
                return Absent(path)
            if is_placeholder(os.lstat(place)):
                return Refused(path, "the note is not on this device")
            data = read_plain(place)
        except OSError as error:
            return Refused(path, f"{UNREADABLE} ({_cause(error).lower()})")
        return Absent(path) if data is None else Content(data, content_hash(data))

    def write(
        self, changes: ChangeSet, *, label: str = "", quiet_s: float = 0.0, names: Names | None = None
    ) -> Written | Conflict | Exists | Refused | Failed:
        """What became of `changes`: all of them are on the disk, or none is.

        `label` (a proposal's id) and `names` are kept in the history. A file that somebody else touched within the last
        `quiet_s` seconds is theirs at this moment, and conflicts. A plan whose content is there already is no change.

        Raises:
            BusyError: another of our processes writes and does not end.
            StateDamagedError: an interrupted change cannot be read, so nothing may be written until it is settled.
        """
        refusal = changes_refusal(changes)
        if refusal:
            return Refused(refusal[0], refusal[1])
        with self._lock.held(self._lock_wait_s):
            self._recover()
            try:
                return self._write(changes, label, quiet_s, names or Names())
            except OSError as error:
                return Failed(_first_path(changes), _cause(error))

    def _write(
        self, changes: ChangeSet, label: str, quiet_s: float, names: Names
    ) -> Written | Conflict | Exists | Refused | Failed:
        at = self._now()
        change_id = f"{at.astimezone(UTC):%Y%m%dT%H%M%S%f}-{secrets.token_hex(4)}"
        steps, contents = _plan_steps(changes, change_id)
        if not steps:
            return Written("")
        written = {plan.path for plan in changes.writes if plan.content is not None}
        for step in steps:
            is_written_too = step.moved_to is not None and step.path in written
            hindrance = self._first_look(step, at, quiet_s, is_written_too=is_written_too)
            if hindrance is not None:
                return hindrance
        images = self._images(steps, contents)
        if not isinstance(images, list):
            return images
        intent = Intent(
            change_id=change_id, at=at, label=label, steps=tuple(steps), folders=self._missing_folders(steps),
            names=names,
        )  # fmt: skip
        self._after("looked")
        self._history.begin(intent, images)
        self._after("intent")
        return self._carry_out(intent)

    def _first_look(
        self, step: Step, at: datetime, quiet_s: float, *, is_written_too: bool
    ) -> Conflict | Exists | Refused | None:
        place = locate(self.root, step.path)
        if isinstance(place, Path) and quiet_s > 0 and os.path.lexists(place):
            age_s = at.timestamp() - os.lstat(place).st_mtime
            if 0 <= age_s < quiet_s and not self._is_ours(step):
                return Conflict(step.path, f"the note was touched {age_s:.0f} s ago; somebody may be typing")
        if is_written_too:
            return self._steps.goal_hindrance(step)
        return self._steps.hindrance(step)

    def _is_ours(self, step: Step) -> bool:
        """Whether the content that the step starts from is one that we gave the file ourselves."""
        self._own.update()
        return step.before != ABSENT and self._own.holds(str(step.path), bytes.fromhex(step.before))

    def _images(
        self, steps: list[Step], contents: list[bytes | None]
    ) -> list[tuple[bytes | None, bytes | None]] | Conflict | Refused:
        """Each step's file before and after; what is written and then moved moves as it is written.

        Refused where a note to be written is one that git left half merged.
        """
        images: list[tuple[bytes | None, bytes | None]] = []
        written: dict[NotePath, bytes | None] = {}
        for step, content in zip(steps, contents, strict=True):
            if step.path in written:
                before = written[step.path]
            else:
                before = None if step.before == ABSENT else read_plain(self.root.joinpath(*step.path.parts))
            if (ABSENT if before is None else content_hash(before)) != step.before:
                return Conflict(step.path, CHANGED)
            line = conflict_line(before) if before and content is not None else 0
            if line:
                return Refused(step.path, f"it holds conflict markers of git (line {line}); settle them first")
            after = before if step.moved_to is not None else content
            images.append((before, after))
            written[step.path] = after
        return images

    def _missing_folders(self, steps: list[Step]) -> tuple[NotePath, ...]:
        wanted: dict[NotePath, None] = {}
        for step in steps:
            for folder in reversed((step.moved_to or step.path).parents):
                if folder.parts and not self.root.joinpath(*folder.parts).exists():
                    wanted[NotePath(folder)] = None
        return tuple(wanted)

    def _carry_out(self, intent: Intent) -> Written | Conflict | Exists | Refused | Failed:
        """Do the steps; where one cannot be done, undo those before it and say why."""
        trouble: Conflict | Exists | Refused | Failed
        path = intent.steps[0].path
        try:
            self._settling.make_folders(intent)
            for number, step in enumerate(intent.steps):
                path = step.path
                content = self._history.image(intent.change_id, number, "after")
                hindrance = self._steps.do(intent.change_id, number, step, content)
                if hindrance is not None:
                    trouble = hindrance
                    break
            else:
                self._settling.finish(intent, Verdict.APPLIED)
                return Written(intent.change_id)
        except OSError as error:
            trouble = Failed(path, _cause(error))
        return self._taken_back(intent, trouble)

    def _taken_back(
        self, intent: Intent, trouble: Conflict | Exists | Refused | Failed
    ) -> Written | Conflict | Exists | Refused | Failed:
        try:
            verdict = self._settling.settle(intent, may_finish=False).verdict
        except OSError as error:
            return Failed(trouble.path, f"{_reason(trouble)}; and undoing it: {_cause(error)}", unsettled=True)
        match verdict:
            case Verdict.APPLIED:  # only its last record failed; the files are as planned
                return Written(intent.change_id)
            case Verdict.UNDONE:
                return trouble
            case _:
                assert_never(verdict)

    def recover(self) -> tuple[Settled, ...]:
        """What became of each change that a crash interrupted, oldest first. A second call returns nothing.

        A change of which every step was done is applied; one of which none was is undone; of the rest, the missing
        steps are done where every file still is as the change left or expects it, else the done ones are taken back.
        A file that somebody changed since is left alone. Called before every write; call it at every start.

        Raises:
            BusyError: another of our processes writes and does not end.
            StateDamagedError: an intent cannot be read.
            OSError: the disk would not; the next call tries again.
        """
        with self._lock.held(self._lock_wait_s):
            return self._recover()

    def _recover(self) -> tuple[Settled, ...]:
        self._history.sweep()
        return tuple(self._settling.settle(intent, may_finish=True) for intent in self._history.pending())

    def past_changes(self) -> tuple[PastChange, ...]:
        """The applied changes whose images are kept, oldest first."""
        return tuple(self._history.applied())

    def purge(self, now: datetime, window_h: float) -> int:
        """How many settled changes older than `window_h` hours were forgotten, images and all.

        Raises:
            BusyError: another of our processes writes and does not end.
        """
        with self._lock.held(self._lock_wait_s):
            return self._history.purge(now, window_h)


def _plan_steps(changes: ChangeSet, change_id: str) -> tuple[list[Step], list[bytes | None]]:
    """The steps of a change and each one's new content; a plan whose content is what it expects needs none."""
    steps: list[Step] = []
    contents: list[bytes | None] = []
    for plan in changes.writes:
        after = ABSENT if plan.content is None else content_hash(plan.content)
        if after == plan.expected_hash:
            continue
        temp = f"{TEMP_PREFIX}{change_id[-8:]}-{len(steps)}"
        steps.append(Step(path=plan.path, before=plan.expected_hash, after=after, temp=temp))
        contents.append(plan.content)
    for move in changes.moves:
        temp = f"{TEMP_PREFIX}{change_id[-8:]}-{len(steps)}"
        hash_ = move.expected_hash
        steps.append(Step(path=move.source, before=hash_, after=hash_, temp=temp, moved_to=move.destination))
        contents.append(None)
    return steps, contents


def _first_path(changes: ChangeSet) -> NotePath:
    return changes.writes[0].path if changes.writes else changes.moves[0].source


def _reason(trouble: Conflict | Exists | Refused | Failed) -> str:
    return f"{trouble.path} exists" if isinstance(trouble, Exists) else trouble.reason


def _cause(error: OSError) -> str:
    """What the system says, in its own words, without a path of the state folder."""
    return error.strerror or str(error)
