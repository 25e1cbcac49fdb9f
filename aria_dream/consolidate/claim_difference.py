"""In which one thing two claims of the same subject differ, so that both cannot hold.

Everything else about them must agree: what differs in two things speaks of two things.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from aria_dream.consolidate.assertion_words import language_told, small_words
from aria_dream.consolidate.claim_pairs import without_prefix
from aria_dream.consolidate.quantities import days_differ, differ, stem
from aria_dream.consolidate.roles import names_change_places, roles_differ
from aria_dream.consolidate.translated import differ_in_two_languages
from aria_dream.words.opposites import STATES

if TYPE_CHECKING:
    from collections.abc import Iterator

    from aria_dream.consolidate.claims import Claim

LIKE_OPPOSED: Final = 0.66
LIKE_MEASURED: Final = 0.5
"""Likeness from which on a denial, and a number or a date, is of the same: what measures says its subject shortly."""
TOLD_ALIKE: Final = 4
"""So many words of content make two equal sentences one that is told twice, whatever their notes are called."""
NAMELY: Final = 5
"""So many shared words leave no doubt what `it` stands for."""


def contradiction(one: Claim, two: Claim, *, same_note: bool = False) -> str | None:
    """The one thing in which two claims of the same subject differ: `number`, `date`, `polarity`, `state` or `roles`;
    None where they do not, or in more than one, or speak of two things. `same_note`: an essay may state and deny; then
    only numbers and dates count."""
    return _difference(one, two, same_note=same_note) or (None if same_note else differ_in_two_languages(one, two))


def _difference(one: Claim, two: Claim, *, same_note: bool) -> str | None:
    if one.measured.designations != two.measured.designations or one.contrasts != two.contrasts:
        return None
    if (one.is_aside or two.is_aside) and not _told_alike(one, two):
        return None
    if _labelled(one) != _labelled(two):  # `hive two` is not `hive one`
        return None
    opposed = _opposed_words(one, two)
    if opposed & (one.context | two.context):  # `symmetric` and `asymmetric` are what the notes are about
        return None
    if same_note and (one.refers or two.refers) and one.context != two.context:
        return None
    likeness, shared = likeness_of(one, two, opposed)
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
        clear = not same_note and likeness >= LIKE_OPPOSED and _can_be_opposed(one, two, shared, signal)
        return signal if clear else None
    return signal if likeness >= LIKE_MEASURED and not _names_another(one, two) else None


def _told_alike(one: Claim, two: Claim) -> bool:
    """Whether two sentences name their subject themselves, in the same words: the titles of their notes say nothing
    more then. Of two dated notes each tells of its own time."""
    if one.title_days and two.title_days and one.title_days != two.title_days:
        return False
    if one.speaks_of_title or two.speaks_of_title or one.denials != two.denials:
        return False
    return one.terms == two.terms and len(one.terms) >= TOLD_ALIKE


def _names_another(one: Claim, two: Claim) -> bool:
    """Whether two sentences are the same word for word but for figures and one word behind an article or preposition:
    `in the cellar`, `in the garden`. They speak of two things, each with a figure of its own."""
    ours, theirs = one.words, two.words
    places = [at for at, (a, b) in enumerate(zip(ours, theirs, strict=False)) if a != b]
    if len(ours) != len(theirs) or len(places) != 1 or not places[0]:
        return False
    (place,) = places
    small = small_words(language_told(" ".join(ours)))
    return ours[place - 1] in small and stem(ours[place]) != stem(theirs[place])


def _can_be_opposed(one: Claim, two: Claim, shared: frozenset[str], signal: str) -> bool:
    """Whether the one denies what the other says: neither speaks of some, or of what stands elsewhere."""
    if one.is_possible != two.is_possible or (signal == "state" and one.is_possible):
        return False  # what may be open may be closed
    # What `it` and `them` stand for is the same where the notes are, or nearly all of the sentence.
    refers = (one.refers or two.refers) and one.context != two.context and len(shared) < NAMELY
    return not (one.holds_of_some or two.holds_of_some or refers)


def _labelled(claim: Claim) -> frozenset[str]:
    return frozenset(one.dimension for one in claim.measured.quantities if one.dimension.startswith("label "))


def likeness_of(one: Claim, two: Claim, opposed: frozenset[str] = frozenset()) -> tuple[float, frozenset[str]]:
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
