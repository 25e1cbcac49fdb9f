"""Near, far, and tension: where a pair stands in a dream."""

from __future__ import annotations

import pytest

from aria_dream.judging.places import is_far, place_of
from aria_dream.judging.tension import tension_of
from aria_dream.ranking.juxtaposition import Juxtaposition, Resonance


def pair(
    first: str = "a/Compost.md",
    second: str = "b/Sourdough.md",
    *,
    steps: int | None = None,
    rank: int = 40,
    cosine: float = 0.55,
    quotes: tuple[str, str] = ("it is fed", "it is fed too"),
) -> Juxtaposition:
    way = None if steps is None else (first, *(f"{n}.md" for n in range(steps - 1)), second)
    resonance = Resonance(quotes=quotes, cosine=cosine, telling=0.2, whole=0.3, rank=rank)
    return Juxtaposition(from_=first, to=second, score=0.1, path=way, resonance=resonance)


def test_far_is_what_only_a_passage_joins() -> None:
    assert is_far(pair(), 200)
    assert is_far(pair(steps=2), 200)  # in another folder
    assert is_far(pair(second="a/Sourdough.md", steps=3), 200)
    assert not is_far(pair(second="a/Sourdough.md", steps=2), 200)
    assert not is_far(pair(rank=9), 200)
    assert is_far(pair(rank=9), 40)  # of forty notes eight are the nearest
    assert not is_far(pair(second="b/Composting at home.md"), 200)
    assert not is_far(Juxtaposition(from_="a.md", to="b.md", score=0.1, path=None), 200)


@pytest.mark.parametrize(
    ("first", "second", "cosine", "said"),
    [
        ("a synchronous system", "an asynchronous one", 0.65, "“synchronous” here, “asynchronous” there"),
        ("Centralized power", "decentralized power", 0.55, "“centralized” here, “decentralized” there"),
        ("the valve is open", "the valve is closed", 0.65, "“open” here, “closed” there"),
        ("the valve is open", "the valve is closed", 0.55, ""),
        ("open and closed", "closed", 0.65, ""),
        ("turn it on", "turn it off", 0.65, ""),
        ("information", "formation", 0.65, ""),
        ("we do this", "we do not do this", 0.65, ""),
        ("synchronous", "asynchronous", 0.45, ""),
    ],
)
def test_what_pulls_apart(first: str, second: str, cosine: float, said: str) -> None:
    found = pair(quotes=(first, second), cosine=cosine)
    assert tension_of(found) == (f"they pull apart: {said}" if said else "")
    assert (place_of(found, 200) == "tension") == bool(said)


def test_without_passages_nothing_pulls_apart() -> None:
    assert tension_of(Juxtaposition(from_="a.md", to="b.md", score=0.1, path=None)) == ""
