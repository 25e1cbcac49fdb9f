"""Why a pair was kept or dropped, in words that a writer understands and that are true of the two notes.

Every clause can be checked against the notes: a named word is written in both, a named note is a neighbour of both, a
mention stands in the prose as quoted. What is only a number is said without the number.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Final

from aria_dream.dream.function_words import FUNCTION_WORDS, language_of, split_at_function_words, trimmed

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

MAX_WORDS: Final = 3
FEW_WORDS: Final = 2
"""Two notes with no more telling words in common than this share few words."""
_READ_CHARACTERS: Final = 24_000
_SHORTEST_WORD: Final = 4
_LONGEST_WORD: Final = 32
_QUOTE: Final = 48
_SHINGLE: Final = 4
_STEM: Final = 5
_LEAST_SHINGLES: Final = 12

# Scripts without spaces; their words are found as the longest runs that both notes hold.
_UNSPACED: Final = "\u0e01-\u0eff\u30a1-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff"
_WORD = re.compile(rf"[{_UNSPACED}]+|(?:(?![{_UNSPACED}])[^\W\d_])+(?:['’-](?:(?![{_UNSPACED}])[^\W\d_])+)*")
_HIRAGANA = re.compile("[\u3041-\u309f]")
"""Grammar between Japanese words, never a word worth naming."""
_CLIPPED = re.compile("['’](?:ve|ll|re|d|m|s|t)$")
"""I've, couldn't, they're, it's: English verbs worn to a letter."""
_HANGUL = re.compile("[\uac00-\ud7af]")
_THAI = re.compile("[\u0e01-\u0eff]")
_LONGEST_PIECE: Final = 8
_RUN_CHARACTERS: Final = 80
_RUN = re.compile(rf"[{_UNSPACED}]+")


@dataclass(frozen=True, slots=True)
class NoteView:
    """What a reason may speak of in one note."""

    title: str
    prose: str
    """Plain text, links left out (`dream.embedding.prose`)."""
    aliases: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Between:
    """A note that both notes of a pair are linked with."""

    title: str
    from_first: bool
    """The first note of the pair links to it; else it links to the first."""
    from_second: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Common:
    """What two notes have in common, as far as it can be named."""

    words: tuple[str, ...]
    """Telling words that both notes hold, most telling first, as the first note writes them."""
    mention: tuple[str, str] | None
    """`(title of the mentioning note, the mention as written)`: the other's title or alias in its prose."""
    between: Between | None
    twins: float
    """Share of the shorter note's word sequences that the other holds too: near 1 for copies and excerpts."""
    overlap: float
    """Share of the content words of the note that has fewer, by their first letters, that the other holds too."""
    length: int
    """Words of the shorter note, title included; two characters count as one in scripts without spaces."""
    one_language: bool
    """False only where both languages are known and differ."""
    tags: tuple[str, ...] = ()
    """Tags that both bear and most notes do not, without `#`, the rarest first."""
    missing: str | None = None
    """A note that both link to and that does not exist yet."""
    folder: str | None = None
    """Name of the folder that both lie in, where it holds few notes."""
    akin: tuple[str, str, str] | None = None
    """`(title, near, linked)`: a note that is near in meaning to the one titled `near` and linked with the other."""
    hints: tuple[str, ...] = ()
    """Clauses made of what the ranking measured (`hinted`)."""


def fold(word: str) -> str:
    """`word` as words are compared: NFKC, case folded."""
    return unicodedata.normalize("NFKC", word).casefold()


def in_common(
    first: NoteView, second: NoteView, rarity: Callable[[str], float], between: Sequence[Between] = ()
) -> Common:
    """What `first` and `second` share. `rarity(word)`: how telling a folded word is in this vault, 0 or more.

    `between`: notes linked with both, the most telling first.
    """
    one, two = _words_of(first), _words_of(second)
    return Common(
        words=tuple(_shared(one, two, rarity)),
        mention=_mention(first, second) or _mention(second, first),
        between=between[0] if between else None,
        twins=_twins(one.order, two.order),
        overlap=_overlap(one.stems, two.stems),
        length=min(one.length, two.length),
        one_language=one.language is None or two.language is None or one.language == two.language,
    )


class _Words:
    """The words of one note: how often each occurs, folded, and how it is written."""

    def __init__(self, note: NoteView) -> None:
        self.count: Counter[str] = Counter()
        self.written: dict[str, Counter[str]] = {}
        self.order: list[str] = []
        self.runs: list[str] = []
        self.stems: set[str] = set()
        self.title = {fold(word) for word in _WORD.findall(note.title)}
        grammar = 0
        for word in _WORD.findall(f"{note.title}\n{note.prose[:_READ_CHARACTERS]}"):
            folded = fold(word)
            if _HIRAGANA.match(folded):
                grammar += len(folded)
                continue
            self.order.append(folded)
            if _RUN.fullmatch(word):
                self.runs.append(folded)
                self.stems.update(folded[at : at + 2] for at in range(len(folded) - 1))
            else:
                if len(folded) >= _SHORTEST_WORD and folded not in FUNCTION_WORDS:
                    self.stems.add(folded[:_STEM])
                self.count[folded] += 1
                self.written.setdefault(folded, Counter())[word] += 1
        self.length = sum(self.count.values()) + (sum(map(len, self.runs)) + grammar) // 2
        self.language = _script(self.runs, self.order) or language_of(self.order)
        if not grammar:  # Chinese; in Japanese the grammar is written in its own letters
            self.runs = [part for run in self.runs for part in split_at_function_words(run)]


@lru_cache(maxsize=32)
def _words_of(note: NoteView) -> _Words:
    """Kept for a moment: all pairs of a dream have one note in common. Never changed once made."""
    return _Words(note)


def _script(runs: Sequence[str], order: Sequence[str]) -> str | None:
    """A language told by its script, where most words are written in one without spaces."""
    if 2 * len(runs) <= len(order):
        return None
    text = "".join(runs)
    for name, block in (("ja", "[\u30a1-\u30ff]"), ("ko", "[\uac00-\ud7af]"), ("th", "[\u0e01-\u0eff]")):
        if re.search(block, text):
            return name
    return None  # Chinese, or Japanese without katakana


def _overlap(one: set[str], two: set[str]) -> float:
    smaller = min(len(one), len(two))
    return len(one & two) / smaller if smaller else 0.0


def _shared(one: _Words, two: _Words, rarity: Callable[[str], float]) -> Iterator[str]:
    """Telling words of both, the most telling first."""
    weights: dict[str, float] = {}
    for word in one.count.keys() & two.count.keys():
        if _SHORTEST_WORD <= len(word) <= _LONGEST_WORD and word not in FUNCTION_WORDS and not _CLIPPED.search(word):
            often = min(one.count[word], two.count[word], 4)
            weights[word] = rarity(word) * (1 + 0.25 * (often - 1)) * (1.5 if word in one.title | two.title else 1.0)
    for run in _common_runs(one.runs, two.runs):
        weights[run] = rarity(run) * (1 + 0.2 * len(run))
    ranked = sorted((word for word, weight in weights.items() if weight > 0), key=lambda w: (-weights[w], w))
    for word in _distinct(ranked):
        yield _as_written(word, one, two)


def _distinct(words: Iterable[str]) -> Iterator[str]:
    """`words` without those that contain, or are contained in, an earlier one (culture, cultures)."""
    seen: list[str] = []
    for word in words:
        if not any(word in other or other in word for other in seen):
            seen.append(word)
            yield word


def _as_written(word: str, one: _Words, two: _Words) -> str:
    forms = one.written.get(word, Counter()) + two.written.get(word, Counter())
    if not forms or forms[word]:
        return word  # somewhere it is written small: capitals elsewhere only start sentences
    return max(one.written[word].items(), key=lambda form: (form[1], form[0]))[0]


def _common_runs(one: Sequence[str], two: Sequence[str]) -> list[str]:
    """The longest pieces that both sides hold, in scripts without spaces; what is part of a longer one is left out.

    So a word is not named in fragments, and of a sentence that stands in both nothing is.
    """
    pieces = _pieces(one) & _pieces(two)
    covered = {part for piece in pieces for part in (piece[1:], piece[:-1])}
    whole = (trimmed(piece) for piece in pieces - covered if len(piece) <= _LONGEST_PIECE)
    return sorted({piece for piece in whole if piece}, key=lambda piece: (-len(piece), piece))[:40]


def _pieces(runs: Sequence[str]) -> set[str]:
    found: set[str] = set()
    for run in runs[:2000]:
        if _HANGUL.match(run):  # words stand apart and end in particles: a stem is what a word begins with
            found.update(run[:size] for size in range(2, min(len(run), 6) + 1))
            continue
        least = 4 if _THAI.match(run) else 2
        cut = run[:_RUN_CHARACTERS]
        for size in range(least, min(len(cut), _LONGEST_PIECE + 4) + 1):
            found.update(cut[at : at + size] for at in range(len(cut) - size + 1))
    return found


def _mention(inside: NoteView, of: NoteView) -> tuple[str, str] | None:
    for name in (of.title, *of.aliases):
        if len(name) < _SHORTEST_WORD and not _RUN.search(name):
            continue
        words = [re.escape(word) for word in name.split()]
        if not words or len(name) > _QUOTE:
            continue
        pattern = r"\s+".join(words)
        edged = pattern if _RUN.search(name) else rf"(?<!\w){pattern}(?!\w)"
        found = re.search(edged, inside.prose[:_READ_CHARACTERS], re.IGNORECASE)
        if found:
            return inside.title, " ".join(found[0].split())
    return None


def _twins(one: Sequence[str], two: Sequence[str]) -> float:
    first, second = _shingles(one), _shingles(two)
    smaller = min(len(first), len(second))
    return len(first & second) / smaller if smaller >= _LEAST_SHINGLES else 0.0


def _shingles(words: Sequence[str]) -> set[tuple[str, ...]]:
    return {tuple(words[at : at + _SHINGLE]) for at in range(len(words) - _SHINGLE + 1)}


def listed(words: Sequence[str]) -> str:
    """`"a"`, `"a and b"`, `"a, b and c"`."""
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} and {words[-1]}"


def speak_of(common: Common) -> str | None:
    """The clause that names the shared words; those that the mention names already are left to it."""
    named = fold(common.mention[1]) if common.mention else ""
    words = [word for word in common.words if fold(word) not in named]
    return f"both speak of {listed(words[:MAX_WORDS])}" if words else None


def mentioned(common: Common) -> str | None:
    """The clause that quotes a mention."""
    return f"{common.mention[0]} mentions “{common.mention[1]}” without a link" if common.mention else None


def meet(common: Common) -> str | None:
    """The clause that names the note between them, with the direction of its links."""
    between = common.between
    if between is None:
        return None
    if between.from_first and between.from_second:
        return f"both lead to {between.title}"
    if not between.from_first and not between.from_second:
        return f"{between.title} leads to both"
    return f"{between.title} lies between them"


def apart_from_text(common: Common) -> list[str]:
    """Clauses that name what the two share beside words, mentions and links between them; the most telling first."""
    clauses = []
    if common.missing:
        clauses.append(f"both link to {common.missing}, which is not written yet")
    if common.tags:
        clauses.append(f"both are tagged #{common.tags[0]}")
    if common.akin:
        title, near, linked = common.akin
        clauses.append(f"{title}, which is near {near} in meaning, is linked with {linked}")
    if common.folder:
        clauses.append(f"both lie in the small folder {common.folder}")
    return [*clauses, *common.hints]


_HINTS: Final = (
    ("title", 0.8, "their titles are alike"),
    ("similar notes link there", 0.5, "notes that share words with {first} are linked with {second}"),
    ("neighbour text", 1.0, "the notes around {first} speak of what {second} and its neighbours speak of"),
)
"""A term of the ranking, from where on it is worth saying, and what it then says."""


def hinted(terms: Mapping[str, float], first: str, second: str) -> tuple[str, ...]:
    """What the ranking's terms say of the notes titled `first`, which asks, and `second`; the most telling first."""
    return tuple(
        clause.format(first=first, second=second) for name, least, clause in _HINTS if terms.get(name, 0.0) >= least
    )
