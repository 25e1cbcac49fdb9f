"""A settled contradiction strikes one sentence and links to the other; everything else stays open."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, date, datetime, timedelta
from typing import TYPE_CHECKING

import pytest

from aria_dream.consolidate.contradictions import find_conflicts
from aria_dream.consolidate.evidence import Drift, Side, find_drift, read_side, render_evidence, truth_passage
from aria_dream.consolidate.resolution import Settling, plan_struck, settle_conflict
from aria_dream.consolidate.verdict import BothValid, Escalated, KeepA, KeepB, NeedsHuman, Unreadable
from aria_dream.markdown.note import NotePath, parse_note
from aria_dream.review.application import Ready, Stale, approve, plan_application
from aria_dream.review.plan import VaultView, changes_of
from aria_dream.review.proposal import ProposalState
from aria_dream.vault.edit import Refusal, decode_note
from tests.atoms import passage

if TYPE_CHECKING:
    from aria_dream.consolidate.verdict import Conflict, ConflictVerdict

NOW = datetime(2026, 11, 30, 3, tzinfo=UTC)
TOWER = "# Paris\n\nA walk.\n\n- The Eiffel Tower is\n  324 m tall. ^tower\n- Bread.\n"
FACTS = "---\ndate: 2026-05-01\nsource: https://example.org/tower\n---\nThe [[Paris|Eiffel]] Tower is 330 m tall.\n"
NOTES = {"Paris.md": TOWER, "facts/Tower.md": FACTS}


def view(**notes: str) -> VaultView:
    texts = {f"{name}.md": text for name, text in notes.items()} or NOTES
    return VaultView(
        files=tuple(texts), contents={NotePath(path): text.encode() for path, text in texts.items()}
    )


def conflict() -> Conflict:
    body = parse_note(FACTS).body_start
    first, second = passage("Paris.md", TOWER), passage("facts/Tower.md", FACTS[body:], start=body)
    (found,) = find_conflicts([first, second])
    return found


def settling(floor: float = 0.85, states: tuple[ProposalState, ...] = ()) -> Settling:
    return Settling(
        view=view(), states=states, now=NOW, expires_at=NOW + timedelta(days=60), judge="judge", floor=floor
    )


def struck(verdict: ConflictVerdict) -> dict[str, str]:
    made = settle_conflict(conflict(), verdict, "(a) names no source", settling())
    assert isinstance(made, tuple), made
    _, edits = made
    changes = changes_of(edits, view().contents)
    assert not isinstance(changes, Refusal)
    return {str(plan.path): decode_note(plan.content or b"") for plan in changes.writes}


def test_the_claim_that_falls_is_struck_and_links_to_the_one_that_stands() -> None:
    assert struck(KeepB(reason="its source is named", confidence=0.9)) == {
        "Paris.md": TOWER.replace(
            "The Eiffel Tower is\n  324 m tall.", "~~The Eiffel Tower is\n  324 m tall.~~ ([[Tower]])"
        )
    }
    assert struck(KeepA(reason="it was measured", confidence=0.85)) == {
        "facts/Tower.md": FACTS.replace(
            "The [[Paris|Eiffel]] Tower is 330 m tall.", "~~The [[Paris|Eiffel]] Tower is 330 m tall.~~ ([[Paris]])"
        )
    }


def test_the_proposal_says_all_that_a_writer_must_know() -> None:
    made = settle_conflict(
        conflict(),
        KeepB(reason="its source is named", confidence=0.9),
        "Both speak of: x.\n(a) names no source\n(b) date: 2026-05-01\nA truth note supports (b): “x”",
        settling(),
    )
    assert isinstance(made, tuple)
    proposal, _ = made
    assert (proposal.kind, proposal.paths) == ("resolve_contradiction", ("Paris.md", "facts/Tower.md"))
    assert proposal.titles == ("Paris", "Tower")
    assert (proposal.reason, proposal.confidence, proposal.judge) == ("its source is named", 0.9, "judge")
    assert proposal.evidence == {
        "kept": "“Tower”: The [[Paris|Eiffel]] Tower is 330 m tall.",
        "struck": "“Paris”: The Eiffel Tower is 324 m tall.",
        "facts": ["“Tower”: date: 2026-05-01", "A truth note supports “Tower”: “x”"],
    }
    assert proposal.expires_at == NOW + timedelta(days=60)
    assert set(proposal.hashes) == set(proposal.paths)
    again = settle_conflict(
        conflict(),
        KeepB(reason="r", confidence=0.9),
        "",
        settling(states=(ProposalState(proposal=proposal, state="expired", since=NOW, paths=proposal.paths),)),
    )
    assert isinstance(again, tuple)
    assert again[0].id != proposal.id


def test_what_was_approved_is_written_though_the_note_has_grown() -> None:
    made = settle_conflict(conflict(), KeepB(reason="r", confidence=0.9), "", settling())
    assert isinstance(made, tuple)
    proposal, edits = made
    state = ProposalState(proposal=proposal, state="approved", since=NOW, paths=proposal.paths, edits=edits)
    allowed = approve(state)
    assert not isinstance(allowed, Refusal)
    grown = {"Paris.md": f"New above.\n\n{TOWER}", "facts/Tower.md": FACTS}
    later = VaultView(files=tuple(grown), contents={NotePath(path): text.encode() for path, text in grown.items()})
    ready = plan_application(allowed, later)
    assert isinstance(ready, Ready)
    (plan,) = ready.changes.writes
    assert b"~~The Eiffel Tower is\n  324 m tall.~~ ([[Tower]])" in (plan.content or b"")


@pytest.mark.parametrize(
    ("verdict", "said"),
    [
        (KeepA(reason="r", confidence=0.84), "0.84 is below `confidence_floor: 0.85`"),
        (KeepB(reason="r", confidence=0.0), "below"),
        (BothValid(reason="other years", confidence=1.0), "both valid: other years"),
        (NeedsHuman(reason="no evidence", confidence=1.0), "leaves it to you: no evidence"),
        (Escalated(reason="no language model is set up"), "no language model is set up"),
        (Unreadable(reason="the answer is empty"), "the answer is empty"),
    ],
)
def test_everything_else_stays_open(verdict: ConflictVerdict, said: str) -> None:
    found = settle_conflict(conflict(), verdict, "", settling())
    assert isinstance(found, Refusal)
    assert said in found.reason


def test_no_judge_strikes_what_the_policy_calls_right() -> None:
    against = replace(settling(), truths=frozenset({"facts/Tower.md"}))
    found = settle_conflict(conflict(), KeepA(reason="r", confidence=1.0), "", against)
    assert isinstance(found, Refusal)
    assert "which the policy calls right" in found.reason
    assert isinstance(settle_conflict(conflict(), KeepB(reason="r", confidence=1.0), "", against), tuple)


def test_a_claim_that_was_struck_meanwhile_is_not_struck_twice() -> None:
    made = settle_conflict(conflict(), KeepB(reason="r", confidence=0.9), "", settling())
    assert isinstance(made, tuple)
    proposal, edits = made
    state = ProposalState(proposal=proposal, state="approved", since=NOW, paths=proposal.paths, edits=edits)
    allowed = approve(state)
    assert not isinstance(allowed, Refusal)
    claim = "The Eiffel Tower is\n  324 m tall."
    done = {"Paris.md": TOWER.replace(claim, f"~~{claim}~~ ([[Other]])"), "facts/Tower.md": FACTS}
    later = VaultView(files=tuple(done), contents={NotePath(path): text.encode() for path, text in done.items()})
    assert isinstance(plan_application(allowed, later), Stale)


def test_a_claim_that_moved_is_found_and_one_that_is_gone_or_doubled_is_left_alone() -> None:
    loser, kept = passage("A.md", "The heap is fed weekly.\n"), passage("B.md", "The heap is fed daily.\n")
    falls = "The heap is fed weekly."

    def planned(text: str) -> str:
        found = plan_struck(view(A=text, B="b"), loser, falls, kept)
        return found.reason if isinstance(found, Refusal) else "".join(edit.inserted for edit in found.edits)

    assert planned(f"New.\n\n{falls}\n") == f"~~{falls}~~ ([[B]])"
    assert "not in A.md" in planned("Other.\n")
    assert planned(f"- First: {falls}\n- Second: {falls}\n").startswith("- First: ~~The heap")
    assert "more than once" in planned(f"{falls}\n" * 9 * 30)
    assert "not in the vault" in str(plan_struck(view(B="b"), loser, falls, kept))
    assert "more of A.md" in planned(f"```\n{falls}\n```\n")


def test_a_link_leads_to_the_section_where_one_can() -> None:
    loser = passage("A.md", "The heap is fed weekly.\n")
    section = passage("B.md", "## Feeding\n\nThe heap is fed daily.\n", ("Feeding",))
    found = plan_struck(view(A=loser.text, B=section.text), loser, "The heap is fed weekly.", section)
    assert not isinstance(found, Refusal)
    assert found.edits[0].inserted == "~~The heap is fed weekly.~~ ([[B#Feeding]])"
    odd = passage("B.md", "## What: is | it?\n\nThe heap is fed daily.\n", ("What: is | it?",))
    found = plan_struck(view(A=loser.text, B=odd.text), loser, "The heap is fed weekly.", odd)
    assert not isinstance(found, Refusal)
    assert found.edits[0].inserted == "~~The heap is fed weekly.~~ ([[B]])"
    here = passage("A.md", "## Feeding\n\nThe heap is fed daily.\n", ("Feeding",))
    found = plan_struck(view(A=loser.text + here.text), loser, "The heap is fed weekly.", here)
    assert not isinstance(found, Refusal)
    assert found.edits[0].inserted == "~~The heap is fed weekly.~~ ([[#Feeding]])"


def test_the_evidence_is_what_can_be_read_from_the_notes() -> None:
    found = conflict()
    first = read_side(parse_note(TOWER), found.first_claim, changed_on=date(2025, 1, 2), links_in=0)
    second = read_side(parse_note(FACTS), found.second_claim, changed_on=date(2025, 3, 4), links_in=7)
    assert second == Side(
        dates=(("date", "2026-05-01"),),
        changed_on=date(2025, 3, 4),
        sources=("https://example.org/tower",),
        links_in=7,
    )
    said = render_evidence(found, first, second, None).splitlines()
    assert said == [
        "Both speak of: Eiffel Tower tall. They differ in: number.",
        "(a) the note was last changed on 2025-01-02",
        "(a) names no source",
        "(a) notes that link to it: 0",
        "(b) date: 2026-05-01",
        "(b) the note was last changed on 2025-03-04",
        "(b) names as source: https://example.org/tower",
        "(b) notes that link to it: 7",
        "The note of (b) was changed later.",
    ]


def test_a_truth_note_says_which_side_it_supports() -> None:
    found = conflict()
    truth = truth_passage("Truth.md", "---\nx: y\n---\nThe Eiffel Tower is 330 metres tall.\n")
    drift = find_drift(found, [passage("Other.md", "Bread is good."), truth])
    assert drift == Drift(agrees_with="second", path="Truth.md", claim="The Eiffel Tower is 330 metres tall.")
    said = render_evidence(found, Side(), Side(is_truth=True), drift)
    assert "The writer calls the note of (b) right where two disagree." in said
    assert "supports (b): “The Eiffel Tower is 330 metres tall.”" in said
    assert "330 metres" not in render_evidence(found, Side(), Side(), drift, quotes=False)
    assert find_drift(found, [truth_passage("Truth.md", "The Eiffel Tower is 400 m tall.\n")]) is None  # against both
    assert find_drift(found, [truth_passage("Paris.md", FACTS)]) is None  # a side is no judge in its own cause


def test_only_the_clause_that_falls_is_struck() -> None:
    hut = "It rained.\n\nThe Falken hut lies above the lake, and the Falken hut sleeps 24 people.\n"
    booking = "The Falken hut sleeps 36 people.\n"
    (found,) = find_conflicts([passage("Hut.md", hut), passage("Booking.md", booking)])
    planned = plan_struck(view(Hut=hut, Booking=booking), found.first, found.first_claim, found.second)
    assert not isinstance(planned, Refusal)
    changes = changes_of(planned.edits, view(Hut=hut, Booking=booking).contents)
    assert not isinstance(changes, Refusal)
    (written,) = changes.writes
    assert decode_note(written.content or b"") == (
        "It rained.\n\nThe Falken hut lies above the lake, and ~~the Falken hut sleeps 24 people.~~ ([[Booking]])\n"
    )
