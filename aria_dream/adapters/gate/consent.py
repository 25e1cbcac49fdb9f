"""This machine's confirmation that text of notes may leave it. It lies in the state folder, where no vault reaches.

It is read again before every call, so a confirmation that was withdrawn counts at once.
"""

from __future__ import annotations

import json
import os
import socket
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Final

from aria_dream.errors import WriteRefusedError

if TYPE_CHECKING:
    from pathlib import Path

CONSENT: Final = "consent.json"
VERSION: Final = 1
HOW: Final = "`aria-dream consent --give` confirms it"
_TRIAGE: Final = (
    "where a policy says `allow_remote_triage: on`, a judge on another machine (`ollama_url`, `triage_url`) may be"
    " sent excerpts of the two notes it judges"
)
_REACH: Final = (
    "a reach, and an independent review at proposals (`janus_backend: codex`), may send such excerpts, or a seed of"
    " yours, through Codex CLI to the model that `reach_model` names"
)
PERMITS: Final = (_TRIAGE, _REACH)
"""What a confirmation permits; it is written into it as the person was shown it."""
WITHHELD: Final = (
    "notes that `exclude` or `dream: false` hides, notes of `never_send` or tagged `#private`, and their names in"
    " other notes; properties, comments, keys and addresses"
)
"""What never leaves, confirmed or not."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Confirmed:
    """Somebody confirmed, on this very machine."""

    machine: str
    """Its host name."""
    at: datetime
    permits: tuple[str, ...]
    """What the person was shown; empty where that was not recorded."""


@dataclass(frozen=True, slots=True)
class Unconfirmed:
    """Nothing may leave."""

    reason: str
    """One clause for the writer."""


def read_consent(state: Path, *, machine: str | None = None) -> Confirmed | Unconfirmed:
    """The confirmation, or why there is none. A copied, damaged or foreign file is none."""
    path = state / CONSENT
    try:
        found = json.loads(path.read_bytes())
    except FileNotFoundError:
        return Unconfirmed("nobody confirmed it")
    except (OSError, ValueError, RecursionError):
        return Unconfirmed(f"{path} cannot be read, so it confirms nothing")
    here = machine or socket.gethostname()
    at = _instant(found.get("confirmed_at")) if isinstance(found, dict) and found.get("version") == VERSION else None
    if at is None:
        return Unconfirmed(f"{path} is no confirmation that this version understands")
    if found.get("machine") != here:
        return Unconfirmed("the confirmation was given on another machine, or before this one got another name")
    permits = found.get("permits")
    told = tuple(str(each) for each in permits) if isinstance(permits, list) else ()
    return Confirmed(machine=here, at=at, permits=told)


def _instant(value: object) -> datetime | None:
    try:
        return datetime.fromisoformat(value) if isinstance(value, str) else None
    except ValueError:
        return None


def has_consent(state: Path, *, machine: str | None = None) -> bool:
    """Whether the account confirmed on this very machine. A copied, damaged or foreign file is no confirmation."""
    return isinstance(read_consent(state, machine=machine), Confirmed)


def write_consent(state: Path, at: datetime, *, machine: str | None = None) -> None:
    """Confirm, for this machine, what `PERMITS` says. Only a person's own act may call this.

    Raises:
        WriteRefusedError: the state folder cannot be written.
    """
    record = {
        "version": VERSION,
        "machine": machine or socket.gethostname(),
        "confirmed_at": at.isoformat(),
        "permits": list(PERMITS),
    }
    path = state / CONSENT
    temp = path.with_name(f"{CONSENT}.{os.getpid()}.tmp")
    try:
        state.mkdir(mode=0o700, parents=True, exist_ok=True)
        temp.write_text(json.dumps(record) + "\n", encoding="utf-8")
        temp.replace(path)
    except OSError as error:
        raise WriteRefusedError(f"{path} was not written: {error.strerror or error}") from error


def withdraw_consent(state: Path) -> bool:
    """Whether there was anything to withdraw; nothing is confirmed when this returns.

    Raises:
        WriteRefusedError: the file cannot be removed, so the confirmation still holds.
    """
    path = state / CONSENT
    try:
        path.unlink()
    except FileNotFoundError:
        return False
    except OSError as error:
        raise WriteRefusedError(f"{path} was not removed: {error.strerror or error}") from error
    return True
