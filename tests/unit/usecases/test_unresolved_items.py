"""Near pairs and contradictions that nobody decides, settled one by one by ticks in the review note."""

from __future__ import annotations

import shutil
from dataclasses import replace
from datetime import date, timedelta
from typing import TYPE_CHECKING

from aria_dream.adapters.disk.files import DiskVault
from aria_dream.adapters.state.record_store import RecordStore
from aria_dream.consolidate.note_merges import NoteMerge, plan_note_merge
from aria_dream.consolidate.open_conflicts import open_conflict
from aria_dream.consolidate.settled import recalled_record
from aria_dream.consolidate.stale import Stale
from aria_dream.consolidate.verdict import Escalated, Merge, NearPair, PairVerdict
from aria_dream.markdown.note import NotePath
from aria_dream.review.proposal import WRITER, Proposal, event_record, proposal_id
from aria_dream.usecases.consolidation import consolidate_once
from aria_dream.usecases.night_parts import ConsolidationRequest, ConsolidationResult
from aria_dream.usecases.overnight_report import write_overnight_report
from aria_dream.usecases.review import settle, undo_decision
from aria_dream.usecases.review_session import Settlement
from tests.night_bench import NOTES, POLICY, Judge, NightBench, RuleParts

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    import pytest

    from aria_dream.consolidate.passages import Passage
    from aria_dream.consolidate.record import Part
    from aria_dream.consolidate.work import Cluster, Work
    from aria_dream.review.proposal import ProposalState
    from aria_dream.usecases.night_parts import Made
    from aria_dream.vault.edit import Refusal

REVIEW = "dreams/Dream review.md"
HEAPS = {
    "dreaming.md": POLICY,
    "Compost.md": "A heap that is fed little and often sleeps in the cold.\n",
    "Garden/Heap.md": "A heap that is fed little and often sleeps in the cold.\n",
}


def _unsure() -> Judge:
    verdict: PairVerdict = Escalated(reason="rank 1 by likeness; they are alike, but in other words")
    return Judge(compared=verdict)


def _night(bench: NightBench, day: int, judge: Judge | None = None) -> Judge:
    judge = judge or _unsure()
    bench.clock += timedelta(hours=20)
    bench.tell(bench.run_consolidation(judge, night=date(2026, 12, day)))
    return judge


def _tick(bench: NightBench, what: str) -> None:
    text = bench.read(REVIEW)
    assert f"- [ ] {what}" in text
    bench.save(REVIEW, text.replace(f"- [ ] {what}", f"- [x] {what}", 1))


def test_a_pair_is_listed_with_links_likeness_and_reason(tmp_path: Path) -> None:
    bench = NightBench(tmp_path, HEAPS)
    _night(bench, 1)
    text = bench.read(REVIEW)
    assert "**[[Compost]] ↔ [[Heap]]** (number 1 by likeness" in text
    assert "of their words)\n- both say the same, word for word\n- [ ] different ^apart-" in text
    assert "- [ ] same ^same-" in text
    logs = sorted(bench.root.rglob("* dream.md"))
    assert ["one near pair is left to you" in path.read_text("utf-8") for path in logs] == [True]
    _night(bench, 2)
    assert bench.read(REVIEW) == text
    assert sorted(bench.root.rglob("* dream.md")) == logs


def test_what_is_called_different_never_comes_again(tmp_path: Path) -> None:
    bench = NightBench(tmp_path, HEAPS)
    _night(bench, 1)
    _tick(bench, "different")
    judge = _night(bench, 2)
    assert judge.asked == []
    text = bench.read(REVIEW)
    assert "Alike, and left to you" not in text
    assert "— Compost ↔ Heap: different ^apart-" in text
    assert "Alike, and left" not in bench.read("dreams/Dream report.md")
    for name in ("Compost.md", "Garden/Heap.md"):
        bench.save(name, bench.read(name) + "\nBoth were edited.\n")
    judge = _night(bench, 3)
    assert judge.asked == []
    bench.clock += timedelta(days=2)
    _night(bench, 6)
    assert "near pairs" not in bench.read(REVIEW)  # the time to take it back is over
    assert _night(bench, 7, Judge()).asked == []  # nor would a judge who calls them one be asked


def test_what_was_called_different_can_be_taken_back(tmp_path: Path) -> None:
    bench = NightBench(tmp_path, HEAPS)
    _night(bench, 1)
    _tick(bench, "different")
    _night(bench, 2)
    _tick(bench, "undo until")
    _night(bench, 3)
    text = bench.read(REVIEW)
    assert "undo until" not in text
    assert "- [ ] different ^apart-" in text
    assert bench.store.settled() == {}


def test_another_machine_takes_over_what_was_settled(tmp_path: Path) -> None:
    """The line that can take it back says it, to whoever has no journal of it."""
    bench = NightBench(tmp_path, HEAPS)
    _night(bench, 1)
    _tick(bench, "different")
    _night(bench, 2)
    said = bench.store.settled()
    shutil.rmtree(bench.state)
    assert _night(bench, 3).asked == []
    assert {key: (one.what, one.titles) for key, one in bench.store.settled().items()} == {
        key: (one.what, one.titles) for key, one in said.items()
    }
    (key,) = said
    bench.store.note_run(recalled_record(key, bench.now()))  # as `rollback` does
    _night(bench, 4)
    assert "- [ ] different" in bench.read(REVIEW)


def test_what_is_called_the_same_becomes_a_proposal_that_waits(tmp_path: Path) -> None:
    bench = NightBench(tmp_path, HEAPS)
    _night(bench, 1)
    before = bench.held()
    _tick(bench, "same")
    judge = _night(bench, 2)
    assert judge.asked == []
    (state,) = bench.store.read().states.values()
    assert (state.state, state.proposal.kind, state.proposal.judge) == ("proposed", "merge", WRITER)
    assert bench.held() == before
    settle(bench.session())
    assert bench.held() == before  # the tick alone merges nothing
    text = bench.read(REVIEW)
    assert "Alike, and left to you" not in text
    assert "Notes to merge" in text
    assert "undo until" not in text  # the proposal's own boxes decide now
    _night(bench, 3)
    assert len(bench.store.read().states) == 1
    bench.store.note(event_record("rejected", state.proposal.id, bench.now(), by="tick"))
    _night(bench, 4)
    assert len(bench.store.read().states) == 1
    assert "^apart-" not in bench.read(REVIEW)


def test_what_changed_since_it_was_called_the_same_is_asked_again(tmp_path: Path) -> None:
    bench = NightBench(tmp_path, HEAPS)
    _night(bench, 1)
    _tick(bench, "same")
    for name in ("Compost.md", "Garden/Heap.md"):
        bench.save(name, "Worms came up, and now it is earth.\n")
    judge = _night(bench, 2)
    assert len(judge.asked) == 1
    assert bench.store.read().states == {}
    assert "- [ ] same ^same-" in bench.read(REVIEW)


def test_two_ticks_on_one_pair_ask_which(tmp_path: Path) -> None:
    bench = NightBench(tmp_path, HEAPS)
    _night(bench, 1)
    _tick(bench, "different")
    _tick(bench, "same")
    _night(bench, 2)
    assert bench.store.settled() == {}
    text = bench.read(REVIEW)
    assert "Both were ticked" in text
    assert "[x]" not in text


def test_a_note_that_is_renamed_by_obsidian_leaves_the_list_whole(tmp_path: Path) -> None:
    bench = NightBench(tmp_path, HEAPS)
    _night(bench, 1)
    bench.save(REVIEW, bench.read(REVIEW).replace("[[Compost]]", "[[Compost heap]]"))
    (bench.root / "Compost.md").rename(bench.root / "Compost heap.md")
    _night(bench, 2)
    assert "**[[Compost heap]] ↔ [[Heap]]**" in bench.read(REVIEW)


def test_a_merge_that_cannot_be_built_says_why(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    bench = NightBench(tmp_path, HEAPS)
    _night(bench, 1)
    _tick(bench, "same")
    from aria_dream.vault.edit import Refusal
    from tests import night_bench

    with monkeypatch.context() as patched:
        patched.setattr(night_bench, "plan_merge", lambda *_: Refusal("the texts cannot be put together"))
        _night(bench, 2)
    text = bench.read(REVIEW)
    assert "you called them the same, but no merge can be built: the texts cannot be put together" in text
    assert "- [ ] different ^apart-" in text
    assert "- [ ] same ^same-" not in text
    assert "same ^same-" in text.partition("undo until")[2]  # until there is a proposal it can be taken back


def test_a_dismissed_contradiction_can_be_taken_back(tmp_path: Path) -> None:
    bench = NightBench(tmp_path)
    _night(bench, 1)
    _tick(bench, "no contradiction")
    _night(bench, 2)
    assert "— Rain too ↔ Rain: no contradiction ^disagree-" in bench.read(REVIEW)
    _tick(bench, "undo until")
    _night(bench, 3)
    assert "- [ ] no contradiction ^disagree-" in bench.read(REVIEW)


def test_only_the_nearest_are_listed_and_the_rest_is_counted(tmp_path: Path) -> None:
    subjects = ("rain", "bread", "boats", "bees", "clocks", "glue", "salt", "wool", "lamps", "roofs", "maps", "oars")
    twos = {f"{word} {n}.md": f"Nothing here but {word}, and more {word}.\n" for word in subjects for n in range(2)}
    bench = NightBench(tmp_path, {"dreaming.md": POLICY, **twos})
    _night(bench, 1)
    text = bench.read(REVIEW)
    assert text.count("- [ ] different ^apart-") == 10
    assert "… and 2 more, listed as you settle these." in text


def test_notes_that_are_built_alike_are_told_in_a_line_and_not_asked_about(tmp_path: Path) -> None:
    sheets = {f"Call {n}.md": "Who called, and why.\n" for n in range(5)}
    bench = NightBench(tmp_path, {**HEAPS, **sheets})
    _night(bench, 1)
    text, report = bench.read(REVIEW), bench.read("dreams/Dream report.md")
    assert "Call" not in text
    assert text.count("- [ ] different ^apart-") == 1
    (line,) = [line for line in report.splitlines() if line.startswith("- 5 passages: ")]
    assert sorted(line.removeprefix("- 5 passages: ").split(", ")) == [f"Call {n}" for n in range(5)]
    assert "1 pair of passages is alike, and for you to settle in the review." in report


def test_an_excluded_note_leaves_the_list(tmp_path: Path) -> None:
    bench = NightBench(tmp_path, HEAPS)
    _night(bench, 1)
    bench.save("dreaming.md", f"{POLICY}- exclude: Garden/\n")
    _night(bench, 2)
    assert "Heap" not in bench.read(REVIEW)


def test_a_stage_that_compares_nothing_leaves_the_list(tmp_path: Path) -> None:
    from aria_dream.consolidate.record import Part

    bench = NightBench(tmp_path, {**NOTES, **HEAPS})
    _night(bench, 1)
    text = bench.read(REVIEW)
    assert "^apart-" in text
    bench.tell(bench.run_consolidation(_unsure(), night=date(2026, 12, 2), parts=(Part.RESOLVE,)))
    assert bench.read(REVIEW).count("^apart-") == text.count("^apart-")


class DiedError(Exception):
    """Stands for a kill: what is journalled by then stays, and nothing else."""


class DyingBook(RecordStore):
    """A record book whose owner dies before or after some record."""

    def __init__(self, folder: Path, left: int) -> None:
        super().__init__(folder)
        self.left = left

    def point(self, _step: str = "") -> None:
        """One more moment at which it may die."""
        self.left -= 1
        if self.left == 0:
            raise DiedError

    def note_run(self, record: Mapping[str, object]) -> None:
        """Journals it."""
        self.point()
        super().note_run(record)
        self.point()

    def note(self, record: Mapping[str, object]) -> None:
        """Journals it."""
        self.point()
        super().note(record)
        self.point()


def _whole_night(bench: NightBench, left: int) -> int:
    """A night and its morning, that dies at the moment number `left`; how many moments remain."""
    session = bench.session()
    store = DyingBook(session.store.folder, left)
    session = replace(session, store=store, files=DiskVault(bench.root, store.folder, after_step=store.point))
    request = ConsolidationRequest(at=session.now, night=date(2026, 12, 2), resume="night")
    judge = _unsure()
    result = consolidate_once(session, RuleParts(session, judge), request, now=bench.now, permit=store.point)
    assert result.run is not None
    conflicts = tuple(map(open_conflict, result.open_conflicts))
    write_overnight_report(session, result.run, pairs=result.open_pairs, conflicts=conflicts)
    assert judge.asked == []
    return store.left


def test_a_night_that_dies_anywhere_says_and_proposes_nothing_twice(tmp_path: Path) -> None:
    start = NightBench(tmp_path / "start", {**HEAPS, "Ebb.md": NOTES["Ebb.md"], "Ebb again.md": NOTES["Ebb again.md"]})
    _night(start, 1)
    text = start.read(REVIEW)
    one, other = text.partition("\n\n**")[0], text.partition("\n\n**")[2].partition("\n\n**")
    ticked = "\n\n**".join((one, other[0].replace("[ ] same", "[x] same"), other[2].replace("[ ] diff", "[x] diff")))
    start.save(REVIEW, ticked)
    point, died = 0, True
    while died:
        point += 1
        folder = tmp_path / f"at {point}"
        shutil.copytree(tmp_path / "start", folder)
        bench = NightBench(folder, {})
        bench.clock = start.clock + timedelta(hours=20)
        try:
            _whole_night(bench, point)
            died = False
        except DiedError:
            DiskVault(bench.root, bench.store.folder).recover()
            if not bench.store.consolidations()[-1].is_over:
                _whole_night(bench, -1)
        _night(bench, 3)
        (state,) = bench.store.read().states.values()
        assert (state.state, state.proposal.judge, bool(state.edits)) == ("proposed", WRITER, True)
        assert sorted(one.what for one in bench.store.settled().values()) == ["different", "same"]
        journal = (bench.store.folder / "runs.jsonl").read_text("utf-8")
        assert journal.count('"type":"dismissed"') == 2
        shown = bench.read(REVIEW)
        assert "- [ ] different" not in shown
        assert shown.count(f"^aria-{state.proposal.id}-no") == 1
        shutil.rmtree(folder)
    assert point > 20


COPIES = {
    "dreaming.md": POLICY,
    **dict.fromkeys(("Heap.md", "Heap 1.md", "Turf.md"), "A heap that is fed little and often sleeps in the cold.\n"),
}


class _Pairs(RuleParts):
    """Each pair has a key of its own and properties are no text, as in a real vault."""

    def _passage(self, path: str) -> Passage:
        passage = super()._passage(path)
        text = passage.text.rpartition("---\n")[2]
        return replace(passage, text=text, words=text, fingerprint=text)

    def find(self, parts: Sequence[Part]) -> Work:
        work = super().find(parts)
        keyed = (replace(one, key=f"{one.first.path}+{one.second.path}") for one in work.pairs)
        return replace(work, pairs=tuple(keyed))

    def collapse(self, clusters: Sequence[Cluster], states: Mapping[str, ProposalState]) -> Made | Refusal:
        (cluster,) = clusters
        keep, drop = sorted((member.path for member in cluster.members), key=len)[:2]
        found = plan_note_merge(self.session.view((keep, drop), inbound=True), NotePath(keep), [NotePath(drop)])
        assert isinstance(found, NoteMerge)
        judged = cluster.pairs[0][1]
        return self._made("merge", (keep, drop), found.planned, states, judged.reason, judge=judged.judge)


def _copies_night(bench: NightBench, day: int, judge: Judge | None = None) -> ConsolidationResult:
    """A night over the copies; the judge decides on notes whose names differ in a number alone."""

    class Deciding(Judge):
        def compare(self, pair: NearPair) -> PairVerdict:
            both = {pair.first.path, pair.second.path}
            return Merge(reason="the same", confidence=0.99) if "Turf.md" not in both else Escalated(reason="alike")

    bench.clock += timedelta(hours=20)
    session = bench.session()
    request = ConsolidationRequest(at=session.now, night=date(2026, 12, day))
    result = consolidate_once(session, _Pairs(session, judge or Deciding()), request, now=bench.now)
    bench.tell(result)
    return result


def _merge_all(bench: NightBench) -> None:
    """Approves every merge that waits, and carries it out."""
    for id_, state in bench.store.read().states.items():
        if state.state == "proposed":
            bench.store.note(event_record("approved", id_, bench.now(), by="tick"))
    assert settle(bench.session()).applied


def test_same_is_no_word_about_a_text_but_about_two_notes(tmp_path: Path) -> None:
    """Three equal notes, two of them merged: what is said of the third is still about the third."""
    bench = NightBench(tmp_path, COPIES)
    _copies_night(bench, 1)
    _tick(bench, "same")
    _tick(bench, "same")  # with either of the two that are about to become one
    _merge_all(bench)
    assert not (bench.root / "Heap 1.md").exists()
    (made,) = _copies_night(bench, 2).made
    assert sorted(made[0].paths) == ["Heap.md", "Turf.md"]
    assert made[0].judge == WRITER


def test_a_copy_that_comes_after_the_merge_is_listed(tmp_path: Path) -> None:
    bench = NightBench(tmp_path, {name: text for name, text in COPIES.items() if name != "Turf.md"})
    _copies_night(bench, 1)
    _merge_all(bench)
    bench.save("Turf.md", COPIES["Turf.md"])
    (pair,) = _copies_night(bench, 2).open_pairs or ()
    assert {pair.pair.first.path, pair.pair.second.path} == {"Heap.md", "Turf.md"}
    assert "- [ ] same ^same-" in bench.read(REVIEW)
    bench.save("Heap 1.md", bench.read(".trash/Heap 1.md"))  # taken out of the trash again
    (made,) = _copies_night(bench, 3).made
    assert sorted(made[0].paths) == ["Heap 1.md", "Heap.md"]


def test_same_that_cannot_be_built_is_told(tmp_path: Path) -> None:
    """The merge of two was taken back; calling the third the same as either would bring them together again."""
    bench = NightBench(tmp_path, COPIES)
    _copies_night(bench, 1)
    _merge_all(bench)
    (state,) = bench.store.read().states.values()
    undo_decision(bench.session(), state, Settlement(), by="tick")
    assert (bench.root / "Heap 1.md").exists()
    _copies_night(bench, 2)
    _tick(bench, "same")
    _tick(bench, "same")
    (made,) = _copies_night(bench, 3).made
    assert "Turf.md" in made[0].paths
    assert bench.read(REVIEW).count("you called them the same, but no merge can be built: others would come") == 1


def test_same_after_different_counts(tmp_path: Path) -> None:
    bench = NightBench(tmp_path, HEAPS)
    _night(bench, 1)
    listed = bench.read(REVIEW)
    _tick(bench, "different")
    _night(bench, 2)
    bench.save(REVIEW, listed.replace("- [ ] same", "- [x] same"))  # a machine that has not heard of it
    _night(bench, 3)
    assert [one.proposal.judge for one in bench.store.read().states.values()] == [WRITER]


def test_a_merge_waits_until_its_contradiction_is_settled(tmp_path: Path) -> None:
    rains = {"dreaming.md": POLICY, "Rain.md": "It rains 3 days a week.\n", "Rain too.md": "It rains 3 days a week.\n"}
    bench = NightBench(tmp_path, rains)
    result = bench.run_consolidation()
    assert result.made == ()
    assert [one.subject for one in result.open_conflicts] == ["rain"]
    bench.tell(result)
    _tick(bench, "no contradiction")
    assert [made[0].kind for made in bench.run_consolidation(night=date(2026, 12, 1)).made] == ["merge"]


def test_one_pair_has_one_open_proposal(tmp_path: Path) -> None:
    bench = NightBench(tmp_path, HEAPS)
    paths = ("Compost.md", "Garden/Heap.md")
    link = Proposal(id=proposal_id("link", paths, 0), kind="link", paths=paths, round=0, at=bench.now(),
                    expires_at=None, titles=("Compost", "Heap"))  # fmt: skip
    bench.run_consolidation(Judge(compared=Escalated(reason="alike")))
    bench.store.propose([link])
    result = bench.run_consolidation(Judge(name="another"), night=date(2026, 12, 1))
    assert result.made == ()
    assert (
        [one.reason for one in result.run.brought.values()]
        == [f"another proposal about the same notes waits for you ({link.id})"]
        if result.run
        else False
    )
    bench.store.note(event_record("rejected", link.id, bench.now(), by="tick"))
    assert [made[0].kind for made in bench.run_consolidation(Judge(name="another"), night=date(2026, 12, 2)).made] == [
        "merge"
    ]


def test_reminders_are_listed_and_settled(tmp_path: Path) -> None:
    bench = NightBench(tmp_path, HEAPS)
    due = Stale(path="Compost.md", why="review due", what="review_by: 2026-10-31", reason="`review_by` has passed")
    bench.reminders = (due,)
    before = bench.held()
    _night(bench, 1)
    text = bench.read(REVIEW)
    assert "### Look at it again" in text
    assert f"- [ ] looked at ^seen-{due.mark}" in text
    assert bench.store.read().states == {}
    _tick(bench, "looked at")
    _night(bench, 2)
    text = bench.read(REVIEW)
    assert "### Look at it again" not in text
    assert f"— Compost: looked at ^seen-{due.mark}-undo" in text
    _tick(bench, "undo until")
    _night(bench, 3)
    assert "### Look at it again" in bench.read(REVIEW)
    assert bench.held() == before
