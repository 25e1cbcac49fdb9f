"""Whatever renames, plugins, syncs and hands do to our notes: every ticked box is carried out once, or named."""

from __future__ import annotations

import re
import tempfile
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from hypothesis import example, given, settings
from hypothesis import strategies as st

from aria_dream.adapters.disk.files import UNREADABLE, DiskVault
from aria_dream.adapters.disk.places import Places
from aria_dream.adapters.index.dreamt_vault import read_dreamt_vault
from aria_dream.adapters.state.record_store import RecordStore
from aria_dream.usecases.review import settle
from aria_dream.usecases.review_session import ReviewSession, Settlement
from aria_dream.world import Absent, Content, Refused
from tests.reviewed import REVIEW, dream_note, id_of, night, write

if TYPE_CHECKING:
    from aria_dream.markdown.note import NotePath
    from aria_dream.review.proposal import ProposalState

NOW = datetime(2026, 11, 30, 7, 41, tzinfo=UTC)
LOG = dream_note(NOW.date())
NOTES = {
    "Heap.md": "The heap is fed like a sourdough starter, and the tide turns it.\n",
    "Sourdough starter.md": "Flour and water.\n",
    "Tide.md": "The water comes and goes.\n",
    "Moon.md": "It pulls at the heap.\n",
}
PAIRS = (
    ("Heap.md", "Sourdough starter.md"), ("Heap.md", "Tide.md"), ("Heap.md", "Moon.md"), ("Moon.md", "Tide.md")
)  # fmt: skip
IDS = {id_of(pair): pair for pair in PAIRS}

Boxes = list[tuple[str, str, str]]
"""Surface, id, and what stands behind the id."""
Edit = Callable[[str, int], str]


def edits_line(change: Callable[[str], str]) -> Edit:
    """A damage to one ticked line of a text; `number` picks it."""

    def edit(text: str, number: int) -> str:
        lines = text.split("\n")
        ticked = [at for at, line in enumerate(lines) if "[x]" in line]
        if ticked:
            at = ticked[number % len(ticked)]
            lines[at] = change(lines[at])
        return "\n".join(lines)

    return edit


def move_line(text: str, number: int) -> str:
    """A ticked box under another pair, as a sync that merges line by line leaves it."""
    lines = text.split("\n")
    ticked = [at for at, line in enumerate(lines) if "[x]" in line]
    heads = [at for at, line in enumerate(lines) if "↔" in line and "**" in line]
    if ticked and heads:
        line = lines.pop(ticked[number % len(ticked)])
        heads = [at for at, line in enumerate(lines) if "↔" in line and "**" in line]
        lines.insert(heads[number % len(heads)] + 3, line)
    return "\n".join(lines)


def drop_head(text: str, number: int) -> str:
    lines = text.split("\n")
    heads = [at for at, line in enumerate(lines) if "↔" in line and "**" in line]
    if heads:
        del lines[heads[number % len(heads)]]
    return "\n".join(lines)


def twice(text: str, number: int) -> str:
    """One pair's lines once more, behind the text."""
    found = re.findall(r"(?m)^- \*\*.*\n(?:  .*\n)*", text)
    return text + "\n" + found[number % len(found)] if found else text


TEXT: dict[str, Edit] = {
    "tasks plugin": edits_line(lambda line: f"{line} ✅ 2026-12-01"),
    "inline field": edits_line(lambda line: f"{line} [completion:: 2026-12-01]"),
    "words behind": edits_line(lambda line: f"{line} yes, that is it"),
    "words before the id": edits_line(lambda line: line.replace(" ^aria", " — yes! ^aria")),
    "id first": edits_line(lambda line: re.sub(r"\] (.*) (\^aria-[\w-]+)", r"] \2 \1", line)),
    "id lost": edits_line(lambda line: re.sub(r" \^aria-[\w-]+", "", line)),
    "id torn": edits_line(lambda line: re.sub(r"(\^aria-\w{3})[\w-]+", r"\1", line)),
    "both ids": edits_line(lambda line: f"{line} ^aria-aaaaaa"),
    "star": edits_line(lambda line: line.replace("- [x]", "* [X]")),
    "number": edits_line(lambda line: line.replace("- [x]", "1. [x]")),
    "tab": edits_line(lambda line: "\t" + line.lstrip()),
    "quote": edits_line(lambda line: "> " + line.lstrip()),
    "line twice": edits_line(lambda line: f"{line}\n{line}"),
    "line moved": move_line,
    "titles gone": drop_head,
    "pair twice": twice,
    "CRLF": lambda text, _: text.replace("\r\n", "\n").replace("\n", "\r\n"),
    "BOM": lambda text, _: "\ufeff" + text.removeprefix("\ufeff"),
}


def move(vault: Path, old: str, new: str) -> None:
    place = vault / new
    if (vault / old).exists() and not place.exists():
        place.parent.mkdir(parents=True, exist_ok=True)
        (vault / old).rename(place)


def empty(vault: Path) -> None:
    for place in vault.rglob("Dream review.md"):
        place.write_bytes(b"")


def delete(vault: Path) -> None:
    for place in vault.rglob("Dream review.md"):
        place.unlink()


FILES: dict[str, Callable[[Path], None]] = {
    "folder renamed": lambda vault: move(vault, "dreams", "Nights"),
    "folder moved": lambda vault: move(vault, "dreams", "Mine/deep/dreams"),
    "case only": lambda vault: move(vault, "dreams", "Dreams"),
    "log moved": lambda vault: move(vault, LOG, f"Archive/{Path(LOG).name}"),
    "log renamed": lambda vault: move(vault, LOG, "dreams/The night of the heap.md"),
    "review moved": lambda vault: move(vault, REVIEW, "Inbox/Dream review.md"),
    "review emptied": empty,
    "review deleted": delete,
    "note renamed": lambda vault: move(vault, "Tide.md", "sea/Ebb.md"),
    "nothing": lambda _: None,
}


class Shut(DiskVault):
    """A vault on the disk in which some notes may not be read. (The tests may run as root, who may read everything.)"""

    closed: frozenset[str] = frozenset()

    def read(self, path: NotePath) -> Content | Absent | Refused:
        found = super().read(path)
        return Refused(path, f"{UNREADABLE} (permission denied)") if path.name in self.closed else found


def carry_out(folder: Path, closed: frozenset[str]) -> tuple[Settlement, list[Settlement], dict[str, ProposalState]]:
    """What the first look found, what came of all of them, and the journal after it."""
    looks: list[Settlement] = []
    while not looks or (looks[-1].again and looks[-1].did_something):
        places = Places(state=folder / "state", cache=folder / "cache")
        seen = read_dreamt_vault(folder / "vault", places, environ={})
        state = seen.live.state_folder(places)
        files = Shut(seen.root, state, now=lambda: NOW)
        files.closed = closed
        store = RecordStore(state)
        looks.append(settle(ReviewSession(vault=seen, files=files, store=store, now=NOW)))
        states = store.read().states
    return looks[0], looks, dict(states)


def ticked_boxes(vault: Path) -> list[tuple[str, int, str, str]]:
    """Path, line, id and ending of every ticked box that is ours, as a reader sees it: by its id, else by the notes
    named above it."""
    found = []
    for place in sorted(vault.rglob("*.md")):
        id_, path = "", place.relative_to(vault).as_posix()
        text = place.read_bytes().decode()
        for number, line in enumerate(re.split(r"\r\n|\n", text), start=1):
            if "↔" in line and "**" in line:
                names = re.findall(r"\[\[([^\]|]+)", line)
                id_ = next((one for one, pair in IDS.items() if [p[:-3] for p in pair] == names), "")
            is_ticked = re.match(r"[ \t>]*(?:[-*+]|\d+\.)[ \t]+\[[xX]\]", line)
            if is_ticked and ("link them" in line or "never again" in line):
                said = re.search(r"\^aria-(\w{6})(-no)?(?![\w-])", line)
                ending = "-no" if "never again" in line else ""
                found.append((path, number, said[1] if said else id_, ending))
    return found


@st.composite
def ticks(draw: st.DrawFn) -> Boxes:
    one = st.tuples(st.sampled_from([LOG, REVIEW]), st.sampled_from(sorted(IDS)), st.sampled_from(["", "", "-no"]))
    return draw(st.lists(one, min_size=1, max_size=5, unique=True))


@settings(max_examples=30, deadline=None)
@given(
    boxes=ticks(),
    damages=st.lists(st.tuples(st.sampled_from(sorted(TEXT)), st.integers(0, 5)), max_size=3),
    moves=st.lists(st.sampled_from(sorted(FILES)), max_size=2),
    closed=st.sets(st.sampled_from(["Heap.md", "Tide.md", Path(LOG).name]), max_size=1),
)
@example(boxes=[(LOG, id_of(pair), "") for pair in PAIRS], damages=[], moves=["folder renamed"], closed=set())
@example(boxes=[(LOG, id_of(PAIRS[0]), "")], damages=[("id lost", 0)], moves=["log moved"], closed=set())
@example(boxes=[(REVIEW, id_of(PAIRS[0]), "")], damages=[("tasks plugin", 0)], moves=[], closed=set())
@example(boxes=[(REVIEW, id_of(PAIRS[1]), "-no")], damages=[("words behind", 0)], moves=["note renamed"], closed=set())
def test_every_ticked_box_is_carried_out_once_or_named(
    boxes: Boxes, damages: list[tuple[str, int]], moves: list[str], closed: set[str]
) -> None:
    with tempfile.TemporaryDirectory() as made:
        folder = Path(made)
        vault = folder / "vault"
        night(vault, PAIRS, day=NOW.date())
        for name, text in NOTES.items():
            write(vault, name, text)
        carry_out(folder, frozenset())  # the journal knows the pairs, as after the dream itself
        for surface, id_, ending in boxes:
            place = vault / surface
            text = place.read_bytes().decode()
            place.write_bytes(re.sub(rf"\[ \](.*\^aria-{id_}{ending})\n", r"[x]\1\n", text).encode())
        for name, number in damages:
            for surface in {surface for surface, _, _ in boxes}:
                text = (vault / surface).read_bytes().decode()
                (vault / surface).write_bytes(TEXT[name](text, number).encode())
        for name in moves:
            FILES[name](vault)
        wanted = ticked_boxes(vault)
        first, looks, states = carry_out(folder, frozenset(closed))

        named = {(problem.path, problem.line) for look in looks for problem in look.ignored}
        said = " ".join(sentence for look in looks for sentence in look.said)
        for path, line, id_, ending in wanted:
            is_shut = path in first.unwritten and Path(path).name in closed
            state = states[id_].state if id_ in states else ""
            done = ("rejected",) if ending else ("applied",)
            waits = state == "approved" and id_ in looks[-1].waiting and "waits" in said
            assert (path, line) in named or is_shut or state in done or waits, (path, line, id_, ending, state, said)
        decided = {id_ for id_, state in states.items() if state.state in ("applied", "rejected", "approved")}
        assert decided <= {id_ for _, _, id_, _ in wanted}
        assert all(state.applies <= 1 for state in states.values())
        for look in looks:
            assert not look.stale, (look.said, look.stale)
        if wanted and not any(look.did_something or look.left_something for look in looks):
            raise AssertionError("something was ticked, and nothing is said")
        second, _, _ = carry_out(folder, frozenset(closed))
        assert not (second.applied)
        assert not (second.rejected)
        assert not (second.undone)
