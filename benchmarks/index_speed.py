"""Speed of reading a vault, as ratios of CPU time measured in one run, and peak memory.

    python benchmarks/index_speed.py VAULT [--pairs N] [--large VAULT]

Cold: a fresh process runs `aria-dream links --json` with an empty cache folder, in turn with a fresh process that has
the PyPI package `dtd-obsidian-tools` read and connect the same notes (its own loader only looks at the top folder, so
it is given every note). Warm: the same command again, nothing changed. `--large` adds cold and warm on a second vault.
Both sides run from bytecode, as installed packages do, wherever this repository lies and whatever the environment says
of writing it; the first run of each, which writes it, is not counted.
The floors are those of the project's first milestone; the exit code is 1 where one does not hold.
"""

from __future__ import annotations

import argparse
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parent.parent
COMPARED = """
import sys
from pathlib import Path
from obsidian.graph import build_graph
from obsidian.parser import ObsDoc
build_graph([ObsDoc.from_path(path) for path in Path(sys.argv[1]).rglob("*.md")])
"""
HELP_COMPARED = """
import click
@click.group()
def main(): pass
@main.command()
def one(): "One."
@main.command()
def two(): "Two."
main(["--help"])
"""


@dataclass(frozen=True, slots=True)
class Cost:
    cpu_s: float
    memory_mb: float
    """Peak resident set."""


def measured(command: list[str], **environment: str) -> Cost:
    """What one fresh process costs; it must succeed."""
    # A process of its own waits for the child, so that the peak is this child's and not that of an earlier one.
    code = (
        "import resource, subprocess, sys\n"
        "subprocess.run(sys.argv[1:], stdout=subprocess.DEVNULL, check=True)\n"
        "used = resource.getrusage(resource.RUSAGE_CHILDREN)\n"
        "print(used.ru_utime + used.ru_stime, used.ru_maxrss)\n"
    )
    said = subprocess.run(
        [sys.executable, "-c", code, *command],
        env={**os.environ, "PYTHONPATH": str(REPOSITORY), "PYTHONDONTWRITEBYTECODE": "", **environment},
        stdout=subprocess.PIPE, text=True, check=True,
    ).stdout.split()  # fmt: skip
    return Cost(float(said[0]), int(said[1]) / (1024 * 1024 if sys.platform == "darwin" else 1024))


def links(vault: Path, cache: Path) -> Cost:
    return measured([sys.executable, "-m", "aria_dream", "links", str(vault), "--json"], ARIA_DREAM_CACHE=str(cache))


def median(costs: list[Cost]) -> Cost:
    return Cost(statistics.median(cost.cpu_s for cost in costs), max(cost.memory_mb for cost in costs))


def line(name: str, cost: Cost) -> None:
    print(f"{name:<34} {cost.cpu_s:7.2f} s CPU  {cost.memory_mb:6.0f} MB peak")


def judged(name: str, value: float, limit: float) -> bool:
    holds = value <= limit
    print(f"{name:<34} {value:7.2f}   (floor: at most {limit:g}{'' if holds else ' — NOT MET'})")
    return holds


def cold_and_warm(vault: Path, pairs: int, work: Path, *, compare: bool) -> tuple[Cost, Cost, Cost | None]:
    cold, warm, other = [], [], []
    for number in range(pairs):
        cache = work / f"cache{number}"
        if compare:
            other.append(measured([sys.executable, "-c", COMPARED, str(vault)]))
        cold.append(links(vault, cache))
        warm.append(links(vault, cache))
        shutil.rmtree(cache)
    return median(cold), median(warm), median(other) if other else None


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("vault", type=Path, help="a vault of 10,000 notes (47 MB)")
    parser.add_argument("--large", type=Path, help="a vault of 50,000 notes")
    parser.add_argument("--pairs", type=int, default=5)
    options = parser.parse_args()
    holds: list[bool] = []
    with tempfile.TemporaryDirectory() as folder:
        work = Path(folder)
        os.environ["PYTHONPYCACHEPREFIX"] = str(work / "bytecode")
        empty = work / "empty"
        empty.mkdir()
        for command in (["-c", COMPARED, str(empty)], ["-m", "aria_dream", "links", str(empty), "--json"]):
            measured([sys.executable, *command], ARIA_DREAM_CACHE=str(work / "cache"))
        cold, warm, other = cold_and_warm(options.vault, options.pairs, work, compare=True)
        assert other is not None
        line("dtd-obsidian-tools", other)
        line("links, cold, cache written", cold)
        line("links, warm", warm)
        holds.append(judged("cold / dtd-obsidian-tools", cold.cpu_s / other.cpu_s, 1.0))
        holds.append(judged("peak memory, MB", cold.memory_mb, 150))
        if options.large:
            cold, warm, _ = cold_and_warm(options.large, max(1, options.pairs // 2), work, compare=False)
            line("large: links, cold", cold)
            line("large: links, warm", warm)
            holds.append(judged("large: warm / cold", warm.cpu_s / cold.cpu_s, 0.2))
            holds.append(judged("large: cold peak memory, MB", cold.memory_mb, 350))
            holds.append(judged("large: warm peak memory, MB", warm.memory_mb, 120))
        ours, theirs = [], []
        for _ in range(max(5, options.pairs)):
            theirs.append(measured([sys.executable, "-c", HELP_COMPARED]))
            ours.append(measured([sys.executable, "-m", "aria_dream", "--help"]))
        line("two-command click script --help", median(theirs))
        line("aria-dream --help", median(ours))
        holds.append(judged("--help / click script", median(ours).cpu_s / median(theirs).cpu_s, 1.5))
    return 0 if all(holds) else 1


if __name__ == "__main__":
    sys.exit(main())
