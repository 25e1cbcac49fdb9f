"""What is read or written now, or refused in one sentence: for whoever has nobody to retry for."""

from __future__ import annotations

from typing import TYPE_CHECKING, assert_never

from aria_dream.errors import WriteRefusedError
from aria_dream.markdown.note import NotePath
from aria_dream.vault.edit import Exists
from aria_dream.world import Absent, Conflict, Content, Failed, Refused, Written

if TYPE_CHECKING:
    from aria_dream.vault.edit import ChangeSet
    from aria_dream.world import VaultFiles


def write_or_refuse(
    files: VaultFiles, changes: ChangeSet, *, label: str, otherwise: str = "nothing was written"
) -> None:
    """Writes all of `changes`; they are on the disk when this returns.

    Raises:
        WriteRefusedError: none of them is; the sentence begins with `otherwise` and says why.
        BusyError: another of our processes writes and does not end.
    """
    try:
        outcome = files.write(changes, label=label)
    except OSError as error:  # the journal's folder: without a journal nothing is written
        raise WriteRefusedError(f"{otherwise}: {error.filename or 'the disk'}: {error.strerror or error}") from error
    match outcome:
        case Written():
            return
        case Exists():
            raise WriteRefusedError(f"{otherwise}: “{outcome.path}” has appeared meanwhile; run it again")
        case Conflict() | Refused() | Failed():
            raise WriteRefusedError(f"{otherwise}: {outcome.path}: {outcome.reason}")
        case _:
            assert_never(outcome)


def bytes_or_refuse(files: VaultFiles, path: str, *, otherwise: str) -> bytes | None:
    """What the note at `path` reads; None where there is none.

    Raises:
        WriteRefusedError: it may not be read; the sentence begins with `otherwise` and says why.
    """
    found = files.read(NotePath(path))
    match found:
        case Content(data=data):
            return data
        case Absent():
            return None
        case Refused(reason=reason):
            raise WriteRefusedError(f"{otherwise}: {path}: {reason}")
        case _:
            assert_never(found)
