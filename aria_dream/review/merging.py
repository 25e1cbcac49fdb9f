"""Two notes become one: text, properties, every link of the vault, and the second note in the trash, as one change.

**Trash.** `trashOption` `local` moves the note to `.trash/`, under its own path. `none` (delete for good) is treated
the same, since a merge can be undone. So is `system`: the desktop's bin has no interface that works without a desktop,
on three systems, and gives a note back byte for byte; a note in `.trash/` is out of the vault for Obsidian as well.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from aria_dream.review.inbound import retarget_others
from aria_dream.review.plan import Planned, planned
from aria_dream.review.properties_merged import merge_properties
from aria_dream.review.rewriting import Meaning, apply_edits, retarget_note, subpath_key
from aria_dream.review.safety import TRASH, is_ours, safety_refusal
from aria_dream.vault.edit import (
    ChangeSet,
    Edit,
    Move,
    Refusal,
    WritePlan,
    content_hash,
    decode_note,
    encode_note,
    line_end,
    note_refusal,
    plan_append,
    with_line_ends,
)
from aria_dream.vault.ending import open_ending
from aria_dream.vault.names import fold_path
from aria_dream.vault.note import NotePath, parse_note
from aria_dream.vault.resolve import Resolver
from aria_dream.vault.subpath import fold_heading

if TYPE_CHECKING:
    from collections.abc import Mapping

    from aria_dream.errors import Problem
    from aria_dream.review.plan import VaultView
    from aria_dream.vault.note import Note

_FOOTNOTE_LABEL = re.compile(r"\[\^([^\]\s^]{1,80})\]")
_DEEPEST = 6


def plan_merge(view: VaultView, keep: NotePath, drop: NotePath, *, body: str | None = None) -> Planned | Refusal:
    """The change that makes `drop` a part of `keep`, or why there is none.

    `body` is the exact text that `keep` is to have behind its frontmatter; without it the body of `drop` is appended
    under a heading with its name. Tags and aliases are united, the old name becomes an alias, properties that only
    `drop` has are taken over in its own spelling, and where both have one and differ `keep`'s stays and is told. Links
    to `drop` lead to `keep`, block ids and footnotes that both have are renamed in what comes from `drop`.
    """
    refusal = _refusal(view, keep, drop)
    if refusal is not None:
        return refusal
    kept = parse_note(decode_note(view.contents[keep]))
    part = _incoming(kept, parse_note(decode_note(view.contents[drop])), _stem(drop), with_text=body is None)
    files_after = [path for path in view.files if path != str(drop)]
    meaning = Meaning(
        before=view.resolver(),
        after=Resolver(files_after),
        moved={str(drop): str(keep)},
        subpaths={(str(drop), old): new for old, new in part.subpaths.items()},
        unembed={str(keep): part.subpath},
    )
    problems: list[Problem] = []
    merged = _merged(view, keep, drop, part, meaning, body, problems)
    if isinstance(merged, Refusal):
        return merged
    others, left = retarget_others(view, meaning, skip=(str(keep), str(drop)))
    move = Move(source=drop, destination=_trash_place(view, drop), expected_hash=content_hash(view.contents[drop]))
    changes = ChangeSet(writes=(merged, *others), moves=(move,))
    return safety_refusal(changes, view) or planned(changes, view.contents, problems=(*problems, *left))


@dataclass(frozen=True, slots=True, kw_only=True)
class _Incoming:
    """What comes from the dropped note, before its links are settled."""

    note: Note
    heading: str
    """The line of the heading under which its text is put."""
    edits: tuple[Edit, ...]
    """Renamed block ids and footnotes."""
    subpaths: Mapping[str, str]
    """`subpath_key` of a subpath to the one that takes its place."""
    subpath: str
    """The subpath that leads to its text."""


def _incoming(kept: Note, note: Note, title: str, *, with_text: bool) -> _Incoming:
    if not with_text:
        return _Incoming(note=note, heading="", edits=(), subpaths={}, subpath="")
    name = _as_step(title) or "Merged"
    levels = [heading.level for heading in note.headings if heading.text.strip().lower() != title.lower()]
    level = min(2, max(1, min(levels, default=3) - 1))
    subpaths: dict[str, str] = {subpath_key(title): f"#{name}"}
    edits: list[Edit] = []
    taken = {block.name.lower() for block in (*kept.block_ids, *note.block_ids)}
    for block in note.block_ids:
        if any(block.name.lower() == other.name.lower() for other in kept.block_ids):
            new = next(made for n in range(2, 10_000) if (made := f"{block.name}-{n}").lower() not in taken)
            taken.add(new.lower())
            subpaths[subpath_key(f"^{block.name}")] = f"#^{new}"
            edits.append(Edit(block.span.start, block.span.end, f"^{new}"))
    in_both = {fold_heading(heading.text) for heading in kept.headings}
    for heading in note.headings:
        if fold_heading(heading.text) in in_both and level < heading.level <= _DEEPEST:
            subpaths.setdefault(subpath_key(heading.text), f"#{name}#{_as_step(heading.text)}")
    edits += _footnotes(kept, note)
    return _Incoming(
        note=note, heading=f"{'#' * level} {name}", edits=tuple(edits), subpaths=subpaths, subpath=f"#{name}"
    )


def _as_step(heading: str) -> str:
    """A heading as a link can name it: what would end the link or the step is left out, as in the comparison."""
    return " ".join(re.sub(r"[#|^\[\]]|%%", " ", heading).split())


def _footnotes(kept: Note, note: Note) -> list[Edit]:
    """Every footnote label that both notes use gets a number of its own in the second."""
    used = {label.lower() for label in _FOOTNOTE_LABEL.findall(kept.text[kept.body_start :])}
    taken = used | {label.lower() for label in _FOOTNOTE_LABEL.findall(note.text[note.body_start :])}
    renamed: dict[str, str] = {}
    edits = []
    for found in _FOOTNOTE_LABEL.finditer(note.text, note.body_start):
        label = found[1]
        if label.lower() not in used or any(span.start <= found.start() < span.end for span in note.opaque):
            continue
        if label.lower() not in renamed:
            new = next(made for n in range(2, 10_000) if (made := f"{label}-{n}").lower() not in taken)
            taken.add(new.lower())
            renamed[label.lower()] = new
        edits.append(Edit(found.start(1), found.end(1), renamed[label.lower()]))
    return edits


def _merged(
    view: VaultView,
    keep: NotePath,
    drop: NotePath,
    part: _Incoming,
    meaning: Meaning,
    body: str | None,
    problems: list[Problem],
) -> WritePlan | Refusal:
    """The kept note's new content, links settled."""
    text = decode_note(view.contents[keep])
    if body is not None:
        start = parse_note(text).body_start
        text = text[:start] + with_line_ends(body, line_end(text))
    edits, left = retarget_note(text, str(keep), meaning)
    text = apply_edits(text, edits)
    more, also_left = retarget_note(part.note.text, str(drop), meaning, source_after=str(keep))
    own = [edit for edit in part.edits if not any(edit.start < link.end and link.start < edit.end for link in more)]
    dropped = parse_note(apply_edits(part.note.text, [*more, *own]))
    problems += [*left, *also_left]
    merged = merge_properties(text, dropped, alias=_stem(drop), own_name=_stem(keep), path=str(keep))
    if isinstance(merged, Refusal):
        return merged
    text, disagreements = merged
    problems += disagreements
    if body is None:
        said = _own_text(dropped, _stem(drop))
        plan = plan_append(keep, encode_note(text), f"{part.heading}\n\n{said}" if said else part.heading)
        if isinstance(plan, Refusal):
            return plan
        text = decode_note(plan.content or b"")
    elif inside := open_ending(text):
        return Refusal(f"the merged text of {keep} would end inside {inside}")
    return WritePlan(path=keep, expected_hash=content_hash(view.contents[keep]), content=encode_note(text))


def _own_text(note: Note, title: str) -> str:
    """The body without a first heading that only repeats the note's name."""
    body = note.text[note.body_start :]
    first = next(iter(note.headings), None)
    if first is not None and first.level == 1 and first.text.strip().lower() == title.lower():
        before = note.text[note.body_start : first.span.start]
        if not before.strip():
            body = note.text[first.span.end :]
    return body.strip("\r\n")


def _refusal(view: VaultView, keep: NotePath, drop: NotePath) -> Refusal | None:
    if keep == drop:
        return Refusal(f"{keep} cannot be merged into itself")
    for path in (keep, drop):
        if path not in view.contents:
            return Refusal(f"{path} is not in the vault (any more)")
        reason = note_refusal(path, view.contents[path])
        if reason:
            return Refusal(reason)
        if is_ours(view.contents[path]):
            return Refusal(f"{path} is written by aria-dream and is no part of a merge")
    return None


def _trash_place(view: VaultView, drop: NotePath) -> NotePath:
    """Where the note lies in `.trash`: under its own path, with a number where that is taken."""
    taken = {fold_path(path) for path in view.trashed}
    place = NotePath(TRASH, *drop.parts)
    number = 1
    while fold_path(str(place)) in taken:
        place = NotePath(TRASH, *drop.parts[:-1], f"{drop.stem} {number}{drop.suffix}")
        number += 1
    return place


def _stem(path: NotePath) -> str:
    return path.name[: -len(path.suffix)]
