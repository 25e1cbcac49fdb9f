"""What holds for the ranking of any vault."""

from __future__ import annotations

from array import array

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from aria_dream.ranking.rank import Ranking, RankNote
from aria_dream.ranking.terms import TermCounts, note_terms
from aria_dream.vault.graph import LinkGraph

WORDS = st.sampled_from(["soil", "worm", "bread", "crust", "tax", "東京", "Note", "0", "note 1", "[[n1]]", "[[gone]]"])


@st.composite
def vaults(draw: st.DrawFn) -> tuple[LinkGraph, list[RankNote], list[TermCounts]]:
    size = draw(st.integers(0, 9))
    folders = draw(st.lists(st.sampled_from(["", "a/", "a/b/"]), min_size=size, max_size=size))
    paths = sorted(f"{folder}n{number}.md" for number, folder in enumerate(folders))
    offsets, targets = array("i", [0]), array("i")
    for row in range(size):
        linked = draw(st.sets(st.integers(0, max(0, size - 1)), max_size=4))
        targets.extend(sorted(linked - {row}))
        offsets.append(len(targets))
    visible = draw(st.lists(st.booleans(), min_size=size, max_size=size))
    notes = [
        RankNote(path=path, tags=tuple(draw(st.sets(st.sampled_from("xy")))), visible=seen)
        for path, seen in zip(paths, visible, strict=True)
    ]
    texts = [" ".join(draw(st.lists(WORDS, max_size=6))) for _ in paths]
    return LinkGraph(paths=tuple(paths), offsets=offsets, targets=targets), notes, [note_terms(text) for text in texts]


@settings(max_examples=60, deadline=None)
@given(vaults())
def test_candidates_are_undrawn_and_visible_and_scores_finite_and_falling(
    vault: tuple[LinkGraph, list[RankNote], list[TermCounts]],
) -> None:
    graph, notes, terms = vault
    ranking = Ranking.build(graph, notes, terms)
    links = {
        frozenset((row, graph.targets[at]))
        for row in range(len(notes))
        for at in range(graph.offsets[row], graph.offsets[row + 1])
    }
    rows = [row for row, _ in ranking.all(100)]
    assert rows == [row for row, note in enumerate(notes) if note.visible]
    for row, found in ranking.all(100):
        expected = {
            other
            for other, note in enumerate(notes)
            if note.visible and other != row and frozenset((row, other)) not in links
        }
        assert {scored.to for scored in found} == expected
        scores = [scored.score for scored in found]
        assert np.isfinite(scores).all()
        assert scores == sorted(scores, reverse=True)


@settings(max_examples=60, deadline=None)
@given(vaults())
def test_the_same_vault_is_ranked_the_same(vault: tuple[LinkGraph, list[RankNote], list[TermCounts]]) -> None:
    first, second = Ranking.build(*vault), Ranking.build(*vault)
    assert first.weights == second.weights
    assert list(first.all(5)) == list(second.all(5))


@settings(max_examples=200, deadline=None)
@given(st.text())
def test_terms_of_any_text_survive_their_bytes(text: str) -> None:
    terms = note_terms(text)
    again = TermCounts.from_bytes(terms.to_bytes())
    assert again.to_bytes() == terms.to_bytes()
    assert int(terms.counts.sum()) == int((terms.order != 0xFFFFFFFF).sum())
