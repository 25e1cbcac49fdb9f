"""Contradictions are found by cheap signals, and what only looks like one is left alone."""

from __future__ import annotations

from typing import Any

import pytest

from aria_dream.consolidate.claim_pairs import Lookup, index_claims, sketch_claims
from aria_dream.consolidate.contradictions import MOST_CONFLICTS, find_conflicts
from aria_dream.consolidate.passages import Passage
from tests.atoms import passage

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
    (
        "The team decided to use PostgreSQL for storage.",
        "The team decided not to use PostgreSQL for storage.",
        "polarity",
    ),
    ("We should use PostgreSQL for the ledger.", "We should not use PostgreSQL for the ledger.", "polarity"),
    ("The API rate limit is 100 requests per minute.", "The API rate limit is 60 requests per minute.", "number"),
    ("Project Apollo launches on 2026-03-01.", "Project Apollo launches on 2026-04-15.", "date"),
    ("The launch of Apollo is on March 1, 2026.", "Apollo launches on April 15, 2026.", "date"),
    ("The office is open on Saturdays.", "The office is closed on Saturdays.", "state"),
    ("Alice is the lead of Project Orion.", "Alice is not the lead of Project Orion.", "polarity"),
    ("The meeting with Acme takes place on Monday.", "The meeting with Acme takes place on Wednesday.", "date"),
    ("Der Server läuft auf Port 8080.", "Der Server läuft auf Port 9090.", "number"),
    ("Das Projekt Aurora endet am 31. März 2026.", "Das Projekt Aurora endet am 30. Juni 2026.", "date"),
    ("Die Firma Acme hat 120 Mitarbeiter.", "Die Firma Acme hat 150 Mitarbeiter.", "number"),
    ("Wir verwenden Redis als Cache.", "Wir verwenden Redis nicht als Cache.", "polarity"),
    ("La empresa Acme tiene 120 empleados.", "La empresa Acme tiene 150 empleados.", "number"),
    ("Le projet Aurora est terminé.", "Le projet Aurora n'est pas terminé.", "polarity"),
    ("L'azienda Acme ha 120 dipendenti.", "L'azienda Acme ha 150 dipendenti.", "number"),
    ("Vitamin C is soluble in water.", "Vitamin C is not soluble in water.", "polarity"),
    ("Vitamin C is water-soluble.", "Vitamin C isn't water-soluble.", "polarity"),
    ("The Battle of Hastings was fought in 1066.", "The Battle of Hastings was fought in 1067.", "number"),
    ("The backup job runs at 02:00.", "The backup job runs at 03:30.", "number"),
    ("Tomatoes are fruits.", "Tomatoes are not fruits.", "polarity"),
    ("Sharks are mammals.", "Sharks are not mammals.", "polarity"),
    ("Gold melts at 1064 °C.", "Gold melts at 1,164 °C.", "number"),
    ("The contract with Acme expires in 2027.", "The contract with Acme expires in 2028.", "date"),
    ("Acme's contract expires on 1 May 2027.", "Acme's contract expires on 1 June 2027.", "date"),
    ("The trial lasts 14 days.", "The trial lasts 30 days.", "number"),
    ("The free plan of Orion includes 5 GB of storage.", "The free plan of Orion includes 10 GB of storage.", "number"),
    ("Orion's free plan includes 5 GB.", "The free plan of Orion includes 10 GB of storage.", "number"),
    ("Feature flags are enabled in production.", "Feature flags are disabled in production.", "state"),
    ("The Riverside bridge was built in 1890.", "The Riverside bridge was built in 1902.", "date"),
    ("Penicillin was discovered by Fleming in 1928.", "Penicillin was discovered in 1938.", "date"),
    ("水在100°C沸腾。", "水在90°C沸腾。", "number"),
    ("这家公司有120名员工。", "这家公司有150名员工。", "number"),
    ("この会社には120人の社員がいる。", "この会社には150人の社員がいる。", "number"),
    ("Компания Акме имеет 120 сотрудников.", "Компания Акме имеет 150 сотрудников.", "number"),
    ("Dropbox sync is supported on Linux.", "Dropbox sync is no longer supported on Linux.", "polarity"),
    ("Password resets require a ticket.", "Password resets do not require a ticket.", "polarity"),
    ("The speed limit in Lund is 30 km/h.", "The speed limit in Lund is 50 km/h.", "number"),
    ("Dr. Weber recommends 20 mg of the drug per day.", "Dr. Weber recommends 40 mg of the drug per day.", "number"),
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
    ("Mount Everest is about 8,800 m high.", "Mount Everest is 8,848 m high."),
    ("Alice joined Acme in 2019.", "Alice left Acme in 2023."),
    ("The 2023 edition of the Orion manual has 300 pages.", "The 2024 edition of the Orion manual has 350 pages."),
    ("Acme had 120 employees in 2020.", "Acme had 150 employees in 2023."),
    ("As of 2020, Acme had 120 employees.", "Acme has 150 employees."),
    ("Some say coffee is healthy.", "Coffee is not healthy."),
    ("Coffee may cause insomnia.", "Coffee does not cause insomnia."),
    ("Would you use PostgreSQL?", "Do not use PostgreSQL."),
    ("On the one hand, remote work is productive.", "Remote work is not productive."),
    ("Option A: use PostgreSQL.", "Option B: do not use PostgreSQL."),
    ("The dev server runs on port 8080.", "The prod server runs on port 9090."),
    ("Chapter 3 has 20 pages.", "Chapter 4 has 25 pages."),
    ("It takes 2 hours.", "It takes 120 minutes."),
    ("The room seats 12 people.", "The hall seats 200 people."),
    ("Python 2 does not support f-strings.", "Python 3 supports f-strings."),
    ("Lund has 90,000 inhabitants.", "Malmö has 350,000 inhabitants."),
    ("A marathon is 42.195 km long.", "A marathon is 26.2 miles long."),
    ("Anna was born in 1980.", "Boris was born in 1985."),
    ("The first edition appeared in 1999.", "The second edition appeared in 2005."),
    ("In winter the museum closes at 16:00.", "In summer the museum closes at 18:00."),
    ("Adults pay 12 €.", "Children pay 6 €."),
    ("Monday: 3 km run", "Tuesday: 5 km run"),
    ("The train leaves at 8:15 and 9:15.", "The train leaves at 10:15."),
    ("The museum opens at 9:00.", "The museum closes at 17:00."),
    ("Ben weighs 80 kg.", "Ben's bike weighs 12 kg."),
    ("Not all swans are white.", "Swans are white."),
    ("I don't think Redis is a good fit.", "Redis is a good fit."),
    ("Yesterday the server was down.", "The server is not down."),
    ("The recipe needs 200 g flour.", "The recipe needs 300 g sugar."),
    ("According to the report, Acme has 120 employees.", "Acme has 150 employees."),
    ("“Honey never spoils in the jar,” said Mia.", "Honey spoils."),
    ("We rented 3 bikes in Oslo.", "We rented 5 bikes in Bergen."),
    ("See chapter 5 of Dune.", "See chapter 7 of Dune."),
]


@pytest.mark.parametrize(("one", "two", "signal"), CONTRADICTING)
def test_what_contradicts_is_found(one: str, two: str, signal: str) -> None:
    (found,) = find_conflicts([passage("Errands.md", one), passage("Town.md", two)])
    assert (found.first_claim, found.second_claim, found.signals) == (one, two, ("subject", signal))
    assert all(word.lower() in f"{one} {two}".lower() for word in found.subject.split())
    assert find_conflicts([passage("Town.md", two), passage("Errands.md", one)])


@pytest.mark.parametrize(("one", "two"), APART)
def test_what_only_looks_like_one_is_left_alone(one: str, two: str) -> None:
    assert find_conflicts([passage("Errands.md", one), passage("Town.md", two)]) == ()


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
    assert len(find_conflicts([passage(*first), passage(*second)])) == expected


ROOM = "The big room seats {} people when the long table stands in it, and the windows look to the yard."
TITLES = [
    ("Meeting room", "Mill"), ("Pros and cons", "Mill"), ("History of the house", "Archive"), ("2023", "Mill"),
    ("Who sits where?", "Mill"), ("N1", "N2"), ("Besprechung", "Mill"),
]  # fmt: skip


@pytest.mark.parametrize(("first", "second"), TITLES)
@pytest.mark.parametrize(
    ("told", "one", "two", "signal"),
    [
        (ROOM, "12", "20", "number"),
        ("The harbour bridge was finished in {} after eight years of work.", "1932", "1934", "date"),
        ("Der große Saal hinter dem Hof fasst {} Gäste an langen Tischen.", "12", "20", "number"),
        ("La grande salle accueille {} personnes quand la longue table est dressée.", "12", "20", "number"),
        ("The pump in the cellar delivers {} of water per minute.", "40 l", "55 l", "number"),
    ],
)
def test_equal_sentences_with_another_figure_are_seen_whatever_the_titles(
    first: str, second: str, told: str, one: str, two: str, signal: str
) -> None:
    found = find_conflicts([passage(f"{first}.md", told.format(one)), passage(f"{second}.md", told.format(two))])
    assert [conflict.signals for conflict in found] == [("subject", signal)]


@pytest.mark.parametrize(
    ("first", "second"),
    [
        (("Hall A", "Hall A seats 200 people on three levels."), ("B", "Hall B seats 120 people on three levels.")),
        (("x", "In summer hall A seats 200 people and a dog."), ("y", "In summer hall C seats 90 people and a dog.")),
        (("Pump", "The pump in the cellar delivers 40 l of clear water per minute into the long trough of stone."),
         ("Well", "The pump in the garden delivers 55 l of clear water per minute into the long trough of stone.")),
        (("Halle", "Der Saal im Norden fasst 200 Gäste auf drei Ebenen mit Blick zum Hof."),
         ("Saal", "Der Saal im Westen fasst 240 Gäste auf drei Ebenen mit Blick zum Hof.")),
        (("Anna", "Anna works 30 hours a week in the bakery."), ("Ben", "Ben works 38 hours a week in the bakery.")),
        (("Meeting 2024-03-01", ROOM.format(12)), ("Meeting 2024-04-01", ROOM.format(20))),
        (("Meeting room", "It seats 12 people when the long table stands in the yard."),
         ("Mill", "It seats 20 people when the long table stands in the yard.")),
    ],
)  # fmt: skip
def test_sentences_of_two_subjects_raise_no_alarm(first: tuple[str, str], second: tuple[str, str]) -> None:
    assert find_conflicts([passage(f"{title}.md", text) for title, text in (first, second)]) == ()


def test_an_essay_may_state_and_deny_but_not_count_twice() -> None:
    def in_one_note(one: str, two: str) -> int:
        first, second = passage("Zoo.md", one, ("Zoo", "Visit")), passage("Zoo.md", two, ("Zoo", "Stay"))
        return len(find_conflicts([first, second]))

    assert in_one_note("The Lund zoo is safe.", "The Lund zoo is not safe.") == 0
    assert in_one_note("The Lund zoo keeps 40 bears.", "The Lund zoo keeps 60 bears.") == 1


def test_a_claim_is_where_the_conflict_says() -> None:
    note = "Opened late.\n\n- The *[[Lund]] zoo* keeps\n  40 bears. ^bears\n- Tea.\n"
    (found,) = find_conflicts([passage("Zoo.md", note), passage("Lund.md", "The Lund zoo keeps 60 bears.")])
    assert found.first_claim == "The *[[Lund]] zoo* keeps\n  40 bears."
    assert found.first_claim in note


def test_a_series_is_no_contradiction_and_an_odd_one_out_is_one() -> None:
    series = [passage(f"Bear {n}.md", f"The Lund zoo bear eats {n} kg a day.") for n in range(2, 9)]
    assert find_conflicts(series) == ()
    same = [passage(f"Copy {n}.md", "The Lund zoo keeps 40 bears.") for n in range(6)]
    odd = passage("Odd.md", "The Lund zoo keeps 60 bears.")
    assert len(find_conflicts([*same, odd])) == 1  # whoever settles it has settled them all
    third = passage("Third.md", "The Lund zoo keeps 80 bears.")
    assert len(find_conflicts([*same, odd, third])) == 3


def letters(number: int) -> str:
    return "".join("abcdefghij"[int(digit)] for digit in str(number))


def test_work_and_result_are_bounded_and_the_same_twice() -> None:
    passages = [
        passage(f"N{n}.md", f"The {name} of Lund keeps {40 + side} bears in {place}.")
        for n in range(600)
        for side in (0, 7)
        for name, place in [(f"Zoo{letters(n)}", f"Hall{letters(n)}")]
    ]
    seen: list[tuple[int, int]] = []
    found = find_conflicts(passages, progress=lambda done, total: seen.append((done, total)))
    assert len(found) == MOST_CONFLICTS
    assert seen[-1] == (len(passages), len(passages))
    assert find_conflicts(passages) == found


def _of_aurora(count: int) -> list[Passage]:
    """A subject that every claim speaks of, each of a thing that twenty of them have, and one thing that all have."""
    return [
        passage(f"N{n}.md", f"The Aurora project has {n} Thing{letters(n // 20)}. The Aurora project has {n} rooms.")
        for n in range(count)
    ]


def test_a_subject_that_everybody_speaks_of_is_found_by_two_words() -> None:
    """No word of the two claims is rare, and no other two claims have both of theirs."""
    common = [passage(f"A{n}.md", f"The harbour office has {n} windows. The harbour pays rent.") for n in range(60)]
    common += [passage(f"B{n}.md", f"The lighthouse keeps {n} windows. A lighthouse wants paint.") for n in range(60)]
    pair = [
        passage(f"{name}.md", f"The lighthouse rent for the office is {rent} euros.")
        for name, rent in (("One", 300), ("Two", 400))
    ]
    found = find_conflicts([*common, *pair])
    assert [(one.first.path, one.second.path) for one in found] == [("One.md", "Two.md")]
    labels = [passage("Tools.md", "- Lighthouse rent"), passage("Apps.md", "- Umbrel (not lighthouse rent)")]
    assert find_conflicts([*common, *labels]) == ()  # a label states nothing


def test_work_is_near_linear_in_a_subject_of_half_the_vault() -> None:
    """Twice the claims of one subject are no four times the candidates; what nothing finds is counted aloud."""

    def looked_at(count: int) -> tuple[int, int]:
        passages = _of_aurora(count)
        lookup = Lookup(index_claims(passages, None))
        return sum(1 for _ in lookup.candidates()), lookup.passed_over

    (few, _), (many, passed_over) = looked_at(100), looked_at(400)
    assert 0 < few < many <= 6 * few
    assert passed_over == 400
    said: list[str] = []
    find_conflicts(_of_aurora(400), left_out=said.append)
    assert said == ["400 claims were compared with no others, as their words are too common in this vault"]


def test_the_most_alike_of_too_many_are_looked_at_and_that_is_said() -> None:
    passages = [
        passage(f"N{n}.md", f"The Zoo{letters(n)} of Lund keeps {40 + side} bears in Hall{letters(n)}.")
        for n in range(MOST_CONFLICTS + 20)
        for side in (0, 7)
    ]
    said: list[str] = []
    assert len(find_conflicts(passages, left_out=said.append)) == MOST_CONFLICTS
    assert said == [f"of {MOST_CONFLICTS + 20} contradictions only the {MOST_CONFLICTS} most alike were looked at"]


def test_the_closer_look_can_be_ended_before_anything_is_read() -> None:
    passages = [
        passage(f"N{n}.md", f"The Zoo{letters(n // 2)} of Lund keeps {40 + n % 2} bears in Hall{letters(n // 2)}.")
        for n in range(120)
    ]
    sketches = [sketch_claims(one) for one in passages]

    class Counted(list[Passage]):
        read = 0

        def __getitem__(self, at: Any) -> Any:
            Counted.read += 1
            return super().__getitem__(at)

    def stop() -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        find_conflicts(Counted(passages), sketches=sketches, permit=stop)
    assert Counted.read == 0
    assert len(find_conflicts(passages, sketches=sketches)) == 60
