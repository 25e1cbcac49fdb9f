"""What is remembered of the daemon's runs, and what counts."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import UTC, date, datetime, timedelta

import pytest

from aria_dream.notes.episode import EpisodeRecord
from aria_dream.schedule.run_record import (
    BROKEN_OFF_MAX,
    PastRun,
    RunEnd,
    RunLog,
    as_runs,
    ended_record,
    failures_in_a_row,
    parse_run_log,
    since_record,
    started_record,
)
from aria_dream.schedule.scheduler_state import StartedRun

AT = datetime(2026, 11, 30, 3, 12, tzinfo=UTC)
NIGHT = date(2026, 11, 30)
RUN = PastRun(id="a", at=AT, occasion="on_nightly", stages=("dream",), night=NIGHT, seed="0123456789abcdef")


def ended(run: PastRun, end: RunEnd, episode: str = "") -> PastRun:
    return replace(run, end=end, ended_at=AT + timedelta(minutes=1), reason="so", episode=episode, pairs=2)


def lines(*records: object) -> str:
    return "".join(json.dumps(record) + "\n" for record in records)


@pytest.mark.parametrize("run", [RUN, replace(RUN, night=None, seed="", stages=())])
@pytest.mark.parametrize("end", RunEnd)
def test_records_are_read_back(run: PastRun, end: RunEnd) -> None:
    done = ended(run, end, "20261130-031207-4711")
    text = lines(since_record(AT), started_record(run), ended_record(done))
    assert parse_run_log(text) == RunLog(runs=(done,), since=AT)
    assert parse_run_log(lines(started_record(run))).unended == (run,)


def test_torn_strange_and_doubled_lines_are_passed_over() -> None:
    text = lines(
        {"type": "dream", "id": "x"}, {"type": "run", "event": "started"}, started_record(RUN), started_record(RUN),
        {"type": "run", "event": "ended", "id": "nobody"}, {**ended_record(ended(RUN, RunEnd.DONE)), "end": "odd"},
        {"type": "since", "at": "2026-11-30T03:12:00"}, [1], {**ended_record(ended(RUN, RunEnd.DONE)), "mood": "calm"},
        ended_record(ended(RUN, RunEnd.FAILED)),
    )  # fmt: skip
    assert parse_run_log(text.replace("\n", "\r\n\r\n") + '{"type": "run"').runs == (ended(RUN, RunEnd.DONE),)


@pytest.mark.parametrize(
    ("end", "dreamt", "night"),
    [
        (RunEnd.DONE, True, NIGHT),
        (RunEnd.FAILED, False, NIGHT),
        (RunEnd.INTERRUPTED, False, None),
        (RunEnd.REFUSED, False, None),
        (RunEnd.BROKEN_OFF, False, None),
    ],
)
def test_what_counts(end: RunEnd, dreamt: bool, night: date | None) -> None:
    runs = as_runs(RunLog(runs=(ended(RUN, end),)), (), {"a": 7.0})
    assert runs == (StartedRun(at=AT, dreamt=dreamt, night=night, monotonic_s=7.0),)


def test_a_night_that_always_kills_is_let_go() -> None:
    torn = [ended(replace(RUN, id=str(number)), RunEnd.BROKEN_OFF) for number in range(BROKEN_OFF_MAX)]
    assert {run.night for run in as_runs(RunLog(runs=tuple(torn[1:])), (), {})} == {None}
    assert {run.night for run in as_runs(RunLog(runs=tuple(torn)), (), {})} == {NIGHT}


EPISODE = EpisodeRecord(id="e", at=AT, kind="dream", seed=1, start="A.md", rule="", cold=True, vault_hash="")


def test_a_dream_counts_once_and_a_persons_rests_only() -> None:
    ours = ended(RUN, RunEnd.DONE, "e")
    theirs = replace(EPISODE, id="f", at=AT + timedelta(hours=1))
    runs = as_runs(RunLog(runs=(ours,)), (EPISODE, theirs), {})
    assert [(run.at, run.dreamt) for run in runs] == [(AT, True), (theirs.at, False)]


@pytest.mark.parametrize("end", [RunEnd.BROKEN_OFF, RunEnd.INTERRUPTED, None])
def test_a_dream_that_was_written_before_its_run_was_torn_away_counts_once(end: RunEnd | None) -> None:
    run = replace(RUN, end=end, ended_at=AT + timedelta(hours=2) if end else None)
    written = replace(EPISODE, at=AT + timedelta(minutes=1))
    theirs = replace(EPISODE, id="f", at=AT + timedelta(hours=1))
    runs = as_runs(RunLog(runs=(run,)), (written, theirs), {})
    assert [one.dreamt for one in runs] == [True, False]


def test_seeds_are_tried_once_they_came_to_an_end() -> None:
    for end in RunEnd:
        tried = RunLog(runs=(ended(RUN, end),)).tried_seeds()
        assert bool(tried) == (end in (RunEnd.DONE, RunEnd.FAILED))


def test_failures_in_a_row() -> None:
    ends = [RunEnd.FAILED, RunEnd.DONE, RunEnd.FAILED, RunEnd.INTERRUPTED, RunEnd.FAILED, RunEnd.REFUSED]
    log = RunLog(runs=tuple(ended(replace(RUN, id=str(number)), end) for number, end in enumerate(ends)))
    assert failures_in_a_row(log) == 2
    assert failures_in_a_row(RunLog()) == 0
