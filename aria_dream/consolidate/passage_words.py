"""The words of two passages as the built-in judge holds them against each other, and the signature of one: a few
hundred numbers, kept once a passage, by which most pairs are seen to be in other words without a text being read again.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass
from functools import lru_cache
from hashlib import sha256
from typing import TYPE_CHECKING, Final
from zlib import crc32

import numpy as np

from aria_dream.consolidate.wording import read_wording
from aria_dream.markdown.note import parse_note

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import NDArray

    from aria_dream.consolidate.wording import Word, Wording

_CONTRACTIONS: Final = {"can't": ("can", "not"), "cannot": ("can", "not"), "won't": ("will", "not"), "shan't": ("shall", "not")}  # fmt: skip  # noqa: E501
_SPELLING: Final = (
    (re.compile(r"(?<=[a-z]{4})is(e|ed|es|er|ers|ing|ation|ations)$"), r"iz\1"),
    (re.compile(r"^(col|hon|flav|fav|behavi|neighb|lab|harb|rum|vap|od|hum|endeav|arm|parl|sav|cand)our"), r"\1or"),
    (re.compile(r"^(cent|theat|lit|fib|calib|somb|spect|lust|kilomet|millimet|centimet)re(s?)$"), r"\1er\2"),
    (re.compile(r"^grey(?=$|s$|er$|ish$)"), "gray"),
)
"""British to American, where no other English word is hit."""
_FILLERS: Final = frozenset({"the", "that"})
"""English words that stand or do not stand without a difference."""


@dataclass(frozen=True, slots=True)
class PassageWords:
    """A passage, read."""

    text: str
    wording: Wording
    words: tuple[Word, ...]
    """Without the heading it begins with."""
    keys: tuple[str, ...]


@lru_cache(maxsize=64)
def read_passage(text: str) -> PassageWords:
    """The words of a passage's text. Total."""
    note = parse_note("\n" + text)  # a body may begin with a rule that would be taken for properties
    wording = read_wording(note)
    words = wording.words
    if note.headings and not note.text[: note.headings[0].span.start].strip():
        stop = note.headings[0].span.end
        words = tuple(word for word in words if word.start >= stop)
    return PassageWords(note.text, wording, words, tuple(word.key for word in words))


def plain_keys(read: PassageWords) -> tuple[str, ...]:
    """The words without what spelling alone makes differ; those that may be names by their capital marked as such: Mr
    Grey is not Mr Gray."""
    return plainer(
        f"{word.key}\0" if not word.apart and read.text[word.start].isupper() and len(word.key) > 3 else word.key
        for word in read.words
    )


def plainer(keys: Iterable[str]) -> tuple[str, ...]:
    """The words with contractions written out, in American spelling, without `the` and `that`."""
    return tuple(part for key in keys for part in _plain_word(key))


@lru_cache(maxsize=20_000)
def _plain_word(key: str) -> tuple[str, ...]:
    if key in _CONTRACTIONS:
        return _CONTRACTIONS[key]
    if not key.isascii() or not key.isalnum():
        return (key[:-3], "not") if key.endswith("n't") and len(key) > 4 else (key,)
    if key in _FILLERS:
        return ()
    for pattern, spelt in _SPELLING:
        key = pattern.sub(spelt, key)
    return (key,)


def share_of(first: tuple[str, ...], second: tuple[str, ...]) -> float:
    """The share of the words of the longer one that both have, wherever: never less than what is verbatim."""
    return (Counter(first) & Counter(second)).total() / max(len(first), len(second), 1)


@dataclass(frozen=True, slots=True)
class PassageSignature:
    """What of a passage's words shows that another one is in other words."""

    length: int
    """Words in all."""
    plain: bytes
    """Digest of `plain_keys`: equal where two are the same but for spelling, and of what is word for word the same."""
    hashes: NDArray[np.uint32]
    """Of its different words, ascending."""
    counts: NDArray[np.uint32]
    """How often each occurs."""


def signature_of(text: str) -> PassageSignature:
    """The signature of a passage's text."""
    read = read_passage(text)
    hashed = np.array([crc32(key.encode("utf-8", "surrogatepass")) for key in read.keys], dtype=np.uint32)
    hashes, counts = np.unique(hashed, return_counts=True)
    plain = sha256("\n".join(plain_keys(read)).encode("utf-8", "surrogatepass")).digest()
    return PassageSignature(length=len(read.keys), plain=plain, hashes=hashes, counts=counts.astype(np.uint32))


def most_shared(first: PassageSignature, second: PassageSignature) -> float:
    """`share_of` the two passages, or more: two words may have one hash."""
    _, ours, theirs = np.intersect1d(first.hashes, second.hashes, assume_unique=True, return_indices=True)
    shared = int(np.minimum(first.counts[ours], second.counts[theirs]).sum())
    return shared / max(first.length, second.length, 1)
