"""The CSS snippet for dream notes: the one file ever written into Obsidian's config folder, and only on request.

A snippet of that name that is there already is its reader's, and stays. Nothing is switched on: Obsidian lists the
snippet under Appearance, and a person turns it on.
"""

from __future__ import annotations

import os
from contextlib import suppress
from typing import TYPE_CHECKING, Final

from aria_dream.errors import WriteRefusedError

if TYPE_CHECKING:
    from pathlib import Path

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
