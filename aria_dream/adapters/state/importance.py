"""What speaks for keeping one of several notes that say the same: who links to it, how old it is."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING, Final

from aria_dream.adapters.index.resonance import read_note_text
from aria_dream.consolidate.clusters import Importance
from aria_dream.markdown.note import parse_note
from aria_dream.markdown.properties import named, render_property
from aria_dream.vault.graph import backlinks_of

if TYPE_CHECKING:
    from collections.abc import Iterable

    from aria_dream.adapters.index.dreamt_vault import DreamtVault

_CREATED: Final = ("created", "created_at", "date created", "date_created", "creation date", "date")


def read_importance(vault: DreamtVault, paths: Iterable[str]) -> dict[str, Importance]:
    """The standing of each visible note among `paths`. Its date is the one it tells, else that of its last change."""
    found = {}
    for path in paths:
        row = vault.row(path)
        if row is None:
            continue
        properties = parse_note(read_note_text(vault, row)).properties
        told = next((render_property(value, 10) for key in _CREATED if (value := named(properties, key))), "")
        changed = datetime.fromtimestamp(vault.facts[row].modified_ns / 1e9, UTC).date().isoformat()
        found[path] = Importance(
            links=len(backlinks_of(vault.graph, row)), since=told if told[:2].isdigit() else changed
        )
    return found
