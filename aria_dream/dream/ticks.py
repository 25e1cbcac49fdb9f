"""What a reader ticked in a note of ours: found in any text, with the two titles each box stands under."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal

from aria_dream.dream.dream_log import numbered_lines
from aria_dream.dream.logged import Box, bears_id, parse_box, parse_outcome, parse_pair_line, render_outcome
from aria_dream.dream.logged_change import ASK, is_ask, lines_shown, parse_decided, parse_mark, parse_opening
from aria_dream.errors import Problem

if TYPE_CHECKING:
    from datetime import datetime

    from aria_dream.dream.logged import LoggedLink, Outcome
    from aria_dream.dream.logged_change import DecidedChange

__all__ = [
    "ASK", "Choice", "Tick", "ask_in_text", "decide_in_text", "parse_short_moment", "read_ticks", "reopen_in_text",
    "short_moment", "tell_in_text", "without_undo",
]  # fmt: skip

Choice = Literal["link", "never", "undo", "both"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Tick:
    """A decision as ticked. It counts only once `review.decision` has verified its id against its titles."""

    id: str
    choice: Choice
    """`both`: contradictory, so nothing happens and a line under the boxes asks."""
    ends: tuple[LoggedLink, ...]
    """The notes that the line above the box names."""
    line: int
    """1-based line of the (last) ticked box."""
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
    above: _Above
    ticked: set[str]
    line: int
    asked: bool = False


def read_ticks(text: str) -> tuple[tuple[Tick, ...], tuple[Problem, ...]]:
    """Every ticked box of ours in `text`, in order of appearance, one Tick per id; and what stops a box from counting.

    `[x]` and `[X]` are ticks, any other mark is none. A box without a pair line above it, or one id under two
    different pairs, decides nothing and is a Problem. Fenced code is left out.
    """
    seen: dict[str, _Seen] = {}
    torn: set[str] = set()
    problems: list[Problem] = []
    above: _Above | None = None
    last = ""
    lines = re.split(r"\r\n|\n|\r", text)
    for number, line in numbered_lines(text):
        if not bears_id(line):
            above = _above(line, above)
            if above is not None and (mark := parse_mark(line)):
                above = replace(above, mark=mark, shown=lines_shown(lines[number:]))
            if last in seen and is_ask(line):
                seen[last].asked = True
            continue
        decided = parse_decided(line)
        box = parse_box(line) if decided is None else _undo_box(decided)
        if box is None:
            continue
        last = box.id
        own = above if decided is None else _Above(ends=decided.ends, kind=decided.kind, is_change=True)
        problem = _note_box(box, number, own, seen)
        if problem is not None:
            torn.add(box.id)
            problems.append(problem)
    ticks = [_tick(id_, found) for id_, found in seen.items() if found.ticked and id_ not in torn]
    return tuple(ticks), tuple(problems)


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


def _note_box(box: Box, number: int, above: _Above | None, seen: dict[str, _Seen]) -> Problem | None:
    if above is None:
        said = "the line that names this box's two notes is gone, so the tick decides nothing"
        return Problem("", number, said) if box.ticked else None
    found = seen.setdefault(box.id, _Seen(above=above, ticked=set(), line=number))
    if found.above != above:
        return Problem("", number, "this box stands under two different pairs of notes, so the tick decides nothing")
    if box.ticked:
        found.ticked.add(box.what)
        found.line = number
    return None


def _tick(id_: str, found: _Seen) -> Tick:
    choice: Choice
    if "undo" in found.ticked:
        choice = "undo"
    elif len(found.ticked) > 1:
        choice = "both"
    else:
        choice = "link" if "link" in found.ticked else "never"
    above = found.above
    return Tick(
        id=id_, choice=choice, ends=above.ends, line=found.line, asked=found.asked, kind=above.kind, mark=above.mark,
        shown=above.shown, is_change=above.is_change,
    )  # fmt: skip


def _own_lines(text: str, id_: str) -> list[tuple[int, str, bool]]:
    """Line number, text and whether it is decided already, of every line that carries the id."""
    own = []
    for number, line in numbered_lines(text):
        if not bears_id(line):
            continue
        box, decided = parse_box(line), parse_outcome(line)
        if decided is not None and decided[0] == id_:
            own.append((number, line, True))
        elif box is not None and box.id == id_:
            own.append((number, line, False))
    return own


def decide_in_text(text: str, id_: str, outcome: Outcome) -> str:
    """`text` with the box lines of `id_` become the one decided line; unchanged where there are none.

    A line decided before is renewed (an undo box that expires, an undone link). Indentation and bullet of the first
    line and every other character, line ends included, stay as they are. The asking line goes with the boxes.
    """
    own = _own_lines(text, id_)
    if not own:
        return text
    lines = _lines(text)
    first, was = own[0][0], own[0][1]
    gone = {number for number, _, _ in own[1:]}
    last = own[-1][0]
    if last < len(lines) and ASK in lines[last]:
        gone.add(last + 1)
    ending = lines[first - 1][len(lines[first - 1].rstrip("\r\n")) :]
    lines[first - 1] = f"{_bullet(was)}{render_outcome(outcome, id_)}{ending}"
    if first < last and not lines[last - 1].endswith(("\n", "\r")):
        lines[first - 1] = lines[first - 1].rstrip("\r\n")
    return "".join(line for number, line in enumerate(lines, start=1) if number not in gone)


def ask_in_text(text: str, tick: Tick) -> str:
    """`text` with the asking line under the tick's boxes; unchanged where it stands already."""
    return text if tick.asked else tell_in_text(text, tick.id, ASK)


def tell_in_text(text: str, id_: str, sentence: str) -> str:
    """`text` with `sentence` (one line) under the lines of `id_`; unchanged where it stands there, or they do not."""
    own = _own_lines(text, id_)
    if not own:
        return text
    lines = _lines(text)
    number, was, _ = own[-1]
    if number < len(lines) and sentence in lines[number]:
        return text
    ending = lines[number - 1][len(lines[number - 1].rstrip("\r\n")) :]
    line = f"{_bullet(was)}{sentence}"
    lines[number - 1] = f"{lines[number - 1]}{line}{ending}" if ending else f"{lines[number - 1]}\n{line}"
    return "".join(lines)


def reopen_in_text(text: str, id_: str) -> str:
    """`text` with the decided line of `id_` become its two boxes again; unchanged where there is no such line."""
    own = [(number, was) for number, was, is_decided in _own_lines(text, id_) if is_decided]
    if not own:
        return text
    lines = _lines(text)
    number, was = own[0]
    ending = lines[number - 1][len(lines[number - 1].rstrip("\r\n")) :]
    boxes = (f"[ ] link them ^aria-{id_}", f"[ ] never again ^aria-{id_}-no")
    lines[number - 1] = (ending or "\n").join(f"{_bullet(was)}{box}" for box in boxes) + ending
    return "".join(lines)


def _lines(text: str) -> list[str]:
    return re.split(r"(?<=\n)|(?<=\r)(?!\n)", text)


def _bullet(line: str) -> str:
    found = re.match(r"[ \t>]*(?:[-*+]|\d{1,9}[.)])[ \t]+", line)
    return found[0] if found else "    - "


_MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")


def short_moment(moment: datetime, *, seen_from: datetime) -> str:
    """`moment` as a line of ours says it: `07:41` on the same local day, `2 Dec 07:41` or `2 Dec 2027 07:41` else.

    Both are aware and in the writer's zone. English and the same on every machine, whatever its locale.
    """
    clock = f"{moment:%H:%M}"
    if moment.date() == seen_from.date():
        return clock
    day = f"{moment.day} {_MONTHS[moment.month - 1]}"
    return f"{day} {clock}" if moment.year == seen_from.year else f"{day} {moment.year} {clock}"


_SHORT = re.compile(r"(?:(\d{1,2}) ([A-Z][a-z]{2})(?: (\d{4}))? )?(\d{1,2}):(\d{2})")


def parse_short_moment(text: str, *, seen_from: datetime) -> datetime | None:
    """The moment that `short_moment` wrote so, to the minute; None where the text is none."""
    found = _SHORT.fullmatch(text.strip())
    if found is None or (found[2] is not None and found[2] not in _MONTHS):
        return None
    clock = seen_from.replace(second=0, microsecond=0)
    try:
        if found[2] is not None:
            month, year = _MONTHS.index(found[2]) + 1, int(found[3] or seen_from.year)
            clock = clock.replace(year=year, month=month, day=int(found[1]))
        return clock.replace(hour=int(found[4]), minute=int(found[5]))
    except ValueError:
        return None


def without_undo(outcome: Outcome) -> Outcome:
    """The same decision once its undo window is over: no box is left."""
    return replace(outcome, undo_until="", undo_ticked=False)
