"""The data path of an independent review, in order, as code: choose, show only the case, ask, read, journal."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from aria_dream.adapters.gate.egress import Gate
from aria_dream.adapters.index.live_policy import read_prompt
from aria_dream.adapters.index.resonance import read_note_text
from aria_dream.adapters.models.asking import Asking, AskingBudget, display_name
from aria_dream.adapters.models.independent_reviewer import LocalReader, NotAsked
from aria_dream.adapters.models.judges import find_model_server
from aria_dream.adapters.models.model_server import NoModel
from aria_dream.judging.triage_prompt import LocalExcerpt, excerpt_limit, local_excerpt
from aria_dream.markdown.note import parse_note
from aria_dream.privacy.sharing import ShareableExcerpt, Withheld, excerpt_note, excerpt_text
from aria_dream.ranking.juxtaposition import title_of
from aria_dream.reach.janus import (
    PROMPT_NAME,
    ClaimCase,
    ConflictCase,
    Falls,
    LinkCase,
    MergeCase,
    Stands,
    Unsure,
    word_of,
)
from aria_dream.review.proposal import event_record
from aria_dream.review.reach_proposals import source_lines
from aria_dream.usecases.janus_codex import CodexReader

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from datetime import datetime, tzinfo
    from pathlib import Path

    from aria_dream.adapters.index.dreamt_vault import DreamtVault
    from aria_dream.adapters.models.independent_reviewer import IndependentReviewer
    from aria_dream.adapters.state.record_store import RecordStore
    from aria_dream.judging.triage_prompt import Excerpt, Unreadable
    from aria_dream.reach.janus import Case, JanusVerdict
    from aria_dream.review.proposal import Kind, ProposalState
    from aria_dream.usecases.reach_course import Reacher

SEEN_KINDS = ("link", "place_orphan", "merge", "resolve_contradiction")
"""Kinds of proposals that Janus can judge: a dream's and a reach's first, then a night's."""
_UNSEEN = {
    "update": "Janus weighs no wording; the exact text stands in the review, and is yours to judge",
    "obsolete": "a note has run out by a date of its own or by its source, and there is nothing to weigh",
    "sync_copy": "a copy that a sync left is told by its name and its lines, and there is nothing to weigh",
}
_QUOTED = re.compile(r"“.*?”: (?P<claim>.+)", re.DOTALL)
"""How a contradiction's evidence quotes a claim, behind the title of its note."""


@dataclass(frozen=True, slots=True)
class Looked:
    """What Janus said of one proposal."""

    state: ProposalState
    """As it stood when it was shown to Janus."""
    outcome: JanusVerdict | Unreadable | NotAsked


@dataclass(frozen=True, slots=True)
class NoReader:
    """Nobody can look at anything now."""

    reason: str
    """One sentence for the writer, without its full stop."""


def open_reader(
    vault: DreamtVault,
    state: Path,
    problems: list[str],
    *,
    codex: Reacher,
    zone: tzinfo,
    rehearsal: bool = False,
) -> IndependentReviewer | NoReader:
    """Whom `janus_backend` names, if they are there. `state` is the account's state folder; `problems` gets what to
    tell; `codex` is the way to Codex, taken only where it is named. In a rehearsal it need not be there: what would
    leave can be seen before anything is installed.

    The built-in judge is never Janus: it compares two notes and cannot object to anything.
    """
    policy = vault.live.policy
    settings = policy.settings
    if settings.janus_backend == "off":
        return NoReader(f"no independent review: `janus_backend` is off ({policy.origin('janus_backend')})")
    if vault.in_doubt:
        return NoReader(f"no independent review: {vault.in_doubt}")
    found = read_prompt(PROMPT_NAME, vault.root, vault.names, vault.home)
    problems.extend(str(problem) for problem in found.problems)
    if settings.janus_backend == "codex":
        if refusal := policy.reach_refusal():
            return NoReader(f"no independent review: {refusal}")
        missing = codex.missing()
        if missing and not rehearsal:
            return NoReader(f"no independent review: {missing}")
        gate = Gate(state=state, sharing=vault.sharing, purpose="janus")
        return CodexReader(reacher=codex, prompt=found.prompt, gate=gate, state=state, settings=settings, zone=zone)
    gate = Gate(state=state, sharing=vault.sharing, purpose="janus", allowed=settings.allow_remote_triage)
    server = find_model_server(settings, gate, settings.triage_backend)
    if isinstance(server, NoModel):
        return NoReader(
            f"no independent review: {server.reason}; Janus needs a language model, since the"
            " built-in judge can compare two notes and not object to anything"
        )
    asking = Asking(
        server=server.server,
        name=display_name(server.model),
        budget=AskingBudget(
            owner="a round of independent reviews",
            time_s=settings.triage_budget_s,
            questions=settings.triage_questions_per_dream,
        ),
    )
    return LocalReader(asking=asking, model=server.model, prompt=found.prompt, gate=gate)


def waiting_for_janus(states: Sequence[ProposalState]) -> tuple[ProposalState, ...]:
    """The open proposals that Janus can judge and has not seen: links and claims, then the night's, oldest first."""
    waiting = [
        state for state in states if state.state == "proposed" and state.proposal.kind in SEEN_KINDS and not state.janus
    ]
    return tuple(sorted(waiting, key=lambda state: state.proposal.kind not in SEEN_KINDS[:2]))


def independent_reviews(
    vault: DreamtVault,
    store: RecordStore,
    chosen: Sequence[ProposalState],
    reader: IndependentReviewer,
    *,
    clock: Callable[[], datetime],
    look: Callable[[], DreamtVault],
    progress: Callable[[int, int], None] | None = None,
) -> tuple[Looked, ...]:
    """One look a proposal, in order; each verdict is journalled as soon as it is there.

    A look may take a minute. Where it leaves the machine, the vault is read again with `look` before the next one: a
    note that was made private meanwhile stays here, and another policy ends the looking. Once nobody can be asked any
    more, the rest is `NotAsked` for the same reason. A proposal that the writer decided meanwhile keeps its decision;
    the verdict is noted beside it.

    Raises:
        WriteRefusedError: the journal or the ledger cannot be written.
    """
    looked: list[Looked] = []
    ended: NotAsked | None = None
    for state in chosen:
        outcome: JanusVerdict | Unreadable | NotAsked
        if looked and reader.leaves and ended is None:
            policy, vault = vault.live.policy, look()
            if vault.live.policy != policy:
                ended = NotAsked("the policy was changed meanwhile; try again", ends=True)
        if ended is not None:
            outcome = ended
        else:
            case = case_of(vault, state, leaves=reader.leaves)
            outcome = case if isinstance(case, NotAsked) else reader.read(case)
        if isinstance(outcome, Stands | Falls | Unsure):
            store.note(
                event_record(
                    "janus", state.proposal.id, clock(),
                    verdict=word_of(outcome), reason=outcome.reason, judge=reader.name,
                )
            )  # fmt: skip
        if isinstance(outcome, NotAsked) and outcome.ends:
            ended = outcome
        looked.append(Looked(state, outcome))
        if progress is not None:
            progress(len(looked), len(chosen))
    return tuple(looked)


def case_of(vault: DreamtVault, state: ProposalState, *, leaves: bool) -> Case | NotAsked:
    """What Janus is shown of a proposal: its notes as they read now and the edge, or the claim and its sources; of a
    merge its notes, of a settled contradiction its notes and both claims.

    Nothing else of the proposal goes in: no way, score, reason, argument, judge or earlier verdict. `leaves`: made of
    `ShareableExcerpt`s, or not at all.
    """
    kind, evidence = state.proposal.kind, state.proposal.evidence
    notes = state.paths
    texts: list[str] = []
    match kind:
        case "link":
            texts = [state.edge]
        case "place_orphan":
            claim, sources = evidence.get("claim"), evidence.get("sources")
            if not isinstance(claim, str) or not claim.strip() or not isinstance(sources, list):
                return NotAsked("its claim is not known on this machine")
            notes = ()
            texts = [claim, source_lines([source for source in sources if isinstance(source, dict)])]
        case "resolve_contradiction":
            claims = [_QUOTED.fullmatch(str(evidence.get(name) or "")) for name in ("kept", "struck")]
            texts = [found["claim"] for found in claims if found is not None]
            if len(texts) < 2:
                return NotAsked("its claims are not known on this machine")
        case "merge":
            pass
        case _:
            return NotAsked(_UNSEEN[kind])
    parts = [
        *(_note(vault, path, leaves=leaves) for path in notes),
        *(_text(vault, text, leaves=leaves) for text in texts),
    ]
    hindrance = next((part for part in parts if isinstance(part, NotAsked)), None)
    if hindrance is not None:
        return hindrance
    return _made(kind, [part for part in parts if not isinstance(part, NotAsked)])


def _made(kind: Kind, parts: list[Excerpt]) -> Case:
    match kind:
        case "link":
            return LinkCase(first=parts[0], second=parts[1], edge=parts[2])
        case "merge":
            return MergeCase(stays=parts[0], goes=tuple(parts[1:]))
        case "resolve_contradiction":  # the note whose claim falls comes first; both may stand in one note
            return ConflictCase(stays=parts[-3], falls=parts[0], kept=parts[-2], struck=parts[-1])
        case _:
            return ClaimCase(claim=parts[0], sources=parts[1])


def _note(vault: DreamtVault, path: str, *, leaves: bool) -> Excerpt | NotAsked:
    row = vault.row(path)
    if row is None:
        return NotAsked("a note of it is gone, or hidden by the policy")
    note = parse_note(read_note_text(vault, row))
    if not leaves:
        return local_excerpt(title_of(path), note)
    made = excerpt_note(vault.sharing, note, path, limit=excerpt_limit(note.text[note.body_start :]))
    return _permitted(made)


def _text(vault: DreamtVault, text: str, *, leaves: bool) -> Excerpt | NotAsked:
    return _permitted(excerpt_text(vault.sharing, text)) if leaves else LocalExcerpt("", text)


def _permitted(made: ShareableExcerpt | Withheld) -> Excerpt | NotAsked:
    return NotAsked(f"it would leave this machine, and {made.reason}") if isinstance(made, Withheld) else made
