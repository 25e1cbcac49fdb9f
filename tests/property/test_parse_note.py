"""`parse_note` and `scan_note` are total, exact about places, agree with each other, and near linear."""

from __future__ import annotations

import math
import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from aria_dream.markdown.note import decode_note, parse_note
from aria_dream.markdown.scan import scan_note
from aria_dream.vault.canvas import parse_canvas

_WORDS = r"""
[[ ]] [[Note]] ![[pic.png]] [[a|b]] [[a#b|`c`]] [ ] ( ) ](b.md) [a](b%20c.md) [a](<b c> 't') ![x](y.png) \ \[[ !
` `` ``` ~~~ ```js $ $$ $5 < > <b> </b> <div> <!-- --> <? %% # ## #tag #1 ^id | |-|-| --- === * - 1. & &amp; é 日本
{{date}} tags: aliases: a: : " ' & * !x [^1] [^1]: [b]:
"""
_PIECES = st.sampled_from(
    [
        *_WORDS.split(),
        *("\ufeff", "\x00", "\udcff", "\u00a0", " ", "  ", "    ", "\t", "\n", "\n\n", "\r\n", "\n> ", "\n- "),
        *("\n    ", "\n---\n", "---\n", "word " * 30),
    ]
)
_TEXTS = st.lists(_PIECES, max_size=40).map("".join)
_LONG = st.tuples(_TEXTS, st.integers(300, 400), _TEXTS).map(lambda parts: parts[0] + "word " * parts[1] + parts[2])
_NOTES = st.tuples(st.sampled_from(["", "---\n", "\ufeff---\n"]), _TEXTS | _LONG).map("".join)


@given(st.binary(max_size=300))
def test_any_bytes_are_a_note(data: bytes) -> None:
    note = parse_note(decode_note(data))
    assert note.text.encode("utf-8", "surrogateescape") == data


@settings(max_examples=400, deadline=None)
@given(_NOTES)
def test_spans_are_what_they_say(text: str) -> None:
    note = parse_note(text)
    for link in note.links:
        assert text[link.start : link.end] == link.raw
        assert "\n" not in link.raw or link.markdown
        assert link.path or link.subpath
    for heading in note.headings:
        assert heading.text in text[heading.span.start : heading.span.end]
    for block in note.block_ids:
        assert text[block.span.start : block.span.end] == "^" + block.name
    ends = [0]
    for span in note.opaque:
        assert ends[-1] <= span.start < span.end <= len(text)
        ends.append(span.end)
    body = [link for link in note.links if not link.in_frontmatter]
    assert body == sorted(body, key=lambda link: link.start)
    assert all(link.start >= note.body_start for link in body)


@settings(max_examples=600, deadline=None)
@given(_NOTES)
def test_the_quick_reading_agrees(text: str) -> None:
    note, scan = parse_note(text), scan_note(text)
    assert [(link.path, link.subpath, link.embed, link.in_frontmatter, link.markdown) for link in note.links] == [
        link[:5] for link in scan.links
    ]
    assert (note.tags, note.aliases, note.problems) == (scan.tags, scan.aliases, scan.problems)


@given(st.text(max_size=200) | st.text(alphabet='{}[]":,nodestypfilx0 \\u', max_size=200))
def test_any_text_is_a_canvas_or_a_problem(text: str) -> None:
    links, problems = parse_canvas(text)
    assert not (links and problems)


_HOSTILE = {
    "open brackets": "[",
    "open wikilinks": "[[a ",
    "ticks": "`",
    "comments": "a <!-- ",
    "instructions": "a <? ",
    "dollars": "$a ",
    "images": "![",
    "quotes": ">",
    "percent": "%% ",
    "torn links": "[[a`b]] `c ",
    "links in labels": "[x [[a]] y](z) ",
    "links in one destination": "[[a]] ",
    "backslashes": "\\",
    "tags": " #a",
    "duplicate keys": "a: b\n",
    "lists": "- ",
}


@pytest.mark.parametrize("name", _HOSTILE)
@pytest.mark.parametrize("reader", [parse_note, scan_note])
def test_four_times_the_text_is_not_sixteen_times_the_work(name: str, reader: object) -> None:
    def work_s(count: int) -> float:
        repeated = _HOSTILE[name] * count
        text = {
            "links in one destination": f"[x](<z {repeated}>)",
            "duplicate keys": f"---\n{repeated}---\n",
            "images": repeated + "](x)" * count,
        }.get(name, repeated)
        start = time.process_time()
        assert callable(reader)
        reader(text)
        return time.process_time() - start

    # What another process takes from this one is never negative, so the least of several counts; and sixteen times the
    # work is so at every try, while a busy machine is not busy at each of ten.
    least: dict[int, float] = {}
    for _ in range(10):
        for count in (10_000, 40_000):
            least[count] = min(work_s(count), least.get(count, math.inf))
        if least[40_000] < 11 * max(least[10_000], 0.02):
            return
    raise AssertionError(f"{least[40_000] / least[10_000]:.1f} times the work for four times the text")
