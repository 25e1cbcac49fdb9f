"""The list items of a policy note that are settings, told apart from examples and prose.

Blocks are read by a CommonMark parser; quotes, code, HTML and comments hold examples and never count. What is hidden by
a block that nobody closed is told apart, because a forgotten fence must not switch a prohibition off.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import Enum
from itertools import accumulate
from typing import Any

import pyromark

from aria_dream.markdown.properties import find_frontmatter, parse_properties

_BULLET = re.compile(
    r"(?P<indent>[ \t\u00a0]*)(?:(?P<bullet>[-*+])|[0-9]{1,9}[.)]|[\u2010-\u2015\u2022])[ \t\u00a0]+"
)
_TASK = re.compile(r"\[.\]\s+")
_PAIR = re.compile(r"(?P<key>[^:\uff1a=|#]{1,60}?)\s*(?P<sign>[:\uff1a]|=(?!=))(?!//)\s*(?P<value>.*)", re.DOTALL)
_KEY = re.compile(r"[^\W\d_][\w \u00a0\u2010-\u2015-]*")
_FENCE = re.compile(r"[^`~]*(?P<fence>`{3,}|~{3,})(?P<rest>.*)")


class Form(Enum):
    """How a `key: value` stands in the note."""

    SETTING = "a list item"
    LOOKALIKE = "not a plain list item"
    """A bare line, a numbered item, a tick box, `=` for `:`. Prose, unless it says exactly what a setting says."""
    UNCLOSED = "inside a block that is never closed"
    PROPERTY = "among the properties"


@dataclass(frozen=True, slots=True, kw_only=True)
class SettingLine:
    """One `key: value`, not judged yet."""

    line: int
    """1-based."""
    key: str
    """As written, without emphasis."""
    value: str
    """The rest of the line, remark included."""
    more: tuple[str, ...]
    """The lines that belong to the same list item: continuations, and nested items without a key."""
    form: Form


@dataclass(frozen=True, slots=True)
class _Line:
    number: int
    indent: int
    bullet: bool
    plain: bool
    """A dash, star or plus and no tick box: what a setting is written with."""
    text: str
    hidden: Form | None
    """UNCLOSED or None; an example is dropped before."""


def setting_entries(text: str) -> tuple[SettingLine, ...]:
    """Every `key: value` of the note that could be a setting, in order; properties first. Total on any text."""
    lines = normal_lines(text)
    properties, body_at = _properties(text, lines)
    body = _visible(lines, body_at)
    return (*properties, *(entry for at in range(len(body)) if (entry := _entry(body, at)) is not None))


def normal_lines(text: str) -> list[str]:
    """The note's lines, without BOM, line ends, and what no UTF-8 text holds."""
    clean = text.encode("utf-8", "surrogatepass").decode("utf-8", "replace").removeprefix("\ufeff")
    return clean.replace("\r\n", "\n").replace("\r", "\n").split("\n")


def note_properties(text: str) -> dict[str, object] | None:
    """The frontmatter's values; empty where there is none, None where there is one that cannot be read."""
    found = find_frontmatter(text)
    if found is None:
        return {}
    properties, problems = parse_properties(text[found.start : found.end])
    return None if problems and not properties else properties


def _properties(text: str, lines: list[str]) -> tuple[tuple[SettingLine, ...], int]:
    """Entries of the frontmatter, and the index of the first line behind it."""
    found = find_frontmatter(text)
    if found is None:
        return (), 0
    end = len(normal_lines(text[: found.body_start])) - (0 if text[found.end : found.body_start].endswith("---") else 1)
    entries = [
        SettingLine(line=_line_of(lines[:end], key), key=key, value=_flat(value), more=(), form=Form.PROPERTY)
        for key, value in (note_properties(text) or {}).items()
    ]
    return tuple(entries), end


def _line_of(lines: list[str], key: str) -> int:
    found = (number for number, line in enumerate(lines, 1) if line.strip("\"' ").startswith(key))
    return next(found, 1)


def _flat(value: object) -> str:
    if isinstance(value, bool):
        return "on" if value else "off"
    if isinstance(value, list | tuple):
        return ", ".join(_flat(item) for item in value)
    return "" if value is None else str(value)


def _visible(lines: list[str], body_at: int) -> list[_Line]:
    """The body's lines without examples; inline comments are taken out, what a block left open hides is marked."""
    examples, unclosed = _blocks(lines, body_at)
    out: list[_Line] = []
    commented: list[_Line] = []
    inside = False
    for number in range(body_at, len(lines)):
        if number in examples:
            continue
        if number in unclosed:
            out.append(_read_line(number + 1, lines[number], Form.UNCLOSED))
            continue
        was_inside = inside
        text, inside = _without_comments(re.sub(r"<!--.*?-->", "", lines[number]), inside=inside)
        if was_inside and inside:
            commented.append(_read_line(number + 1, lines[number], Form.UNCLOSED))
            continue
        commented = [] if was_inside else commented
        out.append(_read_line(number + 1, text, None))
    return out + commented if inside else out


def _without_comments(text: str, *, inside: bool) -> tuple[str, bool]:
    """`text` without what stands between `%%` and `%%`, and whether a comment is still open behind it."""
    parts = text.split("%%")
    kept = [part for index, part in enumerate(parts) if (index % 2 == 1) == inside]
    return "".join(kept), inside != (len(parts) % 2 == 0)


def _blocks(lines: list[str], body_at: int) -> tuple[frozenset[int], frozenset[int]]:
    """Line indexes that lie in quotes, code or HTML, and those that lie in such a block which nobody closed."""
    body = "\n".join(lines[body_at:]).replace("\x00", " ")
    starts = [0, *accumulate(len(line.encode()) + 1 for line in body.split("\n"))]
    hidden: set[int] = set()
    unclosed: set[int] = set()
    at = 0
    for event, span in sorted(_opaque(body), key=lambda item: item[1]):
        while at + 1 < len(starts) and starts[at + 1] <= span[0]:
            at += 1
        end = at
        while end < len(starts) - 1 and starts[end] < span[1]:
            end += 1
        inside = range(body_at + at, body_at + end)
        whole = lines[inside.start : inside.stop]
        (unclosed if _is_unclosed(event, whole) else hidden).update(inside)
    return frozenset(hidden - unclosed), frozenset(unclosed)


def _opaque(body: str) -> list[tuple[str, tuple[int, int]]]:
    found: list[tuple[str, tuple[int, int]]] = []
    for event, span in pyromark.events_with_range(body):
        if not isinstance(event, dict) or "Start" not in event:
            continue
        tag: Any = event["Start"]
        name = tag if isinstance(tag, str) else next(iter(tag))
        if name == "CodeBlock":
            name = "Fence" if isinstance(tag["CodeBlock"], dict) else "Indented"
        if name in ("Fence", "Indented", "HtmlBlock", "BlockQuote"):
            found.append((name, (span["start"], span["end"])))
    return found


def _is_unclosed(name: str, lines: list[str]) -> bool:
    while lines and not lines[-1].strip():
        lines = lines[:-1]
    if name == "Fence":
        opening, closing = _FENCE.match(lines[0]), _FENCE.match(lines[-1])
        if opening is None or closing is None or len(lines) < 2 or closing["rest"].strip():
            return True
        return not closing["fence"].startswith(opening["fence"])
    if name == "HtmlBlock":
        text = "\n".join(lines)
        return text.rfind("<!--") > text.rfind("-->")
    return False


def _read_line(number: int, raw: str, hidden: Form | None) -> _Line:
    found = _BULLET.match(raw)
    if found is None:
        text = raw.strip()
        return _Line(number, len(raw) - len(raw.lstrip()), bullet=False, plain=False, text=text, hidden=hidden)
    text = raw[found.end() :].strip()
    task = _TASK.match(text)
    text = text[task.end() :] if task else text
    plain = found["bullet"] is not None and task is None
    return _Line(number, len(found["indent"]), bullet=True, plain=plain, text=text, hidden=hidden)


def _entry(lines: list[_Line], at: int) -> SettingLine | None:
    line = lines[at]
    pair = _PAIR.fullmatch(_without_emphasis(line.text))
    if pair is None or not _KEY.fullmatch(pair["key"].strip()):
        return None
    form = Form.SETTING if line.plain and pair["sign"] != "=" else Form.LOOKALIKE
    return SettingLine(line=line.number, key=pair["key"].strip(), value=pair["value"].strip(),
                 more=_belonging(lines, at), form=line.hidden or form)


def _without_emphasis(text: str) -> str:
    """`text` where a key in bold, italics or backticks is bare."""
    for mark in ("**", "__", "*", "`"):
        if text.startswith(mark) and mark in text[len(mark) :]:
            return text.replace(mark, "", 2)
    return text


def _belonging(lines: list[_Line], at: int) -> tuple[str, ...]:
    """The texts of the lines that CommonMark counts to the same list item and that are no `key: value` themselves."""
    if not lines[at].bullet:
        return ()
    out: list[str] = []
    after_blank = False
    for line in lines[at + 1 :]:
        if not line.text:
            after_blank = True
            continue
        deeper = line.indent > lines[at].indent
        if not deeper and (line.bullet or after_blank or line.text.startswith("#")):
            break
        if (line.bullet and _is_pair(line.text)) or line.text.startswith(("```", "~~~")):
            break
        out.append(line.text)
    return tuple(out)


def _is_pair(text: str) -> bool:
    pair = _PAIR.fullmatch(_without_emphasis(text))
    return pair is not None and re.fullmatch(r"[^\W\d_][\w-]*", pair["key"].strip()) is not None
