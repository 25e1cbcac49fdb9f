"""Random storms over a vault: whatever events are lost, late, doubled or wrong, the graph comes to equal the disk."""

from __future__ import annotations

import shutil
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from aria_dream.adapters.disk.files import DiskVault
from aria_dream.adapters.index.index import read_vault
from aria_dream.adapters.watch.vault_change import Present
from aria_dream.adapters.watch.watcher import VaultWatcher
from aria_dream.adapters.watch.watching import WALK_EVERY_S
from aria_dream.markdown.note import NotePath
from aria_dream.vault.edit import ChangeSet, plan_append
from aria_dream.vault.names import Refusal
from aria_dream.world import Written
from tests.watched import Bench, assert_same, digests, places_in, settle, write

if TYPE_CHECKING:
    from aria_dream.adapters.watch.vault_change import VaultChange

NAMES = ("Ant", "ant", "Bee", "Cat", "Dé", "De\u0301")
FOLDERS = ("", "x", "X", "x/y", "z")
TEXTS = st.lists(st.sampled_from([f"[[{name}]]" for name in NAMES] + ["word", "#tag"]), max_size=4).map("\n".join)
PATHS = st.sampled_from([f"{folder}/{name}.md".lstrip("/") for folder in FOLDERS for name in NAMES])
SETTLED = tuple(f"settled {number}.md" for number in range(20))
"""Notes that no storm touches, so that none looks like a drive that went away."""


class Storm(RuleBasedStateMachine):
    """A writer, sync clients and ourselves at work; the test decides which events the watcher hears of."""

    def __init__(self) -> None:
        super().__init__()
        self.folder = Path(tempfile.mkdtemp())
        self.root = write(self.folder / "vault", dict.fromkeys(SETTLED, "[[Ant]]"))
        self.bench = Bench(self.root, places_in(self.folder), state_folder=self.folder / "state" / "v")
        self.lost = False
        self.ours: dict[str, bytes] = {}
        """Notes whose latest content is ours, and that content."""
        self.told_ours: set[str] = set()

    def teardown(self) -> None:
        self.bench.watcher.close()
        shutil.rmtree(self.folder)

    def hear(self, *paths: str, lost: bool, is_folder: bool = False) -> None:
        if lost:
            self.lost = True
        else:
            self.bench.tell(*paths, is_folder=is_folder)

    def place(self, path: str) -> Path:
        return self.root.joinpath(*path.split("/"))

    @rule(path=PATHS, text=TEXTS, lost=st.booleans())
    def save(self, path: str, text: str, lost: bool) -> None:
        write(self.root, {path: text})
        self.ours.pop(path, None)
        self.hear(path, lost=lost)
        folder = path.rpartition("/")[0]
        if folder:
            self.hear(folder, lost=lost, is_folder=True)

    @rule(path=PATHS, text=TEXTS, lost=st.booleans())
    def save_atomically(self, path: str, text: str, lost: bool) -> None:
        if self.place(path).parent.is_dir():
            temp = self.place(path).with_name(".temp")
            temp.write_text(text)
            temp.replace(self.place(path))
            self.ours.pop(path, None)
            self.hear(path, lost=lost)

    @rule(path=PATHS, lost=st.booleans())
    def touch_nothing(self, path: str, lost: bool) -> None:
        if self.place(path).exists():
            self.place(path).touch()
            self.hear(path, lost=lost)

    @rule(path=PATHS, lost=st.booleans())
    def remove(self, path: str, lost: bool) -> None:
        if self.place(path).exists():
            self.place(path).unlink()
            self.ours.pop(path, None)
            self.hear(path, lost=lost)

    @rule(old=PATHS, new=PATHS, lost=st.booleans())
    def rename(self, old: str, new: str, lost: bool) -> None:
        if self.place(old).exists() and self.place(new).parent.is_dir():
            self.place(old).replace(self.place(new))
            self.ours.pop(old, None)
            self.ours.pop(new, None)
            self.hear(old, new, lost=lost)

    @rule(old=st.sampled_from(FOLDERS[1:]), new=st.sampled_from(("w", "x/v", "X", ".hidden")), lost=st.booleans())
    def rename_folder(self, old: str, new: str, lost: bool) -> None:
        inside = new.startswith(f"{old}/")
        if self.place(old).is_dir() and not self.place(new).exists() and self.place(new).parent.is_dir() and not inside:
            self.place(old).rename(self.place(new))
            self.ours = {path: text for path, text in self.ours.items() if not path.startswith(f"{old}/")}
            self.hear(old, new, lost=lost, is_folder=True)

    @rule(folder=st.sampled_from(FOLDERS[1:]), lost=st.booleans())
    def move_out_and_in(self, folder: str, lost: bool) -> None:
        """A folder leaves the vault; the next time it comes back."""
        outside = self.folder / "outside"
        self.ours = {path: text for path, text in self.ours.items() if not path.startswith(f"{folder}/")}
        if outside.exists() and not self.place(folder).exists() and self.place(folder).parent.is_dir():
            outside.rename(self.place(folder))
        elif self.place(folder).is_dir() and not outside.exists():
            self.place(folder).rename(outside)
        self.hear(folder, lost=lost, is_folder=True)

    @rule(path=PATHS, lost=st.booleans())
    def write_ourselves(self, path: str, lost: bool) -> None:
        before = self.place(path).read_bytes() if self.place(path).exists() else None
        plan = plan_append(NotePath(path), before, "## Ours\n\n[[Bee]]\n")
        if isinstance(plan, Refusal):
            return
        disk = DiskVault(self.root, self.folder / "state" / "v")
        if isinstance(disk.write(ChangeSet(writes=(plan,))), Written):
            self.ours[path] = self.place(path).read_bytes()
            self.hear(path, lost=lost)
            folder = path.rpartition("/")[0]
            if folder:
                self.hear(folder, lost=lost, is_folder=True)

    @rule(paths=st.lists(PATHS, max_size=3))
    def events_about_nothing(self, paths: list[str]) -> None:
        self.bench.tell(*paths)

    @rule()
    def a_look_in_the_middle(self) -> None:
        self.note(self.bench.after(0.4))

    @precondition(lambda self: not self.lost)
    @rule()
    def calm(self) -> None:
        """Everything was heard: the quiet is enough."""
        for _ in range(3):
            self.note(self.bench.after(0.4))
        assert_same(self.bench.watcher.index, read_vault(self.root, None))

    @rule()
    def calm_after_the_walk(self) -> None:
        """Some was lost: the slow walk finds it."""
        self.note(self.bench.after(WALK_EVERY_S + 1))
        for _ in range(2):
            self.note(self.bench.after(0.4))
        self.lost = False
        assert_same(self.bench.watcher.index, read_vault(self.root, None))

    def note(self, change: VaultChange | None) -> None:
        if change is not None:
            assert change
            for path in change.ours - set(change.removed):
                assert path not in self.ours or self.ours[path] == self.place(path).read_bytes()
            named = {*change.created, *change.edited, *(new for _, new in change.renamed)}
            assert not {path for path in self.ours if path in named} - change.ours

    @invariant()
    def is_present(self) -> None:
        assert self.bench.watcher.state == Present()


Storm.TestCase.settings = settings(
    max_examples=40, stateful_step_count=25, deadline=None, suppress_health_check=list(HealthCheck)
)
TestStorm = Storm.TestCase


OPERATIONS = st.lists(
    st.tuples(st.sampled_from(["save", "replace", "remove", "rename", "case", "folder", "copy"]), PATHS, PATHS, TEXTS),
    min_size=1, max_size=25,
)  # fmt: skip


def _blow(root: Path, operation: str, one: str, other: str, text: str) -> None:
    first, second = root / one, root / other
    try:
        match operation:
            case "save":
                write(root, {one: text})
            case "replace":
                (first.parent / ".temp").write_text(text)
                (first.parent / ".temp").replace(first)
            case "remove":
                first.unlink()
            case "rename":
                second.parent.mkdir(parents=True, exist_ok=True)
                first.rename(second)
            case "case":
                first.rename(first.with_name(first.name.swapcase().replace(".MD", ".md")))
            case "folder":
                first.parent.rename(root / f"moved {len(text)}")
            case "copy":
                shutil.copytree(first.parent, root / f"copy {len(text)}")
            case _:
                raise AssertionError(operation)
    except (OSError, shutil.Error):
        return  # not there, or in the way: the next gust


@settings(max_examples=15, deadline=None, suppress_health_check=list(HealthCheck))
@given(operations=OPERATIONS)
def test_with_the_real_observer_the_graph_equals_a_fresh_index(operations: list[tuple[str, str, str, str]]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        root = write(Path(folder, "vault"), dict.fromkeys(SETTLED, "[[Ant]]"))
        with VaultWatcher(root, places_in(Path(folder)), index_debounce_ms=20) as watcher:
            for operation in operations:
                if operation[0] != "folder" or "/" in operation[1]:
                    _blow(root, *operation)
            wanted = digests(root)

            def knows_the_disk() -> bool:
                linkage, contents = watcher.index.linkage, watcher.index.contents
                known = {
                    linkage.files[file]: content.digest.hex()
                    for file, content in zip(linkage.sources, contents, strict=True)
                }
                return known == wanted

            settle(watcher, knows_the_disk)
            assert_same(watcher.index, read_vault(root, None))
