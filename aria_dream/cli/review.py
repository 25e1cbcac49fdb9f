"""`aria-dream review`: what waits for a decision; listed, shown exactly, approved or refused."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, assert_never

import click

from aria_dream.cli.desk import (
    WORDS,
    find_proposal,
    open_desk,
    say_settlement,
    settlement_object,
    split_words,
    titles,
)
from aria_dream.cli.output import echo_json
from aria_dream.dream.juxtaposition import title_of
from aria_dream.review.placement import AlreadyLinked
from aria_dream.review.plan import Planned, whole_lines
from aria_dream.review.proposal import KINDS, event_record
from aria_dream.review_cycle import Settlement, approve_shown, is_as_shown, note_shown, renew_lines, settle, show_change
from aria_dream.vault.edit import Refusal
from aria_dream.vault.note import NotePath
from aria_dream.world import Content

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from aria_dream.review.proposal import PlannedEdit, ProposalState
    from aria_dream.review_cycle import Desk

_INVISIBLE = {
    character: f"<U+{character:04X}>"
    for character in (*range(0x200B, 0x2010), *range(0x202A, 0x202F), *range(0x2060, 0x2070), 0x00AD, 0xFEFF)
}
"""Characters that make a line read otherwise than it is; a diff shows them by number."""


@click.command("review")
@click.argument("words", nargs=-1, metavar="[VAULT] [ID ...]")
@click.option("--approve", is_flag=True, help="Approve the proposals named, or all with --all.")
@click.option("--reject", is_flag=True, help="Refuse them: the pair is never shown again.")
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
    with open_desk(vault) as desk:
        states = desk.records().states
        waiting = [
            state
            for state in states.values()
            if state.state == "proposed"
            and (kind is None or state.proposal.kind == kind)
            and state.proposal.confidence >= min_confidence
        ]
        chosen = [find_proposal(states, name) for name in ids] if ids else waiting
        if approve or reject:
            _decide(desk, chosen, approve=approve, as_json=as_json)
        elif interactive:
            _one_by_one(desk, chosen)
        elif as_json:
            echo_json({"waiting": [_object(desk, state) for state in chosen]})
        else:
            _list(desk, chosen, diff=bool(ids))


def _decide(desk: Desk, chosen: Sequence[ProposalState], *, approve: bool, as_json: bool) -> None:
    done = Settlement()
    for state in chosen:
        _record(desk, state, approve=approve, done=done)
    _finish(desk, done, as_json=as_json)


def _record(
    desk: Desk,
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
        desk.book.note(event_record("rejected", id_, desk.now, by="terminal"))
        done.rejected.append(id_)
        return
    fresh = shown or show_change(desk, state)
    if not is_as_shown(state, fresh):
        note_shown(desk, state, fresh)
        done.said.append(f"{titles(state)} ({id_}): the note has changed since you looked, so nothing was written")
        done.stale.append(id_)
        return
    approve_shown(desk, state, fresh, done)


def _finish(desk: Desk, done: Settlement, *, as_json: bool) -> None:
    carried = settle(desk) if done.approved else Settlement()
    if not done.approved:
        renew_lines(desk, carried)
    carried.said[:0] = done.said
    carried.rejected[:0] = done.rejected
    carried.approved[:0] = done.approved
    carried.stale[:0] = done.stale
    if carried.again:
        carried.said.append("the rest waits until the vault has been read again: aria-dream apply")
    states = desk.book.read().states
    if as_json:
        echo_json(settlement_object(carried))
    else:
        say_settlement(carried, states)


def _list(desk: Desk, chosen: Sequence[ProposalState], *, diff: bool) -> None:
    if not chosen:
        click.echo("Nothing is waiting for you.")
    for state in chosen:
        _show(state)
        if diff:
            shown = show_change(desk, state)
            note_shown(desk, state, shown)
            for line in _diff(desk, shown):
                click.echo(line)
        click.echo()
    if chosen and not diff:
        click.echo("See one exactly: aria-dream review VAULT ID    Decide: add --approve or --reject, or use -i")


def _show(state: ProposalState) -> None:
    proposal = state.proposal
    score = "" if proposal.score is None else f" ({proposal.score:.3f})"
    where = "" if state.state == "proposed" else f"  [{WORDS[state.state]}]"
    click.echo(f"{click.style(proposal.id, bold=True)}  {titles(state)}{score}{where}")
    way = "only the text connects them" if proposal.way is None else " → ".join(map(title_of, proposal.way))
    click.echo(f"        {way}")
    click.echo(f"        {proposal.reason} ({proposal.judge}, {proposal.confidence:.2f})")
    if state.edge:
        click.echo(f"        edge: {state.edge}")
    if state.janus:
        click.echo(f"        Janus: {state.janus}, {state.janus_reason}")


def _diff(desk: Desk, found: Planned | AlreadyLinked | Refusal) -> Iterator[str]:
    """The exact change, line by line, in colour; invisible characters by number."""
    match found:
        case Planned(edits=edits):
            for edit in edits:
                yield from _edit_lines(desk, edit)
        case AlreadyLinked():
            yield f"        nothing to write: you linked them yourself ({found.link})"
        case Refusal(reason=reason):
            yield f"        it cannot be placed: {reason}"
        case _:
            assert_never(found)


def _edit_lines(desk: Desk, edit: PlannedEdit) -> Iterator[str]:
    content = desk.files.read(NotePath(edit.path))
    whole = whole_lines(edit, {NotePath(edit.path): content.data} if isinstance(content, Content) else {})
    before, after = whole.removed, whole.inserted
    yield click.style(f"        {edit.path}", bold=True)
    for mark, colour, lines in (("-", "red", before), ("+", "green", after)):
        for line in lines.splitlines():
            if mark == "-" and line in after.splitlines():
                continue
            if mark == "+" and line in before.splitlines():
                continue
            yield click.style(f"        {mark} {line.translate(_INVISIBLE)}", fg=colour)


def _one_by_one(desk: Desk, chosen: Sequence[ProposalState]) -> None:
    done = Settlement()
    for number, state in enumerate(chosen, start=1):
        click.echo(f"\n{number} of {len(chosen)}")
        _show(state)
        shown = show_change(desk, state)
        seen = note_shown(desk, state, shown)
        for line in _diff(desk, shown):
            click.echo(line)
        answer = _answer(desk, state)
        if answer == "q":
            break
        if answer in ("y", "n"):
            _record(desk, seen, approve=answer == "y", done=done, shown=shown)
    if not chosen:
        click.echo("Nothing is waiting for you.")
    _finish(desk, done, as_json=False)


def _answer(desk: Desk, state: ProposalState) -> str:
    while True:
        click.echo("Link them? [y]es, [n]ever again, [s]kip, [o]pen the note, [q]uit: ", nl=False)
        line = sys.stdin.readline()
        answer = line.strip().lower()[:1] if line else "q"
        if answer == "o":
            click.launch(str(desk.vault.root.joinpath(*state.paths[0].split("/"))))
        elif answer in ("y", "n", "s", "q"):
            return answer


def _object(desk: Desk, state: ProposalState) -> dict[str, object]:
    proposal = state.proposal
    found = show_change(desk, state)
    note_shown(desk, state, found)
    return {
        "id": proposal.id,
        "kind": proposal.kind,
        "state": state.state,
        "paths": list(state.paths),
        "score": proposal.score,
        "confidence": proposal.confidence,
        "judge": proposal.judge,
        "reason": proposal.reason,
        "path": None if proposal.way is None else list(proposal.way),
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
