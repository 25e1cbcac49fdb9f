"""Which contents of the vault are our own: those that our history says were written, told by path and hash.

An intent lies on the disk before the first byte is written (`adapters/disk/history`), so a write of our processes is
known here before it can be seen in the vault, and there is nothing to announce and no clock to trust.
"""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path


class OwnWrites:
    """The steps of the changes in one history folder. `update` reads those that are new."""

    def __init__(self, history_folder: Path | None) -> None:
        """`history_folder` is `history` in the vault's state folder and need not exist; None: we never write."""
        self.history_folder = history_folder
        self._steps: dict[str, frozenset[tuple[str, str]]] = {}

    def update(self) -> None:
        """Takes in new changes and forgets those that were purged. Never raises."""
        if self.history_folder is None:
            return
        try:
            names = {entry.name for entry in os.scandir(self.history_folder)}
        except OSError:
            names = set()
        for name in self._steps.keys() - names:
            del self._steps[name]
        for name in names - self._steps.keys():
            if "." not in name:  # `….unfinished`: nothing was written yet
                steps = _read_steps(self.history_folder / name / "intent.json")
                if steps is not None:
                    self._steps[name] = steps

    def holds(self, path: str, digest: bytes) -> bool:
        """Whether we once gave the file at `path` the content with this SHA-256."""
        key = (path, digest.hex())
        return any(key in steps for steps in self._steps.values())

    def removed(self, path: str) -> bool:
        """Whether a kept change removed or moved the file at `path`."""
        return any((path, "") in steps for steps in self._steps.values())


def _read_steps(path: Path) -> frozenset[tuple[str, str]] | None:
    """Every `(path, SHA-256)` that the change leaves behind; `""` for no file. None: unreadable."""
    try:
        steps = json.loads(path.read_bytes())["steps"]
        states: set[tuple[str, str]] = set()
        for step in steps:
            if step["moved_to"] is None:
                states.add((str(step["path"]), str(step["after"])))
            else:
                states |= {(str(step["path"]), ""), (str(step["moved_to"]), str(step["after"]))}
    except (OSError, ValueError, KeyError, TypeError):
        return None
    return frozenset(states)
