"""What a disk can do to a write: modes, owners, attributes, links, full, broken, held by another program."""

from __future__ import annotations

import errno
import os
import resource
import signal
import stat
import subprocess
import sys
import tempfile
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from aria_dream.adapters.disk.files import DiskVault
from aria_dream.adapters.disk.swap import SHARING_WAIT_S, ExchangeUnavailableError
from aria_dream.errors import StateDamagedError, VaultUnreadableError
from aria_dream.markdown.note import NotePath
from aria_dream.vault.edit import ABSENT, ChangeSet, WritePlan, content_hash
from aria_dream.world import Conflict, Failed, Refused, Verdict, Written

if TYPE_CHECKING:
    from collections.abc import Iterator

REPOSITORY = Path(__file__).parents[4]
OLD, NEW = b"# Note\n", b"# Note\n\nnew\n"


def change(path: str = "n.md", before: bytes | None = OLD, after: bytes | None = NEW) -> ChangeSet:
    expected = ABSENT if before is None else content_hash(before)
    return ChangeSet(writes=(WritePlan(path=NotePath(path), expected_hash=expected, content=after),))


def no_exchange(_first: Path, second: Path) -> None:
    raise ExchangeUnavailableError(errno.EINVAL, "as on a file system without", str(second))


@pytest.fixture
def root(tmp_path: Path) -> Path:
    folder = tmp_path / "vault"
    folder.mkdir()
    (folder / "n.md").write_bytes(OLD)
    return folder


def vault_at(root: Path, **named: Any) -> DiskVault:
    return DiskVault(root, root.parent / "state", **named)


def assert_untouched(root: Path) -> None:
    assert [place.name for place in root.rglob("*")] == ["n.md"]
    assert (root / "n.md").read_bytes() == OLD


@pytest.mark.parametrize("exchange", [None, no_exchange])
def test_mode_owner_and_extended_attributes_are_kept(root: Path, exchange: Any) -> None:
    place = root / "n.md"
    place.chmod(0o640)
    os.setxattr(place, "user.colour", b"green")
    before = place.stat()
    if os.geteuid() == 0:
        os.chown(place, 65534, 65534)
        before = place.stat()
    vault = vault_at(root, exchange=exchange) if exchange else vault_at(root)
    assert isinstance(vault.write(change()), Written)
    after = place.stat()
    assert (stat.S_IMODE(after.st_mode), after.st_uid, after.st_gid) == (0o640, before.st_uid, before.st_gid)
    assert os.getxattr(place, "user.colour") == b"green"


def test_a_new_file_has_the_mode_that_the_umask_gives(root: Path) -> None:
    old = os.umask(0o027)
    try:
        assert isinstance(vault_at(root).write(change("new.md", None)), Written)
    finally:
        os.umask(old)
    assert stat.S_IMODE((root / "new.md").stat().st_mode) == 0o640


def test_a_read_only_note_is_refused_even_for_root(root: Path) -> None:
    (root / "n.md").chmod(0o444)
    assert isinstance(vault_at(root).write(change()), Refused)
    assert isinstance(vault_at(root).write(change(after=None)), Refused)
    assert_untouched(root)


AS_SOMEBODY = """
import os, sys, tempfile
from pathlib import Path
from aria_dream.adapters.disk.files import DiskVault
from aria_dream.vault.edit import ABSENT, ChangeSet, WritePlan, content_hash
from aria_dream.markdown.note import NotePath

def write_both(root):
    vault = DiskVault(root, root.parent / "state")
    for path, before in (("n.md", content_hash(b"# Note\\n")), ("new.md", ABSENT)):
        plan = WritePlan(path=NotePath(path), expected_hash=before, content=b"evil")
        yield type(vault.write(ChangeSet(writes=(plan,)))).__name__

root = Path(sys.argv[1])
if os.geteuid() == 0:
    with tempfile.TemporaryDirectory() as warm:  # so that everything is imported: Python itself may lie in /root
        (Path(warm) / "vault").mkdir()
        list(write_both(Path(warm) / "vault"))
    os.setgroups([])
    os.setgid(65534)
    os.setuid(65534)
print(*write_both(root))
"""


@pytest.fixture
def everybodys_folder() -> Iterator[Path]:
    """A folder that another user can reach, which the folders of pytest are not."""
    with tempfile.TemporaryDirectory() as folder:
        yield Path(folder).resolve()


@pytest.mark.parametrize(
    ("folder_mode", "note_mode", "expected"),
    [(0o555, 0o644, ["Refused", "Refused"]), (0o755, 0o444, ["Refused", "Written"]), (0o755, 0o644, ["Written"] * 2)],
)
def test_an_ordinary_user_and_a_read_only_folder(
    everybodys_folder: Path, folder_mode: int, note_mode: int, expected: list[str]
) -> None:
    base = everybodys_folder
    root = base / "vault"
    root.mkdir()
    (root / "n.md").write_bytes(OLD)
    if os.geteuid() == 0:
        for place in (base, root, root / "n.md"):
            os.chown(place, 65534, 65534)
    (root / "n.md").chmod(note_mode)
    root.chmod(folder_mode)
    done = subprocess.run(
        [sys.executable, "-c", AS_SOMEBODY, str(root)],
        env={**os.environ, "PYTHONPATH": str(REPOSITORY), "PYTHONDONTWRITEBYTECODE": "1"},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    root.chmod(0o755)
    assert done.stdout.split() == expected, done.stderr
    if expected[0] == "Refused":
        assert (root / "n.md").read_bytes() == OLD
        assert stat.S_IMODE((root / "n.md").stat().st_mode) == note_mode
    assert not list(root.glob(".*"))


def test_the_root_may_be_a_link_but_nothing_below_it(tmp_path: Path, root: Path) -> None:
    (tmp_path / "link").symlink_to(root)
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside" / "o.md").write_bytes(OLD)
    (root / "to").symlink_to(tmp_path / "outside")
    (root / "inside.md").symlink_to(root / "n.md")
    (root / "self").symlink_to(root)
    vault = DiskVault(tmp_path / "link", tmp_path / "state")
    for path in ("to/o.md", "inside.md", "self/n.md"):
        assert isinstance(vault.write(change(path)), Refused), path
        assert isinstance(vault.read(NotePath(path)), Refused), path
    for path in ("to/new.md", "self/new.md"):
        assert isinstance(vault.write(change(path, None)), Refused), path
    assert not isinstance(vault.write(change("inside.md", None)), Written)
    assert isinstance(vault.write(change()), Written)
    assert (root / "n.md").read_bytes() == NEW
    assert [place.name for place in (tmp_path / "outside").iterdir()] == ["o.md"]
    assert (tmp_path / "outside" / "o.md").read_bytes() == OLD


def test_a_folder_of_the_path_that_is_a_file_is_refused(root: Path) -> None:
    assert not isinstance(vault_at(root).write(change("n.md/x.md", None)), Written)
    assert_untouched(root)


def test_a_cloud_placeholder_is_neither_read_nor_written_nor_created(root: Path) -> None:
    with (root / "dataless.md").open("wb") as file:
        file.truncate(4096)
    (root / ".gone.md.icloud").write_bytes(b"stub")
    vault = vault_at(root)
    assert isinstance(vault.read(NotePath("dataless.md")), Refused)
    assert isinstance(vault.write(change("dataless.md", b"\0" * 4096)), Refused)
    assert isinstance(vault.write(change("gone.md", None)), Refused)
    assert sorted(place.name for place in root.iterdir()) == [".gone.md.icloud", "dataless.md", "n.md"]


def test_a_name_of_255_bytes_is_written(root: Path) -> None:
    name = "\u0416" * 126 + ".md"
    assert len(name.encode()) == 255
    vault = vault_at(root)
    assert isinstance(vault.write(change(name, None)), Written)
    assert isinstance(vault.write(change(name, NEW, OLD)), Written)
    assert isinstance(vault.write(change(name, OLD, None)), Written)
    assert_untouched(root)


def test_a_note_touched_within_the_quiet_time_is_not_written(root: Path) -> None:
    touched = datetime(2026, 11, 30, 12, 0, tzinfo=UTC)
    os.utime(root / "n.md", (touched.timestamp(), touched.timestamp()))
    soon = vault_at(root, now=lambda: touched + timedelta(seconds=5))
    assert isinstance(soon.write(change(), quiet_s=120), Conflict)
    assert_untouched(root)
    later = vault_at(root, now=lambda: touched + timedelta(seconds=121))
    assert isinstance(later.write(change(), quiet_s=120), Written)


def test_what_we_wrote_ourselves_just_now_is_nobodys_typing(root: Path) -> None:
    vault = vault_at(root)
    assert isinstance(vault.write(change("m.md", None, OLD)), Written)
    assert isinstance(vault_at(root).write(change("m.md", OLD, NEW), quiet_s=3600), Written)
    (root / "m.md").write_bytes(b"typed")
    assert isinstance(vault.write(change("m.md", b"typed", OLD), quiet_s=3600), Conflict)


def test_a_vault_that_is_not_there_is_unreadable(tmp_path: Path, root: Path) -> None:
    for place in (tmp_path / "none", root / "n.md"):
        with pytest.raises(VaultUnreadableError):
            DiskVault(place, tmp_path / "state")


class TestFull:
    """The disk takes no more."""

    @pytest.mark.parametrize("limit", [0, 10_000, 70_000, 120_000])
    def test_a_limit_on_file_size_leaves_everything_as_it_was(self, root: Path, limit: int) -> None:
        """The limit hits the images, the temp file or nothing, whichever is the first to be too big."""
        (root / "n.md").write_bytes(OLD * 10_000)
        handler = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
        resource.setrlimit(resource.RLIMIT_FSIZE, (limit, hard))
        try:
            outcome = vault_at(root).write(change(before=OLD * 10_000, after=OLD * 11_000))
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
            signal.signal(signal.SIGXFSZ, handler)
        is_big_enough = limit > len(OLD) * 11_000
        assert isinstance(outcome, Written if is_big_enough else Failed), outcome
        assert [place.name for place in root.rglob("*")] == ["n.md"]
        assert (root / "n.md").read_bytes() == OLD * (11_000 if is_big_enough else 10_000)
        if isinstance(outcome, Failed):
            assert "large" in outcome.reason
            assert vault_at(root).past_changes() == ()

    @pytest.mark.parametrize("call", range(14))
    def test_any_failing_sync_undoes_the_change(self, root: Path, monkeypatch: pytest.MonkeyPatch, call: int) -> None:
        """ENOSPC at the n-th fsync: the note is old or, where only the record failed, new; never anything else."""
        calls = 0
        real = os.fsync

        def fsync(handle: int) -> None:
            nonlocal calls
            calls += 1
            if calls == call + 1:
                raise OSError(errno.ENOSPC, "No space left on device")
            real(handle)

        monkeypatch.setattr(os, "fsync", fsync)
        outcome = vault_at(root).write(change())
        monkeypatch.undo()
        vault = vault_at(root)
        vault.recover()
        assert [place.name for place in root.rglob("*")] == ["n.md"]
        held = (root / "n.md").read_bytes()
        assert bool(vault.past_changes()) is (held == NEW)
        if isinstance(outcome, Written):
            assert held == NEW
        else:
            assert isinstance(outcome, Failed)
            assert held == OLD or outcome.unsettled
            assert "No space left" in outcome.reason


class TestHeld:
    """Another program holds the file, as on Windows; the shim stands where os.replace is."""

    @staticmethod
    def _held(monkeypatch: pytest.MonkeyPatch, times: int, winerror: int | None) -> list[str]:
        real, tried = os.replace, []

        def replace(source: Any, target: Any) -> None:
            if Path(target).name == "n.md":
                tried.append("")
                if len(tried) <= times:
                    error = PermissionError(errno.EACCES, "Access is denied", str(target))
                    if winerror:
                        error.winerror = winerror  # type: ignore[attr-defined, unused-ignore]  # Windows only
                    raise error
            real(source, target)

        monkeypatch.setattr(os, "replace", replace)
        return tried

    @pytest.mark.parametrize("winerror", [5, 32])
    def test_for_a_moment_is_waited_for(self, root: Path, monkeypatch: pytest.MonkeyPatch, winerror: int) -> None:
        tried, slept = self._held(monkeypatch, 3, winerror), list[float]()
        assert isinstance(vault_at(root, exchange=no_exchange, sleep=slept.append).write(change()), Written)
        assert (len(tried), len(slept)) == (4, 3)
        assert sum(slept) <= SHARING_WAIT_S

    def test_for_ever_fails_after_two_seconds_and_truncates_nothing(
        self, root: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        self._held(monkeypatch, 10**9, 32)
        slept: list[float] = []
        assert isinstance(vault_at(root, exchange=no_exchange, sleep=slept.append).write(change()), Failed)
        assert 1.9 <= sum(slept) <= SHARING_WAIT_S + 0.01
        assert_untouched(root)

    def test_a_posix_refusal_is_final_at_once(self, root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        tried, slept = self._held(monkeypatch, 10**9, None), list[float]()
        assert isinstance(vault_at(root, exchange=no_exchange, sleep=slept.append).write(change()), Failed)
        assert (len(tried), slept) == (1, [])
        assert_untouched(root)


class TestHistory:
    """What lies in the state folder."""

    def test_images_are_for_this_user_alone(self, root: Path) -> None:
        assert isinstance(vault_at(root).write(change()), Written)
        for place in (root.parent / "state").rglob("*"):
            assert stat.S_IMODE(place.stat().st_mode) & 0o077 == 0, place

    def _interrupted(self, root: Path) -> Path:
        class Stop(BaseException):
            pass

        def stop(step: str) -> None:
            if step == "intent":
                raise Stop

        with pytest.raises(Stop):
            vault_at(root, after_step=stop).write(change(), label="k3f9q2")
        return next((root.parent / "state" / "history").iterdir())

    def test_recovery_says_what_became_of_which_change(self, root: Path) -> None:
        folder = self._interrupted(root)
        (settled,) = vault_at(root).recover()
        assert (settled.change_id, settled.label, settled.verdict) == (folder.name, "k3f9q2", Verdict.UNDONE)
        assert_untouched(root)

    @pytest.mark.parametrize("damage", ["intent.json", "0.before", "0.after"])
    def test_an_intent_that_cannot_be_trusted_stops_all_writing(self, root: Path, damage: str) -> None:
        folder = self._interrupted(root)
        (folder / damage).write_bytes(b"{torn")
        with pytest.raises(StateDamagedError, match="history"):
            vault_at(root).recover()
        with pytest.raises(StateDamagedError):
            vault_at(root).write(change())
        assert_untouched(root)

    def test_a_pending_change_is_never_purged(self, root: Path) -> None:
        self._interrupted(root)
        assert vault_at(root).purge(datetime.now(UTC) + timedelta(days=999), 48) == 0
        assert len(vault_at(root).recover()) == 1
