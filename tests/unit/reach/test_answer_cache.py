"""No pair is paid for twice."""

from __future__ import annotations

from datetime import UTC, date, datetime, time, timedelta
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aria_dream.notes.dream_note_grammar import LoggedLink, logged_link
from aria_dream.ranking.juxtaposition import Juxtaposition, Survivor, pair_key
from aria_dream.reach.answer_cache import (
    CachedAnswer,
    answers_of_blocks,
    cached_answer,
    find_answer,
    parse_answer_cache,
    render_cached_answer,
)
from aria_dream.reach.reach import Answer, Unparsed
from aria_dream.reach.reach_block import NoAnswer, ReachBlock, ReachedPair, ReachedSeed

NOW = datetime(2026, 11, 30, 12, tzinfo=UTC)
HOMES = Answer(verdict="homes", argument=(), sources=(), edge="")
NEITHER = Answer(verdict="neither", argument=(), sources=(), edge="")


def row(verdict: str, ago_days: float, pair: tuple[str, str] = ("a.md", "b.md")) -> CachedAnswer:
    return CachedAnswer(at=NOW - timedelta(days=ago_days), pair=pair, verdict=verdict)  # type: ignore[arg-type] # literals


def survivor(first: str, second: str) -> Survivor:
    found = Juxtaposition(from_=first, to=second, score=0.5, path=None)
    return Survivor(juxtaposition=found, probability=None, reason="r", judge="j")


@pytest.mark.parametrize(
    ("verdict", "ago_days", "held"),
    [("homes", 9999, True), ("orphan", 9999, True), ("neither", 29.9, True), ("neither", 30, False),
     ("neither", -400, True)],
)  # fmt: skip
def test_how_long_an_answer_holds(verdict: str, ago_days: float, *, held: bool) -> None:
    rows = [row(verdict, ago_days)]
    for pair in (("a.md", "b.md"), ("b.md", "a.md")):
        assert (find_answer(rows, pair, NOW, neither_cooldown_days=30) is not None) is held
    assert find_answer(rows, ("a.md", "c.md"), NOW, neither_cooldown_days=30) is None
    assert verdict != "neither" or find_answer(rows, ("a.md", "b.md"), NOW, neither_cooldown_days=0) is None or held


def test_a_later_neither_does_not_reopen_a_home() -> None:
    rows = [row("homes", 300), row("neither", 40)]
    found = find_answer(rows, ("a.md", "b.md"), NOW, neither_cooldown_days=30)
    assert found is not None
    assert found.verdict == "homes"


def test_only_answers_about_pairs_are_remembered() -> None:
    assert cached_answer("external", ("a", "b"), HOMES, NOW) is None
    assert cached_answer("internal", ("b", "a"), Unparsed("x"), NOW) is None
    assert cached_answer("internal", ("b", "a"), NoAnswer(reason="r", sent=True), NOW) is None
    assert cached_answer("internal", ("b", "a"), HOMES, NOW) == CachedAnswer(at=NOW, pair=("a", "b"), verdict="homes")


def test_a_damaged_memo_loses_only_the_damage() -> None:
    whole = render_cached_answer(row("homes", 1))
    text = f"\ufeff{whole.strip()}\r\n{whole}\n??\n2026-11-30\ta\tb\thomes\n{whole.strip()}\tmore\n{whole[:20]}"
    rows, problems = parse_answer_cache(text)
    assert rows == (row("homes", 1),)
    assert [problem.line for problem in problems] == [4, 5]
    assert parse_answer_cache(whole.replace("homes", "unparsed"))[0] == ()


paths = st.text(min_size=1)


@given(st.builds(CachedAnswer, at=st.datetimes(datetime(1990, 1, 1), datetime(2200, 1, 1), timezones=st.just(UTC)),  # noqa: DTZ001 - bounds are naive
                 pair=st.tuples(paths, paths).map(lambda pair: pair_key(*pair)),
                 verdict=st.sampled_from(["homes", "orphan", "neither"])))  # fmt: skip
def test_render_and_parse_are_inverse(found: CachedAnswer) -> None:
    text = render_cached_answer(found)
    assert text.count("\n") == 1
    assert parse_answer_cache(text) == ((found,), ())


def test_it_is_rebuilt_from_the_dream_notes() -> None:
    def link(path: str) -> LoggedLink:
        return logged_link(path, lambda path: path.removesuffix(".md"))

    def block(hour: int, subject: ReachedPair | ReachedSeed, outcome: Answer | Unparsed | NoAnswer) -> ReachBlock:
        return ReachBlock(at=time(hour), subject=subject, origin="", outcome=outcome, budget=None)

    pair = ReachedPair(from_=link("B.md"), to=link("A.md"), path=None, reason="r", judge="j")
    gone = ReachedPair(from_=link("B.md"), to=link("Gone.md"), path=None, reason="r", judge="j")
    day = date(2026, 7, 1)
    zone = ZoneInfo("Europe/Berlin")
    blocks = [
        (day, block(9, pair, NEITHER)), (day, block(8, pair, HOMES)), (day, block(7, pair, Unparsed("x"))),
        (day, block(6, gone, HOMES)), (day, block(5, ReachedSeed("x"), HOMES)),
    ]  # fmt: skip
    rows = answers_of_blocks(blocks, zone, lambda link: {"A": "A.md", "B": "B.md"}.get(link.target))
    assert [(row.at.isoformat(), row.pair, row.verdict) for row in rows] == [
        ("2026-07-01T08:00:00+02:00", ("A.md", "B.md"), "homes"),
        ("2026-07-01T09:00:00+02:00", ("A.md", "B.md"), "neither"),
    ]
    assert parse_answer_cache("".join(map(render_cached_answer, rows)))[0] == rows
