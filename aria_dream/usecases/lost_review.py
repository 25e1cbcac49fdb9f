"""A review note that a sync took away or emptied: whether it is so, and which pairs it has to show again."""

from __future__ import annotations

from typing import TYPE_CHECKING

from aria_dream.markdown.note import NotePath, decode_note
from aria_dream.notes.review_note import is_emptied
from aria_dream.policy.file_layout import log_notes
from aria_dream.review.lines import reopened_items
from aria_dream.world import Absent, Content

if TYPE_CHECKING:
    from collections.abc import Mapping

    from aria_dream.adapters.index.dreamt_vault import DreamtVault
    from aria_dream.notes.review_note import ReviewItem
    from aria_dream.review.proposal import ProposalState
    from aria_dream.world import VaultFiles


def is_lost(vault: DreamtVault, files: VaultFiles) -> bool:
    """Whether the review note is gone or empty, though the folder is ours."""
    found = files.read(NotePath(vault.home.review))
    return vault.home.exists and (isinstance(found, Absent) or (isinstance(found, Content) and is_emptied(found.data)))


def waiting_items(
    vault: DreamtVault, files: VaultFiles, states: Mapping[str, ProposalState]
) -> tuple[ReviewItem, ...]:
    """The pairs that wait, of every dream note, where the review note is lost; else none."""
    if not is_lost(vault, files):
        return ()
    return tuple(
        item
        for path, day in log_notes(vault.names)
        if isinstance(content := files.read(NotePath(path)), Content)
        for item in reopened_items(decode_note(content.data), day, states, all_open=True)
    )
