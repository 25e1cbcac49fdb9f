"""A dream over a real vault: the ranking and the judge, opened when they are needed, and the dream under its lock."""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime
from functools import cached_property
from typing import TYPE_CHECKING

from aria_dream.adapters.disk.files import DiskVault
from aria_dream.adapters.disk.lock import dream_lock
from aria_dream.adapters.index.cache_store import ContentCache
from aria_dream.adapters.index.decisions import decided_pairs_seen
from aria_dream.adapters.index.resonance import VaultRanker, build_ranking
from aria_dream.adapters.models.embedded_judge import open_embedded_judge
from aria_dream.adapters.models.embedding import load_embedder
from aria_dream.adapters.models.judges import open_judge
from aria_dream.adapters.models.model_judge import JudgeReport
from aria_dream.adapters.models.note_passages import NotePassages
from aria_dream.adapters.state.record_store import RecordStore
from aria_dream.errors import MissingPartError
from aria_dream.ranking.learn import Weights
from aria_dream.ranking.walk import may_be_dreamt
from aria_dream.usecases.dream import dream_once
from aria_dream.world import show_nothing, unheard

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
    from pathlib import Path

    from aria_dream.adapters.disk.places import Places
    from aria_dream.adapters.index.dreamt_vault import DreamtVault
    from aria_dream.adapters.models.embedded_judge import EmbeddedJudge
    from aria_dream.judging.dreaming import Judge, NoJudge
    from aria_dream.ranking.juxtaposition import Resonance
    from aria_dream.ranking.rank import Ranking
    from aria_dream.ranking.walk import Memory
    from aria_dream.usecases.dream import DreamRequest, DreamResult
    from aria_dream.world import Progress, ShowProgress, VaultFiles


SEEDS = 1_000_000
"""Seeds that are drawn are below this: short enough to be typed."""


@dataclass(kw_only=True)
class DreamParts:
    """L0 and L1 of one vault for one dream. Nothing is computed before it is asked for."""

    vault: DreamtVault
    cache: ContentCache
    weights: Weights | None = None
    """Of the dream that is dreamt again."""
    reading: Progress | None = None
    """Told while words are read."""
    embedding: Progress | None = None
    """Told while notes are embedded."""
    judging: Progress | None = None
    """Told while a language model is asked."""
    state: Path
    """The account's state folder."""
    store: RecordStore
    backend: str | None = None
    """The judge that was asked for, whatever the policy says."""
    is_measured: bool = False
    """Whether it is the judge's quality that is looked at: a model has no budget then, and nobody judges for it."""
    problems: list[str] = field(default_factory=list)
    """What the dream had to do without, in sentences for the writer."""
    report: JudgeReport = field(default_factory=JudgeReport)
    """What became of the judge."""
    _ranking: Ranking | None = None

    @property
    def ranking(self) -> Ranking:
        """The ranking, once `ranker` was called."""
        assert self._ranking is not None, "the ranking comes before the judge"
        return self._ranking

    def ranker(self, memory: Memory) -> VaultRanker:
        """L0; pairs that are decided in `memory` are no candidates."""
        self._ranking = build_ranking(
            self.vault, self.cache, decided=memory.decided, weights=self.weights, progress=self.reading
        )
        return VaultRanker(self.vault, self._ranking, self.resonances)

    @cached_property
    def passages(self) -> NotePassages:
        """The passages of the notes that may be dreamt; embedded when they are first asked for."""
        fit = may_be_dreamt(self.vault.notes)
        rows = tuple(row for row, path in enumerate(self.vault.graph.paths) if path in fit)
        return NotePassages(
            vault=self.vault, cache=self.cache, embedder=load_embedder(), rows=rows, progress=self.embedding or unheard
        )

    def resonances(
        self, asking: Sequence[int], also: Mapping[int, Collection[int]], most: int
    ) -> Mapping[int, Mapping[int, Resonance]]:
        """As `NotePassages.resonances`; nothing, and a problem for the writer, where the embedding model is missing."""
        try:
            return self.passages.resonances(asking, also, most)
        except MissingPartError as error:
            self.problems.append(str(error))
            return {}

    def judge(self) -> Judge | NoJudge:
        """L1: the judge that the policy names, or why it cannot sit."""
        return open_judge(
            self.vault,
            self.cache,
            self.state,
            today=datetime.now().astimezone().date(),
            embedded=self.embedded,
            problems=self.problems,
            report=self.report,
            is_measured=self.is_measured,
            backend=self.backend,
            progress=self.judging,
        )

    def embedded(self) -> EmbeddedJudge:
        """L1 without a server."""
        states = self.store.read().states
        decisions = decided_pairs_seen(self.vault, states.values())
        return open_embedded_judge(self.vault, self.ranking, self.passages, decisions=decisions)


@contextmanager
def open_dream_parts(
    vault: DreamtVault, places: Places, store: RecordStore | None = None, *, weights: Weights | None = None
) -> Iterator[DreamParts]:
    """The parts, with the vault's cache open while they are used."""
    with ContentCache(places.vault_cache(vault.root)) as cache:
        store = store or RecordStore(vault.live.state_folder(places))
        yield DreamParts(vault=vault, cache=cache, weights=weights, state=places.state, store=store)


def run_dream(
    vault: DreamtVault,
    places: Places,
    store: RecordStore,
    request: DreamRequest,
    *,
    show: ShowProgress = show_nothing,
    adapted: Callable[[VaultFiles], VaultFiles] = lambda files: files,
) -> tuple[DreamResult, tuple[str, ...]]:
    """The dream, and what it had to do without. An interrupted write is finished first. `adapted`: the vault's files as
    the dream is to write them.

    Raises:
        as `dream_once`; BusyError where another of our processes is at work in the vault.
    """
    state = vault.live.state_folder(places)
    files = DiskVault(vault.root, state)
    recorded = None if request.replay is None else request.replay.params.get("weights")
    weights = Weights.from_json(recorded) if isinstance(recorded, dict) else None
    with (
        dream_lock(state).held(),
        open_dream_parts(vault, places, store, weights=weights) as parts,
        show("Reading words") as parts.reading,
        show("Reading for meaning (only once a note)") as parts.embedding,
        show("Asking the model about each pair") as parts.judging,
    ):
        files.recover()
        result = dream_once(
            vault, adapted(files), store, request, ranker=parts.ranker, judge=parts.judge,
            trouble=lambda: parts.report.trouble,
        )  # fmt: skip
        return result, tuple(parts.problems)
