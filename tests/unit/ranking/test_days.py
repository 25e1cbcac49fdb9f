"""Days that a text names, in the spellings of several languages."""

from __future__ import annotations

import pytest

from aria_dream.ranking.days import days_in, is_dated


@pytest.mark.parametrize(
    ("text", "days"),
    [
        ("2026-03-09", {(3, 9)}),
        ("20260309 log, 2026/3/10, 2026.03.11 and 2026_03_12", {(3, 9), (3, 10), (3, 11), (3, 12)}),
        ("9 March, the 10th of April and May 3rd, 2026", {(3, 9), (4, 10), (5, 3)}),
        ("am 3. Juli, le 15 mai, el 4 de agosto, 2 giugno, 1 stycznia", {(7, 3), (5, 15), (8, 4), (6, 2), (1, 1)}),
        ("2026年3月9日と10月1日", {(3, 9), (10, 1)}),
        ("between 9 March and 9 march", {(3, 9)}),
        ("2026-03-10 12026-03-09 2026-13-40 2026-02-00", {(3, 10)}),
        ("version 1.2.3, 22 000 signs, page 40, march on, may be 3 of 5, 12 marches", set()),
    ],
)
def test_days_in(text: str, days: set[tuple[int, int]]) -> None:
    assert days_in(text) == days


@pytest.mark.parametrize(
    ("title", "dated"),
    [
        ("2026-03-09", True),
        ("Meeting 2026-03-09", True),
        ("20260309", True),
        ("2026-W10", True),
        ("Montag, 9. März 2026", True),
        ("March 9, 2026", True),
        ("2026年3月9日", True),
        ("9 March", False),
        ("The May 3 riots", False),
        ("Nineteen Eighty-Four", False),
        ("Apollo 11", False),
        ("", False),
    ],
)
def test_is_dated(title: str, dated: bool) -> None:
    assert is_dated(title) is dated


def test_hostile_text_takes_no_time() -> None:
    for piece in ("1 ", "2026-", "9 march ", "de ", "年"):
        assert isinstance(days_in(piece * 20_000), frozenset)
