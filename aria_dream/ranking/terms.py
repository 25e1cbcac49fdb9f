"""The words of a note as numbers: what text resonance is computed from, and what a cache keeps of a note's text.

The text of a link is kept apart from the prose. A link that is drawn names its target, so its words would tell a
learner that the two notes belong together; with the two apart, a link can be hidden from words as well as from graph.
"""

from __future__ import annotations

import re
import unicodedata
import zlib
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Final, NamedTuple
from urllib.parse import unquote

import numpy as np

from aria_dream.markdown.body import hidden_spans, join_spans, without_words
from aria_dream.markdown.no_words import no_words
from aria_dream.markdown.properties import find_frontmatter
from aria_dream.markdown.simple import read_simple
from aria_dream.markdown.zones import is_plain, read_body

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    import numpy.typing as npt

    Ids = npt.NDArray[np.uint32]

BREAK: Final = 0xFFFFFFFF
"""In `TermCounts.order`: here no phrase goes on (a link stood here, or a line ended in a way that ends a phrase)."""

# Scripts written without spaces (Thai, Lao, Burmese, Khmer, kana, Han) and Hangul, whose words carry their particles,
# are cut into overlapping pairs of characters.
_UNSPACED: Final = (
    "\u0e01-\u0eff\u1000-\u109f\u1780-\u17ff\u3041-\u30ff\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af"
    "\uf900-\ufaff\U00020000-\U0003ffff"
)
_TOKEN: Final = re.compile(rf"[{_UNSPACED}]+|(?:(?![{_UNSPACED}])[^\W_])+")
_ASCII_TOKEN: Final = re.compile(r"[a-z0-9]{2,}")
# Every part excludes the bracket that could start the next match, so that a line of a million brackets stays linear.
_LINK: Final = re.compile(r"!?\[\[([^\[\]\n]+)\]\]|!?\[([^\[\]\n]*)\]\(<?([^()<>\s]+)>?(?:[ \t]+\"[^\"\n]*\")?\)")
_NO_WORDS: Final = "\0"
"""Stands for every character that belongs to no word."""
_ATTACHMENT: Final = re.compile(r"\.(?!md$)[A-Za-z0-9]{2,5}$", re.IGNORECASE)
_PROPERTY: Final = re.compile(r"^[ \t]*(?:- )?[\"']?[^:\n\"'\[\]{}]{1,80}[\"']?:(?=\s|$)", re.MULTILINE)
_SCHEME: Final = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:")
_LONGEST_TOKEN: Final = 48
_TITLE_SLICE: Final = 200


@dataclass(frozen=True, slots=True, kw_only=True)
class TermCounts:
    """What is kept of one note's words. Term numbers are CRC-32 of the folded word: the same in every vault."""

    ids: Ids
    """Distinct terms of the prose, ascending."""
    counts: npt.NDArray[np.uint16]
    """How often each occurs, at most 65,535."""
    order: npt.NDArray[np.uint32]
    """The prose in reading order, as positions in `ids`; `BREAK` where a link stood."""
    link_keys: Ids
    """For every word of every link: `link_key` of what the link names."""
    link_ids: Ids
    """For every word of every link: its term."""

    def to_bytes(self) -> bytes:
        """The value as bytes for a cache; `from_bytes` is the inverse. Little-endian on every machine."""
        head = np.array([len(self.ids), len(self.order), len(self.link_keys)], dtype="<u4")
        parts = (head, self.ids, self.link_keys, self.link_ids, self.order, self.counts)
        return b"".join(part.astype(part.dtype.newbyteorder("<")).tobytes() for part in parts)

    @classmethod
    def from_bytes(cls, blob: bytes) -> TermCounts:
        """The value that `to_bytes` wrote, its arrays views of `blob`. ValueError where the length does not fit."""
        if len(blob) < 12:
            raise ValueError("term counts of the wrong length")
        distinct, length, links = (int(number) for number in np.frombuffer(blob, dtype="<u4", count=3))
        if len(blob) != 12 + 4 * (distinct + 2 * links + length) + 2 * distinct:
            raise ValueError("term counts of the wrong length")
        words = np.frombuffer(blob, dtype="<u4", offset=12, count=distinct + 2 * links + length)
        words = words.astype(np.uint32, copy=False)
        counts = np.frombuffer(blob, dtype="<u2", offset=12 + 4 * len(words)).astype(np.uint16, copy=False)
        return cls(
            ids=words[:distinct],
            counts=counts,
            order=words[distinct + 2 * links :],
            link_keys=words[distinct : distinct + links],
            link_ids=words[distinct + links : distinct + 2 * links],
        )


def fold(text: str) -> str:
    """`text` as terms compare it: compatibility forms unified (NFKC), case folded."""
    return text.lower() if text.isascii() else unicodedata.normalize("NFKC", text).casefold()


@lru_cache(maxsize=1 << 17)
def _word_id(word: str) -> int:
    # A plural s is the one ending worth taking off without knowing the language.
    if len(word) > 3 and word[-1] == "s" and word[-2] != "s" and word.isascii():
        word = word[:-1]
    return min(zlib.crc32(word.encode("utf-8", "surrogatepass")), BREAK - 1)


def words(text: str) -> list[str]:
    """The words of `text`, folded, in reading order; scripts without spaces as overlapping pairs of characters.

    Single letters and digits are no words, and neither is anything longer than 48 characters.
    """
    folded = fold(text)
    if folded.isascii():
        return [token for token in _ASCII_TOKEN.findall(folded) if len(token) <= _LONGEST_TOKEN]
    found: list[str] = []
    for token in _TOKEN.findall(folded):
        if token[0] >= "\u0e01" and _is_unspaced(token[0]):
            found.extend([token[i : i + 2] for i in range(len(token) - 1)] or [token])
        elif 1 < len(token) <= _LONGEST_TOKEN:
            found.append(token)
    return found


@lru_cache(maxsize=1 << 14)
def _is_unspaced(character: str) -> bool:
    return re.match(f"[{_UNSPACED}]", character) is not None


def term_ids(text: str) -> list[int]:
    """The terms of `text` in reading order."""
    if text.isascii():  # most text, and most of the time spent: one pass, no list of words between
        return [_word_id(token) for token in _ASCII_TOKEN.findall(text.lower()) if len(token) <= _LONGEST_TOKEN]
    return [_word_id(word) for word in words(text)]


class SpannedTerm(NamedTuple):
    """A term, and where it stands."""

    id: int
    start: int
    end: int


def spanned_terms(text: str, start: int, end: int) -> list[SpannedTerm]:
    """The terms of `text[start:end]` in reading order, each with its place in `text`."""
    found = []
    for token in _TOKEN.finditer(text, start, end):
        at, behind = token.span()
        if _is_unspaced(text[at]) and behind - at > 1:
            found += [SpannedTerm(_word_id(fold(text[i : i + 2])), i, i + 2) for i in range(at, behind - 1)]
        else:
            found += [SpannedTerm(term, at, behind) for term in term_ids(token[0])]
    return found


def link_key(target: str) -> int:
    """What a link names, as a number: the file name without folder, `.md` and subpath, in lower case."""
    name = target.split("|", 1)[0].split("#", 1)[0].strip().rstrip("\\/")
    name = unicodedata.normalize("NFC", name.rsplit("/", 1)[-1]).lower().removesuffix(".md")
    return zlib.crc32(name.encode("utf-8", "surrogatepass"))


def note_terms(text: str) -> TermCounts:
    """The terms of a note's text and of the values of its properties, without code, math, HTML, comments and what else
    holds no words (`markdown.no_words`). The name of a property is a term that no word is: notes of one form have it in
    common, and nothing is said by it. Total and near linear in the text."""
    frontmatter = find_frontmatter(text)
    fields = [] if frontmatter is None else _PROPERTY.findall(text, frontmatter.start, frontmatter.end)
    text = _masked(text)
    order = [number for name in fields for number in (_word_id(f"{_NO_WORDS}{fold(name.strip())}"), BREAK)]
    link_keys: list[int] = []
    link_ids: list[int] = []
    at = 0
    for match in _LINK.finditer(text):
        wiki, label, destination = match.groups()
        if wiki is None and (_SCHEME.match(destination) or _NO_WORDS in destination):
            continue  # its label is prose
        order.extend(_prose_ids(text[at : match.start()]))
        order.append(BREAK)
        at = match.end()
        target = wiki if wiki is not None else unquote(destination)
        if match[0][0] == "!" and _ATTACHMENT.search(target.partition("|")[0].partition("#")[0].rstrip()):
            continue  # a picture, and its name is mostly the work of a program
        shown = target if wiki is not None else f"{label} {target.rsplit('/', 1)[-1].removesuffix('.md')}"
        terms = term_ids(shown[:_TITLE_SLICE])
        link_keys.extend([link_key(target)] * len(terms))
        link_ids.extend(terms)
    order.extend(_prose_ids(text[at:]))
    return _counted(order, link_keys, link_ids)


def _prose_ids(text: str) -> Iterator[int]:
    if _NO_WORDS not in text:
        yield from term_ids(text)
        return
    for piece in filter(None, text.split(_NO_WORDS)):
        yield from term_ids(piece)
        yield BREAK


def _masked(text: str) -> str:
    """`text`, the same length, with `_NO_WORDS` for every character that belongs to no word."""
    frontmatter = find_frontmatter(text)
    start = frontmatter.body_start if frontmatter else 0
    body = text[start:]
    spans = [(first + start, last + start) for first, last in without_words(body, _opaque(body))]
    if frontmatter is not None:
        source = text[frontmatter.start : frontmatter.end]
        named = [match.span() for match in _PROPERTY.finditer(source)]
        hidden = join_spans(named + no_words(source))
        spans = [(a + frontmatter.start, b + frontmatter.start) for a, b in hidden] + spans
    pieces, at = [], 0
    for first, last in spans:
        pieces += [text[at:first], _NO_WORDS * (last - first)]
        at = last
    return "".join((*pieces, text[at:])) if spans else text


def _opaque(body: str) -> list[tuple[int, int]]:
    """Code, math, HTML and comments of a body, read as cheaply as can be."""
    if is_plain(body):
        return hidden_spans(body, [])
    simple = read_simple(body)
    return hidden_spans(body, read_body(body)[0].opaque if simple is None else simple.opaque)


def _counted(order: Sequence[int], link_keys: Sequence[int], link_ids: Sequence[int]) -> TermCounts:
    sequence = np.array(order, dtype=np.uint32)
    here = sequence != BREAK
    ids, inverse, counts = np.unique(sequence[here], return_inverse=True, return_counts=True)
    positions = np.full(len(sequence), BREAK, dtype=np.uint32)
    positions[here] = inverse
    return TermCounts(
        ids=ids,
        counts=np.minimum(counts, 0xFFFF).astype(np.uint16),
        order=positions,
        link_keys=np.array(link_keys, dtype=np.uint32),
        link_ids=np.array(link_ids, dtype=np.uint32),
    )


NO_TERMS: Final = _counted([], [], [])
"""The terms of an empty text."""


def spell(text: str) -> dict[int, str]:
    """Terms of `text` and the word each stands for, as first met."""
    known: dict[int, str] = {}
    for word in words(text):
        known.setdefault(_word_id(word), word)
    return known
