"""What the writer has been told of the state files already: a line that a crash tore cannot be mended, so it is told
once.
"""

from __future__ import annotations

import json
import os
from contextlib import suppress
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

TOLD = "told.json"


def tell_once(state_folder: Path, problems: Iterable[str]) -> tuple[str, ...]:
    """Those of `problems` that have not been told before; from now on they have. Where the disk refuses to remember,
    they are told again."""
    place = state_folder / TOLD
    try:
        known = {str(one) for one in json.loads(place.read_bytes())}
    except (OSError, ValueError, TypeError, RecursionError):
        known = set()
    new = tuple(dict.fromkeys(one for one in problems if one not in known))
    if new:
        temp = state_folder / f".{TOLD}.{os.getpid()}"
        with suppress(OSError):
            temp.write_text(json.dumps(sorted(known.union(new))) + "\n", encoding="utf-8")
            temp.replace(place)
    return new
