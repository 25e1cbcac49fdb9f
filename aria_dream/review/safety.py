"""Which files a proposal may touch, wherever it came from: a journal edited by hand, a merged sync, a model, a page.

The paths are text to this module and are looked at before any call to the file system. What only the disk can tell
(symbolic links, what lies where now) is checked by `adapters/disk/files` when it writes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from aria_dream.markdown.note import NotePath
from aria_dream.markdown.properties import find_frontmatter, named, parse_properties
from aria_dream.vault.edit import ABSENT, Refusal, changes_refusal, decode_note
from aria_dream.vault.names import INSTRUCTION_NOTES, colliding_path, fold_path, parse_target, path_refusal

if TYPE_CHECKING:
    from collections.abc import Mapping

    from aria_dream.review.plan import VaultView
    from aria_dream.vault.edit import ChangeSet, Move, WritePlan

TRASH: Final = ".trash"
OUR_MARK: Final = "aria-dream"
"""The property that all notes of ours bear."""


def safety_refusal(changes: ChangeSet, view: VaultView) -> Refusal | None:
    """Why no proposal may make these changes; None where each is to a note of the writer's.

    Allowed are: writing a note or a canvas that is in the vault, creating a note under a portable name that is free,
    removing a note, and moving one to such a name or into the vault's own `.trash`.
    """
    wrong = changes_refusal(changes)
    if wrong is not None:
        return Refusal(f"{str(wrong[0])!a}: {wrong[1]}")
    for plan in changes.writes:
        refusal = _write_refusal(plan, view)
        if refusal is not None:
            return refusal
    for move in changes.moves:
        refusal = _source_refusal(move.source, view) or _goal_refusal(move, view)
        if refusal is not None:
            return refusal
    return None


def _write_refusal(plan: WritePlan, view: VaultView) -> Refusal | None:
    if plan.expected_hash != ABSENT:
        return _source_refusal(plan.path, view)
    target = parse_target(str(plan.path), [NotePath(path) for path in view.protected])
    if isinstance(target, Refusal):
        return target
    other = colliding_path(plan.path, map(NotePath, view.files))
    return _refused(plan.path, f"{other} is there already") if other is not None else None


def _source_refusal(path: NotePath, view: VaultView) -> Refusal | None:
    """Why this file, which must exist, may not be changed. Its name may be one that only this system holds."""
    said = str(path)
    outside = path.is_absolute() or ".." in path.parts or not path.parts
    if outside or any(part.startswith(".") for part in path.parts[:-1]):
        return _refused(path, "it lies outside the vault or in a hidden folder")
    if said not in view.files:
        return _refused(path, "there is no such note")
    if path.suffix.lower() not in (".md", ".canvas"):
        return _refused(path, "only notes are written")
    return protected_refusal(path, view.contents, view.protected)


def protected_refusal(path: NotePath, contents: Mapping[NotePath, bytes], protected: frozenset[str]) -> Refusal | None:
    """Why the note is none of the writer's that a proposal may change: policy, one of ours, instructions."""
    folded = fold_path(str(path))
    if folded in map(fold_path, protected) or is_ours(contents.get(path, b"")):
        return _refused(path, "this note sets policy or is written by aria-dream; no proposal changes it")
    if folded.rsplit("/", 1)[-1] in INSTRUCTION_NOTES:
        return _refused(path, "other programs obey this note as instructions")
    return None


def _goal_refusal(move: Move, view: VaultView) -> Refusal | None:
    path = move.destination
    if path.parts[:1] == (TRASH,) and path.parts != (TRASH,):
        return _trash_refusal(path, view)
    target = parse_target(str(path), [NotePath(protected) for protected in view.protected])
    if isinstance(target, Refusal):
        return target
    other = colliding_path(path, (NotePath(file) for file in view.files if file != str(move.source)))
    return _refused(path, f"{other} is there already") if other is not None else None


def _trash_refusal(path: NotePath, view: VaultView) -> Refusal | None:
    reason = path_refusal(path, trash=True)
    if reason is None and colliding_path(path, map(NotePath, view.trashed)) is not None:
        reason = "something of that name is in the trash already"
    return _refused(path, reason) if reason else None


def is_ours(content: bytes) -> bool:
    """Whether a note bears our mark in its frontmatter."""
    if OUR_MARK.encode() not in content:
        return False
    text = decode_note(content)
    frontmatter = find_frontmatter(text)
    if frontmatter is None:
        return False
    properties, _ = parse_properties(text[frontmatter.start : frontmatter.end])
    return named(properties, OUR_MARK) is not None


def _refused(path: NotePath, reason: str) -> Refusal:
    return Refusal(f"{str(path)[:80]!a}: {reason}")
