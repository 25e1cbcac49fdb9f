"""Notes read by themselves, past the index: one note with its links, and names of notes that the index does not know.

The index knows neither reference definitions nor places that cannot follow when a note goes (queries and other code,
Bases, bookmarks).
"""

from __future__ import annotations

import json
import re
from collections import defaultdict
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Final

from aria_dream.adapters.disk.safe_path import read_plain
from aria_dream.adapters.index.contents import MAX_NOTE_BYTES
from aria_dream.adapters.index.scan import file_path, scan_vault
from aria_dream.errors import NotFoundError, Problem
from aria_dream.markdown.link import split_linktext
from aria_dream.markdown.note import decode_note, parse_note
from aria_dream.ranking.juxtaposition import title_of
from aria_dream.review.definitions import find_definitions
from aria_dream.review.safety import is_ours
from aria_dream.vault.canvas import parse_canvas
from aria_dream.vault.linkage import kind_of
from aria_dream.vault.resolve import NotOne, Resolver, find_note, fold_name

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from aria_dream.adapters.index.index import VaultIndex
    from aria_dream.markdown.link import Link

@dataclass(frozen=True, slots=True, kw_only=True)
class SingleNote:
    """A note or canvas as `aria-dream links --note` shows it."""

    path: str
    links: tuple[tuple[Link, str | None], ...]
    """In source order, frontmatter first; with the vault path of the file each means."""
    tags: tuple[str, ...]
    aliases: tuple[str, ...]
    problems: tuple[Problem, ...]


def read_single_note(root: Path, name: str) -> SingleNote:
    """The note or canvas that `name` means (see `vault.resolve`) in the vault at `root`.

    Raises VaultUnreadableError, and NotFoundError where there is no such note, where there are several, or where it
    cannot be read.
    """
    scan = scan_vault(root)
    files = scan.snapshot.files
    path = find_note(name, (path for path in files if kind_of(path) in ("note", "canvas")))
    if isinstance(path, NotOne):
        raise NotFoundError(str(path))
    if not files[path].here:
        raise NotFoundError(f"{path} is not on this device: a cloud drive keeps it elsewhere")
    try:
        text = decode_note(Path(file_path(scan.root, path)).read_bytes())
    except OSError as error:
        raise NotFoundError(f"{path} cannot be read: {(error.strerror or str(error)).lower()}") from None
    tags: tuple[str, ...] = ()
    aliases: tuple[str, ...] = ()
    if kind_of(path) == "canvas":
        links, problems = parse_canvas(text)
    else:
        note = parse_note(text)
        links, problems, tags, aliases = note.links, note.problems, note.tags, note.aliases
    resolver = Resolver(files)
    return SingleNote(
        path=path,
        links=tuple((link, resolver.resolve(link.path, path)) for link in links),
        tags=tags,
        aliases=aliases,
        problems=tuple(replace(problem, path=path) for problem in problems),
    )


_WIKILINK: Final = re.compile(r"\[\[([^\[\]\r\n|]{1,500})(?:\|[^\[\]\r\n]*)?\]\]")
_QUOTED: Final = re.compile(r"""(["'])((?:(?!\1)[^\\\r\n]|\\.){1,500})\1""")
_FILE: Final = re.compile(r"[^\s\"'()\[\]]+\.md\b", re.IGNORECASE)
_BOOKMARKS: Final = "bookmarks.json"


class UnindexedMentions:
    """What one look at all files has found."""

    def __init__(self) -> None:
        self._definitions: dict[str, set[str]] = defaultdict(set)
        """Vault path of a note to the notes with a definition that leads there."""
        self._names: dict[str, list[tuple[str, str]]] = defaultdict(list)
        """Folded name of a note to places (`Index.md, line 7`) and what is written there."""

    def add_definition(self, source: str, target: str) -> None:
        """A definition in `source` leads to `target`."""
        self._definitions[target].add(source)

    def add_name(self, place: str, written: str) -> None:
        """Something at `place` may name the note that `written` means."""
        self._names[_name_of(written)].append((place, written))

    def sources(self, paths: Iterable[str]) -> tuple[str, ...]:
        """Notes with a reference definition that leads to one of `paths`, sorted."""
        return tuple(sorted({source for path in paths for source in self._definitions.get(path, ())}))

    def unfollowed(self, path: str, files: Resolver) -> tuple[str, ...]:
        """Where the note at `path` is named and cannot follow, a clause each, in the order of places."""
        found = dict.fromkeys(
            place
            for place, written in self._names.get(_name_of(path), ())
            if not place.startswith(f"{path}, ") and files.resolve(split_linktext(written)[0], "") == path
        )
        title = title_of(path)
        return tuple(f"{place} names “{title}” and cannot follow; mend it by hand" for place in found)


def find_mentions(index: VaultIndex) -> UnindexedMentions:
    """Looks into every note, Base and bookmark of the vault once; what cannot be read names nothing."""
    found = UnindexedMentions()
    away = index.not_here
    for path in index.files:
        if path in away:
            continue
        lower = path.lower()
        if lower.endswith(".md"):
            data = _read(index.root, path)
            if (b"]:" in data or b"`" in data or b"~~~" in data) and not is_ours(data):
                _look_into_note(found, path, decode_note(data), index.resolver)
        elif lower.endswith(".base"):
            _look_into(found, path, decode_note(_read(index.root, path)))
    if folder := index.obsidian.config_folder:
        place = f"{folder}/{_BOOKMARKS}"
        for written in _bookmarked(_read(index.root, place)):
            found.add_name(f"a bookmark ({place})", written)
    return found


def _read(root: Path, path: str) -> bytes:
    try:
        data = read_plain(root.joinpath(*path.split("/")))
    except OSError:
        return b""
    return data if data is not None and len(data) <= MAX_NOTE_BYTES else b""


def _look_into_note(found: UnindexedMentions, path: str, text: str, resolver: Resolver) -> None:
    note = parse_note(text)
    for one in find_definitions(note):
        target = resolver.resolve(one.link.path, path)
        if target is not None:
            found.add_definition(path, target)
    for span in note.opaque:
        if span.start >= note.body_start:
            _look_into(found, path, text[span.start : span.end], 1 + text.count("\n", 0, span.start))


def _look_into(found: UnindexedMentions, path: str, text: str, line: int = 1) -> None:
    """Whatever in a query, a script or a Base may be a note's name: links, quoted texts, names with `.md`."""
    for number, said in enumerate(text.splitlines(), start=line):
        written = [one[1] for one in _WIKILINK.finditer(said)]
        written += [one[2] for one in _QUOTED.finditer(said)]
        written += [one[0] for one in _FILE.finditer(said)]
        for name in dict.fromkeys(written):
            found.add_name(f"{path}, line {number}", name)


def _bookmarked(data: bytes) -> Iterator[str]:
    try:
        waiting: list[object] = [json.loads(data)] if data else []
    except (ValueError, RecursionError):
        return
    while waiting:
        one = waiting.pop()
        if isinstance(one, dict):
            if isinstance(path := one.get("path"), str):
                yield path
            waiting += one.values()
        elif isinstance(one, list):
            waiting += one


def _name_of(written: str) -> str:
    """The key under which a name and a note meet: the last part, folded, without `.md`."""
    name = fold_name(split_linktext(written)[0].rpartition("/")[2])
    return name.removesuffix(".md")
