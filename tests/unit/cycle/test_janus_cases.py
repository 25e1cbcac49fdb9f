"""What of a proposal goes to Janus: as the notes read now, and where it leaves this machine, as private as they are."""

from __future__ import annotations

import unicodedata
from datetime import UTC, datetime
from typing import TYPE_CHECKING

import pytest

from aria_dream.cycle.janus import case_of, waiting_for_janus
from aria_dream.dream.datamark import Datamark
from aria_dream.dream.janus import ClaimCase, LinkCase, janus_prompt
from aria_dream.effects.cold_reader import NotAsked, one_text, shareable
from aria_dream.effects.dreamt_vault import DreamtVault, read_dreamt_vault
from aria_dream.effects.places import Places
from aria_dream.effects.prompts import shipped_prompt
from aria_dream.review.proposal import Kind, Proposal, ProposalState, proposal_id

if TYPE_CHECKING:
    from pathlib import Path

    from aria_dream.dream.janus import Case

AT = datetime(2026, 11, 30, tzinfo=UTC)
SECRET = "Zoë's Quokka"
NOTES = {
    "Compost.md": f"A heap is fed. See [[{SECRET}]] and {SECRET.upper()}.\nKey sk-{'a1B2' * 12}.\n",
    "Starter.md": "Flour and water.\n",
    f"{SECRET}.md": "#private\nA canary called Wombatine.\n",
    "Hidden.md": "---\ndream: false\n---\nNobody reads this.\n",
}


def vault_of(folder: Path, policy: str = "") -> DreamtVault:
    root = folder / "vault"
    root.mkdir(exist_ok=True)
    for name, text in {**NOTES, "dreaming.md": f"---\naria-dream: policy\n---\n{policy}"}.items():
        (root / name).write_text(text, encoding="utf-8")
    return read_dreamt_vault(root, Places(state=folder / "state", cache=folder / "cache"), environ={})


def state_of(kind: Kind, *paths: str, edge: str = "", **evidence: object) -> ProposalState:
    proposal = Proposal(
        id=proposal_id(kind, paths, 0), kind=kind, paths=paths, round=0, at=AT, expires_at=None, titles=paths,
        evidence=evidence,
    )  # fmt: skip
    return ProposalState(proposal=proposal, state="proposed", since=AT, paths=paths, edge=edge)


def asked(case: Case | NotAsked) -> str:
    assert isinstance(case, LinkCase | ClaimCase), case
    return one_text(janus_prompt(shipped_prompt("janus").prompt, Datamark("0" * 16), case))


def test_on_this_machine_the_notes_are_shown_as_they_are(tmp_path: Path) -> None:
    text = asked(case_of(vault_of(tmp_path), state_of("link", "Compost.md", "Starter.md", edge="is fed"), leaves=False))
    for part in (SECRET, "Flour and water.", "The edge is called: is fed"):
        assert part in text


@pytest.mark.parametrize("form", ["NFC", "NFD"])
def test_what_leaves_is_as_private_as_the_notes(tmp_path: Path, form: str) -> None:
    vault = vault_of(tmp_path)
    name = unicodedata.normalize("NFC" if form == "NFC" else "NFD", SECRET)
    states = (
        state_of("link", "Compost.md", "Starter.md", edge=f"like {name.lower()}"),
        state_of("place_orphan", "New.md", claim=f"A claim of {name}.", sources=[{"title": f"On {name}", "url": ""}]),
    )
    for state in states:
        case = case_of(vault, state, leaves=True)
        text = asked(case)
        assert isinstance(case, LinkCase | ClaimCase)
        assert shareable(case)
        folded = unicodedata.normalize("NFC", text).casefold()
        assert "quokka" not in folded
        assert "sk-a1b2" not in folded


def test_a_private_or_hidden_note_leaves_never(tmp_path: Path) -> None:
    vault = vault_of(tmp_path)
    private = case_of(vault, state_of("link", "Starter.md", f"{SECRET}.md"), leaves=True)
    assert private == NotAsked("it would leave this machine, and the note is private")
    for leaves in (True, False):
        hidden = case_of(vault, state_of("link", "Starter.md", "Hidden.md"), leaves=leaves)
        assert hidden == NotAsked("a note of it is gone, or hidden by the policy")
    assert "Wombatine" in asked(case_of(vault, state_of("link", "Starter.md", f"{SECRET}.md"), leaves=False))


def test_a_policy_in_doubt_lets_nothing_out(tmp_path: Path) -> None:
    vault = vault_of(tmp_path, "- never_send: Nowhere/\n")
    case = case_of(vault, state_of("link", "Compost.md", "Starter.md"), leaves=True)
    assert isinstance(case, NotAsked)
    assert "no note is meant by it" in case.reason


def test_only_what_waits_and_was_not_seen_is_looked_at(tmp_path: Path) -> None:
    link, merge = state_of("link", "A.md", "B.md"), state_of("merge", "A.md", "B.md")
    assert waiting_for_janus((link, merge)) == (link,)
    assert isinstance(case_of(vault_of(tmp_path), merge, leaves=False), NotAsked)
    for claim, sources in ((None, []), (" ", []), ("c", "x")):
        orphan = state_of("place_orphan", "N.md", claim=claim, sources=sources)
        assert isinstance(case_of(vault_of(tmp_path), orphan, leaves=False), NotAsked)
