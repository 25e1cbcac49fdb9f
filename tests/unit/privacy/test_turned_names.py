"""Private names as people turn and shorten them are blanked; what only shares their words stays."""

from __future__ import annotations

import pytest

from aria_dream.privacy.private_names import BLANK, private_names

NAMES = private_names(
    [
        ("People/Marta Oliveira.md", ()), ("Places/Clínica São João.md", ()), ("People/José Luis de la Cruz.md", ()),
        ("People/Иван Петров.md", ()), ("People/Anna-Lena Müller.md", ()), ("People/Li Wei.md", ()),
        ("People/Dr. Peter Klein.md", ()), ("Work/Gärtnerei Ahorn GmbH.md", ()), ("People/佐藤 花子.md", ()),
        ("People/Anna Maria von der Heide.md", ()), ("People/García López, María José.md", ()),
        ("People/Jean-Luc Fontaine.md", ("Prof. Dr. Ruth Adler",)),
        ("Diary/Garden plan.md", ()), ("Diary/Heart condition.md", ("Zoe Santos Silva",)), ("People/Marta.md", ()),
    ]
)  # fmt: skip


@pytest.mark.parametrize(
    "name",
    [
        "Oliveira, Marta", "OLIVEIRA, Marta", "oliveira, marta", "Oliveira,Marta", "Oliveira Marta", "M. Oliveira",
        "M Oliveira", "Marta O.", "Mar. Oliveira", "Oliveira, M.", "Oliveira M.", "[[Oliveira, Marta]]",
        "Clínica S. João", "C. S. João", "Clin. São João", "Clinica S. Joao", "J. L. de la Cruz", "J.L. de la Cruz",
        "de la Cruz, José Luis", "Cruz, J. L.", "И. Петров", "Петров, Иван", "A.-L. Müller", "Mueller, Anna-Lena",
        "W. Li", "Li W.", "Z. Silva", "Zoe Silva", "Silva, Zoe S.",
        "Peter Klein", "P. Klein", "Klein, Peter", "Gärtnerei Ahorn", "Gärtn. Ahorn", "佐藤花子", "A. v. d. Heide",
        "Anna v.d. Heide", "AM von der Heide", "JL Fontaine", "Fontaine JL", "Ruth Adler", "R. Adler",
        "María José García López", "Maria Jose Garcia Lopez", "M. J. García López", "MJ Garcia Lopez",
    ],
)  # fmt: skip
def test_a_turned_name_goes(name: str) -> None:
    text, count = NAMES.blank(f"We met {name} there.")
    assert text.replace("[[", "").replace("]]", "") == f"We met {BLANK} there."
    assert count >= 1
    assert NAMES.are_in(f"We met {name} there.")
    assert not NAMES.are_in(text)


@pytest.mark.parametrize(
    "text",
    [
        "We plan, garden and rest.", "The heart, its condition and its rate.", "Olive, a plant.", "Mr. O. came.",
        "The clinic S. is closed.", "A plan for a garden.", "Vitamin C. Silver and gold.",
        "Kleinigkeiten and klein.", "Dr. Peter said so.", "An adler, a heath, a klein bottle.", "The AM heath.",
    ],
)  # fmt: skip
def test_what_only_shares_its_words_stays(text: str) -> None:
    assert NAMES.blank(text) == (text, 0)
    assert not NAMES.are_in(text)


def test_a_first_name_that_is_a_note_of_its_own_leaves_nothing_of_the_turned_one() -> None:
    assert NAMES.blank("Oliveira, Marta; and Marta")[0] == f"{BLANK}; and {BLANK}"
