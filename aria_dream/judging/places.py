"""The places of a dream: near, far, and tension; and which pairs it shows. Pure.

*Near* is a link that the writer would have drawn. *Far* is a passage that answers another where nothing else joins the
two notes. *Tension* is two passages about one subject that pull in different directions.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final, Literal

from aria_dream.judging.tension import tension_of
from aria_dream.ranking.juxtaposition import title_of
from aria_dream.ranking.walk import FAR

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from aria_dream.ranking.juxtaposition import Juxtaposition

Place = Literal["near", "far", "tension"]
Surprise = Literal["near", "mixed", "far"]
NEAREST: Final = 10
"""Notes nearest to a note as a whole: what a pane of related notes shows."""
_TURNS: Final[dict[Surprise, tuple[Place, ...]]] = {
    "near": ("near", "near", "tension"),
    "mixed": ("far", "near", "tension"),
    "far": ("far", "tension", "far"),
}
"""What a dream's pairs are, in turn."""
_TITLE_WORD: Final = re.compile(r"[^\W\d_]{3,}")
_STEM: Final = 6


def place_of(found: Juxtaposition, notes: int) -> Place:
    """Where the pair stands in a dream. `notes`: how many notes may be dreamt of; of few, fewer are the nearest."""
    if tension_of(found):
        return "tension"
    return "far" if is_far(found, notes) else "near"


def is_far(found: Juxtaposition, notes: int) -> bool:
    """Whether only their passages join two notes: not among the nearest by the whole note, no word of the titles in
    common, and at a distance of at least 3, unconnected, or in different folders."""
    resonance = found.resonance
    if resonance is None or resonance.rank < min(NEAREST, notes // 5) or _title_words(found.from_, found.to):
        return False
    away = found.distance is None or found.distance >= FAR
    return away or found.from_.rpartition("/")[0] != found.to.rpartition("/")[0]


def _title_words(first: str, second: str) -> set[str]:
    """Beginnings of the words that two titles share."""
    one, two = ({word[:_STEM] for word in _TITLE_WORD.findall(title_of(path).lower())} for path in (first, second))
    return one & two


def choose_pairs(
    found: Sequence[Juxtaposition],
    *,
    count: int,
    surprise: Surprise,
    place: Callable[[Juxtaposition], Place],
    only_start: str = "",
) -> tuple[Juxtaposition, ...]:
    """At most `count` of `found` (best first): the pairs a dream shows, place by place in turn, no note twice but
    `only_start`, where all of them come from one note.

    A place that nothing is left for is filled by the best of the others.
    """
    chosen: list[Juxtaposition] = []
    turns = _TURNS[surprise]
    while len(chosen) < count:
        taken = {path for pair in chosen for path in pair.pair} - {only_start}
        free = [pair for pair in found if not taken & set(pair.pair)]
        if not free:
            break
        wanted = turns[len(chosen) % len(turns)]
        chosen.append(next((pair for pair in free if place(pair) == wanted), free[0]))
    return tuple(chosen)
