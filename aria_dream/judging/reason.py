"""Why a pair was kept or dropped, in words that a writer understands and that are true of the two notes.

Every clause can be checked against the notes: a named word is written in both, a named note is a neighbour of both, a
mention stands in the prose as quoted. What is only a number is said without the number. Where two notes share nothing
themselves, what the notes around them speak of is named, note by note and word by word.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from aria_dream.judging.common_ground import fold, in_common

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from aria_dream.judging.common_ground import Common, NoteView

MAX_WORDS: Final = 3
FEW_WORDS: Final = 2
"""Two notes with no more telling words in common than this share few words."""


def join_words(words: Sequence[str]) -> str:
    """`"a"`, `"a and b"`, `"a, b and c"`."""
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} and {words[-1]}"


def named(title: str) -> str:
    """`title` as it stands in a sentence: one in small letters is quoted, or it reads as a word of ours."""
    return f"“{title}”" if title[:1].islower() else title


def speak_of(common: Common) -> str | None:
    """The clause that names the shared words: what one of the two dwells on, else what both say by the way.

    Words that the mention names already are left to it.
    """
    mention = fold(common.mention[1]) if common.mention else ""
    words = [word for word in common.words if fold(word) not in mention]
    subjects = [word for word in words if word not in common.by_the_way]
    if subjects:
        return f"both speak of {join_words(subjects[:MAX_WORDS])}"
    if not words:
        return None
    quoted = [f"“{word}”" for word in words[:MAX_WORDS]]
    return f"both use the word{'s' if len(quoted) > 1 else ''} {join_words(quoted)}"


def quote_mention(common: Common) -> str | None:
    """The clause that quotes a mention."""
    return f"{named(common.mention[0])} mentions “{common.mention[1]}” without a link" if common.mention else None


def meet(common: Common) -> str | None:
    """The clause that names the note between them, with the direction of its links."""
    between = common.between
    if between is None:
        return None
    if between.from_first and between.from_second:
        return f"both lead to {named(between.title)}"
    if not between.from_first and not between.from_second:
        return f"{named(between.title)} leads to both"
    return f"{named(between.title)} lies between them"


def apart_from_text(common: Common) -> list[str]:
    """Clauses that name what the two share beside words, mentions and links between them; the most telling first."""
    clauses = []
    if common.missing:
        clauses.append(f"both link to {named(common.missing)}, which is not written yet")
    if common.tags:
        clauses.append(f"both are tagged #{common.tags[0]}")
    if common.akin:
        title, near, linked = map(named, common.akin)
        clauses.append(f"{title}, which is near {near} in meaning, is linked with {linked}")
    if common.folder:
        clauses.append(f"both lie in the small folder {named(common.folder)}")
    return [*clauses, *common.hints]


TITLES: Final = "their titles are alike"
_HINTS: Final = (
    ("title", 0.8, TITLES),
    ("similar notes link there", 0.5, "notes that share words with {first} are linked with {second}"),
    ("neighbour text", 1.0, "the notes around {first} speak of what {second} and its neighbours speak of"),
)
"""A term of the ranking, from where on it is worth saying, and what it then says."""


def explain_terms(terms: Mapping[str, float], first: str, second: str) -> tuple[str, ...]:
    """What the ranking's terms say of the notes titled `first`, which asks, and `second`; the most telling first."""
    return tuple(
        clause.format(first=named(first), second=named(second))
        for name, least, clause in _HINTS
        if terms.get(name, 0.0) >= least
    )


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
            clause = f"{whose}, shares the words {join_words(quoted)} with {named(first.called)}"
            said.append(_Said(sum(weight for _, weight in words), clause))
    return _best(said)


def _best(said: Sequence[_Said | None]) -> str | None:
    found = max((one for one in said if one is not None), key=lambda one: one.weight, default=None)
    return None if found is None else found.clause


def find_linked_alike(
    first: int, second: int, around: Callable[[int], Sequence[int]]
) -> tuple[int, int, list[int]] | None:
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
    """The clause for what `find_linked_alike` found: `titles` of the one, the other and what that is linked with."""
    title, other, linked_with = map(named, titles)
    both = join_words(list(map(named, common)))
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
    return _Said(sum(weight for _, weight in said), f"{before}{join_words([word for word, _ in said])}{after}")


def _words(one: NoteView, two: NoteView, rarity: Callable[[str], float]) -> list[tuple[str, float]]:
    """What both dwell on and neither is called, with how telling it is."""
    common = in_common(one, two, rarity)
    titles = fold(f"{one.title}\n{two.title}")
    words = [word for word in common.subjects if fold(word) not in titles]
    return [(word, rarity(fold(word))) for word in words]
