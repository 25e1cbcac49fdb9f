"""The one-pass reading of simple bodies against the parser's."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from aria_dream.markdown.scan import body_links
from aria_dream.markdown.simple import SimpleBody, read_simple
from aria_dream.markdown.zones import MarkdownLink, Wikilink, read_body

if TYPE_CHECKING:
    from aria_dream.markdown.link import ScannedLink


def by_parser(body: str) -> SimpleBody:
    """What the parser says of a body."""
    zones, wikilinks = read_body(body)
    places: list[MarkdownLink | Wikilink] = [*zones.links, *wikilinks]
    places.sort(key=lambda place: place.start)
    covered = sorted([*zones.opaque, *((place.start + place.embed, place.end) for place in places)])
    return SimpleBody(list(body_links(body, places)), zones.opaque, covered)


def seen(body: str, read: SimpleBody) -> tuple[list[ScannedLink], list[str], list[str]]:
    """What was read, in a form that does not depend on where a fence's last line end counts."""
    opaque, covered = (
        [f"{start}:{body[start:end].rstrip()}" for start, end in spans] for spans in (read.opaque, read.covered)
    )
    return read.links, opaque, covered


PIECES = st.sampled_from(
    ["word", " ", "  ", "    ", "     ", "\n", "\n\n", "\n    ", "\n        ", "\t", "\n\t", "- ", "1. ", "1.", "> ",
     "# ", "---\n", "===\n", "***", "* ", "`", "``", "```", "```\n", "```py\n", "\n```\n", "`x`", "$", "$x$", "$$",
     "${a}$", "5$ ", "$$\nx\n$$", "$$x$$", "[[a\\|b]]",
     "[[a]]", "![[b|c]]", "[[", "]]", "[", "]", "(", ")", "](", "]: ", "[t](u)", "![t](u.png)",
     '[t](u "x")', "[^1]", "[^1]: ", "[x]: y\n", "| a | b |\n", "|---|---|\n", "--|--\n", "|", "\\", "\\|", "&amp;",
     "é", "東", "?", "!", "%%", "~", "~~~\n", "#tag", "**b**", "_", "[ ] ", "{", "}", "'", '"', "\x00", "\u00a0",
     "\x0c", "1", "https://x.y/?z"]
)  # fmt: skip


@settings(max_examples=1500, deadline=None)
@given(st.lists(PIECES, max_size=14).map("".join))
@example("- a\n    - b `c`\n        - d [[e]]\n")
@example("1.\n        [[code]]\n")
@example("text\n    [[no code]]\n\n    [[code]]\n")
@example("- a | b\n    --|--\n    c | d\n        `x`\n")
@example("- a [[b|c]]\n    - d\n\n        [[e]]\n")
@example("| a |\n|---|\n    `x`\n")
@example("$$\\$$")
@example("[^1]: \n        word")
@example("[[]](u)")
@example("```\na\n```\n    b")
def test_it_says_what_the_parser_says_or_nothing(body: str) -> None:
    simple = read_simple(body)
    if simple is not None:
        assert seen(body, simple) == seen(body, by_parser(body))


@pytest.mark.parametrize(
    "body",
    [
        "Prose with [[a]], `[[code]]`, $x_{8}$, [text](b.md) and ![[pic.png]].\n",
        "# Head\n\n```js\n[[no]]\n```\n\n- [ ] task [[a]]\n    - nested [[b]]\n",
        "A footnote[^1].\n\n[^1]: with a [[link]]\n",
        "$$\n\\int_0^1 {x}\n$$\n\n| [[a\\|b]] | c |\n|---|---|\n",
        "Größe: [größer](größe.md?x) 東京 [[東京]]\n",
    ],
)
def test_simple_notes_are_taken(body: str) -> None:
    simple = read_simple(body)
    assert simple is not None
    assert seen(body, simple) == seen(body, by_parser(body))


@pytest.mark.parametrize(
    "body",
    ["<b>", "\\[[a]]", "    code", "a\n\n    code", "```\nopen", "~~~\nx\n~~~", "`a\nb`", "``a``", "a $$x$$",
     "[a `b` c](d)", "[[a [[b]] c]]", "- x\n\n      code", ">     code", "-     code", "-\tx", "[a]: b"],
)  # fmt: skip
def test_the_rest_is_left_to_the_parser(body: str) -> None:
    assert read_simple(body) is None


@pytest.mark.parametrize(
    "body",
    ["[" * 100_000, "[[a " * 50_000, "`" * 100_000, "`a` " * 100_000, "$" * 100_000, "$a " * 100_000, "[a](" * 50_000,
     " " * 200_000, "\n    x" * 50_000, "- " * 100_000, "1. " * 100_000 + "\n    x", "]" * 100_000, "```\n" * 50_001,
     "a\n" + "    " * 50_000 + "x\n"],
)  # fmt: skip
def test_hostile_bodies_cost_one_pass(body: str) -> None:
    read_simple(body)  # quadratic time would run into the test's timeout
