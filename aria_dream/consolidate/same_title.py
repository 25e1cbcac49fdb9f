"""Whether the names of two passages leave it open that they are one: two people may be described in the same words."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from aria_dream.consolidate.wording import UNSPACED, folded, split_words
from aria_dream.words.guards import STATES, is_date, is_negation, is_number

if TYPE_CHECKING:
    from aria_dream.consolidate.passages import Passage

_COPY: Final = r"copy|copie|copia|cópia|kopie|kopia|копия|副本|コピー|duplicate|duplikat"
_COPIED: Final = re.compile(
    rf"^(?:{_COPY}) (?:of|von|de|di|van) "
    rf"|[\s_-]*(?:\((?:{_COPY})(?: \d{{1,2}})?\)|[-_ ](?:{_COPY})(?: \d{{1,2}})?)$|\s*\(\d{{1,2}}\)$",
    re.IGNORECASE,
)
_STAMP: Final = re.compile(r"^\d{10,14}[\s_-]+|[\s_-]+\d{10,14}$")
"""The id in front of a note's name in a slip box."""
_NAMELESS: Final = re.compile(
    r"(?:untitled|unbenannt|sans titre|sin título|senza titolo|sem título|naamloos|bez tytułu|без названия|無題.{0,6}"
    r"|未命名|new note|neue notiz|note|[a-z])?(?: \d{1,3})?",
    re.IGNORECASE,
)
_PASSING: Final = re.compile(
    r"inbox|in|archive[ds]?|archiv|old|alt|back-?ups?|copies|kopien|clippings?|clips?|drafts?|imports?|imported|notes?"
    r"|notizen|duplicates?|unsorted|temp|tmp|trash|misc|eingang|archivo|archives|受信箱|收件箱|archiwum|архив",
    re.IGNORECASE,
)
"""Folders that say how far a note has come, not what it is about."""
_COMMON: Final = re.compile(
    r"readme|index|notes?|overview|summary|todo|to ?do|tasks?|checklist|plan|log|journal|meetings?|minutes|agenda"
    r"|goals?|ideas?|about|status|terms|contract|invoice|report|review|home",
    re.IGNORECASE,
)
"""Names whose folder says what they are of."""


@dataclass(frozen=True, slots=True)
class TitleDoubt:
    reason: str
    certain: bool
    """Whether the names say that the two are not one."""


def title_doubt(first: Passage, second: Passage, said: frozenset[str]) -> TitleDoubt | None:
    """Why two passages with the same words may yet be about two things; None where their names do not say so.

    `said`: the words of the passages.
    """
    for ours, theirs in zip(_names(first, second), _names(second, first), strict=True):
        doubt = _name_doubt(ours, theirs, said)
        if doubt is not None:
            return doubt
    return _folder_doubt(first.path, second.path)


def is_copy_name(path: str) -> bool:
    """Whether a note is named as apps name the second of a name: `Note 1`, `Note (copy)`."""
    name = re.sub(r"\.md$", "", path.rpartition("/")[2], flags=re.IGNORECASE)
    return _COPIED.search(name) is not None or re.search(r"\S \d$", name) is not None


def is_passing_folder(path: str) -> bool:
    """Whether a note lies in an inbox, an archive or the like."""
    return any(_PASSING.fullmatch(part) for part in path.split("/")[:-1])


def _names(passage: Passage, other: Passage) -> tuple[str, str, str]:
    """File name, headline and heading path, without what copies and slip boxes add."""
    name, others = _stem(passage.path), _stem(other.path)
    numbered = re.fullmatch(r"(.+) \d", name)
    if numbered is not None and folded(numbered[1]) == folded(others):
        name = numbered[1]  # what an app calls the second note of a name
    headline = passage.headline if passage.headline and other.headline else ""
    return name, headline, " › ".join(passage.headings)


def _stem(path: str) -> str:
    name = re.sub(r"\.md$", "", path.rpartition("/")[2], flags=re.IGNORECASE)
    return _STAMP.sub("", _COPIED.sub("", name)).strip()


def _name_doubt(ours: str, theirs: str, said: frozenset[str]) -> TitleDoubt | None:
    if folded(ours) == folded(theirs):
        return None
    first, second = list(split_words(ours)), list(split_words(theirs))
    only_first = [word for word in first if word not in second]
    only_second = [word for word in second if word not in first]
    numbers = [[word for word in words if is_number(word) or is_date(word)] for words in (only_first, only_second)]
    named = f"one is called “{ours:.60}”, the other “{theirs:.60}”"
    if numbers[0] and numbers[1]:
        return TitleDoubt(named, certain=True)
    if _NAMELESS.fullmatch(ours) or _NAMELESS.fullmatch(theirs):
        return None
    differing = only_first + only_second
    if not differing or any(numbers) or any(is_negation(word) or word in STATES for word in differing):
        return TitleDoubt(named, certain=False)
    if any(re.match(f"[{UNSPACED}]", word) for word in differing):
        return TitleDoubt(named, certain=False)
    telling = [word for word in differing if len(word) > 3]
    if telling and all(word in said for word in telling):
        return None  # the names only take other words of the same text
    return TitleDoubt(named, certain=False)


def _folder_doubt(first: str, second: str) -> TitleDoubt | None:
    ours, theirs = first.split("/")[:-1], second.split("/")[:-1]
    if ours == theirs:
        return None
    only = [part for part in ours if part not in theirs], [part for part in theirs if part not in ours]
    where = f"one lies in “{'/'.join(ours):.60}”, the other in “{'/'.join(theirs):.60}”"
    dated = [any(is_number(word) or is_date(word) for part in parts for word in split_words(part)) for parts in only]
    if dated[0] and dated[1] and not any(_PASSING.fullmatch(part) for parts in only for part in parts):
        return TitleDoubt(where, certain=False)
    passing = any(parts and all(_PASSING.fullmatch(part) for part in parts) for parts in only)
    beside = len(ours) == len(theirs) > 1 and ours[:-1] == theirs[:-1]
    if (beside or _COMMON.fullmatch(_stem(first))) and not passing:
        return TitleDoubt(where, certain=False)  # two projects, two clients, two years: the folder is the subject
    return None
