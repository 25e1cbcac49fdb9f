"""`aria-dream init --snippet`: the one file that goes into Obsidian's own folder, asked for, and over nothing."""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest
import yaml

from tests.reviewed import night, run, write

TEMPLATE = Path(__file__).resolve().parents[2] / "vault_template"
SNIPPET = ".obsidian/snippets/aria-dream.css"
NIGHTS = "dreams/Dream nights.base"
DOCUMENTED = {
    "background-modifier-border", "background-secondary", "color-purple", "font-normal", "font-semibold",
    "interactive-accent", "mono-rgb-100", "radius-m", "size-4-1", "size-4-2", "size-4-3", "text-muted", "text-normal",
}  # fmt: skip
"""Of Obsidian's documented CSS variables, those that the snippet stands on: a theme sets them for light and dark."""


@pytest.fixture
def vault(tmp_path: Path) -> Path:
    folder = tmp_path / "vault"
    write(folder, "A.md", "a\n")
    write(folder, ".obsidian/app.json", "{}")
    return folder


def test_nothing_goes_into_obsidians_folder_unasked(vault: Path) -> None:
    run("init", vault)
    assert [path.name for path in (vault / ".obsidian").rglob("*")] == ["app.json"]
    assert not (vault / NIGHTS).exists()


def test_the_snippet_and_the_nights_are_written_once(vault: Path) -> None:
    rehearsed = run("init", vault, "--snippet", "--dry-run").stdout
    assert SNIPPET in rehearsed
    assert not (vault / SNIPPET).exists()
    assert SNIPPET in run("init", vault, "--snippet").stdout
    assert (vault / SNIPPET).read_bytes() == (TEMPLATE / "snippets" / "aria-dream.css").read_bytes()
    assert [path.name for path in (vault / SNIPPET).parent.iterdir()] == ["aria-dream.css"]
    assert (vault / ".obsidian" / "app.json").read_text(encoding="utf-8") == "{}"
    assert (vault / NIGHTS).exists()
    (vault / SNIPPET).write_text("/* mine */", encoding="utf-8")
    (vault / NIGHTS).write_text("views: []\n", encoding="utf-8")
    assert "Left as it is" in run("init", vault, "--snippet").stdout
    assert (vault / SNIPPET).read_text(encoding="utf-8") == "/* mine */"
    assert (vault / NIGHTS).read_text(encoding="utf-8") == "views: []\n"


def test_a_vault_that_obsidian_has_not_opened_is_told(tmp_path: Path) -> None:
    write(tmp_path / "vault", "A.md", "a\n")
    done = run("init", tmp_path / "vault", "--snippet").stdout
    assert "has not opened this vault yet. Open it there once" in done
    for path in ("dreaming.md", "triggers.md", NIGHTS):
        assert path in done
        assert (tmp_path / "vault" / path).exists()
    assert not (tmp_path / "vault" / ".obsidian").exists()
    (tmp_path / "vault" / ".obsidian").mkdir()
    assert f"Written: {SNIPPET}" in run("init", tmp_path / "vault", "--snippet").stdout


@pytest.mark.skipif(os.name == "nt", reason="needs symbolic links")
def test_the_snippet_never_leaves_the_vault(vault: Path, tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    (vault / ".obsidian" / "snippets").symlink_to(tmp_path / "elsewhere")
    done = run("init", vault, "--snippet", check=False)
    assert done.returncode == 6
    assert "leads out of the vault" in done.stderr
    assert NIGHTS in done.stdout  # what was written is told all the same
    assert not list((tmp_path / "elsewhere").iterdir())


def test_a_name_that_a_link_looks_up_is_not_taken(vault: Path) -> None:
    write(vault, "A.md", "![[Dream nights.base]]\n")
    assert "links of yours look up that name" in run("init", vault, "--snippet").stdout
    assert not (vault / NIGHTS).exists()


def test_the_nights_are_found_by_what_every_dream_note_says(vault: Path) -> None:
    found = yaml.safe_load((TEMPLATE / "dreams" / "Dream nights.base").read_text(encoding="utf-8"))
    assert found["filters"] == {"and": ['note["aria-dream"] == "log"']}
    text = night(vault).read_text(encoding="utf-8")
    properties = yaml.safe_load(text.split("---")[1])
    assert properties["aria-dream"] == "log"
    columns = {name.removeprefix("note.") for view in found["views"] for name in view["order"] if "note." in name}
    assert columns <= set(properties)


def test_the_snippet_leaves_every_colour_to_the_theme() -> None:
    css = (TEMPLATE / "snippets" / "aria-dream.css").read_text(encoding="utf-8")
    rules = re.sub(r"/\*.*?\*/", "", css, flags=re.DOTALL)
    assert not re.search(r"#[0-9a-fA-F]{3,8}\b|rgba?\(|hsla?\(", rules)
    used = set(re.findall(r"var\(--([\w-]+)", rules)) - {"aria-dream-tint"}
    assert used <= DOCUMENTED
    selectors = re.findall(r"([^{}@]+)\{", rules)
    assert all(".aria-dream" in part for selector in selectors for part in selector.split(",") if "print" not in part)
    assert rules.count("{") == rules.count("}")
