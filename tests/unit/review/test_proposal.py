"""Proposals, their ids, and the fold of their journal."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from aria_dream.notes.jsonl import render_record
from aria_dream.review.journal import parse_journal
from aria_dream.review.proposal import (
    EVENTS,
    PlannedEdit,
    Proposal,
    Renamed,
    decided_pairs,
    due_to_expire,
    event_record,
    is_id_of,
    next_round,
    open_count,
    plan_renames,
    planned_record,
    proposal_id,
    proposed_record,
    renamed_record,
)
from aria_dream.vault.edit import content_hash


def render_event(*values: Any, **details: Any) -> str:
    return render_record(event_record(*values, **details))


def render_planned(*values: Any, **details: Any) -> str:
    return render_record(planned_record(*values, **details))


def render_proposed(*values: Any, **details: Any) -> str:
    return render_record(proposed_record(*values, **details))


def render_renamed(*values: Any, **details: Any) -> str:
    return render_record(renamed_record(*values, **details))


AT = datetime(2026, 11, 30, 3, 12, tzinfo=UTC)
LATER = AT + timedelta(hours=4)


def link(first: str = "Compost.md", second: str = "Sourdough.md", round_: int = 0) -> Proposal:
    return Proposal(
        id=proposal_id("link", (first, second), round_),
        kind="link",
        paths=(first, second),
        round=round_,
        at=AT,
        expires_at=AT + timedelta(days=60),
        titles=(first[:-3], second[:-3]),
        hashes={first: "aa", second: "bb"},
        confidence=0.81,
        score=0.714,
        reason="both are fed",
        judge="embedded judge",
        way=(first, "Microbes.md", second),
        evidence={"text": 0.4, "words": ["feed"]},
        episode="20261130-031200-4711",
    )


PROPOSED = link()
ID = PROPOSED.id


def journal(*events: str, **details: object) -> str:
    return render_proposed(PROPOSED) + "".join(render_event(event, ID, LATER, **details) for event in events)


def test_an_id_is_the_same_on_every_machine_and_in_both_directions() -> None:
    assert proposal_id("link", ("Compost.md", "Sourdough.md"), 0) == "xenrhy"
    assert proposal_id("link", ("Sourdough.md", "Compost.md"), 0) == "xenrhy"
    assert proposal_id("link", ("Caf\u00e9.md", "B.md"), 0) == proposal_id("link", ("B.md", "Cafe\u0301.md"), 0)
    others = {proposal_id("merge", PROPOSED.paths, 0), proposal_id("link", PROPOSED.paths, 1)}
    assert len(others | {ID}) == 3


def test_a_collision_lengthens_the_id_and_it_still_vouches() -> None:
    longer = proposal_id("link", PROPOSED.paths, 0, {ID})
    assert len(longer) == 7
    assert longer.startswith(ID)
    assert is_id_of(longer, "link", PROPOSED.paths, 0)
    assert not is_id_of(ID[:5], "link", PROPOSED.paths, 0)
    assert not is_id_of(ID, "link", ("Compost.md", "Other.md"), 0)


def test_what_is_written_is_read_back() -> None:
    edit = PlannedEdit(
        path="Compost.md", before=content_hash(b"a"), after=content_hash(b"b"), start=7, removed="x", inserted="[[\n]]"
    )
    extra = replace(PROPOSED, extra={"from_a_later_version": [1]})
    text = render_proposed(extra) + render_planned(ID, [edit], LATER)
    text += render_event("janus", ID, LATER, verdict="STANDS", reason="independent review")
    states, problems = parse_journal(text)
    assert problems == ()
    state = states[ID]
    assert state.proposal == extra
    assert (state.state, state.edits, state.janus, state.janus_reason) == (
        "proposed",
        (edit,),
        "STANDS",
        "independent review",
    )
    assert parse_journal(text.replace("\n", "\r\n\r\n")) == (states, ())


@pytest.mark.parametrize(
    ("events", "state"),
    [
        (["approved", "applied"], "applied"),
        (["approved", "applied", "rolled_back"], "rolled_back"),
        (["rejected"], "rejected"),
        (["rejected", "reopened"], "proposed"),
        (["approved", "rejected"], "rejected"),
        (["approved", "stale", "approved", "applied"], "applied"),
        (["expired"], "expired"),
        (["expired", "approved"], "approved"),
        (["applied"], "applied"),
        (["superseded"], "superseded"),
        (["approved", "approved", "applied", "applied"], "applied"),
    ],
)
def test_states(events: list[str], state: str) -> None:
    states, problems = parse_journal(journal(*events))
    assert problems == ()
    assert states[ID].state == state


@pytest.mark.parametrize(
    ("events", "state"),
    [
        (["rejected", "approved"], "rejected"),
        (["rejected", "applied"], "rejected"),
        (["applied", "approved"], "applied"),
        (["rolled_back"], "proposed"),
        (["approved", "expired"], "approved"),
        (["applied", "stale"], "applied"),
        (["superseded", "approved"], "superseded"),
    ],
)
def test_a_record_that_contradicts_the_state_is_left_out_and_said(events: list[str], state: str) -> None:
    states, (problem,) = parse_journal(journal(*events))
    assert states[ID].state == state
    assert problem.line == len(events) + 1
    assert ID in problem.message


@pytest.mark.parametrize(
    "spoilt",
    [
        {"id": "../../x"},
        {"id": "aaaaaa"},
        {"paths": ["Compost.md", "Evil.md"]},
        {"paths": ["Compost.md"]},
        {"paths": "Compost.md"},
        {"kind": "delete"},
        {"round": True},
        {"at": "2026-11-30T03:12:00"},
        {"hashes": {"a": 1}},
        {"confidence": "high"},
    ],
)
def test_a_record_that_its_id_does_not_vouch_for_is_left_out(spoilt: dict[str, object]) -> None:
    import json

    record = json.loads(render_proposed(PROPOSED)) | spoilt
    states, problems = parse_journal(json.dumps(record) + "\n")
    assert states == {}
    assert [problem.line for problem in problems] == [1]


def test_torn_and_foreign_lines() -> None:
    text = "\ufeff" + journal("approved")
    later = '{"event":"of a later version"}\n\n'
    states, problems = parse_journal(text + later + "not json\n" + '{"event":"rejected","id":"' + ID)
    assert states[ID].state == "approved"
    assert [problem.line for problem in problems] == [5]


def test_the_same_proposal_twice_is_once_and_another_under_its_id_is_refused() -> None:
    states, problems = parse_journal(render_proposed(PROPOSED) + journal("approved") + render_proposed(PROPOSED))
    assert (states[ID].state, problems) == ("approved", ())


def test_decided_pairs_follow_their_notes_through_renames() -> None:
    renamed = Renamed(from_="Compost.md", to="Garden/Soil.md", content_hash="aa", at=LATER)
    states, problems = parse_journal(journal("rejected") + render_renamed(renamed))
    assert problems == ()
    assert decided_pairs(states.values()) == {("Garden/Soil.md", "Sourdough.md")}
    assert states[ID].proposal.paths == ("Compost.md", "Sourdough.md")
    assert next_round(states.values(), "link", ("Sourdough.md", "Garden/Soil.md")) == 1
    assert next_round(states.values(), "link", ("Sourdough.md", "Compost.md")) == 1
    assert next_round(states.values(), "merge", ("Sourdough.md", "Compost.md")) == 0


@pytest.mark.parametrize(
    ("events", "decided", "waiting"),
    [
        ([], True, 1),
        (["approved"], True, 0),
        (["rejected"], True, 0),
        (["applied"], True, 0),
        (["applied", "rolled_back"], True, 0),
        (["rejected", "reopened"], True, 1),
        (["expired"], False, 0),
        (["stale"], False, 0),
        (["superseded"], False, 0),
    ],
)
def test_which_pairs_are_never_shown_and_which_count_as_open(events: list[str], waiting: int, *, decided: bool) -> None:
    states, _ = parse_journal(journal(*events))
    assert bool(decided_pairs(states.values())) is decided
    assert open_count(states.values()) == waiting


def test_expiry() -> None:
    states, _ = parse_journal(journal())
    assert due_to_expire(states.values(), AT + timedelta(days=59)) == ()
    assert due_to_expire(states.values(), AT + timedelta(days=60)) == (states[ID],)
    approved, _ = parse_journal(journal("approved"))
    assert due_to_expire(approved.values(), AT + timedelta(days=90)) == ()


@pytest.mark.parametrize(
    ("hashes", "expected"),
    [
        ({"Compost.md": "aa", "Sourdough.md": "bb"}, []),
        ({"Soil.md": "aa", "Sourdough.md": "bb"}, [("Compost.md", "Soil.md")]),
        ({"Soil.md": "aa", "x/Bread.md": "bb"}, [("Compost.md", "Soil.md"), ("Sourdough.md", "x/Bread.md")]),
        ({"Soil.md": "aa", "Copy.md": "aa", "Sourdough.md": "bb"}, []),
        ({"Compost.md": "aa", "Copy.md": "aa", "Sourdough.md": "bb"}, []),
        ({"Soil.md": "changed", "Sourdough.md": "bb"}, []),
        ({"Sourdough.md": "bb"}, []),
    ],
)
def test_renames_are_recognised_by_content(hashes: dict[str, str], expected: list[tuple[str, str]]) -> None:
    states, _ = parse_journal(journal())
    assert [(found.from_, found.to) for found in plan_renames(states.values(), hashes, LATER)] == expected


def test_two_vanished_notes_of_the_same_content_are_not_told_apart() -> None:
    twins = replace(PROPOSED, hashes={"Compost.md": "same", "Sourdough.md": "same"})
    states, _ = parse_journal(render_proposed(twins))
    assert plan_renames(states.values(), {"New.md": "same"}, LATER) == ()
    earlier = {"Compost.md": "grown", "Sourdough.md": "same"}
    (found,) = plan_renames(states.values(), {"New.md": "grown", "Sourdough.md": "same"}, LATER, earlier)
    assert (found.from_, found.to) == ("Compost.md", "New.md")


def test_a_note_that_was_merged_away_bears_no_other_name() -> None:
    """A third note of the same text is another note, whether it was there before or came later."""
    merge = replace(PROPOSED, id=proposal_id("merge", PROPOSED.paths, 0), kind="merge")
    proposed = render_proposed(merge)
    approved = render_event("approved", merge.id, LATER, by="tick")
    applied = render_event("applied", merge.id, LATER, by="tick", history="h")
    kept, gone = merge.paths
    hashes = {kept: merge.hashes[kept], "Third.md": merge.hashes[gone]}
    waiting, _ = parse_journal(proposed)
    assert [(one.from_, one.to) for one in plan_renames(waiting.values(), hashes, LATER)] == [(gone, "Third.md")]
    done, _ = parse_journal(proposed + approved + applied)
    assert plan_renames(done.values(), hashes, LATER) == ()


@settings(max_examples=150)
@given(st.lists(st.sampled_from(EVENTS), max_size=8), st.integers(0, 400))
def test_any_sequence_of_records_folds_and_a_crash_loses_only_the_last(events: list[str], cut: int) -> None:
    details: dict[str, object] = {"verdict": "UNSURE", "edits": []}
    text = journal(*[event for event in events if event != "proposed"], **details)
    states, _ = parse_journal(text)
    assert set(states) == {ID}
    kept = text[: len(text) - cut]
    whole, _ = parse_journal(kept[: kept.rfind("\n") + 1])
    torn, problems = parse_journal(kept)
    assert torn == whole or kept.endswith("}")
    assert all(problem.line <= kept.count("\n") + 1 for problem in problems)


@given(st.text(), st.lists(st.text(), min_size=2, max_size=2, unique=True), st.floats(0, 1))
def test_no_title_forges_a_record(title: str, paths: list[str], confidence: float) -> None:
    proposal = replace(
        PROPOSED,
        id=proposal_id("link", paths, 0),
        paths=tuple(paths),
        titles=(title, title + "\n"),
        reason='"}\n{"event":"applied"}',
        confidence=confidence,
        hashes={},
    )
    line = render_proposed(proposal)
    assert len(line.splitlines()) == 1
    line.encode()
    states, problems = parse_journal(line)
    assert problems == ()
    assert [state.proposal for state in states.values()] == [proposal]
