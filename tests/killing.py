"""What the tests of kill -9 share: a driver in a process of its own, a folder in memory, and a journal counted."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections import Counter
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

REPOSITORY = Path(__file__).resolve().parent.parent


def points(driver: Path, *arguments: str) -> int:
    """How many points the driver tried; it raises at the first broken promise."""
    done = subprocess.run(
        [sys.executable, str(driver), *arguments],
        env={**os.environ, "PYTHONPATH": str(REPOSITORY)},
        capture_output=True,
        text=True,
        timeout=280,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    return int(done.stdout)


@contextmanager
def folder_in_memory(otherwise: Path) -> Iterator[Path]:
    """A folder in memory where there is one: SIGKILL loses nothing that only a sync would save, and syncs are slow."""
    if not os.access("/dev/shm", os.W_OK):
        yield otherwise
        return
    with tempfile.TemporaryDirectory(dir="/dev/shm") as folder:
        yield Path(folder)


def held(root: Path) -> dict[str, bytes]:
    """Every file below `root`."""
    return {place.relative_to(root).as_posix(): place.read_bytes() for place in root.rglob("*") if place.is_file()}


def events(folder: Path) -> Counter[tuple[str, str]]:
    """How often each event is in the one journal of proposals below `folder`/state, by proposal."""
    (journal,) = (folder / "state").rglob("proposals.jsonl")
    rows = []
    for line in journal.read_bytes().splitlines():
        try:
            rows.append(json.loads(line))
        except ValueError:
            continue  # a torn line of the crash
    return Counter((str(row.get("id")), str(row["event"])) for row in rows)
