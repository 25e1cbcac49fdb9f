"""Which folder of a vault is its memory, by names alone, and what `init --memory` puts there."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import date
from typing import TYPE_CHECKING, Final

from aria_dream.markdown.note import NotePath
from aria_dream.policy.keys import Settings
from aria_dream.vault.names import fold_path

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable


USUAL_FOLDERS: Final = ("vault/memory", "memory")
LOG_NAME: Final = "DREAM_LOG.md"
LESSONS_NAME: Final = "runtime/LESSONS.jsonl"
OWN_NAMES: Final = frozenset({LOG_NAME, "LESSONS.jsonl", "LESSONS.md", "DREAMS.md"})
"""File names of what a synthesis writes, ours or another program's: never a source."""


def log_path(folder: str) -> NotePath:
    """The one Dream log of a memory folder. An older `runtime/DREAM_LOG.md` is nobody's input and nobody's output."""
    return NotePath(folder) / LOG_NAME


def lessons_path(folder: str) -> NotePath:
    return NotePath(folder) / LESSONS_NAME


def source_paths(settings: Settings) -> tuple[str, ...]:
    """Where the sources lie in the memory folder, as the policy says, in the order they are read."""
    return (
        settings.capsules_path,
        settings.session_log_path,
        settings.trust_decay_path,
        settings.honesty_ledger_path,
        settings.failed_experiments_path,
        settings.failure_modes_path,
        settings.capture_candidates_path,
    )


def is_memory(names: Iterable[str], settings: Settings) -> bool:
    """Whether a folder with these names in it (files and folders) is a memory and not a writer's notes *on* memory.

    It is where it is empty, or holds at least one thing that a memory keeps, under the policy's names or the usual
    ones: a policy that cannot be read makes no memory the writer's own notes. Dated notes are such a thing.
    """
    paths = (LOG_NAME, LESSONS_NAME, "MEMORY.md", *source_paths(settings), *source_paths(Settings()))
    known = {fold_path(path.split("/", 1)[0]) for path in paths if path}
    found = [fold_path(name) for name in names]
    return not found or any(name in known or day_of_name(name) for name in found)


def day_of_name(name: str) -> date | None:
    """The day that a file is of by its name (`2026-11-24.md`, `2026-11-24 Calendar.md`); None where it names none."""
    found = re.fullmatch(r"(\d{4}-\d{2}-\d{2})(?:[ _-].*)?\.md", name, re.IGNORECASE)
    try:
        return date.fromisoformat(found[1]) if found else None
    except ValueError:
        return None


def choose_new_folder(folders: Collection[str], wanted: str, is_ours: Callable[[str], bool]) -> str:
    """The folder that `init --memory` makes or completes; "" where every usual name is the writer's.

    `folders` are the folders of the vault. A memory that is there stays; `wanted` is the policy's `memory_folder`.
    """
    spelled = {fold_path(folder): folder for folder in folders}
    if wanted:
        return spelled.get(fold_path(wanted), wanted)
    usual = [(spelled.get(fold_path(folder), folder), fold_path(folder) in spelled) for folder in USUAL_FOLDERS]
    for folder, exists in usual:
        if exists and is_ours(folder):
            return folder
    has_vault = "vault" in spelled
    ordered = usual if has_vault else usual[::-1]
    return next((folder for folder, exists in ordered if not exists), "")


@dataclass(frozen=True, slots=True, kw_only=True)
class NewMemory:
    """What `init --memory` writes, keeps and says."""

    creates: tuple[tuple[str, str], ...] = ()
    """`(vault path, text)` of new files."""
    kept: tuple[str, ...] = ()
    said: tuple[str, ...] = ()


def plan_memory(folder: str, existing: Collection[str], is_linked: Callable[[str], bool]) -> NewMemory:
    """The two files that a synthesis appends to, where they are missing in `folder` ("": no name is free).

    A name that some link looks up already is not taken: the link would come to mean our file.
    """
    if not folder:
        taken = " and ".join(USUAL_FOLDERS)
        sentence = f"No memory was made: {taken} are your own folders. Name another as `memory_folder` in the policy."
        return NewMemory(said=(sentence,))
    from aria_dream.synthesis.entry import render_log_head  # 20 ms of patterns, which whoever asks for a path is spared

    texts = ((str(log_path(folder)), render_log_head()), (str(lessons_path(folder)), ""))
    there = {fold_path(path) for path in existing}
    new = tuple((path, text) for path, text in texts if fold_path(path) not in there)
    captured = next((path for path, _ in new if is_linked(NotePath(path).name)), "")
    if captured:
        sentence = f"No memory was made: a link in the vault already looks for “{NotePath(captured).name}”."
        return NewMemory(said=(sentence,))
    created = {path for path, _ in new}
    return NewMemory(creates=new, kept=tuple(path for path, _ in texts if path not in created))
