"""How well the sentences of two notes match, kept in the cache: their sentences are embedded once, when they are first
looked at."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Final

from aria_dream.adapters.models.embedding import vector_kind
from aria_dream.adapters.passages.passage_rows import note_key
from aria_dream.consolidate.second_look import alignment, sentences_of
from aria_dream.markdown.note import parse_note

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from typing import TypeAlias

    from aria_dream.adapters.index.cache_store import ContentCache
    from aria_dream.adapters.models.embedding import Embedder
    from aria_dream.adapters.passages.passage_rows import PassageTable
    from aria_dream.consolidate.near import Vectors

    Told: TypeAlias = tuple[Sequence[str], Vectors]

ALIGNMENT_KIND: Final = "alignment:1"
"""The cache's kind. Raise the number with every change in `second_look.sentences_of` or `alignment`."""
_PAIRS_PER_WRITE: Final = 4
_NOTES_AT_HAND: Final = 256


def read_alignments(
    table: PassageTable,
    pairs: Sequence[tuple[int, int]],
    cache: ContentCache,
    embedder: Embedder,
    progress: Callable[[int, int], None],
    permit: Callable[[], None],
) -> list[float]:
    """`alignment` of every pair of rows, whole notes, in order; 0 where a note has changed since. Kept with the first
    of the two, so that it leaves the cache when that note does."""
    kind = f"{ALIGNMENT_KIND}:{vector_kind(embedder)}"
    keys = {row: note_key(table.vault, table.rows[row].note) for pair in pairs for row in pair}
    kept = {key: _unpacked(blob) for key, blob in cache.get_many(kind, {keys[first] for first, _ in pairs}).items()}
    names = [(keys[first], _name(table, second)) for first, second in pairs]
    missing = [at for at, (key, name) in enumerate(names) if name not in kept.get(key, {})]
    told: dict[int, Told] = {}
    changed: set[bytes] = set()
    for done, at in enumerate(missing):
        if done % _PAIRS_PER_WRITE == 0:
            cache.put_many(kind, {key: json.dumps(kept[key]).encode() for key in changed})
            changed.clear()
            progress(done, len(missing))
            permit()
        one, other = (_told(table, row, embedder, told) for row in pairs[at])
        key, name = names[at]
        kept.setdefault(key, {})[name] = alignment(one[0], other[0], one[1], other[1])
        changed.add(key)
    cache.put_many(kind, {key: json.dumps(kept[key]).encode() for key in changed})
    if missing:
        progress(len(missing), len(missing))
    return [kept[key][name] for key, name in names]


def _name(table: PassageTable, row: int) -> str:
    """What the other note of a pair is known by: its content and title."""
    return note_key(table.vault, table.rows[row].note).hex()[:24]


def _told(table: PassageTable, row: int, embedder: Embedder, told: dict[int, Told]) -> Told:
    if row not in told:
        if len(told) >= _NOTES_AT_HAND:
            told.clear()
        passage = table.passage(row)
        sentences = () if passage is None else sentences_of(parse_note(f"\n{passage.text}"))
        told[row] = sentences, embedder.encode(sentences)
    return told[row]


def _unpacked(blob: bytes) -> dict[str, float]:
    """What is kept with a note; nothing where it is damaged."""
    try:
        found: Mapping[str, object] = json.loads(blob)
        return {name: value for name, value in found.items() if isinstance(value, float)}
    except (ValueError, AttributeError, RecursionError):
        return {}
