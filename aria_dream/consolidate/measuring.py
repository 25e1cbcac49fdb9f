"""Reads numbers, dates and clock times out of a sentence.

Units that measure the same are converted (feet to metres). Numbers that name a thing (versions, ordinals, `Windows 10`,
`chapter 3`) are part of the thing's name.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Final

from aria_dream.consolidate.quantities import (
    Day,
    Quantity,
    from_han,
    plain_letters,
    readings,
    significant_digits,
    stem,
)
from aria_dream.consolidate.quantity_words import (
    BOUND,
    COUNT_WORDS,
    CURRENCIES,
    DESIGNATORS,
    MONTHS,
    NO_NOUN,
    OPENERS,
    ROUGHLY,
    SCALES,
    SETTINGS,
    UNITS,
    WEEKDAYS,
)

if TYPE_CHECKING:
    from collections.abc import Callable


@dataclass(frozen=True, slots=True, kw_only=True)
class Measured:
    """What `measure` finds in a sentence."""

    quantities: tuple[Quantity, ...]
    days: tuple[frozenset[Day], ...]
    """Each date with all its readings."""
    weekdays: frozenset[int]
    designations: frozenset[str]
    """Numbers that name: versions, chapters, ordinals, `windows 10`."""
    rest: str
    """The sentence with all of it blanked, same length."""
    leads_with_day: bool
    """It begins with a date: what follows is said of that time."""


_NUM: Final = r"\d{1,3}(?:[,.'’\u00a0\u202f ]\d{3})+(?!\d)(?:[.,]\d+)?|\d+(?:[.,]\d+)?"
_MONTH: Final = "|".join(sorted(MONTHS, key=len, reverse=True))
_DAY_PATTERNS: Final[tuple[tuple[re.Pattern[str], str], ...]] = tuple(
    (re.compile(pattern), order)
    for pattern, order in (
        (r"(?<!\d)(\d{4})\s*年\s*(\d{1,2})\s*月(?:\s*(\d{1,2})\s*日)?", "ymd"),
        (r"(?<![\d-])(\d{4})-(\d{1,2})(?:-(\d{1,2}))?(?![\d-])", "ymd"),
        (r"(?<![\d/])(\d{4})/(\d{1,2})/(\d{1,2})(?![\d/])", "ymd"),
        (r"(?<![\d.])(\d{1,2})\.\s?(\d{1,2})\.\s?(\d{4})(?!\d)", "dmy"),
        (r"(?<![\d/])(\d{1,2})/(\d{1,2})/(\d{4})(?!\d)", "??y"),
        (
            (rf"(?<!\d)(\d{{1,2}})(?:st|nd|rd|th|er|º|\.)?\s+(?:of\s+|de\s+)?({_MONTH})\b\.?,?"
             rf"(?:\s+(?:de\s+|del\s+)?(\d{{4}})\b)?"),
            "dmy",
        ),
        (rf"\b({_MONTH})\b\.?\s+(\d{{1,2}})(?:st|nd|rd|th)?\b(?!\s*(?:%|:\d))(?:,?\s+(\d{{4}})\b)?", "mdy"),
        (rf"\b({_MONTH})\b\.?,?\s+(?:de\s+)?(\d{{4}})\b", "my"),
        (rf"(?<=\bin )({_MONTH})\b|(?<=\bim )({_MONTH})\b|(?<=\ben )({_MONTH})\b|(?<=\bby )({_MONTH})\b", "m"),
        (r"(?<!\d)(\d{4})\s*年", "y"),
    )
)  # fmt: skip
_YEAR = re.compile(r"(?<![\d.,$€£¥#/-])(1[5-9]\d\d|20\d\d)(?![\d%°€$£]|[.,]\d|-\d)")
_YEAR_BEFORE = re.compile(
    r"(?:\b(?:in|since|from|until|till|by|of|year|around|circa|c|about|after|before|anno|im|seit|von|bis|jahr|um|nach"
    r"|vor|en|depuis|des|de|del|an|annee|desde|hasta|ano|nel|dal|sinds|jaar|late|early|mid|spring|summer|autumn|fall"
    r"|winter|fruhjahr|sommer|herbst)\.?|[(:*†])\s*$"
)
_CLOCK = re.compile(
    r"(?<![\d:.])([01]?\d|2[0-3])(?::|(?<=\d)h)([0-5]\d)(?::[0-5]\d)?(?![\d:])\s*([ap]\.?m\b\.?)?"
    r"|(?<![\d:.])(1[0-2]|0?[1-9])\s*([ap]\.?m\b\.?)"
    r"|(?<![\d:.])([01]?\d|2[0-3])(?:\.([0-5]\d))?\s*(?:uhr|o'clock|o’clock|点|點|時)"
)
_RANGE = re.compile(
    rf"(?:between|zwischen|entre|tra|fra|tussen)\s+\W?(?:{_NUM})\D{{0,20}}?\s(?:and|und|et|y|e|en)\s+\W?(?:{_NUM})"
    rf"|(?:{_NUM})\s*[^\W\d]{{0,12}}[%°€$]?\s*(?:-|–|—|~|〜|\bto\b|\bbis\b|\bà\b|\ba\b|\bhasta\b|\btot\b|至|到)\s*"
    rf"[$€£]?(?:{_NUM})|\b\d{{4}}s\b|±\s*(?:{_NUM})"
)
_VERSION = re.compile(
    r"\bv\.?\s?\d+(?:\.\d+)*\b|(?<![\d.])\d+(?:\.\d+){2,}|(?<!\w)#\d+|\b\d+(?:st|nd|rd|th|eme|e|er)\b"
)
_NUMBER = re.compile(rf"(?<![a-z0-9_.,:])([$€£¥₹]\s?)?(-|−)?({_NUM})(?!\d)")
_UNIT = re.compile(r"[\s\u00a0\u202f-]?(%|‰|°\s?[cfk]?\b|[€$£¥₹]|[^\W\d_]+(?:/[^\W\d_]+|[²³2](?!\d))?)")
_WORD = re.compile(r"[^\W\d_]+")
_HAN_NUMBER = re.compile(
    r"[〇一二三四五六七八九十百]+(?=[度時时点分秒人年月日本枚個个回冊台匹頭円元米名岁歳次]|グラム|メートル|キロ|公斤|公里|小时|小時)"
)
_ANY_DIGIT = re.compile(r"[\d〇一二三四五六七八九十百]")
_MEASURING: Final = MONTHS.keys() | WEEKDAYS.keys() | COUNT_WORDS.keys()


_NOTHING: Final = (), (), frozenset[int](), frozenset[str]()


def measure(sentence: str) -> Measured:
    """All that is measured, dated or numbered in a sentence. Total; linear in its length."""
    if not _ANY_DIGIT.search(sentence) and _MEASURING.isdisjoint(_WORD.findall(plain_letters(sentence))):
        quantities, days, weekdays, designations = _NOTHING
        return Measured(
            quantities=quantities, days=days, weekdays=weekdays, designations=designations, rest=sentence,
            leads_with_day=False,
        )  # fmt: skip
    return _Reader(sentence).read()


class _Reader:
    def __init__(self, sentence: str) -> None:
        self._written = sentence
        self._text = plain_letters(sentence)
        if len(self._text) != len(sentence):
            self._written = self._text
        self._days: list[frozenset[Day]] = []
        self._quantities: list[Quantity] = []
        self._designations: set[str] = set()
        self._weekdays: set[int] = set()
        self._leads = False

    def read(self) -> Measured:
        self._count_words()
        self._clear(_VERSION, lambda found: self._designations.add(found[0].replace(" ", "").lstrip("v.#")))
        for pattern, order in _DAY_PATTERNS:
            self._clear(pattern, partial(self._take_day, order=order))
        self._clear(_CLOCK, self._take_clock)
        self._clear(_RANGE, self._take_range)
        self._clear(_YEAR, self._take_year)
        self._clear(_NUMBER, self._take_number)
        self._clear(_WORD, self._take_weekday)
        return Measured(
            quantities=tuple(self._quantities),
            days=tuple(self._days),
            weekdays=frozenset(self._weekdays),
            designations=frozenset(self._designations),
            rest="".join(w if t != "\0" else " " for w, t in zip(self._written, self._text, strict=True)),
            leads_with_day=self._leads,
        )

    def _clear(self, pattern: re.Pattern[str], take: Callable[[re.Match[str]], int | None]) -> None:
        """Every match handed to `take` and blanked, up to the offset that it gives; not where that is negative."""
        out, at = [], 0
        for found in pattern.finditer(self._text):
            end = take(found)
            end = found.end() if end is None else end
            if end >= 0 and found.start() >= at:
                out += [self._text[at : found.start()], "\0" * (end - found.start())]
                at = end
        if out:
            self._text = "".join((*out, self._text[at:]))

    def _note_lead(self, at: int) -> None:
        """Whether nothing but small words stands before the date at `at`."""
        self._leads = self._leads or all(word in NO_NOUN for word in _WORD.findall(self._text[:at]))

    def _take_day(self, found: re.Match[str], order: str) -> int | None:
        parts = [group for group in found.groups() if group is not None]
        if order == "m" and not self._written[found.start() : found.start() + 1].isupper():
            return -1
        named = dict(zip(order, (MONTHS.get(part) or int(part) for part in parts), strict=False))
        if order == "??y":
            one, two, year = (int(part) for part in parts)
            found_days: set[Day] = {(year, m, d) for m, d in ((one, two), (two, one)) if _is_day(m, d)}
        else:
            month, day = named.get("m"), named.get("d")
            found_days = {(named.get("y"), month, day)} if _is_day(month or 1, day or 1) else set()
        if not found_days:
            return -1
        self._note_lead(found.start())
        self._days.append(frozenset(found_days))
        return None

    def _take_year(self, found: re.Match[str]) -> int | None:
        before = self._text[: found.start()]
        after = self._text[found.end() :].lstrip()
        unit = _UNIT.match(self._text, found.end())
        if unit and (unit[1] in UNITS or unit[1] in CURRENCIES):
            return -1
        if not _YEAR_BEFORE.search(before) and after[:1] not in ("", ".", ",", ";", ")", "\0", "!"):
            return -1
        self._note_lead(found.start())
        self._days.append(frozenset({(int(found[1]), None, None)}))
        return None

    def _take_clock(self, found: re.Match[str]) -> None:
        if self._names_a_thing(self._text[: found.start()]):  # `John 3:16`
            self._designations.add(found[0])
            return
        hour, minute, half, bare, bare_half, spoken, spoken_minute = found.groups()
        at = int(hour or bare or spoken)
        mark = (half or bare_half or "")[:1]
        at = at % 12 + 12 * (mark == "p") if mark else at
        value = at * 60 + int(minute or spoken_minute or 0)
        self._quantities.append(
            Quantity(dimension="clock", values=frozenset({float(value)}), factor=1.0, roughly=False, bound="", digits=4)
        )

    def _count_words(self) -> None:
        """Small numbers in words become digits where a noun follows; the text keeps its length."""

        def exchange(found: re.Match[str]) -> str:
            digits, width = str(COUNT_WORDS.get(found[0], "")), len(found[0])
            return digits.ljust(width, "\0") if 0 < len(digits) <= width else found[0]

        self._text = _WORD.sub(exchange, self._text)
        if _HAN_NUMBER.search(self._text):
            self._text = _HAN_NUMBER.sub(lambda found: from_han(found[0]), self._text)

    def _take_number(self, found: re.Match[str]) -> int | None:
        before, after = self._text[: found.start()], self._text[found.end() :]
        end = len(self._text)
        scale, behind, scaled = _scale(after)
        unit_match = _UNIT.match(behind.lstrip("\0"))
        unit = re.sub(r"\s", "", unit_match[1]) if unit_match else ""
        unit_start = end - len(behind.lstrip("\0")) + (unit_match.start(1) if unit_match else 0)
        kind = self._kind(found[1], unit, self._written[unit_start : unit_start + len(unit)])
        label = next((word for word in reversed(_WORD.findall(before)) if word not in NO_NOUN), "")
        if kind is None:
            if after[:1].isascii() and after[:1].isalpha() and not scaled:
                self._designations.add(f"{found[3]}{unit}")
                return None
            if self._names_a_thing(before):
                self._designations.add(f"{label} {found[3]}")
                return None
            kind = _counted(unit, label)
        elif unit and not found[1]:
            behind = self._text[unit_start + len(unit) :]
        if kind is None:
            return None
        bound = BOUND.search(before[-28:])
        sign = -1.0 if found[2] and kind[0] in ("temperature", "share") else 1.0
        offset = _offset(unit) if kind[0] == "temperature" else 0.0
        self._quantities.append(
            Quantity(
                dimension=kind[0],
                values=frozenset(sign * scale * kind[1] * value + offset for value in readings(found[3])),
                factor=kind[1],
                roughly=bool(ROUGHLY.search(before[-18:])),
                bound=bound[0].strip(" $€£¥₹") if bound else "",
                digits=significant_digits(found[3]),
            )
        )
        return end - len(behind)

    def _take_range(self, found: re.Match[str]) -> None:
        for number in re.findall(_NUM, found[0]):
            self._quantities.append(
                Quantity(
                    dimension="range",
                    values=frozenset(readings(number)),
                    factor=1.0,
                    roughly=False,
                    bound="range",
                    digits=significant_digits(number),
                )
            )

    def _kind(self, symbol: str | None, unit: str, spelled: str) -> tuple[str, float] | None:
        """Dimension and factor of a number with that sign before it or that unit behind it; None where it has none."""
        if symbol:
            return f"money {CURRENCIES[symbol.strip()]}", 1.0
        if unit in CURRENCIES:
            return f"money {CURRENCIES[unit]}", 1.0
        if len(unit) == 1 and unit.isascii() and spelled not in "mgslWLhC":
            return None
        shorter = UNITS.get(unit[:-1]) if len(unit) > 4 and unit[-1] in "sn" else None
        by_sign = next((UNITS[unit[:n]] for n in (2, 1) if unit[:1] >= "\u2e80" and unit[:n] in UNITS), None)
        return UNITS.get(spelled) or UNITS.get(unit) or shorter or by_sign

    def _names_a_thing(self, before: str) -> bool:
        """Whether the number belongs to the name before it: `Windows 10`, `chapter 3`."""
        bare = before.rstrip(" -\t")
        if len(before) - len(bare) > 1 or not bare or not bare[-1].isalpha():
            return False
        word = _WORD.findall(bare)[-1]
        if word in DESIGNATORS:
            return True
        at = len(bare) - len(word)
        if not self._written[at : at + 1].isupper() or word in SETTINGS:
            return False
        return bool(bare[:at].strip(" \0*_[(\"'")) or word not in NO_NOUN | OPENERS

    def _take_weekday(self, found: re.Match[str]) -> int | None:
        number = WEEKDAYS.get(found[0])
        if number is None or not (self._written[found.start()].isupper() or found[0] not in ("sun", "sat", "wed")):
            return -1
        self._weekdays.add(number)
        return None


def _scale(after: str) -> tuple[float, str, bool]:
    """A multiplier behind the number (`million`, `k`, `万`), the text behind it, and whether there was one."""
    found = re.match(r"[\s\u00a0]?([^\W\d_]+)\.?", after)
    if found:
        scale = SCALES.get(found[1])
        if scale is not None:
            return scale, after[found.end() :], True
    for sign in ("万", "萬", "億", "亿"):
        if after.startswith(sign):
            return SCALES[sign], after[1:], True
    return 1.0, after, False


def _offset(unit: str) -> float:
    """What is added after the factor: degrees Fahrenheit and Kelvin to Celsius."""
    return {"°f": -17.7777778, "fahrenheit": -17.7777778, "°k": -273.15, "kelvin": -273.15}.get(unit, 0.0)


def _counted(unit: str, label: str) -> tuple[str, float] | None:
    """What a number without a unit counts: the noun behind it, else what stands before it."""
    if unit and unit not in NO_NOUN:
        return f"count {stem(unit)}", 1.0
    return (f"label {stem(label)}", 1.0) if label else None


def _is_day(month: int, day: int) -> bool:
    return 1 <= month <= 12 and 1 <= day <= 31
