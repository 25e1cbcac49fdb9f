"""A reach's block on its way into the day's dream note, planned afresh where somebody changed a note meanwhile."""

from __future__ import annotations

from typing import TYPE_CHECKING, assert_never

from aria_dream.dream.reach_landing import plan_landing, said_already, touched
from aria_dream.effects.writing import bytes_or_refuse
from aria_dream.errors import WriteRefusedError
from aria_dream.policy.residence import choose_log
from aria_dream.vault.edit import Exists, Refusal
from aria_dream.vault.note import NotePath, decode_note
from aria_dream.world import Conflict, Content, Failed, Refused, Written

if TYPE_CHECKING:
    from collections.abc import Callable
    from datetime import time

    from aria_dream.dream.reach_record import ReachRecord
    from aria_dream.effects.dreamt_vault import DreamtVault
    from aria_dream.world import VaultFiles

WRITE_ATTEMPTS = 4


def write_landing(
    reach: ReachRecord, files: VaultFiles, look: Callable[[], DreamtVault], *, host: str = "", quiet_s: float = 0.0
) -> str:
    """Vault path of the dream note, in which the block stands when this returns. Safe to repeat.

    Raises:
        WriteRefusedError: the note takes no block now; nothing was written.
        BusyError: another of our processes writes and does not end.
    """
    files.recover()
    for attempt in range(WRITE_ATTEMPTS):
        vault = look()
        note = choose_log(vault.names, vault.home, reach.at.date())
        before = {path: bytes_or_refuse(files, path, otherwise=_REFUSED) for path in touched(note, vault.home)}
        changes = plan_landing(reach, note, vault.home, before, host=host)
        if isinstance(changes, Refusal):
            raise WriteRefusedError(f"{_REFUSED}: {note}: {changes.reason.removeprefix(f'{note} ')}")
        if not changes.writes:
            return note
        outcome = files.write(changes, label="reach", quiet_s=quiet_s)
        match outcome:
            case Written():
                return note
            case Conflict() | Exists() if attempt + 1 < WRITE_ATTEMPTS and not quiet_s:
                continue
            case Conflict() | Refused() | Failed():
                raise WriteRefusedError(f"{_REFUSED}: {outcome.path}: {outcome.reason}")
            case Exists():
                raise WriteRefusedError(f"{_REFUSED}: “{outcome.path}” has appeared meanwhile")
            case _:
                assert_never(outcome)
    raise AssertionError("the last attempt returns or raises")


def said_before(reach: ReachRecord, files: VaultFiles, vault: DreamtVault) -> time | None:
    """When the day's dream note said the very same last: that nothing was sent, for the same reason. None: it did not.
    """
    content = files.read(NotePath(choose_log(vault.names, vault.home, reach.at.date())))
    return said_already(decode_note(content.data), reach.block) if isinstance(content, Content) else None


_REFUSED = "the answer is kept, but its block was not written"
