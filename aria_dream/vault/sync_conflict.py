"""Copies that a sync made because two machines changed one file, told by their names alone. Pure."""

from __future__ import annotations

import re

_CONFLICT = re.compile(
    r"\([^()]*conflicted copy[^()]*\)"  # Dropbox, Nextcloud, Obsidian Sync: "(Ann's conflicted copy 2026-01-02)"
    r"|\([^()]*case conflict[^()]*\)"  # Dropbox: "(Case Conflict)"
    r"|\.sync-conflict-\d{8}-\d{6}(?:-[A-Z0-9]{7})?(?=$|\.)"  # Syncthing
    r"|_conf\(\d{1,4}\)$"  # pCloud: "name_conf(1)"
    r"|[ _]\[conflict(?:ed)?[^\[\]]{0,40}\]$",  # Google Drive, Resilio
    re.IGNORECASE,
)
_NUMBERED = re.compile(r"(?P<name>.+)(?: [2-9]|-[A-Z][A-Z0-9-]{3,14})", re.DOTALL)


def is_conflict_copy(path: str) -> bool:
    """Whether the file's name is one that only a sync writes for the copy it could not merge."""
    name = path.rpartition("/")[2]
    return _CONFLICT.search(name.rpartition(".")[0] or name) is not None


def original_of_numbered_copy(path: str) -> str | None:
    """The path that `path` would be a copy of, were it one: iCloud writes `Note 2`, OneDrive `Note-DESKTOP1`.

    A writer chooses such names too, so it is a copy only where the other file has the same content. None for other
    names.
    """
    folder, slash, name = path.rpartition("/")
    stem, dot, ending = name.rpartition(".")
    found = _NUMBERED.fullmatch(stem)
    return f"{folder}{slash}{found['name']}{dot}{ending}" if found else None


def original_of_conflict_copy(path: str) -> str | None:
    """The path of which the file's name says that it is a sync's copy; None for other names."""
    folder, slash, name = path.rpartition("/")
    stem, dot, ending = name.rpartition(".") if "." in name else (name, "", "")
    found = _CONFLICT.search(stem)
    if found is None:
        return None
    return f"{folder}{slash}{(stem[: found.start()] + stem[found.end() :]).strip()}{dot}{ending}"
