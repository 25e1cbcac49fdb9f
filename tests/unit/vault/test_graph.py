"""The link graph in arrays against networkx."""

from __future__ import annotations

from itertools import pairwise

import networkx as nx
from hypothesis import given
from hypothesis import strategies as st

from aria_dream.vault.graph import (
    LinkGraph,
    backlinks_of,
    component_sizes,
    graph_of,
    reversed_graph,
    row_of,
    shortest_path,
    targets_of,
    to_networkx,
    undirected,
)


def chain() -> LinkGraph:
    return graph_of(("a.md", "b.md", "c.md", "d.md"), [[1, 1, 0], [2], [], []])


def test_rows_are_sorted_distinct_and_without_self_links() -> None:
    graph = graph_of(("a", "b", "c"), [[2, 0, 1, 2], [], [0]])
    assert list(graph.offsets) == [0, 2, 2, 3]
    assert list(graph.targets) == [1, 2, 0]
    assert list(targets_of(graph, 0)) == [1, 2]
    assert list(backlinks_of(graph, 0)) == [2]
    assert row_of(graph, "b") == 1
    assert row_of(graph, "bb") is None
    assert row_of(graph, "z") is None


def test_a_path_runs_against_the_arrows_too() -> None:
    graph = chain()
    assert shortest_path(graph, 2, 0) == (2, 1, 0)
    assert shortest_path(graph, 0, 3) is None
    assert shortest_path(graph, 3, 3) == (3,)


def test_the_networkx_graph_has_every_note() -> None:
    made = to_networkx(chain())
    assert list(made.nodes) == ["a.md", "b.md", "c.md", "d.md"]
    assert set(made.edges) == {("a.md", "b.md"), ("b.md", "c.md")}


def test_an_empty_graph() -> None:
    graph = graph_of((), [])
    assert component_sizes(graph) == []
    assert list(undirected(graph).offsets) == [0]
    assert len(to_networkx(graph)) == 0


@st.composite
def graphs(draw: st.DrawFn) -> LinkGraph:
    size = draw(st.integers(1, 9))
    row = st.lists(st.integers(0, size - 1), max_size=5)
    return graph_of(tuple(f"{number}.md" for number in range(size)), draw(st.lists(row, min_size=size, max_size=size)))


@given(graphs())
def test_it_agrees_with_networkx(graph: LinkGraph) -> None:
    known = to_networkx(graph)
    plain = known.to_undirected(as_view=True)
    links = undirected(graph)
    for row, path in enumerate(graph.paths):
        assert {graph.paths[at] for at in links.of(row)} == set(plain[path])
        assert list(links.of(row)) == sorted(links.of(row))
        assert links.degree(row) == plain.degree[path]
        assert {graph.paths[at] for at in backlinks_of(graph, row)} == set(known.predecessors(path))
    sizes = sorted((len(part) for part in nx.connected_components(plain)), reverse=True)
    assert component_sizes(graph) == sizes
    assert reversed_graph(reversed_graph(graph)) == graph
    for end in range(len(graph.paths)):
        found = shortest_path(graph, 0, end, links=links)
        if found is None:
            assert not nx.has_path(plain, graph.paths[0], graph.paths[end])
            continue
        assert (found[0], found[-1]) == (0, end)
        assert len(found) - 1 == nx.shortest_path_length(plain, graph.paths[0], graph.paths[end])
        assert all(two in links.of(one) for one, two in pairwise(found))
