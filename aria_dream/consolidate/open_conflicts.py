"""Contradictions that wait for a person, listed in `Dream review.md` in a block of their own, each with a box that
dismisses it. Pure.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from aria_dream.consolidate.atoms import told_apart
from aria_dream.consolidate.judged import conflict_key
from aria_dream.consolidate.sealed import read_sealed, seal, with_sealed
from aria_dream.dream.plain_text import escape_plain

if TYPE_CHECKING:
    from collections.abc import Sequence

    from aria_dream.consolidate.verdict import Conflict
    from aria_dream.errors import Problem

NAME: Final = "open contradictions"
MOST: Final = 20
"""Contradictions that are listed."""
_LONGEST_CLAIM: Final = 400
_KEY: Final = re.compile(r"^\s*[-*+] \[[xX]\] .*\^disagree-([0-9a-f]{32})\s*$", re.MULTILINE)


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


def render_open(items: Sequence[OpenConflict]) -> str:
    """The block, from marker to marker; `""` where nothing is open."""
    if not items:
        return ""
    rows = [_render(item) for item in items[:MOST]]
    more = f"\n… and {len(items) - MOST} more.\n" if len(items) > MOST else ""
    head = "### Contradictions that nobody has settled\n\nMend the note that is wrong, or tick what is none.\n\n"
    return seal(NAME, head + "\n".join(rows) + more)


def _render(item: OpenConflict) -> str:
    first, second = (_claim(item.first_claim), _claim(item.second_claim))
    return (
        f"**{escape_plain(item.first)} ↔ {escape_plain(item.second)}** ({escape_plain(item.subject)})\n"
        f"- {escape_plain(item.first)}: “{first}”\n"
        f"- {escape_plain(item.second)}: “{second}”\n"
        f"- [ ] no contradiction ^disagree-{item.key}\n"
    )


def _claim(text: str) -> str:
    shown = " ".join(text.split())
    return escape_plain(shown if len(shown) <= _LONGEST_CLAIM else shown[: _LONGEST_CLAIM - 1] + "…")


def read_dismissed(text: str) -> tuple[str, ...]:
    """Keys of the contradictions whose box somebody has ticked; none where the block was edited otherwise."""
    block, _ = read_sealed(text, NAME)
    return () if block is None else tuple(dict.fromkeys(_KEY.findall(block.inside.replace("\r", ""))))


def with_open(text: str, items: Sequence[OpenConflict]) -> tuple[str, tuple[Problem, ...]]:
    """The review note with these contradictions open and no others; as it was, and why, where the block is edited."""
    block, problems = read_sealed(text, NAME)
    made = render_open(items)
    if problems:
        return text, problems
    if block is not None:
        if made:
            return with_sealed(text, block, made), ()
        before, behind = text[: block.start].rstrip(), text[block.end :].lstrip("\r\n")
        end = "\r\n" if "\r\n" in text else "\n"
        return before + end + (end + behind if behind else ""), ()
    if not made:
        return text, ()
    end = "\r\n" if "\r\n" in text else "\n"
    return f"{text.rstrip()}{end}{end}{made.replace(chr(10), end)}{end}", ()
