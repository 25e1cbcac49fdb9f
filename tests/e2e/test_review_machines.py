"""Time, names and other machines: what a decision holds against, with real notes and the real command."""

from __future__ import annotations

import json
import os
import shutil
import time
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

import pytest

from aria_dream.adapters.disk.files import DiskVault
from aria_dream.adapters.disk.places import find_places
from aria_dream.adapters.index.dreamt_vault import read_dreamt_vault
from aria_dream.adapters.state.record_store import RecordStore
from aria_dream.review.proposal import decided_pairs
from aria_dream.usecases.review import Settlement, settle
from aria_dream.usecases.review_session import ReviewSession
from tests.reviewed import COMPOST, NOTES, PLACED, REVIEW, SLACK, apply, id_of, night, run, state_folder, states, tick

if TYPE_CHECKING:
    from pathlib import Path

LINK, REFUSED = id_of(COMPOST), id_of(SLACK)


@pytest.fixture
def home(tmp_path: Path) -> Path:
    return tmp_path / "home"


@pytest.fixture
def vault(tmp_path: Path) -> Path:
    return tmp_path / "vault"


def looked(vault: Path, *, quiet_s: float, later_s: float = 0.0) -> Settlement:
    """One look as the daemon has it."""
    seen = read_dreamt_vault(vault, find_places())
    state = seen.live.state_folder(find_places())
    now = datetime.now().astimezone() + timedelta(seconds=later_s)
    clock = DiskVault(seen.root, state, now=lambda: now)
    return settle(ReviewSession(vault=seen, files=clock, store=RecordStore(state), now=now, quiet_s=quiet_s))


def test_a_note_touched_just_now_is_left_for_later(vault: Path) -> None:
    note = night(vault)
    tick(note, LINK)
    before = {path: path.read_bytes() for path in vault.rglob("*.md")}
    early = looked(vault, quiet_s=3600)
    assert not early.did_something
    assert {path: path.read_bytes() for path in vault.rglob("*.md")} == before
    late = looked(vault, quiet_s=3600, later_s=3601)
    assert late.applied == [LINK]
    assert (vault / "Compost.md").read_text(encoding="utf-8") == PLACED


def test_a_target_note_that_is_being_typed_into_waits(vault: Path) -> None:
    note = night(vault)
    tick(note, LINK)
    old = time.time() - 7200
    for path in vault.rglob("*.md"):
        os.utime(path, (old, old))
    os.utime(vault / "Compost.md")
    done = looked(vault, quiet_s=3600)
    assert (done.approved, done.waiting, done.applied) == ([LINK], [LINK], [])
    assert "[x] link them" in note.read_text(encoding="utf-8")
    assert apply(vault)["applied"] == [LINK]


def test_a_rejected_pair_is_never_shown_again_even_after_a_rename(vault: Path, home: Path) -> None:
    note = night(vault)
    tick(note, REFUSED, "-no")
    apply(vault)
    (vault / "Falling asleep.md").write_bytes(b"Edited first, seen by a look, and then renamed.")
    apply(vault)
    (vault / "sleep").mkdir()
    (vault / "Falling asleep.md").rename(vault / "sleep" / "Hypnagogia.md")
    note.write_text(note.read_text("utf-8").replace("[[Falling asleep]]", "[[Hypnagogia]]"), encoding="utf-8")
    apply(vault)
    state = states(home)[REFUSED]
    assert state.paths == ("Slack water.md", "sleep/Hypnagogia.md")
    assert ("Slack water.md", "sleep/Hypnagogia.md") in decided_pairs(states(home).values())
    for start in ("Slack water.md", "sleep/Hypnagogia.md"):
        rows = run("resonances", vault, "--from", start, "--limit", "50", "--json").stdout.splitlines()
        pairs = {frozenset((row["from"], row["to"])) for row in map(json.loads, rows)}
        assert frozenset(state.paths) not in pairs
    tick(note, REFUSED, "-undo")  # under its new name too
    assert apply(vault)["undone"] == [REFUSED]


def test_a_renamed_note_gets_the_link_that_was_ticked(vault: Path) -> None:
    note = night(vault)
    apply(vault)
    (vault / "Compost.md").rename(vault / "Heap.md")
    note.write_text(note.read_text("utf-8").replace("[[Compost]]", "[[Heap]]"), encoding="utf-8")
    tick(note, LINK)
    assert apply(vault)["applied"] == [LINK]
    assert (vault / "Heap.md").read_text(encoding="utf-8") == PLACED
    assert not (vault / "Compost.md").exists()
    tick(note, LINK, "-undo")
    assert apply(vault)["undone"] == [LINK]
    assert (vault / "Heap.md").read_text(encoding="utf-8") == NOTES["Compost.md"]


def test_an_undo_follows_a_note_renamed_after_the_change(vault: Path) -> None:
    note = night(vault)
    tick(note, LINK)
    apply(vault)
    apply(vault)  # a look at the note as it is now
    (vault / "Compost.md").rename(vault / "Heap.md")
    assert "Undone" in run("rollback", vault, LINK).stdout
    assert (vault / "Heap.md").read_text(encoding="utf-8") == NOTES["Compost.md"]
    assert note.read_text(encoding="utf-8").count("undone,") == 1


def switch(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, name: str) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / name / "state"))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / name / "cache"))


@pytest.mark.clocks
def test_two_machines_agree_through_the_notes_alone(
    vault: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    note = night(vault)
    for machine in ("desk", "lap"):
        switch(monkeypatch, tmp_path, machine)
        apply(vault)
    switch(monkeypatch, tmp_path, "desk")
    tick(note, LINK)
    tick(note, REFUSED, "-no")
    apply(vault)
    lines, placed = note.read_bytes(), (vault / "Compost.md").read_bytes()
    switch(monkeypatch, tmp_path, "lap")
    done = apply(vault)
    assert not done["applied"]
    assert not done["said"]
    assert (note.read_bytes(), (vault / "Compost.md").read_bytes()) == (lines, placed)
    assert {id_: one.state for id_, one in states(tmp_path / "lap").items()} == {LINK: "applied", REFUSED: "rejected"}
    assert run("review", vault).stdout.strip() == "Nothing is waiting for you."
    tick(note, LINK, "-undo")
    done = apply(vault)  # the images lie on the other machine: the tick is left for it
    assert done["undone"] == []
    assert "another machine" in done["said"][0]
    assert "[x] undo" in note.read_text(encoding="utf-8")
    switch(monkeypatch, tmp_path, "desk")
    assert apply(vault)["undone"] == [LINK]
    lines = note.read_bytes()
    switch(monkeypatch, tmp_path, "lap")
    apply(vault)
    assert note.read_bytes() == lines
    assert states(tmp_path / "lap")[LINK].state == "rolled_back"


def test_bulk_interactive_and_json(vault: Path, home: Path) -> None:
    night(vault)
    listed = json.loads(run("review", vault, "--json").stdout)["waiting"]
    assert [one["id"] for one in listed] == [LINK, REFUSED]
    (edit,) = listed[0]["edits"]
    line, placed = (text.partition("\n")[0] for text in (NOTES["Compost.md"], PLACED))
    assert (edit["removed"], edit["inserted"]) == (line, placed)
    assert run("review", vault, "--all", "--approve", "--min-confidence", "0.9").stdout.strip() == ""
    shown = run("review", vault, LINK).stdout
    assert "- A heap is fed like a sourdough starter" in shown
    assert "+ A heap is fed like a [[Sourdough starter|sourdough starter]]" in shown
    quit_ = run("review", vault, "-i", typed="q\n")
    assert "Linked" not in quit_.stdout
    answered = run("review", vault, "--interactive", typed="what\ny\nn\n").stdout
    assert "Linked: Compost ↔ Sourdough starter" in answered
    assert "Never again: Slack water ↔ Falling asleep" in answered
    assert "1 of 2" in answered
    assert (vault / "Compost.md").read_text(encoding="utf-8") == PLACED
    again = run("review", vault, LINK, "--approve").stdout
    assert "already applied" in again
    assert (vault / "Compost.md").read_text(encoding="utf-8") == PLACED
    refused = run("review", vault, "nosuch", check=False)
    assert refused.returncode == 4
    rows = run("history", vault).stdout.splitlines()
    assert len(rows) == 2
    assert "can be rolled back" in "".join(rows)
    assert "Undone" in run("rollback", vault, f"^aria-{LINK}").stdout
    assert "Undone" in run("rollback", vault, REFUSED[:4]).stdout
    assert states(home)[REFUSED].state == "proposed"


def test_what_was_shown_is_what_is_written_or_nothing(vault: Path, home: Path) -> None:
    night(vault)
    compost = vault / "Compost.md"
    run("review", vault, "--json")
    text = NOTES["Compost.md"].replace("sourdough starter", "Sourdough Starter")
    # Approved on what was shown, then edited before it could be written: another text now stands there.
    journal = state_folder(home) / "proposals.jsonl"
    compost.chmod(0o444)
    done = json.loads(run("review", vault, LINK, "--approve", "--json", check=False).stdout)
    compost.chmod(0o644)
    assert (done["applied"], done["waiting"]) == ([], [LINK])
    compost.write_text(text, encoding="utf-8")
    done = apply(vault)
    assert done["stale"] == [LINK]
    assert compost.read_text(encoding="utf-8") == text
    assert "approved" in journal.read_text(encoding="utf-8")
    shown = run("review", vault, LINK).stdout
    assert "[[Sourdough starter|Sourdough Starter]]" in shown
    assert "Linked" in run("review", vault, LINK, "--approve").stdout


def test_the_review_stays_usable_where_its_markers_are_gone(vault: Path) -> None:
    note = night(vault)
    review = vault / REVIEW
    review.write_text(review.read_text("utf-8").replace("%% aria-dream review end %%", ""), encoding="utf-8")
    damaged = review.read_bytes()
    tick(note, LINK)
    assert apply(vault)["applied"] == [LINK]
    assert review.read_bytes() == damaged
    shutil.rmtree(vault / "dreams")
    assert apply(vault)["applied"] == []
