"""Copies that a sync made of our own notes, merged into the notes they are copies of and put into the trash."""

from __future__ import annotations

from typing import TYPE_CHECKING

from aria_dream.consolidate.open_list import merged_list, with_list
from aria_dream.consolidate.open_lists import LISTS, without_lists
from aria_dream.errors import Problem
from aria_dream.markdown.note import NotePath, decode_note
from aria_dream.review.conflict_copies import LeftAlone, merge_reviews, merge_sections
from aria_dream.vault.edit import ChangeSet, Move, WritePlan, content_hash, encode_note
from aria_dream.vault.names import fold_path
from aria_dream.world import Absent, Content, Written

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from aria_dream.adapters.index.index import VaultIndex
    from aria_dream.adapters.watch.own_notes import OwnNotes
    from aria_dream.world import VaultFiles


def merge_conflict_copies(
    index: VaultIndex, own: OwnNotes, files: VaultFiles, is_open: Callable[[str], bool]
) -> tuple[Problem, ...]:
    """A Problem for each copy that a person has to merge; all others are merged, and in `.trash` now.

    `is_open`: whether a proposal may still be waiting (one that this machine never heard of may).
    """
    problems = []
    for original, copy in _copies(index, own):
        reason = _merge(index, own, files, original, copy, is_open)
        if reason:
            said = f"a sync made this copy of “{original}”, and {reason}; merge it by hand and remove it"
            problems.append(Problem(copy, 0, said))
    return tuple(problems)


def _copies(index: VaultIndex, own: OwnNotes) -> Iterator[tuple[str, str]]:
    """Each of our notes that has a copy which bears our marker too, and the copy."""
    ours = {fold_path(path): path for path in (*own.logs, own.review, own.seeds) if path}
    for copy, original in sorted(index.scan.copies.items()):
        note = ours.get(fold_path(original))
        if note is not None and index.linkage.source_of(copy) is not None:
            marker = index.facts_of(copy).marker
            if marker and marker.lower() == index.facts_of(note).marker.lower():
                yield note, copy


def _merge(
    index: VaultIndex, own: OwnNotes, files: VaultFiles, original: str, copy: str, is_open: Callable[[str], bool]
) -> str:
    """Why the copy stays; `""` where it is merged."""
    found = [files.read(NotePath(path)) for path in (original, copy)]
    if any(isinstance(one, Absent) for one in found):
        return ""  # gone since the vault was looked at
    if not (isinstance(found[0], Content) and isinstance(found[1], Content)):
        return "one of them cannot be read"
    before, text = found[0].data, decode_note(found[1].data)
    merge = _merge_reviews if original == own.review else _merge_sections
    merged = merge(decode_note(before), text, is_open)
    if isinstance(merged, LeftAlone):
        return merged.reason
    after = encode_note(merged)
    writes = (
        (WritePlan(path=NotePath(original), expected_hash=content_hash(before), content=after),)
        if after != before
        else ()
    )
    move = Move(source=NotePath(copy), destination=_trash_place(index, copy), expected_hash=found[1].hash)
    outcome = files.write(ChangeSet(writes=writes, moves=(move,)), label="merge of a sync's copy")
    return "" if isinstance(outcome, Written) else getattr(outcome, "reason", "its place in the trash is taken")


def _merge_sections(text: str, copy: str, _is_open: Callable[[str], bool]) -> str | LeftAlone:
    return merge_sections(text, copy)


def _merge_reviews(text: str, copy: str, is_open: Callable[[str], bool]) -> str | LeftAlone:
    """The review note with the ticks of both in all its lists."""
    blocks = {}
    for name in LISTS:
        blocks[name], problems = merged_list(text, copy, name, is_open)
        if problems:
            return LeftAlone(f"the list “{name}” in one of them was edited")
    merged = merge_reviews(text, copy, is_open, without=without_lists)
    if isinstance(merged, LeftAlone):
        return merged
    for name, block in blocks.items():
        merged, _ = with_list(merged, name, block)
    return merged


def _trash_place(index: VaultIndex, copy: str) -> NotePath:
    """Where the copy lies in `.trash`: under its own path, with a number where that is taken."""
    stem, dot, ending = copy.rpartition(".")
    number = 1
    place = NotePath(".trash", copy)
    while (index.root / place).exists():
        number += 1
        place = NotePath(".trash", f"{stem} {number}{dot}{ending}")
    return place
