"""What sentence embeddings say of pairs, on vectors made for it."""

from __future__ import annotations

import numpy as np

from aria_dream.ranking.meaning import background


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
