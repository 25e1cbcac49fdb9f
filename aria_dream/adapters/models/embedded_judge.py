"""The built-in judge on a real vault: what it asks of the notes themselves, and reasons that are true of them.

The vectors are those of the notes' quotable passages (`note_passages`), so a dream embeds nothing else.
"""

from __future__ import annotations

from collections import Counter
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

import numpy as np

from aria_dream.adapters.index.decisions import is_merged
from aria_dream.adapters.index.resonance import read_note_text
from aria_dream.adapters.models.verdict_cache import retain_visible
from aria_dream.errors import MissingPartError
from aria_dream.judging.bridge import SAMPLE, bridge_signs, clause_words, folder_lift, note_shape, surroundings
from aria_dream.judging.common_ground import Between, NoteView, fold, in_common
from aria_dream.judging.judge import JUDGE_NAME, JudgedPair, bridge_share, judge_pairs, says_the_same
from aria_dream.judging.worth import learn_worth
from aria_dream.markdown.note import parse_note
from aria_dream.ranking.embedding import prose
from aria_dream.ranking.juxtaposition import title_of
from aria_dream.ranking.meaning import BACKGROUND_NOTES, background
from aria_dream.ranking.sparse import structure_of
from aria_dream.ranking.walk import is_crossroads
from aria_dream.vault.graph import targets_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from aria_dream.adapters.index.dreamt_vault import DreamtVault
    from aria_dream.adapters.models.note_passages import NotePassages
    from aria_dream.judging.bridge import BridgeSigns, Surroundings
    from aria_dream.judging.triage_prompt import Drop, Keep
    from aria_dream.judging.worth import WorthModel
    from aria_dream.ranking.juxtaposition import Juxtaposition
    from aria_dream.ranking.rank import Ranking
    from aria_dream.ranking.sparse import Structure

    Vectors = NDArray[np.float32]

HELD_APART: Final = 0.98
APART_SAMPLE: Final = 1_000
APART_LEAST: Final = 30


@dataclass(frozen=True, slots=True)
class _Viewed:
    words: NoteView
    linked: Mapping[str, str]
    """What the note links to and no file bears the name of, as written, by folded path."""


@dataclass(frozen=True, kw_only=True)
class EmbeddedJudge:
    """L1 without a server. `open_embedded_judge` makes it; it satisfies `judging.dreaming.Judge`."""

    vault: DreamtVault
    ranking: Ranking
    passages: NotePassages
    worth: WorthModel
    share: float
    """How much the signs of a bridge count (`bridge_share`)."""
    around: Surroundings
    """What they are read against."""
    apart_below: float

    @property
    def name(self) -> str:
        """As the log names it."""
        return JUDGE_NAME

    def judge(self, found: Sequence[Juxtaposition]) -> tuple[Keep | Drop, ...]:
        """One verdict a pair, in order. Both notes of each are among the vault's."""
        rows = [(_row(self.vault, one.from_), _row(self.vault, one.to)) for one in found]
        asked = sorted({row for pair in rows for row in pair})
        views = {row: self._view(row) for row in asked}
        vectors = dict(zip(asked, self.passages.means(asked), strict=True))
        first = np.array([vectors[row] for row, _ in rows]).reshape(len(rows), -1)
        second = np.array([vectors[row] for _, row in rows]).reshape(len(rows), -1)
        apart = self.around.nearness(first, second) if rows else ()
        often = Counter(tag for fact in self.vault.facts for tag in fact.tags)
        folders = Counter(_folder(fact.path) for fact in self.vault.facts)
        pairs = []
        for at, (one, (a, b)) in enumerate(zip(found, rows, strict=True)):
            common = replace(
                in_common(
                    views[a].words,
                    views[b].words,
                    self.ranking.rarity,
                    _between(self.vault, a, b),
                    self.vault.name_store,
                ),
                tags=self._tags(often, a, b),
                missing=self._missing(views[a], views[b]),
            )
            cosine = float(first[at] @ second[at]) if first[at].any() and second[at].any() else None
            pair = JudgedPair(
                found=one,
                common=common,
                words=(self.vault.facts[a].words, self.vault.facts[b].words),
                cosine=cosine,
                apart_below=self.apart_below,
                bridge=self._bridge((a, b), views, float(apart[at]), folders),
            )
            if says_the_same(pair):
                pair = replace(pair, merges=is_merged(self.vault, (a, b), cosine))
            pairs.append(pair)
        return judge_pairs(self.worth, pairs, share=self.share)

    def _bridge(
        self, pair: tuple[int, int], views: Mapping[int, _Viewed], nearness: float, folders: Mapping[str, int]
    ) -> BridgeSigns:
        """The signs of a bridge; notes that lie in no folder do not lie in one."""
        seen = (views[row].words for row in pair)
        one, two = (replace(note_shape(view.title, view.prose), title=view.called) for view in seen)
        first, second = (_folder(self.vault.facts[row].path) for row in pair)
        return bridge_signs(
            one,
            two,
            usual=self.around.clause_words,
            nearness=nearness,
            lift=folder_lift(len(self.vault.facts), folders[first] if first and first == second else 0),
            folders=(first.rpartition("/")[2], second.rpartition("/")[2]),
        )

    def _view(self, row: int) -> _Viewed:
        note = parse_note(read_note_text(self.vault, row))
        path, resolver = self.vault.graph.paths[row], self.vault.index.resolver
        linked = {
            fold(link.path): link.path
            for link in note.links
            # a file that no dream may see is there all the same, and is not named
            if link.path and resolver.resolve(link.path, path) is None
        }
        return _Viewed(NoteView(title_of(path), prose(note), note.aliases, self.vault.name_of(path)), linked)

    def _tags(self, often: Mapping[str, int], first: int, second: int) -> tuple[str, ...]:
        """Tags of both that at most a fifth of the notes bear, the rarest first."""
        shared = set(self.vault.facts[first].tags) & set(self.vault.facts[second].tags)
        telling = (tag for tag in shared if often[tag] <= max(2, len(self.vault.facts) / 5))
        return tuple(sorted(telling, key=lambda tag: (often[tag], tag)))

    def _missing(self, first: _Viewed, second: _Viewed) -> str | None:
        """What both link to though no note bears that name."""
        shared = first.linked.keys() & second.linked.keys()
        lacking = sorted(name for name in shared if "." not in name)
        return first.linked[lacking[0]] if lacking else None


def open_embedded_judge(
    vault: DreamtVault,
    ranking: Ranking,
    passages: NotePassages,
    *,
    decisions: Sequence[tuple[tuple[float, ...], bool]] = (),
) -> EmbeddedJudge:
    """The judge of this vault, over its passages, which are embedded first where they are not yet.

    `decisions`: features of pairs (`worth.FEATURES`) that the writer decided on, and how. What an invisible note left
    in the cache is dropped whenever the vault's state has changed. Without the embedding model it judges by what is
    cached.
    """
    with suppress(MissingPartError):  # whoever looks for resonances says it
        passages.write_missing()
    retain_visible(passages.cache, vault)
    pairs = ranking.linked_pairs()
    links = structure_of(len(vault.facts), pairs[:, 0], pairs[:, 1])
    return EmbeddedJudge(
        vault=vault,
        ranking=ranking,
        passages=passages,
        worth=learn_worth([features for features, _ in decisions], [answer for _, answer in decisions]),
        share=bridge_share(links, len(decisions)),
        around=_around(vault, passages),
        apart_below=_apart_below(passages, links),
    )


def _apart_below(passages: NotePassages, links: Structure) -> float:
    """The cosine that only `1 - HELD_APART` of the linked pairs (of a sample of them) reach: neighbours in a field,
    as conductivity and resistivity, are linked because they are not one. 0 where too few links tell."""
    pairs = links.pairs()
    some = pairs[:: max(1, len(pairs) // APART_SAMPLE)]
    if len(some) < APART_LEAST:
        return 0.0
    cosines = np.einsum("ij,ij->i", passages.means(some[:, 0].tolist()), passages.means(some[:, 1].tolist()))
    return float(np.quantile(cosines, HELD_APART))


def _around(vault: DreamtVault, passages: NotePassages) -> Surroundings:
    """What is usual in the vault, by a sample of its notes that hardly changes with it."""
    rows = sorted(passages.rows, key=lambda row: (vault.facts[row].content_hash, row))
    usual = background(passages.means(rows[:BACKGROUND_NOTES]))
    clauses = [clause_words(prose(parse_note(read_note_text(vault, row)))) for row in rows[:SAMPLE]]
    return surroundings(usual, min(len(rows), BACKGROUND_NOTES), clauses)


def _between(vault: DreamtVault, first: int, second: int) -> list[Between]:
    """The least linked note that is linked with both and is no list, with the direction of the links."""
    common = set(vault.links.of(first)) & set(vault.links.of(second))
    out_first, out_second = set(targets_of(vault.graph, first)), set(targets_of(vault.graph, second))
    notes = vault.notes
    telling = [row for row in common if not is_crossroads(notes[row], len(notes))]
    ranked = sorted(telling, key=lambda row: (vault.links.degree(row), row))
    return [
        Between(vault.name_of(vault.graph.paths[row]), from_first=row in out_first, from_second=row in out_second)
        for row in ranked[:1]
    ]


def _row(vault: DreamtVault, path: str) -> int:
    row = vault.row(path)
    if row is None:
        raise ValueError("a pair names a note that is none of the vault's")
    return row


def _folder(path: str) -> str:
    return path.rpartition("/")[0]
