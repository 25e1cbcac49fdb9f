"""What two notes have in common, as far as it can be named: words, a mention, a note between them."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from dataclasses import dataclass
from functools import lru_cache
from itertools import islice
from typing import TYPE_CHECKING, Final

from aria_dream.ranking.function_words import function_words, language_of, split_at_function_words, trim_word
from aria_dream.ranking.names import NO_NAMES, is_common_use, is_one_word, speaks_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from aria_dream.ranking.names import NameStore

_READ_CHARACTERS: Final = 24_000
_SHORTEST_WORD: Final = 4
_LONGEST_WORD: Final = 32
_QUOTE: Final = 48
_MOST_WORDS: Final = 12
_DWELT_TIMES: Final = 2
_DWELT_LENGTH: Final = 120
"""A note of up to so many words speaks of what it says once; a longer one says much by the way."""
_BY_THE_WAY: Final = 0.6
"""How telling a word is that both notes say by the way, of what it would be else."""
_SAME_ROOT: Final = (4, 0.6)
"""Two words count as one from so many letters on that they begin with alike, and that share of the shorter one."""
_PLACES: Final = 8
"""So many places that may name a note are looked at."""
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
    """Plain text, links left out (`ranking.embedding.prose`)."""
    aliases: tuple[str, ...] = ()
    name: str = ""
    """What the note is called where its title alone would not say which one it is."""

    @property
    def called(self) -> str:
        """What a sentence calls the note."""
        return self.name or self.title


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
    by_the_way: frozenset[str] = frozenset()
    """Those of `words` that neither note dwells on: no title has them, and each note, being long, says them once."""
    subjects: tuple[str, ...] = ()
    """Those of `words` that both notes dwell on."""
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


def fold(word: str) -> str:
    """`word` as words are compared: NFKC, case folded."""
    return unicodedata.normalize("NFKC", word).casefold()


def in_common(
    first: NoteView,
    second: NoteView,
    rarity: Callable[[str], float],
    between: Sequence[Between] = (),
    store: NameStore = NO_NAMES,
) -> Common:
    """What `first` and `second` share. `rarity(word)`: how telling a folded word is in this vault, 0 or more.

    `between`: notes linked with both, the most telling first. `book`: the names of all notes.
    """
    one, two = _words_of(first), _words_of(second)
    words = tuple(_shared(one, two, rarity))
    dwelt = {word: one.dwells_on(word) + two.dwells_on(word) for word in words}
    found = _mention(first, second, store) or _mention(second, first, store)
    second_sign = bool(between) or any(dwelt[word] and fold(word) not in fold(found.said) for word in words if found)
    mention = found if found is not None and (found.is_name or second_sign) else None
    return Common(
        words=words,
        by_the_way=frozenset(word for word in words if dwelt[word] == 0),
        subjects=tuple(word for word in words if dwelt[word] == 2),
        mention=None if mention is None else (mention.inside, mention.said),
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
                self.count[folded] += 1
                self.written.setdefault(folded, Counter())[word] += 1
        self.length = sum(self.count.values()) + (sum(map(len, self.runs)) + grammar) // 2
        self.language = _script(self.runs, self.order) or language_of(self.order)
        small = function_words(self.language)
        self.stems.update(word[:_STEM] for word in self.count if len(word) >= _SHORTEST_WORD and word not in small)
        if not grammar:  # Chinese; in Japanese the grammar is written in its own letters
            self.runs = [part for run in self.runs for part in split_at_function_words(run)]

    def dwells_on(self, word: str) -> bool:
        """Whether the note, which holds `word`, speaks of it: in its title, more than once, or being short."""
        folded = fold(word)
        often = self.count[folded] or _DWELT_TIMES  # runs of scripts without spaces are not counted
        return often >= _DWELT_TIMES or self.length <= _DWELT_LENGTH or folded in self.title


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
    small = function_words(one.language, two.language)
    for word in one.count.keys() & two.count.keys():
        if _SHORTEST_WORD <= len(word) <= _LONGEST_WORD and word not in small and not _CLIPPED.search(word):
            often = min(one.count[word], two.count[word], 4)
            weights[word] = rarity(word) * (1 + 0.25 * (often - 1)) * (1.5 if word in one.title | two.title else 1.0)
            if not one.dwells_on(word) and not two.dwells_on(word):
                weights[word] *= _BY_THE_WAY
    for run in _common_runs(one.runs, two.runs):
        weights[run] = rarity(run) * (1 + 0.2 * len(run))
    ranked = sorted((word for word, weight in weights.items() if weight > 0), key=lambda w: (-weights[w], w))
    for word in islice(_distinct(ranked), _MOST_WORDS):
        yield _as_written(word, one, two)


def _distinct(words: Iterable[str]) -> Iterator[str]:
    """`words` without those that contain, or are contained in, an earlier one or have its root (linked, linking)."""
    seen: list[str] = []
    for word in words:
        if not any(word in other or other in word or _have_one_root(word, other) for other in seen):
            seen.append(word)
            yield word


def _have_one_root(one: str, two: str) -> bool:
    least, share = _SAME_ROOT
    alike = next((at for at, (a, b) in enumerate(zip(one, two, strict=False)) if a != b), min(len(one), len(two)))
    return alike >= max(least, share * min(len(one), len(two)))


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
    whole = (trim_word(piece) for piece in pieces - covered if len(piece) <= _LONGEST_PIECE)
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


@dataclass(frozen=True, slots=True)
class _Mention:
    inside: str
    said: str
    is_name: bool
    """Not only a word that is used as a common one, once."""


def _mention(inside: NoteView, of: NoteView, store: NameStore) -> _Mention | None:
    """The place in the prose of `inside` that names `of` most surely; none within a longer name of another note."""
    text, weak = inside.prose[:_READ_CHARACTERS], None
    for name in sorted((of.title, *of.aliases), key=len, reverse=True):
        if (len(name) < _SHORTEST_WORD and not _RUN.search(name)) or not name.split() or len(name) > _QUOTE:
            continue
        pattern = r"\s+".join(re.escape(word) for word in name.split())
        edged = pattern if _RUN.search(name) else rf"(?<!\w){pattern}(?!\w)"
        whole = (found for found in re.finditer(edged, text, re.IGNORECASE) if not store.is_part(text, *found.span()))
        places = list(islice(whole, _PLACES))
        for found in places:
            said = " ".join(found[0].split())
            is_name = not is_one_word(name) or not is_common_use(text, *found.span())
            if is_name or speaks_of(text, [place.span() for place in places]):
                return _Mention(inside.called, said, is_name=True)
            weak = weak or _Mention(inside.called, said, is_name=False)
    return weak


def _twins(one: Sequence[str], two: Sequence[str]) -> float:
    first, second = _shingles(one), _shingles(two)
    smaller = min(len(first), len(second))
    return len(first & second) / smaller if smaller >= _LEAST_SHINGLES else 0.0


def _shingles(words: Sequence[str]) -> set[tuple[str, ...]]:
    return {tuple(words[at : at + _SHINGLE]) for at in range(len(words) - _SHINGLE + 1)}
