"""The contradictions of a vault, found with what is kept of its claims: unchanged notes are not read again."""

from __future__ import annotations

import json
from collections import OrderedDict
from collections.abc import Sequence
from typing import TYPE_CHECKING, Final, overload

from aria_dream.consolidate.atoms import Atom
from aria_dream.consolidate.claim_pairs import sketch_claims
from aria_dream.consolidate.contradictions import find_conflicts
from aria_dream.dream.embedding import vector_key
from aria_dream.dream.jsonl import as_list, as_texts
from aria_dream.dream.juxtaposition import title_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from aria_dream.consolidate.claim_pairs import ClaimSketch
    from aria_dream.consolidate.verdict import Conflict
    from aria_dream.effects.atom_table import AtomTable
    from aria_dream.effects.vectors import ContentCache

CLAIMS_KIND: Final = "claims:1"
"""The cache's kind. Raise the number with every change in `claims`, `measuring` or `claim_pairs.sketch_claims`."""
_NOTES_PER_WRITE: Final = 128
_AT_HAND: Final = 512


def find_vault_conflicts(
    table: AtomTable,
    cache: ContentCache,
    *,
    progress: Callable[[int, int], None] = lambda _done, _total: None,
    leave: Callable[[], None] = lambda: None,
) -> tuple[Conflict, ...]:
    """What may contradict in the vault, as `find_conflicts` finds it.

    A note is looked at as a whole where it is an atom as a whole; its sections say nothing more. `leave` is called
    before every few notes and may raise; what was read by then is kept.
    """
    rows = _outermost(table)
    sketches = _sketches(table, rows, cache, progress, leave)

    def step(done: int, _total: int) -> None:
        if done % _AT_HAND == 0:
            leave()

    return find_conflicts(_Atoms(table, rows), progress=step, sketches=sketches)


def _outermost(table: AtomTable) -> list[int]:
    """The whole notes, and the sections of notes that are no atoms as a whole."""
    whole = {row.note for row in table.rows if not row.headings}
    return [at for at, row in enumerate(table.rows) if not row.headings or row.note not in whole]


def _sketches(
    table: AtomTable,
    rows: Sequence[int],
    cache: ContentCache,
    progress: Callable[[int, int], None],
    leave: Callable[[], None],
) -> list[tuple[ClaimSketch, ...]]:
    keys = [_key(table, table.rows[row].note) for row in rows]
    known = cache.get_many(CLAIMS_KIND, set(keys))
    found: list[tuple[ClaimSketch, ...] | None] = [None] * len(rows)
    names = [_name(table, row) for row in rows]
    for at, key in enumerate(keys):
        found[at] = _unpacked(known.get(key, b""), names[at])
    missing = [at for at in range(len(rows)) if found[at] is None]
    fresh: dict[bytes, dict[str, tuple[ClaimSketch, ...]]] = {}
    for number, at in enumerate(missing):
        if number % _NOTES_PER_WRITE == 0:
            _keep(cache, fresh)
            fresh = {}
            progress(number, len(missing))
            leave()
        atom = table.atom(rows[at])
        found[at] = () if atom is None else sketch_claims(atom)
        if atom is not None:
            fresh.setdefault(keys[at], {})[names[at]] = found[at] or ()
    _keep(cache, fresh)
    if missing:
        progress(len(missing), len(missing))
    return [one or () for one in found]


def _keep(cache: ContentCache, fresh: dict[bytes, dict[str, tuple[ClaimSketch, ...]]]) -> None:
    cache.put_many(CLAIMS_KIND, {key: json.dumps(atoms).encode() for key, atoms in fresh.items()})


def _unpacked(blob: bytes, name: str) -> tuple[ClaimSketch, ...] | None:
    """The sketches of one atom in the blob of its note; None where it does not hold them."""
    try:
        claims = as_list(json.loads(blob or b"{}")[name])
        return tuple((as_texts(terms), tuple(map(as_texts, as_list(slots)))) for terms, slots in map(as_list, claims))
    except (ValueError, KeyError, TypeError, RecursionError):
        return None


def _name(table: AtomTable, row: int) -> str:
    """Which atom of its note it is, wherever the note lies."""
    found = table.rows[row]
    return json.dumps([*found.headings, found.number])


def _key(table: AtomTable, note: int) -> bytes:
    """The key of the note's vector, which the cache keeps as long as the note is visible."""
    return vector_key(table.vault.facts[note].content_hash, title_of(table.vault.graph.paths[note]))


class _Atoms(Sequence[Atom]):
    """Atoms that are read when they are looked at, the last ones at hand."""

    def __init__(self, table: AtomTable, rows: Sequence[int]) -> None:
        self._table = table
        self._rows = rows
        self._read: OrderedDict[int, Atom] = OrderedDict()

    def __len__(self) -> int:
        return len(self._rows)

    @overload
    def __getitem__(self, at: int) -> Atom: ...
    @overload
    def __getitem__(self, at: slice) -> Sequence[Atom]: ...

    def __getitem__(self, at: int | slice) -> Atom | Sequence[Atom]:
        if isinstance(at, slice):
            return [self[each] for each in range(*at.indices(len(self)))]
        atom = self._read.get(at)
        if atom is None:
            atom = self._read[at] = self._table.atom(self._rows[at]) or self._changed(at)
            if len(self._read) > _AT_HAND:
                self._read.popitem(last=False)
        return atom

    def _changed(self, at: int) -> Atom:
        """One that has changed since the vault was read: it says nothing."""
        row = self._table.rows[self._rows[at]]
        path = self._table.vault.graph.paths[row.note]
        return Atom(id=self._table.id_of(self._rows[at]), path=path, headings=row.headings, start=0, end=0, text="",
                    words="", fingerprint="")  # fmt: skip
