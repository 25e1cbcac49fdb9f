"""A night on a real vault: what it proposes, what it leaves alone, what it writes, and how it goes on."""

from __future__ import annotations

from datetime import date, timedelta
from typing import TYPE_CHECKING

import pytest

from aria_dream.consolidate.record import End, Part, Scan, triaged
from aria_dream.consolidate.report import read_report
from aria_dream.consolidate.verdict import Escalated, KeepA, Unreadable
from aria_dream.review.proposal import Proposal, event_record, proposal_id
from aria_dream.usecases.review import settle
from tests.night_bench import NIGHT, NOTES, POLICY, Judge, NightBench

if TYPE_CHECKING:
    from pathlib import Path


def test_a_night_writes_proposals_and_nothing_else(tmp_path: Path) -> None:
    bench = NightBench(tmp_path)
    before = bench.held()
    result = bench.run_consolidation()
    assert result.reason == ""
    states = bench.store.read().states
    assert sorted(state.proposal.kind for state in states.values()) == ["merge", "merge", "obsolete"]
    assert all(state.state == "proposed" and state.edits for state in states.values())
    assert all(state.proposal.episode == "night-20261130-020001" for state in states.values())
    assert [one.subject for one in result.open_conflicts] == ["rain"]
    assert bench.held() == before
    assert not (bench.root / "dreams").exists()


def test_the_morning_tells_once_and_again_without_a_change(tmp_path: Path) -> None:
    bench = NightBench(tmp_path)
    before = bench.held()
    result = bench.run_consolidation()
    morning = bench.tell(result)
    assert morning.said == ()
    assert (morning.report, morning.note) == ("dreams/Dream report.md", "dreams/2026-11-30 dream.md")
    review = bench.read("dreams/Dream review.md")
    assert review.count("\n- **") >= 3 or review.count("^aria-") >= 6
    assert "3 proposals wait in the review; one contradiction is left to you." in bench.read(morning.note)
    block, problems = read_report(bench.read(morning.report))
    assert problems == ()
    assert block is not None
    (night,) = block.nights
    assert (night.night, night.proposals, night.escalated, night.contradictions) == (NIGHT, 3, 1, 1)
    names = ("Dream review.md", "Dream report.md", "2026-11-30 dream.md")
    told = {name: bench.read(f"dreams/{name}") for name in names}
    bench.tell(result)
    assert {name: bench.read(f"dreams/{name}") for name in told} == told
    assert bench.held() == before
    (run,) = bench.store.consolidations()
    assert run.is_told


def test_a_contradiction_is_told_once_in_the_dream_notes(tmp_path: Path) -> None:
    bench = NightBench(tmp_path)
    note = bench.tell(bench.run_consolidation()).note
    assert "one contradiction is left to you" in bench.read(note)
    again = bench.run_consolidation(night=date(2026, 12, 1))
    assert again.run is not None
    assert again.run.escalated == 1
    assert bench.tell(again).note == ""
    assert bench.read(note).count("left to you") == 1


def test_open_contradictions_are_listed_and_dismissed_by_a_tick(tmp_path: Path) -> None:
    bench = NightBench(tmp_path)
    bench.tell(bench.run_consolidation())
    review = bench.read("dreams/Dream review.md")
    assert review.count("[ ] no contradiction ^disagree-") == 1
    assert "Rain: “It rains 3 days a week.”" in review
    bench.tell(bench.run_consolidation(night=date(2026, 12, 1)))
    assert bench.read("dreams/Dream review.md") == review
    bench.save("dreams/Dream review.md", review.replace("[ ] no contradiction", "[x] no contradiction"))
    judge = Judge()
    result = bench.run_consolidation(judge, night=date(2026, 12, 2))
    assert (result.open_conflicts, judge.asked) == ((), [])
    bench.tell(result)
    shown = bench.read("dreams/Dream review.md")
    assert "- [ ] no contradiction" not in shown
    assert shown.count("never again ^aria-") == review.count("never again ^aria-") == 3
    bench.tell(bench.run_consolidation(night=date(2026, 12, 3)))
    assert "- [ ] no contradiction" not in bench.read("dreams/Dream review.md")


def test_an_edited_list_of_contradictions_is_left_and_said(tmp_path: Path) -> None:
    bench = NightBench(tmp_path)
    bench.tell(bench.run_consolidation())
    edited = bench.read("dreams/Dream review.md").replace("It rains 3", "It pours 3")
    bench.save("dreams/Dream review.md", edited)
    bench.save("Rain.md", "It rains 5 days a week.\n")
    morning = bench.tell(bench.run_consolidation(night=date(2026, 12, 1)))
    assert "open contradictions" in " ".join(morning.said)
    assert bench.read("dreams/Dream review.md") == edited


def test_a_night_without_candidates_says_so_and_leaves_no_line(tmp_path: Path) -> None:
    bench = NightBench(tmp_path, {"dreaming.md": POLICY, "Compost.md": "A heap.\n", "Tides.md": "The moon.\n"})
    result = bench.run_consolidation()
    assert result.reason == ""
    assert result.made == ()
    morning = bench.tell(result)
    assert morning.note == ""
    assert "Nothing waits for you." in bench.read(morning.report)


def test_a_rehearsal_writes_nothing_at_all(tmp_path: Path) -> None:
    bench = NightBench(tmp_path)
    result = bench.run_consolidation(dry_run=True)
    assert len(result.made) == 3
    assert bench.store.consolidations() == ()
    assert bench.store.read().states == {}
    assert not (bench.root / "dreams").exists()
    assert not (bench.state / "abcdefgh23456789" / "runs.jsonl").exists()


def test_the_same_night_again_and_the_next_propose_nothing_twice(tmp_path: Path) -> None:
    bench = NightBench(tmp_path)
    bench.run_consolidation()
    judge = Judge()
    assert bench.run_consolidation(judge).made == ()
    assert bench.run_consolidation(judge, night=date(2026, 12, 1)).made == ()
    assert judge.asked == []
    assert len(bench.store.read().states) == 3


def test_what_was_refused_or_undone_stays_away(tmp_path: Path) -> None:
    bench = NightBench(tmp_path)
    made = bench.run_consolidation().made
    for proposal, _ in made:
        bench.store.note(event_record("rejected", proposal.id, bench.now(), by="tick"))
    bench.save("Compost copy.md", NOTES["Compost copy.md"] + "\n")  # other bytes, the same two notes
    bench.save("Compost.md", NOTES["Compost.md"] + "\n")
    result = bench.run_consolidation(night=date(2026, 12, 1))
    assert result.made == ()
    assert len(bench.store.read().states) == 3


def test_what_lapsed_rests_for_a_season_and_comes_again(tmp_path: Path) -> None:
    bench = NightBench(tmp_path)
    made = bench.run_consolidation().made
    bench.clock += timedelta(days=61)
    assert bench.run_consolidation(night=date(2027, 1, 30)).made == ()
    assert {one.state for one in bench.store.read().states.values()} == {"expired"}
    bench.clock += timedelta(days=95)
    assert len(bench.run_consolidation(night=date(2027, 5, 5)).made) == len(made)
    rounds = [one.proposal.round for one in bench.store.read().states.values()]
    assert sorted(rounds) == [0, 0, 0, 1, 1, 1]


def test_a_full_review_begins_nothing_and_a_nearly_full_one_stops_it(tmp_path: Path) -> None:
    bench = NightBench(tmp_path, {**NOTES, "dreaming.md": f"{POLICY}- max_open_proposals: 2\n"})
    result = bench.run_consolidation()
    assert len(result.made) == 2
    assert "2 proposals wait for you" in result.reason
    again = bench.run_consolidation()
    assert again.run is None
    assert "2 proposals wait for you" in again.reason
    assert len(bench.store.consolidations()) == 1


def test_the_caps_are_the_nights_and_not_the_runs(tmp_path: Path) -> None:
    bench = NightBench(tmp_path, {**NOTES, "dreaming.md": f"{POLICY}- max_proposals_per_night: 1\n"})
    assert len(bench.run_consolidation().made) == 1
    second = bench.run_consolidation()
    assert second.made == ()
    assert second.reason == "the one proposal that a night may make is made"
    assert len(bench.run_consolidation(night=date(2026, 12, 1)).made) == 1


def test_the_token_budget_is_the_nights(tmp_path: Path) -> None:
    bench = NightBench(tmp_path, {**NOTES, "dreaming.md": f"{POLICY}- token_budget_per_night: 2000\n"})
    judge = Judge(cost=600)
    result = bench.run_consolidation(judge, metered=True)
    assert len(judge.asked) == 1
    assert "tokens" in result.reason
    assert result.run is not None
    assert result.run.tokens == 600
    assert bench.run_consolidation(Judge(cost=600), metered=True).run.tokens == 0  # type: ignore[union-attr]


def test_three_failures_end_it_and_the_next_night_asks_again(tmp_path: Path) -> None:
    bench = NightBench(tmp_path)
    result = bench.run_consolidation(Judge(compared=Unreadable(reason="?"), resolved=Unreadable(reason="?")))
    assert result.run is not None
    assert result.run.end is End.STOPPED
    assert "failed 3 times" in result.reason
    later = Judge()
    bench.run_consolidation(later, night=date(2026, 12, 1))
    assert len(later.asked) == 3


def test_an_interruption_is_recorded_and_resumed(tmp_path: Path) -> None:
    bench = NightBench(tmp_path)

    def interrupt() -> None:
        raise KeyboardInterrupt

    first = bench.run_consolidation(Judge(on_ask=interrupt))
    assert first.interrupted
    (run,) = bench.store.consolidations()
    assert run.end is End.INTERRUPTED
    judge = Judge()
    second = bench.run_consolidation(judge, resume="last")
    assert second.resumed
    assert len(second.made) == 3
    assert len(judge.asked) == 3
    assert (
        bench.run_consolidation(resume="last").reason
        == "there is nothing to go on with: the last night came to its end"
    )


def test_the_daemon_resumes_the_same_night_only(tmp_path: Path) -> None:
    bench = NightBench(tmp_path)

    class Ended(Exception):  # noqa: N818 - the child was killed here
        pass

    def die(unit: str) -> None:
        if unit == "judging":
            raise Ended

    with pytest.raises(Ended):
        bench.run_consolidation(permit=die)
    bench.run_consolidation(resume="night")
    assert len(bench.store.consolidations()) == 1
    with pytest.raises(Ended):
        bench.run_consolidation(permit=die, night=date(2026, 12, 1))
    bench.run_consolidation(resume="night", night=date(2026, 12, 2))
    assert len(bench.store.consolidations()) == 3


def test_what_two_notes_contradict_is_proposed_where_a_judge_is_sure(tmp_path: Path) -> None:
    bench = NightBench(tmp_path)
    result = bench.run_consolidation(Judge(resolved=KeepA(reason="newer", confidence=0.9)))
    assert "resolve_contradiction" in {proposal.kind for proposal, _ in result.made}
    assert result.open_conflicts == ()


def test_what_nobody_decides_is_listed_by_its_rank(tmp_path: Path) -> None:
    bench = NightBench(tmp_path)
    result = bench.run_consolidation(Judge(compared=Escalated(reason="not verbatim")), parts=(Part.CONSOLIDATE,))
    assert result.made == ()
    assert {frozenset(one.titles) for one in result.open_pairs or ()} == {
        frozenset({"Compost", "Compost copy"}), frozenset({"Ebb", "Ebb again"}),
    }  # fmt: skip
    assert "Compost ↔ Compost copy" in (text := bench.read(bench.tell(result).report)) or "Compost copy ↔ C" in text


def test_an_edited_report_is_left_and_said(tmp_path: Path) -> None:
    bench = NightBench(tmp_path)
    result = bench.run_consolidation()
    report = bench.tell(result).report
    bench.save(report, bench.read(report).replace("passages were read", "passages were devoured"))
    edited = bench.read(report)
    morning = bench.tell(result)
    assert morning.report == ""
    assert "edited between its markers" in " ".join(morning.said)
    assert bench.read(report) == edited


def test_a_writers_own_words_around_the_report_stay(tmp_path: Path) -> None:
    bench = NightBench(tmp_path)
    result = bench.run_consolidation()
    report = bench.tell(result).report
    bench.save(report, bench.read(report) + "\nMy own line.\n")
    bench.run_consolidation(night=date(2026, 12, 1))
    assert bench.tell(bench.run_consolidation(night=date(2026, 12, 1))).report == report
    text = bench.read(report)
    assert text.endswith("\nMy own line.\n")
    assert text.count("2026-12-01") >= 2


def test_closed_policy_begins_nothing(tmp_path: Path) -> None:
    bench = NightBench(tmp_path, {**NOTES, "dreaming.md": f"{POLICY}- dreaming: off\n"})
    result = bench.run_consolidation()
    assert result.run is None
    assert "`dreaming` is off" in result.reason


def test_a_stage_alone_hides_no_night_that_was_cut_off(tmp_path: Path) -> None:
    bench = NightBench(tmp_path)

    def interrupt() -> None:
        raise KeyboardInterrupt

    bench.run_consolidation(Judge(on_ask=interrupt))
    bench.run_consolidation(parts=(Part.TRIAGE,))
    result = bench.run_consolidation(resume="night")
    assert result.resumed
    assert result.run is not None
    assert result.run.end is End.DONE
    assert len(bench.store.consolidations()) == 2


def test_what_is_approved_together_and_excludes_each_other_is_told(tmp_path: Path) -> None:
    bench = NightBench(tmp_path)
    bench.tell(bench.run_consolidation(Judge(resolved=KeepA(reason="newer", confidence=0.99))))
    rain = next(one for one in bench.store.read().states.values() if one.proposal.kind == "resolve_contradiction")
    paths = rain.paths
    merge = Proposal(id=proposal_id("merge", paths, 0), kind="merge", paths=paths, round=0, at=bench.now(),
                     expires_at=None, titles=("Rain", "Rain too"))  # fmt: skip
    bench.store.propose([merge])
    for id_ in (merge.id, rain.proposal.id):
        bench.store.note(event_record("approved", id_, bench.now(), by="tick"))
    done = settle(bench.session())
    assert done.applied == [rain.proposal.id]
    assert done.excluded == [merge.id]
    assert "only one of the two can be done" in done.said[0]
    state = bench.store.read().states[merge.id]
    assert (state.state, (bench.root / "Rain too.md").exists()) == ("proposed", True)
    assert "again: “Settle:" in bench.read("dreams/Dream review.md")


def test_a_night_remembers_between_which_notes_a_contradiction_lies(tmp_path: Path) -> None:
    bench = NightBench(tmp_path)
    scan = Scan(passages=1, new=1, pairs=0, conflicts=1, at_odds=(("k", "A.md", "B.md"),))
    bench.run_consolidation()
    (run,) = bench.store.consolidations()
    bench.store.note_run(triaged(run, bench.now(), scan))
    (again,) = bench.store.consolidations()
    assert again.scan == scan
