"""One dream from start to verdicts: a cold note, what resonates with it, and what the judge keeps. Pure.

The ranking and the judge are given in; everything random comes from `rng`. So the same notes, memory, settings and seed
give the same dream.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final, Protocol

from aria_dream.dream.juxtaposition import Dropped, Survivor
from aria_dream.dream.triage import outcome
from aria_dream.dream.walk import FAR, NoStart, Start, choose_pairs, pick_start

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from datetime import date
    from random import Random

    from aria_dream.dream.juxtaposition import Juxtaposition
    from aria_dream.dream.triage import Verdict
    from aria_dream.dream.walk import Memory, Walkable

STARTS_TRIED = 6
"""A cold start of which nothing survives gives way to the next; after so many it is an empty dream."""
POOL_NEAR = 12
POOL_FAR = 12
"""Pairs put before the judge: the best, and the best of those at distance 3 or more or without a way between them."""
RANKED = 400
"""Candidates of a start that are looked through for its far pairs."""
DROPS_SHOWN = 5


class Ranker(Protocol):
    """L0: what resonates with a note."""

    def resonances(self, path: str, limit: int) -> Sequence[Juxtaposition]:
        """The undrawn pairs of the note at `path`, best first, with ways and evidence."""
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
    """Best first; never empty."""
    dropped: tuple[Dropped, ...]
    """The most resonant of what the judge did not keep, unreadable verdicts first."""
    tried: tuple[str, ...]
    """Vault paths of the starts, in order; the last is that of `start`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class NothingDreamt:
    """An empty dream: nothing is written."""

    reason: str
    """One sentence for the writer."""
    tried: tuple[str, ...] = ()


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


def dream(
    notes: Sequence[Walkable], ranker: Ranker, judge: Judge, memory: Memory, rng: Random, wish: Wish
) -> Dreamt | NothingDreamt:
    """The dream, or why there is none. Tries further cold starts while nothing survives.

    Index pages, templates and notes that belong to a plugin are no dream's other end.
    """
    unfit = {note.path for note in notes if note.index or note.template or note.plugin}
    tried: list[str] = []
    reason = "nothing here resonates yet that is not linked already"
    while len(tried) < STARTS_TRIED:
        start = pick_start(notes, rng, memory, seeded=wish.seeded if not tried else None, asked=wish.asked)
        if isinstance(start, NoStart):
            return NothingDreamt(reason=start.reason, tried=tuple(tried))
        if start.path in tried:
            break
        tried.append(start.path)
        ranked = [found for found in ranker.resonances(start.path, RANKED) if found.to not in unfit]
        pool = _pool(ranked, memory, wish)
        kept, dropped = _judged(judge, pool)
        chosen = choose_pairs(
            [survivor.juxtaposition for survivor in kept],
            memory,
            count=wish.count,
            today=wish.today,
            cooldown_days=wish.cooldown_days,
        )
        if chosen:
            by_pair = {survivor.juxtaposition.pair: survivor for survivor in kept}
            return Dreamt(
                start=start,
                kept=tuple(by_pair[found.pair] for found in chosen),
                dropped=tuple(sorted(dropped, key=lambda drop: not drop.unreadable)[:DROPS_SHOWN]),
                tried=tuple(tried),
            )
        if any(not drop.unreadable for drop in dropped):
            reason = _KEPT_NONE
        elif dropped and reason != _KEPT_NONE:
            reason = _NO_ANSWER
        if wish.asked is not None:
            break
        memory = replace(memory, starts=(*memory.starts, start.path))
    return NothingDreamt(reason=reason, tried=tuple(tried))


_KEPT_NONE: Final = "the judge kept none of what resonated"
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
