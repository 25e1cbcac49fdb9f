"""Passages that are built alike are told in one line; what stands out among them is still asked about."""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations
from typing import TYPE_CHECKING

from hypothesis import given
from hypothesis import strategies as st

from aria_dream.consolidate.one_form import OneForm, without_forms
from tests.unit.consolidate.test_open_list import pair

if TYPE_CHECKING:
    from aria_dream.consolidate.open_pairs import OpenPair


def sheets(names: str) -> list[OpenPair]:
    """Every two of the notes `names` are near each other."""
    return [pair(f"{one}.md", f"{other}.md", rank=rank) for rank, (one, other) in enumerate(combinations(names, 2))]


def with_overlap(one: OpenPair, overlap: float) -> OpenPair:
    return replace(one, pair=replace(one.pair, overlap=overlap))


def test_release_notes_are_one_line_and_what_stands_alone_is_asked() -> None:
    alone = pair("Compost.md", "Heap.md")
    asked, forms = without_forms([*sheets("ABCDE"), alone])
    assert asked == (alone,)
    assert forms == (OneForm(titles=tuple("ABCDE"), pairs=10),)


def test_three_copies_are_no_form() -> None:
    """Three notes that say the same may well be copies: somebody has to look."""
    copies = [*sheets("ABC"), *sheets("XYZ"), pair("A.md", "X.md")]
    assert without_forms(copies) == (tuple(copies), ())


def test_two_that_stand_out_or_were_called_the_same_are_asked() -> None:
    twins, called, *others = sheets("ABCDE")
    twins, called = with_overlap(twins, 0.9), replace(called, is_called_same=True)
    asked, (form,) = without_forms([twins, called, *others])
    assert asked == (twins, called)
    assert (sorted(form.titles), form.pairs) == (list("ABCDE"), 8)


def test_a_note_that_is_near_one_of_a_form_is_asked_about() -> None:
    guest = pair("A.md", "Guest.md")
    asked, (form,) = without_forms([*sheets("ABCD"), guest])
    assert asked == (guest,)
    assert form.titles == tuple("ABCD")


def test_two_forms_are_two_lines_the_larger_first() -> None:
    asked, forms = without_forms([*sheets("ABCD"), *sheets("VWXYZ")])
    assert (asked, [form.titles for form in forms]) == ((), [tuple("VWXYZ"), tuple("ABCD")])


@given(st.lists(st.tuples(st.integers(0, 7), st.integers(0, 7), st.floats(0, 1)), max_size=40))
def test_every_pair_is_asked_about_or_of_a_form(drawn: list[tuple[int, int, float]]) -> None:
    pairs = [with_overlap(pair(f"{one}.md", f"{other}.md"), overlap) for one, other, overlap in drawn]
    asked, forms = without_forms(pairs)
    assert len(asked) + sum(form.pairs for form in forms) == len(pairs)
    assert list(asked) == [one for one in pairs if one in asked]
    assert all(len(form.titles) == len(set(form.titles)) for form in forms)
