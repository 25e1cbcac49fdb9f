"""Contradictions that wait for a person, listed in `Dream review.md` in a block of their own, each with a box that
dismisses it. Pure.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from aria_dream.consolidate.judged import conflict_key
from aria_dream.consolidate.open_list import box, render_list
from aria_dream.consolidate.passages import told_apart
from aria_dream.notes.plain_text import escape_plain

if TYPE_CHECKING:
    from collections.abc import Sequence

    from aria_dream.consolidate.open_list import Decided
    from aria_dream.consolidate.verdict import Conflict

NAME: Final = "open contradictions"
MOST: Final = 20
"""Contradictions that are listed."""
_LONGEST_CLAIM: Final = 400
_HEAD: Final = "### Contradictions that nobody has settled\n\nMend the note that is wrong, or tick what is none.\n"


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenConflict:
    """One contradiction as the review lists it."""

    key: str
    """`conflict_key`."""
    first: str
    """Title, with its folder where the second has the same (`told_apart`)."""
    second: str
    subject: str
    first_claim: str
    second_claim: str


def open_conflict(conflict: Conflict) -> OpenConflict:
    """The contradiction as it is listed."""
    first, second = told_apart(conflict.first, conflict.second)
    return OpenConflict(
        key=conflict_key(conflict),
        first=first,
        second=second,
        subject=conflict.subject,
        first_claim=conflict.first_claim,
        second_claim=conflict.second_claim,
    )


def render_open(items: Sequence[OpenConflict], decided: Sequence[Decided] = ()) -> str:
    """The block, from marker to marker; `""` where nothing is open and nothing can be taken back."""
    return render_list(NAME, _HEAD, [_render(item) for item in items[:MOST]], len(items) - MOST, decided)


def _render(item: OpenConflict) -> str:
    first, second = (_claim(item.first_claim), _claim(item.second_claim))
    return (
        f"**{escape_plain(item.first)} ↔ {escape_plain(item.second)}** ({escape_plain(item.subject)})\n"
        f"- {escape_plain(item.first)}: “{first}”\n"
        f"- {escape_plain(item.second)}: “{second}”\n"
        f"{box('no contradiction', item.key)}"
    )


def _claim(text: str) -> str:
    shown = " ".join(text.split())
    return escape_plain(shown if len(shown) <= _LONGEST_CLAIM else shown[: _LONGEST_CLAIM - 1] + "…")
