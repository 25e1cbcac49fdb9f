"""What of a note is embedded, and how its passages become one vector. Pure; the model itself lies in the adapters."""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from aria_dream.markdown.no_words import no_words

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    import numpy as np
    from numpy.typing import NDArray

    from aria_dream.markdown.note import Note

RECIPE: Final = "3"
"""Part of the vectors' cache key: raise it with every change here that changes a vector, or in what is kept."""
PASSAGE_WORDS: Final = 64
MAX_PASSAGES: Final = 6
"""The first 384 words of a note. Measured by cosine alone on hidden links of four vaults: several short passages beat
one long text by a quarter (MRR .21 against .17), more of them than this add little and cost time in proportion."""
TITLE_WEIGHT: Final = 0.5
"""Of the title's own vector, for each passage."""
_SCANNED_CHARACTERS: Final = 24_000
"""Of a note's body that are looked at at all: far more than the passages hold, far less than a pasted log."""
_LONGEST_WORD: Final = 24
"""Longer runs without a space (Chinese, Japanese, URLs' remains) are cut, so that a passage has bounded length."""
_CHARACTERS_PER_WORD: Final = 6

MARKS: Final = re.compile(
    r"https?://\S+"
    r"|^[ \t]*(?:[-*+>][ \t]+|#{1,6}[ \t]+|\d{1,9}[.)][ \t]+|\[[ xX]\][ \t]+)+"
    r"|[*_`~=|\\\[\]]+|\[\^[^\]\s]{1,40}\]",
    re.MULTILINE,
)


@dataclass(frozen=True, slots=True)
class EmbeddedText:
    """A piece of a note that is embedded on its own."""

    text: str
    """Plain words in one line, without Markdown, code or URLs; never empty."""
    weight: float
    """Its share in the note's vector, relative to the other passages'."""


def passages(title: str, note: Note) -> tuple[EmbeddedText, ...]:
    """What represents `note` in the model, title first, at most `MAX_PASSAGES` + 1 pieces of bounded length.

    Frontmatter, links, code, math, HTML and comments are left out. A note without prose is its title, with its aliases;
    a note without either is `"untitled"`.
    """
    name = " ".join(_words(", ".join((title, *note.aliases[:8]))))[:200].strip(" ,") or "untitled"
    found = tuple(EmbeddedText(text, 1.0) for text in _cut(_words(MARKS.sub(" ", prose(note)))))
    return (EmbeddedText(name, TITLE_WEIGHT * max(1, len(found))), *found)


def prose(note: Note) -> str:
    """The body's prose, every link, everything opaque and what is no word (`markdown.no_words`) as a space; at most the
    first 24,000 characters of what is left.

    A link names its target: with its text left in, a vector would know the vault's own links, and the judge that learns
    from them would trust it too much. Leaving them out costs nothing (MRR of the cosine .185 against .189).
    """
    spans = [(span.start, span.end) for span in note.opaque]
    spans += [(link.start, link.end) for link in note.links if not link.in_frontmatter]
    spans += [(start + note.body_start, end + note.body_start) for start, end in no_words(note.text[note.body_start :])]
    pieces, at, held = [], note.body_start, 0
    for start, stop in sorted(spans):
        if start >= at and held < _SCANNED_CHARACTERS:
            pieces += [note.text[at:start][: _SCANNED_CHARACTERS - held], " "]
            held += start - at
        at = max(at, stop)
    pieces.append(note.text[at : at + max(0, _SCANNED_CHARACTERS - held)])
    return "".join(pieces)


def _words(text: str) -> Iterator[str]:
    for word in text.split():
        for start in range(0, len(word), _LONGEST_WORD):
            yield word[start : start + _LONGEST_WORD]


def _cut(words: Iterator[str]) -> Iterator[str]:
    """Passages of `PASSAGE_WORDS` words; a long word counts as several."""
    held: list[str] = []
    count, made = 0, 0
    for word in words:
        held.append(word)
        count += 1 + len(word) // (2 * _CHARACTERS_PER_WORD)
        if count >= PASSAGE_WORDS:
            yield " ".join(held)
            held, count, made = [], 0, made + 1
            if made == MAX_PASSAGES:
                return
    if held:
        yield " ".join(held)


def pool_passages(vectors: NDArray[np.float32], weights: Sequence[float]) -> NDArray[np.float32]:
    """The weighted mean of a note's passage vectors, of length 1. Where they cancel out the first stands for all."""
    import numpy as np

    mean = np.asarray(weights, np.float32) @ vectors
    length = float(np.linalg.norm(mean))
    result: NDArray[np.float32] = (mean / length if length > 1e-6 else vectors[0]).astype(np.float32)
    return result


def vector_key(content_hash: bytes, title: str) -> bytes:
    """The cache's key of a note's vector: SHA-256 over content hash and title, which both enter the vector."""
    return hashlib.sha256(content_hash + title.encode("utf-8", "surrogatepass")).digest()
