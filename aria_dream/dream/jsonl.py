"""Lines of JSON objects, as the state files hold them: one line a record, read as it may lie after a crash."""

from __future__ import annotations

import json
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
