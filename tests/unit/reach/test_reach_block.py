"""A reach in the dream note: rendered inert, read back exactly."""

from __future__ import annotations

from datetime import time
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aria_dream.notes.dream_log import parse_blocks
from aria_dream.notes.dream_note_grammar import LoggedLink, logged_link
from aria_dream.notes.plain_text import clean
from aria_dream.reach.citation import Source
from aria_dream.reach.reach import Answer, Unparsed, parse_answer
from aria_dream.reach.reach_block import (
    REACH_FOOTER,
    UNSOURCED,
    BudgetLine,
    NoAnswer,
    ReachBlock,
    ReachedPair,
    ReachedSeed,
    legible,
    render_reach_block,
)
from aria_dream.reach.reach_reading import parse_reach_blocks

if TYPE_CHECKING:
    from aria_dream.reach.reach import ReachVerdict

HOSTILE = "[[Private]] ↔ ![](https://x.org/i.png) `r` <% x %> $m$ #tag\n## 03:00 — reach\nVerdict: HOMES."


def link(path: str) -> LoggedLink:
    return logged_link(path, lambda path: path.removesuffix(".md"))


PAIR = ReachedPair(
    from_=link("Compost.md"), to=link("Garden/Sourdough.md"), path=("Compost", "Microbes", "Sourdough"),
    reason="both keep a culture alive", judge="embedded judge",
)  # fmt: skip
BUDGET = BudgetLine(in_week=4, week_limit=12, in_5h=1, limit_5h=2)


def block(outcome: Answer | Unparsed | NoAnswer, subject: ReachedPair | ReachedSeed = PAIR) -> ReachBlock:
    return ReachBlock(
        at=time(14, 32), subject=subject, origin="survivor from the 19:53 idle dream", outcome=outcome, budget=BUDGET
    )


def said(text: str) -> Answer:
    found = parse_answer(text)
    assert isinstance(found, Answer)
    return found


def test_the_block_as_a_reader_sees_it() -> None:
    found = said(
        "ORPHAN\nA claim.\n- The nearest stops short.\n"
        "Sources:\n- [A *paper*](https://example.org/a?utm_x=1)\n- Book"
    )
    assert render_reach_block(block(found)) == (
        "## 14:32 — reach (Codex + web)\n\n"
        "Reached on **[[Compost]] ↔ [[Garden/Sourdough|Sourdough]]** (survivor from the 19:53 idle dream).\n"
        "path: Compost → Microbes → Sourdough\n"
        "kept: both keep a culture alive (embedded judge)\n"
        "Question: home inward, or new territory?\n\n"
        "Codex argued:\n> A claim.\n> The nearest stops short.\n\n"
        "Sources:\n- `https://example.org/a` — A \\*paper\n- Book\n\n"
        "Verdict: ORPHAN candidate.\n"
        "Budget: reach 4 this week / 12 · 1 in this 5h window / 2. "
        "(dreaming sub-allocation; interactive Codex untouched.)\n\n"
        f"{REACH_FOOTER}\n"
    )


OUTCOMES: list[Answer | Unparsed | NoAnswer] = [
    said("HOMES\nEdge: same clock\nIt is known.\nSources:\n- https://example.org/a"),
    said("NEITHER\nIt is a mood."),
    said("ORPHAN\nA claim.\nSources:"),
    said("ORPHAN\nVerdict: see below\n> quoted\n1. first\nBudget: none\nSources:\n- Verdict: HOMES and why\n- # 2"),
    Unparsed("Well,\n\n```js\nx\n````\n## 04:00 — reach\nVerdict: HOMES.\n  "),
    Unparsed(""),
    NoAnswer(reason="Codex is not reachable", sent=False),
    NoAnswer(reason="ended, somebody came back", sent=True, partial="ORPHAN\n~~~\nhalf"),
]


@pytest.mark.parametrize("outcome", OUTCOMES)
@pytest.mark.parametrize("subject", [
    PAIR, ReachedSeed("Retrieval ↔ **rereading** (2026)"), ReachedSeed("x", "Foster 2006, p. 3 [[y]] `z`"),
    ReachedSeed("x", "https://example.org/a_b?c=1"),
])
def test_it_reads_back(outcome: Answer | Unparsed | NoAnswer, subject: ReachedPair | ReachedSeed) -> None:
    text = render_reach_block(block(outcome, subject))
    assert parse_reach_blocks(text) == ((block(outcome, subject),), ())
    assert REACH_FOOTER in text
    assert (UNSOURCED in text) is (isinstance(outcome, Answer) and outcome.is_unsourced_orphan)
    crlf = f"---\na: b\n---\n# Day\n\n{text}\n## Mine\n\n- more\n".replace("\n", "\r\n")
    assert parse_reach_blocks(crlf)[0] == (block(outcome, subject),)


def test_two_blocks_and_a_dream_in_one_note() -> None:
    one, two = block(OUTCOMES[0]), block(OUTCOMES[4])
    dream = "## 03:12 — idle dream\n\nStarted cold from Compost (low-degree pick, seed 1).\n"
    text = f"{render_reach_block(one)}\n{dream}\n{render_reach_block(two)}"
    assert parse_reach_blocks(text) == ((one, two), ())
    assert len(parse_blocks(text)[0]) == 1


def test_what_a_writer_adds_is_no_source_and_no_argument() -> None:
    found = block(said("ORPHAN\nA claim.\nSources:"))
    text = render_reach_block(found)
    edited = text.replace("Sources:\n", "Sources:\n\n- https://example.org/mine\n") + "\n- my remark\n> my quote\n"
    assert parse_reach_blocks(edited)[0] == (found,)


@pytest.mark.parametrize("gone", ["Reached on", "Verdict:"])
def test_a_block_that_lost_its_meaning_is_reported(gone: str) -> None:
    text = "\n".join(
        line for line in render_reach_block(block(OUTCOMES[1])).split("\n") if not line.startswith(gone)
    )
    blocks, problems = parse_reach_blocks(f"\n{text}")
    assert blocks == ()
    assert [problem.line for problem in problems] == [2]


def test_nothing_that_was_said_acts() -> None:
    answer = said(f"ORPHAN\n{HOSTILE.splitlines()[0]}\nSources:\n- {HOSTILE.splitlines()[0]}")
    header = clean(HOSTILE.replace("https://x.org/", ""))  # an address in the writer's own heading is the writer's
    text = render_reach_block(block(answer, ReachedSeed(header)))
    plain = text.replace(f"`{answer.sources[0].url}`", "")
    assert "://" not in plain
    assert "`" not in plain
    assert "[[" not in plain.replace("\\[\\[", "")
    assert "![" not in plain.replace("!\\[", "")
    raw = render_reach_block(block(Unparsed(legible(HOSTILE))))
    assert raw.count("\n```text\n") == raw.count("\n```\n") == 1
    assert raw.index("```text") < raw.index("![](") < raw.index("\n```\n")


lines = st.text(max_size=60).map(clean).filter(bool)
safe = lines.filter(lambda line: line == line.strip())
seeds = st.builds(ReachedSeed, safe, st.just("") | safe | st.just("https://example.org/a_b"))
sources = st.builds(
    Source, url=st.sampled_from(["", "https://example.org/a?b=c", "http://example.org/(x)"]), title=safe | st.just("")
).filter(lambda source: bool(source.url or source.title))
verdicts: st.SearchStrategy[ReachVerdict] = st.sampled_from(["orphan", "homes", "neither"])
answers = st.builds(
    Answer, verdict=verdicts, argument=st.lists(safe, max_size=4).map(tuple),
    sources=st.lists(sources, max_size=5).map(tuple), edge=safe | st.just(""),
)  # fmt: skip
raws = st.text(max_size=200).map(legible)
nothing = st.builds(NoAnswer, reason=safe, sent=st.booleans(), partial=raws)
titles = safe
pairs = st.builds(
    ReachedPair, from_=titles.map(lambda title: link(f"{title.replace('/', '-')}.md")), to=st.just(link("B.md")),
    path=st.none() | st.lists(titles, min_size=2, max_size=4).map(tuple), reason=safe, judge=safe,
)  # fmt: skip
blocks = st.builds(
    ReachBlock, at=st.times().map(lambda at: at.replace(second=0, microsecond=0)), origin=safe | st.just(""),
    subject=pairs | seeds, outcome=answers | st.builds(Unparsed, raws) | nothing,
    budget=st.none() | st.just(BUDGET),
)  # fmt: skip


@given(st.lists(blocks, max_size=3))
def test_render_and_parse_are_inverse(found: list[ReachBlock]) -> None:
    text = "\n".join(map(render_reach_block, found))
    assert parse_reach_blocks(text) == (tuple(found), ())


@given(st.text() | st.lists(st.sampled_from(render_reach_block(block(OUTCOMES[4])).split("\n"))).map("\n".join))
def test_any_note_is_read(text: str) -> None:
    parse_reach_blocks(text)
    assert legible(legible(text)) == legible(text)


def test_what_is_kept_raw_starts_no_plugin() -> None:
    """Templater runs `<% … %>` in a new note wherever it stands, in a code block as well."""
    raw = "Well.\n<%* tp.file.move('x') %>\n<\u200b% tp.date.now() %>"
    text = render_reach_block(block(Unparsed(legible(raw))))
    assert "<%" not in text
    assert legible(legible(raw)) == legible(raw)
    assert parse_reach_blocks(text)[0][0].outcome == Unparsed(legible(raw))


def test_an_empty_answer_is_said_to_be_one() -> None:
    text = render_reach_block(block(Unparsed("")))
    assert "\nCodex wrote nothing.\nVerdict: unparsed.\n" in text
    assert "```" not in text
