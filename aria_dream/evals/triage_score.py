"""Labelled corpora of pairs of notes, and what a judge's verdicts on them are worth."""

from __future__ import annotations

import json
import re
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Literal

from aria_dream.errors import Problem
from aria_dream.judging.triage_prompt import Keep, Unreadable

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from aria_dream.judging.triage_prompt import Verdict

NEAR_DUPLICATE = "near_duplicate"


@dataclass(frozen=True, slots=True)
class CorpusNote:
    """One side of a pair."""

    path: str
    title: str
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class LabelledPair:
    """A pair and what a person decided about it."""

    id: str
    kind: str
    label: Literal["keep", "drop"]
    a: CorpusNote
    b: CorpusNote


def parse_corpus(text: str, path: str = "") -> tuple[tuple[LabelledPair, ...], tuple[Problem, ...]]:
    """The pairs of a JSONL file in order, and a problem for each line that is none, or whose pair has an id taken."""
    pairs: list[LabelledPair] = []
    problems: list[Problem] = []
    lines: dict[str, int] = {}
    for number, line in enumerate(text.removeprefix("\ufeff").split("\n"), start=1):
        if not line.strip():
            continue
        pair = _parse_pair(line)
        if isinstance(pair, LabelledPair) and pair.id in lines:
            pair = f"the id {pair.id} is that of line {lines[pair.id]} already"
        if isinstance(pair, str):
            problems.append(Problem(path, number, pair))
        else:
            pairs.append(pair)
            lines[pair.id] = number
    return tuple(pairs), tuple(problems)


_NO_PAIR: Final = "this line is no labelled pair: an object with id, kind, label, a and b"


def _parse_pair(line: str) -> LabelledPair | str:
    """The pair; or what is wrong with the line."""
    try:
        found = json.loads(line)
        label = found["label"]
        sides = [_side(found[side]) for side in "ab"]
        name, kind = str(found["id"]), str(found["kind"])
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return _NO_PAIR
    if label not in ("keep", "drop"):
        return "the label of a pair is keep or drop"
    fault = next((fault for side in sides if (fault := _note_fault(side))), "")
    if fault:
        return fault
    if sides[0] == sides[1]:
        return "the two notes of this pair are one"
    return LabelledPair(id=name, kind=kind, label=label, a=sides[0], b=sides[1])


def _side(found: Mapping[str, object]) -> CorpusNote:
    """The note; without a title the name of its file is one, and a path may lack its `.md`. Raises TypeError."""
    path, text = found["path"], found["text"]
    if not isinstance(path, str) or not isinstance(text, str):
        raise TypeError("no text")
    name = path.rpartition("/")[2]
    if name.strip(". ") and not name.lower().endswith(".md"):
        path, name = f"{path}.md", f"{name}.md"
    return CorpusNote(path, str(found.get("title", name[:-3])), text)


def _note_fault(side: CorpusNote) -> str:
    """Why it cannot be laid out as a note: text that UTF-8 can hold, under a path that leads out of no folder."""
    parts = side.path.split("/")
    if any(not part.strip(". ") for part in parts) or _OTHER_WAYS.search(side.path):
        return "the path of a note leads nowhere in a vault"
    if any(part.lower().endswith(".md") for part in parts[:-1]):
        return "no folder in the path of a note ends in .md"
    if any(len(part.encode("utf-8", "surrogatepass")) > LONGEST_NAME for part in parts):
        return f"a name in the path of a note has more than {LONGEST_NAME} bytes"
    if any("\ud800" <= sign <= "\udfff" for sign in side.path + side.title + side.text):
        return "a note holds half a character"
    return ""


LONGEST_NAME: Final = 240
"""Bytes of one name that every usual disk can hold, with a number behind it where two notes bear it."""
_OTHER_WAYS: Final = re.compile(r"[\\\x00-\x1f]|^[A-Za-z]:(?! )")
"""Ways to another folder, or to nowhere, on some system."""


@dataclass(frozen=True, slots=True, kw_only=True)
class KindScore:
    """Of the pairs of one kind."""

    kind: str
    right: int
    of: int


@dataclass(frozen=True, slots=True, kw_only=True)
class TriageScore:
    """What a judge's verdicts are worth. Shares are 0 to 1, and 0 where there is nothing to share."""

    pairs: int
    accuracy: float
    bridge_against_noise: float
    """Accuracy without the near-duplicates, which another program is for."""
    false_keep: float
    """Of the pairs to drop, the share that was kept."""
    false_drop: float
    """Of the pairs to keep, the share that was not."""
    unreadable: int
    """Answers that were no verdict; they count as drops."""
    agreement: float
    """Of the pairs, the share with the same verdict in both runs."""
    kinds: tuple[KindScore, ...]
    """By name."""


def score_triage(
    pairs: Sequence[LabelledPair], verdicts: Sequence[Verdict], again: Sequence[Verdict]
) -> TriageScore:
    """The score of `verdicts`, one a pair in order; `again` are those of a second run."""
    kept = [isinstance(verdict, Keep) for verdict in verdicts]
    right = [is_kept == (pair.label == "keep") for pair, is_kept in zip(pairs, kept, strict=True)]
    of, rights = Counter(pair.kind for pair in pairs), Counter(
        pair.kind for pair, is_right in zip(pairs, right, strict=True) if is_right
    )
    to_keep = [is_kept for pair, is_kept in zip(pairs, kept, strict=True) if pair.label == "keep"]
    to_drop = [is_kept for pair, is_kept in zip(pairs, kept, strict=True) if pair.label == "drop"]
    noise = [is_right for pair, is_right in zip(pairs, right, strict=True) if pair.kind != NEAR_DUPLICATE]
    same = [type(first) is type(second) for first, second in zip(verdicts, again, strict=True)]
    return TriageScore(
        pairs=len(pairs),
        accuracy=_share(right),
        bridge_against_noise=_share(noise),
        false_keep=_share(to_drop),
        false_drop=_share([not is_kept for is_kept in to_keep]),
        unreadable=sum(isinstance(verdict, Unreadable) for verdict in verdicts),
        agreement=_share(same),
        kinds=tuple(KindScore(kind=kind, right=rights[kind], of=count) for kind, count in sorted(of.items())),
    )


def _share(flags: Sequence[bool]) -> float:
    return sum(flags) / len(flags) if flags else 0.0


def render_bar(share: float, width: int = 20) -> str:
    """`share` (0 to 1) as a bar of `width` characters."""
    full = round(max(0.0, min(1.0, share)) * width)
    return "█" * full + "·" * (width - full)


Decision = Literal["merge", "not_duplicate", "escalated", "no_atom"]
DECISIONS: tuple[Decision, ...] = ("merge", "not_duplicate", "escalated", "no_atom")


@dataclass(frozen=True, slots=True)
class CorpusFile:
    """One side of a pair: the whole file."""

    path: str
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class LabelledNotes:
    """A pair and what a person decided about it."""

    id: str
    kind: str
    is_duplicate: bool
    a: CorpusFile
    b: CorpusFile


@dataclass(frozen=True, slots=True, kw_only=True)
class MeasuredPair:
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
            sides = [CorpusFile(found[side]["path"], found[side]["text"]) for side in "ab"]
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


def by_kind(measured: Sequence[MeasuredPair]) -> tuple[KindDecisions, ...]:
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


def against_label(measured: Sequence[MeasuredPair]) -> tuple[MeasuredPair, ...]:
    """The pairs that the judge decided, and decided wrongly."""
    return tuple(one for one in measured if one.decision == ("not_duplicate" if one.pair.is_duplicate else "merge"))


def curve(
    measured: Sequence[MeasuredPair], signal: Callable[[MeasuredPair], float], thresholds: Sequence[float]
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
