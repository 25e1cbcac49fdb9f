"""The smaller changes anybody may approve: a link, a text replaced, a note marked as obsolete.

Each comes out as one `Planned`, as merges do.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from aria_dream.judging.prompt_text import harmless_text
from aria_dream.markdown.note import NotePath, parse_note
from aria_dream.notes.plain_text import clean, escape_plain
from aria_dream.reach.citation import inert
from aria_dream.review.placement import AlreadyLinked, Placement, Style, Target, plan_link
from aria_dream.review.plan import Planned, planned
from aria_dream.review.safety import safety_refusal
from aria_dream.vault.edit import (
    ChangeSet,
    Edit,
    Refusal,
    decode_note,
    note_refusal,
    plan_edit,
)
from aria_dream.vault.property_edit import plan_property

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from aria_dream.review.plan import VaultView


@dataclass(frozen=True, slots=True, kw_only=True)
class Replacement:
    """A passage of one note that is to read otherwise."""

    path: NotePath
    old: str
    """Exactly as the note has it; it must stand there once."""
    new: str
    """`""` takes the passage out."""


def plan_placement(
    view: VaultView, path: NotePath, target: Target, *, again: bool = False, edge: str = ""
) -> Planned | AlreadyLinked | Refusal:
    """`placement.plan_link` as a change of the vault. `edge`: the name of the relation, as it was given."""
    before = view.contents.get(path)
    if before is None or target.path not in view.files:
        return Refusal(f"{path if before is None else target.path} is not in the vault (any more)")
    style = Style(
        resolver=view.resolver(),
        app=view.app,
        placement=view.placement,
        related_heading=view.related_heading,
        names=view.names,
    )
    found = plan_link(path, before, target, style, again=again, edge=escape_plain(inert(harmless_text(clean(edge)))))
    if not isinstance(found, Placement):
        return found
    return _safe(ChangeSet(writes=(found.plan,)), view, {path: (found.edit,)})


def plan_replacements(view: VaultView, replacements: Sequence[Replacement]) -> Planned | Refusal:
    """The change that replaces each passage, in as many notes as they name: an `update`, or a contradiction resolved.

    Refused where a passage is not there, or more than once: which of them was meant is never guessed.
    """
    edits: dict[NotePath, list[Edit]] = {}
    for one in replacements:
        before = view.contents.get(one.path)
        if before is None:
            return Refusal(f"{one.path} is not in the vault (any more)")
        reason = note_refusal(one.path, before)
        if reason:
            return Refusal(reason)
        text = decode_note(before)
        at = text.find(one.old) if one.old else -1
        if at < 0:
            return Refusal(f"the passage that was to change is not in {one.path} (any more)")
        if text.find(one.old, at + 1) >= 0:
            return Refusal(f"the passage that was to change is in {one.path} more than once")
        edits.setdefault(one.path, []).append(Edit(at, at + len(one.old), one.new))
    writes = []
    for path, found in edits.items():
        plan = plan_edit(path, view.contents[path], found)
        if isinstance(plan, Refusal):
            return plan
        writes.append(plan)
    return _safe(ChangeSet(writes=tuple(writes)), view, edits)


def section_text(text: str, heading: str) -> str | None:
    """The exact text of the first section whose heading reads `heading`, its heading line included, up to the next
    heading of its level or above; None where there is none. What `Replacement.old` may be."""
    note = parse_note(text)
    for number, found in enumerate(note.headings):
        if found.text == heading:
            start = text.rfind("\n", 0, found.span.start) + 1
            later = (other for other in note.headings[number + 1 :] if other.level <= found.level)
            stop = next((text.rfind("\n", 0, other.span.start) + 1 for other in later), len(text))
            return text[start:stop]
    return None


def plan_obsolete(
    view: VaultView, path: NotePath, key: str = "obsolete", value: object = True  # noqa: FBT002  # what is written
) -> Planned | Refusal:
    """The change that marks a note as obsolete by one property; its text stays."""
    before = view.contents.get(path)
    if before is None:
        return Refusal(f"{path} is not in the vault (any more)")
    reason = note_refusal(path, before)
    if reason:
        return Refusal(reason)
    edit = plan_property(decode_note(before), key, value)
    if isinstance(edit, Refusal):
        return Refusal(f"{path}: {edit.reason}")
    plan = plan_edit(path, before, (edit,))
    return plan if isinstance(plan, Refusal) else _safe(ChangeSet(writes=(plan,)), view, {path: (edit,)})


def _safe(changes: ChangeSet, view: VaultView, edits: Mapping[NotePath, Sequence[Edit]]) -> Planned | Refusal:
    return safety_refusal(changes, view) or planned(changes, view.contents, edits=edits)
