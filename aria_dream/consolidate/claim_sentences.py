"""The sentences of a passage's prose, with the headings above each."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from aria_dream.consolidate.quantities import plain_letters
from aria_dream.consolidate.quantity_words import MONTHS
from aria_dream.markdown.note import parse_note

if TYPE_CHECKING:
    from collections.abc import Iterator

_LINE = re.compile(r"[^\n]*\n?")
_HEADING = re.compile(r" {0,3}#{1,6}[ \t]+(.*?)[ \t#]*$")
_ITEM = re.compile(r"[ \t]*(?:[-*+]|\d{1,9}[.)])[ \t]+(\[.\][ \t])?")
_NO_PROSE = re.compile(r"[ \t]*(?:>|\||\[\^[^\]]*\]:|={3,}[ \t]*$|-{3,}[ \t]*$|\$\$|!\[|:::|<)")
_END = re.compile(r"(?<![.!?…])[.!?…]+[\"”’)\]»]*(?=\s)|[。！？]+[」』”]?|(?<=\S)[ \t]*;(?=\s)")
_ABBREVIATION = re.compile(
    r"(?:\b(?:e\.g|i\.e|dr|mr|mrs|ms|prof|vs|approx|no|nr|st|art|fig|pp?|cf|al|bzw|ca|abs|z\.\s?b|d\.\s?h|u\.\s?a|inc|ltd"
    r"|co|jr|sr|gen|col|sen|rep|mt|ft|ave|dept|est|etc|[a-z])\.|\b\d{1,2}\.)$",
    re.IGNORECASE,
)
_NOISE = re.compile(
    r"\[[\d:.,\s-]*\](?=\()|(?:https?|obsidian|file)://\S+|\*+|==|(?<!\w)_+|_+(?!\w)|\{:[^{}\n]*\}|\((?:see|cf|vgl|siehe|s\.|voir|vease|vedi|zie)\b[^()\n]*\)",
    re.IGNORECASE,
)
"""Addresses, emphasis, attributes, pointers to other places."""
_BLOCK_ID = re.compile(r"[ \t]+\^[A-Za-z0-9-]+[ \t]*$")
_LETTERS = re.compile(r"[^\W\d_]+(?:[-’'][^\W\d_]+)*")


def masked_prose(text: str) -> str:
    """`text`, the same length, without what is no prose; a link as the words that it shows."""
    note = parse_note(f"\n{text}")  # whatever begins it is no frontmatter
    out = list(text)
    for span in note.opaque:
        _blank(out, span.start - 1, span.end - 1, "\x01" if text[span.start - 1] in "`$" else "\0")
    for link in note.links:
        start, end = link.start - 1, link.end - 1
        shown = "" if link.embed else (link.display or link.path.rpartition("/")[2] or link.subpath.lstrip("#"))
        shown = "" if link.markdown and not re.search(r"[^\W\d_]", shown) else shown.replace("\n", " ")[: end - start]
        out[start:end] = [*shown, *"\0" * (end - start - len(shown))]
    plain = "".join(out)
    return _NOISE.sub(lambda found: "\0" * len(found[0]), plain)


def _blank(out: list[str], start: int, end: int, sign: str) -> None:
    for at in range(max(0, start), min(end, len(out))):
        if out[at] != "\n":
            out[at] = sign


def sentences_in(masked: str) -> Iterator[tuple[int, int, tuple[str, ...]]]:
    """Start, end and the headings above of every sentence."""
    headings: dict[int, str] = {}
    block: tuple[int, int] | None = None
    skipping = False
    for line in _LINE.finditer(masked):
        text = line[0].rstrip("\r\n")
        bare = text.replace("\0", "").replace("\x01", "").strip()
        heading, item = _HEADING.match(text), _ITEM.match(text)
        goes_on = bool(bare) and heading is None and item is None and not _NO_PROSE.match(text)
        if goes_on and block is not None:
            block = (block[0], line.start() + len(text))
            continue
        if block is not None:
            yield from _split(masked, block, tuple(headings.values()))
            block = None
        if goes_on and skipping:
            continue
        skipping = bool(bare) and not goes_on
        if heading is not None:
            level = len(text.lstrip()) - len(text.lstrip().lstrip("#"))
            headings = {depth: words for depth, words in headings.items() if depth < level}
            headings[level] = heading[1].replace("\0", "")
            skipping = False
        elif item is not None and not item[1] and bare:
            block = (line.start() + item.end(), line.start() + len(text))
            skipping = False
        elif goes_on:
            block = (line.start() + len(text) - len(text.lstrip()), line.start() + len(text))
    if block is not None:
        yield from _split(masked, block, tuple(headings.values()))


def _split(
    masked: str, block: tuple[int, int], headings: tuple[str, ...]
) -> Iterator[tuple[int, int, tuple[str, ...]]]:
    start, stop = block
    tail = _BLOCK_ID.search(masked, start, stop)
    stop = tail.start() if tail else stop
    at = start
    for end in [*_ends(masked, start, stop), stop]:
        while at < end and (masked[at].isspace() or masked[at] == ";"):
            at += 1
        last = end
        while last > at and masked[last - 1].isspace():
            last -= 1
        if last > at:
            yield at, last, headings
        at = end


def _ends(masked: str, start: int, stop: int) -> Iterator[int]:
    for found in _END.finditer(masked, start, stop):
        if found[0].startswith(".") and _ABBREVIATION.search(masked, max(start, found.start() - 12), found.end()):
            if masked[found.start() - 2 : found.start() - 1] in ("°", "º"):
                yield found.end()
                continue
            behind = _LETTERS.search(masked, found.end(), stop)
            before = masked[max(start, found.start() - 3) : found.start()]
            if not before[-1:].isdigit() or (behind and plain_letters(behind[0]) in MONTHS):
                continue
        yield found.end() if not found[0].strip().startswith(";") else found.start()
