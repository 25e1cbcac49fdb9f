"""Where the weights of `judging/bridge.py` come from: a small logistic regression over the triage corpus.

    python benchmarks/bridge_prior.py [--corpus FILE] [--test FILE]

Prints the fitted weights, and how often they are right about bridge against noise: on what they were fitted to, on
held-out pairs (eight folds, ten times; no note of a held-out pair is in the pairs it was fitted to), and with one sign
left out. Beside the labelled pairs it is fitted to chance pairs: one note of a bridge with one of another bridge, in
two folders. `--test` is a second corpus, which nothing is fitted to.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections import Counter
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import numpy as np

from aria_dream.adapters.models.embedding import load_embedder
from aria_dream.evals.triage_score import NEAR_DUPLICATE, LabelledPair, parse_corpus
from aria_dream.judging.bridge import (
    INTERCEPT,
    SIGNS,
    WEIGHTS,
    bridge_signs,
    folder_lift,
    note_shape,
    sign_row,
    surroundings,
)
from aria_dream.markdown.note import parse_note
from aria_dream.ranking.embedding import passages, pool_passages, prose
from aria_dream.ranking.meaning import background

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from aria_dream.evals.triage_score import CorpusNote

    Floats = NDArray[np.float64]

REPOSITORY = Path(__file__).resolve().parents[1]
STRENGTH = 3.0
CHANCE = 5.0
"""Pairs that all chance pairs weigh as in sum. Without them meaning would hardly count, for the corpus has but ten
pairs of notes that lie far apart and are whole thoughts both; with more of them ever more bridges are lost."""
FOLDS = 8
TIMES = 10


@dataclass(frozen=True, slots=True, kw_only=True)
class Corpus:
    """A corpus without its near-duplicates, measured."""

    pairs: tuple[LabelledPair, ...]
    rows: Floats
    answers: NDArray[np.bool_]
    chance: tuple[LabelledPair, ...]
    chance_rows: Floats


def signs_of(pairs: tuple[LabelledPair, ...]) -> Floats:
    """One row a pair, measured as in a vault that holds the corpus's notes."""
    notes = {note: at for at, note in enumerate(dict.fromkeys(side for pair in pairs for side in (pair.a, pair.b)))}
    parsed = [parse_note(note.text) for note in notes]
    embedder = load_embedder()
    vectors = []
    for note, read in zip(notes, parsed, strict=True):
        cut = passages(note.title, read)
        vectors.append(pool_passages(embedder.encode([one.text for one in cut]), [one.weight for one in cut]))
    matrix = np.stack(vectors).astype(np.float16).astype(np.float32)
    first, second = (np.array([notes[getattr(pair, side)] for pair in pairs]) for side in ("a", "b"))
    shapes = [note_shape(note.title, prose(read)) for note, read in zip(notes, parsed, strict=True)]
    around = surroundings(background(matrix), len(matrix), [shape.clause_words for shape in shapes])
    near = around.nearness(matrix[first], matrix[second])
    size = Counter(folder(note) for note in notes)
    return np.array([
        sign_row(
            bridge_signs(
                shapes[a], shapes[b], usual=around.clause_words, nearness=z,
                lift=folder_lift(len(notes), size[folder(pair.a)] if folder(pair.a) == folder(pair.b) else 0),
            )
        )
        for pair, a, b, z in zip(pairs, first.tolist(), second.tolist(), near.tolist(), strict=True)
    ])  # fmt: skip


def folder(note: CorpusNote) -> str:
    """The folder that a note lies in."""
    return note.path.rpartition("/")[0]


def fit(rows: Floats, answers: NDArray[np.bool_], counts: Floats) -> Floats:
    """Weights and, last, the intercept. The ridge holds for columns of unit spread."""
    means = np.average(rows, axis=0, weights=counts)
    scales = np.sqrt(np.average((rows - means) ** 2, axis=0, weights=counts)) + 1e-9
    design = np.c_[(rows - means) / scales, np.ones(len(rows))]
    ridge = np.diag([STRENGTH] * rows.shape[1] + [1e-6])
    at = np.zeros(design.shape[1])
    for _ in range(60):
        likely = 1 / (1 + np.exp(-design @ at))
        slope = design.T @ (counts * (likely - answers)) + ridge @ at
        at = at - np.linalg.solve((design.T * (counts * likely * (1 - likely))) @ design + ridge, slope)
    weights = at[:-1] / scales
    return np.asarray(np.r_[weights, at[-1] - weights @ means], np.float64)


def fit_to(corpus: Corpus, chosen: NDArray[np.bool_] | None = None) -> Floats:
    """`fit` to the `chosen` pairs (by default all) and to the chance pairs of other notes than those left out."""
    mine = np.ones(len(corpus.pairs), dtype=bool) if chosen is None else chosen
    out = {side for pair, is_in in zip(corpus.pairs, mine, strict=True) if not is_in for side in (pair.a, pair.b)}
    if chosen is not None:
        mine = mine & np.array([pair.a not in out and pair.b not in out for pair in corpus.pairs])
    chance = np.array([pair.a not in out and pair.b not in out for pair in corpus.chance])
    return fit(
        np.concatenate([corpus.rows[mine], corpus.chance_rows[chance]]),
        np.concatenate([corpus.answers[mine], np.zeros(chance.sum(), dtype=bool)]),
        np.concatenate([np.ones(mine.sum()), np.full(chance.sum(), CHANCE / max(1, chance.sum()))]),
    )


def held_out(corpus: Corpus) -> tuple[float, float, Counter[str]]:
    """Of pairs that were not fitted to: the share that is right, of chance pairs that too, and right by kind."""
    right: Counter[str] = Counter()
    total, dropped = 0, []
    for seed in range(TIMES):
        fold = np.random.default_rng(seed).integers(0, FOLDS, len(corpus.pairs))
        for number in range(FOLDS):
            mine = fold == number
            at = fit_to(corpus, ~mine)
            said = corpus.rows[mine] @ at[:-1] + at[-1] > 0
            for pair, is_right in zip(np.flatnonzero(mine), said == corpus.answers[mine], strict=True):
                right[corpus.pairs[pair].kind] += int(is_right)
                total += 1
            notes = {side for pair in np.flatnonzero(mine) for side in (corpus.pairs[pair].a, corpus.pairs[pair].b)}
            apart = np.array([pair.a in notes and pair.b in notes for pair in corpus.chance])
            dropped.extend((corpus.chance_rows[apart] @ at[:-1] + at[-1] <= 0).tolist())
    return right.total() / total, float(np.mean(dropped)), right


def read(path: Path) -> Corpus:
    """Bridges and noise of a corpus, and chance pairs, measured among all its notes."""
    pairs, problems = parse_corpus(path.read_text(encoding="utf-8"), path.name)
    if problems:
        sys.exit(str(problems[0]))
    bridges = [pair for pair in pairs if pair.label == "keep"]
    chance = tuple(
        LabelledPair(id="", kind="chance", label="drop", a=one.a, b=two.b)
        for one in bridges
        for two in bridges
        if one is not two and folder(one.a) != folder(two.b)
    )
    rows = signs_of((*pairs, *chance))
    wanted = [at for at, pair in enumerate(pairs) if pair.kind != NEAR_DUPLICATE]
    return Corpus(
        pairs=tuple(pairs[at] for at in wanted),
        rows=rows[wanted],
        answers=np.array([pairs[at].label == "keep" for at in wanted]),
        chance=chance,
        chance_rows=rows[len(pairs) :],
    )


def main() -> None:
    """Prints the figures."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--corpus", type=Path, default=REPOSITORY / "examples" / "triage-corpus.jsonl")
    parser.add_argument("--test", type=Path)
    args = parser.parse_args()
    corpus = read(args.corpus)
    at = fit_to(corpus)
    print("fitted  ", dict(zip((*SIGNS, "intercept"), np.round(at, 2).tolist(), strict=True)))
    print("in force", dict(zip((*SIGNS, "intercept"), (*WEIGHTS, INTERCEPT), strict=True)))
    share, dropped, right = held_out(corpus)
    of = Counter(pair.kind for pair in corpus.pairs)
    kinds = {kind: f"{right[kind] / TIMES:.1f} of {of[kind]}" for kind in sorted(of)}
    print(f"held out {share:.3f}  chance pairs dropped {dropped:.2f}  {kinds}")
    for column, name in enumerate(SIGNS):
        rows, chance = (np.delete(values, column, axis=1) for values in (corpus.rows, corpus.chance_rows))
        share, dropped, _ = held_out(replace(corpus, rows=rows, chance_rows=chance))
        print(f"  without {name:9} held out {share:.3f}  chance pairs dropped {dropped:.2f}")
    report("corpus", corpus, at)
    if args.test:
        report("test", read(args.test), at)


def report(name: str, corpus: Corpus, fitted: Floats) -> None:
    """The figures of one corpus, by the fitted weights and by those in force."""
    of = Counter(pair.kind for pair in corpus.pairs)
    for what, weights in (("fitted", fitted), ("in force", np.array([*WEIGHTS, INTERCEPT]))):
        right = (corpus.rows @ weights[:-1] + weights[-1] > 0) == corpus.answers
        kinds = Counter(pair.kind for pair, is_right in zip(corpus.pairs, right, strict=True) if is_right)
        dropped = np.mean(corpus.chance_rows @ weights[:-1] + weights[-1] <= 0)
        by_kind = {kind: f"{kinds[kind]} of {of[kind]}" for kind in sorted(of)}
        print(f"{name} {what:8} {right.mean():.3f}  chance pairs dropped {dropped:.2f}  {by_kind}")


if __name__ == "__main__":
    main()
