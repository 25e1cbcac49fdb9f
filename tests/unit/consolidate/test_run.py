"""A consolidation is the same however often it is cut off, stops at its breakers, and remembers what was decided."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, date, datetime, timedelta
from hashlib import sha256
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aria_dream.consolidate.judged import as_judged, conflict_key
from aria_dream.consolidate.passages import Passage
from aria_dream.consolidate.record import (
    ALL_PARTS,
    Brought,
    Consolidation,
    End,
    Part,
    Scan,
    brought_record,
    ended,
    judged_record,
    parse_consolidations,
    resumed,
    started,
    triaged,
)
from aria_dream.consolidate.run import clusters_of, pairs_within, steps, total_questions
from aria_dream.consolidate.verdict import (
    Conflict,
    Escalated,
    KeepA,
    Merge,
    NeedsHuman,
    NotDuplicate,
    Unreadable,
)
from aria_dream.consolidate.work import (
    Candidate,
    Collapse,
    Compare,
    Limits,
    Member,
    Remembered,
    Resolve,
    Retire,
    Settle,
    Triage,
    Work,
)
from aria_dream.notes.jsonl import render_record

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from aria_dream.consolidate.judged import Judged
    from aria_dream.consolidate.verdict import ConflictVerdict, PairVerdict

AT = datetime(2026, 11, 30, 2, 0, tzinfo=UTC)
WIDE = Limits(proposals=100, room=100, tokens=10**9, most_proposals=100, most_open=100, most_tokens=10**9)


def passage(name: str) -> Passage:
    return Passage(id=f"id-{name}", path=f"{name}.md", headings=(), start=0, end=9, text=f"about {name}", words=name,
                fingerprint=sha256(name.encode()).hexdigest())  # fmt: skip


def pair(first: str, second: str, rank: int) -> Candidate:
    return Candidate(key=f"{first}{second}", first=member(first), second=member(second), rank=rank)


def member(name: str) -> Member:
    return Member(id=f"id-{name}", path=f"{name}.md", title=name, state=name, is_note=True)


def conflict(first: str, second: str) -> Conflict:
    return Conflict(first=passage(first), second=passage(second), subject="rain", first_claim=f"{first} is 3",
                    second_claim=f"{second} is 4", signals=("subject", "number"))  # fmt: skip


PAIRS = (pair("a", "b", 1), pair("b", "c", 2), pair("d", "e", 3), pair("f", "g", 4), pair("h", "i", 5))
CONFLICTS = (conflict("a", "x"), conflict("d", "y"), conflict("h", "z"))
WORK = Work(scan=Scan(passages=12, new=12, pairs=5, conflicts=3, stale=1), pairs=PAIRS, conflicts=CONFLICTS,
            stale=("old.md: expired",))  # fmt: skip


NEVER: Iterator[None] = iter(())


class Judge:
    """Answers by the titles, always the same; counts what it was asked."""

    def __init__(self, name: str = "judge", answer: Callable[[str], PairVerdict] | None = None) -> None:
        self.name = name
        self.asked: list[str] = []
        self._answer = answer

    def compare(self, two: Candidate) -> PairVerdict:
        self.asked.append(two.first.path + two.second.path)
        if self._answer is not None:
            return self._answer(two.first.path)
        verdicts: dict[str, PairVerdict] = {
            "f.md": NotDuplicate(reason="no", confidence=0.9),
            "h.md": Unreadable(reason="half a word"),
        }
        return verdicts.get(two.first.path, Merge(reason="same", confidence=0.9))

    def resolve(self, found: Conflict) -> ConflictVerdict:
        self.asked.append(found.first_claim)
        if found.first.path == "d.md":
            return NeedsHuman(reason="hard")
        return KeepA(reason="newer", confidence=0.9)


class Night:
    """Everything that outlives a process: the lines of `runs.jsonl`, and the proposals with their marks."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        self.proposals: dict[str, str] = {}
        """Mark to id."""
        self.clock = AT

    def append(self, run: Consolidation, record: dict[str, object]) -> None:
        self.lines.append(render_record(record))
        run.take(record)

    def now(self) -> datetime:
        self.clock += timedelta(seconds=1)
        return self.clock

    def run_consolidation(
        self, judge: Judge, limits: Limits = WIDE, work: Work = WORK, *, cut: Iterator[None] = NEVER,
        remembered: Remembered | None = None, tokens: int = 0, parts: tuple[Part, ...] = ALL_PARTS, day: int = 0,
    ) -> Consolidation:  # fmt: skip
        """One sitting, until it ends or `cut` raises; `cut` is asked before every effect and between any two."""
        past = parse_consolidations("".join(self.lines))
        last = past[-1] if past and past[-1].end in (None, End.INTERRUPTED) else None
        if last is None:
            run = Consolidation(
                id=f"run-{len(past)}", at=self.now(), night=date(2026, 11, 30) + timedelta(days=day), parts=parts,
                judge=judge.name,
            )  # fmt: skip
            self.lines.append(render_record(started(run)))
        else:
            run = last
            self.append(run, resumed(run, self.now()))
        known = {key: one for each in past if each is not run for key, one in each.judged.items()}
        seen = remembered or Remembered()
        seen = replace(seen, judged={**known, **seen.judged})
        for step in steps(run, work, seen, limits, judge.name):
            next(cut, None)
            self.carry_out(run, step, judge, cut, tokens)
        return run

    def carry_out(self, run: Consolidation, step: object, judge: Judge, cut: Iterator[None], tokens: int) -> None:
        at = self.now()
        match step:
            case Triage(scan=scan):
                self.append(run, triaged(run, at, scan))
            case Compare(pair=two):
                verdict = as_judged(two.key, judge.compare(two), judge.name)
                next(cut, None)
                self.append(run, judged_record(run, at, "pair", verdict, tokens=tokens))
            case Resolve(conflict=two, key=key):
                found = as_judged(key, judge.resolve(two), judge.name)
                next(cut, None)
                self.append(run, judged_record(run, at, "conflict", found, tokens=tokens))
            case Collapse(mark=mark):
                self.bring(run, mark, "cluster", cut, proposed=True)
            case Settle(judged=judged, key=key):
                self.bring(run, key, "conflict", cut, proposed=judged.word in ("keep_a", "keep_b"))
            case Retire(mark=mark):
                self.bring(run, mark, "stale", cut, proposed=True)
            case _:
                self.append(run, ended(run, at, step.end, step.reason, step.left))  # type: ignore[attr-defined]

    def bring(self, run: Consolidation, mark: str, what: str, cut: Iterator[None], *, proposed: bool) -> None:
        ids: tuple[str, ...] = ()
        if proposed:
            next(cut, None)
            ids = (self.proposals.setdefault(mark, f"p{len(self.proposals)}"),)
            next(cut, None)
        self.append(run, brought_record(run, self.now(), Brought(finding=mark, what=what, proposals=ids)))  # type: ignore[arg-type]


class _CutError(Exception):
    pass


def cut_after(count: int) -> Iterator[None]:
    for _ in range(count):
        yield None
    raise _CutError


def test_a_night_judges_collapses_settles_and_retires() -> None:
    night, judge = Night(), Judge()
    run = night.run_consolidation(judge)
    assert run.end is End.DONE
    assert len(judge.asked) == 8
    assert len(run.proposals) == 5  # {a, b, c}, {d, e}, two contradictions, one stale note
    assert (run.resolutions, run.escalated, run.pairs_judged, run.conflicts_judged) == (2, 1, 5, 3)
    assert run.seconds > 0
    (again,) = parse_consolidations("".join(night.lines))
    assert again == run


@given(st.lists(st.integers(0, 25), max_size=8))
def test_any_interruptions_leave_the_same_proposals_and_none_twice(cuts: list[int]) -> None:
    whole, broken = Night(), Night()
    whole.run_consolidation(Judge())
    for count in cuts:
        try:
            broken.run_consolidation(Judge(), cut=cut_after(count))
        except _CutError:
            continue
        break
    else:
        broken.run_consolidation(Judge())
    assert broken.proposals == whole.proposals
    (run,) = parse_consolidations("".join(broken.lines))
    assert sorted(run.proposals) == sorted(set(run.proposals)) == sorted(whole.proposals.values())
    assert run.end is End.DONE


@given(st.lists(st.integers(0, 25), max_size=8), st.integers(0, 60))
def test_a_torn_line_is_a_step_done_again(cuts: list[int], torn: int) -> None:
    whole, broken = Night(), Night()
    whole.run_consolidation(Judge())
    for count in cuts:
        try:
            broken.run_consolidation(Judge(), cut=cut_after(count))
        except _CutError:
            last = broken.lines.pop()
            broken.lines.append(last[: min(torn, len(last) - 2)] + "\n")
            continue
        break
    if not parse_consolidations("".join(broken.lines)) or parse_consolidations("".join(broken.lines))[-1].end is None:
        broken.run_consolidation(Judge())
    assert broken.proposals == whole.proposals


def test_three_unreadable_answers_in_a_row_end_the_judging_and_no_more_is_asked() -> None:
    night = Night()
    judge = Judge(answer=lambda _path: Unreadable(reason="gibberish"))
    run = night.run_consolidation(judge)
    assert len(judge.asked) == 3
    assert run.end is End.STOPPED
    assert run.stop_reason == "the judge failed 3 times in a row"
    assert run.left == 5
    later = Judge()
    night.run_consolidation(later, day=1)
    assert len(later.asked) == 8  # what was unreadable is asked again on another night


def test_failures_that_are_not_in_a_row_do_not_stop() -> None:
    odd = iter([True, True, False, True, True])
    judge = Judge(answer=lambda _path: Unreadable(reason="?") if next(odd) else Merge(reason="same", confidence=1.0))
    run = Night().run_consolidation(judge)
    assert run.end is End.DONE


@pytest.mark.parametrize("most", [0, 1, 3])
def test_the_cap_of_a_night_holds(most: int) -> None:
    night = Night()
    run = night.run_consolidation(Judge(), replace(WIDE, proposals=most, most_proposals=most))
    assert len(run.proposals) == most
    assert run.end is End.STOPPED
    assert {0: "no proposal", 1: "the one proposal", 3: "the 3 proposals"}[most] in run.stop_reason


@given(st.lists(st.integers(0, 20), max_size=5))
def test_the_cap_counts_over_interruptions(cuts: list[int]) -> None:
    night, limits = Night(), replace(WIDE, proposals=2, most_proposals=2)
    for count in cuts:
        try:
            night.run_consolidation(Judge(), limits, cut=cut_after(count))
        except _CutError:
            continue
        break
    else:
        night.run_consolidation(Judge(), limits)
    assert len(night.proposals) == 2


def test_what_waits_for_the_writer_leaves_room_or_none() -> None:
    run = Night().run_consolidation(Judge(), replace(WIDE, room=1, most_open=15))
    assert len(run.proposals) == 1
    assert "15 proposals wait" in run.stop_reason


def test_tokens_are_never_overspent_and_the_judge_inside_needs_none() -> None:
    limits = replace(WIDE, tokens=3000, most_tokens=3000, is_metered=True)
    run = Night().run_consolidation(Judge(), limits, tokens=1500)
    assert run.tokens <= 3000
    assert run.end is End.STOPPED
    assert "3,000 tokens" in run.stop_reason
    assert Night().run_consolidation(Judge(), replace(limits, tokens=0, is_metered=False)).end is End.DONE


def test_the_next_night_asks_nothing_that_has_its_answer() -> None:
    night = Night()
    night.run_consolidation(Judge())
    again = Judge()
    run = night.run_consolidation(again, day=1)
    assert again.asked == ["h.mdi.md"]  # the unreadable one
    assert run.judged.keys() == {PAIRS[4].key}


def test_another_judge_is_asked_what_the_first_left_to_somebody_else() -> None:
    night = Night()
    night.run_consolidation(
        Judge("inside", answer=lambda _path: Escalated(reason="not verbatim")), parts=(Part.CONSOLIDATE,)
    )
    same, other = Judge("inside"), Judge("a model")
    night.run_consolidation(same, parts=(Part.CONSOLIDATE,), day=1)
    assert same.asked == []
    night.run_consolidation(other, parts=(Part.CONSOLIDATE,), day=2)
    assert len(other.asked) == 5


def test_what_the_writer_refused_is_not_brought_together_again() -> None:
    night, judge = Night(), Judge()
    refused = Remembered(apart=pairs_within(["id-d", "id-e"]) | pairs_within(["id-a", "id-c"]))
    run = night.run_consolidation(judge, remembered=refused)
    assert "d.mde.md" not in judge.asked
    clusters = [one for one in run.brought.values() if one.what == "cluster"]
    assert len(clusters) == 1  # {a, b}; c would join a again


def test_what_waits_already_is_not_proposed_once_more() -> None:
    settled = frozenset({conflict_key(CONFLICTS[0]), "old.md: expired"})
    busy = Remembered(busy_passages=frozenset({"id-a"}), busy_paths=frozenset({"d.md"}), settled=settled)
    run = Night().run_consolidation(Judge(), remembered=busy)
    assert {one.what for one in run.brought.values() if one.proposals} == {"conflict"}
    assert len(run.proposals) == 1


def test_a_part_alone_does_only_its_own() -> None:
    for part, asked in ((Part.TRIAGE, 0), (Part.CONSOLIDATE, 5), (Part.RESOLVE, 3)):
        judge = Judge()
        run = Night().run_consolidation(judge, parts=(part,))
        assert (len(judge.asked), run.end) == (asked, End.DONE)
        assert run.scan == WORK.scan


def test_no_cluster_is_brought_before_all_its_pairs_are_judged() -> None:
    limits = replace(WIDE, tokens=2000, most_tokens=2000, is_metered=True)
    run = Night().run_consolidation(Judge(), limits, tokens=900)
    assert run.pairs_judged == 1  # b and c are still to be compared
    assert run.proposals == ["p0"]  # the stale note needs no judge
    assert [one.what for one in run.brought.values()] == ["stale"]


def test_progress_counts_what_is_asked() -> None:
    night = Night()
    run = night.run_consolidation(Judge(), parts=(Part.CONSOLIDATE,))
    assert total_questions(run, WORK, Remembered(), "judge") == run.questions_answered == 5


def test_clusters_are_united_and_in_the_order_of_their_nearest_pair() -> None:
    def merged(two: Candidate) -> tuple[Candidate, Judged]:
        return two, as_judged(two.key, Merge(reason="", confidence=1.0), "j")

    found = clusters_of([merged(pair("c", "d", 3)), merged(pair("a", "b", 2)), merged(pair("b", "d", 4)),
                         merged(pair("x", "y", 1))])  # fmt: skip
    assert [[one.path for one in cluster.members] for cluster in found] == [
        ["x.md", "y.md"], ["a.md", "b.md", "c.md", "d.md"],
    ]  # fmt: skip
    assert len(found[1].pairs) == 3
