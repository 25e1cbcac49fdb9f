"""Ticks, approvals and what becomes of them: real notes on a disk, the real command in a process of its own."""

from __future__ import annotations

import json
import re
import shutil
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

import pytest

from aria_dream.notes.change_grammar import ASK
from aria_dream.notes.review_note import read_managed
from tests.reviewed import (
    COMPOST,
    NOTES,
    PLACED,
    REVIEW,
    SLACK,
    age_journal,
    apply,
    id_of,
    night,
    run,
    state_folder,
    states,
    tick,
    write,
)

if TYPE_CHECKING:
    from pathlib import Path

LINK, REFUSED = id_of(COMPOST), id_of(SLACK)


@pytest.fixture
def home(tmp_path: Path) -> Path:
    return tmp_path / "home"


@pytest.fixture
def vault(tmp_path: Path) -> Path:
    return tmp_path / "vault"


def notes(vault: Path) -> dict[str, bytes]:
    """The writer's own notes."""
    return {path.relative_to(vault).as_posix(): path.read_bytes() for path in vault.glob("*.md")}


def test_a_tick_places_the_link_and_the_line_says_so(vault: Path, home: Path) -> None:
    note = night(vault)
    before = notes(vault)
    tick(note, LINK)
    assert apply(vault)["applied"] == [LINK]
    assert (vault / "Compost.md").read_text(encoding="utf-8") == PLACED
    assert {name: text for name, text in notes(vault).items() if name != "Compost.md"} == {
        name: text for name, text in before.items() if name != "Compost.md"
    }
    (line,) = re.findall(rf"^.*\^aria-{LINK}.*$", note.read_text(encoding="utf-8"), re.MULTILINE)
    assert re.fullmatch(
        rf"- \[ \] undo: linked in Compost \d\d:\d\d \(until \d+ \w+ (\d{{4}} )?\d\d:\d\d\) \^aria-{LINK}-undo",
        line,
    )
    review = (vault / REVIEW).read_text(encoding="utf-8")
    assert LINK not in review
    assert f"^aria-{REFUSED}" in review
    assert states(home)[LINK].state == "applied"


@pytest.mark.parametrize("line_end", ["\n", "\r\n"])
@pytest.mark.parametrize("surface", ["the dream note", REVIEW])
def test_ticks_count_on_either_surface_with_text_typed_around_them(vault: Path, surface: str, line_end: str) -> None:
    note = night(vault, line_end=line_end)
    where = note if surface == "the dream note" else vault / REVIEW
    tick(where, LINK)
    tick(where, REFUSED, "-no")
    text = where.read_bytes().decode()
    typed = f"Morning thoughts.{line_end}{line_end}"
    if surface == REVIEW:
        text = text.replace("%% aria-dream review begin", f"{typed}%% aria-dream review begin") + typed
    else:
        text = text.replace(f"path: only the text connects them{line_end}", f"Hm, true?{line_end}", 1)
        text = text.replace("## 03:12", f"{typed}## 03:12") + typed
    where.write_bytes(text.encode())
    done = apply(vault)
    assert (done["applied"], done["rejected"]) == ([LINK], [REFUSED])
    assert (vault / "Compost.md").read_text(encoding="utf-8") == PLACED
    after = where.read_bytes().decode()
    assert after.count("Morning thoughts.") == 2
    assert surface == REVIEW or "Hm, true?" in after
    assert "[x]" not in after
    if line_end == "\r\n":
        assert after.count("\n") == after.count("\r\n")


def test_a_machine_that_knows_nothing_carries_out_what_was_ticked(vault: Path, home: Path) -> None:
    note = night(vault)
    apply(vault)
    shutil.rmtree(home)
    tick(vault / REVIEW, LINK)
    tick(note, REFUSED, "-no")
    done = apply(vault)
    assert (done["applied"], done["rejected"]) == ([LINK], [REFUSED])
    placed, lines = notes(vault), note.read_bytes()
    assert placed["Compost.md"].decode() == PLACED
    shutil.rmtree(home)  # and another one that finds everything done
    assert apply(vault)["applied"] == []
    assert (notes(vault), note.read_bytes()) == (placed, lines)
    assert {id_: one.state for id_, one in states(home).items()} == {LINK: "applied", REFUSED: "rejected"}


def test_the_same_tick_on_two_surfaces_does_nothing_twice(vault: Path, home: Path) -> None:
    note = night(vault)
    tick(note, LINK)
    tick(vault / REVIEW, LINK)
    assert apply(vault)["applied"] == [LINK]
    everything = {path: path.read_bytes() for path in vault.rglob("*.md")}
    journal = (state_folder(home) / "proposals.jsonl").read_bytes()
    assert apply(vault)["applied"] == []
    assert {path: path.read_bytes() for path in vault.rglob("*.md")} == everything
    assert (state_folder(home) / "proposals.jsonl").read_bytes() == journal
    assert (vault / "Compost.md").read_text(encoding="utf-8").count("[[") == 1


@pytest.mark.parametrize("where", ["one note", "the review", "two surfaces"])
def test_contradictory_ticks_ask_once_and_the_answer_counts(vault: Path, where: str) -> None:
    note = night(vault)
    first = vault / REVIEW if where == "the review" else note
    second = vault / REVIEW if where == "two surfaces" else first
    tick(first, LINK)
    tick(second, LINK, "-no")
    before = notes(vault)
    assert apply(vault)["asked"]
    assert apply(vault)["asked"] == []  # not asked again
    assert notes(vault) == before
    asked = {path for path in (note, vault / REVIEW) if ASK in path.read_text(encoding="utf-8")}
    assert asked == {first, second}
    assert all(path.read_text(encoding="utf-8").count(ASK) == 1 for path in asked)
    managed, problems = read_managed((vault / REVIEW).read_text(encoding="utf-8"))
    assert managed is not None, problems
    text = second.read_text(encoding="utf-8")
    second.write_text(text.replace("[x] never again", "[ ] never again"), encoding="utf-8")
    assert apply(vault)["applied"] == [LINK]
    assert ASK not in note.read_text(encoding="utf-8") + (vault / REVIEW).read_text(encoding="utf-8")


def test_a_tick_never_lands_on_another_pair(vault: Path, home: Path) -> None:
    note = night(vault)
    text = note.read_text(encoding="utf-8")
    swapped = text.replace(LINK, "zzzzzz").replace(REFUSED, LINK).replace("zzzzzz", REFUSED)
    note.write_text(swapped, encoding="utf-8")
    tick(note, LINK)
    before = notes(vault)
    done = apply(vault)
    assert (done["applied"], done["rejected"]) == ([], [])
    assert notes(vault) == before
    assert any("another pair" in said for said in done["said"])
    shutil.rmtree(home)
    assert apply(vault)["applied"] == []
    assert notes(vault) == before


def test_lines_that_a_sync_has_merged_decide_nothing(vault: Path) -> None:
    note = night(vault)
    tick(note, LINK)
    (line,) = (line for line in note.read_text(encoding="utf-8").splitlines() if line.endswith(f"^aria-{LINK}"))
    text = note.read_text(encoding="utf-8").replace("Propose-only.", f"{line}\n\nPropose-only.")
    note.write_text(text, encoding="utf-8")  # the ticked box now stands under the other pair too
    before = notes(vault)
    assert apply(vault)["applied"] == []
    assert notes(vault) == before


def test_an_undo_box_takes_the_change_back(vault: Path, home: Path) -> None:
    note = night(vault)
    before = notes(vault)
    tick(note, LINK)
    apply(vault)
    tick(note, LINK, "-undo")
    assert apply(vault)["undone"] == [LINK]
    assert notes(vault) == before
    (line,) = re.findall(rf"^.*\^aria-{LINK}.*$", note.read_text(encoding="utf-8"), re.MULTILINE)
    assert re.fullmatch(rf"- undone, \d\d:\d\d \^aria-{LINK}", line)
    assert apply(vault)["undone"] == []
    assert states(home)[LINK].state == "rolled_back"


def test_an_undo_leaves_what_was_typed_since(vault: Path) -> None:
    note = night(vault)
    tick(note, LINK)
    apply(vault)
    compost = vault / "Compost.md"
    compost.write_text("# Heap\n\n" + compost.read_text(encoding="utf-8") + "Worms too.\n", encoding="utf-8")
    tick(note, LINK, "-undo")
    assert apply(vault)["undone"] == [LINK]
    assert compost.read_text(encoding="utf-8") == "# Heap\n\n" + NOTES["Compost.md"] + "Worms too.\n"


def test_an_undo_that_cannot_be_done_says_in_the_note_what_to_do(vault: Path) -> None:
    note = night(vault)
    tick(note, LINK)
    apply(vault)
    compost = vault / "Compost.md"
    edited = PLACED.replace("[[Sourdough starter|sourdough starter]]", "[[Sourdough bread|sourdough starter]]")
    compost.write_text(edited, encoding="utf-8")
    tick(note, LINK, "-undo")
    done = apply(vault, 6)
    assert done["undone"] == []
    assert [(one["path"], one["line"]) for one in done["not_undone"]] == [("Compost.md", 1)]
    assert any("by hand" in said for said in done["said"])
    assert compost.read_text(encoding="utf-8") == edited
    text = note.read_text(encoding="utf-8")
    assert text.count("not undone:") == 1
    assert "by hand" in text
    assert text.count("[[") == 4  # what it says is no link
    assert apply(vault)["said"] == []


def test_outside_the_window_undo_says_what_to_do_and_images_are_purged(vault: Path, home: Path) -> None:
    day = datetime.now().astimezone().date()
    note = night(vault, day=day)
    tick(note, LINK)
    apply(vault)
    placed = notes(vault)
    assert any((state_folder(home) / "history").iterdir())
    tick(note, LINK, "-undo")
    age_journal(home, timedelta(hours=49))
    done = apply(vault, 6)
    assert done["undone"] == []
    (said,) = done["said"]
    assert "48 hours" in said
    assert "take the link to Sourdough starter out of Compost by hand" in said
    assert notes(vault) == placed
    text = note.read_text(encoding="utf-8")
    assert "not undone: the 48 hours are over" in text
    assert "-undo" not in text
    left = [json.loads((one / "intent.json").read_text("utf-8")) for one in (state_folder(home) / "history").iterdir()]
    assert not [one for one in left if one["label"].startswith("apply")]
    refused = run("rollback", vault, LINK, check=False)
    assert refused.returncode == 6
    assert "by hand" in refused.stdout


def test_an_undo_line_becomes_plain_text_when_its_time_is_over(vault: Path, home: Path) -> None:
    note = night(vault)
    tick(note, LINK)
    tick(note, REFUSED, "-no")
    apply(vault)
    before = note.read_text(encoding="utf-8")
    age_journal(home, timedelta(hours=47))
    apply(vault)
    assert note.read_text(encoding="utf-8") == before
    age_journal(home, timedelta(hours=2))
    apply(vault)
    after = note.read_text(encoding="utf-8")
    plain = re.sub(r"\[ \] undo: (.*) (\d\d:\d\d) \(until [^^]+\) \^aria-(\w+)-undo", r"\1, \2 ^aria-\3", before)
    assert after == plain != before
    assert "[ ]" not in after


def test_a_refusal_that_is_undone_asks_again_on_both_surfaces(vault: Path, home: Path) -> None:
    note = night(vault)
    original = note.read_bytes(), (vault / REVIEW).read_bytes()
    tick(vault / REVIEW, REFUSED, "-no")
    tick(vault / REVIEW, LINK, "-no")
    apply(vault)
    assert "Nothing is waiting" in (vault / REVIEW).read_text(encoding="utf-8")
    tick(note, LINK, "-undo")
    tick(note, REFUSED, "-undo")
    assert sorted(apply(vault)["undone"]) == sorted([LINK, REFUSED])
    assert (note.read_bytes(), (vault / REVIEW).read_bytes()) == original
    assert {one.state for one in states(home).values()} == {"proposed"}
    tick(note, LINK)
    assert apply(vault)["applied"] == [LINK]


def test_decided_pairs_leave_the_review_and_other_ticks_stay(vault: Path) -> None:
    note = night(vault)
    write(vault, "Falling asleep.md", NOTES["Falling asleep.md"])
    tick(note, LINK)
    tick(vault / REVIEW, REFUSED)
    tick(vault / REVIEW, REFUSED, "-no")
    apply(vault)
    managed, _ = read_managed((vault / REVIEW).read_text(encoding="utf-8"))
    assert managed is not None
    (item,) = managed.items
    assert (item.pair.id, item.pair.ticked) == (REFUSED, frozenset({"link", "never"}))


def test_an_edited_review_list_is_left_alone_and_its_ticks_still_count(vault: Path) -> None:
    night(vault)
    review = vault / REVIEW
    text = review.read_text(encoding="utf-8").replace("  path: only", "  my own words\n  path: only", 1)
    review.write_text(text, encoding="utf-8")
    tick(review, LINK)
    ticked = review.read_bytes()
    assert apply(vault)["applied"] == [LINK]
    assert review.read_bytes() == ticked
    assert apply(vault)["applied"] == []


def test_what_the_writer_linked_meanwhile_is_told_kindly(vault: Path, home: Path) -> None:
    note = night(vault)
    (vault / "Compost.md").write_text("See [[Sourdough starter]].\n", encoding="utf-8")
    (vault / "Falling asleep.md").write_text("As in [[Slack water]].\n", encoding="utf-8")
    tick(note, LINK)
    before = notes(vault)
    done = apply(vault)
    assert sorted(done["superseded"]) == sorted([LINK, REFUSED])
    assert notes(vault) == before
    assert note.read_text(encoding="utf-8").count("you linked them yourself") == 2
    assert "Nothing is waiting" in (vault / REVIEW).read_text(encoding="utf-8")
    assert {one.state for one in states(home).values()} == {"superseded"}


@pytest.mark.clocks
def test_proposals_lapse_without_nagging(vault: Path, home: Path) -> None:
    day = datetime.now().astimezone().date() - timedelta(days=61)
    note = night(vault, day=day)
    done = apply(vault)
    assert sorted(done["expired"]) == sorted([LINK, REFUSED])
    assert "[ ]" not in note.read_text(encoding="utf-8")
    assert "Nothing is waiting" in (vault / REVIEW).read_text(encoding="utf-8")
    assert run("review", vault).stdout.strip() == "Nothing is waiting for you."
    assert apply(vault)["expired"] == []


@pytest.mark.parametrize("surface", ["tick", "terminal"])
def test_a_note_that_vanished_is_a_clear_state(vault: Path, home: Path, surface: str) -> None:
    note = night(vault)
    apply(vault)
    (vault / "Compost.md").unlink()
    if surface == "tick":
        tick(note, LINK)
        done = apply(vault)
    else:
        done = json.loads(run("review", vault, LINK, "--approve", "--json", check=False).stdout)
    assert done["stale"] == [LINK]
    assert not (vault / "Compost.md").exists()
    assert "not placed" in note.read_text(encoding="utf-8")
    assert states(home)[LINK].state == "stale"


def test_a_note_that_may_not_be_written_waits(vault: Path) -> None:
    note = night(vault)
    tick(note, LINK)
    (vault / "Compost.md").chmod(0o444)
    done = apply(vault)
    assert done["waiting"] == [LINK]
    (vault / "Compost.md").chmod(0o644)
    assert apply(vault)["applied"] == [LINK]


def test_a_closed_policy_lets_decisions_wait(vault: Path, home: Path) -> None:
    note = night(vault)
    write(vault, "dreaming.md", "---\naria-dream: policy\n---\n- placement: none\n")
    before = notes(vault)
    tick(note, LINK)
    tick(note, REFUSED, "-no")
    done = apply(vault)
    assert (done["waiting"], done["rejected"]) == ([LINK], [REFUSED])
    assert notes(vault) == before
    write(vault, "dreaming.md", "---\naria-dream: policy\n---\n- placement: related\n")
    assert apply(vault)["applied"] == [LINK]
    assert (vault / "Compost.md").read_text(encoding="utf-8").endswith("## Related\n\n- [[Sourdough starter]]\n")
