"""How good the embedded judge is: on hidden links of the shared vaults, and on the triage corpus.

    python benchmarks/judge_quality.py [links|corpus] [--seeds 0 1 …] [--vaults NAME …] [--work FOLDER]

Links: a fifth of them is hidden by `link_recovery.py`; the pool is the ten best of every note, each pair once. A
pair is kept if the judge keeps it from either side. Prints, one line a vault and seed: pairs in the pool, hidden links
among them, precision of pool and survivors and their ratio, share of the pool's hidden links that survived, the
same by distance (2, 3, further or unconnected), verdicts that were drops only because nothing could be named or because
the two say the same, and CPU seconds.

Corpus: the judge over `examples/triage-corpus.jsonl`, all its notes taken as one vault without links; figures by kind
only, never by pair.
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
from collections import defaultdict
from pathlib import Path

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import numpy as np

from aria_dream.adapters.disk.places import Places
from aria_dream.adapters.index.cache_store import FILE_NAME, ContentCache
from aria_dream.adapters.index.dreamt_vault import DreamtVault, read_dreamt_vault
from aria_dream.adapters.index.resonance import build_ranking
from aria_dream.adapters.models.embedded_judge import EmbeddedJudge, open_embedded_judge
from aria_dream.judging.calibration import probabilities
from aria_dream.judging.judge import UNNAMED, feature_matrix
from aria_dream.judging.pool import POOL_PER_NOTE, pool_of
from aria_dream.judging.triage_prompt import Drop, Keep
from aria_dream.ranking.juxtaposition import Juxtaposition, chance, shortest_ways

REPOSITORY = Path(__file__).resolve().parents[1]
SHARED = Path(os.environ.get("ARIA_DREAM_SHARED") or REPOSITORY.parent / "shared")
LATER = "jackyzha0-2023-03"
VAULTS = ("logseq-docs", "vaultofknowledge", "foam-docs", "kepano", LATER, "sparse")
SPARSE_KEEPS = 0.35


def hide(name: str, seed: str, work: Path) -> Path:
    """The folder of a copy of vault `name` with links hidden; its truth lies beside it."""
    out = work / f"{name}-{seed}"
    if Path(f"{out}.truth.json").exists():
        return out
    tool = SHARED / "tools" / "link_recovery.py"
    vaults = SHARED / "vaults"
    if seed == "later":
        arguments = ["later", str(vaults / name), str(vaults / f"{name}.later.json"), str(out)]
    elif name == "sparse":  # a garden that lost two thirds of its links first
        thin = work / f"thin-{seed}"
        if not thin.exists():
            run(tool, "hide", str(vaults / LATER), str(thin), "--fraction", str(1 - SPARSE_KEEPS), "--seed", "99")
        arguments = ["hide", str(thin), str(out), "--seed", seed]
    else:
        arguments = ["hide", str(vaults / name), str(out), "--seed", seed]
    run(tool, *arguments)
    return out


def run(tool: Path, *arguments: str) -> None:
    """Runs a tool quietly."""
    subprocess.run([sys.executable, str(tool), *arguments], check=True, stdout=subprocess.DEVNULL)


def opened(folder: Path, work: Path) -> tuple[DreamtVault, EmbeddedJudge]:
    """The vault in `folder` and its judge; caches below `work` are used again."""
    places = Places(state=work / "state", cache=work / "cache")
    vault = read_dreamt_vault(folder, places, environ={})
    mine = places.vault_cache(vault.root)
    for other in sorted(work.glob(f"{folder.name.rsplit('-', 1)[0]}-*/")):  # most vectors are those of another seed
        theirs = places.vault_cache(other) / FILE_NAME
        if not (mine / FILE_NAME).exists() and theirs.exists():
            shutil.copyfile(theirs, mine / FILE_NAME)
    with ContentCache(mine) as cache:
        ranking = build_ranking(vault, cache)
        judge = open_embedded_judge(vault, cache, ranking)
        return vault, judge


def links_line(folder: Path, work: Path) -> str:
    """The figures of one vault."""
    truth = {tuple(sorted(pair)) for pair in json.loads(Path(f"{folder}.truth.json").read_text())["hidden"]}
    vault, judge = opened(folder, work)
    paths = vault.graph.paths
    began = time.process_time()
    pool = pool_of(judge.ranking, judge.meanings, judge.sizes)
    likely = (probabilities(judge.calibration, feature_matrix(pool.features)) >= 0.5) | (judge.share > 0)
    offered = [(a, one) for a, best in judge.ranking.all(POOL_PER_NOTE) for one in best]
    verdicts = iter(
        judge.judge(  # the rest is dropped whatever can be said of it
            [
                Juxtaposition(
                    from_=paths[a], to=paths[one.to], score=chance(one.score), path=None, evidence=one.evidence
                )
                for (a, one), maybe in zip(offered, likely, strict=True)
                if maybe
            ]
        )
    )
    kinds: dict[tuple[int, int], bool] = {}
    unnamed, twins = 0, 0
    for (a, one), maybe in zip(offered, likely, strict=True):
        pair = (min(a, one.to), max(a, one.to))
        kinds.setdefault(pair, False)
        if not maybe:
            continue
        verdict = next(verdicts)
        kinds[pair] |= isinstance(verdict, Keep)
        unnamed += verdict.reason == UNNAMED
        twins += "consolidation" in verdict.reason
    pairs = sorted(kinds)
    hidden = np.array([tuple(sorted((paths[a], paths[b]))) in truth for a, b in pairs])
    kept = np.array([kinds[pair] for pair in pairs])
    spent = time.process_time() - began
    ways = [shortest_ways(vault.links, a, [b])[b] for a, b in pairs]
    distance = np.array([len(way) - 1 if way else 99 for way in ways])
    by_distance = "  ".join(
        f"{name}: {int((hidden & here & kept).sum())} of {int((hidden & here).sum())} in "
        f"{int((here & kept).sum())} of {int(here.sum())}"
        for name, here in (("d2", distance == 2), ("d3", distance == 3), ("far", distance > 3))
    )
    pool_precision, kept_precision = hidden.mean(), hidden[kept].mean() if kept.any() else 0.0
    return (
        f"{folder.name:28} pool {len(pairs):6} hidden {int(hidden.sum()):4} precision {pool_precision:.4f} "
        f"survivors {int(kept.sum()):6} precision {kept_precision:.4f} ratio {kept_precision / pool_precision:5.2f} "
        f"kept {hidden[kept].sum() / max(1, hidden.sum()):.2f}  {by_distance}  unnamed {unnamed} "
        f"same {twins}  {spent:.1f} s"
    )


def corpus_lines(work: Path) -> list[str]:
    """Accuracy, false keeps and false drops on the triage corpus, by kind."""
    pairs = [json.loads(line) for line in (REPOSITORY / "examples" / "triage-corpus.jsonl").open(encoding="utf-8")]
    with tempfile.TemporaryDirectory(dir=work) as folder:
        root = Path(folder) / "vault"
        placed: dict[tuple[str, str, str], str] = {}
        for number, pair in enumerate(pairs):
            for side in ("a", "b"):
                note = pair[side]
                key = (note["path"], note["title"], note["text"])
                if key not in placed:
                    path, copy = Path(note["path"]), 1
                    while (root / path).exists():  # two notes of the corpus may bear one path
                        copy += 1
                        path = Path(note["path"]).with_stem(f"{Path(note['path']).stem} {copy}")
                    (root / path).parent.mkdir(parents=True, exist_ok=True)
                    (root / path).write_text(note["text"], encoding="utf-8")
                    placed[key] = path.as_posix()
                pairs[number][side] = placed[key]
        vault, judge = opened(root, Path(folder))
        ranked = {}
        for row, scored in judge.ranking.all(len(vault.facts)):
            for one in scored:
                ranked[vault.graph.paths[row], vault.graph.paths[one.to]] = one
        found, asked = [], []
        for pair in pairs:
            known = ranked.get((pair["a"], pair["b"]))
            if known is not None:
                asked.append(pair)
                score, evidence = chance(known.score), known.evidence
                found.append(Juxtaposition(from_=pair["a"], to=pair["b"], score=score, path=None, evidence=evidence))
        verdicts = judge.judge(found)
    kinds: dict[str, list[bool]] = defaultdict(list)
    wrong: dict[str, int] = defaultdict(int)
    noise: list[bool] = []
    for pair, verdict in zip(asked, verdicts, strict=True):
        assert isinstance(verdict, Keep | Drop)
        right = isinstance(verdict, Keep) == (pair["label"] == "keep")
        kinds[pair["kind"]].append(right)
        wrong["false keep" if pair["label"] == "drop" else "false drop"] += not right
        if pair["kind"] != "near_duplicate":
            noise.append(right)
    total = [right for rights in kinds.values() for right in rights]
    summary = (
        f"pairs {len(total)} of {len(pairs)} (the others are linked)  accuracy {np.mean(total):.3f}  bridge against "
        f"noise {np.mean(noise):.3f}  false keeps {wrong['false keep']}  false drops {wrong['false drop']}"
    )
    return [
        summary,
        *(f"  {kind:24} {sum(rights):3} of {len(rights):3} right" for kind, rights in sorted(kinds.items())),
    ]


def main() -> None:
    """Prints the figures."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", nargs="?", choices=("links", "corpus"), help="only this; default: both")
    parser.add_argument("--seeds", nargs="*", default=["0", "1", "2", "3", "4"])
    parser.add_argument("--vaults", nargs="*", default=list(VAULTS), choices=VAULTS)
    parser.add_argument("--work", type=Path, help="keeps copies and caches here; default: a temporary folder")
    args = parser.parse_args()
    work = args.work or Path(tempfile.mkdtemp(prefix="judge-quality-"))
    work.mkdir(parents=True, exist_ok=True)
    try:
        if args.what != "corpus":
            for name in args.vaults:
                for seed in [*args.seeds, *(["later"] if name == LATER else [])]:
                    print(links_line(hide(name, seed, work), work), flush=True)
        if args.what != "links":
            print("\n".join(corpus_lines(work)), flush=True)
    finally:
        if args.work is None:
            shutil.rmtree(work, ignore_errors=True)


if __name__ == "__main__":
    main()
