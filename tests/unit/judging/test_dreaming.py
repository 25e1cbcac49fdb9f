"""One dream from start to verdicts: whom it meets, what survives, and when it is empty."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from datetime import date
from random import Random
from typing import TYPE_CHECKING, cast

from aria_dream.judging.dreaming import POOLS, STARTS_LOOKED_AT, Dreamt, NothingDreamt, Wish, dream
from aria_dream.judging.triage_prompt import Drop, Keep, Unreadable
from aria_dream.ranking.juxtaposition import Juxtaposition, Resonance
from aria_dream.ranking.walk import Memory, Walkable

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from aria_dream.judging.places import Surprise
    from aria_dream.judging.triage_prompt import Verdict

TODAY = date(2026, 11, 30)


def note(path: str, *, index: bool = False, template: bool = False, visible: bool = True) -> Walkable:
    return Walkable(path=path, words=100, degree=1, visible=visible, index=index, template=template)


def pair(
    from_: str, to: str, *, score: float = 0.5, steps: int | None = 2, cosine: float | None = None, rank: int = 0
) -> Juxtaposition:
    way = None if steps is None else (from_, *(f"between {n}.md" for n in range(steps - 1)), to)
    quotes = f"what {from_} says", f"what {to} says"
    resonance = None if cosine is None else Resonance(quotes=quotes, cosine=cosine, telling=0.2, whole=0.3, rank=rank)
    return Juxtaposition(from_=from_, to=to, score=score, path=way, resonance=resonance)


@dataclass
class Ranks:
    by_note: Mapping[str, Sequence[Juxtaposition]]

    def look(
        self, starts: Sequence[str], targets: Collection[str], named: Collection[str]
    ) -> Sequence[Juxtaposition]:
        return [one for path in starts for one in self.by_note.get(path, ()) if one.to in {*targets, *named}]

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


NOTES = [*(note(f"{letter}.md") for letter in "abcdef"), note("Index.md", index=True)]


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


def test_each_place_reaches_the_judge_though_many_of_another_are_worth_more() -> None:
    others = [f"near {n}.md" for n in range(40)]
    near = [pair("a.md", other, cosine=0.9) for other in others]
    far = [pair("a.md", "b.md", cosine=0.3, steps=5, rank=30), pair("a.md", "c.md", cosine=0.2, steps=None, rank=31)]
    judge = Scripted({})
    dream([*NOTES, *map(note, others)], Ranks({"a.md": [*near, *far]}), judge, Memory(), Random(1), wish(asked="a.md"))
    assert {("a.md", "b.md"), ("a.md", "c.md")} <= set(judge.asked[: sum(POOLS.values())])


def test_one_pair_of_each_place_is_shown_and_no_note_twice() -> None:
    far = pair("a.md", "b.md", cosine=0.6, steps=None, rank=30)
    again = pair("b.md", "c.md", cosine=0.7, steps=None, rank=30)
    near = pair("c.md", "d.md", cosine=0.5)
    notes = [*NOTES, *(note(f"{n}.md") for n in range(60))]
    ranks = Ranks({"a.md": [far], "b.md": [again], "c.md": [near]})
    judge = Scripted({one.to: Keep(None, "so") for one in (far, again, near)})
    for surprise, expected in (("mixed", [again]), ("near", [near, far])):
        asked = replace(wish(), surprise=cast("Surprise", surprise))
        found = dream(notes, ranks, judge, Memory(starts=tuple(f"{n}.md" for n in range(60))), Random(1), asked)
        assert isinstance(found, Dreamt)
        shown = [one.juxtaposition for one in found.kept]
        assert shown[: len(expected)] == expected
        ends = [path for one in shown for path in one.pair]
        assert len(set(ends)) == len(ends)


def test_decided_pairs_and_direct_links_never_reach_the_judge() -> None:
    ranks = Ranks({"a.md": [pair("a.md", "b.md"), pair("a.md", "c.md", steps=1), pair("a.md", "d.md")]})
    judge = Scripted({})
    memory = Memory(decided=frozenset({("a.md", "b.md")}))
    dream(NOTES, ranks, judge, memory, Random(1), wish(asked="a.md"))
    assert judge.asked == [("a.md", "d.md")]


def test_a_cold_dream_looks_at_several_starts_and_tells_which() -> None:
    ranks = Ranks({"c.md": [pair("c.md", "d.md")]})
    found = dream(NOTES, ranks, Scripted({"d.md": Keep(0.7, "so")}), Memory(), Random(3), wish())
    assert isinstance(found, Dreamt)
    assert found.start.path == "c.md"
    assert set(found.tried) == {one.path for one in NOTES if not one.index}
    assert len(set(found.tried)) == len(found.tried)
    many = [note(f"{n}.md") for n in range(3 * STARTS_LOOKED_AT)]
    found = dream(many, Ranks({}), Scripted({}), Memory(), Random(3), wish())
    assert isinstance(found, NothingDreamt)
    assert len(found.tried) == STARTS_LOOKED_AT


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
    several = {path: [pair(path, "d.md", steps=3)] for path in ("a.md", "b.md", "c.md")}
    ranks = Ranks(several)
    judge = Scripted({"d.md": Keep(0.7, "so")})
    dreams = [dream(NOTES, ranks, judge, Memory(), Random(7), wish()) for _ in range(2)]
    assert dreams[0] == dreams[1]
    many = [note(f"{n}.md") for n in range(90)]
    ranks = Ranks({one.path: [pair(one.path, "89.md")] for one in many[:-1]})
    judge = Scripted({"89.md": Keep(0.7, "so")})
    tried = {
        found.tried
        for seed in range(30)
        if isinstance(found := dream(many, ranks, judge, Memory(), Random(seed), wish()), Dreamt)
    }
    assert len(tried) > 1


def test_an_empty_dream_lists_every_pair_of_every_start() -> None:
    paths = ("a.md", "b.md", "c.md")
    ranks = Ranks({path: [pair(path, to) for to in paths if to != path] for path in paths[:2]})
    found = dream(NOTES, ranks, Scripted({}), Memory(), Random(1), wish())
    assert isinstance(found, NothingDreamt)
    looked_at = {(drop.juxtaposition.from_, drop.juxtaposition.to) for drop in found.dropped}
    assert {frozenset(pair) for pair in looked_at} == {
        frozenset(pair) for pair in (("a.md", "b.md"), ("a.md", "c.md"), ("b.md", "c.md"))
    }
    assert found.reason == "the judge kept none of the 3 pairs that resonated; all of them no"


def test_all_that_was_dropped_is_told_beside_what_was_kept() -> None:
    targets = [f"{n}.md" for n in range(10)]
    ranks = Ranks({"a.md": [pair("a.md", to) for to in targets]})
    judge = Scripted({"0.md": Keep(0.9, "so")})
    found = dream([*NOTES, *map(note, targets)], ranks, judge, Memory(), Random(1), wish(asked="a.md"))
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
