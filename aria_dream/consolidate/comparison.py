"""The built-in judge, asked whether two passages say the same. It decides little, and what it decides is certain.

`Merge` only where both read the same word for word once layout is gone, and title, properties, links, tags, capitals
and stops give no reason for doubt. `NotDuplicate` where they are verbatim but for a number, a date, a unit or a
negation, or have hardly a word in common. Everything else is for a language model or a person, with its rank: an
embedding's cosine cannot tell a paraphrase from two budgets (measured: at chance on hard pairs).
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from dataclasses import dataclass
from difflib import SequenceMatcher
from typing import TYPE_CHECKING, Final

from aria_dream.consolidate.passage_words import most_shared, plain_keys, plainer, read_passage, share_of
from aria_dream.consolidate.passages import UNREAD
from aria_dream.consolidate.same_title import title_doubt
from aria_dream.consolidate.verdict import Escalated, Merge, NotDuplicate
from aria_dream.consolidate.wording import BLOCK, LINKED
from aria_dream.words.guards import (
    STATE_PROPERTIES,
    STATES,
    UNITS,
    is_date,
    is_negation,
    is_number,
    surely_other_number,
)

if TYPE_CHECKING:
    from aria_dream.consolidate.passage_words import PassageSignature, PassageWords
    from aria_dream.consolidate.passages import Passage
    from aria_dream.consolidate.verdict import NearPair, PairVerdict
    from aria_dream.consolidate.wording import Word, Wording

CERTAIN: Final = 0.99
NEARLY_CERTAIN: Final = 0.95
SURELY_APART: Final = 0.9
VERBATIM: Final = 0.8
"""Of the words of both, from which share on two passages are the same text with something changed in it."""
LONG_COPY_SAID: Final = "the same long text, but "
LONG_COPY: Final = 100
"""Words from which on two texts that differ in one of them are hardly two records of one form."""
_FAR_COSINE, _FAR_OVERLAP = 0.35, 0.15
OTHER_WORDS: Final = "they are alike, but in other words"
"""Why most near pairs are left to a person."""
_MOST_COMPARED: Final = 1_500
"""Words that differ, beginning and end left out: a comparison takes time in their square."""
_SHORT_CHANGE: Final = 6
_RELATIVE: Final = re.compile(r"\]\([ \t]*<?(?![A-Za-z][A-Za-z0-9+.-]*:|[/#])[^\s)]")
_TARGET: Final = re.compile(r"\]\([^)]*\)")
_STOP: Final = re.compile(r"[,;:\u3001\u3002\uff0c\uff1a\uff1b]|[.\u2026](?!\w)")
_FAR: Final = NotDuplicate(reason="they have hardly a word in common", confidence=SURELY_APART)
_JOINING: Final = frozenset({*"& and or und oder sowie et ou y e o u ed en of i oraz lub и или".split()})  # noqa: SIM905


def embedded_compare(pair: NearPair) -> PairVerdict:
    """What the built-in judge says: `Merge`, `NotDuplicate` or `Escalated`, each with a reason in words. Total.

    The two signals of `pair` are only used to say that two passages are far apart, never that they are one.
    """
    first, second = read_passage(pair.first.text), read_passage(pair.second.text)
    if first.keys == second.keys:
        return _same_words(pair, first, second, CERTAIN, "word for word the same")
    if plain_keys(first) == plain_keys(second):
        return _same_words(pair, first, second, NEARLY_CERTAIN, "the same but for spelling")
    if _is_far(pair.cosine, pair.overlap):
        return _FAR
    if share_of(first.keys, second.keys) < VERBATIM:
        return _escalated(pair.rank, OTHER_WORDS)
    changes = _changes(first.keys, second.keys)
    if changes is None:
        return _escalated(pair.rank, "they are long and differ in many places")
    certain = _surely_apart(first.keys, second.keys, changes)
    if certain and _is_unnoticed_copy(pair, first.keys, second.keys, changes):
        return _escalated(pair.rank, f"{LONG_COPY_SAID}{certain}")
    if certain:
        return NotDuplicate(reason=f"the same text, but {certain}", confidence=SURELY_APART)
    return _escalated(pair.rank, _told(first.keys, second.keys, changes))


def compare_signatures(
    first: PassageSignature, second: PassageSignature, *, cosine: float, overlap: float, rank: int
) -> PairVerdict | None:
    """What `embedded_compare` says of the two passages, to the word, where their signatures are enough to say it; None
    where the texts have to be read."""
    if first.plain == second.plain or most_shared(first, second) >= VERBATIM:
        return None
    return _FAR if _is_far(cosine, overlap) else _escalated(rank, OTHER_WORDS)


def _is_far(cosine: float, overlap: float) -> bool:
    return cosine < _FAR_COSINE and overlap < _FAR_OVERLAP


def _escalated(rank: int, reason: str) -> Escalated:
    return Escalated(reason=f"rank {rank} by likeness; {reason}")


def _same_words(
    pair: NearPair, first: PassageWords, second: PassageWords, confidence: float, reason: str
) -> Merge | NotDuplicate | Escalated:
    if pair.first.path == pair.second.path and pair.first.headings and pair.second.headings:
        return _escalated(pair.rank, f"{reason}, but in one note that may be meant: a refrain, a step done twice")
    title = title_doubt(pair.first, pair.second, frozenset(first.keys))
    if title is not None:
        if title.certain:
            return NotDuplicate(reason=f"the same text, but {title.reason}", confidence=SURELY_APART)
        return _escalated(pair.rank, f"{reason}, but {title.reason}")
    doubt = (
        _property_doubt(pair.first, pair.second)
        or _place_doubt(pair.first, pair.second)
        or _link_doubt(first.wording, second.wording)
        or _tag_doubt(first.wording, second.wording)
        or _state_tag_doubt(pair.first, pair.second)
        or _capital_doubt(first, second)
        or _stop_doubt(first, second)
    )
    return _escalated(pair.rank, f"{reason}, but {doubt}") if doubt else Merge(reason=reason, confidence=confidence)


def _property_doubt(first: Passage, second: Passage) -> str:
    ours, theirs = dict(first.properties), dict(second.properties)
    for key in sorted(ours.keys() | theirs.keys()):
        if key in ours and key in theirs and ours[key] != theirs[key]:
            return f"the property {key!r} says {ours[key]:.40} in one and {theirs[key]:.40} in the other"
        if (key in STATE_PROPERTIES or key == UNREAD) and (key in ours) != (key in theirs):
            return f"only one has the property {key!r}" if key != UNREAD else "only one has readable properties"
    return ""


def _place_doubt(first: Passage, second: Passage) -> str:
    """A Markdown link without an address may lead elsewhere from another folder."""
    moved = first.path.rpartition("/")[0] != second.path.rpartition("/")[0]
    return "their links depend on where they lie" if moved and _RELATIVE.search(first.text + second.text) else ""


def _link_doubt(first: Wording, second: Wording) -> str:
    ours, theirs = {target for _, target in first.links}, {target for _, target in second.links}
    only_first = [one for one in ours if not any(_may_be_one(one, other) for other in theirs)]
    only_second = [one for one in theirs if not any(_may_be_one(one, other) for other in ours)]
    return "their links lead elsewhere" if only_first and only_second else ""


def _may_be_one(first: str, second: str) -> bool:
    """Whether two link texts may name one place: `folder/note` and `note`."""
    first, second = first.lstrip("./"), second.lstrip("./")
    return first == second or first.endswith(f"/{second}") or second.endswith(f"/{first}")


def _tag_doubt(first: Wording, second: Wording) -> str:
    ours, theirs = {tag for _, tag in first.tags}, {tag for _, tag in second.tags}
    if ours - theirs and theirs - ours:
        return "their tags differ"
    return ""


def _state_tag_doubt(first: Passage, second: Passage) -> str:
    """A tag that says how far something has come, be it among the properties, tells two notes apart."""
    differing = sorted(mark for mark in set(first.marks) ^ set(second.marks) if mark.startswith("#"))
    telling = [tag for tag in differing if STATES & set(re.split(r"[\W_]+", tag))]
    return f"only one has the tag {telling[0]:.40}" if telling else ""


def _capital_doubt(first: PassageWords, second: PassageWords) -> str:
    """A capital may make a name of a word, `IT` of `it`; where a sentence begins the first letter is free."""
    if len(first.words) != len(second.words):
        return ""
    for one, other in zip(first.words, second.words, strict=True):
        if one.key == other.key and one.place & LINKED | other.place & LINKED == 0:
            ours, theirs = _spelt(first, one), _spelt(second, other)
            free = 1 if one.apart or other.apart else 0
            if ours[free:] != theirs[free:] and ours.lower() == theirs.lower():
                return f"one writes {ours:.40}, the other {theirs:.40}"
    return ""


def _spelt(read: PassageWords, word: Word) -> str:
    return unicodedata.normalize("NFC", read.text[word.start : word.end])


def _stop_doubt(first: PassageWords, second: PassageWords) -> str:
    """A comma or a full stop may turn a sentence round: `let's eat, Ann`. Where lines or blocks end and before an `and`
    it is layout, but beside a negation."""
    if len(first.words) != len(second.words):
        return ""
    for number, (one, other) in enumerate(zip(first.words, second.words, strict=True)):
        if bool(one.apart) != bool(other.apart):
            near = first.keys[max(0, number - 2) : number + 2]
            if any(map(is_negation, near)):
                return "a stop beside a negation stands elsewhere"
        if number and max(one.apart, other.apart) < BLOCK and one.key not in _JOINING:
            gaps = _gap(first, number), _gap(second, number)
            if "\n" not in gaps[0] + gaps[1] and bool(_STOP.search(gaps[0])) != bool(_STOP.search(gaps[1])):
                return f"only one has a stop before “{one.key:.40}”"
    return ""


def _gap(read: PassageWords, number: int) -> str:
    """What stands between a word and the one before it, without the address of a link."""
    return _TARGET.sub("", read.text[read.words[number - 1].end : read.words[number].start])


@dataclass(frozen=True, slots=True)
class _Change:
    """Words of the first, from `a` to `b`, that read otherwise in the second, from `c` to `d`."""

    a: int
    b: int
    c: int
    d: int


def _changes(first: tuple[str, ...], second: tuple[str, ...]) -> list[_Change] | None:
    """Where the two differ; None where that would take too long to find out."""
    most = min(len(first), len(second))
    head = next((n for n in range(most) if first[n] != second[n]), most)
    most -= head
    tail = next((n for n in range(most) if first[-1 - n] != second[-1 - n]), most)
    ours, theirs = first[head : len(first) - tail], second[head : len(second) - tail]
    if max(len(ours), len(theirs)) > _MOST_COMPARED:
        return None
    found = SequenceMatcher(None, ours, theirs, autojunk=False).get_opcodes()
    return [_Change(a + head, b + head, c + head, d + head) for kind, a, b, c, d in found if kind != "equal"]


def _surely_apart(first: tuple[str, ...], second: tuple[str, ...], changes: list[_Change]) -> str:
    """What makes two verbatim passages two; `""` where nothing certain does."""
    changed = sum(max(change.b - change.a, change.d - change.c) for change in changes)
    if changed > (1 - VERBATIM) * max(len(first), len(second)):
        return ""
    for change in changes:
        ours, theirs = first[change.a : change.b], second[change.c : change.d]
        if max(len(ours), len(theirs)) > _SHORT_CHANGE:
            continue
        told = _other_value(ours, theirs, first[change.a - 1 : change.a]) or _other_polarity(ours, theirs)
        if told:
            return told
    return ""


def _is_unnoticed_copy(pair: NearPair, first: tuple[str, ...], second: tuple[str, ...], changes: list[_Change]) -> bool:
    """Whether two long texts are the same but for a single word, and their names do not say that they are two: rather
    a copy with a slip or a correction in it than two things."""
    (change, *more) = changes
    single = not more and max(change.b - change.a, change.d - change.c) == 1
    doubt = title_doubt(pair.first, pair.second, frozenset(first)) if single else None
    return single and min(len(first), len(second)) >= LONG_COPY and not (doubt is not None and doubt.certain)


def _other_value(ours: tuple[str, ...], theirs: tuple[str, ...], before: tuple[str, ...]) -> str:
    if len(ours) != len(theirs):
        return ""
    for number, (one, other) in enumerate(zip(ours, theirs, strict=True)):
        if one == other:
            continue
        counted = ours[number - 1 : number] if number else before
        if surely_other_number(one, other):
            return f"with another number: {one:.30} against {other:.30}"
        if is_date(one) and is_date(other):
            return f"with another date: {one:.30} against {other:.30}"
        if one in UNITS and other in UNITS and counted and (is_number(counted[0]) or counted[0] == "°"):
            return f"in another unit: {one:.30} against {other:.30}"
    return ""


def _other_polarity(ours: tuple[str, ...], theirs: tuple[str, ...]) -> str:
    expanded = [Counter(word for word in plainer(words) if is_negation(word)) for words in (ours, theirs)]
    if expanded[0].total() == expanded[1].total():
        return ""
    said = next(iter(expanded[0] if expanded[0].total() > expanded[1].total() else expanded[1]))
    return f"only one of them says “{said:.30}”"


def _told(first: tuple[str, ...], second: tuple[str, ...], changes: list[_Change]) -> str:
    changed = sum(max(change.b - change.a, change.d - change.c) for change in changes)
    if changed > (1 - VERBATIM) * max(len(first), len(second)):
        return OTHER_WORDS
    change = changes[0]
    ours, theirs = " ".join(first[change.a : change.b]), " ".join(second[change.c : change.d])
    if not ours or not theirs:
        return f"only one of them says “{ours or theirs:.60}”"
    return f"one says “{ours:.60}”, the other “{theirs:.60}”"
