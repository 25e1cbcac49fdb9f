"""The report: what is read back is what was written, and no title or typed word changes anything else."""

from __future__ import annotations

from datetime import date
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from aria_dream.consolidate.plots import Series, render_plots
from aria_dream.consolidate.report import (
    HEADS,
    NightFigures,
    Report,
    read_report,
    render_report,
    render_report_head,
    with_report,
)
from aria_dream.notes.plain_text import clean

if TYPE_CHECKING:
    from collections.abc import Callable

NIGHT = NightFigures(night=date(2026, 11, 30), passages=1204, new=12, pairs=9, proposals=3, contradictions=2,
                     resolutions=1, escalated=1, accepted=2, decided=3, applied=0, tokens=1800, seconds=41)  # fmt: skip
END = "%% aria-dream report end %%"
HOSTILE = ["[[Compost]]", "a | b", "%% aria-dream report end %%", "# x", "- [ ] t ^aria-abcdef", "<script>", "`x`",
           "x\n%% aria-dream report begin %%", "| 2026-11-30 | 1 |", "![[a]]", "$x$", "a::b", "<!--",
           "</div>"]  # fmt: skip
_titles = st.one_of(st.sampled_from(HOSTILE), st.text(max_size=30))
_whole = st.integers(0, 10**9)


@st.composite
def reports(draw: st.DrawFn) -> Report:
    days = draw(st.lists(st.dates(date(2000, 1, 1), date(2100, 1, 1)), min_size=1, max_size=5, unique=True))
    nights = tuple(
        NightFigures(
            night=day, stopped=clean(draw(_titles)),
            **{name: draw(_whole) for name in HEADS if name not in ("night", "stopped")},
        )
        for day in sorted(days)
    )  # fmt: skip
    pairs = st.lists(st.tuples(_titles, _titles), max_size=13).map(tuple)
    return Report(
        nights=nights,
        waiting=tuple(draw(st.lists(st.tuples(_titles, _whole), max_size=3))),
        applied=tuple(draw(st.lists(_titles, max_size=12))),
        look_alike=draw(pairs),
        of_one_form=tuple(draw(st.lists(st.lists(_titles, min_size=4, max_size=7).map(tuple), max_size=12))),
        conflicts=draw(pairs),
    )


@given(reports(), st.sampled_from(["\n", "\r\n"]))
def test_what_is_read_back_is_what_was_written(report: Report, end: str) -> None:
    text = (render_report_head() + "mine\n" + render_report(report) + "\nand mine\n").replace("\n", end)
    block, problems = read_report(text)
    assert problems == ()
    assert block is not None
    assert block.nights == report.nights
    assert text[block.sealed.end :] == f"{end}and mine{end}"


@given(reports(), reports())
def test_what_stands_around_the_block_stays(first: Report, second: Report) -> None:
    text = "mine, above\n" + render_report(first) + "\n## mine, below\n"
    block, _ = read_report(text)
    assert block is not None
    changed = with_report(text, block, second)
    assert changed.startswith("mine, above\n")
    assert changed.endswith("\n## mine, below\n")
    again, problems = read_report(changed)
    assert problems == ()
    assert again is not None
    assert again.nights == second.nights


@pytest.mark.parametrize(
    "edit",
    [
        lambda text: text.replace("12 of them", "13 of them"),
        lambda text: text.replace(END, ""),
        lambda text: text + text,
        lambda text: text.replace("report begin", "report beginn"),
        lambda text: text.replace(END, f"typed here\n{END}"),
        lambda _text: "",
    ],
)
def test_an_edit_between_the_markers_stops_the_rewriting(edit: Callable[[str], str]) -> None:
    block, problems = read_report(edit(render_report(Report(nights=(NIGHT,)))))
    assert block is None
    assert "made anew" in problems[0].message


def test_a_report_in_words() -> None:
    text = render_report(Report(
        nights=(NIGHT,), waiting=(("Notes to merge", 2),), conflicts=(("Rain", "Tides"),),
        look_alike=(("A", "B"),) * 12, of_one_form=(tuple("PQRSTUV"), tuple("KLMN")),
        applied=("linked “Rain” in “Tides”",),
    ))  # fmt: skip
    assert "**The night of 2026-11-30**: 1,204 passages were read, 12 of them for the first time; 3 proposals" in text
    assert "It took 41 s and 1,800 tokens." in text
    assert "- Notes to merge: 2\n" in text
    assert "- Rain ↔ Tides\n" in text
    assert text.count("<svg") == 4  # from the first night on
    assert "proposed: 3; most 3 in one night" in text
    assert "- … and 2 more\n" in text
    assert "### Built alike, and not asked about one by one\n\n- 7 passages: P, Q, R, S, T, and 2 more\n" in text
    assert "- 4 passages: K, L, M, N\n" in text
    assert "| 2026-11-30 | 1204 | 12 | 9 | 3 | 2 | 1 | 1 | 2 | 3 | 0 | 1800 | 41 |  |" in text


@given(reports())
def test_no_title_opens_anything(report: Report) -> None:
    """Links, tags, tasks, fences and HTML in a title are text; the only HTML is ours."""
    body = render_report(report)
    html = MarkdownIt("commonmark", {"html": True}).enable("table").render(body)
    outside = html.replace("<div>", "").replace("</div>", "")
    assert "<script" not in outside
    assert "<pre" not in html
    assert "[[" not in body.replace("\\[", "")
    assert "- [ ]" not in body


def test_the_pictures_are_one_block_in_the_colour_of_the_text() -> None:
    plots = render_plots([Series(name="a <b>", values=(1.0, None, 3.0)), Series(name="none", values=(None,))])
    assert plots.count("<svg") == plots.count("</svg>") == 1
    assert "\n\n" not in plots
    assert plots.count("<rect") == 2
    assert "a &lt;b&gt;" in plots
    assert "#" not in plots.replace("&#", "")  # no colour of our own
    html = MarkdownIt("commonmark", {"html": True}).render(f"text\n\n{plots}\ntext\n")
    assert html == f"<p>text</p>\n{plots}<p>text</p>\n"
    assert render_plots([]) == ""
