"""Every link occurrence of a vault with the file it means, in flat integer arrays: graph and counts come from it.

Definitions of the counts: `LinkCounts`. They are those of the reference counts in `tests/conformance`.
"""

from __future__ import annotations

import unicodedata
import zlib
from array import array
from bisect import bisect_left, bisect_right
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal
from urllib.parse import unquote

from aria_dream.vault.graph import LinkGraph, component_sizes, graph_of
from aria_dream.vault.record import AMBIGUOUS, CARD, EMBED, FRONTMATTER, MARKDOWN, unpack_links

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from aria_dream.vault.resolve import Resolver

FileKind = Literal["note", "canvas", "base", "attachment"]


_MEANINGS_KEPT = 20_000


def kind_of(path: str) -> FileKind:
    """What Obsidian takes the file at `path` for, by its ending in any case."""
    if path[-3:] == ".md":
        return "note"
    ending = path[-7:].lower()
    if ending.endswith(".md"):
        return "note"
    if ending.endswith(".canvas"):
        return "canvas"
    return "base" if ending.endswith(".base") else "attachment"


def name_key(path: str) -> str:
    """The key under which a link and the files it may mean meet: the last part of either, without `.md`.

    Coarser than Obsidian's comparison (full case folding, NFC, plain spaces), so that a link is never missed.
    """
    if "%" in path:
        path = unquote(path)  # Obsidian decodes a link where nothing has its name as it stands
    name = path.rstrip("/").rpartition("/")[2].removeprefix("\ufeff")
    if not name.isascii():
        name = unicodedata.normalize("NFC", unicodedata.normalize("NFC", name).casefold())
        name = name.replace("\u00a0", " ").replace("\u202f", " ")
    return name.lower().removesuffix(".md").strip()


def _key_number(key: str) -> int:
    return zlib.crc32(key.encode("utf-8", "surrogatepass"))


@dataclass(frozen=True, slots=True, kw_only=True)
class Linkage:
    """Occurrence k of source s lies at `offsets[s] + k` of `targets`, `flags` and `names`."""

    files: tuple[str, ...]
    """All files of the vault, sorted by code point; a file number is a position here."""
    sources: array[int]
    """`array("i")`: file numbers of the notes and canvases, ascending; a source number is a position here."""
    offsets: array[int]
    """`array("i")`, length of `sources` + 1."""
    targets: array[int]
    """`array("i")`: file number per occurrence; -1 where the link is unresolved."""
    flags: array[int]
    """`array("B")`: the flags of `Record.link_flags`, with AMBIGUOUS."""
    names: array[int]
    """`array("I")`: CRC-32 of the link path's `name_key`, per occurrence."""

    def source_of(self, path: str) -> int | None:
        """The source number of the note or canvas at `path`; None where there is none."""
        file = bisect_left(self.files, path)
        if file == len(self.files) or self.files[file] != path:
            return None
        source = bisect_left(self.sources, file)
        return source if source < len(self.sources) and self.sources[source] == file else None

    def occurrences(self, source: int) -> range:
        """The positions of the source's occurrences."""
        return range(self.offsets[source], self.offsets[source + 1])

    def path_of(self, source: int) -> str:
        """The vault path of a source."""
        return self.files[self.sources[source]]

    def sources_naming(self, path: str) -> tuple[int, ...]:
        """Numbers of the sources with a link whose last part is the name of `path`, `.md` written or not.

        A few sources too many may be named (two names share a CRC once in four thousand million); none is missed.
        """
        key = name_key(path)
        found: set[int] = set()
        for number in {_key_number(key), _key_number(key.removesuffix(".md"))}:
            at = -1
            while True:
                try:
                    at = self.names.index(number, at + 1)
                except ValueError:
                    break
                found.add(bisect_right(self.offsets, at) - 1)
        return tuple(sorted(found))


def source_numbers(files: Sequence[str]) -> array[int]:
    """File numbers of the notes and canvases among sorted `files`."""
    return array("i", (number for number, path in enumerate(files) if kind_of(path) in ("note", "canvas")))


def link_files(
    files: tuple[str, ...],
    packed: Sequence[bytes],
    resolver: Resolver,
    *,
    before: Linkage | None = None,
    dirty: frozenset[str] = frozenset(),
) -> Linkage:
    """The linkage of sorted `files`, whose sources have the packed records `packed`.

    With `before`, only the sources in `dirty` and those `before` does not know are resolved; the rest is taken over.
    The caller puts into `dirty` every source whose text changed and every source that names an added or removed file.
    """
    number = {path: at for at, path in enumerate(files)}
    sources = source_numbers(files)
    offsets, targets, flags, names = array("i", [0]), array("i"), array("B"), array("I")
    known: dict[str, int] = {}
    moved: list[int] = []
    if before is not None:
        known = {before.path_of(source): source for source in range(len(before.sources))}
        moved = [number.get(path, -1) for path in before.files]
        moved.append(-1)  # so that -1, unresolved, stays -1
    meanings = _Meanings(number, resolver)
    for source, file in enumerate(sources):
        path = files[file]
        was = known.get(path)
        if before is not None and was is not None and path not in dirty:
            start, end = before.offsets[was], before.offsets[was + 1]
            targets.extend([moved[target] for target in before.targets[start:end]])
            flags.extend(before.flags[start:end])
            names.extend(before.names[start:end])
        else:
            link_paths, link_flags = unpack_links(packed[source])
            if link_paths:
                found = [meanings[link_path] or meanings.near(link_path, path) for link_path in link_paths]
                targets.extend([meaning[0] for meaning in found])
                flags.extend([flag | meaning[1] for flag, meaning in zip(link_flags, found, strict=True)])
                names.extend([meaning[2] for meaning in found])
        offsets.append(len(targets))
    return Linkage(files=files, sources=sources, offsets=offsets, targets=targets, flags=flags, names=names)


class _Meanings(dict[str, "tuple[int, int, int] | None"]):
    """What link paths mean: `(file number or -1, AMBIGUOUS or 0, number of the name's key)`, remembered.

    Most links name a file whose name no other has, and mean it wherever they stand: those are the entries. None for a
    path that may mean something else in another folder; `near` tells.
    """

    def __init__(self, number: Mapping[str, int], resolver: Resolver) -> None:
        super().__init__()
        self._number = number
        self._resolver = resolver
        self._nearby: dict[tuple[str, str], tuple[int, int, int]] = {}

    def __missing__(self, link_path: str) -> tuple[int, int, int] | None:
        """The entry for a path asked about for the first time."""
        answer = None
        if link_path and "/" not in link_path:
            certain, target = self._resolver.sole(link_path)
            if certain:
                answer = -1 if target is None else self._number[target], 0, _key_number(name_key(link_path))
        self[link_path] = answer
        return answer

    def near(self, link_path: str, source: str) -> tuple[int, int, int]:
        """What `link_path` means in `source`: the same in all notes of a folder, but for the empty path."""
        if not link_path:
            return self._number[source], 0, _key_number("")
        key = link_path, source[: source.rfind("/") + 1]
        answer = self._nearby.get(key)
        if answer is None:
            if len(self._nearby) >= _MEANINGS_KEPT:
                self._nearby.clear()
            found = self._resolver.candidates(link_path, source)
            ambiguous = self._resolver.is_close(link_path, found)
            answer = (
                self._number[found[0]] if found else -1,
                AMBIGUOUS if ambiguous else 0,
                _key_number(name_key(link_path)),
            )
            self._nearby[key] = answer
        return answer


def note_graph(linkage: Linkage) -> LinkGraph:
    """The graph of the notes: resolved links from note to note, self links and repeats left out."""
    row_of_file = array("i", [-1]) * (len(linkage.files) + 1)  # the last is for -1, unresolved
    paths: list[str] = []
    note_sources: list[int] = []
    for source, file in enumerate(linkage.sources):
        path = linkage.files[file]
        if path[-3:].lower() == ".md":
            row_of_file[file] = len(paths)
            paths.append(path)
            note_sources.append(source)
    offsets, targets = linkage.offsets, linkage.targets

    def rows() -> Iterable[Iterable[int]]:
        for source in note_sources:
            found = {row_of_file[target] for target in targets[offsets[source] : offsets[source + 1]]}
            found.discard(-1)
            yield found

    return graph_of(tuple(paths), rows())


@dataclass(frozen=True, slots=True, kw_only=True)
class LinkCounts:
    """Counts over a vault's links. Sources are notes and canvases; a pair is distinct (source, target)."""

    notes: int
    """`*.md` outside dot folders."""
    canvas: int
    base: int
    attachments: int
    link_occurrences: int
    by_kind: dict[str, int]
    """`link`/`embed` × `wiki`/`md` × (frontmatter: `_fm`); `canvas_card` for file cards. Kinds that do not occur are
    left out."""
    resolved_occurrences: int
    unresolved_occurrences: int
    ambiguous_occurrences: int
    resolved_pairs_all: int
    self_pairs: int
    note_to_note_pairs: int
    """Between notes, self links left out."""
    note_to_attachment_pairs: int
    """From notes to files that are no notes."""
    isolated_notes: int
    """Notes with no resolved link to or from another note."""
    orphans_no_link_at_all: int
    """Notes with no link of any kind to or from another file; an unresolved link counts, a self link does not."""
    components: int
    """Weakly connected, over note-to-note pairs."""
    largest_component: int


def kind_name(flag: int) -> str:
    """The name of a link's kind in `LinkCounts.by_kind`."""
    if flag & CARD:
        return "canvas_card"
    return (
        ("embed" if flag & EMBED else "link")
        + ("_md" if flag & MARKDOWN else "_wiki")
        + ("_fm" if flag & FRONTMATTER else "")
    )


def count_links(linkage: Linkage, graph: LinkGraph) -> LinkCounts:
    """The counts of `linkage`; `graph` is its `note_graph`."""
    files, offsets, targets = linkage.files, linkage.offsets, linkage.targets
    kinds = Counter(map(kind_of, files))
    is_note = bytearray(path[-3:].lower() == ".md" for path in files)
    linked = bytearray(len(files) + 1)
    pairs = self_pairs = to_attachments = 0
    for source, file in enumerate(linkage.sources):
        start, end = offsets[source], offsets[source + 1]
        if start == end:
            continue
        distinct = set(targets[start:end])
        if distinct != {file}:
            linked[file] = 1
        distinct.discard(-1)
        pairs += len(distinct)
        if file in distinct:
            self_pairs += 1
            distinct.discard(file)
        for target in distinct:
            linked[target] = 1
            if not is_note[target] and is_note[file]:
                to_attachments += 1
    unresolved = targets.count(-1)
    by_flag = Counter(linkage.flags)
    by_kind: Counter[str] = Counter()
    for flag, times in by_flag.items():
        by_kind[kind_name(flag)] += times
    sizes = component_sizes(graph)
    return LinkCounts(
        notes=kinds["note"],
        canvas=kinds["canvas"],
        base=kinds["base"],
        attachments=kinds["attachment"],
        link_occurrences=len(targets),
        by_kind=dict(sorted(by_kind.items())),
        resolved_occurrences=len(targets) - unresolved,
        unresolved_occurrences=unresolved,
        ambiguous_occurrences=sum(times for flag, times in by_flag.items() if flag & AMBIGUOUS),
        resolved_pairs_all=pairs,
        self_pairs=self_pairs,
        note_to_note_pairs=len(graph.targets),
        note_to_attachment_pairs=to_attachments,
        isolated_notes=sizes.count(1),
        orphans_no_link_at_all=sum(1 for file, note in enumerate(is_note) if note and not linked[file]),
        components=len(sizes),
        largest_component=sizes[0] if sizes else 0,
    )


def isolated_rows(graph: LinkGraph) -> list[int]:
    """Rows of the notes with no resolved link to or from another note."""
    linked = bytearray(len(graph.paths))
    for target in graph.targets:
        linked[target] = 1
    return [row for row, seen in enumerate(linked) if not seen and graph.offsets[row] == graph.offsets[row + 1]]
