"""Which kinds a person has let pass without a tick: `graduation.json` in the vault's state folder.

`{"version": 1, "enabled": {"link": "2026-11-30T07:41:00+01:00"}}`. A file that is not there or cannot be read lets
nothing pass.
"""

from __future__ import annotations

import json
import os
from contextlib import suppress
from typing import TYPE_CHECKING, Final

from aria_dream.errors import WriteRefusedError
from aria_dream.notes.jsonl import as_mapping, as_moment
from aria_dream.review.graduation import NEVER
from aria_dream.review.proposal import KINDS

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import datetime
    from pathlib import Path

    from aria_dream.review.proposal import Kind

NAME: Final = "graduation.json"
VERSION: Final = 1


def read_graduated(state_folder: Path) -> dict[Kind, datetime]:
    """The kinds that pass, and since when. Empty where the file is missing, damaged, or of a later version."""
    try:
        found = as_mapping(json.loads((state_folder / NAME).read_bytes()))
        if found.get("version") != VERSION:
            return {}
        enabled = as_mapping(found["enabled"])
        return {kind: as_moment(enabled[kind]) for kind in KINDS if kind in enabled and kind not in NEVER}
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        return {}


def write_graduated(state_folder: Path, enabled: Mapping[Kind, datetime]) -> None:
    """Lets exactly these kinds pass from now on.

    Raises:
        WriteRefusedError: the state folder cannot be written; nothing has changed.
    """
    path = state_folder / NAME
    temp = path.with_name(f".{NAME}.{os.getpid()}")
    record = {"version": VERSION, "enabled": {kind: at.isoformat() for kind, at in enabled.items()}}
    try:
        state_folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        temp.write_text(json.dumps(record, indent=1) + "\n", encoding="ascii")
        temp.replace(path)
    except OSError as error:
        with suppress(OSError):
            temp.unlink()
        raise WriteRefusedError(f"{path} was not written: {error.strerror or error}") from error
