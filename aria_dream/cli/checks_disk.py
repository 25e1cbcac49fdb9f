"""What `doctor` looks at of the disk: whether notes can be read and written, who holds the locks, and where a service
of the vault keeps its state."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from aria_dream.adapters.disk.safe_path import is_placeholder
from aria_dream.adapters.disk.write_probe import held_locks, write_refusal
from aria_dream.cli.checks import Finding, Health
from aria_dream.cli.output import counted

if TYPE_CHECKING:
    from collections.abc import Iterator

    from aria_dream.adapters.index.scan import VaultScan
    from aria_dream.cli.checks import Patient

_NAMED = 3
"""So many notes are named; of more, only the number is told."""


def check_notes(patient: Patient) -> Iterator[Finding]:
    """Whether every note may be read. One that a cloud drive has moved off this device is left there."""
    if patient.scan is None:
        return
    root = _root(patient.scan)
    notes = [path for path in patient.scan.snapshot.files if path.lower().endswith(".md")]
    refused = [f"{path} ({why})" for path in notes if (why := _unreadable(root.joinpath(*path.split("/"))))]
    if refused:
        more = f" and {len(refused) - _NAMED} more" if len(refused) > _NAMED else ""
        text = f"{counted(len(refused), 'note')} cannot be read: {', '.join(sorted(refused)[:_NAMED])}{more}"
        text += "; give yourself the right to read them, or exclude them in the policy"
        yield Finding(topic="vault", name="notes", health=Health.BROKEN, text=text)


def _root(scan: VaultScan) -> Path:
    return Path(scan.root.removeprefix("\\\\?\\"))


def _unreadable(place: Path) -> str:
    """Why the file cannot be read; `""` where it can, or is gone."""
    try:
        if not is_placeholder(os.lstat(place)):
            os.close(os.open(place, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0)))
    except FileNotFoundError:
        return ""
    except OSError as error:
        return (error.strerror or str(error)).lower()
    return ""


def check_vault_disk(patient: Patient) -> Iterator[Finding]:
    """Whether the vault takes what a dream writes."""
    if patient.scan is None or patient.live is None:
        return
    folder = _root(patient.scan).joinpath(*patient.live.policy.settings.dream_folder.split("/"))
    if refusal := write_refusal(folder):
        yield Finding(topic="vault", name="writing", health=Health.BROKEN, text=refusal)
    else:
        yield Finding(topic="vault", name="writing", health=Health.OK, text="a file was written and removed again")


def check_locks(patient: Patient) -> Iterator[Finding]:
    """Who works on the vault now, and whether they will let go of it."""
    if patient.live is None:
        return
    try:
        held = list(held_locks(patient.live.state_folder(patient.places)))
    except OSError as error:
        text = f"who works on the vault cannot be told ({error.strerror or error})"
        yield Finding(topic="vault", name="locks", health=Health.NOTE, text=text)
        return
    for lock in held:
        text = f"{lock.name} is held by {lock.holder or 'a process that does not say who it is'}"
        text += f"; {lock.trouble}" if lock.trouble else ""
        health = Health.BROKEN if lock.trouble else Health.OK
        yield Finding(topic="vault", name="locks", health=health, text=text)
    if not held:
        yield Finding(topic="vault", name="locks", health=Health.OK, text="nobody works on the vault now")


def check_service(patient: Patient) -> Iterator[Finding]:
    """Whether the service of the vault, where one is installed, uses the folders that are in force here."""
    from aria_dream.adapters.disk.places import FOLDER_VARIABLES
    from aria_dream.adapters.machine.service import WriteFile, folders_in
    from aria_dream.cli.service import plan_for

    if patient.scan is None:
        return
    plan = plan_for(_root(patient.scan))
    try:
        installed = plan.file.read_bytes()
    except OSError:
        return  # none is
    ours = next(step.content for step in plan.install if isinstance(step, WriteFile))
    if folders_in(installed) == folders_in(ours):
        yield Finding(topic="vault", name="service", health=Health.OK, text=f"{plan.name} uses the same folders")
        return
    here = ", ".join(name for name in FOLDER_VARIABLES if os.environ.get(name)) or "no variable"
    text = f"{plan.file} names other folders than are in force here ({here}), so that two states are kept of the vault"
    text += "; set the same variables, or run `aria-dream service install` again"
    yield Finding(topic="vault", name="service", health=Health.BROKEN, text=text)
