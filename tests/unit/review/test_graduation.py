"""The bars of graduation, their bounds, and what may pass without a tick."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aria_dream.policy.policy import Policy
from aria_dream.review.graduation import NEVER, Bars, Record, bars_of, track_records, unattended, wilson
from aria_dream.review.journal import fold
from aria_dream.review.proposal import (
    KINDS,
    KNEW_IT,
    WRITER,
    Event,
    Kind,
    Proposal,
    ProposalState,
    event_record,
    proposal_id,
    proposed_record,
)

AT = datetime(2026, 11, 1, 3, tzinfo=UTC)
BARS = bars_of(Policy().settings)


def journal(
    *fates: tuple[Event, ...], kind: Kind = "link", confidence: float = 0.9, by: str = "tick"
) -> dict[str, ProposalState]:
    """One proposal a night, with what became of it."""
    records: list[dict[str, object]] = []
    for number, fate in enumerate(fates):
        paths, at = (f"a{number}.md", f"b{number}.md"), AT + timedelta(days=number)
        id_ = proposal_id(kind, paths, 0)
        made = Proposal(
            id=id_, kind=kind, paths=paths, round=0, at=at, expires_at=None, titles=(), confidence=confidence
        )
        records.append(proposed_record(made))
        records.extend(event_record(event, id_, at, by=by if event != "applied" else "") for event in fate)
    states, problems = fold(list(enumerate(records, start=1)))
    assert not problems
    return states


def record(states: dict[str, ProposalState], kind: Kind = "link", bars: Bars = BARS) -> Record:
    (found,) = (one for one in track_records(states.values(), bars=bars, zone=UTC) if one.kind == kind)
    return found


LINKED: tuple[Event, ...] = ("approved", "applied")
REFUSED: tuple[Event, ...] = ("rejected",)
UNDONE: tuple[Event, ...] = ("approved", "applied", "rolled_back")


def test_the_bars_are_those_of_the_design() -> None:
    assert Bars(
        min_cycles=10, max_false_prune=0.02, min_acceptance=0.9, confidence_floor=0.85, min_proposals=1, min_passages=50
    ) == BARS


def test_what_the_writer_knew_counts_neither_for_nor_against() -> None:
    known = {
        id_: replace(state, reason=KNEW_IT) if state.state == "rejected" else state
        for id_, state in journal(*[LINKED] * 10, *[REFUSED] * 5).items()
    }
    assert record(known).acceptance == 1.0
    assert record(journal(*[LINKED] * 10, *[REFUSED] * 5)).acceptance == pytest.approx(10 / 15)


def test_ten_good_nights_are_eligible() -> None:
    found = record(journal(*[LINKED] * 10))
    assert found.is_eligible
    assert (found.acceptance, found.false_prune, found.cycles) == (1.0, 0.0, 10)


@pytest.mark.parametrize(
    ("what", "fates", "said"),
    [
        ("nine nights", [LINKED] * 9, "9 of 10"),
        ("eight accepted of ten", [LINKED] * 8 + [REFUSED] * 2, "accepted 80%"),
        ("one of fifty taken back", [LINKED] * 49 + [UNDONE], "2.0%"),
        ("nothing applied", [("approved",)] * 10, "nothing was applied"),
        ("nothing decided", [()] * 10, "nothing was decided"),
    ],
)
def test_what_is_missing_is_said(what: str, fates: list[tuple[Event, ...]], said: str) -> None:
    found = record(journal(*fates))
    assert not found.is_eligible, what
    assert any(said in sentence for sentence in found.missing), found.missing


def test_the_bars_themselves_count_as_met_or_not_as_the_design_says() -> None:
    assert record(journal(*[LINKED] * 9, REFUSED)).is_eligible  # acceptance of exactly 90 %
    assert record(journal(*[LINKED] * 50, UNDONE)).is_eligible  # 1 of 51 is below 2 %


def test_taking_back_counts_whatever_came_later() -> None:
    found = record(journal(*[LINKED] * 10, (*UNDONE, "reopened")))
    assert (found.applied, found.rolled_back) == (11, 1)


def test_what_passed_by_itself_is_no_acceptance() -> None:
    found = record(journal(*[LINKED] * 10, by="auto"))
    assert (found.approved, found.acceptance, found.applied) == (0, None, 10)


def test_a_night_counts_once_by_the_writers_clock() -> None:
    zone = ZoneInfo("Pacific/Auckland")
    # 11:30 and 23:30 UTC of one day are two local dates there; three proposals of one local night are one cycle.
    made = journal(*[LINKED] * 3)
    at = [datetime(2026, 11, 1, hour, 30, tzinfo=UTC) for hour in (9, 10, 23)]
    states = [
        replace(state, proposal=replace(state.proposal, at=moment))
        for state, moment in zip(made.values(), at, strict=True)
    ]
    (here,) = (one for one in track_records(states, bars=BARS, zone=UTC) if one.kind == "link")
    (there,) = (one for one in track_records(states, bars=BARS, zone=zone) if one.kind == "link")
    assert (here.cycles, there.cycles) == (1, 2)


@pytest.mark.parametrize("fate", [(), ("expired",), ("superseded",), ("stale",), ("rejected", "reopened")])
def test_what_nobody_decided_counts_for_no_night(fate: tuple[Event, ...]) -> None:
    assert record(journal(*[fate] * 3)).cycles == 0
    assert record(journal(*[fate] * 3, REFUSED, LINKED, UNDONE)).cycles == 3


def test_what_passed_by_itself_counts_for_no_night() -> None:
    assert record(journal(*[LINKED] * 10, by="auto")).cycles == 0


def test_nights_that_brought_nothing_are_none() -> None:
    """However much was read: passages count beside something that was decided, and only those that were new."""
    nights = {f"night-{number}": (AT.date() + timedelta(days=number), 5_000) for number in range(10)}
    assert [one.cycles for one in track_records((), bars=BARS, zone=UTC, nights=nights)] == [0] * len(KINDS)
    strict = replace(BARS, min_proposals=2)
    states = [
        replace(one, proposal=replace(one.proposal, episode=f"night-{number}"))
        for number, one in enumerate(journal(LINKED, LINKED, kind="merge").values())
    ]
    for new, cycles in ((50, 2), (49, 0)):
        read = {name: (day, new) for name, (day, _) in nights.items()}
        (merges,) = (one for one in track_records(states, bars=strict, zone=UTC, nights=read) if one.kind == "merge")
        assert merges.cycles == cycles


def test_a_run_that_goes_on_after_midnight_is_one_night() -> None:
    states = [
        replace(one, proposal=replace(one.proposal, episode="night")) for one in journal(LINKED, LINKED).values()
    ]
    (found,) = (
        one
        for one in track_records(states, bars=BARS, zone=UTC, nights={"night": (AT.date(), 0)})
        if one.kind == "link"
    )
    assert found.cycles == 1


def test_kinds_are_counted_apart() -> None:
    states = journal(*[LINKED] * 10) | journal(*[REFUSED] * 3, kind="merge")
    assert record(states).is_eligible
    assert record(states, "merge").acceptance == 0.0


def test_only_sure_proposals_of_enabled_kinds_pass() -> None:
    good = journal(*[LINKED] * 10)
    sure = {**good, **journal(*[LINKED] * 10, (), confidence=0.85)}
    unsure = {**good, **journal(*[LINKED] * 10, (), confidence=0.849)}
    (passed,) = unattended(sure.values(), {"link"}, bars=BARS, zone=UTC)
    assert passed.state == "proposed"
    assert unattended(unsure.values(), {"link"}, bars=BARS, zone=UTC) == ()
    assert unattended(sure.values(), {"merge"}, bars=BARS, zone=UTC) == ()
    fallen = {**sure, **journal(*[LINKED] * 10, (), *[REFUSED] * 5)}
    assert unattended(fallen.values(), {"link"}, bars=BARS, zone=UTC) == ()


def test_what_janus_doubts_waits_for_a_person() -> None:
    sure = {**journal(*[LINKED] * 10), **journal(*[LINKED] * 10, (), confidence=0.85)}
    for verdict, count in (("STANDS", 1), ("FALLS", 0), ("UNSURE", 0)):
        looked = [replace(state, janus=verdict) for state in sure.values()]
        assert len(unattended(looked, {"link"}, bars=BARS, zone=UTC)) == count


def test_obsolete_never_passes() -> None:
    states = journal(*[LINKED] * 20, (), kind="obsolete", confidence=1.0)
    assert unattended(states.values(), set(KINDS), bars=BARS, zone=UTC) == ()
    assert record(states, "obsolete").missing == ("this kind always waits for you",)
    assert frozenset({"obsolete", "sync_copy"}) == NEVER


def test_what_the_writer_asked_for_earns_nothing_and_never_passes() -> None:
    """A merge of two notes that the writer called the same waits for its tick, whatever the kind has earned."""
    good = journal(*[LINKED] * 20, kind="merge")
    both = journal(*[LINKED] * 20, (), kind="merge", confidence=1.0)
    waiting = next(state for state in both.values() if state.state == "proposed")
    assert unattended(both.values(), {"merge"}, bars=BARS, zone=UTC) == (waiting,)
    asked = replace(waiting, proposal=replace(waiting.proposal, judge=WRITER))
    states = {**both, waiting.proposal.id: asked}
    assert unattended(states.values(), {"merge"}, bars=BARS, zone=UTC) == ()
    by_writer = {id_: replace(one, proposal=replace(one.proposal, judge=WRITER)) for id_, one in good.items()}
    assert (record(good, "merge").approved, record(by_writer, "merge").approved) == (20, 0)


def test_what_was_taken_back_and_opened_again_does_not_pass_by_itself() -> None:
    states = journal(*[LINKED] * 99, (*UNDONE, "reopened"))
    assert record(states).is_eligible
    assert unattended(states.values(), {"link"}, bars=BARS, zone=UTC) == ()


@pytest.mark.parametrize(
    ("hits", "of", "expected"),
    [(0, 0, (0.0, 1.0)), (10, 10, (0.7225, 1.0)), (0, 10, (0.0, 0.2775)), (9, 10, (0.5958, 0.9821))],
)
def test_wilson_as_in_the_tables(hits: int, of: int, expected: tuple[float, float]) -> None:
    assert wilson(hits, of) == pytest.approx(expected, abs=5e-4)


@given(st.integers(0, 400), st.integers(1, 400))
def test_the_bound_holds_the_ratio(hits: int, of: int) -> None:
    hits = min(hits, of)
    low, high = wilson(hits, of)
    assert 0 <= low <= hits / of <= high <= 1
    assert high - low < 1
