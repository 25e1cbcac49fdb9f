"""What commands print with `--json` has the keys that docs/FORMATS.md lists, no more and no fewer."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from aria_dream.cli import main
from aria_dream.cli.eval_links import command as eval_links
from tests.reviewed import COMPOST, SLACK, id_of, night, write

REPOSITORY = Path(__file__).resolve().parents[2]
PAGE = (REPOSITORY / "docs" / "FORMATS.md").read_text(encoding="utf-8")


def listed(command: str) -> set[str]:
    """The keys in the table under the command's heading."""
    section = PAGE.partition(f"### `aria-dream {command} --json`\n")[2].partition("\n#")[0]
    rows = re.findall(r"^\| (`.*?) \|", section, re.MULTILINE)
    assert rows, f"docs/FORMATS.md does not describe {command}"
    return {key for row in rows for key in re.findall(r"`([^`]+)`", row)}


def printed(*words: object) -> list[dict[str, Any]]:
    done = CliRunner().invoke(main, [str(word) for word in words], catch_exceptions=False)
    assert done.exit_code == 0, done.output
    return [json.loads(line) for line in done.stdout.splitlines()]


@pytest.fixture
def garden(tmp_path: Path) -> Path:
    return Path(shutil.copytree(REPOSITORY / "examples" / "vault", tmp_path / "garden"))


def test_links(garden: Path) -> None:
    assert set(printed("links", garden, "--json")[0]) == listed("links")
    note = printed("links", garden, "--note", "Home", "--json")[0]
    assert set(note) >= {"links", "tags", "aliases"}
    assert set(note["links"][0]) == {"raw", "target", "display", "subpath", "embed", "in_frontmatter"}


def test_dream(garden: Path) -> None:
    (found,) = printed("dream", garden, "--seed", 4711, "--json")
    assert set(found) == listed("dream")
    pair = {"from", "to", "passages", "score", "path", "probability", "reason", "evidence"}
    assert set(found["pairs"][0]) == {*pair, "id", "place", "goes_to"}
    (asked,) = printed("dream", garden, "--start", "Pollarding", "--seed", 1, "--json", "--dry-run")
    assert set(asked["dropped"][0]) == pair
    (empty,) = printed("dream", garden, "--seed", 4711, "--json", "--dry-run")
    assert set(empty) == listed("dream")


def test_consolidate(garden: Path) -> None:
    (found,) = printed("consolidate", garden, "--json")
    assert set(found) == listed("consolidate")
    (nothing,) = printed("consolidate", garden, "--resume", "--json")
    assert set(nothing) == set(found)


def test_those_that_look_after_a_vault(garden: Path) -> None:
    (rehearsed,) = printed("init", garden, "--dry-run", "--json")
    assert set(rehearsed) == listed("init")
    (policy,) = printed("policy", garden, "--json")
    assert set(policy) == listed("policy")
    assert set(policy["settings"][0]) == keys_of("policy", "settings")
    (status,) = printed("status", garden, "--json")
    assert set(status) == listed("status")
    (doctor,) = printed("doctor", garden, "--json")
    assert set(doctor) == listed("doctor")
    assert set(doctor["readings"]) == keys_of("doctor", "readings")
    (once,) = printed("run", garden, "--once", "--json")
    assert set(once) == listed("run --once")


def test_consent(garden: Path) -> None:
    (found,) = printed("consent", garden, "--json")
    assert set(found) == listed("consent")
    rows = {"purpose", "to", "asked_for", "text", "leaves"}
    assert [set(each) for each in found["destinations"]] == [rows, rows]


def test_demo(tmp_path: Path) -> None:
    (found,) = printed("demo", "--json", "--keep", tmp_path / "kept")
    assert set(found) == listed("demo")
    assert {frozenset(dreamt) for dreamt in found["dreams"]} == {frozenset(listed("dream"))}
    assert found["text"] == (tmp_path / "kept" / found["note"]).read_text(encoding="utf-8")


def keys_of(command: str, field: str) -> set[str]:
    """The keys of the objects in one field of a command's output."""
    section = PAGE.partition(f"### `aria-dream {command} --json`\n")[2].partition("\n#")[0]
    return set(re.findall(r"`(\w+)`", section.partition(f"| `{field}` | ")[2].partition("\n")[0]))


def test_review_apply_history_and_rollback(tmp_path: Path) -> None:
    vault = tmp_path / "vault"
    night(vault)
    (found,) = printed("review", vault, "--json")
    assert set(found) == {"waiting", "findings", "kept"}
    assert set(found["waiting"][0]) == keys_of("review", "waiting")
    assert set(found["waiting"][0]["edits"][0]) == {"path", "start", "removed", "inserted"}
    (applied,) = printed("apply", vault, "--json")
    assert set(applied) == listed("apply")
    (approved,) = printed("review", vault, id_of(COMPOST), "--approve", "--json")
    assert set(approved) == listed("apply")
    write(vault, "dreaming.md", "---\naria-dream: policy\n---\n- ollama_url: http://127.0.0.1:1\n")
    (looked,) = printed("janus", vault, id_of(SLACK), "--json")
    assert set(looked) == listed("janus")
    assert looked["reason"].startswith("no independent review: Ollama does not answer")
    (history,) = printed("history", vault, "--json")
    assert set(history) == listed("history")
    assert set(history["history"][0]) == keys_of("history", "history")
    (rolled,) = printed("rollback", vault, id_of(COMPOST), "--json")
    assert set(rolled) == listed("rollback")


def test_graduation(tmp_path: Path) -> None:
    night(tmp_path / "vault")
    (found,) = printed("graduation", tmp_path / "vault", "--json")
    assert set(found) == listed("graduation")
    assert set(found["bars"]) == keys_of("graduation", "bars")
    assert set(found["kinds"][0]) == keys_of("graduation", "kinds")


def test_resonances(garden: Path) -> None:
    rows = printed("resonances", garden, "--all", "--limit", 2, "--json")
    assert {frozenset(row) for row in rows} == {frozenset(listed("resonances"))}
    ranked = printed("resonances", garden, "--limit", 5, "--json")
    assert [row["score"] for row in ranked] == sorted((row["score"] for row in ranked), reverse=True)


def test_seeds(garden: Path) -> None:
    printed("seeds", garden, "add", "A thought", "--note", "Home", "--json")
    (found,) = printed("seeds", garden, "--json")
    assert set(found) == listed("seeds")
    assert set(found["seeds"][0]) == set(
        re.findall(r"`(\w+)`", PAGE.partition("| `seeds` | each ")[2].partition("\n")[0])
    )


def test_eval_links(garden: Path) -> None:
    done = CliRunner().invoke(eval_links, [str(garden), "--json"], catch_exceptions=False)
    found = json.loads(done.output)
    assert set(found) == listed("eval links")
    assert set(found["rankings"]["aria-dream"]) == set(
        re.findall(r"`([^`]+)`", PAGE.partition("| `rankings` | name to ")[2].partition("\n")[0])
    )


def test_reach(tmp_path: Path) -> None:
    vault = tmp_path / "vault"
    night(vault)
    seeds = vault / "dreams" / "Dream seeds.md"
    head = "---\naria-dream: seeds\n---\n"
    seeds.write_text(f"{head}## A claim\n- kind: external-novelty\n- source: https://example.org/a\n", encoding="utf-8")
    (found,) = printed("reach", vault, "--external", "--json")
    assert set(found) == listed("reach")
    assert set(found["budget"]) == {"spent", "limits", "requests_per_reach"}
    assert set(found["budget"]["spent"]) == set(found["budget"]["limits"]) == {"in_5h", "in_week", "in_month"}
    (shown,) = printed("reach", vault, "--external", "--dry-run", "--json")
    assert set(shown) == listed("reach")
    assert shown["prompt"]
    (probe,) = printed("reach", vault, "--probe", "--json")
    assert set(probe) == listed("reach --probe")
    (log,) = printed("reach", vault, "--log", "--json")
    assert set(log) == listed("reach --log")
    (answer_cache,) = printed("reach", vault, "--backfill-memo", "--json")
    assert set(answer_cache) == listed("reach --backfill-memo")
    (consent,) = printed("reach", vault, "--consent", "--json")
    assert set(consent) == {"confirmed", "already", "place"}
