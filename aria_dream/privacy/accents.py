"""Letters without their accents, as people type them whose keyboard lacks them. Pure."""

from __future__ import annotations

import unicodedata

UMLAUTS = str.maketrans({
    "ä": "ae", "ö": "oe", "ü": "ue", "å": "aa", "ø": "oe", "æ": "ae",
    "Ä": "Ae", "Ö": "Oe", "Ü": "Ue", "Å": "Aa", "Ø": "Oe", "Æ": "Ae",
})  # fmt: skip
"""How umlauts are spelled out."""
_NO_ACCENTS = str.maketrans({
    "ø": "o", "ł": "l", "đ": "d", "ı": "i", "æ": "ae", "œ": "oe", "Ø": "O", "Ł": "L", "Đ": "D", "Æ": "Ae", "Œ": "Oe",
})  # fmt: skip


def without_accents(text: str) -> str:
    """`text` without the marks above and below Latin, Greek and Cyrillic letters."""
    if text.isascii():
        return text
    apart = unicodedata.normalize("NFD", text.translate(_NO_ACCENTS))
    bare = (one for one, before in zip(apart, " " + apart, strict=False) if not _is_accent(one, before))
    return unicodedata.normalize("NFC", "".join(bare))


def _is_accent(character: str, before: str) -> bool:
    """Marks of other scripts are letters of their own."""
    return "\u0300" <= character <= "\u036f" and before < "\u0530"
