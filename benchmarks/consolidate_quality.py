"""Draws precision over recall of the two signals of a consolidation, and prints their figures.

    python benchmarks/consolidate_quality.py [CORPUS.jsonl] [--svg FILE]

Over `examples/consolidate-corpus/pairs.jsonl` or another file of that form. What the built-in judge makes of the pairs
says `aria-dream eval consolidate`.
"""

from __future__ import annotations

import argparse
import os
from pathlib import Path
from typing import TYPE_CHECKING

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

from aria_dream.adapters.models.embedding import load_embedder
from aria_dream.evals.triage_score import curve, parse_pairs
from aria_dream.usecases.eval_duplicates import measure_pairs

if TYPE_CHECKING:
    from collections.abc import Sequence

    from aria_dream.evals.triage_score import MeasuredPair

CORPUS = Path(__file__).resolve().parents[1] / "examples" / "consolidate-corpus" / "pairs.jsonl"
THRESHOLDS = (0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.99)


def draw(measured: Sequence[MeasuredPair]) -> str:
    """Precision over recall of both signals, as an SVG of 320 by 240."""
    steps = [number / 200 for number in range(201)]
    curves = {
        "#4477aa": curve(measured, lambda one: one.cosine, steps),
        "#cc6677": curve(measured, lambda one: one.overlap, steps),
    }
    lines = []
    for colour, points in curves.items():
        places = " ".join(f"{40 + 270 * recall:.0f},{210 - 190 * precision:.0f}" for _, precision, recall in points)
        lines.append(f'<polyline fill="none" stroke="{colour}" stroke-width="2" points="{places}"/>')
    words = (
        '<text x="45" y="232" font-size="11" fill="#777">recall 0 to 1; precision 0 to 1 upwards; '
        '<tspan fill="#4477aa">cosine</tspan> <tspan fill="#cc6677">words</tspan></text>'
    )
    frame = '<path d="M40 20V210H310" fill="none" stroke="#777"/>'
    return f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 320 240">{frame}{"".join(lines)}{words}</svg>\n'


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("corpus", type=Path, nargs="?", default=CORPUS)
    parser.add_argument("--svg", type=Path)
    arguments = parser.parse_args()
    pairs, problems = parse_pairs(arguments.corpus.read_text(encoding="utf-8"), arguments.corpus.name)
    for problem in problems:
        print(problem)
    measured = measure_pairs(pairs, load_embedder())
    print("| from | cosine: precision / recall | words: precision / recall |\n| --- | --- | --- |")
    by_cosine = curve(measured, lambda one: one.cosine, THRESHOLDS)
    by_words = curve(measured, lambda one: one.overlap, THRESHOLDS)
    for (least, p, r), (_, q, s) in zip(by_cosine, by_words, strict=True):
        print(f"| {least} | {p:.2f} / {r:.2f} | {q:.2f} / {s:.2f} |")
    if arguments.svg:
        arguments.svg.write_text(draw(measured), encoding="utf-8")


if __name__ == "__main__":
    main()
