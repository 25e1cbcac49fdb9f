"""Links as a note's text holds them: wikilinks, embeds and Markdown links, with exact source spans.

Source: the link rules of Obsidian as collected in the project's conformance cases (`tests/conformance`).
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Link:
    """One occurrence of a link to something in the vault. External links (`scheme:`) are never `Link`s."""

    raw: str
    """The link as written, brackets and a leading `!` included. For a canvas file card: the card's path."""
    start: int
    """Offset of `raw` in `Note.text`, in characters."""
    end: int
    """Offset behind `raw`: `note.text[link.start:link.end] == link.raw`."""
    path: str
    """What is looked up: trimmed, percent-decoded for Markdown links, NFC, `""` for a link into the same note."""
    subpath: str
    """`"#Heading"`, `"#^block"`, `"#page=3"` or `""`; decoded like `path`."""
    display: str | None
    """Text after `|`, or the label of a Markdown link, stripped; None when there is no `|`."""
    embed: bool
    """Written with a leading `!`."""
    markdown: bool
    """`[text](dest)` rather than `[[dest]]`."""
    in_frontmatter: bool
