"""A reach's block on its way into a dream note, planned afresh where somebody changed a note meanwhile.

Where the day's note takes no block (it ends in an open fence, is a plugin's, read-only, being typed into), the block
waits in the journal, and the note of the day on which it is tried again gets it.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, assert_never

from aria_dream.adapters.disk.writing import bytes_or_refuse
from aria_dream.errors import WriteRefusedError
from aria_dream.markdown.note import NotePath, decode_note
from aria_dream.policy.file_layout import choose_log, log_notes
from aria_dream.reach.reach_landing import late_origin, paths_to_read, plan_landing, said_already, stands_in
from aria_dream.vault.edit import Exists, Refusal
from aria_dream.world import Conflict, Content, Failed, Refused, Written

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from datetime import date, time

    from aria_dream.adapters.index.dreamt_vault import DreamtVault
    from aria_dream.reach.reach_record import ReachRecord
    from aria_dream.world import VaultFiles

WRITE_ATTEMPTS = 4
_UNREAD = "it cannot be read now"


@dataclass(frozen=True, slots=True)
class Landed:
    """The block stands in a dream note."""

    note: str
    """Vault path."""


@dataclass(frozen=True, slots=True)
class Waits:
    """No dream note takes the block now. Nothing was written; the journal keeps it."""

    reason: str
    """One clause that names the note."""


def land(
    reach: ReachRecord,
    files: VaultFiles,
    look: Callable[[], DreamtVault],
    *,
    today: date,
    host: str = "",
    quiet_s: float = 0.0,
) -> Landed | Waits:
    """Where the block stands when this returns, or why it waits. Safe to repeat: it is never written twice.

    `today`: the writer's. The note of the reach's own day comes first; a later one gets the block with that day in it.

    Raises:
        BusyError: another of our processes writes and does not end.
    """
    files.recover()
    reason = ""
    for day in _days(reach, files, look(), today):
        late = day != reach.at.date()
        origin = late_origin(reach.block.origin, reach.at.date())
        told = replace(reach, block=replace(reach.block, origin=origin)) if late else reach
        try:
            return Landed(_write(told, day, files, look, host=host, quiet_s=quiet_s))
        except WriteRefusedError as error:
            reason = reason or str(error)
    return Waits(reason)


def _days(reach: ReachRecord, files: VaultFiles, vault: DreamtVault, today: date) -> Iterator[date]:
    """The days whose notes are tried: that which holds the block already, else the reach's own and then today's."""
    own = reach.at.date()
    for path, day in log_notes(vault.names):
        content = files.read(NotePath(path)) if own <= day <= max(own, today) else None
        if isinstance(content, Content) and stands_in(decode_note(content.data), reach.block):
            yield day
            return
    yield own
    if today > own:
        yield today


def _write(
    reach: ReachRecord,
    day: date,
    files: VaultFiles,
    look: Callable[[], DreamtVault],
    *,
    host: str,
    quiet_s: float,
) -> str:
    """Vault path of the day's dream note, in which the block stands when this returns.

    Raises:
        WriteRefusedError: the note takes no block now; the clause says why.
    """
    for attempt in range(WRITE_ATTEMPTS):
        vault = look()
        note = choose_log(vault.names, vault.home, day)
        before = {path: bytes_or_refuse(files, path, otherwise=_UNREAD) for path in paths_to_read(note, vault.home)}
        changes = plan_landing(reach, day, note, vault.home, before, host=host)
        if isinstance(changes, Refusal):
            raise WriteRefusedError(f"{note}: {changes.reason.removeprefix(f'{note} ')}")
        if not changes.writes:
            return note
        outcome = files.write(changes, label="reach", quiet_s=quiet_s)
        match outcome:
            case Written():
                return note
            case Conflict() | Exists() if attempt + 1 < WRITE_ATTEMPTS and not quiet_s:
                continue
            case Conflict() | Refused() | Failed():
                raise WriteRefusedError(f"{outcome.path}: {outcome.reason}")
            case Exists():
                raise WriteRefusedError(f"“{outcome.path}” has appeared meanwhile")
            case _:
                assert_never(outcome)
    raise AssertionError("the last attempt returns or raises")


def said_before(reach: ReachRecord, files: VaultFiles, vault: DreamtVault) -> time | None:
    """When the day's dream note said the very same last: that nothing was sent, for the same reason. None: it did not.
    """
    content = files.read(NotePath(choose_log(vault.names, vault.home, reach.at.date())))
    return said_already(decode_note(content.data), reach.block) if isinstance(content, Content) else None
