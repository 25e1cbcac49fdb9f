"""The second look at a vault on disk: which notes it finds, and what is remembered of it."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from aria_dream.adapters.models.embedding import vector_kind
from aria_dream.adapters.passages.passage_alignment import ALIGNMENT_KIND, read_alignments
from aria_dream.adapters.passages.passage_rows import note_key
from aria_dream.adapters.passages.passage_table import find_near, read_note_passages
from tests.unit.adapters.passages.test_passage_table import OTHER, TEXT, WordEmbedder, cache, places, vault_of

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    import numpy as np
    from numpy.typing import NDArray

    from aria_dream.adapters.disk.places import Places
    from aria_dream.adapters.index.cache_store import ContentCache

__all__ = ["cache", "places"]  # fixtures


class StaticEmbedder(WordEmbedder):
    """Words of one meaning have one direction; those of three letters have none."""

    name = "static@1"
    meanings: Final = (("keeper", "warden"), ("lamp", "light"), ("storm", "gale"), ("boat", "vessel"))

    def encode(self, texts: Sequence[str]) -> NDArray[np.float32]:
        said = [re.sub(r"\b\w{1,3}\b", "", text) for text in texts]
        for meaning in self.meanings:
            said = [re.sub("|".join(meaning), meaning[0], text) for text in said]
        rows = super().encode(said)
        self.encoded[-len(texts) :] = texts
        return rows


def test_a_second_look_finds_what_is_said_in_other_words(tmp_path: Path, places: Places, cache: ContentCache) -> None:
    """Nearer to each other than anything else is to either, and sentence for sentence the same; embedded once."""
    notes = {
        "North.md": "The keeper trims the lamp at dusk. In a storm no boat comes near the rock, and I go to sleep.",
        "Inbox/North watch.md": "The warden cleans the light at dusk. In a gale no vessel passes that rock; we sleep.",
        "Monday form.md": "Opened on a dull grey day, as ever.\n\nCheckbook balance stays downstairs.",
        "Tuesday form.md": "Opened on a dull grey day, as ever.\n\nMountain goats prefer thistles.",
        "Bread.md": OTHER,
    }
    table = read_note_passages(vault_of(tmp_path / "vault", places, notes), cache)
    embedder = StaticEmbedder()
    told: list[tuple[int, int]] = []
    (near,) = find_near(table, cache, embedder, least_cosine=0.8, progress=lambda *shown: told.append(shown))
    pair = table.pair(near, 1)
    assert pair is not None
    assert {pair.first.path, pair.second.path} == {"North.md", "Inbox/North watch.md"}
    assert 0.6 <= near.cosine < 0.8
    assert told[-1] == (2, 2)  # the two of one form are looked at, and have only the form in common
    asked = len(embedder.encoded)
    assert find_near(table, cache, embedder, least_cosine=0.8) == (near,)
    assert len(embedder.encoded) == asked
    assert find_near(table, cache, embedder, least_cosine=0.9) == ()  # who asks for more gets less


def test_a_damaged_alignment_is_measured_anew(tmp_path: Path, places: Places, cache: ContentCache) -> None:
    notes = {"A.md": TEXT, "B.md": f"Another keeper was there as well. {TEXT[:60]}"}
    table = read_note_passages(vault_of(tmp_path / "vault", places, notes), cache)
    embedder = StaticEmbedder()

    def score() -> list[float]:
        return read_alignments(table, [(0, 1)], cache, embedder, lambda *_: None, lambda: None)

    whole = score()
    kind = f"{ALIGNMENT_KIND}:{vector_kind(embedder)}"
    for damaged in (b"", b"{", b"[]", b'{"x": "y"}', b"7"):
        cache.put_many(kind, {note_key(table.vault, table.rows[0].note): damaged})
        assert score() == whole
    (tmp_path / "vault" / "B.md").write_text("Now it says something else.", encoding="utf-8")
    assert score() == whole  # it is remembered by what the note was
    cache.put_many(kind, {note_key(table.vault, table.rows[0].note): b"{}"})
    assert score() == [0.0]
