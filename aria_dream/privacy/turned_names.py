"""Names as people turn and shorten them: `Oliveira, Marta`, `M. Oliveira`, `Marta O.`, `Clínica S. João`. Pure."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Final

from aria_dream.policy.patterns import fold
from aria_dream.privacy.look_alikes import UMLAUTS, without_accents

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

_WORD: Final = re.compile(r"[^\W_]+(?:['’][^\W_]+)*")
_CASED: Final = re.compile(r"[A-Za-z\u00c0-\u024f\u0370-\u03ff\u0400-\u052f\u1e00-\u1fff]")
"""Latin, Greek and Cyrillic letters: other scripts neither write initials nor turn a name with a comma."""
_UNSPACED: Final = re.compile(r"(?=\S+\s)[\u2e80-\u9fff\uac00-\ud7af\uf900-\ufaff\s]+")
"""Chinese, Japanese and Korean names with a space in them."""
_MOST_WORDS: Final = 6
_INITIALS: Final = r"(?=[A-Z\u00c0-\u00de\u0410-\u042f]{1,3}(?![^\W_]))"
"""Before more first letters in a row: `JL Fontaine`."""
_TITLES: Final = re.compile(
    r"(?i)\A(?:(?:dr|prof|mr|mrs|ms|mx|herrn?|frau|sr|sra|srta|don|doña|dona|mme|mlle|madame|monsieur|signora?|sig|"
    r"dott|dottoressa|mevr|dhr|pan|pani|dipl|ing|mag|rev|fr|sir|dame|lady|lord|госпожа|господин|доктор)\b\.?[ -]*"
    r"(?:h\. ?c\.|med\.|phil\.|rer\.|nat\.|jur\.|ing\.)?[ ]*)+"
)
_FORMS: Final = re.compile(
    r"(?i),?[ ](?:gmbh|ag|kg|ohg|ug|e\. ?[vk]\.?|ltd|llc|llp|plc|inc|corp|co|s\.?a|sarl|sas|s\.?l|s\.?r\.?l|"
    r"s\.?p\.?a|b\.?v|n\.?v|lda|ltda|sp\. z o\. ?o|ооо|m\.?d|ph\.? ?d|jr|sr|esq)\.?\Z"
)
_TURNED: Final = re.compile(r"([^,]+?)\s*,\s*([^,]+)")
_JOINT: Final = r"(?:%20|&nbsp;|[\s_+\-\u2010-\u2015*~=`\\])+"


@dataclass(frozen=True, slots=True)
class TurnedName:
    """A name of several words. `turn_names` makes it."""

    plain: str
    """The name as it is written, folded: no form of it, and found by others."""
    forms: tuple[tuple[str, bool], ...]
    """Of each way to turn it an expression, and whether it needs a capital: with words shortened, or without those
    between the first and the last."""

    def spans(self, text: str) -> Iterator[tuple[int, int]]:
        """Where `text` (in NFC) has the name in such a form, as positions."""
        for form, needs_capital in self.forms:
            for found in _compiled(form).finditer(text):
                whole = [word for word in found.groups() if word]
                shown = any(len(word) >= 2 and not (needs_capital and word.islower()) for word in whole)
                if shown and fold(" ".join(_WORD.findall(found[0]))) != self.plain:
                    yield found.span()


@lru_cache(maxsize=1 << 13)
def _compiled(expression: str) -> re.Pattern[str]:
    return re.compile(expression)


def turn_names(names: Iterable[str]) -> dict[str, tuple[TurnedName, ...]]:
    """The names (in NFC) of two words and more, each under every word that a form of it may keep whole, folded."""
    found: dict[str, list[TurnedName]] = {}
    for name in sorted(set(names)):
        words = _WORD.findall(name)
        if not 2 <= len(words) <= _MOST_WORDS or not all(map(_CASED.match, words)):
            continue
        turned = TurnedName(fold(" ".join(words)), tuple(_form(words, turn) for turn in range(len(words))))
        for word in {spelling for one in words if len(one) >= 2 for spelling in _spellings(one)}:
            found.setdefault(word, []).append(turned)
    return {word: tuple(many) for word, many in found.items()}


def other_names(name: str) -> tuple[str, ...]:
    """What else goes by the name without being shorter than two words: without `Dr.` and `GmbH`, in the order in which
    it is spoken (`Oliveira, Marta`), without its spaces where its script needs none."""
    bare = _FORMS.sub("", _TITLES.sub("", name)).strip()
    found = [bare] if len(_WORD.findall(bare)) >= 2 else [name]
    if turned := _TURNED.fullmatch(found[0]):
        found.append(f"{turned[2].strip()} {turned[1].strip()}")
    if _UNSPACED.fullmatch(name):
        found.append(re.sub(r"\s", "", name))
    return tuple(dict.fromkeys(one for one in found if one != name))


def spans_of_turned(names: Mapping[str, tuple[TurnedName, ...]], text: str) -> list[tuple[int, int]]:
    """Where `text` (in NFC) has one of the names turned or shortened, in order and apart."""
    if not names:
        return []
    words = {fold(word) for word in _WORD.findall(text)}
    near = dict.fromkeys(name for word in sorted(words & names.keys()) for name in names[word])
    spans: list[tuple[int, int]] = []
    for start, end in sorted(span for name in near for span in name.spans(text)):
        if spans and start < spans[-1][1]:
            spans[-1] = (spans[-1][0], max(end, spans[-1][1]))
        else:
            spans.append((start, end))
    return spans


def _form(words: list[str], turn: int) -> tuple[str, bool]:
    """The name with its last words first, from the one at `turn` on: `Oliveira, Marta` where that is 1.

    A turned name without a comma is one only with its capitals, or `plan garden` would be *Garden plan*.
    """
    order = [*words[turn:], *words[:turn]]
    stop = len(words) - turn - 1 if turn else -1
    """Where in `order` the name's own last word stands: it is whole in a longer name, and a comma may follow."""
    is_titled = all(word[0].isupper() or (len(word) <= 3 and word not in (words[0], words[-1])) for word in words)
    out = []
    for place, word in enumerate(order):
        is_last, may_lack = place == len(order) - 1, 0 < (place + turn) % len(words) < len(words) - 1
        joint = "" if is_last else rf"(?:\s*[,，]\s*|{_JOINT})" if place == stop else _JOINT
        whole = place == stop and len(words) > 2
        made = _word(word, joint, whole=whole, capital=bool(turn) and not is_titled, small=may_lack and word.islower())
        out.append(f"(?:{made})?" if may_lack and not is_last else made)
    return rf"(?<![^\W_]){''.join(out)}(?![^\W_])", not (turn and is_titled)


def _word(word: str, joint: str, *, whole: bool, capital: bool, small: bool) -> str:
    """The word, or (unless it must be `whole`) a beginning of it with a full stop or its first letter alone, and what
    joins it to the next. `small`: it is shortened in small letters as well (`v. d. Heide`)."""
    first, rest = _letter(word[0].upper()), [_letter(letter) for letter in word[1:]]
    plain = f"({first}(?i:{''.join(rest)}))" if capital and word[0].isupper() else f"((?i:{first}{''.join(rest)}))"
    if whole or word.isdigit():
        return plain + joint
    some = "".join(f"(?:{letter}" for letter in rest[:-1]) + ")?" * len(rest[:-1])
    opening = f"(?:{first}|{_letter(word[0])})" if small else first
    dotted = rf"{opening}(?i:{some})\." + (f"(?:{joint})?" if joint else "")
    alone = f"{first}(?:{joint}|{_INITIALS})" if joint else first
    return f"(?:{plain}{joint}|{dotted}|{alone})"


def _letter(letter: str) -> str:
    """A letter, with or without its accents, or an umlaut spelled out."""
    ways = dict.fromkeys((letter, without_accents(letter), without_accents(letter.translate(UMLAUTS))))
    return f"(?:{'|'.join(map(re.escape, ways))})" if len(ways) > 1 else re.escape(letter)


def _spellings(word: str) -> tuple[str, ...]:
    folded = fold(word)
    return tuple(dict.fromkeys((folded, without_accents(folded), without_accents(folded.translate(UMLAUTS)))))
