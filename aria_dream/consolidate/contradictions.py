"""Which claims of a vault may contradict each other: cheap signals, no model.

Two claims are held against each other where they share a rare word, and are a conflict where at least two independent
signals say so: they speak of the same subject (a name, a title, most of their words), *and* they differ in exactly one
thing: a number, a date, a state, or that one denies what the other says. Everything else about them must agree: what
differs in two things speaks of two things. What is left out as no claim at all, `claims` says.
"""

from __future__ import annotations

from array import array
from collections import Counter, OrderedDict
from typing import TYPE_CHECKING, Final

from aria_dream.consolidate.claim_pairs import Lookup, Row, index_claims, without_prefix
from aria_dream.consolidate.claims import Claim, read_claims
from aria_dream.consolidate.opposite_words import STATES
from aria_dream.consolidate.quantities import days_differ, differ, stem
from aria_dream.consolidate.roles import names_change_places, roles_differ
from aria_dream.consolidate.translated import differ_in_two_languages
from aria_dream.consolidate.verdict import Conflict

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from aria_dream.consolidate.atoms import Atom
    from aria_dream.consolidate.claim_pairs import ClaimSketch

MOST_OF_ONE_CLAIM: Final = 3
"""A claim that conflicts with more others that differ is one of a series; so are two atoms with more between them."""
MOST_CONFLICTS: Final = 500
LIKE_OPPOSED: Final = 0.66
LIKE_MEASURED: Final = 0.5
"""Likeness from which on a denial, and a number or a date, is of the same: what measures says its subject shortly."""
NAMELY: Final = 5
"""So many shared words leave no doubt what `it` stands for."""
_CLAIMS_AT_HAND: Final = 16_000
"""Of four kilobytes each."""
_ASKED_EVERY: Final = 32
Place = tuple[int, int]
"""Number of an atom, and of the claim in it."""
_Found = tuple[float, Place, Place, Conflict]


def find_conflicts(
    atoms: Sequence[Atom],
    *,
    progress: Callable[[int, int], None] | None = None,
    sketches: Sequence[Sequence[ClaimSketch]] | None = None,
    left_out: Callable[[str], None] = lambda _said: None,
    leave: Callable[[], None] = lambda: None,
) -> tuple[Conflict, ...]:
    """What may contradict, the most alike first; at most `MOST_CONFLICTS`. Deterministic; `progress(done, total)` is
    told of atoms and may raise to end it. Near linear in the atoms: rare words are looked up, never all pairs.
    `sketches`: `sketch_claims` of each atom, where kept; then only the atoms of candidates are looked at. `left_out` is
    told in a sentence what was not looked at because it would be too much; `leave` is called between candidates and may
    raise."""
    rows = index_claims(atoms, progress, sketches)
    best: dict[tuple[int, int, int, int], _Found] = {}
    lookup = Lookup(rows)
    pairs = array("q", (one * len(rows) + two for one, two in lookup.candidates()))
    at_hand = _AtHand(atoms, (rows[row] for code in pairs for row in divmod(code, len(rows))))
    for number, code in enumerate(pairs):
        if number % _ASKED_EVERY == 0:
            leave()
        a, b = (rows[row] for row in divmod(code, len(rows)))
        first, second = at_hand.claim(a), at_hand.claim(b)
        if first is None or second is None:
            continue  # its note has changed since the sketches were made
        same_note = atoms[a.atom].path == atoms[b.atom].path
        signal = contradiction(first, second, same_note=same_note)
        if signal is not None:
            conflict = _conflict(atoms[a.atom], atoms[b.atom], first, second, signal)
            likeness = _likeness(first, second)[0]
            sentences = (a.atom, first.sentence, b.atom, second.sentence)  # a sentence and its clause say it once
            if sentences not in best or likeness > best[sentences][0]:
                best[sentences] = (likeness, (a.atom, a.claim), (b.atom, b.claim), conflict)
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
    if lookup.passed_over:
        claims = "one claim was" if lookup.passed_over == 1 else f"{lookup.passed_over:,} claims were"
        left_out(f"{claims} held against no other, as all their words stand in a great many claims")
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
    """The claims of candidates, those of an atom read together: the last ones are held, not those of a whole vault."""

    def __init__(self, atoms: Sequence[Atom], wanted: Iterable[Row]) -> None:
        self._atoms = atoms
        self._wanted: dict[int, set[int]] = {}
        for row in wanted:
            self._wanted.setdefault(row.atom, set()).add(row.claim)
        self._read: OrderedDict[Place, Claim | None] = OrderedDict()

    def claim(self, row: Row) -> Claim | None:
        """The claim of a row; None where its note has changed since."""
        return self.at((row.atom, row.claim))

    def at(self, place: Place) -> Claim | None:
        """The claim at a place of those wanted."""
        if place in self._read:
            self._read.move_to_end(place)
            return self._read[place]
        number = place[0]
        claims = read_claims(self._atoms[number])
        for order in self._wanted[number]:
            self._read[number, order] = claims[order] if order < len(claims) else None
        found = self._read[place]
        while len(self._read) > _CLAIMS_AT_HAND:
            self._read.popitem(last=False)
        return found


def contradiction(one: Claim, two: Claim, *, same_note: bool = False) -> str | None:
    """The one thing in which two claims of the same subject differ: `number`, `date`, `polarity`, `state` or `roles`;
    None where they do not, or in more than one, or speak of two things. `same_note`: an essay may state and deny; then
    only numbers and dates count."""
    return _difference(one, two, same_note=same_note) or (None if same_note else differ_in_two_languages(one, two))


def _difference(one: Claim, two: Claim, *, same_note: bool) -> str | None:
    if one.measured.designations != two.measured.designations or one.contrasts != two.contrasts:
        return None
    if _labelled(one) != _labelled(two):  # `hive two` is not `hive one`
        return None
    opposed = _opposed_words(one, two)
    if opposed & (one.context | two.context):  # `symmetric` and `asymmetric` are what the notes are about
        return None
    if same_note and (one.refers or two.refers) and one.context != two.context:
        return None
    likeness, shared = _likeness(one, two, opposed)
    if not _same_subject(one, two, likeness, shared, opposed):
        return None
    if not opposed and not same_note and roles_differ(one, two):
        return "roles"
    differing = [*_differing_numbers(one, two), *_differing_days(one, two, likeness), *_opposed(one, two, likeness)]
    if len(differing) != 1:
        return None
    (signal,) = differing
    if signal != "number" and names_change_places(one, two):
        return None
    if signal in ("polarity", "state"):
        # What `it` and `them` stand for is the same where the notes are, or nearly all of the sentence.
        refers = (one.refers or two.refers) and one.context != two.context and len(shared) < NAMELY
        vague = one.holds_of_some or two.holds_of_some or refers
        if same_note or vague or likeness < LIKE_OPPOSED or one.is_possible != two.is_possible:
            return None
    elif likeness < LIKE_MEASURED:
        return None
    return signal


def _labelled(claim: Claim) -> frozenset[str]:
    return frozenset(one.dimension for one in claim.measured.quantities if one.dimension.startswith("label "))


def _likeness(one: Claim, two: Claim, opposed: frozenset[str] = frozenset()) -> tuple[float, frozenset[str]]:
    """How much of what both say is the same, 0 to 1, and the terms that they share; `opposed` ones left out. What one
    says by its title the other may say in words."""
    a, b = set(one.terms) - opposed, set(two.terms) - opposed
    shared = a & b
    shared |= (a & two.context) if two.speaks_of_title else set()
    shared |= (b & one.context) if one.speaks_of_title else set()
    if one.speaks_of_title and two.speaks_of_title:
        shared |= one.context & two.context
    both = a | b | shared
    return len(shared) / max(1, len(both)), frozenset(shared)


def _same_subject(one: Claim, two: Claim, likeness: float, shared: frozenset[str], opposed: frozenset[str]) -> bool:
    ours, theirs = set(one.terms) - shared - opposed, set(two.terms) - shared - opposed
    if (ours & one.names and theirs & two.names) or (ours and theirs and min(len(ours), len(theirs)) > 2):
        return False
    if not (one.owned & set(one.terms) <= shared and two.owned & set(two.terms) <= shared):
        return False
    first, second = one.terms[0], two.terms[0]
    if first in ours and second in theirs and not (one.is_entry or two.is_entry):
        return False
    if first == second and one.is_scoped != two.is_scoped:  # `with the balcony the hall seats 260`
        return False
    titles_meet = bool(one.context & (two.context | set(two.terms)) or two.context & set(one.terms))
    if one.speaks_of_title or two.speaks_of_title:
        return titles_meet and _titles_agree(one, two) and len(shared) >= 2
    strong = len(shared & (one.names | two.names)) + 2 * len(shared & (one.context | two.context))
    days = len(one.measured.weekdays & two.measured.weekdays)
    strong += len(one.measured.designations)  # both have the same
    strong += one.begins_with_subject and two.begins_with_subject and first == second
    named = first == second and first in one.names & two.names
    if one.definite and two.definite and not titles_meet and not named:
        return len(shared) >= 4 and likeness >= 0.8
    if len(shared) + len(one.measured.designations) + days < 2:
        return False
    if len(shared) < 3 and not any(term.isascii() for term in shared) and all(len(term) == 2 for term in shared):
        return False  # where no spaces are written, one word of three signs is two terms
    return len(shared) + strong >= 3 if strong else likeness >= 0.75


def _titles_agree(one: Claim, two: Claim) -> bool:
    """Whether neither title has a word of its own that the other claim and its title know nothing of; or where a claim
    speaks of its title, the other one names it."""
    if one.speaks_of_title and two.speaks_of_title:
        return one.context <= two.context or two.context <= one.context
    title, words = (one.context, set(two.terms)) if one.speaks_of_title else (two.context, set(one.terms))
    return bool(title & words)


def _differing_numbers(one: Claim, two: Claim) -> Iterator[str]:
    """`number` once where exactly one dimension differs, twice where more do."""
    for dimension in sorted({quantity.dimension for quantity in one.measured.quantities}):
        ours = [quantity for quantity in one.measured.quantities if quantity.dimension == dimension]
        theirs = [quantity for quantity in two.measured.quantities if quantity.dimension == dimension]
        if len(ours) == len(theirs):
            yield from ("number" for a, b in zip(ours, theirs, strict=True) if differ(a, b))


def _differing_days(one: Claim, two: Claim, likeness: float) -> Iterator[str]:
    """`date` where the same event has two; twice, which is no conflict, where they only say when something holds."""
    if one.measured.weekdays and two.measured.weekdays and not one.measured.weekdays & two.measured.weekdays:
        yield "date"
    days, others = one.measured.days, two.measured.days
    if bool(days) != bool(others):
        if one.measured.quantities or two.measured.quantities or one.denials != two.denials or one.states != two.states:
            yield from ("date", "date")
        return
    if not days or len(days) != len(others):
        return
    differing = sum(days_differ(a, b) for a, b in zip(days, others, strict=True))
    if not differing:
        return
    if {one.tells_of_end, two.tells_of_end} == {True, False}:  # born and died
        yield from ("date", "date")
        return
    is_event = one.tells_an_event and two.tells_an_event
    if likeness == 1.0 and len(one.terms) >= 3:
        by_year = all(month is None for day in (*days, *others) for _, month, _ in day)
        is_event = is_event or by_year or one.context == two.context
    leads = one.measured.leads_with_day or two.measured.leads_with_day
    yield from ("date",) * (differing if (is_event or one.is_entry) and not leads else 2)


def _opposed(one: Claim, two: Claim, likeness: float) -> Iterator[str]:
    """`polarity` or `state` where the one denies what the other says; both at once cancel out."""
    if max(one.denials, two.denials) > 1 and (likeness < 1.0 or abs(one.denials - two.denials) > 1):
        yield from ("polarity", "polarity")
        return
    opposed = bool(_opposed_words(one, two))
    if one.denials != two.denials:
        if opposed:
            return
        denying, other = (one, two) if one.denials > two.denials else (two, one)
        said = {*other.terms, *other.tokens, *other.context, ""}
        if said.intersection(denying.denied):
            yield "polarity"
        else:
            yield from ("polarity", "polarity")
    else:
        yield from ("state",) * opposed


def _opposed_words(one: Claim, two: Claim) -> frozenset[str]:
    """The terms in which the two are opposed: `open` and `closed`, `reliable` and `unreliable`."""
    sides = {pair for pair, side in one.states.items() if two.states.get(pair, side) != side}
    found = {stem(token) for token in (one.tokens | two.tokens) & STATES.keys() if STATES[token][0] in sides}
    ours, theirs = set(one.terms) - set(two.terms), set(two.terms) - set(one.terms)
    for a in ours:
        for b in theirs:
            if b in without_prefix(a) or a in without_prefix(b):
                found |= {a, b}
    return frozenset(found)


def _conflict(first: Atom, second: Atom, one: Claim, two: Claim, signal: str) -> Conflict:
    _, shared = _likeness(one, two)
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
