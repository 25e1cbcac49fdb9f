"""Which files of a vault are copies that a sync made, and of which: by name, and where a name is not enough by text."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

from aria_dream.adapters.index.contents import UNREAD, Content
from aria_dream.adapters.index.scan import Scan, file_path
from aria_dream.markdown.note_text import decode_note
from aria_dream.vault.linkage import kind_of
from aria_dream.vault.sync_conflict import is_near_copy, originals_of_copy

if TYPE_CHECKING:
    from collections.abc import Sequence

    from aria_dream.vault.linkage import Linkage


def find_copies(scan: Scan, linkage: Linkage, contents: Sequence[Content]) -> dict[str, str]:
    """Each copy and its original. By a name that a writer may choose as well only where both say the same or nearly so.

    `contents` are those of the linkage's sources. Two texts are read once for each two contents.
    """
    found = scan.copies
    files = scan.snapshot.files
    for source, content in enumerate(contents):
        path = linkage.path_of(source)
        if path in found or content == UNREAD or not files[path].size_bytes:
            continue  # an empty `Untitled 2` is no copy of an empty `Untitled`
        for original in originals_of_copy(path, weak=True):
            other = linkage.source_of(original)
            if other is None or original in found:
                continue
            if _are_near(scan, path, content.digest, original, contents[other].digest):
                found[path] = original
                break
    return found


def _are_near(scan: Scan, path: str, digest: bytes, original: str, other: bytes) -> bool:
    if digest == other:
        return True
    if not other or kind_of(path) != "note":
        return False
    smaller, larger = sorted(scan.snapshot.files[one].size_bytes for one in (path, original))
    return smaller >= 0.7 * larger and _read_near(scan.root, path, digest, original, other)


@lru_cache(maxsize=1 << 12)
def _read_near(root: str, path: str, _digest: bytes, original: str, _other: bytes) -> bool:
    """Whether the texts of two notes are nearly equal; known by their digests until one of them changes."""
    try:
        one, other = (decode_note(Path(file_path(root, name)).read_bytes()) for name in (path, original))
    except OSError:
        return False  # gone since the walk
    return is_near_copy(one, other)
