"""Which file is which after names have changed: an applied change knows its notes by what they say."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from aria_dream.markdown.note import parse_note
from aria_dream.vault.canvas import parse_canvas
from aria_dream.vault.edit import decode_note
from aria_dream.vault.identity import ALIKE, is_alike, likeness, print_of
from aria_dream.vault.names import fold_path

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Mapping

    from aria_dream.markdown.link import Link
    from aria_dream.markdown.note import NotePath
    from aria_dream.vault.edit import ChangeSet
    from aria_dream.vault.identity import Names, Print
    from aria_dream.vault.resolve import Resolver

    Read = Callable[[Iterable[str]], Mapping[str, str]]
    """The texts of some files; those that cannot be read are left out."""


def named_by(changes: ChangeSet, contents: Mapping[NotePath, bytes], resolver: Resolver) -> tuple[str, ...]:
    """Vault paths of all files that a link could mean which the change takes away, brings in or rewrites; sorted."""
    found: set[str] = set()
    for plan in changes.writes:
        before, after = (links_of(plan.path, content) for content in (contents.get(plan.path), plan.content))
        counts = Counter(link.raw for link in before), Counter(link.raw for link in after)
        changed = (counts[0] - counts[1]) + (counts[1] - counts[0])
        links = [link for link in (*before, *after) if link.raw in changed or not link.raw]
        found.update(_meant(links, str(plan.path), resolver))
    for move in changes.moves:
        found.update(_meant(links_of(move.source, contents.get(move.source)), str(move.source), resolver))
    return tuple(sorted(found))


def links_of(path: NotePath, content: bytes | None) -> tuple[Link, ...]:
    """The links of a note or a canvas."""
    text = decode_note(content or b"")
    return parse_canvas(text)[0] if path.suffix.lower() == ".canvas" else parse_note(text).links


def _meant(links: Iterable[Link], source: str, resolver: Resolver) -> Iterator[str]:
    for link in links:
        yield from resolver.candidates(link.path, source)


def follow(
    known: Mapping[str, Print],
    names: Names,
    files: Collection[str],
    read: Read,
    hints: Mapping[str, str] | None = None,
) -> dict[str, str]:
    """The vault path that each of `known` has now; those that are not found are left out.

    `files`: all files of the vault. `hints`: names that are known to have changed. A note is looked for only where
    nothing was before, and where another of the known ones lay; under its own name it may have been edited.
    """
    here = read([path for path, said in known.items() if said and path in files])
    place = {
        path: path
        for path, said in known.items()
        if path in files and (path not in here or print_of(here[path])[0] == said[0])
    }
    for path, text in here.items():
        if path not in place and (len(known[path]) < 2 or is_alike(known[path], text)):
            place[path] = path
    rest = {path: said for path, said in known.items() if path not in place}
    if rest:
        _Search(rest, place, names, files, read).run(hints or {})
    taken = set(place.values())
    return {**place, **{path: path for path in rest if path in files and path not in place and path not in taken}}


class _Search:
    """For notes that are not where they were; what is found goes into `place`."""

    def __init__(
        self, rest: Mapping[str, Print], place: dict[str, str], names: Names, files: Collection[str], read: Read
    ) -> None:
        taken = set(place.values())
        self._rest, self._place, self._names, self._files = rest, place, names, files
        self._free = {file for file in files if file not in taken and (file in rest or not names.had(file))}
        self._texts = read(filter(is_text, self._free))
        self._whole = {file: print_of(text)[0] for file, text in self._texts.items()}

    def run(self, hints: Mapping[str, str]) -> None:
        for path, said in self._rest.items():
            self._take(path, self._same(path, said))
        for path, said in self._rest.items():
            self._take(path, [hints.get(path, "")])
            if path not in self._files:
                self._take(path, self._spelled(path, said))
        for path, said in self._rest.items():
            self._take(path, self._likest(said))

    def _take(self, path: str, found: list[str]) -> None:
        if len(found) == 1 and found[0] in self._free and path not in self._place:
            self._place[path] = found[0]
            self._free.discard(found[0])

    def _same(self, path: str, said: Print) -> list[str]:
        """The files that say just that; those of the same name before others."""
        if not said:
            return []
        same = [file for file in self._free if self._whole.get(file) == said[0]]
        named = [file for file in same if _base(file) == _base(path)]
        alone = sum(other[:1] == said[:1] for other in self._rest.values()) == 1
        return named if named or not alone else same

    def _spelled(self, path: str, said: Print) -> list[str]:
        """The file that has the name in another spelling; of an attachment, that has it in another folder."""
        free = [file for file in self._free if file not in self._rest]
        spelled = [file for file in free if fold_path(file) == fold_path(path)]
        return spelled or [file for file in free if not said and _base(file) == _base(path)]

    def _likest(self, said: Print) -> list[str]:
        if not self._names.there:
            return []  # what was there before is not known: a copy would do as well
        scores = {file: likeness(said, text) for file, text in self._texts.items() if file in self._free}
        best = max(scores.values(), default=0.0)
        return [file for file, score in scores.items() if score == best >= ALIKE]


def is_text(path: str) -> bool:
    """Whether the file is a note or a canvas: what links stand in."""
    return path.lower().endswith((".md", ".canvas"))


def _base(path: str) -> str:
    return path.rpartition("/")[2]
