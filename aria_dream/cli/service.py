"""`aria-dream service`: the system starts the daemon of a vault at login, and again when it fails."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, assert_never

import click

from aria_dream.cli.output import echo_json
from aria_dream.cli.vault_argument import vault_argument
from aria_dream.errors import VaultUnreadableError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from aria_dream.adapters.machine.service import ServicePlan, Step


@click.group("service")
def command() -> None:
    """Let the system start the daemon of a vault when you log in.

    A systemd user unit on Linux, a launchd agent on macOS, a scheduled task on Windows.
    """


def plan_for(vault: Path) -> ServicePlan:
    """The service of the vault for this account and this Python, with the folders that are in force here."""
    from aria_dream.adapters.machine.service import find_call, plan_service

    user_id = os.getuid() if hasattr(os, "getuid") else 0
    return plan_service(find_call(vault), home=Path.home(), user_id=user_id)


@command.command("install")
@vault_argument
@click.option("--dry-run", is_flag=True, help="Show the file and the commands, and do nothing.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
def install(vault: Path, *, dry_run: bool, as_json: bool) -> None:
    """Install the service of a vault, or renew it, and start it."""
    from aria_dream.adapters.machine.service import run_steps

    if not vault.is_dir():
        raise VaultUnreadableError(f"there is no vault at {vault}")
    plan = plan_for(vault)
    if not dry_run:
        run_steps(plan.install)
    _report(plan, plan.install, done="" if dry_run else "installed", as_json=as_json)


@command.command("remove")
@vault_argument
@click.option("--dry-run", is_flag=True, help="Show what would be removed, and do nothing.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
def remove(vault: Path, *, dry_run: bool, as_json: bool) -> None:
    """Stop the service of a vault and remove it. The vault and what was remembered of it stay."""
    from aria_dream.adapters.machine.service import run_steps

    plan = plan_for(vault)
    if not dry_run:
        run_steps(plan.remove)
    _report(plan, plan.remove, done="" if dry_run else "removed", as_json=as_json)


@command.command("status")
@vault_argument
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
def status(vault: Path, *, as_json: bool) -> None:
    """Say whether the service of a vault is installed, and whether it runs."""
    from aria_dream.adapters.machine.service import ask

    plan = plan_for(vault)
    is_installed = plan.file.exists()
    code, said = ask(plan.ask) if is_installed else (1, "")
    if as_json:
        echo_json({"name": plan.name, "file": str(plan.file), "installed": is_installed, "running": code == 0})
    elif not is_installed:
        click.echo("Not installed; `aria-dream service install` does it.")
    elif code == 0:
        click.echo(f"Installed and running: {plan.name}, defined in {plan.file}.")
    else:
        click.echo(f"Installed and not running ({said or 'the system does not say why'}): {plan.file}.")


def _report(plan: ServicePlan, steps: Sequence[Step], *, done: str, as_json: bool) -> None:
    if as_json:
        object_ = {"name": plan.name, "file": str(plan.file), "done": bool(done), "steps": list(map(_step, steps))}
        echo_json(object_)
    elif done:
        click.echo(f"{done.capitalize()}: {plan.name} ({plan.file}).")
    else:
        for step in steps:
            _show(step)


def _step(step: Step) -> dict[str, object]:
    from aria_dream.adapters.machine.service import RemoveFile, RunCommand, WriteFile

    match step:
        case WriteFile(path=path, content=content):
            return {"write": str(path), "content": _text(content)}
        case RemoveFile(path=path):
            return {"remove": str(path)}
        case RunCommand(words=words):
            return {"run": list(words)}
        case _:
            assert_never(step)


def _show(step: Step) -> None:
    for what, value in _step(step).items():
        if what == "content":
            click.echo("".join(f"    {line}\n" for line in str(value).splitlines()), nl=False)
        else:
            click.echo(f"{what}: {' '.join(value) if isinstance(value, list) else value}")


def _text(content: bytes) -> str:
    encoding = "utf-16" if content.startswith((b"\xff\xfe", b"\xfe\xff")) else "utf-8"
    return content.decode(encoding, "replace")
