"""The review list is rewritten only while every line in it is ours."""

from __future__ import annotations

from dataclasses import replace
from datetime import date

import pytest

from aria_dream.markdown.note import parse_note
from aria_dream.notes.change_grammar import LoggedChange
from aria_dream.notes.dream_note_grammar import LoggedPair, logged_link
from aria_dream.notes.review_note import (
    BEGIN,
    END,
    NOTHING,
    ReviewItem,
    read_managed,
    render_managed,
    render_review_head,
    with_managed,
)
from aria_dream.notes.ticks import read_ticks


def item(id_: str, first: str, second: str, kind: str = "link") -> ReviewItem:
    ends = [logged_link(path, lambda path: path[:-3]) for path in (first, second)]
    pair = LoggedPair(
        id=id_,
        from_=ends[0],
        to=ends[1],
        score=0.5,
        path=("A", "B", "C"),
        reason="both are fed",
        judge="embedded judge",
        probability=0.8,
    )
    return ReviewItem(kind=kind, pair=pair, dreamt_on=date(2026, 11, 30))


ITEMS = (item("aaaaaa", "Compost.md", "k/Sourdough.md"), item("bbbbbb", "Moon.md", "Tides.md"))
MERGE = item("cccccc", "One.md", "Two.md", "merge")
NOTE = f"{render_review_head()}{render_managed((*ITEMS, MERGE))}\n\nMy own words.\n"


def test_reads_in_groups_and_comes_back() -> None:
    block, problems = read_managed(NOTE)
    assert problems == ()
    assert block is not None
    assert block.items == (*ITEMS, MERGE)
    assert NOTE[block.start : block.end] == render_managed(block.items)
    assert "### Links to draw\n\n- **[[Compost]] ↔ [[k/Sourdough|Sourdough]]** (0.500)\n  path: A → B → C\n" in NOTE
    assert "  dreamt: 2026-11-30\n  kept: both are fed (embedded judge, 0.80)\n" in NOTE
    assert "### Notes to merge" in NOTE


@pytest.mark.parametrize("reason", ["", "both are fed", "a, b", "[[x]] #t `c` %% ^aria-aaaaaa - [x] link them ↔ <b>"])
def test_what_a_reach_and_janus_said_stands_under_the_pair_and_comes_back(reason: str) -> None:
    looked = replace(ITEMS[0], edge="is fed: like", janus="FALLS", janus_reason=reason, asked=True)
    note = NOTE.replace(render_managed((*ITEMS, MERGE)), render_managed((looked, ITEMS[1])))
    block, problems = read_managed(note)
    assert problems == ()
    assert block is not None
    assert block.items == (looked, ITEMS[1])
    assert read_ticks(note) == ((), ())
    assert "  kept: both are fed (embedded judge, 0.80)\n  edge: is fed: like\n  Janus: FALLS" in note
    assert {link.path for link in parse_note(note).links} == {"Compost", "k/Sourdough", "Moon", "Tides"}


@pytest.mark.parametrize("line_end", ["\n", "\r\n"])
def test_rewriting_touches_nothing_outside(line_end: str) -> None:
    note = NOTE.replace("\n", line_end)
    block, _ = read_managed(note)
    assert block is not None
    after = with_managed(note, block, ITEMS[1:])
    head, tail = note[: block.start], note[block.end :]
    assert after.startswith(head)
    assert after.endswith(tail)
    again, problems = read_managed(after)
    assert problems == ()
    assert again is not None
    assert again.items == ITEMS[1:]
    assert after.count("\n") == after.count(line_end)
    empty = with_managed(note, block, ())
    assert NOTHING in empty
    nothing, _ = read_managed(empty)
    assert nothing is not None
    assert nothing.items == ()


def test_ticks_and_renamed_links_are_no_edits() -> None:
    ticked = NOTE.replace("- [ ] link them ^aria-a", "- [X] link them ^aria-a").replace("[[Moon]]", "[[sky/Moon|Moon]]")
    block, problems = read_managed(ticked)
    assert problems == ()
    assert block is not None
    assert block.items[0].pair == replace(ITEMS[0].pair, ticked=frozenset({"link"}))
    assert [(tick.id, tick.choice) for tick in read_ticks(ticked)[0]] == [("aaaaaa", "link")]


def test_the_edited_line_is_named() -> None:
    edited = NOTE.replace("link them ^aria-bbbbbb", "oh no ^aria-bbbbbb")
    block, (problem,) = read_managed(edited)
    assert block is None
    assert edited.splitlines()[problem.line - 1] == "    - [ ] oh no ^aria-bbbbbb"
    assert "this line" in problem.message


@pytest.mark.parametrize(
    ("what", "before", "after", "said"),
    [
        ("begin missing", BEGIN, "", "begin marker is missing"),
        ("end missing", END, "", "end marker is missing"),
        ("begin doubled", BEGIN, f"{BEGIN}\n{BEGIN}", "2 times"),
        ("end doubled", END, f"{END}\n{END}", "2 times"),
        ("begin retyped", BEGIN, "%% aria-dream review  begin %%", "missing"),
        ("text on the marker's line", BEGIN, f"x {BEGIN}", "alone"),
        ("text behind the end marker", END, f"{END} x", "alone"),
        ("a thought inside", "  path:", "  Hm.\n  path:", "edited"),
        ("a reason reworded", "both are fed", "both are wet", ""),
        ("a box removed", "    - [ ] never again ^aria-bbbbbb-no\n", "", "edited"),
        ("a pair appended by hand", END, f"- [[mine]]\n{END}", "edited"),
        ("a day that is none", "2026-11-30", "2026-13-45", "no date"),
        ("swapped", NOTE, f"{END}\nx\n{BEGIN}\n", "before its begin"),
    ],
)
def test_what_stops_rewriting(what: str, before: str, after: str, said: str) -> None:
    edited = NOTE.replace(before, after)
    assert edited != NOTE
    block, problems = read_managed(edited)
    if not said:
        assert block is not None, what  # it reads as a line of ours; rewriting restores the journal's words
        return
    assert block is None, what
    assert said in problems[0].message


def test_pairs_are_exchanged_and_changes_stay() -> None:
    ends = (logged_link("Keep.md", lambda path: path[:-3]),)
    change = LoggedChange(
        id="dddddd", kind="obsolete", ends=ends, proposed_on=date(2026, 11, 30), reason="old", judge="m",
        confidence=None, mark="00000001", diff=("Keep.md", "+ obsolete: true"),
    )  # fmt: skip
    note = f"{render_review_head()}{render_managed(ITEMS, [change])}\n"
    block, problems = read_managed(note)
    assert problems == ()
    assert block is not None
    assert (block.items, block.changes) == (ITEMS, (change,))
    again, _ = read_managed(with_managed(note, block, ITEMS[1:]))
    assert again is not None
    assert (again.items, again.changes) == (ITEMS[1:], (change,))
    edited = note.replace("> + obsolete: true", "> + obsolete: false")
    block, _ = read_managed(edited)
    assert block is not None  # it reads as ours; what a tick approves is named by the mark


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("link them ^aria-bbbbbb", "link them ^aria-bbbbbb ✅ 2026-12-01"),
        ("link them ^aria-bbbbbb", "link them ^aria-bbbbbb [completion:: 2026-12-01]"),
        ("link them ^aria-bbbbbb", "link them ✅ 2026-12-01 ^aria-bbbbbb"),
        ("link them ^aria-bbbbbb", "^aria-bbbbbb link them"),
        ("    - [", "\t* ["),
        ("\n  path", "\n\n  path"),
    ],
)
def test_what_plugins_and_formatters_do_is_no_edit(before: str, after: str) -> None:
    edited = NOTE.replace(before, after)
    assert edited != NOTE
    block, problems = read_managed(edited)
    assert problems == ()
    assert block is not None
    made = with_managed(edited, block, block.items)
    assert "2026-12-01" not in after or "2026-12-01" in made


def test_a_list_that_an_earlier_version_wrote_is_whole() -> None:
    old = "- merged: Compost ← Heap, 07:41 — [ ] undo until 2 Dec 07:41 ^aria-stfamx-undo"
    note = f"{render_review_head()}{BEGIN}\n### Notes to merge\n\n{old}\n{END}\n"
    block, problems = read_managed(note)
    assert problems == ()
    assert block is not None
    new = "- [ ] undo: merged: Compost ← Heap, 07:41 (until 2 Dec 07:41) ^aria-stfamx-undo"
    assert with_managed(note, block, ()) == note.replace(old, new)
