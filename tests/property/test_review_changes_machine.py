"""Changes of every kind, ticked, typed around, undone and waited for in whatever order: nothing typed is lost."""

from __future__ import annotations

import re
import shutil
import tempfile
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from aria_dream.adapters.disk.places import Places
from aria_dream.notes.review_note import read_managed
from aria_dream.usecases.review import renew_lines, settle
from aria_dream.usecases.review_session import Settlement
from tests.proposed import AFTER, IDS, NOTES, PATHS, lay_out, open_session, own_files, propose
from tests.reviewed import REVIEW

if TYPE_CHECKING:
    from aria_dream.review.proposal import Kind

START = datetime(2026, 11, 30, 7, 41, tzinfo=UTC)
KINDS = st.sampled_from(list(PATHS))


class Writer(RuleBasedStateMachine):
    """A writer at the review note, and a daemon that looks now and then."""

    @initialize(kinds=st.sets(KINDS, min_size=1))
    def proposed(self, kinds: set[Kind]) -> None:
        self.folder = Path(tempfile.mkdtemp())
        self.vault = self.folder / "vault"
        self.places = Places(state=self.folder / "state", cache=self.folder / "cache")
        self.now = START
        self.typed: list[str] = []
        lay_out(self.vault)
        session = open_session(self.vault, self.now, self.places)
        for kind in sorted(kinds):
            propose(session, kind)
        renew_lines(session, Settlement())

    def teardown(self) -> None:
        if hasattr(self, "folder"):
            shutil.rmtree(self.folder)

    def look(self) -> Settlement:
        done = settle(open_session(self.vault, self.now, self.places))
        while done.again:
            more = settle(open_session(self.vault, self.now, self.places))
            for name in ("applied", "rejected", "undone"):
                assert not set(getattr(done, name)) & set(getattr(more, name)), name
                getattr(done, name).extend(getattr(more, name))
            done.again = more.again
        return done

    @rule(kind=KINDS, box=st.sampled_from(["", "-no", "-undo"]), mark=st.sampled_from("xX "))
    def ticks(self, kind: Kind, box: str, mark: str) -> None:
        place = self.vault / REVIEW
        pattern = rf"(?m)\[[ xX]\]( [^\n\[\]]*\^aria-{IDS[kind]}{box})$"
        place.write_bytes(re.sub(pattern, rf"[{mark}]\1", place.read_bytes().decode()).encode())

    @rule(name=st.sampled_from(list(NOTES)))
    def types(self, name: str) -> None:
        place = self.vault / name
        if place.exists():
            self.typed.append(f"Typed {len(self.typed)}.")
            place.write_bytes(place.read_bytes() + f"\n\n{self.typed[-1]}\n".encode())

    @rule(minutes=st.sampled_from([1, 90, 60 * 49]))
    def time_goes_by(self, minutes: int) -> None:
        self.now += timedelta(minutes=minutes)

    @rule()
    def looks(self) -> None:
        self.look()
        held = {path: path.read_bytes() for path in self.vault.rglob("*") if path.is_file()}
        again = self.look()
        assert not any((again.applied, again.rejected, again.undone, again.asked, again.stale)), again
        assert {path: path.read_bytes() for path in self.vault.rglob("*") if path.is_file()} == held

    @invariant()
    def nothing_typed_is_lost_and_nothing_unknown_is_written(self) -> None:
        if not hasattr(self, "vault"):
            return
        files = {name: data.decode() for name, data in own_files(self.vault).items()}
        everything = "\n".join(files.values())
        assert all(sentence in everything for sentence in self.typed)
        assert set(files) <= {*NOTES, *(name for made in AFTER.values() for name in made)}
        block, problems = read_managed((self.vault / REVIEW).read_bytes().decode())
        assert block is not None, problems
        assert not open_session(self.vault, self.now, self.places).store.read().problems


TestWriter = Writer.TestCase
TestWriter.settings = settings(
    max_examples=25, stateful_step_count=12, deadline=None, suppress_health_check=list(HealthCheck)
)
