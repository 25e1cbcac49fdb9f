"""Where the text of one note names another: the unlinked mentions of titles and aliases."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Final

import numpy as np

from aria_dream.ranking.sparse import distinct, spans
from aria_dream.ranking.terms import BREAK, term_ids

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy.typing as npt

    from aria_dream.ranking.terms import Ids, TermCounts

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


@dataclass(frozen=True, slots=True, kw_only=True)
class NameTable:
    """The names of all notes, each once a note, one after the other."""

    owners: Ints
    """For every name the note that bears it, ascending; -1 for the name of a note that no dream may see."""
    lengths: Ints
    """For every name its number of words."""
    words: Ids
    """The words of all names."""

    def of(self, note: int) -> list[Ids]:
        """The names of one note."""
        low, high = (int(at) for at in np.searchsorted(self.owners, [note, note + 1]))
        start = int(self.lengths[:low].sum())
        ends = start + np.cumsum(self.lengths[low:high])
        return [self.words[end - length : end] for end, length in zip(ends, self.lengths[low:high], strict=True)]

    def around(self, words: Ids) -> list[tuple[int, Ids]]:
        """The longer names of any note that hold these words, each with their offset in it."""
        ends = np.cumsum(self.lengths)
        at = _places(self.words, words)
        name = np.searchsorted(ends, at, side="right")
        whole = (at + len(words) <= ends[name]) & (self.lengths[name] > len(words))
        starts = ends[name] - self.lengths[name]
        return [
            (place - start, self.words[start : start + length])
            for place, start, length in zip(
                at[whole].tolist(), starts[whole].tolist(), self.lengths[name][whole].tolist(), strict=True
            )
        ]


def name_table(names: Sequence[Sequence[tuple[int, ...]]], apart: Sequence[tuple[int, ...]] = ()) -> NameTable:
    """The table of `names`, title and aliases of each note (`name_words`), and of names `apart` that no note of these
    bears: what stands inside one of them names nothing."""
    told = [tuple(dict.fromkeys(own)) for own in (apart, *names)]
    return NameTable(
        owners=np.repeat(np.arange(-1, len(told) - 1, dtype=np.int64), [len(own) for own in told]),
        lengths=np.array([len(words) for own in told for words in own], dtype=np.int64),
        words=np.array([word for own in told for words in own for word in words], dtype=np.uint32),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class ProseWords:
    """The words of all notes in reading order, one note after the other, `BREAK` at links and after each note."""

    words: Ids
    bounds: Ints
    """Note i is `words[bounds[i]:bounds[i + 1]]`; length notes + 1."""


def prose_of(terms: Sequence[TermCounts]) -> ProseWords:
    """The prose of notes from their terms."""
    bounds = np.cumsum([0, *(len(own.order) + 1 for own in terms)], dtype=np.int64)
    words = np.full(int(bounds[-1]), BREAK, dtype=np.uint32)
    for own, start in zip(terms, bounds.tolist(), strict=False):
        table = np.append(own.ids, np.uint32(BREAK))
        # `BREAK` in `order` lies beyond the table, and clipped it means the table's last entry
        np.take(table, own.order, mode="clip", out=words[start : start + len(own.order)])
    return ProseWords(words=words, bounds=bounds)


class Mentions:
    """How often each note's prose names each other note by its title or an alias.

    Found as a run of whole words, folded, that no link interrupts. A single note is asked cheaply; `prepare` reads the
    whole vault once, for those who will ask about many.
    """

    def __init__(self, names: NameTable, prose: ProseWords) -> None:
        self.names = names
        self.prose = prose
        self._size = len(prose.bounds) - 1
        self._groups: list[_Group] | None = None
        self._rows: list[tuple[Ints, Ints]] | None = None
        self._columns: tuple[Ints, Ints, Ints] | None = None
        self._in_one: dict[int, tuple[Ints, Ints]] = {}
        self._of_one: dict[int, tuple[Ints, Ints]] = {}

    def prepare(self) -> None:
        """Finds all mentions of the vault, a million words at a time; later calls do nothing."""
        if self._rows is not None:
            return
        found: list[tuple[Ints, Ints]] = []
        start = 0
        while start < self._size:
            room = int(self.prose.bounds[start]) + _TOKENS_AT_ONCE
            stop = max(start + 1, int(np.searchsorted(self.prose.bounds, room, side="right")) - 1)
            found.extend(self._scan(start, min(stop, self._size)))
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
        if note not in self._in_one:
            self._in_one[note] = self._scan(note, note + 1)[0]
        return self._in_one[note]

    def of_note(self, note: int) -> tuple[Ints, Ints]:
        """The notes whose prose names `note`, ascending, and how often."""
        if self._columns is None:
            if note not in self._of_one:
                self._of_one[note] = self._find(note)
            return self._of_one[note]
        by, counts, bounds = self._columns
        here = slice(int(bounds[note]), int(bounds[note + 1]))
        return by[here], counts[here]

    def _find(self, note: int) -> tuple[Ints, Ints]:
        """`of_note` by looking for its names alone: one comparison a word of the vault."""
        prose, found = self.prose.words, [_NONE]
        for words in self.names.of(note):
            at = _places(prose, words)
            for offset, longer in self.names.around(words):
                first = at - offset
                inside = (first >= 0) & (first + len(longer) <= len(prose))
                for step, word in enumerate(longer):
                    inside[inside] = prose[first[inside] + step] == word
                at = at[~inside]
            found.append(at)
        by = np.searchsorted(self.prose.bounds, np.concatenate(found), side="right") - 1
        by, counts = np.unique(by[by != note], return_counts=True)
        return by, counts

    def _scan(self, start: int, stop: int) -> list[tuple[Ints, Ints]]:
        """For each note from `start` to before `stop` the other notes it names, ascending, and how often."""
        if self._groups is None:
            self._groups = _groups(self.names)
        bounds = self.prose.bounds[start : stop + 1]
        sequence = self.prose.words[int(bounds[0]) : int(bounds[-1])]
        owners = np.repeat(np.arange(start, stop, dtype=np.int64), np.diff(bounds))
        found = [(owners[at], note) for at, note in _longest(self._groups, sequence, owners)]
        keys = np.concatenate([*(owner * self._size + note for owner, note in found), _NONE])
        keys, counts = np.unique(keys, return_counts=True)
        by, named = keys // self._size, keys % self._size
        other = by != named
        by, named, counts = by[other], named[other], counts[other]
        edges = np.searchsorted(by, np.arange(start, stop + 1)).tolist()
        return [(named[a:b], counts[a:b]) for a, b in pairwise(edges)]


def _longest(groups: Sequence[_Group], sequence: Ids, owners: Ints) -> list[tuple[Ints, Ints]]:
    """Places and named notes of the occurrences inside no longer one; the names of no visible note are left out."""
    size = len(owners)
    reach = np.zeros(size + 1, dtype=np.int64)
    """For every place how far the longest name reaches that begins there."""
    kept = []
    for group in sorted(groups, key=lambda group: -group.length):
        at, notes = group.find(sequence, owners)
        covered = np.maximum.accumulate(reach)[at] >= at + group.length
        kept.append((at[~covered & (notes >= 0)], notes[~covered & (notes >= 0)]))
        reach[at] = np.maximum(reach[at], at + group.length)
    return kept


def _places(words: Ids, wanted: Ids) -> Ints:
    """Where `wanted` stands in `words`."""
    at = np.flatnonzero(words[: max(0, len(words) - len(wanted) + 1)] == wanted[0])
    for step, word in enumerate(wanted[1:], 1):
        at = at[words[at + step] == word]
    return at


def _groups(names: NameTable) -> list[_Group]:
    ends = np.cumsum(names.lengths)
    groups = []
    for length in distinct(names.lengths).tolist():
        mine = np.flatnonzero(names.lengths == length)
        at = (ends[mine] - length)[:, None] + np.arange(length)
        groups.append(_Group(length, names.words[at], names.owners[mine]))
    return groups


class _Group:
    """All names of one length in words."""

    def __init__(self, length: int, words: Ids, notes: Ints) -> None:
        self.length = length
        keys = _hash(words.T)
        order = np.argsort(keys, kind="stable")
        self.keys = keys[order]
        self.words = words[order]
        self.notes = notes[order]
        # two bits of knowledge rule out nearly every position: which words begin a name, and which end one
        self.first = np.zeros(_BUCKETS, dtype=np.bool_)
        self.first[words[:, 0] % _BUCKETS] = True
        self.last = np.zeros(_BUCKETS, dtype=np.bool_)
        self.last[words[:, -1] % _BUCKETS] = True

    def find(self, sequence: Ids, owners: Ints) -> tuple[Ints, Ints]:
        """Place and named note of every occurrence."""
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
        return at[position[same]], self.notes[which[same]]


def _hash(words: Ids) -> npt.NDArray[np.uint64]:
    keys = np.zeros(words.shape[1], dtype=np.uint64)
    for row in words:
        keys = (keys ^ row.astype(np.uint64)) * _MIX
        keys ^= keys >> np.uint64(29)
    return keys

