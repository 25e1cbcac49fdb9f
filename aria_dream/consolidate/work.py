"""What lies before a consolidation, what it may do, and the steps it is made of. Values only."""

from __future__ import annotations

from dataclasses import dataclass, field
from types import MappingProxyType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

    from aria_dream.consolidate.judged import Judged
    from aria_dream.consolidate.record import End, Scan
    from aria_dream.consolidate.verdict import Conflict

_NONE: Mapping[str, Judged] = MappingProxyType({})


@dataclass(frozen=True, slots=True, kw_only=True)
class Member:
    """A passage, without its text."""

    id: str
    path: str
    title: str
    state: str
    """Hash of all that a judge looks at."""
    is_note: bool
    trail: str = ""
    """Title with all headings that lead to it; `""` where the title says it all."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidate:
    """Two passages that may say the same; their texts are read when a judge is asked."""

    key: str
    """What the verdict on the two is remembered by."""
    first: Member
    second: Member
    rank: int
    """1 is the nearest."""
    cosine: float = 0.0
    """Of the two embeddings, -1 to 1."""
    overlap: float = 0.0
    """Of the words, 0 to 1."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Work:
    """What lies before a consolidation, found in the vault as it is now."""

    scan: Scan
    pairs: tuple[Candidate, ...] = ()
    """Nearest first."""
    is_compared: bool = True
    """Whether near pairs were looked for; without an embedder, or where only claims are asked for, nobody knows."""
    conflicts: tuple[Conflict, ...] = ()
    stale: tuple[str, ...] = ()
    """A mark for each stale note: its path and what is stale about it."""
    copies: tuple[str, ...] = ()
    """A mark for each note's copy that a sync left: its path and what it reads."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Remembered:
    """What earlier nights and the writer have settled."""

    judged: Mapping[str, Judged] = field(default_factory=lambda: _NONE)
    """Verdicts of all consolidations, by key."""
    apart: frozenset[frozenset[str]] = frozenset()
    """Ids of two passages each that are never proposed together again."""
    busy_passages: frozenset[str] = frozenset()
    """Ids of passages in a proposal that still waits."""
    busy_paths: frozenset[str] = frozenset()
    """Notes that a waiting proposal makes away with, or merges others into."""
    together: frozenset[frozenset[str]] = frozenset()
    """Ids of two passages each that a waiting proposal brings together."""
    by_writer: Mapping[str, Judged] = field(default_factory=lambda: _NONE)
    """Near pairs that the writer calls the same, by key: no judge is asked about them."""
    settled: frozenset[str] = frozenset()
    """Marks of contradictions and stale notes that a person has decided, or is still to decide."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """The breakers of a night."""

    proposals: int
    """So many more may be made in this run, its earlier sittings included."""
    room: int
    """So many more may wait for the writer after what this run has made already."""
    tokens: int
    """So many may be spent in this run, its earlier sittings included."""
    is_metered: bool = False
    """Whether the judge costs tokens."""
    most_proposals: int = 0
    most_open: int = 0
    most_tokens: int = 0
    """As the policy says, for the sentences."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Cluster:
    """Texts that say the same, by verdict."""

    mark: str
    members: tuple[Member, ...]
    """In the order of their ids."""
    pairs: tuple[tuple[Candidate, Judged], ...]
    """The verdicts that join them, nearest pair first."""
    dissent: tuple[str, ...] = ()
    """Near pairs of its members, or of one and a text that was left out, on which a verdict does not join them."""


@dataclass(frozen=True, slots=True)
class Triage:
    """Record what there is."""

    scan: Scan


@dataclass(frozen=True, slots=True)
class Compare:
    """Ask whether two texts say the same."""

    pair: Candidate


@dataclass(frozen=True, slots=True)
class Collapse:
    """Propose one change for a cluster of notes, or for the clusters of sections that lie in the same notes."""

    mark: str
    clusters: tuple[Cluster, ...]

    @property
    def members(self) -> tuple[Member, ...]:
        """Every passage of them."""
        return tuple(member for cluster in self.clusters for member in cluster.members)


@dataclass(frozen=True, slots=True)
class Resolve:
    """Ask which of two claims holds."""

    conflict: Conflict
    key: str


@dataclass(frozen=True, slots=True)
class Settle:
    """Propose what was found about a contradiction, or leave it to a person."""

    conflict: Conflict
    judged: Judged
    key: str


@dataclass(frozen=True, slots=True)
class Retire:
    """Propose to mark a stale note obsolete."""

    mark: str


@dataclass(frozen=True, slots=True)
class Unite:
    """Propose to unite a note with the copy that a sync left of it."""

    mark: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Stop:
    """The run is over."""

    end: End
    reason: str
    """Why it stopped before its time; `""` where nothing is left."""
    left: int
    """Pairs and contradictions without a verdict."""


Step = Triage | Compare | Collapse | Resolve | Settle | Retire | Unite | Stop
