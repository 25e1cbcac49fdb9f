"""Whatever stands in a ledger: it never adds to the budget, and our own rows survive beside it."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone

from hypothesis import given
from hypothesis import strategies as st

from aria_dream.policy.settings import Settings
from aria_dream.reach.budget import (
    FIVE_HOURS,
    INITIATED,
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
offsets = st.integers(-14 * 60, 14 * 60).map(lambda minutes: timezone(timedelta(minutes=minutes)))
instants = st.datetimes(datetime(1990, 1, 1), datetime(2200, 1, 1), timezones=offsets)  # noqa: DTZ001 - bounds are naive
words = st.text(min_size=1).filter(lambda word: word == word.strip())
rows = st.builds(
    LedgerRow, at=instants, kind=words.filter(lambda word: word != "unreadable"), verdict=words, id=st.just("") | words,
    requests=st.integers(0, 1_000_000),
)  # fmt: skip
lines = st.text() | st.binary(max_size=60).map(lambda raw: raw.decode("utf-8", "replace")) | rows.map(render_row)


@given(rows)
def test_a_row_reads_back_as_it_was(row: LedgerRow) -> None:
    text = render_row(row)
    assert text.count("\n") == 1
    assert parse_ledger(text) == ((row,), ())


@given(st.lists(lines), st.integers(1, 5), st.integers(0, 20), st.integers(0, 20), st.integers(0, 20))
def test_a_grant_never_passes_a_ceiling(texts: list[str], each: int, five: int, week: int, month: int) -> None:
    found, _ = parse_ledger("\n".join(texts))
    settings = Settings(
        reach_requests_per_5h=five, reach_requests_per_week=week, monthly_reach_ceiling=month, requests_per_reach=each
    )
    planned = plan_reservation(found, settings, NOW, UTC, reach_id="new")
    before = count_spent(found, settings, NOW, UTC)
    assert min(before.in_5h, before.in_week, before.in_month) >= 0
    fits = before.in_5h + each <= five and before.in_week + each <= week and before.in_month + each <= month
    assert isinstance(planned, LedgerRow) is fits
    assert isinstance(planned, BudgetRefusal) is not fits


@given(st.lists(lines), st.integers(1, 5), st.integers(0, 3))
def test_no_line_takes_away_from_what_others_spent(texts: list[str], each: int, hours: int) -> None:
    """The counted reach has an id that none of the lines can know, as a random one has."""
    ours = LedgerRow(
        at=NOW - timedelta(hours=hours), kind="internal", verdict=INITIATED, id="\u2603 ours", requests=each
    )
    for at in range(len(texts) + 1):
        text = "\n".join([*texts[:at], render_row(ours), *texts[at:]])
        found, _ = parse_ledger(text)
        without = count_in_window([row for row in found if row.id != ours.id], NOW, FIVE_HOURS)
        assert count_in_window(found, NOW, FIVE_HOURS) == without + each


@given(st.lists(rows), instants)
def test_the_wider_window_holds_the_narrower_one(found: list[LedgerRow], now: datetime) -> None:
    assert count_in_window(found, now, FIVE_HOURS) <= count_in_window(found, now, WEEK)
