"""Speed and memory of a night over a large vault, as whole processes: the first one, killed on the way, and the second.

    python benchmarks/consolidate_speed.py VAULT [--caches FOLDER] [--kill-after S]

VAULT is copied first; nothing is written into it. The first night is killed (SIGKILL) after `--kill-after` seconds and
gone on with, and what it computed by then must not be computed again. `--caches` keeps state and cache for another run,
which then only measures what the first night has left. The judge is the one inside.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from benchmarks.index_speed import Cost, judged, line, measured

SECONDS_MOST, MEMORY_MOST_MB = 60.0, 500.0


def command(vault: Path, *words: str) -> list[str]:
    """The night as a process."""
    return [sys.executable, "-m", "aria_dream", "consolidate", str(vault), *words]


def environment(caches: Path) -> dict[str, str]:
    """Where state and cache lie, and who judges."""
    return {
        "ARIA_DREAM_STATE": str(caches / "state"),
        "ARIA_DREAM_CACHE": str(caches / "cache"),
        "ARIA_TRIAGE_BACKEND": "embedded",
    }


def killed(vault: Path, caches: Path, after_s: float) -> float:
    """Starts a night, kills it after so many seconds; how many it lived."""
    began_s = time.monotonic()
    with subprocess.Popen(
        command(vault), env={**os.environ, **environment(caches)}, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    ) as process:
        try:
            process.wait(after_s)
        except subprocess.TimeoutExpired:
            process.kill()
    return time.monotonic() - began_s


def timed(vault: Path, caches: Path) -> tuple[Cost, float]:
    """What a night costs, and its seconds by the clock on the wall."""
    began_s = time.monotonic()
    cost = measured(command(vault, "--json"), **environment(caches))
    return cost, time.monotonic() - began_s


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("vault", type=Path, help="a vault of 10,000 notes")
    parser.add_argument("--caches", type=Path, help="a folder whose state and cache are used and kept")
    parser.add_argument("--kill-after", type=float, default=60.0, metavar="S")
    options = parser.parse_args()
    notes = sum(1 for _ in options.vault.rglob("*.md"))
    with tempfile.TemporaryDirectory() as folder:
        vault = Path(folder) / "vault"
        shutil.copytree(options.vault, vault)
        caches = options.caches or Path(folder) / "caches"
        lived_s = killed(vault, caches, options.kill_after)
        first, first_s = timed(vault, caches)
        line(f"first night, after {lived_s:.0f} s and a kill", first)
        print(f"{'first night, s wall in all':<34} {lived_s + first_s:7.0f}")
        print(f"{'notes per minute':<34} {notes / (lived_s + first_s) * 60:7.0f}")
        second, second_s = timed(vault, caches)
        line("second night", second)
        found = json.loads(
            subprocess.run(
                command(vault, "--json"), env={**os.environ, **environment(caches)}, capture_output=True, check=True
            ).stdout
        )
        print(f"passages {found['atoms_scanned']}, near pairs {found['candidate_pairs']}, new {found['atoms_new']}")
        holds = [
            judged("second night, s wall", second_s, SECONDS_MOST),
            judged("second night, peak MB", second.memory_mb, MEMORY_MOST_MB),
            judged("first night, peak MB", first.memory_mb, MEMORY_MOST_MB),
        ]
    return 0 if all(holds) else 1


if __name__ == "__main__":
    sys.exit(main())
