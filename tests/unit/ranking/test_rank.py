"""The ranking on small vaults whose answer a reader can see."""

from __future__ import annotations

from array import array
from typing import TYPE_CHECKING

import numpy as np
import pytest

from aria_dream.ranking.features import FEATURES
from aria_dream.ranking.learn import Weights
from aria_dream.ranking.rank import EVIDENCE, Ranking, RankNote
from aria_dream.ranking.terms import note_terms
from aria_dream.vault.graph import LinkGraph

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

GARDEN = {
    "Compost.md": "Kitchen scraps rot into dark humus; worms and heat do the turning. Soil feeds on it.",
    "Humus.md": "Dark humus holds water. Worms make it from scraps, and soil without it is dust.",
    "Sourdough.md": "Flour, water and a starter that ferments overnight. The crust wants steam.",
    "Starter.md": "A starter ferments flour and water; feed it before you bake. See Compost for the discard.",
    "Tax.md": "Receipts go into the blue folder until April.",
}


def graph_of(paths: Sequence[str], links: Sequence[tuple[str, str]]) -> LinkGraph:
    offsets, targets = array("i", [0]), array("i")
    for path in paths:
        targets.extend(sorted({paths.index(b) for a, b in links if a == path and b != path}))
        offsets.append(len(targets))
    return LinkGraph(paths=tuple(paths), offsets=offsets, targets=targets)


def ranking_of(
    texts: Mapping[str, str],
    links: Sequence[tuple[str, str]] = (),
    *,
    notes: Mapping[str, RankNote] | None = None,
    weights: Weights | None = None,
    decided: frozenset[tuple[str, str]] = frozenset(),
) -> Ranking:
    paths = sorted(texts)
    return Ranking.build(
        graph_of(paths, links),
        [(notes or {}).get(path, RankNote(path=path)) for path in paths],
        [note_terms(texts[path]) for path in paths],
        weights=weights,
        decided=decided,
        text_of=lambda row: texts[paths[row]],
    )


def best(ranking: Ranking, texts: Mapping[str, str], path: str, limit: int = 10) -> list[str]:
    paths = sorted(texts)
    return [paths[found.to] for found in ranking.from_note(paths.index(path), limit)]


def test_without_links_text_alone_ranks() -> None:
    ranking = ranking_of(GARDEN)
    assert best(ranking, GARDEN, "Compost.md")[0] == "Humus.md"
    assert best(ranking, GARDEN, "Sourdough.md")[0] == "Starter.md"


def test_neighbours_in_either_direction_and_the_note_itself_are_no_candidates() -> None:
    ranking = ranking_of(GARDEN, [("Humus.md", "Compost.md")])
    assert set(best(ranking, GARDEN, "Compost.md")) == {"Sourdough.md", "Starter.md", "Tax.md"}
    assert "Compost.md" not in best(ranking, GARDEN, "Humus.md")


def test_decided_pairs_are_no_candidates_from_either_side() -> None:
    ranking = ranking_of(GARDEN, decided=frozenset({("Humus.md", "Compost.md")}))
    assert "Humus.md" not in best(ranking, GARDEN, "Compost.md")
    assert "Compost.md" not in best(ranking, GARDEN, "Humus.md")


def test_an_invisible_note_is_nowhere_and_changes_nothing() -> None:
    hidden = {"Humus.md": RankNote(path="Humus.md", visible=False)}
    blank = {**GARDEN, "Humus.md": ""}
    links = [("Humus.md", "Tax.md"), ("Compost.md", "Humus.md")]
    ranking = ranking_of(GARDEN, links, notes=hidden)
    without = ranking_of(blank, [], notes=hidden)
    assert best(ranking, GARDEN, "Humus.md") == []
    assert "Humus.md" not in {path for note in GARDEN for path in best(ranking, GARDEN, note)}
    assert list(ranking.all(10)) == list(without.all(10))


def test_a_note_between_two_speaks_for_them() -> None:
    texts = {"a.md": "one", "b.md": "two", "c.md": "three", "d.md": "four"}
    ranking = ranking_of(texts, [("b.md", "a.md"), ("b.md", "c.md")])
    found = ranking.from_note(0, 5)
    assert found[0].to == 2
    assert {term.name: term.detail for term in found[0].evidence}["common neighbours"] == "b"


def test_a_mention_is_told_with_the_note_that_holds_it() -> None:
    ranking = ranking_of(GARDEN)
    paths = sorted(GARDEN)
    for one, other in (("Compost.md", "Starter.md"), ("Starter.md", "Compost.md")):
        found = {paths[scored.to]: scored for scored in ranking.from_note(paths.index(one), 10)}[other]
        told = {term.name: term for term in found.evidence}
        assert told["mention"].detail == "Starter names Compost"
        assert told["mention"].value > 0


def test_shared_words_are_words_of_both_notes() -> None:
    ranking = ranking_of(GARDEN)
    paths = sorted(GARDEN)
    found = ranking.from_note(paths.index("Compost.md"), 1)[0]
    words = {term.name: term.detail for term in found.evidence}["text"].split(", ")
    assert words
    assert all(word in GARDEN["Compost.md"].lower() and word in GARDEN["Humus.md"].lower() for word in words)


def test_terms_sum_to_the_score() -> None:
    for _, found in ranking_of(GARDEN, [("Compost.md", "Tax.md")]).all(10):
        for scored in found:
            assert len(scored.terms) == len(EVIDENCE)
            assert sum(scored.terms) == pytest.approx(scored.score, abs=1e-4)
            assert sum(term.value for term in scored.evidence) == pytest.approx(scored.score, abs=0.01)


def test_all_and_one_agree() -> None:
    ranking = ranking_of(GARDEN, [("Compost.md", "Tax.md")])
    for note, found in ranking.all(3):
        alone = ranking.from_note(note, 3)
        assert [scored.to for scored in alone] == [scored.to for scored in found]
        assert [scored.score for scored in alone] == pytest.approx([scored.score for scored in found], abs=1e-4)


def test_equal_scores_are_ordered_by_path() -> None:
    texts = {f"{name}.md": "" for name in "zyxwabc"}
    nothing = Weights(values=(0.0,) * len(FEATURES), intercept=0, strength=1, links=0)
    ranking = ranking_of(texts, weights=nothing)
    assert best(ranking, texts, "c.md") == ["a.md", "b.md", "w.md", "x.md", "y.md", "z.md"]


@pytest.mark.parametrize("count", [0, 1, 2])
def test_vaults_of_hardly_any_notes(count: int) -> None:
    texts = {f"{number}.md": "" for number in range(count)}
    ranking = ranking_of(texts)
    assert [len(found) for _, found in ranking.all(5)] == [max(0, count - 1)] * count


@pytest.mark.parametrize("links", [0, 1, 4, 5, 30, 200])
def test_any_number_of_links_gives_finite_scores(links: int) -> None:
    draw = np.random.Generator(np.random.PCG64(links))
    paths = [f"f{number % 3}/n{number}.md" for number in range(60)]
    vocabulary = [f"word{number}" for number in range(80)]
    texts = {path: " ".join(draw.choice(vocabulary, 20).tolist()) for path in paths}
    drawn = [(paths[int(a)], paths[int(b)]) for a, b in draw.integers(0, 60, (links, 2))]
    ranking = ranking_of(texts, drawn)
    scores = [scored.score for _, found in ranking.all(5) for scored in found]
    assert np.isfinite(scores).all()
    assert len(scores) == 300


def test_tags_and_a_note_that_is_missing_bring_notes_together() -> None:
    texts = {"a.md": "alpha", "b.md": "beta", "c.md": "gamma [[Nowhere]]", "d.md": "delta [[nowhere]]", "e.md": "eta"}
    notes = {path: RankNote(path=path, tags=("craft",)) for path in ("a.md", "b.md")}
    ranking = ranking_of(texts, notes=notes)
    assert best(ranking, texts, "a.md")[0] == "b.md"
    assert best(ranking, texts, "c.md")[0] == "d.md"
