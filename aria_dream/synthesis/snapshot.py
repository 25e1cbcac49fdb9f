"""The state of log and lessons before a synthesis, as a document of its own.

`schema_version` 1, so that another implementation of the contract can check what this one wrote, and this one what
another wrote.
"""

from __future__ import annotations

import hashlib
import json
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from aria_dream.synthesis.lesson import read_rows

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

SCHEMA_VERSION: Final = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class DreamState:
    """`DREAM_LOG.md` before."""

    missing: bool
    byte_length: int
    prefix_hash: str
    """SHA-256 of its bytes, in hex."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LessonsState:
    """`LESSONS.jsonl` before."""

    missing: bool
    line_count: int
    """Non-empty lines."""
    prefix_hash: str
    """SHA-256 over those lines joined by one line feed, in hex."""
    ids: tuple[str, ...]
    """Every `lesson_id`, in order, repeats kept."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Snapshot:
    """Both files before anything is written."""

    dream: DreamState
    lessons: LessonsState


def take_snapshot(dream: bytes | None, lessons: bytes | None) -> Snapshot:
    """The snapshot of the two files' bytes; None is a file that is not there. A lesson that is no JSON has no id."""
    rows = read_rows(lessons or b"")
    named = [row.record.get("lesson_id") for row in rows if row.record is not None]
    return Snapshot(
        dream=DreamState(missing=dream is None, byte_length=len(dream or b""), prefix_hash=bytes_hash(dream or b"")),
        lessons=LessonsState(
            missing=lessons is None,
            line_count=len(rows),
            prefix_hash=lines_hash(row.data for row in rows),
            ids=tuple(str(name) for name in named if name not in (None, "")),
        ),
    )


def render_snapshot(snapshot: Snapshot) -> str:
    """The snapshot as its JSON document."""
    dream, lessons = snapshot.dream, snapshot.lessons
    document = {
        "schema_version": SCHEMA_VERSION,
        "dream": {
            "missing": dream.missing,
            "byte_length": dream.byte_length,
            "prefix_hash": dream.prefix_hash,
        },
        "lessons": {
            "missing": lessons.missing,
            "line_count": lessons.line_count,
            "prefix_hash": lessons.prefix_hash,
            "ids": list(lessons.ids),
        },
    }
    return json.dumps(document, indent=2) + "\n"


def parse_snapshot(text: str) -> Snapshot | str:
    """The snapshot that a document holds, or why it is none. Unknown fields are ignored."""
    try:
        document = json.loads(text.removeprefix("\ufeff"))
    except (ValueError, RecursionError):
        return "it is no JSON document"
    if not isinstance(document, dict) or document.get("schema_version") != SCHEMA_VERSION:
        return f"it is no snapshot of schema_version {SCHEMA_VERSION}"
    dream, lessons = document.get("dream"), document.get("lessons")
    if not isinstance(dream, dict) or not isinstance(lessons, dict):
        return "it lacks `dream` or `lessons`"
    ids = lessons.get("ids") or []
    if not isinstance(ids, list):
        return "`lessons.ids` is no list"
    try:
        return Snapshot(
            dream=DreamState(
                missing=_flag(dream), byte_length=_count(dream, "byte_length"), prefix_hash=_hash(dream)
            ),
            lessons=LessonsState(
                missing=_flag(lessons), line_count=_count(lessons, "line_count"), prefix_hash=_hash(lessons),
                ids=tuple(str(name) for name in ids),
            ),
        )  # fmt: skip
    except ValueError as error:
        return str(error)


def _flag(state: Mapping[str, object]) -> bool:
    value = state.get("missing", False)
    if value is not True and value is not False:
        raise ValueError("`missing` is neither true nor false")
    return bool(value)


def _count(state: Mapping[str, object], name: str) -> int:
    value = state.get(name)
    if value is None and _flag(state):
        return 0
    if isinstance(value, bool) or not isinstance(value, int) or value < 0:
        raise ValueError(f"`{name}` is no count")
    return value


def _hash(state: Mapping[str, object]) -> str:
    value = state.get("prefix_hash")
    if _flag(state):
        return bytes_hash(b"")
    if not isinstance(value, str) or not re.fullmatch(r"[0-9a-fA-F]{64}", value):
        raise ValueError("`prefix_hash` is no SHA-256")
    return value.lower()


def lines_hash(lines: Iterable[bytes]) -> str:
    """SHA-256 over lines joined by one line feed, in hex."""
    return bytes_hash(b"\n".join(lines))


def bytes_hash(data: bytes) -> str:
    """SHA-256 of `data`, in hex."""
    return hashlib.sha256(data).hexdigest()
