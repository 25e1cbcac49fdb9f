"""A note's bytes as text."""

from __future__ import annotations


def decode_note(data: bytes) -> str:
    """The text of a note's bytes; `text.encode("utf-8", "surrogateescape")` gives them back, whatever they are."""
    return data.decode("utf-8", "surrogateescape")
