"""Near pairs by two signals."""

from __future__ import annotations

import numpy as np
import pytest

from aria_dream.consolidate.near import (
    MOST_NEAR,
    SKETCH_WORDS,
    NearRow,
    is_near,
    near_by_meaning,
    near_by_words,
    overlap_of,
    ranked,
    same_words,
    sketch_of,
    verdict_key,
)


def unit(rows: int, dim: int = 32, seed: int = 1) -> np.ndarray[tuple[int, int], np.dtype[np.float32]]:
    vectors = np.random.default_rng(seed).normal(size=(rows, dim)).astype(np.float32)
    return np.asarray(vectors / np.linalg.norm(vectors, axis=1, keepdims=True), np.float32)


def test_every_near_pair_is_found_once_across_blocks() -> None:
    vectors = unit(9_000)
    planted = [(3, 8_999), (0, 1), (1_023, 1_024), (5_000, 8_192)]
    for first, second in planted:
        vectors[second] = vectors[first]
    vectors[77] = 0.0
    found = near_by_meaning(vectors, 0.999)
    assert sorted((first, second) for first, second, _ in found) == sorted(planted)
    assert all(cosine == pytest.approx(1.0, abs=1e-4) for _, _, cosine in found)


def test_a_crowd_is_bounded() -> None:
    vectors = np.repeat(unit(1), 500, axis=0)
    found = near_by_meaning(vectors, 0.9)
    assert len(found) <= 500 * MOST_NEAR
    rows = ranked([NearRow(first, second, cosine, 0.5) for first, second, cosine in found])
    taken = np.bincount([row for pair in rows for row in (pair.first, pair.second)])
    assert taken.max() <= MOST_NEAR


def test_it_can_be_left_between_blocks() -> None:
    class Left(Exception):  # noqa: N818  # as the leave protocol raises
        pass

    blocks = []

    def permit() -> None:
        blocks.append(1)
        if len(blocks) == 3:
            raise Left

    with pytest.raises(Left):
        near_by_meaning(unit(4_000), 0.9, permit=permit)


def test_overlap_is_the_share_of_words() -> None:
    first = sketch_of("the lighthouse keepers left the island")
    assert overlap_of(first, first) == 1.0
    assert overlap_of(first, sketch_of("sourdough wants warmth")) == 0.0
    assert overlap_of(first, sketch_of("the keepers left home")) == pytest.approx(3 / 6)
    assert overlap_of(first, sketch_of("")) == 0.0


def test_a_sketch_estimates_the_whole() -> None:
    words = [f"word{n}" for n in range(3_000)]
    first, second = sketch_of(" ".join(words[:2_000])), sketch_of(" ".join(words[1_000:]))
    assert len(first) == SKETCH_WORDS
    assert overlap_of(first, second) == pytest.approx(1 / 3, abs=0.12)


def test_scripts_without_spaces_have_words() -> None:
    first, second = sketch_of("煎 茶 は 熱 い"), sketch_of("煎 茶 は 冷 た い")
    assert 0.1 < overlap_of(first, second) < 0.9


def test_rare_words_bring_sections_together() -> None:
    common = " ".join(f"common{n}" for n in range(30))
    texts = [f"{common} " + " ".join(f"rare{row}x{n}" for n in range(30)) for row in range(300)]
    texts[200] = texts[7] + " more"
    sketches = [sketch_of(text) for text in texts]
    assert near_by_words(sketches, range(300)) == [(7, 200)]
    assert near_by_words(sketches, [7, 8]) in ([], [(7, 8)])
    assert near_by_words(sketches, []) == []


def test_copies_are_a_star_not_a_crowd() -> None:
    assert same_words(["a", "b", "a", "a", "c", "b"]) == [(0, 2), (0, 3), (1, 5)]
    stars = [NearRow(0, row, 1.0, 1.0) for row in range(1, 100)]
    assert len(ranked(stars)) == 99


def test_ranks_put_the_nearest_first() -> None:
    rows = [NearRow(0, 1, 0.91, 0.4), NearRow(2, 3, 0.99, 0.9), NearRow(0, 1, 0.91, 0.6)]
    assert ranked(rows) == [NearRow(2, 3, 0.99, 0.9), NearRow(0, 1, 0.91, 0.6)]


def test_a_verdict_is_remembered_by_both() -> None:
    one, other = ("a", "1"), ("b", "2")
    assert verdict_key(one, other) == verdict_key(other, one)
    assert verdict_key(one, other) != verdict_key(one, ("b", "3"))


@pytest.mark.parametrize(
    ("cosine", "overlap", "least", "near"),
    [
        (0.80, 0.12, 0.8, True),
        (0.79, 0.49, 0.8, False),
        (0.71, 0.50, 0.8, True),
        (0.69, 0.90, 0.8, False),
        (0.95, 0.11, 0.8, False),
        (0.99, 0.99, 1.0, False),
        (0.50, 1.00, 1.0, True),
    ],
)
def test_two_signals_make_a_pair(cosine: float, overlap: float, least: float, *, near: bool) -> None:
    assert is_near(NearRow(0, 1, cosine, overlap), least, 0.12) == near


def test_where_no_two_share_a_word_there_is_no_pair() -> None:
    """A newcomer's first night: one passage, none, two scripts, words that all or only one of them have."""
    for texts in (
        [],
        ["rain fell over the harbour all day"],
        ["rain fell over the harbour", "der kessel steht im keller"],
        ["rain fell over the harbour", "雨 が 港 に 降 っ た"],
        ["", ""],
        ["and the or", ""],
    ):
        sketches = [sketch_of(text) for text in texts]
        assert near_by_words(sketches, range(len(sketches))) == []
