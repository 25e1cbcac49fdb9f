"""What a consolidation of a real vault is made of: its passages, what lies near, what disagrees, who judges, what to
do.

Nothing heavy is done before `find`; what that computes is kept in the cache, note by note, so that a night which is cut
off has lost half a second's work.
"""

from __future__ import annotations

import re
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import timedelta
from functools import partial
from typing import TYPE_CHECKING, Final

from aria_dream.adapters.index.cache_store import ContentCache
from aria_dream.adapters.models.embedding import load_embedder
from aria_dream.adapters.models.model_judge import JudgeReport
from aria_dream.adapters.passages.claim_table import find_vault_conflicts
from aria_dream.adapters.passages.conflict_evidence import VaultEvidence
from aria_dream.adapters.passages.passage_signatures import PassageSignatures
from aria_dream.adapters.passages.passage_table import find_near, read_note_passages
from aria_dream.adapters.state.analysed_texts import mark_of, read_analysed, write_analysed
from aria_dream.adapters.state.importance import read_importance
from aria_dream.adapters.state.stale_notes import find_stale, remember_sources
from aria_dream.consolidate.clusters import Cluster as ReadCluster
from aria_dream.consolidate.comparison import embedded_compare
from aria_dream.consolidate.duplicates import ClusterProposal, Making, cluster_proposals, paths_of
from aria_dream.consolidate.judged import as_pair_verdict, conflict_key
from aria_dream.consolidate.record import Part, Scan
from aria_dream.consolidate.resolution import Settling, settle_conflict
from aria_dream.consolidate.stale import REMINDERS, propose_obsolete
from aria_dream.consolidate.verdict import KeepA, KeepB, Merge, Normalize
from aria_dream.consolidate.work import Candidate, Member, Work
from aria_dream.errors import MissingPartError
from aria_dream.review.proposal import WRITER
from aria_dream.usecases.consolidation_judge import (
    BuiltInConsolidationJudge,
    NoConsolidationJudge,
    open_consolidation_judge,
)
from aria_dream.usecases.unresolved_items import find_sync_copies, propose_union
from aria_dream.vault.edit import Refusal
from aria_dream.world import unheard

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from datetime import datetime

    from aria_dream.adapters.disk.places import Places
    from aria_dream.adapters.passages.passage_table import PassageTable
    from aria_dream.consolidate.near import NearRow
    from aria_dream.consolidate.passages import Passage
    from aria_dream.consolidate.stale import SourceMemory, Stale
    from aria_dream.consolidate.verdict import Conflict, ConflictVerdict, ConsolidationJudge, NearPair, PairVerdict
    from aria_dream.consolidate.work import Cluster
    from aria_dream.review.proposal import ProposalState
    from aria_dream.usecases.night_parts import Made
    from aria_dream.usecases.review_session import ReviewSession
    from aria_dream.usecases.unresolved_items import SyncCopy
    from aria_dream.world import Progress

_EMPHASIS: Final = re.compile(r"\*\*|__|==")
CHANGED: Final = "one of its notes has changed since the night began"


@dataclass(kw_only=True)
class VaultNight:
    """The `NightParts` of a real vault."""

    session: ReviewSession
    places: Places
    cache: ContentCache
    permit: Callable[[str], None]
    reading: Progress | None = None
    embedding: Progress | None = None
    claims: Progress | None = None
    missing: list[str] = field(default_factory=list)
    """What the night had to do without, in sentences for the writer."""
    report: JudgeReport = field(default_factory=JudgeReport)
    """What became of the judge."""
    left_out: list[str] = field(default_factory=list)
    """What was too much to look at, in sentences for the writer."""
    reminders: tuple[Stale, ...] = ()
    """Notes that are to be looked at again."""
    is_metered: bool = False
    """Whether whoever judges costs tokens."""
    _judge: str = ""
    _table: PassageTable | None = None
    _evidence: VaultEvidence | None = None
    _stale: Mapping[str, Stale] = field(default_factory=dict)
    _copies: Mapping[str, SyncCopy] = field(default_factory=dict)
    _sources: Mapping[str, SourceMemory] | None = None
    _near: Mapping[str, tuple[NearRow, int]] = field(default_factory=dict)
    _signatures: PassageSignatures | None = None

    def consolidation_judge(self) -> ConsolidationJudge | str:
        """Who judges, or why nobody does."""
        found = open_consolidation_judge(
            self.session.vault,
            self.cache,
            self.places.state,
            today=self.session.now.date(),
            compare=embedded_compare,
            problems=self.missing,
            report=self.report,
        )
        if isinstance(found, NoConsolidationJudge):
            return found.reason
        self._judge, self.is_metered = found.name, not isinstance(found, BuiltInConsolidationJudge)
        return found

    @property
    def trouble(self) -> str:
        """What has gone wrong with whoever judges."""
        return self.report.trouble

    def evidence(self, conflict: Conflict) -> str:
        """What speaks for either claim, as text."""
        return self._evidence_at_hand.text(conflict)

    @property
    def _evidence_at_hand(self) -> VaultEvidence:
        if self._evidence is None:
            self._evidence = VaultEvidence(self.session.vault, self.session.now.tzinfo)
        return self._evidence

    def settle(
        self, conflict: Conflict, verdict: ConflictVerdict, states: Mapping[str, ProposalState]
    ) -> Made | Refusal:
        """A proposal for a contradiction; a Refusal where it stays open for a person."""
        if not isinstance(verdict, KeepA | KeepB):
            return Refusal("left to you")
        settling = Settling(
            view=self.session.view((conflict.first.path, conflict.second.path), inbound=False),
            states=tuple(states.values()),
            now=self.session.now,
            expires_at=self._expires_at,
            judge=self._judge,
            floor=self.session.vault.live.policy.settings.confidence_floor,
            truths=self._evidence_at_hand.truths,
        )
        return settle_conflict(conflict, verdict, self.evidence(conflict), settling)

    def retire(self, mark: str, states: Mapping[str, ProposalState]) -> Made | Refusal:
        """A proposal for a stale note."""
        stale = self._stale[mark]
        view = self.session.view((stale.path,), inbound=False)
        return propose_obsolete(stale, view, tuple(states.values()), now=self.session.now, expires_at=self._expires_at)

    def unite(self, mark: str, states: Mapping[str, ProposalState]) -> Made | Refusal:
        """A proposal for a note and the copy that a sync left of it."""
        return propose_union(self.session, self._copies[mark], states, self._expires_at)

    @property
    def _expires_at(self) -> datetime:
        return self.session.now + timedelta(days=self.session.vault.live.policy.settings.proposal_expiry_days)

    def find(self, parts: Sequence[Part]) -> Work:
        """What lies before the run."""
        vault, settings = self.session.vault, self.session.vault.live.policy.settings
        table = self._table = read_note_passages(
            vault, self.cache, progress=self.reading or unheard, permit=partial(self.permit, "reading")
        )
        near = self._find_near(table, settings.cosine_threshold) if set(parts) != {Part.RESOLVE} else None
        candidates = self._candidates(table, near or ())
        conflicts = self._find_conflicts() if set(parts) != {Part.CONSOLIDATE} else ()
        stale = self._find_stale() if Part.CONSOLIDATE not in parts or len(parts) > 1 else ()
        if Part.CONSOLIDATE in parts:
            self._copies = {copy.mark: copy for copy in find_sync_copies(self.session) if copy.mark}
        known = read_analysed(self.session.store.folder)
        scan = Scan(
            passages=len(table.rows),
            new=sum(mark_of(row.state_hash) not in known for row in table.rows),
            pairs=len(candidates),
            conflicts=len(conflicts),
            stale=len(stale),
            at_odds=tuple((conflict_key(one), one.first.path, one.second.path) for one in conflicts),
        )
        return Work(
            scan=scan,
            pairs=candidates,
            is_compared=near is not None,
            conflicts=conflicts,
            stale=tuple(stale),
            copies=tuple(self._copies),
        )

    def _find_stale(self) -> tuple[str, ...]:
        """Marks of the stale notes, one a note: its first reason."""
        found, self._sources = find_stale(
            self.session.vault,
            self.session.store.folder,
            now=self.session.now,
            progress=self.claims or unheard,
            permit=partial(self.permit, "reading"),
        )
        done = self.session.store.settled()
        self.reminders = tuple(one for one in found if one.why in REMINDERS and one.mark not in done)
        by_path: dict[str, Stale] = {}
        for one in found:
            if one.why not in REMINDERS:
                by_path.setdefault(one.path, one)
        self._stale = {one.mark: one for one in by_path.values()}
        return tuple(self._stale)

    def _find_conflicts(self) -> tuple[Conflict, ...]:
        return find_vault_conflicts(
            self.session.vault,
            self.cache,
            progress=self.claims or unheard,
            permit=partial(self.permit, "reading"),
            left_out=self.left_out.append,
        )

    def _find_near(self, table: PassageTable, least_cosine: float) -> Sequence[NearRow] | None:
        try:
            return find_near(
                table,
                self.cache,
                load_embedder(),
                least_cosine=least_cosine,
                progress=self.embedding or unheard,
                permit=partial(self.permit, "embedding"),
            )
        except MissingPartError as error:
            self.missing.append(f"Passages were not compared: {error}")
            return None

    def _candidates(self, table: PassageTable, near: Sequence[NearRow]) -> tuple[Candidate, ...]:
        members: dict[int, Member] = {}

        def member(row: int) -> Member:
            if row not in members:
                passage = table.rows[row]
                path = table.vault.graph.paths[passage.note]
                name = path.rpartition("/")[2].removesuffix(".md")
                headings = [_EMPHASIS.sub("", text) for text in passage.headings]
                which = f" ({passage.number})" if passage.number > 1 else ""  # the second of that heading
                members[row] = Member(
                    id=table.id_of(row), path=path, title=" › ".join((name, *headings[-1:])) + which,
                    state=passage.state_hash, is_note=not headings, trail=" › ".join((name, *headings)) + which,
                )  # fmt: skip
            return members[row]

        found = [
            Candidate(
                key=table.key(pair),
                first=member(pair.first),
                second=member(pair.second),
                rank=rank,
                cosine=pair.cosine,
                overlap=pair.overlap,
            )
            for rank, pair in enumerate(near, start=1)
        ]
        self._near = {one.key: (pair, one.rank) for one, pair in zip(found, near, strict=True)}
        self._signatures = PassageSignatures(table, near)
        return tuple(found)

    def foregone(self, pair: Candidate) -> PairVerdict | None:
        """What the built-in judge says, where it need not read the texts again; None of a language model."""
        return None if self.is_metered or self._signatures is None else self._signatures.compare(*self._near[pair.key])

    def texts(self, pair: Candidate) -> NearPair | None:
        """The two with their texts; None where one of them has changed since `find`."""
        assert self._table is not None, "what is compared was found before"
        near, rank = self._near[pair.key]
        return self._table.pair(near, rank)

    def collapse(self, clusters: Sequence[Cluster], states: Mapping[str, ProposalState]) -> Made | Refusal:
        """One proposal for clusters that belong together."""
        read = [self._read(cluster) for cluster in clusters]
        whole = [cluster for cluster in read if cluster is not None]
        if len(whole) < len(read):
            return Refusal(CHANGED)
        asked_for = any(judged.judge == WRITER for cluster in clusters for _, judged in cluster.pairs)
        making = self._making(paths_of(whole), states, judge=WRITER if asked_for else self._judge)
        first = next(iter(cluster_proposals(whole, making)), None)
        if isinstance(first, ClusterProposal):
            return first.proposal, first.edits
        return Refusal(first.reason if first is not None else "its notes are too many, or in another proposal already")

    def _read(self, cluster: Cluster) -> ReadCluster | None:
        """The cluster with its texts; None where one of them has changed since `find`."""
        judged: list[tuple[NearPair, Merge | Normalize]] = []
        passages: dict[str, Passage] = {}
        for candidate, kept in cluster.pairs:
            pair, verdict = self.texts(candidate), as_pair_verdict(kept)
            if pair is None or not isinstance(verdict, Merge | Normalize):
                return None
            judged.append((pair, verdict))
            passages |= {passage.id: passage for passage in (pair.first, pair.second)}
        return ReadCluster(members=tuple(passages[name] for name in sorted(passages)), judged=tuple(judged))

    def _making(self, paths: Sequence[str], states: Mapping[str, ProposalState], *, judge: str) -> Making:
        session = self.session
        return Making(
            view=session.view(paths, inbound=True, goes=True),
            importance=read_importance(session.vault, paths),
            states=tuple(states.values()),
            now=session.now,
            expires_at=self._expires_at,
            judge=judge,
        )

    def note_analysed(self, work: Work, is_open: Callable[[str], bool]) -> None:
        """Remembers which texts have been looked at, and what notes and their sources read."""
        if self._sources is not None:
            remember_sources(self.session.store.folder, self._sources)
        if self._table is None:
            return
        waiting = {state for pair in work.pairs if is_open(pair.key) for state in (pair.first.state, pair.second.state)}
        seen = {mark_of(row.state_hash) for row in self._table.rows if row.state_hash not in waiting}
        write_analysed(self.session.store.folder, seen)


@contextmanager
def open_night_parts(
    session: ReviewSession,
    places: Places,
    *,
    permit: Callable[[str], None],
    reading: Progress | None = None,
    embedding: Progress | None = None,
    claims: Progress | None = None,
) -> Iterator[VaultNight]:
    """The parts, with the vault's cache open while they are used."""
    with ContentCache(places.vault_cache(session.vault.root)) as cache:
        yield VaultNight(
            session=session,
            places=places,
            cache=cache,
            permit=permit,
            reading=reading,
            embedding=embedding,
            claims=claims,
        )
