"""Plans for changing files, made from a known content and pure. `effects/files` alone carries them out."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import TYPE_CHECKING, NewType

if TYPE_CHECKING:
    from aria_dream.vault.note import NotePath

ContentHash = NewType("ContentHash", str)
"""SHA-256 of a file's bytes, lower-case hex."""

ABSENT = ContentHash("")
"""The expected hash of a file that must not exist yet."""


def content_hash(content: bytes) -> ContentHash:
    """SHA-256 of `content` as 64 lower-case hex digits."""
    return ContentHash(hashlib.sha256(content).hexdigest())


@dataclass(frozen=True, slots=True, kw_only=True)
class WritePlan:
    """One file that is to have exactly this content, provided it still has the content the plan was made from."""

    path: NotePath
    expected_hash: ContentHash
    """Hash of the bytes the plan was made from; `ABSENT` where the file is to be created."""
    content: bytes | None
    """The whole new content; None removes the file."""


@dataclass(frozen=True, slots=True)
class Refusal:
    """Why there is no plan. A value, not an error: the caller says it or tries elsewhere."""

    reason: str
    """One sentence for the writer."""
