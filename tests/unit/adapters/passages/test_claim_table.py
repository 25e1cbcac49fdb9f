"""The contradictions of a real vault: short notes too, notes set apart left out, and nothing read twice."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from aria_dream.adapters.disk.places import Places
from aria_dream.adapters.index.cache_store import ContentCache
from aria_dream.adapters.index.dreamt_vault import read_dreamt_vault
from aria_dream.adapters.passages.claim_table import find_vault_conflicts
from aria_dream.consolidate.claim_pairs import sketch_claims

if TYPE_CHECKING:
    from pathlib import Path

    from aria_dream.consolidate.claim_pairs import ClaimSketch
    from aria_dream.consolidate.passages import Passage
    from aria_dream.consolidate.verdict import Conflict

NOTES = {
    "Tower.md": "---\ntags: [paris]\n---\nThe Eiffel Tower is 330 m tall.\n",
    "Walk.md": "# Walk\n\nTo the river.\n\n## What we saw\n\nThe Eiffel Tower is 324 metres tall.\n",
    "templates/Place.md": "The Eiffel Tower is 100 m tall.\n",
    "2026-11-29.md": "The Eiffel Tower is 200 m tall.\n",
    "Form.md": "The Eiffel Tower is 110 m tall. Seen on {{date}}.\n",
    "Hidden.md": "---\ndream: false\n---\nThe Eiffel Tower is 120 m tall.\n",
}


def find(root: Path, folder: Path) -> tuple[Conflict, ...]:
    places = Places(state=folder / "state", cache=folder / "cache")
    vault = read_dreamt_vault(root, places, environ={})
    with ContentCache(places.vault_cache(vault.root)) as cache:
        return find_vault_conflicts(vault, cache)


@pytest.fixture
def root(tmp_path: Path) -> Path:
    root = tmp_path / "vault"
    for name, text in NOTES.items():
        place = root / name
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(text, encoding="utf-8")
    return root


def test_what_contradicts_in_a_vault(root: Path, tmp_path: Path) -> None:
    (found,) = find(root, tmp_path)
    assert (found.first.path, found.second.path) == ("Tower.md", "Walk.md")
    text = NOTES["Tower.md"]
    at = found.first.start + found.first.text.index(found.first_claim)
    assert text[at:] == "The Eiffel Tower is 330 m tall.\n"


def test_unchanged_notes_are_read_once(root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first = find(root, tmp_path)
    sketched: list[str] = []

    def counted(passage: Passage) -> tuple[ClaimSketch, ...]:
        sketched.append(passage.path)
        return sketch_claims(passage)

    monkeypatch.setattr("aria_dream.adapters.passages.claim_table.sketch_claims", counted)
    assert find(root, tmp_path) == first
    assert sketched == []
    (root / "Walk.md").write_text("The Eiffel Tower is 330 m tall.\n", encoding="utf-8")
    assert find(root, tmp_path) == ()
    assert sketched == ["Walk.md"]
