"""The built-in judge of L1: no server, no download, no temperature. It weighs what the passages of two notes say.

What a pair is worth (`worth`) is fitted on readers' verdicts and taught by the writer's decisions. Beside it stand the
signs of a bridge (`bridge`), which need no word in common: in a vault with few links they count alone, in any other
where they are strong.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

import numpy as np

from aria_dream.judging.bridge import bridge_log_odds, is_known, speaks_against, speaks_for
from aria_dream.judging.reason import apart_from_text, meet, quote_mention, speak_of
from aria_dream.judging.tension import tension_of
from aria_dream.judging.triage_prompt import Drop, Keep
from aria_dream.judging.worth import MOST_ODDS, worth_features

if TYPE_CHECKING:
    from collections.abc import Sequence

    from aria_dream.judging.bridge import BridgeSigns
    from aria_dream.judging.common_ground import Common
    from aria_dream.judging.worth import WorthModel
    from aria_dream.ranking.juxtaposition import Juxtaposition
    from aria_dream.ranking.sparse import Structure

JUDGE_NAME: Final = "embedded judge"
KEPT_FROM: Final = 0.4
"""Chance that a reader finds a pair worth a link from which on it is kept."""
KEPT_ODDS: Final = math.log(KEPT_FROM / (1.0 - KEPT_FROM))
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
LINKS_FEW: Final = 8
LINKS_ENOUGH: Final = 14
"""A vault's links, each counted as one over the links of its busier end, so that an index page counts as one: up to
`LINKS_FEW` they say too little of what the writer calls related, and the signs of a bridge count alone."""
STRONG_BRIDGE: Final = 1.0
"""Log odds from which on the signs of a bridge keep a pair where a vault's links speak for themselves, whatever the
passages say: 37 of 70 bridges between linked notes, where none was kept before, and no more noise. They tell nothing
more of worth there (AUC .725 with them, .728 without), so such a pair is kept as the last."""
BY_QUOTES: Final = "by these two passages"
"""Where the quotations say it all."""


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgedPair:
    """A pair as it is put before the judge."""

    found: Juxtaposition
    common: Common
    """What the two notes have in common, for the reason."""
    words: tuple[int, int]
    """Words of prose of the two notes."""
    cosine: float | None
    """Of the two notes' vectors: near 1 for two notes that say the same; None where it is not known."""
    apart_below: float = 0.0
    """A cosine up to which this vault's writer holds notes apart: nearly all that are linked lie below."""
    merges: bool = True
    """Whether a consolidation lists the two as near each other; then near-duplicates are left to it."""
    bridge: BridgeSigns | None = None
    """None where they are not known."""


def bridge_share(links: Structure, decisions: int) -> float:
    """How little the vault's own links say, 0 to 1; 1: the signs of a bridge count alone.

    Each decision of the writer counts as half a link: decisions teach the weights, and nothing of what is usual.
    """
    pairs = links.pairs()
    busier = np.maximum(links.degree[pairs[:, 0]], links.degree[pairs[:, 1]])
    told = float((1.0 / np.maximum(busier, 1)).sum()) + decisions / 2
    return min(1.0, max(0.0, (LINKS_ENOUGH - told) / (LINKS_ENOUGH - LINKS_FEW)))


def judge_pairs(worth: WorthModel, pairs: Sequence[JudgedPair], *, share: float = 0.0) -> tuple[Keep | Drop, ...]:
    """One verdict a pair, in order. Deterministic. `share`: how much the signs of a bridge count (`bridge_share`)."""
    return tuple(_verdict(worth, replace(pair, bridge=pair.bridge if is_known(pair.bridge) else None), share)
                 for pair in pairs)  # fmt: skip


def says_the_same(pair: JudgedPair) -> bool:
    """Whether the two are near-duplicates: copies, excerpts, rewordings, translations."""
    if pair.common.length < TWIN_MIN_WORDS:
        return False
    if pair.common.twins >= TWIN_SHARE:
        return True
    if pair.cosine is None or max(pair.words) > TWIN_LENGTHS * min(pair.words):
        return False
    if pair.common.one_language:
        if pair.cosine < pair.apart_below:
            return False
        likeness = pair.cosine + pair.common.overlap / 2 - (TWIN_MENTION if pair.common.mention else 0.0)
        return likeness >= float(np.interp(pair.common.length, TWIN_WORDS, TWIN_LIKENESS))
    return pair.cosine >= float(np.interp(pair.common.length, TWIN_WORDS, TWIN_TRANSLATION))


def _verdict(worth: WorthModel, pair: JudgedPair, share: float) -> Keep | Drop:
    learned = worth.log_odds(worth_features(pair.found))
    bridge = -MOST_ODDS if pair.bridge is None else bridge_log_odds(pair.bridge)
    odds = share * (bridge + KEPT_ODDS) + (1.0 - share) * learned if pair.bridge is not None else learned
    probability = 1.0 / (1.0 + math.exp(-max(-MOST_ODDS, min(MOST_ODDS, odds))))
    if says_the_same(pair):
        if pair.merges:
            return Drop(min(probability, KEPT_FROM / 2), "say nearly the same, which is for consolidation to merge")
        return Keep(max(probability, KEPT_FROM), _nearly_the_same(pair))
    if bridge >= STRONG_BRIDGE:
        probability = max(probability, KEPT_FROM)
    if probability < KEPT_FROM:
        return Drop(probability, _dropped_because(pair, bridge_counts=share > 0.5))
    return Keep(probability, _kept_because(pair))


def _nearly_the_same(pair: JudgedPair) -> str:
    """What is said of two that are near-duplicates in part only, which no consolidation would merge."""
    verbatim = pair.common.twins >= TWIN_SHARE
    said = "much of the one stands word for word in the other" if verbatim else "they say nearly the same"
    also = quote_mention(pair.common) or meet(pair.common)
    return f"{said}, and {also}" if also else said


def _kept_because(pair: JudgedPair) -> str:
    """What the quotations do not show; where there are none, what else can be named."""
    said = [tension_of(pair.found), quote_mention(pair.common), meet(pair.common), *apart_from_text(pair.common)]
    clauses = [clause for clause in said if clause]
    if pair.found.resonance is not None:
        return _joined(clauses[:2]) if clauses else BY_QUOTES
    words = speak_of(pair.common)
    clauses += [words] if words else []
    if not clauses and pair.bridge is not None:
        clauses = [speaks_for(pair.bridge)]
    return _joined(clauses[:2]) if clauses else "the ranking puts it first"


def _joined(clauses: Sequence[str]) -> str:
    first, *others = clauses
    if not others:
        return first
    second = others[0]
    if first.startswith("both ") and second.startswith("both "):
        return f"{first}, and both {second.removeprefix('both ')}"
    return f"{first}, and {second}"


def _dropped_because(pair: JudgedPair, *, bridge_counts: bool) -> str:
    """What there is, and what is missing."""
    common, resonance = pair.common, pair.found.resonance
    against = speaks_against(pair.bridge) if pair.bridge is not None and bridge_counts else None
    if against:
        return against
    mention = quote_mention(common)
    if mention:
        return f"{mention}, but little else speaks for a link"
    if resonance is None:
        return "have no passage that answers one of the other"
    quoted = [f"“{word}”" for word in common.words[:2]]
    words = f"share {' and '.join(quoted)}, and " if quoted else ""
    return f"{words}have no two passages nearer than {resonance.cosine:.2f}"
