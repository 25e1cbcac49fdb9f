"""One dream from start to verdicts: a cold note, what resonates with it, and what the judge keeps. Pure.

The ranking and the judge are given in; everything random comes from `rng`. So the same notes, memory, settings and seed
give the same dream.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final, Protocol

from aria_dream.judging.places import choose_pairs, place_of
from aria_dream.judging.triage_prompt import outcome
from aria_dream.judging.worth import WorthModel, worth_features
from aria_dream.ranking.juxtaposition import Dropped, Survivor
from aria_dream.ranking.walk import NoStart, Start, may_be_dreamt, pick_start

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping, Sequence
    from datetime import date
    from random import Random

    from aria_dream.judging.places import Place, Surprise
    from aria_dream.judging.triage_prompt import Verdict
    from aria_dream.ranking.juxtaposition import Juxtaposition
    from aria_dream.ranking.walk import Memory, Walkable

STARTS_LOOKED_AT = 24
"""A cold dream looks at so many starts and keeps the most telling of their pairs: one dull start is no dull night."""
POOLS: Final[Mapping[Place, int]] = {"near": 10, "far": 10, "tension": 4}
"""Pairs of each place that are put before the judge at once, the likeliest first."""
ROUNDS = 3
"""So often the next ones are, while nothing is kept."""


class Ranker(Protocol):
    """L0: what resonates with a note."""

    def look(
        self, starts: Sequence[str], targets: Collection[str], named: Collection[str]
    ) -> Sequence[Juxtaposition]:
        """The undrawn pairs of the notes at `starts` with those at `targets` that resonate, with ways, evidence and
        passages; with those at `named` where one names the other."""
        ...

    def pair(self, first: str, second: str) -> Juxtaposition:
        """The pair of these two notes, whatever its score, linked or decided."""
        ...

    def learned(self) -> Mapping[str, object]:
        """What the ranking learned from the vault, as JSON: part of what a dream is repeated with."""
        ...


class Judge(Protocol):
    """L1: keeps or drops."""

    @property
    def name(self) -> str:
        """As the log names it."""
        ...

    def judge(self, found: Sequence[Juxtaposition]) -> Sequence[Verdict]:
        """One verdict a pair, in order."""
        ...


@dataclass(frozen=True, slots=True)
class NoJudge:
    """The judge that the policy names is not there, so there is no dream."""

    reason: str
    """One clause for the writer."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Dreamt:
    """A dream that found something."""

    start: Start
    """Of the first pair that is shown."""
    kept: tuple[Survivor, ...]
    """The pairs of a seed first, then place by place; empty only where all pairs of a seed were dropped."""
    dropped: tuple[Dropped, ...]
    """All that was judged and not kept: the pairs of a seed first, then unreadable verdicts, then the likeliest."""
    judge: str
    """As the log names it."""
    tried: tuple[str, ...]
    """Vault paths of the starts that were looked at, in order."""
    looked_at: int = 0
    """Pairs that were weighed."""
    places: tuple[Place, ...] = ()
    """Of each pair that is kept."""


@dataclass(frozen=True, slots=True, kw_only=True)
class NothingDreamt:
    """An empty dream: nothing is written."""

    reason: str
    """One sentence for the writer."""
    tried: tuple[str, ...] = ()
    dropped: tuple[Dropped, ...] = ()
    """All that was looked at, start by start."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Wish:
    """What is asked of a dream."""

    count: int
    """At most so many pairs."""
    today: date
    """The writer's local date."""
    cooldown_days: int
    surprise: Surprise = "mixed"
    asked: str | None = None
    """Vault path of the note that was named as the start."""
    seeded: tuple[str, str] | None = None
    """Title of an open internal seed, and the vault path it names."""
    seed_pairs: tuple[tuple[str, str], ...] = ()
    """Vault paths of the notes that a seed names, two by two: they are judged and told before anything else."""


def dream(
    notes: Sequence[Walkable], ranker: Ranker, judge: Judge, memory: Memory, rng: Random, wish: Wish
) -> Dreamt | NothingDreamt:
    """The dream, or why there is none: several cold starts (or the one that was asked for), all their pairs weighed by
    what they are worth, the best of each place judged, and the best of those shown. Where a seed's note brings nothing,
    the dream is cold after all."""
    starts = _starts(notes, memory, rng, wish)
    if isinstance(starts, NoStart):
        return NothingDreamt(reason=starts.reason)
    tried = tuple(start.path for start in starts)
    seeded, refused = _seeded(ranker, judge, memory, wish)
    asked = {found.pair for found in (*_pairs(seeded), *_pairs(refused))}
    targets = may_be_dreamt(notes)
    pairs = [found for found in _weighed(ranker, notes, tried, targets) if found.pair not in asked]
    pool = _pool(pairs, memory, wish)
    places = {found.pair: place_of(found, len(targets)) for found in pool}
    kept: list[Survivor] = []
    dropped: list[Dropped] = []
    for some in _rounds(pool, places):
        now, refused_now = _judged(judge, some)
        kept, dropped = [*kept, *now], [*dropped, *refused_now]
        if kept:
            break
    kept.sort(key=lambda survivor: -_likely(survivor))  # stable: ties stand in the order of their worth
    chosen = choose_pairs(
        _pairs(kept),
        count=max(0, wish.count - len(seeded)),
        surprise=wish.surprise,
        place=lambda found: places[found.pair],
        only_start=tried[0] if len(tried) == 1 else "",
    )
    dropped = [*refused, *sorted(dropped, key=lambda drop: not drop.unreadable)]
    if not chosen and not asked and wish.seeded is not None:
        return dream(notes, ranker, judge, memory, rng, replace(wish, seeded=None, seed_pairs=()))
    if not chosen and not asked:
        nothing = "nothing here resonates yet that is not linked already"
        return NothingDreamt(reason=_why_nothing(dropped) or nothing, tried=tried, dropped=tuple(dropped))
    by_pair = {survivor.juxtaposition.pair: survivor for survivor in kept}
    first = chosen[0].from_ if chosen else tried[0]
    return Dreamt(
        start=next(start for start in starts if start.path == first),
        kept=(*seeded, *(by_pair[found.pair] for found in chosen)),
        dropped=tuple(dropped),
        judge=judge.name,
        tried=tried,
        looked_at=len(pairs) + len(asked),
        places=tuple(place_of(found, len(targets)) for found in (*_pairs(seeded), *chosen)),
    )


def _starts(notes: Sequence[Walkable], memory: Memory, rng: Random, wish: Wish) -> list[Start] | NoStart:
    """The note that was asked for or that a seed names; else cold starts, each drawn as if the ones before it were the
    dreams before it."""
    found: list[Start] = []
    while len(found) < STARTS_LOOKED_AT:
        start = pick_start(notes, rng, memory, seeded=wish.seeded, asked=wish.asked)
        if isinstance(start, NoStart):
            return found or start
        if start.path in [one.path for one in found]:
            break
        found.append(start)
        if not start.cold:
            break
        memory = replace(memory, starts=(*memory.starts, start.path))
    return found


def _weighed(
    ranker: Ranker, notes: Sequence[Walkable], starts: Sequence[str], targets: Collection[str]
) -> list[Juxtaposition]:
    """All pairs of the starts, each once, the one worth most first; ties by their paths."""
    unfit = (note.index or note.template or note.plugin or note.daily or not note.visible for note in notes)
    nameable = [note.path for note, no in zip(notes, unfit, strict=True) if not no]
    found = {one.pair: one for one in reversed(ranker.look(starts, targets, nameable))}
    worth = WorthModel()
    return sorted(found.values(), key=lambda one: (-worth.log_odds(worth_features(one)), one.pair))


def _rounds(
    pool: Sequence[Juxtaposition], places: Mapping[tuple[str, str], Place]
) -> Iterator[list[Juxtaposition]]:
    """What is put before the judge at once: the first of each place, then the next ones."""
    for turn in range(ROUNDS):
        some = []
        for place, most in POOLS.items():
            here = [found for found in pool if places[found.pair] == place]
            some += here[turn * most : (turn + 1) * most]
        if not some:
            return
        yield some


def _pairs(outcomes: Sequence[Survivor | Dropped]) -> list[Juxtaposition]:
    return [one.juxtaposition for one in outcomes]


def _seeded(ranker: Ranker, judge: Judge, memory: Memory, wish: Wish) -> tuple[list[Survivor], list[Dropped]]:
    """The pairs of the seed as the judge sees them, shown lately or not; what is settled already is not asked again."""
    found = [ranker.pair(*pair) for pair in wish.seed_pairs]
    settled = {one.pair: said for one in found if (said := _settled(one, memory))}
    kept, dropped = _judged(judge, [one for one in found if one.pair not in settled])
    dropped += [
        Dropped(juxtaposition=one, probability=None, reason=settled[one.pair], judge=judge.name)
        for one in found
        if one.pair in settled
    ]
    return kept, dropped


def _settled(found: Juxtaposition, memory: Memory) -> str:
    if found.distance == 1:
        return "are linked already"
    return "have been decided already, or wait for you" if found.pair in memory.decided else ""


def _why_nothing(dropped: Sequence[Dropped]) -> str:
    """Why a dream that looked at so much kept nothing; `""` where it looked at nothing."""
    judged = [drop.reason for drop in dropped if not drop.unreadable]
    if not judged:
        return _NO_ANSWER if dropped else ""
    reason, often = Counter(judged).most_common(1)[0]
    if len(dropped) == 1:
        return f"the judge did not keep the one pair that resonated: they {reason}"
    most = f"; {'all' if often == len(dropped) else often} of them {reason}" if often > 1 else ""
    return f"the judge kept none of the {len(dropped)} pairs that resonated{most}"


_NO_ANSWER: Final = "the judge gave no answer that can be read"


def _pool(found: Sequence[Juxtaposition], memory: Memory, wish: Wish) -> list[Juxtaposition]:
    """What may be put before the judge, in its order: no decided pair and no link, rested pairs left out while there
    are others."""
    free = [one for one in found if one.pair not in memory.decided and one.distance not in (0, 1)]
    return [one for one in free if not _resting(one, memory, wish)] or free


def _resting(found: Juxtaposition, memory: Memory, wish: Wish) -> bool:
    shown = memory.shown.get(found.pair)
    return shown is not None and (wish.today - shown).days < wish.cooldown_days


def _judged(judge: Judge, pool: Sequence[Juxtaposition]) -> tuple[list[Survivor], list[Dropped]]:
    """Survivors and drops, each in the order of `pool`."""
    if not pool:
        return [], []
    outcomes = [outcome(found, verdict, judge.name) for found, verdict in zip(pool, judge.judge(pool), strict=True)]
    kept = [one for one in outcomes if isinstance(one, Survivor)]
    dropped = [one for one in outcomes if isinstance(one, Dropped)]
    return kept, dropped


def _likely(kept: Survivor) -> float:
    """A model's yes has no probability, and stands before what the built-in judge kept in its place."""
    return 1.0 if kept.probability is None else kept.probability
