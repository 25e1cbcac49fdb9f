"""A whole vault read at once: its files, settings, graph and facts, from a cache where nothing changed.

What stays resident are integers in arrays and one packed text per note; everything else is unpacked on demand.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, overload

from aria_dream.adapters.disk.config_folder import read_obsidian_settings
from aria_dream.adapters.index.contents import (
    UNREAD,
    FileContent,
    cached_contents,
    collector_paused,
    content_key,
    find_copies,
    read_contents,
)
from aria_dream.adapters.index.index_cache import IndexCache, cache_place, linkage_key
from aria_dream.adapters.index.scan import VaultScan, scan_vault
from aria_dream.errors import Problem
from aria_dream.vault.graph import LinkGraph, NoteFacts
from aria_dream.vault.linkage import (
    Linkage,
    LinkCounts,
    count_links,
    kind_of,
    link_files,
    note_graph,
    source_numbers,
)
from aria_dream.vault.record import (
    AMBIGUOUS,
    NameCounts,
    count_names,
    has_problems,
    unpack_facts,
    unpack_places,
    unpack_record,
)
from aria_dream.vault.resolve import Resolver
from aria_dream.vault.snapshot import difference

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

    from aria_dream.vault.obsidian import AppSettings, ObsidianSettings


@dataclass(frozen=True, slots=True, kw_only=True)
class ResolvedLink:
    """One link occurrence of a note or canvas, and the file it means."""

    source: str
    """Vault path of the file that holds the link."""
    path: str
    """What is looked up, `""` for the note itself."""
    target: str | None
    """Vault path; None where no file is meant."""
    line: int
    """1-based."""
    flags: int
    """Sum of the flags in `vault/record.py`, AMBIGUOUS among them."""


class _Facts(Sequence[NoteFacts]):
    """Facts of the notes in the order of `graph.paths`, unpacked when asked for."""

    def __init__(self, index: VaultIndex) -> None:
        self._index = index

    def __len__(self) -> int:
        return len(self._index.graph.paths)

    @overload
    def __getitem__(self, row: int) -> NoteFacts: ...
    @overload
    def __getitem__(self, row: slice) -> tuple[NoteFacts, ...]: ...
    def __getitem__(self, row: int | slice) -> NoteFacts | tuple[NoteFacts, ...]:
        if isinstance(row, slice):
            return tuple(self[at] for at in range(*row.indices(len(self))))
        return self._index.facts_of(self._index.graph.paths[row])

    def __iter__(self) -> Iterator[NoteFacts]:
        index = self._index
        notes = iter(index.graph.paths)
        wanted = next(notes, None)
        for source, content in enumerate(index.contents):  # by path, as the notes are, with canvases between them
            if index.linkage.path_of(source) == wanted:
                yield index._facts(wanted, content)  # noqa: SLF001  # its own view
                wanted = next(notes, None)


@dataclass(frozen=True, kw_only=True)
class VaultIndex:
    """A vault as it was at one moment. A value: `refreshed` gives a new one."""

    root: Path
    """Real path of the vault."""
    scan: VaultScan
    obsidian: ObsidianSettings
    linkage: Linkage
    """Every link occurrence in arrays."""
    graph: LinkGraph
    """Resolved links between notes."""
    contents: tuple[FileContent, ...]
    """Aligned with `linkage.sources`."""
    reading_problems: tuple[Problem, ...]
    """Of files that could not be read, of the walk, and of Obsidian's settings."""
    cache_folder: Path | None
    """This vault's folder in the cache; None where nothing is kept."""

    @property
    def app(self) -> AppSettings:
        """Obsidian's `app.json`."""
        return self.obsidian.app

    @property
    def files(self) -> tuple[str, ...]:
        """Vault paths of all files outside dot folders, sorted."""
        return self.linkage.files

    @property
    def not_here(self) -> frozenset[str]:
        """Files that a cloud drive keeps elsewhere. They exist, links to them resolve, and nobody may open them."""
        return frozenset(path for path, state in self.scan.snapshot.files.items() if not state.here)

    @cached_property
    def facts(self) -> Sequence[NoteFacts]:
        """Facts of each note, aligned with `graph.paths`; made on access and not kept."""
        return _Facts(self)

    @cached_property
    def counts(self) -> LinkCounts:
        """Counts over all links."""
        return count_links(self.linkage, self.graph)

    @cached_property
    def name_counts(self) -> NameCounts:
        """Counts of tags, aliases and frontmatter; notes that Obsidian hides (`userIgnoreFilters`) are left out."""
        linkage = self.linkage
        return count_names(
            content.packed
            for source, content in enumerate(self.contents)
            if kind_of(path := linkage.path_of(source)) == "note" and not self.app.ignores(path)
        )

    @cached_property
    def resolver(self) -> Resolver:
        """Says which file of this vault a link means."""
        return Resolver(self.files)

    @cached_property
    def copies(self) -> Mapping[str, str]:
        """Copies that a sync made of files it could not merge, each with its original."""
        return find_copies(self.scan, self.linkage, self.contents)

    @property
    def conflicts(self) -> frozenset[str]:
        """The copies alone."""
        return frozenset(self.copies)

    @cached_property
    def problems(self) -> tuple[Problem, ...]:
        """Everything in the vault that a person can mend, by path and line."""
        found = list(self.reading_problems)
        for source, content in enumerate(self.contents):
            if has_problems(content.packed):
                path = self.linkage.path_of(source)
                found.extend(Problem(path, line, message) for line, message in unpack_record(content.packed).problems)
        return tuple(sorted(found, key=lambda problem: (problem.path, problem.line)))

    def facts_of(self, path: str) -> NoteFacts:
        """The facts of the note at `path`, which the vault must have."""
        source = self.linkage.source_of(path)
        if source is None:
            raise KeyError(path)
        return self._facts(path, self.contents[source])

    def _facts(self, path: str, content: FileContent) -> NoteFacts:
        words, aliases, tags, dream, marker, plugin = unpack_facts(content.packed)
        state = self.scan.snapshot.files[path]
        return NoteFacts(
            path=path,
            content_hash=content.digest,
            words=words,
            aliases=aliases,
            tags=tags,
            dream=dream,
            marker=marker,
            plugin=plugin,
            ignored=self.app.ignores(path),
            size_bytes=state.size_bytes,
            modified_ns=state.modified_ns,
        )

    def links_of(self, path: str) -> tuple[ResolvedLink, ...]:
        """Every link occurrence of the note or canvas at `path`, in source order."""
        source = self.linkage.source_of(path)
        return () if source is None else tuple(self._links(source, self.linkage.occurrences(source)))

    def _links(self, source: int, positions: Iterable[int]) -> Iterator[ResolvedLink]:
        paths, lines = unpack_places(self.contents[source].packed)
        linkage, path = self.linkage, self.linkage.path_of(source)
        first = linkage.offsets[source]
        for at in positions:
            target = linkage.targets[at]
            yield ResolvedLink(
                source=path,
                path=paths[at - first],
                target=None if target < 0 else linkage.files[target],
                line=lines[at - first],
                flags=linkage.flags[at],
            )

    def unresolved(self) -> Iterator[ResolvedLink]:
        """Every occurrence that means no file, by source path and line."""
        yield from self._chosen(at for at, target in enumerate(self.linkage.targets) if target < 0)

    def ambiguous(self) -> Iterator[ResolvedLink]:
        """Every occurrence that could mean several files, with the one that Obsidian's rules choose."""
        yield from self._chosen(at for at, flag in enumerate(self.linkage.flags) if flag & AMBIGUOUS)

    def _chosen(self, positions: Iterable[int]) -> Iterator[ResolvedLink]:
        offsets = self.linkage.offsets
        for source, found in groupby(positions, key=lambda at: bisect_right(offsets, at) - 1):
            yield from self._links(source, found)

    def link_sources(self, name: str) -> tuple[str, ...]:
        """Vault paths of the notes and canvases with a link whose last part is `name` (case and `.md` do not matter).

        A file of that name may only be created where this is empty. Rarely one too many is named, never one too few.
        """
        return tuple(self.linkage.path_of(source) for source in self.linkage.sources_naming(name))

    def rescanned(self, scan: VaultScan, *, reread: Iterable[str] = ()) -> VaultIndex:
        """The vault as `scan`, a later look at its files, shows it: only what changed is read, and it equals that
        of a fresh `read_vault`.

        `reread` are files whose content changed although their state did not (written twice within one tick of the
        file system's clock); they are read as well.
        """
        with collector_paused():
            settings, setting_problems = read_obsidian_settings(scan.root, scan.config_folder)
            change = difference(self.scan.snapshot, scan.snapshot)
            known = {self.linkage.path_of(source): content for source, content in enumerate(self.contents)}
            moved = [path for pair in change.renamed for path in pair]
            dirty = {*change.added, *change.changed, *(new for _, new in change.renamed), *reread}
            unread = {path for path, content in known.items() if content is UNREAD}
            wanted = [path for path in _sources(scan) if path in dirty or path not in known or path in unread]
            with IndexCache(self.cache_folder) as cache:
                records = {content_key(path, content.digest): content.packed for path, content in known.items()}
                read, problems = read_contents(scan, wanted, records, cache)
                cache.drop(path for path in (*change.removed, *moved) if path not in scan.snapshot.files)
            for path in (*change.added, *change.removed, *moved):
                dirty.update(self.linkage.path_of(source) for source in self.linkage.sources_naming(path))
            return _index(
                scan, settings, (*setting_problems, *problems), {**known, **read}, self.cache_folder,
                before=self, dirty=frozenset(dirty),
            )  # fmt: skip


def read_vault(
    root: Path, cache_folder: Path | None, *, progress: Callable[[int, int], None] | None = None
) -> VaultIndex:
    """The vault at `root` as it is now, read with the help of the cache below `cache_folder` and kept there.

    None, a folder inside the vault, or one that cannot be used means no cache. Nothing is ever written into the vault.
    `progress(done, total)` is called now and then while files are read. Raises VaultUnreadableError; everything that
    is wrong inside the vault is among `problems` instead.
    """
    with collector_paused():
        scan = scan_vault(root)
        place = cache_place(scan.root, cache_folder)
        settings, setting_problems = read_obsidian_settings(scan.root, scan.config_folder)
        with IndexCache(place) as cache:
            contents, stale = cached_contents(scan, cache)
            wanted = [path for path in _sources(scan) if path not in contents]
            problems: tuple[Problem, ...] = ()
            if wanted:
                records = {content_key(path, content.digest): content.packed for path, content in contents.items()}
                records.update((content_key(row.path, row.digest), row.record) for row in stale)
                read, problems = read_contents(scan, wanted, records, cache, progress)
                contents.update(read)
            cache.drop(row.path for row in stale if row.path not in scan.snapshot.files)
            return _index(scan, settings, (*setting_problems, *problems), contents, place, cache=cache)


def _index(
    scan: VaultScan,
    settings: ObsidianSettings,
    problems: tuple[Problem, ...],
    contents: Mapping[str, FileContent],
    place: Path | None,
    *,
    cache: IndexCache | None = None,
    before: VaultIndex | None = None,
    dirty: frozenset[str] = frozenset(),
) -> VaultIndex:
    files = tuple(sorted(scan.snapshot.files))
    sources = source_numbers(files)
    aligned = tuple(contents[files[file]] for file in sources)
    linkage = None
    if cache is not None:
        key = linkage_key(files, (content.digest for content in aligned))
        linkage = cache.linkage(key, files, sources)
    if linkage is None:
        earlier = before.linkage if before is not None else None
        packed = [content.packed for content in aligned]
        linkage = link_files(files, packed, Resolver(files), before=earlier, dirty=dirty)
        if cache is not None:
            cache.put_linkage(key, linkage)
    return VaultIndex(
        root=Path(scan.root.removeprefix("\\\\?\\")),
        scan=scan,
        obsidian=settings,
        linkage=linkage,
        graph=note_graph(linkage),
        contents=aligned,
        reading_problems=(*scan.problems, *problems),
        cache_folder=place,
    )


def _sources(scan: VaultScan) -> list[str]:
    """Paths of the notes and canvases, sorted."""
    files = sorted(scan.snapshot.files)
    return [files[number] for number in source_numbers(files)]
