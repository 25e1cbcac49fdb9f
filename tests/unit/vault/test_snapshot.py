"""The difference of two snapshots."""

from __future__ import annotations

import unicodedata

from hypothesis import given
from hypothesis import strategies as st

from aria_dream.vault.snapshot import FileState, Snapshot, difference, shrank_suddenly


def state(inode: int, *, size: int = 1, modified: int = 1, here: bool = True) -> FileState:
    return FileState(size, modified, modified, inode, 7, here)


def test_added_removed_changed() -> None:
    change = difference(
        Snapshot({"a.md": state(1), "b.md": state(2), "c.md": state(3)}),
        Snapshot({"a.md": state(1), "b.md": state(2, modified=2), "d.md": state(4)}),
    )
    assert (change.added, change.removed, change.changed, change.renamed) == (("d.md",), ("c.md",), ("b.md",), ())
    assert change
    assert not difference(Snapshot({"a.md": state(1)}), Snapshot({"a.md": state(1)}))


def test_a_moved_file_is_a_rename() -> None:
    change = difference(Snapshot({"a.md": state(1)}), Snapshot({"sub/b.md": state(1)}))
    assert change.renamed == (("a.md", "sub/b.md"),)
    assert not change.added
    assert not change.removed


def test_a_case_only_rename_keeps_the_note_even_when_it_was_edited_too() -> None:
    change = difference(Snapshot({"plan.md": state(1)}), Snapshot({"Plan.md": state(1, size=9, modified=5)}))
    assert change.renamed == (("plan.md", "Plan.md"),)


def test_a_rename_in_unicode_form_only_keeps_the_note() -> None:
    composed = "Café.md"
    change = difference(
        Snapshot({composed: state(1)}), Snapshot({unicodedata.normalize("NFD", composed): state(1, modified=3)})
    )
    assert len(change.renamed) == 1


def test_a_reused_inode_is_no_rename() -> None:
    change = difference(Snapshot({"a.md": state(1)}), Snapshot({"b.md": state(1, size=5, modified=9)}))
    assert (change.added, change.removed, change.renamed) == (("b.md",), ("a.md",), ())


def test_without_inodes_only_the_spelling_tells() -> None:
    change = difference(Snapshot({"a.md": state(0), "x.md": state(0)}), Snapshot({"A.md": state(0), "y.md": state(0)}))
    assert change.renamed == (("a.md", "A.md"),)
    assert (change.added, change.removed) == (("y.md",), ("x.md",))


def test_an_evicted_file_is_neither_removed_nor_changed() -> None:
    here, away = Snapshot({"a.md": state(1, size=5)}), Snapshot({"a.md": state(0, size=0, here=False)})
    gone = difference(here, away)
    assert (gone.evicted, gone.removed, gone.changed) == (("a.md",), (), ())
    assert difference(away, here).changed == ("a.md",)
    assert not difference(away, away)


def test_sudden_emptiness() -> None:
    full = Snapshot({f"{number}.md": state(number + 1) for number in range(20)})
    assert shrank_suddenly(full, Snapshot({}))
    assert not shrank_suddenly(full, full)
    assert not shrank_suddenly(full, Snapshot({f"sub/{path}": state for path, state in full.files.items()}))
    assert not shrank_suddenly(Snapshot({"a.md": state(1)}), Snapshot({}))


NAMES = st.sampled_from(["a.md", "A.md", "b.md", "s/a.md", "s/B.md", "s/b.md"])
SNAPSHOTS = st.dictionaries(NAMES, st.builds(state, st.integers(0, 4), modified=st.integers(1, 2))).map(Snapshot)


@given(SNAPSHOTS, SNAPSHOTS)
def test_the_difference_accounts_for_every_path_once(before: Snapshot, after: Snapshot) -> None:
    change = difference(before, after)
    old = [*change.removed, *(source for source, _ in change.renamed)]
    new = [*change.added, *(target for _, target in change.renamed)]
    assert sorted(old) == sorted(before.files.keys() - after.files.keys())
    assert sorted(new) == sorted(after.files.keys() - before.files.keys())
    assert set(change.changed) == {
        path for path in before.files.keys() & after.files.keys() if before.files[path] != after.files[path]
    }
