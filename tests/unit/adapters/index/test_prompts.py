"""The writer's copy of a prompt counts while it is whole; else the shipped one, and the fault is told with its line."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING

import pytest

from aria_dream.adapters.disk.places import Places
from aria_dream.adapters.index.dreamt_vault import read_dreamt_vault
from aria_dream.adapters.index.live_policy import FoundPrompt, prompt_names, read_prompt, shipped_prompt
from aria_dream.judging.triage_prompt import PROMPT_NAME
from tests.e2e.test_dream import make_vault, run

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def vault(tmp_path: Path) -> Path:
    root = make_vault(tmp_path / "vault")
    run("init", root)
    return root


def found(vault: Path, tmp_path: Path) -> FoundPrompt:
    seen = read_dreamt_vault(vault, Places(state=tmp_path / "state", cache=tmp_path / "cache"), environ={})
    return read_prompt(PROMPT_NAME, seen.root, seen.names, seen.home)


@pytest.mark.parametrize("name", prompt_names())
def test_shipped_prompts_are_whole(name: str) -> None:
    shipped = shipped_prompt(name)
    assert {"sentinel_open", "sentinel_close"} <= shipped.prompt.placeholders
    assert "<!--" not in shipped.prompt.system
    assert "Placement" not in shipped.prompt.system
    documented = {line[2:].partition(":")[0] for line in shipped.text.splitlines() if line.startswith("- ")}
    assert shipped.prompt.placeholders <= documented


def test_a_copy_counts_at_once(vault: Path, tmp_path: Path) -> None:
    assert found(vault, tmp_path).path == ""
    done = run("prompts", "eject", "dream-triage", vault, "--json")
    path = json.loads(done.stdout)["path"]
    assert path == "dreams/prompts/dream-triage.md"
    assert found(vault, tmp_path).path == path
    assert found(vault, tmp_path).prompt == shipped_prompt(PROMPT_NAME).prompt
    copy = vault / path
    copy.write_text(copy.read_text("utf-8").replace("If you hesitate, drop.", "If you hesitate, keep."), "utf-8")
    mine = found(vault, tmp_path)
    assert "If you hesitate, keep." in mine.prompt.system
    assert mine.prompt.hash != shipped_prompt(PROMPT_NAME).prompt.hash
    assert "If you hesitate, keep." in run("prompts", "show", "dream-triage", vault).stdout
    again = run("prompts", "eject", "dream-triage", vault)  # nothing that is there is changed
    assert "is there already" in again.stdout
    assert "If you hesitate, keep." in copy.read_text("utf-8")


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("{{note_b}}", "", "the placeholder `{{note_b}}` is missing"),
        ("{{path}}", "{{way}}", "`{{way}}` is no placeholder"),
        ("## Request", "### Request", "the heading `## Request` is missing"),
        ("Second note:", "x" * 100_000, "more than"),
    ],
)
def test_a_copy_that_is_not_whole_is_told_and_not_used(
    vault: Path, tmp_path: Path, old: str, new: str, said: str
) -> None:
    run("prompts", "eject", "dream-triage", vault)
    copy = vault / "dreams/prompts/dream-triage.md"
    copy.write_text(copy.read_text("utf-8").replace(old, new), "utf-8")
    broken = found(vault, tmp_path)
    assert broken.prompt == shipped_prompt(PROMPT_NAME).prompt
    assert said in " ".join(map(str, broken.problems))
    assert "the shipped prompt is used meanwhile" in str(broken.problems[0])
    assert said in run("prompts", "show", "dream-triage", vault).stderr


def test_no_link_of_the_writer_comes_to_mean_a_copy(tmp_path: Path) -> None:
    notes = {"Gods.md": "Two faces: [[janus]]. Also [[dream-triage]].\n", "Janus.md": "The god of doors.\n"}
    root = make_vault(tmp_path / "vault", notes)
    run("init", root)
    for name in ("janus", "dream-triage"):
        path = json.loads(run("prompts", "eject", name, root, "--json").stdout)["path"]
        assert path == f"dreams/prompts/{name} 2.md"
        assert json.loads(run("prompts", "show", name, root, "--json").stdout)["path"] == path


def test_a_folder_that_is_not_ours_holds_no_prompts(tmp_path: Path) -> None:
    text = shipped_prompt(PROMPT_NAME).text.replace("If you hesitate, drop.", "Keep all.")
    root = make_vault(tmp_path / "vault", {"A.md": "a\n", "dreams/prompts/dream-triage.md": text})
    assert found(root, tmp_path).path == ""
    refused = run("prompts", "eject", "dream-triage", root, check=False)
    assert refused.returncode == 4
    assert "aria-dream init" in refused.stderr
    run("init", root)
    assert found(root, tmp_path).path == ""


def test_a_link_out_of_the_vault_is_not_followed(vault: Path, tmp_path: Path) -> None:
    outside = tmp_path / "outside.md"
    outside.write_text(shipped_prompt(PROMPT_NAME).text.replace("drop", "keep"), encoding="utf-8")
    (vault / "dreams/prompts").mkdir()
    try:
        (vault / "dreams/prompts/dream-triage.md").symlink_to(outside)
    except OSError:
        pytest.skip("needs Windows with the right to make links")
    assert found(vault, tmp_path).prompt == shipped_prompt(PROMPT_NAME).prompt


def test_a_prompt_that_is_none(vault: Path) -> None:
    refused = run("prompts", "show", "nothing", vault, check=False)
    assert refused.returncode == 4
    assert "dream-triage" in refused.stderr
    assert re.search(r"^dream-triage +as shipped$", run("prompts").stdout, re.MULTILINE)
    run("prompts", "eject", "dream-triage", vault)
    listing = run("prompts", vault).stdout
    assert re.search(r"^dream-triage +dreams/prompts/dream-triage\.md$", listing, re.MULTILINE)
    listed = [json.loads(line) for line in run("prompts", "list", vault, "--json").stdout.splitlines()]
    assert [each["name"] for each in listed] == list(prompt_names())
