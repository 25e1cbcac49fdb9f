"""No text makes a search of ours take longer than its length allows; a model, a page or a note may well try.

An exponential search of 40 repetitions ends in no lifetime and a cubic one of 4,000 in an hour, so a minute of the
processor tells them from a linear one on any machine.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import pytest

from aria_dream.consolidate.answers import wording_fault
from aria_dream.consolidate.claim_sentences import sentences_in
from aria_dream.judging.prompt_text import harmless_text
from aria_dream.markdown.ending import open_ending
from aria_dream.notes.dream_log import parse_blocks
from aria_dream.reach.citation import find_named_notes, is_notes_line
from aria_dream.review.conflict_copies import merge_sections

if TYPE_CHECKING:
    from collections.abc import Callable

LONG = 20_000
CASES: dict[str, Callable[[], object]] = {
    "numbers of notes": lambda: find_named_notes("Notes: 1" + ", " * 200 + "x", ("a", "b")),
    "numbers and words": lambda: find_named_notes("Notes: 1" + " and , " * 80 + "x", ("a", "b")),
    "a title and more": lambda: find_named_notes("Notes: a" + ", " * 200 + "\x00", ("a", "b")),
    "blanks behind a note": lambda: is_notes_line("Notes: x" + " " * LONG + "x"),
    "a role of a chat template": lambda: harmless_text("[" + "A" * LONG),
    "many roles": lambda: harmless_text("[AA" * LONG),
    "blanks of a property": lambda: open_ending("---\n" + " " * LONG + "x" + " " * LONG + "!"),
    "words of a property": lambda: open_ending("---\n" + "a " * LONG + "!"),
    "a mail address in a wording": lambda: wording_fault("@" * LONG, ("a", "b")),
    "colons in a wording": lambda: wording_fault("x" + ":" * LONG, ("a", "b")),
    "a quote in a dream note": lambda: parse_blocks("## 03:12 — idle dream\n\n" + (">" * 7_000 + "\n") * 20),
    "stops without an end": lambda: list(sentences_in("." * LONG + "x")),
    "a status of a seed": lambda: merge_sections("## a\n- status" + ":" * LONG, "## a\n- status" + ":" * LONG + "x"),
}


@pytest.mark.parametrize("name", CASES)
def test_no_text_holds_a_search_up(name: str) -> None:
    start = time.process_time()
    CASES[name]()
    assert time.process_time() - start < 60
