"""Moment.js date formats, read backwards: does a text look like a date written in this format?

Source: the token table of moment.js 2.30 (`src/lib/format/format.js`, `src/lib/locale/formats.js`), which Obsidian
uses for daily notes. Every piece of the regular expressions built here is bounded, so matching is linear.
"""

from __future__ import annotations

import datetime as dt
import re
from dataclasses import dataclass
from functools import lru_cache

_TOKEN = re.compile(
    r"(\[[^\[]*\])|(\\)?"
    r"([Hh]mm(?:ss)?|Mo|MM?M?M?|Do|DDDo|DD?D?D?|ddd?d?|do?|w[ow]?|W[oW]?|Qo?|N{1,5}|Y{4,6}|YY|Y|y{2,4}|yo?"
    r"|gg(?:ggg?)?|GG(?:GGG?)?|e|E|a|A|hh?|HH?|kk?|mm?|ss?|S{1,9}|x|X|zz?|ZZ?|.)",
    re.DOTALL,
)
_LOCALE_TOKEN = re.compile(r"(\[[^\[]*\])|(\\)?(LTS|LT|LL?L?L?|l{1,4})")
_LOCALE_FORMATS = {
    "LTS": "h:mm:ss A",
    "LT": "h:mm A",
    "L": "MM/DD/YYYY",
    "LL": "MMMM D, YYYY",
    "LLL": "MMMM D, YYYY h:mm A",
    "LLLL": "dddd, MMMM D, YYYY h:mm A",
    "l": "M/D/YYYY",
    "ll": "MMM D, YYYY",
    "lll": "MMM D, YYYY h:mm A",
    "llll": "ddd, MMM D, YYYY h:mm A",
}
_MONTHS = (
    "January", "February", "March", "April", "May", "June", "July", "August", "September", "October", "November",
    "December",
)  # fmt: skip
_DAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
_ANY_WORD = r"(?:\d{1,2}(?:月|월)|[^\W\d_]{1,20}\.?)"
_ORDINAL = r"(?:\.|º|ª|°|-?[^\W\d_]{1,3})?"  # 1st, 1., 1er, 1º, 1日, 1-й
_MONTH_2, _DAY_2 = r"(?:0[1-9]|1[0-2])", r"(?:0[1-9]|[12]\d|3[01])"
_MONTH_1, _DAY_1 = r"(?:1[0-2]|[1-9])", r"(?:[12]\d|3[01]|[1-9])"
_WEEK_2, _WEEK_1 = r"(?:0[1-9]|[1-4]\d|5[0-3])", r"(?:[1-4]\d|5[0-3]|[1-9])"
_DAY_OF_YEAR = r"(?:[12]\d{2}|3[0-5]\d|36[0-6]|[1-9]\d|[1-9])"
_HOUR_2, _HOUR_1 = r"(?:[01]\d|2[0-4])", r"(?:1\d|2[0-4]|\d)"
_SIXTY_2, _SIXTY_1 = r"[0-5]\d", r"(?:[1-5]\d|\d)"
_PIECES = {
    "YYYYYY": r"[+-]?\d{6}", "YYYYY": r"\d{5}", "YYYY": r"(?P<year>\d{4})", "YY": r"\d{2}", "Y": r"[+-]?\d{1,6}",
    "yyyy": r"\d{4}", "yyy": r"\d{3,4}", "yy": r"\d{2,4}", "y": r"\d{1,6}", "yo": r"\d{1,6}" + _ORDINAL,
    "MM": f"(?P<month>{_MONTH_2})", "M": f"(?P<month>{_MONTH_1})", "Mo": f"(?P<month>{_MONTH_1})" + _ORDINAL,
    "DD": f"(?P<day>{_DAY_2})", "D": f"(?P<day>{_DAY_1})", "Do": f"(?P<day>{_DAY_1})" + _ORDINAL,
    "DDDD": r"[0-3]\d{2}", "DDD": _DAY_OF_YEAR, "DDDo": _DAY_OF_YEAR + _ORDINAL,
    "Q": "[1-4]", "Qo": "[1-4]" + _ORDINAL,
    "d": "[0-6]", "do": "[0-6]" + _ORDINAL, "e": "[0-6]", "E": "[1-7]",
    "ww": _WEEK_2, "w": _WEEK_1, "wo": _WEEK_1 + _ORDINAL, "WW": _WEEK_2, "W": _WEEK_1, "Wo": _WEEK_1 + _ORDINAL,
    "ggggg": r"\d{5}", "gggg": r"\d{4}", "gg": r"\d{2}", "GGGGG": r"\d{5}", "GGGG": r"\d{4}", "GG": r"\d{2}",
    "a": r"[^\W\d_]{1,10}", "A": r"[^\W\d_]{1,10}",
    "HH": _HOUR_2, "H": _HOUR_1, "kk": _HOUR_2, "k": _HOUR_1, "hh": _HOUR_2, "h": _HOUR_1,
    "Hmm": _HOUR_1 + _SIXTY_2, "hmm": _HOUR_1 + _SIXTY_2,
    "Hmmss": _HOUR_1 + _SIXTY_2 + _SIXTY_2, "hmmss": _HOUR_1 + _SIXTY_2 + _SIXTY_2,
    "mm": _SIXTY_2, "m": _SIXTY_1, "ss": _SIXTY_2, "s": _SIXTY_1,
    "Z": r"(?:Z|[+-]\d{2}:?\d{2})", "ZZ": r"(?:Z|[+-]\d{2}:?\d{2})", "z": r"[A-Z]{0,5}", "zz": r"[\w ]{0,40}",
    "X": r"\d{1,11}(?:\.\d{1,3})?", "x": r"\d{1,14}",
}  # fmt: skip
_WORD_TOKENS = {"MMMM": _MONTHS, "MMM": [m[:3] for m in _MONTHS], "dddd": _DAYS, "ddd": [d[:3] for d in _DAYS],
                "dd": [d[:2] for d in _DAYS]}  # fmt: skip
_MAX_FORMAT_CHARACTERS = 500


@dataclass(frozen=True, slots=True)
class MomentFormat:
    """A date format made into a matcher."""

    pattern: re.Pattern[str]

    def matches(self, text: str) -> bool:
        """Whether `text` could have been written in this format. A day that no calendar has (30 February) was not."""
        found = self.pattern.fullmatch(text)
        if found is None:
            return False
        parts = found.groupdict()
        if parts.get("month") and parts.get("day"):
            year = int(parts.get("year") or 2024)  # a leap year where none is written
            try:
                dt.date(year, int(parts["month"]), int(parts["day"]))
            except ValueError:
                return False
        return True


def _expand_locale_token(found: re.Match[str]) -> str:
    literal, backslash, token = found.groups()
    return found.group() if literal or backslash else _LOCALE_FORMATS[token]


@lru_cache(maxsize=64)
def parse_moment_format(format_: str) -> MomentFormat:
    """A matcher for `format_`; total. `[literal]` and backslash escapes as in moment, English long formats (`LL`).

    Names of months and days are matched in any language when the format holds a number beside them (Obsidian writes
    them in the app's language, which the vault does not tell), else in English only: `MMMM` alone is not every word.
    """
    expanded = _LOCALE_TOKEN.sub(_expand_locale_token, format_[:_MAX_FORMAT_CHARACTERS])
    tokens = [found.groups() for found in _TOKEN.finditer(expanded)]
    has_number = any(
        piece in _PIECES and piece not in ("a", "A", "z", "zz") for _, escaped, piece in tokens if not escaped
    )
    pieces: list[str] = []
    named: set[str] = set()
    for literal, backslash, token in tokens:
        if literal is not None:
            pieces.append(re.escape(literal[1:-1]))
            continue
        piece = None if backslash else _piece(token, any_language=has_number)
        if piece is None:
            pieces.append(re.escape(token))
            continue
        name = piece[4 : piece.index(">")] if piece.startswith("(?P<") else ""
        if name and name in named:  # `YYYY/YYYY-MM-DD`: the second mention repeats the first
            piece = f"(?P={name})" if token in ("YYYY", "MM", "DD") else piece.replace(f"?P<{name}>", "?:", 1)
        named.add(name)
        pieces.append(piece)
    return MomentFormat(re.compile("".join(pieces), re.IGNORECASE))


def _piece(token: str, *, any_language: bool) -> str | None:
    """The regular expression of one token; None for a character that stands for itself."""
    if token in _WORD_TOKENS:
        return _ANY_WORD if any_language else "(?:" + "|".join(_WORD_TOKENS[token]) + ")"
    if token.strip("S") == "":
        return rf"\d{{{len(token)}}}" if token else None
    if token.strip("N") == "":
        return r"[^\W\d_]{1,15}(?: [^\W\d_]{1,10})?"
    return _PIECES.get(token)
