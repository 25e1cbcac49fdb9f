"""No note of a real vault stops a night: all of them have their atoms and their claims."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from aria_dream.consolidate.claims import read_claims
from aria_dream.consolidate.passages import passages_of_note
from aria_dream.markdown.note import decode_note, parse_note

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.shared
def test_every_note_has_its_atoms_and_claims(shared: Path) -> None:
    notes = sorted((shared / "vaults").rglob("*.md"))
    assert len(notes) > 1000
    found = 0
    for place in notes:
        note = parse_note(decode_note(place.read_bytes()))
        passages = passages_of_note(place.name, note)
        found += len(passages)
        for passage in passages[:1]:
            read_claims(passage)
    assert found > 1000
