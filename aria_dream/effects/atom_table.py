"""The atoms of a vault as a table: what is compared lies in memory, the texts stay in their notes.

Of every atom its fingerprint and the hashes of its words are kept in the cache, by its note's content; the vectors of
whole notes are those of the dream, so that a vault that has dreamt starts with them. Of sections only those are
embedded that share rare words with another one: the vector of a passage that can be no duplicate decides nothing.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from hashlib import sha256
from typing import TYPE_CHECKING, Final

import numpy as np

from aria_dream.consolidate.atoms import Atom, atom_id, atoms_of, is_named_template
from aria_dream.consolidate.near import (
    LEAST_OVERLAP,
    NearRow,
    near_by_meaning,
    near_by_words,
    overlap_of,
    ranked,
    same_words,
    sketch_of,
    verdict_key,
)
from aria_dream.consolidate.verdict import NearPair
from aria_dream.dream.embedding import passages, pooled, vector_key
from aria_dream.dream.juxtaposition import title_of
from aria_dream.effects.embedding import NOTES_PER_BATCH, Unembedded, vector_kind, write_missing_vectors
from aria_dream.effects.resonance import read_note_text
from aria_dream.effects.vectors import read_vectors
from aria_dream.vault.edit import encode_note
from aria_dream.vault.note import parse_note

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from numpy.typing import NDArray

    from aria_dream.consolidate.near import Sketch, Vectors
    from aria_dream.dream.embedding import Passage
    from aria_dream.effects.dreamt_vault import DreamtVault
    from aria_dream.effects.embedding import Embedder
    from aria_dream.effects.vectors import ContentCache

ATOMS_KIND: Final = "atoms:1"
"""The cache's kind. Raise the number with every change in `atoms`, `wording` or `near.sketch_of`."""
SECTION_PASSAGES: Final = 3
"""The title and the first 128 words of a section are embedded."""
_NOTES_PER_WRITE: Final = 256
_VECTORS_AT_ONCE: Final = 4_096


@dataclass(frozen=True, slots=True, kw_only=True)
class AtomRow:
    """One atom, without its text."""

    note: int
    """Row of its note in the vault's graph."""
    headings: tuple[str, ...]
    number: int
    fingerprint: str
    state_hash: str
    sketch: Sketch


@dataclass(frozen=True, slots=True, kw_only=True)
class AtomTable:
    """Every atom of a vault, in the order of its notes; a whole note stands before its sections."""

    vault: DreamtVault
    rows: tuple[AtomRow, ...]

    def id_of(self, row: int) -> str:
        """The id of an atom."""
        found = self.rows[row]
        return atom_id(self.vault.graph.paths[found.note], found.headings, found.number)

    def atom(self, row: int) -> Atom | None:
        """The atom with its text; None where its note is no longer what it was when the vault was read."""
        wanted = self.rows[row]
        path = self.vault.graph.paths[wanted.note]
        found = atoms_of(path, parse_note(read_note_text(self.vault, wanted.note)))
        return next(
            (
                atom
                for atom in found
                if (atom.headings, atom.number, atom.state_hash) == (wanted.headings, wanted.number, wanted.state_hash)
            ),
            None,
        )

    def pair(self, near: NearRow, rank: int) -> NearPair | None:
        """Two atoms with their texts, ready to be judged; None where one of them has changed since."""
        first, second = self.atom(near.first), self.atom(near.second)
        if first is None or second is None:
            return None
        return NearPair(first=first, second=second, cosine=near.cosine, overlap=near.overlap, rank=rank)

    def key(self, near: NearRow) -> str:
        """What the verdict on the two is remembered by: `near.verdict_key`."""
        first, second = self.rows[near.first], self.rows[near.second]
        return verdict_key((self.id_of(near.first), first.state_hash), (self.id_of(near.second), second.state_hash))


def read_atoms(
    vault: DreamtVault,
    cache: ContentCache,
    *,
    progress: Callable[[int, int], None] = lambda _done, _total: None,
    leave: Callable[[], None] = lambda: None,
) -> AtomTable:
    """The table of the visible notes. New notes are read and kept, reporting `progress(done, total)`.

    `leave` is called before every few notes and may raise; what was read by then is kept.
    """
    keys = [_key(vault, row) for row in range(len(vault.facts))]
    known = cache.get_many(ATOMS_KIND, keys)
    apart = {note.path for note in vault.notes if note.daily or note.template or note.index or note.plugin}
    apart.update(path for path in vault.graph.paths if is_named_template(path))
    missing = [row for row, path in enumerate(vault.graph.paths) if path not in apart and keys[row] not in known]
    for start in range(0, len(missing), _NOTES_PER_WRITE):
        progress(start, len(missing))
        leave()
        read = {}
        for row in missing[start : start + _NOTES_PER_WRITE]:
            text = read_note_text(vault, row)
            if sha256(encode_note(text)).digest() == vault.facts[row].content_hash:
                # what is kept by content and title must not depend on the folder
                read[keys[row]] = _packed(atoms_of(f"{title_of(vault.graph.paths[row])}.md", parse_note(text)))
        cache.put_many(ATOMS_KIND, read)
        known.update(read)
    if missing:
        progress(len(missing), len(missing))
    rows: list[AtomRow] = []
    for row, path in enumerate(vault.graph.paths):
        if path not in apart:
            rows += _unpacked(known.get(keys[row], b""), row)
    return AtomTable(vault=vault, rows=tuple(rows))


def _key(vault: DreamtVault, row: int) -> bytes:
    """The key of the note's vector, which the cache keeps as long as the note is visible."""
    return vector_key(vault.facts[row].content_hash, title_of(vault.graph.paths[row]))


def _packed(atoms: Sequence[Atom]) -> bytes:
    sketches = [sketch_of(atom.words) for atom in atoms]
    head = [
        [list(atom.headings), atom.number, atom.fingerprint, atom.state_hash, len(sketch)]
        for atom, sketch in zip(atoms, sketches, strict=True)
    ]
    return json.dumps(head).encode() + b"\n" + b"".join(sketch.astype("<u4").tobytes() for sketch in sketches)


def _unpacked(blob: bytes, note: int) -> list[AtomRow]:
    """The rows in `blob`; none where it is damaged, so that the note is left out this time."""
    head, _, body = blob.partition(b"\n")
    try:
        listed = json.loads(head or b"[]")
        sketches = np.frombuffer(body, dtype="<u4")
        rows, at = [], 0
        for headings, number, fingerprint, state_hash, length in listed:
            sketch = sketches[at : at + length]
            at += length
            rows.append(
                AtomRow(
                    note=note,
                    headings=tuple(map(str, headings)),
                    number=int(number),
                    fingerprint=str(fingerprint),
                    state_hash=str(state_hash),
                    sketch=sketch,
                )
            )
    except (ValueError, TypeError):
        return []
    return rows if at == len(sketches) else []


def find_near(
    table: AtomTable,
    cache: ContentCache,
    embedder: Embedder,
    *,
    least_cosine: float,
    least_overlap: float = LEAST_OVERLAP,
    progress: Callable[[int, int], None] = lambda _done, _total: None,
    leave: Callable[[], None] = lambda: None,
) -> tuple[NearRow, ...]:
    """Every pair that is near by both signals, or the same word for word, nearest first. Its rank is its place.

    What has to be embedded is embedded and kept, batch by batch, reporting `progress(done, total)`; `leave` is called
    between batches and may raise. Raises `MissingPartError` where something has to be embedded and the model is not
    there.
    """
    notes = [row for row, atom in enumerate(table.rows) if not atom.headings]
    sections = [row for row, atom in enumerate(table.rows) if atom.headings]
    vectors = _note_vectors(table, [table.rows[row].note for row in notes], cache, embedder, progress, leave)
    found = [
        (notes[first], notes[second], cosine)
        for first, second, cosine in near_by_meaning(vectors, least_cosine, leave=leave)
    ]
    sketches = [atom.sketch for atom in table.rows]
    by_words = near_by_words(sketches, sections)
    copies = [pair for pair in same_words([atom.fingerprint for atom in table.rows]) if _apart(table, *pair)]
    paired = [pair for pair in by_words if overlap_of(sketches[pair[0]], sketches[pair[1]]) >= least_overlap]
    asked = {row for pair in (*paired, *copies) for row in pair if table.rows[row].headings}
    told = _section_vectors(table, sorted(asked), cache, embedder, progress, leave)
    place = {row: at for at, row in enumerate(notes)}

    def vector(row: int) -> Vectors:
        return told[row] if row in told else vectors[place[row]]

    near = [NearRow(*pair, float(vector(pair[0]) @ vector(pair[1])), 1.0) for pair in copies]
    near += [
        NearRow(first, second, cosine, overlap_of(sketches[first], sketches[second]))
        for first, second, cosine in (*found, *((*pair, float(vector(pair[0]) @ vector(pair[1]))) for pair in paired))
        if cosine >= least_cosine
    ]
    return tuple(ranked(_whole_first(table, [row for row in near if row.overlap >= least_overlap])))


def _apart(table: AtomTable, first: int, second: int) -> bool:
    """Whether two atoms lie beside each other, not one in the other."""
    one, other = table.rows[first], table.rows[second]
    return one.note != other.note or bool(one.headings and other.headings)


def _whole_first(table: AtomTable, near: Sequence[NearRow]) -> list[NearRow]:
    """The pairs without those sections whose whole notes are a pair: the notes' verdict says it for all of them."""
    whole = {
        (table.rows[row.first].note, table.rows[row.second].note)
        for row in near
        if not table.rows[row.first].headings and not table.rows[row.second].headings
    }
    return [
        row
        for row in near
        if _apart(table, row.first, row.second)
        and (
            not (table.rows[row.first].headings or table.rows[row.second].headings)
            or (table.rows[row.first].note, table.rows[row.second].note) not in whole
        )
    ]


def _note_vectors(
    table: AtomTable,
    notes: Sequence[int],
    cache: ContentCache,
    embedder: Embedder,
    progress: Callable[[int, int], None],
    leave: Callable[[], None],
) -> Vectors:
    """Unit vectors of the notes, float32 [n, dim]; those that have none yet are embedded."""
    vault, kind = table.vault, vector_kind(embedder)
    keys = [_key(vault, note) for note in notes]
    wanted = [Unembedded(key=key, passages=_Passages(vault, note)) for key, note in zip(keys, notes, strict=True)]

    def asked() -> bool:
        leave()
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

    def __call__(self) -> Sequence[Passage]:
        text = read_note_text(self.vault, self.note)
        if sha256(encode_note(text)).digest() != self.vault.facts[self.note].content_hash:
            return ()
        return passages(title_of(self.vault.graph.paths[self.note]), parse_note(text))


def _section_vectors(
    table: AtomTable,
    rows: Sequence[int],
    cache: ContentCache,
    embedder: Embedder,
    progress: Callable[[int, int], None],
    leave: Callable[[], None],
) -> dict[int, Vectors]:
    """Row to unit vector. Kept together under their note's key, so that they leave the cache when it does."""
    kind = f"sections:{vector_kind(embedder)}:{SECTION_PASSAGES}"
    by_note: dict[int, list[int]] = {}
    for row in rows:
        by_note.setdefault(table.rows[row].note, []).append(row)
    keys = {note: _key(table.vault, note) for note in by_note}
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
            leave()
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


def _embedded_sections(table: AtomTable, rows: Iterable[int], embedder: Embedder) -> dict[str, Vectors]:
    found: dict[str, Vectors] = {}
    for row in rows:
        atom = table.atom(row)
        if atom is None:
            continue
        cut = passages(atom.title, parse_note("\n" + atom.text))[:SECTION_PASSAGES]
        found[atom.id] = pooled(embedder.encode([one.text for one in cut]), [one.weight for one in cut])
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
