"""Copies that a sync made because two machines wrote one of our notes, merged by what they say. Pure.

What both say stands once, what only one says is added, and a decision made in either holds. Words that a writer
changed in one of them are not guessed about: then the copy stays, for a person to merge.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from aria_dream.markdown.properties import find_frontmatter
from aria_dream.notes.boxes import bears_id, parse_box
from aria_dream.notes.change_grammar import DecidedChange, LoggedChange
from aria_dream.notes.dream_note_grammar import parse_outcome
from aria_dream.notes.review_note import ReviewItem, read_managed, with_managed
from aria_dream.vault.edit import line_end

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Sequence

    from aria_dream.notes.change_grammar import ChangeItem


@dataclass(frozen=True, slots=True)
class LeftAlone:
    """The two cannot be merged without guessing."""

    reason: str
    """In words, without a full stop."""


def merge_sections(text: str, copy: str) -> str | LeftAlone:
    """`text` with what only `copy` says: for dream notes and seeds, whose level-2 headings stand for one thing each.

    New sections are added at the end. Of one that both have, only decisions and a seed's status may differ.
    """
    end = line_end(text)
    ours, theirs = _sections(text), _sections(copy)
    if _preamble(ours[0].lines) != _preamble(theirs[0].lines):
        return LeftAlone("what stands above the first heading differs")
    numbers = {section.key: number for number, section in enumerate(ours)}
    merged = [section.lines for section in ours]
    added: list[tuple[str, ...]] = []
    for section in theirs[1:]:
        number = numbers.get(section.key)
        if number is None:
            added.append(section.lines)
            continue
        both = _merge_lines(merged[number], section.lines)
        if both is None:
            return LeftAlone(f"both have the section “{section.key[0]}”, and their words differ")
        merged[number] = both
    lines = [line for section in merged for line in section]
    if not added:
        return text if tuple(lines) == _lines(text) else end.join(lines)
    while lines and not lines[-1].strip():
        lines.pop()
    for section_lines in added:
        lines += ["", *_trimmed(section_lines)]
    return end.join([*lines, ""])


@dataclass(frozen=True, slots=True, kw_only=True)
class _Section:
    key: tuple[str, int]
    """The heading, and which of its name it is."""
    lines: tuple[str, ...]


def _lines(text: str) -> tuple[str, ...]:
    return tuple(re.split(r"\r\n|\n|\r", text))


def _sections(text: str) -> list[_Section]:
    """The preamble, and a section for each level-2 heading outside code; together they are all lines."""
    found: list[tuple[str, list[str]]] = [("", [])]
    fence = ""
    for line in _lines(text):
        mark = re.match(r"[ \t>]*(`{3,}|~{3,})", line)
        if fence:
            fence = "" if mark is not None and mark[1].startswith(fence) else fence
        elif mark is not None:
            fence = mark[1]
        elif re.match(r"##[ \t]", line):
            found.append((line.strip(), []))
        found[-1][1].append(line)
    seen: dict[str, int] = {}
    sections = []
    for heading, lines in found:
        seen[heading] = seen.get(heading, 0) + 1
        sections.append(_Section(key=(heading, seen[heading]), lines=tuple(lines)))
    return sections


def _preamble(lines: Sequence[str]) -> list[str]:
    """The lines above the first section as far as they matter; whose day it is does not."""
    text = "\n".join(lines)
    found = find_frontmatter(text)
    stop = 0 if found is None else found.end
    kept = [line.rstrip() for line in _lines(text[:stop]) if not line.startswith("host:")]
    return [line for line in (*kept, *(line.rstrip() for line in _lines(text[stop:]))) if line]


def _trimmed(lines: Sequence[str]) -> Sequence[str]:
    last = max((number for number, line in enumerate(lines) if line.strip()), default=-1)
    return lines[: last + 1]


_STATUS = re.compile(r"(?P<before>\W*status[^\w:]*:\W*)(?P<value>open|dreamt)\b(?P<after>.*)", re.IGNORECASE)


def _merge_lines(ours: Sequence[str], theirs: Sequence[str]) -> tuple[str, ...] | None:
    """Our lines with the decisions of both; None where anything else differs."""
    mine, yours = _Decisions(ours), _Decisions(theirs)
    if mine.others != yours.others or mine.order != yours.order:
        return None
    out: list[str] = []
    done: set[str] = set()
    for line in ours:
        id_ = _decision_id(line)
        if id_ is None:
            out.append(_with_status(line, dreamt=mine.dreamt or yours.dreamt))
        elif id_ not in done:
            done.add(id_)
            out += _decided(mine.groups[id_], yours.groups[id_])
    return tuple(out)


class _Decisions:
    """The lines of a section, those that decide apart from the others."""

    def __init__(self, lines: Sequence[str]) -> None:
        self.groups: dict[str, list[str]] = {}
        self.others: list[str] = []
        self.dreamt = False
        for line in lines:
            id_ = _decision_id(line)
            status = _STATUS.fullmatch(line)
            if id_ is not None:
                self.groups.setdefault(id_, []).append(line)
            elif status is not None:
                self.dreamt = self.dreamt or status["value"].lower() == "dreamt"
                self.others.append(_with_status(line, dreamt=False).rstrip())
            elif line.strip():
                self.others.append(line.rstrip())
        self.order = list(self.groups)


def _decision_id(line: str) -> str | None:
    if not bears_id(line):
        return None
    box, decided = parse_box(line), parse_outcome(line)
    return decided[0] if decided is not None else None if box is None else box.id


def _with_status(line: str, *, dreamt: bool) -> str:
    found = _STATUS.fullmatch(line)
    if found is None:
        return line
    value = "dreamt" if dreamt else "open"
    return line if found["value"].lower() == value else f"{found['before']}{value}{found['after']}"


def _decided(ours: list[str], theirs: list[str]) -> list[str]:
    """What one pair's lines say together: an outcome before boxes, ours before theirs, a tick before none."""
    for lines in (ours, theirs):
        if any(parse_outcome(line) for line in lines):
            return lines
    ticked = {(box.id, box.what) for line in theirs if (box := parse_box(line)) is not None and box.ticked}
    return [_ticked(line, ticked) for line in ours]


def _ticked(line: str, wanted: Collection[tuple[str, str]]) -> str:
    box = parse_box(line)
    if box is None or box.ticked or (box.id, box.what) not in wanted:
        return line
    return re.sub(r"\[.\]", "[x]", line, count=1)


def merge_reviews(
    text: str, copy: str, is_open: Callable[[str], bool], *, without: Callable[[str], str] = lambda around: around
) -> str | LeftAlone:
    """The review note with the ticks of both, and what only `copy` lists as far as `is_open` says so of the ids.

    What stands around the list must say the same in both, once `without` has taken out what is merged elsewhere.
    """
    ours, _ = read_managed(text)
    theirs, _ = read_managed(copy)
    if ours is None or theirs is None:
        return LeftAlone("the list in one of them was edited")
    around = (text[: ours.start] + text[ours.end :], copy[: theirs.start] + copy[theirs.end :])
    if _said(without(around[0])) != _said(without(around[1])):
        return LeftAlone("what stands around the list differs")
    listed = {item.pair.id: item for item in theirs.items}
    items = [_both(item, listed.pop(item.pair.id, None)) for item in ours.items]
    items += [item for item in listed.values() if is_open(item.pair.id)]
    changes = _merge_changes(ours.changes, theirs.changes, is_open)
    same = tuple(items) == ours.items and changes == ours.changes
    return text if same else with_managed(text, ours, items, changes)


def _merge_changes(
    ours: Sequence[ChangeItem], theirs: Sequence[ChangeItem], is_open: Callable[[str], bool]
) -> tuple[ChangeItem, ...]:
    listed = {change.id: change for change in theirs}
    both = [_both_changes(change, listed.pop(change.id, None)) for change in ours]
    more = (change for change in listed.values() if isinstance(change, DecidedChange) or is_open(change.id))
    return (*both, *more)


def _both_changes(change: ChangeItem, other: ChangeItem | None) -> ChangeItem:
    """A line that was decided before one with boxes; ticks of both, where both show the same text."""
    match change, other:
        case LoggedChange(), DecidedChange():
            return other
        case DecidedChange(), DecidedChange() if change.said == other.said:
            return replace(change, undo_ticked=change.undo_ticked or (other.undo_ticked and bool(change.undo_until)))
        case LoggedChange(), LoggedChange() if change.mark == other.mark:
            return replace(
                change,
                approve_ticked=change.approve_ticked or other.approve_ticked,
                never_ticked=change.never_ticked or other.never_ticked,
            )
        case _:
            return change


def _said(text: str) -> list[str]:
    return [line.rstrip() for line in _lines(text) if line.strip()]


def _both(item: ReviewItem, other: ReviewItem | None) -> ReviewItem:
    if other is None:
        return item
    pair = replace(
        item.pair,
        ticked=item.pair.ticked | other.pair.ticked,
        outcome=item.pair.outcome or other.pair.outcome,
    )
    return replace(item, pair=pair)
