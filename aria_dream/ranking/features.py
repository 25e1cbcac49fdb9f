"""What is measured of two notes: text, structure, names, folders and tags, as one number each.

Blocks of shape (features, notes, sources): column b holds how every note stands to `sources[b]`. Most features say the
same in both directions. None has seen the link it is to predict, once that link is taken out of the `Structure`: words
of links are no part of the text (`terms`), and folder and neighbour figures are computed from the structure given.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

if TYPE_CHECKING:
    import numpy.typing as npt

    from aria_dream.ranking.notespace import NoteSpace
    from aria_dream.ranking.sparse import SparseRows, Structure

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

_VOTERS: Final = 15
_TEXT_FLOOR: Final = 0.01
_WALK_FLOOR: Final = 1e-4


class FeatureBlock:
    """The features of a few sources against all notes, and the parts they were made from."""

    def __init__(self, space: NoteSpace, structure: Structure, sources: Ints) -> None:
        self.sources = sources
        if len(sources) > 1:
            space.mentions.prepare()
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
    """ln(1 + mentions) in both directions, each worth the more the rarer the name's rarest word."""
    found = np.zeros(space.size, dtype=np.float32)
    named, counts = space.mentions.in_note(note)
    found[named] += np.log1p(counts) * space.name_worth[named]
    by, times = space.mentions.of_note(note)
    found[by] += np.log1p(times) * space.name_worth[note]
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
