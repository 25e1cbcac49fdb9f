"""Ticks become decisions only when id and titles agree, and each decision is made once."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import pytest

from aria_dream.notes.dream_note_grammar import LoggedPair, logged_link, render_pair
from aria_dream.notes.jsonl import render_record
from aria_dream.notes.ticks import read_ticks
from aria_dream.review.decision import Decision, Ticked, decide
from aria_dream.review.journal import parse_journal
from aria_dream.review.proposal import (
    Proposal,
    ProposalState,
    Renamed,
    event_record,
    proposal_id,
    proposed_record,
    renamed_record,
)

if TYPE_CHECKING:
    from aria_dream.notes.boxes import Decides


def render_event(*values: Any, **details: Any) -> str:
    return render_record(event_record(*values, **details))


def render_proposed(*values: Any, **details: Any) -> str:
    return render_record(proposed_record(*values, **details))


def render_renamed(*values: Any, **details: Any) -> str:
    return render_record(renamed_record(*values, **details))


AT = datetime(2026, 11, 30, 3, 12, tzinfo=UTC)
PATHS = ("Compost.md", "kitchen/Sourdough.md")
ID = proposal_id("link", PATHS, 0)
LINKS = {"Compost": "Compost.md", "kitchen/Sourdough": "kitchen/Sourdough.md", "Soil": "Soil.md"}


def resolve(target: str, surface: str) -> str | None:
    return LINKS.get(target)


def without_md(path: str) -> str:
    return path[:-3]


def surface(*boxes: Decides, id_: str = ID, paths: tuple[str, str] = PATHS) -> str:
    first, second = (logged_link(path, without_md) for path in paths)
    pair = LoggedPair(
        id=id_,
        from_=first,
        to=second,
        score=0.7,
        path=None,
        reason="r",
        judge="j",
        probability=0.8,
        ticked=frozenset(boxes),
    )
    return render_pair(pair)


def states(*events: str, round_: int = 0) -> dict[str, ProposalState]:
    proposal = Proposal(
        id=proposal_id("link", PATHS, round_),
        kind="link",
        paths=PATHS,
        round=round_,
        at=AT,
        expires_at=None,
        titles=("Compost", "Sourdough"),
    )
    text = render_proposed(proposal) + "".join(
        render_event(event, proposal.id, AT)
        for event in events
    )
    folded, problems = parse_journal(text)
    assert problems == ()
    return folded


def ticked(*texts: str) -> list[Ticked]:
    found = []
    for number, text in enumerate(texts):
        ticks, problems = read_ticks(text)
        assert problems == ()
        found += [Ticked(tick=tick, surface=f"dreams/{number}.md") for tick in ticks]
    return found


def choices(decisions: tuple[Decision, ...]) -> list[str]:
    return [decision.choice for decision in decisions]


UNDO = f"- **[[Compost]] ↔ [[kitchen/Sourdough|Sourdough]]** (0.7)\n    - linked in Compost, 07:41 — [x] undo until 2 Dec 07:41 ^aria-{ID}-undo\n"  # noqa: E501 - a line as it stands in a note


@pytest.mark.parametrize(
    ("texts", "events", "expected", "said"),
    [
        ([surface("link")], [], ["approve"], 0),
        ([surface("never")], [], ["reject"], 0),
        ([surface("known")], [], ["know"], 0),
        ([surface("known")], ["approved"], ["know"], 0),
        ([surface("known")], ["rejected"], [], 0),
        ([surface("known")], ["applied"], [], 1),
        ([surface("known", "link")], [], ["ask"], 2),
        ([surface("known"), surface("never")], [], ["ask"], 2),
        ([surface()], [], [], 0),
        ([surface("link"), surface("link")], [], ["approve"], 0),
        ([surface("link", "never")], [], ["ask"], 2),
        ([surface("link"), surface("never")], [], ["ask"], 2),
        ([surface("link")], ["approved"], [], 0),
        ([surface("never")], ["approved"], ["reject"], 0),
        ([surface("link")], ["approved", "applied"], [], 0),
        ([surface("never")], ["applied"], [], 1),
        ([surface("link", "never")], ["applied"], [], 2),
        ([surface("link")], ["rejected"], [], 1),
        ([surface("never")], ["rejected"], [], 0),
        ([surface("link")], ["expired"], ["approve"], 0),
        ([surface("link")], ["stale"], ["approve"], 0),
        ([surface("link")], ["superseded"], [], 0),
        ([UNDO], ["applied"], ["undo"], 0),
        ([UNDO], ["rejected"], ["undo"], 0),
        ([UNDO, surface("link")], ["applied"], ["undo"], 0),
        ([UNDO], ["applied", "rolled_back"], [], 0),
        ([UNDO], [], [], 1),
        ([surface("link")], ["applied", "rolled_back"], [], 1),
        ([surface("never")], ["superseded"], [], 1),
    ],
)
def test_truth_table(texts: list[str], events: list[str], expected: list[str], said: int) -> None:
    decisions, problems = decide(ticked(*texts), states(*events), resolve)
    assert choices(decisions) == expected
    assert len(problems) == said
    for decision in decisions:
        assert decision.paths == PATHS
        assert decision.known
        assert len(decision.surfaces) == len(texts)


def test_a_machine_without_the_journal_verifies_the_line_itself() -> None:
    round_two = proposal_id("link", PATHS, 2)
    (decision,), problems = decide(ticked(surface("link", id_=round_two)), {}, resolve)
    assert problems == ()
    assert (decision.choice, decision.paths, decision.round, decision.known) == ("approve", PATHS, 2, False)


def test_a_tick_under_other_titles_is_void_with_and_without_journal() -> None:
    wrong = ticked(surface("link", paths=("Soil.md", "kitchen/Sourdough.md")))
    for known in (states(), {}):
        decisions, problems = decide(wrong, known, resolve)
        assert decisions == ()
        assert "another pair" in problems[0].message
        assert (problems[0].path, problems[0].line) == ("dreams/0.md", 5)


def test_a_note_that_is_not_here_lets_the_tick_wait() -> None:
    gone = ("Gone.md", "kitchen/Sourdough.md")
    _, problems = decide(ticked(surface("link", id_=proposal_id("link", gone, 0), paths=gone)), {}, resolve)
    assert "waits" in problems[0].message


def test_a_renamed_note_keeps_its_proposal() -> None:
    """Obsidian rewrites the link in the dream note; the journal follows the rename."""
    renamed = Renamed(from_="Compost.md", to="Soil.md", content_hash="x", at=AT)
    first = next(iter(states().values())).proposal
    folded, _ = parse_journal(render_proposed(first) + render_renamed(renamed))
    (decision,), problems = decide(ticked(surface("link", paths=("Soil.md", PATHS[1]))), folded, resolve)
    assert problems == ()
    assert decision.paths == ("Soil.md", "kitchen/Sourdough.md")
    assert decide(ticked(surface("link")), folded, resolve)[0] == (decision,)
