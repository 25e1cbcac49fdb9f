"""Ticks: found wherever they are set, and decided lines that change nothing around them."""

from __future__ import annotations

import re
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from aria_dream.notes.change_grammar import ASK
from aria_dream.notes.dream_note_grammar import Outcome, parse_outcome, render_outcome
from aria_dream.notes.tick_lines import ask_in_text, decide_in_text, short_moment, with_ids, without_undo
from aria_dream.notes.ticks import read_ticks

PAIR = """\
- **[[Compost]] ↔ [[Sourdough]]** (0.714)
  path: only the text connects them
  kept: both are fed (embedded judge, 0.81)
    - [{link}] link them ^aria-k3f7q2
    - [{never}] never again ^aria-k3f7q2-no
"""
OTHER = PAIR.replace("k3f7q2", "bbbbbb").replace("Sourdough", "Tides")
LINKED = Outcome(verdict="linked", at="07:41", where="Compost", undo_until="2 Dec 07:41")


def pair(link: str = " ", never: str = " ", text: str = PAIR) -> str:
    return text.format(link=link, never=never)


def choices(text: str) -> list[tuple[str, str]]:
    return [(tick.id, tick.choice) for tick in read_ticks(text)[0]]


@pytest.mark.parametrize(
    ("link", "never", "expected"),
    [
        (" ", " ", []),
        ("x", " ", ["link"]),
        ("X", " ", ["link"]),
        (" ", "x", ["never"]),
        ("x", "X", ["both"]),
        ("-", "/", []),
        (">", "?", []),
    ],
)
def test_which_marks_decide(link: str, never: str, expected: list[str]) -> None:
    assert choices(pair(link, never)) == [("k3f7q2", choice) for choice in expected]


@pytest.mark.parametrize(
    ("what", "before", "after"),
    [
        ("Windows line ends", "\n", "\r\n"),
        ("old Mac line ends", "\n", "\r"),
        ("text typed into the line", "link them", "link them — yes! (see p. 3)"),
        ("the label rewritten", "link them", "ja"),
        ("tabs", "    - [", "\t* ["),
        ("a thought above the boxes", "    - [x]", "\nTrue.\n\n    - [x]"),
        ("the other box removed", "    - [ ] never again ^aria-k3f7q2-no\n", ""),
        ("capitals by a keyboard", "^aria-k3f7q2\n", "^aria-K3F7Q2\n"),
    ],
)
def test_a_tick_survives_what_a_writer_does_around_it(what: str, before: str, after: str) -> None:
    edited = pair("x").replace(before, after)
    assert edited != pair("x")
    ((tick,), problems) = read_ticks(edited)
    assert (tick.id, tick.choice, *(end.title for end in tick.ends)) == ("k3f7q2", "link", "Compost", "Sourdough"), what
    assert problems == ()


def test_fenced_examples_and_bare_ids_are_no_ticks() -> None:
    assert read_ticks(f"```\n{pair('x')}```\n\nsee ^aria-k3f7q2 and [x] here\n") == ((), ())


def test_a_box_without_its_pair_decides_nothing() -> None:
    lost = pair("x").split("\n", 1)[1]
    assert choices(lost) == []
    assert [problem.line for problem in read_ticks(lost)[1]] == [3]
    assert read_ticks(lost.replace("[x]", "[ ]")) == ((), ())
    under_a_heading = f"{pair()}## Mine\n    - [x] link them ^aria-k3f7q2\n"
    assert choices(under_a_heading) == []
    assert len(read_ticks(under_a_heading)[1]) == 1


def test_one_id_under_two_pairs_decides_nothing() -> None:
    """As a sync leaves it that merged two versions line by line."""
    merged = pair() + pair("x").replace("Sourdough", "Tides")
    ticks, problems = read_ticks(merged)
    assert ticks == ()
    assert "two different pairs" in problems[0].message


def test_the_same_pair_twice_in_a_note_is_one_tick() -> None:
    assert choices(pair() + pair("x", text=OTHER) + pair("x")) == [("k3f7q2", "link"), ("bbbbbb", "link")]
    assert choices(pair("x") + pair(never="x")) == [("k3f7q2", "both")]


@pytest.mark.parametrize("line_end", ["\n", "\r\n", "\r"])
def test_a_decision_exchanges_the_boxes_and_nothing_else(line_end: str) -> None:
    text = (pair(text=OTHER) + pair("x") + "Mine.\n").replace("\n", line_end)
    after = decide_in_text(text, "k3f7q2", LINKED)
    line = "    - [ ] undo: linked in Compost 07:41 (until 2 Dec 07:41) ^aria-k3f7q2-undo"
    boxes = "    - [x] link them ^aria-k3f7q2\n    - [ ] never again ^aria-k3f7q2-no".replace("\n", line_end)
    assert after == text.replace(boxes, line)
    assert choices(after) == []
    assert choices(after.replace("[ ] undo", "[x] undo")) == [("k3f7q2", "undo")]
    final = decide_in_text(after, "k3f7q2", without_undo(LINKED))
    assert final == text.replace(boxes, "    - linked in Compost, 07:41 ^aria-k3f7q2")
    assert "[ ] undo" not in final
    assert decide_in_text(text, "cccccc", LINKED) == text


def test_a_decision_at_the_end_of_a_note_without_line_end() -> None:
    text = pair("x").rstrip("\n")
    after = decide_in_text(text, "k3f7q2", LINKED)
    assert after.endswith("^aria-k3f7q2-undo")
    assert after.count("\n") == text.count("\n") - 1


def test_contradictory_ticks_ask_once_and_the_question_goes_with_the_decision() -> None:
    text = pair("x", "x") + "Mine.\n"
    ((tick,), _) = read_ticks(text)
    asked = ask_in_text(text, tick)
    assert asked == text.replace("-no\n", f"-no\n    - {ASK}\n")
    ((again,), _) = read_ticks(asked)
    assert (again.choice, again.asked) == ("both", True)
    assert ask_in_text(asked, again) == asked
    assert decide_in_text(asked, "k3f7q2", LINKED) == decide_in_text(text, "k3f7q2", LINKED)
    no_end = text.removesuffix("Mine.\n").rstrip("\n")
    assert ask_in_text(no_end, tick).endswith(f"\n    - {ASK}")


def test_moments_are_short_and_the_same_in_every_locale() -> None:
    now = datetime(2026, 11, 30, 7, 41, tzinfo=UTC)
    assert short_moment(now, seen_from=now) == "07:41"
    assert short_moment(now + timedelta(hours=48), seen_from=now) == "2 Dec 07:41"
    assert short_moment(now + timedelta(days=60), seen_from=now) == "29 Jan 2027 07:41"


@pytest.mark.parametrize(
    "line",
    [
        "    - [x] link them ^aria-k3f7q2 ✅ 2026-12-01",
        "    - [x] link them ^aria-k3f7q2 [completion:: 2026-12-01]",
        "    - [x] link them ^aria-k3f7q2 because it is so",
        "    - [x] link them ✅ 2026-12-01 ^aria-k3f7q2",
        "    - [x] ^aria-k3f7q2 link them",
        "    * [X] link them ^aria-k3f7q2",
        "    + [x] link them ^aria-k3f7q2",
        "    1. [x] link them ^aria-k3f7q2",
        "> - [x] link them ^aria-k3f7q2",
        "\t- [x] link them\t^aria-k3f7q2\t✅",
        "- - [x] link them ^aria-k3f7q2",
        "    - [x] link them",
        "    - [x] **Link them** ✅ 2026-12-01",
        "    - [x] link them aria-k3f7q2",
    ],
)
def test_a_box_counts_wherever_its_id_stands_and_where_the_other_box_has_it(line: str) -> None:
    text = pair().replace("    - [ ] link them ^aria-k3f7q2\n", f"{line}\n")
    ((tick,), problems) = read_ticks(text)
    assert (tick.id, tick.choice, tick.lines, problems) == ("k3f7q2", "link", (4,), ())


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("    - [x] link them when I have time", "has lost its block id"),
        ("    - [x] link them ^aria-k3f7q2 - [ ] never again ^aria-k3f7q2-no", "none that it was written with"),
        ("    - [x] link them ^aria-k3f7q2 ^aria-bbbbbb", "none that it was written with"),
        ("    - [x] link them ^aria-k3f7q2-maybe", "none that it was written with"),
        ("    - [x] link them ^aria-k3", "none that it was written with"),
    ],
)
def test_a_ticked_box_that_says_nothing_certain_is_named(line: str, said: str) -> None:
    ticks, (problem,) = read_ticks(pair().replace("    - [ ] link them ^aria-k3f7q2\n", f"{line}\n"))
    assert (ticks, problem.line, said in problem.message) == ((), 4, True)


def test_a_task_of_the_writer_below_a_pair_is_none_of_ours() -> None:
    assert read_ticks(f"{pair()}    - [x] buy a thermometer\n- [x] link\n") == ((), ())


def test_every_line_of_a_torn_id_is_named() -> None:
    merged = pair("x") + pair("x").replace("Sourdough", "Tides")
    ticks, problems = read_ticks(merged)
    assert (ticks, [problem.line for problem in problems]) == ((), [4, 9])


def test_a_box_that_lost_its_id_gets_it_back() -> None:
    text = pair("x").replace(" ^aria-k3f7q2\n", " \r\n", 1)
    ((tick,), _) = read_ticks(text)
    assert tick.lost == ((4, ""),)
    assert with_ids(text, tick.id, tick.lost) == pair("x").replace("^aria-k3f7q2\n", "^aria-k3f7q2 \r\n", 1)


def test_where_all_ids_are_lost_the_tick_names_its_notes() -> None:
    ((tick,), problems) = read_ticks(re.sub(r" \^aria-[\w-]+", "", pair("x", "x")))
    assert (tick.id, tick.choice, [end.title for end in tick.ends], problems) == (
        "", "both", ["Compost", "Sourdough"], ()
    )  # fmt: skip


@pytest.mark.parametrize(
    "line",
    [
        "    - linked in Compost, 07:41 — [x] undo until 2 Dec 07:41 ^aria-k3f7q2-undo",
        "    - [x] undo: linked in Compost 07:41 (until 2 Dec 07:41) ^aria-k3f7q2-undo",
        "    - [x] undo: linked in Compost 07:41 (until 2 Dec 07:41) ^aria-k3f7q2-undo ✅ 2026-12-01",
        "    - [x] undo: linked in Compost 07:41 (until 2 Dec 07:41) ✅ 2026-12-01 ^aria-k3f7q2-undo",
    ],
)
def test_an_undo_box_is_read_in_every_form_that_a_version_wrote(line: str) -> None:
    head = "".join(pair().splitlines(keepends=True)[:3])
    assert choices(f"{head}{line}\n") == [("k3f7q2", "undo")]
    assert parse_outcome(line) == ("k3f7q2", replace(LINKED, undo_ticked=True))


@pytest.mark.parametrize("title", ["Trip 2 Dec", "2 Dec", "9 Jun 2026", "x (until 07:41)", "A, 07:41", "a  b"])
@pytest.mark.parametrize("at", ["07:41", "2 Dec 07:41", "2 Dec 2027 07:41"])
def test_a_title_that_looks_like_a_moment_is_read_back(title: str, at: str) -> None:
    for until in ("", "4 Dec 07:41"):
        outcome = Outcome(verdict="linked", at=at, where=" ".join(title.split()), undo_until=until)
        assert parse_outcome(f"- {render_outcome(outcome, 'k3f7q2')}") == ("k3f7q2", outcome)
