"""Proposals that exclude each other: one pair of notes has one, and of two approved together one goes first."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from typing import get_args

import pytest

from aria_dream.review.proposal import Kind, Proposal, ProposalState, decided_pairs, proposal_id
from aria_dream.review.rivals import exclude_each_other, in_order, withheld
from aria_dream.vault.edit import Refusal

AT = datetime(2026, 11, 30, 3, tzinfo=UTC)


def approved(kind: Kind, *paths: str, by: str = "tick") -> ProposalState:
    made = Proposal(id=proposal_id(kind, paths, 0), kind=kind, paths=paths, round=0, at=AT, expires_at=None, titles=())
    return ProposalState(proposal=made, state="approved", since=AT, paths=paths, by=by)


@pytest.mark.parametrize(("first", "second", "excluded"), [
    (("merge", "A B"), ("resolve_contradiction", "A B"), True),
    (("merge", "A B"), ("resolve_contradiction", "B C"), True),
    (("merge", "A B"), ("merge", "B C"), True),
    (("merge", "A B"), ("merge", "C D"), False),
    (("merge", "A B"), ("obsolete", "B"), True),
    (("merge", "A B"), ("link", "A B"), True),
    (("merge", "A B"), ("link", "A C"), False),
    (("update", "A B"), ("resolve_contradiction", "B C"), True),
    (("update", "A B"), ("update", "B C"), True),
    (("resolve_contradiction", "A B"), ("resolve_contradiction", "B C"), False),
    (("resolve_contradiction", "A B"), ("resolve_contradiction", "B A"), True),
    (("link", "A B"), ("link", "A C"), False),
    (("obsolete", "A"), ("obsolete", "A"), True),
    (("place_orphan", "New"), ("merge", "A B"), False),
])  # fmt: skip
def test_who_excludes_whom(first: tuple[Kind, str], second: tuple[Kind, str], *, excluded: bool) -> None:
    one, other = ((kind, tuple(paths.split())) for kind, paths in (first, second))
    assert exclude_each_other(one, other) == exclude_each_other(other, one) == excluded


def test_of_two_that_were_approved_together_the_contradiction_goes_first() -> None:
    merge, settle = approved("merge", "A", "B"), approved("resolve_contradiction", "B", "A")
    link, other = approved("link", "A", "C"), approved("merge", "D", "E")
    possible, excluded = in_order([merge, link, settle, other])
    assert possible == [link, settle, other]
    assert excluded == [(merge, settle)]


@pytest.mark.parametrize("kind", [kind for kind in get_args(Kind) if kind != "sync_copy"])
def test_every_kind_has_its_place_in_the_order(kind: Kind) -> None:
    first, second = approved("sync_copy", "A", "A (1)"), approved(kind, "A", "A (1)", "B")
    assert in_order([second, first]) == ([first], [(second, first)])


def test_what_a_person_approved_goes_before_what_passes_by_itself() -> None:
    auto, ticked = approved("resolve_contradiction", "A", "B", by="auto"), approved("merge", "A", "B")
    assert in_order([auto, ticked]) == ([ticked], [(auto, ticked)])


def test_what_is_written_already_is_never_left_out() -> None:
    merge, settle = approved("merge", "A", "B"), approved("resolve_contradiction", "B", "A")
    assert in_order([merge, settle], done=lambda state: state is merge) == ([merge, settle], [])


def test_no_dream_shows_a_pair_that_is_in_another_proposal() -> None:
    assert decided_pairs([approved("merge", "A", "B", "C")]) == {("A", "B"), ("A", "C"), ("B", "C")}
    assert decided_pairs([approved("obsolete", "A")]) == frozenset()


def test_a_new_proposal_is_withheld_while_another_of_its_notes_is_open() -> None:
    merge, link = approved("merge", "A", "B"), approved("link", "A", "B")
    assert isinstance(withheld(link.proposal, [merge]), Refusal)
    assert withheld(link.proposal, [replace(merge, state="rejected")]) is None
    assert withheld(approved("link", "A", "C").proposal, [merge]) is None
