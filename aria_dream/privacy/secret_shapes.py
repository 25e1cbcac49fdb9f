"""What a secret looks like, and what only looks like one: digests, UUIDs, slugs. Pure."""

from __future__ import annotations

import math
import re
from collections import Counter
from itertools import pairwise
from typing import Final

from aria_dream.privacy.secret_words import HASH

ADDRESS: Final = re.compile(r"\b(?:https?://|www\.|doi:\s?|10\.\d{4,9}/)[^\s<>\"'`]+", re.IGNORECASE)
"""Web addresses and DOIs: long, and full of numbers that are nobody's."""
UUID: Final = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}", re.IGNORECASE)
_HEX: Final = re.compile(r"[0-9a-fA-F]+")
_DIGESTS: Final = frozenset({32, 40, 48, 56, 64, 96, 128})
"""Lengths of digests in hexadecimal digits, from MD5 to SHA-512."""
_INTEGRITY: Final = re.compile(r"(?:sha\d{1,3}|md5)[-:]", re.IGNORECASE)
_GROUPS: Final = re.compile(r"(?:[A-Za-z0-9]{4,6}-){3,12}[A-Za-z0-9]{4,6}")
"""As a program prints a key for a person to type."""
_WORD: Final = re.compile(
    r"[A-Za-z]?[a-z]*\d{0,4}|[A-Z]+|\d{1,8}|[A-Za-z0-9]{1,5}|[a-z]*(?:[A-Z]+[a-z]{2,})+[A-Z]{0,4}\d{0,4}"
)
"""A part of a slug, a file name or an identifier, as people write them."""


def looks_made(value: str) -> bool:
    """Whether a word is none of a language: digits in it, a mark or a capital inside."""
    value = value.strip("\"'`*_.,;:!?()")
    if len(value) < 4 or re.fullmatch(r"\d{4}-\d\d-\d\d.*|[\d.,]+\s?%?|\[\[.*|.*[()\[\]{}].*|https?:.*", value):
        return value.isdigit() and 4 <= len(value) <= 12
    return is_mixed(value) or bool(re.search(r"[!#$%&*@+^~?=]|[^\W\d_][a-z]+[A-Z]", value) and not value.isupper())


def is_hash(text: str) -> bool:
    """Whether it has the shape of what a content or a thing is called by: a digest, a commit, a UUID."""
    return bool(UUID.fullmatch(text) or (len(text) in _DIGESTS and _HEX.fullmatch(text)) or _INTEGRITY.match(text))


def is_mixed(value: str) -> bool:
    return bool(re.search(r"\d", value) and re.search(r"[^\W\d_]", value))


def is_random(value: str, name: str) -> bool:
    """Whether the value of a name is drawn by lot and no hash, id or version by its name or shape."""
    if UUID.fullmatch(value) or re.search(HASH, name, re.IGNORECASE) or re.match(r"sha\d|md5", value):
        return False
    if _HEX.fullmatch(value) and value in (value.lower(), value.upper()):
        return len(value) >= 24 and is_disordered(value)
    groups = value.split("-") if _GROUPS.fullmatch(value) else []
    if sum(map(is_mixed, groups)) >= 2:
        return True
    if re.search(r"\d", value):
        return is_disordered(value, bits=3.2)
    turns = sum(one.islower() != other.islower() for one, other in pairwise(value))
    return value.isalpha() and len(value) >= 20 and turns / len(value) > 0.35


def is_disordered(text: str, bits: float = 3.5) -> bool:
    """True for what looks drawn by lot: letters and digits mixed, and more than `bits` a character (hex: 3).

    False for words and numbers in a row, however they are joined: slugs, paths, identifiers.
    """
    if not (re.search(r"\d", text) and re.search(r"[A-Za-z]", text)):
        return False
    if all(map(_WORD.fullmatch, re.split(r"[-_/+=~.]", text))):
        return False
    entropy = -sum(count / len(text) * math.log2(count / len(text)) for count in Counter(text).values())
    return entropy > (3.0 if _HEX.fullmatch(text) else bits)
