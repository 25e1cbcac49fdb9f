"""From a file's bytes to the record that the index keeps of it. Pure and total."""

from __future__ import annotations

from typing import TYPE_CHECKING

from aria_dream.markdown.misread import is_utf16, misread_problems
from aria_dream.markdown.note_text import decode_note
from aria_dream.markdown.scan import scan_note
from aria_dream.vault.record import CARD, EMBED, FRONTMATTER, MARKDOWN, Record

if TYPE_CHECKING:
    from aria_dream.errors import Problem


def record_of_note(data: bytes) -> Record:
    """The record of a note with these bytes. Where the scan does not tell a link's place, its line is the next one that
    holds the link's path."""
    text = decode_note(data)
    scan = scan_note(text)
    paths: list[str] = []
    flags: list[int] = []
    lines: list[int] = []
    seen, line, body_start = 0, 1, scan.body_start
    for path, _, embed, in_frontmatter, markdown, start in scan.links:
        paths.append(path)
        flags.append(EMBED * embed | MARKDOWN * markdown | FRONTMATTER * in_frontmatter)
        at = body_start + start if start >= 0 else text.find(path, seen if in_frontmatter else max(seen, body_start))
        if at > seen:
            line += text.count("\n", seen, at)
            seen = at
        lines.append(line)
    return Record(
        link_paths=tuple(paths),
        link_flags=tuple(flags),
        link_lines=tuple(lines),
        words=scan.words,
        aliases=scan.aliases,
        tags=tuple(dict.fromkeys([tag.lower() for tag in scan.tags])),
        has_frontmatter=scan.body_start > 1,
        dream=scan.dream and not is_utf16(data),  # of what nobody can read there is nothing to dream
        marker=scan.marker,
        plugin=scan.plugin,
        problems=_lines((*misread_problems(data), *scan.problems)),
    )


def record_of_canvas(data: bytes) -> Record:
    """The record of a canvas with these bytes. Its links have no lines (0): JSON is often one line."""
    from aria_dream.vault.canvas import parse_canvas  # few vaults have canvases, and its imports cost 5 ms

    text = decode_note(data)
    links, problems = parse_canvas(text)
    return Record(
        link_paths=tuple(link.path for link in links),
        link_flags=tuple(
            CARD if link.embed and not link.raw.startswith("!") else EMBED * link.embed | MARKDOWN * link.markdown
            for link in links
        ),
        link_lines=(0,) * len(links),
        problems=_lines(problems),
    )


def _lines(problems: tuple[Problem, ...]) -> tuple[tuple[int, str], ...]:
    return tuple((problem.line, problem.message) for problem in problems)
