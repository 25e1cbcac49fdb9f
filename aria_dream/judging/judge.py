"""The embedded judge of L1: no server, no download, no temperature. It weighs features of a pair of notes.

What it has learned lies in a `Calibration` (see there). It is a filter behind L0's ranking, so it knows that ranking as
one feature among others; the sentence embeddings are what it adds.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

import numpy as np

from aria_dream.judging.bridge import NEARER, bridge_log_odds, is_known, speaks_against, speaks_for
from aria_dream.judging.calibration import Calibration, Prior, contributions, probabilities
from aria_dream.judging.reason import FEW_WORDS, apart_from_text, meet, quote_mention, speak_of
from aria_dream.judging.triage_prompt import Drop, Keep

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from aria_dream.judging.bridge import BridgeSigns
    from aria_dream.judging.common_ground import Common
    from aria_dream.ranking.sparse import Structure

    Floats = NDArray[np.float64]
    Vectors = NDArray[np.float32]

JUDGE_NAME: Final = "embedded judge"
KEPT_FROM: Final = 0.5
TWIN_SHARE: Final = 0.6
"""From this share of common word sequences on two notes are copies, or one is an excerpt: consolidation's business."""
TWIN_LIKENESS: Final = (0.82, 1.0)
"""Cosine plus half the overlap of content words from which on two notes say the same: for notes of up to 60 words, and
of 200 and more. Long notes of one subject are near anyhow; of short ones a reworded copy reaches little more."""
TWIN_TRANSLATION: Final = (0.58, 0.80)
"""The same for the cosine alone where the notes are in two languages."""
TWIN_WORDS: Final = (60, 200)
TWIN_MENTION: Final = 0.12
"""So much more it takes where one note names the other: it then speaks of it, and hardly is it."""
TWIN_LENGTHS: Final = 2
"""A note of more than so many times the words of another is no rewording of it, though it may hold all of it."""
TWIN_MIN_WORDS: Final = 15
NEAR_Z: Final = 2.5
"""From here on a reason may say that two notes are close in meaning; below `AWAY_Z` that they are not."""
AWAY_Z: Final = 1.0
NEARER_Z: Final = 1.3
"""`NEARER` is said from here on (nine pairs of ten lie below) where nothing else can be named."""
NEAR_PASSAGE_Z: Final = 4.0
"""From here on two passages are called close: nine in ten of the pairs that L0 offers lie below."""
LINKS_FEW: Final = 8
LINKS_ENOUGH: Final = 14
"""A vault's links, each counted as one over the links of its busier end, so that an index page counts as one: up to
`LINKS_FEW` they say too little of what the writer calls related, and `bridge` is heeded in place of what they taught,
which there tells a bridge from noise no better than chance; from `LINKS_ENOUGH` on the vault speaks for itself."""
UNNAMED: Final = "small signs speak for it, none of which can be named"
"""Why a pair is dropped that the features would keep: a writer has no use for it."""


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
    """Sentence embeddings, as the next three (`meaning.Likeness`): how near the notes are. Only reasons speak of it:
    the next two say all that it says, and more."""
    passages: float | None = None
    kinship: float | None = None
    analogy: float | None = None
    mention: bool
    """One note's prose names the other's title or an alias."""
    words: int
    """Words of prose of the shorter note."""
    longer: int
    """Words of prose of the longer note."""
    folder_notes: int = 0
    """Notes of the folder that the two lie in; 0 where they lie in two."""

    @property
    def same_folder(self) -> bool:
        """Whether the two lie in one folder."""
        return self.folder_notes > 0


def pair_features(
    score: float,
    terms: Mapping[str, float],
    measured: tuple[float, float, float, float],
    *,
    words: tuple[int, int],
    folder_notes: int,
) -> PairFeatures:
    """The features of a pair that L0 scored so, term by term; a term that is not among `terms` added nothing.

    `measured`: nearness, passages, kinship and analogy, NaN where not known; `words` of the two notes.
    """
    text = sum(terms.get(name, 0.0) for name in TEXT_TERMS)
    structure = sum(terms.get(name, 0.0) for name in STRUCTURE_TERMS)
    nearness, passages, kinship, analogy = (None if np.isnan(value) else value for value in measured)
    return PairFeatures(
        text=text,
        structure=structure,
        rest=score - text - structure,
        nearness=nearness,
        passages=passages,
        kinship=kinship,
        analogy=analogy,
        mention=abs(terms.get(MENTION_TERM, 0.0)) > 0.0,
        words=min(words),
        longer=max(words),
        folder_notes=folder_notes,
    )


FEATURES: Final = (
    "text", "structure", "rest", "mention", "words", "longer", "folder", "analogy", "kinship", "passages",
)  # fmt: skip
"""Columns of `feature_matrix`, in this order."""

PRIOR: Final = Prior(
    weights=(0.60, 0.50, 0.65, 0.20, 0.0, 0.30, 0.0, 0.20, 0.20, 0.30),
    strengths=(1.0,) * len(FEATURES),
    means=(3.1, 0.37, -7.5, 0.24, 3.6, 4.3, 0.05, 0.06, -0.40, 2.6),
    scales=(1.1, 0.45, 1.0, 0.42, 0.74, 0.73, 0.06, 0.11, 1.3, 1.2),
    scores=(-0.28, 0.57, 1.22, 1.83, 2.45, 3.47),
)
"""Rounded from weights learned on hidden links of six vaults of different kinds and on links an author drew later."""


def feature_matrix(pairs: Sequence[PairFeatures]) -> Floats:
    """One row a pair, one column a name in `FEATURES`; NaN: not known."""
    rows = [
        (
            _number(pair.text),
            _number(pair.structure),
            _number(pair.rest),
            float(pair.mention),
            np.log1p(pair.words),
            np.log1p(pair.longer),
            1.0 / np.sqrt(pair.folder_notes) if pair.folder_notes else 0.0,
            _number(pair.analogy),
            _number(pair.kinship),
            _number(pair.passages),
        )
        for pair in pairs
    ]
    return np.array(rows, np.float64).reshape(len(rows), len(FEATURES))


def _number(value: float | None) -> float:
    return np.nan if value is None else value


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgedPair:
    """A pair as it is put before the judge."""

    features: PairFeatures
    common: Common
    """What the two notes have in common, for the reason."""
    cosine: float | None
    """Of the two notes' vectors, uncentred: near 1 for two notes that say the same."""
    apart_below: float = 0.0
    """A cosine up to which this vault's writer holds notes apart: nearly all that are linked lie below."""
    merges: bool = True
    """Whether a consolidation lists the two as near each other; then near-duplicates are left to it."""
    bridge: BridgeSigns | None = None
    """What is heeded while the vault has too few links to learn from; None where it is not known."""


def bridge_share(links: Structure, decisions: int) -> float:
    """How much `bridge_log_odds` count beside what was learned, 0 to 1.

    Each decision of the writer counts as half a link: decisions teach the weights, and nothing of what is usual.
    """
    pairs = links.pairs()
    busier = np.maximum(links.degree[pairs[:, 0]], links.degree[pairs[:, 1]])
    told = float((1.0 / np.maximum(busier, 1)).sum()) + decisions / 2
    return min(1.0, max(0.0, (LINKS_ENOUGH - told) / (LINKS_ENOUGH - LINKS_FEW)))


def judge_pairs(
    calibration: Calibration, pairs: Sequence[JudgedPair], *, share: float = 0.0
) -> tuple[Keep | Drop, ...]:
    """One verdict a pair, in order. Deterministic. Reasons name the features that spoke loudest.

    `share`: how much the signs of a bridge count (`bridge_share`).
    """
    if not pairs:
        return ()
    matrix = feature_matrix([pair.features for pair in pairs])
    likely = probabilities(calibration, matrix)
    spoke = contributions(calibration, matrix)
    return tuple(
        _verdict(
            pair if share and is_known(pair.bridge) else replace(pair, bridge=None),
            _pooled(float(probability), pair, share),
            dict(zip(FEATURES, row.tolist(), strict=True)),
        )
        for pair, probability, row in zip(pairs, likely, spoke, strict=True)
    )


def _pooled(learned: float, pair: JudgedPair, share: float) -> float:
    """The probability with `share` of its log odds from the signs of a bridge, where they are known."""
    if not share or not is_known(pair.bridge):
        return learned
    odds = (1.0 - share) * math.log(learned / (1.0 - learned)) + share * bridge_log_odds(pair.bridge)
    return 1.0 / (1.0 + math.exp(-max(-30.0, min(30.0, odds))))


def says_the_same(pair: JudgedPair) -> bool:
    """Whether the two are near-duplicates: copies, excerpts, rewordings, translations."""
    if pair.common.length < TWIN_MIN_WORDS:
        return False
    if pair.common.twins >= TWIN_SHARE:
        return True
    if pair.cosine is None or pair.features.longer > TWIN_LENGTHS * pair.features.words:
        return False
    if pair.common.one_language:
        if pair.cosine < pair.apart_below:
            return False
        likeness = pair.cosine + pair.common.overlap / 2 - (TWIN_MENTION if pair.common.mention else 0.0)
        return likeness >= float(np.interp(pair.common.length, TWIN_WORDS, TWIN_LIKENESS))
    return pair.cosine >= float(np.interp(pair.common.length, TWIN_WORDS, TWIN_TRANSLATION))


def _verdict(pair: JudgedPair, probability: float, spoke: dict[str, float]) -> Keep | Drop:
    if says_the_same(pair):
        if pair.merges:
            return Drop(min(probability, KEPT_FROM / 2), "say nearly the same, which is for consolidation to merge")
        return Keep(max(probability, KEPT_FROM), _nearly_the_same(pair))
    if probability < KEPT_FROM:
        against = speaks_against(pair.bridge) if pair.bridge else None
        return Drop(probability, against or _dropped_because(pair))
    clauses = _speaking_for(pair, spoke)
    if pair.bridge and (not clauses or (len(clauses) == 1 and len(pair.common.words) == 1)) and NEARER not in clauses:
        clauses.append(speaks_for(pair.bridge))  # a single word that two notes have in common tells a writer little
    if not clauses:
        return Drop(float(np.nextafter(KEPT_FROM, 0.0)), UNNAMED)
    return Keep(probability, _joined(clauses[:2]))


def _nearly_the_same(pair: JudgedPair) -> str:
    """What is said of two that are near-duplicates in part only, which no consolidation would merge."""
    verbatim = pair.common.twins >= TWIN_SHARE
    said = "much of the one stands word for word in the other" if verbatim else "they say nearly the same"
    also = quote_mention(pair.common) or meet(pair.common)
    return f"{said}, and {also}" if also else said


def _speaking_for(pair: JudgedPair, spoke: dict[str, float]) -> list[str]:
    """What can be said for the pair, the strongest first; empty where nothing can be named."""
    said = [
        (spoke["mention"] + 1.5, quote_mention(pair.common)),
        (spoke["text"] + 0.15 * min(len(pair.common.words), 4), speak_of(pair.common)),
        (spoke["structure"], meet(pair.common)),
        (spoke["passages"] + spoke["kinship"], _close(pair)),
    ]
    clauses = [clause for _, clause in sorted(said, key=lambda item: -item[0]) if clause]
    if len(clauses) > 1 or (clauses and clauses != [speak_of(pair.common)]):
        return clauses
    if len(pair.common.words) > len(pair.common.by_the_way) + 1:
        return clauses
    # Nothing, or a word or two by the way, which tells a writer little: what else there is stands beside it.
    clauses += apart_from_text(pair.common)
    z, passages = pair.features.nearness, pair.features.passages
    if passages is not None and passages >= NEAR_PASSAGE_Z:
        clauses.append("a passage of each is close in meaning to one of the other")
    if z is not None and z >= NEARER_Z:
        clauses.append(NEARER)
    return clauses


def _joined(clauses: Sequence[str]) -> str:
    first, *others = clauses
    if not others:
        return first
    second = others[0]
    if first.startswith("both ") and second.startswith("both "):
        return f"{first}, and both {second.removeprefix('both ')}"
    return f"{first}, and {second}"


def _close(pair: JudgedPair) -> str | None:
    z = pair.features.nearness
    if z is None or z < NEAR_Z:
        return None
    if len(pair.common.words) <= FEW_WORDS:
        return "they are close in meaning though they share few words"
    return "they are close in meaning"


def _dropped_because(pair: JudgedPair) -> str:
    """What there is, and what is missing."""
    common, z = pair.common, pair.features.nearness
    quoted = [f"“{word}”" for word in common.words[:2]]
    words = " and ".join(quoted)
    away = z is not None and z < AWAY_Z
    if common.mention:
        return f"{quote_mention(common)}, but little else speaks for a link"
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
