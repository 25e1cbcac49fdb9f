"""The properties of a note: where its frontmatter lies and what it says. Total: human text never raises.

YAML is read as the 1.2 core schema, as Obsidian reads it, by `yaml12`; a guard in front of it refuses what would
exhaust memory or the stack. Where a tag or alias is no text for YAML (`000`, `1.10`), PyYAML's raw scalars say how
it was written.
"""

from __future__ import annotations

import re
from itertools import islice
from typing import TYPE_CHECKING, Final, NamedTuple

from yaml12 import Yaml, parse_yaml

from aria_dream.errors import Problem
from aria_dream.markdown.body import is_tag, property_tags
from aria_dream.markdown.yaml_text import yaml_refusal

if TYPE_CHECKING:
    from collections.abc import Iterator

MAX_PROBLEMS: Final = 20
"""Most problems of one kind that are told of a note; what makes more of them is one mistake."""

SECOND_BLOCK: Final = "a second block between `---` follows the properties; only the first one is read"

_BRACES = re.compile(r"^([ \t]*(?:[^\s#'\"\-\[{][^:\n]*:|-)[ \t]+)(\{\{.*\}\}[^\r\n]*?)([ \t]*\r?)$", re.MULTILINE)
_KEY_TAB = re.compile(r"^([ ]*[^\s#'\"\[{][^:\n]*:)\t+", re.MULTILINE)
_KEY = re.compile(r"^(?:\"([^\"\n]*)\"|'([^'\n]*)'|([^\s#\-?\"'\[\]{}%,&*!|>@`][^:\n]*?))[ \t]*:(?=\s|$)", re.MULTILINE)
_SAID = re.compile(r"(?:YAML parse error: )?(.*?)(?: at byte \d+)?(?: line (\d+) column \d+)?$", re.DOTALL)
_INFINITE: Final = (float("inf"), float("-inf"))
_COMPOUND: Final = (list, dict, Yaml)


class Frontmatter(NamedTuple):
    """Where the frontmatter of a text lies, in characters."""

    start: int
    """First character of the YAML."""
    end: int
    """First character of the closing `---`."""
    body_start: int
    """First character behind the closing line."""


def find_frontmatter(text: str) -> Frontmatter | None:
    """The frontmatter of a note, which starts at its first character (a BOM aside) and is closed; else None."""
    bom = 1 if text.startswith("\ufeff") else 0
    if not text.startswith("---", bom):
        return None
    line_end = text.find("\n", bom)
    if line_end < 0 or text[bom + 3 : line_end].strip(" \t\r"):
        return None
    at = line_end
    while True:
        at = text.find("\n---", at)
        if at < 0:
            return None
        end = text.find("\n", at + 1)
        if not text[at + 4 : end if end >= 0 else len(text)].strip(" \t\r"):
            return Frontmatter(line_end + 1, at + 1, end + 1 if end >= 0 else len(text))
        at += 1


def parse_properties(source: str) -> tuple[dict[str, object], tuple[Problem, ...]]:
    """`(properties, problems)` of the text between the two `---` lines; problems count lines from the note's first.

    Unreadable YAML gives no properties and one problem. A single value that YAML reads but a note cannot hold (a tag
    like `!!python/…`, a key that is no text) is left out with a problem of its own. A template's bare `{{date}}`, which
    is no YAML, is read as text, and told.
    """
    if not source or source.isspace():
        return {}, ()
    clean = source if source.isascii() and "\0" not in source else _encodable(source)
    refused = yaml_refusal(clean)
    if refused:
        return {}, (Problem("", 2, f"the properties are not read: {refused}"),)
    placeholders: tuple[Problem, ...] = ()
    if "{{" in clean:
        placeholders = tuple(islice(_placeholders(clean), MAX_PROBLEMS))
        clean = _BRACES.sub(_quote, clean)
    try:
        value = _parsed(clean)
    except ValueError as error:
        return {}, (_unreadable(str(error)),)
    if value is None:
        return {}, ()
    if value.__class__ is not dict:
        return {}, (Problem("", 2, "the properties are not read: they are no list of names and values"),)
    properties, problems = _checked(value, clean)
    return properties, placeholders + problems


def _parsed(source: str) -> object:
    try:
        return parse_yaml(source)
    except ValueError:
        mended = _KEY_TAB.sub(r"\1 ", source)  # yaml12 refuses a tab after a colon, which YAML allows
        if mended == source:
            raise
        return parse_yaml(mended)


def _encodable(source: str) -> str:
    """The same length without lone surrogates (bytes that were no UTF-8) and NUL, which ends a text for `yaml12`."""
    return source.replace("\0", "\ufffd").encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")


def _placeholders(source: str) -> Iterator[Problem]:
    line, at = 2, 0
    for match in _BRACES.finditer(source):
        line, at = line + source.count("\n", at, match.start()), match.start()
        yield Problem("", line, "a template's placeholder without quotes is no YAML; it is read as text")


def _quote(match: re.Match[str]) -> str:
    """A bare `{{date}}` is a template's placeholder, which YAML would take for a mapping as a key."""
    return f"{match[1]}'" + match[2].replace("'", "''") + f"'{match[3]}"


def _unreadable(error: str) -> Problem:
    said = _SAID.match(error)
    reason, line = (said[1], said[2]) if said else (error, None)
    return Problem("", int(line) + 1 if line else 2, f"the properties are not read: {reason[:200]}")


def _checked(value: dict[object, object], source: str) -> tuple[dict[str, object], tuple[Problem, ...]]:
    properties: dict[str, object] = {}
    problems: list[Problem] = []
    for key, item in value.items():
        if key.__class__ is str or isinstance(key, (bool, int, float)):
            name = str(key)
        else:
            problems.append(Problem("", 2, "a property whose name is not text is left out"))
            continue
        if item.__class__ in _COMPOUND and _has_tag(item):
            if len(problems) >= MAX_PROBLEMS:
                continue
            problems.append(
                Problem("", _line_of(source, name), "a property with a YAML tag or a key that is not text is left out")
            )
        elif item.__class__ is float and item in _INFINITE and not _says_infinite(source, name):
            problems.append(Problem("", _line_of(source, name), "a property whose number is too large is left out"))
        else:
            properties[name] = item
    if source.count(":") > len(value) and source[0] not in "{[":
        problems += _repeated(source, len(value))
    return properties, tuple(problems)


def _says_infinite(source: str, name: str) -> bool:
    return ".inf" in source.split("\n")[_line_of(source, name) - 2].lower()


def _has_tag(value: object) -> bool:
    cls = value.__class__
    if cls is list:
        return any(_has_tag(item) for item in value if item.__class__ is not str)  # type: ignore[attr-defined]  # a list
    if cls is dict:
        return any(
            key.__class__ is Yaml or _has_tag(item)
            for key, item in value.items()  # type: ignore[attr-defined]  # a dict
        )
    return cls is Yaml


def _line_of(source: str, name: str) -> int:
    for match in _KEY.finditer(source):
        if (match[1] or match[2] or match[3]) == name:
            return source.count("\n", 0, match.start()) + 2
    return 2


def _repeated(source: str, distinct: int) -> Iterator[Problem]:
    keys = list(_KEY.finditer(source))
    if len(keys) <= distinct:
        return
    seen: set[str] = set()
    told = 0
    for match in keys:
        name = match[1] or match[2] or match[3] or ""
        if name in seen:
            told += 1
            if told > MAX_PROBLEMS:
                return
            line = source.count("\n", 0, match.start()) + 2
            yield Problem("", line, f"the property {name[:60]!r} is written twice; the last one counts")
        seen.add(name)


# --- tags, aliases, leaf texts ---------------------------------------------------------------------------------------


def named(properties: dict[str, object], name: str) -> object:
    """The value of a property, its name compared without case; None where there is none. The last one counts."""
    if name in properties:
        return properties[name]
    found = None
    for key, value in properties.items():
        if len(key) == len(name) and key.lower() == name:
            found = value
    return found


def text_list(properties: dict[str, object], name: str, source: str) -> tuple[list[str], list[Problem]]:
    """`(texts, problems)` of a property that is a list of texts, or one text; each as it is written in `source`.

    Null and nested items are skipped, with a problem where they stand in a list.
    """
    value = named(properties, name)
    if value is None:
        return [], []
    if value.__class__ is str:
        return [str(value)], []
    items = value if isinstance(value, list) else [value]
    if all(item.__class__ is str for item in items):
        return [str(item) for item in items], []
    written = _as_written(source, name, len(items))
    texts: list[str] = []
    problems: list[Problem] = []
    for index, item in enumerate(items):
        if isinstance(item, str):
            texts.append(item)
        elif isinstance(item, (bool, int, float)):
            texts.append(written[index] if written else str(item))
        elif len(problems) < MAX_PROBLEMS:
            line = _line_of(source, name)
            problems.append(Problem("", line, f"an item of {name!r} is empty or not text and is skipped"))
    return texts, problems


def read_names(properties: dict[str, object], source: str) -> tuple[list[str], list[str], list[Problem]]:
    """`(tags, aliases, problems)` of the properties, tags without `#`, each as it is written in `source`."""
    if not properties:
        return [], [], []
    written, problems = text_list(properties, "tags", source)
    tags: list[str] = []
    for text in written:
        for name in property_tags(text):
            if is_tag(name):
                tags.append(name)
            elif name and len(problems) < MAX_PROBLEMS:
                line = _line_of(source, "tags")
                problems.append(Problem("", line, f"{name[:60]!r} can be no tag and is skipped"))
    aliases, more = text_list(properties, "aliases", source)
    return tags, [alias for alias in map(str.strip, aliases) if alias], problems + more


def _as_written(source: str, name: str, count: int) -> list[str]:
    """The raw scalars of a property, or `[]` where PyYAML reads something else than `yaml12` did."""
    import yaml  # few notes need it, and it costs 10 ms

    raw_loader = getattr(yaml, "CBaseLoader", yaml.BaseLoader)
    try:
        loaded = yaml.load(_encodable(source), Loader=raw_loader)  # noqa: S506  # the base loader makes only str, list, dict
    except (yaml.YAMLError, RecursionError, ValueError):
        return []
    if not isinstance(loaded, dict):
        return []
    value = named({str(key): item for key, item in loaded.items()}, name)
    items = value if isinstance(value, list) else [value]
    if len(items) != count:
        return []
    return [item if isinstance(item, str) else "" for item in items]


def leaf_texts(value: object) -> Iterator[str]:
    """Every text in a property's value, in order, keys left out."""
    if value.__class__ is str:
        yield value
    elif isinstance(value, list):
        for item in value:
            yield from leaf_texts(item)
    elif isinstance(value, dict):
        for item in value.values():
            yield from leaf_texts(item)


def render_property(value: object, limit: int = 200) -> str:
    """A property's value for a person, a log or a prompt: one line of at most `limit` characters, however big it is."""
    pieces: list[str] = []
    room = limit
    for piece in _rendered(value):
        pieces.append(piece[: room + 1])
        room -= len(piece)
        if room < 0:
            return "".join(pieces)[: max(0, limit - 1)] + "…"
    return "".join(pieces)


def _rendered(value: object) -> Iterator[str]:
    if isinstance(value, list):
        yield "["
        for index, item in enumerate(value):
            yield ", " if index else ""
            yield from _rendered(item)
        yield "]"
    elif isinstance(value, dict):
        yield "{"
        for index, (key, item) in enumerate(value.items()):
            yield f"{', ' if index else ''}{key}: "
            yield from _rendered(item)
        yield "}"
    elif value is None:
        yield ""
    elif isinstance(value, bool):
        yield "true" if value else "false"
    else:
        yield " ".join(str(value).split())
