"""Seeds as people type them, and the one word of theirs that is ever changed."""

from __future__ import annotations

from datetime import date

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from aria_dream.errors import Problem
from aria_dream.notes.seeds import (
    Seed,
    mark_dreamt,
    new_seed,
    open_seeds,
    parse_seeds,
    render_seed,
    render_seeds_head,
)

PLAIN = """\
---
aria-dream: seeds
---
Intro of mine.

```markdown
## 2026-01-01 — an example
- kind: internal
- status: open
```

## 2026-11-29 — Retrieval practice beats rereading
- kind: external-novelty          # or: internal
- status: open                    # open → dreamt
- source: https://example.org/paper#s2   # required, quoted verbatim
- struck: why it struck me
- resonance: what [[Learning]] touches

## Compost and time
- kind: internal
- status: dreamt
- resonance: [[Garden/Compost|compost]] and [[Time#Cycles]]
"""


def test_reads_the_documented_form_and_no_fenced_example() -> None:
    (first, second), problems = parse_seeds(PLAIN)
    assert problems == ()
    assert (first.deposited_on, first.title) == (date(2026, 11, 29), "Retrieval practice beats rereading")
    assert (first.kind, first.status, first.source) == ("external-novelty", "open", "https://example.org/paper#s2")
    assert (first.struck, first.links, first.line) == ("why it struck me", ("Learning",), 12)
    assert (second.deposited_on, second.title, second.kind) == (None, "Compost and time", "internal")
    assert (second.status, second.links) == ("dreamt", ("Garden/Compost", "Time"))


@pytest.mark.parametrize(
    "body",
    [
        "* **Kind:** Internal\n* **Status**: OPEN\n* Resonance: [[A]]\n",
        "kind: internal\nstatus: open\nresonance: [[A]]\n",
        "+ kind :: internal\n+ status: open.\n+ struck: [[A]]\n",
        "- KIND: `internal`\n- resonance:\n  [[A]]\n",
        "> - kind: internal\n> - status: open\n> - resonance: [[A]]\n",
        "- [ ] kind: internal\n- [x] status: open\n- [ ] resonance: [[A]]\n",
        "1. kind: internal\n2. status: open\n3. resonance: [[A]]\n",
        "– kind: internal\n– status: open\n– resonance: [[A]]\n",
        "- kind: internal %% or external %%\n- status: %% was dreamt %% open\n- resonance: <!-- [[B]] --> [[A]]\n",
        "- kind: internal\n\nsome prose between\n\n- status: **open**\n- resonance: [[A]]\n",
    ],
)
@pytest.mark.parametrize("line_end", ["\n", "\r\n"])
def test_reads_what_is_typed_sloppily(body: str, line_end: str) -> None:
    text = f"## 2026-11-29: Title\n{body}".replace("\n", line_end)
    (seed,), problems = parse_seeds(text)
    assert problems == ()
    assert (seed.kind, seed.status, seed.links) == ("internal", "open", ("A",))
    after = mark_dreamt(text, seed)
    (again,), problems = parse_seeds(after)
    assert problems == ()
    assert again.status == "dreamt"
    assert mark_dreamt(after, again) == after


@pytest.mark.parametrize(
    ("body", "line", "word"),
    [
        ("- status: open\n- resonance: [[A]]\n", 1, "kind"),
        ("- source: https://example.org\n- struck: x\n", 1, "kind"),
        ("- kind: novelty\n", 1, "novelty"),
        ("- kind: internal\n- status: perhaps\n- resonance: [[A]]\n", 1, "perhaps"),
        ("- kind: external-novelty\n- struck: x\n", 1, "source"),
        ("- kind: internal\n- struck: no note named\n", 1, "names"),
        ("- kind: internal\n- status: open\n- status: dreamt\n- resonance: [[A]]\n", 4, "two lines"),
    ],
)
def test_a_seed_that_cannot_be_used_says_why(body: str, line: int, word: str) -> None:
    seeds, problems = parse_seeds(f"## Title\n{body}")
    assert seeds == ()
    (problem,) = problems
    assert problem.line == line
    assert word in problem.message


def test_headings_without_keys_are_the_writers() -> None:
    assert parse_seeds("# Seeds\n\n## My thoughts\n\nstatus quo: fine. kind of\n") == ((), ())


def test_doubles_are_reported_and_read() -> None:
    seed = "## 2026-11-29 — T\n- kind: internal\n- resonance: [[A]]\n"
    seeds, problems = parse_seeds(f"{seed}\n{seed}")
    assert len(seeds) == 2
    assert [problem.line for problem in problems] == [5]


def test_marking_changes_the_value_and_nothing_else() -> None:
    (first, _), _ = parse_seeds(PLAIN)
    assert mark_dreamt(PLAIN, first) == PLAIN.replace("status: open        ", "status: dreamt        ")


def test_marking_adds_a_missing_status_line_in_the_notes_line_ends() -> None:
    text = "## T\r\n- kind: internal\r\n- resonance: [[A]]"
    (seed,), _ = parse_seeds(text)
    assert mark_dreamt(text, seed) == "## T\r\n- status: dreamt\r\n- kind: internal\r\n- resonance: [[A]]"


def test_oldest_open_seed_comes_first() -> None:
    text = "".join(
        f"## {head}\n- kind: internal\n- status: {status}\n- resonance: [[A]]\n"
        for head, status in [("undated", "open"), ("2026-03-01 — b", "open"), ("2026-01-01 — a", "dreamt"),
                             ("2026-02-01 — c", "open")]
    )  # fmt: skip
    seeds, _ = parse_seeds(text)
    assert [seed.title for seed in open_seeds(seeds, "internal")] == ["c", "b", "undated"]
    assert open_seeds(seeds, "external-novelty") == ()


def test_the_head_of_a_new_note_holds_no_seed() -> None:
    assert parse_seeds(render_seeds_head()) == ((), ())


def test_a_new_seed_without_its_source_is_refused() -> None:
    refused = new_seed("external-novelty", "T", date(2026, 1, 2))
    assert isinstance(refused, Problem)
    assert "source" in refused.message
    assert isinstance(new_seed("internal", " \n ", date(2026, 1, 2), resonance="[[A]]"), Problem)


one_line = st.text(max_size=30)


@settings(max_examples=150)
@given(one_line, one_line, one_line, st.sampled_from(["\n", "\r\n"]))
def test_what_is_added_is_read_back(title: str, source: str, struck: str, line_end: str) -> None:
    seed = new_seed("external-novelty", title, date(2026, 1, 2), source=source, struck=struck, resonance="[[A]]")
    if isinstance(seed, Seed):
        head = render_seeds_head().count("\n") + 1
        text = f"{render_seeds_head()}\n{render_seed(seed)}".replace("\n", line_end)
        (read,), problems = parse_seeds(text)
        assert problems == ()
        assert read.line == head + 1
        same = ("deposited_on", "title", "kind", "status", "source", "struck", "resonance", "links")
        assert all(getattr(read, name) == getattr(seed, name) for name in same)


@settings(max_examples=150)
@given(st.text(st.sampled_from("#- :\n\r\tkindstauopre*[]`>éx"), max_size=80))
def test_any_text_is_read_and_marking_keeps_every_other_character(text: str) -> None:
    seeds, _ = parse_seeds("## T\n- kind: internal\n- resonance: [[A]]\n" + text)
    for seed in seeds:
        marked = mark_dreamt("## T\n- kind: internal\n- resonance: [[A]]\n" + text, seed)
        (again, *_), _ = parse_seeds(marked)
        assert again.status == "dreamt"


HIDDEN = """\
%%
## A
- kind: external-novelty
- source: X
%%
<!--
## B
- kind: external-novelty
- source: Y
-->
## C %% of my own %%
"""
SHOWN = """\
- kind: external-novelty
- source: Z %% what I think of it %% and  so on
- struck: w <!-- v -->
"""


def test_what_a_comment_hides_is_no_seed_and_part_of_none() -> None:
    (seed,), problems = parse_seeds(HIDDEN + SHOWN)
    assert problems == ()
    assert (seed.title, seed.source, seed.struck) == ("C", "Z and  so on", "w")
    assert mark_dreamt(HIDDEN + SHOWN, seed) == f"{HIDDEN}- status: dreamt\n{SHOWN}"


def test_a_source_goes_on_behind_an_empty_line() -> None:
    text = "\ufeff# 2026-11-20 — A\n- kind: external-novelty\n- source: one\n  two\n\n  three\nprose\n  four\n"
    (seed,), problems = parse_seeds(text.replace("\n", "\r\n"))
    assert (problems, seed.source, seed.title) == ((), "one two three", "A")
