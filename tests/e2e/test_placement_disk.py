"""A placed link and a merge on a real disk: planned from what was read, written, edited over, taken back."""

from __future__ import annotations

from typing import TYPE_CHECKING

from aria_dream.adapters.disk.files import DiskVault
from aria_dream.markdown.note import NotePath
from aria_dream.review.changes import plan_placement
from aria_dream.review.merging import plan_merge
from aria_dream.review.placement import Target
from aria_dream.review.plan import Planned, VaultView
from aria_dream.review.rollback import Partly, Restored, plan_rollback
from aria_dream.world import Content, Written

if TYPE_CHECKING:
    from pathlib import Path


def look(vault: DiskVault) -> VaultView:
    places = [place for place in vault.root.rglob("*") if place.is_file()]
    files = sorted(place.relative_to(vault.root).as_posix() for place in places)
    shown = [path for path in files if not path.startswith(".")]
    contents = {NotePath(path): vault.root.joinpath(path).read_bytes() for path in shown}
    trashed = frozenset(path for path in files if path.startswith(".trash/"))
    return VaultView(files=tuple(shown), contents=contents, trashed=trashed)


def undo_decision(vault: DiskVault) -> Restored | Partly:
    files = vault.past_changes()[-1].files
    places = {place for file in files for place in (file.path, file.moved_to) if place is not None}
    now = {place: found.data for place in places if isinstance(found := vault.read(place), Content)}
    back = plan_rollback(files, now)
    assert isinstance(back, (Restored, Partly)), back
    assert isinstance(vault.write(back.changes, label="back"), Written)
    return back


def make(tmp_path: Path, notes: dict[str, bytes]) -> DiskVault:
    root = tmp_path / "vault"
    for path, content in notes.items():
        root.joinpath(path).parent.mkdir(parents=True, exist_ok=True)
        root.joinpath(path).write_bytes(content)
    return DiskVault(root, tmp_path / "state")


def test_a_link_goes_in_and_out(tmp_path: Path) -> None:
    vault = make(tmp_path, {"A.md": b"\xef\xbb\xbfa rye is\r\nend", "Rye.md": b"# Rye\n"})
    plan = plan_placement(look(vault), NotePath("A.md"), Target(path="Rye.md", title="Rye"))
    assert isinstance(plan, Planned)
    assert isinstance(vault.write(plan.changes, label="x"), Written)
    note = vault.root / "A.md"
    assert note.read_bytes() == b"\xef\xbb\xbfa [[Rye|rye]] is\r\nend"
    note.write_bytes(note.read_bytes().replace(b"end", b"my own end"))
    assert isinstance(undo_decision(vault), Partly)
    assert note.read_bytes() == b"\xef\xbb\xbfa rye is\r\nmy own end"


def test_a_merge_goes_in_and_out(tmp_path: Path) -> None:
    notes = {
        "Keep.md": b"---\ntags: [a]\n---\nk ![[Drop]]\n",
        "f/Drop.md": b"---\naliases: D\n---\n# Drop\n\nd [[Refs]] ^id\n",
        "Refs.md": b"[[Drop#^id]] [x](f/Drop.md)\r\n",
        "c.canvas": b'{"nodes":[{"id":"1","type":"file","file":"f/Drop.md"}],"edges":[]}',
    }
    vault = make(tmp_path, notes)
    plan = plan_merge(look(vault), NotePath("Keep.md"), NotePath("f/Drop.md"))
    assert isinstance(plan, Planned)
    assert isinstance(vault.write(plan.changes, label="x"), Written)
    assert not (vault.root / "f/Drop.md").exists()
    assert (vault.root / ".trash/f/Drop.md").read_bytes() == notes["f/Drop.md"]
    assert (vault.root / "Refs.md").read_bytes() == b"[[Keep#^id|Drop > ^id]] [x](Keep.md)\r\n"
    assert isinstance(undo_decision(vault), Restored)
    assert {path: vault.root.joinpath(path).read_bytes() for path in notes} == notes
    assert not [place for place in (vault.root / ".trash").rglob("*") if place.is_file()]
