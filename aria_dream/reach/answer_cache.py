"""What the reach has answered already: `reach-memo.tsv`, so that no pair is paid for twice.

`homes` and `orphan` are answers for ever, `neither` for a while. What was not answered (unparsed, unavailable, refused)
is not here, and neither is anything external: a seed is reached on once, and its status says so.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date, datetime, timedelta, timezone
from typing import TYPE_CHECKING, Literal, assert_never, cast

from aria_dream.errors import Problem
from aria_dream.notes.tsv import parse_fields, parse_instant, render_fields
from aria_dream.ranking.juxtaposition import pair_key
from aria_dream.reach.reach import Answer
from aria_dream.reach.reach_block import ReachedPair
from aria_dream.reach.reach_landing import parse_asked_day

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from datetime import tzinfo

    from aria_dream.notes.dream_note_grammar import LoggedLink
    from aria_dream.reach.reach import ReachVerdict, Unparsed
    from aria_dream.reach.reach_block import NoAnswer, ReachBlock

VERDICTS = frozenset({"homes", "orphan", "neither"})


@dataclass(frozen=True, slots=True, kw_only=True)
class CachedAnswer:
    """One answered pair."""

    at: datetime
    """When it was answered, with offset."""
    pair: tuple[str, str]
    """Vault paths of both notes, sorted (`pair_key`)."""
    verdict: ReachVerdict


def render_cached_answer(row: CachedAnswer) -> str:
    """The row as its line, line end included."""
    return render_fields(row.at.isoformat(), *row.pair, row.verdict)


def parse_answer_cache(text: str) -> tuple[tuple[CachedAnswer, ...], tuple[Problem, ...]]:
    """The rows in order, each different one once, and a Problem for each line that is none. Total.

    A torn last line is no problem: what it said can be read from the dream note again. Columns beyond the fourth are
    ignored, CRLF and a BOM tolerated.
    """
    rows: dict[CachedAnswer, None] = {}
    problems: list[Problem] = []
    lines = text.removeprefix("\ufeff").split("\n")
    for number, line in enumerate(lines, start=1):
        row = _row(line)
        if row is not None:
            rows[row] = None
        elif line.strip() and number < len(lines):
            problems.append(Problem("", number, "this line is no row of the memo and was left out"))
    return tuple(rows), tuple(problems)


def _row(line: str) -> CachedAnswer | None:
    fields = parse_fields(line)
    if len(fields) < 4 or not fields[1] or not fields[2] or fields[3] not in VERDICTS:
        return None
    at = parse_instant(fields[0])
    verdict = cast("ReachVerdict", fields[3])
    return None if at is None else CachedAnswer(at=at, pair=pair_key(fields[1], fields[2]), verdict=verdict)


def cached_answer(
    kind: Literal["internal", "external"], pair: tuple[str, str], outcome: Answer | Unparsed | NoAnswer, at: datetime
) -> CachedAnswer | None:
    """The row that remembers an answer; None where there is none to remember."""
    if kind == "external" or not isinstance(outcome, Answer):
        return None
    return CachedAnswer(at=at, pair=pair_key(*pair), verdict=outcome.verdict)


def find_answer(
    rows: Iterable[CachedAnswer], pair: tuple[str, str], now: datetime, *, neither_cooldown_days: int
) -> CachedAnswer | None:
    """The latest row that answers the pair, in either order; None where it may be asked.

    A `neither` counts for so many days, and one from the future (a clock was put back) too.
    """
    key = pair_key(*pair)
    held = [row for row in rows if row.pair == key and _holds(row, now, timedelta(days=neither_cooldown_days))]
    return max(held, key=lambda row: row.at, default=None)


def _holds(row: CachedAnswer, now: datetime, cooldown: timedelta) -> bool:
    match row.verdict:
        case "homes" | "orphan":
            return True
        case "neither":
            return now - row.at < cooldown
        case _:
            assert_never(row.verdict)


def known_already(rows: Iterable[CachedAnswer], row: CachedAnswer) -> bool:
    """Whether one of `rows` says the same of the same minute: a dream note tells no seconds."""
    return any(
        (known.pair, known.verdict) == (row.pair, row.verdict)
        and known.at.replace(second=0, microsecond=0) == row.at.replace(second=0, microsecond=0)
        for known in rows
    )


def answers_of_blocks(
    dated: Iterable[tuple[date, ReachBlock]], zone: tzinfo, path_of: Callable[[LoggedLink], str | None]
) -> tuple[CachedAnswer, ...]:
    """The memo as the dream notes tell it, oldest first: one row for each answered pair whose notes are still there.

    `path_of(link)` is the vault path that a link of the dream note means; None where it means none.
    """
    rows: dict[CachedAnswer, None] = {}
    for day, block in dated:
        if not isinstance(block.subject, ReachedPair):
            continue
        first, second = path_of(block.subject.from_), path_of(block.subject.to)
        if first and second:
            at = datetime.combine(parse_asked_day(block.origin) or day, block.at, tzinfo=zone)
            at = at.replace(tzinfo=timezone(at.utcoffset() or timedelta(0)))  # as a row is read back
            row = cached_answer("internal", (first, second), block.outcome, at)
            rows |= {} if row is None else {row: None}
    return tuple(sorted(rows, key=lambda row: row.at))
