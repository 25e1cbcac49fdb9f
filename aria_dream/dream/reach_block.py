"""A reach as its block in the dream note: what was asked, what was argued and cited, and only then the verdict.

The layers are those of the reach's specification (section 7); the latent ones stand first, as everywhere in a dream.
Whatever a model or a page said is shown as text that does nothing.
"""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass, field
from datetime import time
from typing import TYPE_CHECKING, assert_never

from aria_dream.dream.citation import Source
from aria_dream.dream.logged import (
    UNCONNECTED,
    LoggedLink,
    parse_kept_line,
    parse_pair_line,
    parse_path_line,
    render_link,
)
from aria_dream.dream.plain_text import escape_plain, unescape_plain
from aria_dream.dream.reach import Answer, ReachVerdict, Unparsed
from aria_dream.errors import Problem

if TYPE_CHECKING:
    from collections.abc import Iterator

REACH_FOOTER = "Propose-only — dream-tagged, unvetted by any cold pass. Awaiting Janus and you (L3)."
UNSOURCED = "⚠ Nothing is cited: this does not count as a finding."
LONGEST_RAW = 20_000
"""Characters of an unreadable answer that are shown."""

_WROTE_NOTHING = "Codex wrote nothing."
_QUESTION = "Question: home inward, or new territory?"
_SHARE = "(dreaming sub-allocation; interactive Codex untouched.)"
_SAID: dict[ReachVerdict, str] = {"orphan": "ORPHAN candidate", "homes": "HOMES", "neither": "NEITHER"}


@dataclass(frozen=True, slots=True, kw_only=True)
class ReachedPair:
    """Two notes that a reach was made on. Texts are on one line, as `clean` leaves them."""

    from_: LoggedLink
    to: LoggedLink
    path: tuple[str, ...] | None
    """Titles along the way, both ends included; None where only the text connects them."""
    reason: str
    """Why the local judge kept the pair."""
    judge: str


@dataclass(frozen=True, slots=True)
class ReachedSeed:
    """A seed of the writer that a reach was made on."""

    header: str


@dataclass(frozen=True, slots=True, kw_only=True)
class NoAnswer:
    """The reach ended without an answer."""

    reason: str
    """One clause, on one line."""
    sent: bool
    """Whether it is spent."""
    partial: str = ""
    """What had come so far, as `legible` leaves it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BudgetLine:
    """What was spent when the block was written, this reach included."""

    in_week: int
    week_limit: int
    in_5h: int
    limit_5h: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ReachBlock:
    """One reach as its block shows it: `parse_reach_blocks(render_reach_block(b))` is `b`."""

    at: time
    """Local, to the minute."""
    subject: ReachedPair | ReachedSeed
    origin: str
    """Where the subject came from, such as `survivor from the 19:53 idle dream`."""
    outcome: Answer | Unparsed | NoAnswer
    """The raw text of an `Unparsed` is as `legible` leaves it."""
    budget: BudgetLine | None


def legible(raw: str) -> str:
    """`raw` with line ends `\\n` and without control and direction characters, cut at `LONGEST_RAW`. Idempotent.

    `<%` is torn apart: Templater runs what stands behind it in a new note, in a code block as well.
    """
    text = "".join(map(_legible, raw.replace("\r\n", "\n").replace("\r", "\n"))).replace("<%", "< %")
    return text if len(text) <= LONGEST_RAW else text[: LONGEST_RAW - 1] + "…"


def _legible(character: str) -> str:
    if character in "\n\t":
        return character
    category = unicodedata.category(character)
    if category == "Cs":
        return "\ufffd"
    return "" if category in ("Cc", "Cf", "Zl", "Zp") else character


def render_reach_block(block: ReachBlock) -> str:
    """The block as Markdown, from its heading to the line end of its last line."""
    lines = [f"## {block.at:%H:%M} — reach (Codex + web)", ""]
    lines += [*_subject_lines(block), _QUESTION, ""]
    match block.outcome:
        case Answer() as answer:
            lines += _answer_lines(answer)
        case Unparsed(raw):
            lines += ["Codex wrote, and no verdict can be read in it:", *_fenced(raw)] if raw else [_WROTE_NOTHING]
            lines.append("Verdict: unparsed.")
        case NoAnswer() as none:
            lines += ["What had come so far:", *_fenced(none.partial)] if none.partial else []
            lines.append(f"No answer ({'spent' if none.sent else 'nothing was sent'}): {escape_plain(none.reason)}")
        case _:
            assert_never(block.outcome)
    if block.budget is not None:
        week, five = block.budget, block.budget
        lines.append(
            f"Budget: reach {week.in_week} this week / {week.week_limit}"
            f" · {five.in_5h} in this 5h window / {five.limit_5h}. {_SHARE}"
        )
    return "".join(f"{line}\n" for line in (*lines, "", REACH_FOOTER))


def _subject_lines(block: ReachBlock) -> list[str]:
    origin = escape_plain(block.origin, brackets=True).replace(")", "\\)")
    match block.subject:
        case ReachedPair() as pair:
            judge = re.sub(r"[),]", r"\\\g<0>", escape_plain(pair.judge, brackets=True))
            way = UNCONNECTED if pair.path is None else " → ".join(map(escape_plain, pair.path))
            return [
                f"Reached on **{render_link(pair.from_)} ↔ {render_link(pair.to)}** ({origin}).",
                f"path: {way}",
                f"kept: {escape_plain(pair.reason)} ({judge})",
            ]
        case ReachedSeed(header):
            return [f"Reached on **{escape_plain(header)}** ({origin})."]
        case _:
            assert_never(block.subject)


def _answer_lines(answer: Answer) -> list[str]:
    lines = ["Codex argued:", *(f"> {escape_plain(line, line_start=True)}" for line in answer.argument)]
    # A blank line ends each part: without it a reader of Markdown takes the next line for more of the quote or item.
    lines += ["", "Sources:", *map(_render_source, answer.sources)]
    if answer.edge:
        lines += ["", f"Edge: {escape_plain(answer.edge)}"]
    lines += ["", f"Verdict: {_SAID[answer.verdict]}."]
    return [*lines, UNSOURCED] if answer.is_unsourced_orphan else lines


def _render_source(source: Source) -> str:
    if not source.url:
        return f"- {escape_plain(source.title, line_start=True)}"
    return f"- `{source.url}`" + (f" — {escape_plain(source.title)}" if source.title else "")


def _fenced(raw: str) -> list[str]:
    """`raw` as a code block that nothing in it closes."""
    runs = re.findall(r"`+", raw)
    fence = "`" * max(3, 1 + max(map(len, runs), default=0))
    return [f"{fence}text", *raw.split("\n"), fence]


_HEADING = re.compile(r" {0,3}(#{1,6})[ \t]+(.*)")
_OURS = re.compile(r"(\d{1,2}):(\d{2})[ \t]+[—–-]+[ \t]+reach\b.*", re.IGNORECASE)
_FENCE = re.compile(r"[ \t>]{0,3}(`{3,}|~{3,})(.*)")
_REACHED = re.compile(r"[ \t]*Reached on (?P<what>.+) \((?P<origin>(?:\\.|[^()\\])*)\)\.?[ \t]*")
_VERDICT = re.compile(r"[ \t]*Verdict:[ \t]*(?P<verdict>ORPHAN|HOMES|NEITHER|unparsed)\b.*", re.IGNORECASE)
_NONE = re.compile(r"[ \t]*No answer \((?P<spent>spent|nothing was sent)\): ?(?P<reason>.*)")
_BUDGET = re.compile(
    r"[ \t]*Budget: reach (\d{1,9}) this week / (\d{1,9}) · (\d{1,9}) in this 5h window / (\d{1,9})\..*"
)
_EDGE = re.compile(r"[ \t]*Edge: (?P<edge>.+)")
_SOURCE = re.compile(r"[ \t]*[-*+] (?:`(?P<url>[^`]+)`(?: — (?P<about>.+))?|(?P<title>.+))")
_QUOTED = re.compile(r"[ \t]*> ?(?P<text>.*)")
_LONGEST_LINE = 8_000


@dataclass(slots=True)
class _Found:
    """Lines of one block as they are met."""

    at: time
    line: int
    what: str = ""
    origin: str = ""
    path: tuple[str, ...] | None = None
    reason: str = ""
    judge: str = ""
    part: str = ""
    argument: list[str] = field(default_factory=list)
    sources: list[Source] = field(default_factory=list)
    edge: str = ""
    verdict: str = ""
    none: NoAnswer | None = None
    raw: list[str] | None = None
    budget: BudgetLine | None = None


def parse_reach_blocks(text: str) -> tuple[tuple[ReachBlock, ...], tuple[Problem, ...]]:
    """The reach blocks of a note in order, and a Problem for each that says neither what it was on nor what came of it.

    Reads what a writer has edited around; other headings and everything under them are the writer's.
    """
    blocks: list[ReachBlock] = []
    problems: list[Problem] = []
    for found in _blocks(text):
        block = _built(found)
        if block is None:
            problems.append(Problem("", found.line, "the subject or the verdict of this reach is gone"))
        else:
            blocks.append(block)
    return tuple(blocks), tuple(problems)


def _blocks(text: str) -> Iterator[_Found]:
    found: _Found | None = None
    fence = ""
    for number, line in enumerate(re.split(r"\r\n|\n|\r", text), start=1):
        mark = _FENCE.fullmatch(line) if len(line) <= _LONGEST_LINE else None
        if fence:
            if mark is not None and mark[1].startswith(fence) and not mark[2].strip():
                fence = ""
            elif found is not None and found.raw is not None and found.part == "raw":
                found.raw.append(line)
            continue
        if mark is not None and not (mark[1][0] == "`" and "`" in mark[2]):
            fence = mark[1]
            if found is not None:
                found.part = "raw" if found.raw is None and found.part == "said" else ""
                found.raw = [] if found.part == "raw" else found.raw
            continue
        heading = _HEADING.fullmatch(line.rstrip()) if len(line) <= _LONGEST_LINE else None
        ours = _OURS.fullmatch(heading[2]) if heading is not None else None
        if heading is not None and (ours is not None or len(heading[1]) <= 2):
            if found is not None:
                yield found
            found = None
            if ours is not None and int(ours[1]) < 24 and int(ours[2]) < 60:
                found = _Found(at=time(int(ours[1]), int(ours[2])), line=number)
        elif found is not None and len(line) <= _LONGEST_LINE:
            _take(found, line)
    if found is not None:
        yield found


def _take(found: _Found, line: str) -> None:
    bare = line.strip()
    part, found.part = found.part, ""  # a list ends with the first line that is none of it
    if part == "argued" and (quoted := _QUOTED.fullmatch(line)):
        found.part = part
        found.argument.append(unescape_plain(quoted["text"]))
    elif part == "sources" and (source := _SOURCE.fullmatch(line)):
        found.part = part
        title = unescape_plain(source["about"] or source["title"] or "")
        found.sources.append(Source(url=source["url"] or "", title=title))
    elif bare in ("Codex argued:", "Sources:"):
        found.part = "argued" if bare.startswith("Codex") else "sources"
    elif bare.startswith(("Codex wrote", "What had come")):
        found.part = "said"
    elif not found.what and (reached := _REACHED.fullmatch(line)):
        found.what, found.origin = reached["what"], unescape_plain(reached["origin"])
    elif verdict := _VERDICT.fullmatch(line):
        found.verdict = found.verdict or verdict["verdict"].lower()
    elif none := _NONE.fullmatch(line):
        found.none = NoAnswer(reason=unescape_plain(none["reason"]), sent=none["spent"] == "spent")
    else:
        _take_detail(found, line)


def _take_detail(found: _Found, line: str) -> None:
    if budget := _BUDGET.fullmatch(line):
        week, week_limit, five, limit = map(int, budget.groups())
        found.budget = BudgetLine(in_week=week, week_limit=week_limit, in_5h=five, limit_5h=limit)
    elif edge := _EDGE.fullmatch(line):
        found.edge = unescape_plain(edge["edge"])
    elif kept := parse_kept_line(line):
        found.reason, found.judge = kept[0], kept[1]
    elif path := parse_path_line(line):
        found.path = None if path == "unconnected" else path


def _built(found: _Found) -> ReachBlock | None:
    subject = _subject(found)
    outcome = _outcome(found)
    if subject is None or outcome is None:
        return None
    return ReachBlock(at=found.at, subject=subject, origin=found.origin, outcome=outcome, budget=found.budget)


def _subject(found: _Found) -> ReachedPair | ReachedSeed | None:
    if " ↔ " in found.what:
        ends = parse_pair_line(f"- {found.what} (0)")
        if ends is None:
            return None
        return ReachedPair(from_=ends[0], to=ends[1], path=found.path, reason=found.reason, judge=found.judge)
    header = unescape_plain(found.what.strip().removeprefix("**").removesuffix("**"))
    return ReachedSeed(header) if header else None


def _outcome(found: _Found) -> Answer | Unparsed | NoAnswer | None:
    raw = "\n".join(found.raw or ())
    if found.none is not None:
        return NoAnswer(reason=found.none.reason, sent=found.none.sent, partial=raw)
    match found.verdict:
        case "orphan" | "homes" | "neither" as verdict:
            return Answer(
                verdict=verdict, argument=tuple(found.argument), sources=tuple(found.sources), edge=found.edge
            )
        case "unparsed":
            return Unparsed(raw)
        case _:
            return None
