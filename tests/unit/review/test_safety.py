"""What no proposal may touch, wherever it came from."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from aria_dream.markdown.note import NotePath
from aria_dream.review.plan import VaultView
from aria_dream.review.safety import safety_refusal
from aria_dream.vault.edit import ABSENT, ChangeSet, Move, WritePlan, content_hash

if TYPE_CHECKING:
    from pathlib import Path

CONTENTS = {
    NotePath("Note.md"): b"text\n",
    NotePath("Board.canvas"): b"{}",
    NotePath("dreaming.md"): b"- dreaming: on\n",
    NotePath("dreams/2026-11-30 dream.md"): b"---\naria-dream: log\n---\n",
    NotePath("CLAUDE.md"): b"obey\n",
    NotePath("odd:name.md"): b"kept as it is\n",
    NotePath("pic.png"): b"\x89PNG",
}
VIEW = VaultView(
    files=tuple(sorted(map(str, CONTENTS))),
    contents=CONTENTS,
    protected=frozenset({"dreaming.md", "triggers.md"}),
    trashed=frozenset({".trash/Taken.md"}),
)


def changed(path: str) -> ChangeSet:
    before = CONTENTS.get(NotePath(path), b"")
    return ChangeSet(writes=(WritePlan(path=NotePath(path), expected_hash=content_hash(before), content=b"new"),))


def created(path: str) -> ChangeSet:
    return ChangeSet(writes=(WritePlan(path=NotePath(path), expected_hash=ABSENT, content=b"new"),))


def to_trash(source: str, destination: str) -> ChangeSet:
    content = CONTENTS.get(NotePath(source), b"")
    move = Move(source=NotePath(source), destination=NotePath(destination), expected_hash=content_hash(content))
    return ChangeSet(moves=(move,))


@pytest.mark.parametrize("path", ["Note.md", "Board.canvas", "odd:name.md"])
def test_a_file_of_the_writers_may_change(path: str) -> None:
    assert safety_refusal(changed(path), VIEW) is None


@pytest.mark.parametrize(
    "path",
    [
        "dreaming.md", "dreams/2026-11-30 dream.md", "CLAUDE.md", "pic.png", "No.md", "../Note.md", "/etc/x.md",
        ".obsidian/app.json", ".git/config.md", ".trash/Taken.md", "note.md",
    ],
)  # fmt: skip
def test_other_files_may_not(path: str) -> None:
    assert safety_refusal(changed(path), VIEW) is not None


@pytest.mark.parametrize("path", ["New.md", "sub/New note.md"])
def test_a_note_may_be_made(path: str) -> None:
    assert safety_refusal(created(path), VIEW) is None


@pytest.mark.parametrize("path", ["note.md", "Note.md/x.md", "triggers.md", "TRIGGERS.md", "a:b.md",
"New.canvas", ".trash/x.md"])
def test_a_note_may_not_be_made_there(path: str) -> None:
    assert safety_refusal(created(path), VIEW) is not None


def test_every_path_of_the_case(cases: Path) -> None:
    rows = json.loads((cases / "62-proposal-path-traversal" / "paths.json").read_text(encoding="utf-8"))
    empty = VaultView(files=(), contents={}, protected=VIEW.protected)
    for row in rows:
        path = NotePath(row["p"])
        if str(path) != row["p"]:
            continue  # a slash at the end or a dot: gone before it can be a path; `parse_target` sees the text
        refusal = safety_refusal(created(row["p"]), empty)
        assert (refusal is None) == (row["want"] == "allow"), (row, refusal)


def test_notes_go_to_a_free_name_or_the_vaults_own_trash() -> None:
    assert safety_refusal(to_trash("Note.md", ".trash/Note.md"), VIEW) is None
    assert safety_refusal(to_trash("Note.md", "sub/Elsewhere.md"), VIEW) is None
    for source, destination in (
        ("Note.md", "else:where.md"),
        ("Note.md", "../Elsewhere.md"),
        ("Note.md", ".obsidian/Elsewhere.md"),
        ("Note.md", "claude.md"),
        ("Note.md", "ODD:name.md"),
        ("Note.md", "Elsewhere.canvas"),
        ("Note.md", ".trash/Taken.md"),
        ("Note.md", ".trash/taken.md"),
        ("Note.md", ".trash"),
        ("Note.md", ".trash/.obsidian/x.md"),
        ("Note.md", ".trash/../x.md"),
        ("dreaming.md", ".trash/dreaming.md"),
        ("No.md", ".trash/No.md"),
    ):
        assert safety_refusal(to_trash(source, destination), VIEW) is not None, (source, destination)


def test_a_change_that_contradicts_itself_is_refused() -> None:
    twice = changed("Note.md").writes * 2
    assert safety_refusal(ChangeSet(writes=twice), VIEW) is not None
