"""The built-in judge over a labelled corpus of pairs of notes. No vault is read, nothing is kept."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np

from aria_dream.consolidate.comparison import embedded_compare
from aria_dream.consolidate.near import LEAST_OVERLAP, MOSTLY, NearRow, is_near, overlap_of, sketch_of
from aria_dream.consolidate.passages import Passage, passages_of_note
from aria_dream.consolidate.second_look import (
    LEAST_ALIGNMENT,
    LEAST_MARGIN,
    alignment,
    floor_of,
    margin_of,
    sentences_of,
)
from aria_dream.consolidate.verdict import Merge, NearPair, NotDuplicate
from aria_dream.evals.triage_score import MeasuredPair
from aria_dream.markdown.note import parse_note
from aria_dream.policy.keys import Settings
from aria_dream.ranking.embedding import passages, pool_passages
from aria_dream.ranking.juxtaposition import title_of
from aria_dream.vault.obsidian import ObsidianSettings

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from aria_dream.adapters.models.embedding import Embedder
    from aria_dream.consolidate.near import Sketch, Vectors
    from aria_dream.evals.triage_score import CorpusFile, Decision, LabelledNotes

_NO_SETTINGS: Final = ObsidianSettings()
_LEAST_COSINE: Final = Settings().cosine_threshold
_DECISIONS: Final[dict[type, Decision]] = {Merge: "merge", NotDuplicate: "not_duplicate"}


@dataclass(frozen=True, slots=True, kw_only=True)
class _Side:
    """One note of the corpus."""

    passage: Passage | None
    vector: Vectors
    sketch: Sketch
    sentences: tuple[str, ...]


def measure_pairs(
    pairs: Sequence[LabelledNotes],
    embedder: Embedder,
    *,
    progress: Callable[[int, int], None] | None = None,
) -> tuple[MeasuredPair, ...]:
    """Both signals and the judge's decision for every pair, in order, and whether it would come before a judge.

    Raises `MissingPartError` where the embedder is not there.
    """
    sides = []
    for number, pair in enumerate(pairs, start=1):
        sides.append((_read(pair.a, embedder), _read(pair.b, embedder)))
        if progress is not None:
            progress(number, len(pairs))
    pool = [side for both in sides for side in both]
    vectors = np.stack([side.vector for side in pool]) if pool else np.zeros((0, embedder.dim), np.float32)
    measured = []
    for number, (pair, (one, other)) in enumerate(zip(pairs, sides, strict=True), start=1):
        cosine, overlap = float(one.vector @ other.vector), 0.0
        comes, reason = False, "one of the two is no passage to compare"
        decision: Decision = "no_atom"
        if one.passage is not None and other.passage is not None:
            overlap = overlap_of(one.sketch, other.sketch)
            verdict = embedded_compare(
                NearPair(first=one.passage, second=other.passage, cosine=cosine, overlap=overlap, rank=number)
            )
            reason, decision = verdict.reason, _DECISIONS.get(type(verdict), "escalated")
            comes = is_near(NearRow(0, 1, cosine, overlap), _LEAST_COSINE, LEAST_OVERLAP)
            comes = comes or _is_near_again(one, other, cosine, overlap, pool, vectors, embedder)
        measured.append(
            MeasuredPair(pair=pair, cosine=cosine, overlap=overlap, comes=comes, decision=decision, reason=reason)
        )
    return tuple(measured)


def _is_near_again(
    one: _Side,
    other: _Side,
    cosine: float,
    overlap: float,
    pool: Sequence[_Side],
    vectors: Vectors,
    embedder: Embedder,
) -> bool:
    """Whether a second look finds the two near among the corpus's other notes. A note stands there more than once, and
    changed by a word: its copies are no notes that the pair must stand out from."""
    if cosine < floor_of(_LEAST_COSINE) or overlap < LEAST_OVERLAP:
        return False
    others = [
        row
        for row, side in enumerate(pool)
        if max(overlap_of(side.sketch, one.sketch), overlap_of(side.sketch, other.sketch)) < MOSTLY
    ]
    ours, theirs = (vectors[others] @ side.vector for side in (one, other))
    if margin_of(cosine, ours.tolist(), theirs.tolist()) < LEAST_MARGIN:
        return False
    told = alignment(one.sentences, other.sentences, embedder.encode(one.sentences), embedder.encode(other.sentences))
    return told >= LEAST_ALIGNMENT


def _read(side: CorpusFile, embedder: Embedder) -> _Side:
    note = parse_note(side.text)
    passage = next(iter(passages_of_note(side.path, note, set_apart=_NO_SETTINGS.is_daily(side.path))), None)
    cut = passages(title_of(side.path), note)
    return _Side(
        passage=passage,
        vector=pool_passages(embedder.encode([one.text for one in cut]), [one.weight for one in cut]),
        sketch=sketch_of("" if passage is None else passage.words),
        sentences=sentences_of(note),
    )
