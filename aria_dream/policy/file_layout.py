"""Where our own files live, so that no name of the writer's is ever captured.

A file or folder is ours only if it bears our marker; whatever else it is called, it is the writer's. A new file gets a
name that nothing in the vault has (on any disk, in any spelling) and that no link anywhere looks up: then no link that
existed before can come to mean it. Which name is chosen depends on the vault alone, so that two runs agree.
"""

from __future__ import annotations

import itertools
import re
from dataclasses import dataclass
from datetime import date
from typing import TYPE_CHECKING

from aria_dream.markdown.note import NotePath
from aria_dream.policy.policy import POLICY_NAMES
from aria_dream.policy.triggers import TRIGGERS_NAMES
from aria_dream.vault.names import fold_path

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
    from typing import Self

DEFAULT_FOLDER = "dreams"
REVIEW_NAME = "Dream review.md"
SEEDS_NAME = "Dream seeds.md"
REPORT_NAME = "Dream report.md"
CANVAS_NAME = "Dream latest.canvas"

_ATTEMPTS = 50
"""Numbered names among which one of ours is looked for."""


@dataclass(frozen=True, slots=True, kw_only=True)
class VaultNames:
    """All names of a vault at one moment. `of` makes it."""

    files: frozenset[str]
    folded: Mapping[str, str]
    """Folded path to path, of every file and every folder."""
    markers: Mapping[str, str]
    """Vault path of each note that bears our marker, to the marker's value, lower-cased."""
    linked: Callable[[str], bool]
    """Whether any link in the vault looks up this file name, however it is spelled."""
    reserved: frozenset[str]
    """Folded paths of folders that the writer's settings name and that need not exist yet (daily notes, templates)."""
    days: Mapping[str, date]
    """Vault path to local day of those dream notes whose name tells none any more."""
    shut: frozenset[str]
    """Folded paths of folders that may not be entered, so that nobody knows what is in them."""

    @classmethod
    def of(
        cls,
        *,
        files: Iterable[str],
        markers: Mapping[str, str],
        link_sources: Callable[[str], Iterable[object]],
        folders: Iterable[str] = (),
        reserved: Iterable[str] = (),
        days: Mapping[str, date] | None = None,
        shut: Iterable[str] = (),
    ) -> Self:
        """From all files, the marked notes, who links to a name, and what folders there are beside those of files."""
        paths = frozenset(files)
        held: set[str] = set()
        for path in paths:
            folder = path.rpartition("/")[0]
            while folder and folder not in held:
                held.add(folder)
                folder = folder.rpartition("/")[0]
        folded = {fold_path(path): path for path in sorted({*paths, *held, *folders})}

        def linked(name: str) -> bool:
            # A link may be written with %20; Obsidian decodes it where nothing has the name as it stands.
            spellings = {name, name.replace(" ", "%20")}
            return any(next(iter(link_sources(spelling)), None) is not None for spelling in spellings)

        return cls(
            files=paths,
            folded=folded,
            markers={path: marker.lower() for path, marker in markers.items()},
            linked=linked,
            reserved=frozenset(fold_path(folder.strip("/")) for folder in reserved if folder.strip("/")),
            days=days or {},
            shut=frozenset(map(fold_path, shut)),
        )

    def is_free(self, path: str) -> bool:
        """Whether a file may be created at `path` without meeting a file or capturing a link."""
        return fold_path(path) not in self.folded and not self.linked(NotePath(path).name)

    def marked(self, folder: str, marker: str) -> tuple[str, ...]:
        """Vault paths of the notes directly in `folder` (`""`: the root) with this marker, sorted."""
        wanted = "" if not folder else fold_path(folder)
        found = (path for path, value in self.markers.items() if value == marker and _parent(path) == wanted)
        return tuple(sorted(found))

    def spelled(self, folder: str) -> str:
        """`folder` with those of its parents that exist spelled as they are."""
        out = ""
        for part in folder.split("/"):
            out = f"{out}/{part}" if out else part
            out = self.folded.get(fold_path(out), out)
        return out


@dataclass(frozen=True, slots=True, kw_only=True)
class Home:
    """Where our notes lie or will lie. A path is either one of ours already, or free."""

    folder: str
    review: str
    seeds: str
    report: str
    canvas: str
    exists: bool
    """The folder is there and ours."""
    said: tuple[str, ...]
    """What the writer should be told: every name that is not the usual one, and why."""
    moved: str = ""
    """Where our notes were found, where that is not the folder that the policy names; a sentence."""


def choose_home(names: VaultNames, wanted: str = DEFAULT_FOLDER) -> Home:
    """The dream folder and the notes in it, for a policy that says `dream_folder: wanted`.

    The folder that our notes lie in: the wanted one or one of the next names, else whatever folder they are found in
    (`_found_elsewhere`); where there is none, the first of those names that is free. A note of ours that was moved out
    of it is followed by its marker.
    """
    candidates = [names.spelled(folder) for folder in folder_candidates(wanted)]
    folder = _found(names, candidates)
    exists = bool(folder)
    if not exists:
        folder = next(path for each in _folder_names(wanted) if _is_free_folder(names, path := names.spelled(each)))
    said: tuple[str, ...] = ()
    moved = ""
    if exists and fold_path(folder) not in map(fold_path, candidates):
        moved = (
            f"Dreams are written to “{folder}”, where our notes lie; `dream_folder` says “{wanted}”: mend it by hand "
            "or with `aria-dream init`, or rename the folder."
        )
        said = (moved,)
    elif folder != candidates[0]:
        whose = "is yours" if fold_path(candidates[0]) in names.folded else "is meant for your own notes"
        said = (f"The folder “{candidates[0]}” {whose}, so dreams are written to “{folder}”.",)
    review, said = _our_note(names, folder, REVIEW_NAME, "review", said)
    seeds, said = _our_note(names, folder, SEEDS_NAME, "seeds", said)
    report, said = _our_note(names, folder, REPORT_NAME, "report", said)
    canvas, said = _our_canvas(names, folder, said, exists=exists)
    return Home(
        folder=folder, review=review, seeds=seeds, report=report, canvas=canvas, exists=exists, said=said, moved=moved
    )


_OURS = ("review", "log", "seeds", "report")


def _found(names: VaultNames, candidates: Sequence[str]) -> str:
    """The folder that our notes lie in; `""` where there is none.

    In this order: a candidate with our review note, or one that may not be entered; another folder with it, which a
    person renamed; a candidate with any other note of ours, whose review note was moved or lost; another folder with
    any. A folder that holds more notes of the writer's than of ours is the writer's, whatever was moved into it.
    """
    held: dict[str, set[str]] = {}
    spelled: dict[str, str] = {}
    for path, marker in names.markers.items():
        if marker in _OURS and "/" in path:
            held.setdefault(_parent(path), set()).add(marker)
            spelled.setdefault(_parent(path), path.rpartition("/")[0])
    ours = [folder for folder in candidates if fold_path(folder) in held]
    with_review = (f for f in candidates if "review" in held.get(fold_path(f), ()) or fold_path(f) in names.shut)
    if folder := next(with_review, ""):
        return folder
    elsewhere = [folder for folder in held if _is_mostly_ours(names, folder)] if held else []
    elsewhere.sort(key=lambda folder: (-len(held[folder]), folder.count("/"), folder))
    if folder := next((folder for folder in elsewhere if {"review"} < held[folder]), ""):
        return spelled[folder]
    if ours:
        return ours[0]
    return spelled[elsewhere[0]] if elsewhere else ""


def _is_mostly_ours(names: VaultNames, folder: str) -> bool:
    notes = [path for path in names.files if path.lower().endswith(".md") and _parent(path) == folder]
    return 2 * sum(path in names.markers for path in notes) >= len(notes)


def folder_candidates(wanted: str = DEFAULT_FOLDER) -> tuple[str, ...]:
    """The folders that can be ours where the policy says `dream_folder: wanted`, in the order they are tried."""
    return tuple(itertools.islice(_folder_names(wanted), _ATTEMPTS))


def choose_log(names: VaultNames, home: Home, day: date) -> str:
    """Vault path of the dream note of a local day: the one that is there and marked `log`, else a free name.

    `2026-11-30 dream.md`; where that is the writer's, or a link waits for it, `2026-11-30 dream 2.md` and so on.
    """
    name = f"{day.isoformat()} dream.md"
    logs = {fold_path(NotePath(path).name): path for path in names.marked(home.folder, "log")}
    ours = next((logs[each] for each in itertools.islice(_numbered(name), _ATTEMPTS) if each in logs), "")
    return ours or _first_free(names, home.folder, name)


def log_notes(names: VaultNames) -> tuple[tuple[str, date], ...]:
    """Vault path and local day of every dream note of ours, by day, wherever in the vault it lies by now."""
    found = []
    for path, marker in names.markers.items():
        day = day_in_name(path) or names.days.get(path)
        if marker == "log" and day is not None:
            found.append((path, day))
    return tuple(sorted(found, key=lambda note: (note[1], note[0])))


def day_in_name(path: str) -> date | None:
    """The local day that a dream note's name begins with; None where it tells none."""
    named = re.match(r"(\d{4}-\d{2}-\d{2})\b", NotePath(path).name)
    try:
        return date.fromisoformat(named[1]) if named else None
    except ValueError:
        return None


def elsewhere_seeds(home: Home) -> tuple[str, ...]:
    """For a writer whose seeds are not found: a note of the usual name without our marker is not the seeds note."""
    if NotePath(home.seeds).name == SEEDS_NAME:
        return ()
    said = f"Seeds are read from {home.seeds}; a note called “{SEEDS_NAME}” is read where its properties say"
    return (f"{said} `aria-dream: seeds`.",)


def choose_policy_name(names: VaultNames, wanted: str = POLICY_NAMES[0]) -> tuple[str, str]:
    """The root name for a new policy note, and what to tell the writer where it is not `wanted`.

    `("", why)` where every name that a policy note may have is the writer's.
    """
    return _root_name(names, wanted, POLICY_NAMES, "policy")


def choose_triggers_name(names: VaultNames) -> tuple[str, str]:
    """The root name for a new triggers note, and what to tell the writer; like `choose_policy_name`."""
    return _root_name(names, TRIGGERS_NAMES[0], TRIGGERS_NAMES, "triggers note")


def _root_name(names: VaultNames, wanted: str, allowed: tuple[str, ...], what: str) -> tuple[str, str]:
    for name in dict.fromkeys((wanted, *allowed)):
        if names.is_free(name):
            said = "" if name == wanted else f"The {what} is called “{name}”: {_why_not(names, wanted)}."
            return name, said
    return "", f"There is no {what}: {_why_not(names, wanted)}, and so is every other name that it could have."


def _our_note(
    names: VaultNames, folder: str, name: str, marker: str, said: tuple[str, ...]
) -> tuple[str, tuple[str, ...]]:
    ours = names.marked(folder, marker) or sorted(path for path, value in names.markers.items() if value == marker)
    if ours:
        return min(ours, key=lambda path: (fold_path(NotePath(path).name) != fold_path(name), path.count("/"))), said
    return _free_name(names, folder, name, said)


def _our_canvas(
    names: VaultNames, folder: str, said: tuple[str, ...], *, exists: bool
) -> tuple[str, tuple[str, ...]]:
    """A canvas bears no marker: one in our own folder under our own name is ours."""
    if exists:
        paths = (f"{folder}/{name}" for name in itertools.islice(_numbered(CANVAS_NAME), 20))
        if ours := next((path for path in paths if path in names.files), ""):
            return ours, said
    return _free_name(names, folder, CANVAS_NAME, said)


def _free_name(names: VaultNames, folder: str, name: str, said: tuple[str, ...]) -> tuple[str, tuple[str, ...]]:
    path, usual = _first_free(names, folder, name), f"{folder}/{name}"
    if path == usual:
        return path, said
    return path, (*said, f"“{NotePath(path).name}” is not called “{name}”: {_why_not(names, usual)}.")


def _first_free(names: VaultNames, folder: str, name: str) -> str:
    return next(path for each in _numbered(name) if names.is_free(path := f"{folder}/{each}"))


def _why_not(names: VaultNames, path: str) -> str:
    if other := names.folded.get(fold_path(path)):
        return f"“{other}” is yours"
    return f"a link of yours says “{NotePath(path).stem}”, and it would mean our note"


def _is_free_folder(names: VaultNames, folder: str) -> bool:
    folded = fold_path(folder)
    parents = (str(parent) for parent in NotePath(folder).parents if parent.parts)
    blocked = any(names.folded.get(fold_path(parent)) in names.files for parent in parents)
    return folded not in names.folded and folded not in names.reserved and not blocked


def _folder_names(wanted: str) -> Iterator[str]:
    yield wanted
    parent, slash, last = wanted.rpartition("/")
    ours = last if last.lower().startswith("aria ") else f"aria {last}"
    if ours != last:
        yield f"{parent}{slash}{ours}"
    for number in itertools.count(2):
        yield f"{parent}{slash}{ours} {number}"


def _numbered(name: str) -> Iterator[str]:
    yield name
    stem, dot, ending = name.rpartition(".")
    for number in itertools.count(2):
        yield f"{stem} {number}{dot}{ending}"


def _parent(path: str) -> str:
    return fold_path(path.rpartition("/")[0])
