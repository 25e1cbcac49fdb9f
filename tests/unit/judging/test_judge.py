"""The verdicts of the built-in judge on made-up pairs: what keeps one, what drops it, and what is said of it."""

from __future__ import annotations

from dataclasses import replace

import pytest

from aria_dream.judging.common_ground import Between, Common
from aria_dream.judging.judge import BY_QUOTES, KEPT_FROM, JudgedPair, judge_pairs, says_the_same
from aria_dream.judging.triage_prompt import Drop, Keep
from aria_dream.judging.worth import FEATURES, WorthModel, evidence_kept, features_kept, learn_worth, worth_features
from aria_dream.ranking.juxtaposition import Evidence, Juxtaposition, Resonance

QUOTES = (
    "a third of the old heap stays behind in the corner, and it starts the next one within a few warm days of spring",
    "keep two spoons of the starter back, for they are the next loaf, and the one after that as well, year after year",
)
NEAR = Resonance(quotes=QUOTES, cosine=0.75, telling=0.4, whole=0.6, rank=12)
AWAY = Resonance(quotes=QUOTES, cosine=0.2, telling=-0.2, whole=0.2, rank=90)
FOUND = Juxtaposition(
    from_="Compost.md",
    to="Sourdough starter.md",
    score=0.01,
    path=None,
    evidence=(Evidence(name="text", value=3.0), Evidence(name="background", value=-7.6)),
)
COMMON = Common(
    words=("feeding", "culture", "schedule", "jar"),
    mention=None,
    between=None,
    twins=0.0,
    overlap=0.1,
    length=120,
    one_language=True,
)
WORTH = WorthModel()


def judged(resonance: Resonance | None, common: Common = COMMON, cosine: float | None = 0.4) -> JudgedPair:
    return JudgedPair(
        found=replace(FOUND, resonance=resonance), common=common, words=(300, 400), cosine=cosine
    )


def reason(resonance: Resonance | None, common: Common = COMMON) -> str:
    (verdict,) = judge_pairs(WORTH, [judged(resonance, common)])
    return verdict.reason


def test_passages_that_answer_each_other_are_kept_and_others_dropped() -> None:
    near, away, none = verdicts = judge_pairs(WORTH, [judged(NEAR), judged(AWAY), judged(None)])
    assert isinstance(near, Keep)
    assert isinstance(away, Drop)
    assert isinstance(none, Drop)
    chances = [verdict.probability for verdict in verdicts]
    assert all(chance is not None and 0 <= chance <= 1 for chance in chances)
    assert near.probability is not None
    assert near.probability >= KEPT_FROM
    assert judge_pairs(WORTH, [judged(NEAR), judged(AWAY), judged(None)]) == verdicts
    assert judge_pairs(WORTH, []) == ()


@pytest.mark.parametrize("name", ["cosine", "telling", "whole"])
def test_each_figure_speaks_for_a_pair(name: str) -> None:
    better = replace(AWAY, **{name: getattr(NEAR, name)})
    low, high = judge_pairs(WORTH, [judged(AWAY), judged(better)])
    assert low.probability is not None
    assert high.probability is not None
    assert low.probability < high.probability


def test_what_a_proposal_keeps_gives_the_features_back() -> None:
    for resonance in (NEAR, None):
        found = replace(FOUND, resonance=resonance)
        features = worth_features(found)
        assert len(features) == len(FEATURES)
        assert features_kept(evidence_kept(found), found.score) == pytest.approx(features)


def test_decisions_move_the_kind_they_are_about_and_no_other() -> None:
    near, away = worth_features(replace(FOUND, resonance=NEAR)), worth_features(replace(FOUND, resonance=AWAY))
    assert learn_worth([], []) == WORTH
    refused = learn_worth([near] * 6, [False] * 6)
    assert refused.log_odds(near) < WORTH.log_odds(near) - 0.5
    assert abs(refused.log_odds(away) - WORTH.log_odds(away)) < WORTH.log_odds(near) - refused.log_odds(near)
    liked = learn_worth([near] * 6, [True] * 6)
    assert liked.log_odds(near) > WORTH.log_odds(near)
    assert learn_worth([near] * 6, [True] * 6) == liked


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
    pair = judged(NEAR, common, cosine)
    assert says_the_same(pair)
    (verdict,) = judge_pairs(WORTH, [pair])
    assert isinstance(verdict, Drop)
    assert "consolidation" in verdict.reason
    (shown,) = judge_pairs(WORTH, [replace(judged(AWAY, common, cosine), merges=False)])
    assert isinstance(shown, Keep)
    assert "word for word" in shown.reason if common.twins else "say nearly the same" in shown.reason


def test_a_note_that_names_the_other_or_is_far_longer_is_hardly_its_rewording() -> None:
    alike = replace(COMMON, overlap=0.6, length=400)
    assert says_the_same(judged(NEAR, alike, 0.72))
    assert not says_the_same(judged(NEAR, replace(alike, mention=("Compost", "starter")), 0.72))
    assert says_the_same(judged(NEAR, replace(alike, mention=("Compost", "starter")), 0.9))
    assert not says_the_same(replace(judged(NEAR, alike, 0.72), words=(30, 400)))
    assert says_the_same(replace(judged(NEAR, replace(alike, twins=0.9), 0.72), words=(30, 400)))  # an excerpt


def test_notes_no_nearer_than_those_the_writer_links_are_held_apart() -> None:
    pair = judged(NEAR, replace(COMMON, overlap=0.6, length=400), 0.75)
    assert says_the_same(replace(pair, apart_below=0.7))
    assert not says_the_same(replace(pair, apart_below=0.8))


def test_two_stubs_are_no_duplicates() -> None:
    assert not says_the_same(judged(NEAR, replace(COMMON, twins=1.0, overlap=1.0, length=5), 0.99))


def test_a_reason_says_what_the_passages_do_not_show() -> None:
    assert reason(NEAR) == BY_QUOTES
    mentioned = replace(COMMON, mention=("Compost", "starter"))
    assert reason(NEAR, mentioned) == "Compost mentions “starter” without a link"
    between = replace(mentioned, between=Between("Fermentation", from_first=True, from_second=True))
    assert reason(NEAR, between) == "Compost mentions “starter” without a link, and both lead to Fermentation"
    tagged = replace(COMMON, tags=("culture",), missing="Yeast")
    assert reason(NEAR, tagged) == "both link to Yeast, which is not written yet, and both are tagged #culture"


def test_a_drop_says_what_is_missing() -> None:
    assert reason(None, replace(COMMON, words=())) == "have no passage that answers one of the other"
    assert reason(AWAY) == "share “feeding” and “culture”, and have no two passages nearer than 0.20"
    mentioned = replace(COMMON, mention=("Compost", "starter"))
    assert reason(AWAY, mentioned).endswith("but little else speaks for a link")
