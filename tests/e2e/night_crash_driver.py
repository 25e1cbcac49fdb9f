"""Kills a night at every point, again and again; the next sitting must go on with it as if nothing had happened.

Run by `test_night_crash.py` as a process of its own (it forks): `night_crash_driver.py MODE FOLDER`. In mode `steps` a
point is each unit of work, the moments before and after each record, and each step that a write announces; in mode
`calls` each system call that writes, before, after and in the middle. Prints the number of points; a broken promise
raises.
"""

from __future__ import annotations

import os
import shutil
import signal
import sys
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from aria_dream.adapters.disk.files import DiskVault
from aria_dream.adapters.state.record_store import RecordStore
from aria_dream.consolidate.record import ALL_PARTS, Consolidation
from aria_dream.consolidate.report import read_report
from aria_dream.usecases.consolidation import consolidate_once
from aria_dream.usecases.night_parts import ConsolidationRequest
from aria_dream.usecases.overnight_report import write_overnight_report
from tests.e2e.crash_driver import Killer
from tests.killing import events, held
from tests.night_bench import NIGHT, Judge, NightBench, RuleParts

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from aria_dream.review.proposal import Proposal


class KilledBook(RecordStore):
    """A record book with a point before and after each record."""

    def __init__(self, folder: Path, killer: Killer) -> None:
        super().__init__(folder)
        self._killer = killer

    def propose(self, proposals: Sequence[Proposal]) -> None:
        """Journals them."""
        self._killer.tick()
        super().propose(proposals)
        self._killer.tick()

    def note(self, record: Mapping[str, object]) -> None:
        """Journals it."""
        self._killer.tick()
        super().note(record)
        self._killer.tick()

    def note_run(self, record: Mapping[str, object]) -> None:
        """Journals it."""
        self._killer.tick()
        super().note_run(record)
        self._killer.tick()


def run_night(folder: Path, killer: Killer | None = None) -> Consolidation:
    """One night as the daemon's child does it: gone on with, or begun; its morning told, where it is not."""
    bench = NightBench(folder, {})
    if (folder / "state").exists():
        DiskVault(bench.root, folder / "state" / "abcdefgh23456789").recover()
    session = bench.session()
    if killer is not None:
        files = DiskVault(bench.root, session.store.folder, after_step=killer.tick)
        session = replace(session, files=files, store=KilledBook(session.store.folder, killer))
    past = [run for run in session.store.consolidations() if run.night == NIGHT]
    if past and past[-1].is_over:
        run = past[-1]
    else:
        result = consolidate_once(
            session,
            RuleParts(session, Judge()),
            ConsolidationRequest(at=session.now, night=NIGHT, parts=ALL_PARTS, resume="night"),
            now=bench.now,
            permit=killer.tick if killer else lambda _unit: None,
        )
        assert result.run is not None, result.reason
        run = result.run
    if not run.is_told:
        write_overnight_report(session, run)
    return run


def killed_at(point: int, mode: str, folder: Path) -> bool:
    """Whether a child that works through the night was killed at `point`; False where it finished before."""
    child = os.fork()
    if child == 0:
        killer = Killer(point)
        if mode == "calls":
            killer.watch_calls()
        try:
            run_night(folder, killer if mode == "steps" else None)
        except BaseException:  # noqa: BLE001 - told to the parent by its exit code
            sys.excepthook(*sys.exc_info())
            sys.stderr.flush()
            os._exit(3)
        os._exit(0)
    _, status = os.waitpid(child, 0)
    if os.WIFSIGNALED(status):
        assert os.WTERMSIG(status) == signal.SIGKILL
        return True
    assert os.WEXITSTATUS(status) == 0, "the child failed by itself"
    return False


def check(folder: Path, writers: Mapping[str, bytes], ids: frozenset[str]) -> None:
    """After one more start: the same proposals, each once and planned; one report, one line, one item each; and not a
    byte of the writer's is another."""
    bench = NightBench(folder, {})
    after = held(bench.root)
    theirs = {name: data for name, data in after.items() if not name.startswith("dreams/")}
    assert theirs == writers, sorted(set(theirs) ^ set(writers))
    states = bench.store.read().states
    assert frozenset(states) == ids
    assert all(state.edits and state.state == "proposed" for state in states.values())
    assert all(number == 1 for (_, event), number in events(folder).items() if event == "proposed")
    review = after["dreams/Dream review.md"].decode()
    for id_ in ids:
        assert review.count(f"[ ] never again ^aria-{id_}-no") == 1, id_
    block, problems = read_report(after["dreams/Dream report.md"].decode())
    assert problems == ()
    assert block is not None
    assert [(night.night, night.proposals) for night in block.nights] == [(NIGHT, len(ids))]
    (log,) = [name for name in after if name.endswith(" dream.md")]
    assert after[log].decode().count("— the night") == 1
    (run,) = bench.store.consolidations()
    assert run.is_over
    assert run.is_told
    assert sorted(run.proposals) == sorted(ids)
    assert not list(bench.root.rglob(".aria-*"))


def main(mode: str, folder: Path) -> int:
    """Kills at every point until one run gets through; how many points there were."""
    start = folder / "start"
    NightBench(start)
    whole = folder / "whole"
    shutil.copytree(start, whole)
    run_night(whole)
    ids = frozenset(NightBench(whole, {}).store.read().states)
    writers = held(start / "vault")
    assert len(ids) == 3
    check(whole, writers, ids)
    point = 0
    while True:
        place = folder / "run"
        shutil.rmtree(place, ignore_errors=True)
        shutil.copytree(start, place)
        killed = killed_at(point, mode, place)
        run_night(place)
        check(place, writers, ids)
        before = held(place / "vault")
        run_night(place)
        assert held(place / "vault") == before
        if not killed:
            return point
        point += 1


if __name__ == "__main__":
    sys.stdout.write(f"{main(sys.argv[1], Path(sys.argv[2]))}\n")
