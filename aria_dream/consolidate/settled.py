"""What a person has said about findings that no proposal stands for, as records of `runs.jsonl`: that a contradiction
is none, that two passages are different, or the same, that a note was looked at. The last word counts, and each can be
taken back.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Literal, get_args

from aria_dream.notes.jsonl import as_moment, as_text, as_texts, parse_records

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from datetime import datetime

What = Literal["no contradiction", "different", "same", "looked at"]
WHATS: Final[tuple[What, ...]] = get_args(What)
VERSION: Final = 1
SETTLED: Final = "dismissed"
"""Type of the record. One without `what` is a contradiction's."""
RECALLED: Final = "recalled"
SHORTEST_KEY: Final = 6
"""So many hex digits of a key are enough to name it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Settled:
    """One such decision that holds."""

    key: str
    """32 hex digits: `conflict_key`, `open_pairs.apart_key`, `open_pairs.same_key` or `Stale.mark`."""
    what: What
    titles: tuple[str, ...]
    """Both, as the list named them; empty in records of earlier versions."""
    at: datetime
    """Aware."""


def settled_record(key: str, what: What, titles: Sequence[str], at: datetime) -> dict[str, object]:
    """The record of a decision."""
    return {"type": SETTLED, "version": VERSION, "key": key, "what": what, "titles": list(titles), "at": at.isoformat()}


def recalled_record(key: str, at: datetime) -> dict[str, object]:
    """The record that it was taken back."""
    return {"type": RECALLED, "version": VERSION, "key": key, "at": at.isoformat()}


def parse_settled(text: str) -> dict[str, Settled]:
    """Key to decision, of those in `runs.jsonl` that hold, oldest first. Lines that lack something are left out."""
    found: dict[str, Settled] = {}
    for _, record in parse_records(text)[0]:
        if record.get("type") not in (SETTLED, RECALLED):
            continue
        try:
            one = _settled(record)
        except (KeyError, TypeError, ValueError):
            continue
        found.pop(one.key, None)
        if record["type"] == SETTLED:
            found[one.key] = one
    return found


def parse_heard(text: str) -> frozenset[str]:
    """Every key in `runs.jsonl` that a decision was ever about, those that were taken back included."""
    found = (record.get("key") for _, record in parse_records(text)[0] if record.get("type") in (SETTLED, RECALLED))
    return frozenset(key for key in found if isinstance(key, str))


def find_settled(settled: Mapping[str, Settled], name: str) -> Settled | None:
    """The decision that `name` means: its key or an unambiguous beginning, as it stands in a list or in the history."""
    wanted = name.lower().removesuffix("-undo").rpartition("-")[2].removeprefix("^")
    found = [one for key, one in settled.items() if len(wanted) >= SHORTEST_KEY and key.startswith(wanted)]
    return found[0] if len(found) == 1 else None


def _settled(record: Mapping[str, object]) -> Settled:
    said = record.get("what", "no contradiction")
    what = next((one for one in WHATS if one == said), None)
    if what is None:
        raise ValueError("what")
    return Settled(
        key=as_text(record["key"]),
        what=what,
        titles=as_texts(record.get("titles", [])),
        at=as_moment(record["at"]),
    )
