"""What the tests of the nights share: a vault on the disk, and parts that find and plan by rules of their own."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import UTC, date, datetime, timedelta
from itertools import combinations
from typing import TYPE_CHECKING

from aria_dream.adapters.disk.files import DiskVault
from aria_dream.adapters.disk.places import Places
from aria_dream.adapters.index.dreamt_vault import read_dreamt_vault
from aria_dream.adapters.state.record_store import RecordStore
from aria_dream.consolidate.open_conflicts import open_conflict
from aria_dream.consolidate.passages import Passage
from aria_dream.consolidate.record import ALL_PARTS, Part, Scan
from aria_dream.consolidate.verdict import (
    Conflict,
    ConflictVerdict,
    KeepA,
    Merge,
    NearPair,
    NeedsHuman,
    PairVerdict,
)
from aria_dream.consolidate.work import Candidate, Cluster, Member, Work
from aria_dream.markdown.note import NotePath
from aria_dream.ranking.juxtaposition import title_of
from aria_dream.review.changes import plan_obsolete
from aria_dream.review.merging import plan_merge
from aria_dream.review.proposal import Proposal, next_round, proposal_id
from aria_dream.usecases.consolidation import consolidate_once
from aria_dream.usecases.night_parts import ConsolidationRequest, ConsolidationResult
from aria_dream.usecases.overnight_report import OvernightReport, write_overnight_report
from aria_dream.usecases.review_session import ReviewSession
from aria_dream.vault.edit import Refusal, decode_note
from aria_dream.world import Content

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path

    from aria_dream.consolidate.stale import Stale
    from aria_dream.consolidate.verdict import ConsolidationJudge
    from aria_dream.review.plan import Planned
    from aria_dream.review.proposal import Kind, PlannedEdit, ProposalState
    from aria_dream.usecases.night_parts import Made

AT = datetime(2026, 11, 30, 2, 0, tzinfo=UTC)
NIGHT = date(2026, 11, 30)
POLICY = "---\naria-dream: policy\naria-dream-id: abcdefgh23456789\n---\n"
NOTES = {
    "dreaming.md": POLICY,
    "Compost.md": "A heap that is fed little and often sleeps in the cold.\n",
    "Compost copy.md": "A heap that is fed little and often sleeps in the cold.\n",
    "Tides.md": "Twice a day, the moon. See [[Compost copy]].\n",
    "Ebb.md": "Nothing pulls between two floods.\n",
    "Ebb again.md": "Nothing pulls between two floods.\n",
    "Rain.md": "It rains 3 days a week.\n",
    "Rain too.md": "It rains 4 days a week.\n",
    "Old.md": "---\nvalid_until: 2020-01-01\n---\nA price list.\n",
}


@dataclass
class Judge:
    """A counsel that says the same every time, and whom it was asked about."""

    name: str = "a model"
    cost: int = 100
    tokens: int = 0
    hindrance: str = ""
    asked: list[str] = field(default_factory=list)
    compared: PairVerdict = field(default_factory=lambda: Merge(reason="word for word the same", confidence=0.99))
    resolved: ConflictVerdict = field(default_factory=lambda: NeedsHuman(reason="both are undated"))
    on_ask: Callable[[], None] = lambda: None

    def compare(self, pair: NearPair) -> PairVerdict:
        self.asked.append(pair.first.path)
        self.tokens += self.cost
        self.on_ask()
        return self.compared

    def resolve(self, conflict: Conflict, evidence: str) -> ConflictVerdict:
        assert evidence
        self.asked.append(conflict.first.path)
        self.tokens += self.cost
        self.on_ask()
        return self.resolved


@dataclass
class RuleParts:
    """Finds notes with equal bodies, rains that disagree, and what has run out; plans with the real planners."""

    session: ReviewSession
    judge: Judge
    is_metered: bool = False
    trouble: str = ""
    analysed: set[str] = field(default_factory=set)

    def consolidation_judge(self) -> ConsolidationJudge | str:
        return self.judge

    def _passage(self, path: str) -> Passage:
        content = self.session.files.read(NotePath(path))
        text = decode_note(content.data) if isinstance(content, Content) else ""
        return Passage(id=path, path=path, headings=(), start=0, end=len(text), text=text, words=text, fingerprint=text)

    def find(self, parts: Sequence[Part]) -> Work:
        assert parts
        passages = [self._passage(path) for path in self.session.vault.graph.paths]
        same = [two for two in combinations(passages, 2) if two[0].text == two[1].text]
        rains = [passage for passage in passages if passage.text.startswith("It rains")]
        pairs = tuple(
            Candidate(key=f"{one.text}", first=_member(one), second=_member(other), rank=rank)
            for rank, (one, other) in enumerate(same, start=1)
        )
        conflicts = tuple(
            Conflict(first=one, second=other, subject="rain", first_claim=one.text, second_claim=other.text,
                     signals=("subject", "number"))
            for one, other in combinations(rains, 2)
        )  # fmt: skip
        stale = tuple(passage.path for passage in passages if "valid_until" in passage.text)
        scan = Scan(
            passages=len(passages),
            new=len(passages) - len(self.analysed),
            pairs=len(pairs),
            conflicts=len(conflicts),
            stale=len(stale),
        )
        return Work(scan=scan, pairs=pairs, conflicts=conflicts, stale=stale)

    def foregone(self, pair: Candidate) -> PairVerdict | None:
        assert pair.rank > 0
        return None

    def texts(self, pair: Candidate) -> NearPair | None:
        return NearPair(first=self._passage(pair.first.path), second=self._passage(pair.second.path), cosine=1.0,
                        overlap=1.0, rank=pair.rank)  # fmt: skip

    def evidence(self, conflict: Conflict) -> str:
        return f"both undated: {conflict.subject}"

    def collapse(self, clusters: Sequence[Cluster], states: Mapping[str, ProposalState]) -> Made | Refusal:
        (cluster,) = clusters
        keep, drop = sorted((member.path for member in cluster.members), key=len)[:2]
        planned = plan_merge(self.session.view((keep, drop), inbound=True), NotePath(keep), NotePath(drop))
        judged = cluster.pairs[0][1]
        return self._made("merge", (keep, drop), planned, states, judged.reason, judge=judged.judge)

    def settle(
        self, conflict: Conflict, verdict: ConflictVerdict, states: Mapping[str, ProposalState]
    ) -> Made | Refusal:
        if not isinstance(verdict, KeepA):
            return Refusal("a person has to decide this")
        path = conflict.second.path
        planned = plan_obsolete(self.session.view((path,), inbound=False), NotePath(path))
        return self._made("resolve_contradiction", (conflict.first.path, path), planned, states, verdict.reason)

    def unite(self, mark: str, states: Mapping[str, ProposalState]) -> Made | Refusal:
        raise AssertionError((mark, states))

    def retire(self, mark: str, states: Mapping[str, ProposalState]) -> Made | Refusal:
        planned = plan_obsolete(self.session.view((mark,), inbound=False), NotePath(mark))
        return self._made("obsolete", (mark,), planned, states, "it ran out on 2020-01-01")

    def _made(
        self, kind: Kind, paths: tuple[str, ...], planned: Planned | Refusal, states: Mapping[str, ProposalState],
        reason: str, judge: str = "",
    ) -> tuple[Proposal, tuple[PlannedEdit, ...]] | Refusal:  # fmt: skip
        if isinstance(planned, Refusal):
            return planned
        round_ = next_round(states.values(), kind, paths)
        proposal = Proposal(
            id=proposal_id(kind, paths, round_, states), kind=kind, paths=paths, round=round_, at=self.session.now,
            expires_at=self.session.now + timedelta(days=60), titles=tuple(map(title_of, paths)), confidence=0.99,
            reason=reason, judge=judge or self.judge.name,
            hashes={fact.path: fact.content_hash.hex() for fact in self.session.vault.facts if fact.path in paths},
        )  # fmt: skip
        return proposal, planned.edits

    def note_analysed(self, work: Work, is_open: Callable[[str], bool]) -> None:
        assert all(is_open(pair.key) in (True, False) for pair in work.pairs)
        self.analysed.update(self.session.vault.graph.paths)


def _member(passage: Passage) -> Member:
    return Member(
        id=passage.id, path=passage.path, title=title_of(passage.path), state=passage.fingerprint, is_note=True
    )


class NightBench:
    """One vault and one machine, night after night."""

    def __init__(self, folder: Path, notes: Mapping[str, str] = NOTES) -> None:
        self.root, self.state = folder / "vault", folder / "state"
        self.places = Places(state=folder / "state", cache=folder / "cache")
        for name, text in notes.items():
            self.save(name, text)
        (self.root / ".obsidian").mkdir(exist_ok=True)
        self.clock = AT
        self.reminders: tuple[Stale, ...] | None = None
        """What the nights find that is to be looked at again."""

    def save(self, name: str, text: str) -> None:
        place = self.root / name
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(text, encoding="utf-8", newline="")

    def read(self, name: str) -> str:
        return (self.root / name).read_bytes().decode()

    def held(self) -> dict[str, bytes]:
        """Every note of the writer's."""
        found = {path.relative_to(self.root).as_posix(): path.read_bytes() for path in self.root.rglob("*.md")}
        return {name: data for name, data in found.items() if not name.startswith("dreams/")}

    def now(self) -> datetime:
        self.clock += timedelta(seconds=1)
        return self.clock

    def session(self, wrap: Callable[[DiskVault], DiskVault] = lambda files: files) -> ReviewSession:
        vault = read_dreamt_vault(self.root, self.places, environ={})
        state = vault.live.state_folder(self.places)
        return ReviewSession(
            vault=vault, files=wrap(DiskVault(self.root, state)), store=RecordStore(state), now=self.now()
        )

    @property
    def store(self) -> RecordStore:
        return RecordStore(self.state / "abcdefgh23456789")

    def run_consolidation(self, judge: Judge | None = None, *, permit: Callable[[str], None] = lambda _unit: None,
            metered: bool = False, **asked: object) -> ConsolidationResult:  # fmt: skip
        """One sitting."""
        session = self.session()
        request = ConsolidationRequest(**{"at": session.now, "night": NIGHT, "parts": ALL_PARTS, **asked})  # type: ignore[arg-type]
        parts = RuleParts(session, judge or Judge(), is_metered=metered)
        return consolidate_once(session, parts, request, now=self.now, permit=permit)

    def tell(self, result: ConsolidationResult) -> OvernightReport:
        """The morning after it."""
        assert result.run is not None
        conflicts = tuple(map(open_conflict, result.open_conflicts))
        return write_overnight_report(
            self.session(), result.run, pairs=result.open_pairs, conflicts=conflicts, reminders=self.reminders
        )
