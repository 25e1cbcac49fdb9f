"""`aria-dream apply`: everything ticked or approved is carried out now, without waiting for the daemon."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from aria_dream.cli.output import echo_json, progress_bar
from aria_dream.cli.review_session import say_settlement, settlement_object
from aria_dream.cli.vault_argument import vault_argument
from aria_dream.usecases.review_run import settle_all, shortfall
from aria_dream.usecases.review_session import Settlement

if TYPE_CHECKING:
    from pathlib import Path


@click.command("apply")
@vault_argument
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
def command(vault: Path, *, as_json: bool) -> None:
    """Carry out everything that was ticked or approved, now.

    A link is placed, notes are merged, what was refused is never shown again, and what was undone is taken back. Each
    change can be rolled back for a while. A ticked box that does not count is named with its note and line, and the
    exit code is 6 where something was not carried out.
    """
    done = Settlement()
    states = settle_all(vault, done, show=progress_bar)
    failed = shortfall(done)
    if as_json:
        echo_json(settlement_object(done, failed))
    else:
        say_settlement(done, states)
        if not (done.did_something or done.left_something or done.said or done.kept):
            click.echo("Nothing was ticked or approved; nothing was changed.")
    if failed is not None and done.not_undone:
        raise failed
    if failed is not None:  # its reasons are said already
        raise SystemExit(failed.exit_code)
