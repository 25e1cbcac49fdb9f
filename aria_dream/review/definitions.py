"""Reference definitions, `[g]: <Grafting 1.md> "title"`: links that stand apart from the text that uses them."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from aria_dream.markdown.link import Link, split_destination, unescape_entities
from aria_dream.markdown.note import parse_note

if TYPE_CHECKING:
    from collections.abc import Iterator

    from aria_dream.markdown.note import Note

_DEFINITION: Final = re.compile(
    r"^(?:[ ]{0,3}>[ ]?)*[ ]{0,3}\[(?P<label>(?!\^)(?:[^\[\]\\\r\n]|\\.){1,200})\]:[ \t]*(?:\r?\n[ \t]*)?"
    r"(?P<goal><(?:[^<>\\\r\n]|\\.){0,500}>|[^\s<]\S{0,500})"
    r"(?=(?P<title>[ \t]+(?:\"[^\"\r\n]*\"|'[^'\r\n]*'|\([^()\r\n]*\)))?[ \t\r]*$)",
    re.MULTILINE,
)
_USE: Final = re.compile(
    r"(?P<text>\[(?P<inside>(?:[^\[\]\\]|\\.|\[[^\[\]]*\]){1,500})\])(?:\[(?P<label>(?:[^\[\]\\]|\\.){0,200})\])?(?![\[(:])"
)
_ESCAPE: Final = re.compile(r"\\([!-/:-@\[-`{-~])")
_ENTITY: Final = re.compile(r"&(?:#[0-9]{1,7}|#[xX][0-9a-fA-F]{1,6}|[A-Za-z][A-Za-z0-9]*);")


@dataclass(frozen=True, slots=True, kw_only=True)
class Definition:
    """One definition that leads to something in the vault."""

    label: str
    """As labels are compared."""
    written: str
    """Destination and title, as they stand in round brackets, too."""
    link: Link
    """As if it were the inline link `[x](destination)`; its span is that of the destination."""


def find_definitions(note: Note) -> tuple[Definition, ...]:
    """The definitions of a note that lead into the vault, in order; of one label the first counts, as in Markdown."""
    found: dict[str, Definition | None] = {}
    for one in _DEFINITION.finditer(note.text, note.body_start):
        if any(span.start <= one.start("label") < span.end for span in note.opaque):
            continue
        goal = one["goal"]
        bare = goal[1:-1] if goal.startswith("<") else goal
        read = split_destination(_ENTITY.sub(lambda entity: unescape_entities(entity[0]), _ESCAPE.sub(r"\1", bare)))
        link = read and Link(
            raw=f"[x]({goal})", start=one.start("goal"), end=one.end("goal"), path=read[0], subpath=read[1],
            display="x", embed=False, markdown=True, in_frontmatter=False,
        )  # fmt: skip
        label = _folded(one["label"])
        made = Definition(label=label, written=goal + (one["title"] or ""), link=link) if link else None
        found.setdefault(label, made)
    return tuple(one for one in found.values() if one is not None)


def reference_links(note: Note) -> Iterator[tuple[int, int, Link]]:
    """Start and end of each text that is a link by a definition, and the definition's link."""
    defined = {one.label: one.link for one in find_definitions(note)}
    for start, end, _, label in _uses(note, defined):
        yield start, end, defined[label]


def with_inline_links(text: str) -> str:
    """A note's text in which each use of a definition is an inline link: it means the same wherever it is put."""
    note = parse_note(text)
    written = {one.label: one.written for one in find_definitions(note)}
    pieces, at = [], 0
    for start, end, shown, label in _uses(note, written):
        pieces += [note.text[at:start], f"{shown}({written[label]})"]
        at = end
    return "".join((*pieces, note.text[at:]))


def _uses(note: Note, labels: dict[str, Link] | dict[str, str]) -> Iterator[tuple[int, int, str, str]]:
    if not labels:
        return
    definitions = [one.span() for one in _DEFINITION.finditer(note.text, note.body_start)]
    hidden = [*((span.start, span.end) for span in note.opaque), *definitions]
    hidden += [(link.start, link.end) for link in note.links]
    for one in _USE.finditer(note.text, note.body_start):
        label = _folded(one["label"] or one["inside"])
        if label in labels and not any(start <= one.start() < end for start, end in hidden):
            yield one.start(), one.end(), one["text"], label


def _folded(label: str) -> str:
    return " ".join(label.split()).casefold()
