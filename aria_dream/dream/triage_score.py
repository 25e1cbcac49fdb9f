"""A labelled corpus of pairs, and what a judge's verdicts on it are worth."""

from __future__ import annotations

import json
import re
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Literal

from aria_dream.dream.triage import Keep, Unreadable
from aria_dream.errors import Problem

if TYPE_CHECKING:
    from collections.abc import Sequence

    from aria_dream.dream.triage import Verdict

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
    """The pairs of a JSONL file in order, and a problem for each line that is none."""
    pairs: list[LabelledPair] = []
    problems: list[Problem] = []
    for number, line in enumerate(text.splitlines(), start=1):
        if not line.strip():
            continue
        pair = _parse_pair(line)
        if pair is None:
            problems.append(Problem(path, number, "this line is no labelled pair"))
        else:
            pairs.append(pair)
    return tuple(pairs), tuple(problems)


def _parse_pair(line: str) -> LabelledPair | None:
    try:
        found = json.loads(line)
        label = found["label"]
        sides = [CorpusNote(side["path"], side["title"], side["text"]) for side in (found["a"], found["b"])]
        known = label in ("keep", "drop") and all(map(_is_note, sides))
        return (
            LabelledPair(id=str(found["id"]), kind=str(found["kind"]), label=label, a=sides[0], b=sides[1])
            if known
            else None
        )
    except (ValueError, KeyError, TypeError, RecursionError):
        return None


def _is_note(side: CorpusNote) -> bool:
    """Whether it can be laid out: text that UTF-8 can hold, under a path that leads out of no folder."""
    if not all(isinstance(value, str) for value in (side.path, side.title, side.text)):
        return False
    leads_out = any(not part.strip(". ") for part in side.path.split("/")) or _OTHER_WAYS.search(side.path)
    return not leads_out and not any("\ud800" <= sign <= "\udfff" for sign in side.path + side.title + side.text)


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
