"""What two near passages have and have not in common, sentence by sentence: for whoever must say if they are one."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from aria_dream.consolidate.sentences import read_sentences, sentence_end
from aria_dream.notes.plain_text import clean
from aria_dream.words.guards import is_date, is_number

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from aria_dream.consolidate.sentences import Sentence

MOST_SHOWN: Final = 3
"""Sentences of either that are shown."""
LONGEST_SHOWN: Final = 200
"""Characters of a sentence."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Difference:
    """What is the case between two passages."""

    what: str
    """One clause."""
    only_first: tuple[str, ...]
    """The first sentences that only the first has, as written, on one line and cut."""
    only_second: tuple[str, ...]


def difference_of(first: str, second: str) -> Difference:
    """How two passages, Markdown without frontmatter, differ. A sentence is the same where its words are."""
    ours, theirs = read_sentences(first), read_sentences(second)
    only_first, only_second = _only(ours, theirs), _only(theirs, ours)
    same = len(ours) - len(only_first)
    return Difference(
        what=_what(only_first, only_second, same),
        only_first=_shown(first, only_first),
        only_second=_shown(second, only_second),
    )


def _only(ours: Sequence[Sentence], theirs: Iterable[Sentence]) -> list[Sentence]:
    """Those of `ours` that `theirs` do not hold as often."""
    left = Counter(one.keys for one in theirs)
    found = []
    for one in ours:
        if left[one.keys]:
            left[one.keys] -= 1
        else:
            found.append(one)
    return found


def _what(only_first: Sequence[Sentence], only_second: Sequence[Sentence], same: int) -> str:
    if not only_first and not only_second:
        return "both say the same, word for word"
    if not only_first or not only_second:
        return f"the {'second' if only_second else 'first'} holds the {'first' if only_second else 'second'} whole"
    figures = _figures(only_first, only_second)
    if figures:
        subject = "a figure differs" if len(figures) == 1 else "figures differ"
        return f"only {subject}: {'; '.join(figures[:MOST_SHOWN])}"
    if same:
        count = "one sentence is" if same == 1 else f"{same} sentences are"
        return f"{count} the same, and the rest is told in other words or only once"
    return "told in other words"


def _figures(only_first: Sequence[Sentence], only_second: Sequence[Sentence]) -> list[str]:
    """The numbers and dates in which the sentences differ, where they differ in nothing else; else empty."""
    if len(only_first) != len(only_second):
        return []
    found: list[str] = []
    for one, other in zip(only_first, only_second, strict=True):
        if len(one.keys) != len(other.keys):
            return []
        for ours, theirs in zip(one.keys, other.keys, strict=True):
            if ours == theirs:
                continue
            if not (is_number(ours) or is_date(ours)) or not (is_number(theirs) or is_date(theirs)):
                return []
            found.append(f"{ours:.30} against {theirs:.30}")
    return found


def _shown(text: str, sentences: Sequence[Sentence]) -> tuple[str, ...]:
    lines = [clean(text[one.start : sentence_end(text, one)]) for one in sentences[:MOST_SHOWN]]
    return tuple(line if len(line) <= LONGEST_SHOWN else f"{line[: LONGEST_SHOWN - 1]}…" for line in lines)
