"""`proposals.jsonl` read back: records folded, in order, into the state of every proposal."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from aria_dream.errors import Problem
from aria_dream.notes.jsonl import (
    as_list,
    as_mapping,
    as_moment,
    as_number,
    as_text,
    as_texts,
    as_whole,
    parse_records,
)
from aria_dream.review.proposal import EVENTS, KINDS, PlannedEdit, Proposal, ProposalState, is_id_of
from aria_dream.vault.edit import ContentHash

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from datetime import datetime

    from aria_dream.review.proposal import Event, State

_FROM: Mapping[Event, frozenset[State]] = {
    "approved": frozenset({"proposed", "stale", "expired"}),
    "rejected": frozenset({"proposed", "approved", "stale", "expired", "superseded", "rolled_back"}),
    "reopened": frozenset({"approved", "rejected", "rolled_back", "stale", "expired"}),
    "applied": frozenset({"proposed", "approved", "stale", "expired", "superseded"}),
    "rolled_back": frozenset({"applied"}),
    "stale": frozenset({"proposed", "approved"}),
    "expired": frozenset({"proposed", "stale"}),
    "superseded": frozenset({"proposed", "approved", "stale", "expired"}),
}
"""Event to the states it can follow. `applied` follows even an undecided proposal: the file did change, and graduated
kinds are applied without a tick."""
_TO: Mapping[Event, State] = {
    "approved": "approved",
    "rejected": "rejected",
    "reopened": "proposed",
    "applied": "applied",
    "rolled_back": "rolled_back",
    "stale": "stale",
    "expired": "expired",
    "superseded": "superseded",
}
_KNOWN = frozenset(
    (
        "event", "version", "at", "id", "kind", "paths", "round", "titles", "hashes", "confidence", "score", "reason",
        "judge", "way", "evidence", "episode", "expires_at",
    )
)  # fmt: skip


def parse_journal(text: str) -> tuple[dict[str, ProposalState], tuple[Problem, ...]]:
    """Id to state of every proposal, in order of first appearance, and the lines that could not be used.

    Tolerates a torn last line, blank lines, CRLF, unknown keys and events, and repeated records. A record that
    contradicts the state (an approval of what was rejected) is left out and reported: nothing is ever guessed forward.
    """
    records, problems = parse_records(text)
    states, faults = fold(records)
    return states, tuple(sorted((*problems, *faults), key=lambda problem: problem.line))


def fold(
    records: Sequence[tuple[int, Mapping[str, object]]], earlier: Mapping[str, ProposalState] | None = None
) -> tuple[dict[str, ProposalState], tuple[Problem, ...]]:
    """`parse_journal` for records that are parsed already, each with its line number. `earlier`: the states so far."""
    states: dict[str, ProposalState] = dict(earlier or {})
    problems: list[Problem] = []
    for line, record in records:
        try:
            said = _step(states, record)
        except (KeyError, TypeError, ValueError):
            said = "this record lacks something, or is not what its id vouches for, and was left out"
        if said:
            problems.append(Problem("", line, said))
    return states, tuple(problems)


def _step(states: dict[str, ProposalState], record: Mapping[str, object]) -> str:
    """Bring `states` up to date; what is wrong with the record, or `""`. Raises KeyError, TypeError, ValueError."""
    name = record["event"]
    if name == "renamed":
        states.update(renamed(states, as_text(record["from"]), as_text(record["to"])))
        return ""
    if name not in EVENTS:
        return ""  # of a later version
    event, at = name, as_moment(record["at"])
    if event == "proposed":
        return _propose(states, _proposal(record, at))
    state = states.get(as_text(record["id"]))
    if state is None:
        return "this record names a proposal that was never made"
    match event:
        case "planned":
            edits = tuple(_edit(row) for row in as_list(record["edits"]))
            states[state.proposal.id] = replace(state, edits=edits)
        case "edge":
            states[state.proposal.id] = replace(state, edge=as_text(record["edge"]))
        case "janus":
            verdict, reason = as_text(record["verdict"]), as_text(record.get("reason", ""))
            states[state.proposal.id] = replace(state, janus=verdict, janus_reason=reason)
        case _:
            return _move(states, state, event, record, at)
    return ""


def _move(
    states: dict[str, ProposalState], state: ProposalState, event: Event, record: Mapping[str, object], at: datetime
) -> str:
    if state.state == _TO[event]:
        return ""  # the same twice: two surfaces, or a line copied by a sync
    if state.state not in _FROM[event]:
        return f"proposal {state.proposal.id} is {state.state} and cannot be {event}; the record was left out"
    anew = as_list(record["edits"]) if event == "reopened" and "edits" in record else None
    states[state.proposal.id] = replace(
        state,
        edits=state.edits if anew is None else tuple(map(_edit, anew)),
        state=_TO[event],
        since=at,
        by=as_text(record.get("by", "")),
        reason=as_text(record.get("reason", "")),
        history=as_text(record.get("history", state.history)),
        shown=as_text(record.get("shown", "")) if event == "approved" else state.shown,
        approved_by=_approved_by(state, event, record),
        applies=state.applies + (event == "applied"),
        rollbacks=state.rollbacks + (event == "rolled_back"),
    )
    return ""


def _approved_by(state: ProposalState, event: Event, record: Mapping[str, object]) -> str:
    by = as_text(record.get("by", ""))
    if event == "approved":
        return by
    return (state.approved_by or by) if event == "applied" else state.approved_by


def _propose(states: dict[str, ProposalState], proposal: Proposal) -> str:
    known = states.get(proposal.id)
    if known is None:
        states[proposal.id] = ProposalState(
            proposal=proposal, state="proposed", since=proposal.at, paths=proposal.paths, edge=_edge_of(proposal)
        )
        return ""
    first = (known.proposal.kind, sorted(known.proposal.paths), known.proposal.round)
    if first == (proposal.kind, sorted(proposal.paths), proposal.round):
        return ""
    return f"the id {proposal.id} belongs to another proposal already; the record was left out"


def _edge_of(proposal: Proposal) -> str:
    """The edge's name with which a link was proposed; `""` where there is none, or no text."""
    edge = proposal.evidence.get("edge", "") if proposal.kind == "link" else ""
    return edge if isinstance(edge, str) else ""


def renamed(states: Mapping[str, ProposalState], old: str, new: str) -> dict[str, ProposalState]:
    """The states with `new` for `old` wherever a proposal names it."""
    return {
        id_: replace(state, paths=tuple(new if path == old else path for path in state.paths))
        if old in state.paths
        else state
        for id_, state in states.items()
    }


def _proposal(record: Mapping[str, object], at: datetime) -> Proposal:
    kind = as_text(record["kind"])
    if kind not in KINDS:
        raise ValueError("kind")
    paths = as_texts(record["paths"])
    if not paths or (kind == "link" and (len(paths) != 2 or paths[0] == paths[1])):
        raise ValueError("paths")
    id_, round_ = as_text(record["id"]).lower(), as_whole(record.get("round", 0))
    if not is_id_of(id_, kind, paths, round_):
        raise ValueError("id")  # a hand-edited record: the id no longer vouches for the notes
    way, expires = record.get("way"), record.get("expires_at")
    score = record.get("score")
    return Proposal(
        id=id_,
        kind=kind,
        paths=paths,
        round=round_,
        at=at,
        expires_at=None if expires is None else as_moment(expires),
        titles=as_texts(record.get("titles", [])),
        hashes={path: as_text(value) for path, value in as_mapping(record.get("hashes", {})).items()},
        confidence=as_number(record.get("confidence", 0.0)),
        score=None if score is None else as_number(score),
        reason=as_text(record.get("reason", "")),
        judge=as_text(record.get("judge", "")),
        way=None if way is None else as_texts(way),
        evidence=as_mapping(record.get("evidence", {})),
        episode=as_text(record.get("episode", "")),
        extra={key: value for key, value in record.items() if key not in _KNOWN},
    )


def _edit(row: object) -> PlannedEdit:
    edit = as_mapping(row)
    return PlannedEdit(
        path=as_text(edit["path"]),
        before=ContentHash(as_text(edit["before"])),
        after=ContentHash(as_text(edit["after"])),
        start=as_whole(edit["start"]),
        removed=as_text(edit["removed"]),
        inserted=as_text(edit["inserted"]),
    )

