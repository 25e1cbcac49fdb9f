"""From what a reach brought home to what may be proposed: a link with a named edge, or a note that stands alone.

Pure. What Codex said is text of others: its edge, claim and argument are shown escaped, its sources as code, and the
name of a new note is made of the claim's words, never taken from it as a path.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING, assert_never

from aria_dream.judging.prompt_text import harmless_text
from aria_dream.markdown.note import NotePath
from aria_dream.notes.plain_text import clean, escape_plain
from aria_dream.ranking.juxtaposition import pair_key, title_of
from aria_dream.reach.citation import inert, normal_url
from aria_dream.review.application import target_of
from aria_dream.review.changes import plan_placement
from aria_dream.review.inbound import plan_orphan
from aria_dream.review.orphan_name import free_places
from aria_dream.review.placement import AlreadyLinked
from aria_dream.review.plan import Planned
from aria_dream.review.proposal import DECIDED, Proposal, event_record, next_round, planned_record, proposal_id
from aria_dream.vault.edit import Refusal
from aria_dream.vault.names import fold_path

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from datetime import datetime

    from aria_dream.policy.file_layout import VaultNames
    from aria_dream.reach.citation import Source
    from aria_dream.reach.reach import Answer
    from aria_dream.review.plan import VaultView
    from aria_dream.review.proposal import PlannedEdit, ProposalState

@dataclass(frozen=True, slots=True, kw_only=True)
class AskedPair:
    """Two notes that a reach was on, or that the seed it was on homes between."""

    from_: str
    to: str
    """Vault paths."""
    score: float | None = None
    """Of the dream; None where it is not known any more."""
    way: tuple[str, ...] | None = None
    """Vault paths that connect them; None where only the text does."""


@dataclass(frozen=True, slots=True)
class AskedSeed:
    """A seed of the writer that a reach was on."""

    header: str
    no_link: str = ""
    """Why its answer leads to no link, as one clause; `""` where none was asked for."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Reached:
    """One reach that landed."""

    id: str
    """As in the ledger."""
    at: datetime
    """Aware, in the writer's zone."""
    asked: AskedPair | AskedSeed
    answer: Answer
    model: str
    """As the log names it: `Codex (gpt-5.5)`."""
    note: str
    """Vault path of the dream note that shows it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Proposed:
    """A new proposal, to be journalled as `proposed` and, where there are edits, `planned`."""

    proposal: Proposal
    edits: tuple[PlannedEdit, ...]
    """What would be written now; empty where no text can be found for it now."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Noted:
    """What was found waits for the writer already; `records`, for the journal, say what was still missing there: the
    edge's name and the change that bears it, or the text that a crash kept from being journalled."""

    id: str
    records: tuple[Mapping[str, object], ...]


@dataclass(frozen=True, slots=True)
class NothingProposed:
    """Why the reach leads to no proposal."""

    reason: str
    """One clause."""


def proposals_of_reach(
    reached: Reached,
    states: Mapping[str, ProposalState],
    view: VaultView,
    names: VaultNames,
    *,
    folder: str,
    expiry_days: int,
    hash_of: Callable[[str], str],
) -> Proposed | Noted | NothingProposed:
    """What the reach's answer leads to. `view` holds both notes of a pair; `folder` is where new notes go
    (`orphan_name.orphan_folder`); `hash_of` gives the content hash of a vault path.

    HOMES with a named edge on a pair that nobody has decided: the link, in the direction that was asked. ORPHAN that
    is argued and cites something: a note that links to nothing. Nothing else is ever proposed.
    """
    answer = reached.answer
    expires_at = reached.at + timedelta(days=expiry_days)
    match answer.verdict:
        case "homes" if not answer.edge:
            return NothingProposed("the edge has no name")
        case "homes":
            if not isinstance(reached.asked, AskedPair):
                return NothingProposed(reached.asked.no_link or "a seed that homes names no two notes to link")
            return _link(reached, reached.asked, states, view, expires_at, hash_of)
        case "orphan" if not answer.is_finding:
            return NothingProposed("an orphan without a source or an argument is no finding")
        case "orphan":
            return _orphan(reached, states, view, names, folder, expires_at)
        case "neither":
            return NothingProposed("neither a home nor new territory")
        case _:
            assert_never(answer.verdict)


def _link(
    reached: Reached,
    pair: AskedPair,
    states: Mapping[str, ProposalState],
    view: VaultView,
    expires_at: datetime,
    hash_of: Callable[[str], str],
) -> Proposed | Noted | NothingProposed:
    paths, edge = (pair.from_, pair.to), clean(reached.answer.edge)
    key = pair_key(*paths)
    found = plan_placement(view, NotePath(pair.from_), target_of(view, NotePath(pair.to)), edge=edge)
    for state in states.values():
        if state.proposal.kind != "link" or len(state.paths) != 2 or pair_key(*state.paths) != key:
            continue
        if state.state == "proposed":
            named = event_record("edge", state.proposal.id, reached.at, edge=edge, judge=reached.model)
            again = plan_placement(
                view, NotePath(state.paths[0]), target_of(view, NotePath(state.paths[1])), edge=edge
            )  # fmt: skip
            anew = [planned_record(state.proposal.id, again.edits, reached.at)] if isinstance(again, Planned) else []
            return Noted(id=state.proposal.id, records=(named, *anew))
        if state.state in DECIDED:
            return NothingProposed("you have decided about this pair")
    if isinstance(found, AlreadyLinked):
        return NothingProposed(f"the note links there already: {found.link}")
    turn = next_round(states.values(), "link", paths)
    argument = reached.answer.argument
    proposal = Proposal(
        id=proposal_id("link", paths, turn, states),
        kind="link",
        paths=paths,
        round=turn,
        at=reached.at,
        expires_at=expires_at,
        titles=tuple(map(title_of, paths)),
        hashes={path: hash_of(path) for path in paths},
        score=pair.score,
        reason=f"{edge}: {argument[0]}" if argument else edge,
        judge=reached.model,
        way=pair.way,
        evidence={"edge": edge, **_evidence(reached)},
        episode=_episode(reached),
    )
    return Proposed(proposal=proposal, edits=found.edits if isinstance(found, Planned) else ())


def _episode(reached: Reached) -> str:
    return f"reach-{reached.id}"


def _evidence(reached: Reached) -> dict[str, object]:
    return {
        "argument": list(reached.answer.argument),
        "sources": [{"url": source.url, "title": source.title} for source in reached.answer.sources],
        "note": reached.note,
        "model": reached.model,
    }


def _orphan(
    reached: Reached,
    states: Mapping[str, ProposalState],
    view: VaultView,
    names: VaultNames,
    folder: str,
    expires_at: datetime,
) -> Proposed | Noted | NothingProposed:
    claim, text = reached.answer.argument[0], render_orphan(reached)
    for state in states.values():
        if state.proposal.kind == "place_orphan" and _same(state.proposal.evidence.get("claim"), claim):
            again = plan_orphan(view, NotePath(state.paths[0]), text)
            if state.state == "proposed" and not state.edits and isinstance(again, Planned):
                record = planned_record(state.proposal.id, again.edits, reached.at)
                return Noted(id=state.proposal.id, records=(record,))
            return NothingProposed("this claim was proposed before")
    taken = {path for state in states.values() if state.proposal.kind == "place_orphan" for path in state.paths}
    for path in free_places(claim, folder, names, taken):
        found = plan_orphan(view, NotePath(path), text)
        if isinstance(found, Refusal):
            return NothingProposed(found.reason)
        turn = next_round(states.values(), "place_orphan", (path,))
        proposal = Proposal(
            id=proposal_id("place_orphan", (path,), turn, states),
            kind="place_orphan",
            paths=(path,),
            round=turn,
            at=reached.at,
            expires_at=expires_at,
            titles=(title_of(path),),
            reason=claim,
            judge=reached.model,
            evidence={"claim": claim, "subject": _subject(reached), **_evidence(reached)},
            episode=_episode(reached),
        )
        return Proposed(proposal=proposal, edits=found.edits)
    return NothingProposed("no name could be found that is free and means nothing else")


def _same(known: object, claim: str) -> bool:
    return isinstance(known, str) and fold_path(clean(known)) == fold_path(clean(claim))


def _subject(reached: Reached) -> str:
    match reached.asked:
        case AskedPair(from_=first, to=second):
            return f"“{title_of(first)}” and “{title_of(second)}”"
        case AskedSeed(header=header):
            return f"“{clean(header)}”"
        case _:
            assert_never(reached.asked)


def render_orphan(reached: Reached) -> str:
    """The note that an approved orphan becomes: claim, argument, sources, provenance. It links to nothing.

    All that is not ours stands escaped; addresses are code, so that nothing is fetched and nothing can be clicked.
    """
    claim, *argument = reached.answer.argument
    lines = [
        "---",
        "origin: dream reach",
        f"reached: {reached.at.date().isoformat()}",
        f"dream-note: {json.dumps(reached.note)}",
        f"model: {json.dumps(clean(reached.model))}",
        "---",
        _text(claim),
        "",
    ]
    if argument:
        lines += ["Argument, as it was given:", *(f"> {_text(line)}" for line in argument), ""]
    lines += ["Sources, as they were named; nobody vouches for them:", *map(_source_line, reached.answer.sources), ""]
    lines.append(
        f"Reached on {reached.at.date().isoformat()} from {_text(_subject(reached), line_start=False)}"
        f" by {_text(reached.model, line_start=False)}; the whole reach stands in the dream note of that day."
        " This note links to nothing yet: where it belongs is yours to find."
    )
    return "".join(f"{line}\n" for line in lines)


def _text(text: str, *, line_start: bool = True) -> str:
    return escape_plain(inert(harmless_text(clean(text))), line_start=line_start)


def _source_line(source: Source) -> str:
    url = normal_url(source.url) if source.url else ""
    title = _text(source.title, line_start=not url) if source.title else ""
    if not url:
        return f"- {title or '(unnamed)'}"
    return f"- `{url}`" + (f" — {title}" if title else "")


def source_lines(sources: Sequence[Mapping[str, object]]) -> str:
    """Sources as a proposal's evidence holds them, one a line, for a cold reader: address, title, or both."""
    said = ((str(source.get("url") or ""), str(source.get("title") or "")) for source in sources)
    return "\n".join(" — ".join(part for part in parts if part) for parts in said)
