"""A vault in which a night has been dreamt, as the review meets it: notes, the dream note, the review, no journal."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from datetime import date, datetime, time, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

from aria_dream.notes.dream_log import DreamBlock, LoggedStart, render_block, render_head
from aria_dream.notes.dream_note_grammar import LoggedPair, logged_link
from aria_dream.notes.review_note import ReviewItem, render_managed, render_review_head
from aria_dream.ranking.juxtaposition import title_of
from aria_dream.review.journal import parse_journal
from aria_dream.review.proposal import ProposalState, proposal_id

if TYPE_CHECKING:
    from collections.abc import Sequence

REPOSITORY = Path(__file__).resolve().parents[1]
REVIEW = "dreams/Dream review.md"
NOTES = {
    "Compost.md": "A heap is fed like a sourdough starter, little and often.\nIt sleeps in the cold.\n",
    "Sourdough starter.md": "Flour and water on a schedule, kept warm.\n",
    "Slack water.md": "Between flood and ebb nothing pulls.\r\nBoats swing on their anchors.\r\n",
    "Falling asleep.md": "Nothing pulls, and images swing on their anchors.",
    "Tides.md": "Twice a day, the moon.\n",
}
COMPOST = ("Compost.md", "Sourdough starter.md")
SLACK = ("Slack water.md", "Falling asleep.md")
PLACED = "A heap is fed like a [[Sourdough starter|sourdough starter]], little and often.\nIt sleeps in the cold.\n"


def id_of(pair: tuple[str, str], turn: int = 0) -> str:
    return proposal_id("link", pair, turn)


def logged(pair: tuple[str, str], turn: int = 0, probability: float = 0.81) -> LoggedPair:
    first, second = (logged_link(path, lambda name: name.removesuffix(".md")) for path in pair)
    return LoggedPair(
        id=id_of(pair, turn), from_=first, to=second, score=0.714, path=None, reason="both are fed",
        judge="embedded judge", probability=probability, place="near",
    )  # fmt: skip


def block(pairs: Sequence[tuple[str, str]], at: time = time(3, 12)) -> str:
    start = LoggedStart(title=title_of(pairs[0][0]), cold=True, rule="low-degree pick", seed=4711)
    return render_block(
        DreamBlock(at=at, kind="idle dream", start=start, pairs=tuple(map(logged, pairs)), drops=())
    )


def dream_note(day: date) -> str:
    return f"dreams/{day.isoformat()} dream.md"


def night(
    vault: Path,
    pairs: Sequence[tuple[str, str]] = (COMPOST, SLACK),
    *,
    day: date | None = None,
    line_end: str = "\n",
) -> Path:
    """Writes the notes and the night; the dream note. Nothing of it is in any journal."""
    day = day or datetime.now().astimezone().date()
    for name, text in NOTES.items():
        write(vault, name, text)
    text = render_head(day, "") + block(pairs)
    write(vault, dream_note(day), text.replace("\n", line_end))
    items = [ReviewItem(kind="link", pair=logged(pair), dreamt_on=day) for pair in pairs]
    review = render_review_head() + render_managed(items) + "\n"
    write(vault, REVIEW, review.replace("\n", line_end))
    return vault / dream_note(day)


def write(vault: Path, name: str, text: str) -> None:
    place = vault / name
    place.parent.mkdir(parents=True, exist_ok=True)
    place.write_bytes(text.encode())


def tick(note: Path, id_: str, what: str = "") -> None:
    """Sets the one box of the proposal in the note: `""` link, `-no` never again, `-undo` undo."""
    lines = note.read_bytes().decode().splitlines(keepends=True)
    found = [number for number, line in enumerate(lines) if line.rstrip().endswith(f"^aria-{id_}{what}")]
    assert len(found) == 1, (id_, what, lines)
    assert "[ ]" in lines[found[0]], lines[found[0]]
    lines[found[0]] = lines[found[0]].replace("[ ]", "[x]", 1)
    note.write_bytes("".join(lines).encode())


def run(*words: str | Path, check: bool = True, typed: str | None = None) -> subprocess.CompletedProcess[str]:
    """The real command in a process of its own."""
    done = subprocess.run(
        [sys.executable, "-m", "aria_dream", *map(str, words)],
        capture_output=True,
        text=True,
        encoding="utf-8",
        input=typed,
        env={**os.environ, "PYTHONPATH": str(REPOSITORY), "PYTHONIOENCODING": "utf-8"},
        check=False,
        timeout=120,
    )
    assert "Traceback" not in done.stderr, done.stderr
    assert not check or done.returncode == 0, done.stderr
    return done


def apply(vault: Path, code: int | None = None) -> dict[str, Any]:
    """What it did, as JSON. Its exit code is `code`, where one is given, and says whether anything was left undone."""
    done = run("apply", vault, "--json", check=False)
    assert code is None or done.returncode == code, done.stderr
    found = json.loads(done.stdout)
    assert isinstance(found, dict)
    left = any(found[name] for name in ("stale", "waiting", "ignored", "unwritten", "excluded", "not_undone"))
    assert done.returncode in ((6, 7) if left else (0,)), (done.returncode, found, done.stderr)
    return found


def state_folder(home: Path) -> Path:
    (found,) = (path.parent for path in (home / "state").rglob("proposals.jsonl"))
    return found


def states(home: Path) -> dict[str, ProposalState]:
    found, problems = parse_journal((state_folder(home) / "proposals.jsonl").read_text(encoding="utf-8"))
    assert not problems
    return found


def age_journal(home: Path, by: timedelta) -> None:
    """Moves everything that this machine remembers back in time, as if so much had gone by since."""
    for path in (home / "state").rglob("*.jsonl"):
        rows = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
        for row in rows:
            for key in ("at", "expires_at"):
                if row.get(key):
                    row[key] = (datetime.fromisoformat(row[key]) - by).isoformat()
        path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    for path in (home / "state").rglob("history/*/intent.json"):
        intent = json.loads(path.read_text(encoding="utf-8"))
        intent["at"] = (datetime.fromisoformat(intent["at"]) - by).isoformat()
        path.write_text(json.dumps(intent), encoding="utf-8")
