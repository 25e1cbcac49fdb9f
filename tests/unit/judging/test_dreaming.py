"""One dream from start to verdicts: whom it meets, what survives, and when it is empty."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from datetime import date
from random import Random
from typing import TYPE_CHECKING

from aria_dream.judging.dreaming import Dreamt, NothingDreamt, Wish, dream
from aria_dream.judging.triage_prompt import Drop, Keep, Unreadable
from aria_dream.ranking.juxtaposition import Juxtaposition
from aria_dream.ranking.walk import Memory, Walkable

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from aria_dream.judging.triage_prompt import Verdict

TODAY = date(2026, 11, 30)


def note(path: str, *, index: bool = False, template: bool = False, visible: bool = True) -> Walkable:
    return Walkable(path=path, words=100, degree=1, visible=visible, index=index, template=template)


def pair(from_: str, to: str, *, score: float = 0.5, steps: int | None = 2) -> Juxtaposition:
    way = None if steps is None else (from_, *(f"between {n}.md" for n in range(steps - 1)), to)
    return Juxtaposition(from_=from_, to=to, score=score, path=way)


@dataclass
class Ranks:
    by_note: Mapping[str, Sequence[Juxtaposition]]

    def resonances(self, path: str, limit: int) -> Sequence[Juxtaposition]:
        return self.by_note.get(path, ())[:limit]

    def pair(self, first: str, second: str) -> Juxtaposition:
        return next(found for found in self.by_note.get(first, ()) if found.to == second)

    def learned(self) -> Mapping[str, object]:
        return {}


@dataclass
class Scripted:
    verdicts: Mapping[str, Verdict]
    asked: list[tuple[str, str]] = field(default_factory=list)
    name: str = "scripted"

    def judge(self, found: Sequence[Juxtaposition]) -> Sequence[Verdict]:
        self.asked += [one.pair for one in found]
        return [self.verdicts.get(one.to, Drop(0.2, "no")) for one in found]


def wish(count: int = 3, asked: str | None = None) -> Wish:
    return Wish(count=count, today=TODAY, cooldown_days=90, asked=asked)


NOTES = [note("a.md"), note("b.md"), note("c.md"), note("d.md"), note("Index.md", index=True)]


def test_survivors_come_likeliest_first_and_drops_are_shown() -> None:
    ranks = Ranks({"a.md": [pair("a.md", "b.md"), pair("a.md", "c.md", steps=4), pair("a.md", "d.md")]})
    judge = Scripted({"b.md": Keep(0.6, "so"), "c.md": Keep(0.9, "very"), "d.md": Unreadable("no verdict in it")})
    found = dream(NOTES, ranks, judge, Memory(), Random(1), wish(asked="a.md"))
    assert isinstance(found, Dreamt)
    assert [one.juxtaposition.to for one in found.kept] == ["c.md", "b.md"]
    assert [(one.juxtaposition.to, one.unreadable) for one in found.dropped] == [("d.md", True)]


def test_index_pages_and_templates_are_no_other_end() -> None:
    notes = [*NOTES, note("T.md", template=True)]
    ranks = Ranks({"a.md": [pair("a.md", "Index.md"), pair("a.md", "T.md"), pair("a.md", "b.md")]})
    judge = Scripted({"b.md": Keep(0.6, "so"), "Index.md": Keep(0.9, "x"), "T.md": Keep(0.9, "x")})
    found = dream(notes, ranks, judge, Memory(), Random(1), wish(asked="a.md"))
    assert isinstance(found, Dreamt)
    assert judge.asked == [("a.md", "b.md")]


def test_the_far_pairs_reach_the_judge_though_many_near_ones_rank_higher() -> None:
    near = [pair("a.md", f"near {n}.md") for n in range(40)]
    far = [pair("a.md", "far.md", score=0.01, steps=5), pair("a.md", "alone.md", score=0.005, steps=None)]
    judge = Scripted({})
    dream(NOTES, Ranks({"a.md": [*near, *far]}), judge, Memory(), Random(1), wish(asked="a.md"))
    assert {("a.md", "far.md"), ("a.md", "alone.md")} <= set(judge.asked)


def test_decided_pairs_and_direct_links_never_reach_the_judge() -> None:
    ranks = Ranks({"a.md": [pair("a.md", "b.md"), pair("a.md", "c.md", steps=1), pair("a.md", "d.md")]})
    judge = Scripted({})
    memory = Memory(decided=frozenset({("a.md", "b.md")}))
    dream(NOTES, ranks, judge, memory, Random(1), wish(asked="a.md"))
    assert judge.asked == [("a.md", "d.md")]


def test_a_start_without_survivors_gives_way_to_the_next() -> None:
    ranks = Ranks({"c.md": [pair("c.md", "d.md")]})
    found = dream(NOTES, ranks, Scripted({"d.md": Keep(0.7, "so")}), Memory(), Random(3), wish())
    assert isinstance(found, Dreamt)
    assert found.start.path == "c.md"
    assert found.tried[-1] == "c.md"
    assert len(set(found.tried)) == len(found.tried)


def test_an_empty_dream_says_whom_it_tried_and_why() -> None:
    found = dream(NOTES, Ranks({"a.md": [pair("a.md", "b.md")]}), Scripted({}), Memory(), Random(1), wish(asked="a.md"))
    assert isinstance(found, NothingDreamt)
    assert (found.reason, found.tried) == ("the judge did not keep the one pair that resonated: they no", ("a.md",))
    assert [(drop.juxtaposition.to, drop.reason) for drop in found.dropped] == [("b.md", "no")]
    mute = {name: Unreadable("the answer is empty") for name in ("b.md", "d.md")}
    both = Ranks({"a.md": [pair("a.md", "b.md"), pair("a.md", "d.md")]})
    found = dream(NOTES, both, Scripted(mute), Memory(), Random(1), wish(asked="a.md"))
    assert isinstance(found, NothingDreamt)
    assert (found.reason, len(found.dropped)) == ("the judge gave no answer that can be read", 2)
    half = Scripted({"b.md": mute["b.md"]})
    found = dream(NOTES, both, half, Memory(), Random(1), wish(asked="a.md"))
    assert isinstance(found, NothingDreamt)
    assert found.reason == "the judge kept none of the 2 pairs that resonated"
    nobody = dream([], Ranks({}), Scripted({}), Memory(), Random(1), wish())
    assert nobody == NothingDreamt(reason="there is no note here to dream from", tried=())


def test_the_same_seed_dreams_the_same_dream() -> None:
    ranks = Ranks({path: [pair(path, "d.md", steps=3)] for path in ("a.md", "b.md", "c.md")})
    judge = Scripted({"d.md": Keep(0.7, "so")})
    dreams = [dream(NOTES, ranks, judge, Memory(), Random(7), wish()) for _ in range(2)]
    assert dreams[0] == dreams[1]
    starts = {
        found.start.path
        for seed in range(30)
        if isinstance(found := dream(NOTES, ranks, judge, Memory(), Random(seed), wish()), Dreamt)
    }
    assert len(starts) > 1


def test_an_empty_dream_lists_every_pair_of_every_start() -> None:
    paths = ("a.md", "b.md", "c.md")
    ranks = Ranks({path: [pair(path, to) for to in paths if to != path] for path in paths[:2]})
    found = dream(NOTES, ranks, Scripted({}), Memory(), Random(1), wish())
    assert isinstance(found, NothingDreamt)
    looked_at = {(drop.juxtaposition.from_, drop.juxtaposition.to) for drop in found.dropped}
    assert looked_at == {("a.md", "b.md"), ("a.md", "c.md"), ("b.md", "a.md"), ("b.md", "c.md")}
    assert found.reason == "the judge kept none of the 4 pairs that resonated; all of them no"


def test_all_that_was_dropped_is_told_beside_what_was_kept() -> None:
    targets = [f"{n}.md" for n in range(11)]
    ranks = Ranks({"a.md": [pair("a.md", to) for to in targets]})
    found = dream(NOTES, ranks, Scripted({"0.md": Keep(0.9, "so")}), Memory(), Random(1), wish(asked="a.md"))
    assert isinstance(found, Dreamt)
    assert [drop.juxtaposition.to for drop in found.dropped] == targets[1:]


SEEDED = replace(wish(), seeded=("what joins them", "a.md"), seed_pairs=(("a.md", "c.md"), ("a.md", "d.md")))


def test_the_pairs_of_a_seed_are_judged_and_told_first_though_others_rank_higher_and_they_were_shown_lately() -> None:
    found_pairs = [pair("a.md", "b.md", score=0.9), pair("a.md", "c.md"), pair("a.md", "d.md", score=0.1)]
    ranks = Ranks({"a.md": found_pairs})
    judge = Scripted({"b.md": Keep(0.9, "so"), "d.md": Keep(0.6, "too")})
    memory = Memory(shown={("a.md", "d.md"): TODAY})
    found = dream(NOTES, ranks, judge, memory, Random(1), SEEDED)
    assert isinstance(found, Dreamt)
    assert [one.juxtaposition.to for one in found.kept] == ["d.md", "b.md"]
    assert [one.juxtaposition.to for one in found.dropped] == ["c.md"]
    assert judge.asked.count(("a.md", "d.md")) == 1


def test_a_seed_whose_pairs_are_dropped_is_a_dream_that_says_why() -> None:
    ranks = Ranks({"a.md": [pair("a.md", "c.md", steps=1), pair("a.md", "d.md")]})
    memory = Memory(decided=frozenset({("a.md", "d.md")}))
    found = dream(NOTES, ranks, Scripted({}), memory, Random(1), SEEDED)
    assert isinstance(found, Dreamt)
    assert found.kept == ()
    reasons = [drop.reason for drop in found.dropped]
    assert reasons == ["are linked already", "have been decided already, or wait for you"]
