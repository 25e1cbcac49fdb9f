"""A vault in which one proposal of every kind waits, journalled as those who find them do: `proposed` and `planned`."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import TYPE_CHECKING

from aria_dream.adapters.disk.files import DiskVault
from aria_dream.adapters.disk.places import find_places
from aria_dream.adapters.index.dreamt_vault import read_dreamt_vault
from aria_dream.adapters.state.record_store import RecordStore
from aria_dream.markdown.note import NotePath
from aria_dream.review.changes import Replacement, plan_obsolete, plan_replacements
from aria_dream.review.inbound import plan_orphan
from aria_dream.review.merging import plan_merge
from aria_dream.review.plan import Planned
from aria_dream.review.proposal import Kind, Proposal, planned_record, proposal_id
from aria_dream.usecases.review_session import ReviewSession
from tests.reviewed import REVIEW, write

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from aria_dream.adapters.disk.places import Places

NOTES = {
    "Keep.md": "---\na: 1\n---\n# Keep\n\nWater in the morning.\n",
    "Drop.md": "---\na: 2\n---\nWater in the morning, as [[A]] says.\r\n\r\n- [ ] buy ^aria-abcdef\n%% x %%\n",
    "Ref.md": "See [[Drop]] and ![[Drop]].\n",
    "Old.md": "# Heap\n\nThe heap is 3 m long.\n\n# Rest\n",
    "Gone.md": "Valid once.",
    "A.md": "The tower is 324 m.\n",
    "B.md": "Once upon.\r\nThe tower is 300 m. Indeed.\r\n",
}
PATHS: Mapping[Kind, tuple[str, ...]] = {
    "place_orphan": ("Slow light.md",),
    "merge": ("Keep.md", "Drop.md"),
    "update": ("Old.md", "Keep.md"),
    "obsolete": ("Gone.md",),
    "resolve_contradiction": ("A.md", "B.md"),
}
IDS: Mapping[Kind, str] = {kind: proposal_id(kind, paths, 0) for kind, paths in PATHS.items()}
ORPHAN = "Light can be slowed to walking pace.\n"
AFTER = {
    "place_orphan": {"Slow light.md": ORPHAN},
    "merge": {
        "Keep.md": (
            "---\na: 1\naliases:\n  - Drop\n---\n# Keep\n\nWater in the morning.\n\n## Drop\n\n"
            "Water in the morning, as [[A]] says.\n\n- [ ] buy ^aria-abcdef\n%% x %%\n"
        ),
        "Ref.md": "See [[Keep|Drop]] and ![[Keep]].\n",
        ".trash/Drop.md": NOTES["Drop.md"],
    },
    "update": {"Old.md": "# Heap\n\nSee [[Keep]].\n\n# Rest\n"},
    "obsolete": {"Gone.md": "---\nobsolete: true\n---\nValid once."},
    "resolve_contradiction": {"B.md": "Once upon.\r\n~~The tower is 300 m.~~ See [[A]]. Indeed.\r\n"},
}
"""Kind to the files that read otherwise once it is done."""


def open_session(
    vault: Path, now: datetime | None = None, places: Places | None = None, quiet_s: float = 0.0
) -> ReviewSession:
    """The desk of the vault, with real files."""
    places = places or find_places()
    now = now or datetime.now().astimezone()
    seen = read_dreamt_vault(vault, places, environ={})
    state = seen.live.state_folder(places)
    state.mkdir(parents=True, exist_ok=True)
    files = DiskVault(seen.root, state, now=lambda: now)
    return ReviewSession(vault=seen, files=files, store=RecordStore(state), now=now, quiet_s=quiet_s)


def planned(session: ReviewSession, kind: Kind) -> Planned:
    """The change of that kind, as the notes read now."""
    paths = PATHS[kind]
    view, (first, *_) = session.view(paths, inbound=True), map(NotePath, paths)
    match kind:
        case "place_orphan":
            found = plan_orphan(view, first, ORPHAN)
        case "merge":
            found = plan_merge(view, first, NotePath(paths[1]))
        case "update":
            found = plan_replacements(view, [Replacement(path=first, old="The heap is 3 m long.", new="See [[Keep]].")])
        case "obsolete":
            found = plan_obsolete(view, first)
        case _:
            old = "The tower is 300 m."
            found = plan_replacements(view, [Replacement(path=NotePath("B.md"), old=old, new=f"~~{old}~~ See [[A]].")])
    assert isinstance(found, Planned), found
    return found


LOST: Mapping[str, object] = {"lost": ["Water at noon."], "cosine": 0.97}


def propose(session: ReviewSession, kind: Kind, confidence: float = 0.93, evidence: Mapping[str, object] = LOST) -> str:
    """Journals the proposal and its plan; its id."""
    paths = PATHS[kind]
    session.store.propose(
        [
            Proposal(
                id=IDS[kind],
                kind=kind,
                paths=paths,
                round=0,
                at=session.now,
                expires_at=session.now + timedelta(days=60),
                titles=("Old › Heap", "Keep") if kind == "update" else tuple(path[:-3] for path in paths),
                confidence=confidence,
                reason=f"a reason to {kind}",
                judge="qwen3:4b",
                evidence=evidence,
            )
        ]
    )
    session.store.note(planned_record(IDS[kind], planned(session, kind).edits, session.now))
    return IDS[kind]


def lay_out(vault: Path) -> None:
    """The notes, a policy that lets write, and an empty review."""
    from aria_dream.notes.review_note import render_managed, render_review_head

    for name, text in NOTES.items():
        write(vault, name, text)
    write(vault, "dreaming.md", "---\naria-dream: policy\naria-dream-id: abcdefgh23456723\n---\n")
    write(vault, REVIEW, render_review_head() + render_managed(()) + "\n")


def own_files(vault: Path) -> dict[str, bytes]:
    """The writer's files, the trash too."""
    found = (path for path in vault.rglob("*") if path.is_file())
    files = {path.relative_to(vault).as_posix(): path.read_bytes() for path in found}
    return {name: data for name, data in files.items() if not name.startswith("dreams/") and name != "dreaming.md"}
