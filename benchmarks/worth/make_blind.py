"""Makes the blind file that readers judge dreams by.

    python benchmarks/worth/make_blind.py OUT VAULT… [--each 15] [--seed 1]

For each vault so many pairs of each arm, all shown alike, by title and one passage of each note:

- `dream`: what nights of the product show (`near`, `far`, `tension` are kept as its place), each night with the memory
  of those before;
- `nearest`: a random note and the unlinked note nearest to it by cosine of the whole notes, what a pane of related
  notes shows, by their most telling passages;
- `middle`: a random note and one of those that are 100th to 200th nearest (or in the middle third of a small vault);
- `chance`: two random notes.

Writes OUT.txt (numbered pairs, order of pairs and sides shuffled, no source) and OUT.key.jsonl. `RUBRIC.md` is what a
reader is given with it; `grade.py` reads their verdicts. Needs nothing but the package; the vault is only read.
"""

from __future__ import annotations

import argparse
import json
import tempfile
from dataclasses import replace
from datetime import date
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING

from aria_dream.adapters.disk.places import Places
from aria_dream.adapters.index.dreamt_vault import read_dreamt_vault
from aria_dream.judging.dreaming import NoJudge, NothingDreamt, Wish, dream
from aria_dream.ranking.juxtaposition import pair_key, title_of
from aria_dream.ranking.walk import Memory
from aria_dream.usecases.dream_run import open_dream_parts

if TYPE_CHECKING:
    from collections.abc import Iterator

    from aria_dream.usecases.dream_run import DreamParts

DAY = date(2026, 12, 1)
NIGHTS = 40


def nights(parts: DreamParts, seed: int, each: int) -> Iterator[dict[str, object]]:
    """The pairs that nights in a row show, at most `each`."""
    memory, found = Memory(), 0
    for night in range(NIGHTS):
        ranker, judge = parts.ranker(memory), parts.judge()
        assert not isinstance(judge, NoJudge)
        wish = Wish(count=3, today=DAY, cooldown_days=90)
        dreamt = dream(parts.vault.notes, ranker, judge, memory, Random(1000 * seed + night), wish)
        shown = {} if isinstance(dreamt, NothingDreamt) else {one.juxtaposition.pair: DAY for one in dreamt.kept}
        memory = replace(memory, starts=(*memory.starts, *dreamt.tried), shown={**memory.shown, **shown})
        if isinstance(dreamt, NothingDreamt):
            continue
        for one, place in zip(dreamt.kept, dreamt.places, strict=True):
            if one.juxtaposition.resonance is not None and found < each:
                found += 1
                yield {
                    "a": one.juxtaposition.from_, "b": one.juxtaposition.to, "arm": "dream", "place": place,
                    "quotes": list(one.juxtaposition.resonance.quotes), "night": night, "probability": one.probability,
                }  # fmt: skip
        if found >= each:
            return


def others(parts: DreamParts, arm: str, rng: Random, each: int) -> Iterator[dict[str, object]]:
    """Pairs of random notes with the nearest, one of the middle, or any other."""
    vault, passages = parts.vault, parts.passages
    passages.write_missing()
    rows = [row for row in passages.rows if passages.texts(row)]
    means = passages.means(rows)
    taken: set[tuple[str, str]] = set()
    for at in rng.sample(range(len(rows)), len(rows)):
        row = rows[at]
        linked = {row, *vault.links.of(row)}
        order = [rows[place] for place in (-(means @ means[at])).argsort() if rows[place] not in linked]
        if not order:
            continue
        middle = order[100:200] or order[len(order) // 3 : 2 * len(order) // 3]
        other = {"nearest": order[0], "middle": rng.choice(middle or order), "chance": rng.choice(order)}[arm]
        told = passages.resonances([row], {row: [other]}, 0)[row].get(other)
        pair = pair_key(vault.graph.paths[row], vault.graph.paths[other])
        if told is None or pair in taken:
            continue
        taken.add(pair)
        yield {"a": vault.graph.paths[row], "b": vault.graph.paths[other], "arm": arm, "quotes": list(told.quotes)}
        if len(taken) >= each:
            return


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("out", type=Path)
    options.add_argument("vaults", nargs="+", type=Path)
    options.add_argument("--each", type=int, default=15)
    options.add_argument("--seed", type=int, default=1)
    asked = options.parse_args()
    rng = Random(asked.seed)
    rows: list[dict[str, object]] = []
    with tempfile.TemporaryDirectory() as folder:
        places = Places(state=Path(folder) / "state", cache=Path(folder) / "cache")
        for root in asked.vaults:
            vault = read_dreamt_vault(root, places, environ={})
            with open_dream_parts(vault, places) as parts:
                parts.backend = "embedded"
                made = [*nights(parts, asked.seed, asked.each)]
                parts.ranker(Memory())
                for arm in ("nearest", "middle", "chance"):
                    made += others(parts, arm, rng, asked.each)
            print(f"{root.name}: {len(made)} pairs")
            rows += [{"vault": root.name, **row} for row in made]
    rng.shuffle(rows)
    lines = []
    for number, row in enumerate(rows, start=1):
        sides = list(zip((str(row["a"]), str(row["b"])), map(str, row["quotes"]), strict=True))  # type: ignore[call-overload]
        rng.shuffle(sides)
        lines += [f"## {number}", *(f"[{title_of(path)}]\n“{quote}”" for path, quote in sides), ""]
    asked.out.with_suffix(".txt").write_text("\n".join(lines), encoding="utf-8")
    key = "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
    asked.out.with_suffix(".key.jsonl").write_text(key, encoding="utf-8")


if __name__ == "__main__":
    main()
