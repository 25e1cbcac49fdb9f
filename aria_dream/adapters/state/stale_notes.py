"""The stale notes of a vault, with what is remembered of notes and their sources between two nights."""

from __future__ import annotations

import json
import os
from contextlib import suppress
from hashlib import sha256
from typing import TYPE_CHECKING, Final

from aria_dream.adapters.disk.safe_path import locate, read_plain
from aria_dream.adapters.index.resonance import read_note_text
from aria_dream.consolidate.stale import SourceMemory, stale_by_date, stale_by_source
from aria_dream.markdown.note import NotePath, parse_note
from aria_dream.notes.jsonl import as_mapping, as_text
from aria_dream.world import Refused

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from datetime import datetime
    from pathlib import Path

    from aria_dream.adapters.index.dreamt_vault import DreamtVault
    from aria_dream.consolidate.stale import Stale

SOURCES: Final = "note-sources.json"
"""In the vault's state folder: what each note and its sources read when they were first seen together."""
LARGEST_SOURCE_BYTES: Final = 64_000_000
"""A larger file is known by its size and its time of change alone."""


def find_stale(
    vault: DreamtVault,
    folder: Path,
    *,
    now: datetime,
    progress: Callable[[int, int], None] = lambda _done, _total: None,
    permit: Callable[[], None] = lambda: None,
) -> tuple[tuple[Stale, ...], dict[str, SourceMemory]]:
    """`(findings, memory)`: every stale note that is visible, in the order of paths, and what to remember of them all
    (`remember_sources`). `folder` is the vault's state folder; `now` is aware, in the writer's zone.

    `leave` is called before each few notes and may raise. A hidden note is no source: its name is nobody's to tell.
    """
    earlier = read_sources(folder)
    found: list[Stale] = []
    memory: dict[str, SourceMemory] = {}
    hashes: dict[str, str | None] = {}

    def hash_of(path: str) -> str | None:
        if path not in hashes:
            hashes[path] = _hash(vault, path)
        return hashes[path]

    for row, fact in enumerate(vault.facts):
        if row % 64 == 0:
            permit()
            progress(row, len(vault.facts))
        text = read_note_text(vault, row)
        known = earlier.get(fact.path)
        if not text.startswith(("---", "\ufeff---")) and known is None and ":" not in text:
            continue
        note = parse_note(text)
        found += stale_by_date(fact.path, note, today=now.date(), zone=now.tzinfo)
        sources, remembered = stale_by_source(
            fact.path,
            note,
            fact.content_hash.hex(),
            resolve=vault.index.resolver.resolve,
            hash_of=hash_of,
            earlier=known,
        )
        found += sources
        if remembered is not None:
            memory[fact.path] = remembered
    progress(len(vault.facts), len(vault.facts))
    return tuple(found), memory


def _hash(vault: DreamtVault, path: str) -> str | None:
    row = vault.row(path)
    if row is not None:
        return vault.facts[row].content_hash.hex()
    if path in vault.sharing.hidden:
        return None
    place = locate(vault.root, NotePath(path))
    if isinstance(place, Refused):
        return None
    try:
        status = place.stat()
        if status.st_size > LARGEST_SOURCE_BYTES:
            return f"{status.st_size}-{status.st_mtime_ns}"
        data = read_plain(place)
    except OSError:
        return None
    return None if data is None else sha256(data).hexdigest()


def read_sources(folder: Path) -> dict[str, SourceMemory]:
    """What is remembered, by vault path of the note; empty where that is not known."""
    try:
        found = as_mapping(as_mapping(json.loads((folder / SOURCES).read_bytes()))["notes"])
        return {path: _memory(as_mapping(row)) for path, row in found.items()}
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        return {}


def _memory(row: Mapping[str, object]) -> SourceMemory:
    sources = {path: as_text(value) for path, value in as_mapping(row["sources"]).items()}
    return SourceMemory(note=as_text(row["note"]), sources=sources)


def remember_sources(folder: Path, memory: Mapping[str, SourceMemory]) -> None:
    """Keeps the memory for the next night. A disk that refuses is passed over: a change is then noticed one night
    later."""
    rows = {path: {"note": one.note, "sources": dict(one.sources)} for path, one in memory.items()}
    temp = folder / f".{SOURCES}.{os.getpid()}"
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        temp.write_text(json.dumps({"version": 1, "notes": rows}, sort_keys=True) + "\n", encoding="ascii")
        temp.replace(folder / SOURCES)
    except OSError:
        with suppress(OSError):
            temp.unlink()
