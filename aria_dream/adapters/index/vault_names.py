"""The names in a vault that decide where our own files may live: from the index, and from folders without files."""

from __future__ import annotations

import os
import re
from codecs import BOM_UTF8 as BOM
from contextlib import suppress
from datetime import date
from typing import TYPE_CHECKING

from aria_dream.adapters.disk.safe_path import read_plain
from aria_dream.adapters.index.contents import UNREAD
from aria_dream.markdown.note import decode_note
from aria_dream.notes.review_note import BEGIN
from aria_dream.policy.file_layout import (
    REPORT_NAME,
    REVIEW_NAME,
    SEEDS_NAME,
    VaultNames,
    day_in_name,
    folder_candidates,
)
from aria_dream.policy.lines import note_properties
from aria_dream.policy.policy import is_policy_name
from aria_dream.policy.triggers import is_triggers_name
from aria_dream.vault.names import fold_path
from aria_dream.vault.record import packed_marker

if TYPE_CHECKING:
    from collections.abc import Iterator

    from aria_dream.adapters.index.index import VaultIndex


def read_vault_names(index: VaultIndex, dream_folder: str) -> VaultNames:
    """All names of the vault, with the markers of our notes, wherever they lie."""
    obsidian = index.obsidian
    reserved = (
        *(dated.folder for dated in obsidian.daily),
        *obsidian.template_folders,
        index.app.new_file_folder,
        index.app.attachment_folder.removeprefix("./"),
    )
    markers = read_markers(index, dream_folder)
    return VaultNames.of(
        files=index.files,
        markers=markers,
        link_sources=index.linkage.sources_naming,
        folders=tuple(_folders(index, dream_folder)),
        reserved=reserved,
        days=_days(index, markers),
        shut=() if _may_be_entered(index, dream_folder) else (dream_folder,),
    )


def read_markers(index: VaultIndex, dream_folder: str) -> dict[str, str]:
    """Vault path to marker of our notes. One that cannot be read or was emptied, by a sync say, is known by its name
    where others of ours lie beside it; a copy that a sync made is ours only in our own folder."""
    homes = {fold_path(folder) for folder in folder_candidates(dream_folder)}
    found: dict[str, str] = {}
    for source, content in enumerate(index.contents):
        marker = packed_marker(content.packed).lower()
        path = index.linkage.path_of(source) if marker else ""
        folder, _, name = path.rpartition("/")
        if marker in _ROOT_ONLY and (folder or not (is_policy_name(name) or is_triggers_name(name))):
            continue
        if marker and (path not in index.conflicts or fold_path(folder) in homes):
            found[path] = marker
    ours = {path.rpartition("/")[0] for path, marker in found.items() if "/" in path and marker not in _ROOT_ONLY}
    for path in index.graph.paths:
        folder, _, name = path.rpartition("/")
        beside = folder in ours
        if (beside or (folder and fold_path(folder) in homes)) and path not in found and path not in index.conflicts:
            marker = _marker_by_name(index, path, name, beside=beside)
            if marker:
                found[path] = marker
    return found


_ROOT_ONLY = frozenset({"policy", "triggers"})
_USUAL = {fold_path(REVIEW_NAME): "review", fold_path(SEEDS_NAME): "seeds", fold_path(REPORT_NAME): "report"}
_LOG_NAME = re.compile(r"\d{4}-\d{2}-\d{2} dream(?: \d+)?\.md")


def _marker_by_name(index: VaultIndex, path: str, name: str, *, beside: bool) -> str:
    """What a note without a marker must be: one of our names, and nobody can read it, or nothing is in it; or it is
    the review note and has its list. `beside`: other notes of ours lie in its folder."""
    marker = _USUAL.get(fold_path(name), "log" if _LOG_NAME.fullmatch(name) else "")
    if not marker:
        return ""
    source = index.linkage.source_of(path)
    if source is not None and index.contents[source] == UNREAD:
        return marker
    if not beside or marker == "log" or (marker != "review" and index.scan.snapshot.files[path].size_bytes > _BLANK):
        return ""
    try:
        data = read_plain(index.root / path) or b""
    except OSError:
        return marker
    return marker if not data.removeprefix(BOM).strip() or BEGIN.encode() in data else ""


_BLANK = 16
"""Bytes; a longer note is not empty."""


def _days(index: VaultIndex, markers: dict[str, str]) -> dict[str, date]:
    """Local day of the dream notes whose names tell none: what their properties say, or when they were last written."""
    found: dict[str, date] = {}
    for path, marker in markers.items():
        if marker == "log" and day_in_name(path) is None:
            with suppress(OSError):
                properties = note_properties(decode_note(read_plain(index.root / path) or b"")) or {}
                said = re.match(r"\d{4}-\d{2}-\d{2}", str(properties.get("date", "")))
                written = date.fromtimestamp(index.scan.snapshot.files[path].modified_ns / 1e9)  # noqa: DTZ012 - local
                found[path] = written
                with suppress(ValueError):
                    found[path] = date.fromisoformat(said[0]) if said else written
    return found


def _may_be_entered(index: VaultIndex, dream_folder: str) -> bool:
    try:
        with os.scandir(index.root / dream_folder):
            return True
    except PermissionError:
        return False
    except OSError:
        return True


def _folders(index: VaultIndex, dream_folder: str) -> Iterator[str]:
    """The folders at the root and beside the dream folder: an empty one is the writer's too, and is in no index."""
    parent = dream_folder.rpartition("/")[0]
    for place in {"", parent}:
        with suppress(OSError), os.scandir(index.root / place) as entries:
            for entry in entries:
                if entry.is_dir(follow_symlinks=True) and not entry.name.startswith("."):
                    yield f"{place}/{entry.name}" if place else entry.name
