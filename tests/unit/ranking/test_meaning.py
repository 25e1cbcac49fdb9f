"""What sentence embeddings say of pairs, on vectors made for it."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

import numpy as np
import pytest

from aria_dream.ranking.meaning import (
    BACKGROUND_NOTES,
    Meanings,
    background,
    background_sample,
    parse_background,
    render_background,
)
from aria_dream.ranking.sparse import Structure, structure_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

DIM = 32


def unit(rows: NDArray[np.float64]) -> NDArray[np.float32]:
    return np.asarray(rows / np.linalg.norm(rows, axis=1, keepdims=True), np.float32)


def meanings() -> Meanings:
    """Forty notes on four subjects (number modulo 4), two passages each: note 5's second passage is of note 6's
    subject; note 39 has no vector."""
    rng = np.random.default_rng(2)
    subjects = rng.standard_normal((4, DIM))
    vectors = unit(np.stack([subjects[at % 4] + 0.4 * rng.standard_normal(DIM) for at in range(40)]))
    parts = [unit(np.stack([vectors[at].astype(np.float64)] * 3)) for at in range(40)]
    parts[5][2] = vectors[6]
    vectors[39] = 0.0
    parts[39] = np.zeros((0, DIM), np.float32)
    usual = background(vectors)
    return Meanings(vectors.astype(np.float16), usual, lambda rows: [parts[row] for row in rows])


def chain() -> Structure:
    """Every note from 8 on is linked with the note after the next four: its own subject. 8 is linked with 1 too."""
    first = [*range(8, 35), 8]
    return structure_of(40, first, [*(at + 4 for at in range(8, 35)), 1])


def test_nearness_is_high_within_a_subject() -> None:
    told = meanings().likeness(chain(), np.array([8, 8]), np.array([16, 17]))
    assert told.nearness[0] > 1.0 > 0.3 > told.nearness[1]


def test_one_passage_of_a_subject_is_enough_for_nearness_of_passages() -> None:
    near, far = meanings().likeness(chain(), np.array([5, 4]), np.array([6, 6])).passages
    assert near > far + 1.0


def test_kinship_is_measured_against_the_notes_own_links() -> None:
    """16 is linked within its subject, so another of it is about as near; 2 and 3 have no links: nothing is known."""
    told = meanings().likeness(chain(), np.array([16, 16, 2]), np.array([24, 17, 3])).kinship
    assert abs(told[0]) < 1.0
    assert told[1] < -1.0
    assert np.isnan(told[2])


def test_analogy_asks_the_notes_most_like_the_first() -> None:
    """4 is like 8, and 8 is linked with 1."""
    told = meanings().likeness(chain(), np.array([4, 4, 6]), np.array([1, 3, 1]))
    assert told.analogy[0] > 0.05
    assert told.akin.tolist() == [8, -1, -1]
    assert told.analogy[1:].tolist() == [0.0, 0.0]


def test_without_a_vector_nothing_is_known() -> None:
    told = meanings().likeness(chain(), np.array([39, 8]), np.array([8, 39]))
    assert np.isnan(told.nearness).all()
    assert np.isnan(told.passages).all()
    assert np.isnan(told.kinship).all()
    assert np.isnan(told.analogy[0])
    assert told.akin.tolist() == [-1, -1]


def test_a_pair_is_measured_alike_alone_and_among_others() -> None:
    first, second = np.repeat(np.arange(8, 38), 3), np.tile(np.arange(3), 30)
    together = meanings().likeness(chain(), first, second)
    alone = meanings().likeness(chain(), first[40:41], second[40:41])
    for name in ("nearness", "passages", "kinship", "analogy"):
        assert getattr(alone, name)[0] == pytest.approx(getattr(together, name)[40], abs=1e-4)
    assert not len(meanings().likeness(chain(), first[:0], second[:0]).analogy)


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
