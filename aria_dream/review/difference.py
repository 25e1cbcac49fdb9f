"""What differs between two texts, as edits of the first, line by line."""

from __future__ import annotations

from difflib import SequenceMatcher
from typing import TYPE_CHECKING, Final

from aria_dream.vault.edit import Edit

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterator, Sequence

MOST_COMPARED: Final = 4_000_000
"""Pairs of lines or words beyond which two passages are taken as wholly different: comparing is quadratic."""


def line_edits(before: str, after: str) -> tuple[Edit, ...]:
    """Edits that make `after` of `before`, one for each run of changed lines, without what its ends have in common."""
    return tuple(_trimmed(before, after, *block) for block in _line_blocks(before, after))


def _line_blocks(before: str, after: str) -> Iterator[tuple[int, int, int, int]]:
    old, new = before.splitlines(keepends=True), after.splitlines(keepends=True)
    old_at, new_at = _offsets(old), _offsets(new)
    for first, last, first_after, last_after in blocks(old, new):
        yield old_at[first], old_at[last], new_at[first_after], new_at[last_after]


def _offsets(pieces: Sequence[str]) -> list[int]:
    offsets = [0]
    for piece in pieces:
        offsets.append(offsets[-1] + len(piece))
    return offsets


def blocks(old: Sequence[Hashable], new: Sequence[Hashable]) -> Iterator[tuple[int, int, int, int]]:
    """`(i, j, k, m)` for each run that differs: `new[k:m]` stands for `old[i:j]`, in order."""
    head, shorter = 0, min(len(old), len(new))
    while head < shorter and old[head] == new[head]:
        head += 1
    tail = 0
    while tail < shorter - head and old[-1 - tail] == new[-1 - tail]:
        tail += 1
    old_middle, new_middle = old[head : len(old) - tail], new[head : len(new) - tail]
    if not old_middle and not new_middle:
        return
    if len(old_middle) * len(new_middle) > MOST_COMPARED:
        yield head, len(old) - tail, head, len(new) - tail
        return
    for kind, i, j, k, m in SequenceMatcher(None, old_middle, new_middle, autojunk=False).get_opcodes():
        if kind != "equal":
            yield head + i, head + j, head + k, head + m


def _trimmed(before: str, after: str, start: int, end: int, start_after: int, end_after: int) -> Edit:
    old, new = before[start:end], after[start_after:end_after]
    head, shorter = 0, min(len(old), len(new))
    while head < shorter and old[head] == new[head]:
        head += 1
    tail = 0
    while tail < shorter - head and old[-1 - tail] == new[-1 - tail]:
        tail += 1
    return Edit(start + head, end - tail, new[head : len(new) - tail])
