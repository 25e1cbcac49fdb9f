"""Lists of findings that wait for a person in `Dream review.md`, each list a sealed block: a paragraph a finding, with
boxes that settle it, and a line with one box for each that was settled a short while ago. Pure.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from aria_dream.consolidate.sealed import read_sealed, seal, with_sealed
from aria_dream.notes.dream_note_grammar import parse_link
from aria_dream.notes.plain_text import escape_plain, unescape_plain

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Sequence

    from aria_dream.consolidate.settled import What
    from aria_dream.errors import Problem

MARKS: Final[dict[What, str]] = {
    "no contradiction": "disagree", "different": "apart", "same": "same", "looked at": "seen"
}  # fmt: skip
"""What a box says, and the block id before its key."""
_WHAT: Final[dict[str, What]] = {mark: what for what, mark in MARKS.items()}
_BOX: Final = re.compile(r"[ \t]*[-*+] \[(.)\] .*\^(disagree|apart|same|seen)-([0-9a-f]{32})(-undo)?(?![\w-]).*")
_DONE: Final = re.compile(
    r"[ \t]*[-*+] \[(.)\] undo until [^—]* — (?:(.*): )?[a-z ]+ \^(disagree|apart|same|seen)-([0-9a-f]{32})-undo"
    r"(?![\w-]).*"
)
_HEAD: Final = re.compile(r"\*\*(.+)\*\*.*")

_LINK: Final = re.compile(r"\[\[[^\[\]\r\n]+\]\]|(?<!\\)\[(?:\\.|[^\[\]\\])*\]\([^()\r\n]*\)")


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """A box that somebody ticked."""

    key: str
    what: What
    is_undo: bool
    titles: tuple[str, ...]
    """Both, as the list names them; empty of an undo."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Answers:
    """What the boxes of a list say."""

    given: tuple[Answer, ...] = ()
    asked: frozenset[str] = frozenset()
    """Keys of the boxes that are ticked beside another one of their item: nobody can tell which counts."""
    is_edited: bool = False
    """Somebody has written in the list, or a marker is missing, so that nobody knows what its boxes mean."""
    standing: tuple[Answer, ...] = ()
    """What was settled a short while ago, by whatever machine, and is not to be taken back."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Decided:
    """An item that was settled a short while ago."""

    key: str
    what: What
    titles: tuple[str, ...]
    until: str
    """Local end of the time in which it can be taken back."""


def box(what: What, key: str) -> str:
    """The line with the box that settles an item."""
    return f"- [ ] {what} ^{MARKS[what]}-{key}\n"


def render_list(name: str, head: str, items: Sequence[str], more: int, decided: Sequence[Decided]) -> str:
    """The block, from marker to marker; `""` where nothing is open and nothing can be taken back.

    `items`: paragraphs that begin with both titles in bold and end with boxes. `more`: how many are not among them.
    """
    parts = [head, *items] if items else []
    parts += [f"… and {more} more, listed as you settle these.\n"] if more > 0 else []
    parts += [_decided(one) for one in decided]
    return seal(name, "\n".join(parts)) if parts else ""


def _decided(one: Decided) -> str:
    titles = " ↔ ".join(map(escape_plain, one.titles))
    said = f"{titles}: {one.what}" if titles else one.what
    return f"- [ ] undo until {one.until} — {said} ^{MARKS[one.what]}-{one.key}-undo\n"


def read_answers(text: str, name: str) -> Answers:
    """What somebody has ticked in the list; nothing where the block is missing or was edited otherwise."""
    block, problems = read_sealed(text, name, loosely=True)
    if block is None:
        return Answers(is_edited=bool(problems))
    given: dict[str, Answer] = {}
    asked: set[str] = set()
    standing: list[Answer] = []
    for lines in _paragraphs(block.inside):
        if (done := _DONE.fullmatch(lines[0])) is not None and done[1] not in "xX":
            titles = tuple(map(_shown, done[2].split(" ↔ "))) if done[2] else ()
            standing.append(Answer(key=done[4], what=_WHAT[done[3]], is_undo=False, titles=titles))
        ticked = [found for line in lines if (found := _BOX.fullmatch(line)) and found[1] in "xX"]
        if len(ticked) > 1:
            asked.update(found[3] for found in ticked)
            continue
        for found in ticked:
            is_undo = found[4] is not None
            titles = () if is_undo else _titles(lines[0])
            given.setdefault(
                found[0], Answer(key=found[3], what=_WHAT[found[2]], is_undo=is_undo, titles=titles)
            )
    return Answers(given=tuple(given.values()), asked=frozenset(asked), standing=tuple(standing))


def ticked_lines(text: str, whats: Collection[What]) -> tuple[tuple[int, str], ...]:
    """Line (1-based) and key of every ticked box of `whats` in the note, whether or not its list is whole."""
    marks = {MARKS[what] for what in whats}
    return tuple(
        (number, found[3])
        for number, line in enumerate(re.split(r"\r\n|\n|\r", text), start=1)
        if (found := _BOX.fullmatch(line)) and found[1] in "xX" and found[2] in marks
    )


def count_open(text: str, name: str) -> int:
    """How many items of the list nobody has settled."""
    block, _ = read_sealed(text, name, loosely=True)
    return 0 if block is None else sum(bool(_keys(one)) and not _is_decided(one) for one in _paragraphs(block.inside))


def _titles(line: str) -> tuple[str, ...]:
    head = _HEAD.fullmatch(line.strip())
    return tuple(map(_shown, head[1].split(" ↔ "))) if head is not None else ()


def _shown(end: str) -> str:
    """What a reader sees of a title that may be a link."""
    return unescape_plain(_LINK.sub(lambda found: escape_plain(parse_link(found[0]).title), end))


def with_list(text: str, name: str, made: str) -> tuple[str, tuple[Problem, ...]]:
    """The note with `made` as its list of that name; as it was, and why, where the block is edited."""
    block, problems = read_sealed(text, name)
    if problems:
        return text, problems
    if block is not None:
        if made:
            return with_sealed(text, block, made), ()
        before, behind = text[: block.start].rstrip(), text[block.end :].lstrip("\r\n")
        end = "\r\n" if "\r\n" in text else "\n"
        return before + end + (end + behind if behind else ""), ()
    if not made:
        return text, ()
    end = "\r\n" if "\r\n" in text else "\n"
    return f"{text.rstrip()}{end}{end}{made.replace(chr(10), end)}{end}", ()


def unticked(text: str, name: str, key: str) -> str:
    """The note with the boxes of that key empty in the list."""
    block, _ = read_sealed(text, name)
    if block is None:
        return text
    lines = [
        re.sub(r"\[.\]", "[ ]", line, count=1) if (found := _BOX.fullmatch(line)) and found[3] == key else line
        for line in text[block.start : block.end].replace("\r\n", "\n").split("\n")
    ]
    return with_sealed(text, block, "\n".join(lines))


def merged_list(text: str, copy: str, name: str, is_open: Callable[[str], bool]) -> tuple[str, tuple[Problem, ...]]:
    """The block that holds what the lists of both say, ticks included: ours first, then what only `copy` lists, as far
    as `is_open` says so of the keys. `""` where neither has one; with the reason where either is edited.
    """
    (ours, faults), (theirs, more) = read_sealed(text, name), read_sealed(copy, name)
    if faults or more:
        return "", (*faults, *more)
    if ours is None and theirs is None:
        return "", ()
    mine, yours = (_paragraphs("" if one is None else one.inside) for one in (ours, theirs))
    ticked = {
        (found[2], found[3], found[4]) for lines in yours for line in lines
        if (found := _BOX.fullmatch(line)) and found[1] in "xX"
    }  # fmt: skip
    around = mine if ours is not None else yours
    open_: dict[tuple[str, ...], list[str]] = {}
    done: dict[tuple[str, ...], list[str]] = {}
    for lines in (*mine, *yours):
        if _is_decided(lines):
            done.setdefault(_keys(lines), [_ticked(line, ticked) for line in lines])
    settled = {key for keys in done for key in keys}
    for number, lines in enumerate((*mine, *yours)):
        keys = _keys(lines)
        if keys and settled.isdisjoint(keys) and (number < len(mine) or all(map(is_open, keys))):
            open_.setdefault(keys, [_ticked(line, ticked) for line in lines])
    heads = [lines for lines in around if not _keys(lines) and not lines[0].startswith("…")]
    tails = [lines for lines in around if lines[0].startswith("…")]
    kept = [*heads, *open_.values(), *tails, *done.values()] if open_ else [*done.values()]
    return seal(name, "\n".join("".join(f"{line}\n" for line in lines) for lines in kept)) if kept else "", ()


def _paragraphs(inside: str) -> list[list[str]]:
    found: list[list[str]] = [[]]
    for line in inside.replace("\r", "").split("\n"):
        if line.strip():
            found[-1].append(line)
        elif found[-1]:
            found.append([])
    return [lines for lines in found if lines]


def _keys(lines: Sequence[str]) -> tuple[str, ...]:
    return tuple(found[3] for line in lines if (found := _BOX.fullmatch(line)))


def _is_decided(lines: Sequence[str]) -> bool:
    return any((found := _BOX.fullmatch(line)) is not None and found[4] for line in lines)


def _ticked(line: str, wanted: set[tuple[str, str, str]]) -> str:
    found = _BOX.fullmatch(line)
    if found is None or (found[2], found[3], found[4]) not in wanted:
        return line
    return re.sub(r"\[.\]", "[x]", line, count=1)
