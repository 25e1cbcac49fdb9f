"""Two or more notes become one: text, properties, every link of the vault, and what goes in the trash, as one change.

**Trash.** `trashOption` `local` moves the note to `.trash/`, under its own path. `none` (delete for good) is treated
the same, since a merge can be undone. So is `system`: the desktop's bin has no interface that works without a desktop,
on three systems, and gives a note back byte for byte; a note in `.trash/` is out of the vault for Obsidian as well.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING

from aria_dream.markdown.ending import open_ending
from aria_dream.markdown.note import NotePath, fold_heading, parse_note
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
from aria_dream.vault.names import fold_path
from aria_dream.vault.resolve import Resolver

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from aria_dream.errors import Problem
    from aria_dream.markdown.note import Note
    from aria_dream.review.plan import VaultView

_FOOTNOTE_LABEL = re.compile(r"\[\^([^\]\s^]{1,80})\]")
_DEEPEST = 6


def plan_merge(view: VaultView, keep: NotePath, drop: NotePath, *, body: str | None = None) -> Planned | Refusal:
    """`plan_merge_all` for one note that goes."""
    return plan_merge_all(view, keep, (drop,), body=body)


def plan_merge_all(
    view: VaultView,
    keep: NotePath,
    drops: Sequence[NotePath],
    *,
    body: str | None = None,
    subpaths: Mapping[tuple[str, str], str] = MappingProxyType({}),
) -> Planned | Refusal:
    """The one change that makes every note of `drops` a part of `keep`, or why there is none.

    `body` is the exact text that `keep` is to have behind its frontmatter; without it the bodies of `drops` are
    appended in their order, each under a heading with its name. `subpaths` says where in `body` a heading or block of
    a dropped note is found, as `Meaning.subpaths` does. Tags and aliases are united, the old names become aliases,
    properties that `keep` lacks are taken over in their own spelling, and where two notes differ `keep`'s stays and is
    told. Links to `drops` lead to `keep`, block ids and footnotes that both have are renamed in what comes in.
    """
    refusal = _refusal(view, keep, drops)
    if refusal is not None:
        return refusal
    parts = _parts(view, keep, drops, with_text=body is None)
    renamed = {(str(part.path), old): new for part in parts for old, new in part.subpaths.items()}
    meaning = Meaning(
        before=view.resolver(),
        after=Resolver([path for path in view.files if NotePath(path) not in drops]),
        moved={str(drop): str(keep) for drop in drops},
        subpaths={**renamed, **subpaths},
        unembed={str(keep): ""},
        within={str(part.path): part.subpath for part in parts},
    )
    problems: list[Problem] = []
    merged = _merged(view, keep, parts, meaning, body, problems)
    if isinstance(merged, Refusal):
        return merged
    others, left = retarget_others(view, meaning, skip=(str(keep), *map(str, drops)))
    taken = {fold_path(path) for path in view.trashed}
    moves = []
    for drop in drops:
        place = trash_place(taken, drop)
        taken.add(fold_path(str(place)))
        moves.append(Move(source=drop, destination=place, expected_hash=content_hash(view.contents[drop])))
    changes = ChangeSet(writes=(merged, *others), moves=tuple(moves))
    return safety_refusal(changes, view) or planned(changes, view.contents, problems=(*problems, *left))


def _parts(view: VaultView, keep: NotePath, drops: Sequence[NotePath], *, with_text: bool) -> list[_Incoming]:
    """What comes from each note; no two use one block id, footnote or heading that a link needs."""
    so_far = decode_note(view.contents[keep])
    parts = []
    for drop in drops:
        part = _incoming(parse_note(so_far), parse_note(decode_note(view.contents[drop])), drop, with_text=with_text)
        parts.append(part)
        if with_text and len(drops) > 1:
            named = apply_edits(part.note.text, list(part.edits))[part.note.body_start :]
            so_far = f"{so_far}\n\n{part.heading}\n\n{named}"
    return parts


@dataclass(frozen=True, slots=True, kw_only=True)
class _Incoming:
    """What comes from a dropped note, before its links are settled."""

    path: NotePath
    note: Note
    heading: str
    """The line of the heading under which its text is put."""
    edits: tuple[Edit, ...]
    """Renamed block ids and footnotes."""
    subpaths: Mapping[str, str]
    """`subpath_key` of a subpath to the one that takes its place."""
    subpath: str
    """The subpath that leads to its text."""


def _incoming(kept: Note, note: Note, path: NotePath, *, with_text: bool) -> _Incoming:
    if not with_text:
        return _Incoming(path=path, note=note, heading="", edits=(), subpaths={}, subpath="")
    title = _stem(path)
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
        path=path,
        note=note,
        heading=f"{'#' * level} {name}",
        edits=tuple(edits),
        subpaths=subpaths,
        subpath=f"#{name}",
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
    parts: Sequence[_Incoming],
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
    problems += left
    for part in parts:
        more, also_left = retarget_note(part.note.text, str(part.path), meaning, source_after=str(keep))
        own = [edit for edit in part.edits if not any(edit.start < link.end and link.start < edit.end for link in more)]
        dropped = parse_note(apply_edits(part.note.text, [*more, *own]))
        problems += also_left
        merged = merge_properties(text, dropped, alias=_stem(part.path), own_name=_stem(keep), path=str(keep))
        if isinstance(merged, Refusal):
            return merged
        text, disagreements = merged
        problems += disagreements
        if body is None:
            said = _own_text(dropped, _stem(part.path))
            plan = plan_append(keep, encode_note(text), f"{part.heading}\n\n{said}" if said else part.heading)
            if isinstance(plan, Refusal):
                return plan
            text = decode_note(plan.content or b"")
    inside = open_ending(text) if body is not None else None
    if inside:
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


def _refusal(view: VaultView, keep: NotePath, drops: Sequence[NotePath]) -> Refusal | None:
    if keep in drops or len(set(drops)) < len(drops):
        return Refusal(f"{keep if keep in drops else drops[0]} cannot be merged into itself")
    if not drops:
        return Refusal(f"there is nothing to merge into {keep}")
    for path in (keep, *drops):
        if path not in view.contents:
            return Refusal(f"{path} is not in the vault (any more)")
        reason = note_refusal(path, view.contents[path])
        if reason:
            return Refusal(reason)
        if is_ours(view.contents[path]):
            return Refusal(f"{path} is written by aria-dream and is no part of a merge")
    return None


def trash_place(taken: Collection[str], drop: NotePath) -> NotePath:
    """Where the note lies in `.trash`: under its own path, with a number where that is taken (folded paths)."""
    place = NotePath(TRASH, *drop.parts)
    number = 1
    while fold_path(str(place)) in taken:
        place = NotePath(TRASH, *drop.parts[:-1], f"{drop.stem} {number}{drop.suffix}")
        number += 1
    return place


def _stem(path: NotePath) -> str:
    return path.name[: -len(path.suffix)]
