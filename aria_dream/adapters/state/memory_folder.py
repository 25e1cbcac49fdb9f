"""A vault's memory folder on the disk: where it is, and the sources in it, in the order of the specification."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import TYPE_CHECKING

from aria_dream.errors import PolicyClosedError
from aria_dream.markdown.note import NotePath, decode_note
from aria_dream.markdown.scan import scan_note
from aria_dream.notes.jsonl import parse_records
from aria_dream.policy.policy import SettingSource
from aria_dream.privacy.sharing import Visibility, visibility
from aria_dream.synthesis.lesson import read_rows
from aria_dream.synthesis.memory import (
    OWN_NAMES,
    USUAL_FOLDERS,
    choose_new_folder,
    day_of_name,
    is_memory,
    lessons_path,
    source_paths,
)
from aria_dream.synthesis.sources import (
    HONESTY_READ,
    SESSIONS_READ,
    Entry,
    MemoryFile,
    Reading,
    SourceKind,
    is_own_output,
    read_capsules,
    read_dated,
    read_failures,
    read_notes,
    read_trust_decay,
)
from aria_dream.synthesis.wording import is_citable_name
from aria_dream.vault.names import fold_path
from aria_dream.world import Content, Refused

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping
    from datetime import date, tzinfo
    from pathlib import Path

    from aria_dream.policy.policy import Policy
    from aria_dream.world import RootedFiles

NO_MEMORY = (
    "This vault keeps no memory: there is no folder vault/memory or memory with session logs, capsules and the like."
    " `aria-dream init --memory` makes one. Nothing was written."
)


@dataclass(frozen=True, slots=True)
class NoMemory:
    """There is no memory folder. A value: most vaults have none."""

    reason: str


def find_memory_folder(root: Path, policy: Policy) -> str | NoMemory:
    """The vault path of the memory folder: the policy's `memory_folder`, else `vault/memory`, else `memory`.

    A folder of a usual name that holds none of what a memory keeps is the writer's own, and is not taken over.

    Raises:
        PolicyClosedError: the policy's line about it is not understood.
    """
    origin = policy.origin("memory_folder")
    if origin.source is SettingSource.CLOSED:
        raise PolicyClosedError(f"where the memory lies is not known: `memory_folder` is {origin}")
    wanted = policy.settings.memory_folder
    if wanted:
        if root.joinpath(*NotePath(wanted).parts).is_dir():
            return wanted
        return NoMemory(
            f"The policy says `memory_folder: {wanted}`, and there is no such folder; `aria-dream init --memory` makes"
            " it. Nothing was written."
        )
    theirs: list[str] = []
    for folder in USUAL_FOLDERS:
        names = folder_names(root, folder)
        if names is not None and is_memory(names, policy.settings):
            return folder
        theirs += [folder] if names is not None else []
    own = f" (The folder {theirs[0]} holds none of these and is left alone.)" if theirs else ""
    return NoMemory(NO_MEMORY + own)


def folder_names(root: Path, folder: str) -> tuple[str, ...] | None:
    """What lies directly in a folder, hidden names left out; None where there is no such folder of the vault's own."""
    place = root.joinpath(*NotePath(folder).parts)
    try:
        if place.is_symlink():
            return None
        return tuple(sorted(name for name in os.listdir(place) if not name.startswith(".")))  # noqa: PTH208 - names only
    except OSError:
        return None


def new_memory_folder(root: Path, policy: Policy, folders: Iterable[str]) -> str:
    """The vault path of the memory folder that `init --memory` makes or completes; "" where no name is free for one.

    `folders` are the vault's folders as far as they are known; empty ones of a usual name are looked for here.
    """
    there = [folder for folder in ("vault", *USUAL_FOLDERS) if folder_names(root, folder) is not None]
    return choose_new_folder(
        {*folders, *there},
        policy.settings.memory_folder,
        lambda folder: is_memory(folder_names(root, folder) or (), policy.settings),
    )


def read_sources(
    files: RootedFiles, folder: str, policy: Policy, zone: tzinfo | None
) -> tuple[tuple[Reading, ...], tuple[str, ...]]:
    """What the memory holds, one `Reading` a kind in the specification's order; and sentences about what is missing."""
    settings = policy.settings
    said: list[str] = []

    def texts(key: str, suffix: str = ".md") -> tuple[MemoryFile, ...]:
        path = str(getattr(settings, key))
        if policy.origin(key).source is SettingSource.CLOSED or not path:
            said.append(f"{key} is not understood and was not read")
            return ()
        found, complaints = _texts(files, folder, path, suffix, policy)
        said.extend(complaints)
        return found

    def dated(key: str, kind: SourceKind, limit: int) -> Reading:
        return read_dated(texts(key), kind, limit)

    sessions = dated("session_log_path", SourceKind.SESSION, SESSIONS_READ)
    loose = _loose(files, folder, policy)
    notes = read_notes(loose, SESSIONS_READ)
    readings = (
        read_capsules(texts("capsules_path"), zone),
        Reading((*sessions.entries, *notes.entries), sessions.left_out),
        read_trust_decay(texts("trust_decay_path")),
        dated("honesty_ledger_path", SourceKind.HONESTY, HONESTY_READ),
        read_failures(texts("failed_experiments_path"), SourceKind.FAILED_EXPERIMENT),
        read_failures(texts("failure_modes_path"), SourceKind.FAILURE_MODE),
        _lesson_entries(files, folder),
        _staged(texts("capture_candidates_path", ".jsonl")),
    )
    if not any(reading.entries for reading in readings) and loose:
        names = ", ".join(NotePath(file.path).name for file, _ in loose[:3])
        sentence = f"{folder} holds {len(loose)} notes that a synthesis does not read ({names})"
        said.append(f"{sentence}: it reads capsules, logs, notes named by their day, and topics with a description")
    return readings, tuple(said)


def _loose(files: RootedFiles, folder: str, policy: Policy) -> list[tuple[MemoryFile, date | None]]:
    """The notes that lie in the folder itself under a name that the policy does not give, each with its name's day."""
    known = {fold_path(path.split("/", 1)[0]) for path in source_paths(policy.settings) if path}
    names = folder_names(files.root, folder) or ()
    found: list[tuple[MemoryFile, date | None]] = []
    for name in names:
        if name.lower().endswith(".md") and fold_path(name) not in known:
            texts, _ = _texts(files, folder, name, ".md", policy)
            found += [(text, day_of_name(name)) for text in texts if text.path.rpartition("/")[0] == folder]
    return found


def _texts(
    files: RootedFiles, folder: str, path: str, suffix: str, policy: Policy
) -> tuple[tuple[MemoryFile, ...], list[str]]:
    """The texts at `path` in the memory folder (else in the vault): one file, or those of a folder."""
    inside = NotePath(folder) / path
    place = inside if files.root.joinpath(*inside.parts).exists() else NotePath(path)
    is_folder = files.root.joinpath(*place.parts).is_dir()
    paths = sorted(_walk(files.root, place, suffix), key=str) if is_folder else [place]
    found: list[MemoryFile] = []
    said: list[str] = []
    for one in paths:
        if not is_citable_name(str(one)):
            said.append(f"a file in {folder} was not read: its name holds a key or orders its reader about")
            continue
        try:
            content = files.read(one)
        except OSError as error:
            said.append(f"{one} cannot be read ({error.strerror or error})")
            continue
        if isinstance(content, Refused):
            said.append(f"{one} was not read: {content.reason}")
        elif isinstance(content, Content):
            text = decode_note(content.data).replace("\r\n", "\n").replace("\r", "\n")
            if suffix == ".md" and _is_hidden(str(one), text, policy):
                said.append(f"{one} was not read: the policy or the note hides it")
            elif one.name in OWN_NAMES or (suffix == ".md" and is_own_output(text)):
                continue  # what this program wrote is no source, whatever path names it
            else:
                found.append(MemoryFile(path=str(one), text=text))
    return tuple(found), said


def _walk(root: Path, folder: NotePath, suffix: str) -> Iterator[NotePath]:
    with os.scandir(root.joinpath(*folder.parts)) as entries:
        for entry in entries:
            if entry.name.startswith("."):
                continue
            if entry.is_dir(follow_symlinks=False):
                yield from _walk(root, folder / entry.name, suffix)
            elif entry.is_file(follow_symlinks=False) and entry.name.lower().endswith(suffix):
                yield folder / entry.name


def _is_hidden(path: str, text: str, policy: Policy) -> bool:
    scan = scan_note(text)
    return visibility(policy.settings, path=path, tags=scan.tags, dream=scan.dream) is Visibility.HIDDEN


def _lesson_entries(files: RootedFiles, folder: str) -> Reading:
    path = lessons_path(folder)
    content = files.read(path)
    if not isinstance(content, Content):
        return Reading(())
    rows = [row for row in read_rows(content.data) if row.record is not None]
    return Reading(tuple(_row_entry(SourceKind.LESSON, str(path), row.line, row.record or {}) for row in rows))


def _staged(found: tuple[MemoryFile, ...]) -> Reading:
    entries: list[Entry] = []
    left_out: list[str] = []
    for file in found:
        records, problems = parse_records(file.text)
        entries += (_row_entry(SourceKind.STAGED, file.path, line, record) for line, record in records)
        left_out += [f"{file.path}:{problem.line}: no JSON object" for problem in problems]
    return Reading(tuple(entries), tuple(left_out))


_TEXT_KEYS = ("lesson", "claim", "text", "summary", "pattern", "candidate", "title", "note", "description")


def _row_entry(kind: SourceKind, path: str, line: int, record: Mapping[str, object]) -> Entry:
    texts = [value for key in _TEXT_KEYS if isinstance(value := record.get(key), str) and value.strip()]
    others = [value for value in record.values() if isinstance(value, str)]
    text = texts[0] if texts else max(others, key=len, default="")
    return Entry(
        kind=kind, path=path, line=line, title=text[:80], text=text, text_line=line, ref=f"{path}:{line}"
    )
