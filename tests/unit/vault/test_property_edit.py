"""One property changes, every other byte of the note stays."""

from __future__ import annotations

from datetime import date

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from aria_dream.markdown.note import parse_note
from aria_dream.markdown.yaml_text import render_value
from aria_dream.vault.edit import Edit, Refusal
from aria_dream.vault.property_edit import plan_items, plan_property

BASE = '---\ntitle: "Simple: a colon"\n---\nbody\n'


def made(text: str, edit: Edit | Refusal | None) -> str:
    assert isinstance(edit, Edit), edit
    return text[: edit.start] + edit.new + text[edit.end :]


@pytest.mark.parametrize(
    ("text", "key", "value", "result"),
    [
        ("---\na: 1 # one\nB: 'x'   # two\n---\n", "b", "y z", "---\na: 1 # one\nB: y z   # two\n---\n"),
        ("---\na: 1\n---\nx", "b", True, "---\na: 1\nb: true\n---\nx"),
        ("---\r\na: 1\r\n---\r\nx", "b", 2, "---\r\na: 1\r\nb: 2\r\n---\r\nx"),
        ("---\nq: >-\n  x\n  y\n---\n", "b", 2, "---\nq: >-\n  x\n  y\nb: 2\n---\n"),
        ("---\nq: >-\n  x\n  y\nz: 1\n---\n", "q", "w", "---\nq: w\nz: 1\n---\n"),
        ("---\nl:\n- a\n-   b\n\nz: 1\n---\n", "l", ["c"], "---\nl: [c]\n\nz: 1\n---\n"),
        ("---\ne:\nz: 1\n---\n", "e", "v", "---\ne: v\nz: 1\n---\n"),
        ("---\ne: # c\nz: 1\n---\n", "z", None, "---\ne: # c\nz: null\n---\n"),
        ("---\n---\nx", "a", 1, "---\na: 1\n---\nx"),
        ("x\n", "a", 1, "---\na: 1\n---\nx\n"),
        ("\ufeffx\r\n", "a", 1, "\ufeff---\r\na: 1\r\n---\r\nx\r\n"),
        ("---\n{a: 1}\n---\n", "b", "x", "---\n{a: 1, b: x}\n---\n"),
        ("---\na: 1\n---\n", "d", date(2026, 1, 2), "---\na: 1\nd: 2026-01-02\n---\n"),
        ("---\na: 1\n---\n", "my key: x", 1, '---\na: 1\n"my key: x": 1\n---\n'),
        ("---\na: 1\n---", "b", 1, "---\na: 1\nb: 1\n---"),
        ("---\na: 1\n---\n", "up", "[[Note|x]]", '---\na: 1\nup: "[[Note|x]]"\n---\n'),
    ],
)
def test_one_property(text: str, key: str, value: object, result: str) -> None:
    assert made(text, plan_property(text, key, value)) == result


@pytest.mark.parametrize(
    "text",
    ["---\na: [1\n---\nx", "---\n- a\n---\nx", "---\na: 1\n", "---\nb: 1\nb: *x\n---\n", "---\njust text\n---\n"],
)
def test_a_frontmatter_that_is_not_read_is_not_written(text: str) -> None:
    assert isinstance(plan_property(text, "key", 1), Refusal)


def test_what_no_property_holds() -> None:
    assert isinstance(plan_property(BASE, "a", object()), Refusal)


@pytest.mark.parametrize(
    ("text", "key", "items", "result"),
    [
        ("---\naliases: [a]  # c\n---\n", "aliases", ["b: x"], '---\naliases: [a, "b: x"]  # c\n---\n'),
        ("---\naliases: []\n---\n", "aliases", ["b"], "---\naliases: [b]\n---\n"),
        ("---\ntags: [\n  a,\n  b,\n]\n---\n", "tags", ["c"], "---\ntags: [\n  a,\n  b, c\n]\n---\n"),
        ("---\ntags:\n  - a\n  - b # c\n# d\nz: 1\n---\n", "tags", ["c"],
        "---\ntags:\n  - a\n  - b # c\n  - c\n# d\nz: 1\n---\n"),
        ("---\ntags:\n-   a\n---\n", "tags", ["c"], "---\ntags:\n-   a\n-   c\n---\n"),
        ("---\ntags: a\n---\n", "tags", ["c"], "---\ntags: [a, c]\n---\n"),
        ("---\ntags: a, b # x\n---\n", "tags", ["c"], "---\ntags: a, b, c # x\n---\n"),
        ("---\naliases: 'it''s, so'\n---\n", "aliases", ["c"], "---\naliases: ['it''s, so', c]\n---\n"),
        ("---\naliases: it's, so\n---\n", "aliases", ["c"], '---\naliases: ["it\'s, so", c]\n---\n'),
        ("---\naliases:\nz: 1\n---\n", "aliases", ["c"], "---\naliases:\n  - c\nz: 1\n---\n"),
        ("---\nz: 1\n---\n", "aliases", ["c"], "---\nz: 1\naliases:\n  - c\n---\n"),
        ("---\nz: [1]\n---\n", "aliases", ["c"], "---\nz: [1]\naliases: [c]\n---\n"),
        ("x", "tags", ["c"], "---\ntags: [c]\n---\nx"),
    ],
)
def test_a_list_keeps_its_style(text: str, key: str, items: list[str], result: str) -> None:
    assert made(text, plan_items(text, key, items)) == result


def test_items_that_are_there_are_not_added() -> None:
    assert plan_items("---\naliases: [A, b]\n---\n", "aliases", ["a", "B"]) is None
    assert plan_items("---\ntags: '#a, b'\n---\n", "tags", ["a"]) is None


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False,
    allow_infinity=False) | st.text(max_size=20)
    | st.sampled_from(["yes", "null", "~", "1", "1e3", "2026-01-02", "a: b", "x #y", "- a", "---", "0x1",
    "12:30", "=", "<<"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=5,
)  # fmt: skip


@given(VALUES)
def test_any_value_is_read_back_by_both_kinds_of_reader(value: object) -> None:
    assert "\n" not in render_value(value)
    edit = plan_property(BASE, "key", value)
    if isinstance(edit, Refusal):
        # Obsidian's YAML takes a few things for a property that no note can hold.
        assert not isinstance(value, (bool, int, str)) or "\0" in str(value) or value == ""
        return
    after = made(BASE, edit)
    assert after.startswith('---\ntitle: "Simple: a colon"\nkey: ')
    assert after.endswith("\n---\nbody\n")
    assert yaml.safe_load(after.split("---\n")[1])["key"] == value


HEADS = st.lists(
    st.sampled_from(
        ["a: 1\n", "b: 'x'  # c\n", "# comment\n", "\n", "tags: [x, y]\n", "l:\n  - 1\n", "t: >-\n  f\n  g\n", "e:\n",
         "m:\n  k: v\n", "u: é\n", "ta:\tx\n", "aliases: foo\n"]
    ),
    unique=True, max_size=8,
)  # fmt: skip


@given(HEADS, st.sampled_from(["a", "b", "tags", "l", "t", "e", "m", "new"]), st.sampled_from(["\n", "\r\n"]))
def test_the_other_lines_stay(lines: list[str], key: str, end: str) -> None:
    text = ("---\n" + "".join(lines) + "---\nbody\n").replace("\n", end)
    edit = plan_property(text, key, "set")
    if isinstance(edit, Refusal):
        assert parse_note(text).problems or "ta:\tx" in text
        return
    after = made(text, edit)
    gone = [line for line in lines if line.startswith(f"{key}:")]
    assert [line for line in lines if line not in gone] == [
        line for line in lines if line not in gone and line.replace("\n", end) in after
    ]
    assert after.count(end) - after.count("\r\n" if end == "\n" else "\n") == after.count(end) * (end == "\n")
    assert str(parse_note(after).properties[key]) == "set"


@pytest.mark.parametrize("text", ["---\nd: {{date}}\n---\n", "---\na: 1\na: 2\n---\n", "---\na: [b\n---\n"])
def test_properties_with_a_problem_are_left_to_their_writer(text: str) -> None:
    assert isinstance(plan_property(text, "b", 1), Refusal)
