"""The names of a vault's notes as they stand in prose: of two that overlap the longer one is meant.

In "a sourdough starter" the note *Starter* is not named where there is a note *Sourdough starter*, whoever may see it;
in 东京都 the note 京都 is not. A name of one word says little where the word is used as a common one.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from typing import TYPE_CHECKING, Final

from aria_dream.ranking.function_words import divides, language_of
from aria_dream.ranking.terms import spanned_terms, term_ids, words
from aria_dream.words import language_words

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

_MOST_TERMS: Final = 12
_TIMES: Final = 2
"""Uses of a word from which a text speaks of it."""
_AROUND: Final = 120
_STOP: Final = re.compile(r"[.!?;:\u3002\uff01\uff1f\uff1b\uff1a](?:\s|$)|\n[ \t]*\n|\|")
_UNSPACED: Final = re.compile(
    "[\u0e01-\u0eff\u1000-\u109f\u1780-\u17ff\u3041-\u30ff\u3400-\u9fff\uac00-\ud7af\uf900-\ufaff]"
)
_NEXT_WORD: Final = re.compile(r"[ \u00a0]([^\W\d_]+)")
_VERB_OR_ADVERB: Final = re.compile(
    r"[a-z]{2,}[^\We]ed\b|[a-z]{3,}(?:al|ful|[ktdwrsnev])ly\b"
    r"|[a-z]{2,}[^\Wsui]s(?= (?:the|an?|my|your|his|her|its|our|their|it|me|us|them|him|this|that|these|those)\b)"
)
"""English words that are surely no noun: `boiled`, `slowly`, `needs` before `the jar`."""
_MAY_BE_VERB: Final = re.compile(r"[a-z]{2,}[^\Wsui]s\b")
_ENGLISH_LETTERS: Final = re.compile("[A-Za-z\u00c0-\u024f]")
_KOREAN_PARTICLE: Final = re.compile("[은는이가을를의에도만와과로]|으로|까지|부터|처럼|보다|에서|에게|한테|이다|입니다")
_HANGUL: Final = re.compile("[\uac00-\ud7af]")
_HIRAGANA: Final = re.compile("[\u3041-\u309f]")
_QUOTES: Final = (
    ("\u201c", "\u201d"), ("\u201e", "\u201c"), ("\u00ab", "\u00bb"), ("\u00bb", "\u00ab"), ("\u300c", "\u300d"),
    ("\u300e", "\u300f"), ('"', '"'),
)  # fmt: skip
_SENTENCE_START: Final = re.compile(
    r"(?:^|[.!?:\u2026][\"')\]\u201d\u00bb]*\s|\n)[\s>*_#+\u2022\"'(\[\u201c\u201e\u00ab-]*(?:\d+[.)]\s+)?$"
)


class NameStore:
    """All names, titles and aliases, that the notes of a vault bear."""

    __slots__ = ("_names",)

    def __init__(self, names: Iterable[str]) -> None:
        told = (tuple(term_ids(name)) for name in names)
        self._names = frozenset(terms for terms in told if 1 < len(terms) <= _MOST_TERMS)

    def is_part(self, text: str, start: int, end: int) -> bool:
        """Whether the name at `text[start:end]` stands inside a longer one, in whatever case, number or hyphenation."""
        if not self._names:
            return False
        first, last = max(0, start - _AROUND), end + _AROUND
        first = max((first, *(found.end() for found in _STOP.finditer(text, first, start))))
        stop = _STOP.search(text, end, last)
        terms = spanned_terms(text, first, min(last, len(text)) if stop is None else stop.start())
        starts = [term.start for term in terms]
        low = bisect_left(starts, start)
        high = low
        while high < len(terms) and terms[high].end <= end:
            high += 1
        ids = [term.id for term in terms]
        return any(
            tuple(ids[a:b]) in self._names
            for a in range(max(0, low - _MOST_TERMS), low + 1)
            for b in range(high, min(len(ids), a + _MOST_TERMS) + 1)
            if (a, b) != (low, high) and b > a
        )


NO_NAMES: Final = NameStore(())


def is_one_word(name: str) -> bool:
    """Whether a name is a single word, or in a script without spaces as short as one."""
    return len(name.split()) == 1 and not re.search(r"[-\d]", name) and len(words(name)) <= (
        3 if _UNSPACED.search(name) else 1
    )


def is_common_use(text: str, start: int, end: int) -> bool:
    """Whether the one word at `text[start:end]` is used as a common noun, so that it need not mean the note called so.

    In lower case; with a capital that says nothing (at the beginning of a sentence, or of any noun in German); inside a
    quotation; or before another noun. Scripts without case are told by the last two alone.
    """
    said = text[start:end]
    if stands_before_noun(text, end) or is_quoted(text, start, end):
        return True
    if _UNSPACED.search(said):
        return False
    if said[1:] != said[1:].lower():
        return False  # GPT, iPhone: written so on purpose
    return said[:1].islower() or _language_near(text, start) == "de" or bool(
        _SENTENCE_START.search(text, max(0, start - 40), start)
    )


def stands_before_noun(text: str, end: int) -> bool:
    """Whether the word that ends at `end` is the first of a compound: `safety net`, 京都大学, 서울대학교."""
    after = text[end : end + 1]
    if after and _UNSPACED.match(after) and _UNSPACED.match(text[end - 1 : end]):
        if _HANGUL.match(after):
            return _KOREAN_PARTICLE.match(text, end) is None
        return not (_HIRAGANA.match(after) or divides(after))
    found = _NEXT_WORD.match(text, end)
    if found is None:
        return False
    word, language = found[1], _language_near(text, end)
    if language == "de":
        return word[:1].isupper()
    if language not in (None, "en") or not _ENGLISH_LETTERS.match(word):
        return False  # what follows a noun there is its adjective
    if _VERB_OR_ADVERB.match(text, found.start(1)):
        return False
    english = language_words("en")
    return word.lower() not in english.function and word.lower() not in english.short


def speaks_of(text: str, places: Sequence[tuple[int, int]]) -> bool:
    """Whether a text speaks of what its word at `places` means: twice, and not as the first of compounds alone. What
    may be a verb (`kombucha ferments`) or a noun (`safety nets`) counts beside a place that surely is none."""
    free = [not stands_before_noun(text, end) for _, end in places]
    verbs = [not one and bool(_MAY_BE_VERB.match(text, end + 1)) for (_, end), one in zip(places, free, strict=True)]
    return any(free) and sum(free) + sum(verbs) >= _TIMES


def is_quoted(text: str, start: int, end: int) -> bool:
    """Whether `text[start:end]` stands inside a quotation of more words than it has, on its line."""
    line, stop = text.rfind("\n", 0, start) + 1, text.find("\n", end)
    before, after = text[line:start], text[end : stop if stop >= 0 else len(text)]
    for opening, closing in _QUOTES:
        opened = before.rfind(opening)
        if opened < 0 or (opening == closing and before.count(opening) % 2 == 0):
            continue
        closes = after.find(closing)
        if closes >= 0 and closing not in before[opened + 1 :]:
            return bool(re.search(r"\w", before[opened + 1 :] + after[:closes]))
    return False


def _language_near(text: str, at: int) -> str | None:
    return language_of(words(text[max(0, at - 1_000) : at + 1_000]))
