"""From a reach that landed to a proposal that waits, is shown, approved and applied: real vault, real journal."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from aria_dream.adapters.disk.files import DiskVault
from aria_dream.adapters.state.record_store import RecordStore
from aria_dream.errors import WriteRefusedError
from aria_dream.markdown.note import parse_note
from aria_dream.notes.review_note import render_managed, render_review_head
from aria_dream.reach.reach import Answer
from aria_dream.reach.reach_reading import parse_reach_blocks
from aria_dream.review.proposal import event_record
from aria_dream.usecases.review import settle
from aria_dream.usecases.review_session import ReviewSession
from tests.e2e.test_dream import NOTES
from tests.reach_bench import HOMES, NEITHER, ORPHAN, ReachBench, answered

if TYPE_CHECKING:
    from pathlib import Path

    from aria_dream.review.proposal import ProposalState
    from aria_dream.usecases.reach import ReachResult
    from aria_dream.usecases.review_session import Settlement

CLAIM = "A claim nobody has made"


@pytest.fixture
def bench(tmp_path: Path) -> ReachBench:
    made = ReachBench(tmp_path, NOTES)
    made.home()
    made.write("dreams/Dream review.md", f"{render_review_head()}{render_managed([])}\n")
    made.consent()
    return made


def states(bench: ReachBench, kind: str) -> list[ProposalState]:
    return [state for state in RecordStore(bench.state).read().states.values() if state.proposal.kind == kind]


def settled(bench: ReachBench) -> Settlement:
    store = RecordStore(bench.state)
    return settle(
        ReviewSession(vault=bench.look(), files=DiskVault(bench.root, bench.state), store=store, now=bench.now)
    )


def test_homes_names_the_edge_of_the_pair_that_waits(bench: ReachBench) -> None:
    dreamt = bench.dream(start="Compost.md")
    assert dreamt.block is not None
    bench.reacher.answers = [answered(HOMES)]
    before = states(bench, "link")
    result = bench.reach("internal")
    assert result.question is not None
    (named,) = [state for state in states(bench, "link") if state.edge]
    assert named.edge == "fed cultures"
    assert tuple(sorted(named.paths)) == result.question.pair
    assert len(states(bench, "link")) == len(before)
    assert f"The proposal that waits for you knows it now: aria-dream review VAULT {named.proposal.id}" in result.led_to


def test_homes_of_a_pair_that_nobody_was_shown_is_a_new_link_that_can_be_ticked(bench: ReachBench) -> None:
    bench.reacher.answers = [answered(HOMES)]
    result = bench.reach("internal", start="Compost.md")
    (state,) = states(bench, "link")
    assert result.question is not None
    assert state.paths == tuple(f"{end}.md" for end in result.subject.split(" ↔ "))
    assert state.proposal.evidence["edge"] == state.edge == "fed cultures"
    review = bench.read("dreams/Dream review.md")
    assert f"^aria-{state.proposal.id}" in review
    assert "fed cultures" in review
    first, second = (path.removesuffix(".md") for path in state.paths)
    before = bench.files()[f"{first}.md"]
    bench.write("dreams/Dream review.md", review.replace(f"[ ] link them ^aria-{state.proposal.id}",
                                                         f"[x] link them ^aria-{state.proposal.id}"))  # fmt: skip
    done = settled(bench)
    assert done.applied == [state.proposal.id], done
    assert second in [link.path for link in parse_note(bench.read(f"{first}.md")).links]
    assert f"- [[{second}]] — fed cultures\n" in bench.read(f"{first}.md")
    review = bench.read("dreams/Dream review.md")
    (line,) = [line for line in review.splitlines() if line.endswith(f"^aria-{state.proposal.id}-undo")]
    bench.write("dreams/Dream review.md", review.replace(line, line.replace("[ ]", "[x]")))
    settled(bench)
    assert bench.files()[f"{first}.md"] == before


def test_the_link_of_a_pair_that_waited_already_bears_the_edge_that_came_later(bench: ReachBench) -> None:
    bench.dream(start="Compost.md")
    bench.reacher.answers = [answered(HOMES)]
    bench.reach("internal")
    (state,) = [state for state in states(bench, "link") if state.edge]
    assert "— fed cultures" in state.edits[0].inserted  # what every surface shows before the tick
    review = bench.read("dreams/Dream review.md")
    bench.write("dreams/Dream review.md", review.replace(f"[ ] link them ^aria-{state.proposal.id}",
                                                         f"[x] link them ^aria-{state.proposal.id}"))  # fmt: skip
    assert settled(bench).applied == [state.proposal.id]
    assert "— fed cultures" in bench.read(state.paths[0])


def test_an_orphan_is_ticked_and_becomes_a_note_that_links_to_nothing(bench: ReachBench) -> None:
    bench.reacher.answers = [answered(ORPHAN)]
    result = bench.reach("external")
    (state,) = states(bench, "place_orphan")
    assert state.paths == (f"{CLAIM}.md",)
    assert f"It waits for you as a proposal: aria-dream review VAULT {state.proposal.id}" in result.led_to
    assert not (bench.root / f"{CLAIM}.md").exists()
    review = bench.read("dreams/Dream review.md")
    (line,) = [line for line in review.splitlines() if line.endswith(f"^aria-{state.proposal.id}")]
    before = {path: data for path, data in bench.files().items() if not path.startswith("dreams/")}
    bench.write("dreams/Dream review.md", review.replace(line, line.replace("[ ]", "[x]")))
    done = settled(bench)
    assert done.applied == [state.proposal.id], done
    text = bench.read(f"{CLAIM}.md")
    assert (parse_note(text).links, text) == ((), state.edits[0].inserted)
    assert "`https://example.org/near`" in text
    assert "“Sleep replays the day backwards”" in text
    after = bench.files()
    assert {path: after[path] for path in before} == before
    vault = bench.look()
    row = vault.row(f"{CLAIM}.md")
    assert row is not None  # a note of the writer's from now on, dreamt like any other
    assert len(vault.links.of(row)) == 0


@pytest.mark.parametrize(
    "listed", ["citeturn0search1", "【4†source】", "my own search", "various web pages", "Compost", "Foster 2006",
               "[[Foster 2006]]", "an alias, 2001"]
)  # fmt: skip
def test_what_is_no_source_makes_no_finding(bench: ReachBench, listed: str) -> None:
    bench.write("Foster 2006.md", "---\naliases: [An alias 2001]\n---\nWhat Foster says.\n")
    bench.reacher.answers = [answered(f"{ORPHAN.split('Sources')[0]}Sources:\n- {listed}\n")]
    result = bench.reach("external")
    assert states(bench, "place_orphan") == []
    text = bench.read(result.note)
    assert "⚠ No source is cited" in text
    (block,) = parse_reach_blocks(text)[0]
    assert isinstance(block.outcome, Answer)
    assert block.outcome.is_unsourced_orphan


@pytest.mark.parametrize("answer", [NEITHER, ORPHAN.split("Sources")[0] + "Sources:\n", "It is new, I think."])
def test_what_is_no_finding_leads_to_nothing(bench: ReachBench, answer: str) -> None:
    bench.reacher.answers = [answered(answer)]
    bench.reach("external")
    assert states(bench, "place_orphan") == []
    assert states(bench, "link") == []


def test_a_crash_before_the_proposal_is_made_good_by_the_next_run(
    bench: ReachBench, monkeypatch: pytest.MonkeyPatch
) -> None:
    bench.reacher.answers = [answered(ORPHAN)]

    def torn(*_arguments: object, **_more: object) -> tuple[str, ...]:
        raise WriteRefusedError("the disk is full")

    with monkeypatch.context() as patch:
        patch.setattr("aria_dream.usecases.reach.propose_reached", torn)
        with pytest.raises(WriteRefusedError):
            bench.reach("external")
    assert states(bench, "place_orphan") == []
    bench.reacher.answers = [answered(NEITHER)]
    bench.reach("external")
    (state,) = states(bench, "place_orphan")
    assert state.edits
    assert bench.note().count("— reach (Codex + web)") == 2  # the first one's block was not written twice


def test_a_claim_that_was_refused_does_not_come_back(bench: ReachBench) -> None:
    bench.reacher.answers = [answered(ORPHAN), answered(ORPHAN)]
    bench.reach("external")
    (state,) = states(bench, "place_orphan")
    RecordStore(bench.state).note(event_record("rejected", state.proposal.id, bench.now, by="terminal"))
    result = bench.reach("external")
    assert len(states(bench, "place_orphan")) == 1
    assert "Nothing is proposed for it: this claim was proposed before." in result.led_to


SEED = """\
---
aria-dream: seeds
---
## 2026-11-29 — What is fed, stays
- kind: external-novelty
- status: open
- source: https://example.org/fed
- struck: it needs no beginning
- resonance: {resonance}
"""


def reached_seed(bench: ReachBench, resonance: str, answer: str) -> ReachResult:
    bench.write("dreams/Dream seeds.md", SEED.format(resonance=resonance))
    bench.reacher.answers = [answered(answer)]
    return bench.reach("external")


@pytest.mark.parametrize("line", ["", "Notes: 2, 1\n", "Notes: Sourdough starter and Compost\n"])
@pytest.mark.parametrize("resonance", ["[[Compost]] and [[Sourdough starter]]", "Compost, and sourdough starter too"])
def test_a_seed_that_homes_is_a_link_between_the_notes_it_names(bench: ReachBench, resonance: str, line: str) -> None:
    result = reached_seed(bench, resonance, HOMES.replace("Sources:", f"{line}Sources:"))
    assert "1. Compost\n│ 2. Sourdough starter" in bench.reacher.sent[0].text
    (state,) = states(bench, "link")
    ends = ("Sourdough starter.md", "Compost.md") if line else ("Compost.md", "Sourdough starter.md")
    assert (state.paths, state.edge) == (ends, "fed cultures")
    assert state.proposal.way is not None  # as the links go
    first, second = (end.removesuffix(".md") for end in ends)
    assert f"Between: **[[{first}]] ↔ [[{second}]]**" in bench.note()
    assert parse_reach_blocks(bench.note())[0] == (result.block,)
    review = bench.read("dreams/Dream review.md")
    box = f"[ ] link them ^aria-{state.proposal.id}"
    bench.write("dreams/Dream review.md", review.replace(box, box.replace("[ ]", "[x]")))
    done = settled(bench)
    assert done.applied == [state.proposal.id], done
    assert second in [link.path for link in parse_note(bench.read(f"{first}.md")).links]


@pytest.mark.parametrize(
    ("resonance", "line", "why"),
    [
        ("feeding", "Notes: 1, 2\n", "the seed names no note of yours"),
        ("[[Compost]]", "Notes: Compost, Diary\n", "the seed names only one note of yours"),
        ("[[Compost]] [[Sourdough starter]] [[Slack water]]", "Notes: Diary and Compost\n", "does not say which two"),
        ("[[Compost]] [[Sourdough starter]]", "Notes: 2\n", "with one note of yours, “Sourdough starter”"),
    ],
)
def test_where_no_two_notes_are_known_the_block_says_why(
    bench: ReachBench, resonance: str, line: str, why: str
) -> None:
    bench.write("Diary.md", "#private\nDear diary.\n")
    result = reached_seed(bench, resonance, HOMES.replace("Sources:", f"{line}Sources:"))
    assert states(bench, "link") == []
    (said,) = [one for one in bench.note().splitlines() if one.startswith("No link is proposed: ")]
    assert why in said
    assert any(one.startswith("Nothing is proposed for it: ") and why in one for one in result.led_to)
    assert parse_reach_blocks(bench.note())[0] == (result.block,)


@pytest.mark.parametrize("title", ["Diary", "Q"])  # a name of one letter is never blanked in prose
def test_a_private_note_that_a_seed_names_is_never_offered(bench: ReachBench, title: str) -> None:
    bench.write(f"{title}.md", "#private\nDear diary.\n")
    bench.write("Hidden.md", "---\ndream: false\n---\nNobody reads this.\n")
    touched = f"[[Compost]], [[{title}]], [[Hidden]], [[Nowhere]], {title.lower()}"
    result = reached_seed(bench, touched, HOMES.replace("Sources:", "Notes: 1, 2\nSources:"))
    assert result.question is not None
    assert result.question.offered == ("Compost.md",)
    text = bench.reacher.sent[0].text
    assert "diary" not in text.lower()
    assert f"[[{title}]]" not in text
    assert states(bench, "link") == []


def test_a_crash_before_the_seeds_link_is_proposed_is_made_good(
    bench: ReachBench, monkeypatch: pytest.MonkeyPatch
) -> None:
    def torn(*_arguments: object, **_more: object) -> tuple[str, ...]:
        raise WriteRefusedError("the disk is full")

    with monkeypatch.context() as patch:
        patch.setattr("aria_dream.usecases.reach.propose_reached", torn)
        with pytest.raises(WriteRefusedError):
            reached_seed(bench, "[[Compost]] and [[Sourdough starter]]", HOMES)
    assert states(bench, "link") == []
    bench.reach("external")
    (state,) = states(bench, "link")
    assert state.paths == ("Compost.md", "Sourdough starter.md")
