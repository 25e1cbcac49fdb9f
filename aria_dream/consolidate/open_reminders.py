"""Notes whose writer asked to be reminded of them, listed in `Dream review.md`: the day is over, or nobody can read it.
Nothing is said against such a note, and nothing in it changes. Pure.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from aria_dream.consolidate.open_list import box, render_list
from aria_dream.notes.plain_text import escape_plain

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from aria_dream.consolidate.open_list import Decided
    from aria_dream.consolidate.stale import Stale

NAME: Final = "reminders"
MOST: Final = 20
"""Notes that are listed; the rest is counted."""
_HEAD: Final = (
    "### Look at it again\n\n"
    "You gave these notes a day, and it is over or cannot be read. Set a new one in the note, or tick `looked at`.\n"
)


def render_reminders(items: Sequence[Stale], link: Callable[[str], str], decided: Sequence[Decided] = ()) -> str:
    """The block, from marker to marker; `""` where nothing is open and nothing can be taken back. `link(path)` is the
    link to a note as Markdown."""
    rows = [
        f"**{link(one.path)}**\n- {escape_plain(one.reason)}\n{box('looked at', one.mark)}" for one in items[:MOST]
    ]
    return render_list(NAME, _HEAD, rows, len(items) - MOST, decided)
