"""The unit of a consolidation: a note, or a section of a long note."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Atom:
    """One passage of the vault, with a name that survives edits elsewhere in its note."""

    id: str
    """Of its note's path and its headings, never of its place in the text."""
    path: str
    """Vault path of its note."""
    headings: tuple[str, ...]
    """The headings that lead to it, outermost first; empty for a whole note."""
    start: int
    """Offsets in characters of the note's text: from its heading line (or the body's beginning) ..."""
    end: int
    """... to behind its last character."""
    text: str
    """Exactly as written."""
    words: str
    """Normalised: what is compared and fingerprinted."""
    fingerprint: str
    """Hex SHA-256 of `words`; equal where only layout differs."""

    @property
    def title(self) -> str:
        """As a sentence names it: the note's title, and the heading behind ` › ` for a section."""
        name = self.path.rpartition("/")[2].removesuffix(".md")
        return " › ".join((name, *self.headings[-1:]))

    @property
    def is_note(self) -> bool:
        """Whether it is a whole note."""
        return not self.headings
