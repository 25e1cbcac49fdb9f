"""Which claims of a vault may contradict each other: cheap signals, no model.

Two claims are held against each other where they share a rare word, and are a conflict where at least two independent
signals say so: they speak of the same subject (a name, a title, most of their words), *and* they differ in exactly one
thing: a number, a date, a state, who does it to whom, or that one denies what the other says. `claim_difference` holds
two against each other; what is left out as no claim at all, `claims` says.
"""

from __future__ import annotations

from array import array
from collections import Counter, OrderedDict
from typing import TYPE_CHECKING, Final

from aria_dream.consolidate.claim_difference import contradiction, likeness_of
from aria_dream.consolidate.claim_pairs import Lookup, Row, index_claims
from aria_dream.consolidate.claims import Claim, read_claims
from aria_dream.consolidate.verdict import Conflict

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from aria_dream.consolidate.claim_pairs import ClaimSketch
    from aria_dream.consolidate.passages import Passage

MOST_OF_ONE_CLAIM: Final = 3
"""A claim that conflicts with more others that differ is one of a series; so are two passages with more between
them."""
MOST_CONFLICTS: Final = 500
_CLAIMS_AT_HAND: Final = 16_000
"""Of four kilobytes each."""
_ASKED_EVERY: Final = 32
Place = tuple[int, int]
"""Number of a passage, and of the claim in it."""
_Found = tuple[float, Place, Place, Conflict]


def find_conflicts(
    passages: Sequence[Passage],
    *,
    progress: Callable[[int, int], None] | None = None,
    sketches: Sequence[Sequence[ClaimSketch]] | None = None,
    left_out: Callable[[str], None] = lambda _said: None,
    permit: Callable[[], None] = lambda: None,
) -> tuple[Conflict, ...]:
    """What may contradict, the most alike first; at most `MOST_CONFLICTS`. Deterministic; `progress(done, total)` is
    told of passages and may raise to end it. Near linear in them: rare words are looked up, never all pairs.
    `sketches`: `sketch_claims` of each passage, where kept; then only the passages of candidates are looked at.
    `left_out` is told in a sentence what was not looked at because it would be too much; `leave` is called between
    candidates and may raise."""
    rows = index_claims(passages, progress, sketches)
    best: dict[tuple[int, int, int, int], _Found] = {}
    lookup = Lookup(rows)
    pairs = array("q", (one * len(rows) + two for one, two in lookup.candidates()))
    at_hand = _AtHand(passages, (rows[row] for code in pairs for row in divmod(code, len(rows))))
    for number, code in enumerate(pairs):
        if number % _ASKED_EVERY == 0:
            permit()
        a, b = (rows[row] for row in divmod(code, len(rows)))
        first, second = at_hand.claim(a), at_hand.claim(b)
        if first is None or second is None:
            continue  # its note has changed since the sketches were made
        same_note = passages[a.passage].path == passages[b.passage].path
        signal = contradiction(first, second, same_note=same_note)
        if signal is not None:
            conflict = _conflict(passages[a.passage], passages[b.passage], first, second, signal)
            likeness = likeness_of(first, second)[0]
            sentences = (a.passage, first.sentence, b.passage, second.sentence)  # a sentence and its clause say it once
            if sentences not in best or likeness > best[sentences][0]:
                best[sentences] = (likeness, (a.passage, a.claim), (b.passage, b.claim), conflict)
    found = list(best.values())
    others: dict[Place, set[str]] = {}
    for _, one_place, two_place, conflict in found:
        others.setdefault(one_place, set()).add(conflict.second_claim)
        others.setdefault(two_place, set()).add(conflict.first_claim)
    between = Counter((one_place[0], two_place[0]) for _, one_place, two_place, _ in found)
    kept = [
        each
        for each in sorted(found, key=lambda each: (-each[0], each[1], each[2]))
        if max(len(others[each[1]]), len(others[each[2]]), between[each[1][0], each[2][0]]) <= MOST_OF_ONE_CLAIM
    ]
    once = _told_once(kept, at_hand)
    if lookup.passed_over == 1:
        left_out("one claim was compared with no other, as its words are too common in this vault")
    elif lookup.passed_over:
        count = f"{lookup.passed_over:,}"
        left_out(f"{count} claims were compared with no others, as their words are too common in this vault")
    if len(once) > MOST_CONFLICTS:
        left_out(f"of {len(once):,} contradictions only the {MOST_CONFLICTS} most alike were looked at")
    return tuple(conflict for *_, conflict in once[:MOST_CONFLICTS])


def _told_once(found: Sequence[_Found], at_hand: _AtHand) -> list[_Found]:
    """One conflict for a claim and all that say the same against it: whoever settles it has settled them all."""
    kept: list[_Found] = []
    against: dict[Place, list[Place]] = {}
    for each in found:
        _, one, two, _ = each
        agreeing = any(
            _agree(at_hand, known, other)
            for claim, other in ((one, two), (two, one))
            for known in against.get(claim, ())
        )
        if not agreeing:
            kept.append(each)
            against.setdefault(one, []).append(two)
            against.setdefault(two, []).append(one)
    return kept


def _agree(at_hand: _AtHand, known: Place, other: Place) -> bool:
    one, two = at_hand.at(known), at_hand.at(other)
    return one is not None and two is not None and contradiction(one, two) is None


class _AtHand:
    """The claims of candidates, those of a passage read together: the last ones are held, not those of a whole
    vault.
    """

    def __init__(self, passages: Sequence[Passage], wanted: Iterable[Row]) -> None:
        self._passages = passages
        self._wanted: dict[int, set[int]] = {}
        for row in wanted:
            self._wanted.setdefault(row.passage, set()).add(row.claim)
        self._read: OrderedDict[Place, Claim | None] = OrderedDict()

    def claim(self, row: Row) -> Claim | None:
        """The claim of a row; None where its note has changed since."""
        return self.at((row.passage, row.claim))

    def at(self, place: Place) -> Claim | None:
        """The claim at a place of those wanted."""
        if place in self._read:
            self._read.move_to_end(place)
            return self._read[place]
        number = place[0]
        claims = read_claims(self._passages[number])
        for order in self._wanted[number]:
            self._read[number, order] = claims[order] if order < len(claims) else None
        found = self._read[place]
        while len(self._read) > _CLAIMS_AT_HAND:
            self._read.popitem(last=False)
        return found


def _conflict(first: Passage, second: Passage, one: Claim, two: Claim, signal: str) -> Conflict:
    _, shared = likeness_of(one, two)
    written = {**two.written, **one.written}
    named = sorted(shared, key=lambda term: (term not in (one.names | two.names), _place(one, term), term))
    return Conflict(
        first=first,
        second=second,
        subject=" ".join(written.get(term, term) for term in named[:5]),
        first_claim=one.text,
        second_claim=two.text,
        signals=("subject", signal),
    )


def _place(claim: Claim, term: str) -> int:
    return claim.terms.index(term) if term in claim.terms else len(claim.terms)
