"""What takes an applied change back: exactly, or around what the writer has changed since, or not at all, and why.

Notes are followed by what they say, links by the note that they mean. What still stands as it was written is taken
back; of what was changed since, nothing is, and it is told. A link is put back whole, and means what it meant.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from aria_dream.errors import Problem
from aria_dream.markdown.note import NotePath
from aria_dream.review.following import links_of
from aria_dream.review.rewriting import Meaning, apply_edits, retarget_canvas, retarget_note
from aria_dream.review.safety import TRASH
from aria_dream.review.undo_text import is_unchanged, undo_in_text
from aria_dream.vault.edit import (
    ABSENT,
    ChangeSet,
    Edit,
    Move,
    WritePlan,
    content_hash,
    decode_note,
    encode_note,
    plan_edit,
)
from aria_dream.vault.identity import Names, is_alike, print_of
from aria_dream.vault.names import colliding_path
from aria_dream.vault.resolve import Resolver

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from aria_dream.review.tokens import Means
    from aria_dream.vault.identity import Print


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
    left: tuple[Problem, ...]
    """Places that were not taken back, and what stands there. Empty where everything was."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Impossible:
    """Nothing is changed."""

    by_hand: tuple[Problem, ...]
    """What stands in the way, and what to do."""


def known_files(files: Sequence[PastFile], names: Names, files_now: Collection[str]) -> dict[str, Print]:
    """What is to be followed before the change can be taken back: the notes that it wrote, and those that its links
    meant, by the paths that they had. What it took away is not, unless it is there again."""
    gone = {str(file.path) for file in files if file.moved_to is not None or file.after is None}
    written = {str(file.path): print_of(decode_note(file.after)) for file in files if file.after is not None}
    known = {**names.known, **written}
    return {path: said for path, said in known.items() if path not in gone or path in files_now}


def plan_rollback(
    files: Sequence[PastFile],
    contents: Mapping[NotePath, bytes],
    *,
    place: Mapping[str, str] | None = None,
    names: Names | None = None,
    files_now: Collection[str] | None = None,
) -> Restored | Partly | Impossible:
    """What takes the change back whose files are `files`, in the order in which it was made.

    `contents`: what the places of these files hold now (old and new paths, and `moved_to`), those that are not there
    left out; and the notes with a link that could mean a file that comes back. `place`: where each of `known_files`
    lies now, as `following.follow` tells. `names`: of the change. `files_now`: all files of the vault.
    """
    if files_now is None:
        files_now = {str(path) for path in contents if path.parts[0] != TRASH}
    if place is None:
        place = {path: path for path in known_files(files, names or Names(), files_now) if path in files_now}
    back = _Back(files, contents, place, names or Names(), files_now)
    back.run()
    if back.blocked:
        return Impossible(by_hand=tuple(back.blocked))
    changes = ChangeSet(writes=tuple(back.writes), moves=tuple(back.moves))
    if not back.left and not back.around:
        return Restored(changes=changes)
    if not changes.writes and not changes.moves and back.left:
        return Impossible(by_hand=tuple(back.left))
    return Partly(changes=changes, left=tuple(back.left))


def without_change(image: bytes, file: PastFile) -> bytes | None:
    """What a later image of the file would read had its change not been made; None where that cannot be told."""
    texts = (decode_note(one or b"") for one in (file.before, file.after, image))
    edits, left = undo_in_text(*texts, is_canvas=file.path.suffix.lower() == ".canvas")
    plan = plan_edit(file.path, image, edits)
    return None if left or not isinstance(plan, WritePlan) else plan.content


class _Back:
    def __init__(
        self,
        files: Sequence[PastFile],
        contents: Mapping[NotePath, bytes],
        place: Mapping[str, str],
        names: Names,
        files_now: Collection[str],
    ) -> None:
        self._files, self._contents, self._place, self._names = files, contents, place, names
        self._files_now = files_now
        moved = {str(file.path) for file in files if file.moved_to is not None}
        came = {str(file.path) for file in files if file.before is None}
        went = moved | {str(file.path) for file in files if file.after is None}
        before = ({str(file.path) for file in files} - came) | names.known.keys()
        self._known = before | came
        self._after = Resolver((self._known - went) | came)
        self._now = Resolver(files_now)
        self._was = {now: path for path, now in place.items()}
        self._unmade = {place[path] for path in came if path in place and self._is_as_made(path)}
        self._back = Resolver((set(files_now) - self._unmade) | went)
        renamed = {path: now for path, now in place.items() if path != now}
        self._meaning = Meaning(before=Resolver(before), after=self._back, moved=renamed)
        self._edited: dict[str, list[Edit]] = {}
        self.writes: list[WritePlan] = []
        self.moves: list[Move] = []
        self.left: list[Problem] = []
        self.blocked: list[Problem] = []
        self.around = False
        """Whether a note that was changed since is part of it."""

    def run(self) -> None:
        moved = {file.path for file in self._files if file.moved_to is not None}
        written = {file.path: file.before for file in self._files if file.moved_to is None}
        for file in reversed(self._files):
            if file.moved_to is not None:
                self._undo_move(file.path, file.moved_to, written.get(file.path, file.before), file.after)
            elif file.path not in moved:
                self._undo_write(file.path, file.before, file.after)
        self._look_for_captures()

    def _image(self, path: str, *, after: bool) -> str:
        image = next(file.after if after else file.before for file in self._files if str(file.path) == path)
        return decode_note(image or b"")

    def _is_as_made(self, path: str) -> bool:
        now = self._contents.get(NotePath(self._place[path]))
        meant, means = self._meanings(path, self._place[path])
        return now is not None and is_unchanged(self._image(path, after=True), decode_note(now), meant, means)

    def _meanings(self, path: str, place: str) -> tuple[Means, Means]:
        """What a link meant in the note as it was written, and what one means in it now: by the names of that time."""

        def meant(link: str, _raw: str) -> str:
            target = self._after.resolve(link, path)
            return target if target in self._known else ""

        def means(link: str, raw: str) -> str:
            target = self._now.resolve(link, place)
            if target in self._was:
                return self._was[target]
            was = meant(link, raw)
            return was if target is None or was not in self._place else ""

        return meant, means

    def _undo_move(self, path: NotePath, moved_to: NotePath, before: bytes | None, after: bytes | None) -> None:
        there, here = self._contents.get(moved_to), self._contents.get(path)
        if here is not None and (here == before or (there is None and _is_alike(before, here))):
            return  # brought back by hand
        other = path if here is not None else colliding_path(path, map(NotePath, self._files_now))
        if other is not None:
            self._block(f"{other} is in the way of the note that comes back as {path}; rename it, and roll back again")
        elif before is None:
            self._block(f"the content of {path} is not known any more")
        elif there is None:  # the trash was emptied: what the note held is kept with the change
            self.writes.append(WritePlan(path=path, expected_hash=ABSENT, content=self._renew(path, before)))
        else:
            content = self._renew(path, before) if there == after else self._around(path, path, before, after, there)
            if content != there:
                self.writes.append(WritePlan(path=moved_to, expected_hash=content_hash(there), content=content))
            self.moves.append(Move(source=moved_to, destination=path, expected_hash=content_hash(content)))

    def _undo_write(self, path: NotePath, before: bytes | None, after: bytes | None) -> None:
        place = self._place.get(str(path), "")
        now = self._contents.get(NotePath(place)) if place else None
        if after is None:
            self._bring_back(path, before)
        elif before is None:
            self._unmake(place, now)
        elif now is None:
            said = "is not found any more: it was deleted, or renamed and written anew; nothing was taken back in it"
            self.left.append(Problem(str(path), 0, said))
        elif now != before:
            content = self._around(path, NotePath(place), before, after, now)
            if content != now:
                self.writes.append(WritePlan(path=NotePath(place), expected_hash=content_hash(now), content=content))

    def _bring_back(self, path: NotePath, before: bytes | None) -> None:
        here = self._contents.get(path)
        if here is not None and here != before:
            self._block(f"another note is called {path} now; rename it, and roll back again")
        elif here is None and before is not None:
            self.writes.append(WritePlan(path=path, expected_hash=ABSENT, content=self._renew(path, before)))

    def _unmake(self, place: str, now: bytes | None) -> None:
        if now is None:
            return
        if place not in self._unmade:
            said = "was made by this change and edited since; delete it if you do not want it"
            self.left.append(Problem(place, 0, said))
        else:
            self.writes.append(WritePlan(path=NotePath(place), expected_hash=content_hash(now), content=None))

    def _retarget(self, path: NotePath, place: NotePath, before: bytes) -> list[Edit]:
        """The edits of what a note held that make its links mean what they meant."""
        text = decode_note(before)
        if path.suffix.lower() == ".canvas":
            return retarget_canvas(text, str(path), self._meaning)[0]
        return retarget_note(text, str(path), self._meaning, source_after=str(place))[0]

    def _renew(self, path: NotePath, before: bytes) -> bytes:
        edits = self._retarget(path, path, before)
        return encode_note(apply_edits(decode_note(before), edits)) if edits else before

    def _around(self, path: NotePath, place: NotePath, before: bytes, after: bytes | None, now: bytes) -> bytes:
        """What the note reads once its part of the change is taken back."""
        restored = self._retarget(path, place, before)
        if now == after and not restored:
            self._edited[str(place)] = [Edit(0, len(decode_note(now)), "")]
            return before
        self.around = self.around or now != after
        meant, means = self._meanings(str(path), str(place))
        edits, left = undo_in_text(
            decode_note(before), decode_note(after or b""), decode_note(now), restored=restored, meant=meant,
            means=means, is_canvas=path.suffix.lower() == ".canvas",
        )  # fmt: skip
        self._edited[str(place)] = edits
        self.left += [Problem(str(place), one.line, one.said) for one in left]
        plan = plan_edit(place, now, edits)
        assert isinstance(plan, WritePlan)  # places of one reading do not overlap
        return plan.content or b""

    def _look_for_captures(self) -> None:
        """A link that leads somewhere must not come to lead to what comes back."""
        for path, content in sorted(self._contents.items()):
            source = str(path)
            if source not in self._files_now or path.suffix.lower() != ".md":
                continue
            edits = self._edited.get(source, ())
            for link in links_of(path, content):
                if any(edit.start < link.end and link.start < edit.end for edit in edits):
                    continue
                target, then = self._now.resolve(link.path, source), self._back.resolve(link.path, source)
                led_there = self._names.had(target or "") and self._meaning.before.resolve(link.path, source) == then
                if target is not None and then not in (None, target) and not led_there:
                    line = decode_note(content).count("\n", 0, link.start) + 1
                    said = f"{link.raw or link.path} leads to {target}, and would lead to {then}, which comes back"
                    self.blocked.append(Problem(source, line, f"{said}; write the folder into that link first"))

    def _block(self, said: str) -> None:
        self.blocked.append(Problem("", 0, said))


def _is_alike(before: bytes | None, here: bytes) -> bool:
    return before is not None and is_alike(print_of(decode_note(before)), decode_note(here))
