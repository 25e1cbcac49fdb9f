"""What is measured of two notes: text, structure, names, folders and tags, as one number each.

Blocks of shape (features, notes, sources): column b holds how every note stands to `sources[b]`. Most features say the
same in both directions. None has seen the link it is to predict, once that link is taken out of the `Structure`: words
of links are no part of the text (`terms`), and folder and neighbour figures are computed from the structure given.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np

from aria_dream.dream.juxtaposition import title_of
from aria_dream.dream.mentions import Mentions
from aria_dream.dream.sparse import SparseRows, labelled_rows, sparse_rows, unit_rows
from aria_dream.dream.terms import fold, link_key, term_ids

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy.typing as npt

    from aria_dream.dream.structure import Structure
    from aria_dream.dream.terms import TermCounts

    Floats = npt.NDArray[np.float32]
    Ints = npt.NDArray[np.int64]

FEATURES: Final = (
    "text",
    "text_rank",
    "text_contrast",
    "neighbour_text",
    "neighbourhoods_text",
    "similar_notes_link",
    "mention",
    "title_words",
    "title_shape",
    "coactivation",
    "coactivation_back",
    "common_neighbours",
    "neighbour_overlap",
    "links_in",
    "links_out",
    "folder_near",
    "folder_links",
    "tags",
    "missing_note",
    "length",
    "unlinked",
    "own_links_in",
    "own_links_out",
    "own_length",
    "own_unlinked",
)
"""Names of the features, in the order of the blocks. `own_…` are the source's: equal for all its candidates."""

_TERM_BUCKETS: Final = 1 << 20
_TITLE_WEIGHT: Final = 3
_COMMON: Final = 0.2
"""A term in more than this share of the notes (and in more than five) says nothing."""
_BACKGROUND_NOTES: Final = 256
_VOTERS: Final = 15
_TEXT_FLOOR: Final = 0.01
_WALK_FLOOR: Final = 1e-4


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

    def __init__(self, notes: Sequence[RankNote], terms: Sequence[TermCounts]) -> None:
        self.notes = notes
        self.size = len(notes)
        titles = [term_ids(note.title) for note in notes]
        owners, words, keys = missing_links(notes, terms)
        self.text, document_share = text_rows(titles, terms, (owners, words))
        self.titles = _title_rows(titles, document_share)
        self.title_shape = labelled_rows([_trigrams(note.title) for note in notes], unit=True)
        self.tags = labelled_rows([note.tags for note in notes], unit=False)
        self.missing = labelled_rows(_by_note(owners, keys, self.size), unit=False)
        self.mentions = Mentions([(note.title, *note.aliases) for note in notes], terms)
        self.visible = np.array([note.visible for note in notes], dtype=np.bool_)
        self.length = np.log1p(np.array([len(counts.order) for counts in terms], dtype=np.float32))
        folders = sorted({note.folder for note in notes})
        number = {folder: position for position, folder in enumerate(folders)}
        self.folder = np.array([number[note.folder] for note in notes], dtype=np.int64)
        self.folder_parts = labelled_rows([_ancestors(folder) for folder in folders], unit=False, rare=False)
        self._background = _background(self.text)

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


class Block:
    """The features of a few sources against all notes, and the parts they were made from."""

    def __init__(self, space: NoteSpace, structure: Structure, sources: Ints) -> None:
        self.sources = sources
        self.values = np.zeros((len(FEATURES), space.size, len(sources)), dtype=np.float32)
        self._text(space, structure)
        self._structure(structure)
        self._names(space, structure)
        self._notes(space, structure)

    def put(self, name: str, values: Floats) -> None:
        """Sets one feature; `values` broadcast to (notes, sources)."""
        self.values[FEATURES.index(name)] = values

    def _text(self, space: NoteSpace, structure: Structure) -> None:
        cosine = np.stack([space.text_of(int(source)) for source in self.sources], axis=1)
        self.put("text", _log(cosine, _TEXT_FLOOR))
        self.put("text_rank", np.stack([_rank_share(column) for column in cosine.T], axis=1))
        self.put("text_contrast", np.stack([space.contrast(column) for column in cosine.T], axis=1))
        near = np.stack([_near_text(space, structure, int(source)) for source in self.sources], axis=1)
        around = structure.means(cosine)
        self.put("neighbour_text", _log(near, _TEXT_FLOOR) + _log(around, _TEXT_FLOOR))
        self.put("neighbourhoods_text", _log(structure.means(near), _TEXT_FLOOR))
        votes = np.stack([_votes(column) for column in cosine.T], axis=1)
        self.put("similar_notes_link", _log(structure.sums(votes), _TEXT_FLOOR))

    def _structure(self, structure: Structure) -> None:
        degree = structure.degree.astype(np.float32)
        walked = structure.walkers(self.sources)
        self.put("coactivation", _log(walked, _WALK_FLOOR))
        own = degree[self.sources][None, :]
        back = walked * own / np.maximum(degree, 1)[:, None]  # links have no direction here: P_j(i) = P_i(j) d_i / d_j
        self.put("coactivation_back", _log(back, _WALK_FLOOR))
        linked = structure.linked_to(self.sources)
        shared = structure.sums(linked)
        weighted = structure.sums(linked / np.maximum(degree, 1)[:, None])
        self.put("common_neighbours", np.sqrt(weighted))
        self.put("neighbour_overlap", np.sqrt(shared / np.maximum(degree[:, None] + own - shared, 1)))

    def _names(self, space: NoteSpace, structure: Structure) -> None:
        del structure
        for column, source in enumerate(self.sources):
            note = int(source)
            self.values[FEATURES.index("mention"), :, column] = _mention(space, note)
            mine, share = space.titles.row(note)
            words = space.text.row(note)[0]
            covered = space.titles.dot(words, np.ones(len(words), dtype=np.float32))
            covers = space.text.dot(mine, share, present=True)
            self.values[FEATURES.index("title_words"), :, column] = covered**2 + covers**2
            self.values[FEATURES.index("title_shape"), :, column] = _products(space.title_shape, note)
            self.values[FEATURES.index("tags"), :, column] = _products(space.tags, note)
            self.values[FEATURES.index("missing_note"), :, column] = np.log1p(_products(space.missing, note))

    def _notes(self, space: NoteSpace, structure: Structure) -> None:
        links_in, links_out = np.log1p(structure.in_degree), np.log1p(structure.out_degree)
        alone = structure.degree == 0
        for name, values in (
            ("links_in", links_in),
            ("links_out", links_out),
            ("length", space.length),
            ("unlinked", alone),
        ):
            column = values.astype(np.float32)
            self.put(name, column[:, None])
            self.put(f"own_{name}", column[self.sources][None, :])
        for column, source in enumerate(self.sources):
            near, links = _folders(space, structure, int(space.folder[source]))
            self.values[FEATURES.index("folder_near"), :, column] = near[space.folder]
            self.values[FEATURES.index("folder_links"), :, column] = links[space.folder]


def _log(values: npt.NDArray[np.floating], floor: float) -> Floats:
    """ln(values + floor) counted from ln(floor): 0 for nothing."""
    counted: Floats = np.log1p(np.maximum(values, 0) / np.float32(floor)).astype(np.float32)
    return counted


def _rank_share(cosine: Floats) -> Floats:
    """1/√(1 + rank) of every note in the source's list by text, 0 where no word is shared; ties by path."""
    order = np.argsort(-cosine, kind="stable")
    shares = np.empty(len(cosine), dtype=np.float32)
    shares[order] = 1 / np.sqrt(1 + np.arange(len(cosine)))
    return np.where(cosine > 0, shares, 0)


def _near_text(space: NoteSpace, structure: Structure, note: int) -> Floats:
    """Mean cosine of every note with the neighbours of `note`, itself left out where it is one of them."""
    neighbours = structure.around(note)
    cosine: Floats = space.text.dot(*space.text.mean_of(neighbours))
    if len(neighbours):
        has_text = np.diff(space.text.offsets)[neighbours] > 0
        cosine[neighbours] -= has_text / np.float32(len(neighbours))
    return cosine


def _votes(cosine: Floats) -> Floats:
    """The notes most alike in text, as shares that sum to 1."""
    votes = np.zeros_like(cosine)
    top = np.argsort(-cosine, kind="stable")[:_VOTERS]
    votes[top] = cosine[top]
    votes /= max(float(votes.sum()), 1e-9)
    return votes


def _mention(space: NoteSpace, note: int) -> Floats:
    """ln(1 + mentions) in both directions, each worth the less the more notes mention that name."""
    found = np.zeros(space.size, dtype=np.float32)
    mentioned_by = space.mentions.mentioned_by()
    worth = np.log((space.size + 1) / (mentioned_by + 1)) / np.log(space.size + 1)
    named, counts = space.mentions.in_note(note)
    found[named] += np.log1p(counts) * worth[named]
    by, times = space.mentions.of_note(note)
    found[by] += np.log1p(times) * worth[note]
    return found


def _folders(space: NoteSpace, structure: Structure, folder: int) -> tuple[Floats, Floats]:
    """For every folder: share of its way from the root in common with `folder`; log of how much more often notes of the
    two are linked than notes of the vault at large."""
    depth = np.diff(space.folder_parts.offsets)
    near = 2 * space.folder_parts.dot(*space.folder_parts.row(folder)) / np.maximum(depth + depth[folder], 1)
    near[folder] = 1
    sizes = np.bincount(space.folder, minlength=space.folder_parts.height)
    links = np.zeros(len(sizes))
    for first, second in ((structure.sources, structure.targets), (structure.targets, structure.sources)):
        here = space.folder[first] == folder
        links += np.bincount(space.folder[second[here]], minlength=len(sizes))
    usual = len(structure.neighbours) / max(1, space.size**2)
    expected = sizes * (sizes[folder] * usual)
    return near.astype(np.float32), np.log((links + 1) / (expected + 1)).astype(np.float32)


def _products(rows: SparseRows, note: int) -> Floats:
    return rows.dot(*rows.row(note))


def text_rows(
    titles: Sequence[Sequence[int]], terms: Sequence[TermCounts], linked: tuple[Ints, npt.NDArray[np.integer]]
) -> tuple[SparseRows, Floats]:
    """TF-IDF rows of length 1 over prose, title (three times) and `linked` words (owners, terms); and for every term
    the share of notes that hold it."""
    size = len(terms)
    numbers = np.arange(size, dtype=np.int64)
    in_titles = np.array([word for title in titles for word in title], dtype=np.uint32)
    owners = np.concatenate(
        [
            np.repeat(numbers, [len(own.ids) for own in terms]),
            np.repeat(numbers, [len(title) for title in titles]),
            linked[0],
        ]
    )
    columns = np.concatenate([*(own.ids for own in terms), in_titles, linked[1]]) % _TERM_BUCKETS
    counts = np.ones(len(columns), dtype=np.float32)
    prose = np.concatenate([*(own.counts for own in terms), np.zeros(0, dtype=np.uint16)])
    counts[: len(prose)] = prose
    counts[len(prose) : len(prose) + len(in_titles)] = _TITLE_WEIGHT
    keys, inverse = np.unique(owners * _TERM_BUCKETS + columns, return_inverse=True)
    values = 1 + np.log(np.bincount(inverse, weights=counts, minlength=len(keys)))
    owners, columns = keys // _TERM_BUCKETS, keys % _TERM_BUCKETS
    held_by = np.bincount(columns, minlength=_TERM_BUCKETS)
    rarity = np.log((size + 1) / (held_by + 1))
    rarity[(held_by > max(_COMMON * size, 5)) | (held_by < 2)] = 0
    values *= rarity[columns]
    kept = values > 0
    lengths = np.bincount(owners[kept], minlength=size)
    share = ((held_by + 0.5) / max(1, size)).astype(np.float32)
    return sparse_rows(lengths, columns[kept], unit_rows(lengths, values[kept]), width=_TERM_BUCKETS), share


def _title_rows(titles: Sequence[Sequence[int]], document_share: Floats) -> SparseRows:
    """For every title the share each of its words has in it, by rarity; a row sums to 1."""
    lengths: list[int] = []
    columns: list[npt.NDArray[np.uint32]] = []
    values: list[Floats] = []
    for title in titles:
        distinct = np.unique(np.array(title, dtype=np.uint32) % _TERM_BUCKETS)
        rarity = np.maximum(-np.log(document_share[distinct]), 0.1)
        lengths.append(len(distinct))
        columns.append(distinct)
        values.append((rarity / max(float(rarity.sum()), 1e-9)).astype(np.float32))
    joined = np.concatenate(columns).astype(np.int64) if columns else np.zeros(0, dtype=np.int64)
    weights = np.concatenate(values) if values else np.zeros(0, dtype=np.float32)
    return sparse_rows(lengths, joined, weights, width=_TERM_BUCKETS)


def _background(text: SparseRows) -> tuple[Floats, Floats]:
    """Mean and deviation of every note's cosines with the others, the deviation from 256 notes across the vault."""
    if not text.height:
        return np.zeros(0, dtype=np.float32), np.ones(0, dtype=np.float32)
    mean = text.dot(*text.mean_of(np.arange(text.height)))
    asked = np.unique(np.linspace(0, text.height - 1, min(text.height, _BACKGROUND_NOTES)).astype(np.int64))
    total = np.zeros(text.height, dtype=np.float32)
    for note in asked:
        cosine = text.dot(*text.row(int(note)))
        cosine[note] = mean[note]
        total += (cosine - mean) ** 2
    return mean, np.sqrt(total / len(asked)) + np.float32(_TEXT_FLOOR)


def _trigrams(title: str) -> list[str]:
    padded = f" {fold(title)} "
    return [padded[start : start + 3] for start in range(len(padded) - 2)]


def missing_links(
    notes: Sequence[RankNote], terms: Sequence[TermCounts]
) -> tuple[Ints, npt.NDArray[np.uint32], npt.NDArray[np.uint32]]:
    """Owner, word and key of every word in a link that names no note of the vault."""
    known = np.unique(np.array([link_key(note.path) for note in notes], dtype=np.uint32))
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
