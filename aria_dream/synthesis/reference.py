"""How a sentence of the memory is cited: where it stood, and what it said.

`memory/SESSION_LOG.md:7#2026-11-20-3f2a9c1b`: the file, the line on which the sentence stood when it was read, the day
of its block, and the beginning of the SHA-256 of its words. A log grows and its lines move; day and words do not.
A reference without `#` is of an earlier version: its line says nothing about what it meant.
"""

from __future__ import annotations

import re
from hashlib import sha256
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from datetime import date

_REF = re.compile(
    r"(?P<path>.+?)(?::\d+(?:-\d+)?)?(?:#(?:\d{4}-\d{2}-\d{2}-)?(?P<words>[0-9a-f]{8}))?", re.DOTALL
)


def make_ref(path: str, line: int, day: date | None, text: str) -> str:
    """The reference of a sentence `text` on that line (1-based) of a vault path."""
    words = " ".join(re.findall(r"\w+", text.casefold()))
    dated = f"{day}-" if day is not None else ""
    return f"{path}:{line}#{dated}{sha256(words.encode()).hexdigest()[:8]}"


def identity(ref: str) -> str:
    """What stays the same of a reference when lines move: file and words. An old one of line alone has none: "".

    A reference that is no place in a file (a commit, a run) is its own identity.
    """
    found = _REF.fullmatch(ref.strip())
    if found is None or found["words"] is None:
        return "" if re.search(r"\.(?:md|jsonl):\d+$", ref.strip()) else ref.strip()
    return f"{found['path']}#{found['words']}"


def path_of(ref: str) -> str:
    """The vault path that a reference names; the reference itself where it names none."""
    found = _REF.fullmatch(ref.strip())
    return found["path"] if found is not None else ref
