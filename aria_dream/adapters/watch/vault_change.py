"""What happened to a vault between two indexes, told by content: who touches a file without changing it did nothing."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeVar

from aria_dream.adapters.index.contents import UNREAD
from aria_dream.vault.snapshot import difference, folded_path

if TYPE_CHECKING:
    from collections.abc import Iterable

    from aria_dream.adapters.disk.own_writes import OwnWrites
    from aria_dream.adapters.index.index import VaultIndex

_Key = TypeVar("_Key")


@dataclass(frozen=True, slots=True, kw_only=True)
class VaultChange:
    """A vault that is not what it was. Each path is named in one field only; all sorted."""

    index: VaultIndex
    """The vault as it is now."""
    created: tuple[str, ...]
    edited: tuple[str, ...]
    """Another content: for notes and canvases by hash, for other files by size and times."""
    removed: tuple[str, ...]
    renamed: tuple[tuple[str, str], ...]
    """`(old, new)`: the same note under another name, folder or spelling. Its content may differ where only the
    spelling does."""
    evicted: tuple[str, ...]
    """Moved off this device by a cloud drive; the content is what it was."""
    ours: frozenset[str]
    """Those of the paths (of a rename, the new one) that are as one of our own processes left them."""
    settings_changed: bool
    """Obsidian's settings for this vault, as far as we read them, are others than before."""

    @property
    def foreign(self) -> tuple[str, ...]:
        """Paths that somebody else created, edited, removed or renamed, sorted."""
        named = {*self.created, *self.edited, *self.removed, *(new for _, new in self.renamed)}
        return tuple(sorted(named - self.ours))

    @property
    def own(self) -> tuple[str, ...]:
        """Paths that we changed ourselves, sorted."""
        return tuple(sorted(self.ours))

    def __bool__(self) -> bool:
        """Whether anything happened that matters to a dream."""
        named = self.created or self.edited or self.removed or self.renamed or self.evicted
        return bool(named) or self.settings_changed


def compare_indexes(
    before: VaultIndex, after: VaultIndex, own: OwnWrites, reread: Iterable[str] = ()
) -> VaultChange:
    """What turned `before` into `after`; `reread` are files whose content may differ though their state does not.

    A note that was removed and came back in one look under a name that differs in case or Unicode form only, or under
    another name with the same content as no other, is the same note (a sync client moves so).
    """
    change = difference(before.scan.snapshot, after.scan.snapshot)
    added, removed = set(change.added), set(change.removed)
    renamed = [*change.renamed, *_moved_by_copy(before, after, removed, added)]
    added -= {new for _, new in renamed}
    removed -= {old for old, _ in renamed}
    edited = {path for path in (*change.changed, *reread) if _digest(before, path) != _digest(after, path)}
    edited |= {path for path in change.changed if _digest(after, path) is None}
    own.update()
    ours = {path for path in (*added, *edited, *(new for _, new in renamed)) if _is_ours(after, path, own)}
    ours |= {path for path in removed if own.removed(path)}
    return VaultChange(
        index=after,
        created=tuple(sorted(added)),
        edited=tuple(sorted(edited)),
        removed=tuple(sorted(removed)),
        renamed=tuple(sorted(renamed)),
        evicted=change.evicted,
        ours=frozenset(ours),
        settings_changed=before.obsidian != after.obsidian,
    )


def _digest(index: VaultIndex, path: str) -> bytes | None:
    """The hash of a note's or canvas's content; None for other files and for what could not be read."""
    source = index.linkage.source_of(path)
    if source is None or index.contents[source] is UNREAD:
        return None
    return index.contents[source].digest


def _is_ours(index: VaultIndex, path: str, own: OwnWrites) -> bool:
    digest = _digest(index, path)
    return digest is not None and own.holds(path, digest)


def _moved_by_copy(
    before: VaultIndex, after: VaultIndex, removed: set[str], added: set[str]
) -> list[tuple[str, str]]:
    """`(old, new)` of notes that were copied and removed rather than renamed."""
    if not removed or not added:
        return []
    by_name = _only_ones((folded_path(path), path) for path in removed)
    by_content = _only_ones((digest, path) for path in removed if (digest := _digest(before, path)))
    new_contents = _only_ones((digest, path) for path in added if (digest := _digest(after, path)))
    pairs: dict[str, str] = {}
    for new in sorted(added):
        digest = _digest(after, new)
        old = by_name.get(folded_path(new))
        if old is None and digest and new_contents.get(digest) == new and after.scan.snapshot.files[new].size_bytes:
            old = by_content.get(digest)
        if old is not None and old not in pairs:
            pairs[old] = new
    return list(pairs.items())


def _only_ones(pairs: Iterable[tuple[_Key, str]]) -> dict[_Key, str]:
    """Each key that stands for one path only."""
    found: dict[_Key, str | None] = {}
    for key, path in pairs:
        found[key] = None if key in found else path
    return {key: path for key, path in found.items() if path is not None}
