"""The dream note: exactly as documented, and still read after a writer has been in it."""

from __future__ import annotations

from dataclasses import replace
from datetime import date, time

import pytest

from aria_dream.notes.dream_log import (
    FOOTER,
    DreamBlock,
    logged_drop,
    logged_pair,
    logged_start,
    parse_blocks,
    render_block,
    render_head,
)
from aria_dream.notes.dream_note_grammar import LoggedLink, Outcome, logged_link, parse_link, render_link
from aria_dream.notes.review_note import read_managed
from aria_dream.notes.seeds import parse_seeds
from aria_dream.notes.ticks import read_ticks
from aria_dream.ranking.juxtaposition import Dropped, Juxtaposition, Resonance, Survivor


def full(path: str) -> str:
    return path[:-3]


def base(path: str) -> str:
    return path[:-3].rsplit("/", 1)[-1]


def survivor(
    first: str,
    second: str,
    way: tuple[str, ...] | None,
    score: float = 0.714,
    p: float = 0.81,
    quotes: tuple[str, str] | None = None,
) -> Survivor:
    resonance = quotes and Resonance(quotes=quotes, cosine=0.6, telling=0.2, whole=0.4, rank=20)
    found = Juxtaposition(from_=first, to=second, score=score, path=way, resonance=resonance or None)
    reason = "both keep a culture alive by feeding it on a schedule"
    return Survivor(juxtaposition=found, probability=p, reason=reason, judge="embedded judge")


WAY = ("Compost.md", "a/Microbes.md", "Fermentation.md", "Sourdough starter.md")
QUOTES = (
    "a third of the old heap stays behind and starts the next",
    "keep two spoons of it back; they are the next loaf",
)
COMPOST = survivor("Compost.md", "Sourdough starter.md", WAY, quotes=QUOTES)
TAX = Dropped(
    juxtaposition=Juxtaposition(from_="Compost.md", to="Tax return.md", score=0.402, path=None),
    probability=0.1,
    reason="only share a calendar month",
    judge="embedded judge",
)
BLOCK = DreamBlock(
    at=time(3, 12),
    kind="idle dream",
    start=logged_start(
        "garden/Compost.md", cold=True, rule="low-degree pick", seed=4711, others=["Bread.md", "tides/Moon.md"],
        pairs=41,
    ),
    pairs=(
        logged_pair(COMPOST, "k3f7q2", base, place="far", goes="Compost, as a new line “- [[Sourdough starter]]”"),
        logged_pair(survivor("Compost.md", "tides/Moon.md", None, 0.5, 0.6), "aaaaaa", full),
    ),
    drops=(
        logged_drop(TAX),
        logged_drop(replace(TAX, reason="no verdict in the answer", unreadable=True, probability=None)),
    ),
)
TEXT = """\
## 03:12 — idle dream

**[[Compost]] ↔ [[Sourdough starter]]** · far
path: Compost → Microbes → Fermentation → Sourdough starter
kept: both keep a culture alive by feeding it on a schedule (embedded judge, 0.81)
goes to: Compost, as a new line “- \\[\\[Sourdough starter\\]\\]”

> “a third of the old heap stays behind and starts the next” (Compost)
> “keep two spoons of it back; they are the next loaf” (Sourdough starter)

- [ ] link them ^aria-k3f7q2
- [ ] knew it ^aria-k3f7q2-known
- [ ] never again ^aria-k3f7q2-no

**[[Compost]] ↔ [[tides/Moon|Moon]]** · near
path: only the text connects them
kept: both keep a culture alive by feeding it on a schedule (embedded judge, 0.60)

- [ ] link them ^aria-aaaaaa
- [ ] knew it ^aria-aaaaaa-known
- [ ] never again ^aria-aaaaaa-no

> [!note]- How this came about
> Started cold from Compost (low-degree pick, seed 4711); 3 starts and 41 pairs looked at.
> Also from: Bread · Moon
> Score 0.714: Compost ↔ Sourdough starter
> Score 0.500: Compost ↔ Moon
> Dropped: Compost ↔ Tax return (0.402): only share a calendar month
> Dropped: Compost ↔ Tax return (0.402): ⚠ unreadable: no verdict in the answer

Propose-only. Nothing here is a fact until you place it.
"""
FIRST_FORM = """\
## 03:12 — idle dream

Started cold from Compost (low-degree pick, seed 4711).
Resonances nobody has drawn directly:

- **[[Compost]] ↔ [[Sourdough starter]]** (0.714)
  path: Compost → Microbes → Fermentation → Sourdough starter
  kept: both keep a culture alive by feeding it on a schedule (embedded judge, 0.81)
    - [ ] link them ^aria-k3f7q2
    - [ ] never again ^aria-k3f7q2-no
- **[[Compost]] ↔ [[tides/Moon|Moon]]** (0.500)
  path: only the text connects them
  kept: both keep a culture alive by feeding it on a schedule (embedded judge, 0.60)
    - [ ] link them ^aria-aaaaaa
    - [ ] never again ^aria-aaaaaa-no

> [!note]- Dropped by triage (2)
> Compost ↔ Tax return (0.402): only share a calendar month
> Compost ↔ Tax return (0.402): ⚠ unreadable: no verdict in the answer

Propose-only. Nothing here is a fact until you place it.
"""


def test_the_block_reads_as_documented() -> None:
    assert render_block(BLOCK) == TEXT
    assert parse_blocks(TEXT) == ((BLOCK,), ())


def test_a_block_of_the_first_form_is_still_read() -> None:
    """Its score stood behind the names, its start above them; it knew no place and quoted nothing."""
    assert BLOCK.start is not None
    start = replace(BLOCK.start, others=(), pairs=0)
    pairs = tuple(replace(pair, place=None, quotes=None, goes="") for pair in BLOCK.pairs)
    assert parse_blocks(FIRST_FORM) == ((replace(BLOCK, start=start, pairs=pairs),), ())


def test_the_closing_line_stands_once_in_a_day() -> None:
    assert render_block(BLOCK, closing=False) == TEXT.removesuffix(f"\n{FOOTER}\n")


def test_the_head_is_written_once_and_bears_our_marker() -> None:
    head = render_head(date(2026, 11, 30))
    assert head == "---\naria-dream: log\ncssclasses: [aria-dream]\ndate: 2026-11-30\n---\n"
    assert parse_blocks(f"{head}\n{TEXT}\n{TEXT}") == ((BLOCK, BLOCK), ())


@pytest.mark.parametrize(
    ("what", "before", "after"),
    [
        ("Windows line ends", "\n", "\r\n"),
        ("space at line ends", "\n", "  \n"),
        ("a thought between the lines", "\npath:", "\n(I wonder. [[Compost]] is wet.)\npath:"),
        ("a paragraph between the pairs", "**[[Compost]] ↔ [[t", "\nTrue! [[Bread]] ^x\n\n**[[Compost]] ↔ [[t"),
        ("indented boxes", "\n- [", "\n    - ["),
        ("pairs as a list", "**[[Compost]] ↔", "- **[[Compost]] ↔"),
        ("other boxes", "\n- [", "\n  + ["),
        ("an ordered list", "- [", "1. ["),
        ("underscores for bold", "**", "__"),
        ("a quote around all of it", "\n", "\n> "),
        ("a deeper heading under it", "\nPropose-only", "\n#### My notes\n\nPropose-only"),
        ("the footer removed", "Propose-only. Nothing here is a fact until you place it.\n", ""),
        ("Obsidian wrote a display text", "[[Sourdough starter]]", "[[Sourdough starter|Sourdough starter]]"),
        ("bullets in the fold", "> Dropped", "> - Dropped"),
        ("an unfolded fold", "[!note]-", "[!note]+"),
        ("quotations without their mark", "> “", "“"),
        ("links by hand of another heading style", "## 03:12 —", "### 03:12 -"),
    ],
)  # fmt: skip
def test_a_block_that_a_writer_has_edited_around_is_the_same_block(what: str, before: str, after: str) -> None:
    edited = TEXT.replace(before, after)
    assert edited != TEXT
    assert parse_blocks(edited) == ((BLOCK,), ()), what


def test_a_reordered_list_is_a_reordered_block() -> None:
    first, second, rest = TEXT.index("**[[C"), TEXT.index("**[[Compost]] ↔ [[tides"), TEXT.index("> [!note]-")
    swapped = TEXT[:first] + TEXT[second:rest] + TEXT[first:second] + TEXT[rest:]
    assert parse_blocks(swapped) == ((replace(BLOCK, pairs=BLOCK.pairs[::-1]),), ())


def test_ticks_and_missing_lines() -> None:
    edited = TEXT.replace("- [ ] link them ^aria-k", "- [x] link them ^aria-k").replace(
        "- [ ] never again ^aria-k3f7q2-no\n", ""
    )
    ((block,), problems) = parse_blocks(edited)
    assert problems == ()
    assert block.pairs == (replace(BLOCK.pairs[0], ticked=frozenset({"link"})), BLOCK.pairs[1])
    assert parse_blocks(TEXT.replace("] never again ^aria-a", "X] never again ^aria-a").replace("[ X]", "[X]"))[0][
        0
    ].pairs[1] == replace(BLOCK.pairs[1], ticked=frozenset({"never"}))


def test_decided_lines() -> None:
    undo = Outcome(verdict="linked", at="07:41", where="Compost", undo_until="2 Dec 07:41")
    text = TEXT.replace(
        "- [ ] link them ^aria-k3f7q2\n- [ ] knew it ^aria-k3f7q2-known\n- [ ] never again ^aria-k3f7q2-no\n",
        "- [ ] undo: linked in Compost 07:41 (until 2 Dec 07:41) ^aria-k3f7q2-undo\n",
    )
    ((block,), problems) = parse_blocks(text)
    assert problems == ()
    assert block.pairs[0].outcome == undo
    assert render_block(block) == text


def test_other_headings_belong_to_the_writer() -> None:
    reach = "## 14:32 — reach (Codex + web)\n\nReached on **a ↔ b** (survivor).\n"
    own = "## 07:30 — woke from a dream\n\nI was late.\n\n- **a ↔ b** is not (ours)\n"
    assert parse_blocks(reach + own) == ((), ())
    assert parse_blocks(f"```\n{TEXT}```\n~~~~\n```\n{TEXT}~~~\n~~~~\n") == ((), ())
    assert parse_blocks(f"{TEXT}\n## Garden\n\n- **[[x]] ↔ [[y]]** (0.5)\n{reach}") == ((BLOCK,), ())


def test_boxes_that_lost_their_pair_are_reported() -> None:
    text = TEXT.replace("**[[Compost]] ↔ [[Sourdough starter]]** · far\n", "")
    ((block,), problems) = parse_blocks(text)
    assert len(block.pairs) == 1
    assert [problem.line for problem in problems] == [10, 11, 12]


@pytest.mark.parametrize(
    ("path", "style", "shown"),
    [
        ("Compost.md", "wiki", "[[Compost]]"),
        ("a/Compost.md", "wiki", "[[a/Compost|Compost]]"),
        ("v1.2.md", "wiki", "[[v1.2]]"),
        ("map.png.md", "wiki", "[[map.png]]"),
        ("my_note_2.md", "wiki", "[[my_note_2]]"),
        ("🌙 שלום.md", "wiki", "[[🌙 שלום]]"),
        ("a/50%% off.md", "markdown", "[50%\\% off](a/50%25%25%20off.md)"),
        ("a/*star*.md", "wiki", "[[a/*star*]]"),
        ("a [b].md", "markdown", "[a \\[b\\]](a%20%5Bb%5D.md)"),
        ("a|b.md", "markdown", "[a|b](a%7Cb.md)"),
        ("`code`.md", "markdown", "[&#96;code&#96;](%60code%60.md)"),
        ("$x$.md", "markdown", "[\\$x\\$](%24x%24.md)"),
        ("C# notes.md", "plain", "C# notes"),
        ("#foo.md", "plain", "\\#foo"),
        ("a\nb.md", "plain", "a b"),
        ("\udcff.md", "plain", "\ufffd"),
    ],
)
def test_links(path: str, style: str, shown: str) -> None:
    link = logged_link(path, full)
    assert (link.style, render_link(link)) == (style, shown)
    assert parse_link(shown) == link


def test_markdown_links_where_the_vault_asks_for_them() -> None:
    link = logged_link("a b/My note.md", full, markdown_links=True)
    assert link == LoggedLink(target="a b/My note.md", title="My note", style="markdown")
    assert render_link(link) == "[My note](a%20b/My%20note.md)"


def test_a_wordy_judge_is_cut() -> None:
    wordy = replace(COMPOST, reason="so much " * 500)
    pair = logged_pair(wordy, "aaaaaa", full)
    assert len(pair.reason) <= 1000
    assert pair.reason.endswith("…")


def test_a_hostile_note_is_read_in_linear_time() -> None:
    """Not timed: under a quadratic pattern this would run for minutes and hit the suite's timeout."""
    starts = [
        "- **", "> ", "## 03:12 — ", "Started from a", "- **a ↔ b**", " ", "  kept: ",
        "> “", "> Score 0.5: a", "> Also from: a", "- linked", "path: ", "- kind:",
        "# ", "> a ↔ b (1",
    ]  # fmt: skip
    repeats = [
        "[[", " (0.5", "a dream ", " (", " ", "> ", ", seed 1", " — [x] undo until 2", " ↔ ", "^aria-", " →", "**",
        "[ ] ", "\\", "” (a", " · near",
    ]  # fmt: skip
    sizes = (7000, 100_000)
    lines = [start + repeat * (size // len(repeat)) for start in starts for repeat in repeats for size in sizes]
    lines.append("```" * 30_000)
    text = "## 03:12 — idle dream\n> [!note]- Dropped by triage (1)\n" + "\n\n".join(lines)
    parse_blocks(text)
    read_ticks(text)
    read_managed(text)
    parse_seeds(text)
