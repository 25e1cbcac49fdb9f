"""Changes of every kind in the review note: shown, ticked, made, undone; real notes, and the real command."""

from __future__ import annotations

import json
import re
import shutil
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

import pytest

from aria_dream.notes.change_grammar import ASK, DecidedChange, LoggedChange
from aria_dream.notes.review_note import read_managed
from aria_dream.review.proposal import planned_record
from aria_dream.usecases.review import Settlement, renew_lines, settle
from tests.proposed import AFTER, IDS, NOTES, PATHS, lay_out, open_session, own_files, planned, propose
from tests.reviewed import REVIEW, age_journal, apply, run, state_folder, states, tick, write

if TYPE_CHECKING:
    from pathlib import Path

    from aria_dream.notes.review_note import ManagedBlock
    from aria_dream.review.proposal import Kind

KINDS: tuple[Kind, ...] = tuple(PATHS)
BEFORE = {name: text.encode() for name, text in NOTES.items()}


@pytest.fixture
def home(tmp_path: Path) -> Path:
    return tmp_path / "home"


@pytest.fixture
def vault(tmp_path: Path) -> Path:
    lay_out(tmp_path / "vault")
    return tmp_path / "vault"


def shown(vault: Path, *kinds: Kind) -> str:
    """Proposes, and renews the review; what it says."""
    session = open_session(vault)
    for kind in kinds:
        propose(session, kind)
    renew_lines(session, Settlement())
    return text_of(vault)


def text_of(vault: Path) -> str:
    return (vault / REVIEW).read_bytes().decode()


def block_of(vault: Path) -> ManagedBlock:
    block, problems = read_managed(text_of(vault))
    assert block is not None, problems
    return block


def after(*kinds: Kind) -> dict[str, bytes]:
    files = dict(BEFORE)
    for kind in kinds:
        files |= {name: text.encode() for name, text in AFTER[kind].items()}
        if kind == "merge":
            del files["Drop.md"]
    return files


def line_of(vault: Path, kind: Kind) -> str:
    (line,) = re.findall(rf"^.*\^aria-{IDS[kind]}.*$", text_of(vault), re.MULTILINE)
    assert isinstance(line, str)
    return line


@pytest.mark.parametrize("kind", KINDS)
def test_ticked_made_and_undone(vault: Path, home: Path, kind: Kind) -> None:
    text = shown(vault, kind)
    assert text.count(f"^aria-{IDS[kind]}") == 2
    assert own_files(vault) == BEFORE
    tick(vault / REVIEW, IDS[kind])
    assert apply(vault)["applied"] == [IDS[kind]]
    assert own_files(vault) == after(kind)
    assert re.fullmatch(
        rf"- \[ \] undo: [a-z ]+: [^,]+, \d\d:\d\d \(until \d+ \w+ (\d{{4}} )?\d\d:\d\d\) \^aria-{IDS[kind]}-undo",
        line_of(vault, kind),
    )
    done = text_of(vault)
    assert apply(vault)["applied"] == []
    assert text_of(vault) == done
    tick(vault / REVIEW, IDS[kind], "-undo")
    assert apply(vault)["undone"] == [IDS[kind]]
    assert own_files(vault) == BEFORE
    if kind == "resolve_contradiction":  # it is open again, and can be settled anew
        assert states(home)[IDS[kind]].state == "proposed"
        assert text_of(vault).count(f"^aria-{IDS[kind]}") == 2
        assert "again: it was settled, and that was undone" in text_of(vault)
        tick(vault / REVIEW, IDS[kind])
        assert apply(vault)["applied"] == [IDS[kind]]
        assert own_files(vault) == after(kind)
    else:
        assert states(home)[IDS[kind]].state == "rolled_back"
        assert re.fullmatch(rf"- undone: [^,]+, \d\d:\d\d \^aria-{IDS[kind]}", line_of(vault, kind))
    age_journal(home, timedelta(hours=49))
    apply(vault)
    assert IDS[kind] not in text_of(vault)


@pytest.mark.parametrize("kind", KINDS)
def test_refused_and_open_again(vault: Path, home: Path, kind: Kind) -> None:
    text = shown(vault, kind)
    tick(vault / REVIEW, IDS[kind], "-no")
    assert apply(vault)["rejected"] == [IDS[kind]]
    assert "undo: never again: " in line_of(vault, kind)
    assert text_of(vault).count("- [ ]") == 1
    tick(vault / REVIEW, IDS[kind], "-undo")
    assert apply(vault)["undone"] == [IDS[kind]]
    assert text_of(vault) == text
    tick(vault / REVIEW, IDS[kind])
    tick(vault / REVIEW, IDS[kind], "-no")
    assert apply(vault)["asked"] == [IDS[kind]]
    assert text_of(vault).count(ASK) == 1
    assert apply(vault)["asked"] == []
    assert own_files(vault) == BEFORE
    review = vault / REVIEW
    review.write_text(text_of(vault).replace("[x] never again", "[ ] never again"), encoding="utf-8")
    assert apply(vault)["applied"] == [IDS[kind]]
    assert ASK not in text_of(vault)


def test_all_at_once_each_on_a_vault_that_was_read_again(vault: Path, home: Path) -> None:
    shown(vault, *KINDS)
    for kind in KINDS:
        tick(vault / REVIEW, IDS[kind])
    done = apply(vault)
    assert sorted(done["applied"]) == sorted(IDS.values())
    assert (done["waiting"], done["stale"]) == ([], [])
    made = own_files(vault)
    assert made == after(*KINDS)
    for kind in KINDS:
        tick(vault / REVIEW, IDS[kind], "-undo")
    assert sorted(apply(vault)["undone"]) == sorted(IDS.values())
    assert own_files(vault) == BEFORE
    assert {kind for kind in KINDS if states(home)[IDS[kind]].state == "proposed"} == {"resolve_contradiction"}


def test_undone_and_approved_in_one_sitting(vault: Path) -> None:
    shown(vault, "merge", "update")
    tick(vault / REVIEW, IDS["merge"])
    apply(vault)
    tick(vault / REVIEW, IDS["merge"], "-undo")
    tick(vault / REVIEW, IDS["update"])
    done = apply(vault)
    assert (done["undone"], done["applied"], done["waiting"]) == ([IDS["merge"]], [IDS["update"]], [])
    assert own_files(vault) == after("update")


def test_a_tick_approves_what_was_shown_and_nothing_else(vault: Path, home: Path) -> None:
    shown(vault, "update")
    old = block_of(vault).changes[0]
    assert isinstance(old, LoggedChange)
    tick(vault / REVIEW, IDS["update"])
    # Planned anew behind the writer's back: the note in hand shows another text.
    write(vault, "Old.md", "# Heap, mine\n\nThe heap is 3 m long.\n")
    session = open_session(vault)
    fresh = planned(session, "update")
    session.store.note(planned_record(IDS["update"], fresh.edits, session.now))
    done = apply(vault)
    assert (done["applied"], done["approved"]) == ([], [])
    assert "shown anew" in done["said"][0]
    new = block_of(vault).changes[0]
    assert isinstance(new, LoggedChange)
    assert new.mark != old.mark
    assert not new.approve_ticked
    tick(vault / REVIEW, IDS["update"])
    assert apply(vault)["applied"] == [IDS["update"]]


@pytest.mark.parametrize("kind", ["merge", "update", "obsolete", "resolve_contradiction"])
def test_what_moved_is_done_and_what_changed_is_shown_anew(vault: Path, home: Path, kind: Kind) -> None:
    shown(vault, kind)
    note = {"merge": "Drop.md", "resolve_contradiction": "B.md"}.get(kind, PATHS[kind][0])
    text = (vault / note).read_bytes().decode()
    elsewhere = text + "\nTyped since.\n"
    (vault / note).write_bytes(elsewhere.encode())
    tick(vault / REVIEW, IDS[kind])
    done = apply(vault)
    if kind == "merge":  # a text of the merge has changed: it is shown as it would be now, and waits
        assert (done["applied"], done["stale"]) == ([], [IDS[kind]])
        assert states(home)[IDS[kind]].state == "proposed"
        assert (vault / note).read_bytes().decode() == elsewhere
        assert "again: " in text_of(vault)
        assert "[x]" not in text_of(vault)
        tick(vault / REVIEW, IDS[kind])
        assert apply(vault)["applied"] == [IDS[kind]]
        note = "Keep.md"
    else:
        assert done["applied"] == [IDS[kind]]
    assert "Typed since." in (vault / note).read_bytes().decode()


def test_a_passage_that_is_gone_is_said_and_never_forced(vault: Path, home: Path) -> None:
    shown(vault, "update")
    write(vault, "Old.md", "# Heap\n\nNothing.\n")
    tick(vault / REVIEW, IDS["update"])
    assert apply(vault)["stale"] == [IDS["update"]]
    assert (vault / "Old.md").read_text("utf-8") == "# Heap\n\nNothing.\n"
    assert "- not changed: Old › Heap · Keep, " in line_of(vault, "update")
    assert "[ ]" not in line_of(vault, "update")


def test_an_orphan_never_takes_a_name(vault: Path, home: Path) -> None:
    shown(vault, "place_orphan")
    write(vault, "Slow light.md", "Mine.\n")
    tick(vault / REVIEW, IDS["place_orphan"])
    assert apply(vault)["stale"] == [IDS["place_orphan"]]
    assert (vault / "Slow light.md").read_text("utf-8") == "Mine.\n"


def test_renamed_notes_are_followed(vault: Path, home: Path) -> None:
    shown(vault, "update", "obsolete")
    apply(vault)
    (vault / "Old.md").rename(vault / "Older.md")
    (vault / "Gone.md").rename(vault / "Went.md")
    review = vault / REVIEW
    review.write_text(text_of(vault).replace("[[Gone]]", "[[Went]]").replace("[[Old|", "[[Older|"), encoding="utf-8")
    tick(review, IDS["update"])
    tick(review, IDS["obsolete"])
    done = apply(vault)
    assert sorted(done["applied"]) == sorted([IDS["update"], IDS["obsolete"]])
    assert (vault / "Went.md").read_text("utf-8") == AFTER["obsolete"]["Gone.md"]
    assert (vault / "Older.md").read_text("utf-8") == AFTER["update"]["Old.md"]


def test_a_machine_without_the_journal_lets_the_tick_wait(vault: Path, home: Path) -> None:
    shown(vault, *KINDS)
    for kind in KINDS:
        tick(vault / REVIEW, IDS[kind])
    ticked = text_of(vault)
    shutil.move(home, home.with_name("desk"))
    done = apply(vault)
    assert done["applied"] == done["approved"] == []
    assert len(done["said"]) == len(KINDS)
    assert all("waits for the machine that proposed it" in said for said in done["said"])
    assert text_of(vault) == ticked
    assert own_files(vault) == BEFORE
    shutil.rmtree(home, ignore_errors=True)
    shutil.move(home.with_name("desk"), home)
    assert sorted(apply(vault)["applied"]) == sorted(IDS.values())


def test_undo_on_the_other_machine_waits_too(vault: Path, home: Path) -> None:
    shown(vault, "merge")
    tick(vault / REVIEW, IDS["merge"])
    apply(vault)
    tick(vault / REVIEW, IDS["merge"], "-undo")
    shutil.move(home, home.with_name("desk"))
    made, text = own_files(vault), text_of(vault)
    assert apply(vault)["undone"] == []
    assert (own_files(vault), text_of(vault)) == (made, text)
    shutil.rmtree(home, ignore_errors=True)
    shutil.move(home.with_name("desk"), home)
    assert apply(vault)["undone"] == [IDS["merge"]]
    assert own_files(vault) == BEFORE


def test_an_undo_that_cannot_be_done_says_so_in_the_review(vault: Path) -> None:
    shown(vault, "resolve_contradiction")
    tick(vault / REVIEW, IDS["resolve_contradiction"])
    apply(vault)
    edited = (vault / "B.md").read_bytes().decode().replace("See [[A]]", "Look at [[A]], though")
    (vault / "B.md").write_bytes(edited.replace("~~", "").encode())
    tick(vault / REVIEW, IDS["resolve_contradiction"], "-undo")
    apply(vault, 6)
    block = block_of(vault)
    (item,) = block.changes
    if isinstance(item, DecidedChange):
        assert item.told
        assert not item.undo_ticked
    again = text_of(vault)
    apply(vault)
    assert text_of(vault) == again


def test_what_a_writer_wrote_into_the_list_stays_and_ticks_count(vault: Path) -> None:
    shown(vault, "obsolete", "update")
    review = vault / REVIEW
    review.write_text(text_of(vault).replace("why: ", "Hm.\nwhy: ", 1), encoding="utf-8")
    tick(review, IDS["obsolete"])
    ticked = text_of(vault)
    assert apply(vault)["applied"] == [IDS["obsolete"]]
    assert text_of(vault) == ticked
    assert apply(vault)["applied"] == []


def test_a_plan_that_a_crash_cut_off_is_made(vault: Path, home: Path) -> None:
    shown(vault, "obsolete")
    journal = state_folder(home) / "proposals.jsonl"
    lines = journal.read_text("utf-8").splitlines(keepends=True)
    journal.write_text("".join(line for line in lines if '"planned"' not in line), encoding="utf-8")
    review = vault / REVIEW
    lay_out(vault)
    assert IDS["obsolete"] not in review.read_text("utf-8")
    apply(vault)
    tick(review, IDS["obsolete"])
    assert apply(vault)["applied"] == [IDS["obsolete"]]


def test_quiet_first(vault: Path) -> None:
    shown(vault, "obsolete")
    tick(vault / REVIEW, IDS["obsolete"])
    before = text_of(vault)
    now = datetime.now().astimezone()
    assert settle(open_session(vault, now, quiet_s=3600)).applied == []
    assert text_of(vault) == before
    assert settle(open_session(vault, now + timedelta(seconds=3601), quiet_s=3600)).applied == [IDS["obsolete"]]


def test_a_verdict_of_janus_joins_the_lines_and_a_tick_stays(vault: Path) -> None:
    from aria_dream.review.proposal import event_record

    shown(vault, "obsolete")
    session = open_session(vault)
    session.store.note(
        event_record("janus", IDS["obsolete"], session.now, verdict="FALLS", reason="it is [[cited]] still")
    )
    review = vault / REVIEW
    tick(review, IDS["obsolete"], "-no")
    renew_lines(session, Settlement())
    assert "\nJanus: FALLS, it is \\[\\[cited\\]\\] still\n" in text_of(vault)
    assert "[x] never again" in text_of(vault)


def test_the_terminal_shows_and_decides_every_kind(vault: Path, home: Path) -> None:
    shown(vault, *KINDS)
    listed = run("review", vault).stdout
    for said in ("New note: Slow light", "Merge: Keep ← Drop", "Change: Old › Heap · Keep", "Mark obsolete: Gone"):
        assert said in listed
    assert "lost: Water at noon." in listed
    one = run("review", vault, IDS["merge"]).stdout
    assert "+   - Drop" in one
    assert "Drop.md moves to .trash/Drop.md" in one
    waiting = {row["id"]: row for row in json.loads(run("review", vault, "--json").stdout)["waiting"]}
    assert waiting[IDS["update"]]["titles"] == ["Old › Heap", "Keep"]
    assert waiting[IDS["update"]]["evidence"]["lost"] == ["Water at noon."]
    assert waiting[IDS["update"]]["edits"]
    assert not waiting[IDS["update"]]["hindrance"]
    refused = run("review", vault, IDS["obsolete"], "--reject").stdout
    assert "Never again: Mark obsolete: Gone" in refused
    done = run("review", vault, "--approve", "--all").stdout
    for said in ("Merged: Keep ← Drop", "Changed: Old › Heap · Keep", "Settled: A · B", "Placed: Slow light"):
        assert said in done, done
    assert "waits" not in done
    assert own_files(vault) == after("place_orphan", "merge", "update", "resolve_contradiction")
    history = run("history", vault).stdout
    assert history.count("can be rolled back") == 4
    assert "Undone: Merge: Keep ← Drop" in run("rollback", vault, IDS["merge"]).stdout
    assert "Undone: Settle: A · B" in run("rollback", vault, IDS["resolve_contradiction"]).stdout
    assert states(home)[IDS["resolve_contradiction"]].state == "proposed"
    assert own_files(vault) == after("place_orphan", "update")
    answered = run("review", vault, "-i", typed="y\n").stdout
    assert "Settle it so? [y]es" in answered
    assert own_files(vault) == after("place_orphan", "update", "resolve_contradiction")


def merged_notes(vault: Path) -> str:
    """Three notes that say the same, to the byte, as the consolidation proposes them; the proposal's id."""
    from aria_dream.consolidate.note_merges import NoteMerge, plan_note_merge
    from aria_dream.markdown.note import NotePath
    from aria_dream.review.proposal import Proposal, proposal_id
    from aria_dream.vault.edit import content_hash

    same = "Feed the heap. ^feed\n"
    for name in ("Heap.md", "a/Heap 2.md", "b/Heap 3.md"):
        write(vault, name, same)
    write(vault, "Ref 2.md", "See [[Heap 2#^feed]] and ![[Heap 3]].\n")
    session = open_session(vault)
    paths = ("Heap.md", "a/Heap 2.md", "b/Heap 3.md")
    view = session.view(paths, inbound=True)
    keep, *drops = map(NotePath, paths)
    found = plan_note_merge(view, keep, drops)
    assert isinstance(found, NoteMerge), found
    id_ = proposal_id("merge", paths, 0)
    hashes = {path: content_hash(view.contents[NotePath(path)]) for path in paths}
    made = Proposal(
        id=id_,
        kind="merge",
        paths=paths,
        round=0,
        at=session.now,
        expires_at=None,
        titles=("Heap", "Heap 2", "Heap 3"),
        hashes=hashes,
        confidence=0.99,
        reason="the same words",
        judge="embedded judge",
        evidence={"body": found.body},
    )
    session.store.propose([made])
    session.store.note(planned_record(id_, found.planned.edits, session.now))
    renew_lines(session, Settlement())
    return id_


def test_three_notes_that_are_one_to_the_byte(vault: Path) -> None:
    id_ = merged_notes(vault)
    before = own_files(vault)
    text = text_of(vault)
    assert "**Merge: [[Heap]] ← Heap 2 · Heap 3**" in text
    assert "> a/Heap 2.md moves to .trash/a/Heap 2.md\n> b/Heap 3.md moves to .trash/b/Heap 3.md\n" in text
    assert "body" not in text.replace("nobody", "")
    tick(vault / REVIEW, id_)
    assert apply(vault)["applied"] == [id_]
    made = own_files(vault)
    assert not {"a/Heap 2.md", "b/Heap 3.md"} & set(made)
    assert made["Ref 2.md"].decode() == "See [[Heap#^feed|Heap 2 > ^feed]] and ![[Heap]].\n"
    assert {".trash/a/Heap 2.md", ".trash/b/Heap 3.md"} <= set(made)
    tick(vault / REVIEW, id_, "-undo")
    assert apply(vault)["undone"] == [id_]
    assert own_files(vault) == before


def test_a_merge_follows_a_link_that_came_since_and_no_text_that_changed(vault: Path, home: Path) -> None:
    id_ = merged_notes(vault)
    tick(vault / REVIEW, id_)
    write(vault, "Ref 3.md", "A new [[Heap 2]].\n")
    done = apply(vault)
    assert (done["applied"], done["stale"]) == ([], [id_])
    assert states(home)[id_].state == "proposed"
    assert "> + A new [[Heap|Heap 2]].\n" in text_of(vault)
    tick(vault / REVIEW, id_)
    write(vault, "b/Heap 3.md", "Feed the heap. ^feed\n\nNever at night.\n")
    made = own_files(vault)
    assert apply(vault)["stale"] == [id_]
    assert states(home)[id_].state == "stale"
    assert own_files(vault) == made
    assert "- not merged: Heap ← Heap 2 · Heap 3, " in text_of(vault)


def test_an_edited_note_is_followed_beside_a_change_whose_note_is_not_there(vault: Path, home: Path) -> None:
    shown(vault, "place_orphan", "obsolete")
    write(vault, "Gone.md", "Valid once, and edited since.\n")
    apply(vault)
    (vault / "Gone.md").rename(vault / "Went.md")
    apply(vault)
    assert states(home)[IDS["obsolete"]].paths == ("Went.md",)


def test_an_undo_that_comes_too_late_says_what_to_do(vault: Path, home: Path) -> None:
    shown(vault, "update")
    tick(vault / REVIEW, IDS["update"])
    apply(vault)
    tick(vault / REVIEW, IDS["update"], "-undo")
    age_journal(home, timedelta(hours=49))
    assert apply(vault, 6)["undone"] == []
    assert own_files(vault) == after("update")
    assert "- not undone: the 48 hours are over; to undo it, change Old.md by hand\n" in text_of(vault)
    assert "-undo" not in text_of(vault)
    said = text_of(vault)
    assert apply(vault)["said"] == []
    assert text_of(vault) == said
    age_journal(home, timedelta(hours=48))
    apply(vault)
    assert IDS["update"] not in text_of(vault)


def test_a_tick_below_other_lines_than_were_shown_is_void(vault: Path) -> None:
    shown(vault, "obsolete", "update")
    review = vault / REVIEW
    said = text_of(vault)
    forged = said.replace("> + obsolete: true", "> + obsolete: false").replace("why: ", "Mine.\nwhy: ")
    for text in (said.replace("> + obsolete: true", "> + obsolete: false"), forged):
        review.write_text(text, encoding="utf-8")
        tick(review, IDS["obsolete"])
        done = apply(vault)
        assert (done["approved"], done["applied"]) == ([], [])
        assert own_files(vault) == BEFORE
    review.write_text(text_of(vault).replace("obsolete: false", "obsolete: true"), encoding="utf-8")
    assert apply(vault)["applied"] == [IDS["obsolete"]]  # the writer's own words beside them are no matter


def test_a_link_and_the_merge_of_its_target_in_one_sitting(vault: Path, home: Path) -> None:
    from aria_dream.review.proposal import Proposal, proposal_id

    paths = ("Old.md", "Drop.md")
    link = proposal_id("link", paths, 0)
    session = open_session(vault)
    session.store.propose(
        [
            Proposal(
                id=link, kind="link", paths=paths, round=0, at=session.now, expires_at=None, titles=("Old", "Drop"),
                reason="feeds", judge="Codex", evidence={"edge": "feeds"},
            )
        ]
    )  # fmt: skip
    shown(vault, "merge")
    assert "**Link: [[Old]] → [[Drop]]**" in text_of(vault)
    tick(vault / REVIEW, link)
    tick(vault / REVIEW, IDS["merge"])
    done = apply(vault)
    assert (sorted(done["applied"]), done["stale"]) == (sorted([link, IDS["merge"]]), [])
    assert "[[Keep" in (vault / "Old.md").read_text("utf-8")
    tick(vault / REVIEW, IDS["merge"], "-undo")
    tick(vault / REVIEW, link, "-undo")
    assert sorted(apply(vault)["undone"]) == sorted([link, IDS["merge"]])
    assert own_files(vault) == BEFORE
