"""The three stages of a consolidation as a list of steps, each decided from what the records say so far. Pure.

Whoever carries a step out appends its record and lets the `Consolidation` take it; a run that was cut off between two
records is asked again and goes on with the same step. So any interruptions leave the same proposals, none twice.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import replace
from itertools import combinations
from typing import TYPE_CHECKING, Final

from aria_dream.consolidate.judged import cluster_mark, conflict_key
from aria_dream.consolidate.open_pairs import OpenPair
from aria_dream.consolidate.passages import told_apart
from aria_dream.consolidate.record import End, Part
from aria_dream.consolidate.work import (
    Cluster,
    Collapse,
    Compare,
    Limits,
    Remembered,
    Resolve,
    Retire,
    Settle,
    Step,
    Stop,
    Triage,
    Unite,
    Work,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Iterable

    from aria_dream.consolidate.judged import Judged
    from aria_dream.consolidate.record import Consolidation
    from aria_dream.consolidate.work import Candidate, Member

FAILURES_MOST: Final = 3
"""So many unreadable answers in a row end the judging of a night."""
QUESTION_TOKENS: Final = 1_500
"""What one question is reckoned to cost before it is asked: the prompt, two passages and the answer."""


def steps(
    run: Consolidation, work: Work, remembered: Remembered, limits: Limits, judge: str,
    hindrance: Callable[[], str] = lambda: "",
) -> Generator[Step, None, None]:  # fmt: skip
    """What is to be done, a step at a time, ending with `Stop`.

    `run` must have taken the record of a step before the next one is asked for. `judge`: who sits now; what another
    judge left to somebody else is put to this one. `hindrance`: why nobody can be asked any more, `""` while somebody
    can.
    """
    night = _Night(run, work, remembered, limits, judge, hindrance)
    if run.scan is None:
        yield Triage(work.scan)
    reasons = []
    if Part.CONSOLIDATE in run.parts:
        reasons.append((yield from night.unite()))
        reasons.append((yield from night.compare()))
        reasons.append((yield from night.collapse()))
    if Part.RESOLVE in run.parts:
        reasons.append((yield from night.resolve()))
        reasons.append((yield from night.settle()))
        reasons.append((yield from night.retire()))
    reason = next(filter(None, reasons), "") or night.judge_failed()
    yield Stop(end=End.STOPPED if reason else End.DONE, reason=reason, left=night.left())


def total_questions(run: Consolidation, work: Work, remembered: Remembered, judge: str) -> int:
    """How many questions this run has in all, answered ones included. An answer does not change it."""
    return run.questions_answered + _Night(run, work, remembered, Limits(proposals=0, room=0, tokens=0), judge).left()


def left_to_writer(
    run: Consolidation, work: Work, remembered: Remembered, judge: str
) -> tuple[OpenPair, ...] | None:
    """The near pairs that wait for a person, nearest first; None where nobody has looked for near pairs.

    Those that the judge escalated, and those that the writer calls the same and that no merge could be built of.
    """
    if not work.is_compared or Part.CONSOLIDATE not in run.parts:
        return None
    night = _Night(run, work, remembered, Limits(proposals=0, room=0, tokens=0), judge)
    proposed, refused = night.fates()
    found = []
    for pair in work.pairs:
        judged = run.judged.get(pair.key) or remembered.judged.get(pair.key)
        if pair.key in remembered.by_writer:
            if pair.key not in proposed:
                why = refused.get(pair.key) or night.why_alone(pair)
                found.append(OpenPair(pair=pair, reason=why, is_called_same=True))
        elif judged is not None and judged.word == "escalated" and not night.is_apart(pair):
            found.append(OpenPair(pair=pair, reason=judged.reason))
    return tuple(found)


class _Night:
    """One pass over the work; private to this module."""

    def __init__(
        self, run: Consolidation, work: Work, remembered: Remembered, limits: Limits, judge: str,
        hindrance: Callable[[], str] = lambda: "",
    ) -> None:  # fmt: skip
        self._hindrance = hindrance
        self._run = run
        self._remembered = remembered
        self._limits = limits
        self._judge = judge
        self._made_before = len(run.proposals)
        self.pairs = [pair for pair in work.pairs if not self.is_apart(pair)]
        self._conflicts = [
            (conflict, key) for conflict in work.conflicts if (key := conflict_key(conflict)) not in remembered.settled
        ]
        self._stale = work.stale
        self._copies = work.copies

    def is_apart(self, pair: Candidate) -> bool:
        """Whether the two are never proposed together again."""
        return frozenset((pair.first.id, pair.second.id)) in self._remembered.apart

    def verdict(self, key: str) -> Judged | None:
        """The verdict that holds; None where the judge of this run is still to be asked."""
        if key in self._remembered.by_writer:
            return self._remembered.by_writer[key]
        own = self._run.judged.get(key)
        if own is not None:
            return own
        known = self._remembered.judged.get(key)
        if known is None or known.word == "unreadable":
            return None
        return known if known.is_decided or known.judge == self._judge else None

    def left(self) -> int:
        """How many questions have no answer yet."""
        pairs = [pair.key for pair in self.pairs] if Part.CONSOLIDATE in self._run.parts else []
        claims = [key for _, key in self._conflicts] if Part.RESOLVE in self._run.parts else []
        return sum(self.verdict(key) is None for key in (*pairs, *claims))

    def _full(self) -> str:
        """Why nothing more may be proposed."""
        limits, made = self._limits, len(self._run.proposals)
        if made >= limits.proposals:
            if limits.most_proposals == 0:
                return "the policy allows no proposal a night"
            if limits.most_proposals == 1:
                return "the one proposal that a night may make is made"
            return f"the {limits.most_proposals} proposals that a night may make are made"
        if made - self._made_before >= limits.room:
            waiting = "a proposal waits" if limits.most_open == 1 else f"{limits.most_open} proposals wait"
            return f"{waiting} for you, and no more are made until you have decided some"
        return ""

    def judge_failed(self) -> str:
        """Why the judge is not asked any more in this run, where it cannot be understood."""
        if hindrance := self._hindrance():
            return hindrance
        failures = self._run.failures
        return f"the judge failed {FAILURES_MOST} times in a row" if failures >= FAILURES_MOST else ""

    def _hindered(self, questions: int = 1) -> str:
        """Why the judge may not be asked so many questions."""
        if full := self._full():
            return full
        if failed := self.judge_failed():
            return failed
        if self._limits.is_metered and self._run.tokens + questions * QUESTION_TOKENS > self._limits.tokens:
            return f"of the night's {self._limits.most_tokens:,} tokens too few are left for the next question"
        return ""

    def compare(self) -> Generator[Step, None, str]:
        for pair in self.pairs:
            if self.verdict(pair.key) is not None:
                continue
            if reason := self._hindered():
                return reason
            yield Compare(pair)
        return ""

    def collapses(self) -> tuple[Collapse, ...]:
        """The changes that the verdicts so far ask for."""
        return together(self._clusters())

    def fates(self) -> tuple[set[str], dict[str, str]]:
        """`(proposed, refused)`: keys of the near pairs that a proposal stands for, and why others have none."""
        together_ = self._remembered.together
        proposed = {pair.key for pair in self.pairs if frozenset((pair.first.id, pair.second.id)) in together_}
        refused: dict[str, str] = {}
        for collapse in self.collapses():
            keys = [pair.key for one in collapse.clusters for pair, _ in one.pairs]
            brought = self._run.brought.get(collapse.mark)
            if brought is not None and brought.proposals:
                proposed.update(keys)
            else:
                why = brought.reason if brought is not None else self._hold(collapse) or "it comes another night"
                refused |= dict.fromkeys(keys, why)
        return proposed, refused

    def why_alone(self, pair: Candidate) -> str:
        """Why two that are called the same come together in no cluster."""
        if self.is_apart(pair):
            return "you have refused or taken back their merge before"
        around = {pair.first.id, pair.second.id}
        if any(self.verdict(one.key) is None for one in self.pairs if around & {one.first.id, one.second.id}):
            return "not every pair beside them is judged yet"
        return "others would come together with them that are kept apart"

    def collapse(self) -> Generator[Step, None, str]:
        for collapse in self.collapses():
            if collapse.mark in self._run.brought or self._hold(collapse):
                continue
            if reason := self._full():
                return reason
            yield collapse
        return ""

    def _hold(self, collapse: Collapse) -> str:
        """Why the change is not proposed now; `""` where it may be."""
        paths = {member.path for member in collapse.members}
        odds = next((one for one, _ in self._conflicts if {one.first.path, one.second.path} <= paths), None)
        if odds is not None and odds.first.path != odds.second.path:
            names = " and ".join(f"“{title}”" for title in told_apart(odds.first, odds.second))
            return f"the contradiction between {names} has to be settled first"
        busy = self._remembered
        if any(passage.id in busy.busy_passages or passage.path in busy.busy_paths for passage in collapse.members):
            return "one of its notes is part of a proposal that waits for you"
        return ""

    def _clusters(self) -> tuple[Cluster, ...]:
        """Those of which every near pair has its verdict, the nearest first."""
        judged = [(pair, self.verdict(pair.key)) for pair in self.pairs]
        open_ids = {passage.id for pair, verdict in judged if verdict is None for passage in (pair.first, pair.second)}
        joined = [(pair, one) for pair, one in judged if one is not None and one.word in ("merge", "normalize")]
        not_one = {
            frozenset((pair.first.id, pair.second.id))
            for pair, one in judged
            if one is not None and one.word == "not_duplicate"
        }
        found = clusters_of(joined, self._remembered.apart | not_one)
        whole = (one for one in found if open_ids.isdisjoint(passage.id for passage in one.members))
        return tuple(replace(one, dissent=_dissent(one, judged)) for one in whole)

    def resolve(self) -> Generator[Step, None, str]:
        for conflict, key in self._conflicts:
            if self.verdict(key) is not None:
                continue
            if reason := self._hindered(questions=2):  # a claim that is kept is asked about the other way round too
                return reason
            yield Resolve(conflict, key)
        return ""

    def settle(self) -> Generator[Step, None, str]:
        for conflict, key in self._conflicts:
            judged = self.verdict(key)
            if judged is None or judged.word == "unreadable" or key in self._run.brought:
                continue
            if judged.word in ("keep_a", "keep_b") and (reason := self._full()):
                return reason
            yield Settle(conflict, judged, key)
        return ""

    def retire(self) -> Generator[Step, None, str]:
        return (yield from self._each(self._stale, Retire))

    def unite(self) -> Generator[Step, None, str]:
        return (yield from self._each(self._copies, Unite))

    def _each(self, marks: Iterable[str], step: type[Retire | Unite]) -> Generator[Step, None, str]:
        for mark in marks:
            if mark in self._remembered.settled or mark in self._run.brought:
                continue
            if reason := self._full():
                return reason
            yield step(mark)
        return ""


def clusters_of(
    joined: Iterable[tuple[Candidate, Judged]], apart: frozenset[frozenset[str]] = frozenset()
) -> tuple[Cluster, ...]:
    """The texts that the pairs join, one cluster each, in the order of their nearest pairs.

    Union-find over the pairs, the surest first; a union that would bring two together that are kept `apart` is not
    made: likeness is not transitive.
    """
    passages: dict[str, Member] = {}
    group: dict[str, set[str]] = {}
    links: list[tuple[Candidate, Judged]] = []
    for pair, judged in sorted(joined, key=lambda one: (-one[1].confidence, one[0].rank, one[0].key)):
        one, other = pair.first.id, pair.second.id
        passages |= {one: pair.first, other: pair.second}
        mine, theirs = group.setdefault(one, {one}), group.setdefault(other, {other})
        if mine is not theirs:
            if any(frozenset((a, b)) in apart for a in mine for b in theirs) if apart else False:
                continue
            mine |= theirs
            for name in theirs:
                group[name] = mine
        links.append((pair, judged))
    by_group: dict[int, list[tuple[Candidate, Judged]]] = defaultdict(list)
    for pair, judged in links:
        by_group[id(group[pair.first.id])].append((pair, judged))
    found = []
    for pairs in by_group.values():
        members = tuple(passages[name] for name in sorted(group[pairs[0][0].first.id]))
        mark = cluster_mark((member.id, member.state) for member in members)
        found.append(Cluster(mark=mark, members=members, pairs=tuple(pairs)))
    return tuple(sorted(found, key=lambda cluster: min(pair.rank for pair, _ in cluster.pairs)))


def _dissent(cluster: Cluster, judged: Iterable[tuple[Candidate, Judged | None]]) -> tuple[str, ...]:
    """The near pairs of a cluster's members that its verdicts do not join: judged otherwise, or left out because the
    other text must not come together with one of them."""
    ids, used = {member.id for member in cluster.members}, {pair.key for pair, _ in cluster.pairs}
    said = []
    for pair, one in judged:
        inside = len(ids & {pair.first.id, pair.second.id})
        joins = one is not None and one.word in ("merge", "normalize")
        if pair.key not in used and (inside == 2 or (inside == 1 and joins)) and not (inside == 2 and joins):
            first, second = told_apart(pair.first, pair.second)
            said.append(f"“{first}” and “{second}”")
    return tuple(said)


def together(clusters: Iterable[Cluster]) -> tuple[Collapse, ...]:
    """What becomes one change each: a cluster of whole notes, and the clusters of sections that share a note.

    In the order of the clusters. Two changes of one note would make each other stale.
    """
    groups: list[tuple[set[str], list[Cluster]]] = []
    for cluster in clusters:
        paths = {member.path for member in cluster.members}
        if sum(member.is_note for member in cluster.members) >= 2:
            groups.append((set(), [cluster]))
            continue
        near = [group for group in groups if group[0] & paths]
        for group in near[1:]:
            near[0][0].update(group[0])
            near[0][1].extend(group[1])
            groups.remove(group)
        if near:
            near[0][0].update(paths)
            near[0][1].append(cluster)
        else:
            groups.append((paths, [cluster]))
    return tuple(
        Collapse(
            mark=cluster_mark((member.id, member.state) for cluster in group for member in cluster.members),
            clusters=tuple(group),
        )
        for _, group in groups
    )


def pairs_within(names: Iterable[str]) -> frozenset[frozenset[str]]:
    """Every two of `names`."""
    return frozenset(frozenset(two) for two in combinations(sorted(set(names)), 2))
