"""Whole notes that say the same, as one merge: the exact text, what becomes of their headings and block ids."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from aria_dream.consolidate.anchors import Anchors, body_of, named_subpaths, place_block
from aria_dream.consolidate.merged_text import MergedText, check_rewrite, leads_from, merge_texts
from aria_dream.consolidate.sentences import missing_from, read_sentences
from aria_dream.markdown.note import NotePath, fold_heading, parse_note
from aria_dream.ranking.juxtaposition import title_of
from aria_dream.review.definitions import with_inline_links
from aria_dream.review.merging import plan_merge_all
from aria_dream.review.rewriting import Meaning, apply_edits, retarget_note, subpath_key
from aria_dream.vault.edit import Refusal, decode_note, with_line_ends

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from aria_dream.markdown.note import Note
    from aria_dream.review.plan import Planned, VaultView


@dataclass(frozen=True, slots=True, kw_only=True)
class NoteMerge:
    planned: Planned
    merged: MergedText
    body: str
    """What the kept note's body becomes, before its links are settled."""
    unplaced: tuple[str, ...] = ()
    """Block ids and headings that a link leads to and the merged text has not: those links lead to the whole note."""
    elsewhere: tuple[str, ...] = ()
    """Links that lead to a section of one name with another text, and places that cannot follow, a clause each."""


def plan_note_merge(
    view: VaultView, keep: NotePath, drops: Sequence[NotePath], *, wording: str | None = None
) -> NoteMerge | Refusal:
    """The change that makes one note of `keep` and `drops`, the text with every sentence of each; or why there is none.

    `wording` is a model's text for all of them; it is refused where it loses more than a quarter of the sentences.
    """
    for path in (keep, *drops):
        if path not in view.contents:
            return Refusal(f"{path} is not in the vault (any more)")
    kept = parse_note(decode_note(view.contents[keep]))
    bodies = [_incoming_body(view, keep, drop) for drop in drops]
    own = kept.text[kept.body_start :]
    if wording is None:
        moved = dict.fromkeys(map(str, drops), str(keep))
        merged = merge_texts(own, bodies, leads_from(view.resolver(), str(keep), moved))
        if merged.lost:
            return Refusal(f"the texts cannot be put together: “{merged.lost[0]:.80}” would not read as it did")
    else:
        checked = check_rewrite(wording, [own, *bodies])
        if isinstance(checked, Refusal):
            return checked
        merged = checked
    anchors = Anchors(body=merged.text)
    for drop in drops:
        _place(view, drop, anchors)
    plan = plan_merge_all(view, keep, drops, body=anchors.body, subpaths=anchors.subpaths)
    if isinstance(plan, Refusal):
        return plan
    elsewhere = [said for drop in drops for said in _other_sections(view, keep, drop)]
    elsewhere += [said for drop in drops for said in view.unfollowed.get(str(drop), ())]
    return NoteMerge(
        planned=plan, merged=merged, body=anchors.body, unplaced=tuple(anchors.unplaced), elsewhere=tuple(elsewhere)
    )


def _other_sections(view: VaultView, keep: NotePath, drop: NotePath) -> Iterator[str]:
    """The headings of `drop` that a link names and `keep` has too, above another text: such a link leads there."""
    named = {subpath.rpartition("#")[2] for subpath in named_subpaths(view, drop) if not subpath.startswith("^")}
    mine, theirs = (_sections(parse_note(decode_note(view.contents[path]))) for path in (keep, drop))
    for name in sorted(named & mine.keys() & theirs.keys()):
        heading, said = theirs[name]
        if missing_from(mine[name][1], read_sentences(said)):
            yield f"links to “{heading}” of “{title_of(str(drop))}” lead to the section of that name that stays"


def _sections(note: Note) -> dict[str, tuple[str, str]]:
    """Folded heading to the heading and the text below it, the first of each name."""
    found: dict[str, tuple[str, str]] = {}
    for number, heading in enumerate(note.headings):
        later = note.headings[number + 1 :][:1]
        stop = later[0].span.start if later else len(note.text)
        found.setdefault(fold_heading(heading.text), (heading.text, note.text[heading.span.end : stop]))
    return found


def _incoming_body(view: VaultView, keep: NotePath, drop: NotePath) -> str:
    """The body of a dropped note with its links as they must be written where `keep` lies, without the heading that
    only repeats a name."""
    text = decode_note(view.contents[drop])
    resolver = view.resolver()
    edits, _ = retarget_note(
        text, str(drop), Meaning(before=resolver, after=resolver, moved={}), source_after=str(keep)
    )
    note = parse_note(with_inline_links(with_line_ends(apply_edits(text, edits), "\n")))
    body_start = note.body_start
    if note.headings and not note.text[body_start : note.headings[0].span.start].strip():
        said = fold_heading(note.headings[0].text)
        if said in (fold_heading(title_of(str(drop))), fold_heading(title_of(str(keep)))):
            body_start = note.headings[0].span.end
    return note.text[body_start:]


def _place(view: VaultView, drop: NotePath, anchors: Anchors) -> None:
    """Find, or make, a place in the merged body for everything in `drop` that a link names."""
    note = parse_note(decode_note(view.contents[drop]))
    named = named_subpaths(view, drop)
    for heading in note.headings:
        there = any(fold_heading(other.text) == fold_heading(heading.text) for other in body_of(anchors.body).headings)
        for subpath in named:
            if not subpath.startswith("^") and subpath.rpartition("#")[2] == fold_heading(heading.text) and not there:
                anchors.subpaths[str(drop), subpath] = ""
                anchors.unplaced += [heading.text] if fold_heading(title_of(str(drop))) != subpath else []
    for block in note.block_ids:
        key = subpath_key(f"^{block.name}")
        if key in named:
            anchors.subpaths[str(drop), key] = place_block(note, block, anchors)
