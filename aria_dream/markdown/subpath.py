"""Whether the heading or block that a link names is in a note."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from aria_dream.markdown.note import Note

_FOLDED: Final = re.compile(r"[!\"#$%&()*+,.:;<=>?@^`{|}~/\[\]\\\s]+")


def fold_heading(text: str) -> str:
    """A heading as links address it: lower-cased, runs of punctuation and white space as one space."""
    return _FOLDED.sub(" ", text).strip().lower()


def subpath_found(note: Note, subpath: str) -> bool:
    """Whether `note` has what `subpath` names: `#^block`, or `#A#B`: a heading A and later, deeper, a heading B.

    `""` and `"#"` name the note itself.
    """
    wanted = subpath.removeprefix("#").strip()
    if wanted.startswith("^"):
        name = wanted[1:].lower()
        return any(block.name.lower() == name for block in note.block_ids)
    steps = [step for step in map(fold_heading, wanted.split("#")) if step]
    if not steps:
        return True
    at, level = 0, 0
    for heading in note.headings:
        if heading.level > level and fold_heading(heading.text) == steps[at]:
            at, level = at + 1, heading.level
            if at == len(steps):
                return True
        elif at and heading.level <= level:
            # The section has ended without the next step; a later one of the same name may still have it.
            at, level = (1, heading.level) if fold_heading(heading.text) == steps[0] else (0, 0)
    return False
