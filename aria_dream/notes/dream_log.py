"""The dream log: a dated block per episode in the day's dream note, written for a reader and read back exactly."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from datetime import time
from typing import TYPE_CHECKING

from aria_dream.errors import Problem
from aria_dream.notes.boxes import BULLET, LABELS, box_tail, parse_box
from aria_dream.notes.dream_note_grammar import (
    NUMBER,
    LoggedPair,
    logged_link,
    parse_goes_line,
    parse_kept_line,
    parse_outcome,
    parse_pair_line,
    parse_path_line,
    parse_quote_line,
    render_pair,
)
from aria_dream.notes.plain_text import clean, escape_plain, unescape_plain
from aria_dream.ranking.juxtaposition import title_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from datetime import date

    from aria_dream.notes.dream_note_grammar import PairLine, Place
    from aria_dream.ranking.juxtaposition import Dropped, Survivor

FOOTER = "Propose-only. Nothing here is a fact until you place it."
HOW = "How this came about"
LONGEST_LINE = 8_000
"""No line of ours is longer; what is longer is the writer's and no pattern is tried on it."""
LONGEST_REASON = 1_000
"""Characters; a judge that writes more is cut, with an ellipsis."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LoggedStart:
    """Where the dream began and how that note was picked."""

    title: str
    cold: bool
    """Nobody asked for this note."""
    rule: str
    """How it was picked, such as `low-degree pick`."""
    seed: int
    """Of the random generator; with the same notes, memory and policy it gives the same dream."""
    others: tuple[str, ...] = ()
    """Titles of the other starts that were looked at."""
    pairs: int = 0
    """How many pairs were weighed; 0 in a block of the first form."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LoggedDrop:
    """A pair the judge did not keep: titles as text, never links."""

    from_title: str
    to_title: str
    score: float
    reason: str
    unreadable: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class DreamBlock:
    """One episode as its block shows it. Texts are cleaned, scores rounded: `parse_blocks(render_block(b))` is `b`."""

    at: time
    """Local, to the minute."""
    kind: str
    """`idle dream`, `nightly dream`, `dream`, … : ends with `dream`."""
    start: LoggedStart | None
    """None only where a writer removed the line."""
    pairs: tuple[LoggedPair, ...]
    drops: tuple[LoggedDrop, ...] = ()
    judged: str = ""
    """What went wrong with the judge and who judged instead, without a full stop; `""` where nothing did."""


def logged_pair(
    survivor: Survivor,
    proposal_id: str,
    link_text: Callable[[str], str],
    *,
    markdown_links: bool = False,
    name_of: Callable[[str], str] = title_of,
    place: Place = "near",
    goes: str = "",
) -> LoggedPair:
    """The pair as a note shows it; `link_text(path)` is the unambiguous link target of a vault path, without `.md`.

    `name_of(path)`: what a note is called, where its title alone would not say which one it is.
    """
    found = survivor.juxtaposition
    quotes = None
    if found.resonance is not None:
        mine, other = map(clean, found.resonance.quotes)
        quotes = mine, other
    return LoggedPair(
        id=proposal_id,
        from_=logged_link(found.from_, link_text, markdown_links=markdown_links, name_of=name_of),
        to=logged_link(found.to, link_text, markdown_links=markdown_links, name_of=name_of),
        score=_rounded(found.score, 3),
        path=None if found.path is None else tuple(clean(name_of(step)) or "untitled" for step in found.path),
        reason=_clipped(survivor.reason),
        judge=clean(survivor.judge) or "judge",
        probability=None if survivor.probability is None else _rounded(survivor.probability, 2),
        place=place,
        quotes=quotes,
        goes=_clipped(goes),
    )


def logged_drop(dropped: Dropped, *, name_of: Callable[[str], str] = title_of) -> LoggedDrop:
    """The dropped pair as the fold shows it."""
    found = dropped.juxtaposition
    return LoggedDrop(
        from_title=clean(name_of(found.from_)) or "untitled",
        to_title=clean(name_of(found.to)) or "untitled",
        score=_rounded(found.score, 3),
        reason=_clipped(dropped.reason),
        unreadable=dropped.unreadable,
    )


def logged_trouble(trouble: str) -> str:
    """The sentence as the block's line about the judge shows it."""
    return _clipped(trouble).rstrip(" .")


def logged_start(
    path: str,
    *,
    cold: bool,
    rule: str,
    seed: int,
    name_of: Callable[[str], str] = title_of,
    others: Sequence[str] = (),
    pairs: int = 0,
) -> LoggedStart:
    """The start as the block names it; `path` and `others` are vault paths."""
    title, *rest = (clean(name_of(one)) or "untitled" for one in (path, *others))
    return LoggedStart(title=title, cold=cold, rule=clean(rule), seed=seed, others=tuple(rest), pairs=pairs)


def _clipped(reason: str) -> str:
    text = clean(reason)
    return text if len(text) <= LONGEST_REASON else clean(text[: LONGEST_REASON - 1]) + "…"


def _rounded(value: float, digits: int) -> float:
    return round(value, digits) + 0.0  # + 0.0: no "-0.000"


def render_head(day: date, host: str = "") -> str:
    """The frontmatter of a new dream note; written once, at creation. `host` is the machine whose day it is."""
    name = clean(host)
    quoted = f'"{re.sub(r"[^0-9A-Za-z ._-]", "-", name)}"'  # a name like `no` or `1e3` is a text, too
    owner = f"host: {quoted}\n" if name else ""
    return f"---\naria-dream: log\ncssclasses: [aria-dream]\ndate: {day.isoformat()}\n{owner}---\n"


def render_block(block: DreamBlock, *, closing: bool = True) -> str:
    """The block as Markdown, from its heading to the line end of its last line; `parse_blocks` gives it back.

    `closing`: whether the closing line ends it, which stands once in a day's note.
    """
    parts = [f"## {block.at:%H:%M} — {escape_plain(block.kind)}\n"]
    if block.judged:
        parts.append(f"Judge: {escape_plain(block.judged)}.\n")
    parts += [render_pair(pair) for pair in block.pairs]
    if not block.pairs:
        parts.append("Nothing survived the judge this time.\n")
    parts.append(_render_fold(block))
    parts += [f"{FOOTER}\n"] if closing else []
    return "\n".join(part for part in parts if part)


def _render_fold(block: DreamBlock) -> str:
    """What only the curious want to know, folded."""
    lines = []
    if block.start is not None:
        start = block.start
        title, cold = escape_plain(start.title, brackets=True), "cold " if start.cold else ""
        looked = f"; {len(start.others) + 1} starts and {start.pairs} pairs looked at" if start.pairs else ""
        lines.append(f"Started {cold}from {title} ({escape_plain(start.rule)}, seed {start.seed}){looked}.")
        if start.others:
            lines.append("Also from: " + " \u00b7 ".join(map(_among, start.others)))
    lines += [f"Score {pair.score:.3f}: {_two(pair.from_.title, pair.to.title)}" for pair in block.pairs]
    lines += [f"Dropped: {_render_drop(drop)}" for drop in block.drops]
    return "".join(f"{line}\n" for line in (f"> [!note]- {HOW}", *(f"> {line}" for line in lines))) if lines else ""


def _among(title: str) -> str:
    return escape_plain(title).replace("\u00b7", "&middot;")


def _two(first: str, second: str) -> str:
    return f"{escape_plain(first)} ↔ {escape_plain(second)}"


def _render_drop(drop: LoggedDrop) -> str:
    unreadable = "⚠ unreadable: " if drop.unreadable else ""
    return f"{_two(drop.from_title, drop.to_title)} ({drop.score:.3f}): {unreadable}{escape_plain(drop.reason)}"


_HEADING = re.compile(r" {0,3}(#{1,6})[ \t]+(.*)")
_BLOCK_HEADING = re.compile(r"(\d{1,2}):(\d{2})[ \t]+[—–-]+[ \t]+(.*\bdream)")
_START = re.compile(
    r"[ \t>]*Started (cold )?from (.+?) \((.*), seed (-?\d+)\)"
    r"(?:; \d+ starts and (\d+) pairs looked at)?\.?[ \t]*"
)
_ALSO = re.compile(r"[ \t>]*Also from: (.+?)[ \t]*")
_SCORE = re.compile(rf"[ \t>]*Score ({NUMBER}): (.+?) ↔ (.+?)[ \t]*")
_JUDGED = re.compile(r"[ \t>]*Judge: (.+?)\.?[ \t]*")
_FOLD = re.compile(rf"[ \t]*>[ \t>]*\[!\w+\][-+]?[ \t]*(?:Dropped by triage|{HOW}).*")
_DROP = re.compile(
    rf"[ \t]*>[ \t>]*(?:{BULLET})?(?:Dropped: )?(.+?) ↔ (.+?) \(({NUMBER})\):(?: (⚠ unreadable:))?[ \t]*(.*)"
)
_FENCE = re.compile(r"[ \t>]*(`{3,}|~{3,})(.*)")


def numbered_lines(text: str, longest: int = LONGEST_LINE) -> Iterator[tuple[int, str]]:
    """Line number (1-based) and text of every line that may be ours, without the space at its end.

    Frontmatter, fenced code and lines of more than `longest` characters are left out.
    """
    fence = ""
    lines = re.split(r"\r\n|\n|\r", text)
    start = _behind_frontmatter(lines)
    for number, whole in enumerate(lines[start:], start=start + 1):
        line = whole.rstrip()
        mark = _FENCE.fullmatch(line)
        if fence:
            if mark is not None and mark[1].startswith(fence) and not mark[2].strip():
                fence = ""
        elif mark is not None and not (mark[1][0] == "`" and "`" in mark[2]):
            fence = mark[1]
        elif len(line) <= longest:
            yield number, line


def _behind_frontmatter(lines: Sequence[str]) -> int:
    if lines[0].lstrip("\ufeff").rstrip() != "---":
        return 0
    for number, line in enumerate(lines[1:], start=1):
        if line.rstrip() == "---":
            return number + 1
    return 0


def parse_blocks(text: str) -> tuple[tuple[DreamBlock, ...], tuple[Problem, ...]]:
    """The dream blocks of a note in order, and what was ours once and cannot be read any more.

    Reads what a writer has edited around: typed text, set ticks, other indentation, bullets and line ends, reordered
    pairs. Other headings and everything under them are the writer's, and no problem. Lines of a pair may be missing.
    """
    reading = _Reading()
    for number, line in numbered_lines(text):
        reading.take(number, line)
    reading.end()
    return tuple(reading.blocks), tuple(reading.problems)


class _Reading:
    """State of one pass over the lines; private to `parse_blocks`."""

    def __init__(self) -> None:
        self.blocks: list[DreamBlock] = []
        self.problems: list[Problem] = []
        self.block: DreamBlock | None = None
        self.pairs: list[LoggedPair] = []
        self.drops: list[LoggedDrop] = []
        self.scores: list[tuple[float, str, str]] = []
        self.folded = False

    def take(self, number: int, line: str) -> None:
        heading = _HEADING.fullmatch(line)
        if heading is not None:
            self.take_heading(len(heading[1]), heading[2])
        elif self.block is not None and line.strip():
            self.take_line(number, line)
        else:
            self.folded = False

    def take_heading(self, level: int, text: str) -> None:
        ours = _BLOCK_HEADING.fullmatch(text)
        if ours is None and level > 2:
            return
        self.end()
        if ours is not None and int(ours[1]) < 24 and int(ours[2]) < 60:
            kind = unescape_plain(ours[3])
            self.block = DreamBlock(at=time(int(ours[1]), int(ours[2])), kind=kind, start=None, pairs=(), drops=())

    def end(self) -> None:
        block, self.block = self.block, None
        if block is not None and (block.start is not None or self.pairs):
            pairs = tuple(self.scored(pair) for pair in self.pairs)
            self.blocks.append(replace(block, pairs=pairs, drops=tuple(self.drops)))
        self.pairs, self.drops, self.scores, self.folded = [], [], [], False

    def scored(self, pair: LoggedPair) -> LoggedPair:
        """The pair with the score that the fold has for it."""
        if pair.place is None or pair.score:
            return pair
        for at, (score, first, second) in enumerate(self.scores):
            if (first, second) == (pair.from_.title, pair.to.title):
                del self.scores[at]
                return replace(pair, score=score)
        return pair

    def take_line(self, number: int, line: str) -> None:
        assert self.block is not None
        start = _START.fullmatch(line)
        if start is not None and self.block.start is None:
            found = LoggedStart(
                title=unescape_plain(start[2]), cold=bool(start[1]), rule=unescape_plain(start[3]), seed=int(start[4]),
                pairs=int(start[5] or 0),
            )  # fmt: skip
            self.block = replace(self.block, start=found)
        elif not self.pairs and (judged := _JUDGED.fullmatch(line)) is not None:
            self.block = replace(self.block, judged=self.block.judged or unescape_plain(judged[1]))
        elif _FOLD.fullmatch(line):
            self.folded = True
        elif self.folded:
            self.take_folded(line)
        else:
            self.take_pair_line(number, line)

    def take_folded(self, line: str) -> None:
        assert self.block is not None
        start = self.block.start
        if (drop := _DROP.fullmatch(line)) is not None:
            self.drops.append(
                LoggedDrop(
                    from_title=unescape_plain(drop[1]),
                    to_title=unescape_plain(drop[2]),
                    score=float(drop[3]),
                    reason=unescape_plain(drop[5]),
                    unreadable=drop[4] is not None,
                )
            )
        elif score := _SCORE.fullmatch(line):
            self.scores.append((float(score[1]), unescape_plain(score[2]), unescape_plain(score[3])))
        elif start is not None and (also := _ALSO.fullmatch(line)):
            others = tuple(map(unescape_plain, also[1].split(" \u00b7 ")))
            self.block = replace(self.block, start=replace(start, others=others))

    def take_pair_line(self, number: int, line: str) -> None:
        opened = parse_pair_line(line) if "↔" in line else None
        if opened is not None:
            self.pairs.append(opened_pair(opened))
        elif self.pairs:
            self.pairs[-1] = with_line(self.pairs[-1], line)
        elif "^aria-" in line and (parse_box(line) or parse_outcome(line)):
            self.problems.append(Problem("", number, "the line that names this box's two notes is gone"))


def opened_pair(opened: PairLine) -> LoggedPair:
    """The pair of which only the first line is read."""
    return LoggedPair(
        id="", from_=opened.first, to=opened.second, score=opened.score or 0.0, path=None, reason="", judge="",
        probability=None, place=opened.place,
    )  # fmt: skip


def with_line(pair: LoggedPair, line: str) -> LoggedPair:
    """`pair` with what one more of its lines says; a line that is not the pair's leaves it as it is."""
    path = parse_path_line(line)
    if path is not None:
        return replace(pair, path=None if path == "unconnected" else path)
    kept = parse_kept_line(line)
    if kept is not None:
        return replace(pair, reason=kept[0], judge=kept[1], probability=kept[2])
    goes = parse_goes_line(line)
    if goes is not None:
        return replace(pair, goes=goes)
    quote = parse_quote_line(line)
    if quote is not None:
        return replace(pair, quotes=(quote, "") if pair.quotes is None else (pair.quotes[0], pair.quotes[1] or quote))
    box = parse_box(line)
    if box is not None and box.what in LABELS:
        if pair.id not in ("", box.id):
            return pair  # a box that a merge brought here; `read_ticks` reports it
        tail = box_tail(line, LABELS[box.what])
        tails = {**pair.tails, box.what: tail} if tail else pair.tails
        return replace(pair, id=box.id, ticked=pair.ticked | ({box.what} if box.ticked else set()), tails=tails)
    decided = parse_outcome(line)
    if decided is not None and pair.id in ("", decided[0]):
        return replace(pair, id=decided[0], outcome=decided[1])
    return pair
