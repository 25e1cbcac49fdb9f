"""The link graph as arrays, against networkx."""

from __future__ import annotations

from array import array

import networkx as nx
import numpy as np
import pytest
from networkx.algorithms.link_analysis.pagerank_alg import _pagerank_python  # type: ignore[attr-defined]  # not in the stubs

from aria_dream.ranking.sparse import RESTART, Structure, link_structure, structure_of
from aria_dream.vault.graph import LinkGraph

LINKS = [(0, 1), (1, 0), (1, 2), (2, 3), (3, 1), (4, 4), (5, 2)]
SIZE = 7


def structure() -> Structure:
    return structure_of(SIZE, [a for a, _ in LINKS], [b for _, b in LINKS])


def test_degrees_and_neighbours() -> None:
    made = structure()
    assert made.around(1).tolist() == [0, 2, 3]
    assert made.degree.tolist() == [1, 3, 3, 2, 0, 1, 0]
    assert made.in_degree.tolist() == [1, 2, 2, 1, 0, 0, 0]
    assert made.out_degree.tolist() == [1, 2, 1, 1, 0, 1, 0]
    assert made.pairs().tolist() == [[0, 1], [1, 2], [1, 3], [2, 3], [2, 5]]


def test_taking_pairs_out_takes_both_directions() -> None:
    fewer = structure().without(np.array([[1, 0], [2, 5]]))
    assert fewer.pairs().tolist() == [[1, 2], [1, 3], [2, 3]]
    assert fewer.in_degree.tolist() == [0, 1, 1, 1, 0, 0, 0]
    assert structure().without(np.zeros((0, 2), dtype=np.int64)).pairs().tolist() == structure().pairs().tolist()


def test_sums_and_means_over_neighbours() -> None:
    values = np.arange(SIZE, dtype=np.float32)[:, None]
    graph = nx.Graph(LINKS)
    expected = [sum(other for other in graph.neighbors(n) if other != n) if n in graph else 0 for n in range(SIZE)]
    assert structure().sums(values)[:, 0].tolist() == expected
    assert structure().means(values)[1, 0] == pytest.approx(5 / 3)
    assert structure().means(values)[6, 0] == 0


def test_walkers_are_where_pagerank_says() -> None:
    graph = nx.Graph([pair for pair in LINKS if pair[0] != pair[1]])
    # networkx's own power iteration: `nx.pagerank` asks for scipy, which is no dependency of ours
    expected = _pagerank_python(graph, alpha=1 - RESTART, personalization={2: 1}, tol=1e-10)
    found = structure().walkers(np.array([2, 6]))
    for note, share in expected.items():
        assert found[note, 0] == pytest.approx(share, abs=2e-4)
    assert found[6, 1] == pytest.approx(RESTART)
    assert found[:6, 1].sum() == 0


def test_from_a_link_graph() -> None:
    graph = LinkGraph(paths=("a.md", "b.md", "c.md"), offsets=array("i", [0, 2, 2, 3]), targets=array("i", [1, 2, 0]))
    assert link_structure(graph).pairs().tolist() == [[0, 1], [0, 2]]


def test_no_notes_and_no_links() -> None:
    assert structure_of(0, [], []).pairs().shape == (0, 2)
    alone = structure_of(2, [], [])
    assert alone.degree.tolist() == [0, 0]
    assert alone.walkers(np.array([0]))[0, 0] == pytest.approx(RESTART)
