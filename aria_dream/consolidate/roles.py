"""Who does what to whom: two claims that say the same of the same two with their roles exchanged.

Most of what two can do to each other both can do at once, or in turn: they marry, meet, call, help, admire. So only
relations are looked at that hold in one direction alone, and a relation that is not known is none.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from aria_dream.consolidate.assertion_words import language_told, small_words
from aria_dream.consolidate.quantities import plain_letters, stem
from aria_dream.words import words_in

if TYPE_CHECKING:
    from collections.abc import Iterable

    from aria_dream.consolidate.claims import Claim

Skeleton = tuple[str, ...]
_WORD: Final = re.compile(r"[^\W\d_]+")
_NAME: Final = ""
"""Stands for a name in a skeleton."""


def _stems(*rows: str) -> frozenset[str]:
    return frozenset(map(stem, words_in(*rows)))


_ONE_WAY: Final = _stems(
    """employs employed hires hired fires fired leads led manages managed supervises supervised reports directs directed
    commands commanded owns owned bought buys acquired acquires sold sells beat beats defeated defeats conquered
    mother father parent son daughter child grandmother grandfather grandson granddaughter aunt uncle nephew niece
    ancestor descendant mentors mentored taught teaches tutor teacher pupil apprentice boss assistant deputy landlord
    tenant subsidiary supplier customer precedes preceded follows followed succeeded succeeds replaced replaces
    inherits inherited invented discovered founded founds created built wrote painted composed designed directed
    contains includes contained depends orbits orbit moon capital pays owes owed lends lent rents rented sponsors
    funds funded borrowed borrows murdered killed adopted older younger taller shorter larger smaller bigger higher
    lower heavier lighter faster slower earlier later north south east west above below upstream downstream
    beschaftigt leitet fuhrt besitzt kaufte gekauft verkaufte verkauft besiegt besiegte schlagt schlug mutter vater
    sohn tochter kind enkel enkelin tante onkel neffe nichte chef chefin lehrt lehrer lehrerin schuler schulerin
    vermietet untersteht folgt ersetzt erbte erfand entdeckte grundete baute schrieb enthalt umfasst hauptstadt
    bezahlt zahlt schuldet leiht lieh alter junger grosser kleiner hoher schwerer leichter schneller nordlich sudlich
    ostlich westlich gehort mietet
    emploie dirige possede achete vendu vend battu bat mere pere fils fille enfant tante oncle neveu niece enseigne
    remplace precede suit herite invente fonde construit ecrit contient capitale paie doit prete loue adopte
    emplea dirige posee compro compra vendio vende vencio vence madre padre hijo hija abuelo abuela tio tia sobrino
    sobrina ensena reemplaza precede sigue hereda invento fundo construyo escribio contiene capital paga debe presta
    alquila adopto impiega possiede comprato vende sconfitto figlio figlia nonno nonna zio zia insegna sostituisce
    eredita fondato scrisse contiene capitale deve presta affitta leidt bezit kocht verkocht versloeg moeder vader zoon
    dochter leert vervangt volgt erfde stichtte schreef bevat hoofdstad betaalt verhuurt huurt"""
)
"""What holds in one direction: if Ada employs Ben, Ben does not employ Ada."""
_REPEATED: Final = _stems(
    """beat beats defeated defeats bought buys sold sells pays lent lends borrowed borrows follows followed kaufte
    gekauft verkaufte verkauft besiegt besiegte schlagt schlug bezahlt zahlt leiht lieh folgt achete vendu vend battu
    bat paie prete suit compro compra vendio vende vencio vence paga presta sigue comprato sconfitto kocht verkocht
    versloeg betaalt volgt"""
)
"""What happens more than once, with other roles each time: only of one occasion is it a contradiction."""
_EITHER_WAY: Final = words_in(
    "and or with und oder mit et ou avec y o u con e ed ne nor each other einander mutually gegenseitig both beide",
    "deux ambos entrambi also too auch aussi tambien anche sometimes once again then turn",
)
"""With these the two may have said both."""
_WAYS: Final = ({"from", "to"}, {"von", "nach"}, {"von", "bis"}, {"van", "naar"}, {"between"}, {"zwischen"})
"""What leads from one to the other leads back."""


def tells_roles(tokens: Iterable[str]) -> bool:
    """Whether the words of a claim name a relation that holds in one direction."""
    return not _ONE_WAY.isdisjoint(map(stem, tokens))


def roles_differ(one: Claim, two: Claim) -> bool:
    """Whether two claims say the same of the same two, their roles exchanged, and nothing else is different."""
    ours, theirs = one.measured, two.measured
    apart = (ours.days, ours.weekdays, ours.quantities) != (theirs.days, theirs.weekdays, theirs.quantities)
    vague = one.holds_of_some or two.holds_of_some or one.refers or two.refers
    if vague or apart or set(one.terms) != set(two.terms) or one.denials != two.denials:
        return False
    return roles_exchanged(one.text, two.text, one.names | two.names, dated=bool(ours.days))


def names_change_places(one: Claim, two: Claim) -> bool:
    """Whether the names that both claims have stand in another order: `Ben does not employ Ada`, `Ada employs Ben`."""
    names = (one.names | two.names).intersection(one.terms, two.terms)
    return [term for term in one.terms if term in names] != [term for term in two.terms if term in names]


def roles_exchanged(one: str, two: str, names: frozenset[str], *, dated: bool = False) -> bool:
    """Whether two sentences are word for word the same but for two of `names` (stems), which have changed places around
    a relation that holds in one direction alone. `dated`: both tell of the same day."""
    (first, ours), (second, theirs) = _skeleton(one, names), _skeleton(two, names)
    if first != second or len(ours) != len(theirs):
        return False
    moved = [(a, b) for a, b in zip(ours, theirs, strict=True) if a != b]
    if len(moved) != 2 or moved[0] != moved[1][::-1]:
        return False
    around = [word for word in first if word != _NAME]
    if not tells_roles(around) or not _EITHER_WAY.isdisjoint(around) or any(way <= set(around) for way in _WAYS):
        return False
    relations = {stem(word) for word in around} & _ONE_WAY
    small = small_words(language_told(f"{one} {two}"))
    told = {stem(word) for word in around if word not in small} - relations
    return bool(relations - _REPEATED or told or dated or len(ours) > len(moved))


def _skeleton(text: str, names: frozenset[str]) -> tuple[Skeleton, tuple[Skeleton, ...]]:
    """The words with each name, of however many words, as one sign; and the names."""
    words: list[str] = []
    found: list[tuple[str, ...]] = []
    for word in _WORD.findall(plain_letters(text)):
        if stem(word) not in names:
            words.append(word)
        elif words and words[-1] == _NAME:
            found[-1] = (*found[-1], stem(word))
        else:
            words.append(_NAME)
            found.append((stem(word),))
    return tuple(words), tuple(found)
