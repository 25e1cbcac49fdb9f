"""The embedded judge on a real vault: cached vectors, calibrated by the vault's own links, reasons from its notes.

Nothing here loads the model unless a visible note has no vector yet. Vectors, background and calibration are kept in
the cache folder; the latter two as long as nearly all the links they were learned from are still there, so that an edit
costs no seconds. The same state and the same calibration judge alike.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace
from hashlib import sha256
from typing import TYPE_CHECKING, Final

import numpy as np

from aria_dream.adapters.index.decisions import is_merged
from aria_dream.adapters.index.resonance import read_note_text
from aria_dream.adapters.models.embedding import (
    Unembedded,
    load_embedder,
    passage_kind,
    read_passages,
    read_vectors,
    vector_kind,
    write_missing_vectors,
)
from aria_dream.adapters.models.verdict_cache import LearnedJudge, keep_learned, read_learned, retain_visible
from aria_dream.errors import MissingPartError
from aria_dream.judging.bridge import SAMPLE, bridge_signs, clause_words, folder_lift, note_shape, surroundings
from aria_dream.judging.common_ground import Between, NoteView, fold, in_common
from aria_dream.judging.judge import (
    JUDGE_NAME,
    JudgedPair,
    bridge_share,
    judge_pairs,
    pair_features,
    says_the_same,
)
from aria_dream.judging.pool import NoteSizes, features_of, learn_calibration, links_of
from aria_dream.judging.reason import (
    MOST_AROUND,
    TITLES,
    around_clause,
    explain_terms,
    find_linked_alike,
    linked_alike_clause,
    shared_words_clause,
)
from aria_dream.markdown.note import parse_note
from aria_dream.ranking.embedding import passages, prose, vector_key
from aria_dream.ranking.juxtaposition import log_odds, title_of
from aria_dream.ranking.meaning import (
    BACKGROUND_NOTES,
    Meanings,
    background,
    background_sample,
)
from aria_dream.vault.edit import encode_note
from aria_dream.vault.graph import targets_of

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from numpy.typing import NDArray

    from aria_dream.adapters.index.cache_store import ContentCache
    from aria_dream.adapters.index.dreamt_vault import DreamtVault
    from aria_dream.adapters.models.embedding import Embedder
    from aria_dream.judging.bridge import BridgeSigns, Surroundings
    from aria_dream.judging.calibration import Calibration
    from aria_dream.judging.common_ground import Common
    from aria_dream.judging.judge import PairFeatures
    from aria_dream.judging.triage_prompt import Drop, Keep
    from aria_dream.ranking.embedding import EmbeddedText
    from aria_dream.ranking.juxtaposition import Juxtaposition
    from aria_dream.ranking.meaning import Background
    from aria_dream.ranking.rank import Ranking
    from aria_dream.ranking.sparse import Structure

HELD_APART: Final = 0.98
APART_SAMPLE: Final = 1_000
APART_LEAST: Final = 30
SMALL_FOLDER: Final = 12
"""A folder of at most so many notes says something of two that lie in it."""


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
    calibration: Calibration
    meanings: Meanings
    sizes: NoteSizes
    share: float
    """How much the signs of a bridge count (`bridge_share`)."""
    around: Surroundings | None
    """What they are read against; None where they do not count."""
    problem: str
    """Why it judges without sentence embeddings; `""` where it has them."""

    @property
    def name(self) -> str:
        """As the log names it."""
        return JUDGE_NAME

    def judge(self, found: Sequence[Juxtaposition]) -> tuple[Keep | Drop, ...]:
        """One verdict a pair, in order. Both notes of each are among the vault's."""
        rows = [(_row(self.vault, one.from_), _row(self.vault, one.to)) for one in found]
        views = {row: self._view(row) for row in sorted({row for pair in rows for row in pair})}
        links = links_of(self.ranking, len(self.sizes.words))
        apart_below = _apart_below(self.meanings, links)
        first = np.array([row for row, _ in rows], dtype=np.int64)
        second = np.array([row for _, row in rows], dtype=np.int64)
        told = self.meanings.likeness(links, first, second)
        cosines = np.einsum("ij,ij->i", self.meanings.of(first), self.meanings.of(second))
        folders = self.sizes.folders
        apart = self.around.nearness(self.meanings.of(first), self.meanings.of(second)) if self.around else cosines
        often = Counter(tag for fact in self.vault.facts for tag in fact.tags)
        pairs = []
        for at, (one, (a, b), values) in enumerate(zip(found, rows, features_of(told), strict=True)):
            terms = {term.name: term.value for term in one.evidence}
            features = pair_features(
                log_odds(one.score),
                terms,
                values,
                words=(self.sizes.words[a], self.sizes.words[b]),
                folder_notes=folders.count(folders[a]) if folders[a] == folders[b] else 0,
            )
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
                folder=folders[a].rpartition("/")[2] if 0 < features.folder_notes <= SMALL_FOLDER else None,
                akin=self._akin(int(told.akin[at]), a, b),
            )
            common = replace(common, hints=self._hints(common, terms, a, b, views))
            cosine = float(cosines[at]) if features.nearness is not None else None
            bridge = self._bridge(rows[at], views, float(apart[at]), features.folder_notes)
            pairs.append(
                JudgedPair(features=features, common=common, cosine=cosine, apart_below=apart_below, bridge=bridge)
            )
            if says_the_same(pairs[-1]):
                pairs[-1] = replace(pairs[-1], merges=is_merged(self.vault, (a, b), cosine))
        return judge_pairs(self.calibration, pairs, share=self.share)

    def _bridge(
        self, pair: tuple[int, int], views: Mapping[int, _Viewed], nearness: float, folder_notes: int
    ) -> BridgeSigns | None:
        """The signs of a bridge, where they count; notes that lie in no folder do not lie in one."""
        if self.around is None:
            return None
        seen = (views[row].words for row in pair)
        one, two = (replace(note_shape(view.title, view.prose), title=view.called) for view in seen)
        folders = self.sizes.folders[pair[0]], self.sizes.folders[pair[1]]
        return bridge_signs(
            one,
            two,
            usual=self.around.clause_words,
            nearness=nearness,
            lift=folder_lift(len(self.sizes.folders), folder_notes if folders[0] else 0),
            folders=(folders[0].rpartition("/")[2], folders[1].rpartition("/")[2]),
        )

    def _hints(
        self, common: Common, terms: Mapping[str, float], first: int, second: int, views: dict[int, _Viewed]
    ) -> tuple[str, ...]:
        """What the ranking's terms say of the two; note by note where nothing else can be said of them."""
        one, two = views[first].words, views[second].words
        hints = explain_terms(terms, one.called, two.called)
        if not hints or hints[0] == TITLES or common.words or common.mention or common.between or common.akin:
            return hints[: hints[:1] == (TITLES,)]
        links = self.vault.links
        beside = []
        for row in (first, second):
            near = sorted(set(links.of(row)) - {first, second}, key=lambda at: (links.degree(at), at))[:MOST_AROUND]
            views |= {each: self._view(each) for each in near if each not in views}
            beside.append([views[each].words for each in near])
        rarity = self.ranking.rarity
        clause = (
            around_clause(one, two, beside_first=beside[0], beside_second=beside[1], rarity=rarity)
            or self._linked_alike(first, second)
            or shared_words_clause(one, two, beside_second=beside[1], rarity=rarity)
            or shared_words_clause(two, one, beside_second=beside[0], rarity=rarity)
        )
        return (clause or hints[0],)

    def _linked_alike(self, first: int, second: int) -> str | None:
        found = find_linked_alike(first, second, self.vault.links.of)
        if found is None:
            return None
        mine, other, common = found
        titles = [self._name(row) for row in (mine, other, second if mine == first else first)]
        return linked_alike_clause(titles, [self._name(row) for row in common])

    def _name(self, row: int) -> str:
        return self.vault.name_of(self.vault.graph.paths[row])

    def _view(self, row: int) -> _Viewed:
        note = parse_note(read_note_text(self.vault, row))
        path, resolver = self.vault.graph.paths[row], self.vault.index.resolver
        linked = {
            fold(link.path): link.path
            for link in note.links
            # a file that no dream may see is there all the same, and is not named
            if link.path and resolver.resolve(link.path, path) is None
        }
        return _Viewed(NoteView(title_of(path), prose(note), note.aliases, self._name(row)), linked)

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

    def _akin(self, row: int, first: int, second: int) -> tuple[str, str, str] | None:
        if row < 0:
            return None
        title, near, linked = map(self._name, (row, first, second))
        return title, near, linked


def _apart_below(meanings: Meanings, links: Structure) -> float:
    """The cosine that only `1 - HELD_APART` of the linked pairs (of a sample of them) reach: neighbours in a field,
    as conductivity and resistivity, are linked because they are not one. 0 where too few links tell."""
    pairs = links.pairs()
    some = pairs[:: max(1, len(pairs) // APART_SAMPLE)]
    cosines = np.einsum("ij,ij->i", meanings.of(some[:, 0]), meanings.of(some[:, 1]))
    return float(np.quantile(cosines, HELD_APART)) if len(some) >= APART_LEAST else 0.0


def open_embedded_judge(
    vault: DreamtVault,
    cache: ContentCache,
    ranking: Ranking,
    *,
    embedder: Embedder | None = None,
    decisions: Sequence[tuple[PairFeatures, bool]] = (),
    progress: Callable[[int, int], None] = lambda _done, _total: None,
    stop: Callable[[], bool] = lambda: False,
) -> EmbeddedJudge:
    """The judge of this vault. Embeds visible notes that have no vector yet, reporting `progress(done, total)`.

    `decisions`: features of pairs the writer approved or rejected. Where the model is missing, or `stop()` ended the
    embedding, it judges without the vectors it has not; `problem` says so in the first case. What an invisible note
    left in the cache is dropped whenever the vault's state has changed.
    """
    embedder = embedder or load_embedder()
    kind, dim = vector_kind(embedder), embedder.dim
    keys = [vector_key(fact.content_hash, title_of(fact.path)) for fact in vault.facts]
    vectors, known = read_vectors(cache, kind, keys, dim)
    missing = [row for row, there in enumerate(known.tolist()) if not there]
    problem, remaining = "", 0
    if missing:
        wanted = [Unembedded(key=keys[row], passages=lambda row=row: _passages(vault, row)) for row in missing]  # type: ignore[misc]  # the default binds the row
        try:
            remaining = write_missing_vectors(cache, embedder, wanted, progress=progress, stop=stop).remaining
        except MissingPartError as error:
            problem = str(error)
        vectors[missing] = read_vectors(cache, kind, [keys[row] for row in missing], dim)[0]

    def passages_of(asked: Sequence[int]) -> list[NDArray[np.float32]]:
        return read_passages(cache, passage_kind(embedder), [keys[row] for row in asked], dim)

    told = sha256(repr((kind, ranking.weights, tuple(decisions))).encode()).hexdigest()
    learned = read_learned(cache, vault, told, dim)
    usual = background(vectors[background_sample(keys)]) if learned is None else learned.background
    meanings = Meanings(vectors.astype(np.float16), usual, passages_of)
    sizes = NoteSizes([fact.words for fact in vault.facts], [_folder(fact.path) for fact in vault.facts])
    calibration = learn_calibration(ranking, meanings, sizes, decisions) if learned is None else learned.calibration
    if not problem and not remaining:
        retain_visible(cache, vault, keys)
        if learned is None:
            keep_learned(cache, vault, told, LearnedJudge(usual, calibration))
    share = bridge_share(links_of(ranking, len(vault.facts)), len(decisions))
    return EmbeddedJudge(
        vault=vault,
        ranking=ranking,
        calibration=calibration,
        meanings=meanings,
        sizes=sizes,
        share=share,
        around=_around(vault, keys, usual) if share else None,
        problem=problem,
    )


def _around(vault: DreamtVault, keys: Sequence[bytes], usual: Background) -> Surroundings:
    """What is usual in the vault, by a sample of its notes that hardly changes with it."""
    sample = background_sample(keys, SAMPLE)
    clauses = [clause_words(prose(parse_note(read_note_text(vault, row)))) for row in sample]
    return surroundings(usual, min(len(keys), BACKGROUND_NOTES), clauses)


def _passages(vault: DreamtVault, row: int) -> tuple[EmbeddedText, ...]:
    """The note's passages; none where it is no longer what the vault's snapshot says, so that no key ever lies."""
    text = read_note_text(vault, row)
    if sha256(encode_note(text)).digest() != vault.facts[row].content_hash:
        return ()
    return passages(title_of(vault.facts[row].path), parse_note(text))


def _between(vault: DreamtVault, first: int, second: int) -> list[Between]:
    """Notes linked with both, the least linked first, with the direction of the links."""
    common = set(vault.links.of(first)) & set(vault.links.of(second))
    out_first, out_second = set(targets_of(vault.graph, first)), set(targets_of(vault.graph, second))
    ranked = sorted(common, key=lambda row: (vault.links.degree(row), row))
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
