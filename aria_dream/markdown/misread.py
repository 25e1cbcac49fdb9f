"""What Obsidian cannot read right in a note: another encoding than UTF-8, and a merge that git has left open. Pure."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from aria_dream.errors import Problem
from aria_dream.markdown.note import decode_note
from aria_dream.markdown.properties import find_frontmatter

if TYPE_CHECKING:
    from collections.abc import Iterator

_UTF16: Final = "is UTF-16, which Obsidian cannot read; save it as UTF-8"
_NOT_UTF8: Final = "is not UTF-8 (perhaps Windows-1252), so Obsidian shows the wrong letters; save it as UTF-8"
_CONFLICT: Final = "git left conflict markers here; settle them, then aria-dream writes into the note again"
_START: Final = re.compile(r"<{7}(?: [^\n]*)?")
_MIDDLE: Final = re.compile(r"={7}")
_END: Final = re.compile(r">{7}(?: [^\n]*)?")
_FENCE: Final = re.compile(r" {0,3}(?P<mark>`{3,}|~{3,})(?P<rest>[^\n]*)")
_LINE: Final = re.compile(r"[^\r\n]*(?:\r\n|\n|\r|\Z)")


def misread_problems(data: bytes) -> tuple[Problem, ...]:
    """What is wrong with a note's bytes, with the line where one can be named; no path."""
    encoding = _encoding_problem(data)
    if encoding:
        return (encoding,)
    line = conflict_line(data)
    if not line:
        return ()
    return (Problem("", line, _CONFLICT),)


def is_misread(problem: Problem) -> bool:
    """Whether the problem is one of `misread_problems`."""
    return problem.message in (_UTF16, _NOT_UTF8, _CONFLICT)


def is_utf16(data: bytes) -> bool:
    """Whether the bytes are UTF-16, with a mark that says so or without: where most characters are plain ones, or where
    they are no UTF-8, or full of control characters, and read as letters so."""
    if data.startswith((b"\xff\xfe", b"\xfe\xff")):
        return True
    head = data[:4096]
    if b"\0" not in head:
        return False
    pairs = len(head) // 2
    fewer, more = sorted((head[0::2].count(0), head[1::2].count(0)))
    if more >= 3 and more > 0.4 * pairs and fewer < 0.1 * pairs:
        return True
    low = sum(byte < 0x20 and byte not in b"\0\t\n\r" for byte in head)
    odd = low > 0.2 * len(head) or not _is_utf8(data)
    return odd and any(_reads_as_letters(head[: 2 * pairs], kind) for kind in ("le", "be"))


def _is_utf8(data: bytes) -> bool:
    try:
        data.decode()
    except UnicodeDecodeError:
        return False
    return True


def _reads_as_letters(data: bytes, kind: str) -> bool:
    if sum(0x20 <= byte < 0x7F for byte in data) > 0.8 * len(data):
        return False  # two plain letters beside each other look like a Chinese one
    text = data.decode(f"utf-16-{kind}", "replace")
    odd = sum(not (letter.isprintable() or letter.isspace()) or letter == "\ufffd" for letter in text)
    return odd <= 1 and sum(map(str.isalpha, text)) >= 0.5 * len(text)  # the last may be half of a pair


def _encoding_problem(data: bytes) -> Problem | None:
    if is_utf16(data):
        return Problem("", 0, _UTF16)
    try:
        data.decode()
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        return Problem("", line, _NOT_UTF8)
    return None


def conflict_line(data: bytes) -> int:
    """The line (from 1) at which git left the first of its conflicts; 0 where there is none.

    A conflict is `<<<<<<<`, perhaps `|||||||`, `=======` and `>>>>>>>`, each at the beginning of a line. Inside a code
    fence that holds all of them they are a sample.
    """
    if b"<<<<<<<" not in data or b">>>>>>>" not in data:
        return 0
    text = decode_note(data)
    frontmatter = find_frontmatter(text)
    fence, opened, middle = "", 0, False
    for number, at, line, is_fenced in _lines(text, frontmatter.body_start if frontmatter else 0):
        if _START.fullmatch(line) or (number == 1 and _START.fullmatch(line.removeprefix("\ufeff"))):
            opened, middle, fence = number, False, is_fenced
        elif opened and _MIDDLE.fullmatch(line):
            middle = True
        elif opened and middle and _END.fullmatch(line):
            if not fence or is_fenced != fence or not _closes(text, at, fence):
                return opened
            opened = 0
    return 0


def _lines(text: str, body_start: int) -> Iterator[tuple[int, int, str, str]]:
    """Number, end, text and surrounding code fence (`""` where there is none; it bears its line) of each line."""
    fence = ""
    for number, found in enumerate(_LINE.finditer(text), 1):
        line = found[0].rstrip("\r\n")
        mark = _FENCE.fullmatch(line) if found.start() >= body_start else None
        if mark and not fence and not (mark["mark"][0] == "`" and "`" in mark["rest"]):
            fence = f"{mark['mark']} {number}"
        elif mark and fence and mark["mark"].startswith(fence.split()[0]) and not mark["rest"].strip():
            fence = ""
        yield number, found.end(), line, fence


def _closes(text: str, at: int, fence: str) -> bool:
    """Whether the code fence is closed behind `at`: one that never is may be what the conflict tore apart."""
    mark = fence.split(maxsplit=1)[0]
    return re.search(rf"^ {{0,3}}{re.escape(mark)}[{mark[0]}]*[ \t]*\r?$", text[at:], re.MULTILINE) is not None
