"""Contradictions are found by cheap signals, and what only looks like one is left alone."""

from __future__ import annotations

import pytest

from aria_dream.consolidate.contradictions import MOST_CONFLICTS, find_conflicts
from tests.atoms import atom

CONTRADICTING = [
    ("The Eiffel Tower is 330 m tall.", "The Eiffel Tower is 324 metres tall.", "number"),
    ("The Eiffel Tower is 330 m tall.", "The Eiffel Tower has a height of 324 m.", "number"),
    ("Use PostgreSQL for the ledger.", "Do not use PostgreSQL.", "polarity"),
    ("Use PostgreSQL.", "Don't use PostgreSQL for the ledger.", "polarity"),
    ("The library closes at 18:00.", "The library closes at 20:00.", "number"),
    ("The library closes at 6 pm.", "The library closes at 20:00.", "number"),
    ("Marie Curie was born on 7 November 1867.", "Marie Curie was born in 1868.", "date"),
    ("The Lund project deadline is 3 May 2026.", "The Lund project deadline is 5 June 2026.", "date"),
    ("Die Bibliothek in Lund ist sonntags geöffnet.", "Die Bibliothek in Lund ist sonntags geschlossen.", "state"),
    ("Der Kölner Dom ist 157 m hoch.", "Der Kölner Dom ist 175 Meter hoch.", "number"),
    ("Honey does not spoil.", "Honey spoils.", "polarity"),
    ("Redis persists data to disk by default.", "Redis does not persist data to disk by default.", "polarity"),
    ("Smoking is allowed in the courtyard of Haus Elbe.",
     "Smoking is forbidden in the courtyard of Haus Elbe.", "state"),
    ("The Curie team meets on Tuesdays.", "The Curie team meets on Thursdays.", "date"),
    ("东京塔高333米。", "东京塔高350米。", "number"),
    ("Le château de Blois compte 564 pièces.", "Le château de Blois compte 460 pièces.", "number"),
    ("El museo del Prado no abre los lunes.", "El museo del Prado abre los lunes.", "polarity"),
    ("Water boils at 100 °C at sea level.", "Water boils at 90 °C at sea level.", "number"),
    ("Backups of Ares run every night and are encrypted.",
     "Backups of Ares run every night and are unencrypted.", "state"),
    ("The Aurora grant pays 20,000 euros.", "The Aurora grant pays 25.000 €.", "number"),
    ("Pluto has five moons.", "Pluto has 4 moons.", "number"),
]
APART = [
    ("The Eiffel Tower is 330 m tall.", "The Eiffel Tower is 1,083 feet tall."),
    ("In 2019 the team had 20 people.", "In 2024 the team had 35 people."),
    ("In 2019 the team had 20 people.", "The team had 35 people."),
    ("Nuclear power is safe.", "Critics say nuclear power is not safe."),
    ("Nuclear power might not be safe.", "Nuclear power is safe."),
    ("Is honey safe?", "Honey is not safe."),
    ("Windows 10 supports three screens.", "Windows 11 supports four screens."),
    ("Postgres 15 supports merge.", "Postgres 14 does not support merge."),
    ("The flight takes 3–5 hours.", "The flight takes 4 hours."),
    ("The flight takes at least 3 hours.", "The flight takes 4 hours."),
    ("The flight takes about 300 minutes.", "The flight takes 5 hours."),
    ("- [ ] Call the bank", "- [x] Call the bank"),
    ("> The Eiffel Tower is 330 m tall.", "The Eiffel Tower is 324 m tall."),
    ("If it rains, the market is closed.", "The market is open."),
    ("The north tower is 300 m tall.", "The south tower is 310 m tall."),
    ("Anna has three cats.", "Boris has four cats."),
    ("The first meeting in Lund took 3 hours.", "The second meeting in Lund took 4 hours."),
    ("It used to close at 18:00.", "It closes at 20:00."),
    ("`port: 5432`", "`port: 5433`"),
    ("The journey from Lund to Oslo takes 7 hours.", "The journey from Lund to Malmö takes 1 hour."),
    ("Mercury has no moons.", "Saturn has many moons."),
    ("The library in Lund is not closed.", "The library in Lund is open."),
    ("5 km is a short run.", "10 km is a long run."),
    ("The ticket costs 5 €.", "The ticket costs 5 $."),
    ("Some swans are not white.", "Swans are white."),
    ("Lund has 94,000 inhabitants.", "Lund has about 90,000 inhabitants."),
    ("Lund has 94,703 inhabitants.", "Lund has 94,700 inhabitants."),
]


@pytest.mark.parametrize(("one", "two", "signal"), CONTRADICTING)
def test_what_contradicts_is_found(one: str, two: str, signal: str) -> None:
    (found,) = find_conflicts([atom("Errands.md", one), atom("Town.md", two)])
    assert (found.first_claim, found.second_claim, found.signals) == (one, two, ("subject", signal))
    assert all(word.lower() in f"{one} {two}".lower() for word in found.subject.split())
    assert find_conflicts([atom("Town.md", two), atom("Errands.md", one)])


@pytest.mark.parametrize(("one", "two"), APART)
def test_what_only_looks_like_one_is_left_alone(one: str, two: str) -> None:
    assert find_conflicts([atom("Errands.md", one), atom("Town.md", two)]) == ()


@pytest.mark.parametrize(
    ("first", "second", "expected"),
    [
        # What a sentence does not name, its note's title does.
        (("PostgreSQL.md", "It supports JSON columns."), ("Bases.md", "PostgreSQL does not support JSON columns."), 1),
        (("PostgreSQL.md", "It supports JSON."), ("MySQL.md", "It does not support JSON."), 0),
        (
            ("PostgreSQL.md", "PostgreSQL is a database. The database supports JSON."),
            ("MySQL.md", "MySQL is a database. The database does not support JSON."),
            0,
        ),
        (("Dune.md", "Pages: 300"), ("Dune (novel).md", "Pages: 412"), 1),
        (("Dune.md", "Pages: 300"), ("Emma.md", "Pages: 250"), 0),
        (("Kitchen.md", "The deadline is 3 May 2026."), ("Thesis.md", "The deadline is 5 June 2026."), 0),
        # Other times.
        (("2024-05-01.md", "The Aurora budget is 20 €."), ("2024-06-01.md", "The Aurora budget is 25 €."), 0),
        (("Aurora log.md", "The Aurora budget is 20 €."), ("Aurora.md", "The Aurora budget is 25 €."), 0),
        (("Aurora, minutes 3 May.md", "The Aurora budget is 20 €."), ("Aurora.md", "The Aurora budget is 25 €."), 0),
        # Both sides of an argument.
        (("Against zoos.md", "The Lund zoo is safe."), ("Lund.md", "The Lund zoo is not safe."), 0),
        (("Zoo.md", "## Pro\n\nThe Lund zoo is safe.\n"), ("Lund.md", "The Lund zoo is not safe."), 0),
        (("Zoo.md", "## Visit\n\nThe Lund zoo is safe.\n"), ("Lund.md", "The Lund zoo is not safe."), 1),
    ],
)
def test_titles_and_headings_count(first: tuple[str, str], second: tuple[str, str], expected: int) -> None:
    assert len(find_conflicts([atom(*first), atom(*second)])) == expected


def test_an_essay_may_state_and_deny_but_not_count_twice() -> None:
    def in_one_note(one: str, two: str) -> int:
        first, second = atom("Zoo.md", one, ("Zoo", "Visit")), atom("Zoo.md", two, ("Zoo", "Stay"))
        return len(find_conflicts([first, second]))

    assert in_one_note("The Lund zoo is safe.", "The Lund zoo is not safe.") == 0
    assert in_one_note("The Lund zoo keeps 40 bears.", "The Lund zoo keeps 60 bears.") == 1


def test_a_claim_is_where_the_conflict_says() -> None:
    note = "Opened late.\n\n- The *[[Lund]] zoo* keeps\n  40 bears. ^bears\n- Tea.\n"
    (found,) = find_conflicts([atom("Zoo.md", note), atom("Lund.md", "The Lund zoo keeps 60 bears.")])
    assert found.first_claim == "The *[[Lund]] zoo* keeps\n  40 bears."
    assert found.first_claim in note


def test_a_series_is_no_contradiction_and_an_odd_one_out_is_one() -> None:
    series = [atom(f"Bear {n}.md", f"The Lund zoo bear eats {n} kg a day.") for n in range(2, 9)]
    assert find_conflicts(series) == ()
    same = [atom(f"Copy {n}.md", "The Lund zoo keeps 40 bears.") for n in range(6)]
    odd = atom("Odd.md", "The Lund zoo keeps 60 bears.")
    assert len(find_conflicts([*same, odd])) == 6


def letters(number: int) -> str:
    return "".join("abcdefghij"[int(digit)] for digit in str(number))


def test_work_and_result_are_bounded_and_the_same_twice() -> None:
    atoms = [
        atom(f"N{n}.md", f"The {name} of Lund keeps {40 + side} bears in {place}.")
        for n in range(600)
        for side in (0, 7)
        for name, place in [(f"Zoo{letters(n)}", f"Hall{letters(n)}")]
    ]
    seen: list[tuple[int, int]] = []
    found = find_conflicts(atoms, progress=lambda done, total: seen.append((done, total)))
    assert len(found) == MOST_CONFLICTS
    assert seen[-1] == (len(atoms), len(atoms))
    assert find_conflicts(atoms) == found
