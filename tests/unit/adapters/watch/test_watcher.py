"""The watcher by a clock and with events that the test holds: when it looks, what it believes, and what it tells."""

from __future__ import annotations

import os
import shutil
from dataclasses import replace
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import pytest

from aria_dream.adapters.disk.files import DiskVault
from aria_dream.adapters.index.index import read_vault
from aria_dream.adapters.watch.vault_change import Gone, Present, Shrunk
from aria_dream.adapters.watch.watcher import MAX_DELAY_S
from aria_dream.adapters.watch.watching import WALK_EVERY_S, Mode
from aria_dream.errors import VaultUnreadableError
from aria_dream.markdown.note import NotePath
from aria_dream.vault.edit import ChangeSet, plan_append
from aria_dream.vault.names import Refusal
from aria_dream.world import Written
from tests.watched import Bench, assert_same, places_in, text_is, write

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from aria_dream.adapters.watch.vault_change import VaultState

GARDEN = {f"Note {number}.md": f"[[Note {number + 1}]] text {number}\n" for number in range(20)}


@pytest.fixture
def bench(tmp_path: Path) -> Iterator[Bench]:
    root = write(tmp_path / "vault", GARDEN)
    with Bench(root, places_in(tmp_path), state_folder=tmp_path / "state" / "v") as bench:
        yield bench


def fresh_is_same(bench: Bench) -> None:
    assert_same(bench.watcher.index, read_vault(bench.root, None))


def state_of(bench: Bench) -> VaultState:
    return bench.watcher.state


def may_write(bench: Bench) -> bool:
    return bench.watcher.may_write


def test_a_saved_note_is_in_the_graph_after_the_debounce_and_not_before(bench: Bench) -> None:
    write(bench.root, {"Note 3.md": "now to [[Note 9]]\n"})
    bench.tell("Note 3.md")
    assert bench.after(0.2) is None
    change = bench.after(0.2)
    assert change is not None
    assert change.edited == ("Note 3.md",)
    assert change.foreign == ("Note 3.md",)
    assert [link.target for link in change.index.links_of("Note 3.md")] == ["Note 9.md"]
    fresh_is_same(bench)


def test_only_the_saved_note_is_read(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    import aria_dream.adapters.index.contents as contents

    read: list[str] = []
    real = contents._read

    def spy(root: str, path: str, *rest: Any) -> bytes | None:
        read.append(path)
        return real(root, path, *rest)

    monkeypatch.setattr(contents, "_read", spy)
    write(bench.root, {"Note 3.md": "other\n"})
    bench.tell("Note 3.md")
    assert bench.quiet()
    assert read == ["Note 3.md"]


def test_a_vault_that_never_rests_is_looked_at_all_the_same(bench: Bench) -> None:
    told = []
    for number in range(200):
        write(bench.root, {"Note 1.md": f"typing {number}\n"})
        bench.tell("Note 1.md")
        told.append(bench.after(0.2))
    looks = [change for change in told if change]
    assert len(looks) == int(200 * 0.2 / MAX_DELAY_S)


def test_a_burst_is_one_pass(bench: Bench) -> None:
    for number in range(20_000):
        bench.tell(f"n{number % 2000}.md")
    write(bench.root, {f"n{number}.md": f"[[Note {number % 20}]]" for number in range(200)})
    change = bench.quiet()
    assert change is not None
    assert len(change.created) == 200
    assert bench.quiet() is None
    fresh_is_same(bench)


def test_the_box_is_bounded(bench: Bench) -> None:
    for number in range(100_000):
        bench.tell(f"{number}.md")
    assert bench.box is not None
    hints = bench.box.take()
    assert hints.whole
    assert len(hints.paths) == 0


def test_a_touch_without_a_change_tells_nothing_and_is_no_edit(bench: Bench) -> None:
    os.utime(bench.root / "Note 3.md", (1, 1))
    bench.tell("Note 3.md")
    assert bench.quiet() is None
    assert bench.watcher.last_foreign_edit_s() is None


def test_written_twice_within_a_tick_of_the_clock(bench: Bench) -> None:
    note = bench.root / "Note 3.md"
    status = note.stat()
    write(bench.root, {"Note 3.md": "[[Note 7]] text 3\n"})  # the same size, and `stat` as it was
    os.utime(note, ns=(status.st_atime_ns, status.st_mtime_ns))
    scan = bench.watcher.index.scan
    known = dict(scan.snapshot.files)
    known["Note 3.md"] = known["Note 3.md"]._replace(changed_ns=note.stat().st_ctime_ns)
    scan.snapshot.files.update(known)  # type: ignore[attr-defined]  # the mapping is a dict
    bench.clock.advance(WALK_EVERY_S)
    change = bench.watcher.wait(0)
    assert change is not None
    assert change.edited == ("Note 3.md",)
    assert text_is(bench.watcher, "Note 3.md", "[[Note 7]] text 3\n")
    fresh_is_same(bench)


def test_what_events_lost_the_slow_walk_finds(bench: Bench) -> None:
    write(bench.root, {"Note 3.md": "lost\n", "new/deep/er.md": "[[Note 3]]"})
    (bench.root / "Note 5.md").unlink()
    assert bench.after(10) is None
    change = bench.after(WALK_EVERY_S) or bench.quiet()
    assert change is not None
    assert (change.created, change.edited, change.removed) == (("new/deep/er.md",), ("Note 3.md",), ("Note 5.md",))
    fresh_is_same(bench)


def test_a_note_that_is_away_during_one_look_was_not_removed(bench: Bench) -> None:
    (bench.root / "Note 3.md").rename(bench.root / "Note 3.md~")  # vim, half way
    bench.tell("Note 3.md", "Note 3.md~")
    assert bench.after(0.4) is None
    write(bench.root, {"Note 3.md": "saved\n"})
    (bench.root / "Note 3.md~").unlink()
    change = bench.after(0.4)
    assert change is not None
    assert (change.edited, change.removed, change.created, change.renamed) == (("Note 3.md",), (), (), ())


def test_a_removed_note_is_told_at_the_second_look(bench: Bench) -> None:
    (bench.root / "Note 3.md").unlink()
    bench.tell("Note 3.md")
    assert bench.after(0.4) is None
    assert "Note 3.md" in bench.watcher.index.files
    change = bench.after(0.4)
    assert change is not None
    assert change.removed == ("Note 3.md",)
    fresh_is_same(bench)


@pytest.mark.parametrize("how", ["rename", "copy and remove"])
def test_another_case_is_the_same_note(bench: Bench, how: str) -> None:
    if how == "rename":
        (bench.root / "Note 3.md").rename(bench.root / "nOTE 3.md")
    else:
        text = (bench.root / "Note 3.md").read_text()
        write(bench.root, {"other.bin": "takes the inode"})
        (bench.root / "Note 3.md").unlink()
        write(bench.root, {"takes another.bin": "x", "nOTE 3.md": text + "and more\n"})
    bench.tell("Note 3.md", "nOTE 3.md", "other.bin", "takes another.bin")
    change = bench.quiet()
    assert change is not None
    assert change.renamed == (("Note 3.md", "nOTE 3.md"),)
    assert change.removed == ()
    fresh_is_same(bench)


def test_a_note_moved_by_copy_is_the_same_note(bench: Bench) -> None:
    text = (bench.root / "Note 3.md").read_text()
    write(bench.root, {"elsewhere/Other name.md": text})
    (bench.root / "Note 3.md").unlink()
    bench.tell("Note 3.md", "elsewhere/Other name.md")
    change = bench.quiet()
    assert change is not None
    assert change.renamed == (("Note 3.md", "elsewhere/Other name.md"),)


def test_a_folder_moved_out_and_in_again(bench: Bench, tmp_path: Path) -> None:
    write(bench.root, {"folder/a.md": "[[b]]", "folder/deep/b.md": "[[a]]"})
    bench.tell("folder", is_folder=True)
    assert bench.quiet()
    (bench.root / "folder").rename(tmp_path / "outside")
    bench.tell("folder", is_folder=True)  # all that watchdog says
    change = bench.quiet()
    assert change is not None
    assert change.removed == ("folder/a.md", "folder/deep/b.md")
    (tmp_path / "outside").rename(bench.root / "back")
    bench.tell("back", is_folder=True)
    change = bench.quiet()
    assert change is not None
    assert change.created == ("back/a.md", "back/deep/b.md")
    fresh_is_same(bench)


@pytest.mark.parametrize(
    "path",
    [".obsidian/workspace.json", ".obsidian/plugins/x/data.json", ".git/index.lock", ".goutputstream-X1", ".trash/a.md",
     "folder/.aria-1234-0", ".obsidian/app.json.tmp"],
)  # fmt: skip
def test_churn_that_is_no_note_does_not_wake(bench: Bench, path: str) -> None:
    bench.tell(path)
    assert not bench.watcher.has_news
    assert bench.watcher.last_foreign_edit_s() is None


def test_saved_settings_are_read_again(bench: Bench) -> None:
    write(bench.root, {".obsidian/app.json": '{"userIgnoreFilters": ["Note 1"]}'})
    bench.tell(".obsidian", is_folder=True)
    change = bench.quiet()
    assert change is not None
    assert change.settings_changed
    assert change.foreign == ()
    write(bench.root, {".obsidian/app.json": "{}"})
    bench.tell(".obsidian/app.json")
    change = bench.quiet()
    assert change is not None
    assert change.settings_changed
    fresh_is_same(bench)


def test_every_settings_file_that_is_read_is_watched(bench: Bench) -> None:
    import inspect
    import re

    from aria_dream.adapters.disk import config_folder
    from aria_dream.adapters.watch.watch_events import SETTINGS_FILES

    named = set(re.findall(r'"([\w/-]+\.json)"', inspect.getsource(config_folder)))
    assert named == SETTINGS_FILES


def append(bench: Bench, tmp_path: Path, path: str, text: str) -> None:
    """One of our own writes, as any of our processes does it."""
    disk = DiskVault(bench.root, tmp_path / "state" / "v")
    before = (bench.root / path).read_bytes() if (bench.root / path).exists() else None
    plan = plan_append(NotePath(path), before, text)
    assert not isinstance(plan, Refusal)
    assert isinstance(disk.write(ChangeSet(writes=(plan,)), label="test"), Written)


def test_our_own_writes_are_known_by_content_whenever_they_are_seen(bench: Bench, tmp_path: Path) -> None:
    append(bench, tmp_path, "Note 3.md", "## Related\n\n[[Note 9]]\n")
    append(bench, tmp_path, "new/Dream.md", "a dream\n")
    write(bench.root, {"Note 4.md": "the writer's\n"})
    change = bench.after(WALK_EVERY_S)
    assert change is not None
    assert change.own == ("Note 3.md", "new/Dream.md")
    assert change.foreign == ("Note 4.md",)


def test_our_own_writes_leave_the_vault_quiet(bench: Bench, tmp_path: Path) -> None:
    append(bench, tmp_path, "Note 3.md", "more\n")
    bench.tell("Note 3.md")
    assert bench.watcher.last_foreign_edit_s() == 0.0  # it may be somebody typing, until it is looked at
    assert bench.quiet()
    assert bench.watcher.last_foreign_edit_s() is None
    write(bench.root, {"Note 3.md": "the writer's now\n"})
    bench.tell("Note 3.md")
    assert bench.quiet()
    bench.clock.advance(60)
    seconds = bench.watcher.last_foreign_edit_s()
    assert seconds == pytest.approx(60.4, abs=0.41)


def test_a_writer_who_takes_our_change_back_is_a_writer(bench: Bench, tmp_path: Path) -> None:
    before = (bench.root / "Note 3.md").read_text()
    append(bench, tmp_path, "Note 3.md", "ours\n")
    bench.tell("Note 3.md")
    assert bench.quiet()
    write(bench.root, {"Note 3.md": before})
    bench.tell("Note 3.md")
    change = bench.quiet()
    assert change is not None
    assert change.foreign == ("Note 3.md",)


def test_a_vault_whose_folder_went_away_is_gone_until_it_is_back(bench: Bench, tmp_path: Path) -> None:
    bench.root.rename(tmp_path / "unmounted")
    assert bench.watcher.wait(0) is None
    assert isinstance(state_of(bench), Gone)
    assert "nothing is written until it is back" in str(state_of(bench))
    assert not may_write(bench)
    assert len(bench.watcher.index.files) == 20
    assert bench.after(3600 * 48) is None
    assert isinstance(state_of(bench), Gone)
    (tmp_path / "unmounted").rename(bench.root)
    write(bench.root, {"Note 3.md": "edited elsewhere\n"})
    assert not may_write(bench)  # not before it was looked at
    change = bench.watcher.wait(0)
    assert change is not None
    assert change.edited == ("Note 3.md",)
    assert state_of(bench) == Present()
    fresh_is_same(bench)


def test_an_empty_folder_where_the_vault_was_is_a_drive_that_is_not_mounted(bench: Bench, tmp_path: Path) -> None:
    bench.root.rename(tmp_path / "unmounted")
    bench.root.mkdir()
    bench.tell("")
    assert bench.watcher.wait(0) is None
    assert isinstance(state_of(bench), Gone)
    bench.root.rmdir()
    (tmp_path / "unmounted").rename(bench.root)
    bench.watcher.wait(0)
    assert may_write(bench)
    fresh_is_same(bench)


def test_the_observer_is_started_anew_when_the_vault_is_back(tmp_path: Path) -> None:
    started = []

    def observe(root: Path, box: object) -> object:
        from tests.watched import Silent

        started.append(Silent())
        return started[-1]

    bench = Bench(write(tmp_path / "vault", GARDEN), places_in(tmp_path), observe=observe)
    bench.root.rename(tmp_path / "away")
    assert not may_write(bench)
    (tmp_path / "away").rename(bench.root)
    bench.watcher.wait(0)
    assert [observer.stopped for observer in started] == [True, False]
    bench.watcher.close()
    assert started[-1].stopped


def test_a_sudden_shrinking_stops_all_writing_until_the_notes_are_back(bench: Bench) -> None:
    kept = {path: (bench.root / path).read_text() for path in GARDEN}
    for number in range(12):
        (bench.root / f"Note {number}.md").unlink()
        bench.tell(f"Note {number}.md")
    assert bench.quiet() is None
    state = state_of(bench)
    assert isinstance(state, Shrunk)
    assert state.reason.startswith("12 of 20 files vanished at once; nothing is written")
    assert not may_write(bench)
    assert len(bench.watcher.index.files) == 20
    write(bench.root, kept)
    assert bench.after(60) is not None or may_write(bench)
    assert may_write(bench)
    fresh_is_same(bench)


def test_a_slow_removal_is_one_shrinking(bench: Bench) -> None:
    for number in range(12):
        (bench.root / f"Note {number}.md").unlink()
        bench.tell(f"Note {number}.md")
        bench.quiet()
    assert isinstance(state_of(bench), Shrunk)


def test_a_real_mass_deletion_is_accepted_after_an_hour_or_when_the_writer_says_so(bench: Bench) -> None:
    def remove(numbers: range) -> None:
        for number in numbers:
            (bench.root / f"Note {number}.md").unlink()
        bench.tell("", is_folder=True)

    remove(range(12))
    assert bench.quiet() is None
    for _ in range(59):
        assert bench.after(60) is None
    assert not may_write(bench)
    change = bench.after(120)
    assert change is not None
    assert len(change.removed) == 12
    assert may_write(bench)
    write(bench.root, {f"Note {number}.md": "" for number in range(12)})
    bench.tell("", is_folder=True)
    assert bench.quiet()
    fresh_is_same(bench)


def test_a_small_vault_may_lose_what_it_likes(tmp_path: Path) -> None:
    with Bench(write(tmp_path / "vault", {"a.md": "", "b.md": "", "c.md": ""}), places_in(tmp_path)) as bench:
        (bench.root / "a.md").unlink()
        (bench.root / "b.md").unlink()
        bench.tell("a.md", "b.md")
        assert bench.quiet()
        assert may_write(bench)


def count_walks(monkeypatch: pytest.MonkeyPatch) -> list[Path]:
    """Grows with every walk over the whole vault."""
    import aria_dream.adapters.watch.watcher as module
    from aria_dream.adapters.index.scan import VaultScan, scan_vault

    walks: list[Path] = []

    def spy(root: Path) -> VaultScan:
        walks.append(root)
        return scan_vault(root)

    monkeypatch.setattr(module, "scan_vault", spy)
    return walks


def test_a_folder_that_changes_its_number_all_the_time_costs_no_more_than_a_walk_a_minute(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    import aria_dream.adapters.watch.watcher as module
    from aria_dream.adapters.watch.vault_change import VaultFolder

    walks = count_walks(monkeypatch)
    numbers = iter(range(10_000))
    monkeypatch.setattr(module, "read_vault_folder", lambda *_, **__: VaultFolder(1, next(numbers)))
    for _ in range(600):
        bench.after(1)
    assert 1 <= len(walks) <= 11
    assert may_write(bench)


def test_a_missing_vault_is_an_error_and_leaves_no_thread(tmp_path: Path) -> None:
    import threading

    from aria_dream.adapters.watch.watcher import VaultWatcher

    before = threading.active_count()
    with pytest.raises(VaultUnreadableError):
        VaultWatcher(tmp_path / "nowhere", places_in(tmp_path))
    assert threading.active_count() == before


def test_walks_are_as_rare_as_they_may_be(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    walks = count_walks(monkeypatch)
    for _ in range(3600):
        assert bench.after(1) is None
    assert len(walks) == 3600 // WALK_EVERY_S
    assert bench.watcher.report.mode is Mode.EVENTS


def test_a_note_that_could_not_be_read_is_read_when_it_can(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    import aria_dream.adapters.index.contents as contents

    real = contents._read
    monkeypatch.setattr(contents, "_read", lambda *_: None)
    write(bench.root, {"locked.md": "[[Note 1]]"})
    bench.tell("locked.md")
    assert bench.quiet()
    assert bench.watcher.index.links_of("locked.md") == ()
    monkeypatch.setattr(contents, "_read", real)
    assert bench.after(WALK_EVERY_S)
    assert [link.target for link in bench.watcher.index.links_of("locked.md")] == ["Note 1.md"]


def test_a_call_ends_the_wait_from_any_thread(tmp_path: Path) -> None:
    import threading

    from aria_dream.adapters.watch.watcher import VaultWatcher

    root = write(tmp_path / "vault", GARDEN)
    with VaultWatcher(root, places_in(tmp_path)) as watcher:
        threading.Timer(0.05, watcher.call).start()
        assert watcher.wait(3600) is None
    shutil.rmtree(root)


def test_a_folder_that_cannot_be_read_is_not_a_removal(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    """A drive mounted inside the vault that fails: its notes are out of sight, not gone."""
    import aria_dream.adapters.watch.watcher as module
    from aria_dream.adapters.index.scan import VaultScan, scan_vault
    from aria_dream.errors import Problem
    from aria_dream.vault.snapshot import Snapshot

    write(bench.root, {"drive/a.md": "[[Note 1]]", "drive/b.md": ""})
    bench.tell("drive", is_folder=True)
    assert bench.quiet()

    def failing(root: Path) -> VaultScan:
        scan = scan_vault(root)
        seen = {path: state for path, state in scan.snapshot.files.items() if not path.startswith("drive/")}
        return replace(scan, snapshot=Snapshot(seen), problems=(Problem("drive", 0, "cannot be read"),))

    monkeypatch.setattr(module, "scan_vault", failing)
    bench.tell("drive", is_folder=True)
    assert bench.quiet() is None
    state = state_of(bench)
    assert isinstance(state, Shrunk)
    assert state.reason.startswith("2 files are out of sight because the folder drive cannot be read; nothing is")
    assert "drive/a.md" in bench.watcher.index.files
    monkeypatch.setattr(module, "scan_vault", scan_vault)
    bench.after(60)
    assert may_write(bench)
    fresh_is_same(bench)


def test_a_look_is_followed_by_a_rest_in_proportion(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    """In a large vault, where a look takes long, a writer who saves every second does not keep a core busy."""
    import aria_dream.adapters.watch.watcher as module
    from aria_dream.adapters.index.scan import VaultScan, rescan

    looks: list[float] = []

    def slow(before: VaultScan, paths: frozenset[str]) -> VaultScan:
        looks.append(bench.clock.now_s)
        bench.clock.advance(0.5)
        return rescan(before, paths)

    monkeypatch.setattr(module, "rescan", slow)
    for number in range(100):
        write(bench.root, {"Note 1.md": f"{number}"})
        bench.tell("Note 1.md")
        bench.after(0.5)
        bench.after(0.5)
    assert len(looks) >= 10
    assert all(later - earlier >= 5.5 for earlier, later in pairwise(looks))


def test_broken_settings_are_told_and_heal(bench: Bench) -> None:
    write(bench.root, {".obsidian/app.json": "{}"})
    bench.tell(".obsidian", is_folder=True)
    bench.quiet()
    for text, is_broken in (("{broken", True), ("{}", False)):
        write(bench.root, {".obsidian/app.json": text})
        bench.tell(".obsidian/app.json")
        assert bench.quiet() is None
        assert any(problem.path == ".obsidian/app.json" for problem in bench.watcher.index.problems) is is_broken
