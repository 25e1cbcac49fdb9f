"""Editing spans, creating, removing, taking back."""

from __future__ import annotations

import pytest

from aria_dream.markdown.note import NotePath
from aria_dream.vault.edit import (
    ABSENT,
    ChangeSet,
    Edit,
    Exists,
    Move,
    Refusal,
    WritePlan,
    changes_refusal,
    content_hash,
    invert,
    invert_changes,
    plan_create,
    plan_edit,
    plan_remove,
)

PATH = NotePath("n.md")


def test_spans_are_replaced_in_any_order_and_insertions_keep_theirs() -> None:
    edits = [Edit(4, 5, "E"), Edit(0, 1, "A"), Edit(2, 2, "1"), Edit(2, 2, "2")]
    plan = plan_edit(PATH, b"abcdef", edits)
    assert isinstance(plan, WritePlan)
    assert plan.content == b"Ab12cdEf"


def test_a_span_counts_characters_and_odd_bytes_count_one() -> None:
    plan = plan_edit(PATH, b"\xef\xbb\xbf\xc3\xa9\xff\xc3x", [Edit(2, 3, "\u00e9")])
    assert isinstance(plan, WritePlan)
    assert plan.content == b"\xef\xbb\xbf\xc3\xa9\xc3\xa9\xc3x"


@pytest.mark.parametrize(
    "edits", [[Edit(0, 2, ""), Edit(1, 3, "")], [Edit(5, 7, "")], [Edit(-1, 0, "")], [Edit(3, 2, "")]]
)
def test_spans_that_overlap_or_lie_outside_are_refused(edits: list[Edit]) -> None:
    assert isinstance(plan_edit(PATH, b"abcdef", edits), Refusal)


@pytest.mark.parametrize(
    ("wanted", "existing", "way"),
    [
        ("Ideas.md", "ideas.md", "ideas.md"),
        ("caf\u00e9.md", "cafe\u0301.md", "cafe\u0301.md"),
        ("CAFE\u0301.md", "caf\u00e9.md", "caf\u00e9.md"),
        ("Dreams/a.md", "dreams/b.md", "dreams"),
        ("a/B/c.md", "a/b/d.md", "a/b"),
        ("dreams", "Dreams/b.md", "Dreams"),
        ("x.md/y.md", "X.md", "X.md"),
        ("n.md", "n.md", "n.md"),
    ],
)
def test_a_name_that_some_disk_takes_for_another_exists(wanted: str, existing: str, way: str) -> None:
    assert plan_create(NotePath(wanted), "NEW", [NotePath("other.md"), NotePath(existing)]) == Exists(NotePath(way))


def test_a_free_name_is_created() -> None:
    plan = plan_create(NotePath("dreams/New.md"), "NEW", [NotePath("dreams/Old.md"), NotePath("New.md")])
    assert plan == WritePlan(path=NotePath("dreams/New.md"), expected_hash=ABSENT, content=b"NEW")


@pytest.mark.parametrize(
    "path", ["../x.md", "/x.md", "a/../../x.md", ".obsidian/x.md", "a/.git/x.md", "CON.md", "a/nul", ""]
)
def test_a_path_that_is_not_for_notes_is_not_created(path: str) -> None:
    assert isinstance(plan_create(NotePath(path), "", []), Refusal)


def test_taking_back_gives_the_bytes_back() -> None:
    plan = plan_edit(PATH, b"abc", [Edit(0, 0, "x")])
    assert isinstance(plan, WritePlan)
    back = invert(plan, b"abc")
    assert (back.expected_hash, back.content) == (content_hash(b"xabc"), b"abc")
    created = WritePlan(path=PATH, expected_hash=ABSENT, content=b"new")
    assert invert(created, None) == plan_remove(PATH, b"new")
    assert invert(plan_remove(PATH, b"new"), b"new") == created
    with pytest.raises(ValueError, match="not the content"):
        invert(plan, b"other")


def test_taking_back_a_merge_restores_places_and_contents() -> None:
    """A note is written and moved, another written: the way back writes at the new place, then moves back."""
    a, b, trash = NotePath("a.md"), NotePath("b.md"), NotePath(".trash/a.md")
    changes = ChangeSet(
        writes=(
            WritePlan(path=a, expected_hash=content_hash(b"a"), content=b"a2"),
            WritePlan(path=b, expected_hash=content_hash(b"b"), content=b"b2"),
        ),
        moves=(Move(source=a, destination=trash, expected_hash=content_hash(b"a2")),),
    )
    assert changes_refusal(changes) is None
    back = invert_changes(changes, {a: b"a", b: b"b"})
    assert back.writes == (
        WritePlan(path=b, expected_hash=content_hash(b"b2"), content=b"b"),
        WritePlan(path=trash, expected_hash=content_hash(b"a2"), content=b"a"),
    )
    assert back.moves == (Move(source=trash, destination=a, expected_hash=content_hash(b"a")),)
    assert changes_refusal(back) is None


def _write(path: str, expected: bytes | None = b"x", content: bytes | None = b"y") -> WritePlan:
    hash_ = ABSENT if expected is None else content_hash(expected)
    return WritePlan(path=NotePath(path), expected_hash=hash_, content=content)


def _move(source: str, destination: str, content: bytes = b"x") -> Move:
    return Move(source=NotePath(source), destination=NotePath(destination), expected_hash=content_hash(content))


@pytest.mark.parametrize(
    "changes",
    [
        ChangeSet(writes=(_write("a.md"), _write("a.md"))),
        ChangeSet(writes=(_write("a.md", None), _write("A.md", None))),
        ChangeSet(moves=(_move("a.md", "b.md"), _move("a.md", "c.md"))),
        ChangeSet(moves=(_move("a.md", "c.md"), _move("b.md", "C.md"))),
        ChangeSet(moves=(_move("a.md", "b.md"), _move("b.md", "c.md"))),
        ChangeSet(writes=(_write("b.md"),), moves=(_move("a.md", "b.md"),)),
        ChangeSet(writes=(_write("a.md"),), moves=(_move("a.md", "b.md"),)),
        ChangeSet(writes=(_write("a.md", b"x", None),), moves=(_move("a.md", "b.md"),)),
        ChangeSet(writes=(_write("f/a.md", None), _write("F/b.md", None))),  # one folder, spelled twice
        ChangeSet(writes=(_write("f/a.md", None),), moves=(_move("b.md", "F/b.md"),)),
        ChangeSet(moves=(_move("a.md", "f/a.md"), _move("b.md", "F/b.md"))),
        ChangeSet(writes=(_write("x", None), _write("x/y.md", None))),
        ChangeSet(writes=(_write("X/y.md", None), _write("x", None))),
    ],
)
def test_a_set_that_contradicts_itself_is_refused(changes: ChangeSet) -> None:
    assert changes_refusal(changes) is not None


@pytest.mark.parametrize(
    "changes",
    [
        ChangeSet(),
        ChangeSet(writes=(_write("a.md"), _write("A.md"))),  # two notes of a disk that heeds case
        ChangeSet(moves=(_move("plan.md", "Plan.md"),)),
        ChangeSet(writes=(_write("a.md"),), moves=(_move("a.md", "b.md", b"y"),)),
        ChangeSet(writes=(_write("f/a.md", None), _write("f/b.md", None))),
        ChangeSet(writes=(_write("f/a.md"), _write("F/b.md"))),  # both are there already, and stay
    ],
)
def test_a_set_that_is_sound_is_not(changes: ChangeSet) -> None:
    assert changes_refusal(changes) is None
