"""What appending does to a note's bytes, and when it is refused."""

from __future__ import annotations

import pytest
from markdown_it import MarkdownIt

from aria_dream.markdown.note import NotePath
from aria_dream.vault.edit import ABSENT, Refusal, WritePlan, content_hash, plan_append

PATH = NotePath("n.md")
BLOCK = "## Dream\n\none\ntwo"


def appended(before: bytes | None, block: str = BLOCK, head: str = "") -> bytes:
    """What the plan adds to the old bytes."""
    plan = plan_append(PATH, before, block, head=head)
    assert isinstance(plan, WritePlan), plan
    assert plan.content is not None
    assert plan.content.startswith(before or b"")
    assert plan.expected_hash == (ABSENT if before is None else content_hash(before))
    return plan.content[len(before or b"") :]


def refused(before: bytes, block: str = BLOCK) -> str:
    plan = plan_append(PATH, before, block)
    assert isinstance(plan, Refusal), plan
    return plan.reason


@pytest.mark.parametrize(
    ("before", "gap"),
    [
        (b"text", b"\n\n"),
        (b"text\n", b"\n"),
        (b"text\n\n", b""),
        (b"text\n\n\n\n", b""),
        (b"text\n  \t", b"\n"),
        (b"text\n\n   ", b"\n"),
        (b"text  ", b"\n\n"),
        (b"", b""),
        (b"\n\n", b""),
        (b"   ", b"\n"),
        (b"\xef\xbb\xbf", b""),
        (b"\xef\xbb\xbftext\n", b"\n"),
        (b"---\na: 1\n---\n", b"\n"),
        (b"---\na: 1\n---", b"\n\n"),
        (b"---\na: 1\n---   ", b"\n\n"),
        (b"---\n---\n", b"\n"),
        (b"a\r\nb", b"\r\n\r\n"),
        (b"a\r\nb\r\n", b"\r\n"),
        (b"a\r\nb\r\nc\nd\r\n", b"\r\n"),
        (b"a\nb\nc\r\n", b"\n"),
        (b"a\r\nb\n", b"\n"),  # a tie goes to LF
        (b"a\rb", b"\n\n"),  # a lone CR is kept, never written
        (b"a\r", b"\n\n"),  # the first LF only completes the CR
        (b"a\r\r", b""),
        (b"a\r\nb\r", b"\r\n"),
        ("a\u2028".encode(), b"\n\n"),  # NEL, LS and form feed end no line and are no blank line
        ("a\n\u0085".encode(), b"\n\n"),
        (b"a\n\x0c", b"\n\n"),
        (b"a\xff\xfe\n", b"\n"),
        (b"a\xc3", b"\n\n"),  # half a character stays half a character
        (b"a\0b\n", b"\n"),
        (b"- item\n", b"\n"),
        (b"> quote", b"\n\n"),
        (b"| a |\n| - |\n| b |\n", b"\n"),
        (b"# Heading", b"\n\n"),
        (b"```\ncode\n```\n", b"\n"),
        (b"    indented code", b"\n\n"),
        (b"[^1]: footnote\n", b"\n"),
    ],
)
def test_the_block_follows_one_blank_line_and_the_file_ends_with_one_line_end(before: bytes, gap: bytes) -> None:
    end = b"\r\n" if gap.startswith(b"\r\n") else b"\n"
    assert appended(before) == gap + end.join([b"## Dream", b"", b"one", b"two", b""])


def test_the_blocks_own_line_ends_become_the_notes() -> None:
    assert appended(b"a\n\n", "\n\nx\r\ny\rz\n\n\n") == b"x\ny\nz\n"


def test_a_note_that_does_not_exist_begins_with_its_head() -> None:
    assert appended(None, head="---\naria-dream: log\n---\n") == b"---\naria-dream: log\n---\n\n## Dream\n\none\ntwo\n"
    assert appended(None) == b"## Dream\n\none\ntwo\n"


def test_a_models_lone_surrogate_becomes_a_question_mark_and_no_raw_byte() -> None:
    assert appended(b"", "a\ud800b\udc80") == b"a?b?\n"


@pytest.mark.parametrize(
    ("before", "reason"),
    [
        (b"# F\n\n````md\n```js\ncode\n```\nstill open\n", "a code block that line 3 opens"),
        (b"~~~\n```\n", "a code block that line 1 opens"),
        (b"```\r\ncode\r\n", "a code block that line 1 opens"),
        (b"---\na: 1\n---\ntext\n\n```\n", "a code block that line 6 opens"),
        (b"```\ncode\n``\n", "a code block that line 1 opens"),
        (b"```\ncode\n``` no closing fence\n", "a code block that line 1 opens"),
        (b"# H\n\n<!-- draft\n", "an HTML block or comment that line 3 opens"),
        (b"<script>\nx\n\ny\n", "an HTML block or comment that line 1 opens"),
        (b"<pre>\n\n", "an HTML block or comment that line 1 opens"),
        (b"<?php\n", "an HTML block or comment that line 1 opens"),
        (b"# C\n\n%% hidden\nto do\n", "a %% comment that line 3 opens"),
        (b"a %% b %% c\n\n%%\n", "a %% comment that line 3 opens"),
        (b"# M\n\n$$\nx = 1\n", "a $$ block that line 3 opens"),
        (b"%% $$ %%\n\n$$ %% %%\n", "a $$ block that line 3 opens"),
        (b"---\ntitle: x\n", "a frontmatter that line 1 opens"),
        (b"---\n", "a frontmatter that line 1 opens"),
        (b"---\n  : x\n", "a frontmatter that line 1 opens"),  # a key not typed yet
        (b"---\n \t: x\n", "a frontmatter that line 1 opens"),
        (b"---\n' ' : x\n", "a frontmatter that line 1 opens"),
        (b"---\n'due date' \t:\n", "a frontmatter that line 1 opens"),
        (b"\xef\xbb\xbf---\r\ntags:\r\n  - a\r\n", "a frontmatter that line 1 opens"),
    ],
)
def test_a_note_that_ends_inside_something_is_refused_with_the_line(before: bytes, reason: str) -> None:
    assert f"inside {reason}" in refused(before)


@pytest.mark.parametrize(
    "before",
    [
        b"```\n%%\n```\n",
        b"`%%` and `$$`\n",
        b"%% a %% b\n",
        b"$$ x $$\n",
        b"$$\nx\n$$\n",
        b"%% `x` $$ %%\n",
        b"<!-- a -->\n",
        b"a <!-- never closed inside a paragraph\n",
        b"````\n```\n````\n",
        b"- ```\n  in a list\n",  # the list ends, and the fence with it
        b"> ```\n> in a quote\n",
        b"<div>\nblock of kind 6 ends at a blank line\n",
        b"---\n\n# A rule at the top, no frontmatter\n",
        b"text\n---\n",
        b"%%\n```\n%%\n```\n%%\n",
    ],
)
def test_what_is_closed_is_written_and_seen(before: bytes) -> None:
    whole = (before + appended(before, "## Dream\n\nx")).decode()
    tokens = MarkdownIt("commonmark").parse(whole)
    headings = [tokens[at + 1].content for at, token in enumerate(tokens) if token.type == "heading_open"]
    assert headings[-1] == "Dream"


@pytest.mark.parametrize("block", ["```\nopen", "a\n\n<!-- open", "%% open", "$$ open"])
def test_a_block_that_would_leave_something_open_is_refused(block: str) -> None:
    assert "would end inside" in refused(b"text\n", block)
    first = plan_append(PATH, None, block)
    assert isinstance(first, Refusal)


@pytest.mark.parametrize(
    "before",
    [
        b"---\nexcalidraw-plugin: parsed\ntags: [x]\n---\ntext\n",
        b"---\nkanban-plugin: board\n---\n\n## To do\n",
        b"---\r\nkanban-plugin: board\r\n---\r\n",
        b'---\n"mindmap-plugin": basic\n---\n',
        b'---\n{"excalidraw-plugin": "raw"}\n---\n',
        b"---\ntldraw-file: true\n---\n",
        b"## To do\n\n%% kanban:settings\n```\n{}\n```\n%%\n",
        "==⚠  Switch to EXCALIDRAW VIEW in the MORE OPTIONS menu ⚠==\n".encode(),
        b"```compressed-json\nN4KAk\n```\n",
    ],
)
def test_a_note_that_a_plugin_owns_is_refused(before: bytes) -> None:
    assert "plugin" in refused(before)


def test_a_note_about_plugins_is_an_ordinary_note() -> None:
    assert appended(b"---\ntitle: excalidraw-plugin\n---\nI like the kanban-plugin: it is good.\n")


@pytest.mark.parametrize("name", ["Map.canvas", "Table.base", "a.txt", "a", "S.excalidraw.md", "x.md.exe"])
def test_what_is_no_note_is_refused(name: str) -> None:
    assert isinstance(plan_append(NotePath(name), b"text\n", BLOCK), Refusal)
    assert isinstance(plan_append(NotePath(name), None, BLOCK), Refusal)


def test_utf_16_is_refused() -> None:
    assert "UTF-8" in refused("text".encode("utf-16"))


def test_hostile_notes_cost_linear_time() -> None:
    # A quadratic reading of these would run into the timeout of the test run.
    for piece in (b"<!-- ", b"%% ", b"\\", b"`", b"$$", b"> ", b"[[", b"---\n", b"\r", b"- "):
        plan_append(PATH, piece * (200_000 // len(piece)), BLOCK)
