"""The quick reading of a body, from the HTML that pulldown-cmark renders: half the cost of its events in Python.

Each link and tag that may be one is replaced by a mark before rendering. In the HTML the marks stand in the same order,
and what lies between them and the tags of code, math and links says what they are. Whatever could blur that (raw HTML,
reference definitions, a mark that is lost, moved or inside a link) makes `read_rendered` give up, and the body is read
by `zones.read_body`, with which it agrees (a property test).
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from pyromark import Markdown, Options

from aria_dream.markdown.body import TAG, WORDS_COUNTED, is_tag
from aria_dream.markdown.link import ScannedLink, split_destination, split_target, unescape_entities
from aria_dream.markdown.no_words import no_words

if TYPE_CHECKING:
    from collections.abc import Iterator

    from aria_dream.markdown.zones import Wikilink

_SURELY_ENOUGH: Final = 2000
"""Characters that nearly always hold more than `WORDS_COUNTED` words beside addresses and the like."""
MIN_LENGTH: Final = 1000
"""Shorter bodies seldom have `WORDS_COUNTED` words and are cheap to read exactly."""

_MARKDOWN: Final = Markdown(options=Options.ENABLE_TABLES | Options.ENABLE_MATH | Options.ENABLE_FOOTNOTES)
_FOOTNOTE = re.compile(r"\[\^[^\[\]\n]+\]:")
_new: Final = tuple.__new__
"""Makes a NamedTuple in a third of the time its own constructor takes."""

_ANCHOR: Final = '<a href="'
_IMAGE: Final = '<img src="'
_MARKS: Final = frozenset("\x02\x03")
_HIDING: Final = (("", "<code", "</code>"), ("$", '<span class="math math-', "</span>"))


def read_rendered(  # noqa: C901  # one list of reasons to give up, read top to bottom
    body: str, candidates: list[Wikilink]
) -> tuple[list[ScannedLink], list[str]] | None:
    """`(links, tags)` of a body that has at least `WORDS_COUNTED` words of prose; None where that is not certain."""
    if len(body) < MIN_LENGTH or "<" in body or "\x02" in body or "\x03" in body:
        return None
    marked, tags = _marked(body, candidates)
    if marked is None:
        return None
    try:
        rendered = _MARKDOWN.html(marked)
    except UnicodeEncodeError:  # a byte that was no UTF-8
        return None
    if rendered.count("\x02") != len(candidates) or rendered.count("\x03") != len(tags):
        return None  # a mark was lost or encoded
    hidden = _Hidden()
    for sign, opening, closing in _HIDING:
        if sign in body and not hidden.add(rendered, opening, closing):
            return None
    if "%" in body and "%%" in body:
        between = body.split("%%")[1:-1]
        if len(between) % 2 == 0:
            return None  # a lone one may hide the rest
        hidden.tokens += sum(piece.count(" ") + piece.count("\n") + piece.count("\t") + 1 for piece in between)
    if not _has_prose(body, WORDS_COUNTED + hidden.tokens):
        return None
    if hidden.tags:
        tags = [tag for index, tag in enumerate(tags) if index not in hidden.tags]
    links: list[ScannedLink] = []
    for index, (start, _, inner, embed) in enumerate(candidates):
        if index in hidden.links:
            continue
        path, subpath = split_target(inner)
        if path or subpath:
            links.append(_new(ScannedLink, (path, subpath, embed, False, False, start)))
    if "](" in body:
        markdown = _markdown_links(body, rendered)
        if markdown is None or (markdown and body.count("]:") != len(_FOOTNOTE.findall(body))):
            return None  # a reference may have made a link of its own
        links = sorted(links + markdown, key=_start) if links else markdown
    return links, tags


def _start(link: ScannedLink) -> int:
    return link.start


class _Hidden:
    """What lies in the code and math of a rendered body."""

    __slots__ = ("links", "tags", "tokens")

    def __init__(self) -> None:
        self.tokens = 0
        """At least the number of words in code and math, fences included."""
        self.links: set[int] = set()
        """Numbers of the marks for links."""
        self.tags: set[int] = set()

    def add(self, rendered: str, opening: str, closing: str) -> bool:
        """Adds what lies between each `opening` and its `closing`. False where that is not certain."""
        counted = links = tags = tokens = 0
        at = rendered.find(opening)
        while at >= 0:
            end = rendered.find(closing, at)
            hidden = rendered[at:end]
            if len(hidden) < 40:
                tokens += 20
            else:
                tokens += hidden.count(" ") + hidden.count("\n") + hidden.count("\t") + 4
            if closing == "</span>" and rendered[end + 7 : end + 8].isdigit():
                return False  # a formula before a digit is money; the exact reading knows
            if "\x02" in hidden or "\x03" in hidden:
                links += rendered.count("\x02", counted, at)
                tags += rendered.count("\x03", counted, at)
                more_links, more_tags = hidden.count("\x02"), hidden.count("\x03")
                self.links.update(range(links, links + more_links))
                self.tags.update(range(tags, tags + more_tags))
                links, tags, counted = links + more_links, tags + more_tags, end
            at = rendered.find(opening, end)
        self.tokens += tokens
        return True


def _markdown_links(body: str, rendered: str) -> list[ScannedLink] | None:
    """The Markdown links to files of the vault; None where it is not certain which `](` is which link."""
    found: list[ScannedLink] = []
    label_end = link_end = -1
    images = [(at, True) for at in _places(rendered, _IMAGE)] if "!" in body else []
    for start, embed in sorted([*[(at, False) for at in _places(rendered, _ANCHOR)], *images]):
        if not embed and rendered.endswith('<sup class="footnote-reference">', 0, start):
            continue
        label_end = body.find("](", label_end + 1)
        tag_end = rendered.find(">", start)
        link_end, before = (rendered.find("</a>", start) if not embed else tag_end), link_end
        # An image in a link; a mark in a label, an alternative text or a title.
        if start < before or label_end < 0 or not _MARKS.isdisjoint(rendered[start:link_end]):
            return None
        opening = len(_IMAGE if embed else _ANCHOR)
        address = rendered[start + opening : rendered.find('"', start + opening)]
        target = split_destination(unescape_entities(address) if "&" in address else address)
        if target:
            found.append(ScannedLink(*target, embed, in_frontmatter=False, markdown=True, start=label_end))
    return found if body.find("](", label_end + 1) < 0 else None


def _places(rendered: str, tag: str) -> Iterator[int]:
    at = rendered.find(tag)
    while at >= 0:
        yield at
        at = rendered.find(tag, at + 1)


def _has_prose(body: str, wanted: int) -> bool:
    """Whether a body surely has more than so many words besides what holds none."""
    # What holds none ends with its line, unless it is data: so the first lines most often tell.
    end = body.find("\n", _SURELY_ENOUGH)
    head = body[:end] if end >= 0 else body
    for text in (head, body) if len(head) < len(body) and "ata:" not in head.lower() else (body,):
        more = sum(len(text[start:end].split()) + 1 for start, end in no_words(text, labels=False))
        if _has_words(text, wanted + more):
            return True
    return False


def _has_words(body: str, wanted: int) -> bool:
    """Whether a body surely has more than so many words."""
    # A run of spaces counts once or not at all here; much cheaper than to split.
    surely = body.count(" ", 0, 2500) - 2 * body.count("  ", 0, 2500) - 1
    return surely > wanted or len(body.split(None, wanted)) > wanted


def _marked(body: str, candidates: list[Wikilink]) -> tuple[str | None, list[str]]:
    """The body with a mark for each whole wikilink and for each tag's `#`, and the tags' names; None where a mark
    could hide something that opens or closes code, math or a link."""
    places: list[tuple[int, int, str]] = []
    for start, end, inner, embed in candidates:
        if "`" in inner or "$" in inner or "[" in inner or "]" in inner:
            return None, []
        places.append((start + embed, end, "\x02"))
    tags: list[str] = []
    if "#" in body:
        for match in TAG.finditer(body):
            if is_tag(match[1]):
                tags.append(match[1])
                places.append((match.start(), match.start() + 1, "\x03"))
        if tags and candidates:
            places.sort()
    pieces: list[str] = []
    at = 0
    for start, end, mark in places:
        if start < at:  # a tag in a link
            return None, []
        pieces += (body[at:start], mark)
        at = end
    pieces.append(body[at:])
    return "".join(pieces), tags
