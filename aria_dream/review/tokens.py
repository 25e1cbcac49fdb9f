"""A text as tokens for comparing: words, spaces, signs, and each link whole, known by what it means.

Two links are one where they mean the same note in the same words, whatever that note is called now.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Final

from aria_dream.markdown.link import normal_name, split_destination
from aria_dream.markdown.note import parse_note
from aria_dream.review.difference import blocks
from aria_dream.review.rewriting import json_members

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence

    from aria_dream.markdown.link import Link

    Means = Callable[[str, str], str]
    """`(path of a link, the whole link as written)` to a name of the note that it means; `""` where only the text
    tells."""

_PIECE: Final = re.compile(r"\w+|\r?\n|[^\S\r\n]+|\r|[^\w\s]")
_TITLE: Final = re.compile(r"""[ \t\r\n]("[^"]*"|'[^']*'|\([^()]*\))[ \t\r\n]*\)$""")
_DEFINITION: Final = re.compile(r"^ {0,3}\[(?!\^)[^\[\]\n]+\]:[ \t]*(<[^<>\n]*>|[^\s<]\S*)", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Token:
    """One piece of a text."""

    key: Hashable
    """Equal for pieces that say the same."""
    start: int
    end: int
    is_link: bool = False


def note_tokens(text: str, means: Means) -> list[Token]:
    """The tokens of a note, in order; together they are its whole text."""
    note = parse_note(text)
    places: list[tuple[int, int, Hashable]] = [
        (link.start, link.end, _link_key(link, means)) for link in note.links if link.raw
    ]
    for found in _DEFINITION.finditer(text, note.body_start):
        target = split_destination(found[1].strip("<>"))
        meant = means(target[0], found[1]) if target else ""
        places.append((*found.span(1), (meant, target[1]) if target and meant else found[1]))
    return _tokens(text, places)


def canvas_tokens(text: str, means: Means) -> list[Token]:
    """The same of a canvas: the path of a file card is a link, and so is a text card as a whole that holds one."""
    places: list[tuple[int, int, Hashable]] = []
    for key, found in json_members(text):
        try:
            value = json.loads(found[0])
        except ValueError:
            continue
        if key == "file":
            places.append((*found.span(), ("card", means(normal_name(value), value) or value)))
        elif key == "text" and "[" in value:
            places.append((*found.span(), tuple(token.key for token in note_tokens(f"\n{value}", means))))
    return _tokens(text, places)


def _link_key(link: Link, means: Means) -> Hashable:
    meant = means(link.path, link.raw)
    if not meant:
        return link.raw
    if link.markdown:
        title = _TITLE.search(link.raw)
        display = (link.display, title[1] if title else "")
    else:
        display = (link.raw.partition("|")[2], "")
    return meant, link.subpath, display, link.embed, link.markdown


def _tokens(text: str, places: Sequence[tuple[int, int, Hashable]]) -> list[Token]:
    tokens: list[Token] = []
    at = 0
    for start, end, key in (*sorted(places, key=lambda place: (place[0], -place[1])), (len(text), len(text), "")):
        if start < at:
            continue  # a link in a link's text
        tokens += [Token(found[0], *found.span()) for found in _PIECE.finditer(text, at, start)]
        if start < end:
            tokens.append(Token(key, start, end, is_link=True))
        at = end
    return tokens


@dataclass(frozen=True, slots=True, kw_only=True)
class Unit:
    """One place that a change exchanged."""

    start: int
    """Half-open range of tokens of the text after it;"""
    end: int
    old_start: int
    """and of characters of the text before it."""
    old_end: int


def changed_units(before: str, old: Sequence[Token], new: Sequence[Token]) -> list[list[Unit]]:
    """What made the tokens `new` of `old`, those of the text `before`: groups that are taken back whole or not at all.

    A link that was rewritten is a group of its own; of all else, a run of changed lines is one.
    """
    groups: list[list[Unit]] = []
    old_lines, new_lines = _lines(old), _lines(new)
    for i, j, k, m in blocks(_keys(old, old_lines), _keys(new, new_lines)):
        one, other = (old_lines[i], old_lines[j]), (new_lines[k], new_lines[m])
        links = _rewritten(old[slice(*one)], new[slice(*other)])
        if links is not None:
            found = [(one[0] + at, one[0] + at + 1, other[0] + at, other[0] + at + 1) for at in links]
            groups += [[_unit(before, old, *span)] for span in found]
            continue
        pieces = blocks([token.key for token in old[slice(*one)]], [token.key for token in new[slice(*other)]])
        found = [(one[0] + a, one[0] + b, other[0] + c, other[0] + d) for a, b, c, d in pieces]
        groups.append([_unit(before, old, *span) for span in found])
    return groups


def _rewritten(old: Sequence[Token], new: Sequence[Token]) -> list[int] | None:
    """Where links changed, if nothing else did."""
    if len(old) != len(new) or any(
        one.is_link != other.is_link or (not one.is_link and one.key != other.key)
        for one, other in zip(old, new, strict=True)
    ):
        return None
    return [at for at, (one, other) in enumerate(zip(old, new, strict=True)) if one.key != other.key]


def _unit(before: str, old: Sequence[Token], i: int, j: int, k: int, m: int) -> Unit:
    start = old[i].start if i < len(old) else len(before)
    return Unit(start=k, end=m, old_start=start, old_end=old[j - 1].end if j > i else start)


def _lines(tokens: Sequence[Token]) -> list[int]:
    """The first token of each line, and the number of tokens."""
    starts = [0, *(at + 1 for at, token in enumerate(tokens) if token.key in ("\n", "\r\n"))]
    return starts if starts[-1] == len(tokens) else [*starts, len(tokens)]


def _keys(tokens: Sequence[Token], lines: Sequence[int]) -> list[Hashable]:
    return [tuple(token.key for token in tokens[start:end]) for start, end in pairwise(lines)]


def align(one: Sequence[Token], other: Sequence[Token]) -> list[int]:
    """For each token of `one` the place in `other` where it stands unchanged, -1 where it does not.

    Whole lines first, then lines with a link that stand elsewhere by now, then words within what is left.
    """
    place = [-1] * len(one)
    lines, others = _lines(one), _lines(other)
    keys, other_keys = _keys(one, lines), _keys(other, others)
    changed = list(blocks(keys, other_keys))
    left = {line for i, j, _, _ in changed for line in range(i, j)}
    other_left = {line for _, _, k, m in changed for line in range(k, m)}
    linked = {line for line in left if any(token.is_link for token in one[lines[line] : lines[line + 1]])}
    moved = list(_moved({line: keys[line] for line in linked}, {line: other_keys[line] for line in other_left}))
    for line, goal in (*_equal(changed, len(keys), len(other_keys)), *moved):
        for at in range(lines[line + 1] - lines[line]):
            place[lines[line] + at] = others[goal] + at
    left.difference_update(line for line, _ in moved)
    other_left.difference_update(line for _, line in moved)
    for i, j, k, m in changed:
        free = [at for line in range(i, j) if line in left for at in range(lines[line], lines[line + 1])]
        goals = [at for line in range(k, m) if line in other_left for at in range(others[line], others[line + 1])]
        edits = list(blocks([one[at].key for at in free], [other[at].key for at in goals]))
        for at, goal in _equal(edits, len(free), len(goals)):
            place[free[at]] = goals[goal]
    return place


def _equal(edits: Sequence[tuple[int, int, int, int]], length: int, other_length: int) -> Iterator[tuple[int, int]]:
    """The pairs that lie outside the runs that differ."""
    at = goal = 0
    for i, j, k, m in (*edits, (length, length, other_length, other_length)):
        yield from zip(range(at, i), range(goal, k), strict=True)
        at, goal = j, m


def _moved(here: Mapping[int, Hashable], there: Mapping[int, Hashable]) -> Iterator[tuple[int, int]]:
    """Lines that stand elsewhere: those of one wording in order, where there are as many."""
    for key in dict.fromkeys(here[line] for line in sorted(here)):
        lines = sorted(line for line, wording in here.items() if wording == key)
        goals = sorted(line for line, wording in there.items() if wording == key)
        if len(lines) == len(goals):
            yield from zip(lines, goals, strict=True)
