"""Would the ranking have found the links that are there? Links are hidden, ranked for, and counted.

Definitions (those of the project's benchmarks): every hidden pair is looked for from both ends; a note's other hidden
partners are skipped when its rank is counted; a hidden pair that is not ranked counts as never found.
"""

from __future__ import annotations

import random
from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Protocol

import numpy as np

from aria_dream.ranking.notespace import missing_links, text_rows
from aria_dream.ranking.terms import link_key, term_ids

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    import numpy.typing as npt

    from aria_dream.ranking.notespace import NoteSpace, RankNote
    from aria_dream.ranking.sparse import Structure
    from aria_dream.ranking.terms import TermCounts

    Floats = npt.NDArray[np.float32]
    Ints = npt.NDArray[np.int64]

HITS: Final = (1, 3, 10, 50)
TOP: Final = 100
_SOURCES_AT_ONCE: Final = 32


class Scorer(Protocol):
    """Anything that ranks: scores of all notes (rows) for some sources (columns), higher is better."""

    def __call__(self, sources: Ints, /) -> Floats: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Recovery:
    """How well a ranking found what was hidden. Every share is between 0 and 1."""

    asked: int
    """Hidden pairs times two: from both ends."""
    mrr: float
    """Mean of 1 / rank."""
    hits: tuple[float, ...]
    """Share with a rank of at most each of `HITS`."""
    precision: float
    """Share of hidden pairs among the 100 best pairs of the whole vault (P@100)."""
    by_distance: tuple[tuple[int | None, int, float], ...]
    """Distance of the two notes after hiding (None: unconnected), how many were asked, their MRR."""


def choose_hidden(structure: Structure, fraction: float, seed: int) -> npt.NDArray[np.int64]:
    """A share of the linked pairs, shape (pairs, 2), chosen by the seed."""
    pairs = [tuple(pair) for pair in structure.pairs().tolist()]
    random.Random(seed).shuffle(pairs)  # noqa: S311  a reproducible draw, no secret
    return np.array(pairs[: round(fraction * len(pairs))], dtype=np.int64).reshape(-1, 2)


def distances(structure: Structure, source: int) -> Ints:
    """Links on the shortest way from `source` to every note, direction ignored; -1 where there is none."""
    found = np.full(structure.size, -1, dtype=np.int64)
    found[source] = 0
    frontier = np.array([source], dtype=np.int64)
    step = 0
    while len(frontier):
        step += 1
        reached = np.unique(np.concatenate([structure.around(int(note)) for note in frontier]))
        frontier = reached[found[reached] < 0]
        found[frontier] = step
    return found


def recover(
    structure: Structure,
    hidden: npt.NDArray[np.int64],
    score: Scorer,
    *,
    progress: Callable[[int], object] | None = None,
) -> Recovery:
    """How well `score` finds the `hidden` pairs among all pairs that `structure` does not link.

    `progress` is told after every block how many sources it held.
    """
    partners: dict[int, set[int]] = defaultdict(set)
    for first, second in hidden.tolist():
        partners[first].add(second)
        partners[second].add(first)
    ranks: list[float] = []
    apart: list[int] = []
    pairs: list[tuple[Ints, Floats]] = []
    for sources, scores in _scored(structure, score):
        for column, source in enumerate(sources.tolist()):
            own = scores[:, column]
            own[structure.around(source)] = -np.inf
            own[source] = -np.inf
            pairs.append(_best_pairs(source, own))
            if wanted := sorted(partners.get(source, ())):
                ranks.extend(_ranks(own, wanted))
                apart.extend(distances(structure, source)[wanted].tolist())
        if progress is not None:
            progress(len(sources))
    return _summary(np.array(ranks), np.array(apart), _precision(pairs, hidden, structure.size))


def _scored(structure: Structure, score: Scorer) -> Iterator[tuple[Ints, Floats]]:
    for start in range(0, structure.size, _SOURCES_AT_ONCE):
        sources = np.arange(start, min(structure.size, start + _SOURCES_AT_ONCE), dtype=np.int64)
        yield sources, score(sources).copy()


def _best_pairs(source: int, scores: Floats) -> tuple[Ints, Floats]:
    """A source's hundred best as pair numbers (low × n + high) with their scores."""
    best = np.argsort(-scores, kind="stable")[:TOP]
    best = best[np.isfinite(scores[best])]
    return np.minimum(best, source) * len(scores) + np.maximum(best, source), scores[best]


def _ranks(scores: Floats, wanted: list[int]) -> list[float]:
    others = scores.copy()
    others[wanted] = -np.inf
    numbers = np.arange(len(scores))
    return [
        1.0 + float(np.sum((others > scores[note]) | ((others == scores[note]) & (numbers < note))))
        if np.isfinite(scores[note])
        else float("inf")
        for note in wanted
    ]


def _precision(pairs: list[tuple[Ints, Floats]], hidden: npt.NDArray[np.int64], size: int) -> float:
    if not pairs:
        return 0.0
    keys, scores = np.concatenate([key for key, _ in pairs]), np.concatenate([score for _, score in pairs])
    order = np.argsort(-scores, kind="stable")
    _, first = np.unique(keys[order], return_index=True)
    top = keys[order][np.sort(first)[:TOP]]
    wanted = hidden.min(axis=1) * size + hidden.max(axis=1) if len(hidden) else np.zeros(0, dtype=np.int64)
    return float(np.isin(top, wanted).mean()) if len(top) else 0.0


def _summary(ranks: npt.NDArray[np.float64], apart: Ints, precision: float) -> Recovery:
    if not len(ranks):
        return Recovery(asked=0, mrr=0.0, hits=(0.0,) * len(HITS), precision=precision, by_distance=())
    by_distance: list[tuple[int | None, int, float]] = []
    for distance in sorted(set(apart.tolist()), key=lambda distance: (distance < 0, distance)):
        here = apart == distance
        by_distance.append((None if distance < 0 else distance, int(here.sum()), float((1 / ranks[here]).mean())))
    return Recovery(
        asked=len(ranks),
        mrr=float((1 / ranks).mean()),
        hits=tuple(float((ranks <= hit).mean()) for hit in HITS),
        precision=precision,
        by_distance=tuple(by_distance),
    )


class Baselines:
    """The four rankings that ours has to beat, on the same notes and the same structure."""

    def __init__(
        self, notes: Sequence[RankNote], terms: Sequence[TermCounts], space: NoteSpace, structure: Structure
    ) -> None:
        """`structure` is the graph with the hidden pairs taken out."""
        self._space = space
        self._structure = structure
        self._text, _ = text_rows([term_ids(note.title) for note in notes], terms, _link_words(notes, terms, structure))
        self._smooth_norms = np.ones(structure.size, dtype=np.float32)
        for note in range(structure.size):
            values = self._smoothed(note)[1]
            self._smooth_norms[note] = max(float(np.sqrt(values @ values)), 1e-9)

    def scorers(self) -> dict[str, Scorer]:
        """The baselines by name."""
        return {
            "TF-IDF": self.text,
            "personalised PageRank": self._structure.walkers,
            "Adamic-Adar": self.adamic_adar,
            "fixed fusion": self.fusion,
        }

    def text(self, sources: Ints) -> Floats:
        """TF-IDF cosine: titles three times, terms in at most 20 % of the notes."""
        return np.stack([self._text.dot(*self._text.row(int(source))) for source in sources], axis=1)

    def adamic_adar(self, sources: Ints) -> Floats:
        """Sum over common neighbours of 1 / ln(degree)."""
        degree = self._structure.degree
        rarity = np.where(degree > 1, 1 / np.log(np.maximum(degree, 2)), 0).astype(np.float32)
        return self._structure.sums(self._structure.linked_to(sources) * rarity[:, None])

    def fusion(self, sources: Ints) -> Floats:
        """log TF-IDF + log neighbour-smoothed TF-IDF + ½ log PageRank + title mention."""
        smooth = np.stack([self._smooth_cosine(int(source)) for source in sources], axis=1)
        mentioned = np.zeros_like(smooth)
        for column, source in enumerate(sources.tolist()):
            mentioned[self._space.mentions.in_note(source)[0], column] = 1
            mentioned[self._space.mentions.of_note(source)[0], column] = 1
        walked = self._structure.walkers(sources)
        fused: Floats = (
            np.log(self.text(sources) + 0.01) + np.log(smooth + 0.01) + 0.5 * np.log(walked + 1e-4) + mentioned
        )
        return fused

    def _smoothed(self, note: int) -> tuple[Ints, Floats]:
        columns, values = self._text.row(note)
        around, shares = self._text.mean_of(self._structure.around(note))
        joined, inverse = np.unique(np.concatenate([columns, around]), return_inverse=True)
        weights = np.concatenate([values, 0.5 * shares])
        return joined, np.bincount(inverse, weights=weights, minlength=len(joined)).astype(np.float32)

    def _smooth_cosine(self, note: int) -> Floats:
        direct = self._text.dot(*self._smoothed(note))
        smooth = direct + 0.5 * self._structure.means(direct[:, None])[:, 0]
        cosine: Floats = np.maximum(smooth, 0) / (self._smooth_norms * self._smooth_norms[note])
        return cosine


def _link_words(notes: Sequence[RankNote], terms: Sequence[TermCounts], structure: Structure) -> tuple[Ints, Ints]:
    """Owner and term of every word of every link that is not hidden: links into the void and to linked notes."""
    owners, words, _ = missing_links(notes, terms)
    parts_owners, parts_words = [owners], [words.astype(np.int64)]
    keys = np.array([link_key(note.path) for note in notes], dtype=np.uint32)
    for note, own in enumerate(terms):
        drawn = np.isin(own.link_keys, keys[structure.around(note)])
        parts_owners.append(np.full(int(drawn.sum()), note, dtype=np.int64))
        parts_words.append(own.link_ids[drawn].astype(np.int64))
    return np.concatenate(parts_owners), np.concatenate(parts_words)
