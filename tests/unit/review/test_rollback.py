"""What takes a change back: exactly, around the writer's own edits, or not, with a sentence."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aria_dream.markdown.note import NotePath, parse_note
from aria_dream.review.rewriting import apply_edits
from aria_dream.review.rollback import Impossible, Partly, Restored, plan_rollback
from aria_dream.review.undo_text import Left, undo_in_text
from aria_dream.vault.edit import ABSENT, content_hash
from aria_dream.world import PastWrite

NOTE = NotePath("Note.md")
TRASHED = NotePath(".trash/Old.md")


def past(before: str | None, after: str | None, path: NotePath = NOTE) -> PastWrite:
    return PastWrite(
        path=path,
        before=None if before is None else before.encode(),
        after=None if after is None else after.encode(),
    )


def undone(before: str, after: str, now: str) -> tuple[str, list[Left]]:
    edits, left = undo_in_text(before, after, now)
    return apply_edits(now, edits), left


def moved() -> PastWrite:
    return PastWrite(path=NotePath("Old.md"), before=b"old\n", after=b"old\n", moved_to=TRASHED)


def test_what_was_not_touched_comes_back_exactly() -> None:
    back = plan_rollback([past("rye\n", "[[Rye|rye]]\n")], {NOTE: b"[[Rye|rye]]\n"})
    assert isinstance(back, Restored)
    (plan,) = back.changes.writes
    assert (plan.path, plan.content, plan.expected_hash) == (NOTE, b"rye\n", content_hash(b"[[Rye|rye]]\n"))


@pytest.mark.parametrize(
    ("before", "after", "now", "result"),
    [
        ("a rye loaf\n", "a [[Rye|rye]] loaf\n", "A [[Rye|rye]] loaf, warm\n", "A rye loaf, warm\n"),
        ("a rye loaf\n", "a [[Rye|rye]] loaf\n", "top\n\na [[Rye|rye]] loaf\nend", "top\n\na rye loaf\nend"),
        ("a rye loaf\n", "a [[Rye|rye]] loaf\n", "a rye loaf!\n", "a rye loaf!\n"),
        ("a rye loaf\n", "a [[Rye|rye]] loaf\n", "something else\n", "something else\n"),
        ("x\n", "x\n\n## Related\n\n- [[Rye]]\n", "y\n\n## Related\n\n- [[Rye]]\n", "y\n"),
        (
            "x\n",
            "x\n\n## Related\n\n- [[Rye]]\n",
            "x\n\n## Related\n\n- [[Rye]]\n- [[Mine]]\n",
            "x\n\n## Related\n\n- [[Mine]]\n",
        ),
        (
            "## Related\n\n- a\n",
            "## Related\n\n- a\n- [[Rye]]\n",
            "## Related\n\n- a\n- [[Rye]]\n- b\n",
            "## Related\n\n- a\n- b\n",
        ),
        ("## R\n- a", "## R\n- a\n- [[Rye]]", "## R\n- a\n- [[Rye]]\n- b", "## R\n- a\n- b"),
        ("a\r\n", "a\r\n\r\n- [[Rye]]\r\n", "a b\r\n\r\n- [[Rye]]\r\n", "a b\r\n"),
    ],
)
def test_only_what_was_put_in_is_taken_out(before: str, after: str, now: str, result: str) -> None:
    text, left = undone(before, after, now)
    assert text == result
    assert left == []
    back = plan_rollback([past(before, after)], {NOTE: now.encode()})
    assert isinstance(back, Partly)
    assert back.left == ()


@pytest.mark.parametrize("link", ["[[Wheat|rye]]", "[[Rye|dark rye]]", "[[Rye]]", "![[Rye|rye]]", "[[Rye#Seed|rye]]"])
def test_what_was_typed_into_the_link_itself_is_left_and_told(link: str) -> None:
    text, left = undone("x\na rye\n", "x\na [[Rye|rye]]\n", f"x\na {link}\n")
    assert text == f"x\na {link}\n"
    assert [one.line for one in left] == [2]
    assert link in left[0].said
    back = plan_rollback([past("a rye\n", "a [[Rye|rye]]\n")], {NOTE: f"a {link}\n".encode()})
    assert isinstance(back, Impossible)
    assert (back.by_hand[0].path, back.by_hand[0].line) == ("Note.md", 1)


def test_a_merge_is_taken_back_with_the_trash() -> None:
    files = [past("keep\n", "keep\n\n## Old\n\nold\n"), moved()]
    now = {NOTE: b"keep\n\n## Old\n\nold\n", TRASHED: b"old\n"}
    back = plan_rollback(files, now)
    assert isinstance(back, Restored)
    assert [(move.source, move.destination) for move in back.changes.moves] == [(TRASHED, NotePath("Old.md"))]


def test_a_trash_that_was_emptied_costs_nothing() -> None:
    back = plan_rollback([moved()], {})
    assert isinstance(back, Restored)
    (plan,) = back.changes.writes
    assert (plan.path, plan.content, plan.expected_hash) == (NotePath("Old.md"), b"old\n", ABSENT)


def test_another_note_under_the_old_name_stops_everything() -> None:
    files = [past("keep\n", "both\n"), moved()]
    back = plan_rollback(files, {NOTE: b"both\n", TRASHED: b"old\n", NotePath("Old.md"): b"a new one\n"})
    assert isinstance(back, Impossible)
    assert "Old.md" in back.by_hand[0].message


def test_a_created_note_goes_unless_it_was_edited() -> None:
    back = plan_rollback([past(None, "new\n")], {NOTE: b"new\n"})
    assert isinstance(back, Restored)
    assert back.changes.writes[0].content is None
    assert isinstance(plan_rollback([past(None, "new\n")], {NOTE: b"new and mine\n"}), Impossible)
    assert plan_rollback([past(None, "new\n")], {}) == Restored(changes=type(back.changes)())


def test_a_note_that_was_renamed_is_found() -> None:
    other = NotePath("Renamed.md")
    back = plan_rollback([past("a\n", "b\n")], {other: b"b\n"}, place={"Note.md": "Renamed.md"})
    assert isinstance(back, Restored)
    assert back.changes.writes[0].path == other


def test_a_note_that_is_gone_is_told() -> None:
    back = plan_rollback([past("a\n", "b\n")], {})
    assert isinstance(back, Impossible)


PIECES = st.lists(st.sampled_from(["rye", "loaf", " ", "\n", "\n\n", "- ", "## H\n", "é", "[[X]]", "."]), max_size=25)


@given(PIECES.map("".join), PIECES.map("".join))
def test_untouched_text_comes_back_whatever_changed(before: str, after: str) -> None:
    assert undone(before, after, after) == (before, [])


@given(PIECES, PIECES, st.integers(0, 50))
def test_what_the_writer_typed_stays(head: list[str], tail: list[str], at: int) -> None:
    before = "".join(head) + "rye" + "".join(tail)
    after = "".join(head) + "[[Rye|rye]]" + "".join(tail)
    at = min(at, len(after))
    now = after[:at] + " TYPED " + after[at:]
    text, left = undone(before, after, now)
    assert "TYPED" in text
    if not left:
        assert text.replace(" TYPED ", "") == before


@pytest.mark.parametrize("now", ["[g]: <Grafting.md> 'x'\n", "Typed.\n\n[g]: <Grafting.md> 'x'\n"])
def test_a_reference_definition_comes_back_whole(now: str) -> None:
    text, left = undone("[g]: <Grafting 1.md> 'x'\n", "[g]: <Grafting.md> 'x'\n", now)
    assert (text, left) == (now.replace("<Grafting.md>", "<Grafting 1.md>"), [])
    text, left = undone("[g]: <Grafting 1.md>\n", "[g]: <Grafting.md>\n", "[g]: <Bread.md>\n")
    assert (text, [one.line for one in left]) == ("[g]: <Bread.md>\n", [1])


@pytest.mark.parametrize(
    ("after", "now"),
    [
        ("---\naliases:\n  - Old\n---\nx\n", "---\naliases:\n  - Old\n  - Mine\n---\nx\n"),
        ("---\na: 1\naliases:\n  - Old\n---\nx\n", "---\na: 1\naliases:\n  - Old\n  - Mine\n---\nx\n"),
    ],
)
def test_properties_stay_properties(after: str, now: str) -> None:
    before = after.replace("aliases:\n  - Old\n", "").replace("---\n---\n", "")
    text, _ = undone(before, after, now)
    assert parse_note(text).aliases in (("Mine",), ("Old", "Mine"))
