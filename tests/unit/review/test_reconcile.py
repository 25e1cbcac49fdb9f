"""Journals of two machines that share nothing but the notes: what a line says is taken over, once, and never fought."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta

import pytest

from aria_dream.review.journal import fold
from aria_dream.review.lines import renew_log
from aria_dream.review.proposal import Event, ProposalState, State, event_record
from aria_dream.review.reconcile import LogNote, missing_records
from tests.reviewed import COMPOST, NOTES, block, id_of

DAY = date(2026, 11, 30)
AT = datetime(2026, 11, 30, 3, 12, tzinfo=UTC)
ID = id_of(COMPOST)
WINDOW = timedelta(hours=48)


def resolve(target: str, _note: str) -> str | None:
    return f"{target}.md" if f"{target}.md" in NOTES else None


class Machine:
    """One journal."""

    def __init__(self) -> None:
        self.records: list[dict[str, object]] = []

    @property
    def state(self) -> ProposalState:
        states, problems = fold(list(enumerate(self.records, start=1)))
        assert not problems
        return states[ID]

    def reads(self, text: str, now: datetime = AT + timedelta(days=1)) -> int:
        """How many records the notes gave."""
        states, _ = fold(list(enumerate(self.records, start=1)))
        found = missing_records(
            [LogNote(path="dreams/a.md", day=DAY, text=text)], states,
            resolve=resolve, hash_of=lambda _path: "", now=now, expiry_days=60,
        )  # fmt: skip
        self.records += found
        return len(found)

    def does(self, *events: Event, at: datetime) -> None:
        self.records += [event_record(event, ID, at, by="tick", reason="so") for event in events]

    def renews(self, text: str, now: datetime) -> str:
        return renew_log(text, {ID: self.state}, now=now, window=WINDOW)


def morning(minutes: int) -> datetime:
    return datetime(2026, 11, 30, 7, 0, 30, tzinfo=UTC) + timedelta(minutes=minutes)


@pytest.mark.parametrize(
    ("here", "there", "expected"),
    [
        ((), ("approved", "applied"), "applied"),
        ((), ("rejected",), "rejected"),
        ((), ("approved", "applied", "rolled_back"), "rolled_back"),
        ((), ("expired",), "expired"),
        (("superseded",), ("approved", "applied"), "applied"),
        (("expired",), ("rejected",), "rejected"),
        (("approved", "stale"), ("approved", "applied"), "applied"),
        (("approved", "applied"), ("approved", "applied", "rolled_back"), "rolled_back"),
    ],
)
@pytest.mark.parametrize("first", ["here", "there"])
def test_two_journals_come_to_agree_and_rest(
    here: tuple[Event, ...], there: tuple[Event, ...], expected: State, first: str
) -> None:
    one, other = Machine(), Machine()
    text = block([COMPOST])
    assert one.reads(text) == other.reads(text) == 1
    times = (morning(0), morning(5)) if first == "here" or "rolled_back" in there else (morning(5), morning(0))
    one.does(*here, at=times[0])
    other.does(*there, at=times[1])
    now = morning(30)
    text = other.renews(text, now)
    for _ in range(3):
        for machine in (one, other):
            machine.reads(text)
            text = machine.renews(text, now)
    assert one.state.state == other.state.state == expected
    assert one.reads(text) == other.reads(text) == 0
    assert one.renews(text, now) == other.renews(text, now) == text


def test_a_new_machine_knows_when_it_was_decided() -> None:
    old, new = Machine(), Machine()
    text = block([COMPOST])
    old.reads(text)
    old.does("approved", "applied", at=morning(41))
    text = old.renews(text, morning(42))
    new.reads(text)
    assert new.state.since == morning(41).replace(second=0)
    assert new.renews(text, morning(42)) == text
    assert "(until 2 Dec 07:41)" in new.renews(text, morning(41) + WINDOW - timedelta(minutes=2))
    assert "undo" not in new.renews(text, morning(41) + WINDOW)


def test_what_was_opened_again_here_is_not_refused_by_its_old_line() -> None:
    machine = Machine()
    text = block([COMPOST])
    machine.reads(text)
    machine.does("rejected", at=morning(0))
    line = machine.renews(text, morning(1))
    machine.does("reopened", at=morning(2))
    assert machine.reads(line) == 0  # a crash came before the line was renewed
    assert machine.renews(line, morning(3)) == text


@pytest.mark.parametrize(
    ("events", "expected"), [(("rejected",), "rejected"), (("approved", "applied"), "applied")]
)
def test_an_undo_that_was_ticked_before_this_machine_looked_is_kept(
    events: tuple[Event, ...], expected: State
) -> None:
    machine, other = Machine(), Machine()
    text = block([COMPOST])
    machine.reads(text)
    other.reads(text)
    other.does(*events, at=morning(0))
    line = other.renews(text, morning(1)).replace("[ ] undo", "[x] undo")
    machine.reads(line)
    assert machine.state.state == expected
    assert machine.renews(line, morning(2)) == line
    machine.does("reopened" if expected == "rejected" else "rolled_back", at=morning(3))
    assert machine.reads(line) == 0  # undone here, and a crash came before the line was renewed


@pytest.mark.parametrize("minutes", [-1440, -190, -10])
def test_a_block_that_lies_later_than_now_is_of_now(minutes: int) -> None:
    """The clock was set back since, or the other machine's is ahead: what is done by our clock still counts."""
    now = AT + timedelta(minutes=minutes)
    one, other = Machine(), Machine()
    text = block([COMPOST])
    assert one.reads(text, now) == 1
    one.does("approved", "applied", at=now)
    text = one.renews(text, now)
    other.reads(text, now)
    assert all(datetime.fromisoformat(str(record["at"])) <= now for record in other.records)
    one.does("rolled_back", at=now + timedelta(minutes=1))
    text = one.renews(text, now + timedelta(minutes=1))
    other.reads(text, now + timedelta(minutes=2))
    assert other.state.state == "rolled_back"
    assert other.renews(text, now + timedelta(minutes=2)) == text


def test_an_undo_told_by_a_machine_whose_clock_is_behind_is_taken_over() -> None:
    one, other = Machine(), Machine()
    text = block([COMPOST])
    one.reads(text)
    one.does("approved", "applied", at=morning(60))
    text = one.renews(text, morning(60))
    other.reads(text)
    one.does("rolled_back", at=morning(20))  # the clock was set right in between
    other.reads(one.renews(text, morning(20)))
    assert other.state.state == "rolled_back"
