"""Our lines in a note exchanged for what became of a decision; every other character stays."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING

from aria_dream.notes.boxes import ENDINGS, LABELS, bears_id, box_text, parse_box, read_id
from aria_dream.notes.change_grammar import ASK
from aria_dream.notes.dream_log import numbered_lines
from aria_dream.notes.dream_note_grammar import parse_outcome, render_outcome

if TYPE_CHECKING:
    from collections.abc import Iterable
    from datetime import datetime

    from aria_dream.notes.dream_note_grammar import Outcome
    from aria_dream.notes.ticks import Tick


def with_ids(text: str, id_: str, lost: Iterable[tuple[int, str]]) -> str:
    """`text` with the id back at the end of each line in `lost` (1-based, and what stands behind the id)."""
    lines = _lines(text)
    for number, ending in lost:
        line = lines[number - 1]
        bare = line.rstrip()
        lines[number - 1] = f"{bare} ^aria-{id_}{ending}{line[len(bare) :]}"
    return "".join(lines)


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
    line and every other character, line ends included, stay as they are; so do words behind the boxes, but not the
    marks by which a plugin says that a box was ticked. The asking line goes with the boxes.
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
    lines[first - 1] = f"{_bullet(was)}{render_outcome(outcome, id_)}{_words(own)}{ending}"
    if first < last and not lines[last - 1].endswith(("\n", "\r")):
        lines[first - 1] = lines[first - 1].rstrip("\r\n")
    return "".join(line for number, line in enumerate(lines, start=1) if number not in gone)


_COMPLETED = re.compile(
    r"[✅❌]\ufe0f?\s*\d{4}-\d{2}-\d{2}|\[(?:completion|cancelled)::[^\]]*\]|\((?:completion|cancelled)::[^)]*\)"
)

_LABEL = re.compile(r"[*_~\s]*(?:link them|knew it|never again)[*_~\s]*", re.IGNORECASE)


def _words(own: Iterable[tuple[int, str, bool]]) -> str:
    """What a person or a plugin has written behind these lines, to stand behind one of them; ticking left it alone."""
    said = []
    for _, line, is_decided in own:
        before, _, _ = line.partition("^aria-")
        found = read_id(line)
        if is_decided:  # an id that was moved to the front has our own sentence behind it
            words = found[2] if found and re.search(r"\w{2}", before) else ""
        else:
            words = _LABEL.sub("", box_text(line), count=1)
        said.append(" ".join(_COMPLETED.sub("", words).split()))
    return "".join(f" {words}" for words in dict.fromkeys(said) if words)


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
    """`text` with the decided line of `id_` become its boxes again; unchanged where there is no such line."""
    own = [(number, was) for number, was, is_decided in _own_lines(text, id_) if is_decided]
    if not own:
        return text
    lines = _lines(text)
    number, was = own[0]
    ending = lines[number - 1][len(lines[number - 1].rstrip("\r\n")) :]
    words = _words([(number, was, True)])
    boxes = [f"[ ] {label} ^aria-{id_}{ENDINGS[what]}" for what, label in LABELS.items()]
    boxes[0] += words
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
