"""Overlapping names, and names of one word."""

from __future__ import annotations

import pytest

from aria_dream.judging.common_ground import Between, NoteView, in_common
from aria_dream.ranking.mentions import Mentions, name_table, name_words, prose_of
from aria_dream.ranking.names import NameStore, is_common_use, is_quoted, stands_before_noun
from aria_dream.ranking.terms import note_terms

NAMES = (
    "Starter", "Sourdough starter", "Wild sourdough starter", "京都", "东京都", "東京都庁", "서울", "서울대학교",
    "Wave-form", "Wave",
)  # fmt: skip


@pytest.mark.parametrize(
    ("text", "name", "inside"),
    [
        ("feed a sourdough starter daily", "starter", True),
        ("feed a Sourdough Starter daily", "Starter", True),
        ("two sourdough starters rise", "starters", True),
        ("a sourdough-starter rises", "starter", True),
        ("a wild sourdough starter", "sourdough starter", True),
        ("a wild sourdough starter", "wild sourdough starter", False),
        ("feed the starter daily", "starter", False),
        ("We eat sourdough. Starter is fed.", "Starter", False),
        ("a sourdough\nstarter", "starter", True),
        ("a wave form in water", "wave", True),
        ("东京都的酵母", "京都", True),
        ("在京都的酵母", "京都", False),
        ("서울대학교에서 공부", "서울", True),
        ("서울에서 공부", "서울", False),
    ],
)
def test_a_name_inside_a_longer_one(text: str, name: str, inside: bool) -> None:
    start = text.index(name)
    assert NameStore(NAMES).is_part(text, start, start + len(name)) is inside


def test_the_ranking_takes_the_longest_name_whoever_bears_it() -> None:
    texts = ["A sourdough starter, two sourdough-starters.", "", "", "One starter is fed.", "东京都的酵母 在京都", ""]
    own = [["Bread"], ["Starter"], ["Sourdough starter"], ["Log"], ["Yeast"], ["京都"]]
    terms = prose_of([note_terms(text) for text in texts])
    table = name_table([name_words(names) for names in own], name_words(["东京都", "One starter"]))
    for ready in (False, True):
        made = Mentions(table, terms)
        if ready:
            made.prepare()
        assert made.of_note(1)[0].tolist() == []  # the names of hidden notes hold it too
        assert made.of_note(2)[0].tolist() == [0]
        assert made.of_note(5)[1].tolist() == [1]
        assert made.in_note(0)[0].tolist() == [2]
        assert made.in_note(4)[0].tolist() == [5]


def test_a_note_inside_whose_own_longer_name_another_name_stands() -> None:
    terms = prose_of([note_terms("This sourdough starter rises."), note_terms("")])
    made = Mentions(name_table([name_words(["Sourdough starter"]), name_words(["Starter"])]), terms)
    assert made.of_note(1)[0].tolist() == []
    assert made.in_note(0)[0].tolist() == []


def mention(prose: str, title: str, *aliases: str, other: str = "nothing", linked: bool = False) -> object:
    between = [Between("Kitchen", from_first=True, from_second=True)] if linked else []
    store = NameStore(NAMES)
    return in_common(NoteView("Log", prose), NoteView(title, other, aliases), lambda _word: 1.0, between, store).mention


def test_the_reason_names_no_note_inside_the_name_of_another() -> None:
    assert mention("Much like a sourdough starter, it sleeps.", "Starter") is None
    assert mention("Much like a sourdough starter, it sleeps.", "Sourdough starter") == ("Log", "sourdough starter")
    assert mention("Much like a sourdough starter, it sleeps.", "Levain", "Sourdough starter") is not None
    assert mention("东京都的酵母很特别。", "京都") is None
    assert mention("서울대학교에서 공부한다.", "서울") is None


def test_a_common_word_is_no_mention_without_a_second_sign() -> None:
    assert mention("There is a safety net under the rope.", "Safety") is None
    assert mention("For once the safety was off.", "Safety") is None
    assert mention("Safety was off.", "Safety") is None
    assert mention("He said “we have no safety here” and left.", "Safety") is None
    assert mention("For once the safety was off.", "Safety", linked=True) == ("Log", "safety")
    assert mention("The safety was off, and safety is all.", "Safety") is not None
    assert mention("The parachute and the safety were off.", "Safety", other="A parachute is packed twice.") is not None
    assert mention("We met at the Safety and left.", "Safety") is not None
    assert mention("It runs on LSTM in the cellar.", "LSTM") is not None


def test_a_verb_behind_a_name_does_not_make_it_a_compound() -> None:
    assert mention("I brewed kombucha again and kombucha ferments fast.", "Kombucha") is not None
    assert mention("Here safety nets hold, there safety glasses.", "Safety") is None


def test_german_nouns_are_common_ones_with_their_capital() -> None:
    assert mention("Wir haben auch nicht viel über die Sicherheit gesagt, aber immer etwas.", "Sicherheit") is None
    assert mention("Über die Sicherheit gibt es nichts, und keine Sicherheit ist immer.", "Sicherheit") is not None


@pytest.mark.parametrize(
    ("text", "word", "compound"),
    [
        ("a safety net holds", "safety", True),
        ("the safety is off", "safety", False),
        ("the safety, net of costs", "safety", False),
        ("the safety mattered", "safety", False),
        ("the safety slowly went", "safety", False),
        ("safety needs a hand", "safety", False),
        ("a safety supply", "safety", True),
        ("a safety seed", "safety", True),
        ("пью чай зелёный", "чай", False),
        ("京都大学にて", "京都", True),
        ("京都的酵母", "京都", False),
        ("京都に住む", "京都", False),
        ("서울에서 산다", "서울", False),
        ("서울역이다", "서울", True),
        ("und auch die Sicherheit ist nicht immer da", "Sicherheit", False),
        ("mais aussi la sécurité sociale est toujours dans cette ville", "sécurité", False),
    ],
)
def test_the_first_word_of_a_compound(text: str, word: str, compound: bool) -> None:
    assert stands_before_noun(text, text.index(word) + len(word)) is compound


@pytest.mark.parametrize(
    ("text", "quoted"),
    [
        ("He said “there is no safety in it” to me", True),
        ('He said "there is no safety in it" to me', True),
        ("Er sagte „da ist keine safety drin“ zu mir", True),
        ("« il n'y a pas de safety ici »", True),
        ("「ここに safety はない」", True),
        ("what is called “safety” here", False),
        ('the "rope" and the safety of the "net" here', False),
        ("the safety is off", False),
    ],
)
def test_inside_a_quotation(text: str, quoted: bool) -> None:
    start = text.index("safety")
    assert is_quoted(text, start, start + 6) is quoted


def test_scripts_without_case_are_told_by_what_follows_alone() -> None:
    text = "在京都的酵母"
    assert not is_common_use(text, 1, 3)
