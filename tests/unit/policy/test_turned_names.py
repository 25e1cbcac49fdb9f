"""Private names as people turn and shorten them are blanked; what only shares their words stays."""

from __future__ import annotations

import pytest

from aria_dream.policy.private_names import BLANK, private_names

NAMES = private_names(
    [
        ("People/Marta Oliveira.md", ()), ("Places/Clínica São João.md", ()), ("People/José Luis de la Cruz.md", ()),
        ("People/Иван Петров.md", ()), ("People/Anna-Lena Müller.md", ()), ("People/Li Wei.md", ()),
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
    ],
)  # fmt: skip
def test_what_only_shares_its_words_stays(text: str) -> None:
    assert NAMES.blank(text) == (text, 0)
    assert not NAMES.are_in(text)


def test_a_first_name_that_is_a_note_of_its_own_leaves_nothing_of_the_turned_one() -> None:
    assert NAMES.blank("Oliveira, Marta; and Marta")[0] == f"{BLANK}; and {BLANK}"
