"""The last night as a picture: a JSON Canvas in which every pair is a line of stars leading away from the start.

Format: JSON Canvas 1.0 (https://jsoncanvas.org/spec/1.0/).
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from hashlib import sha256
from math import cos, pi, sin
from typing import TYPE_CHECKING, Literal, TypeAlias

from aria_dream.notes.plain_text import clean, escape_plain
from aria_dream.ranking.juxtaposition import title_of

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from aria_dream.ranking.juxtaposition import Survivor

_CARD = (260, 160)
_STONE = (200, 60)
_RING = 340
_BOW = 220
"""How far the middle of a way swings aside, so that the line of the pair has the straight."""
_GAP = 40
"""Least space between two cards."""
_BETWEEN = 260
"""Space between the pictures of one night."""
_PURPLE, _CYAN = "6", "5"
"""Preset colours of the format: an app shows them in its own theme."""

_Point: TypeAlias = tuple[float, float]


@dataclass(frozen=True, slots=True, kw_only=True)
class DreamCanvas:
    """One dream as it is to be drawn."""

    label: str
    """Such as `03:12 — idle dream`."""
    start: str
    """Vault path of the note it came from."""
    survivors: tuple[Survivor, ...]


@dataclass(slots=True)
class _Star:
    path: str
    role: Literal["start", "end", "stone"]
    x: float
    y: float

    @property
    def size(self) -> tuple[int, int]:
        return _STONE if self.role == "stone" else _CARD


def render_canvas(nights: Sequence[DreamCanvas], name_of: Callable[[str], str] = title_of) -> str:
    """The canvas file's text, with a final line end: the dreams side by side, each in a labelled group.

    Start and targets are file cards. The stepping stones between them are text cards, as paths are plain text in the
    dream note: a file card counts as a link, and the canvas would become a hub of the graph. The lines of a way are
    thin, the undrawn pair is a coloured line with its score. Whole pixels, no two cards overlap, same input same text.
    """
    nodes: list[dict[str, object]] = []
    edges: list[dict[str, object]] = []
    left = 0
    for number, night in enumerate(nights):
        stars = _placed(night)
        box = _bounds(stars)
        dx, dy = left - box[0], -(box[1] + box[3]) // 2
        for star in stars.values():
            star.x += dx
            star.y += dy
        group = (left - _GAP, box[1] + dy - _GAP, box[2] - box[0] + 2 * _GAP, box[3] - box[1] + 2 * _GAP)
        nodes.append(_group(number, night, group))
        nodes.extend(_node(number, star, name_of) for star in stars.values())
        edges.extend(_edges(number, night, stars))
        left += box[2] - box[0] + _BETWEEN
    return json.dumps({"nodes": nodes, "edges": edges}, ensure_ascii=False, indent="\t").translate(_SURROGATES) + "\n"


_SURROGATES = {code: f"\\u{code:04x}" for code in range(0xDC80, 0xDD00)}
"""Bytes of file names that are no UTF-8, as JSON escapes."""


def _placed(night: DreamCanvas) -> dict[str, _Star]:
    """Vault path to star: a way is a spoke, a stone that several ways share lies between them."""
    spokes = len(night.survivors)
    stars = {night.start: _Star(night.start, "start", 0, 0)}
    seen: dict[str, list[tuple[_Point, _Point]]] = {}
    for spoke, survivor in enumerate(night.survivors):
        found = survivor.juxtaposition
        angle = -pi / 2 + 2 * pi * spoke / max(spokes, 1) + (pi / 2 if spokes <= 2 else 0)
        way = found.path or (found.from_, found.to)
        for ring, path in enumerate(way[way[0] == night.start :], start=1):
            if path != night.start:
                out = _RING * max(ring, 2 if path == way[-1] else 1)
                aside = _BOW * sin(pi * ring / (len(way) - 1))
                straight = (out * cos(angle), out * sin(angle))
                bowed = (straight[0] - aside * sin(angle), straight[1] + aside * cos(angle))
                seen.setdefault(path, []).append((straight, bowed))
    ends = {path for survivor in night.survivors for path in survivor.juxtaposition.pair}
    for path, places in seen.items():
        alone = len(places) == 1
        x, y = places[0][1] if alone else _middle([straight for straight, _ in places])
        stars[path] = _Star(path, "end" if path in ends else "stone", round(x), round(y))
    _spread(list(stars.values()))
    return stars


def _middle(points: list[_Point]) -> _Point:
    return sum(x for x, _ in points) / len(points), sum(y for _, y in points) / len(points)


def _spread(stars: list[_Star]) -> None:
    """Move each card outwards from those before it until nothing overlaps; ends, as every step goes one way."""
    for at, star in enumerate(stars):
        down = star.y >= 0
        while any(_overlap(star, other) for other in stars[:at]):
            star.y += _GAP if down else -_GAP


def _overlap(one: _Star, other: _Star) -> bool:
    width, height = (one.size[0] + other.size[0]) / 2, (one.size[1] + other.size[1]) / 2
    return abs(one.x - other.x) < width + _GAP and abs(one.y - other.y) < height + _GAP


def _bounds(stars: dict[str, _Star]) -> tuple[int, int, int, int]:
    left = min(star.x - star.size[0] / 2 for star in stars.values())
    top = min(star.y - star.size[1] / 2 for star in stars.values())
    right = max(star.x + star.size[0] / 2 for star in stars.values())
    bottom = max(star.y + star.size[1] / 2 for star in stars.values())
    return round(left), round(top), round(right), round(bottom)


def _id(*parts: object) -> str:
    return sha256(json.dumps(parts).encode()).hexdigest()[:16]


def _group(number: int, night: DreamCanvas, box: tuple[int, int, int, int]) -> dict[str, object]:
    x, y, width, height = box
    base = {"id": _id(number, "group"), "type": "group", "x": x, "y": y, "width": width, "height": height}
    return base | {"label": clean(night.label)}


def _node(number: int, star: _Star, name_of: Callable[[str], str]) -> dict[str, object]:
    width, height = star.size
    node: dict[str, object] = {"id": _id(number, star.path)}
    if star.role == "stone":
        node |= {"type": "text", "text": escape_plain(name_of(star.path), line_start=True)}
    else:
        node |= {"type": "file", "file": star.path}
    node |= {"x": round(star.x - width / 2), "y": round(star.y - height / 2), "width": width, "height": height}
    return node | ({"color": _PURPLE} if star.role == "start" else {})


def _edges(number: int, night: DreamCanvas, stars: dict[str, _Star]) -> list[dict[str, object]]:
    edges: dict[str, dict[str, object]] = {}
    for survivor in night.survivors:
        found = survivor.juxtaposition
        for first, second in zip(found.path or (), (found.path or ())[1:], strict=False):
            edge = _edge(number, "way", stars[first], stars[second])
            edges.setdefault(str(edge["id"]), edge)
        edge = _edge(number, "pair", stars[found.from_], stars[found.to])
        edges[str(edge["id"])] = edge | {"color": _CYAN, "label": f"{found.score:.3f}"}
    return list(edges.values())


def _edge(number: int, what: str, first: _Star, second: _Star) -> dict[str, object]:
    """A line without arrowheads (a pair has no direction), from the sides that face each other."""
    dx, dy = second.x - first.x, second.y - first.y
    if abs(dx) > abs(dy):
        sides = ("right", "left") if dx > 0 else ("left", "right")
    else:
        sides = ("bottom", "top") if dy > 0 else ("top", "bottom")
    return {
        "id": _id(number, what, *sorted((first.path, second.path))),
        "fromNode": _id(number, first.path),
        "fromSide": sides[0],
        "toNode": _id(number, second.path),
        "toSide": sides[1],
        "toEnd": "none",
    }
