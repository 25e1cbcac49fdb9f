"""How good the judge inside is at telling duplicates, and what its two signals are worth alone.

    python benchmarks/consolidate_quality.py [CORPUS.jsonl] [--svg FILE]

Over `examples/consolidate-corpus/pairs.jsonl` (or another file of that form): precision and recall of the cosine and
of the overlap of words at several thresholds, what the judge decides and escalates by kind, and every pair that it
decides against the label. `--svg` draws the two curves.
"""

from __future__ import annotations

import argparse
import json
import os
from collections import Counter, defaultdict
from dataclasses import dataclass
from pathlib import Path

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

from aria_dream.consolidate.atoms import Atom, atoms_of
from aria_dream.consolidate.comparison import embedded_compare
from aria_dream.consolidate.near import overlap_of, sketch_of
from aria_dream.consolidate.verdict import Escalated, Merge, NearPair, NotDuplicate
from aria_dream.dream.embedding import passages, pooled
from aria_dream.dream.juxtaposition import title_of
from aria_dream.effects.embedding import load_embedder
from aria_dream.vault.note import parse_note
from aria_dream.vault.obsidian import ObsidianSettings

CORPUS = Path(__file__).resolve().parents[1] / "examples" / "consolidate-corpus" / "pairs.jsonl"
THRESHOLDS = (0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.99)


@dataclass(frozen=True)
class Row:
    id: str
    kind: str
    duplicate: bool
    cosine: float
    overlap: float
    decision: str


def read_rows(corpus: Path) -> list[Row]:
    """The pairs of a corpus, measured and judged."""
    embedder = load_embedder()
    rows: list[Row] = []
    for line in corpus.read_text(encoding="utf-8").splitlines():
        record = json.loads(line)
        atoms: list[Atom | None] = []
        vectors = []
        for side in "ab":
            path, note = record[side]["path"], parse_note(record[side]["text"])
            atoms.append(next(iter(atoms_of(path, note, set_apart=ObsidianSettings().is_daily(path))), None))
            cut = passages(title_of(path), note)
            vectors.append(pooled(embedder.encode([one.text for one in cut]), [one.weight for one in cut]))
        cosine = float(vectors[0] @ vectors[1])
        first, second = atoms
        if first is None or second is None:
            overlap, decision = 0.0, "no atom"
        else:
            overlap = overlap_of(sketch_of(first.words), sketch_of(second.words))
            pair = NearPair(first=first, second=second, cosine=cosine, overlap=overlap, rank=len(rows) + 1)
            decision = type(embedded_compare(pair)).__name__
        rows.append(Row(record["id"], record["kind"], record["label"] == "duplicate", cosine, overlap, decision))
    return rows


def curve(rows: list[Row], signal: str, thresholds: tuple[float, ...]) -> list[tuple[float, float, float]]:
    """`(threshold, precision, recall)`, taking a pair for a duplicate from the threshold on."""
    points = []
    for least in thresholds:
        taken = [row for row in rows if getattr(row, signal) >= least]
        right = sum(row.duplicate for row in taken)
        precision = right / len(taken) if taken else 1.0
        points.append((least, precision, right / sum(row.duplicate for row in rows)))
    return points


def draw(rows: list[Row]) -> str:
    """Precision over recall of both signals, as an SVG of 320 by 240."""
    steps = tuple(number / 200 for number in range(201))
    lines = []
    for signal, colour in (("cosine", "#4477aa"), ("overlap", "#cc6677")):
        points = " ".join(f"{40 + 270 * r:.0f},{210 - 190 * p:.0f}" for _, p, r in curve(rows, signal, steps))
        lines.append(f'<polyline fill="none" stroke="{colour}" stroke-width="2" points="{points}"/>')
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
    rows = read_rows(arguments.corpus)
    print(f"{len(rows)} pairs, {sum(row.duplicate for row in rows)} duplicates\n")
    print("| from | cosine: precision / recall | words: precision / recall |\n| --- | --- | --- |")
    for (least, p, r), (_, q, s) in zip(
        curve(rows, "cosine", THRESHOLDS), curve(rows, "overlap", THRESHOLDS), strict=True
    ):
        print(f"| {least} | {p:.2f} / {r:.2f} | {q:.2f} / {s:.2f} |")
    print("\n| kind | label | pairs | merge | not duplicate | escalated | no atom |\n" + "| --- " * 7 + "|")
    table: dict[tuple[str, bool], Counter[str]] = defaultdict(Counter)
    for row in rows:
        table[row.kind, row.duplicate][row.decision] += 1
    names = (Merge.__name__, NotDuplicate.__name__, Escalated.__name__, "no atom")
    for (kind, duplicate), counts in table.items():
        figures = " | ".join(str(counts[name]) for name in names)
        print(f"| {kind} | {'duplicate' if duplicate else 'distinct'} | {counts.total()} | {figures} |")
    wrong = [row for row in rows if row.decision == (NotDuplicate if row.duplicate else Merge).__name__]
    decided = sum(row.decision in names[:2] for row in rows)
    print(f"\ndecided {decided}, of them against the label {len(wrong)}: {[row.id for row in wrong]}")
    if arguments.svg:
        arguments.svg.write_text(draw(rows), encoding="utf-8")


if __name__ == "__main__":
    main()
