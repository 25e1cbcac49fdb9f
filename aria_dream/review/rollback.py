"""What takes an applied change back: exactly, or around what the writer has typed since, or not at all, and why.

The change, and the writer's own edits since, are two sets of edits of the same text: what the change left. Those of the
change that no edit of the writer's touches are taken back; of one that is touched, nothing is, and it is told.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Protocol

from aria_dream.review.difference import word_edits
from aria_dream.review.rewriting import apply_edits
from aria_dream.vault.edit import ABSENT, ChangeSet, Edit, Move, WritePlan, content_hash, decode_note, encode_note

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from aria_dream.vault.note import NotePath

_HEADING = re.compile(r"^ {0,3}#{1,6}[ \t][^\r\n]*(?:\r?\n)*", re.MULTILINE)


class PastFile(Protocol):
    """One file of a past change with its whole content before and after (`world.PastWrite`)."""

    @property
    def path(self) -> NotePath: ...
    @property
    def before(self) -> bytes | None: ...
    @property
    def after(self) -> bytes | None: ...
    @property
    def moved_to(self) -> NotePath | None: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Restored:
    """Every file gets back what it held."""

    changes: ChangeSet


@dataclass(frozen=True, slots=True, kw_only=True)
class Partly:
    """Notes were edited since: what was put in is taken out, their other text stays."""

    changes: ChangeSet
    left: tuple[str, ...]
    """Sentences: what could not be taken out, and what to do by hand. Empty where everything could."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Impossible:
    """Nothing is changed."""

    by_hand: tuple[str, ...]
    """Sentences: what stands in the way, and what to do."""


def plan_rollback(
    files: Sequence[PastFile],
    contents: Mapping[NotePath, bytes],
    *,
    renamed: Mapping[NotePath, NotePath] | None = None,
) -> Restored | Partly | Impossible:
    """What takes the change back whose files are `files`, in the order in which it was made.

    `contents`: what each of these places holds now (`path` and `moved_to`), those that are not there left out.
    `renamed`: the new names of notes that the writer has renamed since.
    """
    back = _Back(contents, renamed or {})
    moved = {file.path for file in files if file.moved_to is not None}
    written = {file.path: file.before for file in files if file.moved_to is None}
    for file in reversed(files):
        if file.moved_to is not None:
            back.undo_move(file.path, file.moved_to, written.get(file.path, file.before), file.after)
        elif file.path not in moved:
            back.undo_write(file.path, file.before, file.after)
    if back.blocked:
        return Impossible(by_hand=tuple(back.blocked))
    changes = ChangeSet(writes=tuple(back.writes), moves=tuple(back.moves))
    if not back.left and not back.around:
        return Restored(changes=changes)
    if not changes.writes and not changes.moves and back.left:
        return Impossible(by_hand=tuple(back.left))
    return Partly(changes=changes, left=tuple(back.left))


class _Back:
    def __init__(self, contents: Mapping[NotePath, bytes], renamed: Mapping[NotePath, NotePath]) -> None:
        self._contents = contents
        self._renamed = renamed
        self.writes: list[WritePlan] = []
        self.moves: list[Move] = []
        self.left: list[str] = []
        self.blocked: list[str] = []
        self.around = False
        """Whether a note that was edited since is part of it."""

    def undo_move(self, path: NotePath, moved_to: NotePath, before: bytes | None, after: bytes | None) -> None:
        place = self._renamed.get(moved_to, moved_to)
        there, here = self._contents.get(place), self._contents.get(path)
        if here is not None and here == before:
            return  # brought back by hand
        if here is not None:
            self.blocked.append(f"another note is called {path} now; rename it, and roll back again")
        elif there is None and before is not None:  # the trash was emptied: what the note held is kept with the change
            self.writes.append(WritePlan(path=path, expected_hash=ABSENT, content=before))
        elif there is None:
            self.blocked.append(f"the content of {path} is not known any more")
        else:
            self.undo_write(place, before, after, moves_too=True)
            written = next((plan.content for plan in self.writes if plan.path == place), there)
            self.moves.append(Move(source=place, destination=path, expected_hash=content_hash(written or b"")))

    def undo_write(
        self, path: NotePath, before: bytes | None, after: bytes | None, *, moves_too: bool = False
    ) -> None:
        place = path if moves_too else self._renamed.get(path, path)
        now = self._contents.get(place)
        if now == before:
            return
        if now == after:
            expected = ABSENT if after is None else content_hash(after)
            self.writes.append(WritePlan(path=place, expected_hash=expected, content=before))
        elif now is None:
            self.left.append(f"{place} is not in the vault any more, so there is nothing to take out of it")
        elif after is None:
            self.blocked.append(f"another note is called {place} now; rename it, and roll back again")
        elif before is None:
            self.left.append(f"{place} was made by this change and edited since; delete it if you do not want it")
        else:
            self._undo_around(place, before, after, now)

    def _undo_around(self, place: NotePath, before: bytes, after: bytes, now: bytes) -> None:
        text, left = undo_in_text(decode_note(before), decode_note(after), decode_note(now))
        self.around = True
        self.left += [f"{place}: {said}" for said in left]
        content = encode_note(text)
        if content != now:
            self.writes.append(WritePlan(path=place, expected_hash=content_hash(now), content=content))


def undo_in_text(before: str, after: str, now: str) -> tuple[str, list[str]]:
    """`(text, sentences)`: `now` without what made `after` of `before`, and what could not be taken out of it.

    Where `now` is `after` the text is `before`, exactly.
    """
    typed = [edit for group in word_edits(after, now) for edit in group]
    edits: list[Edit] = list(typed)
    left: list[str] = []
    for group in word_edits(after, before):
        free: list[Edit] = []
        for edit in group:
            kept = _around(edit, after, typed)
            if kept is None:
                said = " ".join(after[group[0].start : group[-1].end].split()) or group[0].new.strip()
                left.append(f"“{said[:80]}” was edited since; take it out by hand")
                break
            free += kept
        else:
            edits += free
    return apply_edits(after, edits), left


def _around(edit: Edit, after: str, typed: Iterable[Edit]) -> list[Edit] | None:
    """The edit as it can still be made beside those that were `typed`; None where they are in its way."""
    stops: list[int] = []
    for other in typed:
        if other == edit:
            return []  # done by hand
        if other.start == other.end:
            if edit.start < other.start <= edit.end or edit.start == edit.end == other.start:
                stops.append(other.start)
        elif edit.start < other.end and other.start < edit.end:
            gone = other.start <= edit.start and edit.end <= other.end and not edit.new
            if not gone or after[edit.start : edit.end].strip() in other.new:
                return None
            return []  # the writer has deleted what it stood in
        elif edit.start == edit.end and other.start < edit.start < other.end:
            return None
    inside = [stop for stop in stops if stop < edit.end or edit.start == edit.end]
    if any(edit.new or after[stop - 1 : stop] != "\n" for stop in inside):
        return None  # typed into the middle of it
    if not stops or "\n" not in after[edit.start : edit.end].rstrip("\r\n"):
        return [edit]
    # A list that the writer has gone on with keeps its heading.
    heading = None
    for found in _HEADING.finditer(after, edit.start, edit.end):
        heading = found if found.end() <= min(stops) else heading
    start = heading.end() if heading else edit.start
    bounds = [start, *(stop for stop in inside if stop > start), edit.end]
    return [Edit(one, other, "") for one, other in pairwise(bounds) if one < other]
