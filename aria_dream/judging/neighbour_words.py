"""What is said of two notes that share nothing themselves: what the notes around them speak of.

The ranking measures that the surroundings of two notes are alike; here it is named, note by note and word by word, so
that a writer can look it up.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from aria_dream.judging.common_ground import fold, in_common
from aria_dream.judging.reason import listed, named

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from aria_dream.judging.common_ground import NoteView

MOST_AROUND: Final = 6
"""So many notes around each of the two are looked at."""
_WORDS_SAID: Final = 2
_LEAST_WORDS: Final = 2
"""One word that two notes dwell on is as often a heading of a template as it is a subject."""


@dataclass(frozen=True, slots=True)
class _Said:
    weight: float
    clause: str


def around_clause(
    first: NoteView,
    second: NoteView,
    *,
    beside_first: Sequence[NoteView],
    beside_second: Sequence[NoteView],
    rarity: Callable[[str], float],
) -> str | None:
    """One clause that names what joins the surroundings of two notes; None where no two words do.

    `beside_first` and `beside_second` are linked with them. A note beside the one that speaks of what the other speaks
    of comes before two notes beside them that speak of one thing.
    """
    one, two = named(first.called), named(second.called)
    return _best([
        *(_beside(each, one, second, two, rarity) for each in beside_first),
        *(_beside(each, two, first, one, rarity) for each in beside_second),
    ]) or _best([
        _said(f"{named(a.called)}, beside {one}, and {named(b.called)}, beside {two}, speak of ", _words(a, b, rarity))
        for a in beside_first
        for b in beside_second
        if a.called != b.called
    ])  # fmt: skip


def shared_words_clause(
    first: NoteView, second: NoteView, *, beside_second: Sequence[NoteView], rarity: Callable[[str], float]
) -> str | None:
    """The clause that names words, said by the way, which `first` shares with a note linked with `second`."""
    said = []
    for each in beside_second:
        words = [(word, rarity(fold(word))) for word in in_common(each, first, rarity).words][:_WORDS_SAID]
        quoted = [f"“{word}”" for word, _ in words]
        if len(words) == _WORDS_SAID:
            whose = f"{named(each.called)}, which is linked with {named(second.called)}"
            clause = f"{whose}, shares the words {listed(quoted)} with {named(first.called)}"
            said.append(_Said(sum(weight for _, weight in words), clause))
    return _best(said)


def _best(said: Sequence[_Said | None]) -> str | None:
    found = max((one for one in said if one is not None), key=lambda one: one.weight, default=None)
    return None if found is None else found.clause


def linked_alike(first: int, second: int, around: Callable[[int], Sequence[int]]) -> tuple[int, int, list[int]] | None:
    """`(of the two, other, common)`: a note `other`, linked with the other one of the two, that has at least two
    neighbours in common with this one; the most, and of those the least linked. None where there is none.

    `around(note)`: the notes linked with it, in either direction.
    """
    found = []
    for mine, theirs in ((first, second), (second, first)):
        near = set(around(mine)) - {first, second}
        for other in around(theirs):
            common = sorted(near & set(around(other)), key=lambda note: (len(around(note)), note))
            if other not in (first, second) and len(common) >= _LEAST_WORDS:
                found.append((-len(common), len(around(other)), mine != first, other, mine, common))
    if not found:
        return None
    _, _, _, other, mine, common = min(found)
    return mine, other, common[:_WORDS_SAID]


def linked_alike_clause(titles: Sequence[str], common: Sequence[str]) -> str:
    """The clause for what `linked_alike` found: `titles` of the one, the other and what that is linked with."""
    title, other, linked_with = map(named, titles)
    both = listed(list(map(named, common)))
    return f"{other}, which is linked with {linked_with}, stands beside {both}, as {title} does"


def _beside(
    note: NoteView, linked: str, other: NoteView, other_name: str, rarity: Callable[[str], float]
) -> _Said | None:
    """What `note`, which is linked with the one of the pair, and the `other` of the pair both speak of."""
    return _said(f"{named(note.called)}, which is linked with {linked}, speaks of ", _words(note, other, rarity),
                 f", as {other_name} does")  # fmt: skip


def _said(before: str, words: Sequence[tuple[str, float]], after: str = "") -> _Said | None:
    if len(words) < _LEAST_WORDS:
        return None
    said = words[:_WORDS_SAID]
    return _Said(sum(weight for _, weight in said), f"{before}{listed([word for word, _ in said])}{after}")


def _words(one: NoteView, two: NoteView, rarity: Callable[[str], float]) -> list[tuple[str, float]]:
    """What both dwell on and neither is called, with how telling it is."""
    common = in_common(one, two, rarity)
    titles = fold(f"{one.title}\n{two.title}")
    words = [word for word in common.subjects if fold(word) not in titles]
    return [(word, rarity(fold(word))) for word in words]
