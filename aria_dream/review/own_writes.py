"""What of a note's changes was our own doing: a change that was approved is not made stale by another one that was
approved beside it. Pure.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from aria_dream.vault.edit import ABSENT, content_hash

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from aria_dream.markdown.note import NotePath


@dataclass(frozen=True, slots=True)
class OwnWrites:
    """The contents that applied changes of ours turned into others, by path. `own_writes` makes it."""

    made: Mapping[str, frozenset[tuple[str, str]]]
    """Vault path to content hashes before and after each change."""

    def leads(self, path: str, before: str, now: str) -> bool:
        """Whether `path` reads `now` instead of `before` by our changes alone."""
        reached, more = {before}, True
        while more and now not in reached:
            found = {after for was, after in self.made.get(path, ()) if was in reached} - reached
            reached |= found
            more = bool(found)
        return now in reached

    def wrote(self, path: str, now: str) -> bool:
        """Whether what `path` reads now is what a change of ours left."""
        return any(after == now for _, after in self.made.get(path, ()))


NONE = OwnWrites({})


def own_writes(files: Iterable[tuple[NotePath, bytes | None, bytes | None, NotePath | None]]) -> OwnWrites:
    """Of the files of applied changes: path, whole content before and after (None: no file), and where it moved to."""
    made: dict[str, set[tuple[str, str]]] = {}
    for path, was, became, moved_to in files:
        before, after = (ABSENT if data is None else content_hash(data) for data in (was, became))
        made.setdefault(str(path), set()).add((before, after if moved_to is None else ABSENT))
        if moved_to is not None:
            made.setdefault(str(moved_to), set()).add((ABSENT, after))
    return OwnWrites({path: frozenset(pairs) for path, pairs in made.items()})
