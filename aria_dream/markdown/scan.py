"""What the index keeps of a note, read as cheaply as it can be: the same links, tags and aliases as `parse_note`."""

from __future__ import annotations

import re
from itertools import takewhile
from typing import TYPE_CHECKING, Final, NamedTuple

from aria_dream.errors import Problem
from aria_dream.markdown.body import WORDS_COUNTED, count_prose, find_tags, tags_outside
from aria_dream.markdown.link import ScannedLink, find_label_end, split_destination, split_target
from aria_dream.markdown.properties import SECOND_BLOCK, find_frontmatter, named, parse_properties, read_names
from aria_dream.markdown.property_links import property_links
from aria_dream.markdown.rendered import read_rendered
from aria_dream.markdown.simple import read_simple
from aria_dream.markdown.zones import MarkdownLink, Wikilink, find_candidates, read_body

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence


_TRUE: Final = frozenset({"true", "yes", "on"})
_DREAM_LINE: Final = re.compile(r"^[ \t]*[\"']?dream[\"']?[ \t]*:[ \t]*([^\n#]*)", re.IGNORECASE | re.MULTILINE)

_new: Final = tuple.__new__
"""Makes a NamedTuple in a third of the time its own constructor takes."""


class NoteScan(NamedTuple):
    """What `scan_note` makes of a text."""

    links: tuple[ScannedLink, ...]
    """In source order, frontmatter first; one for each of `Note.links`."""
    tags: tuple[str, ...]
    """As `Note.tags`."""
    aliases: tuple[str, ...]
    words: int
    """Words of prose, counted up to `body.WORDS_COUNTED`."""
    dream: bool
    """False where the property `dream` is present and not true, yes or on (any case)."""
    marker: str
    """Value of the property `aria-dream`, `""` where there is none."""
    plugin: str
    """`"excalidraw"`, `"kanban"`, … where a property `…-plugin` says whose the text is; `""` otherwise."""
    problems: tuple[Problem, ...]
    """As `Note.problems`."""
    body_start: int
    """As `Note.body_start`."""


def scan_note(text: str) -> NoteScan:
    """The facts of a note that a graph is made of. Total, like `parse_note`, with which it agrees."""
    frontmatter = find_frontmatter(text)
    links: list[ScannedLink] = []
    tags: list[str] = []
    aliases: list[str] = []
    problems: list[Problem] = []
    dream, marker, plugin = True, "", ""
    body_start = frontmatter.body_start if frontmatter else int(text.startswith("\ufeff"))
    if frontmatter is None:
        body = text[body_start:]
        if body.startswith("---"):  # never closed, so no properties for the app; what it forbids is forbidden
            dream = _permits("\n".join(takewhile(str.strip, body[:4096].split("\n"))))
    else:
        body = text[frontmatter.body_start :]
        source = text[frontmatter.start : frontmatter.end]
        properties, unreadable = parse_properties(source)
        problems += unreadable
        if properties:
            tags, aliases, odd = read_names(properties, source)
            problems += odd
            links += [
                ScannedLink(
                    link.path, link.subpath, link.embed, in_frontmatter=True, markdown=link.markdown, start=-1
                )
                for link in property_links(properties, source)
            ]
            dream, marker, plugin = read_flags(properties)
        if unreadable:  # YAML could not be read, or says a name twice: whoever wrote `dream: false` meant it
            dream = dream and _permits(source)
        if body.startswith("---") and find_frontmatter(body):
            problems.append(Problem("", text.count("\n", 0, frontmatter.body_start) + 1, SECOND_BLOCK))
    simple = read_simple(body)
    if simple is not None:
        links += simple.links
        tags += tags_outside(body, simple.covered)
        words = count_prose(body, simple.opaque)
    else:
        found, found_tags, words = _read_any(body)
        links += found
        tags += found_tags
    return _new(
        NoteScan,
        (tuple(links), tuple(tags), tuple(aliases), words, dream, marker, plugin, tuple(problems), body_start),
    )


def _read_any(body: str) -> tuple[list[ScannedLink], list[str], int]:
    """`(links, tags, words)` of a body that is not simple."""
    candidates = find_candidates(body)
    quick = read_rendered(body, candidates)
    if quick is not None:
        return *quick, WORDS_COUNTED
    zones, wikilinks = read_body(body, candidates)
    places: list[MarkdownLink | Wikilink] = [*zones.links, *wikilinks]
    if zones.links:
        places.sort(key=_start)
    tags = find_tags(body, zones, wikilinks)
    return list(body_links(body, places)), tags, count_prose(body, zones.opaque)


def _start(place: MarkdownLink | Wikilink) -> int:
    return place.start


def body_links(body: str, places: Sequence[MarkdownLink | Wikilink]) -> Iterator[ScannedLink]:
    """The links to files of the vault among `places`, in their order."""
    ascii_body = body.isascii()
    for place in places:
        if isinstance(place, Wikilink):
            path, subpath = split_target(place.inner)
            if path or subpath:
                yield ScannedLink(
                    path, subpath, place.embed, in_frontmatter=False, markdown=False, start=place.start
                )
            continue
        destination = place.destination
        if not ascii_body:
            destination = find_label_end(body[place.start : place.end], destination)[1]
        target = split_destination(destination)
        if target:
            yield ScannedLink(
                *target, place.embed, in_frontmatter=False, markdown=True, start=place.start
            )


def _permits(source: str) -> bool:
    """False where a line of `source`, properties that could not be read, says anything but yes to `dream`."""
    return all(said[1].strip(" \t\r\"'").lower() in _TRUE for said in _DREAM_LINE.finditer(source))


def is_unread(problem: Problem) -> bool:
    """Whether the problem says that a note's properties could not be read as a whole (`markdown.properties`)."""
    return problem.message.startswith("the properties are not read")


def read_flags(properties: dict[str, object]) -> tuple[bool, str, str]:
    """`(dream, marker, plugin)` of a note's properties, as `NoteScan` describes them."""
    dream, marker, plugin = True, "", ""
    for key in properties:
        name = key.lower()
        if name == "dream":
            dream = str(named(properties, name)).strip().lower() in _TRUE
        elif name == "aria-dream":
            marker = str(named(properties, name)).strip()
        elif name.endswith("-plugin"):
            plugin = name.removesuffix("-plugin")
    return dream, marker, plugin
