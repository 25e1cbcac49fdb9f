"""The parts of a log: headings with what lies under them, list items, `name: value` lines, dates. Total."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import date, time
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

_HEADING = re.compile(r"^ {0,3}(#{1,6})[ \t]+(.*?)[ \t]*#*[ \t]*$", re.MULTILINE)
_DATE = re.compile(r"(?<![\d-])(\d{4}-\d{2}-\d{2})(?:[T ,·—–-]{1,4}(\d{1,2}:\d{2})(?::\d{2})?)?(?![\d-])")
_ITEM = re.compile(r"^(?:[-*+]|\d{1,3}[.)])[ \t]+(?:\[(.)\][ \t]+)?", re.MULTILINE)
_PROPERTY = re.compile(
    r"^[ \t]*(?:[-*+][ \t]+)?[*_`]*([A-Za-z][A-Za-z_ -]{1,30}?)(?::[*_`]+|[*_`]*:)[ \t]+(\S[^\n]*?)[ \t]*$",
    re.MULTILINE,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Block:
    """One heading with what lies under it."""

    level: int
    title: str
    start: int
    body: int
    end: int
    above: tuple[str, ...]
    """Titles of the headings it lies under."""
    leaf: bool


def find_blocks(shown: str) -> list[Block]:
    """Every heading of a text that `visible` has blanked, in order."""
    headings = [(len(found[1]), found[2], found.start(), found.end()) for found in _HEADING.finditer(shown)]
    ends = _ends([(level, start) for level, _, start, _ in headings], len(shown))
    blocks: list[Block] = []
    above: list[tuple[int, str]] = []
    for number, (level, title, start, body) in enumerate(headings):
        while above and above[-1][0] >= level:
            above.pop()
        leaf = number + 1 == len(headings) or headings[number + 1][0] <= level
        titles = tuple(name for _, name in reversed(above))
        end = ends[number]
        blocks.append(Block(level=level, title=title, start=start, body=body, end=end, above=titles, leaf=leaf))
        above.append((level, title))
    return blocks


def _ends(headings: list[tuple[int, int]], size: int) -> list[int]:
    """Where each `(level, start)` ends: at the next heading of its level or above. Linear."""
    ends = [size] * len(headings)
    open_: list[int] = []
    for number, (level, start) in enumerate(headings):
        while open_ and headings[open_[-1]][0] >= level:
            ends[open_.pop()] = start
        open_.append(number)
    return ends


def find_items(shown: str, start: int, end: int) -> Iterator[tuple[int, int, int, str | None]]:
    """`(start, start of the text, end, mark in the tick box or None)` of the top-level list items in a span."""
    marks = list(_ITEM.finditer(shown, start, end))
    for number, mark in enumerate(marks):
        until = marks[number + 1].start() if number + 1 < len(marks) else end
        heading = _HEADING.search(shown, mark.end(), until)
        yield mark.start(), mark.end(), heading.start() if heading else until, mark[1]


def properties_of(text: str) -> dict[str, str]:
    """Every line `name: value` of a text, names lower-cased with `_` for spaces; the first of each name."""
    found = reversed(list(_PROPERTY.finditer(text)))
    return {match[1].strip().lower().replace(" ", "_"): match[2] for match in found}


def property_of(text: str, name: str) -> str:
    """The value on the first line `name: value`; "" where there is none."""
    return next((match[2] for match in _PROPERTY.finditer(text) if match[1].strip().lower() == name), "")


def status_of(text: str) -> str:
    """What the text says its status is; "" where it says none."""
    return property_of(text, "status") or property_of(text, "state")


def date_in(text: str) -> tuple[date, str] | None:
    """The first real date in a text and the time behind it ("" where there is none)."""
    for found in _DATE.finditer(text):
        clock = found[2] or ""
        try:
            day = date.fromisoformat(found[1])
            time.fromisoformat(clock.rjust(5, "0") if clock else "00:00")
        except ValueError:
            continue
        return day, clock
    return None


def line_of(text: str, offset: int) -> int:
    """The 1-based line of a character."""
    return text.count("\n", 0, offset) + 1
