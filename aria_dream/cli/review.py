"""`aria-dream review`: what waits for a decision; listed, shown exactly, approved or refused."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, assert_never

import click

from aria_dream.cli.output import counted, echo_json, progress_bar
from aria_dream.cli.review_session import (
    WORDS,
    say_settlement,
    settlement_object,
    split_words,
    titles,
)
from aria_dream.consolidate.open_lists import open_findings, read_ticked
from aria_dream.notes.change_grammar import VERBS, visible
from aria_dream.notes.plain_text import clean
from aria_dream.review.placement import AlreadyLinked
from aria_dream.review.plan import Planned
from aria_dream.review.proposal import KINDS, event_record
from aria_dream.review.showing import change_lines, remarks_of, why_again
from aria_dream.usecases.review import (
    Settlement,
    approve_shown,
    is_as_shown,
    is_changed_by_us,
    note_shown,
    renew_lines,
    show_change,
)
from aria_dream.usecases.review_run import find_proposal, open_session, settle_all, shortfall
from aria_dream.vault.edit import Refusal, decode_note

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

    from aria_dream.review.proposal import PlannedEdit, ProposalState
    from aria_dream.usecases.review import ReviewSession


@click.command("review")
@click.argument("words", nargs=-1, metavar="[VAULT] [ID ...]")
@click.option("--approve", is_flag=True, help="Approve the proposals named, or all with --all.")
@click.option("--reject", is_flag=True, help="Refuse them: they are never proposed again.")
@click.option("--all", "everything", is_flag=True, help="All that wait (and pass --kind and --min-confidence).")
@click.option("--kind", type=click.Choice(KINDS), help="Only proposals of this kind.")
@click.option("--min-confidence", type=click.FloatRange(0, 1), default=0.0, help="Only those at least this confident.")
@click.option("--interactive", "-i", is_flag=True, help="One by one: y, n, skip, open the note, quit.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
def command(
    words: tuple[str, ...],
    *,
    approve: bool,
    reject: bool,
    everything: bool,
    kind: str | None,
    min_confidence: float,
    interactive: bool,
    as_json: bool,
) -> None:
    """List what waits for you; with ids, show what would be written, approve or refuse it.

    What you approve is written at once, and can be rolled back for a while. A tick in a dream note does the same.
    """
    if approve and reject:
        raise click.UsageError("--approve or --reject, not both.")
    vault, ids = split_words(words)
    if (approve or reject) and not ids and not everything:
        raise click.UsageError("name the proposals, or add --all.")
    done = Settlement()
    with open_session(vault, show=progress_bar) as session:
        states = session.records().states
        waiting = [
            state
            for state in states.values()
            if state.state == "proposed"
            and (kind is None or state.proposal.kind == kind)
            and state.proposal.confidence >= min_confidence
        ]
        chosen = [find_proposal(states, name) for name in ids] if ids else waiting
        if approve or reject:
            for state in chosen:
                _record(session, state, approve=approve, done=done)
        elif interactive:
            _one_by_one(session, chosen, done)
        elif as_json:
            found = _findings(session)
            echo_json(
                {"waiting": [_object(session, state) for state in chosen], "findings": found[0], "kept": found[1]}
            )
        else:
            _list(session, chosen, diff=bool(ids))
            _say_findings(session)
        decides = approve or reject or interactive
        if decides and not done.approved:
            renew_lines(session, done)
            states = session.store.read().states
    if decides:
        _finish(vault, states, done, as_json=as_json)


def _record(
    session: ReviewSession,
    state: ProposalState,
    *,
    approve: bool,
    done: Settlement,
    shown: Planned | AlreadyLinked | Refusal | None = None,
) -> None:
    """`shown`: the very change that the person looked at; what is approved is that, byte for byte."""
    id_ = state.proposal.id
    if state.state not in ("proposed", "stale", "expired"):
        done.said.append(f"{titles(state)} ({id_}) is already {WORDS[state.state]}")
        return
    if not approve:
        session.store.note(event_record("rejected", id_, session.now, by="terminal"))
        done.rejected.append(id_)
        return
    fresh = shown or show_change(session, state)
    if not is_as_shown(state, fresh) and not is_changed_by_us(session, state):
        note_shown(session, state, fresh)
        done.said.append(f"{titles(state)} ({id_}): the note has changed since you looked, so nothing was written")
        done.stale.append(id_)
        return
    approve_shown(session, state, fresh, done)


def _finish(vault: Path, states: Mapping[str, ProposalState], done: Settlement, *, as_json: bool) -> None:
    """Carries out what was approved, reading the vault again as often as that takes, and says what came of it all."""
    if done.approved:
        carried = Settlement(approved=done.approved, rejected=done.rejected, stale=done.stale, said=done.said)
        states = settle_all(vault, carried, show=progress_bar)
        done = carried
    failed = shortfall(done)
    if as_json:
        echo_json(settlement_object(done, failed))
    else:
        say_settlement(done, states)
    if failed is not None:  # its reasons are said already
        raise SystemExit(failed.exit_code)


def _list(session: ReviewSession, chosen: Sequence[ProposalState], *, diff: bool) -> None:
    if not chosen and not _findings(session)[0]:
        click.echo("Nothing is waiting for you.")
    for state in chosen:
        _show(session, state)
        if diff:
            shown = show_change(session, state)
            note_shown(session, state, shown)
            for line in _diff(session, shown):
                click.echo(line)
        click.echo()
    if chosen and not diff:
        click.echo("See one exactly: aria-dream review VAULT ID    Decide: add --approve or --reject, or use -i")


def _findings(session: ReviewSession) -> tuple[int, int]:
    """How many findings of the night wait in the review note, and how many of them are answered already."""
    text = session.surfaces().get(session.vault.home.review)
    return (0, 0) if text is None else (open_findings(decode_note(text)), read_ticked(decode_note(text))[0])


def _say_findings(session: ReviewSession) -> None:
    waiting, kept = _findings(session)
    if waiting:
        click.echo(f"{counted(waiting, 'finding waits', 'findings wait')} for you in {session.vault.home.review}.")
    if kept:
        click.echo(f"{counted(kept, 'answer is', 'answers are')} kept for the next night.")


def _show(session: ReviewSession, state: ProposalState) -> None:
    proposal = state.proposal
    score = "" if proposal.score is None else f" ({proposal.score:.3f})"
    where = "" if state.state == "proposed" else f"  [{WORDS[state.state]}]"
    click.echo(f"{click.style(proposal.id, bold=True)}  {titles(state)}{score}{where}")
    if proposal.kind == "link":
        steps = () if proposal.way is None else map(session.vault.name_of, proposal.way)
        click.echo(f"        {clean(' → '.join(steps) or 'only the text connects them')}")
    sure = f", {proposal.confidence:.2f}" if proposal.confidence else ""
    click.echo(f"        {clean(proposal.reason)} ({clean(proposal.judge)}{sure})")
    if state.is_open and state.reason:
        click.echo(f"        {why_again(state)}: {clean(state.reason)}")
    for label, text in remarks_of(proposal):
        if label != "edge":
            click.echo(f"        {label}: {text}")
    if state.edge:
        click.echo(f"        edge: {clean(state.edge)}")
    if state.janus:
        click.echo(f"        Janus: {clean(state.janus)}, {clean(state.janus_reason)}")


def _diff(session: ReviewSession, found: Planned | AlreadyLinked | Refusal) -> Iterator[str]:
    """The exact change, line by line, in colour; invisible characters by number."""
    match found:
        case Planned(edits=edits):
            for line in change_lines(edits, session.contents(edit.path for edit in edits)):
                colour = {"-": "red", "+": "green"}.get(line[:2].rstrip())
                yield click.style(f"        {visible(line)}", fg=colour, bold=colour is None)
        case AlreadyLinked():
            yield f"        nothing to write: you linked them yourself ({found.link})"
        case Refusal(reason=reason):
            yield f"        it cannot be done: {reason}"
        case _:
            assert_never(found)


def _one_by_one(session: ReviewSession, chosen: Sequence[ProposalState], done: Settlement) -> None:
    for number, state in enumerate(chosen, start=1):
        click.echo(f"\n{number} of {len(chosen)}")
        _show(session, state)
        shown = show_change(session, state)
        seen = note_shown(session, state, shown)
        for line in _diff(session, shown):
            click.echo(line)
        answer = _answer(session, state)
        if answer == "q":
            break
        if answer in ("y", "n"):
            _record(session, seen, approve=answer == "y", done=done, shown=shown)
    if not chosen:
        click.echo("Nothing is waiting for you.")


def _answer(session: ReviewSession, state: ProposalState) -> str:
    while True:
        verb = VERBS[state.proposal.kind].capitalize()
        click.echo(f"{verb}? [y]es, [n]ever again, [s]kip, [o]pen the note, [q]uit: ", nl=False)
        line = sys.stdin.readline()
        answer = line.strip().lower()[:1] if line else "q"
        if answer == "o":
            click.launch(str(session.vault.root.joinpath(*state.paths[0].split("/"))))
        elif answer in ("y", "n", "s", "q"):
            return answer


def _object(session: ReviewSession, state: ProposalState) -> dict[str, object]:
    proposal = state.proposal
    found = show_change(session, state)
    note_shown(session, state, found)
    return {
        "id": proposal.id,
        "kind": proposal.kind,
        "state": state.state,
        "paths": list(state.paths),
        "titles": list(proposal.titles),
        "score": proposal.score,
        "confidence": proposal.confidence,
        "judge": proposal.judge,
        "reason": proposal.reason,
        "path": None if proposal.way is None else list(proposal.way),
        "evidence": dict(proposal.evidence),
        "again": state.reason if state.is_open else "",
        "proposed_at": proposal.at.isoformat(),
        "expires_at": None if proposal.expires_at is None else proposal.expires_at.isoformat(),
        "edge": state.edge or None,
        "janus": state.janus or None,
        "janus_reason": state.janus_reason,
        "edits": _edits(found.edits) if isinstance(found, Planned) else [],
        "hindrance": "" if isinstance(found, Planned) else _hindrance(found),
    }


def _edits(edits: Sequence[PlannedEdit]) -> list[Mapping[str, object]]:
    return [
        {"path": edit.path, "start": edit.start, "removed": edit.removed, "inserted": edit.inserted} for edit in edits
    ]


def _hindrance(found: AlreadyLinked | Refusal) -> str:
    return found.reason if isinstance(found, Refusal) else f"the note links there already: {found.link}"
