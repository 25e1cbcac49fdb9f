"""`aria-dream init` and `aria-dream policy` as a writer runs them: real processes on real folders."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from aria_dream.errors import PolicyClosedError, VaultUnreadableError, WriteRefusedError
from aria_dream.markdown.note import decode_note, parse_note
from aria_dream.vault.resolve import Resolver

REPOSITORY = Path(__file__).resolve().parents[2]
USUAL = {"dreaming.md", "triggers.md", "dreams/Dream review.md", "dreams/Dream seeds.md"}


def run(*arguments: str | Path, **env: str) -> subprocess.CompletedProcess[str]:
    """One command in a process of its own, with the test's home and no other settings."""
    return subprocess.run(
        [sys.executable, "-m", "aria_dream", *map(str, arguments)],
        capture_output=True,
        encoding="utf-8",
        env={**os.environ, "PYTHONPATH": str(REPOSITORY), "PYTHONIOENCODING": "utf-8", **env},
        check=False,
        timeout=120,
    )


def init(vault: Path, *options: str) -> dict[str, Any]:
    done = run("init", vault, "--json", *options)
    assert done.returncode == 0, done.stderr
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def policy(vault: Path, **env: str) -> dict[str, Any]:
    done = run("policy", vault, "--json", **env)
    assert done.returncode == 0, done.stderr
    found: dict[str, Any] = json.loads(done.stdout)
    found["by_name"] = {setting["name"]: setting for setting in found["settings"]}
    return found


def contents(vault: Path) -> dict[str, bytes]:
    return {path.relative_to(vault).as_posix(): path.read_bytes() for path in vault.rglob("*") if path.is_file()}


def make_vault(root: Path, notes: dict[str, str]) -> Path:
    for name, text in notes.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8", newline="")
    root.mkdir(exist_ok=True)
    return root


def meanings(vault: Path, sources: list[str]) -> list[str | None]:
    resolver = Resolver(contents(vault))
    texts = {source: decode_note((vault / source).read_bytes()) for source in sources}
    return [resolver.resolve(link.path, source) for source in sources for link in parse_note(texts[source]).links]


def test_an_empty_folder_becomes_a_dreaming_vault(tmp_path: Path) -> None:
    vault = make_vault(tmp_path / "v", {})
    assert set(init(vault)["created"]) == USUAL
    assert set(contents(vault)) == USUAL
    found = policy(vault)
    assert found["policy"] == "dreaming.md"
    assert found["problems"] == []
    assert found["shut"] == {}
    assert found["sending_closed"] == ""
    assert all(setting["value"] is not None for setting in found["settings"])


def test_running_it_again_changes_nothing(tmp_path: Path) -> None:
    vault = make_vault(tmp_path / "v", {"a.md": "[[b]]"})
    init(vault)
    before = contents(vault)
    again = init(vault)
    assert again["created"] == again["changed"] == []
    assert set(again["kept"]) == USUAL
    assert contents(vault) == before


def test_a_dry_run_writes_nothing(tmp_path: Path) -> None:
    vault = make_vault(tmp_path / "v", {"a.md": "x"})
    assert set(init(vault, "--dry-run")["created"]) == USUAL
    assert contents(vault) == {"a.md": b"x"}


def test_each_vault_gets_an_id_of_its_own(tmp_path: Path) -> None:
    ids = []
    for name in ("one", "two"):
        vault = make_vault(tmp_path / name, {})
        init(vault)
        ids.append(policy(vault)["vault_id"])
    assert len(set(ids)) == 2
    moved = tmp_path / "three"
    (tmp_path / "one").rename(moved)
    assert policy(moved)["vault_id"] == ids[0]


def test_the_other_name_for_the_policy(tmp_path: Path) -> None:
    vault = make_vault(tmp_path / "v", {"dreaming.md": "about dreaming"})
    assert "dream.md" in init(vault, "--policy", "dream.md")["created"]
    assert policy(vault)["policy"] == "dream.md"
    assert (vault / "dreaming.md").read_text(encoding="utf-8") == "about dreaming"


def test_what_is_the_writers_is_not_taken_over(tmp_path: Path) -> None:
    notes = {
        "Dreaming.md": "my notes on dreaming, see [[dream]] and [[triggers]]",
        "Dreams/2026-11-30 dream.md": "I flew. [[Dream seeds]] [x](Dream%20latest.canvas)",
        "Dreams/Dream review.md": "---\naria-dream: of another kind\n---\nmine",
        "a.md": "[[Dreams/2026-12-01 dream]] [[2026-12-02]] [[Dream review]] [[aria dreams/Dream review]]",
        "Aria Dreams/x.md": "mine too",
    }
    vault = make_vault(tmp_path / "v", notes)
    before, meant = contents(vault), meanings(vault, list(notes))
    made = init(vault)
    assert made["dream_folder"] == "aria dreams 2"
    assert made["policy"] == "aria dreaming.md"
    assert made["triggers"] == "aria triggers.md"
    assert len(made["said"]) >= 4
    after = contents(vault)
    assert {path: after[path] for path in before} == before
    assert meanings(vault, list(notes)) == meant
    found = policy(vault)
    assert found["by_name"]["dream_folder"]["value"] == "aria dreams 2"
    again = init(vault)
    assert again["created"] == again["changed"] == []


def test_the_policy_remembers_another_folder(tmp_path: Path) -> None:
    text = (
        "---\r\naria-dream: policy\r\n---\r\n\r\n- poll_s: 90\r\n- dream_folder: Journal   # here\r\n\r\nMy remark\r\n"
    )
    vault = make_vault(tmp_path / "v", {"dreaming.md": text, "journal/a.md": "mine"})
    made = init(vault)
    assert made["changed"] == ["dreaming.md"]
    assert made["dream_folder"] == "aria Journal"
    changed = (vault / "dreaming.md").read_bytes().decode("utf-8")
    assert changed == text.replace("- dream_folder: Journal ", "- dream_folder: aria Journal ")
    assert init(vault)["changed"] == []


def test_a_policy_that_vanishes_closes_everything_until_init(tmp_path: Path) -> None:
    vault = make_vault(tmp_path / "v", {"a.md": "x"})
    init(vault)
    (vault / "dreaming.md").unlink()
    found = policy(vault)
    assert set(found["shut"]) == {"dream", "spend", "send", "write", "auto"}
    assert found["by_name"]["dreaming"]["value"] is False
    assert found["problems"][0]["path"] == "dreaming.md"
    init(vault)
    assert policy(vault)["shut"] == {}


def test_a_policy_that_was_never_there_is_the_defaults(tmp_path: Path) -> None:
    found = policy(make_vault(tmp_path / "v", {"a.md": "x"}))
    assert found["shut"] == {}
    assert found["by_name"]["dreaming"] | {"meaning": ""} == {
        "name": "dreaming", "value": True, "default": "on", "source": "default", "origin": "default",
        "group": "When it dreams", "meaning": "",
    }  # fmt: skip


def test_values_problems_and_their_places(tmp_path: Path) -> None:
    text = "---\naria-dream: policy\n---\n- poll_s: 90\n- canvas: maybe\n- never_send: Nowhere\n"
    vault = make_vault(tmp_path / "v", {"dreaming.md": text, "a.md": "x"})
    found = policy(vault, ARIA_COOLDOWN_MIN="5", ARIA_EXCLUDE="")
    assert found["by_name"]["poll_s"]["origin"] == "dreaming.md:4"
    assert found["by_name"]["cooldown_min"]["value"] == 5
    assert found["by_name"]["cooldown_min"]["source"] == "environment"
    assert found["by_name"]["canvas"]["source"] == "closed"
    assert [(problem["path"], problem["line"]) for problem in found["problems"]] == [
        ("dreaming.md", 5), ("", 0), ("dreaming.md", 6),
    ]  # fmt: skip
    assert found["sending_closed"]
    shown = run("policy", vault)
    assert shown.returncode == 0
    assert "dreaming.md:5" in shown.stdout
    assert "Traceback" not in shown.stderr


@pytest.mark.parametrize("broken", ["---\naria-dream: policy\nx: [\n---\n", "two"])
def test_a_policy_that_cannot_be_read_is_not_replaced(tmp_path: Path, broken: str) -> None:
    marked = "---\naria-dream: policy\n---\n"
    notes = {"dreaming.md": marked, "dream.md": marked} if broken == "two" else {"dreaming.md": broken}
    vault = make_vault(tmp_path / "v", notes)
    before = contents(vault)
    done = run("init", vault)
    assert done.returncode == PolicyClosedError.exit_code
    assert "mended" in done.stderr
    assert contents(vault) == before


@pytest.mark.parametrize("command", ["init", "policy"])
def test_there_is_no_such_vault(tmp_path: Path, command: str) -> None:
    (tmp_path / "file").write_text("x", encoding="utf-8")
    for place in (tmp_path / "nowhere", tmp_path / "file"):
        done = run(command, place)
        assert done.returncode == VaultUnreadableError.exit_code
        assert len(done.stderr.strip().splitlines()) == 1
    assert not (tmp_path / "nowhere").exists()


def test_without_a_journal_nothing_is_written(tmp_path: Path) -> None:
    vault = make_vault(tmp_path / "v", {"a.md": "x"})
    (tmp_path / "file").write_text("in the way", encoding="utf-8")
    done = run("init", vault, ARIA_DREAM_STATE=str(tmp_path / "file" / "state"))
    assert done.returncode == WriteRefusedError.exit_code
    assert len(done.stderr.strip().splitlines()) == 1
    assert set(contents(vault)) == {"a.md"}


@pytest.mark.shared
@pytest.mark.parametrize("name", ["vaultofknowledge", "foam-docs"])
def test_real_vaults_keep_every_link(shared: Path, tmp_path: Path, name: str) -> None:
    import shutil

    vault = tmp_path / "v"
    shutil.copytree(shared / "vaults" / name, vault)
    notes = sorted(path for path in contents(vault) if path.lower().endswith(".md"))
    before, meant = contents(vault), meanings(vault, notes)
    init(vault)
    after = contents(vault)
    assert {path: after[path] for path in before} == before
    assert len(after) == len(before) + 4
    assert meanings(vault, notes) == meant
