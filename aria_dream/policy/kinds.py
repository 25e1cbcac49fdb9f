"""What a setting's value can be, and how it is read and written. Reading is total: a value or a complaint."""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import Enum
from typing import Literal, TypeAlias, assert_never
from urllib.parse import urlsplit
from zoneinfo import ZoneInfo

from aria_dream.policy.patterns import NotePattern, parse_pattern, render_pattern


class Door(Enum):
    """What a policy that is not understood shuts. Each is shut by reasons, and opens when the last one is mended."""

    DREAM = "dreaming"
    SPEND = "spending"
    SEND = "sending anything off this machine"
    WRITE = "writing into your notes"
    AUTO = "applying anything without your tick"


Guard: TypeAlias = Literal["", "wall", "privacy", "egress"]
"""Why no environment variable may override a key; `""` where one may."""


@dataclass(frozen=True, slots=True)
class Window:
    """A span of local time of day, in minutes after midnight; it may cross midnight. Never empty."""

    start_min: int
    end_min: int

    def __str__(self) -> str:
        return f"{_clock(self.start_min)}-{_clock(self.end_min)}"


@dataclass(frozen=True, slots=True)
class Switch:
    pass


@dataclass(frozen=True, slots=True)
class Choice:
    options: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Whole:
    low: int
    high: int
    unit: str = ""


@dataclass(frozen=True, slots=True)
class Ratio:
    low: float
    high: float


@dataclass(frozen=True, slots=True)
class Words:
    """Free text on one line."""

    required: bool = False
    pattern: str = ""
    wanted: str = "text"
    """What to say when it does not fit `pattern`."""


@dataclass(frozen=True, slots=True)
class VaultPlace:
    """A path inside the vault; `""` only where allowed."""

    required: bool = True


@dataclass(frozen=True, slots=True)
class Url:
    pass


@dataclass(frozen=True, slots=True)
class Hours:
    pass


@dataclass(frozen=True, slots=True)
class Zone:
    pass


@dataclass(frozen=True, slots=True)
class PatternList:
    pass


Kind: TypeAlias = Switch | Choice | Whole | Ratio | Words | VaultPlace | Url | Hours | Zone | PatternList
Value: TypeAlias = bool | int | float | str | Window | tuple[NotePattern, ...]

_ON = frozenset({"on", "yes", "true"})
_OFF = frozenset({"off", "no", "false"})


def parse_value(kind: Kind, raw: str) -> tuple[Value | None, str]:
    """The value and a complaint. A complaint of `""` means it is understood; a value of None that it is not.

    A pattern list can be both: what was understood of it counts, and the complaint closes what it must.
    """
    if isinstance(kind, PatternList):
        return _parse_patterns(raw)
    text = _unquoted(raw.strip())
    value = _parse_scalar(kind, text)
    return (value, "") if value is not None else (None, f"must be {wanted(kind)}")


def _parse_scalar(kind: Kind, text: str) -> Value | None:
    match kind:
        case Switch():
            word = text.lower()
            return True if word in _ON else False if word in _OFF else None
        case Choice(options):
            return next((option for option in options if option == text.lower()), None)
        case Whole(low, high):
            number = int(text) if re.fullmatch(r"-?[0-9]{1,12}", text) else None
            return number if number is not None and low <= number <= high else None
        case Ratio(low_share, high_share):
            share = float(text) if re.fullmatch(r"[0-9]{0,3}\.?[0-9]{1,9}", text) else None
            return share if share is not None and low_share <= share <= high_share else None
        case Words(required, pattern):
            fits = re.fullmatch(pattern, text) is not None if pattern and text else not (required and not text)
            return text if fits else None
        case VaultPlace(required):
            return _parse_place(text, required=required)
        case Url():
            return text.rstrip("/") if not text or _is_url(text) else None
        case Hours():
            return _parse_window(text)
        case Zone():
            return text if text == "local" or _is_zone(text) else None
        case PatternList():
            return _parse_patterns(text)[0]
        case _:
            assert_never(kind)


def render_value(value: Value) -> str:
    """The value as the policy note writes it; `parse_value` gives it back."""
    if isinstance(value, bool):
        return "on" if value else "off"
    if isinstance(value, tuple):
        return ", ".join(render_pattern(pattern) for pattern in value)
    if isinstance(value, float):
        return f"{value:.2f}"
    return str(value)


def wanted(kind: Kind) -> str:
    """What a value of this kind looks like, to stand behind "must be"."""
    match kind:
        case Switch():
            return "on or off"
        case Choice(options):
            return options[0] if len(options) == 1 else f"{', '.join(options[:-1])} or {options[-1]}"
        case Whole(low, high, unit):
            return f"a whole number{f' of {unit}' if unit else ''} from {low} to {high}"
        case Ratio(low_share, high_share):
            return f"a number from {low_share:g} to {high_share:g}, with a point as in 0.85"
        case Words():
            return kind.wanted
        case VaultPlace():
            return "a path inside the vault, without a leading /, `..` or characters that no file name may have"
        case Url():
            return "an address that begins with http:// or https://"
        case Hours():
            return "two times of day such as 01:00-06:00"
        case Zone():
            return "local, or a time zone such as Europe/Lisbon"
        case PatternList():
            return "folders, globs or #tags, separated by commas"
        case _:
            assert_never(kind)


def split_list(raw: str) -> tuple[str, ...]:
    """The entries of a comma-separated list; commas inside quotes or brackets do not separate."""
    text = raw.strip()
    if re.fullmatch(r"\[(?!\[).*\]", text, re.DOTALL) and not text.endswith("]]"):
        text = text[1:-1]
    entries = re.findall(r"\s*(\[\[[^\]]*\]\]|\"[^\"]*\"|'[^']*'(?=\s*(?:[,;]|$))|[^,;]+)", text)
    return tuple(entry for entry in (_unquoted(entry.strip()) for entry in entries) if entry)


def _parse_patterns(raw: str) -> tuple[tuple[NotePattern, ...], str]:
    patterns: list[NotePattern] = []
    complaints: list[str] = []
    for entry in split_list(raw):
        match parse_pattern(entry):
            case NotePattern() as pattern:
                patterns.append(pattern)
            case complaint:
                complaints.append(f"holds `{entry}`, which {complaint}")
    return tuple(patterns), "; ".join(complaints)


def _parse_place(text: str, *, required: bool) -> str | None:
    if not text:
        return None if required else ""
    if text.startswith("/") or re.search(r'[\x00-\x1f\\:*?"<>|#^\[\]]', text):
        return None
    segments = [segment.strip() for segment in text.rstrip("/").split("/")]
    if any(not segment or segment.startswith(".") or segment.endswith(".") for segment in segments):
        return None
    return "/".join(segments)


def _parse_window(text: str) -> Window | None:
    found = re.fullmatch(r"([01]?[0-9]|2[0-3]):([0-5][0-9])\s*[-\u2013]\s*([01]?[0-9]|2[0-4]):([0-5][0-9])", text)
    if found is None:
        return None
    start_hour, start_minute, end_hour, end_minute = (int(part) for part in found.groups())
    start_min, end_min = start_hour * 60 + start_minute, end_hour * 60 + end_minute
    return Window(start_min, end_min % 1440) if start_min != end_min % 1440 and end_min <= 1440 else None


def _is_url(text: str) -> bool:
    try:
        parts = urlsplit(text)
        port = parts.port
    except ValueError:
        return False
    plain = parts.username is None and not parts.query and not parts.fragment and not re.search(r"\s", text)
    return parts.scheme in ("http", "https") and bool(parts.hostname) and plain and port != 0


def _is_zone(text: str) -> bool:
    if not re.fullmatch(r"[A-Za-z][A-Za-z0-9_+-]*(/[A-Za-z0-9_+-]+)*", text):
        return False
    try:
        ZoneInfo(text)
    except (ValueError, OSError, LookupError):  # LookupError holds ZoneInfoNotFoundError
        return False
    return True


def _unquoted(text: str) -> str:
    for quote in ('"', "'", "`"):
        if len(text) >= 2 and text[0] == quote == text[-1] and quote not in text[1:-1]:
            return text[1:-1].strip()
    return text


def _clock(minute: int) -> str:
    return f"{minute // 60:02d}:{minute % 60:02d}"
