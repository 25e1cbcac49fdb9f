"""Ways between notes: shortest, stable, and none where nothing connects."""

from __future__ import annotations

from itertools import pairwise

import networkx as nx
from hypothesis import given
from hypothesis import strategies as st

from aria_dream.ranking.juxtaposition import shortest_ways
from aria_dream.ranking.sparse import neighbours_of
from aria_dream.vault.graph import graph_of


def ways(rows: list[list[int]], start: int, ends: list[int]) -> dict[int, tuple[int, ...] | None]:
    graph = graph_of(tuple(f"{row:03}.md" for row in range(len(rows))), rows)
    return shortest_ways(neighbours_of(graph), start, ends)


def test_a_way_follows_links_against_their_direction_too() -> None:
    assert ways([[], [0], [1]], 0, [2]) == {2: (0, 1, 2)}


def test_of_two_equal_ways_the_one_through_lower_rows() -> None:
    assert ways([[1, 2], [3], [3], []], 0, [3]) == {3: (0, 1, 3)}


def test_no_way_to_an_island_and_itself_is_reached() -> None:
    assert ways([[1], [], []], 0, [2, 0, 1]) == {2: None, 0: (0,), 1: (0, 1)}


def test_a_vault_without_links() -> None:
    assert ways([[], []], 1, [0]) == {0: None}


@st.composite
def graphs(draw: st.DrawFn) -> list[list[int]]:
    size = draw(st.integers(1, 12))
    return draw(st.lists(st.lists(st.integers(0, size - 1), max_size=4), min_size=size, max_size=size))


@given(graphs())
def test_as_long_as_the_plain_search_finds_and_every_step_is_a_link(rows: list[list[int]]) -> None:
    graph = graph_of(tuple(f"{row:03}.md" for row in range(len(rows))), rows)
    links = neighbours_of(graph)
    known: nx.Graph[int] = nx.Graph((row, other) for row, targets in enumerate(rows) for other in targets)
    known.add_node(0)
    plain = nx.single_source_shortest_path(known, 0)
    found = shortest_ways(links, 0, range(len(rows)))
    for end, way in found.items():
        assert (way is None) == (end not in plain)
        if way is not None:
            assert len(way) == len(plain[end])
            assert (way[0], way[-1]) == (0, end)
            assert all(second in links.of(first) for first, second in pairwise(way))
