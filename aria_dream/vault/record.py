"""What the index keeps of one file's content, packed into one short text: it depends on nothing but the bytes.

A vault of 50,000 notes holds 350,000 links. Kept as objects they cost 300 MB; packed, 20 MB, and only the notes that
somebody asks about are unpacked. Reading is pure and total.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from aria_dream.markdown.misread import is_utf16, misread_problems
from aria_dream.markdown.note import decode_note
from aria_dream.markdown.scan import scan_note

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from aria_dream.errors import Problem

EMBED = 1
MARKDOWN = 2
FRONTMATTER = 4
CARD = 8
"""A file card of a canvas."""
AMBIGUOUS = 16
"""Not part of a record: set where the link was resolved and more than one file could have been meant."""


class FileRecord(NamedTuple):
    """Facts of one note or canvas that hold wherever it lies. (Made for every note: a frozen dataclass takes four times
    as long.)"""

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
    problems: tuple[tuple[int, str], ...] = ()
    """Line and message of each Problem."""


EMPTY = FileRecord()

# The packed form: fields between "\x1e", items each closed by "\x1f", both escaped inside items by "\x1d". JSON takes
# five times as long to make and twice as long to read.
_FIELDS = 10
_ESCAPES = {"\x1d": "\x1d0", "\x1e": "\x1d1", "\x1f": "\x1d2"}
_ESCAPED = {escaped: plain for plain, escaped in _ESCAPES.items()}
_NEEDS_ESCAPE = re.compile("[\x1d\x1e\x1f]")
_IS_ESCAPED = re.compile("\x1d[012]")


def pack_record(record: FileRecord) -> bytes:
    """`record` as bytes; `unpack_record` gives it back."""
    return "\x1e".join(
        (
            _joined(record.link_paths),
            bytes(record.link_flags).hex(),
            " ".join(map(str, record.link_lines)),
            str(record.words),
            _joined(record.aliases),
            _joined(record.tags),
            f"{record.has_frontmatter:d}{record.dream:d}",
            _joined((record.marker,)),
            _joined((record.plugin,)),
            _joined([f"{line}:{message}" for line, message in record.problems]) if record.problems else "",
        )
    ).encode("utf-8", "surrogatepass")


def unpack_record(packed: bytes) -> FileRecord:
    """The record in `packed`. Raises ValueError where it is none: the cache that held it is damaged."""
    fields = _fields(packed)
    paths, flags, lines, words, aliases, tags, switches, marker, plugin, problems = fields
    numbers = tuple(map(int, lines.split()))
    link_paths, link_flags = _links(paths, flags)
    if len(numbers) != len(link_paths) or len(switches) != 2:
        raise ValueError("not a packed record")
    return FileRecord(
        link_paths=tuple(link_paths),
        link_flags=tuple(link_flags),
        link_lines=numbers,
        words=int(words),
        aliases=tuple(_split(aliases)),
        tags=tuple(_split(tags)),
        has_frontmatter=switches[0] == "1",
        dream=switches[1] == "1",
        marker="".join(_split(marker)),
        plugin="".join(_split(plugin)),
        problems=tuple((int(line), message) for line, _, message in (item.partition(":") for item in _split(problems))),
    )


def unpack_links(packed: bytes) -> tuple[list[str], bytes]:
    """The paths and flags of a record's links: what linking a vault needs, at a fifth of the cost of the whole."""
    paths, flags, *rest = packed.split(b"\x1e", 2)
    if not rest or rest[0].count(b"\x1e") != _FIELDS - 3:
        raise ValueError("not a packed record")
    return _links(paths.decode("utf-8", "surrogatepass"), flags.decode("ascii"))


def unpack_places(packed: bytes) -> tuple[list[str], list[int]]:
    """The paths and lines of a record's links: what listing some of them needs."""
    paths, _, lines, *_ = _fields(packed)
    found = _split(paths), list(map(int, lines.split()))
    if len(found[0]) != len(found[1]):
        raise ValueError("not a packed record")
    return found


def unpack_facts(packed: bytes) -> tuple[int, tuple[str, ...], tuple[str, ...], bool, str, str]:
    """Words, aliases, tags, `dream`, marker and plugin of a record: what every dream asks of every note, for a
    quarter of what all of it costs."""
    _, _, _, words, aliases, tags, switches, marker, plugin, _ = _fields(packed)
    if len(switches) != 2:
        raise ValueError("not a packed record")
    return (
        int(words),
        tuple(_split(aliases)) if aliases else (),
        tuple(_split(tags)) if tags else (),
        switches[1] == "1",
        "".join(_split(marker)) if marker != "\x1f" else "",
        "".join(_split(plugin)) if plugin != "\x1f" else "",
    )


def packed_marker(packed: bytes) -> str:
    """The marker of a record, for a hundredth of what its facts cost: it is asked of every note at every change."""
    field = packed.rsplit(b"\x1e", 3)[1]
    return "" if field == b"\x1f" else "".join(_split(field.decode("utf-8", "surrogatepass")))


def has_problems(packed: bytes) -> bool:
    """Whether the record holds problems."""
    return not packed.endswith(b"\x1e")


def _fields(packed: bytes) -> list[str]:
    fields = packed.decode("utf-8", "surrogatepass").split("\x1e")
    if len(fields) != _FIELDS:
        raise ValueError("not a packed record")
    return fields


def _links(paths: str, flags: str) -> tuple[list[str], bytes]:
    found = _split(paths), bytes.fromhex(flags)
    if len(found[0]) != len(found[1]):
        raise ValueError("not a packed record")
    return found


def _joined(items: Sequence[str]) -> str:
    if not items:
        return ""
    joined = "\x1f".join(items) + "\x1f"
    if joined.count("\x1f") == len(items) and "\x1e" not in joined and "\x1d" not in joined:
        return joined
    return "".join(_NEEDS_ESCAPE.sub(lambda found: _ESCAPES[found[0]], item) + "\x1f" for item in items)


def _split(joined: str) -> list[str]:
    if not joined:
        return []
    items = joined.split("\x1f")
    if items.pop():
        raise ValueError("not a packed record")
    if "\x1d" in joined:
        return [_IS_ESCAPED.sub(lambda found: _ESCAPED[found[0]], item) for item in items]
    return items


@dataclass(frozen=True, slots=True, kw_only=True)
class NameCounts:
    """Tags, aliases and frontmatter over a vault's notes."""

    distinct_tags: int
    notes_with_tags: int
    aliases: int
    notes_with_aliases: int
    notes_with_frontmatter: int


def count_names(packed: Iterable[bytes]) -> NameCounts:
    """The counts over the packed records of notes."""
    tags: set[bytes] = set()
    with_tags = aliases = with_aliases = with_frontmatter = 0
    for record in packed:
        _, _, _, _, aliases_, tags_, switches, _ = record.split(b"\x1e", 7)
        if tags_:
            with_tags += 1
            tags.update(tags_.split(b"\x1f"))
        if aliases_:
            with_aliases += 1
            aliases += aliases_.count(b"\x1f")
        with_frontmatter += switches.startswith(b"1")
    tags.discard(b"")  # what lies behind the last one
    return NameCounts(
        distinct_tags=len(tags),
        notes_with_tags=with_tags,
        aliases=aliases,
        notes_with_aliases=with_aliases,
        notes_with_frontmatter=with_frontmatter,
    )


def record_of_note(data: bytes) -> FileRecord:
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
    return FileRecord(
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


def record_of_canvas(data: bytes) -> FileRecord:
    """The record of a canvas with these bytes. Its links have no lines (0): JSON is often one line."""
    from aria_dream.vault.canvas import parse_canvas  # few vaults have canvases, and its imports cost 5 ms

    text = decode_note(data)
    links, problems = parse_canvas(text)
    return FileRecord(
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
