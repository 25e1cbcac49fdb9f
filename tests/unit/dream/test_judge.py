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
    pair_features,
    parse_background,
    render_background,
    says_the_same,
)
from aria_dream.dream.reason import Between, Common
from aria_dream.dream.triage import Drop, Keep

STRONG = PairFeatures(
    text=4.5, structure=1.6, rest=-4.5, nearness=4.0, mention=True, words=300, same_folder=True
)
WEAK = PairFeatures(
    text=1.0, structure=-0.5, rest=-8.0, nearness=0.2, mention=False, words=15, same_folder=False
)
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
    assert weak.probability is not None
    assert strong.probability is not None
    assert weak.probability < 0.5 <= strong.probability <= 1
    assert judge_pairs(JUDGE, [judged(STRONG), judged(WEAK, NOTHING)]) == (strong, weak)
    assert judge_pairs(JUDGE, []) == ()


@pytest.mark.parametrize("name", ["text", "structure", "rest", "nearness", "mention", "words"])
def test_each_sign_speaks_for_a_pair(name: str) -> None:
    better = replace(WEAK, **{name: getattr(STRONG, name)})
    low, high = judge_pairs(JUDGE, [judged(WEAK), judged(better)])
    assert low.probability is not None
    assert high.probability is not None
    assert low.probability < high.probability


def test_what_l0_said_is_taken_apart_and_put_together_again() -> None:
    terms = {"text": 2.0, "title": 0.5, "co-activation": 0.25, "folder": -0.125, "background": -6.0, "mention": 0.5}
    found = pair_features(sum(terms.values()), terms, nearness=None, words=9, same_folder=False)
    assert (found.text, found.structure, found.rest, found.mention) == (2.5, 0.25, -5.625, True)
    assert not pair_features(1.0, {}, nearness=None, words=9, same_folder=False).mention


def test_unknown_features_are_no_error() -> None:
    unknown = replace(STRONG, text=None, structure=None, rest=None, nearness=None)
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
    assert "nearer in meaning than most" in reason(replace(plain, nearness=2.0), NOTHING)
    assert reason(replace(plain, nearness=0.5), NOTHING) == "many small signs together speak for it"
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
    kept = background(vectors)
    again = parse_background(render_background(kept), 16)
    assert again is not None
    assert np.array_equal(again.centre, kept.centre)
    assert np.array_equal(again.spread, kept.spread)
    assert parse_background(render_background(kept)[:-1], 16) is None
    assert parse_background(b"\xff" * len(render_background(kept)), 16) is None
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
