"""What a note is still inside of at its end: text appended there would be swallowed or be the wrong thing.

The CommonMark parser itself says so for fences, HTML and comments: a heading is put at the end and looked for. What
only Obsidian knows (`%%` comments, `$$` blocks, frontmatter) is read here, and doubt counts as open: a refused append
costs one sentence, a swallowed one is never seen.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pyromark

from aria_dream.markdown.properties import find_frontmatter

if TYPE_CHECKING:
    from collections.abc import Iterator

_FRONTMATTER_OPEN = re.compile(r"\ufeff?---[ \t]*(?:\r\n|\n|\r)")
_PROPERTY = re.compile(r"\s*+(?:[\"']?[\w./ -]*+[\"']?[ \t]*+:(?:\s|\Z)|\Z)")
"""A key of whatever length, or none yet, and its colon; nothing is read twice."""
_TOKEN = re.compile(rb"%%|\$\$")
_PLUGIN_KEY = re.compile(r"(?:^|[{,])\s*[\"']?(?:[\w-]+-plugin|tldraw-file|excalidraw[\w-]*)[\"']?\s*:", re.MULTILINE)
_PLUGIN_BODY = re.compile(
    r"%%\s*[\w-]+:settings\s|==⚠ .*EXCALIDRAW VIEW|^```compressed-json|_START_OF_TLDRAW", re.MULTILINE
)
_PROBE = "## aria-dream-probe"


def has_unclosed_frontmatter(text: str) -> bool:
    """Whether `text` starts like a frontmatter that is never closed: a property being typed, or nothing yet."""
    opening = _FRONTMATTER_OPEN.match(text)
    return bool(opening and not find_frontmatter(text) and _PROPERTY.match(text, opening.end()))


def plugin_owner(text: str) -> str | None:
    """The mark by which a plugin claims the note for itself (a drawing, a board); None for an ordinary note.

    A frontmatter key `…-plugin` (Excalidraw, Kanban, Mind Map, Database folder), tldraw's key, or a settings or
    drawing block in the body, code fences included: it is inside one that drawings lie.
    """
    frontmatter = find_frontmatter(text)
    end = frontmatter.end if frontmatter else 0
    key = _PLUGIN_KEY.search(text[:end].replace("\r", "\n"))
    mark = key or _PLUGIN_BODY.search(text, end)
    return mark[0].strip(" \t\r\n{,:\"'") if mark else None


def open_ending(text: str) -> str | None:
    """What a heading appended to `text` on a line of its own would be inside of; None where it would be seen.

    The answer names the construct and the 1-based line that opens it: "a code block that line 3 opens". `text` may
    be any string, undecodable bytes as surrogates. Linear time.
    """
    if has_unclosed_frontmatter(text):
        return "a frontmatter that line 1 opens"
    frontmatter = find_frontmatter(text)
    body_start = frontmatter.body_start if frontmatter else 0
    first_line = 1 + _plain(text[:body_start]).count("\n")
    body = _plain(text[body_start:])
    source = body.encode()
    probe_at = len(source) + 2
    events = list(pyromark.events_with_range(f"{body}\n\n{_PROBE}\n"))
    swallowed_from = _swallowed_from(events, probe_at)
    if swallowed_from is not None:
        kind, start = swallowed_from
        return f"{kind} that line {first_line + source[:start].count(10)} opens"
    if not _TOKEN.search(source):
        return None
    code = list(_code_ranges(events))
    for escapes in (True, False):
        left_open = _open_token(source, code, escapes=escapes)
        if left_open is not None:
            token = source[left_open : left_open + 2]
            kind = "a %% comment" if token == b"%%" else "a $$ block"
            return f"{kind} that line {first_line + source[:left_open].count(10)} opens"
    return None


def _plain(text: str) -> str:
    """`text` as the parser may see it: encodable, one kind of line end. Lines stay lines; offsets do not."""
    encodable = text.encode("utf-8", "replace").decode().replace("\0", "\ufffd")
    return encodable.replace("\r\n", "\n").replace("\r", "\n")


_KINDS = {"CodeBlock": "a code block", "HtmlBlock": "an HTML block or comment"}


def _swallowed_from(events: list[tuple[object, dict[str, int]]], probe_at: int) -> tuple[str, int] | None:
    """The block that holds the probe, and where it starts; None where the probe is a heading at the top level."""
    for event, place in events:
        if not isinstance(event, dict) or "Start" not in event or place["end"] <= probe_at:
            continue
        start = event["Start"]
        kind = start if isinstance(start, str) else next(iter(start))
        if kind == "Heading" and place["start"] == probe_at:
            return None
        return _KINDS.get(kind, "a block"), place["start"]
    return "a block", 0


def _code_ranges(events: list[tuple[object, dict[str, int]]]) -> Iterator[tuple[int, int]]:
    for event, place in events:
        if not isinstance(event, dict):
            continue
        start = event.get("Start")
        if "Code" in event or (isinstance(start, dict) and "CodeBlock" in start):
            yield place["start"], place["end"]


def _open_token(source: bytes, code: list[tuple[int, int]], *, escapes: bool) -> int | None:
    """Where the `%%` or `$$` stands that is never closed; None where all are. Code is skipped; only the same token
    closes. `escapes` says whether a backslash takes a token's meaning: Obsidian's two views differ, so both are asked.
    """
    ranges = iter(code)
    code_start, code_end = next(ranges, (len(source), len(source)))
    opened: int | None = None
    at = 0
    while found := _TOKEN.search(source, at):
        at = found.end()
        while code_end <= found.start() and code_start < len(source):
            code_start, code_end = next(ranges, (len(source), len(source)))
        if code_start <= found.start() < code_end:
            continue
        if escapes and _is_escaped(source, found.start()):
            at = found.start() + 1
            continue
        if opened is None:
            opened = found.start()
        elif source[opened : opened + 2] == found[0]:
            opened = None
    return opened


def _is_escaped(source: bytes, at: int) -> bool:
    start = at
    while start > 0 and source[start - 1] == 0x5C:
        start -= 1
    return (at - start) % 2 == 1
