"""What is said of two notes that share nothing themselves is true of the notes around them."""

from __future__ import annotations

import pytest

from aria_dream.judging.common_ground import NoteView
from aria_dream.judging.reason import around_clause, find_linked_alike, linked_alike_clause, shared_words_clause

RARITY = {"kefir": 5.0, "grains": 4.0, "lukewarm": 3.0, "milk": 1.0}
RYE, OVEN = NoteView("Rye", "A tall grass."), NoteView("oven", "Kefir grains like it lukewarm.")
DAIRY = NoteView("Dairy", "Lukewarm milk for kefir, then kefir for milk.")
TABLE = NoteView("Table {}", "Nothing of it.")


def rarity(word: str) -> float:
    return RARITY.get(word, 0.0)


def around(
    first: NoteView, second: NoteView, beside_first: list[NoteView], beside_second: list[NoteView]
) -> str | None:
    return around_clause(first, second, beside_first=beside_first, beside_second=beside_second, rarity=rarity)


def test_a_note_beside_the_one_that_speaks_of_what_the_other_speaks_of() -> None:
    said = "Dairy, which is linked with Rye, speaks of kefir and lukewarm, as “oven” does"
    assert around(RYE, OVEN, [TABLE, DAIRY], []) == said
    assert around(OVEN, RYE, [], [TABLE, DAIRY]) == said
    assert around(RYE, OVEN, [], [DAIRY]) is None  # oven itself has these words, Rye has none of them


def test_two_notes_beside_them_that_speak_of_one_thing() -> None:
    jar = NoteView("Jar", "It holds kefir, lukewarm.")
    said = "Dairy, beside Rye, and Jar, beside Table {}, speak of kefir and lukewarm"
    assert around(RYE, TABLE, [DAIRY], [jar]) == said
    assert around(RYE, TABLE, [DAIRY], [DAIRY]) is None  # one note is not two


@pytest.mark.parametrize("text", ["", "Kefir is all it says.", "Kefir and dairy."])
def test_a_single_word_or_a_title_says_nothing(text: str) -> None:
    assert around(RYE, NoteView("Jar", text), [DAIRY], []) is None


def test_words_by_the_way_are_quoted_as_words() -> None:
    said = shared_words_clause(OVEN, RYE, beside_second=[TABLE, DAIRY], rarity=rarity)
    assert said == "Dairy, which is linked with Rye, shares the words “kefir” and “lukewarm” with “oven”"
    assert shared_words_clause(RYE, OVEN, beside_second=[DAIRY], rarity=rarity) is None


LINKS = {0: [2, 3, 4], 1: [5], 5: [1, 2, 3], 2: [0, 5], 3: [0, 5], 4: [0]}


def test_a_note_that_stands_beside_the_same_notes() -> None:
    found = find_linked_alike(0, 1, lambda note: LINKS[note])
    assert found == (0, 5, [2, 3])
    assert find_linked_alike(1, 0, lambda note: LINKS[note]) == found
    assert find_linked_alike(4, 1, lambda note: LINKS[note]) is None
    said = linked_alike_clause(["Buy wisely", "tart", "Recipes"], ["Posts", "clippings"])
    assert said == "“tart”, which is linked with Recipes, stands beside Posts and “clippings”, as Buy wisely does"
