"""What this machine keeps of a vault's reaches: which pairs are answered (`reach-memo.tsv`), and how far each got.

Both lie in the vault's state folder. Neither needs to exist.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from aria_dream.adapters.disk.journal import Journal, read_text
from aria_dream.adapters.disk.lock import VaultLock, writer_lock
from aria_dream.adapters.gate.ledger import append_line
from aria_dream.adapters.state.record_store import RUNS
from aria_dream.errors import WriteRefusedError
from aria_dream.reach.answer_cache import known_already, parse_answer_cache, render_cached_answer
from aria_dream.reach.reach_record import landed_record, parse_reaches, reach_record

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from aria_dream.errors import Problem
    from aria_dream.reach.answer_cache import CachedAnswer
    from aria_dream.reach.reach_record import ReachRecord

MEMO = "reach-memo.tsv"


class ReachStore:
    """The memo and the steps of one vault's reaches."""

    def __init__(self, state_folder: Path) -> None:
        self._folder = state_folder
        self._lock = writer_lock(state_folder)
        self._runs = Journal(state_folder / RUNS, self._lock)

    def alone(self) -> VaultLock:
        """The lock of one reach, from choosing to its block: two at once would pay for one question twice."""
        return VaultLock(self._folder / "reach.lock", "a reach")

    def answer_cache(self) -> tuple[tuple[CachedAnswer, ...], tuple[Problem, ...]]:
        """The answered pairs, and lines that are none.

        Raises:
            StateDamagedError: it is there and cannot be read; a question might be paid for twice then.
        """
        return parse_answer_cache(read_text(self._folder / MEMO))

    def remember(self, rows: Iterable[CachedAnswer]) -> int:
        """Add those of `rows` that the memo does not know; how many there were.

        Raises:
            WriteRefusedError: the disk would not.
        """
        added = 0
        with self._lock.held():
            known = list(self.answer_cache()[0])
            for row in rows:
                if known_already(known, row):
                    continue
                try:
                    append_line(self._folder / MEMO, render_cached_answer(row))
                except OSError as error:
                    place = self._folder / MEMO
                    raise WriteRefusedError(f"{place} was not written: {error.strerror or error}") from error
                known.append(row)
                added += 1
        return added

    def reaches(self) -> tuple[tuple[ReachRecord, ...], tuple[Problem, ...]]:
        """Every reach in the order it was begun, and broken records.

        Raises:
            StateDamagedError: the journal is there and cannot be read.
        """
        return parse_reaches(read_text(self._folder / RUNS))

    def note(self, reach: ReachRecord) -> None:
        """Journal the step that `reach` has come to: `begun` or `answered`. It is synced when this returns.

        Raises:
            WriteRefusedError: the disk would not.
        """
        self._runs.append(reach_record(reach))

    def landed(self, reach: ReachRecord) -> None:
        """Journal that the block of `reach` stands in the vault.

        Raises:
            WriteRefusedError: the disk would not; the next run finds the block there.
        """
        self._runs.append(landed_record(reach))
