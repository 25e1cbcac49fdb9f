"""The embedded judge on pairs made for it."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from aria_dream.judging.calibration import calibrate
from aria_dream.judging.common_ground import Between, Common
from aria_dream.judging.judge import (
    FEATURES,
    PRIOR,
    UNNAMED,
    JudgedPair,
    PairFeatures,
    feature_matrix,
    judge_pairs,
    pair_features,
    says_the_same,
)
from aria_dream.judging.triage_prompt import Drop, Keep

STRONG = PairFeatures(
    text=4.5, structure=1.6, rest=-4.5, nearness=4.0, passages=6.0, kinship=2.0, analogy=0.4, mention=True, words=300,
    longer=400, folder_notes=9,
)  # fmt: skip
WEAK = PairFeatures(
    text=1.0, structure=-0.5, rest=-8.0, nearness=0.2, passages=1.0, kinship=-2.0, analogy=0.0, mention=False, words=15,
    longer=30,
)  # fmt: skip
COMMON = Common(
    words=("feeding", "culture", "schedule", "jar"),
    mention=None,
    between=Between("Fermentation", from_first=True, from_second=True),
    twins=0.0,
    overlap=0.1,
    length=120,
    one_language=True,
)
NOTHING = replace(COMMON, words=(), between=None)
JUDGE = calibrate(PRIOR, np.zeros((0, len(PRIOR.weights))), [])


def judged(features: PairFeatures, common: Common = COMMON, cosine: float | None = 0.4) -> JudgedPair:
    return JudgedPair(features=features, common=common, cosine=cosine)


def test_strong_pairs_are_kept_and_weak_ones_dropped() -> None:
    strong, weak = judge_pairs(JUDGE, [judged(STRONG), judged(WEAK, NOTHING)])
    assert isinstance(strong, Keep)
    assert isinstance(weak, Drop)
    assert weak.probability is not None
    assert strong.probability is not None
    assert weak.probability < 0.5 <= strong.probability <= 1
    assert judge_pairs(JUDGE, [judged(STRONG), judged(WEAK, NOTHING)]) == (strong, weak)
    assert judge_pairs(JUDGE, []) == ()


@pytest.mark.parametrize("name", ["text", "structure", "rest", "passages", "kinship", "analogy", "mention", "longer"])
def test_each_sign_speaks_for_a_pair(name: str) -> None:
    better = replace(WEAK, **{name: getattr(STRONG, name)})
    low, high = judge_pairs(JUDGE, [judged(WEAK), judged(better)])
    assert low.probability is not None
    assert high.probability is not None
    assert low.probability < high.probability


def test_what_l0_said_is_taken_apart_and_put_together_again() -> None:
    terms = {"text": 2.0, "title": 0.5, "co-activation": 0.25, "folder": -0.125, "background": -6.0, "mention": 0.5}
    unknown = float("nan")
    found = pair_features(sum(terms.values()), terms, (unknown, 2.0, -1.0, 0.0), words=(9, 4), folder_notes=0)
    assert (found.text, found.structure, found.rest, found.mention) == (2.5, 0.25, -5.625, True)
    assert (found.nearness, found.passages, found.kinship, found.analogy) == (None, 2.0, -1.0, 0.0)
    assert (found.words, found.longer, found.same_folder) == (4, 9, False)
    assert not pair_features(1.0, {}, (0.0, 0.0, 0.0, 0.0), words=(9, 9), folder_notes=2).mention


def test_unknown_features_are_no_error() -> None:
    unknown = replace(
        STRONG, text=None, structure=None, rest=None, nearness=None, passages=None, kinship=None, analogy=None
    )
    (verdict,) = judge_pairs(JUDGE, [judged(unknown, cosine=None)])
    assert verdict.probability is not None
    assert 0.0 <= verdict.probability <= 1.0
    assert feature_matrix([unknown]).shape == (1, len(FEATURES))
    assert feature_matrix([]).shape == (0, len(FEATURES))


@pytest.mark.parametrize(
    ("common", "cosine"),
    [
        (replace(COMMON, twins=0.9), 0.5),
        (replace(COMMON, overlap=0.7, length=40), 0.75),
        (replace(COMMON, overlap=0.6, length=400), 0.9),
        (replace(COMMON, overlap=0.0, length=40, one_language=False), 0.7),
    ],
    ids=["copy", "reworded, short", "reworded, long", "translated"],
)
def test_near_duplicates_are_left_to_consolidation_however_strong(common: Common, cosine: float) -> None:
    pair = judged(STRONG, common, cosine)
    assert says_the_same(pair)
    (verdict,) = judge_pairs(JUDGE, [pair])
    assert isinstance(verdict, Drop)
    assert "consolidation" in verdict.reason
    (shown,) = judge_pairs(JUDGE, [replace(judged(WEAK, common, cosine), merges=False)])
    assert isinstance(shown, Keep)
    assert "word for word" in shown.reason if common.twins else "say nearly the same" in shown.reason


def test_a_note_that_names_the_other_or_is_far_longer_is_hardly_its_rewording() -> None:
    alike = replace(COMMON, overlap=0.6, length=400)
    assert says_the_same(judged(STRONG, alike, 0.72))
    assert not says_the_same(judged(STRONG, replace(alike, mention=("Compost", "starter")), 0.72))
    assert says_the_same(judged(STRONG, replace(alike, mention=("Compost", "starter")), 0.9))
    assert not says_the_same(judged(replace(STRONG, words=30), alike, 0.72))
    assert says_the_same(judged(replace(STRONG, words=30), replace(alike, twins=0.9), 0.72))  # an excerpt is a copy


def test_notes_no_nearer_than_those_the_writer_links_are_held_apart() -> None:
    pair = judged(STRONG, replace(COMMON, overlap=0.6, length=400), 0.75)
    assert says_the_same(replace(pair, apart_below=0.7))
    assert not says_the_same(replace(pair, apart_below=0.8))


def test_two_stubs_are_no_duplicates() -> None:
    assert not says_the_same(judged(STRONG, replace(COMMON, twins=1.0, overlap=1.0, length=5), 0.99))


def test_reasons_name_the_strongest_signs() -> None:
    def reason(features: PairFeatures, common: Common) -> str:
        return judge_pairs(JUDGE, [judged(features, common)])[0].reason

    plain = replace(STRONG, mention=False)
    # structure beyond all else: the note between them leads
    assert reason(replace(plain, structure=6.0, nearness=2.0), COMMON).startswith("both lead to Fermentation")
    assert reason(replace(plain, text=9.0), COMMON).startswith("both speak of feeding, culture and schedule, and ")
    assert reason(replace(plain, nearness=9.0), NOTHING) == "they are close in meaning though they share few words"
    assert "a passage of each is close in meaning" in reason(replace(plain, nearness=2.0), NOTHING)
    assert "nearer in meaning than most" in reason(replace(plain, nearness=2.0, passages=3.0), NOTHING)
    mention = replace(COMMON, mention=("Compost", "sourdough starter"))
    assert reason(STRONG, mention).startswith("Compost mentions “sourdough starter” without a link")


@pytest.mark.parametrize(
    ("shared", "said"),
    [
        ({"missing": "Rye"}, "both link to Rye, which is not written yet"),
        ({"tags": ("bread", "rare")}, "both are tagged #bread"),
        ({"akin": ("Levain", "Starter", "Rye")}, "Levain, which is near Starter in meaning, is linked with Rye"),
        ({"folder": "Ovens"}, "both lie in the small folder Ovens"),
        ({"hints": ("their titles are alike",)}, "their titles are alike"),
    ],
)
def test_what_is_neither_word_nor_link_is_named_before_a_pair_is_given_up(
    shared: dict[str, object], said: str
) -> None:
    silent = replace(STRONG, mention=False, nearness=0.5, passages=3.0)
    (kept,) = judge_pairs(JUDGE, [judged(silent, replace(NOTHING, **shared))])  # type: ignore[arg-type]  # each is of its field's type
    assert isinstance(kept, Keep)
    assert kept.reason == said
    beside_a_word = replace(NOTHING, words=("vote",), **shared)  # type: ignore[arg-type]  # as above
    assert judge_pairs(JUDGE, [judged(silent, beside_a_word)])[0].reason == f"both speak of vote, and {said}"
    by_the_way = replace(NOTHING, words=("vote", "tread"), by_the_way=frozenset({"vote", "tread"}), **shared)  # type: ignore[arg-type]  # as above
    (kept,) = judge_pairs(JUDGE, [judged(silent, by_the_way)])
    assert kept.reason == f"both use the words “vote” and “tread”, and {said}"
    plain = replace(NOTHING, words=("vote", "tread"), **shared)  # type: ignore[arg-type]  # as above
    assert judge_pairs(JUDGE, [judged(silent, plain)])[0].reason == "both speak of vote and tread"
    (dropped,) = judge_pairs(JUDGE, [judged(silent, NOTHING)])
    assert isinstance(dropped, Drop)
    assert dropped.reason == UNNAMED
    assert dropped.probability is not None
    assert dropped.probability < 0.5


def test_reasons_of_drops_say_what_is_missing() -> None:
    def reason(features: PairFeatures, common: Common) -> str:
        (verdict,) = judge_pairs(JUDGE, [judged(features, common)])
        assert isinstance(verdict, Drop)
        return verdict.reason

    assert "“feeding”" in reason(WEAK, COMMON)
    assert "far apart in meaning" in reason(WEAK, COMMON)
    assert reason(WEAK, NOTHING) == "have hardly a word in common"
    assert reason(replace(WEAK, folder_notes=9), NOTHING) == "share a folder and hardly a word"
    assert "Fermentation" in reason(WEAK, replace(COMMON, words=()))
