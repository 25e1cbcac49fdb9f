"""What the judge learns from the vault's links and from the writer's decisions."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from aria_dream.judging.calibration import (
    RECALL,
    Calibration,
    Prior,
    calibrate,
    contributions,
    parse_calibration,
    probabilities,
    render_calibration,
    scores,
)
from aria_dream.judging.judge import FEATURES, PRIOR

if TYPE_CHECKING:
    from numpy.typing import NDArray

FLAT = Prior(
    weights=(0.5, 0.5), strengths=(1.0, 1.0), means=(0.0, 0.0), scales=(1.0, 1.0), scores=(-1.0, 0.0, 1.0)
)


def pool(linked: int, others: int, *, telling: int, seed: int = 5) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
    """Pairs of which the linked ones are 1.5 standard deviations higher in the `telling` feature and in no other."""
    rng = np.random.default_rng(seed)
    rows = rng.standard_normal((linked + others, 2))
    rows[:linked, telling] += 1.5
    return rows, np.arange(linked + others) < linked


def test_the_vaults_own_links_teach_which_feature_tells() -> None:
    for telling in (0, 1):
        learned = calibrate(FLAT, *pool(100, 900, telling=telling))
        assert learned.weights[telling] > 1.0 > 0.35 > abs(learned.weights[1 - telling])
        assert learned.links == 100


def test_few_links_leave_the_prior_nearly_as_it_is() -> None:
    learned = calibrate(FLAT, *pool(1, 99, telling=0))
    np.testing.assert_allclose(learned.weights, FLAT.weights, atol=0.25)


def test_the_threshold_keeps_the_promised_share_of_links_it_never_saw() -> None:
    learned = calibrate(FLAT, *pool(400, 4000, telling=0))
    unseen, linked = pool(400, 4000, telling=0, seed=6)
    kept = probabilities(learned, unseen) >= 0.5
    assert 0.80 <= kept[linked].mean() <= RECALL + 0.06
    assert kept[linked].mean() > 2 * kept[~linked].mean()


def test_a_pair_seen_from_both_sides_counts_once_with_its_better_side() -> None:
    rows, linked = pool(200, 2000, telling=0)
    from_both = np.concatenate([rows, rows - 3.0])  # the other side sees each pair as much worse
    pairs = np.tile(np.arange(len(rows)), 2)
    alone = calibrate(FLAT, from_both, np.tile(linked, 2))
    together = calibrate(FLAT, from_both, np.tile(linked, 2), pairs=pairs)
    assert together.weights == alone.weights
    assert together.threshold > alone.threshold + 0.2


def test_an_empty_vault_gives_the_prior() -> None:
    learned = calibrate(FLAT, np.zeros((0, 2)), [])
    assert (learned.means, learned.scales, learned.weights) == (FLAT.means, FLAT.scales, FLAT.weights)
    assert (learned.links, learned.decisions) == (0, 0)


def test_links_of_one_kind_only_are_no_error() -> None:
    rows, _ = pool(5, 5, telling=0)
    for answers in ([True] * 10, [False] * 10):
        learned = calibrate(FLAT, rows, answers)
        assert np.isfinite(learned.weights).all()
        assert np.isfinite(learned.threshold)


def test_unknown_features_count_as_average() -> None:
    rows, linked = pool(50, 500, telling=0)
    rows[::3, 1] = np.nan
    learned = calibrate(FLAT, rows, linked)
    assert np.isfinite([*learned.weights, *learned.means, *learned.scales, learned.threshold]).all()
    asked = np.array([[0.3, np.nan], [0.3, learned.means[1]]])
    first, second = probabilities(learned, asked)
    assert first == pytest.approx(second)


@pytest.mark.parametrize("kind", [0, 1])
def test_rejecting_five_pairs_of_a_kind_lowers_that_kind(kind: int) -> None:
    """A kind is what a feature says; four pairs of the other kind were approved, and stay."""
    rows, linked = pool(100, 900, telling=0)
    of_kind, of_other = np.zeros((1, 2)), np.zeros((1, 2))
    of_kind[0, kind], of_other[0, 1 - kind] = 2.0, 2.0
    before = calibrate(FLAT, rows, linked)
    after = calibrate(FLAT, rows, linked, decided=np.repeat(of_kind, 5, axis=0), approved=[False] * 5)
    assert after.decisions == 5
    assert scores(after, of_kind)[0] < scores(before, of_kind)[0] - 0.3
    assert probabilities(after, of_kind)[0] < probabilities(before, of_kind)[0] - 0.03
    assert abs(scores(after, of_other)[0] - scores(before, of_other)[0]) < 0.3


def test_approving_raises() -> None:
    rows, linked = pool(100, 900, telling=0)
    asked = np.array([[-1.0, 2.0]])
    before = calibrate(FLAT, rows, linked)
    after = calibrate(FLAT, rows, linked, decided=np.repeat(asked, 5, axis=0), approved=[True] * 5)
    assert probabilities(after, asked)[0] > probabilities(before, asked)[0]


def test_a_pinned_weight_stays() -> None:
    pinned = Prior(
        weights=(0.25, 0.5), strengths=(1e6, 1.0), means=(0.0, 0.0), scales=(1.0, 1.0), scores=FLAT.scores
    )
    assert calibrate(pinned, *pool(300, 900, telling=0)).weights[0] == pytest.approx(0.25, abs=0.01)


def test_contributions_add_up_to_the_score() -> None:
    learned = calibrate(FLAT, *pool(100, 900, telling=1))
    asked = np.array([[0.5, -1.0], [2.0, 1.0]])
    np.testing.assert_allclose(contributions(learned, asked).sum(axis=1), scores(learned, asked))


def test_the_order_of_the_pool_hardly_matters_and_its_content_decides() -> None:
    rows, linked = pool(60, 600, telling=0)
    assert calibrate(FLAT, rows, linked) == calibrate(FLAT, rows.copy(), linked.copy())
    turned = calibrate(FLAT, rows[::-1], linked[::-1])
    np.testing.assert_allclose(turned.weights, calibrate(FLAT, rows, linked).weights, atol=1e-4)


def test_the_shipped_prior_has_an_entry_for_every_feature() -> None:
    for entries in (PRIOR.weights, PRIOR.strengths, PRIOR.means, PRIOR.scales):
        assert len(entries) == len(FEATURES)
    assert min(PRIOR.scales) > 0


numbers = st.floats(-1e6, 1e6)


@given(st.tuples(numbers, numbers), st.tuples(st.floats(0.1, 9), st.floats(0.1, 9)), numbers, st.integers(0, 99))
def test_render_and_parse_are_inverse(
    row: tuple[float, float], scales: tuple[float, float], threshold: float, links: int
) -> None:
    value = Calibration(means=row, scales=scales, weights=row, threshold=threshold, links=links, decisions=links)
    assert parse_calibration(render_calibration(value), 2) == value
    assert parse_calibration(render_calibration(value), 3) is None


@pytest.mark.parametrize(
    "blob",
    [b"", b"{", b"[]", b"null", b"\xff", b'{"means": 3}', b'{"means": ["x"]}',
     b'{"means":[0],"scales":[0],"weights":[1],"threshold":0,"links":0,"decisions":0}',
     b'{"means":[NaN],"scales":[1],"weights":[1],"threshold":0,"links":0,"decisions":0}'],
)  # fmt: skip
def test_anything_else_is_no_calibration(blob: bytes) -> None:
    assert parse_calibration(blob, 1) is None
