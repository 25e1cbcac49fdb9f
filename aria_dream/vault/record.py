"""What the index keeps of one file's content, packed into one short text: it depends on nothing but the bytes.

A vault of 50,000 notes holds 350,000 links. Kept as objects they cost 300 MB; packed, 20 MB, and only the notes that
somebody asks about are unpacked.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

EMBED = 1
MARKDOWN = 2
FRONTMATTER = 4
CARD = 8
"""A file card of a canvas."""
AMBIGUOUS = 16
"""Not part of a record: set where the link was resolved and more than one file could have been meant."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Record:
    """Facts of one note or canvas that hold wherever it lies."""

    link_paths: tuple[str, ...] = ()
    """What each link looks up (`Link.path`), in source order; `""` is the note itself."""
    link_flags: tuple[int, ...] = ()
    """Sum of EMBED, MARKDOWN, FRONTMATTER, CARD per link."""
    link_lines: tuple[int, ...] = ()
    """1-based line per link."""
    words: int = 0
    aliases: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    """Distinct, lower-cased, without `#`."""
    has_frontmatter: bool = False
    dream: bool = True
    marker: str = ""
    plugin: str = ""
    problems: tuple[tuple[int, str], ...] = field(default=())
    """Line and message of each Problem."""


EMPTY = Record()


def pack_record(record: Record) -> str:
    """`record` as one line of ASCII; `unpack_record` gives it back."""
    return json.dumps(
        [
            record.link_paths,
            record.link_flags,
            record.link_lines,
            record.words,
            record.aliases,
            record.tags,
            int(record.has_frontmatter),
            int(record.dream),
            record.marker,
            record.plugin,
            record.problems,
        ],
        separators=(",", ":"),
    )


def unpack_record(packed: str) -> Record:
    """The record in `packed`. Raises ValueError where it is none: the cache that held it is damaged."""
    try:
        paths, flags, lines, words, aliases, tags, frontmatter, dream, marker, plugin, problems = json.loads(packed)
        record = Record(
            link_paths=tuple(paths),
            link_flags=tuple(flags),
            link_lines=tuple(lines),
            words=words,
            aliases=tuple(aliases),
            tags=tuple(tags),
            has_frontmatter=bool(frontmatter),
            dream=bool(dream),
            marker=marker,
            plugin=plugin,
            problems=tuple((line, message) for line, message in problems),
        )
    except (TypeError, RecursionError) as error:
        raise ValueError("not a packed record") from error
    if not len(record.link_paths) == len(record.link_flags) == len(record.link_lines):
        raise ValueError("not a packed record")
    return record


@dataclass(frozen=True, slots=True, kw_only=True)
class NameCounts:
    """Tags, aliases and frontmatter over a vault's notes."""

    distinct_tags: int
    notes_with_tags: int
    aliases: int
    notes_with_aliases: int
    notes_with_frontmatter: int


def count_names(records: Iterable[Record]) -> NameCounts:
    """The counts over the records of notes."""
    tags: set[str] = set()
    with_tags = aliases = with_aliases = with_frontmatter = 0
    for record in records:
        tags.update(record.tags)
        with_tags += bool(record.tags)
        aliases += len(record.aliases)
        with_aliases += bool(record.aliases)
        with_frontmatter += record.has_frontmatter
    return NameCounts(
        distinct_tags=len(tags),
        notes_with_tags=with_tags,
        aliases=aliases,
        notes_with_aliases=with_aliases,
        notes_with_frontmatter=with_frontmatter,
    )
