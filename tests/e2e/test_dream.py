"""`aria-dream dream` as a writer runs it: a real vault on the disk, the real command in its own process."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from aria_dream.notes.dream_log import parse_blocks
from aria_dream.review.journal import parse_journal

REPOSITORY = Path(__file__).resolve().parents[2]

NOTES = {
    "Compost.md": (
        "Compost is fed little and often. The heap keeps a culture of microbes alive, and it wants "
        "turning, air and patience. A cold heap sleeps; a fed heap is warm within days, and what was "
        "kitchen waste becomes soil again by spring. It leads to [[Microbes]].\n"
    ),
    "Sourdough starter.md": (
        "A starter is a culture of microbes kept alive by feeding it flour and water on a schedule. Left "
        "alone it sleeps in the cold; fed, it is warm and rises within hours. Patience and air do the "
        "rest, and a little of the old always begins the new. See [[Fermentation]].\n"
    ),
    "Microbes.md": (
        "Small lives that do slow work in soil, dough and barrel. Most of what a kitchen calls flavour "
        "and a garden calls fertility is theirs, and both keep them by feeding. [[Fermentation]]\n"
    ),
    "Fermentation.md": (
        "Letting small lives change food on purpose: cabbage, milk, dough, grapes. Salt, warmth and time "
        "are the three hands that hold it, and a cellar is a kind of clock. [[Sourdough starter]]\n"
    ),
    "Tax return.md": (
        "Forms, receipts, the letter from the office and a number that changes every year. It is done in "
        "May at the kitchen table with the window shut and a promise to start earlier next time. "
        "[[Receipts]]\n"
    ),
    "Receipts.md": (
        "A shoebox by month. Everything over twenty euros, the train tickets, the printer paper and the "
        "chair. Fading ink is copied once a quarter before it is white. [[Tax return]]\n"
    ),
    "Slack water.md": (
        "Between flood and ebb the estuary stands still for some minutes; boats swing on their anchors "
        "and nothing pulls. The pause is short and everyone who works the tide waits for it. [[Tide "
        "tables]]\n"
    ),
    "Tide tables.md": (
        "Columns of hours and heights for a harbour, computed a year ahead and corrected by wind. They "
        "are read at breakfast like weather and believed rather more. [[Slack water]]\n"
    ),
    "Falling asleep.md": (
        "Between waking and sleep the mind stands still for some minutes and nothing pulls. The pause is "
        "short; images swing on their anchors, and whoever works with them waits for it.\n"
    ),
}


def make_vault(folder: Path, notes: dict[str, str] | None = None) -> Path:
    for name, text in (NOTES if notes is None else notes).items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    folder.mkdir(exist_ok=True)
    return folder


def run(*words: str | Path, check: bool = True) -> subprocess.CompletedProcess[str]:
    done = subprocess.run(
        [sys.executable, "-m", "aria_dream", *map(str, words)],
        capture_output=True,
        text=True,
        encoding="utf-8",
        env={**os.environ, "PYTHONPATH": str(REPOSITORY), "PYTHONIOENCODING": "utf-8"},
        check=False,
        timeout=240,
    )
    assert "Traceback" not in done.stderr, done.stderr
    assert not check or done.returncode == 0, done.stderr
    return done


def dream(vault: Path, *words: str) -> dict[str, Any]:
    found = json.loads(run("dream", vault, "--json", *words).stdout)
    assert isinstance(found, dict)
    return found


def snapshot(vault: Path) -> dict[str, bytes]:
    return {path.relative_to(vault).as_posix(): path.read_bytes() for path in vault.rglob("*") if path.is_file()}


def state_folder(home: Path) -> Path:
    (found,) = (path.parent for path in (home / "state").rglob("proposals.jsonl"))
    return found


@pytest.fixture
def home(tmp_path: Path) -> Path:
    return tmp_path / "home"


@pytest.fixture
def vault(tmp_path: Path) -> Path:
    return make_vault(tmp_path / "vault")


def test_a_dream_is_written_into_its_note_and_nowhere_else(vault: Path, home: Path) -> None:
    before = snapshot(vault)
    found = dream(vault, "--start", "Compost", "--seed", "4")
    assert found["written"]
    assert found["pairs"], found
    after = snapshot(vault)
    assert {path: after[path] for path in before} == before
    assert sorted(set(after) - set(before)) == sorted([found["note"], "dreams/Dream review.md"])
    text = after[found["note"]].decode()
    blocks, problems = parse_blocks(text)
    assert not problems
    assert [pair.id for pair in blocks[0].pairs] == [pair["id"] for pair in found["pairs"]]
    states, faults = parse_journal((state_folder(home) / "proposals.jsonl").read_text(encoding="utf-8"))
    assert not faults
    assert {name: state.state for name, state in states.items()} == {pair["id"]: "proposed" for pair in found["pairs"]}
    assert all(f"^aria-{pair['id']}" in after["dreams/Dream review.md"].decode() for pair in found["pairs"])


def test_the_compost_meets_the_sourdough(vault: Path) -> None:
    found = dream(vault, "--start", "Compost", "--seed", "4", "--dry-run")
    pairs = {(pair["from"], pair["to"]): pair for pair in found["pairs"]}
    pair = pairs["Compost.md", "Sourdough starter.md"]
    assert pair["path"] == ["Compost.md", "Microbes.md", "Fermentation.md", "Sourdough starter.md"]
    assert 0 < pair["score"] < 1
    assert 0 < pair["probability"] <= 1
    assert not any("Tax return.md" in ends for ends in pairs)


def test_a_rehearsal_and_a_replay_write_nothing(vault: Path) -> None:
    before = snapshot(vault)
    rehearsed = dream(vault, "--seed", "8", "--dry-run")
    assert snapshot(vault) == before
    assert not rehearsed["written"]
    real = dream(vault, "--seed", "8")
    assert (real["start"], real["pairs"], real["dropped"]) == (
        rehearsed["start"],
        rehearsed["pairs"],
        rehearsed["dropped"],
    )
    before = snapshot(vault)
    again = dream(vault, "--replay", real["id"])
    assert snapshot(vault) == before
    assert (again["start"], again["seed"]) == (real["start"], real["seed"])
    assert [(pair["from"], pair["to"], pair["score"]) for pair in again["pairs"]] == [
        (pair["from"], pair["to"], pair["score"]) for pair in real["pairs"]
    ]


def test_a_pair_that_waits_is_not_shown_again_and_earlier_bytes_stay(vault: Path) -> None:
    first = dream(vault, "--start", "Compost", "--seed", "1")
    before = (vault / first["note"]).read_bytes()
    second = dream(vault, "--start", "Compost", "--seed", "2")
    shown = {frozenset((pair["from"], pair["to"])) for pair in first["pairs"]}
    assert not shown & {frozenset((pair["from"], pair["to"])) for pair in second["pairs"]}
    assert (vault / first["note"]).read_bytes().startswith(before)


def test_what_is_written_is_never_dreamt(vault: Path) -> None:
    dream(vault, "--start", "Compost", "--seed", "1")
    for path in (vault / "dreams").glob("*dream.md"):
        text = path.read_text(encoding="utf-8")
        path.write_text(text.replace("aria-dream: log\n", ""), encoding="utf-8")
    rows = run("resonances", vault, "--all", "--limit", "50", "--json").stdout.splitlines()
    named = {json.loads(row)[end] for row in rows for end in ("from", "to")}
    assert named == set(NOTES)


def test_dreaming_rests_while_the_review_is_full(vault: Path) -> None:
    (vault / "dreaming.md").write_text(
        "---\naria-dream: policy\n---\n- max_open_proposals: 1\n- juxtapositions_per_dream: 1\n", encoding="utf-8"
    )
    assert dream(vault, "--start", "Compost", "--seed", "1")["written"]
    before = snapshot(vault)
    held = dream(vault, "--start", "Slack water", "--seed", "1")
    assert not held["written"]
    assert "wait for you" in held["reason"]
    assert snapshot(vault) == before


@pytest.mark.parametrize(
    ("line", "word"),
    [("- dreaming: off\n", "off"), ("- dreaming: maybe\n", "dreaming"), ("- dreamin: on\n- dreaming: on\n", "dreamin")],
)
def test_a_policy_that_says_no_or_cannot_be_read_writes_nothing(vault: Path, line: str, word: str) -> None:
    (vault / "dreaming.md").write_text(f"---\naria-dream: policy\n---\n{line}", encoding="utf-8")
    before = snapshot(vault)
    done = run("dream", vault, "--seed", "1")
    assert word in done.stdout + done.stderr
    assert snapshot(vault) == before


@pytest.mark.clocks
def test_an_internal_seed_gives_the_start_and_becomes_dreamt(vault: Path) -> None:
    run("init", vault)
    run("seeds", vault, "add", "The pause", "--note", "Slack water", "--struck", "nothing pulls")
    listed = json.loads(run("seeds", vault, "--json").stdout)
    assert [(seed["title"], seed["status"]) for seed in listed["seeds"]] == [("The pause", "open")]
    before = (vault / listed["note"]).read_text(encoding="utf-8")
    found = dream(vault, "--seed", "5")
    assert found["start"] == "Slack water.md"
    assert found["written"], found["reason"]
    assert (vault / listed["note"]).read_text(encoding="utf-8") == before.replace(
        "- status: open\n- struck: nothing", "- status: dreamt\n- struck: nothing"
    )


def test_the_night_is_drawn_where_the_policy_asks(vault: Path) -> None:
    (vault / "dreaming.md").write_text("---\naria-dream: policy\n---\n- canvas: on\n", encoding="utf-8")
    found = dream(vault, "--start", "Compost", "--seed", "1")
    canvas = json.loads((vault / "dreams" / "Dream latest.canvas").read_text(encoding="utf-8"))
    files = {node["file"] for node in canvas["nodes"] if node["type"] == "file"}
    assert {pair["to"] for pair in found["pairs"]} | {"Compost.md"} <= files


def test_excluded_notes_are_in_no_dream_and_in_no_output(tmp_path: Path) -> None:
    private = {"Private/Heap.md": NOTES["Compost.md"], "Quiet.md": "---\ndream: false\n---\n" + NOTES["Compost.md"]}
    vault = make_vault(tmp_path / "vault", {**NOTES, **private})
    (vault / "dreaming.md").write_text("---\naria-dream: policy\n---\n- exclude: private\n", encoding="utf-8")
    out = run("resonances", vault, "--all", "--limit", "50", "--json").stdout
    assert "Heap" not in out
    assert "Quiet" not in out
    done = run("dream", vault, "--start", "Quiet", check=False)
    assert done.returncode == 4
    assert "no part of any dream" in done.stderr
    run("dream", vault, "--start", "Sourdough starter", "--seed", "2")
    written = "".join(path.read_text(encoding="utf-8") for path in (vault / "dreams").rglob("*.md"))
    assert "Heap" not in written
    assert "Quiet" not in written


def test_a_folder_of_that_name_that_is_the_writers_stays_the_writers(vault: Path) -> None:
    (vault / "Dreams").mkdir()
    (vault / "Dreams" / "Flying.md").write_text("I flew again.\n", encoding="utf-8")
    found = dream(vault, "--start", "Compost", "--seed", "1")
    assert found["note"].startswith("aria dreams/")
    assert [path.name for path in (vault / "Dreams").iterdir()] == ["Flying.md"]


@pytest.mark.parametrize(
    ("notes", "word"),
    [({}, "no note"), ({"Alone.md": NOTES["Compost.md"]}, "Alone"), ({"Empty.md": ""}, "empty dream")],
)
def test_a_vault_with_little_in_it_gives_one_sentence_and_nothing_is_written(
    tmp_path: Path, notes: dict[str, str], word: str
) -> None:
    vault = make_vault(tmp_path / "vault", notes)
    done = run("dream", vault)
    assert word.lower() in done.stdout.lower()
    assert done.stdout.count("\n") == 1
    assert set(snapshot(vault)) == set(notes)


def test_a_vault_without_links_dreams_by_its_text(tmp_path: Path) -> None:
    notes = {name: re.sub(r"\[\[[^\]]*\]\]", "", text) for name, text in NOTES.items()}
    vault = make_vault(tmp_path / "vault", notes)
    found = dream(vault, "--start", "Slack water", "--seed", "1")
    (pair,) = (pair for pair in found["pairs"] if pair["to"] == "Falling asleep.md")
    assert pair["path"] is None
    assert "only the text connects them" in (vault / found["note"]).read_text(encoding="utf-8")


def test_a_vault_that_is_not_there_or_is_a_file(tmp_path: Path) -> None:
    (tmp_path / "file.md").write_text("x", encoding="utf-8")
    for words in (["dream"], ["resonances"], ["seeds"], ["links"], ["policy"], ["init"]):
        for vault in (tmp_path / "missing", tmp_path / "file.md"):
            done = run(*words, vault, check=False)
            assert done.returncode == 3, (words, done)
            assert len(done.stderr.strip().splitlines()) == 1
    assert sorted(path.name for path in tmp_path.iterdir() if path.name != "home") == ["file.md"]


def test_unknown_names_are_said_in_one_sentence(vault: Path) -> None:
    before = snapshot(vault)
    asked: tuple[list[str | Path], ...] = (
        ["dream", vault, "--start", "Nobody"],
        ["dream", vault, "--replay", "20200101-000000-1"],
        ["resonances", vault, "--from", "Nobody"],
        ["seeds", vault, "add", "x", "--note", "Nobody"],
    )
    for words in asked:
        done = run(*words, check=False)
        assert done.returncode == 4, done
        assert len(done.stderr.strip().splitlines()) == 1
    assert run("resonances", vault, "--from", "Compost", "--all", check=False).returncode == 2
    assert snapshot(vault) == before


def test_two_dreams_at_once_lose_nothing_and_show_no_pair_twice(vault: Path, home: Path) -> None:
    dream(vault, "--start", "Compost", "--seed", "1", "--dry-run")  # the vectors, once
    environment = {**os.environ, "PYTHONPATH": str(REPOSITORY)}
    both = [
        subprocess.Popen(
            [sys.executable, "-m", "aria_dream", "dream", str(vault), "--start", "Compost", "--seed", seed, "--json"],
            stdout=subprocess.PIPE,
            env=environment,
        )
        for seed in ("1", "2")
    ]
    found = [json.loads(one.communicate(timeout=240)[0]) for one in both]
    shown = [frozenset((pair["from"], pair["to"])) for one in found for pair in one["pairs"]]
    assert len(shown) == len(set(shown))
    (note,) = {one["note"] for one in found if one["written"]}
    blocks, problems = parse_blocks((vault / note).read_text(encoding="utf-8"))
    assert not problems
    assert sum(len(block.pairs) for block in blocks) == len(shown)
    assert len((state_folder(home) / "runs.jsonl").read_text(encoding="utf-8").splitlines()) == len(blocks)


@pytest.mark.skipif(sys.platform == "win32", reason="needs macOS or Linux: SIGKILL")
def test_killed_between_note_and_journal_the_next_dream_knows_what_was_shown(vault: Path, home: Path) -> None:
    code = (
        "import os, signal, sys\n"
        "from aria_dream.adapters.state import record_store as records\n"
        "records.RecordStore.propose = lambda self, proposals: os.kill(os.getpid(), signal.SIGKILL)\n"
        "from aria_dream.cli import main\n"
        "main(sys.argv[1:])\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, "dream", str(vault), "--start", "Compost", "--seed", "1"],
        env={**os.environ, "PYTHONPATH": str(REPOSITORY)},
        capture_output=True,
        check=False,
        timeout=240,
    )
    assert done.returncode == -signal.SIGKILL
    (note,) = (vault / "dreams").glob("*dream.md")
    (block,) = parse_blocks(note.read_text(encoding="utf-8"))[0]
    shown = {pair.id for pair in block.pairs}
    assert shown
    second = dream(vault, "--start", "Compost", "--seed", "1")
    assert not shown & {pair["id"] for pair in second["pairs"]}
    states, _ = parse_journal((state_folder(home) / "proposals.jsonl").read_text(encoding="utf-8"))
    assert shown <= set(states)


@pytest.mark.parametrize("words", [["dream"], ["dream", "--dry-run"], ["init"], ["apply"], ["review"], ["run"]])
def test_a_state_folder_that_cannot_be_used_is_one_sentence(
    vault: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, words: list[str]
) -> None:
    """Without a journal there is no writing; no command may end in a traceback over it."""
    (tmp_path / "in-the-way").write_text("a file", encoding="utf-8")
    monkeypatch.setenv("ARIA_DREAM_STATE", str(tmp_path / "in-the-way" / "state"))
    before = snapshot(vault)
    done = run(words[0], vault, *words[1:], check=False)
    assert done.returncode == 6, done.stderr
    assert len(done.stderr.strip().splitlines()) == 1
    assert snapshot(vault) == before
