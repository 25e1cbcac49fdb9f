"""What of a note is embedded."""

from __future__ import annotations

import numpy as np
import pytest

from aria_dream.markdown.link import Link
from aria_dream.markdown.note import Note, Span
from aria_dream.ranking.embedding import MAX_PASSAGES, PASSAGE_WORDS, passages, pool_passages, prose, vector_key


def note(text: str, *, body_start: int = 0, links: tuple[Link, ...] = (), opaque: tuple[Span, ...] = ()) -> Note:
    return Note(
        text=text,
        body_start=body_start,
        properties={},
        links=links,
        headings=(),
        block_ids=(),
        tags=(),
        aliases=("Levain",),
        opaque=opaque,
        problems=(),
    )


def link(text: str, raw: str, *, path: str, display: str | None = None, embed: bool = False) -> Link:
    start = text.index(raw)
    return Link(
        raw=raw, start=start, end=start + len(raw), path=path, subpath="", display=display, embed=embed,
        markdown=False, in_frontmatter=False,
    )  # fmt: skip


def test_links_and_opaque_text_are_left_out() -> None:
    text = "---\na: b\n---\nFeed [[Food/Rye flour|rye]] and [[Kitchen/Water]] ![[plan.png]] `code` daily."
    found = prose(
        note(
            text,
            body_start=13,
            links=(
                link(text, "[[Food/Rye flour|rye]]", path="Food/Rye flour", display="rye"),
                link(text, "[[Kitchen/Water]]", path="Kitchen/Water"),
                link(text, "![[plan.png]]", path="plan.png", embed=True),
            ),
            opaque=(Span(0, 13), Span(text.index("`code`"), text.index(" daily"))),
        )
    )
    assert found.split() == ["Feed", "and", "daily."]


def test_the_title_leads_with_its_aliases_and_markdown_is_gone() -> None:
    first, second = passages("Sourdough starter", note("# Care\n\n- [ ] **feed** it\n> twice, see https://example.org/x"))
    assert first.text == "Sourdough starter, Levain"
    assert second.text == "Care feed it twice, see"


@pytest.mark.parametrize(
    "text",
    ["", "\0" * 9000, "x" * 1_000_000, "漢" * 100_000, "word " * 300_000, "\udc80" * 50, "[" * 50_000, "- " * 20_000],
    ids=["empty", "nul", "one line", "no spaces", "long", "surrogates", "brackets", "bullets"],
)
def test_any_text_gives_few_bounded_passages(text: str) -> None:
    found = passages("Title", note(text))
    assert 1 <= len(found) <= MAX_PASSAGES + 1
    assert all(passage.text and len(passage.text) <= 25 * PASSAGE_WORDS for passage in found)
    assert all(passage.weight > 0 for passage in found)


def test_pooling_gives_unit_vectors_even_where_passages_cancel_out() -> None:
    opposite = np.array([[1.0, 0.0], [-1.0, 0.0]], np.float32)
    assert pool_passages(opposite, [1.0, 1.0]).tolist() == [1.0, 0.0]
    mixed = pool_passages(np.array([[1.0, 0.0], [0.0, 1.0]], np.float32), [3.0, 4.0])
    np.testing.assert_allclose(mixed, [0.6, 0.8], atol=1e-6)


def test_the_key_follows_content_and_title() -> None:
    assert len({vector_key(b"a" * 32, "T"), vector_key(b"b" * 32, "T"), vector_key(b"a" * 32, "U")}) == 3
