"""`egress.jsonl` read back: what left this machine, when, to whom. It holds hashes and counts, never text."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from aria_dream.adapters.disk.journal import Journal
from aria_dream.adapters.disk.lock import writer_lock
from aria_dream.adapters.gate.egress import EGRESS
from aria_dream.errors import Problem, StateDamagedError
from aria_dream.notes.jsonl import as_mapping, as_moment, as_text, as_whole

if TYPE_CHECKING:
    from datetime import datetime
    from pathlib import Path


@dataclass(frozen=True, slots=True, kw_only=True)
class Egress:
    """One text that left, or was about to: it is logged before."""

    at: datetime
    purpose: str
    """`reach`, `janus`, `probe`, `triage`."""
    destination: str
    sha256: str
    """Of the whole text, 64 hex digits."""
    characters: int
    excerpts: int
    """How many excerpts were in it."""
    blanked: tuple[tuple[str, int], ...]
    """What had been taken out of them, by kind."""


def read_egress(state: Path) -> tuple[tuple[Egress, ...], tuple[Problem, ...]]:
    """Every record, oldest first, and lines that are none.

    Raises:
        StateDamagedError: the log is there and cannot be read.
    """
    try:
        records, problems = Journal(state / EGRESS, writer_lock(state)).read()
    except OSError as error:
        place = state / EGRESS
        raise StateDamagedError(f"{place} cannot be read ({error.strerror or error}); make it readable") from error
    found: list[Egress] = []
    faults = list(problems)
    for record in records:
        try:
            found.append(_egress(record))
        except (KeyError, TypeError, ValueError):
            faults.append(Problem(EGRESS, 0, "a record lacks something; it is not shown"))
    return tuple(found), tuple(faults)


def _egress(record: dict[str, object]) -> Egress:
    excerpts, blanked = record.get("excerpts", []), as_mapping(record.get("blanked", {}))
    return Egress(
        at=as_moment(record["at"]),
        purpose=as_text(record["purpose"]),
        destination=as_text(record["destination"]),
        sha256=as_text(record["sha256"]),
        characters=as_whole(record["characters"]),
        excerpts=len(excerpts) if isinstance(excerpts, list) else 0,
        blanked=tuple(sorted((kind, as_whole(count)) for kind, count in blanked.items())),
    )
