"""What the judge is calibrated on: hidden links among what L0 offers."""

from __future__ import annotations

from array import array
from typing import TYPE_CHECKING

import numpy as np

from aria_dream.judging import pool as pool_module
from aria_dream.judging.calibration import probabilities
from aria_dream.judging.judge import FEATURES, feature_matrix
from aria_dream.judging.pool import NoteSizes, learn_calibration, pool_of
from aria_dream.ranking.meaning import Meanings, background
from aria_dream.ranking.rank import Ranking, RankNote
from aria_dream.ranking.terms import note_terms
from aria_dream.vault.graph import LinkGraph

if TYPE_CHECKING:
    import pytest

TOPICS = ("bread starter flour yeast oven", "tide harbour moon ebb buoy", "clock pendulum gear spring escapement")


def vault(links: bool = True) -> tuple[Ranking, Meanings, NoteSizes]:
    """Sixty notes on three topics; each links to the next three of its topic."""
    paths = tuple(f"{number % 3}/note {number:02}.md" for number in range(60))
    texts = [f"{TOPICS[number % 3]} word{number} word{number // 3}" for number in range(60)]
    offsets, targets = array("i", [0]), array("i")
    for number in range(60):
        if links:
            targets.extend(to for to in (number + 3, number + 6, number + 9) if to < 60)
        offsets.append(len(targets))
    graph = LinkGraph(paths=paths, offsets=offsets, targets=targets)
    ranking = Ranking.build(graph, [RankNote(path=path) for path in paths], [note_terms(text) for text in texts])
    sizes = NoteSizes([len(text.split()) for text in texts], [path.rpartition("/")[0] for path in paths])
    return ranking, by_topic(), sizes


def by_topic() -> Meanings:
    """Vectors that lean towards the topic of their note; one passage each."""
    rng = np.random.default_rng(4)
    vectors = (0.3 * rng.standard_normal((60, 16))).astype(np.float32)
    vectors[np.arange(60), np.arange(60) % 3] += 1.0
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    return Meanings(vectors.astype(np.float16), background(vectors), lambda rows: [vectors[[row]] for row in rows])


def test_the_pool_is_what_l0_offers_and_never_a_drawn_link() -> None:
    ranking, meanings, sizes = vault()
    found = pool_of(ranking, meanings, sizes, notes=[0, 7], per_note=5)
    assert found.first.tolist() == [0] * 5 + [7] * 5
    drawn = {tuple(pair) for pair in ranking.linked_pairs().tolist()}
    for a, b, features in zip(found.first.tolist(), found.second.tolist(), found.features, strict=True):
        assert (min(a, b), max(a, b)) not in drawn
        near = meanings.background.z_scores(meanings.of([a]), meanings.of([b]))[0]
        assert features.nearness is not None
        assert abs(features.nearness - near) < 1e-5
        assert features.folder_notes == (20 if a % 3 == b % 3 else 0)


def test_the_vaults_own_links_are_learned_from_and_the_same_vault_teaches_the_same() -> None:
    ranking, meanings, sizes = vault()
    before = ranking.linked_pairs().copy()
    learned = learn_calibration(ranking, meanings, sizes)
    assert learned.links > 0
    assert learned == learn_calibration(*vault())
    assert np.array_equal(ranking.linked_pairs(), before)


def test_a_vault_without_links_is_still_measured() -> None:
    ranking, meanings, sizes = vault(links=False)
    learned = learn_calibration(ranking, meanings, sizes)
    assert learned.links == 0
    assert learned.means[FEATURES.index("words")] < 2.3  # what its pairs are like, not what the prior says


def test_a_large_vault_is_sampled_and_learns_nearly_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    ranking, meanings, sizes = vault()
    every = learn_calibration(ranking, meanings, sizes)
    monkeypatch.setattr(pool_module, "MOST_CELLS", 2 * 60 * 30)  # thirty of the sixty notes are asked each time
    some = learn_calibration(ranking, meanings, sizes)
    assert 0 < some.links < every.links
    np.testing.assert_allclose(some.means, every.means, atol=0.6)


def test_rejecting_five_pairs_of_a_folder_lowers_the_sixth() -> None:
    """Decisions about pairs in one folder; a pair across folders is judged as before, or a little better."""
    ranking, meanings, sizes = vault()
    before = learn_calibration(ranking, meanings, sizes)
    offered = pool_of(ranking, meanings, sizes, per_note=40).features
    likely = probabilities(before, feature_matrix(offered))
    kept = [features for features, chance in zip(offered, likely, strict=True) if chance >= 0.5]
    inside = [features for features in kept if features.same_folder]  # only kept pairs are ever shown to the writer
    across = [features for features in offered if not features.same_folder]
    after = learn_calibration(ranking, meanings, sizes, [(features, False) for features in inside[:5]])
    assert after.decisions == 5
    asked = feature_matrix([inside[5], across[0]])
    assert probabilities(after, asked)[0] < probabilities(before, asked)[0] - 0.05
    assert probabilities(after, asked)[1] > probabilities(before, asked)[1] - 0.05
