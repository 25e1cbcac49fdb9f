"""The daemon decides, starts, attends and ends, on a real vault with a clock, sensors and children that obey."""

from __future__ import annotations

import logging
import shutil
from datetime import date, timedelta
from itertools import pairwise
from typing import TYPE_CHECKING

import pytest

from aria_dream.adapters.child.episode_process import EpisodeEnd
from aria_dream.adapters.disk.files import DiskVault
from aria_dream.adapters.state.run_store import RunStore
from aria_dream.daemon import Parting
from aria_dream.markdown.note import NotePath
from aria_dream.notes.review_note import ReviewItem, render_managed, render_review_head
from aria_dream.policy.triggers import Stage
from aria_dream.schedule.due import Due, NotYet
from aria_dream.schedule.presence import Known, NoSensor, Plug, SensorFailed
from aria_dream.vault.edit import ABSENT, ChangeSet, WritePlan, content_hash
from aria_dream.world import Written
from tests.daemon_bench import NOTES, DaemonBench, FakeEpisode, policy
from tests.reviewed import COMPOST, logged

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from aria_dream.adapters.child.episode_process import Order
    from aria_dream.adapters.watch.vault_change import VaultChange

MINUTE, HOUR = 60.0, 3600.0
SEED = "## 2026-11-29 — What they share\n- kind: internal\n- status: open\n- resonance: [[Compost]]\n"


def failing(_order: object) -> FakeEpisode:
    return FakeEpisode(units=0, end_=EpisodeEnd(error="ValueError in ranking/walk.py:1", exit_code=1))


def test_an_idle_machine_dreams_and_rests_and_stops_at_the_cap(tmp_path: Path) -> None:
    with DaemonBench(tmp_path, policy(cooldown_min=30, daily_dream_cap=3)) as bench:
        bench.run_for(4 * HOUR)
        assert [(order.kind, order.host) for order in bench.orders] == [("idle dream", "desk")] * 3
        assert bench.ends == ["done"] * 3
        starts = [run.at for run in bench.log.runs]
        assert all(later - earlier >= timedelta(minutes=30) for earlier, later in pairwise(starts))
        assert bench.status.doing == "stopped"
        assert bench.status.holds == ("cap",)


@pytest.mark.parametrize(
    ("blocker", "said", "change"),
    [
        ("input", "you typed", lambda bench: setattr(bench.sensors, "idle_s", Known(3.0))),
        ("input", "it cannot be told", lambda bench: setattr(bench.sensors, "idle_s", SensorFailed("odd"))),
        ("input", "quiet hours", lambda bench: setattr(bench.sensors, "idle_s", NoSensor("none"))),
        ("power", "battery", lambda bench: setattr(bench.sensors, "plug", Plug.BATTERY)),
        ("load", "busy", lambda bench: setattr(bench.sensors, "load", 90.0)),
        ("policy", "`dreaming` is off", lambda bench: bench.save("dreaming.md", policy(dreaming="off"))),
        ("policy", "gone", lambda bench: (bench.root / "dreaming.md").unlink()),
        ("host", "attic", lambda bench: bench.save("dreaming.md", policy(host="attic"))),
        ("vault", "gone", lambda bench: bench.root.rename(bench.folder / "away")),
    ],
)
def test_what_holds_a_dream_back_is_said(
    tmp_path: Path, blocker: str, said: str, change: Callable[[DaemonBench], None]
) -> None:
    with DaemonBench(tmp_path, policy()) as bench:
        change(bench)
        verdict = bench.daemon.run_once()
        assert isinstance(verdict, NotYet)
        assert bench.orders == []
        assert blocker in bench.status.holds
        assert said in bench.status.reason


def test_no_unit_of_work_starts_after_somebody_came_back(tmp_path: Path) -> None:
    """Leave for a unit is only given right after a look, and the look that finds somebody ends the child."""
    with DaemonBench(tmp_path, policy()) as bench:
        bench.make = lambda _order: FakeEpisode(units=1000)
        started_when_they_came: list[int] = []

        def come() -> None:
            bench.sensors.idle_s = Known(0.0)
            started_when_they_came.append(len(bench.episodes[0].started))

        bench.at(9.7, come)
        bench.daemon.run_once()
        (episode,) = bench.episodes
        assert episode.was_ended
        assert started_when_they_came == [len(episode.started)]
        assert len(episode.started) > 10
        assert bench.ends == ["interrupted"]
        assert "you typed" in bench.log.runs[0].reason


@pytest.mark.parametrize(
    ("said", "event"),
    [
        ("battery", lambda bench: setattr(bench.sensors, "plug", Plug.BATTERY)),
        ("cannot be told any more", lambda bench: setattr(bench.sensors, "idle_s", SensorFailed("odd"))),
        ("`dreaming` is off", lambda bench: bench.save("dreaming.md", policy(dreaming="off"))),
        ("gone", lambda bench: (bench.root / "dreaming.md").unlink()),
        ("gone", lambda bench: bench.root.rename(bench.folder / "away")),
        ("a note was edited", lambda bench: bench.save("Compost.md", "another text\n")),
        ("told to stop", lambda bench: bench.daemon.stop()),
    ],
)
def test_whatever_forbids_a_dream_ends_it(tmp_path: Path, said: str, event: Callable[[DaemonBench], None]) -> None:
    with DaemonBench(tmp_path, policy()) as bench:
        bench.make = lambda _order: FakeEpisode(units=50, on_unit=lambda unit: event(bench) if unit == 3 else None)
        bench.daemon.run_once()
        (episode,) = bench.episodes
        assert episode.started == [1, 2, 3]
        assert episode.was_ended
        assert bench.ends == ["interrupted"]
        assert said in bench.log.runs[0].reason


def test_an_interrupted_dream_is_none_of_the_day(tmp_path: Path) -> None:
    with DaemonBench(tmp_path, policy(daily_dream_cap=1, cooldown_min=30)) as bench:
        def unplug(_unit: int) -> None:
            bench.sensors.plug = Plug.BATTERY if len(bench.orders) < 3 else Plug.MAINS

        bench.make = lambda _order: FakeEpisode(units=5, on_unit=unplug)
        bench.at(20 * MINUTE, lambda: setattr(bench.sensors, "plug", Plug.MAINS))
        bench.at(60 * MINUTE, lambda: setattr(bench.sensors, "plug", Plug.MAINS))
        bench.run_for(4 * HOUR)
        assert bench.ends == ["interrupted", "interrupted", "done"]


def test_what_the_child_writes_is_no_edit(tmp_path: Path) -> None:
    with DaemonBench(tmp_path, policy()) as bench:

        def write_dream(unit: int) -> None:
            path = f"dreams/2026-11-30 dream {unit}.md"
            plan = WritePlan(path=NotePath(path), expected_hash=ABSENT, content=b"---\naria-dream: log\n---\n")
            files = DiskVault(bench.root, bench.daemon.state_folder)
            assert isinstance(files.write(ChangeSet(writes=(plan,))), Written)
            bench.tell(path)

        bench.watcher.is_called = True
        bench.make = lambda _order: FakeEpisode(units=4, on_unit=write_dream)
        bench.daemon.run_once()
        assert bench.ends == ["done"]
        assert not bench.episodes[0].was_ended


def test_a_bad_line_is_reported_once_and_closes_and_heals(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO, "aria_dream")
    with DaemonBench(tmp_path, policy(dreaming="perhaps")) as bench:
        bench.run_for(10 * MINUTE)
        assert any("dreaming.md:5" in problem for problem in bench.status.problems)
        assert bench.status.holds == ("policy",)
        bench.save("dreaming.md", policy())
        bench.run_for(40 * MINUTE)
        assert len(bench.orders) == 1
        said = [record.getMessage() for record in caplog.records if "dreaming.md:5" in record.getMessage()]
        assert [sentence.startswith("no longer so: ") for sentence in said if "closed because" not in sentence] == [
            False, True,
        ]  # fmt: skip
        assert bench.status.problems == ()


def test_a_saved_policy_counts_at_once(tmp_path: Path) -> None:
    """Not only at the next look, which may be an hour away."""
    with DaemonBench(tmp_path, policy(dreaming="off", poll_s=3600)) as bench:
        blockers: list[tuple[str, ...]] = []
        bench.at(4 * MINUTE, lambda: blockers.append(bench.status.holds))
        bench.at(5 * MINUTE, lambda: bench.save("dreaming.md", policy(dreaming="on", poll_s=300)))
        bench.at(6 * MINUTE, lambda: blockers.append(bench.status.holds))
        bench.run_for(30 * MINUTE)
        assert blockers == [("policy",), ("input",)]
        assert bench.watcher.poll_s == 300.0
        assert bench.ends == ["done"]


def test_a_trigger_alone_makes_no_reach(tmp_path: Path) -> None:
    notes = {**NOTES, "triggers.md": "---\naria-dream: triggers\n---\n- on_idle: reach, dream\n"}
    with DaemonBench(tmp_path, policy(), notes) as bench:
        bench.run_for(2 * HOUR)
        assert {order.stage for order in bench.orders} == {Stage.DREAM}


@pytest.mark.parametrize("fails", [False, True])
def test_a_reach_follows_the_dream_once_while_nobody_is_there(tmp_path: Path, fails: bool) -> None:
    with DaemonBench(tmp_path, policy(autonomous_reach="on", daily_dream_cap=100, nightly="off")) as bench:
        bad = EpisodeEnd(error="OSError", exit_code=1)
        bench.make = lambda order: FakeEpisode(end_=bad) if fails and order.stage is Stage.DREAM else FakeEpisode()
        bench.sensors.on_read = lambda: setattr(bench.sensors, "idle_s", Known(5_000.0 + bench.clock.now_s))
        bench.run_for(5 * HOUR)
        stages = [order.stage for order in bench.orders]
        assert stages.count(Stage.REACH) == (0 if fails else 1)
        assert stages.count(Stage.DREAM) > 2


def test_a_reach_is_ended_on_battery_whatever_the_policy_says_of_dreams(tmp_path: Path) -> None:
    text = policy(autonomous_reach="on", daily_dream_cap=0, nightly="off", require_ac_power="off")
    with DaemonBench(tmp_path, text) as bench:
        def unplug(number: int) -> None:
            bench.sensors.plug = Plug.BATTERY if number == 2 else Plug.MAINS

        bench.make = lambda _order: FakeEpisode(units=100, on_unit=unplug)
        bench.daemon.run_once()
        assert [order.stage for order in bench.orders] == [Stage.REACH]
        assert bench.episodes[0].started == [1, 2]
        assert bench.log.runs[-1].reason == "the machine runs on battery"


NIGHTLY = {**NOTES, "triggers.md": "---\naria-dream: triggers\n---\n- on_idle: none\n"}


def test_a_night_consolidates_then_learns_once(tmp_path: Path) -> None:
    with DaemonBench(tmp_path, policy(), NIGHTLY) as bench:
        bench.run_for(40 * HOUR)
        assert [order.stage for order in bench.orders] == [Stage.CONSOLIDATE, Stage.SYNTHESIZE] * 2
        assert [str(order.night) for order in bench.orders] == ["2026-12-01"] * 2 + ["2026-12-02"] * 2
        assert bench.ends == ["done", "done"]
        assert [run.finished for run in bench.log.runs] == [("consolidate", "synthesize")] * 2


def test_a_night_goes_on_with_the_stage_that_was_cut_off(tmp_path: Path) -> None:
    with DaemonBench(tmp_path, policy(), NIGHTLY) as bench:

        def unit(number: int) -> None:
            if len(bench.orders) == 2 and number == 2:
                bench.sensors.idle_s = Known(0.0)
                bench.at(20 * MINUTE, lambda: setattr(bench.sensors, "idle_s", Known(1e6)))

        bench.make = lambda _order: FakeEpisode(on_unit=unit)
        bench.run_for(20 * HOUR)
        assert [order.stage for order in bench.orders] == [Stage.CONSOLIDATE, Stage.SYNTHESIZE, Stage.SYNTHESIZE]
        assert bench.ends == ["interrupted", "done"]
        assert [run.finished for run in bench.log.runs] == [("consolidate",), ("synthesize",)]


def test_a_notice_tells_how_much_and_only_where_it_is_wanted(tmp_path: Path) -> None:
    result = {"episode": "e", "pairs": 1, "proposals": 2, "reason": "dreams/2026-11-30 dream.md"}
    for number, (wanted, told) in enumerate(
        [("on", ["While you were away: 1 pair of notes and 2 proposals to look at."]), ("off", [])]
    ):
        with DaemonBench(tmp_path / str(number), policy(notify=wanted)) as bench:
            bench.make = lambda _order: FakeEpisode(end_=EpisodeEnd(result=result))
            bench.daemon.run_once()
            assert bench.notices == told


def test_a_night_is_done_once_and_taken_up_again_where_it_was_interrupted(tmp_path: Path) -> None:
    notes = {**NOTES, "triggers.md": "---\naria-dream: triggers\n---\n- on_nightly: dream\n- on_idle: none\n"}
    with DaemonBench(tmp_path, policy(daily_dream_cap=9), notes) as bench:

        def unit(number: int) -> None:
            if len(bench.orders) == 1 and number == 2:
                bench.sensors.idle_s = Known(0.0)
                bench.at(20 * MINUTE, lambda: setattr(bench.sensors, "idle_s", Known(1e6)))

        bench.make = lambda _order: FakeEpisode(on_unit=unit)
        assert bench.now().hour == 12
        bench.run_for(48 * HOUR)
        assert {order.kind for order in bench.orders} == {"nightly dream"}
        assert [str(run.night) for run in bench.log.runs] == ["2026-12-01", "2026-12-01", "2026-12-02"]
        assert bench.ends == ["interrupted", "done", "done"]


def test_a_seed_starts_a_dream_once(tmp_path: Path) -> None:
    triggers = "---\naria-dream: triggers\n---\n- on_idle: none\n- on_nightly: none\n- on_seed: dream\n"
    notes = {**NOTES, "triggers.md": triggers}
    with DaemonBench(tmp_path, policy(daily_dream_cap=9), notes) as bench:
        bench.run_for(2 * HOUR)
        assert bench.orders == []
        bench.save("dreams/Dream seeds.md", f"---\naria-dream: seeds\n---\n{SEED}")
        bench.run_for(6 * HOUR)
        assert [order.kind for order in bench.orders] == ["seed dream"]
        bench.save("dreams/Dream seeds.md", f"---\naria-dream: seeds\n---\n{SEED}\n{SEED.replace('share', 'eat')}")
        bench.run_for(6 * HOUR)
        assert len(bench.orders) == 2


def test_the_day_belongs_to_the_machine_that_began_it(tmp_path: Path) -> None:
    log = '---\naria-dream: log\ndate: 2026-11-30\nhost: "attic"\n---\n'
    with DaemonBench(tmp_path, policy(), {**NOTES, "dreams/2026-11-30 dream.md": log}) as bench:
        bench.run_for(HOUR)
        assert bench.orders == []
        assert bench.status.holds == ("host",)
        bench.run_for(12 * HOUR)  # until tomorrow
        assert bench.orders != []


def test_ten_failures_slow_it_down_and_a_success_ends_that(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    with DaemonBench(tmp_path, policy(cooldown_min=0, daily_dream_cap=100)) as bench:
        bench.make = failing
        bench.run_for(12 * MINUTE)
        assert bench.ends == ["failed"] * 10
        assert bench.status.failures == 10
        assert "10 runs failed in a row" in bench.status.reason
        assert "ValueError in ranking/walk.py:1" in caplog.text
        bench.make = lambda _order: FakeEpisode()
        bench.run_for(50 * MINUTE)
        assert len(bench.orders) == 10
        bench.run_for(20 * MINUTE)
        assert bench.ends[10:]
        assert set(bench.ends[10:]) == {"done"}
        assert bench.status.failures == 0


def test_a_child_that_cannot_be_started_is_a_failure_and_no_end(tmp_path: Path) -> None:
    def refuse(_order: object) -> FakeEpisode:
        raise OSError(11, "Resource temporarily unavailable")

    with DaemonBench(tmp_path, policy()) as bench:
        bench.make = refuse
        bench.run_for(10 * MINUTE)
        assert bench.ends == ["failed"]
        assert "Resource temporarily unavailable" in bench.log.runs[0].reason


def test_a_look_that_crashes_ends_nothing(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    with DaemonBench(tmp_path, policy()) as bench:
        crashes = 12

        def crash() -> None:
            nonlocal crashes
            if crashes:
                crashes -= 1
                raise ZeroDivisionError("a note's words")

        bench.sensors.on_read = crash
        bench.run_for(9 * MINUTE + 30)
        assert (bench.status.doing, bench.status.failures) == ("slowed", 10)
        assert "ZeroDivisionError" in bench.status.reason
        assert "a note's words" not in caplog.text + bench.status.reason
        bench.run_for(4 * HOUR)
        assert "done" in bench.ends


@pytest.mark.parametrize("times", [3, 12])
def test_a_wait_that_crashes_ends_nothing_and_keeps_nobody_busy(
    tmp_path: Path, times: int, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whatever watches the vault may fail: a library, a drive that is pulled out."""
    with DaemonBench(tmp_path, policy()) as bench:
        wait, crashes = bench.watcher.wait, [KeyError(b"/vault/Old")] * times

        def crash(timeout_s: float) -> VaultChange | None:
            if crashes:
                raise crashes.pop()
            return wait(timeout_s)

        monkeypatch.setattr(bench.watcher, "wait", crash)
        bench.run_for(4 * HOUR)
        assert not crashes
        assert "KeyError in " in caplog.text
        assert "/vault/Old" not in caplog.text
        assert bench.ends[-1] == "done"
        assert bench.status.doing == "stopped"
        assert len(bench.watcher.waits) < 4 * 60 * 4


def test_ticks_whose_child_cannot_be_started_are_carried_out_later(tmp_path: Path) -> None:
    with DaemonBench(tmp_path, policy(tick_quiet_s=30, poll_s=60)) as bench:
        bench.sensors.idle_s = Known(0.0)
        refusals = [OSError(11, "Resource temporarily unavailable")] * 2

        def make(_order: Order) -> FakeEpisode:
            if refusals:
                raise refusals.pop()
            return FakeEpisode(end_=EpisodeEnd(result={"applied": 1}))

        bench.make = make
        bench.save("dreams/2026-11-30 dream.md", TICKABLE.format(mark="x"))
        bench.run_for(10 * MINUTE)
        assert [order.errand for order in bench.orders] == ["ticks"] * 3


@pytest.mark.parametrize("code", [3, 5, 6, 7])
def test_what_is_refused_is_no_failure(tmp_path: Path, code: int) -> None:
    with DaemonBench(tmp_path, policy()) as bench:
        bench.make = lambda _order: FakeEpisode(units=0, end_=EpisodeEnd(error="busy", exit_code=code))
        bench.daemon.run_once()
        assert bench.ends == ["refused"]
        assert bench.status.failures == 0


def test_a_vault_that_comes_back_is_dreamt_again(tmp_path: Path) -> None:
    with DaemonBench(tmp_path, policy()) as bench:
        away = tmp_path / "away"
        bench.root.rename(away)
        bench.run_for(HOUR)
        assert bench.orders == []
        assert bench.status.holds == ("vault",)
        assert not bench.root.exists()
        away.rename(bench.root)
        bench.run_for(HOUR)
        assert len(bench.orders) >= 1


def test_an_emptied_folder_is_no_vault(tmp_path: Path) -> None:
    with DaemonBench(tmp_path, policy()) as bench:
        for path in bench.root.iterdir():
            shutil.rmtree(path) if path.is_dir() else path.unlink()
        bench.run_for(HOUR)
        assert bench.orders == []
        assert list(bench.root.iterdir()) == []


def test_a_new_policy_note_moves_the_state(tmp_path: Path) -> None:
    with DaemonBench(tmp_path, None) as bench:
        bench.sensors.idle_s = Known(0.0)
        before = bench.daemon.state_folder
        bench.at(5 * MINUTE, lambda: bench.save("dreaming.md", policy()))
        assert bench.daemon.run() is Parting.MOVED
        bench.watcher.close()
        bench.open()
        assert bench.daemon.state_folder != before
        assert bench.daemon.state_folder.name == "abcdefgh23456789"


def test_it_wakes_no_more_often_than_it_must(tmp_path: Path) -> None:
    with DaemonBench(tmp_path, policy(poll_s=60)) as bench:
        bench.sensors.idle_s = Known(0.0)
        bench.run_for(10 * HOUR)
        looks = [wait for wait in bench.watcher.waits if wait > 1]
        assert len(bench.watcher.waits) <= 10 * 60 + 2
        assert all(wait >= 59.0 for wait in looks[:-1])


def test_edits_wake_it_and_do_not_make_it_look(tmp_path: Path) -> None:
    with DaemonBench(tmp_path, policy(poll_s=600)) as bench:
        looks = 0

        def look() -> None:
            nonlocal looks
            looks += 1

        bench.sensors.on_read = look
        bench.sensors.idle_s = Known(0.0)
        for number in range(50):
            bench.at(10 * number + 5, lambda number=number: bench.save("Compost.md", f"text {number}\n"))  # type: ignore[misc] # bound now
        bench.run_for(590)
        assert looks == 1


def test_a_run_torn_away_is_known_and_its_night_is_let_go_in_the_end(tmp_path: Path) -> None:
    notes = {**NOTES, "triggers.md": "---\naria-dream: triggers\n---\n- on_nightly: dream\n- on_idle: none\n"}
    with DaemonBench(tmp_path, policy(quiet_hours="11:00-13:00", cooldown_min=0, daily_dream_cap=9), notes) as bench:

        def die(_order: object) -> FakeEpisode:
            raise KeyboardInterrupt  # as SIGKILL: nothing is recorded any more

        for _ in range(5):
            bench.make = die
            try:
                verdict = bench.daemon.run_once()
            except KeyboardInterrupt:
                bench.clock.advance(60)
                bench.watcher.close()
                bench.open()
            else:
                assert isinstance(verdict, NotYet)
        assert bench.ends == ["broken off"] * 3


def test_nothing_starts_while_the_records_are_damaged(tmp_path: Path) -> None:
    with DaemonBench(tmp_path, policy()) as bench:
        store = bench.daemon.state_folder / "proposals.jsonl"
        store.mkdir()
        verdict = bench.daemon.run_once()
        assert isinstance(verdict, NotYet)
        assert "proposals.jsonl" in verdict.reason
        store.rmdir()
        assert isinstance(bench.daemon.run_once(), Due)


def test_the_first_daemon_of_a_vault_owes_no_earlier_night(tmp_path: Path) -> None:
    with DaemonBench(tmp_path, policy()) as bench:
        assert RunStore(bench.daemon.state_folder).read().log.since == bench.now()
        bench.clock.advance(1000)
        bench.watcher.close()
        bench.open()
        assert bench.log.since is not None
        assert bench.log.since < bench.now()


REVIEW = (
    "---\naria-dream: review\n---\n"
    "%% aria-dream review begin %%\nNothing is waiting for you.\n%% aria-dream review end %%\n"
)
TICKABLE = (
    "---\naria-dream: log\ndate: 2026-11-30\n---\n\n## 03:12 — idle dream\n\n"
    "Started cold from Compost (low-degree pick, seed 1).\nResonances nobody has drawn directly:\n\n"
    "- **[[Compost]] ↔ [[Sourdough starter]]** (0.714)\n"
    "  path: only the text connects them\n  kept: because (embedded judge, 0.81)\n"
    "    - [{mark}] link them ^aria-k3f9q2\n    - [ ] never again ^aria-k3f9q2-no\n"
)


def test_ticks_are_carried_out_after_a_quiet_while_though_somebody_is_there(tmp_path: Path) -> None:
    """No idleness is waited for: who ticks is there. An edit that ticks nothing starts no child."""
    with DaemonBench(tmp_path, policy(tick_quiet_s=30, poll_s=60)) as bench:
        bench.sensors.idle_s = Known(0.0)
        bench.save("dreams/Dream review.md", REVIEW)
        note = "dreams/2026-11-30 dream.md"
        bench.at(10 * MINUTE, lambda: bench.save(note, TICKABLE.format(mark=" ")))
        bench.at(20 * MINUTE, lambda: bench.save(note, TICKABLE.format(mark="x")))
        ticked_at_s = bench.clock.now_s + 20 * MINUTE
        began_s: list[float] = []

        def make(order: Order) -> FakeEpisode:
            began_s.append(bench.clock.now_s)
            assert (order.errand, order.quiet_s) == ("ticks", 30.0)
            return FakeEpisode(end_=EpisodeEnd(result={"applied": 1}))

        bench.make = make
        bench.run_for(HOUR)
        assert [order.errand for order in bench.orders] == ["ticks"]
        assert ticked_at_s + 30 <= began_s[0] <= ticked_at_s + 2 * MINUTE
        assert bench.log.runs == ()


def test_a_merge_of_a_syncs_copy_is_no_edit(tmp_path: Path) -> None:
    """The daemon's own writing before a dream ends no dream, and the child may write into the merged note."""
    review, copy = "dreams/Dream review.md", "dreams/Dream review.sync-conflict-20261201-001600-ABCDEFG.md"
    item = ReviewItem(kind="link", pair=logged(COMPOST), dreamt_on=date(2026, 11, 29))
    text = render_review_head() + render_managed([item]) + "\n"
    notes = {**NOTES, review: text, copy: text.replace("[ ] link", "[x] link")}
    with DaemonBench(tmp_path, policy(vault_quiet_s=0, tick_quiet_s=30), notes) as bench:
        written: list[object] = []

        def hear(_unit: int) -> None:
            bench.watcher.is_called = True  # so that the next look is the one that asks whether to stop
            bench.clock.advance(1.0)
            for path in (review, copy):
                bench.tell(path)

        def make(_order: Order) -> FakeEpisode:
            data = (bench.root / review).read_bytes()
            plan = WritePlan(path=NotePath(review), expected_hash=content_hash(data), content=data + b"x")
            files = DiskVault(bench.root, bench.daemon.state_folder)
            written.append(files.write(ChangeSet(writes=(plan,)), quiet_s=3600.0))
            return FakeEpisode(on_unit=hear)

        bench.make = make
        bench.daemon.run_once()
        assert not (bench.root / copy).exists()
        assert "[x] link" in (bench.root / review).read_text("utf-8")
        assert isinstance(written[0], Written)
        assert bench.ends == ["done"]
