"""Which files a walk finds, on a real disk."""

from __future__ import annotations

import os
import shutil
import socket
import stat
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from aria_dream.adapters.index.scan import VaultScan, rescan, scan_vault, state_of
from aria_dream.errors import VaultUnreadableError
from aria_dream.vault.snapshot import difference

if TYPE_CHECKING:
    from collections.abc import Iterator

posix_only = pytest.mark.skipif(sys.platform == "win32", reason="needs POSIX files")


def put(root: Path, *paths: str, text: str = "x") -> Path:
    for path in paths:
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(text, encoding="utf-8")
    return root


@pytest.fixture
def vault(tmp_path: Path) -> Path:
    root = tmp_path / "vault"
    root.mkdir()
    return root


def found(scan: VaultScan) -> list[str]:
    return sorted(scan.snapshot.files)


def test_dot_files_and_dot_folders_are_no_part_of_a_vault(vault: Path) -> None:
    put(vault, "a.md", ".b.md", ".trash/c.md", ".git/d.md", "s/.hidden/e.md", "s/f.png", ".obsidian/app.json")
    scan = scan_vault(vault)
    assert found(scan) == ["a.md", "s/f.png"]
    assert scan.config_folder == ".obsidian"
    assert scan.problems == ()


def test_a_vault_inside_the_vault_is_part_of_it(vault: Path) -> None:
    put(vault, "inner/.obsidian/app.json", "inner/a.md")
    assert found(scan_vault(vault)) == ["inner/a.md"]
    assert scan_vault(vault).config_folder == ""


def test_the_config_folder_may_have_another_name(vault: Path) -> None:
    put(vault, ".obsidian-work/app.json", ".git/config", ".other/x.json")
    assert scan_vault(vault).config_folder == ".obsidian-work"
    put(vault, ".obsidian/app.json")
    assert scan_vault(vault).config_folder == ".obsidian"


@posix_only
def test_links_are_never_followed(vault: Path, tmp_path: Path) -> None:
    put(vault, "a.md", "s/b.md")
    put(tmp_path / "outside", "secret.md")
    (vault / "loop").symlink_to(".")
    (vault / "s" / "up").symlink_to("../..")
    (vault / "again").symlink_to("s")
    (vault / "twin.md").symlink_to("a.md")
    (vault / "broken.md").symlink_to("nowhere")
    (vault / "selfie").symlink_to("selfie")
    (vault / "away").symlink_to(tmp_path / "outside")
    (vault / "away.md").symlink_to(tmp_path / "outside" / "secret.md")
    scan = scan_vault(vault)
    assert found(scan) == ["a.md", "s/b.md"]
    said = {problem.path: problem.message for problem in scan.problems}
    assert set(said) == {"broken.md", "selfie", "away", "away.md"}
    assert "outside" in said["away"]


@posix_only
def test_a_vault_that_is_a_link_itself_is_read(vault: Path, tmp_path: Path) -> None:
    put(vault, "a.md")
    (tmp_path / "door").symlink_to(vault)
    assert found(scan_vault(tmp_path / "door")) == ["a.md"]


@posix_only
def test_pipes_and_sockets_are_no_notes(vault: Path) -> None:
    put(vault, "a.md")
    os.mkfifo(vault / "pipe.md")
    before = Path.cwd()
    listener = socket.socket(socket.AF_UNIX)
    try:
        os.chdir(vault)  # the path of a socket may not be long
        listener.bind("socket.md")
        scan = scan_vault(vault)
    finally:
        os.chdir(before)
        listener.close()
    assert found(scan) == ["a.md"]
    assert [problem.path for problem in scan.problems] == ["pipe.md", "socket.md"]


def test_an_icloud_stub_stands_for_its_note(vault: Path) -> None:
    put(vault, "s/.Plan.md.icloud", ".Here.md.icloud", "Here.md", "..icloud")
    scan = scan_vault(vault)
    assert found(scan) == ["Here.md", "s/Plan.md"]
    assert not scan.snapshot.files["s/Plan.md"].here
    assert scan.snapshot.files["Here.md"].here
    assert state_of(scan.root, "s/Plan.md") == scan.snapshot.files["s/Plan.md"]


@pytest.mark.skipif(sys.platform in ("win32", "darwin"), reason="there a mark tells, not the blocks")
def test_a_file_without_blocks_is_elsewhere_only_where_blocks_mean_something(vault: Path) -> None:
    with (vault / "Trip.md").open("wb") as file:
        file.truncate(40_960)
    if (vault / "Trip.md").stat().st_blocks:
        pytest.skip("this file system has no holes")
    assert scan_vault(vault).snapshot.files["Trip.md"].here  # nothing to compare with: no file here has blocks
    put(vault, "a.md", "empty.md")
    (vault / "empty.md").write_bytes(b"")
    files = scan_vault(vault).snapshot.files
    assert not files["Trip.md"].here
    assert files["a.md"].here
    assert files["empty.md"].here
    assert state_of(str(vault), "Trip.md") == files["Trip.md"]


def test_copies_that_a_sync_left_are_named(vault: Path) -> None:
    put(vault, "s/Note (conflicted copy 2026-01-02).md", "Note 2.md", "Note.md")
    assert scan_vault(vault).copies == {}, "what it is a copy of lies elsewhere"
    put(vault, "s/Note.md")
    assert scan_vault(vault).copies == {"s/Note (conflicted copy 2026-01-02).md": "s/Note.md"}


@posix_only
def test_ninety_nested_folders_and_odd_names(vault: Path) -> None:
    deep = "/".join(["deep folder"] * 90) + "/Deep.md"
    put(vault, deep, "a\nb.md", "back\\slash.md", "trailing .md")
    if sys.platform == "linux":
        (vault / os.fsdecode(b"caf\xe9.md")).touch()
        assert "caf\udce9.md" in found(scan_vault(vault))
    assert {deep, "a\nb.md", "back\\slash.md", "trailing .md"} <= set(found(scan_vault(vault)))


@posix_only
def test_one_file_under_two_spellings_is_one_note(vault: Path) -> None:
    put(vault, "Ideas.md", "Other.md")
    try:
        (vault / "ideas.md").hardlink_to(vault / "Ideas.md")
    except FileExistsError:
        pytest.skip("this disk folds case by itself")
    (vault / "Copy.md").hardlink_to(vault / "Other.md")  # a real second name is a second note
    assert found(scan_vault(vault)) == ["Copy.md", "Ideas.md", "Other.md"]


@pytest.fixture
def ordinary_users_vault() -> Iterator[Path]:
    """A vault of a user who may not read everything: where the tests run as root, of the user nobody, for a while."""
    root = Path(tempfile.mkdtemp())
    as_root = os.geteuid() == 0
    if as_root:
        os.chown(root, 65534, 65534)
        os.seteuid(65534)
    try:
        yield root
    finally:
        if as_root:
            os.seteuid(0)
        root.chmod(stat.S_IRWXU)
        for folder, _, _ in os.walk(root):
            Path(folder).chmod(stat.S_IRWXU)
        shutil.rmtree(root)


@posix_only
def test_a_folder_that_cannot_be_listed_is_a_problem(ordinary_users_vault: Path) -> None:
    vault = put(ordinary_users_vault, "a.md", "shut/b.md")
    (vault / "shut").chmod(0)
    scan = scan_vault(vault)
    assert found(scan) == ["a.md"]
    assert [problem.path for problem in scan.problems] == ["shut"]


def test_what_is_no_vault_is_one_sentence(vault: Path) -> None:
    with pytest.raises(VaultUnreadableError, match="no folder"):
        scan_vault(vault / "missing")
    put(vault, "a.md")
    with pytest.raises(VaultUnreadableError, match="is a file"):
        scan_vault(vault / "a.md")
    with pytest.raises(VaultUnreadableError):
        scan_vault(vault / "nul\0name")


@posix_only
def test_a_vault_that_may_not_be_read_is_one_sentence(ordinary_users_vault: Path) -> None:
    ordinary_users_vault.chmod(0)
    with pytest.raises(VaultUnreadableError, match="permission denied"):
        scan_vault(ordinary_users_vault)


def test_looking_again_at_some_paths_equals_a_new_walk(vault: Path) -> None:
    put(vault, "a.md", "s/b.md", "s/c.md")
    before = scan_vault(vault)
    put(vault, "a.md", text="longer")
    put(vault, "s/new.md")
    (vault / "s" / "b.md").rename(vault / "s" / "B.md")
    (vault / "s" / "c.md").unlink()
    looked = rescan(before, ["a.md", "s/new.md", "s/b.md", "s/B.md", "s/c.md", "never.md", ".obsidian/workspace.json"])
    assert looked.snapshot.files == scan_vault(vault).snapshot.files
    change = difference(before.snapshot, looked.snapshot)
    assert (change.added, change.removed, change.changed) == (("s/new.md",), ("s/c.md",), ("a.md",))
    assert change.renamed == (("s/b.md", "s/B.md"),)


def test_looking_again_at_a_folder_sees_what_is_in_it(vault: Path) -> None:
    put(vault, "a.md", "s/b.md")
    before = scan_vault(vault)
    (vault / "s").rename(vault / "t")
    assert found(rescan(before, ["s", "t"])) == ["a.md", "t/b.md"]
    (vault / "t" / "b.md").unlink()
    (vault / "t").rmdir()
    assert found(rescan(rescan(before, ["s", "t"]), ["t"])) == ["a.md"]


@posix_only
def test_looking_again_follows_no_link(vault: Path, tmp_path: Path) -> None:
    put(vault, "a.md", "s/b.md")
    before = scan_vault(vault)
    (vault / "l").symlink_to("s")
    (vault / "l.md").symlink_to("a.md")
    assert state_of(before.root, "l/b.md") is None
    assert state_of(before.root, "l.md") is None
    assert state_of(before.root, ".hidden/x.md") is None
