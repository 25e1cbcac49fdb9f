"""Whether a consolidation would look at two notes that a dream meets: what it does not look at, the dream shows."""

from __future__ import annotations

from typing import TYPE_CHECKING

from aria_dream.adapters.index.resonance import read_note_text
from aria_dream.consolidate.near import LEAST_OVERLAP, NearRow, is_near, overlap_of, sketch_of
from aria_dream.consolidate.passages import is_named_template, passages_of_note
from aria_dream.markdown.note import parse_note

if TYPE_CHECKING:
    from aria_dream.adapters.index.dreamt_vault import DreamtVault
    from aria_dream.consolidate.near import Sketch


def is_merged(vault: DreamtVault, rows: tuple[int, int], cosine: float | None) -> bool:
    """Whether a consolidation lists the two notes as near each other, by the signals that it goes by itself.

    `cosine`: of the two notes' vectors; None where it is not known.
    """
    first, second = (_sketch(vault, row) for row in rows)
    if not len(first) or not len(second):
        return False
    row = NearRow(0, 1, cosine or 0.0, overlap_of(first, second))
    return is_near(row, vault.live.policy.settings.cosine_threshold, LEAST_OVERLAP)


def _sketch(vault: DreamtVault, row: int) -> Sketch:
    """The words of the whole note as a consolidation sees them; empty where it leaves the note alone."""
    note = vault.notes[row]
    apart = note.daily or note.template or note.index or note.plugin or is_named_template(note.path)
    passages = passages_of_note(note.path, parse_note(read_note_text(vault, row)), set_apart=apart)
    return sketch_of(passages[0].words if passages and passages[0].is_note else "")
