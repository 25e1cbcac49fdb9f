"""A reach as somebody reads it in a terminal: the block of the dream note without its Markdown, in the same order."""

from __future__ import annotations

import textwrap
from typing import TYPE_CHECKING, assert_never

from aria_dream.notes.plain_text import clean
from aria_dream.reach.reach import Answer, ReachVerdict, Unparsed
from aria_dream.reach.reach_block import NoAnswer, ReachBlock, ReachedPair, ReachedSeed

if TYPE_CHECKING:
    from collections.abc import Iterator

WIDTH = 96
MOST_RAW_LINES = 40
_MEANS: dict[ReachVerdict, str] = {
    "homes": "the relation has a name",
    "orphan": "it may be new territory: nothing that was found says it",
    "neither": "there is nothing in it that could be settled",
}


def block_lines(block: ReachBlock, destination: str) -> Iterator[str]:
    """The lines: what was asked, what was argued and cited, and last the verdict. `destination`: who was asked."""
    yield from _subject_lines(block)
    yield ""
    match block.outcome:
        case Answer() as answer:
            yield from _answer_lines(block, answer, destination)
        case Unparsed(raw):
            yield from _raw_lines(f"{destination} wrote, and no verdict can be read in it:", raw)
            yield "Verdict: unparsed. It is kept and proposes nothing."
        case NoAnswer() as none:
            yield from _raw_lines("What had come so far:", none.partial) if none.partial else ()
            yield from _wrapped(f"No answer, and {'it counts as spent' if none.sent else 'nothing was sent'}: ",
                                f"{none.reason}.")  # fmt: skip
        case _:
            assert_never(block.outcome)


def _subject_lines(block: ReachBlock) -> Iterator[str]:
    match block.subject:
        case ReachedPair() as pair:
            yield f"{clean(pair.from_.title)} ↔ {clean(pair.to.title)}"
            way = "only the text connects them" if pair.path is None else " → ".join(pair.path)
            yield from _wrapped("  path: ", way)
            yield from _wrapped("  kept: ", f"{pair.reason} ({pair.judge})")
        case ReachedSeed(header, source):
            yield clean(header)
            yield from _wrapped("  source: ", source) if source else ()
        case _:
            assert_never(block.subject)
    yield from _wrapped("  from: ", block.origin)


def _answer_lines(block: ReachBlock, answer: Answer, destination: str) -> Iterator[str]:
    if answer.argument:
        yield f"{destination} argued:"
        for line in answer.argument:
            yield from _wrapped("  ", line)
    if answer.sources:
        yield "It cites, and nobody has looked:"
        for source in answer.sources:
            yield f"  {' — '.join(clean(part) for part in (source.url, source.title) if part)}"
    yield ""
    meant = "but it cites no source, so it does not count as a finding" if answer.is_unsourced_orphan else None
    yield f"Verdict: {answer.verdict.upper()}, {meant or _MEANS[answer.verdict]}."
    if answer.edge:
        yield from _wrapped("Edge: ", answer.edge)
    if block.between is not None:
        yield f"Between: {' ↔ '.join(clean(link.title) for link in block.between)}"
    if block.no_link:
        yield from _wrapped("No link is proposed: ", f"{block.no_link}.")
    yield "Nothing of it is a fact until you place it."


def _raw_lines(head: str, raw: str) -> Iterator[str]:
    if not raw.strip():
        yield "An empty answer came back."
        return
    lines = [clean(line) for line in raw.split("\n")]
    yield head
    yield from (f"  │ {line}".rstrip() for line in lines[:MOST_RAW_LINES])
    if len(lines) > MOST_RAW_LINES:
        yield f"  … {len(lines) - MOST_RAW_LINES} lines more stand in the dream note"


def _wrapped(head: str, text: str) -> Iterator[str]:
    """`text` on one line of plain characters, broken at `WIDTH`, with what follows set in."""
    indent = " " * (len(head) if len(head) <= 8 else 2)
    yield from textwrap.wrap(
        f"{head}{clean(text)}", WIDTH, subsequent_indent=indent, break_long_words=False, break_on_hyphens=False
    ) or [head.rstrip()]
