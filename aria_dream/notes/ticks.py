"""What a reader ticked in a note of ours: found in any text, with the two titles each box stands under."""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Literal

from aria_dream.errors import Problem
from aria_dream.notes.boxes import ENDINGS, ITEM, Box, Decides, bears_id, parse_box, task_of
from aria_dream.notes.change_grammar import VERBS, is_ask, lines_shown, parse_decided, parse_mark, parse_opening
from aria_dream.notes.dream_log import numbered_lines
from aria_dream.notes.dream_note_grammar import parse_outcome, parse_pair_line

if TYPE_CHECKING:
    from aria_dream.notes.change_grammar import DecidedChange
    from aria_dream.notes.dream_note_grammar import LoggedLink

Choice = Literal["link", "known", "never", "undo", "both"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Tick:
    """A decision as ticked. It counts only once `review.decision` has verified its id against its titles."""

    id: str
    """`""` where no box of these notes bears its id any more: then the notes alone tell which proposal is meant."""
    choice: Choice
    """`both`: contradictory, so nothing happens and a line under the boxes asks."""
    ends: tuple[LoggedLink, ...]
    """The notes that the line above the box names."""
    line: int
    """1-based line of the last ticked box."""
    lines: tuple[int, ...] = ()
    """Of all its ticked boxes in the note, ascending."""
    lost: tuple[tuple[int, str], ...] = ()
    """Lines of those that bear no block id any more, and what stood behind the id (`-no`)."""
    asked: bool
    """The asking line stands there already."""
    kind: str = ""
    """Of the change that the line names; `""` for a pair of a dream, and where a decided line does not tell."""
    mark: str = ""
    """Of the change whose text is shown there; `""` where none is."""
    shown: tuple[str, ...] = ()
    """The lines of that text, as they stand there."""
    is_change: bool = False
    """The line is one of the review's own, not a pair of a dream."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Above:
    """The line that a box stands under."""

    ends: tuple[LoggedLink, ...]
    kind: str = ""
    mark: str = ""
    shown: tuple[str, ...] = ()
    is_change: bool = False


@dataclass(slots=True)
class _Seen:
    """The boxes of one id."""

    above: _Above
    ticked: list[tuple[int, Decides]] = field(default_factory=list)
    lost: list[tuple[int, Decides]] = field(default_factory=list)
    asked: bool = False
    is_torn: bool = False


def read_ticks(text: str) -> tuple[tuple[Tick, ...], tuple[Problem, ...]]:
    """Every ticked box of ours in `text`, in order of appearance, one Tick per id; and what stops a box from counting.

    `[x]` and `[X]` are ticks, any other mark is none. The id may stand anywhere in the line; where it is lost, the
    other box of the pair has it, or the titles tell. A box without a pair line above it, or one id under two different
    pairs, decides nothing and is a Problem. Fenced code is left out.
    """
    reading = _Reading(re.split(r"\r\n|\n|\r", text))
    for number, line in numbered_lines(text):
        reading.take(number, line)
    return reading.result()


class _Reading:
    """State of one pass over the lines; private to `read_ticks`."""

    def __init__(self, lines: list[str]) -> None:
        self.lines = lines
        self.seen: dict[str, _Seen] = {}
        self.problems: list[Problem] = []
        self.above: _Above | None = None
        self.ids: set[str] = set()
        """Of the boxes under the line above."""
        self.lost: list[tuple[int, Decides, _Above, set[str]]] = []
        self.last = ""

    def take(self, number: int, line: str) -> None:
        if bears_id(line):
            self.take_box(number, line)
            return
        above = _above(line, self.above)
        if above is not self.above:
            self.above, self.ids = above, set()
        if self.above is not None and (mark := parse_mark(line)):
            self.above = replace(self.above, mark=mark, shown=lines_shown(self.lines[number:]))
        if self.last in self.seen and is_ask(line):
            self.seen[self.last].asked = True
        self.take_lost(number, line)

    def take_box(self, number: int, line: str) -> None:
        decided = parse_decided(line)
        box = parse_box(line) if decided is None else _undo_box(decided)
        if box is None:
            if decided is None and _TICKED.match(line) and parse_outcome(line) is None:
                self.void(number, "the block ids in this line are none that it was written with, so the tick is void")
            return
        self.last = box.id
        own = self.above if decided is None else _above_of(decided)
        if own is None:
            if box.ticked:
                self.void(number, "the line that names this box's two notes is gone, so the tick decides nothing")
            return
        if decided is None:
            self.ids.add(box.id)
        found = self.seen.setdefault(box.id, _Seen(above=own))
        found.is_torn = found.is_torn or found.above != own
        if box.ticked:
            found.ticked.append((number, box.what))

    def take_lost(self, number: int, line: str) -> None:
        """A ticked box that was ours by its words, and has lost its id."""
        task = task_of(line)
        if task is None or not task[0]:
            return
        decided = parse_decided(f"{line} ^aria-{'0' * 6}-undo") if task[1].startswith("undo:") else None
        above = self.above if decided is None else _above_of(decided)
        if above is None:
            return
        what = "undo" if decided is not None else _meant(task[1], above.kind)
        if what == "unclear":
            self.void(number, "this box has lost its block id and its words are other ones, so the tick is void")
        elif what:
            self.lost.append((number, what, above, self.ids if decided is None else set()))

    def void(self, number: int, said: str) -> None:
        self.problems.append(Problem("", number, said))

    def result(self) -> tuple[tuple[Tick, ...], tuple[Problem, ...]]:
        unnamed: list[_Seen] = []
        for number, what, above, ids in self.lost:
            found = self.seen.get(next(iter(ids))) if len(ids) == 1 else None
            if found is None:
                found = next((one for one in unnamed if one.above == above), None)
            if found is None:
                found = _Seen(above=above)
                unnamed.append(found)
            found.ticked.append((number, what))
            found.lost.append((number, what))
        for one in self.seen.values():
            for number, _ in one.ticked if one.is_torn else ():
                self.void(number, "this box stands under two different pairs of notes, so the tick decides nothing")
        ticks = [_tick(id_, one) for id_, one in self.seen.items() if one.ticked and not one.is_torn]
        ticks += [_tick("", one) for one in unnamed]
        return tuple(ticks), tuple(sorted(self.problems, key=lambda problem: problem.line))


_TICKED = re.compile(rf"{ITEM}\[[xX]\]")
_BEHIND = re.compile(r"(?!\w)|(?=\^?aria-)")


def _meant(text: str, kind: str) -> Decides | Literal["", "unclear"]:
    """What a box without an id says by its words; `""` where it is none of ours."""
    said = text.strip("*_~ ").casefold()
    labels: tuple[tuple[str, Decides], ...] = (
        (VERBS[kind or "link"], "link"), ("knew it", "known"), ("never again", "never"), ("undo:", "undo")
    )  # fmt: skip
    for label, what in labels:
        if said.startswith(label):
            rest = said.removeprefix(label).strip()
            return what if what == "undo" or _BEHIND.match(rest) else "unclear"
    return ""


def _above_of(decided: DecidedChange) -> _Above:
    return _Above(ends=decided.ends, kind=decided.kind, is_change=True)


def _above(line: str, above: _Above | None) -> _Above | None:
    """What names the notes of a box below `line`, if `above` did so before."""
    if "**" in line and (opened := parse_opening(line)):
        return _Above(ends=opened[1], kind=opened[0], is_change=True)
    if "↔" in line and (pair := parse_pair_line(line)):
        return _Above(ends=pair[:2])
    if re.match(r" {0,3}#{1,6}[ \t]", line):
        return None
    return above


def _undo_box(decided: DecidedChange) -> Box | None:
    return Box(id=decided.id, what="undo", ticked=decided.undo_ticked) if decided.undo_until else None


def _tick(id_: str, found: _Seen) -> Tick:
    whats = {what for _, what in found.ticked}
    choice: Choice = "undo" if "undo" in whats else "both" if len(whats) > 1 else next(iter(whats))
    above, lines = found.above, tuple(sorted({number for number, _ in found.ticked}))
    return Tick(
        id=id_, choice=choice, ends=above.ends, line=lines[-1], lines=lines, asked=found.asked, kind=above.kind,
        mark=above.mark, shown=above.shown, is_change=above.is_change,
        lost=tuple((number, ENDINGS[what]) for number, what in found.lost),
    )  # fmt: skip
