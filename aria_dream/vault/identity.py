"""What a note is known by when its name has changed: its text without the targets of its links.

A rename leaves the rest of a note alone: Obsidian carries link targets and nothing else. Where a note was edited too,
most of its sentences still tell.
"""

from __future__ import annotations

import base64
import re
import zlib
from dataclasses import dataclass, field
from functools import lru_cache
from hashlib import sha256
from types import MappingProxyType
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

Print = tuple[str, ...]
"""Hash of the whole text, then of some of its sentences (16 hex digits each). Empty: known by its name alone."""
_TARGETS: Final = re.compile(r'(?<=\[\[)[^\[\]|#\n]*|(?<=\]\()[^()#\n]*|"file"[ \t]*:[ \t]*"[^"\n]*"')
_SENTENCES: Final = re.compile(r"\r\n|[\r\n]|(?<=[.!?。])\s+")
_KEPT = 24
ALIKE: Final = 0.5
"""A note with so many of the known sentences is taken for the same one."""


def print_of(text: str) -> Print:
    """What the note that reads `text` is known by."""
    blind = _TARGETS.sub("", text)
    return (_short(blind), *sorted(_sentences(blind))[:_KEPT])


def likeness(known: Print, text: str) -> float:
    """The share of the known sentences that `text` holds, 0 to 1; 0 where none is known."""
    wanted = known[1:]
    return len(_sentences(_TARGETS.sub("", text)).intersection(wanted)) / len(wanted) if wanted else 0.0


def is_alike(known: Print, text: str) -> bool:
    """Whether `text` holds at least half of the known sentences."""
    return likeness(known, text) >= ALIKE


def _sentences(blind: str) -> set[str]:
    return {_short(part.strip()) for part in _SENTENCES.split(blind) if part.strip(" \t-#*>")}


def _short(text: str) -> str:
    return sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:16]


@dataclass(frozen=True, slots=True, kw_only=True)
class Names:
    """The files that the links of a change meant as it was made, and which files there were."""

    known: Mapping[str, Print] = field(default_factory=lambda: MappingProxyType({}))
    """By vault path."""
    there: str = ""
    """CRC-32 of every vault path, sorted, packed and in base64; `""` where it is not known. A path in 40,000 notes is
    taken for one of them wrongly once in a hundred thousand times; the note is then not followed, and told."""

    def had(self, path: str) -> bool | None:
        """Whether there was such a file; None where it is not known."""
        return _number(path) in _unpacked(self.there) if self.there else None


def names_of(known: Mapping[str, Print], files: Iterable[str]) -> Names:
    """The `Names` of a vault that holds `files`."""
    packed = b"".join(number.to_bytes(4, "big") for number in sorted({_number(path) for path in files}))
    return Names(known=known, there=base64.b64encode(zlib.compress(packed)).decode("ascii"))


def _number(path: str) -> int:
    return zlib.crc32(path.encode("utf-8", "surrogatepass"))


@lru_cache(maxsize=2)
def _unpacked(there: str) -> frozenset[int]:
    packed = zlib.decompress(base64.b64decode(there))
    return frozenset(int.from_bytes(packed[at : at + 4], "big") for at in range(0, len(packed), 4))
