"""Our own notes in a vault that is watched: which they are, whose the day is, and which seeds wait.

Cheap enough to be asked at every look: names come from the index, and only today's note and the seeds are read.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING

from aria_dream.dream.run_record import seed_mark
from aria_dream.dream.seeds import parse_seeds
from aria_dream.dream.ticks import read_ticks
from aria_dream.effects.ground import read_plain
from aria_dream.policy.lines import note_properties
from aria_dream.policy.residence import folder_candidates
from aria_dream.vault.names import fold_path
from aria_dream.vault.note import decode_note

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import date

    from aria_dream.effects.index import VaultIndex


@dataclass(frozen=True, slots=True, kw_only=True)
class OwnNotes:
    """Our notes, by what they are. `""` and `()` where there are none."""

    folder: str = ""
    review: str = ""
    seeds: str = ""
    logs: Mapping[str, date | None]
    """Every dream note and its local day; None where its name tells none."""


def find_own_notes(index: VaultIndex, dream_folder: str) -> OwnNotes:
    """Those in the first folder that can be ours for this `dream_folder` and holds a review note of ours.

    Copies that a sync made of them are none of them.
    """
    order = {fold_path(folder): number for number, folder in enumerate(folder_candidates(dream_folder))}
    numbers: dict[str, int | None] = {}
    found: dict[int, list[tuple[str, str]]] = {}
    for path in index.graph.paths:
        folder = path.rpartition("/")[0]
        if folder not in numbers:
            numbers[folder] = order.get(fold_path(folder)) if folder else None
        number = numbers[folder]
        if number is not None and path not in index.scan.copies:
            marker = index.facts_of(path).marker.lower()
            if marker:
                found.setdefault(number, []).append((marker, path))
    for _, notes in sorted(found.items()):
        named = dict(sorted(notes, reverse=True))  # of two with one marker the first by name
        if "review" in named:
            logs = {path: _day(path) for marker, path in notes if marker == "log"}
            folder = named["review"].rpartition("/")[0]
            return OwnNotes(folder=folder, review=named["review"], seeds=named.get("seeds", ""), logs=logs)
    return OwnNotes(logs={})


def _day(path: str) -> date | None:
    from datetime import date

    named = re.match(r"(\d{4}-\d{2}-\d{2})\b", path.rpartition("/")[2])
    try:
        return date.fromisoformat(named[1]) if named else None
    except ValueError:
        return None


def read_day_owner(index: VaultIndex, own: OwnNotes, today: date) -> str:
    """The machine that wrote today's dream note, as its `host` property says; `""` where none says so.

    Of several notes of the day (two machines wrote before they saw each other) the first name counts, so that both
    machines agree.
    """
    hosts = []
    for path, day in sorted(own.logs.items()):
        if day == today:
            properties = note_properties(_text(index, path)) or {}
            host = str(properties.get("host") or "").strip()
            hosts += [host] if host else []
    return min(hosts, default="")


def read_new_seeds(index: VaultIndex, own: OwnNotes, tried: frozenset[str]) -> tuple[str, ...]:
    """Marks (`seed_mark`) of the open internal seeds that name a note and that no run was started for, oldest first."""
    if not own.seeds:
        return ()
    seeds, _ = parse_seeds(_text(index, own.seeds))
    waiting = [seed for seed in seeds if seed.kind == "internal" and seed.status == "open"]
    waiting.sort(key=lambda seed: (str(seed.deposited_on or "9"), seed.line))
    marks = (
        seed_mark(seed) for seed in waiting if any(index.resolver.resolve(link, own.seeds) for link in seed.links)
    )
    return tuple(mark for mark in marks if mark not in tried)


class Boxes(Enum):
    """What the tick boxes in our notes ask for."""

    NOTHING = "nothing"
    TICKED = "ticked"
    """Somebody has decided something."""
    UNDO = "undo"
    """A decision can still be taken back: its line has to say so no longer, one day."""


def read_boxes(index: VaultIndex, own: OwnNotes) -> Boxes:
    """The most urgent thing that any box in our notes asks for."""
    texts = [_text(index, path) for path in (*own.logs, *filter(None, (own.review,)))]
    if any(read_ticks(text)[0] for text in texts if "^aria-" in text):
        return Boxes.TICKED
    return Boxes.UNDO if any("-undo" in text for text in texts) else Boxes.NOTHING


def _text(index: VaultIndex, path: str) -> str:
    try:
        data = read_plain(index.root / path)
    except OSError:
        return ""
    return "" if data is None else decode_note(data)
