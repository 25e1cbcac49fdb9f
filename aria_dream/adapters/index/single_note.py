"""One note of a vault read by itself, without an index: its links with what they mean, its tags and aliases."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from aria_dream.adapters.index.scan import file_path, scan_vault
from aria_dream.errors import NotFoundError, Problem
from aria_dream.markdown.note import decode_note, parse_note
from aria_dream.vault.canvas import parse_canvas
from aria_dream.vault.linkage import kind_of
from aria_dream.vault.lookup import NotOne, find_note
from aria_dream.vault.resolve import Resolver

if TYPE_CHECKING:
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
    """The note or canvas that `name` means (see `vault.lookup`) in the vault at `root`.

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
