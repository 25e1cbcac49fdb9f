"""The days that a text names, in the languages that the product knows."""

from __future__ import annotations

import re
from datetime import date
from typing import Final

from aria_dream.synthesis.contrast import plain

_MONTHS: Final = (
    "jan|ene|gen|янв", "feb|fev|fev|фев", "mar|mrz|maa|мар", "apr|avr|abr|апр", "may|mai|mag|mei|май|мая",
    "jun|juin|giu|июн", "jul|juil|lug|июл", "aug|aou|ago|авг", "sep|set|сен", "oct|okt|ott|out|окт", "nov|ноя",
    "dec|dez|dic|дек",
)  # fmt: skip
_ISO_DAY = re.compile(r"(?<!\d)\d{4}-\d{2}-\d{2}(?!\d)")
_DAY_FIRST = re.compile(
    r"(?<!\d)(\d{1,2})(?:st|nd|rd|th|\.|er|º)? (?:of |de |di )?([^\W\d_]{3,10})\b\.?(?: (?:de )?(\d{4})\b)?"
)
_MONTH_FIRST = re.compile(r"\b([^\W\d_]{3,10})\.? (\d{1,2})(?:st|nd|rd|th)?(?!\d)(?:, (\d{4})\b)?")
_SIGNS_DAY = re.compile(r"(?:(\d{4})年)?(\d{1,2})月(\d{1,2})[日号]")


def days_named(text: str, day: date | None) -> frozenset[str]:
    """The days that a text names, `2026-11-20`; one without its year is the last before `day`, or none without that."""
    said = plain(text)
    told = [(found[3], _month(found[2]), found[1]) for found in _DAY_FIRST.finditer(said)]
    told += [(found[3], _month(found[1]), found[2]) for found in _MONTH_FIRST.finditer(said)]
    told += [(found[1], int(found[2]), found[3]) for found in _SIGNS_DAY.finditer(said)]
    days = {_day_of(year, month, number, day) for year, month, number in told if month}
    return frozenset(filter(None, {*_ISO_DAY.findall(said), *days}))


def _month(word: str) -> int:
    return next((at for at, names in enumerate(_MONTHS, 1) if word.startswith(tuple(names.split("|")))), 0)


def _day_of(year: str | None, month: int, number: str, before: date | None) -> str:
    try:
        if year:
            return str(date(int(year), month, int(number)))
        if before is None:
            return ""
        found = date(before.year, month, int(number))
        return str(found if found <= before else found.replace(year=before.year - 1))
    except ValueError:
        return ""
