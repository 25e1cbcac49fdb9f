"""Our fast reading of a note against readers that know nothing of it: mistune, markdown-it, python-frontmatter."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

import frontmatter
import mistune
import pytest
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from aria_dream.markdown.note import parse_note
from aria_dream.markdown.properties import find_frontmatter, parse_properties

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

EXAMPLES = sorted(
    place
    for place in (Path(__file__).resolve().parents[3] / "examples" / "vault").rglob("*.md")
    if place.parent.name != "Templates"  # `{{date}}` is no YAML
)
WIKILINK = re.compile(r"!?\[\[([^\[\]\n]+)\]\]")
CODE = ("block_code", "codespan", "block_html", "inline_html")
PIECES = (
    "[[A]] in prose\n", "`[[A]]` in code and [[B]]\n", "```\n[[A]]\n```\n", "~~~md\n[[A]]\n~~~\n",
    "- [[A]]\n  - [[B|b]]\n",
    "> [[A]] said\n", "    [[A]] indented\n", "# [[A]]\n", "``a ` [[A]]``\n", "*[[A]]* and **[[B]]**\n",
    "1. [[A]]\n\n   [[B]]\n",
    "\\`[[A]]\\`\n", "text\n    [[A]] not indented code\n", "````\n```\n[[A]]\n```\n````\n", "\n",
)  # fmt: skip


def by_mistune(text: str) -> list[str]:
    """Targets of wikilinks outside code."""
    tokens = mistune.create_markdown(renderer="ast")(text)

    def texts(nodes: list[dict[str, Any]]) -> Iterator[str]:
        line = ""
        for node in nodes:
            if "children" in node:
                if line:
                    yield line
                    line = ""
                yield from texts(node["children"])
            elif node["type"] not in CODE:
                line += node.get("raw", "\n")
        if line:
            yield line

    assert isinstance(tokens, list)
    return [target for line in texts(tokens) for target in WIKILINK.findall(line)]


def by_markdown_it(text: str) -> list[str]:
    found: list[str] = []
    for token in MarkdownIt().parse(text):
        if token.type == "inline":
            line = "".join(
                child.content if child.type in ("text", "text_special") else "\n" for child in token.children or []
            )
            found += WIKILINK.findall(line)
    return found


def ours(text: str) -> list[str]:
    """As the others see it: target and display in one, the bar as a table's cell shows it."""
    links = parse_note(text).links
    return [
        link.raw.lstrip("!")[2:-2].replace("\\|", "|")
        for link in links
        if not link.markdown and not link.in_frontmatter
    ]


@pytest.mark.parametrize("reader", [by_mistune, by_markdown_it])
@given(pieces=st.lists(st.sampled_from(PIECES), max_size=6))
def test_links_in_prose_and_none_in_code(reader: Callable[[str], list[str]], pieces: list[str]) -> None:
    text = "\n".join(pieces)
    assert sorted(ours("\n" + text)) == sorted(reader("\n" + text))


@pytest.mark.parametrize("reader", [by_mistune, by_markdown_it])
def test_the_example_vault(reader: Callable[[str], list[str]]) -> None:
    assert len(EXAMPLES) > 50
    for place in EXAMPLES:
        text = place.read_text(encoding="utf-8")
        block = find_frontmatter(text)
        body = text[block.body_start :] if block else text
        assert sorted(ours("\n" + body)) == sorted(reader("\n" + body)), place.name


def test_properties_and_where_the_text_begins() -> None:
    with_properties = 0
    for place in EXAMPLES:
        text = place.read_text(encoding="utf-8")
        block = find_frontmatter(text)
        known, body = frontmatter.parse(text)
        properties = parse_properties(text[block.start : block.end])[0] if block else {}
        with_properties += bool(known)
        assert list(properties) == list(known), place.name
        assert (text[block.body_start :] if block else text).strip() == body, place.name
        texts = {key: value for key, value in known.items() if isinstance(value, str)}
        assert {key: properties[key] for key in texts} == texts, place.name
    assert with_properties > 10
