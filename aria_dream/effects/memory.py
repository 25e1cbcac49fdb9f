"""A vault in memory: what `DiskVault` promises, without a disk. For dry runs and for tests of whatever writes."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

from aria_dream.vault.edit import ABSENT, ChangeSet, ContentHash, Exists, changes_refusal, content_hash
from aria_dream.vault.names import colliding_path, path_refusal
from aria_dream.world import Absent, Conflict, Content, PastChange, PastWrite, Refused, Settled, Written

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from aria_dream.vault.note import NotePath


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
        self, changes: ChangeSet, *, label: str = "", quiet_s: float = 0.0
    ) -> Written | Conflict | Exists | Refused:
        """What became of `changes`: all of them happened, or none."""
        refusal = changes_refusal(changes)
        if refusal:
            return Refused(refusal[0], refusal[1])
        files = dict(self.files)
        past: list[PastWrite] = []
        for plan in changes.writes:
            if plan.expected_hash == (ABSENT if plan.content is None else content_hash(plan.content)):
                continue
            hindrance = self._hindrance(files, plan.path, plan.expected_hash, quiet_s)
            if hindrance is not None:
                return hindrance
            past.append(PastWrite(path=plan.path, before=files.get(plan.path), after=plan.content))
            if plan.content is None:
                del files[plan.path]
            else:
                files[plan.path] = plan.content
        for move in changes.moves:
            hindrance = self._hindrance(files, move.source, move.expected_hash, quiet_s) or self._new_place(
                {path: data for path, data in files.items() if path != move.source}, move.destination
            )
            if hindrance is not None:
                return hindrance
            data = files.pop(move.source)
            files[move.destination] = data
            past.append(PastWrite(path=move.source, before=data, after=data, moved_to=move.destination))
        if not past:
            return Written("")
        self.files = files
        return self._remember(tuple(past), label)

    def _remember(self, past: tuple[PastWrite, ...], label: str) -> Written:
        self._count += 1
        change_id = f"change-{self._count:06}"
        at = self._now()
        self._past.append(PastChange(change_id=change_id, label=label, at=at, files=past))
        self._touched_at.update({write.moved_to or write.path: at for write in past})
        return Written(change_id)

    def _hindrance(
        self, files: Mapping[NotePath, bytes], path: NotePath, expected: ContentHash, quiet_s: float
    ) -> Conflict | Exists | Refused | None:
        if _is_outside(path):
            return Refused(path, "the path leaves the vault")
        touched_at = self._touched_at.get(path)
        if quiet_s > 0 and touched_at is not None and self._now() - touched_at < timedelta(seconds=quiet_s):
            return Conflict(path, "the note was touched just now; somebody may be typing")
        if expected == ABSENT:
            return self._new_place(files, path)
        if path not in files:
            return Conflict(path, "the note is gone")
        if path in self._read_only:
            return Refused(path, "the note is read-only")
        return None if content_hash(files[path]) == expected else Conflict(path, "the note changed meanwhile")

    def _new_place(self, files: Mapping[NotePath, bytes], path: NotePath) -> Exists | Refused | None:
        refusal = path_refusal(path, trash=True)
        if refusal:
            return Refused(path, refusal)
        other = colliding_path(path, files)
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
