"""The words of each language that say how and not what: one data file a language, read once, when it is first asked
for. Beside them, words of several languages on which it turns whether two sentences say the same (`guards`,
`opposites`). Nothing is imported but the standard library."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Final

LANGUAGES: Final = ("de", "en", "es", "fr", "it", "nl", "pl", "pt", "ru")
"""Codes (ISO 639-1) of the languages that have a file `CODE.toml` in this package."""


def words_in(*rows: str) -> frozenset[str]:
    """The words of some rows, between white space."""
    return frozenset(word for row in rows for word in row.split())


@dataclass(frozen=True, slots=True, kw_only=True)
class LanguageWords:
    """The words of one language, in lower case."""

    code: str
    name: str
    """In English."""
    function: frozenset[str]
    """Function words of four letters and more, as written."""
    short: frozenset[str]
    """Shorter ones, without accents."""
    homographs: frozenset[str]
    """Those of both that are other words in another language, and so do not tell which one a text is written in."""


@cache
def language_words(code: str) -> LanguageWords:
    """The words of the language. Raises KeyError for one without a file, ValueError where its file is damaged."""
    if code not in LANGUAGES:
        raise KeyError(code)
    told = tomllib.loads(files(__name__).joinpath(f"{code}.toml").read_text(encoding="utf-8"))
    unknown = told.keys() ^ {"name", "function", "short", "homographs"}
    if unknown or not all(isinstance(value, str) for value in told.values()):
        raise ValueError(f"words/{code}.toml is damaged: {', '.join(sorted(unknown)) or 'every value must be a text'}")
    lists = {key: frozenset(value.split()) for key, value in told.items() if key != "name"}
    return LanguageWords(code=code, name=told["name"], **lists)
