"""Edits, dreams, crashes, syncs and absences in any order: nobody's words are lost, and the index equals the disk."""

from __future__ import annotations

import logging
import os
import shutil
import tempfile
from pathlib import Path
from unittest.mock import patch

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from aria_dream.adapters.disk.files import DiskVault
from aria_dream.adapters.index.index import read_vault
from aria_dream.markdown.note import NotePath
from aria_dream.notes.dream_log import DreamBlock, LoggedStart, parse_blocks, render_block, render_head
from aria_dream.schedule.presence import Known
from aria_dream.vault.edit import ChangeSet, Refusal, plan_append
from aria_dream.world import Content, Written
from tests.daemon_bench import NOTES, DaemonBench, FakeEpisode, policy
from tests.watched import assert_same, write

NAMES = st.sampled_from(["Compost.md", "Moon.md", "deep/er/Tide.md", "deep/Salt.md", "A b.md", "ünï.md"])
TEXTS = st.sampled_from(["", "[[Compost]]", "a [[Moon|m]] b\r\n", "---\ntags: [x]\n---\n![[Tide]]", "no end", "# H\n"])
POLICY = policy(idle_threshold_s=60, vault_quiet_s=0, cooldown_min=0, daily_dream_cap=100)
STEPS = st.integers(min_value=0, max_value=14)


class _Killed(BaseException):
    """kill -9: nothing of ours runs after it, not even a handler."""


class DaemonMachine(RuleBasedStateMachine):
    """A writer, a daemon and everything that comes between them."""

    def __init__(self) -> None:
        super().__init__()
        logging.getLogger("aria_dream").setLevel(logging.CRITICAL)
        self.folder = Path(tempfile.mkdtemp())
        self.theirs: dict[str, str] = {path: text for path, text in NOTES.items() if not path.startswith("dreams/")}
        """The writer's notes, as they left them."""
        self.typed: list[tuple[str, str]] = []
        """`(dream note, line)`: what the writer wrote into notes of ours."""
        self.blocks: list[tuple[str, int]] = []
        """`(dream note, minute)`: blocks whose write was reported as done."""
        self.count = 0
        self.crash_at = 0
        self.is_away = False

    @initialize()
    def begin(self) -> None:
        # Whoever is killed here loses no memory of the system's, so that nothing has to reach the platter.
        self.no_sync = patch.object(os, "fsync", lambda _handle: None)
        self.no_sync.start()
        self.bench = DaemonBench(self.folder, POLICY)
        self.bench.make = lambda _order: FakeEpisode(units=3, on_unit=self.work)

    def teardown(self) -> None:
        if hasattr(self, "bench"):
            self.bench.watcher.close()
            self.no_sync.stop()
        shutil.rmtree(self.folder, ignore_errors=True)

    # The child

    def work(self, unit: int) -> None:
        """The last unit appends a block, as a dream does; a crash can come at any step of the write."""
        if unit < 3:
            return
        bench = self.bench
        steps = 0

        def step(_name: str) -> None:
            nonlocal steps
            steps += 1
            if steps == self.crash_at:
                raise _Killed

        self.count += 1
        at = bench.now().time().replace(hour=self.count // 60 % 24, minute=self.count % 60, second=0, microsecond=0)
        start = LoggedStart(title="Compost", cold=True, rule="pick", seed=self.count)
        block = render_block(DreamBlock(at=at, kind="idle dream", start=start, pairs=(), drops=()))
        path = f"dreams/{bench.now():%Y-%m-%d} dream.md"
        files = DiskVault(bench.root, bench.daemon.state_folder, after_step=step)
        found = files.read(NotePath(path))
        before = found.data if isinstance(found, Content) else None
        planned = plan_append(NotePath(path), before, block, head=render_head(bench.now().date(), "desk"))
        assert not isinstance(planned, Refusal)
        assert isinstance(files.write(ChangeSet(writes=(planned,))), Written)
        self.blocks.append((path, self.count))
        bench.tell(path)

    # What happens

    @precondition(lambda self: not self.is_away)
    @rule(path=NAMES, text=TEXTS)
    def save(self, path: str, text: str) -> None:
        self.theirs[path] = text
        self.bench.save(path, text)

    @precondition(lambda self: not self.is_away)
    @rule(path=NAMES, new=NAMES)
    def rename(self, path: str, new: str) -> None:
        if path in self.theirs and new not in self.theirs:
            target = self.bench.root / new
            target.parent.mkdir(parents=True, exist_ok=True)
            (self.bench.root / path).rename(target)
            self.theirs[new] = self.theirs.pop(path)
            self.bench.tell(path)
            self.bench.tell(new)

    @precondition(lambda self: not self.is_away)
    @rule(path=NAMES)
    def remove(self, path: str) -> None:
        if path in self.theirs:
            (self.bench.root / path).unlink()
            del self.theirs[path]
            self.bench.tell(path)

    @precondition(lambda self: not self.is_away)
    @rule()
    def write_into_a_dream_note(self) -> None:
        for note in sorted(self.bench.root.glob("dreams/* dream.md"))[-1:]:
            line = f"my own line {len(self.typed)}"
            path = note.relative_to(self.bench.root).as_posix()
            write(self.bench.root, {path: f"{note.read_text('utf-8')}{line}\n"})
            self.typed.append((path, line))
            self.bench.tell(path)

    @precondition(lambda self: not self.is_away)
    @rule()
    def another_machine_dreams(self) -> None:
        """A sync puts the other machine's version beside ours."""
        for note in sorted(self.bench.root.glob("dreams/* dream.md"))[-1:]:
            self.count += 1
            at = self.bench.now().time().replace(hour=self.count // 60 % 24, minute=self.count % 60, second=0,
                                                 microsecond=0)  # fmt: skip
            start = LoggedStart(title="Moon", cold=True, rule="pick", seed=self.count)
            block = DreamBlock(at=at, kind="idle dream", start=start, pairs=(), drops=())
            name = f"dreams/{note.stem} (conflicted copy 2026-11-30).md"
            if not (self.bench.root / name).exists():
                write(self.bench.root, {name: f"{render_head(self.bench.now().date())}\n{render_block(block)}"})
                self.blocks.append((note.relative_to(self.bench.root).as_posix(), self.count))
                self.bench.tell(name)

    @rule()
    def go_away(self) -> None:
        """Quiet for three minutes: time for a dream or two."""
        self.bench.sensors.idle_s = Known(1e6)
        self.bench.run_for(180)

    @rule()
    def go_on_typing(self) -> None:
        self.bench.sensors.idle_s = Known(0.0)
        self.bench.run_for(120)

    @rule(step=STEPS)
    def be_killed_in_a_dream(self, step: int) -> None:
        """kill -9 in the middle of everything, and a start afterwards."""
        self.crash_at = step
        self.bench.sensors.idle_s = Known(1e6)
        try:
            self.bench.run_for(180)
        except _Killed:
            self.bench.actions.clear()
            if self.is_away:
                self.come_back()
            self.bench.watcher.close()
            self.bench.open()
        self.crash_at = 0

    @precondition(lambda self: not self.is_away)
    @rule()
    def unmount(self) -> None:
        self.bench.root.rename(self.folder / "away")
        self.is_away = True

    @precondition(lambda self: self.is_away)
    @rule()
    def come_back(self) -> None:
        (self.folder / "away").rename(self.bench.root)
        self.is_away = False

    # What holds

    @invariant()
    def nobodys_words_are_lost(self) -> None:
        if not hasattr(self, "bench"):
            return
        root = self.folder / "away" if self.is_away else self.bench.root
        for path, text in self.theirs.items():
            assert (root / path).read_bytes() == text.encode()
        for path, line in self.typed:
            assert line in (root / path).read_text("utf-8")
        everything = "".join(path.read_text("utf-8") for path in root.glob("dreams/* dream*.md"))
        seen = [block.start.seed for block in parse_blocks(everything)[0] if block.start is not None]
        assert {number for _, number in self.blocks} <= set(seen)
        assert not self.is_away or not self.bench.root.exists()

    @precondition(lambda self: not self.is_away)
    @rule()
    def compare_with_the_disk(self) -> None:
        self.bench.sensors.idle_s = Known(0.0)
        self.bench.run_for(700)  # the slow walk included
        assert_same(self.bench.watcher.index, read_vault(self.bench.root, None))
        assert not list(self.bench.root.rglob(".aria-*"))


DaemonMachine.TestCase.settings = settings(
    max_examples=12, stateful_step_count=15, deadline=None, suppress_health_check=list(HealthCheck)
)
TestDaemonMachine = DaemonMachine.TestCase
