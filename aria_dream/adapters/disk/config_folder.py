"""Obsidian's config folder: its settings as they read, and the one file ever written there, our CSS snippet.

A snippet of that name that is there already is its reader's, and stays. Nothing is switched on: Obsidian lists the
snippet under Appearance, and a person turns it on.
"""

from __future__ import annotations

import os
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Final

from aria_dream.errors import Problem, WriteRefusedError
from aria_dream.vault.obsidian import (
    ObsidianSettings,
    default_daily_notes,
    parse_app_settings,
    parse_daily_notes,
    parse_periodic_notes,
    parse_template_folder,
)

_MAX_BYTES = 4 * 1024 * 1024


def read_obsidian_settings(root: str, config_folder: str) -> tuple[ObsidianSettings, tuple[Problem, ...]]:
    """The settings in `config_folder` of the vault at `root`; defaults, and a problem, for what cannot be read.

    A file that is not there is no problem.
    """
    if not config_folder:
        return ObsidianSettings(daily=(default_daily_notes(),)), ()
    problems: list[Problem] = []

    def text_of(name: str) -> str | None:
        path = Path(root, config_folder, *name.split("/"))
        try:
            if not path.is_file():
                return None
            with path.open("rb") as file:
                return file.read(_MAX_BYTES).decode("utf-8", "surrogateescape")
        except OSError as error:
            why = (error.strerror or str(error)).lower()
            problems.append(Problem(f"{config_folder}/{name}", 0, f"cannot be read ({why}); defaults are assumed"))
            return None

    def keep(name: str, found: tuple[Problem, ...]) -> None:
        problems.extend(replace(problem, path=f"{config_folder}/{name}") for problem in found)

    settings = ObsidianSettings(config_folder=config_folder, daily=(default_daily_notes(),))
    if (text := text_of("app.json")) is not None:
        app, found = parse_app_settings(text)
        keep("app.json", found)
        settings = replace(settings, app=app)
    if (text := text_of("daily-notes.json")) is not None:
        daily, found = parse_daily_notes(text)
        keep("daily-notes.json", found)
        settings = replace(settings, daily=(daily,))
    if (text := text_of("plugins/periodic-notes/data.json")) is not None:
        kinds, found = parse_periodic_notes(text)
        keep("plugins/periodic-notes/data.json", found)
        settings = replace(settings, daily=tuple(dict.fromkeys((*settings.daily, *kinds))))
    folders: list[str] = []
    for name, key in (("templates.json", "folder"), ("plugins/templater-obsidian/data.json", "templates_folder")):
        if (text := text_of(name)) is not None:
            folder, found = parse_template_folder(text, key)
            keep(name, found)
            folders.append(folder)
    return replace(settings, template_folders=tuple(dict.fromkeys(filter(None, folders)))), tuple(problems)


NAME: Final = "aria-dream.css"


def snippet_path(config_folder: str) -> str:
    """Vault path of the snippet, for a vault whose config folder is called so."""
    return f"{config_folder}/snippets/{NAME}"


def has_config_folder(root: Path, config_folder: str) -> bool:
    """Whether Obsidian has opened the vault, which gives it a config folder."""
    return config_folder.startswith(".") and "/" not in config_folder and (root / config_folder).is_dir()


def write_snippet(root: Path, config_folder: str, css: str) -> bool:
    """Whether the snippet was written; False where one is there already, which stays as it is. The vault has a config
    folder.

    Raises:
        WriteRefusedError: the config folder leads elsewhere, or the disk would not.
    """
    config = root / config_folder
    folder = config / "snippets"
    if config.is_symlink() or folder.is_symlink():
        raise WriteRefusedError(f"the snippet was not written: {config_folder} leads out of the vault")
    path, temp = folder / NAME, folder / f".{NAME}.{os.getpid()}"
    if os.path.lexists(path):
        return False
    try:
        folder.mkdir(exist_ok=True)
        temp.write_text(css, encoding="utf-8", newline="\n")
        temp.replace(path)
    except OSError as error:
        with suppress(OSError):
            temp.unlink()
        raise WriteRefusedError(f"the snippet was not written: {error.strerror or error}") from error
    return True
