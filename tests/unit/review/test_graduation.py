"""The bars of graduation, their bounds, and what may pass without a tick."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, date, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aria_dream.dream.episode import EpisodeRecord, ShownPair
from aria_dream.dream.walk import Memory
from aria_dream.policy.policy import Policy
from aria_dream.review.graduation import NEVER, Bars, Record, bars_of, track_records, unattended, wilson
from aria_dream.review.journal import fold
from aria_dream.review.proposal import (
    KINDS,
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
    (found,) = (one for one in track_records(states.values(), (), bars=bars, zone=UTC) if one.kind == kind)
    return found


LINKED: tuple[Event, ...] = ("approved", "applied")
REFUSED: tuple[Event, ...] = ("rejected",)
UNDONE: tuple[Event, ...] = ("approved", "applied", "rolled_back")


def test_the_bars_are_those_of_the_design() -> None:
    assert Bars(
        min_cycles=10, max_false_prune=0.02, min_acceptance=0.9, confidence_floor=0.85, min_proposals=1, min_atoms=50
    ) == BARS


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


def episode(at: datetime, pairs: int) -> EpisodeRecord:
    shown = tuple(ShownPair(from_="a.md", to=f"{n}.md", score=0.5, proposal="") for n in range(pairs))
    return EpisodeRecord(
        id=at.isoformat(), at=at, kind="dream", seed=1, start="a.md", rule="", cold=True, vault_hash="", params={},
        memory=Memory(starts=(), shown={}, decided=frozenset()), pairs=shown, judge="",
    )  # fmt: skip


def test_a_night_counts_once_by_the_writers_clock() -> None:
    zone = ZoneInfo("Pacific/Auckland")
    # 11:30 and 23:30 UTC of one day are two local dates there; three dreams of one local night are one cycle.
    dreams = [episode(datetime(2026, 11, 1, hour, 30, tzinfo=UTC), 1) for hour in (9, 10, 23)]
    (here,) = (one for one in track_records((), dreams, bars=BARS, zone=UTC) if one.kind == "link")
    (there,) = (one for one in track_records((), dreams, bars=BARS, zone=zone) if one.kind == "link")
    assert (here.cycles, there.cycles) == (1, 2)
    (empty,) = (one for one in track_records((), [episode(AT, 0)], bars=BARS, zone=UTC) if one.kind == "link")
    assert empty.cycles == 0


def test_a_quiet_night_qualifies_by_what_it_looked_at() -> None:
    scans: dict[Kind, dict[date, int]] = {"merge": {AT.date(): 50, (AT + timedelta(days=1)).date(): 49}}
    found = track_records((), (), bars=BARS, zone=UTC, scans=scans)
    assert {one.kind: one.cycles for one in found if one.cycles} == {"merge": 1}


def test_kinds_are_counted_apart() -> None:
    states = journal(*[LINKED] * 10) | journal(*[REFUSED] * 3, kind="merge")
    assert record(states).is_eligible
    assert record(states, "merge").acceptance == 0.0


def test_only_sure_proposals_of_enabled_kinds_pass() -> None:
    good = journal(*[LINKED] * 10)
    sure = {**good, **journal(*[LINKED] * 10, (), confidence=0.85)}
    unsure = {**good, **journal(*[LINKED] * 10, (), confidence=0.849)}
    (passed,) = unattended(sure.values(), (), {"link"}, bars=BARS, zone=UTC)
    assert passed.state == "proposed"
    assert unattended(unsure.values(), (), {"link"}, bars=BARS, zone=UTC) == ()
    assert unattended(sure.values(), (), {"merge"}, bars=BARS, zone=UTC) == ()
    fallen = {**sure, **journal(*[LINKED] * 10, (), *[REFUSED] * 5)}
    assert unattended(fallen.values(), (), {"link"}, bars=BARS, zone=UTC) == ()


def test_what_janus_doubts_waits_for_a_person() -> None:
    sure = {**journal(*[LINKED] * 10), **journal(*[LINKED] * 10, (), confidence=0.85)}
    for verdict, count in (("STANDS", 1), ("FALLS", 0), ("UNSURE", 0)):
        looked = [replace(state, janus=verdict) for state in sure.values()]
        assert len(unattended(looked, (), {"link"}, bars=BARS, zone=UTC)) == count


def test_obsolete_never_passes() -> None:
    states = journal(*[LINKED] * 20, (), kind="obsolete", confidence=1.0)
    assert unattended(states.values(), (), set(KINDS), bars=BARS, zone=UTC) == ()
    assert record(states, "obsolete").missing == ("this kind always waits for you",)
    assert frozenset({"obsolete", "sync_copy"}) == NEVER


def test_what_the_writer_asked_for_earns_nothing_and_never_passes() -> None:
    """A merge of two notes that the writer called the same waits for its tick, whatever the kind has earned."""
    good = journal(*[LINKED] * 20, kind="merge")
    both = journal(*[LINKED] * 20, (), kind="merge", confidence=1.0)
    waiting = next(state for state in both.values() if state.state == "proposed")
    assert unattended(both.values(), (), {"merge"}, bars=BARS, zone=UTC) == (waiting,)
    asked = replace(waiting, proposal=replace(waiting.proposal, judge=WRITER))
    states = {**both, waiting.proposal.id: asked}
    assert unattended(states.values(), (), {"merge"}, bars=BARS, zone=UTC) == ()
    by_writer = {id_: replace(one, proposal=replace(one.proposal, judge=WRITER)) for id_, one in good.items()}
    assert (record(good, "merge").approved, record(by_writer, "merge").approved) == (20, 0)


def test_what_was_taken_back_and_opened_again_does_not_pass_by_itself() -> None:
    states = journal(*[LINKED] * 99, (*UNDONE, "reopened"))
    assert record(states).is_eligible
    assert unattended(states.values(), (), {"link"}, bars=BARS, zone=UTC) == ()


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
