"""One suite for every vault that is written to: on the disk, on a disk that cannot exchange files, in memory."""

from __future__ import annotations

import errno
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

import pytest

from aria_dream.adapters.disk.files import DiskVault
from aria_dream.adapters.disk.swap import ExchangeUnavailableError
from aria_dream.adapters.state.memory import MemoryVault
from aria_dream.markdown.note import NotePath
from aria_dream.vault.edit import (
    ABSENT,
    ChangeSet,
    ContentHash,
    Exists,
    Move,
    WritePlan,
    content_hash,
    invert_changes,
    plan_remove,
)
from aria_dream.world import Absent, Conflict, Content, Failed, PastWrite, Refused, VaultFiles, Written

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    MakeVault = Callable[[dict[str, bytes]], VaultFiles]

NOW = datetime(2026, 11, 30, 12, 0, tzinfo=UTC)


def no_exchange(_first: Path, second: Path) -> None:
    raise ExchangeUnavailableError(errno.ENOSYS, "as on a system without", str(second))


@pytest.fixture(params=["disk", "disk without exchange", "memory"])
def make_vault(request: pytest.FixtureRequest, tmp_path: Path) -> MakeVault:
    """A vault that holds the given files."""

    def make(files: dict[str, bytes]) -> VaultFiles:
        if request.param == "memory":
            return MemoryVault({NotePath(name): data for name, data in files.items()}, now=lambda: NOW)
        root = tmp_path / "vault"
        for name, data in files.items():
            (root / name).parent.mkdir(parents=True, exist_ok=True)
            (root / name).write_bytes(data)
        root.mkdir(exist_ok=True)
        if request.param == "disk":
            return DiskVault(root, tmp_path / "state", now=lambda: NOW)
        return DiskVault(root, tmp_path / "state", now=lambda: NOW, exchange=no_exchange)

    return make


def change(path: str, before: bytes | None, content: bytes | None) -> WritePlan:
    return WritePlan(path=NotePath(path), expected_hash=hash_or_absent(before), content=content)


def hash_or_absent(content: bytes | None) -> ContentHash:
    return ABSENT if content is None else content_hash(content)


def apply(vault: VaultFiles, *plans: WritePlan) -> Written | Conflict | Exists | Refused | Failed:
    return vault.write(ChangeSet(writes=plans))


def data_of(vault: VaultFiles, path: str) -> bytes | None:
    found = vault.read(NotePath(path))
    assert not isinstance(found, Refused)
    return None if isinstance(found, Absent) else found.data


def test_reading_gives_bytes_and_hash(make_vault: MakeVault) -> None:
    vault = make_vault({"a/b.md": b"x\r\n\0\xff"})
    assert vault.read(NotePath("a/b.md")) == Content(b"x\r\n\0\xff", content_hash(b"x\r\n\0\xff"))
    assert vault.read(NotePath("a/c.md")) == Absent(NotePath("a/c.md"))


def test_a_planned_content_replaces_the_expected_one(make_vault: MakeVault) -> None:
    vault = make_vault({"a.md": b"old"})
    assert isinstance(apply(vault, change("a.md", b"old", b"new")), Written)
    assert data_of(vault, "a.md") == b"new"


def test_a_file_that_changed_is_left_as_it_is(make_vault: MakeVault) -> None:
    vault = make_vault({"a.md": b"typed since"})
    assert isinstance(apply(vault, change("a.md", b"old", b"new")), Conflict)
    assert data_of(vault, "a.md") == b"typed since"


def test_a_file_that_is_gone_conflicts(make_vault: MakeVault) -> None:
    vault = make_vault({})
    assert isinstance(apply(vault, change("a.md", b"old", b"new")), Conflict)
    assert data_of(vault, "a.md") is None


def test_a_new_file_gets_its_folders(make_vault: MakeVault) -> None:
    vault = make_vault({})
    assert isinstance(apply(vault, change("dreams/deep/a.md", None, b"new")), Written)
    assert data_of(vault, "dreams/deep/a.md") == b"new"


@pytest.mark.parametrize(
    ("there", "wanted", "way"),
    [
        ("ideas.md", "Ideas.md", "ideas.md"),
        ("ideas.md", "ideas.md", "ideas.md"),
        ("caf\u00e9.md", "cafe\u0301.md", "caf\u00e9.md"),
        ("Dreams/a.md", "dreams/b.md", "Dreams"),
        ("a/b.md", "a", "a"),
    ],
)
def test_a_new_file_clobbers_nothing(make_vault: MakeVault, there: str, wanted: str, way: str) -> None:
    vault = make_vault({there: b"old"})
    assert apply(vault, change(wanted, None, b"new")) == Exists(NotePath(way))
    assert data_of(vault, there) == b"old"


@pytest.mark.parametrize(
    "path", ["../x.md", "/x.md", "a/../../x.md", ".obsidian/x.md", "a/.git/x.md", "CON.md", "a./x.md", "a?.md"]
)
def test_a_path_that_is_not_for_notes_is_refused(make_vault: MakeVault, path: str) -> None:
    assert isinstance(apply(make_vault({}), change(path, None, b"new")), Refused)


def test_a_file_is_removed_if_it_is_as_planned(make_vault: MakeVault) -> None:
    vault = make_vault({"a.md": b"old", "b.md": b"old"})
    assert isinstance(apply(vault, plan_remove(NotePath("a.md"), b"old")), Written)
    assert isinstance(apply(vault, plan_remove(NotePath("b.md"), b"else")), Conflict)
    assert (data_of(vault, "a.md"), data_of(vault, "b.md")) == (None, b"old")


def test_all_or_nothing(make_vault: MakeVault) -> None:
    vault = make_vault({"a.md": b"a", "b.md": b"b typed"})
    outcome = apply(vault, change("a.md", b"a", b"a2"), change("n.md", None, b"n"), change("b.md", b"b", b"b2"))
    assert isinstance(outcome, Conflict)
    assert outcome.path == NotePath("b.md")
    assert (data_of(vault, "a.md"), data_of(vault, "n.md"), data_of(vault, "b.md")) == (b"a", None, b"b typed")
    assert vault.past_changes() == ()


def test_a_change_twice_is_a_conflict_and_not_applied_again(make_vault: MakeVault) -> None:
    vault = make_vault({"a.md": b"a"})
    assert isinstance(apply(vault, change("a.md", b"a", b"ab")), Written)
    assert isinstance(apply(vault, change("a.md", b"a", b"ab")), Conflict)
    assert data_of(vault, "a.md") == b"ab"


def test_a_plan_that_changes_nothing_leaves_no_trace(make_vault: MakeVault) -> None:
    vault = make_vault({"a.md": b"a"})
    assert apply(vault, change("a.md", b"a", b"a")) == Written("")
    assert vault.past_changes() == ()


def test_a_note_is_moved_with_its_bytes(make_vault: MakeVault) -> None:
    vault = make_vault({"a.md": b"a"})
    move = Move(source=NotePath("a.md"), destination=NotePath(".trash/a.md"), expected_hash=content_hash(b"a"))
    assert isinstance(vault.write(ChangeSet(moves=(move,))), Written)
    assert (data_of(vault, "a.md"), data_of(vault, ".trash/a.md")) == (None, b"a")


def test_a_move_onto_a_note_or_of_another_text_does_nothing(make_vault: MakeVault) -> None:
    vault = make_vault({"a.md": b"a", "b.md": b"b"})
    onto = Move(source=NotePath("a.md"), destination=NotePath("B.md"), expected_hash=content_hash(b"a"))
    assert vault.write(ChangeSet(moves=(onto,))) == Exists(NotePath("b.md"))
    stale = Move(source=NotePath("a.md"), destination=NotePath("c.md"), expected_hash=content_hash(b"before"))
    assert isinstance(vault.write(ChangeSet(moves=(stale,))), Conflict)
    out = Move(source=NotePath("a.md"), destination=NotePath("../c.md"), expected_hash=content_hash(b"a"))
    assert isinstance(vault.write(ChangeSet(moves=(out,))), Refused)
    assert (data_of(vault, "a.md"), data_of(vault, "b.md"), data_of(vault, "c.md")) == (b"a", b"b", None)


def test_a_note_may_change_only_its_case(make_vault: MakeVault) -> None:
    vault = make_vault({"plan.md": b"a"})
    move = Move(source=NotePath("plan.md"), destination=NotePath("Plan.md"), expected_hash=content_hash(b"a"))
    assert isinstance(vault.write(ChangeSet(moves=(move,))), Written)
    assert data_of(vault, "Plan.md") == b"a"


def test_one_folder_in_two_spellings_is_not_made(make_vault: MakeVault) -> None:
    """On a disk that ignores case the two would be one folder, on this one two: the vault would not sync."""
    vault = make_vault({"plan.md": b"a"})
    both = ChangeSet(writes=(change("f/a.md", None, b"x"), change("F/b.md", None, b"y")))
    assert isinstance(vault.write(both), Refused)
    assert (data_of(vault, "f/a.md"), data_of(vault, "F/b.md")) == (None, None)
    below = Move(source=NotePath("plan.md"), destination=NotePath("PLAN.md/x.md"), expected_hash=content_hash(b"a"))
    assert isinstance(vault.write(ChangeSet(moves=(below,))), Exists)
    assert data_of(vault, "plan.md") == b"a"


def test_a_merge_and_the_way_back(make_vault: MakeVault) -> None:
    """Written and moved in one go, others rewritten; the inverse restores every byte."""
    files = {"keep.md": b"keep", "drop.md": b"drop", "ref.md": b"[[drop]]"}
    vault = make_vault(files)
    changes = ChangeSet(
        writes=(
            change("keep.md", b"keep", b"keep+drop"),
            change("drop.md", b"drop", b"merged into keep"),
            change("ref.md", b"[[drop]]", b"[[keep]]"),
        ),
        moves=(
            Move(
                source=NotePath("drop.md"),
                destination=NotePath(".trash/drop.md"),
                expected_hash=content_hash(b"merged into keep"),
            ),
        ),
    )
    assert isinstance(vault.write(changes), Written)
    assert data_of(vault, ".trash/drop.md") == b"merged into keep"
    assert data_of(vault, "ref.md") == b"[[keep]]"
    back = invert_changes(changes, {NotePath(name): data for name, data in files.items()})
    assert isinstance(vault.write(back), Written)
    assert {name: data_of(vault, name) for name in files} == files
    assert data_of(vault, ".trash/drop.md") is None


def test_a_set_that_contradicts_itself_is_refused(make_vault: MakeVault) -> None:
    vault = make_vault({"a.md": b"a"})
    assert isinstance(apply(vault, change("a.md", b"a", b"1"), change("a.md", b"a", b"2")), Refused)
    assert data_of(vault, "a.md") == b"a"


def test_the_history_has_both_images_and_forgets_them_after_the_window(make_vault: MakeVault) -> None:
    vault = make_vault({"a.md": b"a", "c.md": b"c"})
    changes = ChangeSet(
        writes=(change("a.md", b"a", b"a2"), change("n.md", None, b"n")),
        moves=(Move(source=NotePath("c.md"), destination=NotePath("d.md"), expected_hash=content_hash(b"c")),),
    )
    outcome = vault.write(changes, label="k3f9q2")
    assert isinstance(outcome, Written)
    (past,) = vault.past_changes()
    assert (past.change_id, past.label, past.at) == (outcome.change_id, "k3f9q2", NOW)
    assert past.files == (
        PastWrite(path=NotePath("a.md"), before=b"a", after=b"a2"),
        PastWrite(path=NotePath("n.md"), before=None, after=b"n"),
        PastWrite(path=NotePath("c.md"), before=b"c", after=b"c", moved_to=NotePath("d.md")),
    )
    assert vault.purge(NOW + timedelta(hours=47), 48) == 0
    assert len(vault.past_changes()) == 1
    assert vault.purge(NOW + timedelta(hours=48), 48) == 1
    assert vault.past_changes() == ()
    assert data_of(vault, "a.md") == b"a2"


def test_recovering_where_nothing_crashed_finds_nothing(make_vault: MakeVault) -> None:
    vault = make_vault({"a.md": b"a"})
    apply(vault, change("a.md", b"a", b"b"))
    assert vault.recover() == ()
    assert data_of(vault, "a.md") == b"b"
