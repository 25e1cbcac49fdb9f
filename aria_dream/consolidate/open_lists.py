"""Which lists of findings stand in `Dream review.md` beside the proposals."""

from __future__ import annotations

from typing import Final

from aria_dream.consolidate import open_conflicts, open_pairs, open_reminders
from aria_dream.consolidate.open_list import with_list

LISTS: Final = (open_conflicts.NAME, open_pairs.NAME, open_reminders.NAME)
"""Names of their blocks, in the order in which they stand in a new note."""


def without_lists(text: str) -> str:
    """The note as if it had none of them; one that somebody edited is the writer's and stays."""
    for name in LISTS:
        text, _ = with_list(text, name, "")
    return text
