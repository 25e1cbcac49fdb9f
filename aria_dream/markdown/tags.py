"""Tags: `#word` in a body, and the texts of the property `tags`."""

from __future__ import annotations

import re
from typing import Final

_NOT_IN_TAG = r"\s'!\"#$%&()*+,.:;<=>?@^`{|}~\[\]\\\u2000-\u206f\u2e00-\u2e7f"

TAG: Final = re.compile(rf"#(?<![^\s]#)([^{_NOT_IN_TAG}]+)")
"""A tag in a body, at a line's start or after white space. `is_tag` has the last word."""

_WHOLE = re.compile(rf"[^{_NOT_IN_TAG}]+")


def is_tag(name: str) -> bool:
    """Whether `name` (without `#`) may be a tag: none of the forbidden characters, and at least one non-digit."""
    if name.isascii() and name.isalpha():
        return True
    return _WHOLE.fullmatch(name) is not None and not name.isdecimal() and name.strip("/") != ""


def property_tags(text: str) -> list[str]:
    """The tag names in one text of the property `tags`: a leading `#` dropped, commas separate."""
    if "," not in text:
        return [text.strip().removeprefix("#")]
    return [name.strip().removeprefix("#") for name in text.split(",")]
