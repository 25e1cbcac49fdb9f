"""One reach in a process of its own that ends itself, without a goodbye, at a given step: FOLDER VAULT STEP."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

from aria_dream.adapters.disk.files import DiskVault
from aria_dream.adapters.gate.ledger import ReachStore
from aria_dream.usecases import reach as reach_cycle
from tests.reach_bench import ORPHAN, ReachBench, answered

if TYPE_CHECKING:
    from aria_dream.reach.reach_events import ReachEnd


def die(*_arguments: object, **_named: object) -> NoReturn:
    """As `kill -9` does it."""
    os._exit(9)


def main(folder: Path, vault: str, step: str) -> None:
    """Prints what came of it, if it comes to that."""

    def call() -> ReachEnd:
        with (folder / "sent").open("a", encoding="ascii") as file:
            file.write("sent\n")
        if step == "call":
            die()
        return answered(ORPHAN)

    bench = ReachBench(folder, {}, call, vault=vault)
    match step:
        case "begun":
            ReachStore.note = die  # type: ignore[method-assign]
        case "answered":
            reach_cycle.read_end = die  # type: ignore[attr-defined]
        case "settled":
            reach_cycle.settle = die  # type: ignore[attr-defined]
        case "remembered":
            ReachStore.remember = die  # type: ignore[method-assign]
        case "written":
            DiskVault.write = die  # type: ignore[method-assign]
        case "landed":
            ReachStore.landed = die  # type: ignore[method-assign]
        case _:
            pass
    result = bench.reach("external")
    print(result.resolution or result.reason, flush=True)


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2], sys.argv[3])
