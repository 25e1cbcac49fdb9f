"""Copies that a sync made of our own notes, merged into the notes they are copies of."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from aria_dream.effects.index import VaultIndex
    from aria_dream.effects.own_notes import OwnNotes
    from aria_dream.errors import Problem
    from aria_dream.world import VaultFiles


def merge_conflict_copies(index: VaultIndex, own: OwnNotes, files: VaultFiles) -> tuple[Problem, ...]:
    """A Problem for each copy that a person has to merge."""
    return ()
