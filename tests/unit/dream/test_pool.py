"""What the judge is calibrated on: hidden links among what L0 offers."""

from __future__ import annotations

from array import array
from typing import TYPE_CHECKING

import numpy as np

from aria_dream.dream import pool as pool_module
from aria_dream.dream.calibration import probabilities
from aria_dream.dream.judge import FEATURES, feature_matrix
from aria_dream.dream.pool import learn_calibration, pool_of
from aria_dream.dream.rank import Ranking, RankNote
from aria_dream.dream.terms import note_terms
from aria_dream.vault.graph import LinkGraph

if TYPE_CHECKING:
    import pytest
    from numpy.typing import NDArray

    from aria_dream.dream.pool import Nearness

TOPICS = ("bread starter flour yeast oven", "tide harbour moon ebb buoy", "clock pendulum gear spring escapement")


def vault(links: bool = True) -> tuple[Ranking, list[int], list[str]]:
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
    return ranking, [len(text.split()) for text in texts], [path.rpartition("/")[0] for path in paths]


def by_topic(first: NDArray[np.int64], second: NDArray[np.int64]) -> NDArray[np.float64]:
    return np.asarray(np.where(first % 3 == second % 3, 3.0, 0.0) + 0.01 * (first + second))


def test_the_pool_is_what_l0_offers_and_never_a_drawn_link() -> None:
    ranking, words, folders = vault()
    found = pool_of(ranking, by_topic, words, folders, notes=[0, 7], per_note=5)
    assert found.first.tolist() == [0] * 5 + [7] * 5
    drawn = {tuple(pair) for pair in ranking.linked_pairs().tolist()}
    for a, b, features in zip(found.first.tolist(), found.second.tolist(), found.features, strict=True):
        assert (min(a, b), max(a, b)) not in drawn
        assert features.nearness == by_topic(np.array([a]), np.array([b]))[0]
        assert features.same_folder == (a % 3 == b % 3)


def test_the_vaults_own_links_are_learned_from_and_the_same_vault_teaches_the_same() -> None:
    ranking, words, folders = vault()
    before = ranking.linked_pairs().copy()
    learned = learn_calibration(ranking, by_topic, words, folders)
    assert learned.links > 0
    assert learned == learn_calibration(*_again())
    assert np.array_equal(ranking.linked_pairs(), before)


def _again() -> tuple[Ranking, Nearness, list[int], list[str]]:
    ranking, words, folders = vault()
    return ranking, by_topic, words, folders


def test_a_vault_without_links_is_still_measured() -> None:
    ranking, words, folders = vault(links=False)
    learned = learn_calibration(ranking, by_topic, words, folders)
    assert learned.links == 0
    assert learned.means[FEATURES.index("nearness")] > 2  # what its pairs are like, not what the prior says


def test_a_large_vault_is_sampled_and_learns_nearly_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    ranking, words, folders = vault()
    every = learn_calibration(ranking, by_topic, words, folders)
    monkeypatch.setattr(pool_module, "MOST_CELLS", 2 * 60 * 30)  # thirty of the sixty notes are asked each time
    some = learn_calibration(ranking, by_topic, words, folders)
    assert 0 < some.links < every.links
    np.testing.assert_allclose(some.means, every.means, atol=0.6)


def test_rejecting_five_pairs_of_a_folder_lowers_the_sixth() -> None:
    """Decisions about pairs in one folder; a pair across folders is judged as before, or a little better."""
    ranking, words, folders = vault()
    before = learn_calibration(ranking, by_topic, words, folders)
    offered = pool_of(ranking, by_topic, words, folders, per_note=40).features
    likely = probabilities(before, feature_matrix(offered))
    kept = [features for features, chance in zip(offered, likely, strict=True) if chance >= 0.5]
    inside = [features for features in kept if features.same_folder]  # only kept pairs are ever shown to the writer
    across = [features for features in offered if not features.same_folder]
    after = learn_calibration(ranking, by_topic, words, folders, [(features, False) for features in inside[:5]])
    assert after.decisions == 5
    asked = feature_matrix([inside[5], across[0]])
    assert probabilities(after, asked)[0] < probabilities(before, asked)[0] - 0.05
    assert probabilities(after, asked)[1] > probabilities(before, asked)[1] - 0.05
