"""Whatever a note is called and whatever a judge says: the dream note can be read back, and stays inert."""

from __future__ import annotations

import re
import unicodedata
from datetime import date, time
from typing import get_args

import pyromark
from hypothesis import given, settings
from hypothesis import strategies as st

from aria_dream.markdown.note import parse_note
from aria_dream.notes.dream_log import (
    DreamBlock,
    LoggedDrop,
    LoggedStart,
    logged_drop,
    logged_pair,
    logged_start,
    logged_trouble,
    parse_blocks,
    render_block,
    render_head,
)
from aria_dream.notes.dream_note_grammar import Outcome, Place, Verdict
from aria_dream.notes.plain_text import clean, escape_plain, unescape_plain
from aria_dream.notes.review_note import ReviewItem, read_managed, render_managed, render_review_head
from aria_dream.notes.ticks import read_ticks
from aria_dream.ranking.juxtaposition import Dropped, Juxtaposition, Resonance, Survivor, title_of

HOSTILE = [
    "[[", "]]", "|", "`", "``", "**", "__", "↔", " ↔ ", "→", " → ", "#foo", "C# notes", "%%", "$x$", "$$", "<b>", "<%",
    "(0.5)", "(0.5): ", ", seed 3)", "(embedded judge, 0.81)", "^aria-k3f9q2", " ^block", "- [x] ", "> ", "1. ", "== ",
    "x:: y", "⚠ unreadable: ", "שלום", "مرحبا", "\u202e", "🌙", "👩‍👩‍👧", "\n", "\r\n", "\u2028", "\x00", "\t", "&amp;",
    "&harr;", "\\", "\\[", "~~", "---", "```", "](x)", "![a](http://e.org/a.png)", "https://e.org", "\u00a0", "path: ",
    "kept: ", " — [x] undo until 2 Dec 07:41", ", 07:41", "_", "*", "^", "=", "+", "Ω", "ß", "é", "\udcff", ".md",
]  # fmt: skip
texts = st.lists(st.one_of(st.sampled_from(HOSTILE), st.text(max_size=6)), max_size=6).map("".join)
names = texts.map(lambda text: text.replace("/", "").replace("\x00", "") or "x")
paths = st.lists(names, min_size=1, max_size=3).map(lambda parts: "/".join(parts) + ".md")
ids = st.text("abcdefghijklmnopqrstuvwxyz234567", min_size=6, max_size=9)
scores = st.floats(0, 10)
places = st.sampled_from(get_args(Place))


def link_text(path: str) -> str:
    return path[:-3]


def shortest(path: str) -> str:
    return title_of(path)


@st.composite
def juxtapositions(draw: st.DrawFn) -> Juxtaposition:
    first, second = draw(paths), draw(paths)
    way = draw(st.none() | st.lists(paths, min_size=1, max_size=3).map(lambda mid: (first, *mid, second)))
    quotes = draw(st.none() | st.tuples(texts, texts))
    resonance = quotes and Resonance(quotes=quotes, cosine=0.5, telling=0.1, whole=0.3, rank=3)
    return Juxtaposition(from_=first, to=second, score=draw(scores), path=way, resonance=resonance or None)


@st.composite
def survivors(draw: st.DrawFn) -> Survivor:
    return Survivor(
        juxtaposition=draw(juxtapositions()), probability=draw(st.floats(0, 1)), reason=draw(texts), judge=draw(texts)
    )


drops = st.builds(
    Dropped,
    juxtaposition=juxtapositions(),
    probability=st.none(),
    reason=texts,
    judge=st.just("j"),
    unreadable=st.booleans(),
).map(logged_drop)


@st.composite
def blocks(draw: st.DrawFn) -> DreamBlock:
    link = draw(st.sampled_from([link_text, shortest]))
    markdown = draw(st.booleans())
    pairs = tuple(
        logged_pair(survivor, draw(ids), link, markdown_links=markdown, place=draw(places), goes=draw(texts))
        for survivor in draw(st.lists(survivors(), max_size=3, unique_by=lambda one: one.juxtaposition.pair))
    )
    others = draw(st.lists(paths, max_size=2))
    start = logged_start(
        draw(paths), cold=draw(st.booleans()), rule=draw(texts), seed=draw(st.integers()), others=others,
        pairs=draw(st.integers(1, 99)) if others else draw(st.integers(0, 99)),
    )  # fmt: skip
    at = time(draw(st.integers(0, 23)), draw(st.integers(0, 59)))
    return DreamBlock(
        at=at,
        kind=draw(st.sampled_from(["idle dream", "dream", "nightly dream"])),
        start=start,
        pairs=pairs,
        drops=tuple(draw(st.lists(drops, max_size=3))),
        judged=logged_trouble(draw(texts)),
    )


@given(texts)
def test_plain_text_is_inverse_and_idempotent(text: str) -> None:
    assert clean(clean(text)) == clean(text)
    for line_start in (False, True):
        for brackets in (False, True):
            assert unescape_plain(escape_plain(text, line_start=line_start, brackets=brackets)) == clean(text)


@settings(max_examples=80)
@given(st.lists(blocks(), max_size=3), st.sampled_from(["\n", "\r\n"]))
def test_parse_of_render_is_the_same(episodes: list[DreamBlock], line_end: str) -> None:
    text = "\n".join([render_head(date(2026, 11, 30)), *map(render_block, episodes)]).replace("\n", line_end)
    assert parse_blocks(text) == (tuple(episodes), ())


@settings(max_examples=80)
@given(blocks())
def test_a_title_or_reason_never_makes_a_link_a_tag_or_a_line(block: DreamBlock) -> None:
    text = render_block(block)
    assert block.start is not None
    expected = 6 + 2 * bool(block.judged) + 2 * (not block.pairs) + len(block.drops) + bool(block.start.others)
    expected += sum(9 + 3 * (pair.quotes is not None) + bool(pair.goes) for pair in block.pairs)
    assert len(text.splitlines()) == expected
    linked = sum((pair.from_.style != "plain") + (pair.to.style != "plain") for pair in block.pairs)
    seen = markdown_parts(text)
    assert seen.count("Link") == linked
    assert seen.count("Heading") == 1
    assert seen.count("TaskListMarker") == 3 * len(block.pairs)
    assert not {"Image", "Code", "CodeBlock", "InlineMath", "DisplayMath", "Html", "InlineHtml", "HtmlBlock",
                "FootnoteReference", "Strikethrough", "Emphasis", "Rule", "Table"}.intersection(seen)  # fmt: skip
    assert not re.search(r"(?m)(?:^|\s)#(?!#* )[^\s#]", re.sub(r"\[\[.*?\]\]", "", text))
    assert "<%" not in text
    assert "%%" not in text


OPTIONS = (
    pyromark.Options.ENABLE_WIKILINKS
    | pyromark.Options.ENABLE_MATH
    | pyromark.Options.ENABLE_TASKLISTS
    | pyromark.Options.ENABLE_STRIKETHROUGH
    | pyromark.Options.ENABLE_TABLES
    | pyromark.Options.ENABLE_FOOTNOTES
)


def markdown_parts(text: str) -> list[str]:
    """Names of everything a CommonMark reader with wikilinks and math sees in `text`."""
    names = []
    for event in pyromark.events(text, options=OPTIONS):
        inner = event["Start"] if isinstance(event, dict) and "Start" in event else event
        if not (isinstance(event, dict) and "End" in event):
            names.append(next(iter(inner)) if isinstance(inner, dict) else inner)
    return names


@settings(max_examples=60)
@given(st.lists(st.tuples(survivors(), ids), max_size=4, unique_by=lambda row: row[1]), st.sampled_from(["\n", "\r\n"]))
def test_review_list_is_inverse(rows: list[tuple[Survivor, str]], line_end: str) -> None:
    items = tuple(
        ReviewItem(
            kind="link", pair=logged_pair(survivor, id_, link_text, goes=survivor.reason), dreamt_on=date(2026, 11, 30)
        )
        for survivor, id_ in rows
    )
    text = (render_review_head() + render_managed(items) + "\n").replace("\n", line_end)
    block, problems = read_managed(text)
    assert problems == ()
    assert block is not None
    assert block.items == items


moments = st.sampled_from(["07:41", "2 Dec 07:41", "31 Jan 2027 23:59"])


@st.composite
def outcomes(draw: st.DrawFn) -> Outcome:
    verdicts: tuple[Verdict, ...] = ("linked", "knew it", "never again", "expired", "undone", "not placed")
    verdict = draw(st.sampled_from(verdicts))
    until = draw(st.just("") | moments)
    return Outcome(
        verdict=verdict,
        at=draw(moments),
        where=clean(draw(texts)) if verdict in ("linked", "not placed") else "",
        undo_until=until,
        undo_ticked=bool(until) and draw(st.booleans()),
    )


@settings(max_examples=60)
@given(blocks(), outcomes())
def test_decided_pairs_are_inverse(block: DreamBlock, outcome: Outcome) -> None:
    from dataclasses import replace

    decided = replace(block, pairs=tuple(replace(pair, outcome=outcome) for pair in block.pairs))
    assert parse_blocks(render_block(decided)) == ((decided,), ())


@settings(max_examples=60)
@given(st.text() | texts)
def test_any_text_is_read_without_an_exception(text: str) -> None:
    parse_blocks(text)
    parse_blocks("## 03:12 — idle dream\n" + text)
    read_ticks("- **[[A]] ↔ [[B]]** (0.5)\n" + text)
    read_managed(text)


def test_values_that_are_not_cleaned_do_not_hide() -> None:
    """The promise of inversion holds for what the constructors make; a hand-made value shows the difference."""
    start = LoggedStart(title="a\nb", cold=True, rule="r", seed=1)
    block = DreamBlock(at=time(1, 2), kind="dream", start=start, pairs=(), drops=())
    ((read,), _) = parse_blocks(render_block(block))
    assert read.start == LoggedStart(title="a b", cold=True, rule="r", seed=1)
    assert isinstance(LoggedDrop(from_title="a", to_title="b", score=0.0, reason=""), LoggedDrop)


def looked_up(target: str) -> str:
    """As the link rules say: composed characters, and a no-break space counts as a space."""
    return unicodedata.normalize("NFC", target).replace("\u00a0", " ")


@settings(max_examples=60)
@given(blocks())
def test_a_reader_of_the_vault_sees_exactly_the_links_of_the_pairs(block: DreamBlock) -> None:
    """Each link looks up the note it was made for; a title, a path or a reason adds none, and no tag."""
    note = parse_note(render_head(date(2026, 11, 30)) + "\n" + render_block(block))
    ends = [end for pair in block.pairs for end in (pair.from_, pair.to) if end.style != "plain"]
    assert [link.path for link in note.links] == [looked_up(end.target) for end in ends]
    assert all(link.subpath == "" and not link.embed for link in note.links)
    assert note.tags == ()
    assert len(note.headings) == 1
    assert {found.name for found in note.block_ids} <= {
        f"aria-{pair.id}{suffix}" for pair in block.pairs for suffix in ("", "-known", "-no")
    }
