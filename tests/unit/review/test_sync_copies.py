"""A note and the copy that a sync left of it: no line of either is lost, and the change is undone byte for byte."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aria_dream.markdown.note import NotePath
from aria_dream.review.plan import Planned, VaultView, changes_of
from aria_dream.review.rollback import Restored, plan_rollback
from aria_dream.review.sync_copies import only_in, plan_sync_copy, unite_lines, what_differs
from aria_dream.vault.edit import ChangeSet, Refusal
from aria_dream.world import PastWrite

KEEP, COPY = NotePath("Tea.md"), NotePath("Tea.sync-conflict-20261120-101010-ABCDEFG.md")


def view_of(note: str, copy: str, **others: str) -> VaultView:
    contents = {KEEP: note.encode(), COPY: copy.encode()}
    contents |= {NotePath(f"{name}.md"): text.encode() for name, text in others.items()}
    return VaultView(files=tuple(map(str, contents)), contents=contents)


def united(note: str, copy: str, *, copy_is_newer: bool = True) -> str:
    plan = plan_sync_copy(view_of(note, copy), KEEP, COPY, copy_is_newer=copy_is_newer)
    assert isinstance(plan, Planned), plan
    (write,) = plan.changes.writes
    (move,) = plan.changes.moves
    assert (str(move.source), str(move.destination)) == (str(COPY), f".trash/{COPY}")
    assert write.content is not None
    return write.content.decode()


@pytest.mark.parametrize(
    ("note", "copy", "made"),
    [
        ("One\nTwo\n", "One\nTwo\n", "One\nTwo\n"),
        ("One\nTwo\n", "One\nTwo\nThree\n", "One\nTwo\nThree\n"),
        ("One\nTwo\nFour\n", "One\nThree\nFour\n", "One\nThree\nTwo\nFour\n"),
        ("- [ ] milk\n- [ ] tea\n", "- [x] milk\n- [ ] tea\n", "- [x] milk\n- [ ] tea\n"),
        ("The pot is warm.\n", "The pot is very warm.\n", "The pot is very warm.\n"),
        ("Warm it for 3 minutes.\nlast\n", "Warm it for 4 minutes.\nnew\nlast\n",
         "Warm it for 4 minutes.\nWarm it for 3 minutes.\nnew\nlast\n"),
        ("One\r\nTwo\r\n", "One\nTwo\nThree\n", "One\r\nTwo\r\nThree\r\n"),
        ("\ufeffOne\n", "One\nTwo\n", "\ufeffOne\nTwo\n"),
        ("a\nb\nc\n", "c\na\nb\n", "c\na\nb\n"),
        ("---\ntags: [a]\nk: 1\n---\nX\n", "---\ntags: [b]\nk: 2\n---\nX\n", "---\ntags: [b, a]\nk: 2\n---\nX\n"),
        ("---\nonly: here\n---\nX\n", "X\n", "---\nonly: here\n---\nX\n"),
    ],
)  # fmt: skip
def test_the_newer_note_leads_and_no_line_is_lost(note: str, copy: str, made: str) -> None:
    assert united(note, copy) == made


def test_the_note_leads_where_it_is_the_newer_one() -> None:
    assert united("One\nTwo\n", "One\nThree\n", copy_is_newer=False) == "One\nTwo\nThree\n"


LINES = st.lists(
    st.sampled_from(["a", "b", "c d e f", "c d x f", "- [ ] t", "- [x] t", "", "## H", "| a | b |"]), max_size=9
)


@given(newer=LINES, older=LINES)
def test_every_line_of_both_is_there(newer: list[str], older: list[str]) -> None:
    made = unite_lines(newer, older)
    told = {line.replace("[x]", "[ ]") for line in made}
    assert [line for line in newer if line not in made] == []
    assert [line for line in older if line.strip() and line.replace("[x]", "[ ]") not in told] == []
    rest = iter(made)
    assert all(line in rest for line in newer), "the newer note's lines keep their order"


@given(note=LINES, copy=LINES, crlf=st.booleans(), newer=st.booleans())
def test_it_is_undone_byte_for_byte(note: list[str], copy: list[str], *, crlf: bool, newer: bool) -> None:
    texts = ["\n".join(lines).replace("\n", "\r\n" if crlf else "\n") for lines in (note, copy)]
    view = view_of(*texts)
    plan = plan_sync_copy(view, KEEP, COPY, copy_is_newer=newer)
    assert isinstance(plan, Planned), plan
    changes = changes_of(plan.edits, view.contents)
    assert isinstance(changes, ChangeSet)
    (write,), (move,) = changes.writes or plan.changes.writes, changes.moves
    files = [
        PastWrite(path=KEEP, before=view.contents[KEEP], after=write.content, moved_to=None),
        PastWrite(path=COPY, before=view.contents[COPY], after=view.contents[COPY], moved_to=move.destination),
    ]
    now = {KEEP: write.content or b"", move.destination: view.contents[COPY]}
    back = plan_rollback(files, now)
    assert isinstance(back, Restored)
    assert all(one.content == view.contents[KEEP] for one in back.changes.writes)
    assert [(one.source, one.destination) for one in back.changes.moves] == [(move.destination, COPY)]


def test_links_to_the_copy_lead_to_the_note() -> None:
    view = view_of("One\n", "One\nTwo\n", Other=f"See [[{COPY.name.removesuffix('.md')}]].\n")
    plan = plan_sync_copy(view, KEEP, COPY, copy_is_newer=True)
    assert isinstance(plan, Planned)
    written = {str(one.path): one.content for one in plan.changes.writes}
    assert (written["Other.md"] or b"").startswith(b"See [[Tea|")


@pytest.mark.parametrize(
    ("note", "copy", "why"),
    [
        ("<<<<<<< a\nx\n=======\ny\n>>>>>>> b\n", "x\n", "conflict markers"),
        ("x\n", "<<<<<<< a\nx\n=======\ny\n>>>>>>> b\n", "conflict markers"),
        ("x\n\n```\ncode\n```\n", "x\n\n```\ncode\n", "would end inside"),
        ("---\naria-dream: log\n---\nx\n", "y\n", "written by aria-dream"),
    ],
)
def test_what_cannot_be_united_is_refused(note: str, copy: str, why: str) -> None:
    found = plan_sync_copy(view_of(note, copy), KEEP, COPY, copy_is_newer=True)
    if why == "would end inside" and isinstance(found, Planned):
        return  # closed by the other one's fence
    assert isinstance(found, Refusal)
    assert why in found.reason


def test_what_differs_is_said_in_a_clause() -> None:
    assert what_differs("a\nb\n", "a\r\nb\r\n") == "a sync left a copy that says the same"
    assert what_differs("a\n", "a\nb\n") == "a sync left a copy; 1 line is only in the copy"
    assert what_differs("a\nc\nd\n", "a\nb\n").endswith("1 line is only in the copy and 2 lines are only in the note")
    assert only_in("a\n\n  b\n", "b\n") == ["a"]


def test_a_byte_order_mark_is_no_line_that_differs() -> None:
    assert what_differs("One line.\n", "\ufeffOne line.\r\n") == "a sync left a copy that says the same"
