"""Reading claims never fails, whatever a note holds, and says where each stands; nothing contradicts itself."""

from __future__ import annotations

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from aria_dream.consolidate import japanese
from aria_dream.consolidate.claims import read_claims
from aria_dream.consolidate.clauses import clauses_of
from aria_dream.consolidate.contradictions import find_conflicts
from tests.atoms import passage

PIECES = (
    "The Falken hut", "Anna", "Ben", "Uma", "employs", "is", "is not", "has", "24", "36", "people", "open", "closed",
    "and", ", and", "; ", ".", "。", "橋は", "通れる", "通れない", "開いて", "いません", "ある", "不", "没有", "毒",
    "because", "in 2019", "from", "to", "on", "off", "\n", "- ", "# ", "`", "[[", "]]", "~~", "é", "ß", "\u0301", "İ",
    "\x00", "ς", "m", "Meter",
)  # fmt: skip
notes = st.one_of(st.text(max_size=120), st.lists(st.sampled_from(PIECES), max_size=30).map(" ".join))


@given(notes)
def test_every_claim_stands_where_it_says(text: str) -> None:
    for claim in read_claims(passage("A.md", text)):
        assert text[claim.start : claim.start + len(claim.text)] == claim.text
        assert claim.sentence <= claim.start
        assert claim.terms


@given(notes)
def test_clauses_lie_in_their_sentence_and_beside_each_other(text: str) -> None:
    spans = list(clauses_of(text))
    assert all(0 <= start < end <= len(text) for start, end in spans)
    assert all(one[1] <= two[0] for one, two in pairwise(spans))


@given(notes)
def test_an_ending_is_blanked_in_place(text: str) -> None:
    blanked = japanese.without_ending(text)
    assert len(blanked) == len(text)
    assert all(new in (old, " ") for new, old in zip(blanked, text, strict=True))


@given(notes)
def test_a_note_does_not_contradict_its_copy(text: str) -> None:
    """Unless it contradicts itself: then two of its claims differ, and each stands in the copy."""
    claims = [claim.text for claim in read_claims(passage("A.md", text))]
    for conflict in find_conflicts([passage("A.md", text), passage("B.md", text)]):
        assert conflict.first_claim != conflict.second_claim
        assert {conflict.first_claim, conflict.second_claim} <= set(claims)
