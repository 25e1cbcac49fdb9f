"""`aria-dream consent`: whether this machine is confirmed, what that permits, and the one act that confirms it."""

from __future__ import annotations

import os
import sys
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

import click

from aria_dream.adapters.disk.places import find_places
from aria_dream.adapters.gate.consent import (
    HOW,
    PERMITS,
    WITHHELD,
    Confirmed,
    Unconfirmed,
    read_consent,
    withdraw_consent,
    write_consent,
)
from aria_dream.adapters.gate.egress import EGRESS, Turned, find_endpoint
from aria_dream.adapters.index.live_policy import read_live_policy
from aria_dream.cli.output import echo_json
from aria_dream.cli.vault_argument import find_vault
from aria_dream.policy.keys import MODEL_SERVERS

if TYPE_CHECKING:
    from aria_dream.policy.policy import Policy


@dataclass(frozen=True, slots=True, kw_only=True)
class Destination:
    """Who would be sent something under one vault's policy, once this machine is confirmed."""

    purpose: str
    """`triage` or `reach`."""
    to: str
    """Server or program; `""` where the policy names none."""
    asked_for: bool
    """Whether the policy lets it leave."""
    text: str
    """The same in a sentence without a full stop."""


@click.command("consent")
@click.argument("vault", required=False)
@click.option("--give", "act", flag_value="give", help="Confirm, after being asked.")
@click.option("--withdraw", "act", flag_value="withdraw", help="Take the confirmation back; it counts at once.")
@click.option("--yes", is_flag=True, help="With --give: confirm without being asked, for scripts.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
def command(vault: str | None, *, act: str | None, yes: bool, as_json: bool) -> None:
    """Show or give this machine's confirmation that text of notes may leave it.

    Without it nothing leaves, whatever a vault's policy says; with it, only what the policy asks for. It holds on this
    machine alone. For a vault, says who would be asked.
    """
    if yes and act != "give":
        raise click.UsageError("--yes belongs to --give.")
    state = find_places().state
    if act == "withdraw":
        withdraw_consent(state)  # before anything that can fail
    root = find_vault(vault, os.environ, Path())
    to = () if root is None else destinations(read_live_policy(root, find_places()).policy)
    if act == "give" and not _is_given(read_consent(state)):
        _ask(to, yes=yes)
        write_consent(state, datetime.now(UTC).astimezone())
    found = read_consent(state)
    if as_json:
        echo_json(_object(found, root, to))
    else:
        _print(found, root, to, state)


def _is_given(found: Confirmed | Unconfirmed) -> bool:
    """Whether just this was confirmed already: what an older version asked for is asked for again."""
    return isinstance(found, Confirmed) and found.permits == PERMITS


def destinations(policy: Policy) -> tuple[Destination, ...]:
    """Who would be sent something: the judge, then the reach."""
    return _judge(policy), _reach(policy)


def _judge(policy: Policy) -> Destination:
    settings = policy.settings
    key = MODEL_SERVERS.get("ollama" if settings.triage_backend == "auto" else settings.triage_backend)
    url = getattr(settings, key) if key else ""
    if not url:
        text = f"the judge sends nothing: no server is asked (`triage_backend: {settings.triage_backend}`)"
        return Destination(purpose="triage", to="", asked_for=False, text=text)
    endpoint = find_endpoint(url)
    if isinstance(endpoint, Turned):
        text = f"the judge sends nothing: {endpoint.reason} ({url})"
        return Destination(purpose="triage", to="", asked_for=False, text=text)
    if endpoint.is_loopback:
        text = f"the judge is on this machine, at {endpoint}"
        return Destination(purpose="triage", to="", asked_for=False, text=text)
    if not settings.allow_remote_triage:
        text = f"the judge at {endpoint} is sent nothing: the policy says `allow_remote_triage: off`"
        return Destination(purpose="triage", to=str(endpoint), asked_for=False, text=text)
    text = f"the judge at {endpoint} is sent excerpts of the notes it judges"
    return Destination(purpose="triage", to=str(endpoint), asked_for=True, text=text)


def _reach(policy: Policy) -> Destination:
    to = f"Codex ({policy.settings.reach_model})"
    if refusal := policy.reach_refusal():
        text = f"a reach sends nothing: {refusal}"
        return Destination(purpose="reach", to=to, asked_for=False, text=text)
    when = "by itself too, within its ceilings" if policy.settings.autonomous_reach else "when you ask for it"
    text = f"a reach sends excerpts to {to}, {when}"
    return Destination(purpose="reach", to=to, asked_for=True, text=text)


def _ask(to: tuple[Destination, ...], *, yes: bool) -> None:
    """Returns once a person said yes. Raises a usage error where nobody can be asked, `Abort` where they say no."""
    if yes:
        return
    if not sys.stdin.isatty():
        raise click.UsageError(
            "Nobody is at a terminal to be asked. Read `aria-dream consent`, then add --yes to confirm in a script."
        )
    click.echo("You are about to let text of your notes leave this machine.", err=True)
    _list(PERMITS, err=True)
    click.echo(f"What never leaves: {WITHHELD}.", err=True)
    if to:
        click.echo("For this vault that means:", err=True)
        _list([each.text for each in to], err=True)
    click.confirm("Confirm it for this machine?", abort=True, err=True)


def _list(lines: tuple[str, ...] | list[str], *, err: bool = False) -> None:
    for line in lines:
        click.echo(f"  - {line}", err=err)


def _object(found: Confirmed | Unconfirmed, root: Path | None, to: tuple[Destination, ...]) -> dict[str, object]:
    is_confirmed = isinstance(found, Confirmed)
    return {
        "confirmed": is_confirmed,
        "confirmed_at": found.at.isoformat() if isinstance(found, Confirmed) else None,
        "reason": "" if isinstance(found, Confirmed) else found.reason,
        "permits": list(PERMITS),
        "withheld": WITHHELD,
        "vault": None if root is None else str(root),
        "destinations": [{**asdict(each), "leaves": is_confirmed and each.asked_for} for each in to],
    }


def _print(found: Confirmed | Unconfirmed, root: Path | None, to: tuple[Destination, ...], state: Path) -> None:
    if isinstance(found, Confirmed):
        click.echo(f"Confirmed on this machine ({found.machine}) on {found.at:%Y-%m-%d at %H:%M}. That permits:")
        _list(PERMITS)
        click.echo(f"What never leaves: {WITHHELD}.")
        click.echo(f"Every call is listed in {state / EGRESS}. `aria-dream consent --withdraw` takes it back.")
    else:
        click.echo(f"Not confirmed ({found.reason}): no text of a note leaves this machine, whatever a policy says.")
        click.echo(f"{HOW}; that would permit:")
        _list(PERMITS)
    if root is not None:
        click.echo(f"{root.name}:" if isinstance(found, Confirmed) else f"{root.name}, once confirmed:")
        _list([each.text for each in to])
