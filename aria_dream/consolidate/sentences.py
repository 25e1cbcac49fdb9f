"""The facts of a passage, counted as its sentences: which of them another text has too, word for word or in substance.

A list item, a heading, a cell of code or math and what is embedded each count as a sentence of their own.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from aria_dream.consolidate.wording import BLOCK, CODE, read_wording
from aria_dream.markdown.note import parse_note
from aria_dream.words.guards import is_date, is_negation, is_number

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from aria_dream.consolidate.wording import Word

KEPT_SHARE: Final = 0.6
"""Of a sentence's words stand in one sentence of another text at least, with every number, date and denial, if that is
to say the same."""
_BOUNDARY: Final = re.compile(r"[.!?\u2026][\"'\u201d\u2019)\]*_]*\s|[\u3002\uff01\uff1f]")
_CLOSING: Final = frozenset("!?\uff01\uff1f")


@dataclass(frozen=True, slots=True)
class Sentence:
    """One sentence; offsets are characters of the text it was found in."""

    keys: tuple[str, ...]
    start: int
    end: int
    """Behind its last word; `sentence_end` adds the stop."""


def read_sentences(text: str) -> tuple[Sentence, ...]:
    """The sentences of a Markdown text without frontmatter, in order; offsets are those of `text`. Total."""
    note = parse_note("\n" + text)  # a body may begin with a rule that would be taken for properties
    return tuple(
        Sentence(one.keys, max(0, one.start - 1), max(0, one.end - 1))
        for one in split_sentences(note.text, read_wording(note).words)
    )


def split_sentences(text: str, words: Sequence[Word]) -> list[Sentence]:
    """`words` of `text` cut into sentences."""
    found: list[list[Word]] = []
    for word in words:
        last = found[-1][-1] if found else None
        new = last is None or (
            _is_block(word) != _is_block(last)
            or word.apart == BLOCK
            or _is_alone(word)
            or _is_alone(last)
            or _BOUNDARY.search(text, last.end, word.start + 1) is not None
            or (last.key in _CLOSING and text[last.end : last.end + 1].isspace())
        )
        if new:
            found.append([])
        found[-1].append(word)
    return [Sentence(tuple(word.key for word in part), part[0].start, part[-1].end) for part in found]


def _is_block(word: Word) -> bool:
    """Whether a word is a block of code, which is a sentence whatever stands beside it."""
    return bool(word.place & CODE) and not word.key.startswith("`")


def _is_alone(word: Word) -> bool:
    """Whether a word is an embed or a formula set apart."""
    return word.key.startswith(("!", "$$")) and len(word.key) > 1


def sentence_end(text: str, sentence: Sentence) -> int:
    """Behind the stop and the closing marks of a sentence."""
    found = re.compile(r"[.!?\u2026\u3002\uff01\uff1f\"'\u201d\u2019)\]*_=~`]*").match(text, sentence.end)
    return found.end() if found else sentence.end


def is_kept(sentence: Sentence, others: Iterable[Sentence], everything: str) -> bool:
    """Whether another text says what `sentence` says. `everything`: all its words, `joined`."""
    if joined(sentence.keys) in everything:
        return True
    telling = [key for key in sentence.keys if len(key) > 2 or not key.isascii()]
    exact = Counter(key for key in sentence.keys if is_number(key) or is_date(key))
    denies = any(map(is_negation, sentence.keys))
    for other in others:
        has = Counter(other.keys)
        shared = sum(key in has for key in telling)
        if shared >= KEPT_SHARE * len(telling) and exact <= has and denies == any(map(is_negation, other.keys)):
            return True
    return False


def joined(keys: Iterable[str]) -> str:
    """Words as one text in which a run of them can be looked for."""
    return f" {' '.join(keys)} "


def missing_from(text: str, sentences: Sequence[Sentence]) -> list[Sentence]:
    """Those of `sentences` that `text` does not say."""
    others = read_sentences(text)
    everything = joined(key for other in others for key in other.keys)
    return [one for one in sentences if not is_kept(one, others, everything)]
