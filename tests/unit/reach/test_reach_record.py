"""The steps of a reach in a journal that others write into, that was torn, and that holds anything."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import UTC, date, datetime, time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aria_dream.notes.jsonl import render_record
from aria_dream.reach.reach import Unparsed
from aria_dream.reach.reach_block import NoAnswer, ReachBlock, ReachedSeed, legible
from aria_dream.reach.reach_record import (
    BROKEN_OFF,
    ReachRecord,
    find_unfinished,
    landed_record,
    parse_reaches,
    reach_record,
)

BEGUN = ReachRecord(
    id="a1",
    at=datetime(2026, 11, 30, 14, 32, 7, tzinfo=UTC),
    kind="external",
    block=ReachBlock(at=time(14, 32), subject=ReachedSeed("A claim"), origin="seed", outcome=BROKEN_OFF, budget=None),
    resolution="aborted",
    seed=("A claim", date(2026, 11, 20)),
)


def lines(*records: dict[str, object]) -> str:
    return "".join(map(render_record, records))


@given(raw=st.text(max_size=300), title=st.text(max_size=30))
def test_every_step_reads_back(raw: str, title: str) -> None:
    outcome = Unparsed(legible(raw))
    reach = replace(BEGUN, seed=(title, None), block=replace(BEGUN.block, outcome=outcome), step="answered", raw=raw)
    reach = replace(reach, resolution="unparsed", requests=3)
    text = lines(reach_record(BEGUN), {"type": "dream"}, reach_record(reach))
    try:
        raw.encode(), title.encode()
    except UnicodeError:
        return
    assert parse_reaches(text) == ((reach,), ())
    (landed,) = parse_reaches(text + lines(landed_record(reach)))[0]
    assert landed == replace(reach, step="landed")
    assert find_unfinished((landed, reach)) == (reach,)


def test_an_answer_is_not_forgotten_by_lines_that_come_twice() -> None:
    outcome = NoAnswer(reason="no", sent=True)
    answered = replace(BEGUN, step="answered", block=replace(BEGUN.block, outcome=outcome))
    text = lines(reach_record(BEGUN), reach_record(answered), reach_record(BEGUN), reach_record(answered))
    assert parse_reaches(text) == ((answered,), ())


def test_a_torn_tail_is_no_problem() -> None:
    text = lines(reach_record(BEGUN))
    assert parse_reaches(text + text[:40]) == ((BEGUN,), ())


@pytest.mark.parametrize(
    "change",
    [{"at": "soon"}, {"block": "no block"}, {"kind": "janus"}, {"resolution": "fine"}, {"step": "thought"},
     {"pair": [1]}, {"seed": {"title": "x", "deposited_on": "never"}}, {"id": 7}, {"requests": "many"}],
)  # fmt: skip
def test_a_record_that_is_none_is_left_out_and_told(change: dict[str, object]) -> None:
    text = json.dumps({**reach_record(BEGUN), **change}) + "\n" + lines(landed_record(BEGUN))
    found, problems = parse_reaches(text)
    assert found == ()
    assert len(problems) == 1


@given(st.text())
def test_any_text(text: str) -> None:
    parse_reaches(text)
