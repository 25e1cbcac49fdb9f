"""What earlier nights and the writer's decisions leave to a consolidation. Pure."""

from __future__ import annotations

from datetime import timedelta
from types import MappingProxyType
from typing import TYPE_CHECKING, Final

from aria_dream.consolidate.judged import Judged
from aria_dream.consolidate.open_pairs import apart_key, same_key
from aria_dream.consolidate.run import pairs_within
from aria_dream.consolidate.work import Remembered
from aria_dream.review.proposal import DECIDED, WRITER

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from datetime import datetime

    from aria_dream.consolidate.record import Consolidation
    from aria_dream.consolidate.settled import Settled
    from aria_dream.consolidate.work import Work
    from aria_dream.review.proposal import ProposalState

COMBINING: Final = frozenset({"merge", "update"})
"""Kinds that a cluster becomes."""


def tokens_tonight(past: Sequence[Consolidation], run: Consolidation) -> int:
    """Tokens that other runs have spent on the night of `run`."""
    return sum(one.tokens for one in past if one.night == run.night and one.id != run.id)


def proposals_tonight(past: Sequence[Consolidation], run: Consolidation) -> int:
    """Proposals that other runs have made in the night of `run`."""
    return sum(len(one.proposals) for one in past if one.night == run.night and one.id != run.id)


def remembered_of(
    past: Sequence[Consolidation],
    run: Consolidation,
    states: Iterable[ProposalState],
    work: Work,
    *,
    lapse_days: int,
    said: Mapping[str, Settled] = MappingProxyType({}),
) -> Remembered:
    """What the run knows when it begins.

    A proposal that lapsed undecided is not made again for `lapse_days`. What waits or is decided is never made twice;
    what this very run has made is its own to find again. `said`: what the writer settled without a proposal, by key;
    of two words about one pair the last one counts. An applied merge leaves no pair behind: where two notes stand
    under its names again, they are two notes like any others.
    """
    judged = {key: one for each in past if each.id != run.id for key, one in each.judged.items()}
    note_ids = _ids_of_notes(work)
    apart: set[frozenset[str]] = set()
    busy_passages: set[str] = set()
    busy_paths: set[str] = set()
    together: set[frozenset[str]] = set()
    settled: set[str] = set(said)
    states = tuple(states)
    answered = _answered(states)
    same: dict[str, Judged] = {}
    called: dict[frozenset[str], datetime] = {}
    for pair in work.pairs:
        one, other = said.get(apart_key(pair)), said.get(same_key(pair))
        ids = frozenset((pair.first.id, pair.second.id))
        if other is not None and (one is None or other.at >= one.at):
            if answered.get(other.key, other.at) <= other.at:
                same[pair.key] = _called_same(pair.key)
                called[ids] = other.at
        elif one is not None:
            apart.add(ids)
    for state in states:
        if state.proposal.kind == "link":
            continue
        finding = str(state.proposal.extra.get("finding") or "")
        if state.proposal.episode == run.id and state.is_open and finding not in run.brought:
            continue  # a crash came between the proposal and its record
        is_lapsed = state.state == "expired" and state.since + timedelta(days=lapse_days) > run.at
        if state.is_open or state.state in DECIDED or is_lapsed:
            settled.add(finding)
            if state.proposal.kind in COMBINING and (state.state in DECIDED - {"applied"} or is_lapsed):
                within = pairs_within(_passages(state, note_ids))
                apart |= {ids for ids in within if ids not in called or called[ids] < state.since}
        if state.is_open and state.proposal.kind in COMBINING:
            busy_passages.update(_passages(state, note_ids))
            together |= pairs_within(_passages(state, note_ids))
        if state.is_open and state.proposal.kind in ("merge", "sync_copy"):
            busy_paths.update(state.paths)
    return Remembered(
        judged=judged,
        apart=frozenset(apart),
        busy_passages=frozenset(busy_passages),
        busy_paths=frozenset(busy_paths),
        together=frozenset(together),
        by_writer=same,
        settled=frozenset(settled - {""}),
    )


def _answered(states: Iterable[ProposalState]) -> dict[str, datetime]:
    """Keys by which the writer called pairs the same, to when a proposal that was built of it was refused, taken back
    or lapsed: that word has had its answer."""
    found: dict[str, datetime] = {}
    for state in states:
        keys = state.proposal.extra.get("asked_for")
        if isinstance(keys, list | tuple) and not state.is_open and state.state != "applied":
            found |= {str(key): max(state.since, found.get(str(key), state.since)) for key in keys}
    return found


def _called_same(key: str) -> Judged:
    return Judged(key=key, word="merge", reason="you said that they are the same", confidence=1.0, judge=WRITER)


def _passages(state: ProposalState, note_ids: dict[str, str]) -> set[str]:
    """Ids of the passages that a proposal brings together: as it was made, and of its notes under today's names."""
    named = state.proposal.extra.get("atoms")
    ids = {str(one) for one in named} if isinstance(named, list | tuple) else set()
    return ids | {note_ids[path] for path in state.paths if path in note_ids and state.proposal.kind == "merge"}


def _ids_of_notes(work: Work) -> dict[str, str]:
    """Vault path to id, of the whole notes in near pairs."""
    return {passage.path: passage.id for pair in work.pairs for passage in (pair.first, pair.second) if passage.is_note}
