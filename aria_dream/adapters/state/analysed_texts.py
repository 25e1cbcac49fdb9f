"""Which texts a night has looked at already, in the vault's state folder."""

from __future__ import annotations

import json
import os
from contextlib import suppress
from typing import TYPE_CHECKING, Final

from aria_dream.notes.jsonl import as_mapping, as_texts

if TYPE_CHECKING:
    from pathlib import Path

ANALYSED: Final = "analysed.json"
_MARK_DIGITS: Final = 16


def mark_of(state_hash: str) -> str:
    """The mark of a passage's text."""
    return state_hash[:_MARK_DIGITS]


def read_analysed(folder: Path) -> frozenset[str]:
    """Marks of the texts that were looked at; empty where that is not known."""
    try:
        return frozenset(as_texts(as_mapping(json.loads((folder / ANALYSED).read_bytes()))["texts"]))
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        return frozenset()


def write_analysed(folder: Path, marks: set[str]) -> None:
    """Keeps the marks. A disk that refuses is passed over: texts would only count as new once more."""
    temp = folder / f".{ANALYSED}.{os.getpid()}"
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        temp.write_text(json.dumps({"version": 1, "texts": sorted(marks)}) + "\n", encoding="ascii")
        temp.replace(folder / ANALYSED)
    except OSError:
        with suppress(OSError):
            temp.unlink()
