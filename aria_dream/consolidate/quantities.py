"""Numbers, dates and clock times, each in one scale, so that two can be held against each other.

A bound or a range is held against its like only; a number that may be read in two ways (`1,000` and `1.000`) keeps both
readings. `measuring` finds them in a sentence.
"""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterable

Day = tuple[int | None, int | None, int | None]
"""Year, month, day; None where it is not said."""
SAME_CONVERTED: Final = 0.02
"""Two values in different units are the same up to this share: conversions are rounded."""
SAME_ROUNDED: Final = 0.03
SAME_ROUGHLY: Final = 0.12


@dataclass(frozen=True, slots=True, kw_only=True)
class Quantity:
    """One number of a sentence."""

    dimension: str
    """What may be compared: `length`, `money €`, `count member`, `label port`, `clock`."""
    values: frozenset[float]
    """In the dimension's base unit; more than one where the writing allows it."""
    factor: float
    """Of its unit; values in two units are rounded conversions."""
    roughly: bool
    bound: str
    """`at least`, `range` … as written: only what is bounded alike may be compared. `""`: the value itself."""
    digits: int
    """Significant ones, as written."""


def differ(one: Quantity, two: Quantity) -> bool:
    """Whether two quantities of one dimension cannot both be meant: no readings agree, rounding and roughness granted.
    False for two dimensions."""
    if one.dimension != two.dimension or one.bound != two.bound:
        return False
    return not any(_same(one, two, a, b) for a in one.values for b in two.values)


def _same(one: Quantity, two: Quantity, a: float, b: float) -> bool:
    if a == b:
        return True
    apart = abs(a - b) / max(abs(a), abs(b))
    if one.dimension == "clock":
        return False
    if one.roughly or two.roughly:
        return apart <= SAME_ROUGHLY
    if one.factor != two.factor and apart <= SAME_CONVERTED:
        return True
    if one.digits == two.digits or apart > SAME_ROUNDED or min(one.digits, two.digits) < 2:
        return False
    (coarse, digits), fine = ((a, one.digits), b) if one.digits < two.digits else ((b, two.digits), a)
    return float(f"{fine:.{max(0, digits - 1)}e}") == coarse


def days_differ(one: frozenset[Day], two: frozenset[Day]) -> bool:
    """Whether no reading of the one date fits one of the other; `May 2026` fits `3 May 2026`."""
    return not any(_fit(a, b) for a in one for b in two)


def _fit(a: Day, b: Day) -> bool:
    both = [(x, y) for x, y in zip(a, b, strict=True) if x is not None and y is not None]
    return not both or all(x == y for x, y in both)


def plain_letters(text: str) -> str:
    """`text` in lower case without accents, the same length wherever a letter has one code point."""
    if text.isascii():
        return text.lower()
    return "".join(map(_plain, text))


@lru_cache(maxsize=1 << 14)
def _plain(character: str) -> str:
    lower = character.lower()
    if len(lower) != 1:
        return character
    base = unicodedata.normalize("NFD", lower)[0]
    return base if base.isascii() else lower


@lru_cache(maxsize=1 << 14)
def stem(word: str) -> str:
    """A word of plain letters without the endings that plural and case put on it, roughly, in any language."""
    if not word.isascii():
        return word[:2] if word[:1] >= "\u2e80" else word
    for ending in ("ing", "ed", "es", "en", "er", "s", "n", "e"):
        if word.endswith(ending) and len(word) - len(ending) >= 3:
            return word[: -len(ending)]
    return word


def readings(written: str) -> Iterable[float]:
    bare = re.sub(r"['’\u00a0\u202f ]", "", written)
    commas, points = bare.count(","), bare.count(".")
    if commas and points:
        decimal = "," if bare.rfind(",") > bare.rfind(".") else "."
        other = "." if decimal == "," else ","
        return (float(bare.replace(other, "").replace(decimal, ".")),)
    if commas + points > 1:
        return (float(re.sub(r"[.,]", "", bare)),)
    if commas + points == 1:
        whole, part = re.split(r"[.,]", bare)
        as_decimal = float(f"{whole}.{part}")
        either = len(part) == 3 and len(whole) <= 3 and whole != "0"
        return (as_decimal, float(whole + part)) if either else (as_decimal,)
    return (float(bare),)


def significant_digits(written: str) -> int:
    return len(re.sub(r"\D", "", written).lstrip("0").rstrip("0")) or 1


def from_han(written: str) -> str:
    """A number in Chinese numerals below a thousand, or digit by digit, in digits, padded to its length; itself where
    digits are longer."""
    if "十" not in written and "百" not in written:
        return "".join(str("〇一二三四五六七八九".index(sign)) for sign in written)
    hundreds, _, rest = written.rpartition("百")
    tens, ten, ones = rest.rpartition("十")
    value = sum(
        unit * ("〇一二三四五六七八九".find(part[-1:]) if part else default)
        for unit, part, default in ((100, hundreds, int("百" in written)), (10, tens, int(bool(ten))), (1, ones, 0))
    )
    digits = str(max(value, 0))
    return written if len(digits) > len(written) else digits.ljust(len(written), "\0")
