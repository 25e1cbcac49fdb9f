"""What of a proposal goes to Janus: as the notes read now, and where it leaves this machine, as private as they are."""

from __future__ import annotations

import unicodedata
from dataclasses import replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import pytest

from aria_dream.adapters.disk.places import Places
from aria_dream.adapters.index.dreamt_vault import DreamtVault, read_dreamt_vault
from aria_dream.adapters.index.live_policy import shipped_prompt
from aria_dream.adapters.models.independent_reviewer import NotAsked, one_text, shareable
from aria_dream.judging.prompt_text import Datamark
from aria_dream.reach.janus import ClaimCase, ConflictCase, LinkCase, MergeCase, janus_prompt
from aria_dream.review.proposal import Kind, Proposal, ProposalState, proposal_id
from aria_dream.usecases.janus import case_of, waiting_for_janus

if TYPE_CHECKING:
    from pathlib import Path

    from aria_dream.reach.janus import Case

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
    assert not isinstance(case, NotAsked), case
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


DREAMT: dict[str, Any] = {
    "cosine": 0.987, "overlap": 0.654, "kept": "“Compost” stays: zanzibarquokka",
    "added": ["zibet"],
}
CONFLICT: dict[str, Any] = {
    "kept": "“Starter”: It takes 3 days.",
    "struck": "“Compost”: It takes 5 days.",
    "facts": ["“Starter”: zanzibarquokka"],
}


def test_of_a_merge_all_notes_are_shown_and_no_word_of_the_night(tmp_path: Path) -> None:
    state = state_of("merge", "Starter.md", "Compost.md", **DREAMT)
    proposal = replace(state.proposal, reason="zanzibarquokka says so", judge="nightjudge", confidence=0.9713)
    state = replace(state, proposal=proposal)
    case = case_of(vault_of(tmp_path), state, leaves=False)
    assert isinstance(case, MergeCase)
    text = asked(case)
    assert "A merge: “Starter” stays and takes up “Compost”." in text
    assert text.index("Flour and water.") < text.index("A heap is fed.")
    for word in ("zanzibarquokka", "zibet", "nightjudge", "0.9", "0.65", "9713"):
        assert word not in text


def test_of_a_contradiction_both_claims_and_their_notes_are_shown(tmp_path: Path) -> None:
    for paths in (("Compost.md", "Starter.md"), ("Compost.md",)):
        case = case_of(vault_of(tmp_path), state_of("resolve_contradiction", *paths, **CONFLICT), leaves=False)
        assert isinstance(case, ConflictCase)
        text = asked(case)
        assert f"Stays, in “{paths[-1].removesuffix('.md')}”: It takes 3 days." in text
        assert "Is struck, in “Compost”: It takes 5 days." in text
        assert "zanzibarquokka" not in text
    unknown = case_of(vault_of(tmp_path), state_of("resolve_contradiction", "Compost.md", "Starter.md"), leaves=False)
    assert unknown == NotAsked("its claims are not known on this machine")


@pytest.mark.parametrize("kind", ["merge", "resolve_contradiction"])
def test_what_a_night_proposes_leaves_as_privately_as_a_link(tmp_path: Path, kind: Kind) -> None:
    vault = vault_of(tmp_path)
    evidence = {**CONFLICT, "kept": f"“Starter”: Ask {SECRET} first."}
    case = case_of(vault, state_of(kind, "Compost.md", "Starter.md", **evidence), leaves=True)
    text = asked(case)
    assert not isinstance(case, NotAsked)
    assert shareable(case)
    assert "quokka" not in unicodedata.normalize("NFC", text).casefold()
    private = case_of(vault, state_of(kind, "Starter.md", f"{SECRET}.md", **CONFLICT), leaves=True)
    assert private == NotAsked("it would leave this machine, and the note is private")


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
    link, merge, update = (state_of(kind, "A.md", "B.md") for kind in ("link", "merge", "update"))
    seen = replace(link, janus="FALLS")
    assert waiting_for_janus((merge, update, seen, link)) == (link, merge)  # a dream's first, then a night's
    for state, why in ((update, "no wording"), (state_of("obsolete", "A.md"), "has run out")):
        case = case_of(vault_of(tmp_path), state, leaves=False)
        assert isinstance(case, NotAsked)
        assert why in case.reason
    for claim, sources in ((None, []), (" ", []), ("c", "x")):
        orphan = state_of("place_orphan", "N.md", claim=claim, sources=sources)
        assert isinstance(case_of(vault_of(tmp_path), orphan, leaves=False), NotAsked)
