"""The review note with changes of any kinds in it: read back exactly, whatever a note or a model called things."""

from __future__ import annotations

import re
from dataclasses import replace
from datetime import UTC, datetime
from typing import get_args

from hypothesis import example, given, settings
from hypothesis import strategies as st

from aria_dream.markdown.note import NotePath, parse_note
from aria_dream.notes.boxes import bears_id
from aria_dream.notes.change_grammar import (
    LEADS,
    ChangeItem,
    DecidedChange,
    LoggedChange,
    Said,
    bare,
    inert,
    parse_decided,
    parse_opening,
    plain_ends,
    render_decided,
)
from aria_dream.notes.dream_log import numbered_lines
from aria_dream.notes.dream_note_grammar import logged_link
from aria_dream.notes.plain_text import clean, unescape_plain
from aria_dream.notes.review_note import BEGIN, END, read_managed, render_managed, render_review_head
from aria_dream.notes.ticks import read_ticks
from aria_dream.review.proposal import Kind, PlannedEdit, Proposal, ProposalState, proposal_id
from aria_dream.review.showing import Shelf, shown_change
from aria_dream.vault.edit import ABSENT, ContentHash, content_hash

HOSTILE = [
    "[[Drop]]", "![[x.png]]", "![i](https://x.example/i.png)", "#tag", "- [x] merge them ^aria-abcdef", "^aria-abcdef",
    "%%", BEGIN, END, "```dataview", "````", "~~~", "<% tp.x %>", "key:: value", "[k:: v]", "$$x$$", "==x==", "---",
    "> [!note]- x", "### Notes to merge", "**Merge: A ← B**", " · ", " ← ", " → ", " ↔ ", "&middot;", "&larr;",
    "\\", "a\\", "`", "<b>", "https://x.example", "a:://b", "&#58;", ", 07:41", "undone: x, 07:41 ^aria-abcdef",
    "why: x (y, 0.50)", "proposed: 2026-01-01", "Janus: FALLS", "not undone: x", "\u202etxt", "\u200b", "\ufeff", "\r",
    "\x0b", "\x85", "\u2028", "\x1b[31m", "\ud800", "[X]", "[x]", "^", "|", "*", "_", "**", "(", ")",
    "Both boxes are ticked. Untick one, and the other holds.",
    "12 more lines: x", "[!example]- What would be written (00000000)", "東京", "é", "  ", "\t", "",
]  # fmt: skip
TEXTS = st.lists(st.one_of(st.sampled_from(HOSTILE), st.text(max_size=6)), max_size=3).map(" ".join)
NAMES = TEXTS.map(lambda text: text.replace("\n", " ") or "x")
KINDS: tuple[Kind, ...] = get_args(Kind)
AT = datetime(2026, 11, 30, 7, 41, tzinfo=UTC)


@st.composite
def states(draw: st.DrawFn) -> tuple[ProposalState, dict[NotePath, bytes], tuple[str, ...]]:
    kind = draw(st.sampled_from(KINDS))
    count = 2 if kind == "link" else draw(st.integers(1, 4))
    titles = tuple(draw(NAMES) for _ in range(count))
    paths = tuple(f"f{number}/{draw(NAMES).replace('/', '-')}.md" for number in range(count))
    evidence: dict[str, object] = {
        "edge": draw(TEXTS), "lost": [draw(TEXTS), draw(TEXTS)], "in conflict": draw(TEXTS), "cosine": 0.9,
        "sources": [{"url": "https://x.example", "title": draw(TEXTS)}],
    }  # fmt: skip
    before, after = draw(TEXTS).encode("utf-8", "surrogatepass"), draw(TEXTS)
    end = draw(st.sampled_from(["\n", "\r\n"]))
    text = end.join([*[draw(TEXTS) for _ in range(3)], "`" * draw(st.integers(0, 6))])
    edits = (
        PlannedEdit(path=paths[0], before=content_hash(before), after=ContentHash("b"), start=0,
                    removed=before.decode("utf-8", "surrogatepass"), inserted=after),
        PlannedEdit(path="new.md", before=ABSENT, after=ContentHash("c"), start=0, removed="", inserted=text),
    )  # fmt: skip
    proposal = Proposal(
        id=proposal_id(kind, paths, 0), kind=kind, paths=paths, round=0, at=AT, expires_at=None, titles=titles,
        confidence=draw(st.sampled_from([0.0, 0.5, 0.934])), reason=draw(TEXTS), judge=draw(TEXTS), evidence=evidence,
    )  # fmt: skip
    state = ProposalState(
        proposal=proposal, state="proposed", since=AT, paths=paths, edits=edits, reason=draw(TEXTS),
        janus=draw(st.sampled_from(["", "STANDS", "UNSURE", "x"])), janus_reason=draw(TEXTS),
    )  # fmt: skip
    return state, {NotePath(paths[0]): before}, paths


def lines_of(found: tuple[ProposalState, dict[NotePath, bytes], tuple[str, ...]]) -> LoggedChange | None:
    state, contents, files = found
    shelf = Shelf(
        files=files, contents=contents, link_text=lambda path: path.removesuffix(".md"), markdown_links=False, zone=UTC
    )
    return shown_change(state, shelf)


@st.composite
def items(draw: st.DrawFn) -> ChangeItem:
    shown = lines_of(draw(states()))
    assert shown is not None
    if draw(st.booleans()):
        return replace(
            shown, approve_ticked=draw(st.booleans()), never_ticked=draw(st.booleans()), asked=draw(st.booleans())
        )
    said = draw(st.sampled_from(get_args(Said)))
    return DecidedChange(
        id=shown.id,
        kind=shown.kind,
        ends=plain_ends(shown.ends),
        said=said,
        at="2 Dec 07:41",
        why=clean(draw(TEXTS)) if said == "not done" else "",
        undo_until=draw(st.sampled_from(["", "4 Dec 07:41"])) if said in ("done", "never again") else "",
        told=tuple(filter(None, (clean(draw(TEXTS)) for _ in range(draw(st.integers(0, 2)))))),
    )


def in_order(found: list[ChangeItem]) -> tuple[ChangeItem, ...]:
    return tuple(item for kind in LEADS for item in found if item.kind == kind)


@settings(max_examples=60, deadline=None)
@given(found=st.lists(items(), max_size=4), end=st.sampled_from(["\n", "\r\n"]), mark=st.sampled_from("xX"))
def test_read_back_exactly(found: list[ChangeItem], end: str, mark: str) -> None:
    found = list(in_order(found))
    note = (render_review_head() + render_managed((), found) + "\nMine.\n").replace("\n", end)
    block, problems = read_managed(note)
    assert problems == ()
    assert block is not None
    assert block.items == ()
    assert block.changes == tuple(found)
    ticked = re.sub(r"\[x\]( .* \^aria-)", rf"[{mark}]\1", note)
    again, problems = read_managed(ticked)
    assert problems == ()
    assert again is not None
    assert again.changes == tuple(found)


@settings(max_examples=60, deadline=None)
@given(found=st.lists(states(), min_size=1, max_size=3))
def test_nothing_acts_but_our_own_boxes_and_links(
    found: list[tuple[ProposalState, dict[NotePath, bytes], tuple[str, ...]]],
) -> None:
    shown = [item for one in found if (item := lines_of(one)) is not None]
    unique = list({item.id: item for item in shown}.values())
    note = render_review_head() + render_managed((), unique) + "\n"
    assert read_ticks(note) == ((), ())
    ticks, problems = read_ticks(note.replace("- [ ]", "- [x]"))
    assert {tick.id for tick in ticks} <= {item.id for item in unique}
    assert len(ticks) == len(unique), problems
    for tick in ticks:
        (item,) = (item for item in unique if item.id == tick.id)
        assert (tick.ends, tick.kind, tick.mark, tick.shown) == (item.ends, item.kind, item.mark, item.diff)
    seen = parse_note(note)
    assert len(seen.links) == sum(end.style != "plain" for item in unique for end in item.ends)
    assert not [link for link in seen.links if link.raw.startswith("!")]
    assert seen.tags == ()
    outside = [line for _, line in numbered_lines(note)]
    assert sum(bears_id(line) for line in outside) == 2 * len(unique)
    assert not [line for line in outside if "::" in line or "<%" in line or "://" in line or "==" in line]
    assert "<%" not in note
    for fence, inside in re.findall(r"(?ms)^> (`{3,})diff\n(.*?)^> \1\n", note):
        assert all(len(run) < len(fence) for run in re.findall("`+", inside))
    assert note.count("%%") == 4


@given(text=TEXTS)
@example(text="a:://b")
@example(text="x\\")
def test_inert_text_is_read_back(text: str) -> None:
    assert unescape_plain(inert(text)) == clean(text)
    assert "://" not in inert(text)


@given(text=TEXTS)
def test_a_line_in_the_fence_is_stable(text: str) -> None:
    once = bare(text)
    assert bare(once) == once
    assert once == once.rstrip()
    assert "%%" not in once
    assert "^aria-" not in once


@given(path=NAMES)
def test_a_bold_line_names_its_notes(path: str) -> None:
    link = logged_link(f"{path.replace('/', '-')}.md", lambda name: name.removesuffix(".md"))
    from aria_dream.notes.change_grammar import opening

    for kind in KINDS:
        line = opening(kind, (link, *plain_ends((link,))))
        if "**" not in line[2:-2]:
            assert parse_opening(line) == (kind, (link, *plain_ends((link,))))


def test_a_decided_line_without_a_reason_is_read_back() -> None:
    ends = plain_ends((logged_link("A.md", str),) * 2)
    decided = DecidedChange(id="aaaaaa", kind="merge", ends=ends, said="not done", at="2 Dec 07:41")
    assert parse_decided(f"- {render_decided(decided)}") == decided
