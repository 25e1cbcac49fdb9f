"""`aria-dream policy`: every setting in force, where it comes from, and what needs mending."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING

import click

from aria_dream.adapters.disk.places import find_places
from aria_dream.adapters.index.index import read_vault
from aria_dream.adapters.index.live_policy import read_live_policy
from aria_dream.cli.output import echo_json, progress_bar
from aria_dream.cli.vault_argument import vault_argument
from aria_dream.policy.keys import Group
from aria_dream.policy.kinds import render_value
from aria_dream.policy.policy import SettingSource
from aria_dream.policy.settings import SETTINGS
from aria_dream.policy.triggers import MEANINGS, unbuilt
from aria_dream.privacy.sharing import survey

if TYPE_CHECKING:
    from pathlib import Path

    from aria_dream.adapters.index.live_policy import LivePolicy
    from aria_dream.errors import Problem
    from aria_dream.policy.policy import Policy
    from aria_dream.privacy.sharing import Sharing


@click.command("policy")
@vault_argument
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
def command(vault: Path, *, as_json: bool) -> None:
    """Show every setting in force, where it comes from, and what needs mending.

    Nothing is written into the vault.
    """
    places = find_places()
    with progress_bar("Reading notes") as progress:
        index = read_vault(vault, places.cache, progress=progress)
    live = read_live_policy(index.root, places)
    sharing, unmatched = survey(index.facts, live.policy)
    problems = (*live.problems, *unmatched)
    if as_json:
        echo_json(_object(index.root, live, sharing, problems))
    else:
        _print(index.root, live, sharing, problems)


def _object(root: Path, live: LivePolicy, sharing: Sharing, problems: tuple[Problem, ...]) -> dict[str, object]:
    policy = live.policy
    return {
        "vault": str(root),
        "policy": policy.path,
        "vault_id": live.vault_id,
        "settings": [
            {
                "name": name,
                "value": _plain(policy, name),
                "default": render_value(setting.default),
                "source": policy.origin(name).source.value,
                "origin": str(policy.origin(name)),
                "group": setting.row.group.value,
                "meaning": setting.row.meaning,
            }
            for name, setting in SETTINGS.items()
        ],
        "triggers": {name: [stage.value for stage in getattr(live.triggers, name)] for name in MEANINGS},
        "not_built_yet": list(unbuilt(live.triggers)),
        "shut": {door.name.lower(): reason for door, reason in policy.shut.items()},
        "sending_closed": sharing.closed,
        "hidden_notes": len(sharing.hidden),
        "local_notes": len(sharing.local),
        "problems": [asdict(problem) for problem in problems],
    }


def _plain(policy: Policy, name: str) -> object:
    """The value as JSON has it: numbers and switches as themselves, the rest as the policy note writes it."""
    value = getattr(policy.settings, name)
    if isinstance(value, tuple):
        return [str(pattern) for pattern in value]
    return value if isinstance(value, bool | int | float) else str(value)


def _print(root: Path, live: LivePolicy, sharing: Sharing, problems: tuple[Problem, ...]) -> None:
    policy = live.policy
    click.echo(f"{root.name}: {policy.path or _without_note(policy)}")
    for reason in dict.fromkeys(policy.shut.values()):
        doors = ", ".join(door.value for door, why in policy.shut.items() if why == reason)
        click.echo(f"  Off: {doors}.\n    {reason}")
    if sharing.closed and not policy.shut:
        click.echo(f"  {sharing.closed}")
    names = max(map(len, SETTINGS))
    for group in Group:
        click.echo(f"\n{group.value}")
        for name, setting in SETTINGS.items():
            if setting.row.group is group:
                value = render_value(getattr(policy.settings, name)) or "–"
                click.echo(f"  {name.ljust(names)}  {value}  ({_origin(policy, name)})")
                click.echo(f"  {' ' * names}  {setting.row.meaning}")
    click.echo("\nWhat wakes the dreamer")
    for name, meaning in MEANINGS.items():
        stages = ", ".join(stage.value for stage in getattr(live.triggers, name)) or "none"
        click.echo(f"  {name.ljust(names)}  {stages}  ({meaning})")
    if missing := unbuilt(live.triggers):
        click.echo(f"  Not run by the daemon of this version yet, and passed over: {', '.join(missing)}.")
    click.echo(f"\n{_private(sharing)}")
    if problems:
        click.echo("\nTo mend")
        for problem in problems:
            click.echo(f"  {problem}")


def _without_note(policy: Policy) -> str:
    if policy.shut:
        return "the policy note is gone or cannot be read, so everything is closed."
    return "no policy note; `aria-dream init` makes one. These are the defaults."


def _origin(policy: Policy, name: str) -> str:
    origin = policy.origin(name)
    return f"closed, see {origin.place or 'below'}" if origin.source is SettingSource.CLOSED else str(origin)


def _private(sharing: Sharing) -> str:
    hidden, local = len(sharing.hidden), len(sharing.local)
    return f"Notes that no dream sees: {hidden}. Notes that are dreamt of and never leave this machine: {local}."
