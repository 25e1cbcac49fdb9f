"""Block ids that links name, found again or put where the same words stand in another text."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from aria_dream.consolidate.wording import read_wording
from aria_dream.markdown.note import parse_note
from aria_dream.review.rewriting import apply_edits, subpath_key
from aria_dream.vault.edit import Edit, decode_note

if TYPE_CHECKING:
    from aria_dream.markdown.note import BlockId, Note, NotePath
    from aria_dream.review.plan import VaultView

_CONTEXT: Final = 8
"""Words before a block id by which its place is found in another text."""
_ID_AT_END: Final = re.compile(r"(?<!\S)\^([A-Za-z0-9-]+)[ \t]*$")


@dataclass(slots=True)
class Anchors:
    """Where in a body the headings and blocks of other notes are found."""

    body: str
    """Without frontmatter; gets the block ids that it lacks."""
    subpaths: dict[tuple[str, str], str] = field(default_factory=dict)
    """As `Meaning.subpaths`."""
    unplaced: list[str] = field(default_factory=list)
    """What has no place there."""


def named_subpaths(view: VaultView, path: NotePath) -> set[str]:
    """Every subpath of the note that some link names, as `subpath_key`."""
    resolver = view.resolver()
    found: set[str] = set()
    for source, content in view.contents.items():
        if source.suffix.lower() != ".md":
            if b"#" in content:
                text = decode_note(content)
                found.update(subpath_key(f"^{name}") for name in re.findall(r"#\^([A-Za-z0-9-]+)", text))
                found.update(subpath_key(name) for name in re.findall(r'"subpath"\s*:\s*"(#[^"^\\]+)"', text))
            continue
        for link in parse_note(decode_note(content)).links:
            if link.subpath and resolver.resolve(link.path, str(source)) == str(path):
                found.add(subpath_key(link.subpath))
    return found


def body_of(text: str) -> Note:
    """A body as a note: one that begins with a rule has no properties. Offsets are one more than in `text`."""
    return parse_note("\n" + text)


def place_block(note: Note, block: BlockId, anchors: Anchors) -> str:
    """The subpath of the block in the merged body: one it has there, or one that is added now; `""` where there is no
    such place."""
    before = [word.key for word in read_wording(note).words if word.end <= block.span.start][-_CONTEXT:]
    merged = body_of(anchors.body)
    words = read_wording(merged).words
    size = len(before)
    at = next((n for n in range(len(words) - size + 1) if [word.key for word in words[n : n + size]] == before), None)
    if not size or at is None:
        anchors.unplaced.append(f"^{block.name}")
        return ""
    end = words[at + size - 1].end
    stop = re.compile(r"\r?\n|\Z").search(merged.text, end)
    line_end = stop.start() if stop else len(merged.text)
    line = merged.text[merged.text.rfind("\n", 0, end) + 1 : line_end]
    has = _ID_AT_END.search(line)
    if has:
        return f"#^{has[1]}"
    if line.lstrip().startswith(("|", ">", "#", "```", "    ")) or any(
        span.start <= line_end < span.end for span in merged.opaque
    ):
        anchors.unplaced.append(f"^{block.name}")
        return ""
    taken = {other.name.lower() for other in merged.block_ids}
    numbered = (block.name if n == 1 else f"{block.name}-{n}" for n in range(1, 10_000))
    name = next(one for one in numbered if one.lower() not in taken)
    anchors.body = apply_edits(merged.text, [Edit(line_end, line_end, f" ^{name}")])[1:]
    return f"#^{name}"
