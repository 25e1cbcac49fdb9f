"""The small vaults of the conformance cases, as far as reading and resolving goes."""

from __future__ import annotations

import shutil
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from aria_dream.markdown.note import Note, decode_note, parse_note, subpath_found
from aria_dream.markdown.properties import render_property
from aria_dream.markdown.scan import scan_note
from aria_dream.vault.resolve import Resolver

if TYPE_CHECKING:
    from pathlib import Path



def _vault(cases: Path, case: str, scratch: Path) -> dict[str, bytes]:
    folder = next(cases.glob(f"{case}-*"))
    copy = scratch / "case"
    shutil.copytree(folder, copy)
    for path in (copy, *copy.rglob("*")):
        path.chmod(0o755 if path.is_dir() else 0o644)
    if (copy / "setup.py").exists():
        subprocess.run([sys.executable, "setup.py"], cwd=copy, check=True, timeout=60)
    vault = copy / "vault"
    return {path.relative_to(vault).as_posix(): path.read_bytes() for path in vault.rglob("*") if path.is_file()}


def _note(files: dict[str, bytes], path: str) -> Note:
    return parse_note(decode_note(files[path]))


def _targets(files: dict[str, bytes], path: str) -> list[str | None]:
    resolver = Resolver(files)
    return [resolver.resolve(link.path, path) for link in _note(files, path).links]


@pytest.mark.parametrize(
    ("case", "note", "targets"),
    [
        ("01", "Shell.md", ["Bash.md"] * 3),
        ("02", "Table.md", ["Red Team.md", "Red Team.md", "map.png", "Red Team.md"]),
        (
            "05",
            "Index.md",
            ["Release 1.2.md", "Release 1.2.md", "B.H. Liddell Hart.md", "test.yo.md", "diagram.v2.png"],
        ),
        ("08", "Self.md", ["Self.md"]),
        ("08", "Method.md", ["Journal.md"]),
        ("13", "Good.md", ["Unclosed.md"]),
        ("13", "Unclosed.md", ["Good.md"]),
        ("57", "Good.md", ["Lists.md"]),
    ],
)
def test_links(cases: Path, tmp_path: Path, case: str, note: str, targets: list[str]) -> None:
    assert _targets(_vault(cases, case, tmp_path), note) == targets


def test_04_a_decomposed_name_is_the_same_name(cases: Path, tmp_path: Path) -> None:
    files = _vault(cases, "04", tmp_path)
    (target,) = _targets(files, "Source.md")
    assert target in files
    assert target != "Source.md"


def test_07_aliases_are_as_written(cases: Path, tmp_path: Path) -> None:
    files = _vault(cases, "07", tmp_path)
    assert _note(files, "Home.md").aliases == ("000", "Home", "Beginning")
    assert _note(files, "Odd.md").aliases == ("yes", "1.10", "2024-01-05")
    assert _note(files, "Null.md").aliases == ()
    # Where a case and Obsidian differ, Obsidian decides: `alias` is dead since 1.9.
    assert _note(files, "Solo.md").aliases == ()
    nested = _note(files, "Nested.md")
    assert nested.aliases == ()
    assert [problem.line for problem in nested.problems] == [2, 2]


def test_08_the_embedded_block_is_there(cases: Path, tmp_path: Path) -> None:
    files = _vault(cases, "08", tmp_path)
    assert subpath_found(_note(files, "Journal.md"), "#^q1")
    assert not subpath_found(_note(files, "Journal.md"), "#^q2")


def test_11_frontmatter_at_the_edges(cases: Path, tmp_path: Path) -> None:
    files = _vault(cases, "11", tmp_path)
    assert {path: _note(files, path).properties for path in sorted(files) if path.endswith(".md")} == {
        "Blank.md": {},
        "Bom.md": {"title": "B"},
        "Empty.md": {},
        "EmptyBlock.md": {},
        "Eof.md": {"title": "EOF"},
        "EofCrlf.md": {"title": "EOF"},
        "Only.md": {"aliases": ["Fit"]},
    }
    assert _note(files, "Bom.md").body_start == len("\ufeff---\ntitle: B\n---\n")


def test_13_each_faulty_note_is_told_with_its_line(cases: Path, tmp_path: Path) -> None:
    files = _vault(cases, "13", tmp_path)
    problems = {path: [problem.line for problem in _note(files, path).problems] for path in files}
    assert problems == {
        "Good.md": [],
        "Unclosed.md": [3],
        "Tab.md": [3],
        "DupKeys.md": [3],
        "Double.md": [4],
        "Templates/Daily.md": [3],
    }
    assert _note(files, "DupKeys.md").properties == {"title": "two"}
    assert _note(files, "Templates/Daily.md").properties["title"] == "{{title}}"


def test_57_deep_nesting_is_read(cases: Path, tmp_path: Path) -> None:
    files = _vault(cases, "57", tmp_path)
    notes = {path: _note(files, path) for path in files}
    assert len(notes["Line.md"].links) == 220_000
    assert notes["Opens.md"].links == ()
    for path, data in files.items():
        assert len(scan_note(decode_note(data)).links) == len(notes[path].links)


def test_65_bombs_are_told_and_the_honest_note_is_read(cases: Path, tmp_path: Path) -> None:
    files = _vault(cases, "65", tmp_path)
    for path in files:
        note = _note(files, path)
        assert bool(note.problems) == (path != "Honest.md"), path
        assert len(render_property(note.properties)) <= 200
        assert note.text[note.body_start :].startswith("body") or path == "Honest.md"
    honest = _note(files, "Honest.md")
    assert honest.properties["count"] == 3000
    assert honest.properties["use"] == {"lang": "en"}
    assert len(honest.tags) == 3000
    assert not list(tmp_path.rglob("canary"))
