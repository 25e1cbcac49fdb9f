"""One dream from start to verdicts: a cold note, what resonates with it, and what the judge keeps. Pure.

The ranking and the judge are given in; everything random comes from `rng`. So the same notes, memory, settings and seed
give the same dream.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final, Protocol

from aria_dream.judging.triage_prompt import outcome
from aria_dream.ranking.juxtaposition import Dropped, Survivor
from aria_dream.ranking.walk import FAR, NoStart, Start, choose_pairs, pick_start

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from datetime import date
    from random import Random

    from aria_dream.judging.triage_prompt import Verdict
    from aria_dream.ranking.juxtaposition import Juxtaposition
    from aria_dream.ranking.walk import Memory, Walkable

STARTS_TRIED = 6
"""A cold start of which nothing survives gives way to the next; after so many it is an empty dream."""
POOL_NEAR = 12
POOL_FAR = 12
"""Pairs put before the judge: the best, and the best of those at distance 3 or more or without a way between them."""
RANKED = 400
"""Candidates of a start that are looked through for its far pairs."""


class Ranker(Protocol):
    """L0: what resonates with a note."""

    def resonances(self, path: str, limit: int) -> Sequence[Juxtaposition]:
        """The undrawn pairs of the note at `path`, best first, with ways and evidence."""
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
    kept: tuple[Survivor, ...]
    """The pairs of a seed first, then the best; empty only where all pairs of a seed were dropped."""
    dropped: tuple[Dropped, ...]
    """All that was looked at and not kept: the pairs of a seed first, then unreadable verdicts, the rest by score."""
    judge: str
    """As the log names it."""
    tried: tuple[str, ...]
    """Vault paths of the starts, in order; the last is that of `start`."""


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
    asked: str | None = None
    """Vault path of the note that was named as the start."""
    seeded: tuple[str, str] | None = None
    """Title of an open internal seed, and the vault path it names."""
    seed_pairs: tuple[tuple[str, str], ...] = ()
    """Vault paths of the notes that a seed names, two by two: they are judged and told before anything else."""


def dream(
    notes: Sequence[Walkable], ranker: Ranker, judge: Judge, memory: Memory, rng: Random, wish: Wish
) -> Dreamt | NothingDreamt:
    """The dream, or why there is none. Tries further cold starts while nothing survives.

    Index pages, templates and notes that belong to a plugin are no dream's other end.
    """
    unfit = {note.path for note in notes if note.index or note.template or note.plugin}
    tried: list[str] = []
    looked_at: list[Dropped] = []
    reason = "nothing here resonates yet that is not linked already"
    while len(tried) < STARTS_TRIED:
        start = pick_start(notes, rng, memory, seeded=wish.seeded if not tried else None, asked=wish.asked)
        if isinstance(start, NoStart):
            return NothingDreamt(reason=start.reason, tried=tuple(tried), dropped=tuple(looked_at))
        if start.path in tried:
            break
        seeded, refused = _seeded(ranker, judge, memory, wish) if not tried else ([], [])
        tried.append(start.path)
        asked = {found.pair for found in (*_pairs(seeded), *_pairs(refused))}
        ranked = [found for found in ranker.resonances(start.path, RANKED) if found.to not in unfit]
        pool = _pool([found for found in ranked if found.pair not in asked], memory, wish)
        kept, dropped = _judged(judge, pool)
        chosen = choose_pairs(
            [survivor.juxtaposition for survivor in kept],
            memory,
            count=max(0, wish.count - len(seeded)),
            today=wish.today,
            cooldown_days=wish.cooldown_days,
        )
        dropped = [*refused, *sorted(dropped, key=lambda drop: not drop.unreadable)]
        if chosen or asked:
            by_pair = {survivor.juxtaposition.pair: survivor for survivor in kept}
            return Dreamt(
                start=start,
                kept=(*seeded, *(by_pair[found.pair] for found in chosen)),
                dropped=tuple(dropped),
                judge=judge.name,
                tried=tuple(tried),
            )
        looked_at += dropped
        if wish.asked is not None:
            break
        memory = replace(memory, starts=(*memory.starts, start.path))
    return NothingDreamt(reason=_why_nothing(looked_at) or reason, tried=tuple(tried), dropped=tuple(looked_at))


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


def _pool(ranked: Sequence[Juxtaposition], memory: Memory, wish: Wish) -> list[Juxtaposition]:
    """What is put before the judge, in the order of the ranking: best near and best far, rested pairs left out while
    there are others."""
    free = [found for found in ranked if found.pair not in memory.decided and found.distance not in (0, 1)]
    fresh = [found for found in free if not _resting(found, memory, wish)]
    pool = fresh or free
    far = [found for found in pool if found.distance is None or found.distance >= FAR]
    wanted = {found.pair for found in (*pool[:POOL_NEAR], *far[:POOL_FAR])}
    return [found for found in pool if found.pair in wanted]


def _resting(found: Juxtaposition, memory: Memory, wish: Wish) -> bool:
    shown = memory.shown.get(found.pair)
    return shown is not None and (wish.today - shown).days < wish.cooldown_days


def _judged(judge: Judge, pool: Sequence[Juxtaposition]) -> tuple[list[Survivor], list[Dropped]]:
    """Survivors, the likeliest first (ties in the order of the ranking), and drops in the order of the ranking."""
    if not pool:
        return [], []
    outcomes = [outcome(found, verdict, judge.name) for found, verdict in zip(pool, judge.judge(pool), strict=True)]
    kept = [one for one in outcomes if isinstance(one, Survivor)]
    dropped = [one for one in outcomes if isinstance(one, Dropped)]
    return sorted(kept, key=lambda survivor: -_likely(survivor)), dropped


def _likely(kept: Survivor) -> float:
    """A model's yes has no probability, and stands before what the built-in judge kept in its place."""
    return 1.0 if kept.probability is None else kept.probability
