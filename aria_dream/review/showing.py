"""A proposal of any kind as the review note shows it: all that a writer on a phone has to decide by. Pure."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from difflib import SequenceMatcher
from typing import TYPE_CHECKING, Final

from aria_dream.markdown.note import NotePath
from aria_dream.notes.change_grammar import LONGEST_OPENING, LoggedChange, bare, name_of_change, opening
from aria_dream.notes.dream_note_grammar import LoggedLink, logged_link, render_link
from aria_dream.notes.plain_text import clean, escape_plain
from aria_dream.review.application import edits_now
from aria_dream.review.decision import shown_titles
from aria_dream.review.proposal import plan_mark
from aria_dream.review.rewriting import apply_edits
from aria_dream.vault.edit import ABSENT, Edit, content_hash, decode_note

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator, Sequence
    from datetime import tzinfo

    from aria_dream.review.proposal import PlannedEdit, Proposal, ProposalState

MOST_LINES: Final = 40
"""Lines of a change that the review shows; the terminal shows all of it."""
LONGEST_LINE: Final = 400
LONGEST_TEXT: Final = 600
"""Characters of a reason or a remark."""
MOST_REMARKS: Final = 8
"""Of one kind."""
NOT_SHOWN: Final = frozenset({"body", "model", "proposed", "why"})
"""Evidence that is for the machine or told elsewhere, and words that begin lines of another meaning."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Shelf:
    """What showing a change needs of the vault."""

    files: Collection[str]
    """Vault paths of all files."""
    contents: Mapping[NotePath, bytes]
    """Of the notes that the change touches."""
    link_text: Callable[[str], str]
    """Vault path to what stands between a link's brackets in the review note."""
    markdown_links: bool
    zone: tzinfo | None
    """The writer's."""


def is_of_review(proposal: Proposal) -> bool:
    """Whether the review note is where it is shown first: everything but the pairs of dreams, which have a line in a
    dream note. A link that comes from elsewhere says so by evidence in words, such as the edge's name."""
    return proposal.kind != "link" or any(isinstance(value, str) for value in proposal.evidence.values())


def shown_change(state: ProposalState, shelf: Shelf) -> LoggedChange | None:
    """The lines that show it, boxes empty; None where its notes' names do not fit into a line, or nothing is planned
    yet: then the terminal shows it."""
    proposal, kind = state.proposal, state.proposal.kind
    edits = () if kind == "link" else edits_now(state)
    if kind != "link" and not edits:
        return None
    ends = _ends(state, shelf)
    if len(opening(kind, ends)) > LONGEST_OPENING:
        return None
    lines = change_lines(edits, shelf.contents)
    shown = lines[: MOST_LINES if len(lines) > MOST_LINES + 1 else len(lines)]
    again = [(why_again(state), said)] if (said := _cut(state.reason)) else []
    diff = tuple(bare(line if len(line) <= LONGEST_LINE else line[: LONGEST_LINE - 1] + "…") for line in shown)
    return LoggedChange(
        id=proposal.id,
        kind=kind,
        ends=ends,
        proposed_on=proposal.at.astimezone(shelf.zone).date(),
        reason=_cut(proposal.reason),
        judge=clean(proposal.judge) or "aria-dream",
        confidence=round(min(max(proposal.confidence, 0.0), 1.0), 2) or None,
        janus=state.janus if state.janus in ("STANDS", "FALLS", "UNSURE") else "",
        janus_reason=_cut(state.janus_reason) if state.janus in ("STANDS", "FALLS", "UNSURE") else "",
        remarks=(*again, *remarks_of(proposal)),
        mark=plan_mark(() if kind == "link" else state.edits, diff),
        diff=diff,
        more=len(lines) - len(shown),
    )


def why_again(state: ProposalState) -> str:
    """What stands before the reason of a proposal that is open: it is open again, or would have passed by itself."""
    return "waits for your tick" if state.by == "auto" else "again"


def change_name(state: ProposalState) -> str:
    """The change as a sentence names it: `Merge: Keep ← Drop`; of a pair both titles."""
    titles = shown_titles(state)
    if state.proposal.kind == "link" and not is_of_review(state.proposal):
        return " ↔ ".join(titles)
    return name_of_change(state.proposal.kind, titles)


def _ends(state: ProposalState, shelf: Shelf) -> tuple[LoggedLink, ...]:
    kind = state.proposal.kind
    ends = []
    for number, (path, title) in enumerate(zip(state.paths, shown_titles(state), strict=True)):
        stays = path in shelf.files and kind != "place_orphan" and not (kind in ("merge", "sync_copy") and number)
        link = logged_link(path, shelf.link_text, markdown_links=shelf.markdown_links) if stays else None
        ends.append(_titled(link, title))
    return tuple(ends)


def _titled(link: LoggedLink | None, title: str) -> LoggedLink:
    """The link under that title; only the title where no link can bear it."""
    plain = LoggedLink(target="", title=title, style="plain")
    if link is None or link.style == "plain":
        return plain
    if link.title != title and link.style == "wiki" and (escape_plain(title) != title or "|" in title):
        return plain
    titled = replace(link, title=title)
    return plain if _ACTING.search(render_link(titled)) else titled


_ACTING: Final = re.compile(r"\*\*|::|==|%%|://|~~|<%")
"""What would act on the line around a link, where a name holds it."""


def _cut(text: str) -> str:
    said = clean(text)
    return said if len(said) <= LONGEST_TEXT else clean(said[: LONGEST_TEXT - 1]) + "…"


def remarks_of(proposal: Proposal) -> tuple[tuple[str, str], ...]:
    """A word and a sentence for each piece of evidence in words: a text, or each of a list of texts or of sources.

    Numbers are for the machine, and what the reason says already is not said again.
    """
    found: list[tuple[str, str]] = []
    for key, value in proposal.evidence.items():
        label = " ".join(re.sub("[^a-z]+", " ", key.lower()).split())[:30].rstrip()
        values = value if isinstance(value, list | tuple) else [value]
        texts = [text for one in values if (text := _cut(_words(one))) and text != clean(proposal.reason)]
        if not label or key in NOT_SHOWN:
            continue
        left = len(texts) - MOST_REMARKS
        found += [(label, text) for text in (texts[:MOST_REMARKS] if left > 1 else texts)]
        found += [(label, f"and {left} more, in the terminal")] if left > 1 else []
    return tuple(found)


def _words(value: object) -> str:
    """What a piece of evidence says; `""` of a number."""
    if isinstance(value, Mapping):
        return " — ".join(part for key in ("url", "title") if isinstance(part := value.get(key), str) and part)
    return value if isinstance(value, str) else ""


def change_lines(edits: Sequence[PlannedEdit], contents: Mapping[NotePath, bytes]) -> tuple[str, ...]:
    """The change as a person reads it: each file's name, then its lines that go (`- `) and that come (`+ `).

    Whole lines where `contents` has the file as the edits expect it, else just what is exchanged. A note that goes in
    one place and comes in another is a move.
    """
    by_path: dict[str, list[PlannedEdit]] = {}
    for edit in edits:
        by_path.setdefault(edit.path, []).append(edit)
    gone = [one for (one, *_) in by_path.values() if one.after == ABSENT]
    places: dict[str, list[str]] = {}
    for path, (one, *_) in by_path.items():
        if one.before == ABSENT and any(one.after == other.before for other in gone):
            places.setdefault(one.after, []).append(path)
    moved = {path for paths in places.values() for path in paths}
    lines: list[str] = []
    for path, rows in by_path.items():
        first = rows[0]
        if first.before == first.after or path in moved:
            continue  # it must read as it does; or it is told where it goes
        if first.after == ABSENT and places.get(first.before):
            lines.append(f"{path} moves to {places[first.before].pop(0)}")
        else:
            what = " (new note)" if first.before == ABSENT else " (goes)" if first.after == ABSENT else ""
            lines.append(f"{path}{what}")
            for before, after in _passages(rows, contents.get(NotePath(path))):
                lines += _compared(before.splitlines(), after.splitlines())
    return tuple(lines)


def _passages(rows: Sequence[PlannedEdit], content: bytes | None) -> Iterator[tuple[str, str]]:
    """Before and after of each run of whole lines that the edits touch."""
    if content is None or content_hash(content) != rows[0].before:
        yield from ((row.removed, row.inserted) for row in rows)
        return
    text = decode_note(content)
    runs: list[tuple[int, int, list[PlannedEdit]]] = []
    for row in sorted(rows, key=lambda row: row.start):
        end = row.start + len(row.removed)
        start = max(text.rfind("\n", 0, row.start), text.rfind("\r", 0, row.start)) + 1
        stop = min((at for at in (text.find("\n", end), text.find("\r", end)) if at >= 0), default=len(text))
        if runs and start <= runs[-1][1]:
            start, _, touched = runs.pop()
            runs.append((start, max(stop, end), [*touched, row]))
        else:
            runs.append((start, stop, [row]))
    for start, stop, touched in runs:
        inside = [Edit(row.start - start, row.start - start + len(row.removed), row.inserted) for row in touched]
        yield text[start:stop], apply_edits(text[start:stop], inside)


def _compared(before: Sequence[str], after: Sequence[str]) -> Iterator[str]:
    for what, first, last, first_after, last_after in SequenceMatcher(None, before, after).get_opcodes():
        if what != "equal":
            yield from (f"- {line}" if line else "-" for line in before[first:last])
            yield from (f"+ {line}" if line else "+" for line in after[first_after:last_after])
