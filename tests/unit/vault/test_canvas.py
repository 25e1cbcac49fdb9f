from __future__ import annotations

import pytest

from aria_dream.vault.canvas import parse_canvas


@pytest.mark.parametrize("text", ["", " \n", "{}", '{"nodes": []}', "\ufeff{}"])
def test_an_empty_canvas(text: str) -> None:
    assert parse_canvas(text) == ((), ())


@pytest.mark.parametrize("text", ["{", "[]", '{"nodes": 5}', "[" * 100_000, "\0", "nul"])
def test_what_is_no_canvas_is_a_problem(text: str) -> None:
    links, problems = parse_canvas(text)
    assert links == ()
    assert len(problems) == 1


def test_cards() -> None:
    text = (
        '{"nodes": [7, {"type": "file", "file": "a b.md", "subpath": "#H"}, '
        '{"type": "text", "text": "---\\n[[x|y]] `[[z]]`"}]}'
    )
    links, problems = parse_canvas(text)
    assert problems == ()
    assert [(link.raw, link.path, link.subpath, link.display, link.embed) for link in links] == [
        ("a b.md", "a b.md", "#H", None, True),
        ("[[x|y]]", "x", "", "y", False),
    ]
    assert text[links[0].start : links[0].end] == "a b.md"
