"""Where prose names a note: the unlinked mentions of a title or an alias, as whole words.

Word boundaries are Unicode's, made stricter where a reader sees one longer word or name: `note-2`, `Node.js`, `C++`,
`snake_case` and `don't` hold no mention of a part of them; `Ada's` and `l'été` do. Scripts without spaces have no word
boundaries to go by: there any place counts that does not cut a run of katakana, and very short names do not count.
"""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

ACRONYM_LENGTH: Final = 4
"""A name of capitals up to this length is looked for as it is: `US` is not `us`, `WHO` not `who`."""

_UNSPACED: Final = re.compile(
    "[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3005-\u3007\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff\U00020000-\U0003ffff]"
)
_KATAKANA: Final = re.compile("[\u30a0-\u30ff\u31f0-\u31ff\uff66-\uff9f]")
_ALPHABETIC_UNSPACED: Final = re.compile("[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff]")
_MARKUP: Final = "*_~="
_JOINERS: Final = "-\u2010\u2011.'\u2019/\\&@+#\u00b7:"
_ELISION: Final = re.compile(r"(?:^|[^\w])(?:[cdjlmnstCDJLMNST]|[Qq]u|[Jj]usqu|[Ll]orsqu|[Pp]uisqu)['\u2019]$")
_POSSESSIVE: Final = re.compile(r"['\u2019][sS](?![\w'\u2019-])")


@dataclass(frozen=True, slots=True)
class Mention:
    """A place in a text that names a note; half-open range of characters."""

    start: int
    end: int


def find_mentions(text: str, runs: Sequence[tuple[int, int]], names: Iterable[str]) -> Iterator[Mention]:
    """The mentions of any of `names` within `runs` of `text`, in order; of two that start at one place the longer.

    Upper and lower case, composed and decomposed letters, kinds of apostrophe and widths of space do not matter. A name
    without a letter is never mentioned; one of one or two letters, or a short one in capitals, only as it is written.
    """
    patterns = [_pattern(name) for name in dict.fromkeys(map(str.strip, names)) if is_mentionable(name)]
    if not patterns:
        return
    for start, end in runs:
        found = {
            match.span()
            for pattern in patterns
            for match in pattern.finditer(text, start, end)
            if _is_whole(text, *match.span(), within=(start, end))
        }
        at = -1
        for first, last in sorted(found, key=lambda span: (span[0], -span[1])):
            if first >= at:
                yield Mention(first, last)
                at = last


def is_mentionable(name: str) -> bool:
    """Whether prose can be said to name `name`: it has a letter, and in a script without spaces more than one."""
    name = name.strip()
    if not any(map(str.isalpha, name)) or "\n" in name:
        return False
    if _ALPHABETIC_UNSPACED.search(name):
        return len(name) >= 4
    return len(name) > 1 or not _UNSPACED.search(name)


def _pattern(name: str) -> re.Pattern[str]:
    composed = unicodedata.normalize("NFC", name)
    forms = dict.fromkeys((composed, unicodedata.normalize("NFD", composed), name))
    letters = sum(map(str.isalpha, composed))
    exact = (letters <= 2 and not _UNSPACED.search(composed)) or (
        len(composed) <= ACRONYM_LENGTH and composed.isupper()
    )
    if not exact:
        forms |= dict.fromkeys((composed.upper(), unicodedata.normalize("NFD", composed.upper())))
    written = "|".join(_spelled(form) for form in sorted(forms, key=len, reverse=True))
    return re.compile(written, re.NOFLAG if exact else re.IGNORECASE)


def _spelled(form: str) -> str:
    pieces = (re.sub("['\u2019]", "['\u2019]", re.escape(word)) for word in form.split())
    return "[ \t\u00a0\u202f\u3000]+".join(pieces)


def _is_whole(text: str, start: int, end: int, *, within: tuple[int, int]) -> bool:
    if text[end : end + 1] and unicodedata.category(text[end])[0] == "M":
        return False  # the last letter goes on
    # An underscore at the edge of plain text is emphasis; inside it is a part of a name.
    return _ends_before(text, start, edged=start == within[0]) and _ends_after(text, end, edged=end == within[1])


def _ends_before(text: str, start: int, *, edged: bool) -> bool:
    edge = text[start]
    before = text[max(0, start - 40) : start].rpartition("\n")[2]
    if not (edged and before[-1:] == "_") and not _is_boundary(before[-1:], edge):
        return False
    if edge in _JOINERS and _is_word(before[-1:]):
        return False  # `.NET` in `ASP.NET`
    bare = before.rstrip(_MARKUP)
    if bare != before and _is_word(bare[-1:]) and not _is_free(bare[-1], edge):
        return False
    joiner = bare[-1:]
    if joiner in ("!", "\\") and joiner:
        return False  # `!` would make an embed of the link, `\` none at all
    if not joiner or joiner not in _JOINERS:
        return True
    beyond = bare[:-1].rstrip(_MARKUP)[-1:]
    if joiner in "@#":
        return False
    if joiner in "'\u2019" and _ELISION.search(bare):
        return True
    return not _is_word(beyond) or _UNSPACED.match(beyond) is not None


def _ends_after(text: str, end: int, *, edged: bool) -> bool:
    edge = text[end - 1]
    after = text[end : end + 40].partition("\n")[0]
    if not (edged and after[:1] == "_") and not _is_boundary(after[:1], edge):
        return False
    if edge in _JOINERS and _is_word(after[:1]):
        return False
    bare = after.lstrip(_MARKUP)
    if bare != after and _is_word(bare[:1]) and not _is_free(bare[0], edge):
        return False
    joiner = bare[:1]
    if not joiner or joiner not in _JOINERS:
        return True
    if joiner in "'\u2019" and _POSSESSIVE.match(bare):
        return True
    if joiner in "+#" and _is_word(edge):
        return False
    beyond = bare[1:].lstrip(_MARKUP)[:1]
    return not _is_word(beyond) or _UNSPACED.match(beyond) is not None


def _is_boundary(neighbour: str, edge: str) -> bool:
    return not neighbour or not _is_word(neighbour) or not _is_word(edge) or _is_free(neighbour, edge)


def _is_free(neighbour: str, edge: str) -> bool:
    """Whether two word characters side by side may belong to two words: where one is of a script without spaces."""
    if _KATAKANA.match(neighbour) and _KATAKANA.match(edge):
        return False
    return _UNSPACED.match(neighbour) is not None or _UNSPACED.match(edge) is not None


def _is_word(character: str) -> bool:
    if not character:
        return False
    return character.isalnum() or character == "_" or unicodedata.category(character)[0] == "M"
