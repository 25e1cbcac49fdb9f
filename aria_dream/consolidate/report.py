"""`Dream report.md`: the last nights in figures and small pictures, in one block that is rewritten only while nobody
has edited it. What a writer puts around the block stays.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, fields
from datetime import date
from typing import TYPE_CHECKING, Final

from aria_dream.consolidate.plots import Series, render_plots
from aria_dream.consolidate.sealed import Sealed, read_sealed, seal, with_sealed
from aria_dream.errors import Problem
from aria_dream.notes.plain_text import clean, escape_plain, unescape_plain

if TYPE_CHECKING:
    from collections.abc import Sequence

    from aria_dream.review.graduation import Bars, Record

NIGHTS_SHOWN: Final = 14
LISTED_MOST: Final = 10
"""Lines of a list before it is cut."""
FORM_MOST: Final = 5
"""Titles of a form before they are counted only."""
NAME: Final = "report"


@dataclass(frozen=True, slots=True, kw_only=True)
class NightFigures:
    """One night as a row of the table."""

    night: date
    passages: int = 0
    new: int = 0
    pairs: int = 0
    proposals: int = 0
    contradictions: int = 0
    resolutions: int = 0
    escalated: int = 0
    accepted: int = 0
    """Of that night's proposals, by a person."""
    decided: int = 0
    applied: int = 0
    """Of that night's proposals, without a tick."""
    tokens: int = 0
    seconds: int = 0
    stopped: str = ""
    """Why it ended before its time, one line."""


HEADS: Final = {
    "night": "night",
    "passages": "read",
    "new": "new",
    "pairs": "alike",
    "proposals": "proposed",
    "contradictions": "disagree",
    "resolutions": "settled",
    "escalated": "for you",
    "accepted": "accepted",
    "decided": "decided",
    "applied": "alone",
    "tokens": "tokens",
    "seconds": "s",
    "stopped": "ended early",
}
"""Field of `NightFigures` to the head of its column, short enough for a phone."""
_LEGEND: Final = (
    "Read and new: passages. Alike: pairs of passages. Disagree, settled, for you: contradictions. Accepted, decided:"
    " of that night's proposals, by you; alone: applied without a tick."
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """Everything that the block says."""

    nights: tuple[NightFigures, ...]
    """Oldest first, the last one last; never empty."""
    waiting: tuple[tuple[str, int], ...] = ()
    """What waits in the review: the heading of a kind, and how many."""
    applied: tuple[str, ...] = ()
    """What was applied without a tick since the last night began, as plain text."""
    look_alike: tuple[tuple[str, str], ...] = ()
    """Titles of pairs that a person may want to look at."""
    of_one_form: tuple[tuple[str, ...], ...] = ()
    """Titles of passages that are alike because they are built alike, and are not asked about one by one."""
    conflicts: tuple[tuple[str, str], ...] = ()
    """Titles of notes whose contradiction waits for a person."""
    left_out: tuple[str, ...] = ()
    """What the night did not look at because it was too much, a sentence without its full stop each."""
    copies: tuple[tuple[str, str, str], ...] = ()
    """Of each copy that a sync left: the name of its original, its own, and what differs."""
    learned: str = ""
    """Link target of the Dream log; "" where no text of a link means it."""
    lessons: tuple[str, ...] = ()
    """Ids of its new lessons."""
    candidates: tuple[str, ...] = ()
    """Ids of its candidates that nobody has decided."""
    records: tuple[Record, ...] = ()
    bars: Bars | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ReportBlock:
    """Our part of the note, markers included, and the nights that it tells of."""

    sealed: Sealed
    nights: tuple[NightFigures, ...]


def render_report_head() -> str:
    """A new report note up to the block."""
    return (
        "---\naria-dream: report\ncssclasses: [aria-dream]\n---\n"
        "What the nights found, and what came of it. Nothing here needs to be ticked.\n"
        "Write above or below the two marker lines as you like.\n\n"
    )


def render_report(report: Report) -> str:
    """The block from marker to marker, no line end behind; `read_report` gives the nights back."""
    return seal(NAME, _inside(report))


def _inside(report: Report) -> str:
    last = report.nights[-1]
    parts = [_summary(report, last)]
    if report.waiting:
        rows = "".join(f"- {escape_plain(name)}: {count}\n" for name, count in report.waiting)
        parts.append(f"### What waits for you\n\n{rows}")
    if report.conflicts:
        parts.append(f"### Contradictions to look at\n\n{_pairs(report.conflicts)}")
    if report.look_alike:
        parts.append(f"### Alike, and left to you\n\n{_pairs(report.look_alike)}")
    if report.of_one_form:
        rows = "".join(map(_form, report.of_one_form[:LISTED_MOST])) + _more(len(report.of_one_form))
        parts.append(f"### Built alike, and not asked about one by one\n\n{rows}")
    if report.copies:
        rows = "".join(map(_copy, report.copies[:LISTED_MOST])) + _more(len(report.copies))
        parts.append(f"### Copies left by a sync\n\n{rows}")
    if report.applied:
        rows = "".join(f"- {escape_plain(line)}\n" for line in report.applied[:LISTED_MOST])
        parts.append(f"### Applied without a tick\n\n{rows}{_more(len(report.applied))}")
    if plots := render_plots(_series(report.nights)):
        parts.append(f"### How it goes\n\n{plots}")
    if report.records and report.bars is not None:
        parts.append(f"### What may one day be applied without a tick\n\n{_graduation(report.records, report.bars)}")
    parts.append(f"### The last nights\n\n{_table(report.nights)}\n{_LEGEND}\n")
    return "\n".join(parts)


def _summary(report: Report, last: NightFigures) -> str:
    found = [f"{last.passages:,} passages were read, {last.new:,} of them for the first time"]
    found.append(f"{_counted(last.proposals, 'proposal was', 'proposals were')} made")
    if last.escalated:
        found.append(f"{_counted(last.escalated, 'contradiction was', 'contradictions were')} left to you")
    spent = f"{last.tokens:,} tokens" if last.tokens else "no tokens"
    lines = [f"**The night of {last.night.isoformat()}**: {'; '.join(found)}. It took {last.seconds:,} s and {spent}."]
    if last.stopped:
        lines.append(f"It ended early: {escape_plain(last.stopped)}.")
    if report.look_alike:
        left = _counted(len(report.look_alike), "pair of passages is", "pairs of passages are")
        lines.append(f"{left} alike, and for you to settle in the review.")
    if report.lessons or report.candidates:
        lines.append(_learned(report))
    lines += [f"Left out: {escape_plain(said)}." for said in report.left_out]
    waits = (report.waiting, last.proposals, last.escalated, report.look_alike, report.copies, report.candidates)
    if not any(waits):
        lines.append("Nothing waits for you.")
    return "\n".join(lines) + "\n"


def _learned(report: Report) -> str:
    told = [
        f"{_counted(len(ids), one, many)} ({', '.join(ids[:LISTED_MOST])}{', …' if len(ids) > LISTED_MOST else ''})"
        for ids, one, many in (
            (report.lessons, "new lesson", "new lessons"),
            (report.candidates, "open candidate", "open candidates"),
        )
        if ids
    ]
    place = f"[[{report.learned}|DREAM_LOG.md]]" if report.learned else "DREAM_LOG.md"
    return f"The synthesis left {' and '.join(told)} in {place}."


def _counted(number: int, one: str, many: str) -> str:
    return f"{number:,} {one if number == 1 else many}"


def _pairs(pairs: Sequence[tuple[str, str]]) -> str:
    rows = "".join(f"- {escape_plain(one)} ↔ {escape_plain(other)}\n" for one, other in pairs[:LISTED_MOST])
    return rows + _more(len(pairs))


def _form(titles: Sequence[str]) -> str:
    named = ", ".join(map(escape_plain, titles[:FORM_MOST]))
    rest = f", and {len(titles) - FORM_MOST} more" if len(titles) > FORM_MOST else ""
    return f"- {len(titles)} passages: {named}{rest}\n"


def _copy(one: tuple[str, str, str]) -> str:
    original, copy, differs = map(escape_plain, one)
    return f"- {original} ← {copy}: {differs}\n"


def _more(count: int) -> str:
    return f"- … and {count - LISTED_MOST} more\n" if count > LISTED_MOST else ""


def _table(nights: Sequence[NightFigures]) -> str:
    rows = [f"| {' | '.join(HEADS.values())} |", "|" + " --- |" * len(HEADS)]
    for figures in reversed(nights):
        cells = [_cell(getattr(figures, name)) for name in HEADS]
        rows.append(f"| {' | '.join(cells)} |")
    return "\n".join(rows) + "\n"


def _cell(value: object) -> str:
    if isinstance(value, date):
        return value.isoformat()
    return escape_plain(value).replace("|", "&#124;") if isinstance(value, str) else str(value)


def _series(nights: Sequence[NightFigures]) -> tuple[Series, ...]:
    def of(name: str) -> tuple[float, ...]:
        return tuple(float(getattr(night, name)) for night in nights)

    shares = tuple(100 * night.accepted / night.decided if night.decided else None for night in nights)
    return (
        Series(name="proposed", values=of("proposals")),
        Series(name="accepted", values=shares, unit=" %", top=100),
        Series(name="tokens", values=of("tokens")),
        Series(name="seconds", values=of("seconds")),
    )


def _graduation(records: Sequence[Record], bars: Bars) -> str:
    rows = ["| kind | nights | accepted | taken back | standing |", "| --- | --- | --- | --- | --- |"]
    for record in records:
        accepted, undone = _percent(record.acceptance), _percent(record.false_prune)
        standing = "eligible" if record.is_eligible else "; ".join(record.missing)
        nights = f"{_bar(record.cycles, bars.min_cycles)} {record.cycles} of {bars.min_cycles}"
        cells = (record.kind.replace("_", " "), nights, accepted, undone, escape_plain(standing))
        rows.append(f"| {' | '.join(cells)} |")
    return "\n".join(rows) + "\n"


def _bar(done: int, of: int) -> str:
    full = 10 if of <= 0 else min(10, done * 10 // of)
    return "▰" * full + "▱" * (10 - full)


def _percent(ratio: float | None) -> str:
    return "–" if ratio is None else f"{ratio:.0%}"


def read_report(text: str) -> tuple[ReportBlock | None, tuple[Problem, ...]]:
    """The block of a report note, or None with the reason why it is left as it is.

    Markers that are missing, doubled or in the wrong order, and an edit between them, stop the rewriting.
    """
    block, problems = read_sealed(text, NAME)
    if block is None:
        said = "the report has lost its two marker lines; delete the note and it is made anew"
        return None, problems or (Problem("", 0, said),)
    return ReportBlock(sealed=block, nights=_nights(block.inside)), ()


def with_report(text: str, block: ReportBlock, report: Report) -> str:
    """`text` with the block replaced, in the note's own line ends; everything around it stays."""
    return with_sealed(text, block.sealed, render_report(report))


def _nights(inside: str) -> tuple[NightFigures, ...]:
    found = []
    for line in inside.splitlines():
        cells = [cell.strip() for cell in line.strip().strip("|").split(" | ")]
        if len(cells) == len(HEADS) and re.fullmatch(r"\d{4}-\d{2}-\d{2}", cells[0]):
            values = dict(zip(HEADS, cells, strict=True))
            found.append(_figures(values))
    return tuple(reversed(found))


def _figures(values: dict[str, str]) -> NightFigures:
    numbers = {each.name: int(values[each.name]) for each in fields(NightFigures) if each.type == "int"}
    stopped = unescape_plain(values["stopped"].replace("&#124;", "|"))
    return NightFigures(night=date.fromisoformat(values["night"]), stopped=clean(stopped), **numbers)
