"""Which note a person means who types a name at a prompt. Pure."""

from __future__ import annotations

import unicodedata
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable


@dataclass(frozen=True, slots=True)
class NotOne:
    """No file, or several, that the name could mean. A value: the caller decides what to say or raise."""

    name: str
    candidates: tuple[str, ...]
    """Vault paths of the several; empty where there is none."""

    def __str__(self) -> str:
        """One sentence for the writer."""
        if not self.candidates:
            return f"there is no note {self.name!r} in this vault"
        shown = ", ".join(self.candidates[:3]) + (" …" if len(self.candidates) > 3 else "")
        return f"{self.name!r} could be any of {len(self.candidates)} notes ({shown}); name its path"


def find_note(name: str, paths: Iterable[str]) -> str | NotOne:
    """The one of `paths` that `name` means: a path, a path without its ending, the end of a path, or a bare name.

    Case and Unicode form do not matter, unless they alone tell two files apart. The first of these kinds that fits any
    file decides; where it fits several, the answer is `NotOne`.
    """
    wanted = name.strip().removeprefix("./").strip("/")
    everything = list(paths)
    if not wanted:
        return NotOne(name, ())
    kinds: tuple[Callable[[str, str], bool], ...] = (
        lambda path, text: path == text,
        lambda path, text: _stem(path) == text,
        lambda path, text: path.endswith("/" + text) or _stem(path).endswith("/" + text),
    )
    for fits in kinds:
        for spelling in (_composed, _folded):
            text = spelling(wanted)
            found = [path for path in everything if fits(spelling(path), text)]
            if len(found) == 1:
                return found[0]
            notes = [path for path in found if path[-3:].lower() == ".md"]
            if len(notes) == 1:  # `Plan` is Plan.md rather than Plan.canvas
                return notes[0]
            if found:
                return NotOne(name, tuple(sorted(found)))
    return NotOne(name, ())


def _stem(path: str) -> str:
    lowered = path[-7:].lower()
    if lowered.endswith(".md"):
        return path[:-3]
    return path[:-7] if lowered == ".canvas" else path


def _composed(text: str) -> str:
    return unicodedata.normalize("NFC", text)


def _folded(text: str) -> str:
    return unicodedata.normalize("NFC", _composed(text).lower())
