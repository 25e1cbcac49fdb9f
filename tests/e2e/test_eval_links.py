"""`aria-dream eval links` on real folders and a real git repository."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from pathlib import Path

import pytest
from click.testing import CliRunner

from aria_dream.cli.eval_links import command

REPOSITORY = Path(__file__).resolve().parents[2]
RANKINGS = ["TF-IDF", "personalised PageRank", "Adamic-Adar", "fixed fusion", "aria-dream"]


@pytest.fixture
def garden(tmp_path: Path) -> Path:
    return Path(shutil.copytree(REPOSITORY / "examples" / "vault", tmp_path / "garden"))


def git(folder: Path, *words: str, day: str = "2026-01-01") -> None:
    moment = f"{day}T12:00:00+0000"
    subprocess.run(
        ["git", "-C", str(folder), "-c", "user.name=w", "-c", "user.email=w@example.org", *words],
        check=True,
        capture_output=True,
        env={**os.environ, "GIT_AUTHOR_DATE": moment, "GIT_COMMITTER_DATE": moment, "GIT_CONFIG_NOSYSTEM": "1"},
    )


def run(*words: object) -> str:
    done = CliRunner().invoke(command, [str(word) for word in words], catch_exceptions=False)
    assert done.exit_code == 0, done.output
    return done.output


def test_hidden_links_are_found_again_and_the_baselines_stand_beside(garden: Path) -> None:
    found = json.loads(run(garden, "--json"))
    assert list(found["rankings"]) == RANKINGS
    assert found["hidden"] == round(0.2 * found["links"])
    assert {one["asked"] for one in found["rankings"].values()} == {2 * found["hidden"]}
    assert found["rankings"]["aria-dream"]["MRR"] > found["rankings"]["Adamic-Adar"]["MRR"]
    assert json.loads(run(garden, "--json")) == found
    assert json.loads(run(garden, "--json", "--seed", 1)) != found


def test_the_figures_are_told_in_words(garden: Path) -> None:
    told = run(garden, "--fraction", "0.1")
    assert "10% of the linked pairs were hidden" in told
    assert all(ranking in told for ranking in RANKINGS)


def test_links_drawn_since_a_day_are_looked_for(garden: Path, tmp_path: Path) -> None:
    whole = tmp_path / "whole"
    (whole / "deep").mkdir(parents=True)
    vault = Path(shutil.move(garden, whole / "deep" / "garden"))
    git(whole, "init", "-q")
    git(whole, "add", ".")
    git(whole, "commit", "-qm", "then")
    first, second = sorted(path.stem for path in (vault / "Notes").glob("*.md"))[:2]
    path = vault / "Notes" / f"{first}.md"
    text = path.read_text(encoding="utf-8")
    assert f"[[{second}]]" not in text
    path.write_text(f"{text}\n[[{second}]]\n", encoding="utf-8")
    (vault / "New.md").write_text(f"[[{first}]]\n", encoding="utf-8")
    found = json.loads(run(vault, "--since", "2026-06-01", "--json"))
    assert found["hidden"] == 1  # the new note was not there then
    assert found["rankings"]["aria-dream"]["asked"] == 2


def test_a_vault_without_history_says_so(garden: Path) -> None:
    done = CliRunner().invoke(command, [str(garden), "--since", "2026-06-01"], env={"GIT_CEILING_DIRECTORIES": "/"})
    assert done.exit_code == 1
    assert "history cannot be read" in str(done.exception)


def test_nothing_to_look_for(tmp_path: Path) -> None:
    (tmp_path / "vault").mkdir()
    (tmp_path / "vault" / "One.md").write_text("Alone.\n", encoding="utf-8")
    assert "nothing to look for" in run(tmp_path / "vault")
