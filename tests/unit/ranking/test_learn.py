"""Weights that a vault teaches."""

from __future__ import annotations

import json

import numpy as np
import pytest

from aria_dream.ranking.features import FEATURES, FeatureBlock
from aria_dream.ranking.learn import Sample, Weights, _regress, fit_weights, prior_weights, ranking_losses
from aria_dream.ranking.notespace import NoteSpace, RankNote
from aria_dream.ranking.sparse import Structure, structure_of
from aria_dream.ranking.terms import note_terms

HUBS = 4
SIZE = 60


def hub_vault() -> tuple[NoteSpace, Structure]:
    """Notes whose words say nothing; each links to two of four hubs."""
    draw = np.random.Generator(np.random.PCG64(3))
    vocabulary = [f"word{number}" for number in range(40)]
    texts = [" ".join(draw.choice(vocabulary, 15).tolist()) for _ in range(SIZE)]
    notes = [RankNote(path=f"n{number:02}.md") for number in range(SIZE)]
    links = [(note, int(hub)) for note in range(HUBS, SIZE) for hub in draw.permutation(HUBS)[:2]]
    return (
        NoteSpace(notes, [note_terms(text) for text in texts]),
        structure_of(SIZE, [a for a, _ in links], [b for _, b in links]),
    )


def text_vault() -> tuple[NoteSpace, Structure]:
    """Notes of twelve themes; links stay within a theme, popularity says nothing."""
    draw = np.random.Generator(np.random.PCG64(4))
    texts, links = [], []
    for note in range(SIZE):
        theme = note % 12
        texts.append(" ".join(draw.choice([f"t{theme}w{word}" for word in range(8)], 6).tolist()))
        links.append((note, (note + 12) % SIZE))
    notes = [RankNote(path=f"n{number:02}.md") for number in range(SIZE)]
    return (
        NoteSpace(notes, [note_terms(text) for text in texts]),
        structure_of(SIZE, [a for a, _ in links], [b for _, b in links]),
    )


def weight(weights: Weights, name: str) -> float:
    return weights.values[FEATURES.index(name)]


def test_a_vault_of_hubs_teaches_popularity_and_a_vault_of_themes_text() -> None:
    hubs, themes, prior = fit_weights(*hub_vault()), fit_weights(*text_vault()), prior_weights(SIZE)
    assert weight(hubs, "links_in") > weight(prior, "links_in") > weight(themes, "links_in")
    assert weight(themes, "text_rank") > weight(hubs, "text_rank")
    assert hubs.links > 0


def test_the_same_vault_teaches_the_same() -> None:
    assert fit_weights(*hub_vault()) == fit_weights(*hub_vault())


@pytest.mark.parametrize("links", [0, 1, 4])
def test_too_few_links_teach_nothing(links: int) -> None:
    space, _ = text_vault()
    assert fit_weights(space, structure_of(SIZE, range(links), range(30, 30 + links))) == prior_weights(SIZE)


def test_the_link_that_is_learned_from_cannot_be_seen() -> None:
    """With the link masked, a pair that is linked and one that is not look the same, word of the link included."""
    texts = ["See [[Bravo]] and more", "body of it", "See  and more", "body of it"]
    notes = [RankNote(path=path) for path in ("Alpha.md", "Bravo.md", "Candy.md", "Delta.md")]
    space = NoteSpace(notes, [note_terms(text) for text in texts])
    masked = structure_of(4, [0], [1]).without(np.array([[0, 1]]))
    block = FeatureBlock(space, masked, np.array([0, 2])).values
    unlike = [name for name, drawn, free in zip(FEATURES, block[:, 1, 0], block[:, 3, 1], strict=True) if drawn != free]
    # names of five letters each: nothing but those letters can differ
    assert set(unlike) <= {"title_shape"}
    assert block[FEATURES.index("title_words"), 1, 0] == block[FEATURES.index("title_words"), 3, 1]
    assert block[FEATURES.index("mention")].max() == 0


def test_regression_finds_the_weights_that_made_the_data_and_the_prior_holds_them() -> None:
    draw = np.random.Generator(np.random.PCG64(1))
    features = draw.normal(size=(20_000, 2))
    chance = 1 / (1 + np.exp(-(features @ np.array([1.5, -0.5]) - 1)))
    linked = (draw.random(20_000) < chance).astype(np.float64)
    groups = np.arange(20_000) // 100
    sample = Sample(features, linked, np.ones(20_000), groups, groups % 5)
    assert _regress(sample, np.zeros(2), 1.0) == pytest.approx([1.5, -0.5, -1.0], abs=0.1)
    assert _regress(sample, np.array([3.0, 3.0]), 1e9)[:2] == pytest.approx([3.0, 3.0], abs=1e-3)


def test_loss_is_lower_where_partners_stand_first() -> None:
    sample = Sample(
        np.array([[2.0], [0.0], [1.0]]),
        np.array([1.0, 0, 0]),
        np.array([1.0, 1, 5]),
        np.zeros(3, dtype=np.int64),
        np.zeros(3, dtype=np.int64),
    )
    expected = -np.log(np.exp(2) / (np.exp(2) + 1 + 5 * np.exp(1)))
    assert ranking_losses(sample, np.array([1.0])) == pytest.approx([expected])
    assert ranking_losses(sample, np.array([3.0]))[0] < expected


def test_json_and_back() -> None:
    for weights in (fit_weights(*hub_vault()), prior_weights(10)):
        assert Weights.from_json(json.loads(json.dumps(weights.to_json()))) == weights


@pytest.mark.parametrize(
    "change", [{"version": 0}, {"values": [1.0]}, {"values": None}, {"intercept": "x"}, {"links": None}]
)
def test_records_of_another_kind_are_refused(change: dict[str, object]) -> None:
    assert Weights.from_json({**prior_weights(10).to_json(), **change}) is None
