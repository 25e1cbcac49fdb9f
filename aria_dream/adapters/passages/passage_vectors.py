"""The vectors of passages. Those of whole notes are the dream's own; sections have theirs under their note's key."""

from __future__ import annotations

import json
from dataclasses import dataclass
from hashlib import sha256
from typing import TYPE_CHECKING, Final

import numpy as np

from aria_dream.adapters.index.resonance import read_note_text
from aria_dream.adapters.models.embedding import (
    NOTES_PER_BATCH,
    Unembedded,
    read_vectors,
    vector_kind,
    write_missing_vectors,
)
from aria_dream.adapters.passages.passage_rows import note_key
from aria_dream.markdown.note import parse_note
from aria_dream.ranking.embedding import passages, pool_passages
from aria_dream.ranking.juxtaposition import title_of
from aria_dream.vault.edit import encode_note

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from numpy.typing import NDArray

    from aria_dream.adapters.index.cache_store import ContentCache
    from aria_dream.adapters.index.dreamt_vault import DreamtVault
    from aria_dream.adapters.models.embedding import Embedder
    from aria_dream.adapters.passages.passage_rows import PassageTable
    from aria_dream.consolidate.near import Vectors
    from aria_dream.ranking.embedding import EmbeddedText

SECTION_PASSAGES: Final = 3
"""The title and the first 128 words of a section are embedded."""
_VECTORS_AT_ONCE: Final = 4_096


def read_note_vectors(
    table: PassageTable,
    notes: Sequence[int],
    cache: ContentCache,
    embedder: Embedder,
    progress: Callable[[int, int], None],
    permit: Callable[[], None],
) -> Vectors:
    """Unit vectors of the notes, float32 [n, dim]; those that have none yet are embedded."""
    vault, kind = table.vault, vector_kind(embedder)
    keys = [note_key(vault, note) for note in notes]
    wanted = [Unembedded(key=key, passages=_Passages(vault, note)) for key, note in zip(keys, notes, strict=True)]

    def asked() -> bool:
        permit()
        return False

    write_missing_vectors(cache, embedder, wanted, progress=progress, stop=asked)
    vectors = np.zeros((len(keys), embedder.dim), np.float32)
    for start in range(0, len(keys), _VECTORS_AT_ONCE):
        part = slice(start, start + _VECTORS_AT_ONCE)
        vectors[part] = read_vectors(cache, kind, keys[part], embedder.dim)[0]
    return vectors


@dataclass(frozen=True, slots=True)
class _Passages:
    """What is embedded of a note, as the dream does; nothing where it is no longer what the vault's snapshot says."""

    vault: DreamtVault
    note: int

    def __call__(self) -> Sequence[EmbeddedText]:
        text = read_note_text(self.vault, self.note)
        if sha256(encode_note(text)).digest() != self.vault.facts[self.note].content_hash:
            return ()
        return passages(title_of(self.vault.graph.paths[self.note]), parse_note(text))


def read_section_vectors(
    table: PassageTable,
    rows: Sequence[int],
    cache: ContentCache,
    embedder: Embedder,
    progress: Callable[[int, int], None],
    permit: Callable[[], None],
) -> dict[int, Vectors]:
    """Row to unit vector. Kept together under their note's key, so that they leave the cache when it does."""
    kind = f"sections:{vector_kind(embedder)}:{SECTION_PASSAGES}"
    by_note: dict[int, list[int]] = {}
    for row in rows:
        by_note.setdefault(table.rows[row].note, []).append(row)
    keys = {note: note_key(table.vault, note) for note in by_note}
    blobs = cache.get_many(kind, list(keys.values()))
    kept = {note: _unpacked_vectors(blobs.get(key, b""), embedder.dim) for note, key in keys.items()}
    missing = {
        note: [row for row in listed if table.id_of(row) not in kept[note]]
        for note, listed in by_note.items()
        if any(table.id_of(row) not in kept[note] for row in listed)
    }
    total, done = sum(map(len, missing.values())), 0
    batch: dict[bytes, bytes] = {}
    for note, listed in missing.items():
        if not batch:
            progress(done, total)
            permit()
        kept[note].update(_embedded_sections(table, listed, embedder))
        batch[keys[note]] = _packed_vectors(kept[note])
        done += len(listed)
        if len(batch) >= NOTES_PER_BATCH:
            cache.put_many(kind, batch)
            batch = {}
    cache.put_many(kind, batch)
    if total:
        progress(total, total)
    zero = np.zeros(embedder.dim, np.float32)
    return {row: kept[note].get(table.id_of(row), zero) for note, listed in by_note.items() for row in listed}


def _embedded_sections(table: PassageTable, rows: Iterable[int], embedder: Embedder) -> dict[str, Vectors]:
    found: dict[str, Vectors] = {}
    for row in rows:
        passage = table.passage(row)
        if passage is None:
            continue
        cut = passages(passage.title, parse_note("\n" + passage.text))[:SECTION_PASSAGES]
        vector = pool_passages(embedder.encode([one.text for one in cut]), [one.weight for one in cut])
        found[passage.id] = vector.astype(np.float16).astype(np.float32)  # as it will be read: a rank must not change
    return found


def _packed_vectors(vectors: Mapping[str, Vectors]) -> bytes:
    return json.dumps(list(vectors)).encode() + b"\n" + b"".join(v.astype("<f2").tobytes() for v in vectors.values())


def _unpacked_vectors(blob: bytes, dim: int) -> dict[str, NDArray[np.float32]]:
    head, _, body = blob.partition(b"\n")
    try:
        names = json.loads(head or b"[]")
        rows = np.frombuffer(body, dtype="<f2").astype(np.float32).reshape(len(names), dim)
    except (ValueError, TypeError):
        return {}
    lengths = np.linalg.norm(rows, axis=1)
    if len(rows) and not np.allclose(lengths, 1.0, atol=0.02):
        return {}
    return {str(name): row for name, row in zip(names, rows, strict=True)}
