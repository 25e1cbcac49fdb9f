"""The contradictions of a vault, found with what is kept of its claims: unchanged notes are not read again.

A claim stands in a note, however short that is, so notes are looked at and not the passages that duplicates are made
of. Left out are those that hold no plain statements by what they are: daily notes, templates, index pages, plugins'
notes. """

from __future__ import annotations

import json
from collections import OrderedDict
from collections.abc import Sequence
from hashlib import sha256
from typing import TYPE_CHECKING, Final, overload

from aria_dream.adapters.index.resonance import read_note_text
from aria_dream.adapters.passages.passage_rows import note_key
from aria_dream.consolidate.claim_pairs import sketch_claims
from aria_dream.consolidate.contradictions import find_conflicts
from aria_dream.consolidate.passages import Passage, fingerprint_of, is_named_template, looks_like_template, passage_id
from aria_dream.markdown.note import parse_note
from aria_dream.notes.jsonl import as_list, as_texts
from aria_dream.vault.edit import encode_note

if TYPE_CHECKING:
    from collections.abc import Callable

    from aria_dream.adapters.index.cache_store import ContentCache
    from aria_dream.adapters.index.dreamt_vault import DreamtVault
    from aria_dream.consolidate.claim_pairs import ClaimSketch
    from aria_dream.consolidate.verdict import Conflict

CLAIMS_KIND: Final = "claims:5"
"""The cache's kind. Raise the number with every change in `claims` and what it reads by, or in `sketch_claims`."""
_NOTES_PER_WRITE: Final = 128
_AT_HAND: Final = 512


def find_vault_conflicts(
    vault: DreamtVault,
    cache: ContentCache,
    *,
    progress: Callable[[int, int], None] = lambda _done, _total: None,
    permit: Callable[[], None] = lambda: None,
    left_out: Callable[[str], None] = lambda _said: None,
) -> tuple[Conflict, ...]:
    """What may contradict among the visible notes, as `find_conflicts` finds it.

    `leave` is called before every few notes and may raise; what was read by then is kept. `left_out` is told in a
    sentence what was too much to look at.
    """
    apart = {note.path for note in vault.notes if note.daily or note.template or note.index or note.plugin}
    rows = [row for row, path in enumerate(vault.graph.paths) if path not in apart and not is_named_template(path)]
    sketches = _sketches(vault, rows, cache, progress, permit)

    def step(done: int, _total: int) -> None:
        if done % _AT_HAND == 0:
            permit()

    return find_conflicts(_Notes(vault, rows), progress=step, sketches=sketches, permit=permit, left_out=left_out)


def _sketches(
    vault: DreamtVault,
    rows: Sequence[int],
    cache: ContentCache,
    progress: Callable[[int, int], None],
    permit: Callable[[], None],
) -> list[tuple[ClaimSketch, ...]]:
    keys = [note_key(vault, row) for row in rows]
    known = cache.get_many(CLAIMS_KIND, set(keys))
    found = [_unpacked(known.get(key, b"")) for key in keys]
    missing = [at for at, one in enumerate(found) if one is None]
    for start in range(0, len(missing), _NOTES_PER_WRITE):
        progress(start, len(missing))
        permit()
        fresh: dict[bytes, bytes] = {}
        for at in missing[start : start + _NOTES_PER_WRITE]:
            passage = _note_passage(vault, rows[at])
            sketches = () if passage is None else sketch_claims(passage)
            found[at] = sketches
            if passage is not None:
                fresh[keys[at]] = json.dumps(sketches).encode()
        cache.put_many(CLAIMS_KIND, fresh)
    if missing:
        progress(len(missing), len(missing))
    return [one or () for one in found]


def _note_passage(vault: DreamtVault, row: int) -> Passage | None:
    """The note as one passage; None where it has changed since the vault was read."""
    path, text = vault.graph.paths[row], read_note_text(vault, row)
    if sha256(encode_note(text)).digest() != vault.facts[row].content_hash:
        return None
    note = parse_note(text)
    body = "" if looks_like_template(path, note) else text[note.body_start :]
    return Passage(
        id=passage_id(path, ()),
        path=path,
        headings=(),
        start=note.body_start,
        end=note.body_start + len(body),
        text=body,
        words=body,
        fingerprint=fingerprint_of(body),
    )


def _unpacked(blob: bytes) -> tuple[ClaimSketch, ...] | None:
    """The sketches of a note's claims; None where the blob holds none."""
    try:
        claims = as_list(json.loads(blob))
        return tuple((as_texts(terms), tuple(map(as_texts, as_list(slots)))) for terms, slots in map(as_list, claims))
    except (ValueError, KeyError, TypeError, RecursionError):
        return None


class _Notes(Sequence[Passage]):
    """Notes that are read when they are looked at, the last ones at hand."""

    def __init__(self, vault: DreamtVault, rows: Sequence[int]) -> None:
        self._vault = vault
        self._rows = rows
        self._read: OrderedDict[int, Passage] = OrderedDict()

    def __len__(self) -> int:
        return len(self._rows)

    @overload
    def __getitem__(self, at: int) -> Passage: ...
    @overload
    def __getitem__(self, at: slice) -> Sequence[Passage]: ...

    def __getitem__(self, at: int | slice) -> Passage | Sequence[Passage]:
        if isinstance(at, slice):
            return [self[each] for each in range(*at.indices(len(self)))]
        passage = self._read.get(at)
        if passage is None:
            passage = self._read[at] = _note_passage(self._vault, self._rows[at]) or self._changed(at)
            if len(self._read) > _AT_HAND:
                self._read.popitem(last=False)
        return passage

    def _changed(self, at: int) -> Passage:
        """One that has changed since the vault was read: it says nothing."""
        path = self._vault.graph.paths[self._rows[at]]
        return Passage(
            id=passage_id(path, ()), path=path, headings=(), start=0, end=0, text="", words="", fingerprint=""
        )
