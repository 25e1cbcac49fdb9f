"""Dates as people write them in a property: the last day that each covers."""

from __future__ import annotations

import re
from datetime import date, datetime, timedelta
from typing import TYPE_CHECKING

from aria_dream.consolidate.quantities import plain_letters
from aria_dream.consolidate.quantity_words import MONTHS

if TYPE_CHECKING:
    from datetime import tzinfo

_ISO = re.compile(r"(\d{4})-(\d{1,2})(?:-(\d{1,2})(?:[t ](\d{1,2}:\d{2}.*))?)?")
_COMPACT = re.compile(r"(\d{4})(\d{2})(\d{2})")
_YEAR_FIRST = re.compile(r"(\d{4})[/.](\d{1,2})[/.](\d{1,2})|(\d{4})年\s*(\d{1,2})月\s*(\d{1,2})日")
_DAY_FIRST = re.compile(r"(\d{1,2})\.\s*(\d{1,2})\.\s*(\d{4})")
_SLASHED = re.compile(r"(\d{1,2})[/-](\d{1,2})[/-](\d{4})")
_NAMED = re.compile(r"(?:(\d{1,2})(?:st|nd|rd|th|er|\.)?\s+(?:of\s+|de\s+)?)?([a-z]+)\.?,?\s+(?:de\s+)?(\d{4})")
_NAMED_US = re.compile(r"([a-z]+)\.?\s+(\d{1,2})(?:st|nd|rd|th)?,?\s+(\d{4})")


def last_day(text: str, zone: tzinfo | None = None) -> date | None:
    """The last day that a written date covers: `2026-11` is its 30th, `2026` its 31 December; None where it is none.

    ISO dates and instants (brought into `zone`), `20261103`, `2026/11/3`, `3.11.2026`, `3 November 2026`,
    `November 3, 2026` and the like in several languages, in link brackets too. Of `3/11/2026`, which may be two days,
    the later one.
    """
    bare = text.strip().strip("[]").partition("|")[0].rpartition("/")[2] if "[[" in text else text
    said = plain_letters(bare.strip(" \"'"))
    if found := _ISO.fullmatch(said):
        return _iso(found, said, zone)
    if found := _COMPACT.fullmatch(said) or _YEAR_FIRST.fullmatch(said):
        year, month, day = (int(part) for part in found.groups() if part)
        return _day(year, month, day)
    if re.fullmatch(r"(?:19|20)\d\d", said):
        return date(int(said), 12, 31)
    if found := _DAY_FIRST.fullmatch(said):
        return _day(int(found[3]), int(found[2]), int(found[1]))
    if found := _SLASHED.fullmatch(said):
        one, two, year = (int(part) for part in found.groups())
        return max(filter(None, (_day(year, two, one), _day(year, one, two))), default=None)
    if (found := _NAMED_US.fullmatch(said)) and found[1] in MONTHS:
        return _day(int(found[3]), MONTHS[found[1]], int(found[2]))
    if (found := _NAMED.fullmatch(said)) and found[2] in MONTHS:
        year, month = int(found[3]), MONTHS[found[2]]
        return _day(year, month, int(found[1])) if found[1] else _month_end(year, month)
    return None


def _iso(found: re.Match[str], said: str, zone: tzinfo | None) -> date | None:
    year, month = int(found[1]), int(found[2])
    if not found[3]:
        return _month_end(year, month)
    if found[4]:
        try:
            instant = datetime.fromisoformat(said.upper().replace(" ", "T", 1))
        except ValueError:
            return _day(year, month, int(found[3]))
        return instant.date() if instant.tzinfo is None else instant.astimezone(zone).date()
    return _day(year, month, int(found[3]))


def _day(year: int, month: int, day: int) -> date | None:
    try:
        return date(year, month, day)
    except ValueError:
        return None


def _month_end(year: int, month: int) -> date | None:
    first = _day(year + month // 12, month % 12 + 1, 1)
    return first - timedelta(days=1) if first and 1 <= month <= 12 else None
