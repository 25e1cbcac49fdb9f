"""A vault in memory: what `DiskVault` promises, without a disk. For dry runs and for tests of whatever writes."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

from aria_dream.vault.edit import ABSENT, ChangeSet, ContentHash, Exists, changes_refusal, content_hash
from aria_dream.vault.identity import Names
from aria_dream.vault.names import colliding_path, path_refusal
from aria_dream.world import Absent, Conflict, Content, PastChange, PastWrite, Refused, Settled, Written

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from aria_dream.markdown.note import NotePath


def _now() -> datetime:
    return datetime.now(UTC).astimezone()


class MemoryVault:
    """Files by path. Nothing in it fails but by plan; `read_only` are files that may not be changed."""

    def __init__(
        self,
        files: Mapping[NotePath, bytes],
        *,
        read_only: frozenset[NotePath] = frozenset(),
        now: Callable[[], datetime] = _now,
    ) -> None:
        self.files = dict(files)
        self._read_only = read_only
        self._now = now
        self._touched_at: dict[NotePath, datetime] = {}
        self._past: list[PastChange] = []
        self._count = 0

    def read(self, path: NotePath) -> Content | Absent | Refused:
        """The file's bytes and their hash."""
        if _is_outside(path):
            return Refused(path, "the path leaves the vault")
        data = self.files.get(path)
        return Absent(path) if data is None else Content(data, content_hash(data))

    def write(
        self, changes: ChangeSet, *, label: str = "", quiet_s: float = 0.0, names: Names | None = None
    ) -> Written | Conflict | Exists | Refused:
        """What became of `changes`: all of them happened, or none."""
        refusal = changes_refusal(changes)
        if refusal:
            return Refused(refusal[0], refusal[1])
        past = [
            PastWrite(path=plan.path, before=self.files.get(plan.path), after=plan.content)
            for plan in changes.writes
            if plan.expected_hash != (ABSENT if plan.content is None else content_hash(plan.content))
        ]
        expected = {plan.path: plan.expected_hash for plan in changes.writes}
        written = {write.path: write.after for write in past}
        for write in past:
            hindrance = self._hindrance(write.path, expected[write.path], quiet_s)
            if hindrance is not None:
                return hindrance
        for move in changes.moves:
            is_written_too = written.get(move.source) is not None
            hindrance = None if is_written_too else self._hindrance(move.source, move.expected_hash, quiet_s)
            hindrance = hindrance or self._new_place(move.destination, moved_from=move.source)
            if hindrance is not None:
                return hindrance
            data = written.get(move.source, self.files.get(move.source))
            past.append(PastWrite(path=move.source, before=data, after=data, moved_to=move.destination))
        if not past:
            return Written("")
        self._apply(past)
        return self._remember(tuple(past), label, names or Names())

    def _apply(self, past: list[PastWrite]) -> None:
        for write in past:
            self.files.pop(write.path, None)
            if write.after is not None:
                self.files[write.moved_to or write.path] = write.after

    def _remember(self, past: tuple[PastWrite, ...], label: str, names: Names) -> Written:
        self._count += 1
        change_id = f"change-{self._count:06}"
        at = self._now()
        self._past.append(PastChange(change_id=change_id, label=label, at=at, files=past, names=names))
        self._touched_at.update({write.moved_to or write.path: at for write in past})
        return Written(change_id)

    def _hindrance(self, path: NotePath, expected: ContentHash, quiet_s: float) -> Conflict | Exists | Refused | None:
        if _is_outside(path):
            return Refused(path, "the path leaves the vault")
        touched_at = self._touched_at.get(path)
        if quiet_s > 0 and touched_at is not None and self._now() - touched_at < timedelta(seconds=quiet_s):
            return Conflict(path, "the note was touched just now; somebody may be typing")
        if expected == ABSENT:
            return self._new_place(path)
        if any(folder in self.files for folder in path.parents):
            return Refused(path, "a folder of the path is a file")
        if any(path in other.parents for other in self.files):
            return Refused(path, "it is no ordinary file")
        if path not in self.files:
            return Conflict(path, "the note is gone")
        if path in self._read_only:
            return Refused(path, "the note is read-only")
        return None if content_hash(self.files[path]) == expected else Conflict(path, "the note changed meanwhile")

    def _new_place(self, path: NotePath, moved_from: NotePath | None = None) -> Exists | Refused | None:
        """What is in the way of a new file; a note is not in the way of another spelling of its own name.

        A folder is in the way even if the same change takes its last note: it outlives that note.
        """
        refusal = path_refusal(path, trash=True)
        if refusal is None and any(folder in self.files for folder in path.parents):
            refusal = "a folder of the path is a file"
        if refusal:
            return Refused(path, refusal)
        itself = {moved_from} if moved_from is not None and moved_from.parent == path.parent else set()
        other = colliding_path(path, self.files.keys() - itself)
        return None if other is None else Exists(other)

    def recover(self) -> tuple[Settled, ...]:
        """Nothing: memory does not crash half-way."""
        return ()

    def past_changes(self) -> tuple[PastChange, ...]:
        """The applied changes whose images are kept, oldest first."""
        return tuple(self._past)

    def purge(self, now: datetime, window_h: float) -> int:
        """How many changes older than `window_h` hours were forgotten."""
        kept = [past for past in self._past if past.at + timedelta(hours=window_h) > now]
        removed = len(self._past) - len(kept)
        self._past = kept
        return removed


def _is_outside(path: NotePath) -> bool:
    folders = path.parts[1:-1] if path.parts[:1] == (".trash",) else path.parts[:-1]
    return path.is_absolute() or not path.parts or ".." in path.parts or any(part.startswith(".") for part in folders)
