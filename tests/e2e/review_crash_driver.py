"""Kills a settlement at every point, again and again; the next start must finish it as if nothing had happened.

Run by `test_review_crash.py` as a process of its own (it forks): `review_crash_driver.py SCENARIO MODE FOLDER`. In mode
`steps` a point is each step that a write announces and the moments before and after each journal record; in mode
`calls` each system call that writes, before, after and in the middle. Prints the number of points; a broken promise
raises.
"""

from __future__ import annotations

import os
import shutil
import signal
import sys
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from aria_dream.adapters.disk.files import DiskVault
from aria_dream.adapters.disk.places import Places
from aria_dream.adapters.index.dreamt_vault import read_dreamt_vault
from aria_dream.adapters.state.record_store import RecordStore
from aria_dream.markdown.note import NotePath
from aria_dream.review.merging import plan_merge
from aria_dream.review.plan import Planned
from aria_dream.review.proposal import Proposal, event_record, planned_record, proposal_id
from aria_dream.usecases.review import renew_lines, settle
from aria_dream.usecases.review_session import ReviewSession, Settlement
from tests.e2e.crash_driver import Killer
from tests.killing import events, held
from tests.proposed import IDS, PATHS, lay_out, open_session, propose
from tests.reviewed import COMPOST, REVIEW, SLACK, dream_note, id_of, night, tick, write

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from aria_dream.review.proposal import Kind

NOW = datetime(2026, 11, 30, 7, 41, tzinfo=UTC)
MERGED = ("Sourdough starter.md", "Tides.md")
MERGE = proposal_id("merge", MERGED, 0)


class KilledBook(RecordStore):
    """A record book with a point before and after each record."""

    def __init__(self, folder: Path, killer: Killer) -> None:
        super().__init__(folder)
        self._killer = killer

    def note(self, record: Mapping[str, object]) -> None:
        """Journals it."""
        self._killer.tick()
        super().note(record)
        self._killer.tick()


def places(folder: Path) -> Places:
    """Where this run keeps its things."""
    return Places(cache=folder / "cache", state=folder / "state")


def session(folder: Path, killer: Killer | None = None) -> ReviewSession:
    """The desk as a start finds it."""
    seen = read_dreamt_vault(folder / "vault", places(folder), environ={})
    state = seen.live.state_folder(places(folder))
    state.mkdir(parents=True, exist_ok=True)
    after = killer.tick if killer else lambda _step: None
    files = DiskVault(seen.root, state, now=lambda: NOW, after_step=after)
    store = KilledBook(state, killer) if killer else RecordStore(state)
    return ReviewSession(vault=seen, files=files, store=store, now=NOW)


def settled(folder: Path) -> Settlement:
    """One start and one settlement, as often as it asks for another."""
    done = Settlement(again=True)
    while done.again:
        at = session(folder)
        at.files.recover()
        done = settle(at)
    return done


def link(folder: Path) -> None:
    """Two ticks: a link, and a pair that is refused."""
    note = night(folder / "vault", day=NOW.date())
    write(folder / "vault", "dreaming.md", "---\naria-dream: policy\naria-dream-id: abcdefgh23456723\n---\n")
    tick(note, id_of(COMPOST))
    tick(folder / "vault" / "dreams" / "Dream review.md", id_of(SLACK), "-no")


def undo(folder: Path) -> None:
    """A link that was placed and is to be taken back."""
    link(folder)
    settled(folder)
    tick(folder / "vault" / dream_note(NOW.date()), id_of(COMPOST), "-undo")


def merge(folder: Path) -> None:
    """A change of several files, approved in the terminal, behind a ticked link."""
    link(folder)
    (folder / "vault" / "Slack water.md").write_bytes(b"See [[Tides]] and [[Sourdough starter]].\r\n")
    at = session(folder)
    titles = tuple(path.removesuffix(".md") for path in MERGED)
    at.store.propose([Proposal(id=MERGE, kind="merge", paths=MERGED, round=0, at=NOW, expires_at=None, titles=titles)])
    planned = plan_merge(at.view(MERGED, inbound=True), *map(NotePath, MERGED))
    assert isinstance(planned, Planned)
    assert len({edit.path for edit in planned.edits}) > 2
    at.store.note(planned_record(MERGE, planned.edits, NOW))
    at.store.note(event_record("approved", MERGE, NOW, by="terminal"))


def ticked(kind: Kind, folder: Path) -> None:
    """A change of that kind, ticked in the review, where the vault will have to be read again for a second one."""
    lay_out(folder / "vault")
    at = open_session(folder / "vault", NOW, places(folder))
    propose(at, kind)
    propose(at, "obsolete")
    renew_lines(at, Settlement())
    for id_ in {IDS[kind], IDS["obsolete"]}:
        tick(folder / "vault" / REVIEW, id_)


def taken_back(kind: Kind, folder: Path) -> None:
    """The same, done, and to be undone; of a contradiction that opens it again."""
    ticked(kind, folder)
    settled(folder)
    tick(folder / "vault" / REVIEW, IDS[kind], "-undo")


def overtaken(folder: Path) -> None:
    """A merge that was ticked and does not fit any more, so that it is planned and shown anew."""
    ticked("merge", folder)
    write(folder / "vault", "Drop.md", "Water at noon.\n")


SCENARIOS: dict[str, Callable[[Path], None]] = {
    "link": link, "undo": undo, "merge": merge, "overtaken": overtaken,
    **{kind: partial(ticked, kind) for kind in PATHS if kind != "merge"}, "merging": partial(ticked, "merge"),
    "undo-merge": partial(taken_back, "merge"), "undo-orphan": partial(taken_back, "place_orphan"),
    "undo-resolution": partial(taken_back, "resolve_contradiction"),
}  # fmt: skip


def killed_at(point: int, mode: str, folder: Path) -> bool:
    """Whether a child that settles was killed at `point`; False where it finished before."""
    child = os.fork()
    if child == 0:
        killer = Killer(point)
        at = session(folder, killer if mode == "steps" else None)
        if mode == "calls":
            killer.watch_calls()
        try:
            settle(at)
        except BaseException:  # noqa: BLE001 - the child must not run on as a second driver
            os._exit(3)
        os._exit(0)
    status = os.waitpid(child, 0)[1]
    if os.WIFSIGNALED(status):
        assert os.WTERMSIG(status) == signal.SIGKILL, status
        return True
    assert os.WEXITSTATUS(status) == 0, f"the child ended with {status}"
    return False


def copied(origin: Path, folder: Path) -> None:
    """`folder` as `origin` is."""
    shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(origin, folder, symlinks=True)


def kill_everywhere(scenario: str, mode: str, folder: Path) -> int:
    """How many points were tried; each was followed by a start that kept every promise."""
    origin, run, whole = folder / "origin", folder / "run", folder / "whole"
    SCENARIOS[scenario](origin)
    before = held(origin / "vault")
    copied(origin, whole)
    settled(whole)
    wanted, told = held(whole / "vault"), events(whole)
    own = {path for path in {*before, *wanted} if not path.startswith("dreams/")}
    assert wanted != before
    stride = 3 if mode == "calls" and scenario == "merge" else 1
    point = 0
    while True:
        copied(origin, run)
        if not killed_at(point, mode, run):
            return point // stride
        session(run).files.recover()
        now = held(run / "vault")
        torn = [path for path in own if now.get(path) not in (before.get(path), wanted.get(path), *between(path))]
        assert not torn, (point, torn)
        settled(run)
        assert held(run / "vault") == wanted, point
        assert events(run) == told, (point, events(run) - told, told - events(run))
        remains = [*(run / "vault").rglob(".aria-*"), *(run / "state").rglob("*.unfinished"),
                   *(run / "state").rglob("*.new")]  # fmt: skip
        assert not remains, (point, remains)
        assert not settled(run).did_something, point
        assert held(run / "vault") == wanted, point
        point += stride


def between(path: str) -> tuple[bytes, ...]:
    """What a note may read between two changes of one settlement."""
    from tests.reviewed import PLACED

    return (PLACED.encode(),) if path == "Compost.md" else ()


if __name__ == "__main__":
    sys.stdout.write(f"{kill_everywhere(sys.argv[1], sys.argv[2], Path(sys.argv[3]))}\n")
