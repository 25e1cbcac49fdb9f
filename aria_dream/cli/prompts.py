"""`aria-dream prompts`: what a model is asked, in whose words, and a copy of it to edit."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

import click

from aria_dream.adapters.disk.files import DiskVault
from aria_dream.adapters.disk.places import find_places
from aria_dream.adapters.disk.writing import write_or_refuse
from aria_dream.adapters.index.index import read_vault
from aria_dream.adapters.index.live_policy import (
    FoundPrompt,
    ejected_path,
    place_for_copy,
    prompt_names,
    read_live_policy,
    read_prompt,
    shipped_prompt,
)
from aria_dream.adapters.index.vault_names import read_vault_names
from aria_dream.cli.output import echo_json, progress_bar
from aria_dream.cli.vault_argument import find_vault, vault_argument
from aria_dream.errors import NotFoundError, WriteRefusedError
from aria_dream.markdown.note import NotePath
from aria_dream.policy.file_layout import choose_home
from aria_dream.vault.edit import ChangeSet, Exists, Refusal, plan_create

if TYPE_CHECKING:
    from aria_dream.adapters.index.index import VaultIndex
    from aria_dream.policy.file_layout import Home, VaultNames


class _Prompts(click.Group):
    """A group whose first word may also be a vault: then its prompts are listed."""

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """The subcommand named, else `list` with all that was said."""
        if args[0] in self.commands:
            return super().resolve_command(ctx, args)
        return "list", self.commands["list"], args


@click.group("prompts", cls=_Prompts, invoke_without_command=True)
@click.pass_context
def command(context: click.Context) -> None:
    """List the prompts a model is asked with; show one, or copy one into the vault to edit.

    `aria-dream prompts VAULT` lists them, with the copies that count in that vault.
    """
    if context.invoked_subcommand is None:
        context.invoke(list_, vault=None, as_json=False)


@command.command("list")
@click.argument("vault", required=False)
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object a prompt.")
def list_(*, vault: str | None, as_json: bool) -> None:
    """List the prompts; for a vault, which of them are copies of yours."""
    chosen = find_vault(vault, os.environ, Path())
    if chosen is None:
        found = {name: shipped_prompt(name) for name in prompt_names()}
    else:
        index, names, home, _ = _residence(chosen)
        found = {name: read_prompt(name, index.root, names, home) for name in prompt_names()}
    for name, prompt in found.items():
        if as_json:
            echo_json(_object(name, prompt))
            continue
        for problem in prompt.problems:
            click.echo(f"To mend: {problem}", err=True)
        click.echo(f"{name:{max(map(len, found))}}  {prompt.path or 'as shipped'}")
    if not as_json:
        click.echo("\n`aria-dream prompts show NAME` shows one, `aria-dream prompts eject NAME` makes a copy to edit.")


def _checked(_context: click.Context, _parameter: click.Parameter, value: str) -> str:
    name = value.removesuffix(".md")
    if name not in prompt_names():
        raise NotFoundError(f"there is no prompt “{name}”; there are: {', '.join(prompt_names())}")
    return name


@command.command("show")
@click.argument("name", callback=_checked)
@vault_argument
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
def show(name: str, vault: Path, *, as_json: bool) -> None:
    """Show the prompt in force for a vault, and whether it is a copy of yours."""
    index, names, home, _ = _residence(vault)
    found = read_prompt(name, index.root, names, home)
    if as_json:
        echo_json(_object(name, found))
        return
    for problem in found.problems:
        click.echo(f"To mend: {problem}", err=True)
    click.echo(f"{name}: {found.path or 'as shipped'}", err=True)
    click.echo(found.text, nl=not found.text.endswith("\n"))


@command.command("eject")
@click.argument("name", callback=_checked)
@vault_argument
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
def eject(name: str, vault: Path, *, as_json: bool) -> None:
    """Copy a prompt into the dream folder, where your changes to it count at once.

    Nothing that is there is changed. Delete the copy to have the shipped prompt again.
    """
    index, names, home, state = _residence(vault)
    if not home.exists:
        raise NotFoundError("this vault has no dream folder yet; `aria-dream init` makes it")
    there = ejected_path(name, names, home)
    path = there or place_for_copy(name, names, home)
    if not path:
        raise WriteRefusedError(f"nothing was written: every name that a copy of “{name}” could have is yours")
    if not there:
        _write(DiskVault(index.root, state), index, path, read_prompt(name, index.root, names, home).text)
    if as_json:
        echo_json({"name": name, "path": path, "written": not there})
    else:
        said = "is there already and counts" if there else "is written; what you change there counts at once"
        click.echo(f"{path} {said}.")


def _residence(vault: Path) -> tuple[VaultIndex, VaultNames, Home, Path]:
    places = find_places()
    with progress_bar("Reading notes") as progress:
        index = read_vault(vault, places.cache, progress=progress)
    live = read_live_policy(index.root, places)
    folder = live.policy.settings.dream_folder
    names = read_vault_names(index, folder)
    return index, names, choose_home(names, folder), live.state_folder(places)


def _object(name: str, found: FoundPrompt) -> dict[str, object]:
    return {
        "name": name,
        "path": found.path or None,
        "text": found.text,
        "placeholders": sorted(found.prompt.placeholders),
        "hash": found.prompt.hash,
        "problems": [{"path": p.path, "line": p.line, "message": p.message} for p in found.problems],
    }


def _write(disk: DiskVault, index: VaultIndex, path: str, text: str) -> None:
    plan = plan_create(NotePath(path), text, [NotePath(each) for each in index.files])
    if isinstance(plan, Exists | Refusal):
        reason = plan.reason if isinstance(plan, Refusal) else f"“{plan.path}” is in the way"
        raise WriteRefusedError(f"nothing was written: {path} cannot be made, because {reason}")
    write_or_refuse(disk, ChangeSet(writes=(plan,)), label="eject a prompt")
