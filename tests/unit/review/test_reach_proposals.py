"""What a reach brings home becomes a proposal, or it does not; and a new note takes no name and links to nothing."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from aria_dream.markdown.note import NotePath, parse_note
from aria_dream.policy.file_layout import Home, VaultNames
from aria_dream.reach.citation import Source
from aria_dream.reach.reach import Answer, parse_answer
from aria_dream.review.application import Approved, Ready, Stale, approve, plan_application
from aria_dream.review.journal import parse_journal
from aria_dream.review.orphan_name import LONGEST_NAME, orphan_folder
from aria_dream.review.plan import VaultView
from aria_dream.review.proposal import planned_record
from aria_dream.review.reach_proposals import (
    AskedPair,
    AskedSeed,
    Noted,
    NothingProposed,
    Proposed,
    Reached,
    proposals_of_reach,
    source_lines,
)
from aria_dream.vault.names import fold_path
from aria_dream.vault.obsidian import AppSettings
from aria_dream.vault.resolve import Resolver
from tests.unit.review.test_proposal import render_event, render_planned, render_proposed

if TYPE_CHECKING:
    from aria_dream.review.proposal import ProposalState

AT = datetime(2026, 11, 30, 14, 32, tzinfo=UTC)
PAIR = AskedPair(from_="Compost.md", to="Starter.md", score=0.7, way=("Compost.md", "Microbes.md", "Starter.md"))
HOMES = Answer(
    verdict="homes", argument=("Both are kept alive by feeding.",), sources=(), edge="is fed like"
)
ORPHAN = Answer(
    verdict="orphan",
    argument=("Bakers who feed a starter by smell keep it alive longer.", "The nearest work uses pH."),
    sources=(Source(url="https://example.org/ph", title="Feeding by pH"), Source(url="", title="A book")),
    edge="",
)
NOTES = {"Compost.md": "A heap is fed like a starter.\n", "Starter.md": "Flour.\n", "Refs.md": "[[Lost]]\n"}


def reached(answer: Answer, asked: AskedPair | AskedSeed = PAIR) -> Reached:
    return Reached(
        id="9f86", at=AT, asked=asked, answer=answer, model="Codex (gpt-5.5)", note="dreams/2026-11-30 dream.md"
    )


def names_of(files: dict[str, str]) -> VaultNames:
    looked_up = {fold_path(link.path.rpartition("/")[2]) for text in files.values() for link in parse_note(text).links}

    def sources(name: str) -> list[str]:
        return ["a note"] if {fold_path(name), fold_path(name.removesuffix(".md"))} & looked_up else []

    return VaultNames.of(files=files, markers={}, link_sources=sources)


def view_of(files: dict[str, str]) -> VaultView:
    contents = {NotePath(path): text.encode() for path, text in files.items()}
    return VaultView(files=tuple(sorted(files)), contents=contents)


def proposed(
    answer: Answer,
    *,
    asked: AskedPair | AskedSeed = PAIR,
    states: dict[str, ProposalState] | None = None,
    files: dict[str, str] | None = None,
    folder: str = "",
) -> Proposed | Noted | NothingProposed:
    files = NOTES if files is None else files
    return proposals_of_reach(
        reached(answer, asked), states or {}, view_of(files), names_of(files),
        folder=folder, expiry_days=60, hash_of=lambda path: f"hash of {path}",
    )  # fmt: skip


def journalled(found: Proposed | Noted | NothingProposed, *events: str) -> dict[str, ProposalState]:
    """The states after the proposal and these events."""
    assert isinstance(found, Proposed)
    text = render_proposed(found.proposal) + render_planned(found.proposal.id, list(found.edits), AT)
    text += "".join(render_event(event, found.proposal.id, AT) for event in events)
    states, problems = parse_journal(text)
    assert problems == ()
    return states


def approved(state: ProposalState) -> Approved:
    found = approve(state)
    assert isinstance(found, Approved)
    return found


def test_homes_becomes_the_link_that_was_asked_for_with_its_edge() -> None:
    found = proposed(HOMES)
    assert isinstance(found, Proposed)
    one = found.proposal
    assert (one.kind, one.paths, one.titles) == ("link", ("Compost.md", "Starter.md"), ("Compost", "Starter"))
    assert one.reason == "is fed like: Both are kept alive by feeding."
    assert (one.judge, one.way, one.score, one.confidence) == ("Codex (gpt-5.5)", PAIR.way, 0.7, 0.0)
    assert one.expires_at == AT + timedelta(days=60)
    assert [edit.inserted for edit in found.edits] == ["\n## Related\n\n- [[Starter]] — is fed like\n"]
    (state,) = journalled(found).values()
    assert state.edge == "is fed like"
    assert state.edits == found.edits
    turned = proposed(HOMES, asked=replace(PAIR, from_="Starter.md", to="Compost.md", way=None))
    assert isinstance(turned, Proposed)
    assert turned.proposal.paths == ("Starter.md", "Compost.md")


def test_a_pair_that_waits_already_gets_the_edge_and_no_second_proposal() -> None:
    first = proposed(replace(HOMES, edge="older"))
    assert isinstance(first, Proposed)
    states = journalled(first)
    for asked in (PAIR, replace(PAIR, from_="Starter.md", to="Compost.md")):
        found = proposed(HOMES, asked=asked, states=states)
        assert isinstance(found, Noted)
        named, planned = found.records
        assert "- [[Starter]] — is fed like\\n" in json.dumps(planned, ensure_ascii=False)
        record = render_event("edge", found.id, AT, edge=named["edge"])
        after, problems = parse_journal(render_proposed(first.proposal) + record)
        assert problems == ()
        assert [state.edge for state in after.values()] == ["is fed like"]


@pytest.mark.parametrize("event", ["approved", "rejected", "applied"])
def test_a_decided_pair_is_left_alone(event: str) -> None:
    found = proposed(HOMES, states=journalled(proposed(HOMES), event))
    assert found == NothingProposed("you have decided about this pair")


@pytest.mark.parametrize("event", ["expired", "stale", "superseded"])
def test_a_pair_that_nobody_decided_comes_back_in_another_round(event: str) -> None:
    states = journalled(proposed(HOMES), event)
    found = proposed(HOMES, states=states)
    assert isinstance(found, Proposed)
    assert found.proposal.round == 1
    assert found.proposal.id not in states


@pytest.mark.parametrize(
    ("answer", "asked"),
    [
        (replace(HOMES, edge=""), PAIR),
        (HOMES, AskedSeed("A seed")),
        (replace(ORPHAN, sources=()), PAIR),
        (replace(ORPHAN, argument=()), PAIR),
        (Answer(verdict="neither", argument=("Only words.",), sources=ORPHAN.sources, edge=""), PAIR),
    ],
)
def test_nothing_else_is_ever_proposed(answer: Answer, asked: AskedPair | AskedSeed) -> None:
    assert isinstance(proposed(answer, asked=asked), NothingProposed)


def test_a_link_that_stands_there_is_not_proposed() -> None:
    files = {**NOTES, "Compost.md": "Like a [[Starter]].\n"}
    assert isinstance(proposed(HOMES, files=files), NothingProposed)


@pytest.mark.parametrize("asked", [PAIR, AskedSeed("Smell keeps starters")])
def test_an_orphan_becomes_a_note_that_links_to_nothing(asked: AskedPair | AskedSeed) -> None:
    found = proposed(ORPHAN, asked=asked)
    assert isinstance(found, Proposed)
    (edit,) = found.edits
    assert found.proposal.paths == (edit.path,) == ("Bakers who feed a starter by smell keep it alive longer.md",)
    assert (edit.before, edit.removed, edit.start) == ("", "", 0)
    note = parse_note(edit.inserted)
    assert note.links == ()
    for part in (*ORPHAN.argument, "`https://example.org/ph` — Feeding by pH", "- A book", "2026-11-30", "gpt-5.5"):
        assert part in edit.inserted
    assert note.properties["dream-note"] == "dreams/2026-11-30 dream.md"
    assert found.proposal.evidence["claim"] == ORPHAN.argument[0]
    assert found.proposal.confidence == 0.0
    (state,) = journalled(found, "approved").values()
    ready = plan_application(approved(state), view_of(NOTES))
    assert isinstance(ready, Ready)
    (write,) = ready.changes.writes
    assert (write.content or b"").decode() == edit.inserted


def test_the_same_claim_is_not_proposed_twice_whatever_became_of_it() -> None:
    for events in ((), ("rejected",), ("expired",)):
        found = proposed(ORPHAN, states=journalled(proposed(ORPHAN), *events))
        assert found == NothingProposed("this claim was proposed before")


def test_a_text_that_a_crash_kept_from_the_journal_is_journalled_later() -> None:
    first = proposed(ORPHAN)
    assert isinstance(first, Proposed)
    states, _ = parse_journal(render_proposed(first.proposal))
    found = proposed(ORPHAN, states=states)
    assert isinstance(found, Noted)
    assert (found.id, found.records[0]["event"]) == (first.proposal.id, "planned")
    assert found.records == (planned_record(found.id, first.edits, AT),)


def test_a_name_that_a_note_or_a_link_has_is_not_taken() -> None:
    name = "Bakers who feed a starter by smell keep it alive longer"
    for files in ({f"sub/{name}.md": "x"}, {"R.md": f"[[{name}]]"}, {"R.md": f"[x]({name.replace(' ', '%20')}.md)"},
                  {f"{name.upper()}.md": ""}):  # fmt: skip
        found = proposed(ORPHAN, files={**NOTES, **files})
        assert isinstance(found, Proposed)
        if not any("/" in path for path in files):
            assert found.proposal.paths == (f"{name} 2.md",)
    other = journalled(proposed(ORPHAN))
    found = proposed(replace(ORPHAN, argument=(f"{ORPHAN.argument[0]} They really do.",)), states=other)
    assert isinstance(found, Proposed)
    assert found.proposal.paths == (f"{name} 2.md",)


def test_a_link_written_between_proposal_and_approval_is_not_captured() -> None:
    (state,) = journalled(proposed(ORPHAN), "approved").values()
    allowed = approved(state)
    link = f"[[{state.proposal.titles[0]}]]"
    for files in ({**NOTES, "New.md": link}, {**NOTES, f"deep/{state.paths[0]}": "mine", "New.md": link}):
        found = plan_application(allowed, view_of(files))
        assert isinstance(found, Stale), files
    assert isinstance(plan_application(allowed, view_of(NOTES)), Ready)


@pytest.mark.parametrize(
    ("claim", "name"),
    [
        ("AGENTS", "Claim AGENTS"),
        ("Claim.", "Claim of a reach"),
        ("claims", "claims of a reach"),
        ("dreaming", "Claim dreaming"),
        ("2026-11-30", "Claim 2026-11-30"),
        ("../../.profile", "Claim profile"),
        ("CON", "Claim CON"),
        ("Bakers who feed a starter by smell keep it alive longer than those who feed it by the clock",
         "Bakers who feed a starter by smell keep it alive"),
        ("x" * 90, f"Claim {'x' * 60}"),
        ("[[Passwords]] is ![[Secret]]#^x", "Passwords is Secret x"),
        ('a/b\\c: <d> "e" | f?', "a b c d e f"),
        ("目を閉じると聞こえるものが増える", "Claim 目を閉じると聞こえるものが増える"),
    ],
)
def test_names_are_words_of_the_claim_and_nothing_else(claim: str, name: str) -> None:
    found = proposed(replace(ORPHAN, argument=(claim,)))
    assert isinstance(found, Proposed)
    assert found.proposal.paths == (f"{name}.md",)


def test_the_folder_is_the_one_for_new_notes_and_never_ours() -> None:
    home = Home(
        folder="dreams", review="dreams/Dream review.md", seeds="", report="", canvas="", exists=True, said=()
    )
    for app, expected in (
        (AppSettings(), ""),
        (AppSettings(new_file_location="folder", new_file_folder="Inbox"), "Inbox"),
        (AppSettings(new_file_location="folder", new_file_folder="Dreams/new"), ""),
        (AppSettings(new_file_location="current", new_file_folder="Inbox"), ""),
    ):
        assert orphan_folder(app, home) == expected
    found = proposed(ORPHAN, folder="Inbox")
    assert isinstance(found, Proposed)
    assert found.proposal.paths[0].startswith("Inbox/Bakers")


HOSTILE = st.text(st.sampled_from("[]()#^|`<>%:*_~=$\\/!-+.x {}\n\u200b\u202eé\"'&;@") | st.characters(), max_size=80)


@settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(claim=HOSTILE, lines=st.lists(HOSTILE, max_size=3), title=HOSTILE, header=HOSTILE)
def test_whatever_was_said_the_note_links_to_nothing_and_takes_no_name(
    claim: str, lines: list[str], title: str, header: str
) -> None:
    said = "\n".join(("ORPHAN", claim, *lines, "Sources:", f"- {title} https://example.org/x"))
    answer = parse_answer(said)
    if not isinstance(answer, Answer) or not answer.is_finding:
        return
    found = proposed(answer, asked=AskedSeed(header))
    if isinstance(found, NothingProposed):
        return
    assert isinstance(found, Proposed)
    (path,), (edit,) = found.proposal.paths, found.edits
    assert "/" not in path
    assert len(path) <= LONGEST_NAME + len("Claim .md 50")
    assert not re.search(r"[\[\]#^|<>:\"\\?*%]", path)
    before, after = Resolver(NOTES), Resolver([*NOTES, path])
    for source, text in NOTES.items():
        for link in parse_note(text).links:
            assert after.resolve(link.path, source) == before.resolve(link.path, source)
    note = parse_note(edit.inserted)
    assert (note.links, note.tags, note.headings, note.block_ids) == ((), (), (), ())
    assert set(note.properties) == {"origin", "reached", "dream-note", "model"}
    body = edit.inserted[note.body_start :]
    assert not re.search(r"^\s*[-*+] \[.\]|!\[|%%|<[%a-z!/]", body, re.MULTILINE)
    outside = re.sub(r"`[^`]*`", "", body)
    assert not re.search(r"://|\bwww\.|\w@\w+\.\w", outside)


def test_sources_as_a_cold_reader_sees_them() -> None:
    found: list[dict[str, Any]] = [{"url": "https://a.example/", "title": "A"}, {"title": "B"}, {"url": "https://c.example/"}]
    assert source_lines(found) == "https://a.example/ — A\nB\nhttps://c.example/"
