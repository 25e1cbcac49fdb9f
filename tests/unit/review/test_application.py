"""From an approval to what is written: exact, planned again, stale, or refused."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING

import pytest

from aria_dream.markdown.note import NotePath
from aria_dream.review.application import Approved, Ready, Stale, approve, plan_application, proposal_hash
from aria_dream.review.changes import (
    Replacement,
    plan_obsolete,
    plan_placement,
    plan_replacements,
    section_text,
)
from aria_dream.review.inbound import plan_orphan
from aria_dream.review.journal import parse_journal
from aria_dream.review.merging import plan_merge
from aria_dream.review.placement import Target
from aria_dream.review.plan import Planned, VaultView, changes_of
from aria_dream.review.proposal import (
    Kind,
    PlannedEdit,
    Proposal,
    ProposalState,
    planned_record,
    proposal_id,
    proposed_record,
)
from aria_dream.vault.edit import ABSENT, ChangeSet, Refusal, WritePlan, content_hash

if TYPE_CHECKING:
    from collections.abc import Sequence

AT = datetime(2026, 11, 30, 7, 41, tzinfo=UTC)


def view(**contents: str) -> VaultView:
    notes = {NotePath(f"{name}.md"): text.encode() for name, text in contents.items()}
    return VaultView(files=tuple(sorted(map(str, notes))), contents=notes)


def state(kind: Kind, paths: tuple[str, ...], edits: Sequence[PlannedEdit] = ()) -> ProposalState:
    proposal = Proposal(
        id=proposal_id(kind, paths, 0), kind=kind, paths=paths, round=0, at=AT, expires_at=None, titles=paths
    )
    return ProposalState(proposal=proposal, state="approved", since=AT, paths=paths, edits=tuple(edits))


def approved(kind: Kind, paths: tuple[str, ...], edits: Sequence[PlannedEdit] = (), *,
seen: bool = False) -> Approved:
    found = state(kind, paths, edits)
    made = approve(found, proposal_hash(found) if seen else None)
    assert isinstance(made, Approved)
    return made


def link_edits(of: VaultView) -> tuple[PlannedEdit, ...]:
    planned = plan_placement(of, NotePath("A.md"), Target(path="Rye.md", title="Rye"))
    assert isinstance(planned, Planned)
    return planned.edits


def content(ready: Ready | Stale | Refusal, number: int = 0) -> str:
    assert isinstance(ready, Ready), ready
    said = ready.changes.writes[number].content
    assert said is not None
    return said.decode()


def test_what_was_approved_is_what_is_written() -> None:
    now = view(A="a rye of old\n", Rye="# Rye\n")
    edits = link_edits(now)
    ready = plan_application(approved("link", ("A.md", "Rye.md"), edits, seen=True), now)
    assert content(ready) == "a [[Rye|rye]] of old\n"
    assert isinstance(ready, Ready)
    assert not ready.replanned


def test_a_tick_is_planned_when_it_is_applied() -> None:
    now = view(A="a rye of old\n", Rye="---\naliases: [secale]\n---\n")
    assert content(plan_application(approved("link", ("A.md", "Rye.md")), now)) == "a [[Rye|rye]] of old\n"
    now = view(A="a secale of old\n", Rye="---\naliases: [secale]\n---\n")
    assert content(plan_application(approved("link", ("A.md", "Rye.md")), now)) == "a [[Rye|secale]] of old\n"


@pytest.mark.parametrize("seen", [True, False])
def test_a_note_that_changed_elsewhere_is_planned_again(seen: bool) -> None:
    edits = link_edits(view(A="a rye of old\n", Rye=""))
    ready = plan_application(approved("link", ("A.md", "Rye.md"), edits, seen=seen), view(A="NEW\n\na rye\n", Rye=""))
    assert content(ready) == "NEW\n\na [[Rye|rye]]\n"
    assert isinstance(ready, Ready)
    assert ready.replanned


@pytest.mark.parametrize("seen", [True, False])
def test_an_anchor_that_is_gone_makes_it_stale_with_a_fresh_plan(seen: bool) -> None:
    edits = link_edits(view(A="a rye of old\n", Rye=""))
    stale = plan_application(approved("link", ("A.md", "Rye.md"), edits, seen=seen), view(A="a wheat loaf\n", Rye=""))
    assert isinstance(stale, Stale)
    assert stale.fresh[0].inserted.endswith("- [[Rye]]\n")


def test_a_bullet_nobody_saw_in_place_may_move() -> None:
    edits = link_edits(view(A="a loaf\n", Rye=""))
    now = view(A="a loaf\n\n## Related\n\n- x\n", Rye="")
    ready = plan_application(approved("link", ("A.md", "Rye.md"), edits), now)
    assert content(ready).endswith("- x\n- [[Rye]]\n")
    assert isinstance(plan_application(approved("link", ("A.md", "Rye.md"), edits, seen=True), now), Stale)


def test_a_link_that_was_drawn_by_hand_or_whose_notes_are_gone_is_stale() -> None:
    edits = link_edits(view(A="a rye of old\n", Rye=""))
    one = approved("link", ("A.md", "Rye.md"), edits)
    assert isinstance(plan_application(one, view(A="a [[Rye]] loaf\n", Rye="")), Stale)
    assert isinstance(plan_application(one, view(A="a rye\n")), Stale)
    assert isinstance(plan_application(one, view(Rye="")), Stale)


def test_a_target_that_was_renamed_is_not_linked_by_its_old_name() -> None:
    found = state("link", ("A.md", "Rye.md"), link_edits(view(A="a rye of old\n", Rye="")))
    followed = replace(found, paths=("A.md", "Secale.md"))
    now = view(A="a rye of old\n", Secale="---\naliases: [rye]\n---\n")
    ticked, seen = approve(followed), approve(followed, proposal_hash(followed))
    assert isinstance(ticked, Approved)
    assert isinstance(seen, Approved)
    assert content(plan_application(ticked, now)) == "a [[Secale|rye]] of old\n"
    stale = plan_application(seen, now)
    assert isinstance(stale, Stale)
    assert stale.fresh[0].inserted == "[[Secale|rye]]"


def test_a_hash_that_does_not_match_is_refused() -> None:
    now = view(A="a rye of old\n", Rye="")
    found = state("link", ("A.md", "Rye.md"), link_edits(now))
    assert isinstance(approve(found, "0" * 64), Refusal)
    assert isinstance(approve(replace(found, state="rejected")), Refusal)
    made = approve(found)
    assert isinstance(made, Approved)
    forged = replace(made, edits=(replace(made.edits[0], inserted="[[evil]]"),))
    assert isinstance(plan_application(forged, now), Refusal)


def test_edits_that_do_not_add_up_are_refused() -> None:
    now = view(A="a rye of old\n", Rye="")
    edits = (replace(link_edits(now)[0], inserted="[[evil]]"),)
    assert isinstance(plan_application(approved("link", ("A.md", "Rye.md"), edits), now), Refusal)


@pytest.mark.parametrize("path", ["../x.md", ".obsidian/app.json", "a:b.md", "x.js", "/etc/x.md", "AGENTS.md"])
def test_a_journal_edited_by_hand_writes_nowhere_else(path: str) -> None:
    after = content_hash(b"evil")
    edit = PlannedEdit(path=path, before=ABSENT, after=after, start=0, removed="", inserted="evil")
    assert isinstance(plan_application(approved("place_orphan", (path,), (edit,)), view(A="x")), Refusal)


def test_an_update_needs_its_passage_once() -> None:
    one = Replacement(path=NotePath("A.md"), old="ten grams", new="twelve grams")
    planned = plan_replacements(view(A="take ten grams of salt\n"), [one])
    assert isinstance(planned, Planned)
    ok = approved("update", ("A.md",), planned.edits, seen=True)
    assert content(plan_application(ok, view(A="now: take ten grams\n"))) == "now: take twelve grams\n"
    assert isinstance(plan_application(ok, view(A="take nine grams\n")), Stale)
    assert isinstance(plan_application(ok, view(A="ten grams or ten grams\n")), Stale)
    assert isinstance(plan_replacements(view(A="x\n"), [one]), Refusal)


def test_a_resolution_changes_several_notes_as_one() -> None:
    now = view(A="salt: ten\n", B="salt: nine\n")
    both = [
        Replacement(path=NotePath("A.md"), old="ten", new="twelve"),
        Replacement(path=NotePath("B.md"), old="salt: nine\n", new=""),
    ]
    planned = plan_replacements(now, both)
    assert isinstance(planned, Planned)
    assert [plan.content for plan in planned.changes.writes] == [b"salt: twelve\n", b""]
    assert changes_of(planned.edits, now.contents) == planned.changes


def test_a_section_is_found_with_its_subsections() -> None:
    text = "# T\n\n## A\n\nx\n\n### B\n\ny\n\n## C\n"
    assert section_text(text, "A") == "## A\n\nx\n\n### B\n\ny\n\n"
    assert section_text(text, "No") is None


def test_obsolete_sets_one_property_and_is_planned_again() -> None:
    now = view(A="---\na: 1\n---\nx\n")
    planned = plan_obsolete(now, NotePath("A.md"), "status", "superseded by [[B]]")
    assert isinstance(planned, Planned)
    ok = approved("obsolete", ("A.md",), planned.edits, seen=True)
    changed = plan_application(ok, view(A="---\na: 2\n---\nx y\n"))
    assert content(changed) == '---\na: 2\nstatus: "superseded by [[B]]"\n---\nx y\n'


def test_an_orphan_is_created_once() -> None:
    planned = plan_orphan(view(A="x"), NotePath("New/Idea.md"), "a claim\n")
    assert isinstance(planned, Planned)
    ok = approved("place_orphan", ("New/Idea.md",), planned.edits, seen=True)
    assert content(plan_application(ok, view(A="x"))) == "a claim\n"
    there = VaultView(files=("New/Idea.md",), contents={NotePath("New/Idea.md"): b"mine"})
    assert isinstance(plan_application(ok, there), Stale)
    assert isinstance(plan_orphan(view(A="x"), NotePath("new.md"), "see [[A]]"), Refusal)
    assert isinstance(plan_orphan(view(A="x"), NotePath("a.md"), "y"), Refusal)


def test_a_merge_is_checked_against_the_text_of_now() -> None:
    before = view(A="# A\n\nmentions C here\n", B="# B\n\nb\n", C="# C\n", Refs="[[A]]\n")
    planned = plan_merge(before, NotePath("B.md"), NotePath("A.md"))
    assert isinstance(planned, Planned)
    ok = approved("merge", ("B.md", "A.md"), planned.edits, seen=True)
    ready = plan_application(ok, before)
    assert isinstance(ready, Ready)
    assert ready.changes == planned.changes
    later = view(A="# A\n\nmentions [[C]] here\n", B="# B\n\nb\n", C="# C\n", Refs="[[A]]\n")
    stale = plan_application(ok, later)
    assert isinstance(stale, Stale)
    assert any("[[C]]" in edit.inserted for edit in stale.fresh)


def test_plans_survive_the_journal() -> None:
    now = view(A="a rye of old\n", Rye="")
    proposal = state("link", ("A.md", "Rye.md")).proposal
    records = [proposed_record(proposal), planned_record(proposal.id, link_edits(now), AT)]
    states, problems = parse_journal("".join(json.dumps(record) + "\n" for record in records))
    assert not problems
    assert states[proposal.id].edits == link_edits(now)


def test_an_approval_of_other_notes_is_refused() -> None:
    now = view(A="a rye of old\n", Rye="", Other="")
    forged = replace(approved("link", ("A.md", "Rye.md")), paths=("A.md", "Other.md"))
    assert isinstance(plan_application(forged, now), Refusal)


def test_a_new_plan_is_checked_wherever_it_comes_from() -> None:
    now = view(A="a rye of old\n", Rye="")
    evil = WritePlan(path=NotePath("../x.md"), expected_hash=ABSENT, content=b"evil")
    planned = Planned(changes=ChangeSet(writes=(evil,)), edits=())
    one = approved("link", ("A.md", "Rye.md"))
    assert isinstance(plan_application(one, now, replan=lambda _one, _view: planned), Refusal)


def test_our_own_notes_take_no_link() -> None:
    now = view(A="---\naria-dream: log\n---\na rye of old\n", Rye="")
    assert not isinstance(plan_application(approved("link", ("A.md", "Rye.md")), now), Ready)
