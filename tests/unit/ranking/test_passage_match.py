"""Which passages are tellingly near, on vectors made for it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from aria_dream.ranking import passage_match
from aria_dream.ranking.passage_match import PassageSpace

if TYPE_CHECKING:
    from collections.abc import Sequence

    import pytest
    from numpy.typing import NDArray

DIM = 64


def unit(rows: NDArray[np.float64]) -> NDArray[np.float32]:
    return np.asarray(rows / np.linalg.norm(rows, axis=1, keepdims=True), np.float32)


def vault() -> list[NDArray[np.float32]]:
    """Sixty notes of three passages each that have little to do with one another, but: passage 1 of note 3 answers
    passage 2 of note 40; passage 0 of notes 10 to 14 is one text; note 50 has none; note 7's passage 2 is general: it
    is near all there is."""
    rng = np.random.default_rng(5)
    common = rng.standard_normal(DIM)
    notes = [unit(rng.standard_normal((3, DIM)) + 0.5 * common) for _ in range(60)]
    notes[40][2] = unit((notes[3][1] + 0.6 * unit(rng.standard_normal((1, DIM)))).astype(np.float64))[0]
    for row in range(10, 15):
        notes[row][0] = notes[10][0]
    notes[7][2] = unit(common[None, :])[0]
    notes[50] = np.zeros((0, DIM), np.float32)
    return notes


def space(notes: Sequence[NDArray[np.float32]]) -> PassageSpace:
    return PassageSpace(range(len(notes)), lambda rows: [notes[row] for row in rows])


def test_the_passage_that_answers_is_found_with_its_place() -> None:
    notes = vault()
    first = space(notes).matches([3])[3][0]
    assert (first.note, first.mine, first.other) == (40, 1, 2)
    assert first.telling > 0.3
    assert abs(first.cosine - float(notes[3][1] @ notes[40][2])) < 1e-5
    back = space(notes).matches([40])[40][0]
    assert (back.note, back.mine, back.other) == (3, 2, 1)


def test_a_general_passage_is_near_everything_and_tells_nothing() -> None:
    notes = vault()
    asking = range(20, 39)
    nearest = [
        max(match.cosine for match in space(notes).matches([at], {at: [7]})[at] if match.note == 7)
        >= max(match.cosine for match in space(notes).matches([at])[at] if match.note != 7)
        for at in asking
    ]
    most_telling = [space(notes).matches([at])[at][0].note == 7 for at in asking]
    assert sum(nearest) > 3 * sum(most_telling)


def test_copies_and_boilerplate_are_no_match() -> None:
    found = {match.note: match for match in space(vault()).matches([10])[10]}
    assert all(match.mine != 0 and match.cosine < 0.9 for match in found.values())
    assert 10 not in found


def test_a_note_without_passages_has_none_and_is_none() -> None:
    told = space(vault()).matches([50, 3])
    assert told[50] == []
    assert 50 not in {match.note for match in told[3]}
    assert PassageSpace([], lambda _rows: []).matches([]) == {}


def test_named_notes_are_weighed_however_far(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(passage_match, "MOST_LOOKED_AT", 2)
    notes = vault()
    far = {match.note for match in space(notes).matches([3])[3]}
    assert len(far) <= 2
    assert 33 in {match.note for match in space(notes).matches([3], {3: [33]})[3]}
    without = PassageSpace([row for row in range(60) if row != 33], lambda rows: [notes[row] for row in rows])
    assert 33 in {match.note for match in without.matches([3], {3: [33]})[3]}


def test_blocks_and_samples_change_little(monkeypatch: pytest.MonkeyPatch) -> None:
    notes = vault()
    whole = space(notes).matches([3, 40])
    monkeypatch.setattr(passage_match, "_NOTES_AT_ONCE", 7)
    again = space(notes).matches([3, 40])
    assert [(one.note, one.mine, one.other) for one in again[3][:5]] == [
        (one.note, one.mine, one.other) for one in whole[3][:5]
    ]
    monkeypatch.setattr(passage_match, "SAMPLE_PASSAGES", 90)
    sampled = space(notes).matches([3, 40])
    assert sampled[3][0].note == 40
    assert abs(sampled[3][0].telling - whole[3][0].telling) < 0.15


def test_the_rank_counts_the_notes_that_are_nearer_as_a_whole() -> None:
    notes = vault()
    means = unit(np.stack([one.sum(axis=0) if len(one) else np.full(DIM, 1e-9) for one in notes]).astype(np.float64))
    for match in space(notes).matches([3])[3][:5]:
        nearer = sum(
            float(means[row] @ means[3]) > match.whole + 1e-6 for row in range(60) if row not in (3, 50)
        )
        assert match.rank == nearer
