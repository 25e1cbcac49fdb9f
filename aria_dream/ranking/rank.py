"""The undrawn links of a vault, best first: for one note, or for all."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np

from aria_dream.ranking.features import FEATURES, FeatureBlock
from aria_dream.ranking.juxtaposition import Evidence
from aria_dream.ranking.learn import Weights, fit_weights
from aria_dream.ranking.notespace import NoteSpace, RankNote
from aria_dream.ranking.sparse import Structure, link_structure, structure_of
from aria_dream.ranking.terms import NO_TERMS, spell, term_ids

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from collections.abc import Set as AbstractSet

    import numpy.typing as npt

    from aria_dream.ranking.terms import TermCounts
    from aria_dream.vault.graph import LinkGraph

    Floats = npt.NDArray[np.float32]

__all__ = ["EVIDENCE", "RankNote", "Ranking", "Scored"]

EVIDENCE: Final = {
    "text": ("text", "text_rank", "text_contrast"),
    "neighbour text": ("neighbour_text", "neighbourhoods_text"),
    "similar notes link there": ("similar_notes_link",),
    "mention": ("mention",),
    "title": ("title_words", "title_shape"),
    "co-activation": ("coactivation", "coactivation_back"),
    "common neighbours": ("common_neighbours", "neighbour_overlap"),
    "links": ("links_in", "links_out", "unlinked"),
    "folder": ("folder_near", "folder_links"),
    "tags": ("tags",),
    "missing note": ("missing_note",),
    "length": ("length",),
    "background": ("own_links_in", "own_links_out", "own_length", "own_unlinked"),
}
"""The terms of a score and the features each adds up. `background` also holds the intercept: it is the same for all
candidates of a note."""

_CELLS_AT_ONCE: Final = 1 << 18
_WORDS_SHOWN: Final = 5
_NAMES_SHOWN: Final = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class Scored:
    """One candidate of a note."""

    to: int
    """Row of the candidate in the graph's `paths`."""
    score: float
    """Log-odds that this link would have been drawn; comparable across the notes of one vault."""
    terms: tuple[float, ...]
    """What each of `EVIDENCE` added; they sum to the score."""
    details: tuple[str, ...] = ()
    """For each of `EVIDENCE` what a person would want to see; empty where it was not asked for."""

    @property
    def evidence(self) -> tuple[Evidence, ...]:
        """The terms by name, strongest first; those that add nothing and have nothing to show are left out."""
        details = self.details or ("",) * len(self.terms)
        found = [
            Evidence(name=name, value=value, detail=detail)
            for name, value, detail in zip(EVIDENCE, self.terms, details, strict=True)
            if abs(value) >= 0.0005 or detail
        ]
        return tuple(sorted(found, key=lambda term: -abs(term.value)))


class Ranking:
    """The ranking of a vault as it stands. Make one with `build`."""

    def __init__(
        self,
        space: NoteSpace,
        structure: Structure,
        weights: Weights,
        excluded: AbstractSet[tuple[int, int]],
        text_of: Callable[[int], str] | None,
        name_of: Callable[[int], str] | None = None,
    ) -> None:
        self._space = space
        self._structure = structure
        self._text_of = text_of
        self._name_of = name_of
        self._hidden = np.flatnonzero(~space.visible)
        self._spelled: tuple[int, dict[int, str]] = (-1, {})
        """The words of the note that was spelled last, by their columns."""
        self._excluded: dict[int, list[int]] = {}
        for first, second in excluded:
            self._excluded.setdefault(first, []).append(second)
            self._excluded.setdefault(second, []).append(first)
        self.weights = weights
        """What the vault taught; small, to be cached by the vault's state and given to `build` again."""
        values = dict(zip(FEATURES, weights.values, strict=True))
        self._mixture = np.zeros((len(EVIDENCE), len(FEATURES)), dtype=np.float32)
        for row, names in enumerate(EVIDENCE.values()):
            for name in names:
                self._mixture[row, FEATURES.index(name)] = values[name]

    @classmethod
    def build(
        cls,
        graph: LinkGraph,
        notes: Sequence[RankNote],
        terms: Sequence[TermCounts],
        *,
        weights: Weights | None = None,
        decided: AbstractSet[tuple[str, str]] = frozenset(),
        text_of: Callable[[int], str] | None = None,
    ) -> Ranking:
        """A ranking over `graph.paths`; `notes` and `terms` in the same order.

        `weights` spares the learning; they must come from the same vault state. `decided` pairs of paths are never
        candidates. `text_of` gives a note's text, asked only for notes whose shared words are to be spelled. Links and
        words of invisible notes count for nothing.
        """
        visible = np.array([note.visible for note in notes], dtype=np.bool_)
        if not visible.all():
            terms = [own if seen else NO_TERMS for own, seen in zip(terms, visible, strict=True)]
        return cls.over(NoteSpace(notes, terms), graph, weights=weights, decided=decided, text_of=text_of)

    @classmethod
    def over(
        cls,
        space: NoteSpace,
        graph: LinkGraph,
        *,
        weights: Weights | None = None,
        decided: AbstractSet[tuple[str, str]] = frozenset(),
        text_of: Callable[[int], str] | None = None,
        name_of: Callable[[int], str] | None = None,
    ) -> Ranking:
        """`build` over a space of the notes of `graph.paths` that is there already; it knows no invisible note's terms.
        `name_of`: what a note is called in details; its title, where it is left out.
        """
        structure = link_structure(graph)
        if not space.visible.all():
            kept = space.visible[structure.sources] & space.visible[structure.targets]
            structure = structure_of(space.size, structure.sources[kept], structure.targets[kept])
        row = {path: number for number, path in enumerate(graph.paths)} if decided else {}
        excluded = {(row[a], row[b]) for a, b in decided if a in row and b in row}
        return cls(space, structure, weights or fit_weights(space, structure), excluded, text_of, name_of)

    def from_note(self, note: int, limit: int) -> list[Scored]:
        """The best candidates of `note`, best first, ties by path, with details; empty for an invisible note."""
        if not self._space.visible[note]:
            return []
        terms = self._terms(np.array([note]))
        return [
            Scored(to=found.to, score=found.score, terms=found.terms, details=self._details(note, found.to))
            for found in self._best(note, terms[:, :, 0], limit)
        ]

    def pair(self, note: int, to: int) -> Scored:
        """The pair of two notes as `from_note` would give it, were all candidates; with details."""
        terms = self._terms(np.array([note]))[:, to, 0]
        return Scored(
            to=to, score=float(terms.sum()), terms=tuple(terms.tolist()), details=self._details(note, to)
        )

    def linked_pairs(self) -> npt.NDArray[np.int64]:
        """The linked pairs of visible notes, (a, b) with a < b, in order, of shape (pairs, 2)."""
        return self._structure.pairs()

    def without(self, pairs: npt.NDArray[np.int64]) -> Ranking:
        """The ranking as it would be had those pairs (rows of two) never been linked; with the same weights."""
        fewer = Ranking(self._space, self._structure.without(pairs), self.weights, frozenset(), self._text_of)
        fewer._excluded = self._excluded
        return fewer

    def all(self, limit: int, notes: Sequence[int] | None = None) -> Iterator[tuple[int, list[Scored]]]:
        """Every visible note (of `notes`, where given) with its best candidates, in order of path, without details."""
        wanted = np.arange(self._space.size) if notes is None else np.array(notes, dtype=np.int64)
        sources = np.setdiff1d(wanted, self._hidden)
        at_once = int(np.clip(_CELLS_AT_ONCE // max(1, self._space.size), 4, 64))
        for start in range(0, len(sources), at_once):
            some = sources[start : start + at_once]
            terms = self._terms(some)
            for column, note in enumerate(some.tolist()):
                yield note, self._best(note, terms[:, :, column], limit)

    def rarity(self, word: str) -> float:
        """How telling a word is here: ln((notes + 1) / (notes that hold it + 1)), 0 for a common or unique one."""
        text = self._space.text
        columns = np.array(term_ids(word), dtype=np.int64) % text.width
        held_by = text.column_offsets[columns + 1] - text.column_offsets[columns]
        known = held_by[held_by > 0]
        return float(np.log((self._space.size + 1) / (known + 1)).mean()) if len(known) else 0.0

    def _terms(self, sources: npt.NDArray[np.int64]) -> Floats:
        """Shape (evidence, notes, sources)."""
        values = FeatureBlock(self._space, self._structure, sources).values
        terms = (self._mixture @ values.reshape(len(FEATURES), -1)).reshape(len(EVIDENCE), *values.shape[1:])
        terms[-1] += np.float32(self.weights.intercept)
        return terms

    def _best(self, note: int, terms: Floats, limit: int) -> list[Scored]:
        score = terms.sum(axis=0)
        free = np.ones(len(score), dtype=np.bool_)
        free[self._hidden] = False
        free[note] = False
        free[self._structure.around(note)] = False
        free[self._excluded.get(note, [])] = False
        candidates = np.flatnonzero(free)
        best = candidates[np.argsort(-score[candidates], kind="stable")[:limit]]
        return [
            Scored(to=to, score=value, terms=tuple(parts))
            for to, value, parts in zip(best.tolist(), score[best].tolist(), terms[:, best].T.tolist(), strict=True)
        ]

    def _details(self, note: int, to: int) -> tuple[str, ...]:
        told = {
            "text": self._shared_words(note, to),
            "mention": self._mentions(note, to),
            "common neighbours": self._common(note, to),
            "tags": ", ".join(f"#{tag}" for tag in sorted(set(self._notes(note).tags) & set(self._notes(to).tags))),
            "folder": self._notes(note).folder if self._notes(note).folder == self._notes(to).folder else "",
        }
        return tuple(told.get(name, "") for name in EVIDENCE)

    def _notes(self, note: int) -> RankNote:
        return self._space.notes[note]

    def _name(self, note: int) -> str:
        return self._name_of(note) if self._name_of else self._notes(note).title

    def _shared_words(self, note: int, to: int) -> str:
        """The words that make the two texts alike, strongest first; `""` without `text_of`."""
        mine, weights = self._space.text.row(note)
        others, other_weights = self._space.text.row(to)
        shared, here, there = np.intersect1d(mine, others, return_indices=True)
        if self._text_of is None or not len(shared):
            return ""
        order = np.argsort(-weights[here] * other_weights[there], kind="stable")[:_WORDS_SHOWN]
        if self._spelled[0] != note:
            known = spell(f"{self._notes(note).title}\n{self._text_of(note)}")
            self._spelled = note, {number % self._space.text.width: word for number, word in known.items()}
        known = self._spelled[1]
        return ", ".join(known[number] for number in shared[order].tolist() if number in known)

    def _mentions(self, note: int, to: int) -> str:
        mentions, told = self._space.mentions, []
        if to in mentions.in_note(note)[0]:
            told.append(f"{self._name(note)} names {self._name(to)}")
        if to in mentions.of_note(note)[0]:
            told.append(f"{self._name(to)} names {self._name(note)}")
        return "; ".join(told)

    def _common(self, note: int, to: int) -> str:
        shared = np.intersect1d(self._structure.around(note), self._structure.around(to), assume_unique=True)
        rarest = shared[np.argsort(self._structure.degree[shared], kind="stable")[:_NAMES_SHOWN]]
        return ", ".join(self._name(int(between)) for between in rarest)
