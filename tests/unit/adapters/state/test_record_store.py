"""The journals, parsed once by whoever opened them: what is appended is folded in, what others wrote is read again."""

from datetime import UTC, datetime
from pathlib import Path

import pytest

from aria_dream.adapters.state import record_store
from aria_dream.adapters.state.record_store import PROPOSALS, RecordStore
from aria_dream.errors import StateDamagedError
from aria_dream.review.proposal import event_record
from aria_dream.usecases.review import settle
from tests.proposed import IDS, lay_out, open_session, propose

NOW = datetime(2026, 12, 1, 3, 12, tzinfo=UTC)


@pytest.fixture
def parses(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The names of the parsers, each time that one is called."""
    called: list[str] = []
    for name in ("parse_journal", "parse_episodes"):

        def counting(text: str, name: str = name, parse: object = getattr(record_store, name)) -> object:
            called.append(name)
            assert callable(parse)
            return parse(text)

        monkeypatch.setattr(record_store, name, counting)
    return called


def waiting(folder: Path) -> RecordStore:
    """A journal in which every kind of proposal waits."""
    vault = folder / "vault"
    lay_out(vault)
    session = open_session(vault, NOW)
    for kind in IDS:
        propose(session, kind)
    return session.store


def states(store: RecordStore) -> dict[str, str]:
    return {id_: one.state for id_, one in store.read().states.items()}


def test_one_round_of_decisions_parses_each_journal_once(tmp_path: Path, parses: list[str]) -> None:
    waiting(tmp_path)
    session = open_session(tmp_path / "vault", NOW)
    session.store.note(event_record("approved", IDS["obsolete"], NOW))
    parses.clear()
    assert settle(session).applied == [IDS["obsolete"]]
    assert states(session.store)[IDS["obsolete"]] == "applied"
    assert sorted(parses) == ["parse_episodes", "parse_journal"]


def test_what_was_handed_out_stays_and_what_is_read_next_is_as_the_file_says(tmp_path: Path) -> None:
    store = waiting(tmp_path)
    before = store.read()
    for event, id_ in (("approved", IDS["merge"]), ("rejected", IDS["update"]), ("reopened", IDS["merge"])):
        store.note(event_record(event, id_, NOW, by="terminal", reason="é ↔"))  # type: ignore[arg-type]
        store.note_run({"type": "consolidation", "event": "none of ours"})
        assert store.read() == RecordStore(store.folder).read()
    assert before.states[IDS["update"]].state == "proposed"


def test_another_process_may_write_between_two_of_our_records(tmp_path: Path) -> None:
    store = waiting(tmp_path)
    store.read()
    other = RecordStore(store.folder)
    other.note(event_record("rejected", IDS["merge"], NOW))
    store.note(event_record("approved", IDS["update"], NOW))
    assert store.read() == RecordStore(store.folder).read()
    assert (states(store)[IDS["merge"]], states(store)[IDS["update"]]) == ("rejected", "approved")


def test_a_record_that_contradicts_the_state_is_told_with_its_line(tmp_path: Path) -> None:
    store = waiting(tmp_path)
    store.note(event_record("rejected", IDS["merge"], NOW))
    store.read()
    store.note(event_record("approved", IDS["merge"], NOW))
    assert [problem.line for problem in store.read().problems] == [
        len((store.folder / PROPOSALS).read_text(encoding="utf-8").splitlines())
    ]


def test_a_line_that_a_crash_tore_is_a_fault_once_a_record_follows_it(tmp_path: Path) -> None:
    store = waiting(tmp_path)
    with (store.folder / PROPOSALS).open("ab") as file:
        file.write(b'{"event":"app')
    assert store.read().problems == ()
    store.note(event_record("rejected", IDS["merge"], NOW))
    assert len(store.read().problems) == 1
    assert states(store)[IDS["merge"]] == "rejected"


def test_a_journal_that_a_hand_has_mended_is_read_again(tmp_path: Path) -> None:
    store = waiting(tmp_path)
    place = store.folder / PROPOSALS
    kept = [line for line in place.read_bytes().splitlines(keepends=True) if IDS["merge"].encode() not in line]
    store.read()
    place.write_bytes(b"".join(kept))
    assert IDS["merge"] not in states(store)


def test_a_journal_that_becomes_unreadable_is_no_empty_one(tmp_path: Path) -> None:
    store = waiting(tmp_path)
    store.read()
    place = store.folder / PROPOSALS
    place.unlink()
    place.mkdir()
    with pytest.raises(StateDamagedError):
        store.read()
