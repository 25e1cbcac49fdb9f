"""Hidden links, counted by the project's definitions."""

from __future__ import annotations

import importlib.util
import json
from typing import TYPE_CHECKING

import numpy as np
import pytest

from aria_dream.evals.link_recovery import Baselines, Recovery, choose_hidden, distances, recover
from aria_dream.ranking.notespace import NoteSpace, RankNote
from aria_dream.ranking.sparse import structure_of
from aria_dream.ranking.terms import note_terms

if TYPE_CHECKING:
    from pathlib import Path

    import numpy.typing as npt

SIZE = 40
DRAW = np.random.Generator(np.random.PCG64(8))
LINKS = DRAW.integers(0, SIZE, (90, 2))
SCORES: npt.NDArray[np.float32] = DRAW.integers(0, 12, (SIZE, SIZE)).astype(np.float32)


def by_table(sources: npt.NDArray[np.int64]) -> npt.NDArray[np.float32]:
    return SCORES[:, sources]


@pytest.mark.shared
def test_figures_are_those_of_the_shared_tool(
    shared: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    full = structure_of(SIZE, LINKS[:, 0], LINKS[:, 1])
    hidden = choose_hidden(full, 0.3, seed=5)
    left = full.without(hidden)
    found = recover(left, hidden, by_table)
    names = [f"n{number:02}.md" for number in range(SIZE)]
    truth, ranking = tmp_path / "truth.json", tmp_path / "ranking.jsonl"
    truth.write_text(json.dumps({"notes": SIZE, "hidden": [[names[a], names[b]] for a, b in hidden.tolist()]}))
    with ranking.open("w") as lines:
        for source in range(SIZE):
            own = SCORES[:, source]
            for to in np.argsort(-own, kind="stable").tolist():
                if to != source and to not in left.around(source):
                    print(json.dumps({"from": names[source], "to": names[to], "score": float(own[to])}), file=lines)
    spec = importlib.util.spec_from_file_location("link_recovery", shared / "tools" / "link_recovery.py")
    assert spec is not None
    assert spec.loader is not None
    tool = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(tool)
    arguments = type("Arguments", (), {"truth": truth, "ranking": ranking})
    tool.score(arguments)
    told = json.loads(capsys.readouterr().out)
    assert found.asked == told["n"]
    assert found.mrr == pytest.approx(told["MRR"], abs=1e-4)
    assert found.hits == pytest.approx([told["H@1"], told["H@3"], told["H@10"], told["H@50"]], abs=1e-4)


def test_a_ranking_that_knows_finds_all_and_one_that_does_not_little() -> None:
    full = structure_of(SIZE, LINKS[:, 0], LINKS[:, 1])
    hidden = choose_hidden(full, 0.3, seed=1)
    truth = np.zeros((SIZE, SIZE), dtype=np.float32)
    truth[hidden[:, 0], hidden[:, 1]] = truth[hidden[:, 1], hidden[:, 0]] = 1
    left = full.without(hidden)
    knowing = recover(left, hidden, lambda sources: truth[:, sources])
    assert knowing.mrr == 1
    assert list(knowing.hits) == [1, 1, 1, 1]
    assert knowing.precision == pytest.approx(len(hidden) / 100)
    opposed = recover(left, hidden, lambda sources: -truth[:, sources])
    assert opposed.mrr < 0.05
    assert opposed.asked == 2 * len(hidden)
    assert sum(count for _, count, _ in opposed.by_distance) == opposed.asked


def test_chosen_pairs_are_linked_and_differ_by_seed() -> None:
    full = structure_of(SIZE, LINKS[:, 0], LINKS[:, 1])
    linked = {tuple(pair) for pair in full.pairs().tolist()}
    chosen = [choose_hidden(full, 0.2, seed).tolist() for seed in (0, 0, 1)]
    assert chosen[0] == chosen[1]
    assert chosen[0] != chosen[2]
    assert len(chosen[0]) == round(0.2 * len(linked))
    assert {tuple(pair) for pair in chosen[0]} <= linked


def test_distances() -> None:
    chain = structure_of(6, [0, 1, 2], [1, 2, 3])
    assert distances(chain, 0).tolist() == [0, 1, 2, 3, -1, -1]


def test_nothing_hidden_is_nothing_asked() -> None:
    empty = np.zeros((0, 2), dtype=np.int64)
    assert recover(structure_of(2, [], []), empty, lambda sources: np.zeros((2, len(sources)), dtype=np.float32)) == (
        Recovery(asked=0, mrr=0.0, hits=(0.0, 0.0, 0.0, 0.0), precision=0.0, by_distance=())
    )


def test_baselines_see_the_words_of_links_that_are_left_and_of_no_others() -> None:
    notes = [RankNote(path=path) for path in ("a.md", "Bravo hill.md", "c.md", "d.md", "Echo.md")]
    texts = ["[[Bravo hill]]", "", "bravo hill", "hill", "see [[d]] now"]
    terms = [note_terms(text) for text in texts]
    full = structure_of(5, [0], [1])
    for structure, alike in ((full, True), (full.without(np.array([[0, 1]])), False)):
        space = NoteSpace(notes, terms)
        scorers = Baselines(notes, terms, space, structure).scorers()
        assert list(scorers) == ["TF-IDF", "personalised PageRank", "Adamic-Adar", "fixed fusion"]
        assert bool(scorers["TF-IDF"](np.array([0]))[2, 0] > 0) is alike
        assert all(np.isfinite(score(np.arange(5))).all() for score in scorers.values())
