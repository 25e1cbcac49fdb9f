"""Which days a text names: what two notes have in common only because they were written at one time. Pure."""

from __future__ import annotations

import re
from typing import Final

_MONTHS: Final = (
    "jan|january|januar|janvier|enero|janeiro|gennaio|januari|stycznia",
    "feb|february|februar|février|febrero|fevereiro|febbraio|februari|lutego",
    "mar|march|märz|mars|marzo|março|maart|marca",
    "apr|april|avril|abril|aprile|kwietnia",
    "may|mai|mayo|maio|maggio|mei|maja",
    "jun|june|juni|juin|junio|junho|giugno|czerwca",
    "jul|july|juli|juillet|julio|julho|luglio|lipca",
    "aug|august|août|agosto|augustus|sierpnia",
    "sep|sept|september|septembre|septiembre|setembro|settembre|września",
    "oct|okt|october|oktober|octobre|octubre|outubro|ottobre|października",
    "nov|november|novembre|noviembre|novembro|listopada",
    "dec|dez|december|dezember|décembre|diciembre|dezembro|dicembre|grudnia",
)
"""By month, as English, German, French, Spanish, Portuguese, Italian, Dutch and Polish write it beside a day."""
_NUMBER: Final = {name: number for number, names in enumerate(_MONTHS, start=1) for name in names.split("|")}
_NAME: Final = "|".join(sorted(_NUMBER, key=len, reverse=True))
_DIGIT = re.compile(r"\d")
_YEAR_FIRST = re.compile(r"(?<!\d)(?:19|20)\d\d(?:([-./_ ])(\d\d?)\1(\d\d?)|(\d\d)(\d\d))(?!\d)")
_DAY_FIRST = re.compile(
    rf"(?<![\d.])(\d\d?)(?:st|nd|rd|th|er|º|\.)?\s+(?:(?:de|of)\s+)?({_NAME})\b(?:\.?,?\s+(?:de\s+)?((?:19|20)\d\d))?",
    re.IGNORECASE,
)
_MONTH_FIRST = re.compile(rf"\b({_NAME})\.?\s+(\d\d?)(?:st|nd|rd|th)?(?!\d)(?:,?\s+((?:19|20)\d\d))?", re.IGNORECASE)
_EAST_ASIAN = re.compile(r"(?:((?:19|20)\d\d)[年년]\s*)?(\d\d?)[月월]\s*(\d\d?)[日号號일]")
_WEEK = re.compile(r"(?<!\d)(?:19|20)\d\d-?W\d\d(?!\d)")


def days_in(text: str) -> frozenset[tuple[int, int]]:
    """Month and day of every date that `text` names, the year left out: `2026-03-09`, `9 March`, `am 3. Juli`."""
    if not _DIGIT.search(text):
        return frozenset()
    found = [(int(m[2] or m[4]), int(m[3] or m[5])) for m in _YEAR_FIRST.finditer(text)]
    found += [(_NUMBER[m[2].casefold()], int(m[1])) for m in _DAY_FIRST.finditer(text)]
    found += [(_NUMBER[m[1].casefold()], int(m[2])) for m in _MONTH_FIRST.finditer(text)]
    found += [(int(m[2]), int(m[3])) for m in _EAST_ASIAN.finditer(text)]
    return frozenset((month, day) for month, day in found if 1 <= month <= 12 and 1 <= day <= 31)


def is_dated(title: str) -> bool:
    """Whether a title names a day or a week of one year, as those of daily notes, logs and minutes do."""
    with_year = (_DAY_FIRST, 3), (_MONTH_FIRST, 3), (_EAST_ASIAN, 1)
    if _YEAR_FIRST.search(title) or _WEEK.search(title):
        return True
    return any(found[year] for pattern, year in with_year for found in pattern.finditer(title))


def is_month(word: str) -> bool:
    """Whether `word` names a month in one of these languages."""
    return word.casefold() in _NUMBER
