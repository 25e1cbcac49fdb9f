"""The daemon reaches out by itself (L2b): a real child, the real Codex CLI, a server on this machine; the sensors are
the test's."""

from __future__ import annotations

import json
import os
import sys
import time
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import psutil
import pytest

from aria_dream.adapters.child.episode_process import EpisodeProcess, Order
from aria_dream.adapters.disk.places import CACHE_VARIABLE, STATE_VARIABLE
from aria_dream.adapters.gate.consent import write_consent
from aria_dream.adapters.gate.ledger import read_ledger
from aria_dream.policy.triggers import Stage
from aria_dream.reach.reach_block import NoAnswer
from aria_dream.reach.reach_reading import parse_reach_blocks
from aria_dream.schedule.due import Due, NotYet
from aria_dream.schedule.presence import Known, NoSensor, Plug
from aria_dream.schedule.run_record import RunEnd
from tests.daemon_bench import NOTES, DaemonBench, policy
from tests.reaching import codex_program, provider, wait_until
from tests.responses_server import ResponsesServer, message, search, stream

if TYPE_CHECKING:
    from collections.abc import Callable

    from aria_dream.schedule.run_record import PastRun

REPOSITORY = Path(__file__).resolve().parents[2]
ORPHAN = "ORPHAN\nNobody has said it.\nThe nearest work stops short.\nSources:\n- https://example.org/near"
SEEDS = """\
---
aria-dream: seeds
---
## 2026-11-29 — Retrieval practice beats rereading
- kind: external-novelty
- status: open
- source: https://example.org/paper
- struck: testing is not only measuring
- resonance: flashcards

## 2026-11-20 — Sleep replays the day backwards
- kind: external-novelty
- status: open
- source: Foster & Wilson, 2006
"""
CHILD = """
import json, os
from pathlib import Path
from aria_dream.usecases import reach_course
from aria_dream.adapters.codex.codex_reacher import CodexReacher, Elsewhere, _Heard

def open_reacher(vault, places):
    elsewhere = Elsewhere(provider=json.loads(os.environ["PROVIDER"]), environ={"TEST_KEY": "no-secret"},
                          program=Path(os.environ["PROGRAM"]))
    return CodexReacher(vault=vault.root, state=places.state, settings=vault.live.policy.settings, elsewhere=elsewhere)

def listen(heard, line, take=_Heard.take):
    take(heard, line)
    with open(os.environ["HEARD"], "a") as file:
        file.write(line)

_Heard.take = listen
reach_course.open_reacher = open_reacher
from aria_dream.usecases.episode import main
main()
"""
"""The child as it ships, but for the server that Codex CLI asks, and for telling the test what it hears."""


class ReachBench(DaemonBench):
    """A daemon whose reaches are real. Time runs with its waits, and nobody is there until the test says so."""

    def __init__(self, folder: Path, server: ResponsesServer, **settings: object) -> None:
        self.server = server
        self.children: list[EpisodeProcess] = []
        self.last_input_s = -10_000.0
        usual = {"cooldown_min": 0, "vault_quiet_s": 0, "max_open_proposals": 500, "nightly": "off"}
        self.heard = folder / "heard"
        super().__init__(folder, policy(**{**usual, **settings}), {**NOTES, "dreams/Dream seeds.md": SEEDS})
        self.sensors.on_read = self.pass_time
        write_consent(self.places.state, datetime(2026, 11, 30, tzinfo=UTC))

    def pass_time(self) -> None:
        time.sleep(0.02)  # the clock leaps, the child does not: this only keeps our looks from taking its processor
        self.sensors.idle_s = Known(self.clock.now_s - self.last_input_s)

    def launch(self, order: Order, wake: Callable[[], None]) -> Any:
        if order.stage is not Stage.REACH and order.errand != "ticks":
            return super().launch(order, wake)
        self.orders.append(order)
        environ = {
            **os.environ, STATE_VARIABLE: str(self.places.state), CACHE_VARIABLE: str(self.places.cache),
            "PYTHONPATH": str(REPOSITORY), "PROVIDER": json.dumps(provider(self.server.url)),
            "PROGRAM": str(codex_program()), "HEARD": str(self.heard),
        }  # fmt: skip
        what = ["--ticks"] if order.errand == "ticks" else ["--stage", "reach", "--kind", order.kind]
        command = [sys.executable, "-P", "-c", CHILD, str(order.root), *what, "--quiet-s", "0", "--host", order.host]
        self.children.append(EpisodeProcess(command, wake=wake, environ=environ))
        return self.children[-1]

    def somebody_types(self) -> None:
        self.last_input_s = self.clock.now_s

    def goes_away(self) -> None:
        self.clock.advance(10_000.0)

    def last_run(self) -> PastRun:
        return self.log.runs[-1]

    @property
    def stages(self) -> list[Stage]:
        return [order.stage for order in self.orders]

    @property
    def ledger(self) -> list[tuple[str, str]]:
        return [(row.kind, row.verdict) for row in read_ledger(self.places.state)[0]]


def test_one_reach_while_nobody_is_there_and_another_after_somebody_was(tmp_path: Path) -> None:
    with ResponsesServer([stream(search("memory"), message(ORPHAN))]) as server, ReachBench(
        tmp_path, server, autonomous_reach="on", reach_requests_per_5h=50, reach_requests_per_week=50
    ) as here:
        assert isinstance(here.daemon.run_once(), Due)
        assert here.stages == [Stage.DREAM, Stage.REACH]
        assert here.last_run().end is RunEnd.DONE
        assert here.last_run().reason == "empty; a reach was made, with the outcome orphan"
        assert here.ledger == [("external", "initiated"), ("external", "orphan")]
        seeds = (here.root / "dreams/Dream seeds.md").read_text(encoding="utf-8")
        assert (seeds.count("status: dreamt"), seeds.count("status: open")) == (1, 1)
        texts = [place.read_text(encoding="utf-8") for place in (here.root / "dreams").iterdir()]
        (told,) = (text for text in texts if "reach (Codex + web)" in text)
        assert "Nobody has said it." in told

        here.daemon.run_once()
        assert here.stages[2:] == [Stage.DREAM]  # the same absence: no second reach
        assert len(server.metered) == 1

        here.somebody_types()
        assert isinstance(here.daemon.run_once(), NotYet)
        here.goes_away()
        here.daemon.run_once()
        assert here.stages[3:] == [Stage.DREAM, Stage.REACH]
        assert len(server.metered) == 2


def test_whoever_comes_back_ends_it_and_what_was_said_is_kept(tmp_path: Path) -> None:
    half = stream(search("memory"), message("ORPHAN\nNobody has"), hold=True)
    with ResponsesServer([half]) as server, ReachBench(tmp_path, server, autonomous_reach="on") as here:
        def return_once_it_has_spoken() -> None:
            here.pass_time()
            if _has_heard(here):
                here.somebody_types()
                here.pass_time()

        here.sensors.on_read = return_once_it_has_spoken
        here.daemon.run_once()
        assert here.last_run().end is RunEnd.INTERRUPTED
        assert "you typed or clicked" in here.last_run().reason
        assert not psutil.pid_exists(here.children[-1].pid)
        wait_until(lambda: not _codex_of(here.places.state), what="the end of Codex")
        assert here.ledger == [("external", "initiated"), ("external", "aborted")]
        assert len(server.metered) == 1
        kept = (here.daemon.state_folder / "runs.jsonl").read_text(encoding="utf-8")
        assert "Nobody has" in kept
        assert "status: dreamt" not in (here.root / "dreams/Dream seeds.md").read_text(encoding="utf-8")

        here.sensors.on_read = here.pass_time
        for _ in range(2):  # while somebody is there, once the note is quiet, and once only
            here.clock.advance(60.0)
            here.daemon._carry_out_ticks()
            here.daemon._ticks_at_s = here.clock.now_s
        assert len(server.metered) == 1
        (note,) = [path for path in (here.root / "dreams").iterdir() if "reach (Codex" in path.read_text("utf-8")]
        (block,) = parse_reach_blocks(note.read_text("utf-8"))[0]
        assert isinstance(block.outcome, NoAnswer)
        assert (block.outcome.sent, block.outcome.partial) == (True, "ORPHAN\nNobody has")
        assert "somebody came back" in block.outcome.reason
        assert here.ledger == [("external", "initiated"), ("external", "aborted")]


def test_a_daemon_that_is_told_to_stop_takes_the_reach_along(tmp_path: Path) -> None:
    with ResponsesServer([stream(message("HOMES"), hold=True)]) as server, ReachBench(
        tmp_path, server, autonomous_reach="on"
    ) as here:
        def stop_once_it_is_sent() -> None:
            here.pass_time()
            if server.metered:
                here.daemon.stop()

        here.sensors.on_read = stop_once_it_is_sent
        here.daemon.run_once()
        assert here.last_run().reason == "aria-dream was told to stop"
        wait_until(lambda: not _codex_of(here.places.state), what="the end of Codex")
        assert [verdict for _, verdict in here.ledger] == ["initiated", "aborted"]


@pytest.mark.parametrize(
    "hindrance", ["off", "battery", "no sensor", "unconfirmed", "no budget", "web-off"]
)
def test_nothing_is_sent_without_leave_mains_sensor_confirmation_and_budget(tmp_path: Path, hindrance: str) -> None:
    settings: dict[str, object] = {"autonomous_reach": "off" if hindrance == "off" else "on"}
    settings |= {"reach_requests_per_5h": 0} if hindrance == "no budget" else {}
    settings |= {"network": "web-off"} if hindrance == "web-off" else {}
    settings |= {"require_ac_power": "off"} if hindrance == "battery" else {}
    with ResponsesServer() as server, ReachBench(tmp_path, server, **settings) as here:
        if hindrance == "battery":
            here.sensors.plug = Plug.BATTERY
        if hindrance == "no sensor":
            here.sensors.on_read = lambda: setattr(here.sensors, "idle_s", NoSensor("headless"))
        if hindrance == "unconfirmed":
            (here.places.state / "consent.json").unlink()
        here.daemon.run_once()
        assert not server.seen
        assert not here.ledger
        if hindrance not in ("unconfirmed", "no budget"):
            assert Stage.REACH not in here.stages
        else:
            assert here.stages == [Stage.DREAM, Stage.REACH]
            said = here.last_run().reason
            assert ("confirmed" if hindrance == "unconfirmed" else "no reach: ") in said


def test_a_child_whose_parent_is_killed_ends_the_reach(tmp_path: Path) -> None:
    """The pipe of its leave ends: it ends Codex, writes down what came of it, and goes."""
    half = stream(message("HOMES\nboth"), hold=True)
    with ResponsesServer([half]) as server, ReachBench(tmp_path, server, autonomous_reach="on") as here:
        order = Order(root=here.root, stage=Stage.REACH, kind="reach", quiet_s=0.0, host="desk",
                      state_folder=here.daemon.state_folder)  # fmt: skip
        child = here.launch(order, lambda: None)

        def give_until_it_reaches() -> bool:
            child.grant_permit()
            return _has_heard(here)

        wait_until(give_until_it_reaches, timeout_s=90.0, what="the reach")
        child._process.stdin.close()
        wait_until(lambda: child.ended() is not None, what="the child's end")
        wait_until(lambda: not _codex_of(here.places.state), what="the end of Codex")
        assert [verdict for _, verdict in here.ledger] == ["initiated", "aborted"]


def _has_heard(here: ReachBench) -> bool:
    return here.heard.exists() and "agent_message" in here.heard.read_text(encoding="utf-8")


def _codex_of(state: Path) -> list[int]:
    found = []
    for process in psutil.process_iter():
        try:
            if str(state) in process.environ().get("CODEX_HOME", "") and process.status() != psutil.STATUS_ZOMBIE:
                found.append(process.pid)
        except psutil.Error:
            continue
    return found
