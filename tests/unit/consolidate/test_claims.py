"""What a note asserts in clauses, in Japanese, of whom, and in another language; and the corpus of pairs of claims."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import pytest

from aria_dream.consolidate import japanese
from aria_dream.consolidate.claims import read_claims
from aria_dream.consolidate.clauses import LONGEST_SENTENCE, clauses_of
from aria_dream.consolidate.contradictions import find_conflicts
from aria_dream.consolidate.translated import counted_thing
from tests.atoms import passage

CORPUS = Path(__file__).resolve().parents[3] / "benchmarks" / "claim-pairs.jsonl"


def signals(one: str, two: str) -> list[str]:
    """What the second signal of each conflict is, the same whichever note is read first."""
    found = [
        [conflict.signals[1] for conflict in find_conflicts([passage("Errands.md", a), passage("Town.md", b)])]
        for a, b in ((one, two), (two, one))
    ]
    assert found[0] == found[1]
    return found[0]


def test_of_the_corpus_no_pair_is_called_a_contradiction_that_is_none() -> None:
    """84 pairs from before the rules and 50 from after; what is missed is counted, what is made up is not allowed."""
    found: Counter[str] = Counter()
    for line in CORPUS.read_text(encoding="utf-8").splitlines():
        pair = json.loads(line)
        sides = [passage(f"{pair[side]['path']}", pair[side]["text"]) for side in "ab"]
        found[pair["label"]] += bool(find_conflicts(sides))
    assert found["none"] == 0
    assert found["conflict"] >= 55


@pytest.mark.parametrize(
    ("sentence", "expected"),
    [
        ("The bridge has 12 arches, and cyclists are allowed on it.",
         ["The bridge has 12 arches", "cyclists are allowed on it."]),
        ("Bruno sleeps in the hall and Bruno is allergic.", ["Bruno sleeps in the hall", "Bruno is allergic."]),
        ("Der Turm steht seit 1200, und das Dach ist neu.", ["Der Turm steht seit 1200", "das Dach ist neu."]),
        ("The mill burned down, and the mill has 3 wheels.", ["The mill burned down", "the mill has 3 wheels."]),
        ("We meet on Monday, but the hall is closed; the key is lost.",
         ["We meet on Monday", "the hall is closed", "the key is lost."]),
        ("Because the ship leaked, the Aurora carries 150 people.", ["the Aurora carries 150 people."]),
        # One statement, or one that holds only where the other says so.
        ("The shop opens at 8 and closes at 6.", []),
        ("Tom and the dog are old.", []),
        ("In winter the library opens at 10, and the museum closes at 5.", []),
        ("If it rains, the market is closed, and the hall is open.", []),
        ("The tower, the oldest of the town, has 12 floors, and it leans.", []),
        ("The tower has 12 floors.", []),
        ("x" * LONGEST_SENTENCE + " is old, and the roof is new.", []),
        ("", []),
    ],
)  # fmt: skip
def test_clauses_that_stand_alone(sentence: str, expected: list[str]) -> None:
    assert [sentence[start:end] for start, end in clauses_of(sentence)] == expected


def test_a_clause_is_held_against_another_note_and_told_once() -> None:
    long = "The Falken hut lies above the second lake, and the Falken hut sleeps 24 people."
    (found,) = find_conflicts([passage("Hut.md", long), passage("Booking.md", "The Falken hut sleeps 36 people.")])
    assert found.first_claim == "the Falken hut sleeps 24 people."
    assert len(find_conflicts([passage("Hut.md", long), passage("Booking.md", long.replace("24", "36"))])) == 1
    for doubt in ("If it rains, ", "Critics say that ", "Perhaps "):
        assert signals(doubt + long[:1].lower() + long[1:], "The Falken hut sleeps 36 people.") == []


def test_a_clause_says_where_it_stands() -> None:
    text = "It rained.\n\nThe Arlen bridge has *12 arches*, and cyclists are allowed on the Arlen bridge.\n"
    claims = read_claims(passage("Bridge.md", text))
    assert [text[claim.start :].startswith(claim.text) for claim in claims] == [True] * len(claims)
    assert len(claims) == 4
    assert {claim.sentence for claim in claims[1:]} == {text.index("The")}


@pytest.mark.parametrize(
    ("one", "two", "expected"),
    [
        ("この図書館は日曜日に開いている。", "この図書館は日曜日に開いていない。", ["polarity"]),
        ("田中先生は本を書きます。", "田中先生は本を書きません。", ["polarity"]),
        ("新幹線は京都に止まる。", "新幹線は京都に止まらなかった。", ["polarity"]),
        ("その川には鮭がいる。", "その川には鮭がいない。", ["polarity"]),
        ("ホテルに駐車場がある。", "ホテルに駐車場がない。", ["polarity"]),
        ("このアプリは無料です。", "このアプリは無料ではありません。", ["polarity"]),
        ("この部屋は静かだ。", "この部屋は静かではない。", ["polarity"]),
        ("山の高さは3776メートルだ。", "山の高さは3190メートルです。", ["number"]),
        ("纯水能导电。", "纯水不能导电。", ["polarity"]),
        ("这种蘑菇有毒。", "这种蘑菇没有毒。", ["polarity"]),
        # Not what is denied, not denied, doubted, asked, of some, of another.
        ("この薬はよくきく。", "この薬はにがくない。", []),
        ("ねこは水を飲む。", "いぬは水を飲まない。", []),
        ("冬は山小屋が開いている。", "夏は山小屋が開いていない。", []),
        ("薬は毎日飲まなければならない。", "薬は毎日飲む。", []),
        ("この橋は危ない。", "この橋は危ないです。", []),
        ("バスは来ないかもしれない。", "バスは来る。", []),
        ("この店は開いていないか。", "この店は開いている。", []),
        ("すべての鳥が飛べるわけではない。", "すべての鳥が飛べる。", []),
        ("差不多所有人都在上海工作。", "所有人都在上海工作。", []),
        ("如果下雨，商店不开门。", "商店开门。", []),
    ],
)
def test_scripts_without_spaces_deny_inside_and_at_the_end(one: str, two: str, expected: list[str]) -> None:
    assert signals(one, two) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("魚を食べる。", "魚を食"), ("魚を食べません。", "魚を食"), ("店は開いていなかった。", "店は開"),
        ("毒がない", "毒"), ("薬はよくきく。", "薬はよくきく。"), ("Plain words.", "Plain words."), ("", ""),
        ("開いた", "開"), ("静かではありませんでした。", "静"),
    ],
)  # fmt: skip
def test_the_ending_of_a_japanese_predicate(text: str, expected: str) -> None:
    blanked = japanese.without_ending(text)
    assert len(blanked) == len(text)
    assert blanked.replace(" ", "").rstrip("。") == expected.replace(" ", "").rstrip("。")


@pytest.mark.parametrize(
    ("one", "two", "expected"),
    [
        ("Anna employs Ben.", "Ben employs Anna.", ["roles"]),
        ("Anton Krall reports to Petra Lohmann.", "Petra Lohmann reports to Anton Krall.", ["roles"]),
        ("Jonas vermietet die Wohnung an Miriam.", "Miriam vermietet die Wohnung an Jonas.", ["roles"]),
        ("Google acquired YouTube in 2006.", "YouTube acquired Google in 2006.", ["roles"]),
        ("Oslo is north of Lund.", "Lund is north of Oslo.", ["roles"]),
        ("Claire est la mère de Juliette.", "Juliette est la mère de Claire.", ["roles"]),
        ("Anna beat Ben in the Lund final.", "Ben beat Anna in the Lund final.", ["roles"]),
        # Both may be true: in turn, of another day, of each other, or of a relation that nobody knows.
        ("Anna beat Ben.", "Ben beat Anna.", []),
        ("Anna beat Ben in 2019.", "Ben beat Anna in 2020.", []),
        ("The road leads from Brekke to Hallin.", "The road leads from Hallin to Brekke.", []),
        ("Claire loves Marc.", "Marc loves Claire.", []),
        ("Anna married Ben in Oslo.", "Ben married Anna in Oslo.", []),
        ("Anna and Ben lead the team.", "Ben and Anna lead the team.", []),
        ("Anna does not employ Ben.", "Ben employs Anna.", []),
        ("Perhaps Anna employs Ben.", "Ben employs Anna.", []),
        ("Most say that Anna employs Ben.", "Ben employs Anna.", []),
    ],
)
def test_who_does_it_to_whom(one: str, two: str, expected: list[str]) -> None:
    assert signals(one, two) == expected


@pytest.mark.parametrize(
    ("one", "two", "expected"),
    [
        ("The Brocken is 1141 metres high.", "Der Brocken ist 1241 Meter hoch.", ["number"]),
        ("The Lyra carries 80 passengers.", "Le Lyra transporte 120 passagers.", ["number"]),
        ("Nimbus costs 12 euros a month.", "Nimbus kostet 15 Euro im Monat.", ["number"]),
        ("Marta Solé was born in 1931.", "Marta Solé nació en 1936.", ["date"]),
        ("Il ponte Sarra è lungo 210 metri.", "The Sarra bridge is 260 metres long.", ["number"]),
        ("Le musée Orsi ouvre à 9:00.", "The Orsi museum opens at 10:00.", ["number"]),
        # The same, or of another thing, time, scope; or with a word that is not understood.
        ("The Brocken is 1.141 km high.", "Der Brocken ist 1141 Meter hoch.", []),
        ("The Lyra is 24 metres long.", "Die Lyra ist 6 Meter breit.", []),
        ("Nimbus costs 12 euros a month.", "Nimbus kostet 120 Euro im Jahr.", []),
        ("Marta Solé was born in 1931.", "Marta Solé murió en 1999.", []),
        ("The Zephyr weighs 900 kg.", "Der Zephyr wiegt leer 700 kg.", []),
        ("The Zephyr weighs up to 900 kg.", "Der Zephyr wiegt 700 kg.", []),
        ("The Lyra carries 80 passengers.", "Le Vega transporte 120 passagers.", []),
        ("The Lyra carries 80 passengers.", "Le Lyra transporte 120 voitures.", []),
        ("The Orsi museum does not open at 9:00.", "Il museo Orsi apre alle 10:00.", []),
    ],
)
def test_a_number_in_another_language(one: str, two: str, expected: list[str]) -> None:
    assert signals(one, two) == expected


def test_what_is_counted_has_one_name() -> None:
    assert counted_thing("count passenger") == counted_thing("count passager") != counted_thing("count pagin")
    assert counted_thing("count zyx") == "count zyx"
    assert counted_thing("length") == "length"


@pytest.mark.parametrize(
    ("one", "two", "expected"),
    [
        ("The lamp on the Orme pier is broken.", "The lamp on the Orme pier is working.", ["state"]),
        ("Le bassin du jardin Albert est vide.", "Le bassin du jardin Albert est plein.", ["state"]),
        ("Der Keller von Haus Elbe ist feucht.", "Der Keller von Haus Elbe ist trocken.", ["state"]),
        ("The soil on plot nine is acidic.", "The soil on plot nine is alkaline.", ["state"]),
        ("The valve of Haus Elbe is wet in summer.", "The valve of Haus Elbe is dry in winter.", []),
        ("The lamp on the Orme pier is broken.", "The lamp on the Lund pier is working.", []),
        ("The balcony seats 60 people.", "With the balcony the hall seats 260 people.", []),
        ("The socket is off to the right.", "The socket is on the right.", []),
        ("The telemetry of Orion is off.", "The telemetry of Orion is on.", ["state"]),
        ("Marta Solé was born in 1931.", "Marta Solé died in 1999.", []),
        ("The Lund mill was founded in 1890.", "The Lund mill was demolished in 1960.", []),
        ("The flat of Uma has 2 rooms.", "The flat of Ida has 5 rooms.", []),
        ("The flat of Uma has 2 rooms.", "The flat of Uma has 5 rooms.", ["number"]),
        ("駐車場はある。", "駐車場はない。", []),
        ("The Orme gate may be locked.", "The Orme gate may be unlocked.", []),
        ("The Orme configuration may be locked.", "The Orme configuration may be unlocked.", []),
        ("To associate a route with the Orme table", "To disassociate a route from the Orme table", []),
        ("Hive one has 8 frames.", "Hive two has 10 frames.", []),
    ],
)
def test_opposite_states(one: str, two: str, expected: list[str]) -> None:
    assert signals(one, two) == expected


SMALL_ELSEWHERE = ("war", "son", "die", "hat", "man", "bin", "chat", "sale", "dove", "met", "van", "door", "sin")
"""English words that are small ones, or others, in another language."""


@pytest.mark.parametrize("word", SMALL_ELSEWHERE)
def test_a_word_that_is_small_in_another_language_is_one_here(word: str) -> None:
    one, two = passage("A.md", f"The {word} weighs 12 kg.\n"), passage("B.md", f"The {word} weighs 14 kg.\n")
    assert len(find_conflicts([one, two])) == 1
    other = passage("B.md", "The scarf weighs 14 kg.\n")
    assert not find_conflicts([one, other])
    mine = passage("A.md", f"The {word} of Marguerite weighs 12 kg.\n")
    other = passage("B.md", f"The {word} of Marguerite weighs 9 kg.\n")
    hers = passage("B.md", "The scarf of Marguerite weighs 9 kg.\n")
    assert len(find_conflicts([mine, other])) == 1
    assert not find_conflicts([mine, hers])


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("Der Krieg war 12 Jahre lang.", "Der Krieg dauerte 14 Jahre."),
        ("Das Orla hat 180 Seiten.", "Das Orla hat 120 Seiten."),
        ("Die Off-Taste liegt 12 cm tief.", "Die Off-Taste liegt 14 cm tief."),
        ("Le but du film dure 12 minutes.", "Le but du film dure 14 minutes."),
        ("Le son de la cloche dure 12 secondes.", "Le son de la cloche dure 14 secondes."),
    ],
)
def test_small_words_are_those_of_the_language_of_the_passage(first: str, second: str) -> None:
    found = find_conflicts([passage("A.md", f"{first}\n"), passage("B.md", f"{second}\n")])
    assert bool(found) == ("dauerte" not in second)
