"""Where a Markdown body is code, math or HTML, and where its inline Markdown links and headings lie.

The reading is pulldown-cmark's (`pyromark`), which is CommonMark and near linear on hostile input. Offsets are
characters: the parser gets an ASCII twin of the body, one character for one, so its byte ranges need no mapping.
Links between double brackets are not the parser's: `wikilinks_outside` lays them over what it found.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final, NamedTuple

from pyromark import Markdown, Options

from aria_dream.markdown.link import WIKILINK, ascii_twin, find_label_end

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

_PLAIN: Final = re.compile(r"\[\[([^\[\]\n\r]++)\]\](?!\])")
"""A wikilink without any bracket inside or behind it."""

_new: Final = tuple.__new__
"""Makes a NamedTuple in a third of the time its own constructor takes."""

_MARKDOWN: Final = Markdown(options=Options.ENABLE_TABLES | Options.ENABLE_MATH | Options.ENABLE_FOOTNOTES)


class MarkdownLink(NamedTuple):
    """An inline Markdown link or image of the body, external ones too."""

    start: int
    end: int
    destination: str
    """As the parser read it from the ASCII twin: percent-encoded, escapes and entities resolved."""
    embed: bool


class Wikilink(NamedTuple):
    """A `[[…]]` of the body."""

    start: int
    """Of the `!`, where there is one."""
    end: int
    inner: str
    """Text between the brackets."""
    embed: bool


@dataclass(slots=True)
class Zones:
    """What the Markdown parser found in one body; all lists in source order."""

    opaque: list[tuple[int, int]] = field(default_factory=list)
    """Code, math, HTML and `<https://…>`: half-open, disjoint."""
    links: list[MarkdownLink] = field(default_factory=list)
    headings: list[tuple[int, int, int]] = field(default_factory=list)
    """`(level, start, end)`; the end lies behind the line end."""


def is_plain(body: str) -> bool:
    """Whether a body surely holds no code, math, HTML or inline Markdown link: none of what could open one."""
    return not (
        "`" in body
        or "$" in body
        or "<" in body
        or "\t" in body
        or "    " in body
        or ("~" in body and "~~~" in body)
        or "](" in body
    )


def find_zones(body: str) -> Zones:  # noqa: C901  # one loop over two million events: calls would double its cost
    """The zones of a body (a note without its frontmatter)."""
    twin = body if body.isascii() else _twin(body)
    found = Zones()
    opaque = found.opaque.append
    image_end = 0
    for event, span in _MARKDOWN.events_with_range(twin):
        # Two events in three are text or ends of something; they go first.
        if "Text" in event or "End" in event:
            continue
        if "Start" in event:
            start = event["Start"]
            if start.__class__ is not dict:
                if start == "HtmlBlock":
                    opaque((span["start"], span["end"]))
            elif "Link" in start or "Image" in start:
                embed = "Image" in start
                link = start["Image" if embed else "Link"]
                # What stands in the label of an image is its alternative text.
                if link["link_type"] == "Inline" and span["start"] >= image_end:
                    found.links.append(MarkdownLink(span["start"], span["end"], link["dest_url"], embed))
                    if embed:
                        image_end = span["end"]
                elif link["link_type"] == "Autolink":
                    opaque((span["start"], span["end"]))
            elif "CodeBlock" in start:
                opaque((span["start"], span["end"]))
            elif "Heading" in start:
                found.headings.append((int(start["Heading"]["level"][1]), span["start"], span["end"]))
        elif "Code" in event or "InlineHtml" in event or "DisplayMath" in event:
            opaque((span["start"], span["end"]))
        elif "InlineMath" in event:
            end = span["end"]
            # A dollar before a digit is money, not the end of a formula (pandoc's rule).
            if not twin[end : end + 1].isdigit():
                opaque((span["start"], end))
    return found


def _twin(body: str) -> str:
    """An ASCII text of the same length and the same Markdown structure."""
    if "<?" in body:  # A question mark has a meaning there; keep it.
        return "".join(char if char < "\x80" else "x" for char in body)
    return ascii_twin(body)


def read_body(body: str, candidates: list[Wikilink] | None = None) -> tuple[Zones, list[Wikilink]]:
    """The zones of a body and its wikilinks, each character belonging to whichever of the two starts first.

    So `[[Bash|`x`]]` is a link, and `` `[[x]]` `` is code. A Markdown link is dropped where a wikilink lies in its
    label (links hold no links) or where it starts inside a wikilink. `candidates` is `find_candidates(body)`, where the
    caller has it.
    """
    zones = find_zones(body)
    if candidates is None:
        candidates = find_candidates(body)
    if not candidates:
        return zones, candidates
    accepted, torn = _settle(zones, candidates)
    if torn:
        # Code, math or HTML that starts inside a link and ends outside: what the parser paired was not there to pair.
        # Read again with these links blotted out. One repetition settles all but the absurd, and bounds the cost.
        zones = find_zones(_blotted(body, accepted))
        accepted, _ = _settle(zones, candidates)
    if zones.links:
        accepted = _settle_markdown(body, zones, accepted)
    return zones, accepted


def find_candidates(body: str) -> list[Wikilink]:
    """Everything between double brackets that is a wikilink unless it stands in code, math or HTML."""
    if "[[" not in body:
        return []
    found: list[Wikilink] = []
    opened = 0
    for match in _PLAIN.finditer(body):
        start, end = match.span()
        inner = match[1]
        opened += 1
        if inner.isspace():
            continue
        if start and body[start - 1] == "!":
            found.append(_new(Wikilink, (start - 1, end, inner, True)))
        else:
            found.append(_new(Wikilink, (start, end, inner, False)))
    # Nearly always all of them were of the plain kind.
    # (A search for two characters costs seven times one for a single one, hence the order.)
    if (2 * opened == body.count("[") or opened == body.count("[[")) and not (
        "\\" in body and ("\\[" in body or "\\!" in body)
    ):
        return found
    return list(_all_candidates(body))


def _all_candidates(body: str) -> Iterator[Wikilink]:
    at = body.find("[[")
    while at >= 0:
        match = WIKILINK.match(body, at)
        if match is None or _is_escaped(body, at):
            at = body.find("[[", at + 1)
            continue
        inner, end = match[1], match.end()
        if inner and not inner.isspace():
            embed = at > 0 and body[at - 1] == "!" and not _is_escaped(body, at - 1)
            yield Wikilink(at - embed, end, inner, embed)
        at = body.find("[[", end)


def _is_escaped(body: str, at: int) -> bool:
    """Whether an odd number of backslashes stands before `at` (looked at 100 deep)."""
    before = body[max(0, at - 100) : at]
    return (len(before) - len(before.rstrip("\\"))) % 2 == 1


def _settle(zones: Zones, candidates: list[Wikilink]) -> tuple[list[Wikilink], bool]:
    """Links that start in no opaque zone; zones that start in such a link are removed. True if one reached beyond."""
    opaque = zones.opaque
    if not opaque:
        return candidates, False
    accepted, kept, torn, at, count = [], [], False, 0, len(opaque)
    for link in candidates:
        while at < count and opaque[at][1] <= link.start:
            kept.append(opaque[at])
            at += 1
        if at < count and opaque[at][0] <= link.start:
            continue
        accepted.append(link)
        while at < count and opaque[at][0] < link.end:
            torn = torn or opaque[at][1] > link.end
            at += 1
    if len(kept) + count - at != count:
        zones.opaque = kept + opaque[at:]
    return accepted, torn


def _blotted(body: str, links: Iterable[Wikilink]) -> str:
    pieces, at = [], 0
    for link in links:
        pieces.append(body[at : link.start])
        pieces.append("x" * (link.end - link.start))
        at = link.end
    pieces.append(body[at:])
    return "".join(pieces)


def _settle_markdown(body: str, zones: Zones, wikilinks: list[Wikilink]) -> list[Wikilink]:
    """The wikilinks that lie in no destination of a Markdown link; those that lose are removed from `zones`."""
    if not wikilinks:
        return wikilinks
    kept: list[MarkdownLink] = []
    lost: set[int] = set()
    at, count = 0, len(wikilinks)
    for link in zones.links:
        while at < count and wikilinks[at].end <= link.start:
            at += 1
        if at == count or wikilinks[at].start >= link.end:
            kept.append(link)
            continue
        label_end = link.start + _label_length(body, link)
        inside = at
        dropped = False
        while inside < count and wikilinks[inside].start < link.end:
            if wikilinks[inside].start < max(label_end, link.start + 1):
                dropped = True
                break
            lost.add(inside)
            inside += 1
        if not dropped:
            kept.append(link)
    zones.links = kept
    return [link for index, link in enumerate(wikilinks) if index not in lost] if lost else wikilinks


def _label_length(body: str, link: MarkdownLink) -> int:
    at, _ = find_label_end(body[link.start : link.end], link.destination)
    return at if at >= 0 else link.end - link.start
