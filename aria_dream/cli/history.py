"""`aria-dream history`: what was proposed, decided and changed, newest first."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from aria_dream.cli.output import echo_json, progress_bar
from aria_dream.cli.review_session import WORDS, titles
from aria_dream.cli.vault_argument import vault_argument
from aria_dream.usecases.review_run import open_session

if TYPE_CHECKING:
    from pathlib import Path

    from aria_dream.consolidate.settled import Settled
    from aria_dream.review.proposal import ProposalState

_SHOWN = 8
"""Digits of a key that are enough for `rollback`."""


@click.command("history")
@vault_argument
@click.option("--limit", type=click.IntRange(min=1), default=20, show_default=True, help="At most so many.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
def command(vault: Path, *, limit: int, as_json: bool) -> None:
    """List what was proposed and what became of it, the latest first.

    Nothing is changed.
    """
    with open_session(vault, show=progress_bar) as session:
        states = sorted(session.records().states.values(), key=lambda state: state.since, reverse=True)[:limit]
        settled = sorted(session.store.settled().values(), key=lambda one: one.at, reverse=True)[:limit]
        window = session.window
        now = session.now
    if as_json:
        echo_json({"history": [_object(state) for state in states], "settled": [_said(one) for one in settled]})
        return
    for state in states:
        at = state.since.astimezone(now.tzinfo)
        undo = "" if state.state != "applied" or now - state.since > window else "  (can be rolled back)"
        click.echo(f"{at:%Y-%m-%d %H:%M}  {state.proposal.id}  {WORDS[state.state]}: {titles(state)}{undo}")
        if state.janus:
            click.echo(f"                          Janus: {state.janus}, {state.janus_reason}")
    for one in settled:
        named = " ↔ ".join(one.titles)
        click.echo(f"{one.at.astimezone(now.tzinfo):%Y-%m-%d %H:%M}  {one.key[:_SHOWN]}  {one.what}: {named}")
    if not states and not settled:
        click.echo("Nothing was proposed yet.")


def _said(one: Settled) -> dict[str, object]:
    return {"key": one.key, "what": one.what, "titles": list(one.titles), "at": one.at.isoformat()}


def _object(state: ProposalState) -> dict[str, object]:
    return {
        "id": state.proposal.id,
        "kind": state.proposal.kind,
        "state": state.state,
        "since": state.since.isoformat(),
        "proposed_at": state.proposal.at.isoformat(),
        "paths": list(state.paths),
        "reason": state.proposal.reason,
        "by": state.by,
        "why": state.reason,
        "edge": state.edge or None,
        "janus": state.janus or None,
        "janus_reason": state.janus_reason,
    }
