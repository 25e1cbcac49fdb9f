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
    pair = {"from", "to", "score", "path", "probability", "reason", "evidence"}
    assert set(found["pairs"][0]) == {*pair, "id"}
    assert set(found["dropped"][0]) == pair
    (empty,) = printed("dream", garden, "--seed", 4711, "--json", "--dry-run")
    assert set(empty) == listed("dream")


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
