"""This machine's confirmation that text of notes may leave it. It lies in the state folder, where no vault reaches."""

from __future__ import annotations

import json
import os
import socket
from typing import TYPE_CHECKING

from aria_dream.errors import WriteRefusedError

if TYPE_CHECKING:
    from datetime import datetime
    from pathlib import Path

CONSENT = "consent.json"


def has_consent(state: Path, *, machine: str | None = None) -> bool:
    """Whether the account confirmed on this very machine. A copied, damaged or foreign file is no confirmation."""
    try:
        found = json.loads((state / CONSENT).read_bytes())
    except (OSError, ValueError, RecursionError):
        return False
    if not isinstance(found, dict) or found.get("version") != 1 or not isinstance(found.get("confirmed_at"), str):
        return False
    return found.get("machine") == (machine or socket.gethostname())


def write_consent(state: Path, at: datetime, *, machine: str | None = None) -> None:
    """Confirm, for this machine. Only a person's own act may call this.

    Raises:
        WriteRefusedError: the state folder cannot be written.
    """
    record = {"version": 1, "machine": machine or socket.gethostname(), "confirmed_at": at.isoformat()}
    path = state / CONSENT
    temp = path.with_name(f"{CONSENT}.{os.getpid()}.tmp")
    try:
        state.mkdir(mode=0o700, parents=True, exist_ok=True)
        temp.write_text(json.dumps(record) + "\n", encoding="utf-8")
        temp.replace(path)
    except OSError as error:
        raise WriteRefusedError(f"{path} was not written: {error.strerror or error}") from error
