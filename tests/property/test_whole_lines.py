"""A change shown in whole lines is the same change, to the byte."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from aria_dream.markdown.note import NotePath
from aria_dream.review.plan import changes_of, whole_lines
from aria_dream.review.proposal import PlannedEdit
from aria_dream.vault.edit import ChangeSet, Edit, WritePlan, content_hash, encode_note, plan_edit

PATH = NotePath("a.md")
TEXTS = st.text(st.sampled_from("ab\n\r é𝄞"), max_size=30)


@given(TEXTS, st.integers(0, 30), st.integers(0, 8), TEXTS)
def test_whole_lines_write_the_same(text: str, start: int, length: int, inserted: str) -> None:
    start = min(start, len(text))
    end = min(start + length, len(text))
    before = encode_note(text)
    plan = plan_edit(PATH, before, [Edit(start, end, inserted)])
    assert isinstance(plan, WritePlan)
    assert plan.content is not None
    edit = PlannedEdit(
        path="a.md",
        before=content_hash(before),
        after=content_hash(plan.content),
        start=start,
        removed=text[start:end],
        inserted=inserted,
    )
    whole = whole_lines(edit, {PATH: before})
    assert changes_of([whole], {PATH: before}) == ChangeSet(writes=(plan,))
    assert whole.start <= start
    assert text[: whole.start][-1:] in ("", "\n", "\r")
    assert text[whole.start + len(whole.removed) :][:1] in ("", "\n", "\r")
