"""Three windows that refuse alone, and rows that never add to the budget."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone
from zoneinfo import ZoneInfo

import pytest

from aria_dream.policy.settings import Settings
from aria_dream.reach.budget import (
    EXCESS,
    FIVE_HOURS,
    INITIATED,
    NOTED,
    UNREADABLE,
    WEEK,
    BudgetRefusal,
    LedgerRow,
    count_in_window,
    count_spent,
    parse_ledger,
    plan_reservation,
    render_row,
)

NOW = datetime(2026, 11, 30, 12, tzinfo=UTC)
WIDE = Settings(reach_requests_per_5h=1000, reach_requests_per_week=1000, monthly_reach_ceiling=1000)


def begun(ago: timedelta, reach_id: str = "", verdict: str = INITIATED, requests: int = 0) -> LedgerRow:
    return LedgerRow(at=NOW - ago, kind="internal", verdict=verdict, id=reach_id, requests=requests)


def limits(five: int = 1000, week: int = 1000, month: int = 1000, each: int = 1) -> Settings:
    return Settings(
        reach_requests_per_5h=five, reach_requests_per_week=week, monthly_reach_ceiling=month, requests_per_reach=each
    )


def refusal(rows: list[LedgerRow], settings: Settings, now: datetime = NOW) -> BudgetRefusal:
    planned = plan_reservation(rows, settings, now, UTC)
    assert isinstance(planned, BudgetRefusal)
    return planned


@pytest.mark.parametrize(
    ("settings", "ago", "window"),
    [
        (limits(five=2), timedelta(hours=4), "5 hours"),
        (limits(week=2), timedelta(days=6), "7 days"),
        (limits(month=2), timedelta(days=20), "this month"),
    ],
)
def test_each_window_refuses_alone(settings: Settings, ago: timedelta, window: str) -> None:
    rows = [begun(ago, "a"), begun(ago, "b")]
    assert window in refusal(rows, settings).reason
    assert isinstance(plan_reservation(rows[:1], settings, NOW, UTC), LedgerRow)
    assert isinstance(plan_reservation(rows, WIDE, NOW, UTC), LedgerRow)


def test_the_window_ends_where_it_says() -> None:
    row = [begun(FIVE_HOURS, "a")]
    assert count_in_window(row, NOW, FIVE_HOURS) == 1
    assert count_in_window(row, NOW + timedelta(microseconds=1), FIVE_HOURS) == 0
    assert count_in_window(row, NOW + timedelta(days=3), WEEK) == 1


@pytest.mark.parametrize("day", [(3, 29), (10, 25)])
@pytest.mark.parametrize(("ago_h", "spent_now"), [(4.5, 1), (5.5, 0)])
def test_a_window_is_as_long_where_the_clocks_change(day: tuple[int, int], ago_h: float, spent_now: int) -> None:
    zone = ZoneInfo("Europe/Berlin")
    now = datetime(2026, *day, 5, 30, tzinfo=zone)
    then = now.astimezone(UTC) - timedelta(hours=ago_h)
    for at in (then, then.astimezone(zone), then.astimezone(timezone(timedelta(hours=9)))):
        row = LedgerRow(at=at, kind="internal", verdict=INITIATED, id="a", requests=1)
        assert count_in_window([row], now, FIVE_HOURS) == spent_now
        assert count_spent([row], WIDE, now, zone).in_5h == spent_now
        if spent_now:
            again_at = refusal([row], limits(five=1), now).again_at
            assert again_at is not None
            assert again_at.astimezone(UTC) - then == FIVE_HOURS


def test_a_count_that_is_too_large_to_be_one_closes_the_budget() -> None:
    for count in ("9" * 20, "0" * 30 + "99", "+99", "98.5"):
        (row,), _ = parse_ledger(f"{NOW.isoformat()}\tinternal\texcess\ta\t{count}\n")
        assert row.requests >= 99
    (row,), _ = parse_ledger(f"{NOW.isoformat()}\tinternal\texcess\ta\t{'0' * 30}2\n")
    assert row.requests == 2


def test_requests_per_reach_multiplies_what_is_spent_and_what_is_asked() -> None:
    rows = [begun(timedelta(hours=1), "a")]
    assert isinstance(plan_reservation(rows, limits(five=6, each=3), NOW, UTC), LedgerRow)
    assert refusal(rows, limits(five=5, each=3)).reason.startswith("3 of 5 requests of the last 5 hours")
    assert refusal([], limits(five=2, each=3)).again_at is None  # it never fits


def test_lowering_the_price_later_does_not_make_the_past_cheaper() -> None:
    assert count_in_window([begun(timedelta(0), "a", requests=4)], NOW, WEEK, requests_per_reach=1) == 4
    assert count_in_window([begun(timedelta(0), "a", requests=1)], NOW, WEEK, requests_per_reach=4) == 4


def test_when_it_fits_again() -> None:
    rows = [begun(timedelta(hours=4), "a"), begun(timedelta(hours=1), "b")]
    assert refusal(rows, limits(five=2)).again_at == NOW + timedelta(hours=1)
    assert refusal(rows, limits(five=1)).again_at == NOW + timedelta(hours=4)
    assert refusal(rows, limits(month=2)).again_at == datetime(2026, 12, 1, tzinfo=UTC)


def test_a_reach_counts_once_and_only_unsent_gives_it_back() -> None:
    start = begun(timedelta(hours=1), "a")
    for verdict in ("homes", "failed", "aborted", "unparsed", "refused", "whatever"):
        assert count_in_window([start, begun(timedelta(0), "a", verdict)], NOW, WEEK) == 1
    assert count_in_window([start, start], NOW, WEEK) == 1
    assert count_in_window([start, begun(timedelta(0), "a", "unsent")], NOW, WEEK) == 0
    assert count_in_window([begun(timedelta(0), "a", "homes")], NOW, WEEK) == 1  # its beginning was lost


def test_unsent_takes_back_nothing_that_it_does_not_belong_to() -> None:
    start, back = begun(timedelta(hours=1), "a"), begun(timedelta(0), "a", "unsent")
    assert count_in_window([back, start], NOW, WEEK) == 1  # written before the reach began
    assert count_in_window([start, begun(timedelta(0), "a", "homes"), back], NOW, WEEK) == 1
    assert count_in_window([start, begun(timedelta(minutes=5), "a"), back], NOW, WEEK) == 2
    assert count_in_window([begun(timedelta(0), ""), begun(timedelta(0), "", "unsent")], NOW, WEEK) == 2
    assert count_in_window([start, back, begun(timedelta(0), "a", EXCESS, 3)], NOW, WEEK) == 3


def test_lines_without_an_id_each_count() -> None:
    text = "2026-11-30T11:00:00+00:00\tinternal\tinitiated\n" * 3
    assert count_in_window(parse_ledger(text)[0], NOW, FIVE_HOURS) == 3


@pytest.mark.parametrize("count", ["0", "-5", "nan", "inf", "-1e9", "1.5", "٣", "x", "", "9" * 400])
def test_no_number_in_a_row_adds_to_the_budget(count: str) -> None:
    for verdict in ("initiated", "excess"):
        rows, _ = parse_ledger(f"2026-11-30T11:00:00+00:00\tinternal\t{verdict}\ta\t{count}\n")
        assert count_in_window(rows, NOW, WEEK, requests_per_reach=2) >= (2 if verdict == "initiated" else 1)


@pytest.mark.parametrize(
    "line",
    [
        "x", "\0\0\0", "2026-11-30T11", "2026-11-30T11:00:00", "2026-11-30T11:00:00\tinternal\tinitiated\ta", "\t\t\t",
        "NaN\tinternal\tunsent\ta", "0001-01-01T00:00:00+14:00\tinternal\tinitiated\ta", "\ufffd\ufffd",
        "2026-11-30T11:00:00+00:00\tinternal", "2026-11-30T11:00:00+00:00\t\tunsent\ta",
    ],
)  # fmt: skip
def test_what_is_no_row_counts_as_a_reach_and_is_reported(line: str) -> None:
    if not line.strip():
        line = f"?{line}"
    rows, problems = parse_ledger(line)
    assert [problem.line for problem in problems] == [1]
    assert [row.kind for row in rows] == [UNREADABLE]
    assert count_in_window(rows, NOW, FIVE_HOURS) == 1


def test_an_unreadable_line_is_as_old_as_the_next_one_that_has_a_time() -> None:
    old = render_row(begun(timedelta(days=60), "a"))
    rows, _ = parse_ledger(f"??\nx\n{old}\r\n\n!!\n")
    assert [row.at for row in rows] == [NOW - timedelta(days=60)] * 3 + [None]
    assert count_spent(rows, WIDE, NOW, UTC).in_month == 1
    noted = render_row(begun(timedelta(days=40), "", NOTED))
    assert count_spent(parse_ledger(f"!!\n{noted}")[0], WIDE, NOW, UTC).in_month == 0


def test_rows_of_the_future_are_in_every_window() -> None:
    rows = [begun(-timedelta(days=400), "a")]
    counted = count_spent(rows, WIDE, NOW, UTC)
    assert (counted.in_5h, counted.in_week, counted.in_month) == (1, 1, 1)
    assert refusal(rows, limits(five=1)).reason
    last = [LedgerRow(at=datetime.max.replace(tzinfo=UTC), kind="internal", verdict=INITIATED, id="a")]
    assert refusal(last, limits(five=1)).again_at is None


def test_the_month_is_the_local_one() -> None:
    zone = ZoneInfo("Europe/Berlin")
    row = LedgerRow(at=datetime(2026, 10, 31, 22, 59, tzinfo=UTC), kind="internal", verdict=INITIATED, id="a")
    first = datetime(2026, 10, 31, 23, 1, tzinfo=UTC)  # 00:01 of 1 November
    assert count_spent([row], WIDE, first - timedelta(minutes=2), zone).in_month == 1
    assert count_spent([row], WIDE, first, zone).in_month == 0
    assert count_spent([row], WIDE, first, UTC).in_month == 1


def test_another_zone_gives_no_second_month() -> None:
    east, west = ZoneInfo("Asia/Tokyo"), ZoneInfo("America/New_York")
    now = datetime(2026, 11, 30, 20, tzinfo=UTC)  # December in Tokyo
    planned = plan_reservation([], WIDE, now, east, reach_id="a")
    assert isinstance(planned, LedgerRow)
    (row,), _ = parse_ledger(render_row(planned))
    later = datetime(2026, 12, 1, 6, tzinfo=UTC)
    assert count_spent([row], WIDE, later, west).in_month == 1
    assert count_spent([row], WIDE, later, east).in_month == 1


def test_render_and_parse_are_inverse() -> None:
    hostile = "a\tb\nc\r\\t\u2028\x85\0\ud800 é"
    rows = (
        LedgerRow(at=NOW, kind="internal", verdict="homes", id=hostile, requests=3),
        LedgerRow(
            at=NOW.astimezone(timezone(timedelta(hours=-9, minutes=-30))), kind="external", verdict=INITIATED, id=""
        ),
    )
    text = "".join(map(render_row, rows))
    assert parse_ledger(text) == (rows, ())
    assert text.count("\n") == len(rows)
    assert text.isprintable() or "\t" in text
