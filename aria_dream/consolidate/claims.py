"""What a passage asserts, sentence by sentence: the part of its text that can contradict another's.

Left out is all that asserts nothing in the writer's own name: questions, hedges, conditions, quotes, what critics say,
struck text, tasks, tables, code, comments, headings; and whole passages under a heading that gathers arguments or tells
of other times. Doubt is no claim: a contradiction that is missed costs nothing, a false one costs attention.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import TYPE_CHECKING, Final

from aria_dream.consolidate.assertion_words import (
    ARGUING,
    ARTICLES,
    EVENTS,
    MAY,
    MODALS,
    PAST,
    PRONOUNS,
    REFERRING,
    SCOPES,
    SOME,
    VERBS,
    denials,
    has_verb,
    is_assertion,
    language_told,
    small_words,
    without_denials,
)
from aria_dream.consolidate.claim_sentences import masked_prose, sentences_in
from aria_dream.consolidate.clauses import clauses_of
from aria_dream.consolidate.japanese import without_ending
from aria_dream.consolidate.measuring import Measured, measure
from aria_dream.consolidate.quantities import plain_letters, stem
from aria_dream.consolidate.quantity_words import MONTHS, WEEKDAYS
from aria_dream.words import LANGUAGES, language_words
from aria_dream.words.opposites import BEGINNINGS, CONTRASTS, ENDINGS, STATES

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from aria_dream.consolidate.passages import Passage

LONGEST_CLAIM: Final = 400
"""Characters; a longer sentence says several things."""
MOST_CLAIMS: Final = 1_000
"""Of one passage; what follows is not looked at."""

_TOKEN = re.compile(r"[^\W\d_]+(?:[-’'][^\W\d_]+)*|[\u3041-\u30ff\u3400-\u9fff\uac00-\ud7af]+")
_UNSPACED = re.compile(r"[\u3041-\u30ff\u3400-\u9fff\uac00-\ud7af]+")
_DATED = re.compile(r"(?<!\d)(?:19|20)\d\d(?:[-_ ]?(?:w|kw|q)\d|[-_]?[01]\d[-_]?[0-3]\d)?(?!\d)")
_LETTERED = re.compile(r"(?<=[^\W\d_] )[A-HJ-Z](?=[\s,;:)]|$)")
"""What tells `Hall A` from `Hall B`."""
_STOP = re.compile(r"[.!。！][\"”’)\]»」』]*\s*$")
_ENTRY = re.compile(r"\W{0,3}[^\W\d][^:.!?\n]{1,40}?\W{0,3}::?\s+\S[^:]{0,80}$")
_SWITCHED = re.compile(r"\b(?:on|off)(?=\s*(?:[.,;:!)]|$|by default\b|at night\b|during\b|when\b|in production\b))")
_SHORT: frozenset[str] = frozenset().union(*(language_words(code).short for code in LANGUAGES))
_POLITE = _SHORT.difference(("uma", "do", "sin", "don", "will", "may", "mas", "dos", "sera", "lei")).union(
    ("ihnen", "ihre", "ihrem", "ihren", "ihrer", "ihres", "deine", "euch", "there", "here", "what", "when", "where"),
)
"""Small words that are written with a capital for other reasons than that they name."""
_EVENTS = frozenset(map(stem, EVENTS))
_OWNED = re.compile(
    r"(?<!\bit)(?<!\bhe)(?<!\bshe)(?<!\bthat)(?<!\bthere)(?<!\bhere)(?<!\bwho)(?<!\bwhat)(?<!\blet)['’]s\s+([^\W\d_]+)"
    r"|s['’]\s+([^\W\d_]+)"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Claim:
    """One sentence, or clause, that asserts something, and what it can be held against."""

    text: str
    """As written."""
    start: int
    """Offset in characters of the passage's text."""
    sentence: int
    """Of the sentence that it is, or is a clause of."""
    terms: tuple[str, ...]
    """Stems of its words of content, in order, once each; numbers, dates and small words left out."""
    written: Mapping[str, str]
    """Term to the word as written."""
    names: frozenset[str]
    """Terms that name: capitals where no sentence begins, abbreviations."""
    context: frozenset[str]
    """Terms of the note's title and of the headings above."""
    is_aside: bool = False
    """Its note's title says that it gathers arguments or tells of other times: only a sentence in the same words may
    contradict it."""
    title_days: frozenset[str] = frozenset()
    """Days and years in its note's title."""
    measured: Measured
    words: tuple[str, ...]
    """Its words in plain letters, in order, without numbers and dates."""
    tokens: frozenset[str]
    """The same as a set, what a hyphen joins taken apart too."""
    denied: tuple[str, ...]
    """The first terms behind each word that denies."""
    denials: int
    refers: bool
    """It says `them`, `it`, `those` of something that stands in another sentence."""
    speaks_of_title: bool
    """It begins with a pronoun, or is an entry (`Founded: 1998`): its subject is the note's."""
    definite: bool
    """It begins with `the`, `our` … in a note that speaks of its title: its subject may be the note's."""
    begins_with_subject: bool
    """Its first word is its first term: no article, no preposition."""
    is_scoped: bool
    """It begins with what it holds with, without or for: `With the balcony …`."""
    owned: frozenset[str]
    """What a possessive says that it speaks of: `bike` of `Ben's bike`."""
    is_possible: bool
    """It says `can` or `may`: what is possible or permitted, not what is."""
    is_entry: bool
    holds_of_some: bool
    """`most`, `often`, or a valuation: denial contradicts nothing."""
    tells_an_event: bool

    @property
    def contrasts(self) -> frozenset[str]:
        """What tells its subject from a neighbour: `second`, `north`, `old`."""
        return self.tokens & CONTRASTS

    @property
    def tells_of_end(self) -> bool | None:
        """Whether it tells how something ended; False where how it began, None where neither or both."""
        begins, ends = not self.tokens.isdisjoint(BEGINNINGS), not self.tokens.isdisjoint(ENDINGS)
        return None if begins == ends else ends

    @property
    def states(self) -> dict[int, int]:
        """Pair of opposite states to the side that is said; a pair of which both are said is left out."""
        found: dict[int, set[int]] = {}
        for token in self.tokens & STATES.keys():
            pair, side = STATES[token]
            found.setdefault(pair, set()).add(side)
        return {pair: next(iter(sides)) for pair, sides in found.items() if len(sides) == 1}


def read_claims(passage: Passage) -> tuple[Claim, ...]:
    """The claims of a passage, in order; empty where its title gathers arguments or it is dated. Linear in its
    length.
    """
    titles = [_title(passage.path), *passage.headings]
    if any(is_apart(heading) for heading in passage.headings):
        return ()
    is_aside, title_days = is_apart(titles[0]), frozenset(_DATED.findall(plain_letters(titles[0])))
    if is_aside and not title_days and not _is_gathering(titles[0]):
        return ()  # a day told in words
    masked = masked_prose(passage.text)
    spoken = plain_letters(masked)
    language = language_told(spoken) or language_told("\n".join(titles))
    speaks = any(term in spoken for term in _words(titles[0], language)[0] if len(term) > 2)
    claims: list[Claim] = []
    for start, end, headings in sentences_in(masked):
        if any(is_apart(heading) for heading in headings):
            continue
        said = masked[start:end]
        if not is_assertion(plain_letters(_shown(said))):
            continue
        for first, last in ((0, end - start), *clauses_of(said)):
            claim = _claim(
                passage.text[start + first : start + last],
                said[first:last],
                start + first,
                start,
                [*titles, *headings],
                speaks=speaks or first > 0,
                language=language,
            )
            if claim is not None:
                claims.append(replace(claim, is_aside=is_aside, title_days=title_days) if is_aside else claim)
        if len(claims) >= MOST_CLAIMS:
            break
    return tuple(claims[:MOST_CLAIMS])


def is_apart(title: str) -> bool:
    """Whether what stands under this title or heading is no plain statement of now: arguments, quotes, logs, a day."""
    if _is_gathering(title):
        return True
    plain = plain_letters(title)
    measured = measure(title)
    dated = any(month is not None for day in measured.days for _, month, _ in day)
    return bool(measured.weekdays) or dated or bool(_DATED.search(plain))


def _is_gathering(title: str) -> bool:
    plain = plain_letters(title)
    return plain.rstrip().endswith("?") or ARGUING.found_in(plain) or PAST.found_in(plain)


def _title(path: str) -> str:
    return re.sub(r"(?i)\.md$", "", path.rpartition("/")[2])


def _shown(masked: str) -> str:
    return masked.replace("\0", "").replace("\x01", " ")


def _claim(
    text: str,
    masked: str,
    start: int,
    sentence: int,
    titles: list[str],
    *,
    speaks: bool,
    language: str | None,
) -> Claim | None:
    """The claim that a sentence or clause makes. `speaks`: `the` may mean what the note or sentence is about."""
    if len(text) > LONGEST_CLAIM:
        return None
    code = frozenset(text[found.start() : found.end()] for found in re.finditer("\x01+", masked))
    code |= frozenset(found[0] for found in _LETTERED.finditer(text))
    shown = _shown(masked)
    plain = plain_letters(shown)
    tokens = frozenset(part for token in _TOKEN.findall(plain) for part in (token, *re.split(r"[-’']", token)))
    if not _SWITCHED.search(plain):
        tokens -= {"on", "off"}  # `on the right`, `off to the right`
    is_entry = bool(_ENTRY.fullmatch(shown.strip()))
    is_label = not (is_entry or _STOP.search(shown) or has_verb(tokens) or _UNSPACED.search(shown))
    if is_label:
        return None
    measured = measure(shown)
    written, names = _words(without_denials(without_ending(measured.rest)), language)
    if not written:
        return None
    first, second, *_ = (*(re.split(r"[’']", token)[0] for token in _TOKEN.findall(plain)[:2]), "", "")
    is_pronoun = first in PRONOUNS and (first not in ARTICLES or second in VERBS)  # French `il est`, Italian `il museo`
    behind = [next(iter(_words(plain[at:], language)[0]), "") for at in denials(plain)]
    return Claim(
        text=text,
        start=start,
        sentence=sentence,
        terms=tuple(written),
        written=written,
        names=names,
        context=frozenset(term for title in titles for term in _title_terms(title, language)),
        measured=replace(measured, designations=measured.designations | code) if code else measured,
        words=tuple(_TOKEN.findall(plain_letters(measured.rest))),
        tokens=tokens,
        denied=tuple(behind),
        denials=len(behind),
        refers=bool((tokens - {first}) & REFERRING),
        speaks_of_title=is_pronoun or is_entry,
        definite=first in ARTICLES and speaks,
        begins_with_subject=stem(first) == next(iter(written)),
        is_scoped=first in SCOPES,
        owned=frozenset(stem(one or two) for one, two in _OWNED.findall(plain)),
        is_possible=not MODALS.isdisjoint(tokens) or MAY.search(plain) is not None,
        is_entry=is_entry,
        holds_of_some=SOME.found_in(plain),
        tells_an_event=not _EVENTS.isdisjoint(map(stem, tokens))
        or any(sign in plain for sign in ("成立", "出生", "去世", "发布", "建成")),
    )


@lru_cache(maxsize=1 << 10)
def _title_terms(title: str, language: str | None) -> frozenset[str]:
    return frozenset(_words(title, language)[0])


def _words(text: str, language: str | None) -> tuple[dict[str, str], frozenset[str]]:
    """Terms of `text` with the word each was, and those among them that are names; without the small words of its
    language."""
    small = small_words(language)
    written: dict[str, str] = {}
    names: set[str] = set()
    begins = True
    tokens = list(_TOKEN.finditer(text))
    for at, found in enumerate(tokens):
        token = found[0]
        if _UNSPACED.match(token):
            for sign in range(max(1, len(token) - 1)):
                written.setdefault(token[sign : sign + 2], token[sign : sign + 2])
            begins = False
            continue
        for part in re.split(r"[’'-]", token):
            plain = plain_letters(part)
            is_name = part[1:] != part[1:].lower() or (part[:1].isupper() and not begins)
            begins = False
            if len(plain) < 2 or plain in WEEKDAYS or (plain in MONTHS and part[:1].isupper()):
                continue
            if plain in small and not (is_name and (part.isupper() or _is_called(text, tokens, at))):
                continue
            term = stem(plain)
            written.setdefault(term, part)
            if is_name:
                names.add(term)
    return written, frozenset(names)


def _is_called(text: str, tokens: Sequence[re.Match[str]], at: int) -> bool:
    """Whether a word that is a small one in some language is a name here: `the flat of Uma`."""
    word, before, behind = tokens[at], tokens[at - 1], tokens[at + 1 : at + 2]
    if plain_letters(word[0]) in _POLITE or text[before.end() : word.start()].strip(" "):
        return False
    return before[0][:1].islower() and all(one[0][:1].islower() for one in behind)
