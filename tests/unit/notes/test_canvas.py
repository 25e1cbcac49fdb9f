"""The canvas is valid, whole, deterministic, and nothing lies on anything else."""

from __future__ import annotations

import json
from itertools import combinations
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from aria_dream.notes.canvas import DreamCanvas, render_canvas
from aria_dream.ranking.juxtaposition import Juxtaposition, Survivor

SIDES = {"top", "right", "bottom", "left"}


def survivor(start: str, to: str, way: tuple[str, ...] | None, score: float = 0.714) -> Survivor:
    found = Juxtaposition(from_=start, to=to, score=score, path=way)
    return Survivor(juxtaposition=found, probability=0.8, reason="r", judge="j")


NIGHT = DreamCanvas(
    label="03:12 — idle dream",
    start="Compost.md",
    survivors=(
        survivor("Compost.md", "kitchen/Sourdough.md", ("Compost.md", "Microbes.md", "# 1.md", "kitchen/Sourdough.md")),
        survivor("Compost.md", "Brine.md", ("Compost.md", "Microbes.md", "Brine.md")),
        survivor("Compost.md", "Tides.md", None, 0.5),
    ),
)


def check(canvas: dict[str, Any]) -> None:
    """The specification's required fields, by type of node."""
    assert set(canvas) == {"nodes", "edges"}
    ids = [thing["id"] for thing in canvas["nodes"] + canvas["edges"]]
    assert len(set(ids)) == len(ids)
    nodes = {node["id"]: node for node in canvas["nodes"]}
    for node in canvas["nodes"]:
        assert all(isinstance(node[key], int) for key in ("x", "y", "width", "height"))
        required = {"file": "file", "text": "text", "group": "label"}[node["type"]]
        assert isinstance(node[required], str)
    for edge in canvas["edges"]:
        assert edge["fromNode"] in nodes
        assert edge["toNode"] in nodes
        assert {edge["fromSide"], edge["toSide"]} <= SIDES
        assert edge["toEnd"] == "none"


def overlapping(canvas: dict[str, Any]) -> list[tuple[str, str]]:
    cards = [node for node in canvas["nodes"] if node["type"] != "group"]
    return [
        (one["id"], other["id"])
        for one, other in combinations(cards, 2)
        if one["x"] < other["x"] + other["width"]
        and other["x"] < one["x"] + one["width"]
        and one["y"] < other["y"] + other["height"]
        and other["y"] < one["y"] + one["height"]
    ]


def test_a_night() -> None:
    text = render_canvas([NIGHT])
    assert text == render_canvas([NIGHT])
    canvas = json.loads(text)
    check(canvas)
    assert overlapping(canvas) == []
    files = [node["file"] for node in canvas["nodes"] if node["type"] == "file"]
    assert sorted(files) == ["Brine.md", "Compost.md", "Tides.md", "kitchen/Sourdough.md"]
    assert [node["text"] for node in canvas["nodes"] if node["type"] == "text"] == ["Microbes", "\\# 1"]
    assert [edge.get("label") for edge in canvas["edges"] if "color" in edge] == ["0.714", "0.714", "0.500"]
    assert len(canvas["edges"]) == 3 + 4
    (group,) = [node for node in canvas["nodes"] if node["type"] == "group"]
    for node in canvas["nodes"]:
        assert group["x"] <= node["x"]
        assert group["y"] <= node["y"]
        assert node["x"] + node["width"] <= group["x"] + group["width"]
        assert node["y"] + node["height"] <= group["y"] + group["height"]


def test_the_same_note_in_two_dreams_is_two_cards_and_groups_lie_apart() -> None:
    canvas = json.loads(render_canvas([NIGHT, NIGHT]))
    check(canvas)
    assert overlapping(canvas) == []
    first, second = [node for node in canvas["nodes"] if node["type"] == "group"]
    assert first["x"] + first["width"] < second["x"]


def test_no_night_is_an_empty_canvas() -> None:
    assert json.loads(render_canvas([])) == {"nodes": [], "edges": []}


names = st.text(min_size=1, max_size=6).map(lambda name: name + ".md") | st.sampled_from(["a.md", "b.md", "c.md"])


@settings(max_examples=100)
@given(names, st.lists(st.tuples(names, st.none() | st.lists(names, max_size=4)), max_size=6))
def test_any_night_is_valid_and_free_of_overlaps(start: str, rows: list[tuple[str, list[str] | None]]) -> None:
    survivors = tuple(
        survivor(start, to, None if mid is None else (start, *mid, to)) for to, mid in rows if to != start
    )
    text = render_canvas([DreamCanvas(label="x", start=start, survivors=survivors)])
    text.encode()
    canvas = json.loads(text)
    check(canvas)
    assert overlapping(canvas) == []
