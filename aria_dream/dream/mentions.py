"""Where the text of one note names another: the unlinked mentions of titles and aliases."""

from __future__ import annotations

from collections import defaultdict
from itertools import pairwise
from typing import TYPE_CHECKING, Final

import numpy as np

from aria_dream.dream.sparse import spans
from aria_dream.dream.terms import BREAK, term_ids

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy.typing as npt

    from aria_dream.dream.terms import Ids, TermCounts

    Ints = npt.NDArray[np.int64]

_BUCKETS: Final = 1 << 20
_MIX: Final = np.uint64(0x9E3779B97F4A7C15)
_SHORTEST_NAME: Final = 3
_LONGEST_NAME_WORDS: Final = 12
_TOKENS_AT_ONCE: Final = 1 << 20


class Mentions:
    """How often each note's prose names each other note by its title or an alias.

    Found as a run of whole words, folded, that no link interrupts. Names under three characters (two in scripts without
    spaces) and over twelve words are not looked for.
    """

    def __init__(self, names: Sequence[Sequence[str]], terms: Sequence[TermCounts]) -> None:
        """`names[i]` are title and aliases of note i, `terms[i]` its words."""
        self._terms = terms
        self._size = len(terms)
        phrases: dict[tuple[int, ...], set[int]] = defaultdict(set)
        for note, own in enumerate(names):
            for name in own:
                words = tuple(term_ids(name))
                if 0 < len(words) <= _LONGEST_NAME_WORDS and (len(name) >= _SHORTEST_NAME or not name.isascii()):
                    phrases[words].add(note)
        self._groups = [_Group(length, phrases) for length in sorted({len(words) for words in phrases})]
        self._rows: list[tuple[Ints, Ints]] | None = None
        self._columns: tuple[Ints, Ints, Ints] | None = None
        self._mentioned_by: Ints | None = None

    def in_note(self, note: int) -> tuple[Ints, Ints]:
        """The notes that `note`'s prose names, ascending, and how often."""
        rows = self._all()
        return rows[note]

    def of_note(self, note: int) -> tuple[Ints, Ints]:
        """The notes whose prose names `note`, ascending, and how often."""
        if self._columns is None:
            rows = self._all()
            by = np.repeat(np.arange(self._size), [len(named) for named, _ in rows])
            named = np.concatenate([named for named, _ in rows] or [np.zeros(0, dtype=np.int64)])
            counts = np.concatenate([counts for _, counts in rows] or [np.zeros(0, dtype=np.int64)])
            order = np.argsort(named, kind="stable")
            bounds = np.searchsorted(named[order], np.arange(self._size + 1))
            self._columns = (by[order], counts[order], bounds)
        by, counts, bounds = self._columns
        here = slice(int(bounds[note]), int(bounds[note + 1]))
        return by[here], counts[here]

    def mentioned_by(self) -> Ints:
        """For every note, how many other notes name it."""
        if self._mentioned_by is None:
            named = [notes for notes, _ in self._all()]
            joined = np.concatenate(named) if named else np.zeros(0, dtype=np.int64)
            self._mentioned_by = np.bincount(joined, minlength=self._size)
        return self._mentioned_by

    def _all(self) -> list[tuple[Ints, Ints]]:
        if self._rows is None:
            self._rows = []
            start = 0
            while start < self._size:
                stop, tokens = start, 0
                while stop < self._size and (stop == start or tokens < _TOKENS_AT_ONCE):
                    tokens += len(self._terms[stop].order)
                    stop += 1
                self._rows.extend(self._scan(start, stop))
                start = stop
        return self._rows

    def _scan(self, start: int, stop: int) -> list[tuple[Ints, Ints]]:
        parts = [_reading_order(self._terms[note]) for note in range(start, stop)]
        sequence = np.concatenate(parts)
        owners = np.repeat(np.arange(start, stop, dtype=np.int64), [len(part) for part in parts])
        found = [group.find(sequence, owners) for group in self._groups]
        keys = np.concatenate([owner * self._size + note for owner, note in found] or [np.zeros(0, dtype=np.int64)])
        keys, counts = np.unique(keys, return_counts=True)
        by, named = keys // max(1, self._size), keys % max(1, self._size)
        other = by != named
        by, named, counts = by[other], named[other], counts[other]
        bounds = np.searchsorted(by, np.arange(start, stop + 1))
        return [(named[low:high], counts[low:high]) for low, high in pairwise(bounds.tolist())]


class _Group:
    """All names of one length in words."""

    def __init__(self, length: int, phrases: dict[tuple[int, ...], set[int]]) -> None:
        self.length = length
        mine = [(words, note) for words, notes in phrases.items() if len(words) == length for note in sorted(notes)]
        words = np.array([words for words, _ in mine], dtype=np.uint32).reshape(-1, length)
        keys = _hash(words.T)
        order = np.argsort(keys, kind="stable")
        self.keys = keys[order]
        self.words = words[order]
        self.notes = np.array([note for _, note in mine], dtype=np.int64)[order]
        # two bits of knowledge rule out nearly every position: which words begin a name, and which end one
        self.first = np.zeros(_BUCKETS, dtype=np.bool_)
        self.first[words[:, 0] % _BUCKETS] = True
        self.last = np.zeros(_BUCKETS, dtype=np.bool_)
        self.last[words[:, -1] % _BUCKETS] = True

    def find(self, sequence: Ids, owners: Ints) -> tuple[Ints, Ints]:
        """Owner and named note of every occurrence."""
        reach = self.length - 1
        usable = len(sequence) - reach
        if usable <= 0:
            return np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int64)
        at = np.flatnonzero(self.first[sequence[:usable] % _BUCKETS])
        at = at[self.last[sequence[at + reach] % _BUCKETS] & (owners[at] == owners[at + reach])]
        here = np.stack([sequence[at + step] for step in range(self.length)])
        keys = _hash(here)
        low = np.searchsorted(self.keys, keys, side="left")
        lengths = np.searchsorted(self.keys, keys, side="right") - low
        which = spans(low, lengths)
        position = np.repeat(np.arange(len(at)), lengths)
        same = np.all(self.words[which] == here[:, position].T, axis=1)
        return owners[at[position[same]]], self.notes[which[same]]


def _hash(words: Ids) -> npt.NDArray[np.uint64]:
    keys = np.zeros(words.shape[1], dtype=np.uint64)
    for row in words:
        keys = (keys ^ row.astype(np.uint64)) * _MIX
        keys ^= keys >> np.uint64(29)
    return keys


def _reading_order(terms: TermCounts) -> Ids:
    """The prose as terms, with `BREAK` at links and at the end."""
    table = np.append(terms.ids, np.uint32(BREAK))
    order = np.minimum(terms.order, np.uint32(len(terms.ids)))
    return np.append(table[order], np.uint32(BREAK))
