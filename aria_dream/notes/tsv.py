"""One line of a tab-separated state file: fields that no title can break out of."""

from __future__ import annotations

import re
import unicodedata
from datetime import UTC, datetime

_ESCAPES = {"\\": "\\\\", "\t": "\\t", "\n": "\\n", "\r": "\\r"}
_UNESCAPES = {escape[1]: character for character, escape in _ESCAPES.items()}
_ESCAPED = re.compile(r"\\(?:u([0-9a-f]{4})|([\\tnr]))")
_ESCAPED_CATEGORIES = frozenset({"Cc", "Zl", "Zp", "Cs"})


def render_fields(*fields: str) -> str:
    """The fields as one line with its line end. Tabs, line ends, control characters and surrogates are escaped."""
    return "\t".join("".join(map(_escaped, field)) for field in fields) + "\n"


def parse_fields(line: str) -> tuple[str, ...]:
    """The fields of a line without its line end; the inverse of `render_fields`. Total: other backslashes stay."""
    return tuple(_ESCAPED.sub(_unescaped, field) for field in line.removesuffix("\r").split("\t"))


def parse_instant(text: str) -> datetime | None:
    """An aware instant from ISO 8601 with offset, in that offset; None where the text is none, or has no offset."""
    try:
        at = datetime.fromisoformat(text.strip())
        if at.tzinfo is not None:
            at.astimezone(UTC)  # the first and the last day of all years have instants that no other zone can tell
            return at
    except (ValueError, OverflowError):
        pass
    return None


def _escaped(character: str) -> str:
    if character in _ESCAPES:
        return _ESCAPES[character]
    return f"\\u{ord(character):04x}" if unicodedata.category(character) in _ESCAPED_CATEGORIES else character


def _unescaped(found: re.Match[str]) -> str:
    return chr(int(found[1], 16)) if found[1] else _UNESCAPES[found[2]]
