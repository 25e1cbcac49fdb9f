"""Whatever a writer ticks, types, loses and undoes in whatever order: no word is lost, nothing is done twice."""

from __future__ import annotations

import re
import shutil
import tempfile
from datetime import UTC, datetime, timedelta
from pathlib import Path

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from aria_dream.adapters.disk.files import DiskVault
from aria_dream.adapters.disk.places import Places
from aria_dream.adapters.index.dreamt_vault import read_dreamt_vault
from aria_dream.adapters.state.record_store import RecordStore
from aria_dream.notes.dream_log import parse_blocks
from aria_dream.notes.review_note import read_managed
from aria_dream.usecases.review import settle
from aria_dream.usecases.review_session import ReviewSession, Settlement
from tests.reviewed import COMPOST, NOTES, REVIEW, SLACK, dream_note, id_of, night

START = datetime(2026, 11, 30, 7, 41, tzinfo=UTC)
PAIRS = st.sampled_from([COMPOST, SLACK])
SURFACES = st.sampled_from([dream_note(START.date()), REVIEW])
BOXES = st.sampled_from(["", "-no", "-undo"])


class Writer(RuleBasedStateMachine):
    """A writer at the morning's notes, and a daemon that looks now and then."""

    @initialize()
    def dreamt(self) -> None:
        self.folder = Path(tempfile.mkdtemp())
        self.vault = self.folder / "vault"
        night(self.vault, day=START.date())
        self.now = START
        self.typed: dict[str, list[str]] = {}
        self.undoable: set[str] = set()

    def teardown(self) -> None:
        if hasattr(self, "folder"):
            shutil.rmtree(self.folder)

    def look(self) -> Settlement:
        places = Places(state=self.folder / "state", cache=self.folder / "cache")
        seen = read_dreamt_vault(self.vault, places, environ={})
        state = seen.live.state_folder(places)
        files = DiskVault(seen.root, state, now=lambda: self.now)
        return settle(ReviewSession(vault=seen, files=files, store=RecordStore(state), now=self.now))

    @rule(pair=PAIRS, surface=SURFACES, box=BOXES, mark=st.sampled_from("xX "))
    def ticks(self, pair: tuple[str, str], surface: str, box: str, mark: str) -> None:
        place = self.vault / surface
        text = place.read_bytes().decode()
        pattern = rf"(?m)\[[ xX]\]( [^\n\[\]]*\^aria-{id_of(pair)}{box}[ \t]*\r?)$"
        place.write_bytes(re.sub(pattern, rf"[{mark}]\1", text).encode())

    @rule(name=st.sampled_from([*NOTES, dream_note(START.date()), REVIEW]), number=st.integers(0, 99))
    def types(self, name: str, number: int) -> None:
        sentence = f"Typed {number} of {len(self.typed.get(name, []))}."
        place = self.vault / name
        before = place.read_bytes()
        place.write_bytes(before + f"\n\n{sentence}\n".encode())
        self.typed.setdefault(name, []).append(sentence)

    @rule(minutes=st.sampled_from([1, 90, 60 * 30, 60 * 49]))
    def time_goes_by(self, minutes: int) -> None:
        self.now += timedelta(minutes=minutes)

    @rule()
    def looks(self) -> None:
        done = self.look()
        for ids in (done.applied, done.rejected, done.undone):
            assert len(set(ids)) == len(ids)
        held = {path: path.read_bytes() for path in self.vault.rglob("*.md")}
        again = self.look()
        assert not any((again.applied, again.rejected, again.undone, again.asked)), again
        assert {path: path.read_bytes() for path in self.vault.rglob("*.md")} == held

    @rule()
    def loses_the_journal(self) -> None:
        self.look()
        shutil.rmtree(self.folder / "state", ignore_errors=True)

    @invariant()
    def no_word_is_lost_and_no_link_is_doubled(self) -> None:
        if not hasattr(self, "vault"):
            return
        for name, base in NOTES.items():
            text = (self.vault / name).read_bytes().decode()
            assert text.count("[[") <= 1, text
            plain = re.sub(r"\[\[[^|\]]+\|([^\]]+)\]\]", r"\1", text)
            plain = re.sub(r"(\r?\n)*## Related(\r?\n)+- \[\[[^\]]+\]\](\r?\n)?", "\n", plain)
            words = " ".join(base.split() + " ".join(self.typed.get(name, [])).split())
            assert " ".join(plain.split()) == words, name
        for name in (dream_note(START.date()), REVIEW):
            text = (self.vault / name).read_bytes().decode()
            assert all(text.count(sentence) >= 1 for sentence in self.typed.get(name, [])), name
        blocks, problems = parse_blocks((self.vault / dream_note(START.date())).read_bytes().decode())
        assert not problems
        assert len(blocks[0].pairs) == 2
        managed, faults = read_managed((self.vault / REVIEW).read_bytes().decode())
        assert managed is not None, faults


TestWriter = Writer.TestCase
TestWriter.settings = settings(
    max_examples=40, stateful_step_count=14, deadline=None, suppress_health_check=list(HealthCheck)
)
