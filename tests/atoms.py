"""Atoms for tests, as the reading of a vault makes them."""

from __future__ import annotations

from hashlib import sha256

from aria_dream.consolidate.passages import Passage


def passage(path: str, text: str, headings: tuple[str, ...] = (), *, start: int = 0) -> Passage:
    """The atom that `text` is: a whole note, or the section under `headings` that begins at `start`."""
    words = " ".join(text.lower().split())
    return Passage(
        id=sha256("\0".join((path, *headings)).encode()).hexdigest()[:12],
        path=path,
        headings=headings,
        start=start,
        end=start + len(text),
        text=text,
        words=words,
        fingerprint=sha256(words.encode()).hexdigest(),
    )
