from __future__ import annotations

import pytest

from aria_dream.markdown.note import parse_note
from aria_dream.markdown.properties import parse_properties, render_property


@pytest.mark.parametrize(
    "source",
    [
        "k0: &k0 [x, x]\n"
        + "".join(f"k{i}: &k{i} [{', '.join([f'*k{i - 1}'] * 9)}]\n" for i in range(1, 9)),
        "x: &x [*x]\n",
        "a: &a {x: 1}\nb: {<<: [*a, *a]}\n",
        "f: " + "[" * 3000 + "]" * 3000 + "\n",
        "f: " + "- " * 30_000 + "x\n",
        "f:\n" + "- " * 30_000 + "x\n",
        "".join(" " * level + "a:\n" for level in range(2000)),
        "tags: [a, b\ntitle: x\n",
        "just words\n",
    ],
)
def test_what_cannot_be_read_gives_one_problem(source: str) -> None:
    properties, problems = parse_properties(source)
    assert properties == {}
    assert len(problems) == 1


def test_a_tag_or_a_number_too_large_loses_only_its_property() -> None:
    properties, problems = parse_properties("a: !!python/name:os.system\nb: 1\nc: " + "9" * 9000 + "\nd: .inf\n")
    assert properties == {"b": 1, "d": float("inf")}
    assert [problem.line for problem in problems] == [2, 4]


def test_template_braces_and_tabs() -> None:
    properties, problems = parse_properties("a: {{date}} {{time}}\nb:\tc\nl:\n  - {{title}}\ni: it's {{x}}\n")
    assert properties == {"a": "{{date}} {{time}}", "b": "c", "l": ["{{title}}"], "i": "it's {{x}}"}
    assert [problem.line for problem in problems] == [2, 5]


def test_tags_and_aliases_as_written() -> None:
    note = parse_note("---\nTags: a, '#b/c'\nALIASES: [007, true, 2024-01-05, 0x1F, ~]\n---\n")
    assert note.aliases == ("007", "true", "2024-01-05", "0x1F")
    note = parse_note('---\ntags: "a, #b/c, d e, 12"\n---\n')
    assert note.tags == ("a", "b/c")
    assert [problem.line for problem in note.problems] == [2, 2]


def test_printing_is_bounded() -> None:
    big: list[object] = ["x" * 50]
    for _ in range(60):
        big = [big, big]
    assert len(render_property(big, 200)) == 200
    assert render_property({"a": [1, True, None, "b\nc"]}) == "{a: [1, true, , b c]}"


def test_undecodable_bytes_and_nul() -> None:
    properties, problems = parse_properties("a: x\udcffy\nb: p\0q\n")
    assert properties == {"a": "x\ufffdy", "b": "p\ufffdq"}
    assert problems == ()
