"""Editors that know nothing of our lock, at every moment of a write: their newest text is what the note holds."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING

import pytest

from aria_dream.adapters.disk.files import DiskVault
from aria_dream.markdown.note import NotePath
from aria_dream.vault.edit import ABSENT, ChangeSet, Exists, WritePlan, content_hash, plan_append, plan_remove
from aria_dream.world import Conflict, Refused, Written

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

NOTE = NotePath("n.md")
OLD = b"# Note\n"
TYPED = b"# Note\n\ntyped\n"


class Race:
    """A vault with one note, and something that happens after the named step of a write, once."""

    def __init__(self, folder: Path) -> None:
        self.root = folder / "vault"
        self.state = folder / "state"
        self.root.mkdir()
        self.place = self.root / "n.md"
        self.place.write_bytes(OLD)
        self._at: dict[str, Callable[[], object]] = {}
        self.slept_s: list[float] = []
        self.vault = DiskVault(self.root, self.state, after_step=self._step, sleep=self.slept_s.append)

    def at(self, step: str, what: Callable[[], object]) -> None:
        self._at[step] = what

    def _step(self, step: str) -> None:
        what = self._at.pop(step, None)
        if what is not None:
            what()

    def save_over(self, text: bytes) -> None:
        """As editors save that write a temp file and rename it."""
        temp = self.root / ".editor"
        temp.write_bytes(text)
        temp.rename(self.place)

    def append(self) -> object:
        plan = plan_append(NOTE, OLD, "## Dream")
        assert isinstance(plan, WritePlan)
        outcome = self.vault.write(ChangeSet(writes=(plan,)))
        assert not self._at, "the step that was to be raced never came"
        assert list(self.root.rglob(".*")) == []
        return outcome

    def kept_aside(self) -> list[bytes]:
        return [place.read_bytes() for place in self.state.glob("history/*/*.displaced*")]


@pytest.fixture
def race(tmp_path: Path) -> Race:
    return Race(tmp_path)


BEFORE_EXCHANGE = ["looked", "intent", "temp created", "temp written", "temp synced"]


@pytest.mark.parametrize("step", BEFORE_EXCHANGE)
def test_a_save_before_the_exchange_conflicts(race: Race, step: str) -> None:
    race.at(step, lambda: race.save_over(TYPED))
    assert isinstance(race.append(), Conflict)
    assert race.place.read_bytes() == TYPED


@pytest.mark.parametrize("style", ["over", "into"])
def test_a_save_in_the_instant_of_the_exchange_is_put_back(race: Race, style: str) -> None:
    from aria_dream.adapters.disk.swap import exchange

    def saved_first(temp: Path, place: Path) -> None:
        if race.place.read_bytes() == OLD:
            race.save_over(TYPED) if style == "over" else race.place.write_bytes(TYPED)
        exchange(temp, place)

    race.vault = DiskVault(race.root, race.state, exchange=saved_first)
    assert isinstance(race.append(), Conflict)
    assert race.place.read_bytes() == TYPED


def test_a_save_after_the_exchange_stays_and_counts_as_written(race: Race) -> None:
    race.at("exchanged", lambda: race.save_over(TYPED))
    assert isinstance(race.append(), Written)
    assert race.place.read_bytes() == TYPED


def test_two_saves_around_the_exchange_leave_the_newer_and_keep_the_older_aside(race: Race) -> None:
    from aria_dream.adapters.disk.swap import exchange

    def saved_first(temp: Path, place: Path) -> None:
        if race.place.read_bytes() == OLD:
            race.save_over(TYPED)
        exchange(temp, place)

    race.vault = DiskVault(race.root, race.state, exchange=saved_first, after_step=race._step)
    race.at("exchanged", lambda: race.save_over(b"newest\n"))
    assert isinstance(race.append(), Conflict)
    assert race.place.read_bytes() == b"newest\n"
    assert race.kept_aside() == [TYPED]


def test_a_note_made_read_only_in_the_last_instant_is_refused(race: Race) -> None:
    race.at("temp synced", lambda: race.place.chmod(0o444))
    assert isinstance(race.append(), Refused)
    assert race.place.read_bytes() == OLD


def test_a_note_removed_meanwhile_stays_removed(race: Race) -> None:
    race.at("temp synced", race.place.unlink)
    assert isinstance(race.append(), Conflict)
    assert not race.place.exists()


def test_a_folder_that_becomes_a_link_meanwhile_is_not_followed(tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "n.md").write_bytes(OLD)
    race = Race(tmp_path)
    (race.root / "sub").mkdir()
    (race.root / "sub" / "n.md").write_bytes(OLD)

    def relink() -> None:
        (race.root / "sub").rename(tmp_path / "was")
        (race.root / "sub").symlink_to(outside)

    race.at("intent", relink)
    plan = WritePlan(path=NotePath("sub/n.md"), expected_hash=content_hash(OLD), content=b"evil")
    assert isinstance(race.vault.write(ChangeSet(writes=(plan,))), Refused)
    assert [place.name for place in outside.iterdir()] == ["n.md"]
    assert (outside / "n.md").read_bytes() == OLD


def test_a_name_taken_in_the_last_instant_is_not_clobbered(race: Race) -> None:
    new = WritePlan(path=NotePath("new.md"), expected_hash=ABSENT, content=b"ours")
    race.at("temp synced", lambda: (race.root / "new.md").write_bytes(b"theirs"))
    assert race.vault.write(ChangeSet(writes=(new,))) == Exists(NotePath("new.md"))
    assert (race.root / "new.md").read_bytes() == b"theirs"
    assert not list(race.root.glob(".*"))


def test_a_note_saved_while_it_is_removed_comes_back(race: Race) -> None:
    race.at("intent", lambda: race.save_over(TYPED))
    assert isinstance(race.vault.write(ChangeSet(writes=(plan_remove(NOTE, OLD),))), Conflict)
    assert race.place.read_bytes() == TYPED
    race.place.write_bytes(OLD)
    # Into the file that was just set aside, through a handle from before.
    handle = os.open(race.place, os.O_WRONLY | os.O_APPEND)
    race.at("set aside", lambda: os.write(handle, b"typed late\n"))
    assert isinstance(race.vault.write(ChangeSet(writes=(plan_remove(NOTE, OLD),))), Conflict)
    os.close(handle)
    assert race.place.read_bytes() == OLD + b"typed late\n"


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux tells of an editor that has the file open (leases)")
class TestAnEditorThatHasTheNoteOpen:
    """It opened the note before the exchange, and writes into what was displaced."""

    def test_and_never_closes_it_conflicts(self, race: Race) -> None:
        with race.place.open("ab") as editor:
            assert isinstance(race.append(), Conflict)
            editor.write(b"typed late\n")
        assert race.place.read_bytes() == OLD + b"typed late\n"

    def test_and_closes_it_while_we_wait_is_no_hindrance(self, race: Race) -> None:
        editor = race.place.open("ab")

        def sleep(_pause_s: float) -> None:
            editor.close()

        race.vault = DiskVault(race.root, race.state, sleep=sleep)
        assert isinstance(race.append(), Written)

    def test_and_writes_while_we_wait_keeps_its_text(self, race: Race) -> None:
        editor = race.place.open("ab", buffering=0)

        def sleep(_pause_s: float) -> None:
            if not editor.closed:
                editor.write(b"typed late\n")
                editor.close()

        race.vault = DiskVault(race.root, race.state, sleep=sleep)
        assert isinstance(race.append(), Conflict)
        assert race.place.read_bytes() == OLD + b"typed late\n"

    def test_for_reading_only_is_no_hindrance(self, race: Race) -> None:
        with race.place.open("rb") as reader:
            assert isinstance(race.append(), Written)
            assert reader.read() == OLD
        assert race.slept_s == []
