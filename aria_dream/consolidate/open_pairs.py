"""Near pairs that no judge could decide, listed in `Dream review.md`: of each the writer says that the two are
different, or the same. Pure.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from hashlib import sha256
from typing import TYPE_CHECKING, Final

from aria_dream.consolidate.comparison import LONG_COPY_SAID, OTHER_WORDS
from aria_dream.consolidate.open_list import box, render_list
from aria_dream.consolidate.passages import told_apart
from aria_dream.notes.plain_text import escape_plain
from aria_dream.ranking.juxtaposition import title_of

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Sequence

    from aria_dream.consolidate.open_list import Decided
    from aria_dream.consolidate.passage_difference import Difference
    from aria_dream.consolidate.work import Candidate, Member

NAME: Final = "near pairs"
MOST: Final = 10
"""Pairs that are listed, the nearest."""
_HEAD: Final = (
    "### Alike, and left to you\n\n"
    "Tick `different` and the two are never shown again. Tick `same` and the next night builds the merge, which then"
    " waits above for a tick of its own; nothing is merged before.\n"
)
_LONGEST_REASON: Final = 300
_RANK: Final = re.compile(r"rank \d+ by likeness; ")


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenPair:
    """A near pair that waits for a person."""

    pair: Candidate
    reason: str
    """Why it was left: the judge's words, or why no merge could be built of two that the writer calls the same."""
    is_called_same: bool = False
    difference: Difference | None = None
    """How the two differ; None where nobody has looked."""

    @property
    def titles(self) -> tuple[str, str]:
        """Of both, told apart."""
        first, second = self.pair.first, self.pair.second
        one, other = told_apart(first, second)
        return (first.trail or one, second.trail or other) if one == other else (one, other)


def apart_key(pair: Candidate) -> str:
    """A name for two passages, however they read: 32 hex digits. What is called different stays so."""
    return sha256("\0".join(("apart", *sorted((pair.first.id, pair.second.id)))).encode()).hexdigest()[:32]


def same_key(pair: Candidate) -> str:
    """A name for two passages as they read now: 32 hex digits. What is called the same is what the writer has read."""
    return sha256(f"same\0{pair.key}".encode()).hexdigest()[:32]


def render_pairs(
    items: Sequence[OpenPair],
    link: Callable[[str], str],
    *,
    section: Callable[[Member], str] | None = None,
    decided: Sequence[Decided] = (),
    asked: Collection[str] = frozenset(),
) -> str:
    """The block, from marker to marker; `""` where nothing is open and nothing can be taken back.

    `link(path)` is the link to a note as Markdown, `section` that to a passage in it. `asked`: keys of boxes that were
    ticked side by side.
    """
    to_passage = section or (lambda member: link(member.path))
    rows = [_render(item, link, asked, to_passage) for item in items[:MOST]]
    return render_list(NAME, _HEAD, rows, len(items) - MOST, decided)


def _render(
    item: OpenPair, link: Callable[[str], str], asked: Collection[str], section: Callable[[Member], str]
) -> str:
    pair = item.pair
    ends = zip((pair.first, pair.second), item.titles, strict=True)
    first, second = (_end(member, shown, link) for member, shown in ends)
    apart, same = apart_key(pair), same_key(pair)
    boxes = box("different", apart) + ("" if item.is_called_same else box("same", same))
    ask = "- Both were ticked, so nothing was done: tick one.\n" if {apart, same} <= set(asked) else ""
    return f"**{first} ↔ {second}** ({likeness(pair)})\n{_reason(item)}{_difference(item, section)}{ask}{boxes}"


def _difference(item: OpenPair, section: Callable[[Member], str]) -> str:
    """What is the case, and the sentences that only one of the two has, each behind a link to where it stands."""
    found = item.difference
    if found is None:
        return ""
    sides = ((item.pair.first, found.only_first), (item.pair.second, found.only_second))
    only = [f"- only {section(member)}: “{escape_plain(text)}”\n" for member, texts in sides for text in texts]
    return f"- {escape_plain(found.what)}\n{''.join(only)}"


def _end(member: Member, shown: str, link: Callable[[str], str]) -> str:
    """The link to the note, and behind it what of the title is not the note's name."""
    name = title_of(member.path)
    folder, found, rest = shown.partition(name)
    behind = f" {escape_plain(rest)}" if rest.strip() else ""
    return f"{escape_plain(folder)}{link(member.path)}{behind}" if found else link(member.path)


def likeness(pair: Candidate) -> str:
    """How alike the two are, in words."""
    return f"number {pair.rank} by likeness: {pair.cosine:.2f} in meaning, {pair.overlap:.0%} of their words"


def _reason(item: OpenPair) -> str:
    """The line that says why it was left; `""` where heading, likeness and difference say it all."""
    text = _RANK.sub("", item.reason) or "no judge could decide it"
    is_shown = text == OTHER_WORDS or (item.difference is not None and text.startswith(LONG_COPY_SAID))
    if is_shown and not item.is_called_same:
        return ""
    shown = text if len(text) <= _LONGEST_REASON else text[: _LONGEST_REASON - 1] + "…"
    said = f"you called them the same, but no merge can be built: {shown}" if item.is_called_same else shown
    return f"- {escape_plain(said)}\n"
