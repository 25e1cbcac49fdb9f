"""What takes a change out of a text that was edited since: each place by itself, and only where it stands unchanged.

A rewritten link is one such place, whatever its note is called now; a place that is gone, or reads otherwise, is told.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Final

from aria_dream.markdown.properties import find_frontmatter
from aria_dream.review.rewriting import apply_edits
from aria_dream.review.tokens import Token, align, canvas_tokens, changed_units, note_tokens
from aria_dream.vault.edit import Edit

if TYPE_CHECKING:
    from collections.abc import Sequence

    from aria_dream.review.tokens import Means, Unit

_HEAD: Final = re.compile(r"\s*(?:#{1,6}[ \t][^\r\n]*(?:\r?\n)*|[^\s:#-][^:\r\n]*:[ \t]*\r?\n)")
_ITEMS: Final = re.compile(r"(?:[ \t]*(?:(?:[-*+]|\d{1,9}[.)])[ \t][^\r\n]*)?(?:\r?\n|\Z))*")
"""A list, and what stands above one: a heading, or the name of a property."""
_FENCE: Final = re.compile(r"^---[ \t]*$", re.MULTILINE)
_LINKED: Final = re.compile(r"\[\[|\]\]|\]\(")
"""A link, or what is left of one."""
_SHOWN = 60


@dataclass(frozen=True, slots=True)
class Left:
    """A place that was not taken back."""

    line: int
    """1-based line of the text as it is."""
    said: str
    """One sentence: what stands there, and what was written."""


def only_text(_path: str, _raw: str) -> str:
    """No link means more than it says."""
    return ""


def undo_in_text(
    before: str,
    after: str,
    now: str,
    *,
    restored: Sequence[Edit] = (),
    meant: Means = only_text,
    means: Means = only_text,
    is_canvas: bool = False,
) -> tuple[list[Edit], list[Left]]:
    """`(edits of now, what was left)`: they take out what made `after` of `before`, and put back what it replaced.

    `restored`: edits of `before` that make its links mean today what they meant. `meant` and `means`: what a link
    meant in `after` and means in `now`.
    """
    tokens = canvas_tokens if is_canvas else note_tokens
    old, written = tokens(before, only_text), tokens(after, only_text)
    ours, found = tokens(after, meant), tokens(now, means)
    text = _Text(before, after, now, restored, old, ours, found)
    edits: list[Edit] = []
    left: list[Left] = []
    for group in changed_units(before, old, written):
        made = text.undo(group)
        if isinstance(made, Left):
            left.append(made)
        else:
            edits += made
    return edits, left


def is_unchanged(after: str, now: str, meant: Means, means: Means) -> bool:
    """Whether a note says what was written, whatever its links are called now."""
    return [token.key for token in note_tokens(after, meant)] == [token.key for token in note_tokens(now, means)]


class _Text:
    def __init__(
        self,
        before: str,
        after: str,
        now: str,
        restored: Sequence[Edit],
        old: Sequence[Token],
        ours: Sequence[Token],
        found: Sequence[Token],
    ) -> None:
        self._before, self._after, self._now = before, after, now
        self._restored, self._old, self._ours, self._found = restored, old, ours, found
        self._place = align(ours, found)
        frontmatter = find_frontmatter(after)
        self._head = frontmatter.body_start if frontmatter else 0

    def undo(self, group: Sequence[Unit]) -> list[Edit] | Left:
        """The edits that take a group back; none where that is done; or what stands in the way."""
        made: list[Edit] = []
        for unit in group:
            edits = self._unit(unit)
            if edits is None:
                break
            made += edits
        else:
            return made
        return self._left(group)

    def _unit(self, unit: Unit) -> list[Edit] | None:
        new = self._old_text(unit.old_start, unit.old_end)
        place = self._place[unit.start : unit.end]
        if not place:
            return self._put_back(unit.start, new)
        if place[0] >= 0 and place == list(range(place[0], place[0] + len(place))) and (new or not self._goes_on(unit)):
            return [Edit(self._found[place[0]].start, self._found[place[-1]].end, new)]
        return None if new or -1 in place else self._take_out(unit, place)

    def _put_back(self, at: int, new: str) -> list[Edit] | None:
        """What the change removed, where the text around it still meets."""
        left = self._place[at - 1] if at else -1
        right = self._place[at] if at < len(self._ours) else len(self._found)
        if (at and left < 0) or right != left + 1:
            return None
        start = self._found[right].start if right < len(self._found) else len(self._now)
        return [Edit(start, start, new)]

    def _goes_on(self, unit: Unit) -> bool:
        """Whether the writer has typed on right behind what was put in."""
        behind = self._place[unit.end - 1] + 1
        if unit.end < len(self._ours) and self._place[unit.end] == behind:
            return False
        stop = next((at for at in self._place[unit.end :] if at >= behind), len(self._found))
        start = self._found[behind].start if behind < len(self._found) else len(self._now)
        return bool(self._now[start : self._found[stop].start if stop < len(self._found) else len(self._now)].strip())

    def _take_out(self, unit: Unit, place: Sequence[int]) -> list[Edit] | None:
        """What was put in, without what the writer has typed between its lines: a list gone on with keeps its head."""
        stops = [at for at in range(1, len(place)) if place[at] != place[at - 1] + 1]
        lines = {at for at in stops if self._after[self._ours[unit.start + at].start - 1 :][:1] == "\n"}
        start, end = self._ours[unit.start].start, self._ours[unit.end - 1].end
        if len(lines) < len(stops) or any(place[at] < place[at - 1] for at in stops):
            return None
        if start < self._head and _FENCE.search(self._after, start, min(end, self._head)):
            return None
        head = _HEAD.match(self._after, start, end)
        kept = self._ours[unit.start + stops[0]].start if stops else end
        goes_on = head and head.end() <= kept and _ITEMS.fullmatch(self._after, head.end(), end)
        begin = head.end() if head and goes_on else start
        bounds = [0, *stops, len(place)]
        edits = []
        for one, other in pairwise(bounds):
            first = next((at for at in range(one, other) if self._ours[unit.start + at].start >= begin), other)
            if first < other:
                edits.append(Edit(self._found[place[first]].start, self._found[place[other - 1]].end, ""))
        return edits

    def _old_text(self, start: int, end: int) -> str:
        inside = [edit for edit in self._restored if start <= edit.start < edit.end <= end]
        return apply_edits(
            self._before[start:end], [Edit(edit.start - start, edit.end - start, edit.new) for edit in inside]
        )

    def _left(self, group: Sequence[Unit]) -> list[Edit] | Left:
        first, last = group[0], group[-1]
        start, end = self._around(first.start, last.end)
        stands, was = self._now[start:end], self._old_text(first.old_start, last.old_end)
        if stands.split() == was.split():
            return []  # done by hand
        ours = self._ours[first.start : last.end]
        is_gone = all(at < 0 for unit in group for at in self._place[unit.start : unit.end])
        if is_gone and not _has_link(self._old, first.old_start, last.old_end):
            placed = any(token.is_link for token in ours)
            if not (_LINKED.search(stands) if placed else stands.strip()):
                return []  # the writer has taken it out
        line = self._now.count("\n", 0, start + len(stands) - len(stands.lstrip())) + 1
        made = self._after[ours[0].start : ours[-1].end] if ours else ""
        return Left(line, _sentence(*map(_short, (stands, made, was))))

    def _around(self, start: int, end: int) -> tuple[int, int]:
        """The range of the text as it is where these tokens stood: between the nearest that still stand."""
        left = next((at for at in reversed(self._place[:start]) if at >= 0), -1)
        right = next((at for at in self._place[end:] if at > left), len(self._found))
        inside = [at for at in self._place[start:end] if at >= 0]
        left, right = (min(left, inside[0] - 1), max(right, inside[-1] + 1)) if inside else (left, right)
        begin = self._found[left].end if left >= 0 else 0
        return begin, max(begin, self._found[right].start if right < len(self._found) else len(self._now))


def _has_link(tokens: Sequence[Token], start: int, end: int) -> bool:
    return any(token.is_link and start <= token.start < end for token in tokens)


def _sentence(stands: str, made: str, was: str) -> str:
    before = f" before the change it read “{was}”," if was else ""
    if made and stands == made:
        what = f"“{stands}” leads to another note now;"
    elif not stands:
        what = f"“{made}” is not here any more;" if made else "the text around it has changed;"
    else:
        what = f"“{stands}” stands here, where “{made}” was written;" if made else f"“{stands}” stands here;"
    return f"{what}{before} change it by hand where you want that" if was else f"{what} take out by hand what is left"


def _short(text: str) -> str:
    said = " ".join(text.split())
    return said if len(said) <= _SHOWN else f"{said[: _SHOWN - 1]}…"
