"""The passages of a vault as a table: what is compared lies in memory, the texts stay in their notes.

Of every passage its fingerprint and the hashes of its words are kept in the cache, by its note's content; the vectors
of whole notes are those of the dream, so that a vault that has dreamt starts with them. Of sections only those are
embedded that share rare words with another one: the vector of a passage that can be no duplicate decides nothing.
"""

from __future__ import annotations

import json
from hashlib import sha256
from typing import TYPE_CHECKING, Final

import numpy as np

from aria_dream.adapters.index.resonance import read_note_text
from aria_dream.adapters.passages.passage_alignment import read_alignments
from aria_dream.adapters.passages.passage_rows import PassageRow, note_key
from aria_dream.adapters.passages.passage_rows import PassageTable as PassageTable  # noqa: PLC0414  # one door for who asks for a table
from aria_dream.adapters.passages.passage_vectors import read_note_vectors, read_section_vectors
from aria_dream.consolidate.near import (
    LEAST_OVERLAP,
    MOSTLY,
    NearRow,
    is_near,
    near_by_meaning,
    near_by_words,
    overlap_of,
    ranked,
    same_words,
    sketch_of,
)
from aria_dream.consolidate.passages import is_named_template, passages_of_note
from aria_dream.consolidate.second_look import LEAST_ALIGNMENT, MOST_LOOKS, floor_of, standing_out
from aria_dream.markdown.note import parse_note
from aria_dream.ranking.juxtaposition import title_of
from aria_dream.vault.edit import encode_note

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from aria_dream.adapters.index.cache_store import ContentCache
    from aria_dream.adapters.index.dreamt_vault import DreamtVault
    from aria_dream.adapters.models.embedding import Embedder
    from aria_dream.consolidate.near import Vectors
    from aria_dream.consolidate.passages import Passage

PASSAGES_KIND: Final = "atoms:5"
"""The cache's kind. Raise the number with every change in `passages`, `wording` or `near.sketch_of`."""
_NOTES_PER_WRITE: Final = 256


def read_note_passages(
    vault: DreamtVault,
    cache: ContentCache,
    *,
    progress: Callable[[int, int], None] = lambda _done, _total: None,
    permit: Callable[[], None] = lambda: None,
) -> PassageTable:
    """The table of the visible notes. New notes are read and kept, reporting `progress(done, total)`.

    `leave` is called before every few notes and may raise; what was read by then is kept.
    """
    keys = [note_key(vault, row) for row in range(len(vault.facts))]
    apart = {note.path for note in vault.notes if note.daily or note.template or note.index or note.plugin}
    apart.update(path for path in vault.graph.paths if is_named_template(path))
    asked = [row for row, path in enumerate(vault.graph.paths) if path not in apart]
    kept = cache.get_many(PASSAGES_KIND, {keys[row] for row in asked})
    known = {row: _unpacked(kept.get(keys[row], b""), row) for row in asked}
    missing = [row for row in asked if known[row] is None]
    for start in range(0, len(missing), _NOTES_PER_WRITE):
        progress(start, len(missing))
        permit()
        read = {}
        for row in missing[start : start + _NOTES_PER_WRITE]:
            text = read_note_text(vault, row)
            if sha256(encode_note(text)).digest() == vault.facts[row].content_hash:
                # what is kept by content and title must not depend on the folder
                read[keys[row]] = _packed(passages_of_note(f"{title_of(vault.graph.paths[row])}.md", parse_note(text)))
                known[row] = _unpacked(read[keys[row]], row)
        cache.put_many(PASSAGES_KIND, read)
    if missing:
        progress(len(missing), len(missing))
    return PassageTable(vault=vault, rows=tuple(passage for row in asked for passage in known[row] or ()))


def _packed(passages: Sequence[Passage]) -> bytes:
    sketches = [sketch_of(passage.words) for passage in passages]
    head = [
        [list(passage.headings), passage.number, passage.fingerprint, passage.state_hash, len(sketch)]
        for passage, sketch in zip(passages, sketches, strict=True)
    ]
    return json.dumps(head).encode() + b"\n" + b"".join(sketch.astype("<u4").tobytes() for sketch in sketches)


def _unpacked(blob: bytes, note: int) -> list[PassageRow] | None:
    """The rows in `blob`; None where it is damaged or empty."""
    head, _, body = blob.partition(b"\n")
    try:
        listed = json.loads(head)
        sketches = np.frombuffer(body, dtype="<u4")
        rows, at = [], 0
        for headings, number, fingerprint, state_hash, length in listed:
            sketch = sketches[at : at + length]
            at += length
            rows.append(
                PassageRow(
                    note=note,
                    headings=tuple(map(str, headings)),
                    number=int(number),
                    fingerprint=str(fingerprint),
                    state_hash=str(state_hash),
                    sketch=sketch,
                )
            )
    except (ValueError, TypeError):
        return None
    return rows if at == len(sketches) else None


def find_near(
    table: PassageTable,
    cache: ContentCache,
    embedder: Embedder,
    *,
    least_cosine: float,
    least_overlap: float = LEAST_OVERLAP,
    progress: Callable[[int, int], None] = lambda _done, _total: None,
    permit: Callable[[], None] = lambda: None,
) -> tuple[NearRow, ...]:
    """Every pair that is near by both signals (`is_near`), or the same word for word, or near at a `second_look`.
    Nearest first: its rank is its place.

    What has to be embedded is embedded and kept, batch by batch, reporting `progress(done, total)`; `leave` is called
    between batches and may raise. Raises `MissingPartError` where something has to be embedded and the model is not
    there.
    """
    notes = [row for row, passage in enumerate(table.rows) if not passage.headings]
    sections = [row for row, passage in enumerate(table.rows) if passage.headings]
    vectors = read_note_vectors(table, [table.rows[row].note for row in notes], cache, embedder, progress, permit)
    found = [
        (notes[first], notes[second], cosine)
        for first, second, cosine in near_by_meaning(vectors, least_cosine, permit=permit)
    ]
    sketches = [passage.sketch for passage in table.rows]
    permit()
    alike = [
        pair for pair in near_by_words(sketches, notes) if overlap_of(sketches[pair[0]], sketches[pair[1]]) >= MOSTLY
    ]
    permit()
    by_words = near_by_words(sketches, sections)
    copies = [pair for pair in same_words([passage.fingerprint for passage in table.rows]) if _apart(table, *pair)]
    paired = [pair for pair in by_words if overlap_of(sketches[pair[0]], sketches[pair[1]]) >= least_overlap]
    asked = {row for pair in (*paired, *copies) for row in pair if table.rows[row].headings}
    told = read_section_vectors(table, sorted(asked), cache, embedder, progress, permit)
    place = {row: at for at, row in enumerate(notes)}

    def vector(row: int) -> Vectors:
        return told[row] if row in told else vectors[place[row]]

    copied = [NearRow(*pair, float(vector(pair[0]) @ vector(pair[1])), 1.0) for pair in copies]
    near = copied + [
        NearRow(first, second, cosine, overlap_of(sketches[first], sketches[second]))
        for first, second, cosine in (
            *found, *((*pair, float(vector(pair[0]) @ vector(pair[1]))) for pair in (*alike, *paired))
        )
    ]  # fmt: skip
    near = [row for row in near if is_near(row, least_cosine, least_overlap)]
    known = {(row.first, row.second) for row in near}
    looked = [
        NearRow(notes[first], notes[second], float(vectors[first] @ vectors[second]), overlap)
        for first, second, _ in standing_out(vectors, floor_of(least_cosine), permit=permit)
        if (notes[first], notes[second]) not in known
        and (overlap := overlap_of(sketches[notes[first]], sketches[notes[second]])) >= least_overlap
    ][:MOST_LOOKS]
    aligned = read_alignments(table, [(row.first, row.second) for row in looked], cache, embedder, progress, permit)
    near += [row for row, score in zip(looked, aligned, strict=True) if score >= LEAST_ALIGNMENT]
    return tuple(ranked(_whole_first(table, near)))


def _apart(table: PassageTable, first: int, second: int) -> bool:
    """Whether two passages lie beside each other, not one in the other."""
    one, other = table.rows[first], table.rows[second]
    return one.note != other.note or bool(one.headings and other.headings)


def _whole_first(table: PassageTable, near: Sequence[NearRow]) -> list[NearRow]:
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
