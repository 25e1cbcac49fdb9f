"""The ledger of the reach on the disk, one file and one lock for all vaults of the account, and each vault's record.

A request may be sent only by whoever holds a `Granted`, and its row is on the disk before anybody holds one. What
crashes in between is counted as spent. Not promised: that a ledger which somebody deletes is missed, or that a clock
which runs ahead is noticed. A vault's state folder holds which of its pairs are answered (`reach-memo.tsv`), and how
far each reach got; neither needs to exist.
"""

from __future__ import annotations

import errno
import os
import secrets
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from aria_dream.adapters.disk.journal import Journal, read_text
from aria_dream.adapters.disk.lock import VaultLock, writer_lock
from aria_dream.adapters.disk.swap import sync_file, sync_folder
from aria_dream.adapters.state.record_store import RUNS
from aria_dream.errors import Problem, WriteRefusedError
from aria_dream.reach.answer_cache import known_already, parse_answer_cache, render_cached_answer
from aria_dream.reach.budget import (
    EXCESS,
    INITIATED,
    NOTED,
    BudgetRefusal,
    LedgerRow,
    count_spent,
    parse_ledger,
    plan_reservation,
    render_row,
)
from aria_dream.reach.reach_record import landed_record, parse_reaches, reach_record

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from datetime import tzinfo
    from pathlib import Path

    from aria_dream.policy.settings import Settings
    from aria_dream.reach.answer_cache import CachedAnswer
    from aria_dream.reach.budget import Resolution, Spent
    from aria_dream.reach.reach_record import ReachRecord

LEDGER = "reach-ledger.tsv"
LOCK = "reach-ledger.lock"

_SEAL = object()


@dataclass(frozen=True, slots=True, kw_only=True)
class Granted:
    """The permit to send one reach, already counted. Only `reserve` makes one."""

    row: LedgerRow
    """As it stands in the ledger."""
    state: Path
    zone: tzinfo
    seal: object = field(repr=False, compare=False, default=None)

    def __post_init__(self) -> None:
        if self.seal is not _SEAL:
            raise TypeError("only aria_dream.adapters.gate.ledger.reserve grants a reach")


def utc_now() -> datetime:
    """The machine's clock."""
    return datetime.now(UTC)


def read_ledger(state: Path) -> tuple[tuple[LedgerRow, ...], tuple[Problem, ...]]:
    """The rows, and what is wrong with the file. One that does not exist is empty. Takes no lock.

    Raises:
        OSError: it is there and cannot be read; nothing may be spent then.
    """
    try:
        content = (state / LEDGER).read_bytes()
    except FileNotFoundError:
        return (), ()
    return parse_ledger(content.decode("utf-8", "replace"))


def counted(state: Path, settings: Settings, now: datetime) -> Spent | None:
    """What each window of the budget holds at `now` (aware, in the writer's zone); None where nobody can tell."""
    assert now.tzinfo is not None
    try:
        return count_spent(read_ledger(state)[0], settings, now, now.tzinfo)
    except OSError:
        return None


def reserve(
    state: Path, settings: Settings, zone: tzinfo, *, kind: str, clock: Callable[[], datetime] = utc_now
) -> Granted | BudgetRefusal:
    """The permit to send one reach of `kind`, or why not. The row is on the disk, synced, when this returns.

    The budget is looked at under the lock, at the time the clock then says, so two callers never share a remainder.

    Raises:
        BusyError: another process kept the lock.
    """
    try:
        with _lock(state).held():
            rows, _ = read_ledger(state)
            now = clock()
            planned = plan_reservation(rows, settings, now, zone, kind=kind, reach_id=secrets.token_hex(8))
            if isinstance(planned, BudgetRefusal):
                if rows and rows[-1].at is None:  # from here on the torn line grows old
                    append_row(state / LEDGER, LedgerRow(at=now.astimezone(zone), kind=kind, verdict=NOTED, id=""))
                return planned
            append_row(state / LEDGER, planned)
    except (OSError, WriteRefusedError) as error:
        return BudgetRefusal(reason=f"the ledger {state / LEDGER} cannot be kept: {error}")
    return Granted(row=planned, state=state, zone=zone, seal=_SEAL)


def resolve(granted: Granted, verdict: Resolution, *, clock: Callable[[], datetime] = utc_now) -> None:
    """Say what came of the reach. `unsent` gives its requests back, so it is for one of which nothing left.

    Raises:
        WriteRefusedError: the disk would not; the reach stays counted.
    """
    settle(granted.state, granted.zone, reach_id=granted.row.id, verdict=verdict, clock=clock)


def settle(
    state: Path,
    zone: tzinfo,
    *,
    reach_id: str,
    verdict: Resolution,
    requests: int = 0,
    clock: Callable[[], datetime] = utc_now,
) -> None:
    """Say what came of a reach and what it sent, as far as its lines do not say it yet.

    `requests`: how many it sent in all, where that is known; those beyond what was set aside count as well. A reach
    without a line is left alone: nothing was reserved for it here. Safe to repeat.

    Raises:
        BusyError: another process kept the lock.
        WriteRefusedError: the disk would not; the reach stays counted.
    """
    try:
        with _lock(state).held():
            lines = [row for row in read_ledger(state)[0] if row.id == reach_id]
            if not lines:
                return
            begun, at = lines[0], clock().astimezone(zone)
            more = requests - begun.requests
            if more > 0 and not any(row.verdict == EXCESS for row in lines):
                excess_row = LedgerRow(at=at, kind=begun.kind, verdict=EXCESS, id=reach_id, requests=more)
                append_row(state / LEDGER, excess_row)
            if all(row.verdict in (INITIATED, EXCESS) for row in lines):
                sent = min(requests, begun.requests)
                append_row(
                    state / LEDGER, LedgerRow(at=at, kind=begun.kind, verdict=verdict, id=reach_id, requests=sent)
                )
    except OSError as error:
        raise WriteRefusedError(f"{state / LEDGER} was not written: {error.strerror or error}") from error


def _lock(state: Path) -> VaultLock:
    return VaultLock(state / LOCK, "a reach's reservation")


def append_row(path: Path, row: LedgerRow) -> None:
    """`append_line` of the row."""
    append_line(path, render_row(row))


def append_line(path: Path, text: str) -> None:
    """One `write` and an fsync. Where a crash tore the last line, `text` begins a new one; that line stays.

    Whoever calls it holds the file's lock. Raises `OSError` where the disk would not; the file is then as it was.
    """
    line = text.encode("utf-8", "surrogatepass")
    handle = os.open(path, os.O_RDWR | os.O_APPEND | os.O_CREAT | getattr(os, "O_BINARY", 0), 0o600)
    try:
        size_bytes = os.fstat(handle).st_size
        if size_bytes:
            os.lseek(handle, size_bytes - 1, os.SEEK_SET)
            if os.read(handle, 1) != b"\n":
                line = b"\n" + line
        if os.write(handle, line) != len(line):
            os.ftruncate(handle, size_bytes)  # our own half line, under the lock: nobody else's byte is cut
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        sync_file(handle)
    finally:
        os.close(handle)
    if size_bytes == 0:
        sync_folder(path.parent)


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
