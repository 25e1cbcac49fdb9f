"""A note that git left half merged is written by nothing, whoever planned the change."""

from __future__ import annotations

from typing import TYPE_CHECKING

from aria_dream.adapters.disk.files import DiskVault
from aria_dream.markdown.note import NotePath
from aria_dream.vault.edit import ChangeSet, Move, WritePlan, content_hash
from aria_dream.world import Refused, Written

if TYPE_CHECKING:
    from pathlib import Path

HALF = b"One line.\n<<<<<<< HEAD\nours\n=======\ntheirs\n>>>>>>> other\n"
SAMPLE = b"One line.\n\n```\n<<<<<<< HEAD\nours\n=======\ntheirs\n>>>>>>> other\n```\n"


def test_it_is_not_written_and_may_be_moved(tmp_path: Path) -> None:
    root = tmp_path / "vault"
    root.mkdir()
    (root / "Wall.md").write_bytes(HALF)
    (root / "Sample.md").write_bytes(SAMPLE)
    vault = DiskVault(root, tmp_path / "state")
    wall, sample = NotePath("Wall.md"), NotePath("Sample.md")
    plans = [
        WritePlan(path=path, expected_hash=content_hash(text), content=b"New.\n")
        for path, text in ((wall, HALF), (sample, SAMPLE))
    ]
    found = vault.write(ChangeSet(writes=tuple(reversed(plans))))
    assert found == Refused(wall, "it holds conflict markers of git (line 2); settle them first")
    assert (root / "Wall.md").read_bytes() == HALF
    assert (root / "Sample.md").read_bytes() == SAMPLE, "all of a change happens, or nothing"
    assert isinstance(vault.write(ChangeSet(writes=(plans[1],))), Written)
    moved = Move(source=wall, destination=NotePath("Old.md"), expected_hash=content_hash(HALF))
    assert isinstance(vault.write(ChangeSet(moves=(moved,))), Written)
