"""Sections that say the same: one is kept, the others become a link to it, under their own headings."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from aria_dream.consolidate.anchors import Anchors, named_subpaths, place_block
from aria_dream.consolidate.merged_text import leads_from, left_over
from aria_dream.markdown.note import NotePath, fold_heading, parse_note
from aria_dream.review.inbound import retarget_others
from aria_dream.review.plan import Planned, planned
from aria_dream.review.rewriting import Meaning, apply_edits, retarget_note, subpath_key
from aria_dream.review.safety import safety_refusal
from aria_dream.vault.edit import (
    ChangeSet,
    Edit,
    Refusal,
    WritePlan,
    content_hash,
    decode_note,
    encode_note,
    line_end,
    note_refusal,
    with_line_ends,
)
from aria_dream.vault.link_form import encode_destination, link_target

if TYPE_CHECKING:
    from collections.abc import Sequence

    from aria_dream.consolidate.passages import Passage
    from aria_dream.errors import Problem
    from aria_dream.review.plan import VaultView


@dataclass(frozen=True, slots=True, kw_only=True)
class SectionUpdate:
    planned: Planned
    reworded: tuple[str, ...] = ()
    """Sentences that the kept passage says in other words; the trash does not have them, the rollback does."""


def plan_section_updates(
    view: VaultView, doubled: Sequence[tuple[Passage, Sequence[Passage]]]
) -> SectionUpdate | Refusal:
    """The one change that takes every doubled section out, or why there is none.

    `doubled`: what is kept, and the sections that say the same. Under the heading of each stays a link to what is
    kept (an embed where that is another note), and whatever only this section says. Headings stay, so that links to
    them lead where they led; links to a block inside lead to the same words in what is kept. Refused where there is no
    such place.
    """
    edits: dict[NotePath, list[Edit]] = {}
    reworded: list[str] = []
    for kept, others in doubled:
        subpath = _subpath(view, kept)
        if isinstance(subpath, Refusal):
            return subpath
        # the kept note is part of the change even as it is, so that nothing goes once it reads otherwise
        edits.setdefault(NotePath(kept.path), [])
        for passage in others:
            made = _replacement(view, kept, subpath, passage)
            if isinstance(made, Refusal):
                return made
            edit, told = made
            edits.setdefault(NotePath(passage.path), []).append(edit)
            reworded += told
    texts = {path: apply_edits(decode_note(view.contents[path]), found) for path, found in edits.items()}
    meaning = _settled(view, doubled, texts)
    if isinstance(meaning, Refusal):
        return meaning
    writes: list[WritePlan] = []
    problems: list[Problem] = []
    for path, text in texts.items():
        more, left = retarget_note(text, str(path), meaning)
        problems += left
        content = encode_note(apply_edits(text, more))
        writes.append(WritePlan(path=path, expected_hash=content_hash(view.contents[path]), content=content))
    others_changed, left = retarget_others(view, meaning, skip=map(str, texts)) if meaning.parts else ([], [])
    changes = ChangeSet(writes=(*writes, *others_changed))
    refusal = safety_refusal(changes, view)
    if refusal is not None:
        return refusal
    found = planned(changes, view.contents, problems=(*problems, *left))
    return SectionUpdate(planned=found, reworded=tuple(dict.fromkeys(reworded)))


def _settled(
    view: VaultView, doubled: Sequence[tuple[Passage, Sequence[Passage]]], texts: dict[NotePath, str]
) -> Meaning | Refusal:
    """Where links to blocks of the doubled sections are to lead; the kept notes in `texts` get the ids they lack."""
    subpaths: dict[tuple[str, str], str] = {}
    parts: dict[tuple[str, str], str] = {}
    for kept, others in doubled:
        for passage in others:
            note = parse_note(decode_note(view.contents[NotePath(passage.path)]))
            inside = [block for block in note.block_ids if passage.start <= block.span.start < passage.end]
            named = named_subpaths(view, NotePath(passage.path)) if inside else set()
            for block in inside:
                key = subpath_key(f"^{block.name}")
                if key not in named:
                    continue
                text = texts[NotePath(kept.path)]
                start = parse_note(text).body_start
                anchors = Anchors(body=text[start:])
                place = place_block(note, block, anchors) if kept.path != passage.path else ""
                if not place:
                    return Refusal(f"a link leads to the block ^{block.name} in “{passage.title:.80}”")
                texts[NotePath(kept.path)] = text[:start] + anchors.body
                subpaths[passage.path, key], parts[passage.path, key] = place, kept.path
    resolver = view.resolver()
    return Meaning(before=resolver, after=resolver, moved={}, subpaths=subpaths, parts=parts)


def _subpath(view: VaultView, passage: Passage) -> str | Refusal:
    """What leads to a section of its note: its heading, where that is the first of its name; `""` for a note."""
    if passage.is_note:
        return ""
    content = view.contents.get(NotePath(passage.path))
    if content is None:
        return Refusal(f"{passage.path} is not in the vault (any more)")
    note = parse_note(decode_note(content))
    last = fold_heading(passage.headings[-1])
    first = next((heading for heading in note.headings if fold_heading(heading.text) == last), None)
    if not last or first is None or not passage.start <= first.span.start < passage.end:
        return Refusal(f"no link can name the section “{passage.headings[-1]:.60}” of {passage.path} alone")
    return "#" + " ".join(re.sub(r"[#|^*`\[\]]|%%", " ", passage.headings[-1]).split())


def _replacement(view: VaultView, kept: Passage, subpath: str, passage: Passage) -> tuple[Edit, list[str]] | Refusal:
    path = NotePath(passage.path)
    content = view.contents.get(path)
    reason = f"{path} is not in the vault (any more)" if content is None else note_refusal(path, content)
    if content is None or reason:
        return Refusal(reason or "")
    text = decode_note(content)
    if text[passage.start : passage.end] != passage.text:
        return Refusal(f"the section “{passage.title:.80}” has changed")
    heading = next(heading for heading in parse_note(text).headings if heading.span.start >= passage.start)
    link = _link(view, kept, subpath, passage)
    if not link:
        return Refusal(f"no link can name {kept.path}")
    said = text[heading.span.end : passage.end]
    resolver = view.resolver()
    rest, reworded = left_over(
        _own(kept), with_line_ends(said, "\n"), leads_from(resolver, kept.path), leads_from(resolver, passage.path)
    )
    end = line_end(said)  # a note that was pasted together may have both
    tail = said[len(said.rstrip()) :].lstrip(" \t") or end
    new = with_line_ends("\n\n".join(("", link, *((rest,) if rest else ()))), end)
    return Edit(heading.span.end, passage.end, new + tail), list(reworded)


def _own(passage: Passage) -> str:
    """The text of a passage without the heading it begins with."""
    if passage.is_note:
        return passage.text
    note = parse_note("\n" + passage.text)
    return "\n" + note.text[note.headings[0].span.end :].strip("\r\n") + "\n"


def _link(view: VaultView, kept: Passage, subpath: str, passage: Passage) -> str:
    """What stands where the section was; `""` where no link can name what is kept."""
    if kept.path == passage.path:
        return f"[[{subpath}]]" if subpath else ""
    resolver = view.resolver()
    target = link_target(resolver, view.app, kept.path, passage.path)
    if not target:
        return ""
    if view.app.use_markdown_links:
        ending = ".md" if not target.lower().endswith(".md") else ""
        where = encode_destination(target + ending) + ("#" + encode_destination(subpath[1:]) if subpath else "")
        shown = re.sub(r"([\\\[\]])", r"\\\1", kept.title)
        return f"![{shown}]({where})"
    if re.search(r"[\[\]|#^\r\n]|%%", target):
        return ""
    return f"![[{target}{subpath}]]"
