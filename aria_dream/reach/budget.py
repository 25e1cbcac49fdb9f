"""How much of the plan's requests the dreamer may still spend: a breaker over the rows of `reach-ledger.tsv`.

Three windows, each of which refuses alone: five hours and seven days that roll, and the local calendar month. What is
counted is requests that were *begun*: an abort is spent. Doubt closes, so no row, whatever it says, ever adds to the
budget: a line that nobody can read is a reach, and one from the future lies in every window.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Literal

from aria_dream.errors import Problem
from aria_dream.notes.tsv import parse_fields, parse_instant, render_fields

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence
    from datetime import tzinfo

    from aria_dream.policy.settings import Settings

Resolution = Literal[
    "homes", "orphan", "neither", "stands", "falls", "unsure", "unparsed", "refused", "failed", "aborted", "unsent"
]
"""What can come of a reach, or of an independent review."""
INITIATED = "initiated"
UNSENT = "unsent"
"""The one resolution that gives a reservation back: nothing had left when the reach failed."""
EXCESS = "excess"
NOTED = "noted"
"""Spends nothing: it tells when unreadable lines before it were first seen, so that they grow old like any other."""
UNREADABLE = "unreadable"
MOST_REQUESTS = 1_000_000
"""What a row can count at most; a ceiling is at most a tenth of it."""
FIVE_HOURS = timedelta(hours=5)
WEEK = timedelta(days=7)


@dataclass(frozen=True, slots=True, kw_only=True)
class LedgerRow:
    """One line of the ledger."""

    at: datetime | None
    """When it was written, in the offset it was written with. None where that is unknown: then it is always now."""
    kind: str
    """`internal`, `external`, `janus`, `probe`; `unreadable` for a line that is none."""
    verdict: str
    """`initiated`, a resolution (`homes`, `orphan`, `neither`, `unparsed`, `refused`, `failed`, `aborted`, `unsent`),
    `excess` or `noted`."""
    id: str
    """Of the reach; `""` in a line that has none, which counts by itself."""
    requests: int = 0
    """Requests set aside; sent of them, in a resolution; or (`excess`) sent beyond them. 0 where the line does not say,
    which means the policy's."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BudgetRefusal:
    """No request may be sent. A value: the caller says it and goes on without."""

    reason: str
    """One clause for the writer."""
    again_at: datetime | None = None
    """When it would fit, if nothing else is spent until then; None where time alone does not help or is unknown."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Spent:
    """Requests counted in each window."""

    in_5h: int
    in_week: int
    in_month: int


def render_row(row: LedgerRow) -> str:
    """The row as its line, line end included; `parse_ledger` gives it back."""
    at = "" if row.at is None else row.at.isoformat()
    return render_fields(at, row.kind, row.verdict, row.id, *([str(row.requests)] if row.requests else []))


def parse_ledger(text: str) -> tuple[tuple[LedgerRow, ...], tuple[Problem, ...]]:
    """Every line that is not blank as a row, in order, and a Problem for each that is not as we write them. Total.

    A line whose time cannot be read was written no later than the next one that has a time, and counts as of then;
    behind the last one it counts as now. Columns beyond the fifth are ignored, CRLF and a BOM are tolerated.
    """
    rows: list[LedgerRow] = []
    problems: list[Problem] = []
    untimed = 0
    for number, line in enumerate(text.removeprefix("\ufeff").split("\n"), start=1):
        if not line.strip():
            continue
        row = _row(line)
        if row.kind == UNREADABLE:
            problems.append(Problem("", number, "this line is no row of the ledger; it is counted as a reach"))
        if row.at is not None and untimed:
            rows[-untimed:] = [replace(earlier, at=row.at) for earlier in rows[-untimed:]]
            untimed = 0
        rows.append(row)
        untimed += row.at is None
    return tuple(rows), tuple(problems)


def _row(line: str) -> LedgerRow:
    fields = [field.strip() for field in parse_fields(line)]
    at, *others = [parse_instant(fields[0]), *fields[1:]]
    if at is None or len(fields) < 3 or not (fields[1] and fields[2]):
        return LedgerRow(at=at, kind=UNREADABLE, verdict=INITIATED, id="")
    return LedgerRow(
        at=at,
        kind=fields[1],
        verdict=fields[2],
        id=fields[3] if len(others) > 2 else "",
        requests=_whole(fields[4]) if len(others) > 3 else 0,
    )


_COUNT = re.compile(r"\+?0*(?P<whole>[0-9]+)(?P<part>[.,]0*[1-9][0-9]*)?(?:[.,]0*)?")


def _whole(text: str) -> int:
    """A count of requests, rounded up; 0 for anything that is none (negative, NaN, words)."""
    found = _COUNT.fullmatch(text)
    if found is None:
        return 0
    return MOST_REQUESTS if len(found["whole"]) > 9 else min(int(found["whole"]) + bool(found["part"]), MOST_REQUESTS)


@dataclass(frozen=True, slots=True)
class _Charge:
    at: datetime | None
    requests: int


def _charges(rows: Iterable[LedgerRow], requests_per_reach: int) -> list[_Charge]:
    """What the rows spent, reach by reach."""
    each = max(1, requests_per_reach)
    found: list[_Charge] = []
    reaches: dict[str, list[LedgerRow]] = {}
    for row in rows:
        if row.verdict == EXCESS:
            found.append(_Charge(row.at, max(1, row.requests)))
        elif row.verdict == NOTED and not row.id:
            continue
        elif row.id:
            reaches.setdefault(row.id, []).append(row)
        else:
            found.append(_Charge(row.at, max(each, row.requests)))
    for reach in reaches.values():
        found.extend(_of_one_id(reach, each))
    return found


def _of_one_id(reach: Sequence[LedgerRow], each: int) -> list[_Charge]:
    """One charge for the reach, however often its lines stand there; none where `unsent` is all that came of it.

    An id that was begun at two times is two reaches, and a resolution whose beginning was lost is one.
    """
    begun = [row for row in reach if row.verdict == INITIATED]
    ended = [row for row in reach if row.verdict != INITIATED]
    times = dict.fromkeys(row.at for row in begun)
    if len(times) <= 1 and reach[-1].verdict == UNSENT and all(row.verdict == UNSENT for row in ended):
        return []
    cost = max(each, *(row.requests for row in reach))
    return [_Charge(at, cost) for at in times or (ended[-1].at,)]


def count_in_window(rows: Iterable[LedgerRow], now: datetime, window: timedelta, *, requests_per_reach: int = 1) -> int:
    """Requests spent since `now - window`, that instant included. Rows of the future count: a clock was put back."""
    return _sum(_charges(rows, requests_per_reach), _rolling(now, window))


def in_period(at: datetime | None, now: datetime, zone: tzinfo, period: Literal["day", "month"]) -> bool:
    """Whether `at` lies in the local day or month of `now`, or later; true where it is unknown.

    A row also belongs to the period in which its own offset puts it (UTC says nothing of where somebody was), so that
    another `timezone` in the policy gives no second budget.
    """
    if at is None:
        return True
    local = now.astimezone(zone)
    start = local.replace(hour=0, minute=0, second=0, microsecond=0, fold=0)
    depth = 3
    if period == "month":
        start, depth = start.replace(day=1), 2
    if at >= start:
        return True
    return bool(at.utcoffset()) and at.timetuple()[:depth] >= local.timetuple()[:depth]


def count_spent(rows: Iterable[LedgerRow], settings: Settings, now: datetime, zone: tzinfo) -> Spent:
    """What each window holds now."""
    charges = _charges(rows, settings.requests_per_reach)
    return Spent(
        in_5h=_sum(charges, _rolling(now, FIVE_HOURS)),
        in_week=_sum(charges, _rolling(now, WEEK)),
        in_month=_sum(charges, lambda at: in_period(at, now, zone, "month")),
    )


def plan_reservation(
    rows: Iterable[LedgerRow],
    settings: Settings,
    now: datetime,
    zone: tzinfo,
    *,
    kind: str = "internal",
    reach_id: str = "",
) -> LedgerRow | BudgetRefusal:
    """The row that has to be on the disk before a request is sent, or why none may be sent.

    `now` is aware. Refused when what was spent plus one reach would exceed a window's ceiling, by the window that
    makes the writer wait longest. The policy's doors and the machine's confirmation are others' business.
    """
    rows = tuple(rows)
    each = max(1, settings.requests_per_reach)
    counted = count_spent(rows, settings, now, zone)
    charges = _charges(rows, each)
    for name, key, used, limit, window in (
        ("this month", "monthly_reach_ceiling", counted.in_month, settings.monthly_reach_ceiling, None),
        ("the last 7 days", "reach_requests_per_week", counted.in_week, settings.reach_requests_per_week, WEEK),
        ("the last 5 hours", "reach_requests_per_5h", counted.in_5h, settings.reach_requests_per_5h, FIVE_HOURS),
    ):
        if used + each > limit:
            again_at = _next_month(now, zone) if window is None else _free_at(charges, now, window, limit - each)
            return BudgetRefusal(
                reason=_refusal(name, key, used, limit, each),
                again_at=again_at if each <= limit else None,
            )
    return LedgerRow(at=now.astimezone(zone), kind=kind, verdict=INITIATED, id=reach_id, requests=each)


def _refusal(name: str, key: str, used: int, limit: int, each: int) -> str:
    within = name if name.startswith("this") else f"in {name}"
    if not limit:
        return f"the policy allows no request {within} (`{key}: 0`)"
    if limit < each:
        return f"a reach costs {each} requests, and the policy allows {limit} {within} (`{key}`)"
    if used > limit:
        return f"{used} requests of {name} are spent, and the policy allows {limit} (`{key}`)"
    return f"{used} of {limit} requests of {name} are spent, and a reach costs {each}"


def _rolling(now: datetime, window: timedelta) -> Callable[[datetime | None], bool]:
    since = now.astimezone(UTC) - window  # in a local zone the clocks' own changes would shorten or lengthen it
    return lambda at: at is None or at.astimezone(UTC) >= since


def _sum(charges: Iterable[_Charge], counts: Callable[[datetime | None], bool]) -> int:
    return sum(charge.requests for charge in charges if counts(charge.at))


def _free_at(charges: Iterable[_Charge], now: datetime, window: timedelta, allowed: int) -> datetime | None:
    """The first moment at which at most `allowed` requests lie in the window."""
    counts = _rolling(now, window)
    inside = [charge for charge in charges if counts(charge.at)]
    left = sum(charge.requests for charge in inside)
    for at, requests in sorted((charge.at, charge.requests) for charge in inside if charge.at is not None):
        left -= requests
        if left <= allowed:
            try:
                return (at.astimezone(UTC) + window).astimezone(now.tzinfo)
            except OverflowError:
                return None
    return None


def _next_month(now: datetime, zone: tzinfo) -> datetime:
    local = now.astimezone(zone)
    start = local.replace(day=1, hour=0, minute=0, second=0, microsecond=0, fold=0)
    return start.replace(year=start.year + 1, month=1) if start.month == 12 else start.replace(month=start.month + 1)
