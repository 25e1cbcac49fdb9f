"""The reach blocks of a dream note, read back: what a writer has edited around still says what it said."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from datetime import time
from typing import TYPE_CHECKING

from aria_dream.errors import Problem
from aria_dream.notes.dream_note_grammar import parse_kept_line, parse_pair_line, parse_path_line
from aria_dream.notes.plain_text import unescape_plain
from aria_dream.reach.citation import Source
from aria_dream.reach.reach import Answer, Unparsed
from aria_dream.reach.reach_block import NO_LINK, BudgetLine, NoAnswer, ReachBlock, ReachedPair, ReachedSeed

if TYPE_CHECKING:
    from collections.abc import Iterator

    from aria_dream.notes.dream_note_grammar import LoggedLink

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
_BETWEEN = re.compile(r"[ \t]*Between: (?P<ends>.+?)[ \t]*")
_NO_LINK = re.compile(rf"[ \t]*{NO_LINK}(?P<why>.+)")
_SEED_SOURCE = re.compile(r"[ \t]*source: (?:`(?P<url>[^`]+)`|(?P<text>.+))")
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
    source: str = ""
    part: str = ""
    argument: list[str] = field(default_factory=list)
    sources: list[Source] = field(default_factory=list)
    edge: str = ""
    verdict: str = ""
    none: NoAnswer | None = None
    raw: list[str] | None = None
    budget: BudgetLine | None = None
    between: tuple[LoggedLink, LoggedLink] | None = None
    no_link: str = ""


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
    elif between := _BETWEEN.fullmatch(line):
        ends = parse_pair_line(f"- {between['ends']} (0)")
        found.between = found.between if ends is None else (ends.first, ends.second)
    elif none := _NO_LINK.fullmatch(line):
        found.no_link = unescape_plain(none["why"])
    elif edge := _EDGE.fullmatch(line):
        found.edge = unescape_plain(edge["edge"])
    elif kept := parse_kept_line(line):
        found.reason, found.judge = kept[0], kept[1]
    elif source := None if found.source or found.verdict else _SEED_SOURCE.fullmatch(line):
        found.source = source["url"] or unescape_plain(source["text"])
    elif path := parse_path_line(line):
        found.path = None if path == "unconnected" else path


def _built(found: _Found) -> ReachBlock | None:
    subject = _subject(found)
    outcome = _outcome(found)
    if subject is None or outcome is None:
        return None
    return ReachBlock(
        at=found.at, subject=subject, origin=found.origin, outcome=outcome, budget=found.budget,
        between=found.between, no_link=found.no_link,
    )  # fmt: skip


def _subject(found: _Found) -> ReachedPair | ReachedSeed | None:
    if " ↔ " in found.what:
        ends = parse_pair_line(f"- {found.what} (0)")
        if ends is None:
            return None
        return ReachedPair(from_=ends[0], to=ends[1], path=found.path, reason=found.reason, judge=found.judge)
    header = unescape_plain(found.what.strip().removeprefix("**").removesuffix("**"))
    return ReachedSeed(header, found.source) if header else None


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
