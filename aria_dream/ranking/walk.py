"""Where a dream starts and which of its pairs it shows: cold, deterministic from an explicit seed, with a memory."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from dataclasses import dataclass, field
from itertools import accumulate, pairwise
from types import MappingProxyType
from typing import TYPE_CHECKING

from aria_dream.markdown.body import WORDS_COUNTED
from aria_dream.ranking.juxtaposition import title_of

if TYPE_CHECKING:
    from collections.abc import Callable, Container, Iterable, Mapping, Sequence
    from collections.abc import Set as AbstractSet
    from datetime import date
    from random import Random

    from aria_dream.ranking.juxtaposition import Juxtaposition
    from aria_dream.vault.graph import LinkGraph, Neighbours, NoteFacts

MIN_WORDS = 40
STARTS_REMEMBERED = 60
"""Starts further back are forgotten: a month of nights at two dreams each."""
INDEX_MIN_LINKS = 8
INDEX_WORDS_PER_LINK = 5
NAMED_INDEX_MIN_LINKS = 5
NAMED_INDEX_WORDS_PER_LINK = 25
_INDEX_TITLE = re.compile(r"[\W_\d]*(?:index|readme|home|start|contents|table of contents|toc|maps? of content)[\W_]*")
_BYTES_PER_WORD = 8
"""Of Markdown in a European language, markup and properties included; two Chinese characters take six."""
FAR = 3
"""Links between two notes from which on a pair is a dream rather than a related note."""

_NOTHING_SHOWN: Mapping[tuple[str, str], date] = MappingProxyType({})


@dataclass(frozen=True, slots=True, kw_only=True)
class Walkable:
    """A note as the walk sees it."""

    path: str
    words: int
    degree: int
    """Distinct notes linked from or to it."""
    visible: bool
    """False: excluded by the writer, or our own file. Never a start and never a target, whatever is relaxed."""
    daily: bool = False
    template: bool = False
    index: bool = False
    plugin: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Memory:
    """What earlier dreams and decisions leave to this one."""

    starts: tuple[str, ...] = ()
    """Vault paths of recent starts, oldest first; repeats allowed."""
    shown: Mapping[tuple[str, str], date] = field(default_factory=lambda: _NOTHING_SHOWN)
    """Pair (`pair_key`) to the local date on which it was last shown."""
    decided: AbstractSet[tuple[str, str]] = frozenset()
    """Pairs the writer linked, refused or has open: never shown."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Start:
    """Where the dream begins."""

    path: str
    rule: str
    """How it was picked, in the words of the log."""
    cold: bool
    """Nobody asked for this note."""


@dataclass(frozen=True, slots=True)
class NoStart:
    """No note can be dreamt from."""

    reason: str
    """One sentence for the writer."""


def is_index_page(path: str, links: int, own_words: int) -> bool:
    """Whether a note is a list of other notes rather than a thought of its own.

    `links`: distinct notes it links to. `own_words`: words of prose without those that only name the linked notes.
    By its numbers: at least 8 links, and fewer than 5 words for each. Where the name says so too (`index`, `README`,
    `Home`, `Contents`, a word `MOC`, or the name of its own folder): at least 5 links, and fewer than 25 words each.
    So a map of content, a README's list and a tag page are; an essay that links a lot and a short note are not.
    """
    if links < NAMED_INDEX_MIN_LINKS:
        return False
    if links >= INDEX_MIN_LINKS and own_words < INDEX_WORDS_PER_LINK * links:
        return True
    return own_words < NAMED_INDEX_WORDS_PER_LINK * links and _says_index(path)


def _says_index(path: str) -> bool:
    title = title_of(path).lower()
    folder = path.rpartition("/")[0].rpartition("/")[2].lower()
    return title == folder or _INDEX_TITLE.fullmatch(title) is not None or "moc" in re.split(r"[\W_]+", title)


def walkable_notes(
    facts: Iterable[NoteFacts],
    graph: LinkGraph,
    *,
    daily: Container[str],
    template: Container[str],
    hidden: Container[str],
    links: Neighbours | None = None,
) -> tuple[Walkable, ...]:
    """The notes of `graph`, in its order, as the walk sees them; a path without facts is left out.

    `links` (from `structure.neighbours_of`) saves counting neighbours.
    `daily`, `template`, `hidden`: vault paths that the vault's settings and the policy name. Our own files (`marker`),
    `dream: false` and Obsidian's ignored files are invisible too.
    """
    degrees = _degrees(graph) if links is None else [after - before for before, after in pairwise(links.offsets)]
    words_in_title = [len(title_of(path).split()) for path in graph.paths]
    known = {fact.path: fact for fact in facts}
    notes = []
    for row, path in enumerate(graph.paths):
        fact = known.get(path)
        if fact is None:
            continue
        targets = graph.targets[graph.offsets[row] : graph.offsets[row + 1]]
        own_words = _words(fact) - sum(words_in_title[target] for target in targets)
        notes.append(
            Walkable(
                path=path,
                words=fact.words,
                degree=degrees[row],
                visible=fact.dream and not fact.marker and not fact.ignored and path not in hidden,
                daily=path in daily,
                template=path in template,
                index=is_index_page(path, len(targets), own_words),
                plugin=bool(fact.plugin),
            )
        )
    return tuple(notes)


def _words(fact: NoteFacts) -> int:
    """Words of prose; of a note so long that they were not all counted, what its size lets expect."""
    return fact.words if fact.words < WORDS_COUNTED else max(fact.words, fact.size_bytes // _BYTES_PER_WORD)


def _degrees(graph: LinkGraph) -> list[int]:
    """Distinct neighbours of each row: its targets, and those that link to it without being linked back."""
    offsets, targets = graph.offsets, graph.targets
    degrees = [offsets[row + 1] - offsets[row] for row in range(len(graph.paths))]
    for row in range(len(graph.paths)):
        for target in targets[offsets[row] : offsets[row + 1]]:
            low, high = offsets[target], offsets[target + 1]
            back = bisect_left(targets, row, low, high)
            if back == high or targets[back] != row:
                degrees[target] += 1
    return degrees


_RULES: tuple[tuple[str, Callable[[Walkable], bool]], ...] = (
    (
        "low-degree pick",
        lambda note: note.words >= MIN_WORDS and not (note.daily or note.template or note.index or note.plugin),
    ),
    (
        f"low-degree pick, short notes allowed as none has {MIN_WORDS} words",
        lambda note: note.words > 0 and not (note.daily or note.template or note.index or note.plugin),
    ),
    (
        "low-degree pick, daily and index notes allowed as there is no other",
        lambda note: note.words > 0 and not (note.template or note.plugin),
    ),
    ("low-degree pick among all notes, as none has prose of its own", lambda note: not note.plugin),
)
"""What the log says, and who may be picked; the first rule that enough notes satisfy holds."""


def pick_start(
    notes: Sequence[Walkable],
    rng: Random,
    memory: Memory,
    *,
    seeded: tuple[str, str] | None = None,
    asked: str | None = None,
    needed: int = 1,
) -> Start | NoStart:
    """The start of a dream; draws exactly one number from `rng`, whatever the way.

    `asked`: vault path the writer named on the command line. `seeded`: title of an open internal seed and the vault
    path it names. Else a cold pick with weight 1/(1+degree), independent of the order of `notes`; notes among
    `memory.starts` wait until every other had its turn, then the longer half of the wait comes back.
    `needed`: fewer notes than this under a rule, and the next looser one holds.
    """
    draw = rng.random()
    visible = sorted((note for note in notes if note.visible), key=lambda note: note.path)
    paths = {note.path for note in visible}
    if asked is not None:
        if asked not in paths:
            return NoStart(f"“{title_of(asked)}” is not among the notes that may be dreamt")
        return Start(path=asked, rule="as you asked", cold=False)
    if seeded is not None and seeded[1] in paths:
        return Start(path=seeded[1], rule=f"your seed “{seeded[0]}”", cold=False)
    if not visible:
        return NoStart("there is no note here to dream from")
    rule, pool = next(
        ((said, found) for said, who in _RULES if len(found := [note for note in visible if who(note)]) >= needed),
        ("", []),
    )
    if not pool:
        return NoStart("every note here belongs to a plugin, so there is none to dream from")
    rested = _rested(pool, memory.starts[-STARTS_REMEMBERED:])
    if rested is None:
        pool, rule = _longest_ago(pool, memory.starts), f"{rule}, among the starts longest ago"
    else:
        pool = rested
    return Start(path=_weighted(pool, draw).path, rule=rule, cold=True)


def _rested(pool: Sequence[Walkable], starts: Sequence[str]) -> list[Walkable] | None:
    recent = frozenset(starts)
    return [note for note in pool if note.path not in recent] or None


def _longest_ago(pool: Sequence[Walkable], starts: Sequence[str]) -> list[Walkable]:
    last = {path: turn for turn, path in enumerate(starts)}
    by_turn = sorted(pool, key=lambda note: (last[note.path], note.path))
    return sorted(by_turn[: (len(by_turn) + 1) // 2], key=lambda note: note.path)


def _weighted(pool: Sequence[Walkable], draw: float) -> Walkable:
    sums = list(accumulate(1.0 / (1 + note.degree) for note in pool))
    return pool[min(bisect_right(sums, draw * sums[-1]), len(pool) - 1)]


def choose_pairs(
    ranked: Sequence[Juxtaposition], memory: Memory, *, count: int, today: date, cooldown_days: int
) -> tuple[Juxtaposition, ...]:
    """At most `count` of `ranked` (best first), in its order: the pairs a dream shows.

    Never a decided pair, a direct link, a note with itself, or a pair twice. Pairs shown within `cooldown_days` only
    where there is nothing else. At least one in three of those shown is far (distance 3 or more, or unconnected) as
    long as the candidates hold that many. A note, and where nearly as good ones exist a last stepping stone too,
    serves one pair only.
    """
    fresh, shown = _candidates(ranked, memory, today=today, cooldown_days=cooldown_days)
    pool = fresh or shown
    for wanted in range(min(count, len(pool)), 0, -1):
        far = sum(_is_far(found) for found in pool)
        needed = min(far, -(-wanted // 3))
        chosen = _choose(pool, wanted, far=needed)
        if len(chosen) == wanted and sum(_is_far(found) for found in chosen) >= needed:
            places = {id(found): place for place, found in enumerate(pool)}
            return tuple(sorted(chosen, key=lambda found: places[id(found)]))
    return ()


def _is_far(found: Juxtaposition) -> bool:
    return found.distance is None or found.distance >= FAR


def _candidates(
    ranked: Sequence[Juxtaposition], memory: Memory, *, today: date, cooldown_days: int
) -> tuple[list[Juxtaposition], list[Juxtaposition]]:
    fresh: list[Juxtaposition] = []
    shown: list[Juxtaposition] = []
    seen = set(memory.decided)
    for found in ranked:
        if found.from_ == found.to or found.distance in (0, 1) or found.pair in seen:
            continue
        seen.add(found.pair)
        last = memory.shown.get(found.pair)
        waiting = last is not None and (today - last).days < cooldown_days
        (shown if waiting else fresh).append(found)
    return fresh, shown


def _choose(pool: Sequence[Juxtaposition], wanted: int, *, far: int) -> list[Juxtaposition]:
    """`far` pairs from among the far ones first, then the best of the rest; fewer where targets repeat."""
    chosen: list[Juxtaposition] = []
    for _ in range(far):
        _take(chosen, [found for found in pool if _is_far(found)])
    for _ in range(wanted - len(chosen)):
        _take(chosen, pool)
    return chosen


def _take(chosen: list[Juxtaposition], pool: Sequence[Juxtaposition]) -> None:
    """Move the next pair into `chosen`: the best with a new target, but one through a new stone if half as strong."""
    targets = {found.to for found in chosen}
    rest = [found for found in pool if found not in chosen and found.to not in targets]
    if not rest:
        return
    stones = {found.path[-2] for found in chosen if found.path}
    best = rest[0]
    for found in rest:
        if found.score < best.score / 2:
            break
        if not (found.path and found.path[-2] in stones):
            best = found
            break
    chosen.append(best)
