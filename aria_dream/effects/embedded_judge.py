"""The embedded judge on a real vault: cached vectors, calibrated by the vault's own links, reasons from its notes.

Nothing here loads the model unless a visible note has no vector yet. Vectors, background and calibration are kept in
the cache folder, the latter two by the state of the vault, so the same state is judged alike.
"""

from __future__ import annotations

from dataclasses import dataclass
from hashlib import sha256
from typing import TYPE_CHECKING, Final

import numpy as np

from aria_dream.dream.calibration import (
    DECISION_WEIGHT,
    FEW_SCORES,
    PRIOR_STRENGTH,
    RECALL,
    parse_calibration,
    render_calibration,
)
from aria_dream.dream.embedding import passages, prose, vector_key
from aria_dream.dream.judge import (
    FEATURES,
    JUDGE_NAME,
    PRIOR,
    Judged,
    background,
    background_sample,
    judge_pairs,
    pair_features,
    parse_background,
    render_background,
)
from aria_dream.dream.juxtaposition import log_odds, title_of
from aria_dream.dream.pool import HIDDEN_SHARE, ROUNDS, learn_calibration
from aria_dream.dream.reason import Between, NoteView, in_common
from aria_dream.effects.embedding import Unembedded, load_embedder, vector_kind, write_missing_vectors
from aria_dream.effects.resonance import read_note_text
from aria_dream.effects.vectors import read_vectors
from aria_dream.errors import MissingPartError
from aria_dream.vault.edit import encode_note
from aria_dream.vault.graph import targets_of
from aria_dream.vault.note import parse_note

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from aria_dream.dream.calibration import Calibration
    from aria_dream.dream.embedding import Passage
    from aria_dream.dream.judge import Background, PairFeatures
    from aria_dream.dream.juxtaposition import Juxtaposition
    from aria_dream.dream.rank import Ranking
    from aria_dream.dream.triage import Drop, Keep
    from aria_dream.effects.dreamt_vault import DreamtVault
    from aria_dream.effects.embedding import Embedder
    from aria_dream.effects.vectors import ContentCache

    Ints = NDArray[np.int64]

_LEARNED_BY: Final = repr((FEATURES, PRIOR, RECALL, FEW_SCORES, PRIOR_STRENGTH, DECISION_WEIGHT, HIDDEN_SHARE, ROUNDS))
CALIBRATION_KIND: Final = f"calibration:2:{sha256(_LEARNED_BY.encode()).hexdigest()[:12]}"
"""Changes with whatever the learning depends on beside the vault; raise the number when its code does."""
BACKGROUND_KIND: Final = "background:1"


@dataclass(frozen=True, kw_only=True)
class EmbeddedJudge:
    """L1 without a server. `open_embedded_judge` makes it; it satisfies `dream.dreaming.Judge`."""

    vault: DreamtVault
    ranking: Ranking
    calibration: Calibration
    background: Background
    vectors: Callable[[Sequence[int]], NDArray[np.float32]]
    """Vectors of notes by row, zeros where none is known."""
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
        first = self.vectors([row for row, _ in rows])
        second = self.vectors([row for _, row in rows])
        near = self.background.z_scores(first, second)
        cosines = np.einsum("ij,ij->i", first, second)
        pairs = []
        for one, (a, b), z, cosine in zip(found, rows, near.tolist(), cosines.tolist(), strict=True):
            known = not np.isnan(z)
            features = pair_features(
                log_odds(one.score),
                {term.name: term.value for term in one.evidence},
                nearness=z if known else None,
                words=min(self.vault.facts[a].words, self.vault.facts[b].words),
                same_folder=_folder(one.from_) == _folder(one.to),
            )
            common = in_common(views[a], views[b], self.ranking.rarity, _between(self.vault, a, b))
            pairs.append(Judged(features=features, common=common, cosine=cosine if known else None))
        return judge_pairs(self.calibration, pairs)

    def _view(self, row: int) -> NoteView:
        note = parse_note(read_note_text(self.vault, row))
        return NoteView(title_of(self.vault.graph.paths[row]), prose(note), note.aliases)


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
    state = sha256(vault.state_hash.encode()).digest()
    rows = range(len(vault.facts))
    keys = [vector_key(fact.content_hash, title_of(fact.path)) for fact in vault.facts]
    problem, remaining = "", 0
    wanted = [Unembedded(key=keys[row], passages=lambda row=row: _passages(vault, row)) for row in rows]  # type: ignore[misc]  # the default binds the row
    try:
        remaining = write_missing_vectors(cache, embedder, wanted, progress=progress, stop=stop).remaining
    except MissingPartError as error:
        problem = str(error)
    kind = vector_kind(embedder)

    def vectors(asked: Sequence[int]) -> NDArray[np.float32]:
        return read_vectors(cache, kind, [keys[row] for row in asked], embedder.dim)[0]

    told = sha256(repr(decisions).encode()).digest() if decisions else b""
    state_key = sha256(state + kind.encode() + repr(ranking.weights).encode() + told).digest()
    blob = cache.get_many(BACKGROUND_KIND, [state_key]).get(state_key)
    usual = parse_background(blob, embedder.dim) if blob is not None else None
    blob = cache.get_many(CALIBRATION_KIND, [state_key]).get(state_key)
    calibration = parse_calibration(blob, len(FEATURES)) if blob is not None else None
    if usual is None or calibration is None:
        usual = background(vectors([rows[at] for at in background_sample([keys[row] for row in rows])]))
        calibration = _learn(vault, ranking, usual, vectors, decisions)
        if not problem and not remaining:
            visible = {vault.facts[row].content_hash for row in rows}
            cache.retain_only(visible | {keys[row] for row in rows} | {state})
            cache.put_many(BACKGROUND_KIND, {state_key: render_background(usual)})
            cache.put_many(CALIBRATION_KIND, {state_key: render_calibration(calibration)})
    return EmbeddedJudge(
        vault=vault, ranking=ranking, calibration=calibration, background=usual, vectors=vectors, problem=problem
    )


def _learn(
    vault: DreamtVault,
    ranking: Ranking,
    usual: Background,
    vectors: Callable[[Sequence[int]], NDArray[np.float32]],
    decisions: Sequence[tuple[PairFeatures, bool]],
) -> Calibration:
    every = vectors(range(len(vault.facts)))

    def nearness(first: Ints, second: Ints) -> NDArray[np.float64]:
        return usual.z_scores(every[first], every[second])

    words = [fact.words for fact in vault.facts]
    folders = [_folder(fact.path) for fact in vault.facts]
    return learn_calibration(ranking, nearness, words, folders, decisions)


def _passages(vault: DreamtVault, row: int) -> tuple[Passage, ...]:
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
        Between(title_of(vault.graph.paths[row]), from_first=row in out_first, from_second=row in out_second)
        for row in ranked[:1]
    ]


def _row(vault: DreamtVault, path: str) -> int:
    row = vault.row(path)
    if row is None:
        raise ValueError("a pair names a note that is none of the vault's")
    return row


def _folder(path: str) -> str:
    return path.rpartition("/")[0]
