"""Which notes an answer to a seed names: by number or whole title, and never one that was not listed."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aria_dream.reach.citation import find_named_notes, home_of, is_notes_line
from aria_dream.reach.reach import Answer, parse_answer

TITLES = ["Compost", "Sourdough starter", "Salt and sugar", "Slack water"]


@pytest.mark.parametrize(
    ("line", "places"),
    [
        ("Notes: 1, 2", (0, 1)),
        ("Notes: 2 and 1", (1, 0)),
        ("**Notes:** 1 ↔ 3", (0, 2)),
        ("- Notes: #1 & #4.", (0, 3)),
        ("notes: [2], [3]", (1, 2)),
        ("Note: 3", (2,)),
        ("Notes: 1 und 2", (0, 1)),
        ("Notes: 2, 2", (1,)),
        ("Notes: Compost, Sourdough starter", (0, 1)),
        ("Notes: [[Sourdough starter]] ↔ [[compost]]", (1, 0)),
        ("Notes: “Salt and sugar” and Compost", (2, 0)),
        ("Notes: Slack water", (3,)),
        ("Notes: 1, 2, 3", ()),
        ("Notes: 1, 5", ()),
        ("Notes: 0", ()),
        ("Notes: Diary and Compost", ()),
        ("Notes: Compost and my diary", ()),
        ("Notes: ../../Compost, 2", ()),
        ("Notes: 1, Diary", ()),
        ("Note: 3 studies say so", ()),
        ("Compost and Sourdough starter are both fed.", ()),
        ("", ()),
    ],
)
def test_a_line_names_listed_notes_or_none(line: str, places: tuple[int, ...]) -> None:
    assert find_named_notes(f"HOMES\nEdge: fed cultures\n{line}\nSources:\n", TITLES) == places


def test_two_that_are_meant_and_why_there_are_none() -> None:
    assert home_of("HOMES\nEdge: a\nNotes: 2, 1", TITLES) == (1, 0)
    assert home_of("HOMES\nEdge: a", TITLES[:2]) == (0, 1)
    assert "names no note" in str(home_of("Notes: 1, 2", []))
    assert "only one note" in str(home_of("Notes: 1, 2", ["Compost"]))
    assert "does not say which two" in str(home_of("HOMES\nEdge: a", TITLES))
    assert "“Slack water”" in str(home_of("Notes: 4", TITLES))
    assert "“Compost”" in str(home_of("Notes: 1", TITLES[:2]))


def test_the_line_is_no_argument_of_a_homes_and_stays_one_of_others() -> None:
    found = parse_answer("HOMES\nEdge: fed cultures\nBoth are fed.\nNotes: 1, 2\nSources:\n- https://example.org/a\n")
    assert isinstance(found, Answer)
    assert found.argument == ("Both are fed.",)
    found = parse_answer("NEITHER\nNote: 3 studies say so.\nNotes: 1, 2\n")
    assert isinstance(found, Answer)
    assert found.argument == ("Note: 3 studies say so.", "Notes: 1, 2")
    assert not is_notes_line("Note: 3 studies say so.")


@given(st.text(max_size=200), st.lists(st.text(max_size=12), max_size=8))
def test_nothing_an_answer_says_names_a_note_that_was_not_listed(said: str, titles: list[str]) -> None:
    for answer in (said, f"Notes: {said}"):
        places = find_named_notes(answer, titles)
        assert len(places) <= 2
        assert all(0 <= place < len(titles) for place in places)
        assert len(set(places)) == len(places)
