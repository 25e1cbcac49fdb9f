"""The embedded judge on pairs made for it."""

from __future__ import annotations

import hashlib
from dataclasses import replace

import numpy as np
import pytest

from aria_dream.dream.calibration import uncalibrated
from aria_dream.dream.judge import (
    BACKGROUND_NOTES,
    FEATURES,
    PRIOR,
    Judged,
    PairFeatures,
    background,
    background_sample,
    feature_matrix,
    judge_pairs,
    says_the_same,
)
from aria_dream.dream.reason import Between, Common
from aria_dream.dream.triage import Drop, Keep

STRONG = PairFeatures(
    ranking=2.0, text=-1.2, structure=-4.0, nearness=4.0, mention=True, place=0, mutual=True, same_folder=True,
    folder_steps=0, popularity=12,
)  # fmt: skip
WEAK = PairFeatures(
    ranking=-2.0, text=-4.5, structure=-9.0, nearness=0.2, mention=False, place=9, mutual=False, same_folder=False,
    folder_steps=4, popularity=1,
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
JUDGE = uncalibrated(PRIOR)


def judged(features: PairFeatures, common: Common = COMMON, cosine: float | None = 0.4) -> Judged:
    return Judged(features=features, common=common, cosine=cosine)


def test_strong_pairs_are_kept_and_weak_ones_dropped() -> None:
    strong, weak = judge_pairs(JUDGE, [judged(STRONG), judged(WEAK, NOTHING)])
    assert isinstance(strong, Keep)
    assert isinstance(weak, Drop)
    assert weak.probability < 0.5 <= strong.probability <= 1
    assert judge_pairs(JUDGE, [judged(STRONG), judged(WEAK, NOTHING)]) == (strong, weak)
    assert judge_pairs(JUDGE, []) == ()


@pytest.mark.parametrize("name", ["ranking", "text", "structure", "nearness", "place", "mention"])
def test_each_sign_speaks_for_a_pair(name: str) -> None:
    better = replace(WEAK, **{name: getattr(STRONG, name)})
    low, high = judge_pairs(JUDGE, [judged(WEAK), judged(better)])
    assert low.probability < high.probability


def test_popularity_says_little() -> None:
    """A hub is no better a partner for being one: a hundred links weigh less than one step of nearness."""
    base, near, hub = judge_pairs(
        JUDGE, [judged(WEAK), judged(replace(WEAK, nearness=2.2)), judged(replace(WEAK, popularity=10))]
    )
    assert hub.probability - base.probability < near.probability - base.probability


def test_unknown_features_are_no_error() -> None:
    unknown = replace(STRONG, ranking=None, text=None, structure=None, nearness=None)
    (verdict,) = judge_pairs(JUDGE, [judged(unknown, cosine=None)])
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


def test_two_stubs_are_no_duplicates() -> None:
    assert not says_the_same(judged(STRONG, replace(COMMON, twins=1.0, overlap=1.0, length=5), 0.99))


def test_reasons_name_the_strongest_signs() -> None:
    def reason(features: PairFeatures, common: Common) -> str:
        return judge_pairs(JUDGE, [judged(features, common)])[0].reason

    plain = replace(STRONG, mention=False)
    # structure beyond all else: the note between them leads
    assert reason(replace(plain, structure=0.0, nearness=2.0), COMMON).startswith("both lead to Fermentation")
    assert reason(replace(plain, text=1.0), COMMON).startswith("both speak of feeding, culture and schedule, and ")
    assert reason(replace(plain, nearness=9.0), NOTHING) == "they are close in meaning though they share few words"
    mention = replace(COMMON, mention=("Compost", "sourdough starter"))
    assert reason(STRONG, mention).startswith("Compost mentions “sourdough starter” without a link")


def test_reasons_of_drops_say_what_is_missing() -> None:
    def reason(features: PairFeatures, common: Common) -> str:
        (verdict,) = judge_pairs(JUDGE, [judged(features, common)])
        assert isinstance(verdict, Drop)
        return verdict.reason

    assert "“feeding”" in reason(WEAK, COMMON)
    assert "far apart in meaning" in reason(WEAK, COMMON)
    assert reason(WEAK, NOTHING) == "have hardly a word in common"
    assert reason(replace(WEAK, same_folder=True), NOTHING) == "share a folder and hardly a word"
    assert "Fermentation" in reason(WEAK, replace(COMMON, words=()))


def test_the_background_makes_cosines_comparable() -> None:
    """A pair drawn from the background has z near 0; one that shares a direction beyond it is far out."""
    rng = np.random.default_rng(3)
    notes = rng.standard_normal((500, 64)).astype(np.float32) + 2.0  # all notes lean one way: raw cosines are high
    notes /= np.linalg.norm(notes, axis=1, keepdims=True)
    found = background(notes)
    z = found.z_scores(notes[:200], notes[200:400])
    assert abs(z.mean()) < 0.3
    assert 0.7 < z.std() < 1.3
    near = notes[:200] + 0.5 * notes[200:400]
    near /= np.linalg.norm(near, axis=1, keepdims=True)
    assert found.z_scores(near.astype(np.float32), notes[200:400]).mean() > 2


def test_the_background_of_few_or_no_notes_is_finite() -> None:
    rng = np.random.default_rng(3)
    vectors = rng.standard_normal((3, 16)).astype(np.float32)
    for count in range(4):
        z = background(vectors[:count]).z_scores(vectors, vectors[::-1])
        assert np.isfinite(z).all()
    unknown = np.zeros_like(vectors)
    assert np.isnan(background(vectors).z_scores(unknown, vectors)).all()


def test_the_sample_hardly_changes_with_the_vault() -> None:
    keys = [hashlib.sha256(str(number).encode()).digest() for number in range(3 * BACKGROUND_NOTES)]
    before = {keys[i] for i in background_sample(keys)}
    assert len(before) == BACKGROUND_NOTES
    fewer, more = keys[1:], [hashlib.sha256(b"new").digest(), *keys]
    assert len(before & {fewer[i] for i in background_sample(fewer)}) >= BACKGROUND_NOTES - 1
    assert len(before & {more[i] for i in background_sample(more)}) >= BACKGROUND_NOTES - 1
    assert background_sample([b"b", b"a"]) == [1, 0]
