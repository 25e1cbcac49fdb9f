"""Our own lines renewed: what they say, what they keep, and what another machine's clock may not change."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, date, datetime, timedelta

import pytest

from aria_dream.notes.dream_log import parse_blocks
from aria_dream.notes.review_note import ReviewItem, read_managed, render_managed, render_review_head
from aria_dream.review.lines import outcome_of, renew_log, renew_review, reopened_items, told_not_undone
from aria_dream.review.proposal import KNEW_IT, Proposal, ProposalState, State
from tests.reviewed import COMPOST, SLACK, block, id_of, logged

AT = datetime(2026, 11, 30, 3, 12, tzinfo=UTC)
NOW = datetime(2026, 11, 30, 7, 41, tzinfo=UTC)
WINDOW = timedelta(hours=48)
TEXT = "Mine.\r\n\r\n" + block([COMPOST, SLACK]).replace("\n", "\r\n") + "\r\nMine too."


def state(pair: tuple[str, str], is_: State, since: datetime = NOW, reason: str = "") -> ProposalState:
    titles = tuple(path.removesuffix(".md") for path in pair)
    made = Proposal(id=id_of(pair), kind="link", paths=pair, round=0, at=AT, expires_at=None, titles=titles)
    return ProposalState(proposal=made, state=is_, since=since, paths=pair, reason=reason)


def states(*found: ProposalState) -> dict[str, ProposalState]:
    return {one.proposal.id: one for one in found}


def log(text: str, *found: ProposalState, now: datetime = NOW) -> str:
    return renew_log(text, states(*found), now=now, window=WINDOW)


@pytest.mark.parametrize(
    ("is_", "line"),
    [
        ("applied", "[ ] undo: linked in Compost 07:41 (until 2 Dec 07:41) ^aria-{id}-undo"),
        ("rejected", "[ ] undo: never again 07:41 (until 2 Dec 07:41) ^aria-{id}-undo"),
        ("rolled_back", "undone, 07:41 ^aria-{id}"),
        ("expired", "expired, 07:41 ^aria-{id}"),
        ("stale", "not placed, 07:41: it went away ^aria-{id}"),
        ("superseded", "not placed, 07:41: it went away ^aria-{id}"),
    ],
)
def test_what_a_decided_line_says(is_: State, line: str) -> None:
    after = log(TEXT, state(COMPOST, is_, reason="it went away"))
    said = line.format(id=id_of(COMPOST))
    assert f"\r\n- {said}\r\n" in after
    labels = {"link them": "", "knew it": "-known", "never again": "-no"}
    boxes = "".join(f"- [ ] {label} ^aria-{id_of(COMPOST)}{end}\r\n" for label, end in labels.items())
    assert after.replace(f"- {said}\r\n", boxes) == TEXT
    assert log(after, state(COMPOST, is_, reason="it went away")) == after


def test_what_the_writer_knew_is_said_so() -> None:
    after = log(TEXT, state(COMPOST, "rejected", reason=KNEW_IT))
    assert f"- [ ] undo: knew it 07:41 (until 2 Dec 07:41) ^aria-{id_of(COMPOST)}-undo" in after


@pytest.mark.parametrize("is_", ["proposed", "approved"])
def test_an_open_pair_keeps_its_boxes(is_: State) -> None:
    assert log(TEXT, state(COMPOST, is_)) == TEXT


def test_another_machines_line_stays_to_the_letter() -> None:
    line = log(TEXT, state(COMPOST, "applied"))
    other = state(COMPOST, "applied", since=NOW + timedelta(minutes=3))
    assert log(line, other) == line
    ticked = line.replace("[ ] undo", "[x] undo")
    assert log(ticked, other) == ticked


def test_an_undo_box_goes_when_its_time_is_over() -> None:
    line = log(TEXT, state(COMPOST, "applied"))
    late = log(line, state(COMPOST, "applied"), now=NOW + WINDOW)
    assert f"linked in Compost, 07:41 ^aria-{id_of(COMPOST)}\r\n" in late
    assert log(late, state(COMPOST, "applied"), now=NOW + WINDOW) == late
    assert log(late, state(COMPOST, "applied")) == late  # a clock that runs behind brings no box back


def test_a_pair_that_is_open_again_gets_its_boxes_back() -> None:
    refused = log(TEXT, state(COMPOST, "rejected"))
    assert refused != TEXT
    assert log(refused, state(COMPOST, "proposed")) == TEXT
    (item,) = reopened_items(refused, date(2026, 11, 30), states(state(COMPOST, "proposed")))
    assert item == ReviewItem(kind="link", pair=logged(COMPOST), dreamt_on=date(2026, 11, 30))
    first = replace(state(COMPOST, "proposed"), since=AT)
    assert reopened_items(refused, date(2026, 11, 30), states(first)) == ()


def test_a_line_under_another_pair_is_never_renewed() -> None:
    swapped = TEXT.replace(id_of(COMPOST), "zzzzzz").replace(id_of(SLACK), id_of(COMPOST))
    assert log(swapped, state(COMPOST, "applied")) == swapped


def test_what_cannot_be_undone_is_told_once_and_links_nothing() -> None:
    line = log(TEXT, state(COMPOST, "applied")).replace("[ ] undo", "[x] undo")
    told = told_not_undone(line, id_of(COMPOST), ("“[[Sourdough starter]]” was edited since", "do it by hand"))
    assert "[x]" not in told
    assert told.count("not undone: ") == 2
    assert told.count("[[") == TEXT.count("[[")
    assert told_not_undone(told, id_of(COMPOST), ("again",)) == told
    blocks, problems = parse_blocks(told)
    assert not problems
    assert len(blocks[0].pairs) == 2
    assert told.count("\n") == told.count("\r\n")


def review(*pairs: tuple[str, str]) -> str:
    items = [ReviewItem(kind="link", pair=logged(pair), dreamt_on=AT.date()) for pair in pairs]
    return render_review_head() + render_managed(items) + "\nMine.\n"


def test_decided_pairs_leave_the_review_and_reopened_ones_come_back() -> None:
    text = review(COMPOST, SLACK)
    without = renew_review(text, states(state(COMPOST, "applied"), state(SLACK, "approved")))
    assert without == review(SLACK)
    item = ReviewItem(kind="link", pair=logged(COMPOST), dreamt_on=AT.date())
    back = renew_review(without, states(state(COMPOST, "proposed")), [item])
    assert back == review(SLACK, COMPOST)
    assert renew_review(back, states(state(COMPOST, "proposed")), [item]) == back


def test_a_pair_that_no_journal_knows_stays_in_the_review() -> None:
    assert renew_review(review(COMPOST), {}) == review(COMPOST)


def test_an_edited_review_is_left_alone() -> None:
    edited = review(COMPOST).replace("  path:", "  my words\n  path:")
    assert read_managed(edited)[0] is None
    assert renew_review(edited, states(state(COMPOST, "applied"))) == edited


def test_every_state_has_a_line_or_boxes() -> None:
    for is_ in ("proposed", "approved", "rejected", "applied", "rolled_back", "stale", "expired", "superseded"):
        found = outcome_of(state(COMPOST, is_), now=NOW, window=WINDOW)
        assert (found is None) == (is_ in ("proposed", "approved"))


def test_a_decided_line_names_the_folder_where_the_title_is_not_unique() -> None:
    pair = ("Garden/note.md", "Roses/note.md")
    one = state(pair, "applied")
    named = replace(one, proposal=replace(one.proposal, titles=("Garden/note", "Roses/note")))
    found = outcome_of(named, now=NOW, window=WINDOW)
    assert found is not None
    assert found.where == "Garden/note"
