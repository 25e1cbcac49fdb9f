"""Where a seed homes: which of the notes that its request listed an answer says that the edge connects.

An answer names notes by their numbers in the request, or by their titles letter for letter. Nothing else it says can
name a note, so no answer reaches one that was not sent.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from aria_dream.vault.names import fold_path

if TYPE_CHECKING:
    from collections.abc import Sequence

MOST_OFFERED = 8
"""Notes that a request lists."""
_AND = r"\s*(?:(?:,|;|&|\+|/|↔|→|-|–|—|<->|->|and|und|et|y|e|en|i|и|和)\s*)+"
_NUMBER = r"(?:no\.? ?|#|\[|\()?(\d{1,3})[\])]?"
_LEAD = re.compile(r"[*_ #>-]*(?:the )?notes?[*_ ]*[:=][*_ ]*", re.IGNORECASE)
_LONGEST = 600
"""Characters of a line that names notes."""
_NUMBERS = re.compile(rf"{_NUMBER}(?:{_AND}{_NUMBER})*", re.IGNORECASE)


def is_notes_line(line: str) -> bool:
    """Whether a line of an answer does nothing but name notes by number."""
    return _NUMBERS.fullmatch(_said(line)) is not None


def named_notes(answer: str, titles: Sequence[str]) -> tuple[int, ...]:
    """The places in `titles` that the answer's `Notes:` line names, at most two, in its order.

    `()` where there is no such line, where one names more, or where anything in it is none of `titles`. Of two lines
    the first that names something counts.
    """
    for line in answer.splitlines():
        said = " ".join(_said(line).split())
        if said and (places := _by_number(said, len(titles)) or _by_title(said, titles)):
            return places
    return ()


def _said(line: str) -> str:
    """What the line names behind its `Notes:`; `""` where it has none."""
    found = _LEAD.match(line) if len(line) <= _LONGEST else None
    return line[found.end() :].rstrip("*_ .") if found is not None else ""


def _by_number(said: str, count: int) -> tuple[int, ...]:
    if _NUMBERS.fullmatch(said) is None:
        return ()
    places = tuple(dict.fromkeys(int(number) - 1 for number in re.findall(r"\d+", said)))
    return places if len(places) <= 2 and all(0 <= place < count for place in places) else ()


def _by_title(said: str, titles: Sequence[str]) -> tuple[int, ...]:
    """Whole titles only: that one occurs in what is said names nothing."""
    forms = [fold_path(" ".join(title.split())) for title in titles]
    if any(not form or forms.count(form) > 1 for form in forms):
        return ()
    text = fold_path(re.sub(r"\[\[|\]\]|[\"“”„«»]", "", said)).strip()
    for first, form in enumerate(forms):
        if text == form:
            return (first,)
        if text.startswith(form):
            rest = re.fullmatch(rf"{_AND}(?P<other>.+)", text[len(form) :])
            if rest is not None and rest["other"] in forms:
                return tuple(dict.fromkeys((first, forms.index(rest["other"]))))
    return ()


def home_of(answer: str, titles: Sequence[str]) -> tuple[int, int] | str:
    """The two of the listed notes that the edge of a seed's answer connects, as places in `titles`; or why there are
    none, as one clause for the writer.

    Where the request listed two and the answer names none, those are meant.
    """
    if not titles:
        return "the seed names no note of yours, and a link needs two; name them by wikilink under `resonance`"
    if len(titles) == 1:
        return "the seed names only one note of yours, and a link needs two; name the other by wikilink as well"
    named = named_notes(answer, titles)
    if len(named) == 2:
        return named[0], named[1]
    if len(titles) == 2 and not named:
        return 0, 1
    if named:
        return f"the answer connects the seed with one note of yours, “{titles[named[0]]}”, and a link needs two"
    return "the answer does not say which two of the notes that the seed names it connects"
