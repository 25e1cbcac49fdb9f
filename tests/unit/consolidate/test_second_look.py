"""Which pairs are looked at a second time, and what makes them near then."""

from __future__ import annotations

import numpy as np
import pytest

from aria_dream.consolidate.second_look import (
    LEAST_MARGIN,
    MOST_SENTENCES,
    NEIGHBOURS,
    alignment,
    floor_of,
    margin_of,
    sentences_of,
    standing_out,
)
from aria_dream.markdown.note import parse_note
from tests.unit.consolidate.test_near import unit


def mixed(rows: list[dict[int, float]], dim: int = 64) -> np.ndarray[tuple[int, int], np.dtype[np.float32]]:
    """Unit vectors of these directions."""
    found = np.zeros((len(rows), dim), np.float32)
    for at, row in enumerate(rows):
        for direction, share in row.items():
            found[at, direction] = share
    return np.asarray(found / np.linalg.norm(found, axis=1, keepdims=True), np.float32)


def test_a_pair_stands_out_only_where_nothing_else_is_as_near() -> None:
    """Two notes alone on their subject, and eight on another, each as near to each other as those two."""
    alone = [{0: 1.0, 1: 0.7}, {0: 1.0, 2: 0.7}]
    crowd = [{10: 1.0, 20 + at: 0.7} for at in range(8)]
    found = standing_out(mixed(alone + crowd), 0.6)
    assert [(first, second) for first, second, _ in found] == [(0, 1)]
    assert found[0][2] == pytest.approx(1 / 1.49, abs=1e-3)  # its others lie at right angles
    assert standing_out(mixed(alone + crowd), 0.7) == []  # they are no nearer than 0.67
    assert standing_out(mixed(alone), 0.6)[0][:2] == (0, 1)  # a vault of two notes
    assert standing_out(mixed(alone[:1]), 0.6) == standing_out(mixed([]), 0.6) == []


def test_every_pair_is_found_once_across_blocks() -> None:
    vectors = unit(1_100, dim=256)
    planted = [(3, 1_099), (0, 1), (255, 256), (40, 800)]
    for first, second in planted:
        mean = vectors[second] + 1.5 * vectors[first]
        vectors[second] = mean / np.linalg.norm(mean)
    vectors[77] = 0.0
    found = standing_out(vectors, 0.6)
    assert sorted((first, second) for first, second, _ in found) == sorted(planted)
    margins = [margin for *_, margin in found]
    assert margins == sorted(margins, reverse=True)
    rest = np.delete(vectors, [3, 1_099], axis=0)
    ours, theirs = rest @ vectors[3], rest @ vectors[1_099]
    told = {(first, second): margin for first, second, margin in found}
    assert told[3, 1_099] == pytest.approx(
        margin_of(float(vectors[3] @ vectors[1_099]), ours.tolist(), theirs.tolist()), abs=1e-4
    )


def test_it_can_be_left_between_blocks() -> None:
    left = [0]

    def permit() -> None:
        left[0] += 1

    standing_out(unit(600), 0.99, permit=permit)
    assert left[0] == 3


def test_the_margin_is_that_over_the_next_neighbours() -> None:
    assert margin_of(0.7, [], []) == 0.7
    assert margin_of(0.7, [0.5] * NEIGHBOURS + [0.0] * 90, [0.3] * 90) == pytest.approx(0.3)
    assert margin_of(0.7, [0.1, 0.6, 0.6, 0.6, 0.6, 0.6], [0.6] * 6) == pytest.approx(0.1)
    assert 0 < LEAST_MARGIN < 1


def test_how_far_the_second_look_goes_follows_the_threshold() -> None:
    assert floor_of(0.8) == pytest.approx(0.6)
    assert floor_of(1.0) == 1.0
    assert standing_out(np.repeat(unit(1), 2, axis=0), floor_of(1.0)) == []


def test_sentences_of_a_note() -> None:
    text = """---
tags: [x]
---
# Feeding the starter

It is fed *once* a week. No! It doubles in [[Time|about]] six hours: see `code` here.
- an item that says something
- [ ] and a box that does too

緑茶は熱湯で入れない。七十度まで冷ます。
"""
    assert sentences_of(parse_note(text)) == (
        "Feeding the starter",
        "It is fed once a week.",
        "It doubles in six hours: see here.",
        "an item that says something",
        "and a box that does too",
        "緑茶は熱湯で入れない。",
        "七十度まで冷ます。",
    )
    many = sentences_of(parse_note("This one sentence says it. " * 60 + "a" * 900))
    assert len(many) == MOST_SENTENCES
    assert sentences_of(parse_note("b" * 900)) == ("b" * 400,)


def test_what_both_say_word_for_word_is_no_evidence() -> None:
    """Two notes of one form: the lines of the form match, what was filled in does not."""
    form, ours, theirs = {0: 1.0}, {1: 1.0}, {2: 1.0}
    first, second = ("Why I read it", "A city of water."), ("Why I read it", "An island and a child.")
    assert alignment(first, second, mixed([form, ours]), mixed([form, theirs])) == pytest.approx(0.0, abs=1e-6)
    alike = mixed([form, {1: 1.0, 2: 1.0}])
    assert alignment(first, second, mixed([form, ours]), alike) == pytest.approx(0.7071, abs=1e-3)


def test_a_note_with_nothing_of_its_own_is_matched_whole() -> None:
    vectors = mixed([{0: 1.0}, {1: 1.0}])
    assert alignment(("One is said.", "Two is said."), ("One is said.",), vectors, vectors[:1]) == 1.0
    assert alignment((), ("One is said.",), vectors[:0], vectors[:1]) == 0.0


def test_a_longer_note_is_matched_both_ways() -> None:
    vectors = mixed([{0: 1.0}, {1: 1.0}, {2: 1.0}])
    found = alignment(("a b c",), ("d e f", "g h i", "j k l"), vectors[:1], vectors)
    assert found == pytest.approx((1.0 + 1 / 3) / 2, abs=1e-5)
