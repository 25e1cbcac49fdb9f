"""The list of contradictions: exchanged as a whole, whatever a claim holds, and gone when all are settled."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from aria_dream.consolidate.open_conflicts import MOST, NAME, OpenConflict, render_open
from aria_dream.consolidate.open_list import read_answers, with_list
from tests.unit.consolidate.test_report import HOSTILE

_text = st.one_of(st.sampled_from(HOSTILE), st.text(max_size=40))
_items = st.lists(
    st.builds(
        OpenConflict, key=st.text("0123456789abcdef", min_size=32, max_size=32), first=_text, second=_text,
        subject=_text, first_claim=_text, second_claim=_text,
    ),
    min_size=1, max_size=MOST + 3, unique_by=lambda item: item.key,
)  # fmt: skip


@given(_items, _items, st.sampled_from(["\n", "\r\n"]))
def test_the_list_is_exchanged_and_the_rest_stays(
    first: list[OpenConflict], second: list[OpenConflict], end: str
) -> None:
    mine = f"# Mine{end}{end}- [ ] a task{end}"
    text, problems = with_list(mine, NAME, render_open(first))
    assert problems == ()
    assert text.startswith(mine)
    again, problems = with_list(text + f"below{end}", NAME, render_open(second))
    assert problems == ()
    assert again.startswith(mine)
    assert again.endswith(f"below{end}")
    assert again.count("^disagree-") == min(len(second), MOST)
    empty, problems = with_list(text, NAME, "")
    assert problems == ()
    assert empty == mine


@given(_items)
def test_a_tick_dismisses_and_nothing_in_a_claim_does(items: list[OpenConflict]) -> None:
    text = render_open(items)
    assert _keys(text) == []
    wanted = items[0].key
    ticked = text.replace(f"[ ] no contradiction ^disagree-{wanted}", f"[x] no contradiction ^disagree-{wanted}")
    assert _keys(ticked) == [wanted]
    assert _keys(ticked.replace("\n", "\r\n")) == [wanted]
    assert _keys(ticked.replace("Mend the note", "Leave the note")) == []


def _keys(text: str) -> list[str]:
    return [answer.key for answer in read_answers(text, NAME).given]
