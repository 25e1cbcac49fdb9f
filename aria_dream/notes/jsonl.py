"""Lines of JSON objects, as the state files hold them: one line a record, read as it may lie after a crash."""

from __future__ import annotations

import json
from datetime import datetime
from typing import TYPE_CHECKING

from aria_dream.errors import Problem

if TYPE_CHECKING:
    from collections.abc import Mapping


def render_record(record: Mapping[str, object]) -> str:
    """`record` as one line with its line end. No title can forge a second line: JSON escapes every line break.

    Non-ASCII stays readable, lone surrogates and U+2028/2029/0085 are escaped. Raises ValueError on NaN and infinity.
    """
    text = json.dumps(record, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    return "".join(_escaped(character) for character in text) + "\n"


def _escaped(character: str) -> str:
    risky = "\ud800" <= character <= "\udfff" or character in "\u2028\u2029\x85"
    return f"\\u{ord(character):04x}" if risky else character


def parse_records(text: str) -> tuple[tuple[tuple[int, dict[str, object]], ...], tuple[Problem, ...]]:
    """`(line number, object)` of every readable line, and a Problem for every other line that is not blank.

    A torn last line (no line end, unreadable) is what a crash leaves and no problem: the record was never promised.
    CRLF, blank lines and a BOM are tolerated; NaN and infinity are unreadable.
    """
    records: list[tuple[int, dict[str, object]]] = []
    problems: list[Problem] = []
    lines = text.removeprefix("\ufeff").split("\n")
    for number, line in enumerate(lines, start=1):
        if not line.strip():
            continue
        value = _value(line)
        if isinstance(value, dict):
            records.append((number, value))
        elif number < len(lines):
            problems.append(Problem("", number, "this line is not a record and was left out"))
    return tuple(records), tuple(problems)


def _value(line: str) -> object:
    try:
        return json.loads(line, parse_constant=_refuse)
    except (ValueError, RecursionError):
        return None


def _refuse(name: str) -> object:
    raise ValueError(name)


# What a record's value must be; each raises TypeError or ValueError where it is something else.


def as_text(value: object) -> str:
    """`value`, which is a string."""
    if not isinstance(value, str):
        raise TypeError("text")
    return value


def as_texts(value: object) -> tuple[str, ...]:
    """The strings of a list."""
    return tuple(as_text(item) for item in as_list(value))


def as_whole(value: object) -> int:
    """`value`, which is a whole number; `true` is none."""
    if isinstance(value, bool) or not isinstance(value, int):
        raise TypeError("whole number")
    return value


def as_number(value: object) -> float:
    """`value`, which is a number, as a float."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise TypeError("number")
    return float(value)


def as_list(value: object) -> list[object]:
    """`value`, which is a list."""
    if not isinstance(value, list):
        raise TypeError("list")
    return value


def as_mapping(value: object) -> dict[str, object]:
    """`value`, which is an object."""
    if not isinstance(value, dict):
        raise TypeError("object")
    return value


def as_moment(value: object) -> datetime:
    """An aware instant from ISO 8601 with its offset."""
    at = datetime.fromisoformat(as_text(value))
    if at.tzinfo is None:
        raise ValueError("a time without its offset")
    return at
