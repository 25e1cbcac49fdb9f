"""Where a list of related notes goes on: the end of the list under its heading, or a new section at the note's end."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from aria_dream.markdown.note import fold_heading
from aria_dream.markdown.prose import read_prose
from aria_dream.vault.edit import Edit, Refusal, WritePlan, decode_note, line_end, plan_append

if TYPE_CHECKING:
    from aria_dream.markdown.note import Heading, Note, NotePath
    from aria_dream.markdown.prose import BodyBlock

_MARKER: Final = re.compile(r"([ \t]*)([-*+]|(\d{1,9})([.)]))([ \t]{1,4})(?:\[.\][ \t])?")


@dataclass(frozen=True, slots=True, kw_only=True)
class Insertion:
    """One insertion into a note."""

    edit: Edit
    heading: str = ""
    """Text of the heading that it makes; `""` where the note has one."""


def plan_bullet(path: NotePath, before: bytes, note: Note, said: str, heading: str) -> Insertion | Refusal:
    """The insertion of the bullet `said` under the first top-level `heading`, in any case and at any level.

    It continues the section's last list in that list's marks. Where the section has no list it starts one, behind the
    section's last paragraph; where there is no such heading, a section at the note's end. A section ends at the next
    heading of any level, or at a rule.
    """
    found = find_section(note, heading)
    if found is None:
        return _plan_section(path, before, said, heading)
    text, end = note.text, line_end(note.text)
    start, stop = _section(note, found)
    blocks = [block for block in read_prose(note).blocks if start <= block.start < stop]
    stop = next((block.start for block in blocks if block.kind == "rule"), stop)
    blocks = [block for block in blocks if block.start < stop and not _is_hidden(note, block.start)]
    lists = [block for block in blocks if block.kind == "list"]
    if lists:
        return Insertion(edit=Edit(lists[-1].end, lists[-1].end, end + _next_marker(text, lists[-1]) + said))
    paragraphs = [block for block in blocks if block.kind == "paragraph"]
    at = _line_stop(text, paragraphs[-1].end if paragraphs else found.span.end)
    behind = text[at:].removeprefix("\r\n").removeprefix("\n")
    crowded = bool(behind) and not re.match(r"[ \t]*(?:\r?\n|\Z)", behind)
    return Insertion(edit=Edit(at, at, f"{end}{end}- {said}{end if crowded else ''}"))


def find_section(note: Note, heading: str) -> Heading | None:
    """The first heading at the top level of the body whose text is `heading`, but for case and punctuation."""
    wanted = fold_heading(heading)
    for found in note.headings:
        line = note.text[note.text.rfind("\n", 0, found.span.start) + 1 : found.span.start]
        is_it = bool(wanted) and fold_heading(found.text) == wanted and not line.strip(" \ufeff")
        if is_it and not _is_hidden(note, found.span.start):
            return found
    return None


def _is_hidden(note: Note, at: int) -> bool:
    return any(span.start <= at < span.end for span in note.opaque)


def _section(note: Note, heading: Heading) -> tuple[int, int]:
    later = (other.span.start for other in note.headings if other.span.start > heading.span.start)
    return heading.span.end, next(later, len(note.text))


def _line_stop(text: str, at: int) -> int:
    """The end of the line that `at` lies in, its line end excluded."""
    stop = text.find("\n", at)
    stop = len(text) if stop < 0 else stop
    return stop - 1 if stop > at and text[stop - 1] == "\r" else stop


def _next_marker(text: str, block: BodyBlock) -> str:
    """What the next item of a list begins with: its indentation, its mark, the next number."""
    start = text.rfind("\n", 0, block.start) + 1
    items = [
        found
        for line in re.finditer(r"^.*$", text[start : block.end], re.MULTILINE)
        if (found := _MARKER.match(line[0]))
    ]
    if not items:
        return "- "
    first = items[0]
    if first[3] is None:
        return first[1] + first[2] + first[5]
    numbers = [int(item[3]) for item in items if item[3] is not None and item[1] == first[1]]
    return f"{first[1]}{min(numbers[-1] + 1, 999_999_999)}{first[4]}{first[5]}"


def _plan_section(path: NotePath, before: bytes, said: str, heading: str) -> Insertion | Refusal:
    plan = plan_append(path, before, f"## {heading}\n\n- {said}")
    if isinstance(plan, Refusal):
        return plan
    text, new = decode_note(before), decode_note(_content(plan))
    added = new[len(text) :]
    if text.strip("\ufeff") and not text.endswith(("\n", "\r")):
        added = added.rstrip("\r\n")  # a note without a last line end stays one
    return Insertion(edit=Edit(len(text), len(text), added), heading=heading)


def _content(plan: WritePlan) -> bytes:
    assert plan.content is not None  # an append removes nothing
    return plan.content
