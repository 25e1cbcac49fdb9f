"""The real observer, a real disk and a second process that writes: after any storm the graph equals a fresh index."""

from __future__ import annotations

import logging
import os
import shutil
import signal
import subprocess
import sys
import threading
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from aria_dream.adapters.index.index import read_vault
from aria_dream.adapters.watch.vault_change import Gone
from aria_dream.adapters.watch.watch_events import EventBox, Observing, WatchdogObserving
from aria_dream.adapters.watch.watch_probe import inotify_descriptors
from aria_dream.adapters.watch.watcher import VaultWatcher
from aria_dream.adapters.watch.watching import Mode, Watching
from tests.e2e.editor import STYLES
from tests.watched import Driver, assert_same, digests, places_in, settle, text_is, write

if TYPE_CHECKING:
    from collections.abc import Iterator

EDITOR = Path(__file__).with_name("editor.py")
SAYS = "---\nmodified: 2026-11-30\n---\nA new text about [[Other]] and [[nobody]].\n"


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return write(
        tmp_path / "vault",
        {
            "Note.md": "v0 [[Other]]\n",
            "Other.md": "[[Note]]\n",
            "Projects/Garden/Beds.md": "[[Note]]\n",
            "Projects/Plan.md": "[[Beds]]\n",
            ".obsidian/app.json": "{}",
        },
    )


@pytest.fixture
def watcher(root: Path, tmp_path: Path) -> Iterator[VaultWatcher]:
    before = threading.active_count()
    with VaultWatcher(root, places_in(tmp_path), index_debounce_ms=100) as watcher:
        assert watcher.report.mode is Mode.EVENTS, watcher.report
        yield watcher
    assert threading.active_count() == before


def run(code: str, root: Path) -> None:
    """`code` in a second process, in the vault's folder."""
    subprocess.run([sys.executable, "-c", code], cwd=root, check=True)


def equals_the_disk(watcher: VaultWatcher) -> None:
    assert_same(watcher.index, read_vault(watcher.index.root, None))


@pytest.mark.parametrize("note", ["Note.md", "Projects/Garden/Beds.md"])
@pytest.mark.parametrize("style", STYLES)
def test_every_way_of_saving(watcher: VaultWatcher, root: Path, style: str, note: str) -> None:
    before = set(watcher.index.files)
    subprocess.run([sys.executable, str(EDITOR), style, str(root), note, SAYS], check=True)
    changes = settle(watcher, lambda: text_is(watcher, note, SAYS))
    assert all(not change.removed for change in changes)
    assert all(old != note for change in changes for old, _ in change.renamed)
    assert {path for change in changes for path in change.created} <= {f"{note}~"}  # emacs leaves its backup
    assert set(watcher.index.files) - before <= {f"{note}~"}
    assert [link.target for link in watcher.index.links_of(note)] == ["Other.md", None]
    equals_the_disk(watcher)


STORMS = {
    "renames": ("import os\nos.rename('Note.md', 'Renamed.md')\nos.rename('Other.md', 'Projects/Other.md')",
                {"Renamed.md", "Projects/Other.md"}),
    "another case": ("import os\nos.rename('Note.md', 'NOTE.md')", {"NOTE.md"}),
    "folder renamed": ("import os\nos.rename('Projects', 'Areas')", {"Areas/Garden/Beds.md", "Areas/Plan.md"}),
    "folder in another case": ("import os\nos.rename('Projects', 'projects')", {"projects/Garden/Beds.md"}),
    "folder moved out": ("import os\nos.rename('Projects', '../outside')", set()),
    "folder moved in": (("import os, pathlib\npathlib.Path('../in/a/b').mkdir(parents=True)\n"
                        "pathlib.Path('../in/a/b/Deep.md').write_text('[[Note]]')\nos.rename('../in', 'Moved in')"),
                        {"Moved in/a/b/Deep.md"}),
    "new nested folders": (("import pathlib\nfor n in range(20):\n"
                           " p = pathlib.Path(f'x{n}/y/z/w')\n p.mkdir(parents=True)\n"
                           " (p / f'Leaf {n}.md').write_text('[[Note]]')"), {f"x{n}/y/z/w/Leaf {n}.md"
                                                                               for n in range(20)}),
    "folder copied": ("import shutil\nshutil.copytree('Projects', 'Copy')", {"Copy/Garden/Beds.md", "Copy/Plan.md"}),
    "folder removed": ("import shutil\nshutil.rmtree('Projects')", set()),
    "folder replaced by a note": (("import shutil, pathlib\nshutil.rmtree('Projects')\n"
                                  "pathlib.Path('Projects').write_text('now a file')"), {"Projects"}),
    "settings": ("import pathlib as p\np.Path('.obsidian/app.json').write_text('{\"userIgnoreFilters\": [\"Other\"]}')",
                 set()),
}  # fmt: skip


@pytest.mark.parametrize("name", STORMS)
def test_storms(watcher: VaultWatcher, root: Path, name: str) -> None:
    code, there = STORMS[name]
    run(code, root)
    wanted = read_vault(root, None)
    settle(watcher, lambda: watcher.index.files == wanted.files and watcher.index.obsidian == wanted.obsidian)
    assert there <= set(watcher.index.files)
    equals_the_disk(watcher)


def test_a_folder_is_watched_after_it_was_moved_in_or_renamed(watcher: VaultWatcher, root: Path) -> None:
    run("import os\nos.rename('Projects', 'Areas')", root)
    settle(watcher, lambda: "Areas/Plan.md" in watcher.index.files)
    run("import os\nos.makedirs('../in/deep')\nos.rename('../in', 'Moved')", root)
    settle(watcher, lambda: not watcher.has_news)
    run("import pathlib\npathlib.Path('Areas/Garden/New.md').write_text('n')\n"
        "pathlib.Path('Moved/deep/Newer.md').write_text('n')", root)  # fmt: skip
    settle(watcher, lambda: {"Areas/Garden/New.md", "Moved/deep/Newer.md"} <= set(watcher.index.files))
    equals_the_disk(watcher)


def test_reading_the_whole_vault_is_no_news(watcher: VaultWatcher, root: Path) -> None:
    code = "import pathlib\nfor p in [*pathlib.Path('.').rglob('*')] * 3:\n  p.is_file() and p.read_bytes()"
    run(code, root)
    read_vault(root, None)
    # A later event in the same queue proves that nothing was said before it.
    assert not watcher.has_news
    write(root, {"last.md": ""})
    changes = settle(watcher, lambda: "last.md" in watcher.index.files)
    assert [change.foreign for change in changes] == [("last.md",)]


def test_a_linked_folder_is_seen_at_its_real_place(tmp_path: Path, root: Path) -> None:
    (root / "link").symlink_to("Projects", target_is_directory=True)
    (tmp_path / "outer").symlink_to(root, target_is_directory=True)
    with VaultWatcher(tmp_path / "outer", places_in(tmp_path), index_debounce_ms=100) as watcher:
        write(root, {"link/Garden/Beds.md": "through the link\n"})
        settle(watcher, lambda: text_is(watcher, "Projects/Garden/Beds.md", "through the link\n"))
        equals_the_disk(watcher)


def test_a_vault_that_goes_and_comes_back_is_watched_again(watcher: VaultWatcher, root: Path, tmp_path: Path) -> None:
    shutil.copytree(root, tmp_path / "backup")
    shutil.rmtree(root)
    settle(watcher, lambda: isinstance(watcher.state, Gone))
    assert not watcher.may_write
    (tmp_path / "backup").rename(root)
    settle(watcher, lambda: watcher.may_write)
    write(root, {"Projects/Garden/Beds.md": "after\n"})
    settle(watcher, lambda: text_is(watcher, "Projects/Garden/Beds.md", "after\n"))
    equals_the_disk(watcher)


@pytest.mark.skipif(sys.platform == "win32", reason="needs macOS or Linux: a process is halted and let go on")
def test_a_full_queue_leads_to_one_walk_and_the_index_equals_the_disk(root: Path, tmp_path: Path) -> None:
    """The watcher is halted, the kernel's queue is filled with other events, and only then notes change."""
    code = """
import os, pathlib
a, b = open('a.bin', 'wb', buffering=0), open('b.bin', 'wb', buffering=0)
for _ in range(20000):
    a.write(b'x'), b.write(b'x')
for n in range(40):
    pathlib.Path(f'New {n}/deep').mkdir(parents=True)
    pathlib.Path(f'New {n}/deep/Leaf {n}.md').write_text('[[Note]]')
pathlib.Path('Note.md').write_text('lost')
os.rename('Projects', 'Areas')
"""
    with Driver(root, tmp_path / "state", tmp_path / "cache") as driver:
        os.kill(driver.process.pid, signal.SIGSTOP)
        try:
            run(code, root)
        finally:
            os.kill(driver.process.pid, signal.SIGCONT)
        driver.until(lambda answer: answer["index"] == digests(root))
        assert len(driver.changes) == 1
        write(root, {"New 7/deep/Leaf 7.md": "watched again"})
        driver.until(lambda answer: answer["index"] == digests(root))


def test_what_watchdog_says_of_an_overflow_is_heard(root: Path, tmp_path: Path) -> None:
    boxes: list[EventBox] = []

    def observe(place: Path, box: EventBox) -> Observing:
        boxes.append(box)
        return WatchdogObserving(place, box)

    with VaultWatcher(
        root, places_in(tmp_path), watching=lambda place, box: Watching(place, box, observe=observe)
    ) as watcher:
        assert not watcher.has_news
        logging.getLogger("watchdog.observers.inotify_c").warning("Inotify queue overflowed; events were lost")
        assert boxes[0].take().whole
    logging.getLogger("watchdog.observers.inotify_c").warning("Inotify queue overflowed; events were lost")
    assert not boxes[0].take()


@pytest.mark.skipif(sys.platform != "linux", reason="needs macOS or Windows to have other ways: this is about inotify")
def test_the_kernel_lists_every_watch_and_none_is_left(root: Path, tmp_path: Path) -> None:
    before = inotify_descriptors()
    with VaultWatcher(root, places_in(tmp_path)) as watcher:
        assert watcher.report.folders == watcher.report.watched == 4
        assert len(inotify_descriptors() - before) == 1
    assert inotify_descriptors() == before


def test_an_observer_whose_thread_died_is_replaced(root: Path, tmp_path: Path) -> None:
    observers: list[WatchdogObserving] = []

    def observe(place: Path, box: EventBox) -> Observing:
        observers.append(WatchdogObserving(place, box))
        return observers[-1]

    with VaultWatcher(
        root, places_in(tmp_path), watching=lambda place, box: Watching(place, box, observe=observe)
    ) as watcher:
        assert observers[0].is_alive()
        observers[0].stop()
        assert not observers[0].is_alive()
        write(root, {"Note.md": "unheard\n"})
        watcher.look(whole=True)
        settle(watcher, lambda: text_is(watcher, "Note.md", "unheard\n"))
        assert len(observers) == 2
        write(root, {"Note.md": "heard again\n"})
        settle(watcher, lambda: text_is(watcher, "Note.md", "heard again\n"))


def test_threads_end_and_nothing_grows_over_many_starts(root: Path, tmp_path: Path) -> None:
    def descriptors() -> int:
        place = Path("/proc/self/fd")
        return len(list(place.iterdir())) if place.is_dir() else 0

    VaultWatcher(root, places_in(tmp_path)).close()
    before = threading.active_count(), descriptors()
    for _ in range(10):
        VaultWatcher(root, places_in(tmp_path)).close()
    assert (threading.active_count(), descriptors()) == before


def _namespace(limit: int, *command: str) -> list[str]:
    """`command` in a user namespace of its own, where no more than `limit` folders may be watched."""
    script = f'echo {limit} > /proc/sys/user/max_inotify_watches && exec "$@"'
    return ["unshare", "--user", "--map-root-user", "sh", "-c", script, "sh", *command]


def _has_namespaces() -> bool:
    try:
        return subprocess.run(_namespace(100, "true"), capture_output=True, check=False, timeout=30).returncode == 0
    except (OSError, subprocess.TimeoutExpired):
        return False


if sys.platform == "linux" and _has_namespaces():  # elsewhere the scripted limits of unit/effects/test_watching stand

    @pytest.mark.parametrize(("limit", "said"), [(100, "of 205 folders cannot be watched"), (0, "no folder can be")])
    def test_the_kernels_own_limit_leads_to_polling_and_names_the_sysctl(
        root: Path, tmp_path: Path, limit: int, said: str
    ) -> None:
        write(root, {f"folder {number}/a.md": "" for number in range(201)})
        places = tmp_path / "state", tmp_path / "cache"
        with Driver(root, *places, prefix=_namespace(limit), poll_s=0.2) as driver:
            why = driver.until(lambda answer: bool(answer["why"]))["why"]
            assert said in why
            assert f"(now {limit})" in why
            assert "sudo sysctl user.max_inotify_watches=" in why
            write(root, {"folder 200/a.md": "changed", "new/folder/b.md": "", "Note.md": "changed"})
            driver.until(lambda answer: answer["index"] == digests(root))
