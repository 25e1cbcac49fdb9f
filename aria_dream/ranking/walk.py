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

    from aria_dream.vault.graph import LinkGraph, Neighbours, NoteFacts

MIN_WORDS = 40
STARTS_REMEMBERED = 240
"""Starts further back are forgotten: ten dreams at 24 each."""
INDEX_MIN_LINKS = 8
INDEX_WORDS_PER_LINK = 5
NAMED_INDEX_MIN_LINKS = 5
NAMED_INDEX_WORDS_PER_LINK = 25
_INDEX_TITLE = re.compile(r"[\W_\d]*(?:index|readme|home|start|contents|table of contents|toc|maps? of content)[\W_]*")
_BYTES_PER_WORD = 8
"""Of Markdown in a European language, markup and properties included; two Chinese characters take six."""
NAME_LINKS = 5
HUB_LINKS = 30
HUB_SHARE = 0.05
"""A note linked with more than this share of all notes, and with more than `HUB_LINKS`, is a hub."""
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


def may_be_dreamt(notes: Sequence[Walkable], needed: int = 5) -> frozenset[str]:
    """Vault paths of the notes that a cold dream may bring together: those that it may start from. What is no start is
    no other end either: a stub, an index, a template, a daily note, a plugin's note, and what is not visible.

    `needed`: as in `pick_start`; in a vault of short notes they may be dreamt of, and in one of daily notes those.
    """
    visible = [note for note in notes if note.visible]
    pools = [[note.path for note in visible if who(note)] for _, who in _RULES]
    return frozenset(next((pool for pool in pools if len(pool) >= needed), pools[-1]))


def is_crossroads(note: Walkable, notes: int) -> bool:
    """Whether so much meets in a note that a way through it tells nothing of two notes: an index, a name with hardly a
    word that several notes link to, a hub. `notes`: how many the vault has."""
    is_name = note.words < MIN_WORDS and note.degree >= NAME_LINKS
    return note.index or is_name or note.degree > max(HUB_LINKS, notes * HUB_SHARE)


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
