"""The embedded judge of L1: no server, no download, no temperature. It weighs features of a pair of notes.

What it has learned lies in a `Calibration` (see there). It is a filter behind L0's ranking, so it knows that ranking as
one feature among others; the sentence embeddings are what it adds.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np

from aria_dream.dream.calibration import Calibration, Prior, contributions, probabilities
from aria_dream.dream.reason import FEW_WORDS, meet, mentioned, speak_of
from aria_dream.dream.triage import Drop, Keep

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from aria_dream.dream.reason import Common

    Floats = NDArray[np.float64]
    Vectors = NDArray[np.float32]

JUDGE_NAME: Final = "embedded judge"
KEPT_FROM: Final = 0.5
BACKGROUND_NOTES: Final = 2_000
"""Notes whose vectors make the background: enough that a note's spread is known to two digits."""
TWIN_SHARE: Final = 0.6
"""From this share of common word sequences on two notes are copies, or one is an excerpt: consolidation's business."""
TWIN_LIKENESS: Final = (0.82, 1.0)
"""Cosine plus half the overlap of content words from which on two notes say the same: for notes of up to 60 words, and
of 200 and more. Long notes of one subject are near anyhow; of short ones a reworded copy reaches little more."""
TWIN_TRANSLATION: Final = (0.58, 0.80)
"""The same for the cosine alone where the notes are in two languages."""
TWIN_WORDS: Final = (60, 200)
TWIN_MIN_WORDS: Final = 15
NEAR_Z: Final = 2.5
"""From here on a reason may say that two notes are close in meaning; below `AWAY_Z` that they are not."""
AWAY_Z: Final = 1.0
NEARER_Z: Final = 1.3
NEARER: Final = "they are nearer in meaning than most notes here are to each other"
"""Said from `NEARER_Z` on (nine pairs of ten lie below) where nothing else can be named."""


TEXT_TERMS: Final = ("text", "neighbour text", "similar notes link there", "title", "missing note")
STRUCTURE_TERMS: Final = ("co-activation", "common neighbours")
MENTION_TERM: Final = "mention"
"""Terms of L0's score (`rank.EVIDENCE`), as the judge groups them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PairFeatures:
    """A pair of notes as the judge sees it. None where a value is not known: it then counts as average."""

    text: float | None
    """What words add to L0's score."""
    structure: float | None
    """What the links between and around the two add."""
    rest: float | None
    """What everything else adds (folders, tags, lengths, the asking note itself); the three sum to L0's score."""
    nearness: float | None
    """Sentence embeddings: cosine as a z-score against the vault's background (`Background.z_scores`)."""
    mention: bool
    """One note's prose names the other's title or an alias."""
    words: int
    """Words of prose of the shorter note."""
    same_folder: bool


def pair_features(
    score: float, terms: Mapping[str, float], *, nearness: float | None, words: int, same_folder: bool
) -> PairFeatures:
    """The features of a pair that L0 scored so, term by term; a term that is not among `terms` added nothing."""
    text = sum(terms.get(name, 0.0) for name in TEXT_TERMS)
    structure = sum(terms.get(name, 0.0) for name in STRUCTURE_TERMS)
    return PairFeatures(
        text=text,
        structure=structure,
        rest=score - text - structure,
        nearness=nearness,
        mention=abs(terms.get(MENTION_TERM, 0.0)) > 0.0,
        words=words,
        same_folder=same_folder,
    )


FEATURES: Final = ("text", "structure", "rest", "nearness", "mention", "words", "same_folder")
"""Columns of `feature_matrix`, in this order."""

PRIOR: Final = Prior(
    weights=(0.65, 0.45, 0.85, 0.25, 0.20, 0.25, 0.0),
    strengths=(1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0),
    means=(2.9, 0.45, -7.0, 1.05, 0.25, 4.0, 0.7),
    scales=(1.1, 0.5, 1.0, 1.25, 0.44, 0.8, 0.35),
    scores=(-0.59, 0.05, 0.42, 0.76, 0.99, 1.29, 1.58, 1.82, 2.13, 2.43, 2.94, 3.94),
)
"""Rounded from weights learned on hidden links of six vaults of different kinds and on links an author drew later. A
vault's own calibration beats them on every one of these (AUC inside the pool by .01 to .09)."""


def feature_matrix(pairs: Sequence[PairFeatures]) -> Floats:
    """One row a pair, one column a name in `FEATURES`; NaN: not known."""
    rows = [
        (
            np.nan if pair.text is None else pair.text,
            np.nan if pair.structure is None else pair.structure,
            np.nan if pair.rest is None else pair.rest,
            np.nan if pair.nearness is None else pair.nearness,
            float(pair.mention),
            np.log1p(pair.words),
            float(pair.same_folder),
        )
        for pair in pairs
    ]
    return np.array(rows, np.float64).reshape(len(rows), len(FEATURES))


@dataclass(frozen=True, slots=True, eq=False)
class Background:
    """How near any two notes of this vault are, so that a cosine can be read against it."""

    centre: Vectors
    """Mean vector of the sample, float32 [dim]."""
    spread: Vectors
    """Second moments of the centred sample, float32 [dim, dim]."""

    def z_scores(self, first: Vectors, second: Vectors) -> Floats:
        """For each row pair: the centred inner product in units of each note's own spread over the vault, averaged.

        NaN where a row is zero (no vector is known).
        """
        known = first.any(axis=1) & second.any(axis=1)
        one, two = first - self.centre, second - self.centre
        product = np.einsum("ij,ij->i", one, two)
        spread_one = np.sqrt(np.maximum(np.einsum("ij,jk,ik->i", one, self.spread, one, optimize=True), 1e-8))
        spread_two = np.sqrt(np.maximum(np.einsum("ij,jk,ik->i", two, self.spread, two, optimize=True), 1e-8))
        z = 0.5 * (product / spread_one + product / spread_two)
        return np.where(known, z, np.nan).astype(np.float64)


def render_background(found: Background) -> bytes:
    """`found` for the cache, exact; `parse_background` is the inverse."""
    return np.concatenate([found.centre, found.spread.reshape(-1)]).astype("<f4").tobytes()


def parse_background(blob: bytes, dim: int) -> Background | None:
    """What `render_background` wrote; None for anything else."""
    if len(blob) != 4 * (dim + dim * dim):
        return None
    numbers = np.frombuffer(blob, "<f4").astype(np.float32)
    if not np.isfinite(numbers).all():
        return None
    return Background(numbers[:dim], numbers[dim:].reshape(dim, dim))


def background_sample(keys: Sequence[bytes], size: int = BACKGROUND_NOTES) -> list[int]:
    """Which notes' vectors make the background: positions of the `size` smallest keys.

    Keys are hashes, so this is a fair sample; it is the same one every time and hardly changes with the vault.
    """
    return sorted(range(len(keys)), key=keys.__getitem__)[:size]


def background(sample: Vectors) -> Background:
    """The background that a sample of note vectors (float32 [n, dim], zero rows ignored) makes."""
    known = sample[sample.any(axis=1)]
    if len(known) == 0:
        dim = sample.shape[1]
        return Background(np.zeros(dim, np.float32), np.eye(dim, dtype=np.float32) / dim)
    centre = known.mean(axis=0)
    centred = known - centre
    # A little of the unit matrix: in a vault of a few notes the spread would else be zero in most directions.
    dim = sample.shape[1]
    mean_square = float(np.einsum("ij,ij->", centred, centred)) / len(known) if len(known) > 1 else 1.0
    share = 20.0 / (20.0 + len(known))
    spread = (1 - share) * (centred.T @ centred) / len(known) + share * mean_square / dim * np.eye(dim)
    return Background(centre.astype(np.float32), spread.astype(np.float32))


@dataclass(frozen=True, slots=True, kw_only=True)
class Judged:
    """A pair as it is put before the judge."""

    features: PairFeatures
    common: Common
    """What the two notes have in common, for the reason."""
    cosine: float | None
    """Of the two notes' vectors, uncentred: near 1 for two notes that say the same."""


def judge_pairs(calibration: Calibration, pairs: Sequence[Judged]) -> tuple[Keep | Drop, ...]:
    """One verdict a pair, in order. Deterministic. Reasons name the features that spoke loudest."""
    if not pairs:
        return ()
    matrix = feature_matrix([pair.features for pair in pairs])
    likely = probabilities(calibration, matrix)
    spoke = contributions(calibration, matrix)
    return tuple(
        _verdict(pair, float(probability), dict(zip(FEATURES, row.tolist(), strict=True)))
        for pair, probability, row in zip(pairs, likely, spoke, strict=True)
    )


def says_the_same(pair: Judged) -> bool:
    """Whether the two are near-duplicates: copies, excerpts, rewordings, translations."""
    if pair.common.length < TWIN_MIN_WORDS:
        return False
    if pair.common.twins >= TWIN_SHARE:
        return True
    if pair.cosine is None:
        return False
    if pair.common.one_language:
        return pair.cosine + pair.common.overlap / 2 >= float(np.interp(pair.common.length, TWIN_WORDS, TWIN_LIKENESS))
    return pair.cosine >= float(np.interp(pair.common.length, TWIN_WORDS, TWIN_TRANSLATION))


def _verdict(pair: Judged, probability: float, spoke: dict[str, float]) -> Keep | Drop:
    if says_the_same(pair):
        return Drop(min(probability, KEPT_FROM / 2), "say nearly the same, which is for consolidation to merge")
    if probability >= KEPT_FROM:
        return Keep(probability, _kept_because(pair, spoke))
    return Drop(probability, _dropped_because(pair))


def _kept_because(pair: Judged, spoke: dict[str, float]) -> str:
    """The two strongest clauses that can be said of the pair."""
    said = [
        (spoke["mention"] + 1.5, mentioned(pair.common)),
        (spoke["text"] + 0.15 * min(len(pair.common.words), 4), speak_of(pair.common)),
        (spoke["structure"], meet(pair.common)),
        (spoke["nearness"], _close(pair)),
    ]
    clauses = [clause for _, clause in sorted(said, key=lambda item: -item[0]) if clause][:2]
    if not clauses:
        nearer = pair.features.nearness is not None and pair.features.nearness >= NEARER_Z
        return NEARER if nearer else "many small signs together speak for it"
    first = clauses[0]
    if len(clauses) == 1:
        return first
    second = clauses[1]
    if first.startswith("both ") and second.startswith("both "):
        return f"{first}, and both {second.removeprefix('both ')}"
    return f"{first}, and {second}"


def _close(pair: Judged) -> str | None:
    z = pair.features.nearness
    if z is None or z < NEAR_Z:
        return None
    if len(pair.common.words) <= FEW_WORDS:
        return "they are close in meaning though they share few words"
    return "they are close in meaning"


def _dropped_because(pair: Judged) -> str:
    """What there is, and what is missing."""
    common, z = pair.common, pair.features.nearness
    quoted = [f"“{word}”" for word in common.words[:2]]
    words = " and ".join(quoted)
    away = z is not None and z < AWAY_Z
    if common.mention:
        return f"{mentioned(common)}, but little else speaks for a link"
    if common.words and away:
        return f"share {'the words' if len(quoted) > 1 else 'the word'} {words} but are far apart in meaning"
    if common.words and len(common.words) <= FEW_WORDS:
        return f"have little more than {words} in common"
    if common.words:
        return f"share {words}, which is too little for a link"
    if common.between:
        return f"{meet(common)}, and nothing in the text joins them"
    if pair.features.same_folder:
        return "share a folder and hardly a word"
    return "have hardly a word in common"
