"""What readers found worth it, arm by arm.

    python benchmarks/worth/grade.py KEY VERDICTS…

`KEY` is made by `make_blind.py`, `VERDICTS` are the readers' files (`RUBRIC.md`). Prints for each arm, and for each
place of the dream, the mean worth, the shares of verdicts of at least 2, of 3 and of 0, and of passages that help, each
with a 90 % bootstrap interval over vaults; then the same vault by vault for the dream, and how often two readers agree.
"""

from __future__ import annotations

import json
import sys
from itertools import combinations
from pathlib import Path
from random import Random
from statistics import mean
from typing import Any

RESAMPLES = 1_000
FIGURES = ("mean", ">= 2", "threes", "zeros", "help")


def read_verdicts(path: Path) -> dict[int, tuple[int, bool]]:
    """Number of a pair to its worth, and whether the passages help."""
    rows = (line.split() for line in path.read_text("utf-8").splitlines())
    return {int(row[0]): (int(row[3]), row[5] == "y") for row in rows if len(row) >= 6}


def figures(rows: list[dict[str, Any]]) -> tuple[float, ...]:
    """Of all verdicts on these pairs, in the order of `FIGURES`."""
    worth = [value for row in rows for value in row["worth"]]
    helps = [value for row in rows for value in row["helps"]]
    return (
        mean(worth), mean(w >= 2 for w in worth), mean(w == 3 for w in worth), mean(w == 0 for w in worth), mean(helps),
    )  # fmt: skip


def interval(rows: list[dict[str, Any]], rng: Random) -> list[tuple[float, float]]:
    """5th and 95th percentile of each figure where the vaults are drawn anew."""
    vaults = sorted({row["vault"] for row in rows})
    by_vault = {name: [row for row in rows if row["vault"] == name] for name in vaults}
    drawn = []
    for _ in range(RESAMPLES):
        some = [row for name in rng.choices(vaults, k=len(vaults)) for row in by_vault[name]]
        drawn.append(figures(some))
    return [(sorted(one)[RESAMPLES // 20], sorted(one)[-RESAMPLES // 20]) for one in zip(*drawn, strict=True)]


def line(name: str, rows: list[dict[str, Any]]) -> str:
    cells = [
        f"{value:.2f} ({low:.2f} to {high:.2f})"
        for value, (low, high) in zip(figures(rows), interval(rows, Random(1)), strict=True)
    ]
    return f"| {name} | {len(rows)} | {' | '.join(cells)} |"


def main() -> None:
    key, *files = map(Path, sys.argv[1:])
    rows = [json.loads(text) for text in key.read_text("utf-8").splitlines()]
    readers = [read_verdicts(path) for path in files]
    for number, row in enumerate(rows, start=1):
        said = [reader[number] for reader in readers if number in reader]
        row["worth"], row["helps"] = [worth for worth, _ in said], [helps for _, helps in said]
    rows = [row for row in rows if row["worth"]]
    print(f"| arm | pairs | {' | '.join(FIGURES)} |")
    print("| --- " * (len(FIGURES) + 2) + "|")
    for arm in ("dream", "nearest", "middle", "chance"):
        some = [row for row in rows if row["arm"] == arm]
        if some:
            print(line(arm, some))
    for place in ("near", "far", "tension"):
        some = [row for row in rows if row.get("place") == place]
        if some:
            print(line(f"dream, {place}", some))
    for vault in sorted({row["vault"] for row in rows}):
        some = [row for row in rows if row["vault"] == vault and row["arm"] == "dream"]
        if some:
            print(line(f"dream, {vault}", some))
    for (one, first), (other, second) in combinations(enumerate(readers), 2):
        both = [(first[n], second[n]) for n in first if n in second]
        same = mean((a[0] >= 2) == (b[0] >= 2) for a, b in both)
        near = mean(abs(a[0] - b[0]) <= 1 for a, b in both)
        print(f"readers {one + 1} and {other + 1}: agree on >= 2 in {same:.2f}, differ by at most 1 in {near:.2f}")


if __name__ == "__main__":
    main()
