"""How well undrawn links are ranked: hidden links of the shared vaults, the four baselines in the same run.

    python benchmarks/link_quality.py [--seeds 0 1 2 3 4] [--vaults NAME …] [--work FOLDER] [--markdown]

A fifth of the linked pairs is hidden by `link_recovery.py` (`later`: the links that the author drew in the two years
after), the copy is read as any vault is, and every note not linked to a note is ranked for it. Every ranking sees the
same copy; ours learns from the links that are left. Prints MRR, hits@10, hits@50, P@100 and the MRR by distance of the
two notes (2, 3, 4 and more, unconnected), the mean over seeds; with `--markdown` as the table of benchmarks/README.md.
A vault may also be a folder anywhere; `NAME:0.8` first takes out 80 % of its linked pairs for good (a sparse vault),
`NAME:star` first gives it index pages that link to most notes.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from pathlib import Path

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import numpy as np

from aria_dream.adapters.index.index import read_vault
from aria_dream.evals.link_recovery import HITS, Baselines, Recovery, recover
from aria_dream.markdown.note import decode_note
from aria_dream.ranking.features import FeatureBlock
from aria_dream.ranking.notespace import NoteSpace, RankNote
from aria_dream.ranking.rank import Ranking
from aria_dream.ranking.sparse import link_structure
from aria_dream.ranking.terms import note_terms

REPOSITORY = Path(__file__).resolve().parents[1]
SHARED = Path(os.environ.get("ARIA_DREAM_SHARED") or REPOSITORY.parent / "shared")
TOOL = SHARED / "tools" / "link_recovery.py"
LATER = "jackyzha0-2023-03"
VAULTS = ("logseq-docs", "vaultofknowledge", "later")
OURS = "aria-dream"


def run_tool(*arguments: object) -> None:
    """One run of the shared tool that hides links."""
    subprocess.run([sys.executable, str(TOOL), *map(str, arguments)], check=True, stdout=subprocess.DEVNULL)


def prepared(name: str, seed: int, work: Path) -> Path:
    """A copy of the vault with links hidden; the truth lies beside it as `….truth.json`."""
    out = work / f"{name.replace('/', '_').replace(':', '_')}-{seed}"
    if name == "later":
        run_tool("later", SHARED / "vaults" / LATER, SHARED / "vaults" / f"{LATER}.later.json", out)
        return out
    base, _, change = name.partition(":")
    vault = Path(base) if Path(base).is_dir() else SHARED / "vaults" / base
    if change == "star":
        vault = starred(vault, work / f"{out.name}-star")
    elif change:
        thin = work / f"{out.name}-thin"
        run_tool("hide", vault, thin, "--fraction", change, "--seed", 99)
        vault = thin
    run_tool("hide", vault, out, "--seed", seed)
    return out


def starred(vault: Path, out: Path) -> Path:
    """A copy with an index page that links to six notes in ten."""
    run_tool("hide", vault, out, "--fraction", 0)
    notes = sorted(path.relative_to(out).as_posix()[:-3] for path in out.rglob("*.md"))
    chosen = [note for note in notes if random.Random(note).random() < 0.6]
    (out / "Index of everything.md").write_text("".join(f"- [[{note}]]\n" for note in chosen), encoding="utf-8")
    return out


def measured(name: str, seed: int, work: Path) -> dict[str, Recovery]:
    """How well each ranking found what was hidden."""
    vault = prepared(name, seed, work)
    index = read_vault(vault, None)
    notes = [RankNote(path=facts.path, aliases=facts.aliases, tags=facts.tags) for facts in index.facts]
    terms = [note_terms(decode_note((vault / path).read_bytes())) for path in index.graph.paths]
    row = {path: number for number, path in enumerate(index.graph.paths)}
    truth = json.loads(Path(f"{vault}.truth.json").read_text(encoding="utf-8"))["hidden"]
    hidden = np.array([(row[a], row[b]) for a, b in truth], dtype=np.int64).reshape(-1, 2)
    structure = link_structure(index.graph)
    space = NoteSpace(notes, terms)
    weights = Ranking.build(index.graph, notes, terms).weights
    values = np.array(weights.values, dtype=np.float32)

    def ours(sources: np.ndarray[tuple[int], np.dtype[np.int64]]) -> np.ndarray[tuple[int, int], np.dtype[np.float32]]:
        block = FeatureBlock(space, structure, sources).values
        scores: np.ndarray[tuple[int, int], np.dtype[np.float32]] = np.tensordot(values, block, axes=1)
        return scores + np.float32(weights.intercept)

    scorers = {**Baselines(notes, terms, space, structure).scorers(), OURS: ours}
    return {ranking: recover(structure, hidden, score) for ranking, score in scorers.items()}


def far(recovery: Recovery, nearest: int | None, farthest: int | None) -> tuple[int, float]:
    """How many were asked at these distances (None, None: unconnected), and the sum of their 1 / rank."""
    chosen = [
        (count, mrr)
        for distance, count, mrr in recovery.by_distance
        if (distance is None) == (nearest is None)
        and (distance is None or nearest is None or nearest <= distance <= (farthest or distance))
    ]
    return sum(count for count, _ in chosen), sum(count * mrr for count, mrr in chosen)


def figures(found: list[Recovery]) -> list[str]:
    """The columns of one line: means over the seeds; by distance over all pairs of all seeds."""
    told = [f"{np.mean([one.mrr for one in found]):.3f}"]
    told += [f"{np.mean([one.hits[HITS.index(hit)] for one in found]):.3f}" for hit in (10, 50)]
    told.append(f"{np.mean([one.precision for one in found]):.3f}")
    for nearest, farthest in ((2, 2), (3, 3), (4, None), (None, None)):
        parts = [far(one, nearest, farthest) for one in found]
        count = sum(number for number, _ in parts)
        told.append(f"{sum(total for _, total in parts) / count:.3f} ({count})" if count else "–")
    return told


def main() -> None:
    """Measures and prints."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, nargs="*", default=[0, 1, 2, 3, 4])
    parser.add_argument("--vaults", nargs="*", default=list(VAULTS))
    parser.add_argument("--work", type=Path)
    parser.add_argument("--markdown", action="store_true")
    arguments = parser.parse_args()
    gains = []
    head = ["vault", "ranking", "MRR", "H@10", "H@50", "P@100", "distance 2", "3", "4 and more", "unconnected"]
    if arguments.markdown:
        print(f"| {' | '.join(head)} |\n|{' --- |' * len(head)}")
    with tempfile.TemporaryDirectory(dir=arguments.work) as folder:
        for name in arguments.vaults:
            found: dict[str, list[Recovery]] = defaultdict(list)
            started_s = time.process_time()
            for seed in [0] if name == "later" else arguments.seeds:
                for ranking, recovery in measured(name, seed, Path(folder)).items():
                    found[ranking].append(recovery)
            for ranking, recoveries in found.items():
                line = [Path(name).name, ranking, *figures(recoveries)]
                shown = f"| {' | '.join(line)} |" if arguments.markdown else "".join(f"{cell:<22}" for cell in line)
                print(shown, flush=True)
            best = max(np.mean([one.mrr for one in ones]) for ranking, ones in found.items() if ranking != OURS)
            if not best:
                continue  # nothing was hidden
            gains.append(float(np.mean([one.mrr for one in found[OURS]]) / best))
            spent_s = time.process_time() - started_s
            print(f"{name}: {gains[-1]:.2f} × the best baseline; {spent_s:.0f} s of CPU", file=sys.stderr)
    if gains:
        print(f"mean gain over the best baseline: {np.mean(gains):.2f} ×", file=sys.stderr)


if __name__ == "__main__":
    main()
