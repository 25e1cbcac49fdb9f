"""A vault as the dreamer may see it: what the policy hides is gone, and so are our own files.

An invisible note is no part of anything computed from here, not even of a count: a dream is the same whether or not an
earlier one was written.
"""

from __future__ import annotations

import os
from array import array
from collections import Counter
from dataclasses import dataclass
from functools import cached_property
from hashlib import sha256
from typing import TYPE_CHECKING

from aria_dream.adapters.index.contents import collector_paused
from aria_dream.adapters.index.index import read_vault
from aria_dream.adapters.index.live_policy import read_live_policy
from aria_dream.adapters.index.vault_names import read_vault_names
from aria_dream.markdown.scan import is_unread
from aria_dream.policy.file_layout import choose_home
from aria_dream.policy.kinds import Door
from aria_dream.policy.policy import SettingSource
from aria_dream.privacy.sharing import survey
from aria_dream.ranking.juxtaposition import title_of
from aria_dream.ranking.walk import walkable_notes
from aria_dream.synthesis.memory import USUAL_FOLDERS, log_path
from aria_dream.vault.graph import LinkGraph, row_of
from aria_dream.vault.names import fold_path

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path

    from aria_dream.adapters.disk.places import Places
    from aria_dream.adapters.index.index import VaultIndex
    from aria_dream.adapters.index.live_policy import LivePolicy
    from aria_dream.errors import Problem
    from aria_dream.policy.file_layout import Home, VaultNames
    from aria_dream.privacy.sharing import Sharing
    from aria_dream.ranking.names import NameStore
    from aria_dream.ranking.walk import Walkable
    from aria_dream.vault.graph import Neighbours, NoteFacts


@dataclass(frozen=True, kw_only=True)
class DreamtVault:
    """Everything a dream is made from, read at one moment. `read_dreamt_vault` makes it."""

    index: VaultIndex
    live: LivePolicy
    sharing: Sharing
    names: VaultNames
    home: Home
    """Where our files lie or would lie."""
    facts: tuple[NoteFacts, ...]
    """Of every visible note, in the order of `graph.paths`."""
    graph: LinkGraph
    """The visible notes and the links between them; its rows are not those of the vault's own graph."""
    problems: tuple[Problem, ...]
    """Of policy, triggers and privacy patterns."""

    @property
    def root(self) -> Path:
        """Real path of the vault."""
        return self.index.root

    @property
    def in_doubt(self) -> str:
        """Why nothing may be listed: what the writer excludes is not known. `""` where it is."""
        policy = self.live.policy
        if policy.origin("exclude").source is not SettingSource.CLOSED:
            return ""
        return policy.refusal(Door.DREAM) or "what `exclude` hides is not known until it is mended"

    def row(self, path: str) -> int | None:
        """The row of the note at `path`; None where there is no such note or it is invisible."""
        return row_of(self.graph, path)

    @cached_property
    def _titles(self) -> Counter[str]:
        return Counter(title_of(path).casefold() for path in self.graph.paths)

    def name_of(self, path: str) -> str:
        """What the note at `path` is called where it is named: its title, with its folder where several are called so.
        """
        title = title_of(path)
        return title if self._titles[title.casefold()] < 2 else f"{path[: path.rfind('/') + 1]}{title}"

    @cached_property
    def name_store(self) -> NameStore:
        """The names of all notes but ours, of those too that no dream may see: a name inside one of them is not meant.
        """
        from aria_dream.ranking.names import NameStore  # numpy, as below

        facts = (fact for fact in self.index.facts if not fact.marker)
        return NameStore([name for fact in facts for name in (title_of(fact.path), *fact.aliases)])

    @cached_property
    def links(self) -> Neighbours:
        """Neighbours in either direction."""
        from aria_dream.ranking.sparse import neighbours_of  # numpy, which what only counts notes does without

        return neighbours_of(self.graph)

    @cached_property
    def notes(self) -> tuple[Walkable, ...]:
        """As the walk sees them, in the order of `graph.paths`."""
        obsidian = self.index.obsidian
        return walkable_notes(
            self.facts,
            self.graph,
            daily={path for path in self.graph.paths if obsidian.is_daily(path)},
            template={path for path in self.graph.paths if obsidian.is_template(path)},
            hidden=frozenset(),
            links=self.links,
        )

    @cached_property
    def state_hash(self) -> str:
        """SHA-256 over names, contents and links of the visible notes: equal states dream alike. 64 hex digits."""
        parts = []
        for fact, note in zip(self.facts, self.notes, strict=True):
            parts.append(f"{fact.path}\0".encode("utf-8", "surrogatepass"))
            parts.append(fact.content_hash)
            parts.append(bytes((note.daily, note.template, note.index, note.plugin)))
        digest = sha256(b"".join(parts))
        digest.update(self.graph.offsets.tobytes() + self.graph.targets.tobytes())
        return digest.hexdigest()


def read_dreamt_vault(
    root: Path,
    places: Places,
    *,
    progress: Callable[[int, int], None] | None = None,
    environ: Mapping[str, str] = os.environ,
) -> DreamtVault:
    """The vault at `root` as it may be dreamt now, under the policy that it holds now.

    Raises:
        VaultUnreadableError: the vault does not exist, is no folder or cannot be listed.
    """
    with collector_paused():
        return _dreamt(read_vault(root, places.cache, progress=progress), places, environ)


def _dreamt(index: VaultIndex, places: Places, environ: Mapping[str, str]) -> DreamtVault:
    live = read_live_policy(index.root, places, environ)
    everything = tuple(index.facts)
    sharing, unmatched = survey(everything, live.policy)
    folder = live.policy.settings.dream_folder
    names = read_vault_names(index, folder)
    home = choose_home(names, folder)
    logs = _dream_logs(everything, live.policy.settings.memory_folder)
    hidden = {*sharing.hidden, *index.not_here, *index.conflicts, *_ours(everything, home), *logs}
    if any(pattern.tag for pattern in live.policy.settings.exclude):
        # a tag may stand in properties that nobody can read, and be the one that hides the note
        hidden.update(problem.path for problem in index.problems if is_unread(problem))
    kept = [row for row, fact in enumerate(everything) if fact.path not in hidden and not _is_shut(fact)]
    facts = everything if len(kept) == len(everything) else tuple(everything[row] for row in kept)
    graph = only(index.graph, kept)
    return DreamtVault(
        index=index,
        live=live,
        sharing=sharing,
        names=names,
        home=home,
        facts=facts,
        graph=graph,
        problems=(*live.problems, *unmatched),
    )


def _is_shut(fact: NoteFacts) -> bool:
    return not fact.dream or bool(fact.marker) or fact.ignored


def _ours(facts: Sequence[NoteFacts], home: Home) -> set[str]:
    """The notes in our own folder, whether or not their marker was edited away: what is written is never dreamt."""
    if not home.exists:
        return set()
    inside = fold_path(home.folder) + "/"
    return {fact.path for fact in facts if fold_path(fact.path).startswith(inside)}


def _dream_logs(facts: Sequence[NoteFacts], memory_folder: str) -> set[str]:
    """The log that a synthesis appends to, marked or not: it may be older than the marker."""
    folders = (memory_folder,) if memory_folder else USUAL_FOLDERS
    logs = {fold_path(str(log_path(folder))) for folder in folders}
    return {fact.path for fact in facts if fold_path(fact.path) in logs}


def only(graph: LinkGraph, kept: Sequence[int]) -> LinkGraph:
    """`graph` with the rows `kept` (ascending) and the links between them, numbered anew."""
    if len(kept) == len(graph.paths):
        return graph
    number = array("i", [-1]) * len(graph.paths)
    for new, old in enumerate(kept):
        number[old] = new
    offsets, targets = array("i", [0]), array("i")
    for row in kept:
        found = (number[target] for target in graph.targets[graph.offsets[row] : graph.offsets[row + 1]])
        targets.extend(target for target in found if target >= 0)
        offsets.append(len(targets))
    return LinkGraph(paths=tuple(graph.paths[row] for row in kept), offsets=offsets, targets=targets)
