"""Unlinked mentions of titles and aliases."""

from __future__ import annotations

from aria_dream.ranking.mentions import Mentions, name_table, name_words, prose_of
from aria_dream.ranking.terms import note_terms

TEXTS = [
    "We spoke of deep work, and of Deep Work again. Also 東京 once.",
    "deep work is what this note is called itself",
    "Of deep [[x]] work no mention is made, nor of deeper work. See [[Deep Work]].",
    "Focus is what this note calls it: slow productivity",
    "",
]
NAMES = [["Home"], ["Deep Work", "Focus"], ["AI", "A"], ["東京"], ["Home"]]


def mentions() -> Mentions:
    return Mentions(name_table([name_words(names) for names in NAMES]), prose_of([note_terms(text) for text in TEXTS]))


def pairs(found: tuple[object, object]) -> list[tuple[int, int]]:
    notes, counts = found
    return list(zip(map(int, notes), map(int, counts), strict=True))  # type: ignore[call-overload]


def test_titles_and_aliases_are_found_as_whole_words() -> None:
    made = mentions()
    assert pairs(made.in_note(0)) == [(1, 2), (3, 1)]
    assert pairs(made.in_note(1)) == []
    assert pairs(made.in_note(2)) == []
    assert pairs(made.in_note(3)) == [(1, 1)]


def test_from_the_other_side() -> None:
    assert pairs(mentions().of_note(1)) == [(0, 2), (3, 1)]
    assert pairs(mentions().of_note(2)) == []


def test_one_by_one_and_all_at_once_agree() -> None:
    lazy, ready = mentions(), mentions()
    ready.prepare()
    for note in range(len(TEXTS)):
        assert pairs(lazy.in_note(note)) == pairs(ready.in_note(note))
        assert pairs(lazy.of_note(note)) == pairs(ready.of_note(note))


def test_two_notes_of_one_name_are_both_mentioned() -> None:
    texts = ["Going home now", "", ""]
    made = Mentions(name_table([[], *([name_words(["Home"])] * 2)]), prose_of([note_terms(text) for text in texts]))
    assert pairs(made.in_note(0)) == [(1, 1), (2, 1)]
