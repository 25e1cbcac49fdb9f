"""What of a note's changes was our own doing: a change that was approved is not made stale by another one that was
approved beside it. Pure.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from aria_dream.vault.edit import ABSENT, content_hash

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from aria_dream.world import PastChange


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


def own_writes(past: Iterable[PastChange]) -> OwnWrites:
    """Of the applied changes whose images are kept."""
    made: dict[str, set[tuple[str, str]]] = {}
    for change in past:
        for file in change.files:
            before, after = (ABSENT if data is None else content_hash(data) for data in (file.before, file.after))
            if file.moved_to is None:
                made.setdefault(str(file.path), set()).add((before, after))
            else:
                made.setdefault(str(file.path), set()).add((before, ABSENT))
                made.setdefault(str(file.moved_to), set()).add((ABSENT, after))
    return OwnWrites({path: frozenset(pairs) for path, pairs in made.items()})
