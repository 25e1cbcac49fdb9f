"""New names of notes that our own changes wrote or linked to: their content is not what any proposal knew."""

from __future__ import annotations

from typing import TYPE_CHECKING

from aria_dream.markdown.note import NotePath
from aria_dream.review.following import follow
from aria_dream.review.proposal import Renamed
from aria_dream.review.rollback import known_files
from aria_dream.vault.edit import decode_note
from aria_dream.world import Content

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable
    from datetime import datetime

    from aria_dream.world import VaultFiles


def renames_by_history(
    files: VaultFiles, gone: Collection[str], names_now: Iterable[str], now: datetime
) -> tuple[Renamed, ...]:
    """New names of notes that are `gone` and that a change of ours wrote or linked to: they are known by what they say
    but for the targets of their links, which a rename carries along."""
    if not gone:
        return ()
    there = frozenset(names_now)

    def read(paths: Iterable[str]) -> dict[str, str]:
        found = {path: files.read(NotePath(path)) for path in paths}
        return {path: decode_note(one.data) for path, one in found.items() if isinstance(one, Content)}

    renames: dict[str, Renamed] = {}
    for change in reversed(files.past_changes()):
        known = known_files(change.files, change.names, there)
        known = {path: said for path, said in known.items() if path in gone and path not in renames}
        for path, goal in follow(known, change.names, there, read).items() if known else ():
            renames[path] = Renamed(from_=path, to=goal, content_hash="", at=now)
    return tuple(renames.values())
