"""The links of a `.canvas` file (JSON Canvas 1.0), which since Obsidian 1.12 is a source of links like a note."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from aria_dream.errors import Problem
from aria_dream.markdown.link import Link, normal_name, split_linktext
from aria_dream.markdown.note import parse_note

if TYPE_CHECKING:
    from collections.abc import Iterator


def parse_canvas(text: str) -> tuple[tuple[Link, ...], tuple[Problem, ...]]:
    """`(links, problems)` of a canvas, in the order of its cards: each file card is an embed, and the links in a text
    card are links of the canvas. Arrows, groups and web cards are no links.

    A file card's span is its path in the JSON where it is written as it reads, else `(0, 0)`; a text card's links have
    their offsets in the card's own text. Total: what is no JSON, or no canvas, gives no links and a problem.
    """
    written = text.removeprefix("\ufeff")
    if not written.strip():
        return (), ()
    try:
        canvas = json.loads(written)
    except (ValueError, RecursionError) as error:
        line = error.lineno if isinstance(error, json.JSONDecodeError) else 0
        return (), (Problem("", line, "the canvas is not read: it is no valid JSON"),)
    nodes = canvas.get("nodes", []) if isinstance(canvas, dict) else None
    if not isinstance(nodes, list):
        return (), (Problem("", 0, "the canvas is not read: it has no list of nodes"),)
    return tuple(_links(text, nodes)), ()


def _links(text: str, nodes: list[object]) -> Iterator[Link]:
    at = 0
    for node in nodes:
        if not isinstance(node, dict):
            continue
        kind, file, card = node.get("type"), node.get("file"), node.get("text")
        if kind == "file" and isinstance(file, str) and file.strip():
            start = text.find(file, at)
            if start >= 0:
                at = start + len(file)
            yield _file_card(file, max(start, 0), at if start >= 0 else 0, node.get("subpath"))
        elif kind == "text" and isinstance(card, str):
            # A text card has no frontmatter: a leading `---` is a rule.
            yield from parse_note("\n" + card).links if card.startswith("---") else parse_note(card).links


def _file_card(file: str, start: int, end: int, subpath: object) -> Link:
    name = subpath.strip() if isinstance(subpath, str) else ""
    return Link(
        raw=file,
        start=start,
        end=end,
        path=normal_name(file),
        subpath=split_linktext(name)[1],
        display=None,
        embed=True,
        markdown=False,
        in_frontmatter=False,
    )
