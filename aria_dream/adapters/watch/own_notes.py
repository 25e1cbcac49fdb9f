"""Our own notes in a vault that is watched: which they are, whose the day is, which seeds wait, and copies of them.

Cheap enough to be asked at every look: names come from the index, and only today's note and the seeds are read. Copies
that a sync made of our notes are merged into the notes they are copies of and put into the trash.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING

from aria_dream.adapters.disk.safe_path import read_plain
from aria_dream.adapters.index.vault_names import read_markers
from aria_dream.consolidate.open_list import merged_list, with_list
from aria_dream.consolidate.open_lists import LISTS, without_lists
from aria_dream.errors import Problem
from aria_dream.markdown.note import NotePath, decode_note
from aria_dream.notes.seeds import parse_seeds
from aria_dream.notes.ticks import read_ticks
from aria_dream.policy.file_layout import VaultNames, choose_home, day_in_name
from aria_dream.policy.lines import note_properties
from aria_dream.review.conflict_copies import LeftAlone, merge_reviews, merge_sections
from aria_dream.schedule.run_record import seed_mark
from aria_dream.vault.edit import ChangeSet, Move, WritePlan, content_hash, encode_note
from aria_dream.vault.names import fold_path
from aria_dream.world import Absent, Content, Written

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from datetime import date

    from aria_dream.adapters.index.index import VaultIndex
    from aria_dream.world import VaultFiles

@dataclass(frozen=True, slots=True, kw_only=True)
class OwnNotes:
    """Our notes, by what they are. `""` and `()` where there are none."""

    folder: str = ""
    review: str = ""
    seeds: str = ""
    logs: Mapping[str, date | None]
    """Every dream note and its local day; None where its name tells none."""


def find_own_notes(index: VaultIndex, dream_folder: str) -> OwnNotes:
    """Those that `file_layout.choose_home` finds for this `dream_folder`, wherever they lie.

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


def merge_conflict_copies(
    index: VaultIndex, own: OwnNotes, files: VaultFiles, is_open: Callable[[str], bool]
) -> tuple[Problem, ...]:
    """A Problem for each copy that a person has to merge; all others are merged, and in `.trash` now.

    `is_open`: whether a proposal may still be waiting (one that this machine never heard of may).
    """
    problems = []
    for original, copy in _copies(index, own):
        reason = _merge(index, own, files, original, copy, is_open)
        if reason:
            said = f"a sync made this copy of “{original}”, and {reason}; merge it by hand and remove it"
            problems.append(Problem(copy, 0, said))
    return tuple(problems)


def _copies(index: VaultIndex, own: OwnNotes) -> Iterator[tuple[str, str]]:
    """Each of our notes that has a copy which bears our marker too, and the copy."""
    ours = {fold_path(path): path for path in (*own.logs, own.review, own.seeds) if path}
    for copy, original in sorted(index.scan.copies.items()):
        note = ours.get(fold_path(original))
        if note is not None and index.linkage.source_of(copy) is not None:
            marker = index.facts_of(copy).marker
            if marker and marker.lower() == index.facts_of(note).marker.lower():
                yield note, copy


def _merge(
    index: VaultIndex, own: OwnNotes, files: VaultFiles, original: str, copy: str, is_open: Callable[[str], bool]
) -> str:
    """Why the copy stays; `""` where it is merged."""
    found = [files.read(NotePath(path)) for path in (original, copy)]
    if any(isinstance(one, Absent) for one in found):
        return ""  # gone since the vault was looked at
    if not (isinstance(found[0], Content) and isinstance(found[1], Content)):
        return "one of them cannot be read"
    before, text = found[0].data, decode_note(found[1].data)
    merge = _merge_reviews if original == own.review else _merge_sections
    merged = merge(decode_note(before), text, is_open)
    if isinstance(merged, LeftAlone):
        return merged.reason
    after = encode_note(merged)
    writes = (
        (WritePlan(path=NotePath(original), expected_hash=content_hash(before), content=after),)
        if after != before
        else ()
    )
    move = Move(source=NotePath(copy), destination=_trash_place(index, copy), expected_hash=found[1].hash)
    outcome = files.write(ChangeSet(writes=writes, moves=(move,)), label="merge of a sync's copy")
    return "" if isinstance(outcome, Written) else getattr(outcome, "reason", "its place in the trash is taken")


def _merge_sections(text: str, copy: str, _is_open: Callable[[str], bool]) -> str | LeftAlone:
    return merge_sections(text, copy)


def _merge_reviews(text: str, copy: str, is_open: Callable[[str], bool]) -> str | LeftAlone:
    """The review note with the ticks of both in all its lists."""
    blocks = {}
    for name in LISTS:
        blocks[name], problems = merged_list(text, copy, name, is_open)
        if problems:
            return LeftAlone(f"the list “{name}” in one of them was edited")
    merged = merge_reviews(text, copy, is_open, without=without_lists)
    if isinstance(merged, LeftAlone):
        return merged
    for name, block in blocks.items():
        merged, _ = with_list(merged, name, block)
    return merged


def _trash_place(index: VaultIndex, copy: str) -> NotePath:
    """Where the copy lies in `.trash`: under its own path, with a number where that is taken."""
    stem, dot, ending = copy.rpartition(".")
    number = 1
    place = NotePath(".trash", copy)
    while (index.root / place).exists():
        number += 1
        place = NotePath(".trash", f"{stem} {number}{dot}{ending}")
    return place
