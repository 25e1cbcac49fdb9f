"""What of a text is compared."""

from __future__ import annotations

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from aria_dream.consolidate.claims import read_claims
from aria_dream.consolidate.passages import passages_of_note
from aria_dream.consolidate.wording import CODE, QUOTE, TABLE, TASK, read_wording
from aria_dream.markdown.note import parse_note


def words(text: str) -> list[str]:
    return [word.key for word in read_wording(parse_note(text)).words]


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("One two three four.\n", "One two\nthree  four\n"),
        ("- One two.\n- Three\n", "* One two\n* Three.\n"),
        ("It *is* **not** `x`.\n", "It is not `x`\n"),
        ("He said “yes”.\n", 'He said "yes".\n'),
        ("It's ==late==.\n", "It\u2019s late\n"),
        ("# A b\n\nc\n", "A b\n===\n\nc\n"),
        ("a b\r\nc\r\n", "a b\nc\n"),
        ("[[Bread]] rises\n", "Bread rises\n"),
        ("see [[Note|the note]] ^block\n", "see the note\n"),
        ("caf\u00e9 x\n", "cafe\u0301 x\n"),
        ("1. one\n2. two\n", "- one\n- two\n"),
        ("お茶。\n熱い。\n", "お茶。熱い。\n"),
        ("a #tag b\n", "a b\n"),
        ("5 km\n", "5km\n"),
    ],
)
def test_layout_is_gone(first: str, second: str) -> None:
    assert words(first) == words(second)


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("It was 1.5 g.\n", "It was 15 g.\n"),
        ("-5 degrees\n", "5 degrees\n"),
        ("It is late.\n", "It is late?\n"),
        ("x² is\n", "x2 is\n"),
        ("- [ ] a\n", "- [x] a\n"),
        ("~~gone~~ a\n", "gone a\n"),
        ("`a b` c\n", "`a  b` c\n"),
        ("$5 each\n", "€5 each\n"),
        ("He said “yes”.\n", "He said yes.\n"),
        ("1987. Until then it was so.\n", "1978. Until then it was so.\n"),
        ("5 - 3 is\n", "5 3 is\n"),
        ("> a b\n", "a b\n"),
        ("![[a.png]] x\n", "![[b.png]] x\n"),
        ("see https://a.example/x\n", "see https://a.example/y\n"),
        ("$x+1$ is\n", "$x-1$ is\n"),
        ("a <b>c</b>\n", "a <i>c</i>\n"),
        ("%%no%% a\n", "a\n"),
        ("कि\n", "की\n"),
        ("a=b\n", "a b\n"),
    ],
)
def test_what_changes_a_meaning_stays(first: str, second: str) -> None:
    assert words(first) != words(second)


def test_where_words_stand() -> None:
    found = read_wording(
        parse_note("own\n\n> q\n\n> [!note] t\n> mine\n\n- [ ] task\n\n```\ncode x\n```\n\n|c|\n|-|\n|d|\n")
    )
    places = {word.key: word.place for word in found.words}
    assert places["own"] == 0
    assert places["q"] == QUOTE
    assert places["mine"] == 0
    assert places["task"] == TASK
    assert places["code x"] == CODE
    assert places["d"] == TABLE


def test_offsets_are_those_of_the_note() -> None:
    text = "---\na: 1\n---\nOne [[Two|tw]] *three* http://x.example/ four\n"
    found = read_wording(parse_note(text))
    assert [text[word.start : word.end] for word in found.words] == [
        "One",
        "[[Two|tw]]",
        "three",
        "http://x.example/",
        "four",
    ]
    assert [target for _, target in found.links] == ["two", "http://x.example/"]


_FILL = "word " * 20
_ANYTHING = st.text() | st.text(alphabet="a漢ไα1 .\u00ad\u200b\u2060\u0301[]|#!-*`>\n")


@given(_ANYTHING.map(lambda text: f"{text} {_FILL}"))
@example(f"\u200b漢 \u00ad\u2060ไทย [[\u200b漢|\u200b]] {_FILL}")
def test_any_note_has_words_and_none_is_empty(text: str) -> None:
    note = parse_note(text)
    assert all(word.key for word in read_wording(note).words)
    for passage in passages_of_note("Note.md", note):
        read_claims(passage)
