"""What is the case between two near passages, in words and in the sentences that only one of them has."""

from __future__ import annotations

import pytest

from aria_dream.consolidate.passage_difference import LONGEST_SHOWN, MOST_SHOWN, difference_of

TEA = "Tea wants soft water. The pot is warmed first.\n"


@pytest.mark.parametrize(
    ("first", "second", "what", "only_first", "only_second"),
    [
        (TEA, TEA + "\nIn summer it stands overnight.\n", "the second holds the first whole", (),
         ("In summer it stands overnight.",)),
        ("- one more thing\n\n" + TEA, TEA, "the first holds the second whole", ("one more thing",), ()),
        (TEA, "The pot is warmed first.\r\n\r\n**Tea** wants soft water.\r\n", "both say the same, word", (), ()),
        (TEA + "It draws 3 minutes.", TEA + "It draws 4 minutes.", "only a figure differs: 3 against 4",
         ("It draws 3 minutes.",), ("It draws 4 minutes.",)),
        (TEA + "Er zog am 3.5.2024 ein.", TEA + "Er zog am 4.5.2024 ein.", "only", ("Er zog am 3.5.2024 ein.",),
         ("Er zog am 4.5.2024 ein.",)),
        (TEA + "It is green.", TEA + "It is black.", "2 sentences are the same, and the rest is told in other words",
         ("It is green.",), ("It is black.",)),
        ("The kettle sings.", "Water boils with a song.", "told in other words", ("The kettle sings.",),
         ("Water boils with a song.",)),
        ("水は軟らかい。鍋は温める。", "水は軟らかい。", "the first holds the second whole", ("鍋は温める。",), ()),
        ("", "", "both say the same, word for word", (), ()),
    ],
)  # fmt: skip
def test_what_differs(
    first: str, second: str, what: str, only_first: tuple[str, ...], only_second: tuple[str, ...]
) -> None:
    found = difference_of(first, second)
    assert found.what.startswith(what)
    assert (found.only_first, found.only_second) == (only_first, only_second)


def test_what_is_shown_is_bounded() -> None:
    many = " ".join(f"Sentence {n} is {'very ' * 80}long." for n in range(9))
    found = difference_of(many, "Nothing of the kind.")
    assert len(found.only_first) == MOST_SHOWN
    assert max(map(len, found.only_first)) == LONGEST_SHOWN
