"""Speed of a dream and of `resonances --from` where everything is cached, as whole processes and as ratios.

    python benchmarks/dream_speed.py VAULT [--caches FOLDER] [--note NOTE] [--pairs N] [--all]

Each command runs in a fresh process, in turn with one that only imports numpy and click: what any such command costs at
least. The first dream fills the caches, which takes minutes where the notes have no vectors yet; `--caches` keeps them
for the next run. Dreams are rehearsals: nothing is written into the vault. `--all` adds `resonances --all`.
The floors are those of the project's first milestone, in CPU time: wall time tells more of the neighbours than of us.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
from pathlib import Path

from benchmarks.index_speed import Cost, judged, line, measured, median

LEAST = [sys.executable, "-c", "import click, numpy"]


def ours(command: list[str], caches: Path) -> Cost:
    """What `aria-dream` with these arguments costs, its state and caches below `caches`."""
    state, cache = caches / "state", caches / "cache"
    return measured(
        [sys.executable, "-m", "aria_dream", *command], ARIA_DREAM_STATE=str(state), ARIA_DREAM_CACHE=str(cache)
    )


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("vault", type=Path, help="a vault of 10,000 notes")
    parser.add_argument("--caches", type=Path, help="a folder whose caches are used and kept")
    parser.add_argument("--note", help="the note that `--from` names; the middle one where left out")
    parser.add_argument("--pairs", type=int, default=5)
    parser.add_argument("--all", action="store_true", help="also rank every note, which takes minutes")
    options = parser.parse_args()
    paths = sorted(path.relative_to(options.vault).as_posix() for path in options.vault.rglob("*.md"))
    note = options.note or paths[len(paths) // 2]
    commands = {
        "resonances --from": ["resonances", str(options.vault), "--from", note],
        "dream": ["dream", str(options.vault), "--seed", "1", "--dry-run"],
    }
    with tempfile.TemporaryDirectory() as folder:
        caches = options.caches or Path(folder) / "caches"
        os.environ["PYTHONPYCACHEPREFIX"] = str(Path(folder) / "bytecode")
        line("first dream, caches filled", ours(commands["dream"], caches))
        for command in ([*commands.values()] * 2):  # bytecode, and the page cache
            ours(command, caches)
        least: list[Cost] = []
        costs: dict[str, list[Cost]] = {name: [] for name in commands}
        for _ in range(options.pairs):
            for name, command in commands.items():
                least.append(measured(LEAST))
                costs[name].append(ours(command, caches))
        line("import numpy and click", median(least))
        holds = []
        for name, found in costs.items():
            line(f"{name}, all cached", median(found))
            print(f"{f'{name} / imports':<34} {median(found).cpu_s / median(least).cpu_s:7.1f}")
            holds.append(judged(f"{name}, s CPU", median(found).cpu_s, 1.0))
        if options.all:
            cost = ours(["resonances", str(options.vault), "--all", "--json"], caches)
            line("resonances --all", cost)
            holds.append(judged("resonances --all, peak MB", cost.memory_mb, 350))
    return 0 if all(holds) else 1


if __name__ == "__main__":
    sys.exit(main())
