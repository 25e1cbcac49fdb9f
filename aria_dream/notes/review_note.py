"""`Dream review.md`: every open proposal in one managed block of tick boxes, rewritten only while nobody edited it."""

from __future__ import annotations

import re
from codecs import BOM_UTF8
from dataclasses import dataclass, replace
from datetime import date
from typing import TYPE_CHECKING

from aria_dream.errors import Problem
from aria_dream.notes.boxes import bears_id, box_text, parse_box
from aria_dream.notes.change_grammar import ASK, is_ask, parse_decided, render_change
from aria_dream.notes.change_reading import ChangeReading
from aria_dream.notes.dream_log import opened_pair, with_line
from aria_dream.notes.dream_note_grammar import parse_pair_line, render_listed_pair
from aria_dream.notes.plain_text import escape_plain, unescape_plain

if TYPE_CHECKING:
    from collections.abc import Sequence

    from aria_dream.notes.change_grammar import ChangeItem
    from aria_dream.notes.dream_note_grammar import LoggedPair

BEGIN = "%% aria-dream review begin %%"
END = "%% aria-dream review end %%"
NOTHING = "Nothing is waiting for you."
HEADINGS = {
    "link": "Links to draw",
    "place_orphan": "New territory to place",
    "merge": "Notes to merge",
    "update": "Wordings to change",
    "obsolete": "Notes to mark obsolete",
    "resolve_contradiction": "Contradictions to settle",
    "sync_copy": "Copies left by a sync",
}
"""Kind of proposal to its heading, in the order of the block."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ReviewItem:
    """An open pair of a dream as the review shows it."""

    kind: str
    """A key of `HEADINGS`."""
    pair: LoggedPair
    dreamt_on: date
    """Local date of the dream note that showed it first."""
    edge: str = ""
    """What a reach calls the relation; `""` where none did. As `clean` leaves it."""
    janus: str = ""
    """`STANDS`, `FALLS`, `UNSURE`, or `""` before Janus looked."""
    janus_reason: str = ""
    """As `clean` leaves it."""
    asked: bool = False
    """Both boxes are ticked somewhere, and a line asks."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ManagedBlock:
    """Our part of the note, markers included, and what it says."""

    start: int
    """Offset of the begin marker in the text."""
    end: int
    """Offset behind the end marker."""
    items: tuple[ReviewItem, ...]
    """The pairs that wait."""
    changes: tuple[ChangeItem, ...] = ()
    """Everything else that waits, or was decided a while ago."""


def render_review_head() -> str:
    """A new review note up to the managed block. The frontmatter's marker is what makes the folder ours."""
    return (
        "---\naria-dream: review\ncssclasses: [aria-dream]\n---\n"
        "Tick what is true; a change you tick is made once you have stopped typing, and can be undone for a while.\n"
        "Write above or below the two marker lines as you like.\n\n"
    )


def empty_review() -> str:
    """A new review note in which nothing waits."""
    return render_review_head() + render_managed(()) + "\n"


def is_emptied(content: bytes | None) -> bool:
    """Whether the review note is to be made anew: it is gone, or nothing is left in it, as a sync leaves it."""
    return content is None or not content.removeprefix(BOM_UTF8).strip()


def render_managed(items: Sequence[ReviewItem], changes: Sequence[ChangeItem] = ()) -> str:
    """The managed block from marker to marker, no line end behind; `read_managed` gives items and changes back.

    Grouped by kind in the order of `HEADINGS`, inside a group in the order given (oldest first), pairs first.
    """
    parts = []
    for kind, heading in HEADINGS.items():
        pairs = "".join(_render_item(item) for item in items if item.kind == kind)
        group = [*filter(None, [pairs]), *(render_change(change) for change in changes if change.kind == kind)]
        if group:
            parts.append("\n".join((f"### {heading}\n", *group)))
    return f"{BEGIN}\n" + ("\n".join(parts) or f"{NOTHING}\n") + END


def _render_item(item: ReviewItem) -> str:
    said = [f"edge: {escape_plain(item.edge)}"] if item.edge else []
    if item.janus:
        said.append(f"Janus: {item.janus}" + (f", {escape_plain(item.janus_reason)}" if item.janus_reason else ""))
    ask = f"    - {ASK}\n" if item.asked else ""
    return f"{render_listed_pair(item.pair, [f'dreamt: {item.dreamt_on.isoformat()}'], said)}{ask}"


_LIST_MARK = re.compile(r"^[ \t]*(?:[-*+]|\d{1,9}[.)])[ \t]+")
_EDGE = re.compile(r"[ \t]*edge:[ \t]*(\S.*)")
_JANUS = re.compile(r"[ \t]*Janus:[ \t]*(STANDS|FALLS|UNSURE)(?:, (.*))?[ \t]*")
_DREAMT = re.compile(r"[ \t]*dreamt:[ \t]*(\d{4})-(\d{2})-(\d{2})[ \t]*")
_KIND = {heading: kind for kind, heading in HEADINGS.items()}


def read_managed(text: str) -> tuple[ManagedBlock | None, tuple[Problem, ...]]:
    """The managed block, or None with the reason why it must not be rewritten.

    Markers must stand alone on their lines, once each, in order. Anything inside that we did not write counts as
    edited: the writer's words are worth more than our list. Set ticks, text behind a box (it is kept), blank lines,
    indentation and list marks are no edit, and neither is a link renamed by Obsidian.
    """
    begins = [m.start() for m in re.finditer(re.escape(BEGIN), text)]
    ends = [m.start() for m in re.finditer(re.escape(END), text)]
    if len(begins) != 1 or len(ends) != 1 or ends[0] < begins[0]:
        return None, (Problem("", 0, _marker_fault(len(begins), len(ends))),)
    start, end = begins[0], ends[0] + len(END)
    lines = re.split(r"\r\n|\n|\r", text[start:end])
    above = len(re.split(r"\r\n|\n|\r", text[:start]))
    before = text[:start].rpartition("\n")[2].strip("\r")
    alone = not before and re.match(r"[ \t]*(?:[\r\n]|$)", text[end:])
    if not alone or lines[0].strip() != BEGIN or lines[-1].strip() != END:
        return None, (Problem("", above, "a marker of the review list does not stand alone on its line"),)
    try:
        items, changes = _parts(lines[1:-1])
    except ValueError:
        return None, (Problem("", above, "a day inside the review list is no date, so the list is left alone"),)
    expected = [line for line in render_managed(items, changes).split("\n") if line.strip()]
    found = [(number, line) for number, line in enumerate(lines, start=above) if line.strip()]
    # The end marker is the last line of both and stands nowhere else, so lists of other lengths differ before it.
    for (number, is_), should in zip(found, expected, strict=False):
        if not _says_the_same(is_, should):
            said = "this line of the review list was edited, so the list is left alone; move your words out of it"
            return None, (Problem("", number, said),)
    return ManagedBlock(start=start, end=end, items=items, changes=changes), ()


def _says_the_same(line: str, expected: str) -> bool:
    """Whether the line says what we would write: whatever its indentation, its list mark, the mark of a tick, and what
    stands behind a box, which is kept."""
    if bears_id(line) and (decided := parse_decided(line)) is not None:
        return decided == parse_decided(expected)
    if bears_id(line) and (box := parse_box(line)) is not None:
        label = expected.partition("] ")[2].partition(" ^aria-")[0]
        return box == parse_box(expected) and box_text(line).startswith(label)
    return _LIST_MARK.sub("- ", line).strip() == _LIST_MARK.sub("- ", expected).strip()


def _marker_fault(begins: int, ends: int) -> str:
    for name, count in (("begin", begins), ("end", ends)):
        if count == 0:
            return f"the review list's {name} marker is missing; put “%% aria-dream review {name} %%” back on a line"
        if count > 1:
            return f"the review list's {name} marker stands there {count} times; leave one of them"
    return "the review list's end marker stands before its begin marker"


def _parts(lines: Sequence[str]) -> tuple[tuple[ReviewItem, ...], tuple[ChangeItem, ...]]:
    """Pairs and changes. Raises ValueError where a day is none."""
    items: list[ReviewItem] = []
    reading = ChangeReading()
    kind = "link"
    in_pair = False
    for line in lines:
        if not reading.fence and line.startswith("### "):
            kind, in_pair = _KIND.get(line.removeprefix("### ").strip(), kind), False
        opened = parse_pair_line(line) if "↔" in line and not reading.fence else None
        if opened is not None:
            items.append(ReviewItem(kind=kind, pair=opened_pair(opened), dreamt_on=date.min))
            in_pair = True
        elif in_pair and not reading.begins(line):
            items[-1] = _with_line(items[-1], line)
        else:
            in_pair = False
            reading.take(line, kind)
    return tuple(items), tuple(reading.items)


def _with_line(item: ReviewItem, line: str) -> ReviewItem:
    if is_ask(line):
        return replace(item, asked=True)
    if edge := _EDGE.fullmatch(line):
        return replace(item, edge=unescape_plain(edge[1]))
    if janus := _JANUS.fullmatch(line):
        return replace(item, janus=janus[1], janus_reason=unescape_plain(janus[2] or ""))
    day = _DREAMT.fullmatch(line)
    if day is None:
        return replace(item, pair=with_line(item.pair, line))
    return replace(item, dreamt_on=date(int(day[1]), int(day[2]), int(day[3])))


def with_managed(
    text: str, block: ManagedBlock, items: Sequence[ReviewItem], changes: Sequence[ChangeItem] | None = None
) -> str:
    """`text` with the block's items exchanged, in the block's own line ends; nothing else changes. Without `changes`
    the block keeps those it has."""
    old = text[block.start : block.end]
    new = render_managed(items, block.changes if changes is None else changes)
    return text[: block.start] + (new.replace("\n", "\r\n") if "\r\n" in old else new) + text[block.end :]
