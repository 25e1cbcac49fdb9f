"""Where the weights of `judging/worth.py` come from.

    python benchmarks/worth/fit.py

A ridge-penalised logistic regression over `fitted.jsonl`: figures of pairs (no text of theirs) and the worth that
readers gave them, from 0 to 3, blind. Worth it is a pair whose mean is at least 1.5. Prints the AUC of each figure by
itself, that of all together held out vault by vault, the same for each vault, and the weights on features centred and
scaled.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

NAMES = ("passages", "telling", "whole", "passage length", "ranking")
RIDGE = 1.0


def auc(worth: NDArray[np.bool_], score: Floats) -> float:
    """Share of pairs of one worth it and one not that the score puts in order."""
    yes, no = score[worth], score[~worth]
    return float(((yes[:, None] > no) + 0.5 * (yes[:, None] == no)).mean()) if len(yes) and len(no) else float("nan")


def fit(rows: Floats, worth: NDArray[np.bool_]) -> Floats:
    """Weights and intercept, by Newton's method."""
    design = np.c_[rows, np.ones(len(rows))]
    at = np.zeros(design.shape[1])
    penalty = RIDGE * np.diag([*np.ones(rows.shape[1]), 1e-6])
    for _ in range(50):
        likely = 1.0 / (1.0 + np.exp(-design @ at))
        slope = design.T @ (likely - worth) + penalty @ at
        at -= np.linalg.solve((design.T * (likely * (1.0 - likely))) @ design + penalty, slope)
    return at


def main() -> None:
    text = Path(__file__).with_name("fitted.jsonl").read_text("utf-8")
    found = [json.loads(line) for line in text.splitlines()]
    worth = np.array([np.mean(row["worth"]) >= 1.5 for row in found])
    vaults = np.array([row["vault"] for row in found])
    rows = np.array([[row[name] for name in NAMES] for row in found], np.float64)
    for at, name in enumerate(NAMES):
        print(f"{name:15} AUC {auc(worth, rows[:, at]):.2f}")
    means, scales = rows.mean(axis=0), rows.std(axis=0)
    scaled = (rows - means) / scales
    held_out = np.zeros(len(worth))
    for vault in sorted(set(vaults)):
        here = vaults == vault
        held_out[here] = scaled[here] @ fit(scaled[~here], worth[~here])[:-1]
    print(f"{'all, held out':15} AUC {auc(worth, held_out):.2f} of {len(worth)} pairs, {worth.mean():.2f} worth it")
    for vault in sorted(set(vaults)):
        here = vaults == vault
        print(f"  {vault:20} {int(here.sum()):4} pairs, AUC {auc(worth[here], held_out[here]):.2f}")
    weights = fit(scaled, worth)
    for name, weight, mean, scale in zip(NAMES, weights, means, scales, strict=False):
        print(f"{name:15} weight {weight:6.2f}  mean {mean:7.2f}  scale {scale:6.2f}")
    print(f"intercept {weights[-1]:.2f}")


if __name__ == "__main__":
    main()
