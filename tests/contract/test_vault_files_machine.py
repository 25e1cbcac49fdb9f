"""Any order of writes, moves and foreign edits leaves the vault on the disk and the one in memory alike."""

from __future__ import annotations

import tempfile
from pathlib import Path

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

from aria_dream.adapters.disk.files import DiskVault
from aria_dream.adapters.state.memory import MemoryVault
from aria_dream.markdown.note import NotePath
from aria_dream.vault.edit import ABSENT, ChangeSet, Move, WritePlan, content_hash

PATHS = ["a.md", "b.md", "A.md", "f/a.md", "F/b.md", "f/B.md", "a.md/c.md", ".trash/a.md", "e\u0301.md", "\u00e9.md"]
paths = st.sampled_from(PATHS).map(NotePath)
contents = st.sampled_from([b"", b"1", b"2", b"3\r\n"])


class VaultMachine(RuleBasedStateMachine):
    """The model is the vault in memory; what each answers and holds must be equal."""

    def __init__(self) -> None:
        super().__init__()
        self.folder = tempfile.TemporaryDirectory(dir="/dev/shm" if Path("/dev/shm").is_dir() else None)
        root = Path(self.folder.name) / "vault"
        root.mkdir()
        self.disk = DiskVault(root, Path(self.folder.name) / "state")
        self.memory = MemoryVault({})

    def teardown(self) -> None:
        self.folder.cleanup()

    def _both(self, changes: ChangeSet) -> None:
        here, there = self.disk.write(changes), self.memory.write(changes)
        assert type(here) is type(there), (here, there)
        self._tidy_folders()

    def _plan(self, path: NotePath, content: bytes | None, *, stale: bool) -> WritePlan:
        held = self.memory.files.get(path)
        expected = ABSENT if held is None else content_hash(held)
        return WritePlan(path=path, expected_hash=content_hash(b"stale") if stale else expected, content=content)

    @rule(path=paths, content=st.none() | contents, stale=st.booleans())
    def write(self, path: NotePath, content: bytes | None, *, stale: bool) -> None:
        if content is not None or path in self.memory.files:
            self._both(ChangeSet(writes=(self._plan(path, content, stale=stale),)))

    @rule(first=paths, second=paths, content=st.none() | contents, other=contents, stale=st.booleans())
    def write_two(self, first: NotePath, second: NotePath, content: bytes | None, other: bytes, *, stale: bool) -> None:
        plans = (self._plan(first, content, stale=False), self._plan(second, other, stale=stale))
        self._both(ChangeSet(writes=plans))

    @rule(first=paths, second=paths, source=paths, content=contents)
    def write_and_move(self, first: NotePath, second: NotePath, source: NotePath, content: bytes) -> None:
        held = self.memory.files.get(source)
        if held is not None:
            moves = (Move(source=source, destination=second, expected_hash=content_hash(held)),)
            self._both(ChangeSet(writes=(self._plan(first, content, stale=False),), moves=moves))

    @rule(source=paths, destination=paths, content=st.none() | contents)
    def move(self, source: NotePath, destination: NotePath, content: bytes | None) -> None:
        held = self.memory.files.get(source)
        if held is None:
            return
        writes = () if content is None else (self._plan(source, content, stale=False),)
        expected = content_hash(held if content is None else content)
        self._both(
            ChangeSet(writes=writes, moves=(Move(source=source, destination=destination, expected_hash=expected),))
        )

    @rule(path=paths, content=contents)
    def somebody_else_saves(self, path: NotePath, content: bytes) -> None:
        if path in self.memory.files:
            (self.disk.root / path).write_bytes(content)
            self.memory.files[path] = content

    @rule(path=paths)
    def somebody_else_removes(self, path: NotePath) -> None:
        if path in self.memory.files:
            (self.disk.root / path).unlink()
            del self.memory.files[path]
            self._tidy_folders()

    def _tidy_folders(self) -> None:
        """A vault in memory has no empty folders, and one on the disk would refuse another spelling of them."""
        for place in sorted(self.disk.root.rglob("*"), reverse=True):
            if place.is_dir() and not any(place.iterdir()):
                place.rmdir()

    @invariant()
    def holds_the_same_files(self) -> None:
        root = self.disk.root
        found = {
            NotePath(place.relative_to(root).as_posix()): place.read_bytes()
            for place in root.rglob("*")
            if place.is_file()
        }
        assert found == self.memory.files


TestVaultMachine = VaultMachine.TestCase
TestVaultMachine.settings = settings(max_examples=40, stateful_step_count=20, deadline=None)
