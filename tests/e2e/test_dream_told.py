"""What a dream tells of what it looked at: drops, near-duplicates, seeds that name several notes, notes of one name."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

from tests.e2e.test_dream import NOTES, dream, make_vault, run

NEAR_ALIKE = Path(__file__).resolve().parents[1] / "fixtures" / "near_alike"
RESEARCH, DESIGN = "Tower clock research.md", "A better way to tell the clock story.md"


def test_what_consolidation_would_not_merge_the_dream_shows(tmp_path: Path) -> None:
    vault = tmp_path / "vault"
    shutil.copytree(NEAR_ALIKE, vault)
    found = dream(vault, "--start", RESEARCH, "--dry-run")
    assert "0 pairs lie near each other" in run("consolidate", vault, "--dry-run").stdout
    (pair,) = (pair for pair in found["pairs"] if pair["to"] == DESIGN)
    assert "say nearly the same" in pair["reason"] or "word for word" in pair["reason"]
    assert len(found["pairs"]) + len(found["dropped"]) == 9


def test_what_consolidation_merges_the_dream_leaves_to_it_and_says_so(tmp_path: Path) -> None:
    vault = tmp_path / "vault"
    shutil.copytree(NEAR_ALIKE, vault)
    copy = (vault / RESEARCH).read_text(encoding="utf-8")
    (vault / "Clock notes.md").write_text(copy, encoding="utf-8")
    found = dream(vault, "--start", RESEARCH, "--dry-run")
    (dropped,) = (pair for pair in found["dropped"] if pair["to"] == "Clock notes.md")
    assert dropped["reason"] == "say nearly the same, which is for consolidation to merge"
    assert "0 pairs lie near each other" not in run("consolidate", vault, "--dry-run").stdout


def test_an_empty_dream_lists_all_that_it_dropped_and_why(tmp_path: Path) -> None:
    notes = {name: NOTES[name] for name in ("Tax return.md", "Compost.md", "Slack water.md")}
    vault = make_vault(tmp_path / "vault", notes)
    found = dream(vault, "--start", "Tax return", "--seed", "1")
    assert found["note"] is None
    assert {pair["to"] for pair in found["dropped"]} == {"Compost.md", "Slack water.md"}
    assert all(pair["reason"] for pair in found["dropped"])
    said = run("dream", vault, "--start", "Tax return", "--seed", "1").stdout.splitlines()
    assert said[0].startswith("An empty dream, nothing was written: started from “Tax return”, and the judge kept none")
    assert [line.split(" (")[0].strip() for line in said[1:]] == [
        f"Tax return ↔ {pair['to'].removesuffix('.md')}" for pair in found["dropped"]
    ]


def test_the_pairs_of_a_seed_are_told_first_and_the_seed_is_dreamt(tmp_path: Path) -> None:
    vault = make_vault(tmp_path / "vault")
    run("seeds", vault, "add", "what joins them", "--note", "Compost", "--note", "Tax return", "--note", "Microbes")
    found = dream(vault, "--seed", "1")
    assert found["start"] == "Compost.md"
    told = [(pair["from"], pair["to"]) for pair in (*found["pairs"], *found["dropped"])]
    wanted = {("Compost.md", "Tax return.md"), ("Compost.md", "Microbes.md"), ("Tax return.md", "Microbes.md")}
    assert wanted <= set(told)
    assert ("Compost.md", "Microbes.md", "are linked already") in {
        (pair["from"], pair["to"], pair["reason"]) for pair in found["dropped"]
    }
    dropped = [(pair["from"], pair["to"]) for pair in found["dropped"]]
    assert set(dropped[: len(wanted & set(dropped))]) <= wanted
    assert "Tax return" in (vault / found["note"]).read_text(encoding="utf-8")
    seeds = json.loads(run("seeds", vault, "--json").stdout)["seeds"]
    assert [seed["status"] for seed in seeds] == ["dreamt"]
    again = dream(vault, "--replay", found["id"])
    assert {(pair["from"], pair["to"]) for pair in (*again["pairs"], *again["dropped"])} >= wanted


def test_a_seed_whose_only_pair_is_dropped_is_dreamt_all_the_same(tmp_path: Path) -> None:
    vault = make_vault(tmp_path / "vault", {name: NOTES[name] for name in ("Tax return.md", "Slack water.md")})
    run("seeds", vault, "add", "tides of tax", "--note", "Tax return", "--note", "Slack water")
    found = dream(vault, "--seed", "1")
    assert found["pairs"] == []
    assert found["written"]
    text = (vault / found["note"]).read_text(encoding="utf-8")
    assert "Nothing survived the judge this time." in text
    assert "Tax return ↔ Slack water" in text
    assert json.loads(run("seeds", vault, "--json").stdout)["seeds"][0]["status"] == "dreamt"


def test_notes_of_one_name_bear_their_folder_in_every_list(tmp_path: Path) -> None:
    vault = make_vault(tmp_path / "vault", {f"{name[:-3]}/note.md": text for name, text in NOTES.items()})
    for line in run("resonances", vault, "--limit", "8").stdout.splitlines():
        if " ↔ " in line:
            assert all(end.strip().endswith("/note") for end in line[7:].split(" ↔ "))
    found = dream(vault, "--start", "Compost/note.md", "--seed", "4")
    text = (vault / found["note"]).read_text(encoding="utf-8")
    assert "Started from Compost/note" in text
    assert "|Compost/note]]" in text
    assert "↔ note" not in text
    assert not any(" note " in f" {pair['reason']} " for pair in (*found["pairs"], *found["dropped"]))
    listed = run("review", vault).stdout
    assert "Compost/note ↔ " in listed
    assert "↔ note" not in listed
