"""Which file of a vault a link means, as Obsidian 1.13 decides it.

1. An empty path is the source itself; `./` and `../` are relative to the source and `/` to the root, all three exact.
2. A name with a dot is looked up as it is; else, or where there is no such file, with `.md` behind it.
3. Of the files of that name whose path ends with the link's path (at a `/`): the one that *is* the path; else those in
   the source's folder or below it before the rest, the shorter path before the longer, then by code point.

Names are compared lower-cased (not case-folded: ß is not ss), NFC, no-break spaces as spaces. Aliases, titles and
folders are no targets.

Which note a person means who types a name at a prompt is decided by `find_note`, more kindly.
"""

from __future__ import annotations

import unicodedata
from dataclasses import dataclass
from typing import TYPE_CHECKING
from urllib.parse import unquote

from aria_dream.markdown.link import normal_name

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

def fold_name(name: str) -> str:
    """`name` as names are compared: normal and lower-cased, every sigma alike."""
    if name.isascii():
        return name.strip().lower()
    return normal_name(name).lower().replace("\u03c2", "\u03c3")


class Resolver:
    """Answers what links mean among a fixed set of files; the answers depend on nothing else."""

    __slots__ = ("_by_name",)

    def __init__(self, paths: Iterable[str]) -> None:
        """`paths`: the vault paths of all files, attachments too. Those in dot folders, and dot files, are left out."""
        by_name: dict[str, str | list[str]] = {}
        for path in paths:
            if path.startswith(".") or "/." in path:
                continue
            name = fold_name(path[path.rfind("/") + 1 :])
            known = by_name.get(name)
            if known is None:
                by_name[name] = path
            elif isinstance(known, str):
                by_name[name] = [known, path]
            else:
                known.append(path)
        self._by_name = by_name

    def resolve(self, link_path: str, source: str) -> str | None:
        """The vault path of the file that `link_path`, written in the file `source`, means; None where it means none.

        `link_path` is a link's path without its subpath. A `%20` is first taken as written, then decoded.
        """
        if not link_path:
            return source
        # The common case first: a bare name that only one file has.
        key = fold_name(link_path)
        if "/" not in key:
            files = self._files(key)
            if files.__class__ is str:
                return files
            if files is None and "%" not in key:
                return None
        found = self.candidates(link_path, source)
        return found[0] if found else None

    def sole(self, name: str) -> tuple[bool, str | None]:
        """`(True, file)` where the bare `name` means one file, or none, wherever it stands; else `(False, None)`.

        What `candidates` would say, at a tenth of its cost.
        """
        key = fold_name(name)
        files = self._files(key)
        if files is None:
            return "%" not in key, None
        return (True, files) if isinstance(files, str) else (False, None)

    def candidates(self, link_path: str, source: str) -> tuple[str, ...]:
        """Every file that `link_path` could mean, the one it does mean first; empty where it means none."""
        if not link_path:
            return (source,)
        found = self._ranked(link_path, source)
        if not found and "%" in link_path:
            decoded = unquote(link_path)
            if decoded != link_path:
                found = self._ranked(decoded, source)
        return tuple(found)

    def is_ambiguous(self, link_path: str, source: str) -> bool:
        """Whether only nearness, length or order decides which file is meant: several fit, none is the very path."""
        return self.is_close(link_path, self.candidates(link_path, source))

    def is_close(self, link_path: str, found: Sequence[str]) -> bool:
        """`is_ambiguous`, where the candidates are known."""
        if len(found) < 2:
            return False
        first, second = fold_name(found[0]), fold_name(found[1])
        return first == second or first not in self._spellings(link_path)

    def _files(self, name: str) -> str | list[str] | None:
        """The files of a folded name: as it is where it has a dot, else with `.md` behind it."""
        if "." in name:
            files = self._by_name.get(name)
            if files is not None:
                return files
        return self._by_name.get(name + ".md")

    def _spellings(self, link_path: str) -> tuple[str, ...]:
        key = fold_name(link_path)
        return key, key + ".md", fold_name(unquote(key)), fold_name(unquote(key)) + ".md"

    def _ranked(self, link_path: str, source: str) -> list[str]:
        exact_only = False
        if link_path.startswith(("./", "../")):
            absolute = _absolute(link_path, source)
            if absolute is None:
                return []
            link_path, exact_only = absolute, True
        elif link_path.startswith("/"):
            link_path, exact_only = link_path.lstrip("/"), True
        key = fold_name(link_path)
        files = self._files(key[key.rfind("/") + 1 :])
        if files is None:
            return []
        if isinstance(files, str):  # nearly always: nothing to rank
            fold = fold_name(files)
            fits = fold in (key, key + ".md") if exact_only else f"/{fold}".endswith((f"/{key}", f"/{key}.md"))
            return [files] if fits else []
        wanted = {key, key + ".md"}
        folded = [(fold_name(path), path) for path in files]
        exact = [path for fold, path in folded if fold in wanted]
        if exact_only:
            return sorted(exact, key=lambda path: (not _same_case(path, link_path), path))
        ends = ("/" + key, "/" + key + ".md")
        others = [path for fold, path in folded if fold not in wanted and fold.endswith(ends)]
        folder = source[: source.rfind("/") + 1]
        exact.sort(key=lambda path: (not _same_case(path, link_path), path))
        others.sort(key=lambda path: (not path.startswith(folder), len(path), path))
        return exact + _exact_case_first(others, link_path)


def _absolute(link_path: str, source: str) -> str | None:
    """A relative path from the vault's root; None where it climbs out of the vault."""
    parts = source.split("/")[:-1]
    for part in link_path.split("/"):
        if part == "..":
            if not parts:
                return None
            parts.pop()
        elif part != ".":
            parts.append(part)
    return "/".join(parts)


def _same_case(path: str, link_path: str) -> bool:
    normal = normal_name(path)
    return normal.endswith((link_path, link_path + ".md"))


def _exact_case_first(ranked: list[str], link_path: str) -> list[str]:
    """Of two files in one folder that differ only by case the one written like the link comes first."""
    for index in range(len(ranked) - 1):
        one, other = ranked[index], ranked[index + 1]
        if (
            len(one) == len(other)
            and not _same_case(one, link_path)
            and _same_case(other, link_path)
            and fold_name(one) == fold_name(other)
        ):
            ranked[index], ranked[index + 1] = other, one
    return ranked


@dataclass(frozen=True, slots=True)
class NotOne:
    """No file, or several, that the name could mean. A value: the caller decides what to say or raise."""

    name: str
    candidates: tuple[str, ...]
    """Vault paths of the several; empty where there is none."""

    def __str__(self) -> str:
        """One sentence for the writer."""
        if not self.candidates:
            return f"there is no note {self.name!r} in this vault"
        shown = ", ".join(self.candidates[:3]) + (" …" if len(self.candidates) > 3 else "")
        return f"{self.name!r} could be any of {len(self.candidates)} notes ({shown}); name its path"


def find_note(name: str, paths: Iterable[str]) -> str | NotOne:
    """The one of `paths` that `name` means: a path, a path without its ending, the end of a path, or a bare name.

    Case and Unicode form do not matter, unless they alone tell two files apart. The first of these kinds that fits any
    file decides; where it fits several, the answer is `NotOne`.
    """
    wanted = name.strip().removeprefix("./").strip("/")
    everything = list(paths)
    if not wanted:
        return NotOne(name, ())
    kinds: tuple[Callable[[str, str], bool], ...] = (
        lambda path, text: path == text,
        lambda path, text: _stem(path) == text,
        lambda path, text: path.endswith("/" + text) or _stem(path).endswith("/" + text),
    )
    for fits in kinds:
        for spelling in (_composed, _folded):
            text = spelling(wanted)
            found = [path for path in everything if fits(spelling(path), text)]
            if len(found) == 1:
                return found[0]
            notes = [path for path in found if path[-3:].lower() == ".md"]
            if len(notes) == 1:  # `Plan` is Plan.md rather than Plan.canvas
                return notes[0]
            if found:
                return NotOne(name, tuple(sorted(found)))
    return NotOne(name, ())


def _stem(path: str) -> str:
    lowered = path[-7:].lower()
    if lowered.endswith(".md"):
        return path[:-3]
    return path[:-7] if lowered == ".canvas" else path


def _composed(text: str) -> str:
    return unicodedata.normalize("NFC", text)


def _folded(text: str) -> str:
    return unicodedata.normalize("NFC", _composed(text).lower())
