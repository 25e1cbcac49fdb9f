"""The link graph in arrays against networkx."""

from __future__ import annotations

import networkx as nx
from hypothesis import given
from hypothesis import strategies as st

from aria_dream.ranking.sparse import neighbours_of
from aria_dream.vault.graph import (
    LinkGraph,
    backlinks_of,
    component_sizes,
    graph_of,
    row_of,
    targets_of,
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


def test_an_empty_graph() -> None:
    graph = graph_of((), [])
    assert component_sizes(graph) == []
    assert list(neighbours_of(graph).offsets) == [0]


@st.composite
def graphs(draw: st.DrawFn) -> LinkGraph:
    size = draw(st.integers(1, 9))
    row = st.lists(st.integers(0, size - 1), max_size=5)
    return graph_of(tuple(f"{number}.md" for number in range(size)), draw(st.lists(row, min_size=size, max_size=size)))


@given(graphs())
def test_it_agrees_with_networkx(graph: LinkGraph) -> None:
    known: nx.DiGraph[str] = nx.DiGraph()
    known.add_nodes_from(graph.paths)
    known.add_edges_from(
        (path, graph.paths[target]) for row, path in enumerate(graph.paths) for target in targets_of(graph, row)
    )
    plain = known.to_undirected(as_view=True)
    links = neighbours_of(graph)
    for row, path in enumerate(graph.paths):
        assert {graph.paths[at] for at in links.of(row)} == set(plain[path])
        assert list(links.of(row)) == sorted(links.of(row))
        assert links.degree(row) == plain.degree[path]
        assert {graph.paths[at] for at in backlinks_of(graph, row)} == set(known.predecessors(path))
    sizes = sorted((len(part) for part in nx.connected_components(plain)), reverse=True)
    assert component_sizes(graph) == sizes
