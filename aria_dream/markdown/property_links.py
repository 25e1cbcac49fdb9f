"""Links in the properties of a note: a text value that is one link and nothing else."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Final, NamedTuple

from aria_dream.markdown.link import WIKILINK, Link, find_label_end, split_destination, split_wikilink
from aria_dream.markdown.properties import leaf_texts
from aria_dream.markdown.zones import find_zones

if TYPE_CHECKING:
    from collections.abc import Iterator

MAX_MISSES: Final = 20
"""Values that are not found as they stand cost a search each; after so many no more are looked for."""


class PropertyLink(NamedTuple):
    """A link that is the whole text of a property's value."""

    value: str
    path: str
    subpath: str
    display: str | None
    embed: bool
    markdown: bool


def property_links(properties: dict[str, object], source: str) -> Iterator[PropertyLink]:
    """The links of the properties in their order, each once for each value that is one."""
    if "[[" not in source and "](" not in source and "\\" not in source:
        return  # the brackets of a link stand together in the YAML too, unless an escape writes them
    for text in leaf_texts(properties):
        value = text.strip()
        if value.startswith(("[", "![")):
            link = _whole_link(value)
            if link:
                yield link


def _whole_link(value: str) -> PropertyLink | None:
    embed = value.startswith("!")
    match = WIKILINK.fullmatch(value, 1 if embed else 0)
    if match:
        if not match[1] or match[1].isspace():
            return None
        path, subpath, display = split_wikilink(match[1])
        return PropertyLink(value, path, subpath, display, embed, markdown=False) if path or subpath else None
    if not value.endswith(")") or "](" not in value or "\n" in value:
        return None
    links = find_zones(value).links
    if len(links) != 1 or links[0].start != 0 or links[0].end != len(value):
        return None
    label_end, destination = find_label_end(value, links[0].destination)
    target = split_destination(destination)
    if target is None:
        return None
    return PropertyLink(value, *target, value[1 + embed : max(label_end, 0)].strip(), embed, markdown=True)


def find_property_links(properties: dict[str, object], source: str, offset: int) -> Iterator[Link]:
    """The same with their places in the note, whose frontmatter `source` starts at `offset`.

    A value that YAML escapes so that its text is not found as it stands has `raw == ""` at the frontmatter's start.
    """
    at = misses = 0
    for link in property_links(properties, source):
        start, end = _place(source, link.value, at) if misses < MAX_MISSES else (0, 0)
        if end > start:
            at = end
        else:
            misses += 1
        yield Link(
            raw=source[start:end],
            start=start + offset,
            end=end + offset,
            path=link.path,
            subpath=link.subpath,
            display=link.display,
            embed=link.embed,
            markdown=link.markdown,
            in_frontmatter=True,
        )


def _place(source: str, value: str, at: int) -> tuple[int, int]:
    """Where a value is written, from `at` on, else from the start (the values of an alias are written once)."""
    patterns = [re.escape(text) for text in dict.fromkeys((value, value.replace("'", "''"), json.dumps(value)[1:-1]))]
    patterns.append(r"\s+".join(re.escape(word) for word in value.split()))
    pattern = re.compile("|".join(f"(?:{pattern})" for pattern in patterns))
    for begin in dict.fromkeys((at, 0)):
        for match in pattern.finditer(source, begin):
            if _is_value(source, *match.span()):
                return match.span()
    return 0, 0


def _is_value(source: str, start: int, end: int) -> bool:
    """Whether what stands there is a value, and not part of a key, a comment or a longer text."""
    line = source[source.rfind("\n", 0, start) + 1 : start]
    if line.lstrip().startswith("#"):
        return False
    before = source[start - 1 : start]
    after = source[end : end + 1]
    if before in {'"', "'"}:
        return after == before and not source[end + 1 : end + 3].lstrip(" \t").startswith(":")
    return not line.strip()
