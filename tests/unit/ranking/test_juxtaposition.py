"""Pairs and titles."""

from __future__ import annotations

import pytest

from aria_dream.ranking.juxtaposition import Juxtaposition, pair_key, title_of


@pytest.mark.parametrize(
    ("path", "title"),
    [("a/b/Compost.md", "Compost"), ("v1.2.md", "v1.2"), ("UP.MD", "UP"), (".md", ".md"), ("a/x.md.md", "x.md")],
)
def test_titles(path: str, title: str) -> None:
    assert title_of(path) == title


def test_a_pair_has_no_direction_and_a_distance_only_where_there_is_a_way() -> None:
    one = Juxtaposition(from_="b.md", to="a.md", score=1, path=("b.md", "x.md", "a.md"))
    other = Juxtaposition(from_="a.md", to="b.md", score=1, path=None)
    assert one.pair == other.pair == pair_key("b.md", "a.md") == ("a.md", "b.md")
    assert (one.distance, other.distance) == (2, None)
