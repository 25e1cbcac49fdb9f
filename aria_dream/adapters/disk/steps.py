"""One file of a change, carried out so that a crash at any point leaves it wholly old or wholly new.

Replace: the new content goes into a hidden temp file beside the note (short name: it never outgrows a name of 255
bytes; a dot: Obsidian and syncs pass over it), with the note's attributes, synced; then the two are exchanged, the
displaced bytes are compared with the planned ones, and the temp file, now the old content, is removed. If the
displaced bytes are not those of the plan, another program was quicker, and the files are exchanged back.

What remains open, against programs that do not know our lock:

- An editor that opened the note before the exchange and writes into it (not over it) after the comparison writes into
  the displaced file. On Linux a lease shows such an editor, and the exchange is taken back; elsewhere it is not seen.
- Where nothing can be exchanged (old kernels, some network and FUSE mounts), the note is compared and then replaced:
  an editor that saves between the two, some microseconds, loses that save.
- A program that saves while an exchange is taken back may see its older text for that instant; its newest text stays.
"""

from __future__ import annotations

import os
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING

from aria_dream.adapters.disk.history import write_all
from aria_dream.adapters.disk.safe_path import (
    copy_attributes,
    hash_of,
    locate,
    open_for_writing,
    read_plain,
    touch_refusal,
    way_is_free,
)
from aria_dream.adapters.disk.swap import (
    BACKUP_SUFFIX,
    ExchangeUnavailableError,
    exchange,
    rename_new,
    retry_call,
    sync_file,
    sync_folder,
)
from aria_dream.vault.edit import ABSENT, Exists, content_hash
from aria_dream.world import Conflict, Refused

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from aria_dream.adapters.disk.history import Step

    Hindrance = Conflict | Exists | Refused

_WRITER_PAUSES_S = (0.01, 0.05, 0.2)
"""How long an editor that has the note open for writing is waited for: an ordinary save takes a millisecond."""

CHANGED = "the note changed meanwhile"


class Steps:
    """Carries out single steps in one vault. Holds no state but how to wait and what a test wants to know."""

    def __init__(
        self,
        root: Path,
        *,
        sleep: Callable[[float], None],
        exchange: Callable[[Path, Path], None] = exchange,
        after_step: Callable[[str], None],
        keep: Callable[[str, int, bytes], None],
    ) -> None:
        self._root = root
        self._sleep = sleep
        self._exchange = exchange
        self._after = after_step
        self._keep = keep

    def hindrance(self, step: Step) -> Hindrance | None:
        """Why the step cannot be done now; None where the disk is as the step expects. Changes nothing."""
        place = locate(self._root, step.path, new=step.before == ABSENT)
        if isinstance(place, Refused):
            return place
        if step.before == ABSENT:
            return way_is_free(self._root, step.path)
        if not os.path.lexists(place):
            return Conflict(step.path, "the note is gone")
        refusal = touch_refusal(step.path, place)
        if refusal:
            return refusal
        if hash_of(place) != step.before:
            return Conflict(step.path, CHANGED)
        return self.goal_hindrance(step)

    def goal_hindrance(self, step: Step) -> Hindrance | None:
        """Why the place that the step moves its file to is not free; None where it is, or nothing is moved."""
        if step.moved_to is None:
            return None
        goal = locate(self._root, step.moved_to, new=True)
        if isinstance(goal, Refused):
            return goal
        taken = way_is_free(self._root, step.moved_to)
        if isinstance(taken, Exists) and len(taken.path.parts) == len(step.moved_to.parts):
            place = self._root.joinpath(*step.path.parts)
            if _is_same_file(place, self._root.joinpath(*taken.path.parts)):
                return None  # another spelling of the note's own name
        return taken

    def do(self, change_id: str, number: int, step: Step, content: bytes | None) -> Hindrance | None:
        """Do the step, or say why not, and then the file is as it was. `content` is the whole new content.

        Raises:
            OSError: the machine would not; the file is as it was.
        """
        hindrance = self.hindrance(step)
        if hindrance is not None:
            return hindrance
        place = self._root.joinpath(*step.path.parts)
        if step.moved_to is not None:
            return self._move(step, place, self._root.joinpath(*step.moved_to.parts))
        if content is None:
            return self._remove(step, place)
        temp = place.with_name(step.temp)
        with _removed_on_error(temp):
            self._write_temp(temp, content, like=None if step.before == ABSENT else place)
        if step.before == ABSENT:
            return self._create(step, temp, place)
        return self._replace(change_id, number, step, temp, place)

    def _write_temp(self, temp: Path, content: bytes, like: Path | None) -> None:
        temp.unlink(missing_ok=True)
        mode = 0o666 if like is None else 0o600
        handle = os.open(temp, os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0), mode)
        try:
            self._after("temp created")
            write_all(handle, content)
            self._after("temp written")
            if like is not None:
                copy_attributes(like, handle, temp)
            sync_file(handle)
        finally:
            os.close(handle)
        self._after("temp synced")

    def _create(self, step: Step, temp: Path, place: Path) -> Hindrance | None:
        try:
            with _removed_on_error(temp):
                retry_call(lambda: rename_new(temp, place), self._sleep)
        except FileExistsError:
            return Exists(step.path)
        self._after("created")
        sync_folder(place.parent)
        return None

    def _replace(self, change_id: str, number: int, step: Step, temp: Path, place: Path) -> Hindrance | None:
        self._after("before exchange")
        # Once more, at the last moment: the path may lead elsewhere now, or the note may have been saved.
        hindrance = self.hindrance(step)
        if hindrance is not None:
            temp.unlink(missing_ok=True)
            return hindrance
        try:
            retry_call(lambda: self._exchange(temp, place), self._sleep)
        except ExchangeUnavailableError:
            return self._replace_blindly(step, temp, place)
        except FileNotFoundError:
            temp.unlink(missing_ok=True)
            return Conflict(step.path, "the note is gone")
        except OSError:
            temp.unlink(missing_ok=True)
            raise
        self._after("exchanged")
        reason = self._displaced_refusal(step, temp)
        if reason is not None:
            self.put_back(change_id, number, step, temp, place)
            return Conflict(step.path, reason)
        self._after("displaced checked")
        retry_call(temp.unlink, self._sleep)
        self._after("displaced removed")
        sync_folder(place.parent)
        return None

    def _replace_blindly(self, step: Step, temp: Path, place: Path) -> Hindrance | None:
        if hash_of(place) != step.before:
            temp.unlink()
            return Conflict(step.path, CHANGED)
        with _removed_on_error(temp):
            retry_call(lambda: temp.replace(place), self._sleep)
        self._after("replaced")
        sync_folder(place.parent)
        return None

    def _displaced_refusal(self, step: Step, temp: Path) -> str | None:
        """Why the displaced file is not the plan's: other bytes, or a program that is still writing into it."""
        for pause_s in (*_WRITER_PAUSES_S, None):
            with temp.open("rb", buffering=0) as file:
                is_being_written = open_for_writing(file.fileno())
                if content_hash(file.read()) != step.before:
                    return CHANGED
            if not is_being_written:
                return None
            if pause_s is not None:
                self._sleep(pause_s)  # the lease tells nothing about when the other program will be done
        return "another program has the note open for writing"

    def put_back(self, change_id: str, number: int, step: Step, temp: Path, place: Path) -> None:
        """Exchange back, so that the other program's newest text bears the name; then remove our temp file."""
        try:
            retry_call(lambda: self._exchange(temp, place), self._sleep)
        except FileNotFoundError:  # removed by the other program since: its text comes back under its name
            with suppress(FileExistsError):
                rename_new(temp, place)
                sync_folder(place.parent)
                return
        self._after("put back")
        self._wait_for_writers(temp)
        text = read_plain(temp)
        if text is not None and content_hash(text) != step.after:
            # Saved again while ours bore the name: that text is the newest, and the one we held is kept aside.
            retry_call(lambda: self._exchange(temp, place), self._sleep)
            text = read_plain(temp)
            if text is not None:
                self._keep(change_id, number, text)
        sync_folder(place.parent)
        temp.unlink(missing_ok=True)
        sync_folder(place.parent)

    def _wait_for_writers(self, temp: Path) -> None:
        for pause_s in _WRITER_PAUSES_S:
            with temp.open("rb", buffering=0) as file:
                if not open_for_writing(file.fileno()):
                    return
            self._sleep(pause_s)

    def _remove(self, step: Step, place: Path) -> Hindrance | None:
        temp = place.with_name(step.temp)
        try:
            retry_call(lambda: rename_new(place, temp), self._sleep)
        except FileNotFoundError:
            return Conflict(step.path, "the note is gone")
        self._after("set aside")
        reason = self._displaced_refusal(step, temp)
        if reason is not None:
            retry_call(lambda: rename_new(temp, place), self._sleep)
            sync_folder(place.parent)
            return Conflict(step.path, reason)
        retry_call(temp.unlink, self._sleep)
        self._after("removed")
        sync_folder(place.parent)
        return None

    def _move(self, step: Step, place: Path, goal: Path) -> Hindrance | None:
        assert step.moved_to is not None
        try:
            if _is_same_file(place, goal):
                retry_call(lambda: place.rename(goal), self._sleep)
            else:
                retry_call(lambda: rename_new(place, goal), self._sleep)
        except FileExistsError:
            return Exists(step.moved_to)
        except FileNotFoundError:
            return Conflict(step.path, "the note is gone")
        self._after("moved")
        if hash_of(goal) != step.before:
            retry_call(lambda: rename_new(goal, place), self._sleep)
            return Conflict(step.path, CHANGED)
        sync_folder(goal.parent)
        sync_folder(place.parent)
        return None

    def tidy(self, change_id: str, number: int, step: Step) -> None:
        """After a crash: remove the step's temp file so that no byte is lost and the file is wholly old or new."""
        place = locate(self._root, step.path)
        if isinstance(place, Refused):
            return  # another program put a link or a folder there: not ours to follow
        if step.moved_to is not None:
            self._tidy_move(place, self._root.joinpath(*step.moved_to.parts))
            return
        temp = place.with_name(step.temp)
        backup = temp.with_name(temp.name + BACKUP_SUFFIX)
        if os.path.lexists(backup):  # Windows, between its two renames
            rename_new(backup, temp if os.path.lexists(place) else place)
        text = read_plain(temp)
        if text is None:
            return
        found, current = content_hash(text), hash_of(place)
        if step.after == ABSENT and current == ABSENT and found != step.before:
            rename_new(temp, place)  # set aside, but not the text that was to be removed
        elif found in (step.before, step.after):
            temp.unlink()
        elif step.before != ABSENT and step.after != ABSENT and current == step.after:
            self.put_back(change_id, number, step, temp, place)  # displaced, never compared
        else:
            self._keep(change_id, number, text)  # most likely our own half-written temp file
            temp.unlink()
        self._after("tidied")
        sync_folder(place.parent)

    def _tidy_move(self, place: Path, goal: Path) -> None:
        """A move by hard link (see `rename_new`) that stopped half-way leaves one file under both names."""
        if not os.path.lexists(goal) or not _is_same_file(place, goal):
            return
        # One entry that answers to both spellings is no second link.
        if _is_listed(place) and _is_listed(goal):
            goal.unlink()
            sync_folder(goal.parent)

    def is_done(self, step: Step) -> bool | None:
        """Whether the file is as the step leaves it (True), as it found it (False), or neither (None)."""
        place = locate(self._root, step.path)
        if isinstance(place, Refused):
            return None
        current = hash_of(place)
        if step.moved_to is None:
            return True if current == step.after else False if current == step.before else None
        goal = locate(self._root, step.moved_to)
        if isinstance(goal, Refused):
            return None
        there = hash_of(goal)
        if current == there == step.after and _is_same_file(place, goal):  # a disk that ignores case
            return _is_listed(goal)
        if current == ABSENT and there == step.after:
            return True
        return False if current == step.before else None


@contextmanager
def _removed_on_error(temp: Path) -> Iterator[None]:
    """Until the exchange the temp file is certainly ours; after it, only `tidy` knows what it holds."""
    try:
        yield
    except BaseException:
        with suppress(OSError):
            temp.unlink(missing_ok=True)
        raise


def _is_same_file(first: Path, second: Path) -> bool:
    try:
        return first.samefile(second)
    except OSError:
        return False


def _is_listed(place: Path) -> bool:
    """Whether the folder holds exactly this spelling, on a disk that ignores case too."""
    return any(entry.name == place.name for entry in place.parent.iterdir())
