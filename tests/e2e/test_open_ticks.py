"""No tick is lost in silence: what `apply`, `status` and `doctor` say, and with which exit code, as real commands."""

from __future__ import annotations

import ctypes
import json
import os
import re
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import pytest

from tests.reviewed import (
    COMPOST,
    NOTES,
    PLACED,
    REPOSITORY,
    REVIEW,
    SLACK,
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

LINK, OTHER = id_of(COMPOST), id_of(SLACK)


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for kind in ("state", "cache", "config"):
        monkeypatch.setenv(f"XDG_{kind.upper()}_HOME", str(tmp_path / kind))
    return tmp_path


@pytest.fixture
def vault(home: Path) -> Path:
    return home / "vault"


def as_json(*words: str | Path) -> tuple[dict[str, Any], int]:
    done = run(*words, "--json", check=False)
    found = json.loads(done.stdout)
    assert isinstance(found, dict)
    return found, done.returncode


def line_of(note: Path, text: str) -> int:
    return next(number for number, line in enumerate(note.read_text("utf-8").splitlines(), start=1) if text in line)


def test_a_box_that_does_not_count_is_named_everywhere(vault: Path) -> None:
    note = night(vault)
    tick(note, LINK)
    text = note.read_text("utf-8").replace(f"link them ^aria-{LINK}", "link them I think")
    text = text.replace(f" ^aria-{LINK}", "")
    note.write_text(text, "utf-8")
    path, line = note.relative_to(vault).as_posix(), line_of(note, "I think")
    found, code = as_json("apply", vault)
    assert (code, found["exit_code"], found["error"]) == (6, 6, "not everything was carried out")
    assert [(one["path"], one["line"]) for one in found["ignored"]] == [(path, line)]
    shown = run("apply", vault, check=False)
    assert shown.returncode == 6
    assert f"Not counted: {path}:{line}: this box has lost its block id" in shown.stdout
    assert "Nothing was ticked" not in shown.stdout
    assert f"To mend: {path}:{line}: this box has lost" in run("status", vault).stdout
    assert as_json("status", vault)[0]["ticks"]["ignored"] == found["ignored"]
    doctor, code = as_json("doctor", vault)
    assert code == 1
    assert [one["health"] for one in doctor["findings"] if f"{path}:{line}:" in one["text"]] == ["broken"]
    assert (vault / "Compost.md").read_text("utf-8") == NOTES["Compost.md"]


def test_a_lost_id_counts_where_the_titles_tell_and_the_line_gets_it_back(vault: Path, home: Path) -> None:
    note = night(vault)
    apply(vault)  # the journal knows the pairs, as it does after a dream of this machine
    tick(note, LINK)
    note.write_text(note.read_text("utf-8").replace(f" ^aria-{LINK}", "").replace("-no\n", "\n", 1), "utf-8")
    assert apply(vault)["applied"] == [LINK]
    assert (vault / "Compost.md").read_text("utf-8") == PLACED
    assert re.search(rf"(?m)^- \[ \] undo: linked in Compost .* \^aria-{LINK}-undo$", note.read_text("utf-8"))
    assert "link them" not in note.read_text("utf-8").partition("Falling asleep")[0]
    assert apply(vault)["applied"] == []


@pytest.mark.parametrize("place", ["Nights", "Mine/deep/dreams", "DREAMS"])
def test_a_renamed_dream_folder_is_followed_and_no_second_one_is_made(vault: Path, place: str) -> None:
    note = night(vault)
    tick(note, LINK)
    (vault / place).parent.mkdir(parents=True, exist_ok=True)
    (vault / "dreams").rename(vault / place)
    done = apply(vault)
    assert done["applied"] == [LINK]
    is_other = place.casefold() != "dreams"
    assert any(f"Dreams are written to “{place}”" in sentence for sentence in done["said"]) == is_other
    folders = {path.name for path in vault.iterdir() if path.is_dir()}
    assert folders == {place.partition("/")[0]}
    run("init", vault)
    assert f"dream_folder: {place}" in (vault / "dreaming.md").read_text("utf-8")


def test_a_review_that_a_sync_emptied_is_made_anew(vault: Path) -> None:
    note = night(vault)
    write(vault, "dreams/Dream seeds.md", "---\naria-dream: seeds\n---\n")
    apply(vault)
    (vault / REVIEW).write_bytes(b"")
    tick(note, LINK)
    done = apply(vault)
    assert done["applied"] == [LINK]
    text = (vault / REVIEW).read_text("utf-8")
    assert f"^aria-{OTHER}\n" in text
    assert LINK not in text
    assert any("made anew" in sentence for sentence in done["said"])
    (vault / REVIEW).unlink()
    note.unlink()  # the dream note is gone as well: the pair is still to be had
    apply(vault)
    tick(vault / REVIEW, OTHER)
    assert apply(vault)["applied"] == [OTHER]


def _without_overriding() -> None:
    """Before exec: root is held to the mode bits like anybody else (CAP_DAC_OVERRIDE, CAP_DAC_READ_SEARCH)."""
    prctl = ctypes.CDLL(None, use_errno=True).prctl
    for capability in (1, 2):
        prctl(24, capability, 0, 0, 0)  # PR_CAPBSET_DROP


def held_to_modes(*words: str | Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "aria_dream", *map(str, words)],
        capture_output=True, text=True, encoding="utf-8", check=False, timeout=120,
        preexec_fn=_without_overriding if os.geteuid() == 0 else None,
        env={**os.environ, "PYTHONPATH": str(REPOSITORY), "PYTHONIOENCODING": "utf-8"},
    )  # fmt: skip


@pytest.mark.skipif(sys.platform != "linux", reason="root's right to override is dropped by a call of Linux")
def test_one_note_that_may_not_be_read_stops_no_other_tick(vault: Path, home: Path) -> None:
    note = night(vault)
    tick(note, LINK)
    tick(note, OTHER)
    (vault / "Compost.md").chmod(0)
    try:
        done = held_to_modes("apply", vault, "--json")
        found = json.loads(done.stdout)
        assert (done.returncode, found["applied"], found["waiting"]) == (6, [OTHER], [LINK])
        assert any("Compost.md: it cannot be read (permission denied)" in sentence for sentence in found["said"])
        doctor = held_to_modes("doctor", vault)
        assert doctor.returncode == 1
        assert "Compost.md: it cannot be read" in doctor.stdout
        note.chmod(0)
        done = held_to_modes("apply", vault, "--json")
        found = json.loads(done.stdout)
        assert (done.returncode, found["unwritten"]) == (6, [note.relative_to(vault).as_posix()])
    finally:
        note.chmod(0o644)
        (vault / "Compost.md").chmod(0o644)
    assert apply(vault)["applied"] == [LINK]
    assert states(home)[LINK].applies == 1


@pytest.mark.skipif(sys.platform != "linux", reason="root's right to override is dropped by a call of Linux")
def test_a_dream_folder_that_may_not_be_entered_gets_no_second_one_beside_it(vault: Path) -> None:
    night(vault)
    (vault / "dreams").chmod(0)
    try:
        done = held_to_modes("apply", vault)
    finally:
        (vault / "dreams").chmod(0o755)
    assert (done.returncode, "cannot be read" in done.stdout) == (6, True), done
    assert [path.name for path in vault.iterdir() if path.is_dir()] == ["dreams"]


def test_links_of_one_note_approved_together_are_all_placed(vault: Path) -> None:
    night(vault, (COMPOST, ("Compost.md", "Tides.md"), ("Compost.md", "Falling asleep.md")))
    shown, _ = as_json("review", vault)
    assert len(shown["waiting"]) == 3
    done, code = as_json("review", vault, "--approve", "--all", "--kind", "link")
    assert (code, len(done["applied"]), done["stale"]) == (0, 3, [])
    text = (vault / "Compost.md").read_text("utf-8")
    assert text == f"{PLACED}\n## Related\n\n- [[Tides]]\n- [[Falling asleep]]\n"


def test_links_of_one_note_shown_first_and_approved_one_by_one_are_all_placed(vault: Path) -> None:
    pairs = (("Compost.md", "Tides.md"), ("Compost.md", "Falling asleep.md"))
    night(vault, pairs)
    as_json("review", vault)
    for pair in pairs:
        done, code = as_json("review", vault, id_of(pair), "--approve")
        assert (code, done["applied"]) == (0, [id_of(pair)])


def test_a_link_and_a_merge_of_its_note_ticked_together_are_both_made(vault: Path) -> None:
    note = night(vault, (COMPOST,))
    write(vault, "Compost 1.md", NOTES["Compost.md"])
    run("consolidate", vault)
    review = (vault / REVIEW).read_text("utf-8")
    (vault / REVIEW).write_text(review.replace("[ ] merge them", "[x] merge them"), "utf-8")
    tick(note, LINK)
    done = apply(vault)
    assert len(done["applied"]) == 2, done
    assert not done["stale"]
    assert [path.name for path in vault.glob("Compost*.md")] == ["Compost.md"]
    assert "[[Sourdough starter|sourdough starter]]" in (vault / "Compost.md").read_text("utf-8")


def test_a_link_made_before_does_not_make_a_merge_stale(vault: Path) -> None:
    note = night(vault, (COMPOST,))
    write(vault, "Compost 1.md", NOTES["Compost.md"])
    run("consolidate", vault)
    tick(note, LINK)
    assert apply(vault)["applied"] == [LINK]
    (merge,) = as_json("review", vault)[0]["waiting"]
    done, code = as_json("review", vault, merge["id"], "--approve")
    assert (code, done["applied"]) == (0, [merge["id"]]), done
    assert "[[Sourdough starter|sourdough starter]]" in (vault / "Compost.md").read_text("utf-8")


def test_json_is_printed_on_errors_too(vault: Path, home: Path) -> None:
    night(vault)
    for words, code in ((("apply", home / "none"), 3), (("review", "--no"), 2), (("review", vault, "zzzzzz"), 4)):
        found, returned = as_json(*words)
        assert (returned, found["exit_code"]) == (code, code)
        assert found["error"]


def test_a_torn_line_is_told_once_with_its_file(vault: Path, home: Path) -> None:
    night(vault)
    apply(vault)
    journal = state_folder(home) / "proposals.jsonl"
    with journal.open("a", encoding="utf-8") as file:
        file.write('{"event":"approved","version":1,"at":"2026-11-30T\n')
    lines = [line for line in run("status", vault).stdout.splitlines() if "proposals.jsonl" in line]
    assert len(lines) == 1
    assert f"{journal}:" in lines[0]
    assert "proposals.jsonl" not in run("status", vault).stdout
    assert f"{journal}:" in run("doctor", vault, check=False).stdout


@pytest.mark.parametrize(
    "name", ["Dream review.sync-conflict-20261201-050505-ABCDEFG.md", "Dream review 1.md", "../Kept/Dream review.md"]
)
def test_a_tick_in_a_copy_of_the_review_counts_once_and_its_lines_follow(vault: Path, name: str) -> None:
    night(vault)
    apply(vault)
    copy = vault / "dreams" / name
    copy.parent.mkdir(exist_ok=True)
    copy.write_bytes((vault / REVIEW).read_bytes())
    tick(copy, LINK)
    assert apply(vault)["applied"] == [LINK]
    assert (vault / "Compost.md").read_text("utf-8") == PLACED
    assert f"^aria-{LINK}" not in copy.read_text("utf-8")
    assert f"[ ] link them ^aria-{OTHER}" in copy.read_text("utf-8")
    assert "Nothing was ticked" in run("apply", vault).stdout
