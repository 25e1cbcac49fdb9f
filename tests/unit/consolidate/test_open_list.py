"""The lists of the review: what a tick says, what an edit stops, and what two copies of one say together."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aria_dream.consolidate import open_conflicts, open_pairs
from aria_dream.consolidate.open_conflicts import OpenConflict, render_open
from aria_dream.consolidate.open_list import Decided, box, merged_list, read_answers, with_list
from aria_dream.consolidate.open_lists import read_ticked, without_lists
from aria_dream.consolidate.open_pairs import MOST, OpenPair, apart_key, render_pairs, same_key
from aria_dream.consolidate.sealed import read_sealed, seal
from aria_dream.consolidate.work import Candidate, Member
from aria_dream.notes.dream_note_grammar import logged_link, render_link
from tests.unit.consolidate.test_report import HOSTILE

if TYPE_CHECKING:
    from collections.abc import Sequence

NAME = open_pairs.NAME


def pair(first: str, second: str, *, rank: int = 1, state: str = "s", reason: str = "") -> OpenPair:
    members = [
        Member(id=path, path=path, title=path.rpartition("/")[2].removesuffix(".md"), state=state, is_note=True)
        for path in (first, second)
    ]
    found = Candidate(key=f"{first}{second}{state}", first=members[0], second=members[1], rank=rank, overlap=0.5)
    return OpenPair(pair=found, reason=reason or f"rank {rank} by likeness; they are alike, but in other words")


def link(path: str) -> str:
    return render_link(logged_link(path, lambda whole: whole.removesuffix(".md")))


def shown(items: Sequence[OpenPair], decided: Sequence[Decided] = ()) -> str:
    return render_pairs(items, link, decided=decided)


def ticked(text: str, key: str) -> str:
    lines = [line.replace("[ ]", "[x]") if key in line else line for line in text.split("\n")]
    return "\n".join(lines)


_titles = st.one_of(st.sampled_from(HOSTILE), st.text(max_size=20)).map(lambda text: text.replace("\n", " ") + ".md")
_pairs = st.lists(st.builds(pair, _titles, _titles, reason=st.one_of(st.sampled_from(HOSTILE), st.text())), max_size=4)


@given(_pairs, st.sampled_from(["\n", "\r\n"]))
def test_only_a_tick_in_a_box_of_ours_says_anything(items: list[OpenPair], end: str) -> None:
    text, problems = with_list(f"# Mine{end}", NAME, shown(items))
    assert problems == ()
    assert read_answers(text, NAME).given == ()
    for item in items:
        for key, what in ((apart_key(item.pair), "different"), (same_key(item.pair), "same")):
            given_ = read_answers(ticked(text, key), NAME).given
            assert [(answer.key, answer.what, answer.is_undo) for answer in given_] == [(key, what, False)]
    assert with_list(text, NAME, "")[0] == f"# Mine{end}"


def test_titles_are_read_as_a_reader_sees_them() -> None:
    item = pair("a/Compost *hot*.md", "Heap [1].md")
    (answer,) = read_answers(ticked(shown([item]), apart_key(item.pair)), NAME).given
    assert answer.titles == ("Compost *hot*", "Heap [1]")


def test_a_reason_is_told_where_it_says_more_than_the_likeness() -> None:
    told = pair("A.md", "B.md", reason="rank 1 by likeness; one says “hot”, the other “cold”")
    assert "- one says “hot”, the other “cold”\n- [ ] different" in shown([told])
    plain = pair("A.md", "B.md")
    assert "of their words)\n- [ ] different" in shown([plain])
    refused = OpenPair(pair=plain.pair, reason=plain.reason, is_called_same=True)
    said = "- you called them the same, but no merge can be built: they are alike, but in other words\n"
    assert said in shown([refused])


def test_notes_of_one_title_are_told_apart() -> None:
    text = shown([pair("a/Log.md", "b/Log.md")])
    assert "**a/[[a/Log|Log]] ↔ b/[[b/Log|Log]]**" in text


def test_a_word_that_was_changed_stops_reading_and_writing() -> None:
    item = pair("A.md", "B.md")
    text = ticked(shown([item]), apart_key(item.pair)).replace("by likeness", "by chance")
    assert read_answers(text, NAME).given == ()
    assert with_list(text, NAME, "")[0] == text
    assert without_lists(text) == text


def test_a_block_of_an_earlier_version_is_still_ours() -> None:
    old = (
        "%% aria-dream open contradictions begin 2db91b1e3c87c4ca %%\n- \\[\\[A\\]\\](x)\n[[B]]\n"
        "%% aria-dream open contradictions end %%"
    )
    assert with_list(old, open_conflicts.NAME, "")[1] == ()


def merged(ours: str, theirs: str, settled: Sequence[str] = ()) -> str:
    block, problems = merged_list(ours, theirs, NAME, lambda key: key not in settled)
    assert problems == ()
    if block:
        assert with_list(block, NAME, "")[1] == ()
    return block


def test_two_copies_are_one_list_with_the_ticks_of_both() -> None:
    first, second, third = pair("A.md", "B.md"), pair("C.md", "D.md", rank=2), pair("E.md", "F.md", rank=3)
    ours = ticked(shown([first, second]), apart_key(first.pair))
    theirs = ticked(shown([second, third]), same_key(second.pair))
    both = merged(ours, theirs)
    assert {(one.key, one.what) for one in read_answers(both, NAME).given} == {
        (apart_key(first.pair), "different"), (same_key(second.pair), "same"),
    }  # fmt: skip
    assert both.count("^apart-") == 3
    assert both.count("### Alike") == 1
    assert merged(both, theirs) == both
    assert merged(ours, ours) == ours
    assert merged("", theirs) == theirs
    assert merged(ours, "") == ours
    assert merged("", "") == ""


def test_what_was_settled_here_or_there_is_open_in_neither() -> None:
    first, second = pair("A.md", "B.md"), pair("C.md", "D.md")
    done = Decided(key=apart_key(first.pair), what="different", titles=("A", "B"), until="2 Dec 07:41")
    there = shown([second], [done])
    assert merged(shown([first, second]), there) == there
    assert merged("", shown([first]), settled=[apart_key(first.pair)]) == ""
    undone = merged(there, ticked(there, f"{done.key}-undo"))
    (answer,) = read_answers(undone, NAME).given
    assert (answer.key, answer.is_undo) == (done.key, True)


def test_an_edit_in_either_stops_the_merge() -> None:
    text = shown([pair("A.md", "B.md")])
    for ours, theirs in ((text, text.replace("likeness", "chance")), (text.replace("likeness", "chance"), text)):
        assert merged_list(ours, theirs, NAME, lambda _: True)[1]


def test_what_is_not_listed_is_counted() -> None:
    text = shown([pair(f"{n}.md", "Z.md") for n in range(MOST + 3)])
    assert text.count("^apart-") == MOST
    assert "… and 3 more, listed as you settle these.\n" in text


def test_contradictions_are_merged_alike() -> None:
    items = [
        OpenConflict(key=f"{n:032x}", first="A", second="B", subject="rain", first_claim="3", second_claim="4")
        for n in range(2)
    ]
    name = open_conflicts.NAME
    block, problems = merged_list(
        ticked(render_open(items[:1]), items[0].key), render_open(items), name, lambda _: True
    )
    assert problems == ()
    assert block.count("^disagree-") == 2
    assert [one.key for one in read_answers(block, name).given] == [items[0].key]


@pytest.mark.parametrize(
    ("tail", "is_kept_whole"),
    [(" ✅ 2026-12-01", True), (" [completion:: 2026-12-01]", True), (" @done(2026-12-01)", True), (" I know", False)],
)
def test_a_tick_is_read_with_what_stands_behind_it(tail: str, *, is_kept_whole: bool) -> None:
    block = seal("near pairs", f"**A ↔ B** (x)\n{box('different', 'a' * 32)}")
    ticked = block.replace("[ ]", "[x]").replace("a" * 32, "a" * 32 + tail)
    assert [answer.key for answer in read_answers(ticked, "near pairs").given] == ["a" * 32]
    assert (read_sealed(ticked, "near pairs")[0] is not None) == is_kept_whole  # words of the writer's are not lost
    assert read_ticked(ticked) == (1, ())
    unticked = block.replace("a" * 32, "a" * 32 + tail)
    assert read_sealed(unticked, "near pairs")[0] is None


def test_ticks_in_a_list_that_was_edited_are_named() -> None:
    block = seal("near pairs", f"**A ↔ B** (x)\n{box('different', 'a' * 32)}{box('same', 'b' * 32)}")
    kept, (problem,) = read_ticked(block.replace("(x)", "(no)").replace("[ ] same", "[x] same"))
    assert (kept, problem.line, "was edited" in problem.message) == (0, 4, True)
    kept, problems = read_ticked(block.replace("[ ]", "[x]"))
    assert (kept, [one.line for one in problems]) == (0, [3, 4])
