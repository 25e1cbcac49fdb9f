"""Where the text of one note names another: the unlinked mentions of titles and aliases."""

from __future__ import annotations

from collections import defaultdict
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
_NONE: Final = np.zeros(0, dtype=np.int64)


def name_words(names: Sequence[str]) -> list[tuple[int, ...]]:
    """The names worth looking for, as terms: not those under three characters (two in scripts without spaces) or over
    twelve words."""
    told = (tuple(term_ids(name)) for name in names if len(name) >= _SHORTEST_NAME or not name.isascii())
    return [words for words in told if 0 < len(words) <= _LONGEST_NAME_WORDS]


class Mentions:
    """How often each note's prose names each other note by its title or an alias.

    Found as a run of whole words, folded, that no link interrupts. A single note is asked cheaply; `prepare` reads the
    whole vault once, for those who will ask about many.
    """

    def __init__(self, names: Sequence[Sequence[tuple[int, ...]]], terms: Sequence[TermCounts]) -> None:
        """`names[i]` are title and aliases of note i (`name_words`), `terms[i]` its words."""
        self._names = names
        self._terms = terms
        self._size = len(terms)
        self._groups: list[_Group] | None = None
        self._rows: list[tuple[Ints, Ints]] | None = None
        self._columns: tuple[Ints, Ints, Ints] | None = None

    def prepare(self) -> None:
        """Finds all mentions of the vault, a million words at a time; later calls do nothing."""
        if self._rows is not None:
            return
        found: list[tuple[Ints, Ints]] = []
        start = 0
        while start < self._size:
            stop, tokens = start, 0
            while stop < self._size and (stop == start or tokens < _TOKENS_AT_ONCE):
                tokens += len(self._terms[stop].order)
                stop += 1
            found.extend(self._scan(range(start, stop), self._all_names()))
            start = stop
        by = np.repeat(np.arange(self._size), [len(named) for named, _ in found])
        named = np.concatenate([*(named for named, _ in found), _NONE])
        counts = np.concatenate([*(counts for _, counts in found), _NONE])
        order = np.argsort(named, kind="stable")
        self._columns = by[order], counts[order], np.searchsorted(named[order], np.arange(self._size + 1))
        self._rows = found

    def in_note(self, note: int) -> tuple[Ints, Ints]:
        """The notes that `note`'s prose names, ascending, and how often."""
        if self._rows is not None:
            return self._rows[note]
        return self._scan(range(note, note + 1), self._all_names())[0]

    def of_note(self, note: int) -> tuple[Ints, Ints]:
        """The notes whose prose names `note`, ascending, and how often."""
        if self._columns is None:
            return self._of_one(note)
        by, counts, bounds = self._columns
        here = slice(int(bounds[note]), int(bounds[note + 1]))
        return by[here], counts[here]

    def _of_one(self, note: int) -> tuple[Ints, Ints]:
        groups = _groups({words: {note} for words in self._names[note]})
        if not groups:
            return _NONE, _NONE
        holders = [self._holding(words) for words in self._names[note]]
        asked = np.unique(np.concatenate(holders)).tolist()
        found = zip(asked, self._scan(asked, groups), strict=True)
        times = {other: int(counts[0]) for other, (named, counts) in found if len(named)}
        return np.array(list(times), dtype=np.int64), np.array(list(times.values()), dtype=np.int64)

    def _holding(self, words: tuple[int, ...]) -> Ints:
        """The notes that hold all the words, in any order."""
        ids = np.concatenate([*(own.ids for own in self._terms), np.zeros(0, dtype=np.uint32)])
        starts = np.cumsum([0, *(len(own.ids) for own in self._terms)])
        held = np.zeros(self._size, dtype=np.int64)
        distinct = set(words)
        for word in distinct:
            held[np.searchsorted(starts, np.flatnonzero(ids == np.uint32(word)), side="right") - 1] += 1
        return np.flatnonzero(held == len(distinct))

    def _all_names(self) -> list[_Group]:
        if self._groups is None:
            phrases: dict[tuple[int, ...], set[int]] = defaultdict(set)
            for note, names in enumerate(self._names):
                for words in names:
                    phrases[words].add(note)
            self._groups = _groups(phrases)
        return self._groups

    def _scan(self, notes: Sequence[int], groups: Sequence[_Group]) -> list[tuple[Ints, Ints]]:
        """For each of `notes`, ascending, the other notes it names and how often."""
        parts = [_reading_order(self._terms[note]) for note in notes]
        sequence = np.concatenate([*parts, np.zeros(0, dtype=np.uint32)])
        owners = np.repeat(np.array(notes, dtype=np.int64), [len(part) for part in parts])
        found = [group.find(sequence, owners) for group in groups]
        keys = np.concatenate([*(owner * self._size + note for owner, note in found), _NONE])
        keys, counts = np.unique(keys, return_counts=True)
        by, named = keys // max(1, self._size), keys % max(1, self._size)
        other = by != named
        by, named, counts = by[other], named[other], counts[other]
        asked = np.array(notes, dtype=np.int64)
        low, high = np.searchsorted(by, asked), np.searchsorted(by, asked, side="right")
        return [(named[a:b], counts[a:b]) for a, b in zip(low.tolist(), high.tolist(), strict=True)]


def _groups(phrases: dict[tuple[int, ...], set[int]]) -> list[_Group]:
    return [_Group(length, phrases) for length in sorted({len(words) for words in phrases})]


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
            return _NONE, _NONE
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
