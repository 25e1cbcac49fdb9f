"""`aria-dream rollback`: takes one applied change back."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from aria_dream.cli.output import echo_json, progress_bar
from aria_dream.cli.review_session import say_settlement, settlement_object
from aria_dream.cli.vault_argument import chosen_vault
from aria_dream.consolidate.settled import find_settled
from aria_dream.errors import WriteRefusedError
from aria_dream.usecases.review import Settlement, renew_lines, undo_decision
from aria_dream.usecases.review_run import find_proposal, open_session, shortfall
from aria_dream.usecases.unresolved_items import undo_verdict

if TYPE_CHECKING:
    from pathlib import Path


@click.command("rollback")
@click.argument("words", nargs=-1, required=True, metavar="[VAULT] ID")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
def command(words: tuple[str, ...], *, as_json: bool) -> None:
    """Take a change back: the notes read as before, or lose just what was put in.

    Exactly, or around what was typed since. Renamed notes are followed; a place that reads otherwise by now stays as
    it is, and is listed with its file and line (exit code 6).

    ID is that of the proposal, as `aria-dream history` lists it. A refused pair is open again, and so is what you
    called different, the same, or no contradiction.
    """
    if len(words) > 2:
        raise click.UsageError("rollback takes the vault and one id.")
    vault: Path = chosen_vault(words[0] if len(words) == 2 else None)
    done = Settlement()
    with open_session(vault, show=progress_bar) as session:
        settled = find_settled(session.store.settled(), words[-1])
        if settled is not None and words[-1] not in session.records().states:
            undo_verdict(session, settled, done)
        else:
            state = find_proposal(session.records().states, words[-1])
            undo_decision(session, state, done, by="terminal")
            renew_lines(session, done)
            settled = None
        states = session.store.read().states
    failed = shortfall(done)
    if not done.undone:
        failed = WriteRefusedError(f"proposal {state.proposal.id} was not rolled back")
    if as_json:
        echo_json(settlement_object(done, failed))
    elif settled is not None:
        said = " ↔ ".join(settled.titles) or settled.key
        click.echo(f"Undone: {said}: {settled.what}. The next night lists it again.")
    else:
        say_settlement(done, states)
    if failed is not None and (done.not_undone or not done.undone):
        raise failed
