"""The names in a vault that decide where our own files may live: from the index, and from folders without files."""

from __future__ import annotations

import os
from contextlib import suppress
from typing import TYPE_CHECKING

from aria_dream.policy.policy import is_policy_name
from aria_dream.policy.residence import VaultNames, folder_candidates
from aria_dream.policy.triggers import is_triggers_name
from aria_dream.vault.names import fold_path

if TYPE_CHECKING:
    from collections.abc import Iterator

    from aria_dream.effects.index import VaultIndex


def read_vault_names(index: VaultIndex, dream_folder: str) -> VaultNames:
    """All names of the vault, with the markers of those notes that can be ours for this `dream_folder`."""
    homes = {fold_path(folder) for folder in folder_candidates(dream_folder)}
    obsidian = index.obsidian
    reserved = (
        *(dated.folder for dated in obsidian.daily),
        *obsidian.template_folders,
        index.app.new_file_folder,
        index.app.attachment_folder.removeprefix("./"),
    )
    return VaultNames.of(
        files=index.files,
        markers=dict(_markers(index, homes)),
        link_sources=index.link_sources,
        folders=_folders(index, dream_folder),
        reserved=reserved,
    )


def _markers(index: VaultIndex, homes: set[str]) -> Iterator[tuple[str, str]]:
    for path in index.graph.paths:
        folder, _, name = path.rpartition("/")
        if fold_path(folder) in homes if folder else is_policy_name(name) or is_triggers_name(name):
            marker = index.facts_of(path).marker
            if marker:
                yield path, marker


def _folders(index: VaultIndex, dream_folder: str) -> Iterator[str]:
    """The folders at the root and beside the dream folder: an empty one is the writer's too, and is in no index."""
    parent = dream_folder.rpartition("/")[0]
    for place in {"", parent}:
        with suppress(OSError), os.scandir(index.root / place) as entries:
            for entry in entries:
                if entry.is_dir(follow_symlinks=True) and not entry.name.startswith("."):
                    yield f"{place}/{entry.name}" if place else entry.name
