"""Months in a minute: 5,000 edits and 200 dreams with a clock that hurries, and nothing grows."""

from __future__ import annotations

import gc
import logging
import os
import random
import threading
from typing import TYPE_CHECKING

import psutil
import pytest

from aria_dream.adapters.disk.files import DiskVault
from aria_dream.adapters.index.index import read_vault
from aria_dream.markdown.note import NotePath
from aria_dream.vault.edit import ABSENT, ChangeSet, WritePlan, content_hash
from aria_dream.world import Content, Written
from tests.daemon_bench import DaemonBench, FakeEpisode, policy
from tests.watched import assert_same

if TYPE_CHECKING:
    from pathlib import Path

EDITS, DREAMS = 5000, 200
HEAD = b"---\naria-dream: log\n---\n"


def append_to_dream_note(bench: DaemonBench, number: int) -> None:
    """What a dream does to the vault: one more block in the note of the day."""
    path = f"dreams/{bench.now():%Y-%m-%d} dream.md"
    files = DiskVault(bench.root, bench.daemon.state_folder)
    found = files.read(NotePath(path))
    before = found.data if isinstance(found, Content) else None
    plan = WritePlan(
        path=NotePath(path),
        expected_hash=ABSENT if before is None else content_hash(before),
        content=(before or HEAD) + f"\n## block {number}\n".encode(),
    )
    assert isinstance(files.write(ChangeSet(writes=(plan,))), Written)
    bench.tell(path)


def held() -> tuple[int, int]:
    """Descriptors and threads of this process."""
    process = psutil.Process()
    return process.num_fds() if hasattr(process, "num_fds") else 0, threading.active_count()


def grown() -> tuple[int, int]:
    """Objects that the collector tracks, and resident bytes."""
    gc.collect()
    return len(gc.get_objects()), psutil.Process().memory_info().rss


@pytest.mark.slow
def test_nothing_grows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "fsync", lambda _handle: None)  # thousands of them would be all that is measured
    logging.getLogger("aria_dream").setLevel(logging.ERROR)
    chance = random.Random(11)
    text = policy(idle_threshold_s=60, vault_quiet_s=0, cooldown_min=2, daily_dream_cap=100, poll_s=60,
                  rollback_window_h=1)  # fmt: skip
    with DaemonBench(tmp_path, text) as bench:
        bench.make = lambda _order: FakeEpisode(
            units=2, on_unit=lambda unit: append_to_dream_note(bench, len(bench.orders)) if unit == 2 else None
        )
        early, early_held = (0, 0), (0, 0)
        edits = 0
        while edits < EDITS or len(bench.orders) < DREAMS:
            for number in range(25):
                note = f"Note {chance.randrange(40)}.md"
                link = f"[[Note {chance.randrange(40)}]]"
                bench.at(5 * number, lambda note=note, link=link: bench.save(note, f"{chance.random()} {link}\n"))  # type: ignore[misc] # bound now
            edits += 25
            bench.run_for(125)
            bench.run_for(130)  # quiet for long enough for a dream
            bench.episodes.clear()
            bench.watcher.waits.clear()
            if early == (0, 0) and edits >= EDITS // 4:
                early, early_held = grown(), held()
        late = grown()
        assert len(bench.orders) >= DREAMS
        assert set(bench.ends) == {"done"}
        assert held() == early_held
        # What may grow is what is remembered of each run and of each change that can still be undone.
        assert late[0] - early[0] < 15 * DREAMS
        assert late[1] - early[1] < 20_000_000
        assert_same(bench.watcher.index, read_vault(bench.root, None))
        blocks = "".join(path.read_text("utf-8") for path in bench.root.glob("dreams/* dream.md")).count("## block")
        assert blocks == len(bench.orders)
