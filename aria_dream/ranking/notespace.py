"""The notes of a vault as the ranking sees them, with everything about their words and names that no link changes."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from aria_dream.ranking.juxtaposition import title_of
from aria_dream.ranking.mentions import Mentions, NameTable, ProseWords, name_table, name_words, prose_of
from aria_dream.ranking.sparse import SparseRows, distinct, labelled_rows, sparse_rows, unit_rows
from aria_dream.ranking.terms import fold, link_key, term_ids

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import numpy.typing as npt

    from aria_dream.ranking.terms import TermCounts

    Floats = npt.NDArray[np.float32]
    Ints = npt.NDArray[np.int64]

_TERM_BUCKETS: Final = 1 << 20
_TITLE_WEIGHT: Final = 3
_SHAPE_BITS: Final = 18
_MIX: Final = np.uint64(0x9E3779B97F4A7C15)
_COMMON: Final = 0.2
"""A term in more than this share of the notes (and in more than five) says nothing."""
_BACKGROUND_NOTES: Final = 256
_LEAST_DEVIATION: Final = 0.01


@dataclass(frozen=True, slots=True, kw_only=True)
class RankNote:
    """What the ranking knows of a note beside its words and links."""

    path: str
    """Vault path; folder and title are read from it."""
    aliases: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    """Without `#`, lower-cased."""
    visible: bool = True
    """False: never a candidate and never a start; its words and links count for nothing."""

    @property
    def title(self) -> str:
        """The file's name without `.md`."""
        return title_of(self.path)

    @property
    def folder(self) -> str:
        """The folder's path, `""` at the root."""
        return self.path.rpartition("/")[0]


class NoteSpace:
    """Everything about the notes that no link changes: made once, used with many structures."""

    def __init__(
        self, notes: Sequence[RankNote], terms: Sequence[TermCounts] | Parts, apart: Sequence[str] = ()
    ) -> None:
        """Of `notes` and their `terms`, or of the `parts` that such a space had. `apart`: names of other notes."""
        parts = terms if isinstance(terms, Parts) else space_parts(notes, terms, apart)
        self.notes = notes
        self.size = len(notes)
        self.parts = parts
        self.text = parts.text
        self.titles = parts.titles
        self.title_shape = parts.title_shape
        self.tags = parts.tags
        self.missing = parts.missing
        self.folder_parts = parts.folder_parts
        self.mentions = Mentions(parts.names, parts.prose)
        self.name_worth = parts.name_worth
        self.visible = parts.visible
        self.length = parts.length
        self.folder = parts.folder
        self._background = parts.mean, parts.deviation

    def text_of(self, note: int) -> Floats:
        """Cosine of every note's words with those of `note`; 0 for the note itself."""
        cosine = self.text.dot(*self.text.row(note))
        cosine[note] = 0
        return cosine

    def contrast(self, cosine: Floats) -> Floats:
        """How far a cosine stands out of each candidate's own usual cosines: ln(1 + z), 0 below the mean."""
        mean, deviation = self._background
        contrast: Floats = np.log1p(np.maximum((cosine - mean) / deviation, 0)).astype(np.float32)
        return contrast


@dataclass(frozen=True, slots=True, kw_only=True)
class Parts:
    """A note space as arrays and nothing else: what a cache keeps of it."""

    text: SparseRows
    titles: SparseRows
    title_shape: SparseRows
    tags: SparseRows
    missing: SparseRows
    folder_parts: SparseRows
    names: NameTable
    prose: ProseWords
    name_worth: Floats
    visible: npt.NDArray[np.bool_]
    length: Floats
    folder: Ints
    mean: Floats
    """Of every note's cosines with the others."""
    deviation: Floats

    def to_arrays(self) -> dict[str, npt.NDArray[np.generic]]:
        """Every array by name; `from_arrays` is the inverse."""
        arrays: dict[str, npt.NDArray[np.generic]] = {}
        for field in fields(self):
            part = getattr(self, field.name)
            if isinstance(part, np.ndarray):
                arrays[field.name] = part
            else:
                arrays.update((f"{field.name}.{inner.name}", getattr(part, inner.name)) for inner in fields(part))
        return arrays

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, npt.NDArray[Any]]) -> Parts:
        """The parts that `to_arrays` gave. Raises KeyError where one is missing."""
        made = {"names": NameTable, "prose": ProseWords}
        values: dict[str, Any] = {}
        for field in fields(cls):
            if field.name in arrays:
                values[field.name] = arrays[field.name]
            else:
                kind = made.get(field.name, SparseRows)
                values[field.name] = kind(**{one.name: arrays[f"{field.name}.{one.name}"] for one in fields(kind)})
        return cls(**values)


def space_parts(notes: Sequence[RankNote], terms: Sequence[TermCounts], apart: Sequence[str] = ()) -> Parts:
    """What a note space is made of. Depends on nothing but the arguments. `apart`: names inside which none is meant."""
    titles = [term_ids(note.title) for note in notes]
    owners, words, keys = missing_links(notes, terms)
    text, document_share = text_rows(titles, terms, (owners, words))
    names = [name_words((note.title, *note.aliases)) for note in notes]
    folders = sorted({note.folder for note in notes})
    number = {folder: position for position, folder in enumerate(folders)}
    mean, deviation = _background(text)
    return Parts(
        text=text,
        titles=_title_rows(titles, document_share),
        title_shape=_shape_rows([note.title for note in notes]),
        tags=labelled_rows([note.tags for note in notes]),
        missing=labelled_rows(_by_note(owners, keys, len(notes))),
        folder_parts=labelled_rows([_ancestors(folder) for folder in folders], rare=False),
        names=name_table(names, name_words(apart)),
        prose=prose_of(terms),
        name_worth=_name_worth(names, document_share),
        visible=np.array([note.visible for note in notes], dtype=np.bool_),
        length=np.log1p(np.array([counts.counts.sum() for counts in terms], dtype=np.float32)),
        folder=np.array([number[note.folder] for note in notes], dtype=np.int64),
        mean=mean,
        deviation=deviation,
    )


def _name_worth(names: Sequence[Sequence[Sequence[int]]], document_share: Floats) -> Floats:
    """For every note how telling its names are, 0 to 1: by the rarest word of the least telling name."""
    size = max(len(names), 2)
    worth = np.zeros(len(names), dtype=np.float32)
    floor = np.log(size + 1)
    for note, own in enumerate(names):
        if own:
            rarest = [min(document_share[word & (_TERM_BUCKETS - 1)] for word in name) for name in own if name]
            worth[note] = min(1.0, max(0.0, -np.log(max(rarest, default=1.0)) / floor))
    return worth


def text_rows(
    titles: Sequence[Sequence[int]], terms: Sequence[TermCounts], linked: tuple[Ints, npt.NDArray[np.integer]]
) -> tuple[SparseRows, Floats]:
    """TF-IDF rows of length 1 over prose, title (three times) and `linked` words (owners, terms); and for every term
    the share of notes that hold it."""
    size = len(terms)
    numbers = np.arange(size, dtype=np.int64)
    prose = np.concatenate([*(own.ids for own in terms), np.zeros(0, dtype=np.uint32)])
    lengths = np.array([len(own.ids) for own in terms], dtype=np.int64)
    keys = (np.repeat(numbers, lengths) << 32) | prose  # ascending: notes in order, and the terms of each note
    counts = np.concatenate([*(own.counts for own in terms), np.zeros(0, dtype=np.uint16)]).astype(np.float32)
    in_titles = np.array([word for title in titles for word in title], dtype=np.int64)
    title_keys = (np.repeat(numbers, [len(title) for title in titles]) << 32) | in_titles
    link_keys = (linked[0] << 32) | linked[1].astype(np.int64)
    extra, inverse = np.unique(np.concatenate([title_keys, link_keys]), return_inverse=True)
    weight = np.repeat(np.array([_TITLE_WEIGHT, 1.0]), [len(title_keys), len(link_keys)])
    more = np.bincount(inverse, weights=weight, minlength=len(extra)).astype(np.float32)
    at = np.minimum(np.searchsorted(keys, extra), max(0, len(keys) - 1))
    there = keys[at] == extra if len(keys) else np.zeros(len(extra), dtype=np.bool_)
    counts[at[there]] += more[there]
    columns = np.concatenate([keys, extra[~there]])
    counts = np.concatenate([counts, more[~there]])
    owners, columns = columns >> 32, (columns & (_TERM_BUCKETS - 1)).astype(np.int32)
    held_by = np.bincount(columns, minlength=_TERM_BUCKETS)
    rarity = np.log((size + 1) / (held_by + 1)).astype(np.float32)
    rarity[(held_by > max(_COMMON * size, 5)) | (held_by < 2)] = 0
    values = (1 + np.log(counts)) * rarity[columns]
    kept = np.flatnonzero(values > 0)
    kept = kept[np.argsort(owners[kept], kind="stable")]
    lengths = np.bincount(owners[kept], minlength=size)
    share = ((held_by + 0.5) / max(1, size)).astype(np.float32)
    return sparse_rows(lengths, columns[kept], unit_rows(lengths, values[kept]), width=_TERM_BUCKETS), share


def _title_rows(titles: Sequence[Sequence[int]], document_share: Floats) -> SparseRows:
    """For every title the share each of its words has in it, by rarity; a row sums to 1."""
    size = len(titles)
    owners = np.repeat(np.arange(size, dtype=np.int64), [len(title) for title in titles])
    words = np.array([word for title in titles for word in title], dtype=np.int64) & (_TERM_BUCKETS - 1)
    keys = distinct(owners * _TERM_BUCKETS + words)
    owners, words = keys // _TERM_BUCKETS, keys % _TERM_BUCKETS
    rarity = np.maximum(-np.log(document_share[words]), 0.1)
    total = np.bincount(owners, weights=rarity, minlength=size)
    values = (rarity / total[owners]).astype(np.float32)
    return sparse_rows(np.bincount(owners, minlength=size), words.astype(np.int32), values, width=_TERM_BUCKETS)


def _shape_rows(titles: Sequence[str]) -> SparseRows:
    """Rows of length 1 over the runs of three characters in each title, weighed by rarity."""
    padded = [f" {fold(title)} " for title in titles]
    characters = np.frombuffer("".join(padded).encode("utf-32-le", "surrogatepass"), dtype="<u4").astype(np.uint64)
    lengths = np.array([len(title) for title in padded], dtype=np.int64)
    owners = np.repeat(np.arange(len(padded), dtype=np.int64), lengths)
    run = (characters[:-2] * _MIX + characters[1:-1]) * _MIX + characters[2:] if len(characters) > 2 else characters[:0]
    whole = owners[: len(run)] == owners[2:]
    columns = ((run[whole] * _MIX) >> np.uint64(64 - _SHAPE_BITS)).astype(np.int64)
    width = 1 << _SHAPE_BITS
    keys = distinct(owners[: len(run)][whole] * width + columns)
    owners, columns = keys // width, keys % width
    held_by = np.bincount(columns, minlength=width)
    values = np.log((len(padded) + 1) / held_by[columns])
    counts = np.bincount(owners, minlength=len(padded))
    return sparse_rows(counts, columns.astype(np.int32), unit_rows(counts, values), width=width)


def _background(text: SparseRows) -> tuple[Floats, Floats]:
    """Mean and deviation of every note's cosines with the others, the deviation from 256 notes across the vault."""
    if not text.height:
        return np.zeros(0, dtype=np.float32), np.ones(0, dtype=np.float32)
    mean = text.dot(*text.mean_of(np.arange(text.height)))
    asked = distinct(np.linspace(0, text.height - 1, min(text.height, _BACKGROUND_NOTES)).astype(np.int64))
    total = np.zeros(text.height, dtype=np.float32)
    for note in asked:
        cosine = text.dot(*text.row(int(note)))
        cosine[note] = mean[note]
        total += (cosine - mean) ** 2
    return mean, np.sqrt(total / len(asked)) + np.float32(_LEAST_DEVIATION)


def missing_links(
    notes: Sequence[RankNote], terms: Sequence[TermCounts]
) -> tuple[Ints, npt.NDArray[np.uint32], npt.NDArray[np.uint32]]:
    """Owner, word and key of every word in a link that names no note of the vault."""
    known = distinct(np.array([link_key(note.path) for note in notes], dtype=np.uint32))
    keys = np.concatenate([*(own.link_keys for own in terms), np.zeros(0, dtype=np.uint32)])
    words = np.concatenate([*(own.link_ids for own in terms), np.zeros(0, dtype=np.uint32)])
    owners = np.repeat(np.arange(len(terms), dtype=np.int64), [len(own.link_keys) for own in terms])
    at = np.searchsorted(known, keys)
    there = known[np.minimum(at, len(known) - 1)] == keys if len(known) else np.zeros(len(keys), dtype=np.bool_)
    return owners[~there], words[~there], keys[~there]


def _by_note(owners: Ints, keys: npt.NDArray[np.uint32], size: int) -> list[list[str]]:
    rows: list[list[str]] = [[] for _ in range(size)]
    for owner, key in zip(owners.tolist(), keys.tolist(), strict=True):
        rows[owner].append(str(key))
    return rows


def _ancestors(folder: str) -> list[str]:
    parts = folder.split("/") if folder else []
    return ["/".join(parts[: depth + 1]) for depth in range(len(parts))]
