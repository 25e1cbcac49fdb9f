"""Two notes that resonate without a link between them, what the judge said about them, and the ways between them."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable

    from aria_dream.vault.graph import Neighbours

_MOST_ODDS = 36.0
"""Beyond this a double cannot tell a probability from 1."""


def title_of(path: str) -> str:
    """A note's title as Obsidian shows it: the file's name without `.md` (any case), folders left out."""
    name = path.rsplit("/", 1)[-1]
    return name[:-3] if name.lower().endswith(".md") and len(name) > 3 else name


def chance(log_odds: float) -> float:
    """The probability with these log-odds, strictly between 0 and 1 for anything a ranking yields."""
    return 1 / (1 + math.exp(-max(-_MOST_ODDS, min(_MOST_ODDS, log_odds))))


def log_odds(chance: float) -> float:
    """The log-odds of a probability; the inverse of `chance`."""
    return math.log(chance) - math.log1p(-chance) if 0 < chance < 1 else math.copysign(_MOST_ODDS, chance - 0.5)


def pair_key(first: str, second: str) -> tuple[str, str]:
    """Both vault paths, sorted by code point: a pair has no direction."""
    return (first, second) if first <= second else (second, first)


@dataclass(frozen=True, slots=True, kw_only=True)
class Evidence:
    """One term of a score."""

    name: str
    """The feature's name, as in `resonances --json`."""
    value: float
    """What the term added to the score."""
    detail: str = ""
    """What a person would want to see of it, such as the words shared; `""` where the number says all."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Resonance:
    """What the passages of two notes say of them: the two that are most tellingly near, and how near."""

    quotes: tuple[str, str]
    """A passage of the note the dream came from, and one of the other, verbatim (`quotation.quotable_passages`)."""
    cosine: float
    """Of the two passages."""
    telling: float
    """The same against how near each is to its own neighbours (`passage_match`)."""
    whole: float
    """Cosine of the notes, each the mean of its passages."""
    rank: int
    """How many notes are nearer to the first one as a whole."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Juxtaposition:
    """What L0 yields: a pair nobody has drawn, the way between them, and why."""

    from_: str
    """Vault path of the note the dream came from."""
    to: str
    """Vault path of the other note."""
    score: float
    """How likely the writer would draw this link, 0 to 1, by what the vault's own links taught; comparable across its
    notes."""
    path: tuple[str, ...] | None
    """Vault paths of a shortest undirected way, both ends included; None where no links connect them."""
    evidence: tuple[Evidence, ...] = ()
    """Term by term, strongest first."""
    resonance: Resonance | None = None
    """None where one of the two has no passage, or none that is no copy."""

    @property
    def pair(self) -> tuple[str, str]:
        """The pair without direction (`pair_key`)."""
        return pair_key(self.from_, self.to)

    @property
    def distance(self) -> int | None:
        """Links on the way between them; None where there is no way."""
        return None if self.path is None else len(self.path) - 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Survivor:
    """A juxtaposition the judge kept."""

    juxtaposition: Juxtaposition
    probability: float | None
    """The judge's own, 0 to 1; None where it only says yes."""
    reason: str
    """In words that are true of the two notes."""
    judge: str
    """`"embedded judge"`, or the model's name."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Dropped:
    """A juxtaposition the judge did not keep."""

    juxtaposition: Juxtaposition
    probability: float | None
    """None where the judge only says no, or its answer could not be read."""
    reason: str
    judge: str
    unreadable: bool = False
    """The judge answered something that is no verdict; shown as such, never counted as its opinion."""


def shortest_ways(
    links: Neighbours, start: int, ends: Iterable[int], crossroads: Collection[int] = ()
) -> dict[int, tuple[int, ...] | None]:
    """For each of `ends` the rows from `start` to it, both included; None where nothing connects them.

    No way leads through one of `crossroads`: a start page or an index connects everything, which tells nothing. Breadth
    first over whole fronts at once; of several equally short ways the one through the lower rows, so the same graph
    gives the same way.
    """
    offsets = np.frombuffer(links.offsets, dtype=np.int32)
    neighbours = np.frombuffer(links.neighbours, dtype=np.int32) if links.neighbours else np.zeros(0, dtype=np.int32)
    wanted = list(dict.fromkeys(ends))
    came_from = np.full(len(offsets) - 1, -1, dtype=np.int32)
    came_from[start] = start
    passable = np.ones(len(came_from), dtype=np.bool_)
    passable[list(crossroads)] = False
    passable[start] = True
    missing = np.array([end for end in wanted if end != start], dtype=np.int64)
    front = np.array([start], dtype=np.int32)
    while len(front) and len(missing):
        counts = offsets[front + 1] - offsets[front]
        total = int(counts.sum())
        if not total:
            break
        ends_of = np.cumsum(counts)
        at = np.arange(total) - np.repeat(ends_of - counts, counts) + np.repeat(offsets[front], counts)
        reached, through = neighbours[at], np.repeat(front, counts)
        fresh = came_from[reached] < 0
        # `front` ascends, so the first to reach a note is its lowest neighbour there
        reached_now, first = np.unique(reached[fresh], return_index=True)
        came_from[reached_now] = through[fresh][first]
        front = reached_now[passable[reached_now]]
        missing = missing[came_from[missing] < 0]
    return {end: _back(came_from, start, end) for end in wanted}


def _back(came_from: np.ndarray[tuple[int], np.dtype[np.int32]], start: int, end: int) -> tuple[int, ...] | None:
    if came_from[end] < 0:
        return None
    way = [end]
    while way[-1] != start:
        way.append(int(came_from[way[-1]]))
    return tuple(reversed(way))
