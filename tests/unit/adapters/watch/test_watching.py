"""When events are trusted and when the vault is walked over instead: limits, drives, blindness; by scripted systems."""

from __future__ import annotations

import errno
import os
import sys
import threading
import time
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from aria_dream.adapters.index.index import read_vault
from aria_dream.adapters.watch.watch_events import EventBox, EventMeaning, Observing, WatchdogObserving, meaning_of
from aria_dream.adapters.watch.watch_probe import (
    Mount,
    WatchLimits,
    blind_sentence,
    count_unwatched,
    inotify_descriptors,
    limit_sentence,
    network_reason,
    read_folders,
    read_mounts,
    read_watch_inputs,
    read_watch_limits,
    read_watched,
)
from aria_dream.adapters.watch.watching import RETRY_S, WALK_EVERY_S, Mode
from tests.watched import GENEROUS_S, Bench, Silent, assert_same, places_in, write

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

NOTES = {"a.md": "[[b]]", "x/b.md": "[[c]]", "x/y/c.md": "[[a]]"}
OUTSIDE = "the vault is on a drive that changes from outside"
LIMITS = WatchLimits(
    watches=8192, watches_name="fs.inotify.max_user_watches",
    observers=128, observers_name="fs.inotify.max_user_instances",
)  # fmt: skip


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return write(tmp_path / "vault", NOTES)


class Refusing:
    """A system that refuses an observer, as long as it is told to."""

    def __init__(self, number: int) -> None:
        self.error: OSError | None = OSError(number, os.strerror(number))
        self.started = 0

    def __call__(self, _root: Path, _box: EventBox) -> Observing:
        if self.error is not None:
            raise self.error
        self.started += 1
        return Silent()


@pytest.mark.parametrize(
    ("number", "sysctl"),
    [(errno.ENOSPC, "sudo sysctl fs.inotify.max_user_watches=524288"),
     (errno.EMFILE, "sudo sysctl fs.inotify.max_user_instances=1024")],
)  # fmt: skip
def test_33_a_limit_at_the_start_leads_to_polling_and_names_the_sysctl(
    root: Path, tmp_path: Path, number: int, sysctl: str, caplog: pytest.LogCaptureFixture
) -> None:
    system = Refusing(number)
    with Bench(root, places_in(tmp_path), observe=system, limits=lambda: LIMITS, poll_s=60) as bench:
        report = bench.watcher.report
        assert report.mode is Mode.POLLING
        assert sysctl in report.why
        assert len([record for record in caplog.records if sysctl in record.getMessage()]) == 1
        write(root, {"x/b.md": "changed [[a]]", "new.md": ""})
        assert bench.after(30) is None
        change = bench.after(31)
        assert change is not None
        assert (change.created, change.edited) == (("new.md",), ("x/b.md",))
        assert_same(bench.watcher.index, read_vault(root, None))
        system.error = None
        for _ in range(int(RETRY_S // 60) + 1):
            bench.after(61)
        assert bench.watcher.report.mode is Mode.EVENTS
        assert system.started == 1


def test_the_silent_blindness_is_found_and_told(root: Path, tmp_path: Path) -> None:
    """FACTS: at the limit watchdog watches what it can and says nothing."""
    observers: list[Silent] = []

    def observe(_root: Path, _box: EventBox) -> Observing:
        observers.append(Silent())
        return observers[-1]

    def two_of_three(_: Iterable[int]) -> tuple[int, ...]:
        return read_folders(root)[:2]

    with Bench(root, places_in(tmp_path), observe=observe, watched=two_of_three, limits=lambda: LIMITS) as bench:
        for _ in range(3):
            bench.after(3)
        report = bench.watcher.report
        assert report.mode is Mode.POLLING
        assert report.why.startswith("1 of 3 folders cannot be watched; the system's limit (now 8192) is reached")
        assert (report.folders, report.watched) == (3, 2)
        assert len(observers) == 2  # it was tried once more before
        assert all(observer.stopped for observer in observers)
        write(root, {"x/y/c.md": "unheard"})
        change = bench.after(60)
        assert change is not None
        assert change.edited == ("x/y/c.md",)


def test_a_folder_that_appears_this_moment_is_no_blindness(root: Path, tmp_path: Path) -> None:
    watched = [read_folders(root)]
    with Bench(root, places_in(tmp_path), watched=lambda _: watched[0]) as bench:
        (root / "new").mkdir()
        bench.tell("new", is_folder=True)
        bench.quiet()
        watched[0] = read_folders(root)
        bench.after(3)
        assert bench.watcher.report.mode is Mode.EVENTS
        assert bench.watcher.report.folders == 4


def test_stray_watches_do_not_pile_up(root: Path, tmp_path: Path) -> None:
    observers: list[Silent] = []

    def observe(_root: Path, _box: EventBox) -> Observing:
        observers.append(Silent())
        return observers[-1]

    strays = tuple(range(10**9, 10**9 + 2000))
    with Bench(
        root, places_in(tmp_path), observe=observe,
        watched=lambda _: read_folders(root) + (strays if len(observers) == 1 else ()),
    ) as bench:  # fmt: skip
        bench.after(3)
        assert len(observers) == 2
        assert bench.watcher.report.mode is Mode.EVENTS


def test_changes_without_events_lead_to_polling(root: Path, tmp_path: Path) -> None:
    with Bench(root, places_in(tmp_path), wall_ns=lambda: 2 * 10**18) as bench:
        for number in range(2):
            write(root, {"a.md": f"from another machine {number}"})
            assert bench.after(WALK_EVERY_S)
        report = bench.watcher.report
        assert report.mode is Mode.POLLING
        assert "without the system telling" in report.why
        write(root, {"a.md": "and again"})
        assert bench.after(60)


def test_one_lost_event_is_no_reason_to_poll(root: Path, tmp_path: Path) -> None:
    with Bench(root, places_in(tmp_path), wall_ns=lambda: 2 * 10**18) as bench:
        write(root, {"a.md": "lost"})
        assert bench.after(WALK_EVERY_S)
        assert bench.watcher.report.mode is Mode.EVENTS


def test_a_network_drive_is_polled_and_no_observer_is_started(root: Path, tmp_path: Path) -> None:
    system = Refusing(0)
    system.error = None
    mounts = (Mount(place="/", kind="ext4"), Mount(place=str(tmp_path), kind="nfs4"))
    with Bench(root, places_in(tmp_path), observe=system, mounts=lambda: mounts) as bench:
        assert bench.watcher.report.mode is Mode.POLLING
        assert bench.watcher.report.why == "the vault is on a drive that changes from outside (nfs4)"
        for _ in range(100):
            bench.after(61)
        assert system.started == 0


@pytest.mark.parametrize(
    ("mounts", "expected"),
    [
        ([("/", "ext4")], ""),
        ([("/", "nfs"), ("/home", "ext4")], ""),
        ([("/home/ann", "ext4"), ("/home/an", "nfs")], ""),
        ([("/", "ext4"), ("/home/ann", "fuse.sshfs")], OUTSIDE + " (fuse.sshfs)"),
        ([("/", "ext4"), ("/home/ann", "fuseblk")], ""),
        ([("/", "ext4"), ("/home", "9p")], OUTSIDE + " (9p)"),
        ([("/", "ext4"), ("/home/ann/vault/Shared", "cifs")],
         "a folder of the vault is on a drive that changes from outside (cifs)"),
        ([("/", "overlay"), ("/home/ann/vault", "virtiofs")], OUTSIDE + " (virtiofs)"),
        ([], ""),
    ],
)  # fmt: skip
def test_drives(mounts: list[tuple[str, str]], expected: str) -> None:
    assert network_reason("/home/ann/vault", [Mount(place=place, kind=kind) for place, kind in mounts]) == expected


def test_windows_drives() -> None:
    mounts = [Mount(place="C:\\", kind="NTFS"), Mount(place="Z:\\", kind="NTFS", remote=True)]
    assert network_reason("C:\\vault", mounts) == ""
    assert network_reason("Z:\\vault", mounts)
    assert network_reason("\\\\server\\share\\vault", mounts) == "the vault is on a network drive"


def test_the_mounts_of_this_machine_can_be_read() -> None:
    assert any(mount.place for mount in read_mounts())


def fake_proc(folder: Path, **files: str) -> Path:
    for name, text in files.items():
        write(folder, {name.replace("__", "/"): text})
    return folder


FDINFO = (
    "pos:\t0\nflags:\t00\nmnt_id:\t17\nino:\t1038\n"
    "inotify wd:2 ino:1f sdev:fe00000 mask:7c6 ignored_mask:0 fhandle-bytes:8 fhandle-type:1 f_handle:85a2\n"
    "inotify wd:1 ino:a sdev:fe00000 mask:7c6 ignored_mask:0 fhandle-bytes:8 fhandle-type:1 f_handle:a7a1\n"
)


def test_watches_are_read_from_the_kernels_list(tmp_path: Path) -> None:
    proc = fake_proc(tmp_path / "proc", self__fdinfo__7=FDINFO, self__fdinfo__8="pos:\t0\n")
    assert read_watched([7, 8], proc) == (31, 10)
    assert read_watched([9], proc) is None
    assert read_watched([], proc) is None


def test_the_lower_limit_counts_and_is_named(tmp_path: Path) -> None:
    proc = fake_proc(
        tmp_path / "proc", sys__fs__inotify__max_user_watches="8192\n", sys__user__max_inotify_watches="100\n",
        sys__fs__inotify__max_user_instances="128\n", sys__user__max_inotify_instances="nonsense",
    )  # fmt: skip
    assert read_watch_limits(proc) == replace(LIMITS, watches=100, watches_name="user.max_inotify_watches")
    assert read_watch_limits(tmp_path / "none").watches is None


@pytest.mark.parametrize(
    ("folders", "watched", "missing"),
    [((1, 2, 3), (3, 1, 2), 0), ((1, 2, 3), (1, 2, 99), 1), ((1, 2, 3), (71, 72), 1), ((1, 2, 3), (71, 72, 73, 74), 0),
     ((1, 2, 3), (), 3)],
)  # fmt: skip
def test_unwatched_folders(folders: tuple[int, ...], watched: tuple[int, ...], missing: int) -> None:
    assert count_unwatched(folders, watched) == missing


def test_sentences_name_a_limit_that_is_higher_than_the_present_one() -> None:
    large = replace(LIMITS, watches=1_000_000, observers=4096)
    assert "max_user_watches=2000000" in blind_sentence(3, 400, large)
    assert "max_user_instances=8192" in limit_sentence(OSError(errno.EMFILE, "x"), large)
    assert limit_sentence(OSError(errno.EACCES, "Permission denied"), large) == (
        "the vault's folders cannot be watched (permission denied)"
    )


def test_hidden_folders_have_to_be_watched_too_and_links_not(root: Path) -> None:
    (root / ".git" / "objects").mkdir(parents=True)
    (root / "link").symlink_to(root / "x", target_is_directory=True)
    assert len(read_folders(root)) == 5


def test_the_outlook_for_doctor(root: Path, tmp_path: Path) -> None:
    limit = {"sys__fs__inotify__max_user_watches": "4", "77__fdinfo__7": FDINFO, "self__fdinfo__3": "pos: 0"}
    proc = fake_proc(tmp_path / "proc", **limit)
    tight = read_watch_inputs(root, proc=proc, mounts=tuple)
    assert (tight.folders, tight.limit, tight.used) == (3, 4, 2)
    assert tight.sentence().startswith("1 of 3 folders cannot be watched; the system's limit (now 4) is reached")
    assert tight.sentence().endswith("so the vault is looked at every minute or so instead")
    write(proc, {"sys/fs/inotify/max_user_watches": "5"})
    enough = read_watch_inputs(root, proc=proc, mounts=tuple)
    assert enough.sentence() == "changes are told by the system, 3 folders; 2 of 5 watches are in use"
    mine = FDINFO + "".join(f"inotify wd:9 ino:{inode:x} sdev:1 mask:1\n" for inode in read_folders(root))
    write(proc, {"77/fdinfo/7": mine})  # a daemon that runs has its watches already
    assert not read_watch_inputs(root, proc=proc, mounts=tuple).why_polling


def test_the_outlook_on_this_machine(root: Path) -> None:
    assert read_watch_inputs(root).folders == 3


@pytest.mark.parametrize(
    ("path", "is_folder", "meaning"),
    [
        ("Note.md", False, EventMeaning.FILE),
        ("a/b/pic.png", False, EventMeaning.FILE),
        ("a/.Note.md.icloud", False, EventMeaning.FILE),
        ("a/.hidden.md", False, EventMeaning.NOTHING),
        ("a", True, EventMeaning.WHOLE),
        ("", True, EventMeaning.WHOLE),
        ("", False, EventMeaning.WHOLE),
        (".obsidian", True, EventMeaning.WHOLE),
        (".config-of-mine/app.json", False, EventMeaning.SETTINGS),
        (".obsidian/plugins/periodic-notes/data.json", False, EventMeaning.SETTINGS),
        (".obsidian/plugins/other/data.json", False, EventMeaning.NOTHING),
        (".obsidian/plugins", True, EventMeaning.NOTHING),
        ("a/.obsidian/app.json", False, EventMeaning.NOTHING),
        (".git/objects/ab", True, EventMeaning.NOTHING),
    ],
)
def test_what_a_path_calls_for(path: str, is_folder: bool, meaning: EventMeaning) -> None:
    assert meaning_of(path, is_folder=is_folder) is meaning


def test_events_outside_the_vault_are_no_news(tmp_path: Path) -> None:
    nudges: list[int] = []
    box = EventBox(tmp_path / "vault", lambda: nudges.append(1), lambda: 5.0)
    box.changed(str(tmp_path / "vault2" / "a.md"), is_folder=False)
    assert box.times() is None
    box.changed(str(tmp_path / "vault" / "a.md"), is_folder=False)
    box.changed(str(tmp_path / "vault" / "b.md"), is_folder=False)
    assert nudges == [1]
    assert box.times() == (5.0, 5.0)
    assert box.take().paths == {"a.md", "b.md"}
    assert not box.take()


class Torn(Silent):
    """An observer whose tables are torn: it cannot even end."""

    def stop(self) -> None:
        raise KeyError("a path")


def test_an_observer_that_fails_is_dropped_and_made_anew(root: Path, tmp_path: Path) -> None:
    observers: list[Silent] = []

    def observe(_root: Path, _box: EventBox) -> Observing:
        observers.append(Torn())
        return observers[-1]

    with Bench(root, places_in(tmp_path), observe=observe, poll_s=60) as bench:
        bench.after(120)
        observers[-1].alive = False
        write(root, {"a.md": "unheard"})
        change = bench.after(61)
        assert change is not None
        assert change.edited == ("a.md",)
        assert len(observers) == 2
        root.rename(tmp_path / "away")
        bench.after(61)
        (tmp_path / "away").rename(root)
        bench.after(61)
        assert bench.watcher.may_write
        assert len(observers) == 3


def test_one_that_cannot_be_started_leads_to_walks(root: Path, tmp_path: Path) -> None:
    def observe(_root: Path, _box: EventBox) -> Observing:
        raise KeyError("a path")

    with Bench(root, places_in(tmp_path), observe=observe, poll_s=60) as bench:
        assert (bench.watcher.report.mode, bench.watcher.report.why) == (
            Mode.POLLING, "the system's events cannot be had (KeyError)"
        )  # fmt: skip
        write(root, {"a.md": "unheard"})
        assert bench.after(61) is not None


@pytest.mark.skipif(sys.platform != "linux", reason="needs inotify, not Windows or macOS")
@pytest.mark.parametrize(
    "moves",
    [
        [("Old", "../Old"), ("New", "Old")],
        [("Old/in", "../in"), ("New/in", "Old/in")],
        [("Old", "../Old"), ("New", "Old"), ("Old", "old"), ("old", "../old")],
        [("Old", "../Old"), ("New", "Old"), (".", "../away")],
    ],
    ids=["one", "nested", "case", "away"],
)
def test_folders_that_take_each_others_names_leave_nothing_behind(tmp_path: Path, moves: list[tuple[str, str]]) -> None:
    root = write(tmp_path / "vault", {"Old/in/a.md": "one", "New/in/b.md": "two"})
    before = inotify_descriptors(), threading.active_count()
    seen = threading.Event()
    box = EventBox(root, seen.set)
    observer = WatchdogObserving(root, box)
    for old, new in moves:
        seen.clear()
        box.take()
        (root / old).resolve().rename((root / new).resolve())
        assert old == "." or seen.wait(GENEROUS_S)
        time.sleep(0.6)  # watchdog keeps the first half of a move back so long, waiting for the other
    observer.stop()
    assert (inotify_descriptors(), threading.active_count()) == before
