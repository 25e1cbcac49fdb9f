"""Copies that a sync left, from the night that finds them to the tick, the undo and the night after."""

from __future__ import annotations

import json
import os
import re
from typing import TYPE_CHECKING

from tests.e2e.test_consolidate import NOTES as OTHERS
from tests.e2e.test_consolidate import POLICY, Vault

if TYPE_CHECKING:
    from pathlib import Path

NOTE = "---\ntags: [tea]\n---\n# Tea\n\nThe pot is warmed for 3 minutes.\n- [ ] buy leaves\nIt stands.\n"
COPY = "---\ntags: [tea]\n---\n# Tea\n\nThe pot is warmed for 4 minutes.\n- [x] buy leaves\nIt stands.\nAnd rests.\n"
MADE = (
    "---\ntags: [tea]\n---\n# Tea\n\nThe pot is warmed for 4 minutes.\nThe pot is warmed for 3 minutes.\n"
    "- [x] buy leaves\nIt stands.\nAnd rests.\n"
)
DROPBOX = "Tea (In Konflikt stehende Kopie von Anna 2026-11-20).md"
NOTES = {
    **OTHERS,
    "Tea.md": NOTE,
    DROPBOX: COPY,
    "Roses.md": "Roses want sun and air, and to be cut back hard when the forsythia blooms in spring.\n",
    "Roses.sync-conflict-20261120-101010-ABCDEFG.md":
        "Roses want sun and air, and to be cut back hard when the forsythia blooms in spring.\n",
    "Board.canvas": "{}",
    "Board (conflicted copy 2026-11-20 101010).canvas": '{"nodes":[]}',
    "Gone (conflicted copy 2026-11-20 101010).md": "Only this text is left of it, so it is a note as others are.\n",
    "Secret.md": "---\ndream: false\n---\nNobody reads this.\n",
    "Secret (conflicted copy 2026-11-20 101010).md": "---\ndream: false\n---\nNobody reads that.\n",
}  # fmt: skip


def made(tmp_path: Path) -> Vault:
    vault = Vault(tmp_path, NOTES)
    os.utime(vault.root / "Tea.md", (1_700_000_000, 1_700_000_000))
    return vault


def tick(vault: Vault, pattern: str) -> None:
    review = vault.root / "dreams" / "Dream review.md"
    text = review.read_text(encoding="utf-8")
    ticked, count = re.subn(rf"\[ \]({pattern})", r"[x]\1", text)
    assert count == 1, text
    review.write_text(ticked, encoding="utf-8", newline="")


def test_a_copy_is_named_proposed_united_and_taken_back(tmp_path: Path) -> None:
    vault = made(tmp_path)
    before = vault.held()
    found = vault.consolidate()
    copies = {one["path"]: one for one in found["sync_copies"]}
    assert copies[DROPBOX]["original"] == "Tea.md"
    assert copies[DROPBOX]["differs"].startswith("a sync left a copy; 3 lines are only in the copy")
    assert "Board (conflicted copy 2026-11-20 101010).canvas" in copies
    assert not any("Secret" in path or "Gone" in path for path in copies)
    proposed = {one["paths"][-1]: one for one in found["proposals"]}
    kinds = {path: one["kind"] for path, one in proposed.items() if one["kind"] == "sync_copy"}
    assert set(kinds) == {DROPBOX, "Roses.sync-conflict-20261120-101010-ABCDEFG.md"}
    report = (vault.root / "dreams" / "Dream report.md").read_text(encoding="utf-8")
    assert "### Copies left by a sync" in report
    assert "Board" in report
    assert "Secret" not in report
    assert json.loads(vault.run("links", "--json"))["sync_conflicts"].count(DROPBOX) == 1

    id_ = proposed[DROPBOX]["id"]
    shown = vault.run("review", id_)
    assert "+ And rests." in shown
    assert "moves to .trash/" in shown
    tick(vault, rf" unite them \^aria-{id_}")
    assert "United: Tea" in vault.run("apply")
    assert (vault.root / "Tea.md").read_text(encoding="utf-8") == MADE
    assert not (vault.root / DROPBOX).exists()
    assert (vault.root / ".trash" / DROPBOX).read_bytes() == before[DROPBOX]
    assert "Unite with its copy" in vault.run("history")

    tick(vault, rf" undo: [^^]*\^aria-{id_}-undo")
    assert "Undone" in vault.run("apply")
    after = vault.held()
    assert {path: after[path] for path in before} == before
    assert [one for one in vault.consolidate()["proposals"] if one["kind"] == "sync_copy"] == []


def test_a_note_edited_since_is_not_written_over(tmp_path: Path) -> None:
    vault = made(tmp_path)
    (one,) = [one for one in vault.consolidate()["proposals"] if "Tea.md" in one["paths"]]
    (vault.root / "Tea.md").write_text(NOTE + "A line of today.\n", encoding="utf-8", newline="")
    tick(vault, rf" unite them \^aria-{one['id']}")
    assert "See what would be written now" in vault.run("apply", code=6)
    text = (vault.root / "Tea.md").read_text(encoding="utf-8")
    assert text == NOTE + "A line of today.\n"
    assert (vault.root / DROPBOX).exists()


def test_two_copies_of_one_note_are_united_one_after_the_other(tmp_path: Path) -> None:
    vault = made(tmp_path)
    second = "Tea.sync-conflict-20261121-101010-ABCDEFG.md"
    (vault.root / second).write_text(NOTE + "Of the second copy.\n", encoding="utf-8", newline="")
    first = [one for one in vault.consolidate()["proposals"] if "Tea.md" in one["paths"]]
    assert len(first) == 1
    vault.run("review", first[0]["id"], "--approve")
    later = [one for one in vault.consolidate()["proposals"] if "Tea.md" in one["paths"]]
    assert len(later) == 1
    assert later[0]["paths"] != first[0]["paths"]
    vault.run("review", later[0]["id"], "--approve")
    text = (vault.root / "Tea.md").read_text(encoding="utf-8")
    assert "And rests." in text
    assert "Of the second copy." in text


def test_notes_that_obsidian_cannot_read_are_named_and_a_half_merged_one_is_not_written(tmp_path: Path) -> None:
    half = "---\n<<<<<<< HEAD\ntags: [a]\n=======\ntags: [b]\n>>>>>>> other\n---\nA wall.\n"
    vault = Vault(tmp_path, {"dreaming.md": POLICY, "Wall.md": half, "Bread.md": "Flour and water.\n"})
    (vault.root / "Cafe.md").write_bytes("One line.\nThe café by the garden.\n".encode("cp1252"))
    (vault.root / "Wide.md").write_bytes("The café by the garden.\n".encode("utf-16"))
    for told in (vault.run("links"), vault.run("doctor", code=doctor_code(vault))):
        assert "Cafe.md:2: is not UTF-8" in told
        assert "Wide.md: is UTF-16" in told
        assert "Wall.md:2: git left conflict markers" in told
    assert (vault.root / "Wall.md").read_text(encoding="utf-8") == half


def doctor_code(vault: Vault) -> int:
    """Of a machine whose own sensors may be broken."""
    return 0 if "Nothing is broken" in _try(vault) else 1


def _try(vault: Vault) -> str:
    try:
        return vault.run("doctor")
    except AssertionError:
        return ""
