"""A labelled corpus of pairs of notes, and what the built-in judge is worth on it."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from aria_dream.errors import Problem

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

Decision = Literal["merge", "not_duplicate", "escalated", "no_atom"]
DECISIONS: tuple[Decision, ...] = ("merge", "not_duplicate", "escalated", "no_atom")


@dataclass(frozen=True, slots=True)
class CorpusNote:
    """One side of a pair: the whole file."""

    path: str
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class LabelledNotes:
    """A pair and what a person decided about it."""

    id: str
    kind: str
    is_duplicate: bool
    a: CorpusNote
    b: CorpusNote


@dataclass(frozen=True, slots=True, kw_only=True)
class Measured:
    """What the signals and the judge say of a pair."""

    pair: LabelledNotes
    cosine: float
    overlap: float
    comes: bool
    """Whether the two come before a judge at all, in a vault of the corpus's notes with the default policy."""
    decision: Decision
    reason: str


def parse_pairs(text: str, path: str = "") -> tuple[tuple[LabelledNotes, ...], tuple[Problem, ...]]:
    """The pairs of a JSONL file in order, and a problem for each line that is none."""
    pairs: list[LabelledNotes] = []
    problems: list[Problem] = []
    for number, line in enumerate(text.split("\n"), start=1):
        if not line.strip():
            continue
        try:
            found = json.loads(line)
            sides = [CorpusNote(found[side]["path"], found[side]["text"]) for side in "ab"]
            known = found["label"] in ("duplicate", "distinct")
            known = known and all(isinstance(value, str) for side in sides for value in (side.path, side.text))
        except (ValueError, KeyError, TypeError, RecursionError):
            known = False
        if not known:
            problems.append(Problem(path, number, "this line is no labelled pair of notes"))
            continue
        pairs.append(
            LabelledNotes(
                id=str(found["id"]),
                kind=str(found["kind"]),
                is_duplicate=found["label"] == "duplicate",
                a=sides[0],
                b=sides[1],
            )
        )
    return tuple(pairs), tuple(problems)


@dataclass(frozen=True, slots=True, kw_only=True)
class KindDecisions:
    """What became of the pairs of one kind."""

    kind: str
    label: Literal["duplicate", "distinct"]
    decisions: tuple[int, ...]
    """In the order of `DECISIONS`."""
    coming: int
    """How many come before a judge."""


def by_kind(measured: Sequence[Measured]) -> tuple[KindDecisions, ...]:
    """What the judge did, kind by kind, duplicates first."""
    counts: dict[tuple[bool, str], Counter[Decision]] = {}
    coming: Counter[tuple[bool, str]] = Counter()
    for one in measured:
        kind_and_label = not one.pair.is_duplicate, one.pair.kind
        counts.setdefault(kind_and_label, Counter())[one.decision] += 1
        coming[kind_and_label] += one.comes
    return tuple(
        KindDecisions(
            kind=kind,
            label="distinct" if distinct else "duplicate",
            decisions=tuple(found[decision] for decision in DECISIONS),
            coming=coming[distinct, kind],
        )
        for (distinct, kind), found in sorted(counts.items(), key=lambda item: item[0])
    )


def against_label(measured: Sequence[Measured]) -> tuple[Measured, ...]:
    """The pairs that the judge decided, and decided wrongly."""
    return tuple(one for one in measured if one.decision == ("not_duplicate" if one.pair.is_duplicate else "merge"))


def curve(
    measured: Sequence[Measured], signal: Callable[[Measured], float], thresholds: Sequence[float]
) -> list[tuple[float, float, float]]:
    """`(threshold, precision, recall)`, where every pair is taken for a duplicate from the threshold on.

    Precision is 1 where none is taken, recall 0 where there is no duplicate.
    """
    duplicates = sum(one.pair.is_duplicate for one in measured)
    points = []
    for least in thresholds:
        taken = [one for one in measured if signal(one) >= least]
        right = sum(one.pair.is_duplicate for one in taken)
        points.append((least, right / len(taken) if taken else 1.0, right / duplicates if duplicates else 0.0))
    return points
