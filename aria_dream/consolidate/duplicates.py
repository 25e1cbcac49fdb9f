"""Clusters of duplicates as proposals: one for each cluster of notes, one for each set of notes with doubled sections.

Each comes with its exact edits, ready for the journal, and with what a writer must know to decide: why this one is
kept, what only another said, what is said in other words, what is lost, where properties disagree.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

from aria_dream.consolidate.clusters import choose_kept
from aria_dream.consolidate.note_merges import plan_note_merge
from aria_dream.consolidate.section_updates import plan_section_updates
from aria_dream.consolidate.verdict import Normalize
from aria_dream.markdown.note import NotePath
from aria_dream.ranking.juxtaposition import title_of
from aria_dream.review.proposal import WRITER, Proposal, next_round, proposal_id
from aria_dream.vault.edit import Refusal, content_hash

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from datetime import datetime

    from aria_dream.consolidate.clusters import Cluster, Importance
    from aria_dream.consolidate.passages import Passage
    from aria_dream.review.plan import Planned, VaultView
    from aria_dream.review.proposal import Kind, PlannedEdit, ProposalState

MOST_NOTES: Final = 12
"""Of one proposal: more nobody can look through in one sitting. The rest of a cluster comes another night."""
MOST_LISTED: Final = 20
"""Sentences of each kind that a proposal lists."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ClusterProposal:
    """A proposal with its exact edits: `proposed` and `planned` of the journal."""

    proposal: Proposal
    edits: tuple[PlannedEdit, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Unproposed:
    """Duplicates of which no change can be made, and why."""

    titles: tuple[str, ...]
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Making:
    """What every proposal of one night has in common."""

    view: VaultView
    """Holds every member's note, and every note and canvas that links to one."""
    importance: Mapping[str, Importance]
    """By vault path."""
    states: Sequence[ProposalState]
    """Every proposal so far."""
    now: datetime
    expires_at: datetime | None
    judge: str
    episode: str = ""


def paths_of(clusters: Iterable[Cluster]) -> tuple[str, ...]:
    """The notes whose content, and whose inbound links, `Making.view` must hold. Sorted."""
    return tuple(sorted({passage.path for cluster in clusters for passage in cluster.members}))


def cluster_proposals(clusters: Sequence[Cluster], making: Making) -> tuple[ClusterProposal | Unproposed, ...]:
    """A proposal for each cluster, or why there is none; notes first, in the order of the clusters.

    No note is in two of them, nor in one that waits: such a cluster comes another night, when the first has been
    decided. What the writer has rejected or taken back is not proposed again.
    """
    made: list[ClusterProposal | Unproposed] = []
    taken = {
        path
        for state in making.states
        if state.is_open and state.proposal.kind in ("merge", "update")
        for path in state.paths
    }
    sections: list[Cluster] = []
    for whole in clusters:
        cluster = replace(whole, members=whole.members[:MOST_NOTES])
        notes = [passage for passage in cluster.members if passage.is_note]
        free = [passage for passage in notes if passage.path not in taken]
        if len(free) >= 2:
            made.append(_note_proposal(cluster, free, making))
            taken.update(passage.path for passage in free)
        elif len(notes) < 2 and len(cluster.members) > len(notes):
            sections.append(cluster)
        else:
            made.append(_waiting(cluster))
    made += [_waiting(cluster) for cluster in sections if any(passage.path in taken for passage in cluster.members)]
    sections = [cluster for cluster in sections if not any(passage.path in taken for passage in cluster.members)]
    for group in _by_files(sections):
        fits = len({passage.path for one in group for passage in one.members}) <= MOST_NOTES
        made.append(_section_proposal(group if fits else group[:1], making))
    return tuple(_undecided(one, making) for one in made)


def _waiting(cluster: Cluster) -> Unproposed:
    titles = tuple(passage.title for passage in cluster.members)
    return Unproposed(titles=titles, reason="one of its notes is part of a proposal that waits for you")


def _undecided(one: ClusterProposal | Unproposed, making: Making) -> ClusterProposal | Unproposed:
    """`one`, unless the writer has refused it or taken it back, and has not asked for it since."""
    if isinstance(one, Unproposed) or making.judge == WRITER:
        return one
    wanted = sorted(one.proposal.paths)
    for state in making.states:
        same = state.proposal.kind == one.proposal.kind and sorted(state.paths) == wanted
        if same and state.state in ("rejected", "rolled_back") and _same_change(state, one):
            return Unproposed(titles=one.proposal.titles, reason="you have decided this one")
    return one


def _same_change(state: ProposalState, one: ClusterProposal) -> bool:
    """Whether a rejected change is this one: about the same notes, and for sections with the same texts going."""
    if one.proposal.kind == "merge":
        return True
    return {edit.removed for edit in state.edits} == {edit.removed for edit in one.edits}


def _note_proposal(cluster: Cluster, notes: Sequence[Passage], making: Making) -> ClusterProposal | Unproposed:
    kept, why = choose_kept(notes, making.importance)
    drops = sorted((passage for passage in notes if passage is not kept), key=lambda passage: passage.path)[
        : MOST_NOTES - 1
    ]
    wording = next((verdict.wording for _, verdict in cluster.judged if isinstance(verdict, Normalize)), None)
    found = plan_note_merge(
        making.view, NotePath(kept.path), [NotePath(passage.path) for passage in drops], wording=wording
    )
    if isinstance(found, Refusal):
        return Unproposed(titles=tuple(passage.title for passage in (kept, *drops)), reason=found.reason)
    evidence = {
        **_signals(cluster),
        "kept": f"“{kept.title}” stays: {why}" if why else "",
        "lost": list(found.merged.lost[:MOST_LISTED]),
        "added": list(found.merged.added[:MOST_LISTED]),
        "reworded": list(found.merged.reworded[:MOST_LISTED]),
        "conflict": [problem.message for problem in found.planned.problems],
        "links": [f"links to {name} lead to the whole note" for name in found.unplaced],
        "elsewhere": list(found.elsewhere[:MOST_LISTED]),
        "body": found.body,
    }
    return _proposal(
        "merge", (kept.path, *(passage.path for passage in drops)), found.planned, cluster, evidence, making
    )


def _section_proposal(group: Sequence[Cluster], making: Making) -> ClusterProposal | Unproposed:
    doubled: list[tuple[Passage, Sequence[Passage]]] = []
    whys = []
    for cluster in group:
        kept, why = choose_kept(cluster.members, making.importance)
        others = [passage for passage in cluster.members if passage is not kept and not passage.is_note]
        doubled.append((kept, others))
        whys.append(f"“{kept.title}” stays: {why}")
    titles = tuple(passage.title for kept, others in doubled for passage in (kept, *others))
    found = plan_section_updates(making.view, doubled)
    if isinstance(found, Refusal):
        return Unproposed(titles=titles, reason=found.reason)
    changed = dict.fromkeys(passage.path for _, others in doubled for passage in others)
    paths = tuple(dict.fromkeys((*changed, *(kept.path for kept, _ in doubled))))
    evidence = {
        **_signals(group[0]),
        "kept": whys,
        "sections": [f"“{passage.title}” becomes a link" for _, others in doubled for passage in others],
        "reworded": list(found.reworded[:MOST_LISTED]),
    }
    return _proposal("update", paths, found.planned, group[0], evidence, making)


def _by_files(clusters: Sequence[Cluster]) -> list[list[Cluster]]:
    """The clusters, those that touch the same notes together."""
    groups: list[tuple[set[str], list[Cluster]]] = []
    for cluster in clusters:
        paths = {passage.path for passage in cluster.members}
        near = [group for group in groups if group[0] & paths]
        groups = [group for group in groups if not group[0] & paths]
        merged = paths.union(*(group[0] for group in near))
        groups.append((merged, [*(one for group in near for one in group[1]), cluster]))
    return [group for _, group in groups]


def _signals(cluster: Cluster) -> dict[str, object]:
    pair = cluster.judged[0][0]
    return {"cosine": round(pair.cosine, 3), "overlap": round(pair.overlap, 3), "rank": pair.rank}


def _proposal(
    kind: Kind,
    paths: tuple[str, ...],
    plan: Planned,
    cluster: Cluster,
    evidence: Mapping[str, object],
    making: Making,
) -> ClusterProposal:
    round_ = next_round(making.states, kind, paths)
    hashes = {
        path: content_hash(making.view.contents[NotePath(path)])
        for path in paths
        if NotePath(path) in making.view.contents
    }
    proposal = Proposal(
        id=proposal_id(kind, paths, round_, (state.proposal.id for state in making.states)),
        kind=kind,
        paths=paths,
        round=round_,
        at=making.now,
        expires_at=making.expires_at,
        titles=tuple(map(title_of, paths)),
        hashes=hashes,
        confidence=cluster.confidence,
        score=cluster.judged[0][0].cosine,
        reason=cluster.judged[0][1].reason,
        judge=making.judge,
        evidence={key: value for key, value in evidence.items() if value not in ("", [])},
        episode=making.episode,
    )
    return ClusterProposal(proposal=proposal, edits=plan.edits)
