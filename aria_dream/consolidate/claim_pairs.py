"""Which two claims are worth a closer look: those that share a rare word and could differ in one thing.

Near linear in the claims: every word is looked up, the common ones never, and no claim is held against all others. Only
numbers stay in memory; the claims themselves are read again where they are wanted.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace
from itertools import chain, combinations
from typing import TYPE_CHECKING, Final

from aria_dream.consolidate.claims import Claim, read_claims
from aria_dream.consolidate.roles import tells_roles
from aria_dream.consolidate.translated import counted_thing, in_every_language

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from aria_dream.consolidate.passages import Passage

MOST_HOLDERS: Final = 48
"""A word in more claims than this says too little to be looked up by."""
RAREST: Final = 5
"""So many of a claim's rarest words are looked up."""
LEAST_COMMON: Final = 3
"""Words that two claims share at least where none of them is rare: `open source` alone says nothing of a subject."""
HOPELESS: Final = 2
"""Two words that would meet so many times `MOST_HOLDERS` by chance are not counted together."""
MOST_PAIRS: Final = 2_000_000
LEAST_SHARED: Final = 0.5
"""Share of the words of two claims that both have; one word more may be the one in which they are opposed."""
_NEGATING: Final = ("un", "in", "im", "ir", "il", "non", "dis", "a")

Slot = tuple[str, ...]
Couple = tuple[int, int]
Key = int | Couple
ClaimSketch = tuple[tuple[str, ...], tuple[Slot, ...]]


@dataclass(frozen=True, slots=True)
class Row:
    """A claim in the index."""

    passage: int
    claim: int
    terms: tuple[int, ...]
    slots: tuple[Slot, ...]

    @property
    def known(self) -> frozenset[int]:
        """Its terms, to look them up."""
        return frozenset(self.terms)


def sketch_claims(passage: Passage) -> tuple[ClaimSketch, ...]:
    """What the index holds of the passage's claims, in their order: terms and slots. Depends on its text and title
    only, so that it may be kept."""
    return tuple((_sought_by(claim), _slots(claim)) for claim in read_claims(passage))


def _sought_by(claim: Claim) -> tuple[str, ...]:
    terms = {*claim.terms, *(claim.context if claim.speaks_of_title else ())}
    return tuple(sorted({in_every_language(term) for term in terms}))


def index_claims(
    passages: Sequence[Passage],
    progress: Callable[[int, int], None] | None,
    sketches: Sequence[Sequence[ClaimSketch]] | None = None,
) -> list[Row]:
    """The claims of all passages as rows. `sketches`: those of each passage, where they are known already."""
    numbers: dict[str, int] = {}
    rows: list[Row] = []
    for at in range(len(passages)):
        known = sketch_claims(passages[at]) if sketches is None else sketches[at]
        for order, (terms, slots) in enumerate(known):
            rows.append(Row(at, order, tuple(sorted(numbers.setdefault(term, len(numbers)) for term in terms)), slots))
        if progress is not None:
            progress(at + 1, len(passages))
    turned = {number for term, number in numbers.items() if any(base in numbers for base in without_prefix(term))}
    return [
        replace(row, slots=(*row.slots, ("n",))) if ("p",) in row.slots and not turned.isdisjoint(row.terms) else row
        for row in rows
    ]


def without_prefix(term: str) -> Iterator[str]:
    """What a negating prefix may have been put before: `reliable` for `unreliable`."""
    for prefix in _NEGATING:
        if term.startswith(prefix) and len(term) - len(prefix) >= 4:
            yield term[len(prefix) :]


def _slots(claim: Claim) -> tuple[Slot, ...]:
    """What of a claim another one could differ in."""
    dimensions = {one.dimension for one in claim.measured.quantities}
    slots: list[Slot] = [("q", dimension) for dimension in dimensions | set(map(counted_thing, dimensions))]
    slots += [("d",)] if claim.measured.days else []
    slots += [("w",)] if claim.measured.weekdays else []
    slots += [("s", str(pair), str(side)) for pair, side in claim.states.items()]
    slots += [("r",)] if len(claim.terms) > 2 and tells_roles(claim.tokens) else []
    return (*slots, ("n",) if claim.denials else ("p",))


def _opposite(slot: Slot) -> Slot:
    """The slot under which the other claim of a conflict stands."""
    match slot:
        case ("n",):
            return ("p",)
        case ("p",):
            return ("n",)
        case ("s", pair, side):
            return ("s", pair, "1" if side == "0" else "0")
        case _:
            return slot


class Lookup:
    """The claims by what they may be found by: a rare word, or where a claim has none, two words rare together.

    A subject that half the vault speaks of is no single word to look up by: that would be quadratic.
    """

    def __init__(self, rows: Sequence[Row]) -> None:
        self._rows = rows
        self._holders = Counter(chain.from_iterable(row.terms for row in rows))
        self._couples, self.passed_over = _couples(rows, self._holders)
        """`passed_over`: claims that others share words with, and that nothing finds."""
        self._places = self._find_places()

    def candidates(self) -> Iterator[tuple[int, int]]:
        """Pairs of rows that share what one of them is found by, of two passages, and could differ in one thing; at
        most `MOST_PAIRS`."""
        rows = self._rows
        seen: set[tuple[int, int]] = set()
        for number, row in enumerate(rows):
            couples = self._couples.get(number)
            keys, least = (self._rarest(row), 2) if couples is None else (couples, LEAST_COMMON)
            met: set[int] = set()
            for slot in row.slots:
                if slot == ("p",):
                    continue  # those that deny look for these
                for key in keys:
                    met.update(self._places.get((key, _opposite(slot)), ()))
            for other in sorted(met):
                pair = (min(number, other), max(number, other))
                if rows[other].passage != row.passage and pair not in seen and _may_agree(row, rows[other], least):
                    seen.add(pair)
                    if len(seen) >= MOST_PAIRS:
                        return
                    yield pair

    def _rarest(self, row: Row) -> list[Key]:
        held = self._holders
        return [term for _, term in sorted((held[term], term) for term in row.terms if _is_rare(held[term]))[:RAREST]]

    def _find_places(self) -> dict[tuple[Key, Slot], list[int]]:
        """Key and slot to the rows that have both. What denies nothing is listed only under words that are denied."""
        rows = self._rows
        denied = {term for row in rows if ("n",) in row.slots for term in row.terms}
        wanted = {couple for keys in self._couples.values() for couple in keys}
        parts = {term for couple in wanted for term in couple}
        places: dict[tuple[Key, Slot], list[int]] = {}
        for number, row in enumerate(rows):
            keys: list[Key] = [term for term in row.terms if _is_rare(self._holders[term])]
            for key in (*keys, *sorted(_couples_in(row, parts, wanted))):
                is_denied = denied.issuperset((key,) if isinstance(key, int) else key)
                for slot in row.slots:
                    if slot != ("p",) or is_denied:
                        places.setdefault((key, slot), []).append(number)
        return places


def _is_rare(holders: int) -> bool:
    return 2 <= holders <= MOST_HOLDERS


def _couples_in(row: Row, parts: set[int], wanted: set[Couple]) -> set[Couple]:
    """The `wanted` couples of a row's words, of which `parts` are all words."""
    return wanted.intersection(combinations([term for term in row.terms if term in parts], 2))


def _couples(rows: Sequence[Row], holders: Mapping[int, int]) -> tuple[dict[int, list[Couple]], int]:
    """For each row without a rare word the couples of its words that are rare, the rarest first; and how many rows have
    couples that others share, and none that is rare. Read over twice, as holding all couples would take too much."""
    hopeless = HOPELESS * MOST_HOLDERS * len(rows)
    wanted = {couple for row in rows for couple in _asked(row, holders, hopeless) or ()}
    parts = {term for couple in wanted for term in couple}
    counts: Counter[Couple] = Counter()
    for row in rows:
        counts.update(_couples_in(row, parts, wanted))
    found: dict[int, list[Couple]] = {}
    passed_over = 0
    for number, row in enumerate(rows):
        asked = _asked(row, holders, hopeless)
        shared = [(counts[couple], couple) for couple in asked or () if counts[couple] > 1]
        rare = sorted(each for each in shared if _is_rare(each[0]))
        if rare:
            found[number] = [couple for _, couple in rare[:RAREST]]
        passed_over += asked is None or bool(shared and not rare)
    return found, passed_over


def _asked(row: Row, holders: Mapping[int, int], hopeless: int) -> Iterable[Couple] | None:
    """Every two of the rarest words of a row without a rare one; None where even its two rarest are `hopeless`: the
    product of how often they occur says that they meet much too often."""
    held = sorted((holders[term], term) for term in row.terms if holders[term] > 1)
    if len(held) < 2 or held[0][0] <= MOST_HOLDERS:
        return ()
    if held[0][0] * held[1][0] > hopeless:
        return None
    return combinations(sorted(term for _, term in held[:RAREST]), 2)


def _may_agree(one: Row, two: Row, least: int) -> bool:
    """Whether two claims share enough words for the closer look, which costs a hundred times more."""
    shared = len(one.known.intersection(two.terms))
    both = len(one.terms) + len(two.terms) - shared
    enough = shared >= least or (least < LEAST_COMMON and both <= 3)
    return enough and shared >= LEAST_SHARED * both - 1
