"""The exception tree (one exit code each) and `Problem`, an error as a value.

Human text never raises: it yields `(value, problems)`. A broken machine raises one of these. They are caught in `cli`
and around one daemon cycle, nowhere else. `docs/FORMATS.md` lists the exit codes; a test holds it to this module.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar


@dataclass(frozen=True, slots=True)
class Problem:
    """Something in a file that a person can mend. Never holds note text beyond the offending word."""

    path: str
    """Vault path of the file, `/`-separated; "" where the problem is not in a vault file."""
    line: int
    """1-based line; 0 where the problem is the whole file."""
    message: str
    """One sentence: what is wrong and what to do."""

    def __str__(self) -> str:
        place = f"{self.path}:{self.line}" if self.line else self.path
        return f"{place}: {self.message}" if place else self.message


class AriaDreamError(Exception):
    """Base of every error that `aria-dream` raises on purpose. `str(error)` is one clear sentence for the writer."""

    exit_code: ClassVar[int] = 1
    meaning: ClassVar[str] = "something went wrong that is none of the below"


class VaultUnreadableError(AriaDreamError):
    """The vault does not exist, is no folder, or cannot be read."""

    exit_code = 3
    meaning = "the vault does not exist, is not a folder, or cannot be read"


class NotFoundError(AriaDreamError):
    """A note, proposal, dream or seed that the command names does not exist (or its name is ambiguous)."""

    exit_code = 4
    meaning = "a note, proposal, dream or seed named on the command line does not exist or is ambiguous"


class BusyError(AriaDreamError):
    """Another process of ours holds the vault and did not let go in time."""

    exit_code = 5
    meaning = "another aria-dream process is working on this vault"


class WriteRefusedError(AriaDreamError):
    """A file was not written, or a change not wholly taken back: it changed meanwhile, is read-only or not ours, or the
    disk refused. Nothing was lost."""

    exit_code = 6
    meaning = (
        "a file was not written, or a change not wholly undone "
        "(changed meanwhile, read-only, not ours, disk full); nothing was lost"
    )


class PolicyClosedError(AriaDreamError):
    """`dreaming.md` does not permit what was asked, or could not be read and is therefore closed."""

    exit_code = 7
    meaning = "the policy does not permit this, or is unreadable and therefore closed"


class StateDamagedError(AriaDreamError):
    """A file in the state folder cannot be read and must not be guessed (ledgers, journals)."""

    exit_code = 8
    meaning = "a file in the state folder is damaged; the message names it and says what to do"


class MissingPartError(AriaDreamError):
    """A component (model, binary, server) that the command needs is not installed or does not answer."""

    exit_code = 9
    meaning = "a component that this command needs (a model, a binary, a server) is missing"
