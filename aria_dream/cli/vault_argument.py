"""The vault that a command works on: an argument, ARIA_DREAM_VAULT, or the nearest folder above with `.obsidian`."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

import click

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

F = TypeVar("F", bound="Callable[..., object]")

VAULT_VARIABLE = "ARIA_DREAM_VAULT"


def find_vault(named: str | None, environ: Mapping[str, str], start: Path) -> Path | None:
    """The vault's folder as named, by the environment, or by the nearest of `start` and its parents that holds
    `.obsidian`; None where there is none of the three. Whether it can be read is found out when it is."""
    if named:
        return Path(named).expanduser()
    if environ.get(VAULT_VARIABLE):
        return Path(environ[VAULT_VARIABLE]).expanduser()
    start = start.absolute()
    return next((folder for folder in (start, *start.parents) if (folder / ".obsidian").is_dir()), None)


def chosen_vault(named: str | None) -> Path:
    """The vault's folder (`find_vault`); a usage error where there is none."""
    vault = find_vault(named, os.environ, Path())
    if vault is None:
        raise click.UsageError(
            f"No vault: name its folder, set {VAULT_VARIABLE}, or run the command inside a vault."
        )
    return vault


def _chosen(_context: click.Context, _parameter: click.Parameter, value: str | None) -> Path:
    return chosen_vault(value)


def vault_argument(function: F) -> F:
    """Adds the argument VAULT to a command; it arrives as the parameter `vault`, a Path."""
    return click.argument("vault", required=False, callback=_chosen)(function)
