"""Our own notes in a vault that is watched: which they are, whose the day is, and which seeds wait.

Cheap enough to be asked at every look: names come from the index, and only today's note and the seeds are read.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING

from aria_dream.adapters.disk.safe_path import read_plain
from aria_dream.adapters.index.vault_names import read_markers
from aria_dream.markdown.note import decode_note
from aria_dream.notes.seeds import parse_seeds
from aria_dream.notes.ticks import read_ticks
from aria_dream.policy.file_layout import VaultNames, choose_home, day_in_name
from aria_dream.policy.lines import note_properties
from aria_dream.schedule.run_record import seed_mark

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import date

    from aria_dream.adapters.index.index import VaultIndex


@dataclass(frozen=True, slots=True, kw_only=True)
class OwnNotes:
    """Our notes, by what they are. `""` and `()` where there are none."""

    folder: str = ""
    review: str = ""
    seeds: str = ""
    logs: Mapping[str, date | None]
    """Every dream note and its local day; None where its name tells none."""


def find_own_notes(index: VaultIndex, dream_folder: str) -> OwnNotes:
    """Those that `residence.choose_home` finds for this `dream_folder`, wherever they lie.

    Copies that a sync made of them are none of them.
    """
    markers = {path: m for path, m in read_markers(index, dream_folder).items() if path not in index.scan.copies}
    folders = {path.rpartition("/")[0] for path in markers}
    beside = [path for path in index.graph.paths if path.rpartition("/")[0] in folders]
    names = VaultNames.of(files=beside, markers=markers, link_sources=lambda _name: ())
    home, here = choose_home(names, dream_folder), frozenset(beside)
    return OwnNotes(
        folder=home.folder if home.exists else "",
        review=home.review if home.review in here else "",
        seeds=home.seeds if home.seeds in here else "",
        logs={path: day_in_name(path) for path, marker in sorted(markers.items()) if marker == "log"},
    )


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
    if any(read_ticks(text)[0] for text in texts if "[x]" in text or "[X]" in text):
        return Boxes.TICKED
    return Boxes.UNDO if any("-undo" in text for text in texts) else Boxes.NOTHING


def _text(index: VaultIndex, path: str) -> str:
    try:
        data = read_plain(index.root / path)
    except OSError:
        return ""
    return "" if data is None else decode_note(data)
