"""Plans for changing files, made from a known content and pure. `effects/files` alone carries them out."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import NewType

ContentHash = NewType("ContentHash", str)
"""SHA-256 of a file's bytes, lower-case hex."""

ABSENT = ContentHash("")
"""The expected hash of a file that must not exist yet."""


def content_hash(content: bytes) -> ContentHash:
    """SHA-256 of `content` as 64 lower-case hex digits."""
    return ContentHash(hashlib.sha256(content).hexdigest())
