"""The cases about approvals and hostile proposals, on their own notes, with the real command."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from datetime import datetime
from pathlib import Path

import pytest

from aria_dream.adapters.disk.journal import Journal
from aria_dream.adapters.disk.lock import writer_lock
from aria_dream.adapters.disk.places import find_places
from aria_dream.adapters.index.live_policy import read_live_policy
from aria_dream.adapters.state.record_store import RecordStore
from aria_dream.markdown.note import NotePath
from aria_dream.review.merging import plan_merge
from aria_dream.review.plan import Planned, VaultView
from aria_dream.review.proposal import (
    Kind,
    PlannedEdit,
    Proposal,
    event_record,
    planned_record,
    proposal_id,
    proposed_record,
)
from aria_dream.vault.edit import ABSENT, content_hash
from tests.conformance.test_write_cases import writable_copy
from tests.reviewed import REPOSITORY, apply, run, states

NOW = datetime.now().astimezone()


@pytest.fixture
def home(tmp_path: Path) -> Path:
    return tmp_path / "home"


def case(cases: Path, number: str, tmp_path: Path) -> Path:
    (source,) = cases.glob(f"{number}-*")
    writable_copy(source, tmp_path / "case")
    return tmp_path / "case"


def state_of(vault: Path) -> Path:
    """The state folder of a vault before anything is in it."""
    folder = read_live_policy(Path(os.path.realpath(vault)), find_places()).state_folder(find_places())
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def made(kind: Kind, *paths: str) -> Proposal:
    titles = tuple(path.removesuffix(".md") for path in paths)
    id_ = proposal_id(kind, paths, 0)
    return Proposal(id=id_, kind=kind, paths=paths, round=0, at=NOW, expires_at=None, titles=titles)


def test_59_stale_and_double_approvals(cases: Path, tmp_path: Path, home: Path) -> None:
    folder = case(cases, "59", tmp_path)
    vault = folder / "vault"
    rows = {row["id"]: row for row in json.loads((folder / "proposals.json").read_text(encoding="utf-8"))}
    first = made("link", rows["p1"]["file"], rows["p1"]["target"])
    second = made("link", rows["p2"]["file"], rows["p2"]["target"])
    third = made("merge", rows["p3"]["keep"], rows["p3"]["drop"])
    refused = made("link", "A.md", "B.md")
    store = RecordStore(state_of(vault))
    store.propose([first, second, third, refused])
    merge = plan_merge(whole(vault), NotePath(third.paths[0]), NotePath(third.paths[1]))
    assert isinstance(merge, Planned)
    store.note(planned_record(third.id, merge.edits, NOW))
    shown = json.loads(run("review", vault, "--json").stdout)["waiting"]  # what a person looks at
    assert {one["id"] for one in shown} == {first.id, second.id, third.id, refused.id}

    edited = rows["p2"]["then_user_text"]
    (vault / "B.md").write_text(edited, encoding="utf-8")

    command = [sys.executable, "-m", "aria_dream", "review", str(vault), first.id, "--approve"]
    environment = {**os.environ, "PYTHONPATH": str(REPOSITORY), "PYTHONIOENCODING": "utf-8"}
    both = [
        subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, text=True, encoding="utf-8") for _ in "ab"
    ]
    said = sorted(one.communicate(timeout=120)[0] for one in both)
    assert [one.returncode for one in both] == [0, 0]
    assert sum("Linked: A ↔ C" in text for text in said) == 1, said
    assert sum("already applied" in text for text in said) == 1, said
    placed = (vault / "A.md").read_text(encoding="utf-8")
    assert placed.count("[[C]]") == 1
    (line,) = (edit["inserted"] for one in shown if one["id"] == first.id for edit in one["edits"])
    assert line in placed.splitlines()  # what was shown, byte for byte

    stale = run("review", vault, second.id, "--approve", check=False)
    assert stale.returncode == 6
    assert "changed since you looked" in stale.stdout
    assert (vault / "B.md").read_text(encoding="utf-8") == edited
    fresh = run("review", vault, second.id).stdout
    assert "+ EDITED-BY-USER [[C]] moved" in fresh

    store.note(event_record("approved", third.id, NOW, by="page"))  # on a page that was opened before
    assert apply(vault)["stale"] == [third.id]  # not forced: what it would be now waits to be looked at
    assert (vault / "A.md").read_text(encoding="utf-8") == placed
    assert (vault / "B.md").read_text(encoding="utf-8") == edited

    assert "Never again" in run("review", vault, refused.id, "--reject").stdout
    assert "already refused" in run("review", vault, refused.id, "--approve").stdout
    assert "Linked" in run("review", vault, second.id, "--approve").stdout
    assert (vault / "B.md").read_text(encoding="utf-8") == edited.replace("C moved", "[[C]] moved")
    assert {id_: one.state for id_, one in states(home).items()} == {
        first.id: "applied", second.id: "applied", third.id: "proposed", refused.id: "rejected"
    }  # fmt: skip


def whole(vault: Path) -> VaultView:
    contents = {NotePath(path.name): path.read_bytes() for path in vault.glob("*.md")}
    return VaultView(files=tuple(sorted(map(str, contents))), contents=contents)


def outside(folder: Path) -> dict[str, bytes]:
    """Everything that is there, dot folders too; a folder and a symlink by their names."""
    return {
        place.relative_to(folder).as_posix(): place.read_bytes() if place.is_file() else b""
        for place in sorted(folder.rglob("*"))
    }


def test_62_no_journal_however_it_was_edited_writes_where_it_may_not(cases: Path, tmp_path: Path, home: Path) -> None:
    folder = case(cases, "62", tmp_path)
    vault = folder / "vault"
    (vault / "dreaming.md").write_text("---\naria-dream: policy\n---\n", encoding="utf-8")
    (vault / "AGENTS.md").write_text("Obey.\n", encoding="utf-8")
    (vault / "script.js").write_text("1\n", encoding="utf-8")
    (folder / "linked").mkdir()
    (folder / "linked" / "Far.md").write_text("Note\n", encoding="utf-8")
    if os.name != "nt":
        (vault / "door").symlink_to(folder / "linked")
        (vault / "Window.md").symlink_to(folder / "outside" / "target.md")
    rows = json.loads((folder / "paths.json").read_text(encoding="utf-8"))
    hostile = [row["p"] for row in rows if row["want"] == "deny"] + ["door/Far.md", "Window.md"]
    journal = Journal(state_of(vault) / "proposals.jsonl", writer_lock(state_of(vault)))
    asked = 0
    for path in hostile:
        for record in forged(vault, path):
            journal.append(record)
            asked += record["event"] == "approved"
    before = outside(folder)
    done = apply(vault)
    assert outside(folder) == before
    assert done["applied"] == []
    assert asked > 150
    assert len(done["stale"]) + len(done["excluded"]) > 0.8 * asked
    waiting = [said for said in done["said"] if "waits" in said]  # only the disk could tell that these are links
    assert all("Far" in said or "Window" in said for said in waiting), waiting
    assert len(waiting) == len(done["waiting"])
    again = apply(vault)
    assert again["applied"] == []
    assert outside(folder) == before


def forged(vault: Path, path: str) -> list[dict[str, object]]:
    """Approved proposals that write to `path`, create it, link from it, move there, or say something else outright."""
    try:
        data = (vault / path).read_bytes()
    except (OSError, ValueError):
        data = None
    before = ABSENT if data is None else content_hash(data)
    text = (data or b"").decode()
    note = (vault / "Note.md").read_bytes()
    after, original = content_hash(b"pwned"), note.decode()
    overwrite = PlannedEdit(path=path, before=before, after=after, start=0, removed=text, inserted="pwned")
    made_of = content_hash(note)
    create = PlannedEdit(path=path, before=ABSENT, after=made_of, start=0, removed="", inserted=original)
    gone = PlannedEdit(path="Note.md", before=made_of, after=ABSENT, start=0, removed=original, inserted="")
    records: list[dict[str, object]] = []
    plans: list[tuple[Kind, tuple[str, ...], tuple[PlannedEdit, ...]]] = [
        ("link", (path, "Note.md"), (overwrite,)),
        ("update", (path,), (overwrite,)),
        ("place_orphan", (path,), (create,)),
        ("merge", ("Note.md", path), (gone, create)),
        ("obsolete", (path,), ()),
    ]
    for kind, paths, edits in plans:
        if kind == "merge" and path.startswith(".trash/"):
            continue  # the one hidden folder that a note may be moved to, though never written in
        proposal = made(kind, *paths)
        records.append(proposed_record(proposal))
        if edits:
            records.append(planned_record(proposal.id, edits, NOW))
        records.append(event_record("approved", proposal.id, NOW, by="tick"))
    return records
