"""The ledger of the reach on the disk: one file and one lock for all vaults of the account.

A request may be sent only by whoever holds a `Granted`, and its row is on the disk before anybody holds one. What
crashes in between is counted as spent. Not promised: that a ledger which somebody deletes is missed, or that a clock
which runs ahead is noticed.
"""

from __future__ import annotations

import errno
import os
import secrets
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Literal

from aria_dream.dream.budget import EXCESS, NOTED, Refused, Row, parse_ledger, plan_reservation, render_row
from aria_dream.effects.lock import VaultLock
from aria_dream.effects.swap import sync_file, sync_folder
from aria_dream.errors import Problem, WriteRefusedError

if TYPE_CHECKING:
    from collections.abc import Callable
    from datetime import tzinfo
    from pathlib import Path

    from aria_dream.policy.settings import Settings

LEDGER = "reach-ledger.tsv"
LOCK = "reach-ledger.lock"
Resolution = Literal[
    "homes", "orphan", "neither", "stands", "falls", "unsure", "unparsed", "refused", "failed", "aborted", "unsent"
]

_SEAL = object()


@dataclass(frozen=True, slots=True, kw_only=True)
class Granted:
    """Leave to send one reach, already counted. Only `reserve` makes one."""

    row: Row
    """As it stands in the ledger."""
    state: Path
    zone: tzinfo
    seal: object = field(repr=False, compare=False, default=None)

    def __post_init__(self) -> None:
        if self.seal is not _SEAL:
            raise TypeError("only aria_dream.effects.ledger.reserve grants a reach")


def utc_now() -> datetime:
    """The machine's clock."""
    return datetime.now(UTC)


def read_ledger(state: Path) -> tuple[tuple[Row, ...], tuple[Problem, ...]]:
    """The rows, and what is wrong with the file. One that does not exist is empty. Takes no lock.

    Raises:
        OSError: it is there and cannot be read; nothing may be spent then.
    """
    try:
        content = (state / LEDGER).read_bytes()
    except FileNotFoundError:
        return (), ()
    return parse_ledger(content.decode("utf-8", "replace"))


def reserve(
    state: Path, settings: Settings, zone: tzinfo, *, kind: str, clock: Callable[[], datetime] = utc_now
) -> Granted | Refused:
    """Leave to send one reach of `kind`, or why not. The row is on the disk, synced, when this returns.

    The budget is looked at under the lock, at the time the clock then says, so two callers never share a remainder.

    Raises:
        BusyError: another process kept the lock.
    """
    try:
        with _lock(state).held():
            rows, _ = read_ledger(state)
            now = clock()
            planned = plan_reservation(rows, settings, now, zone, kind=kind, reach_id=secrets.token_hex(8))
            if isinstance(planned, Refused):
                if rows and rows[-1].at is None:  # from here on the torn line grows old
                    append_row(state / LEDGER, Row(at=now.astimezone(zone), kind=kind, verdict=NOTED, id=""))
                return planned
            append_row(state / LEDGER, planned)
    except (OSError, WriteRefusedError) as error:
        return Refused(reason=f"the ledger {state / LEDGER} cannot be kept: {error}")
    return Granted(row=planned, state=state, zone=zone, seal=_SEAL)


def resolve(granted: Granted, verdict: Resolution, *, clock: Callable[[], datetime] = utc_now) -> None:
    """Say what came of the reach. `unsent` gives its requests back, so it is for one of which nothing left.

    Raises:
        WriteRefusedError: the disk would not; the reach stays counted.
    """
    _note(granted, verdict, 0, clock)


def excess(granted: Granted, requests: int, *, clock: Callable[[], datetime] = utc_now) -> None:
    """Count what the reach sent in all, where that is more than was set aside; else nothing happens.

    Raises:
        WriteRefusedError: the disk would not.
    """
    more = requests - granted.row.requests
    if more > 0:
        _note(granted, EXCESS, more, clock)


def _note(granted: Granted, verdict: str, requests: int, clock: Callable[[], datetime]) -> None:
    at = clock().astimezone(granted.zone)
    row = Row(at=at, kind=granted.row.kind, verdict=verdict, id=granted.row.id, requests=requests)
    try:
        with _lock(granted.state).held():
            append_row(granted.state / LEDGER, row)
    except OSError as error:
        place = granted.state / LEDGER
        raise WriteRefusedError(f"{place} was not written: {error.strerror or error}") from error


def _lock(state: Path) -> VaultLock:
    return VaultLock(state / LOCK, "a reach's reservation")


def append_row(path: Path, row: Row) -> None:
    """One `write` and an fsync. Where a crash tore the last line, the row begins a new one; that line stays.

    Whoever calls it holds the lock. Raises `OSError` where the disk would not; the file is then as it was.
    """
    line = render_row(row).encode()
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
