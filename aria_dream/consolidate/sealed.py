"""A block of ours inside a note, between two markers, that is written anew only while nobody has edited it.

The begin marker bears a digest of what stands between: a changed word shows; a set tick, what a plugin wrote behind it,
a space at a line's end, or a link that Obsidian renamed with its note does not. Text around the block is the writer's.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from hashlib import sha256

from aria_dream.errors import Problem

_BOX = re.compile(r"^(\s*[-*+] )\[[xX]\]", re.MULTILINE)
_TAIL = re.compile(r"^(\s*[-*+] \[[xX]\] [^\n]*\^[a-z]+-[0-9a-f]{32}(?:-undo)?)(?![\w-])([^\n]*)$", re.MULTILINE)
"""A ticked box, and what stands behind its id."""
_MARK = re.compile(r"\s*(?:(?>\[[^\[\]]*\]|\([^()]*\)|@\w+(?:\([^()]*\))?|[^\w\s]|\d[\d:.-]*)\s*)*+")
"""What plugins write there: `✅ 2026-12-01`, `[completion:: 2026-12-01]`, `@done(2026-12-01)`."""
_TARGET = re.compile(r"(?<!\\)\[\[[^\[\]\r\n]*\]\]|(?<!\\)\]\([^()\r\n]*\)")


@dataclass(frozen=True, slots=True, kw_only=True)
class Sealed:
    """A block that reads as it was written."""

    start: int
    """Offset of the begin marker."""
    end: int
    """Behind the end marker."""
    inside: str


def seal(name: str, inside: str) -> str:
    """The block from marker to marker, no line end behind; `inside` ends with a line end."""
    return f"%% aria-dream {name} begin {_digest(inside)} %%\n{inside}%% aria-dream {name} end %%"


def read_sealed(text: str, name: str, *, loosely: bool = False) -> tuple[Sealed | None, tuple[Problem, ...]]:
    """The block of that name, or None; with the reason where it is there and is to be left as it is.

    `loosely`: for whoever only reads it, words behind a ticked box are no edit either.
    """
    marks = list(_markers(name).finditer(text))
    if not marks:
        return None, ()
    line = text.count("\n", 0, marks[0].start()) + 1
    if [mark[1].lower() for mark in marks] != ["begin", "end"]:
        said = f"the block “{name}” needs its two marker lines, once each; delete it and it is made anew"
        return None, (Problem("", text.count("\n", 0, marks[-1].start()) + 1, said),)
    inside = text[marks[0].end() : marks[1].start()].removeprefix("\r").removeprefix("\n")
    bare = _TAIL.sub(lambda found: found[1] if loosely or _MARK.fullmatch(found[2]) else found[0], inside)
    if (marks[0][2] or "") not in (_digest(bare), _digest(bare, links=True)):
        said = f"the block “{name}” was edited between its markers and is left as it is; delete it and it is made anew"
        return None, (Problem("", line, said),)
    return Sealed(start=marks[0].start(), end=marks[1].end(), inside=inside), ()


def with_sealed(text: str, block: Sealed, made: str) -> str:
    """`text` with `made` in place of the block, in the note's own line ends."""
    return text[: block.start] + (made.replace("\n", "\r\n") if "\r\n" in text else made) + text[block.end :]


def _markers(name: str) -> re.Pattern[str]:
    marker = rf"^[ \t]*%%[ \t]*aria-dream {re.escape(name)} (begin|end)(?:[ \t]+([0-9a-f]{{16}}))?\b[^\r\n]*"
    return re.compile(marker, re.MULTILINE | re.IGNORECASE)


def _digest(inside: str, *, links: bool = False) -> str:
    """16 hex digits. `links`: as earlier versions made it, where links lead included."""
    unticked = _BOX.sub(r"\1[ ]", inside)
    lines = "\n".join(line.rstrip() for line in (unticked if links else _TARGET.sub("]", unticked)).splitlines())
    return sha256(lines.encode("utf-8", "surrogatepass")).hexdigest()[:16]
