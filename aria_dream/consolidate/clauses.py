"""The clauses of a sentence that says several things, each a statement of its own.

A clause is cut off only where it stands on its own feet: a subject and a verb, joined by "and" or "but". Nothing is cut
where the sentence begins with a time, a place or a condition, which may hold for all of it.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from aria_dream.consolidate.assertion_words import PRONOUNS, VERBS, has_verb
from aria_dream.consolidate.quantities import plain_letters
from aria_dream.words import words_in

if TYPE_CHECKING:
    from collections.abc import Iterator

LONGEST_SENTENCE: Final = 1_200
"""Characters; a longer one is no sentence."""
_JOINT: Final = re.compile(
    r"(?<!\s)\s*[,\uff0c]\s+(?:and|but|und|aber|et|mais|y|pero|e|ma|en|maar|i|a|ale)\s+|(?<!\s)\s+(?:and|und|et|y|en)\s+|;\s+"
)
_CAUSE: Final = re.compile(
    r"^\W*(?:because|since it|as it|weil|da|parce que|puisque|comme|porque|como|perche|poiche|omdat)\b.*,\s+(?=[^,]+$)"
)
"""A cause restricts nothing: what it is the cause of stands on its own."""
_WORD: Final = re.compile(r"[^\W\d_]+(?:['\u2019][^\W\d_]+)*")


_MORE_VERBS: Final = VERBS | words_in(
    """sleeps seats carries reaches covers listens exports imports produces sells buys owns employs leads manages
    teaches speaks plays eats drinks drives rides grows flows burns melts boils freezes lasts weighs counts includes
    excludes belongs depends consists comprises remains stays serves connects ships sends receives returns pays earns
    charges saves reads writes loads boots persists expires renews covers protects kills causes prevents heals blooms
    flowers sheds breeds hibernates migrates lays feeds faces crosses links separates divides joins leaves arrives
    departs stops reaches died lived built founded wrote bought sold won lost married moved joined left became began
    schlaft fasst tragt fuhrt wachst fliesst brennt schmilzt siedet kocht friert wohnt arbeitet spricht spielt isst
    trinkt fahrt kauft verkauft besitzt beschaftigt leitet gehort umfasst bleibt zahlt verdient kommt geht halt
    vit travaille parle joue mange boit roule pousse coule brule fond achete vend possede emploie dirige appartient
    comprend reste paie gagne vient va tient compte vive trabaja habla juega come bebe crece fluye compra vende posee
    emplea dirige pertenece incluye queda paga gana viene va sirve lavora parla gioca mangia beve cresce compra vende
    possiede impiega appartiene comprende resta guadagna viene serve woont werkt spreekt speelt eet drinkt groeit
    koopt verkoopt bezit behoort blijft betaalt verdient komt gaat"""
)
_DEPENDENT: Final = words_in(
    """not never no none so then also thus therefore hence yet still only even just otherwise instead which who whom
    whose that where when while because since as than if unless until before after although though like both either
    neither in on at by for from with without of to during between among under over about into per via when once
    in im am an auf bei mit von vom zu zum zur nach seit vor wahrend fur ohne um durch gegen unter uber als wenn falls
    weil da dass wer wo wie was nicht nie dann also deshalb sonst auch nur sogar
    dans en sur avec sans pour par depuis pendant avant apres chez entre sous vers qui que quand lorsque si comme dont
    ou ne pas puis donc ainsi aussi seulement con sin por para desde durante antes despues entre sobre cuando donde
    cual cuyo no nunca luego entonces tambien solo nel nella negli con senza per da dal durante prima dopo tra fra su
    quando dove cui non mai poi quindi anche solo met zonder voor door sinds tijdens na tussen onder op bij wanneer
    waar die niet nooit dan dus ook alleen"""
)
"""A clause that begins so depends on another, or says when, where and how what follows holds."""
_PERSONS: Final = words_in("i we you he she they ich wir du er je tu nous vous ils elles il ik wij zij")
"""What stands behind these is a verb, whichever it is."""
_ELSEWHERE: Final = _DEPENDENT | (PRONOUNS - words_in("dies der die das le la les il lo"))
"""The subject of a clause that begins so stands in another."""


def clauses_of(sentence: str) -> Iterator[tuple[int, int]]:
    """Start and end of each clause of a sentence that stands on its own, in order; nothing where it has only one."""
    if len(sentence) > LONGEST_SENTENCE:
        return
    plain = plain_letters(sentence)
    if len(plain) != len(sentence):
        return
    cause = _CAUSE.match(plain)
    if cause is not None and _is_clause(sentence, plain, cause.end(), len(plain)):
        yield cause.end(), len(plain)
        return
    if _first_word(plain) in _DEPENDENT:
        return
    start, parts = 0, []
    for joint in _JOINT.finditer(plain):
        if _is_clause(sentence, plain, start, joint.start()) and _is_clause(sentence, plain, joint.end(), len(plain)):
            parts.append((start, joint.start()))
            start = joint.end()
    if parts:
        yield from parts
        yield start, len(plain)


def _first_word(plain: str) -> str:
    found = _WORD.search(plain)
    return re.split(r"['\u2019]", found[0])[0] if found else ""


def _is_clause(sentence: str, plain: str, start: int, end: int) -> bool:
    """Whether a subject and, behind it, a verb stand there; the first clause may begin with a pronoun of its own."""
    words = [found[0] for found in _WORD.finditer(plain, start, end)]
    if len(words) < 3 or (start and _first_word(plain[start:end]) in _ELSEWHERE):
        return False
    if words[0] in _MORE_VERBS and not sentence[start : start + 1].isupper():
        return False  # "… opens at 8 and closes at 6": the subject is the first one's
    past = any(word.endswith("ed") and len(word) > 4 for word in words[1:])
    return past or words[0] in _PERSONS or has_verb(words[1:], _MORE_VERBS)
