"""Notes that Obsidian cannot read right: their encoding, and merges that git left open."""

from __future__ import annotations

import pytest

from aria_dream.markdown.misread import conflict_line, is_utf16, misread_problems
from aria_dream.markdown.note import NotePath
from aria_dream.vault.edit import note_refusal
from aria_dream.vault.record import record_of_note

NORMAL = "<<<<<<< HEAD\nours\n=======\ntheirs\n>>>>>>> other\n"
DIFF3 = "<<<<<<< HEAD\nours\n||||||| 1a2b3c4\nbase\n=======\ntheirs\n>>>>>>> other\n"


@pytest.mark.parametrize(
    ("text", "line"),
    [
        (NORMAL, 1),
        (DIFF3, 1),
        (f"\ufeff{NORMAL}", 1),
        (f"A line.\n\n{DIFF3}", 3),
        (f"---\n{NORMAL}---\nText.\n", 2),
        (f"---\ntags: [a]\n---\n```sh\ncode\n```\n{NORMAL}", 7),
        (f"```sh\n{NORMAL}", 2),  # no fence that ends: the conflict may have torn it apart
        ("<<<<<<< HEAD\n```\nours\n=======\n```\ntheirs\n>>>>>>> other\n```\n", 1),
        ("<<<<<<<\nours\n=======\n>>>>>>>\n", 1),
        (f"Heading\n=======\n\n{NORMAL}", 4),
        (f"```\n{NORMAL}```\n\n{NORMAL}", 9),
    ],
)
def test_a_merge_that_git_left_open(text: str, line: int) -> None:
    for said in (text, text.replace("\n", "\r\n")):
        assert conflict_line(said.encode()) == line
        assert [problem.line for problem in misread_problems(said.encode())] == [line]
        reason = note_refusal(NotePath("Wall.md"), said.encode())
        assert reason == f"Wall.md holds conflict markers of git (line {line}); settle them first"


@pytest.mark.parametrize(
    "text",
    [
        "Heading\n=======\n\nText.\n",
        f"Conflicts look so:\n\n```\n{NORMAL}```\n\nand so on.\n",
        f"~~~~diff\n{DIFF3}~~~~\n",
        "    " + NORMAL.replace("\n", "\n    "),
        "> " + NORMAL.replace("\n", "\n> "),
        "A line with <<<<<<< and >>>>>>> in it.\n=======\n",
        "<<<<<<< only a beginning\n\n=======\n",
        ">>>>>>> other\n=======\n<<<<<<< HEAD\n",
        "<<<<<<<< eight\na\n========\nb\n>>>>>>>> eight\n",
    ],
)
def test_no_merge_of_git(text: str) -> None:
    for said in (text, text.replace("\n", "\r\n")):
        assert conflict_line(said.encode()) == 0
        assert note_refusal(NotePath("Wall.md"), said.encode()) is None


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "utf-16-be"])
def test_utf_16_is_known_with_and_without_its_mark(encoding: str) -> None:
    data = "The café by the garden sells bread.\n".encode(encoding)
    assert is_utf16(data)
    (problem,) = misread_problems(data)
    assert problem.message == "is UTF-16, which Obsidian cannot read; save it as UTF-8"
    assert note_refusal(NotePath("a.md"), data) == "a.md is not UTF-8 text"


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "utf-16-be"])
@pytest.mark.parametrize("text", ["没有标记的笔记，说的是面包和茶。\n", "Заметка о хлебе и чае.\n"])
def test_utf_16_of_other_scripts_is_known_and_never_dreamt(encoding: str, text: str) -> None:
    data = (text * 9).encode(encoding)
    assert is_utf16(data)
    assert not record_of_note(data).dream
    for other in ("shift_jis", "gb18030", "koi8-r", "utf-8"):
        assert not is_utf16((text * 9).encode(other, "ignore"))
    assert not is_utf16(b"a\0b caf\xe9, and a stray zero\n")


def test_another_encoding_is_named_with_the_first_line_that_shows_it() -> None:
    (problem,) = misread_problems("One line.\nThe café by the garden.\n".encode("cp1252"))
    assert problem.line == 2
    assert "not UTF-8" in problem.message


@pytest.mark.parametrize("data", [b"", b"plain\n", "\ufeffcafé 東京 🎉\n".encode(), b"a\0b\n", b"\0\0\0\0"])
def test_what_is_utf_8_has_no_problem(data: bytes) -> None:
    assert misread_problems(data) == ()
