"""Several notes made one: every sentence is kept, every link means what it meant, and all of it can be taken back."""

from __future__ import annotations

import random
import shutil
from datetime import UTC, datetime
from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from aria_dream.adapters.disk.files import DiskVault
from aria_dream.consolidate.merged_text import merge_texts
from aria_dream.consolidate.note_merges import plan_note_merge
from aria_dream.consolidate.sentences import missing_from, read_sentences
from aria_dream.markdown.note import NotePath, parse_note
from aria_dream.review.plan import Planned, VaultView, changes_of
from aria_dream.review.rollback import Restored, plan_rollback
from aria_dream.vault.canvas import parse_canvas
from aria_dream.vault.edit import Refusal, decode_note, invert_changes
from aria_dream.vault.resolve import Resolver
from aria_dream.world import PastWrite, Written

if TYPE_CHECKING:
    from pathlib import Path

    from aria_dream.markdown.link import Link
    from aria_dream.vault.edit import ChangeSet

VAULTS = ("foam-docs", "horcy-zh-tw", "jackyzha0-2023-03", "kepano", "logseq-docs")
MERGES = 5
NOW = datetime(2026, 11, 30, 12, 0, tzinfo=UTC)


def read_files(root: Path) -> dict[str, bytes]:
    found = (place for place in root.rglob("*") if place.is_file())
    return {place.relative_to(root).as_posix(): place.read_bytes() for place in found}


def view_of(files: dict[str, bytes]) -> VaultView:
    shown = tuple(sorted(path for path in files if not path.startswith(".") and "/." not in path))
    contents = {NotePath(path): files[path] for path in shown if path.endswith((".md", ".canvas"))}
    return VaultView(files=shown, contents=contents)


def links_of(path: NotePath, content: bytes) -> tuple[Link, ...]:
    text = decode_note(content)
    return parse_canvas(text)[0] if path.suffix == ".canvas" else parse_note(text).links


def body_of(content: bytes) -> str:
    note = parse_note(decode_note(content))
    return note.text[note.body_start :]


@pytest.mark.shared
@pytest.mark.parametrize("vault", VAULTS)
def test_merges_in_real_vaults_go_back_to_the_same_bytes(shared: Path, tmp_path: Path, vault: str) -> None:
    root = tmp_path / "vault"
    shutil.copytree(shared / "vaults" / vault, root, copy_function=shutil.copyfile)
    for folder in (root, *(place for place in root.rglob("*") if place.is_dir())):
        folder.chmod(0o755)
    before, rng = read_files(root), random.Random(vault)
    view = view_of(before)
    disk = DiskVault(root, tmp_path / "state", now=lambda: NOW)
    notes = sorted(str(path) for path in view.contents if path.suffix == ".md")
    merged = 0
    for _ in range(4 * MERGES):
        keep, *drops = rng.sample(notes, min(rng.choice((2, 3)), len(notes)))
        found = plan_note_merge(view, NotePath(keep), [NotePath(drop) for drop in drops])
        if isinstance(found, Refusal):
            continue
        merged += 1
        assert changes_of(found.planned.edits, view.contents) == found.planned.changes
        check_text(view, found.planned.changes, keep, drops)
        check_links(view, found.planned, keep, drops)
        check_rollback(view, found.planned.changes)
        assert isinstance(disk.write(found.planned.changes, label="merge"), Written)
        assert read_files(root) != before
        back = invert_changes(found.planned.changes, view.contents)
        assert isinstance(disk.write(back, label="back"), Written)
        assert read_files(root) == before
        if merged == MERGES:
            break
    assert merged >= min(3, len(notes) // 2)


def check_text(view: VaultView, changes: ChangeSet, keep: str, drops: list[str]) -> None:
    """Every sentence of every member is in the kept note; what only layout tells apart stands there once."""
    (text,) = (body_of(plan.content or b"") for plan in changes.writes if str(plan.path) == keep)
    for path in (keep, *drops):
        sentences = [
            one
            for one in read_sentences(body_of(view.contents[NotePath(path)]))
            if not any("[[" in key or key.startswith("!") or "](" in key for key in one.keys)
        ]
        title = path.rpartition("/")[2][:-3]
        headlines = {tuple(one.keys) for one in read_sentences(f"# {title}\n\n# {keep.rpartition('/')[2][:-3]}\n")}
        lost = [one.keys for one in missing_from(text, sentences) if one.keys not in headlines]
        assert not [keys for keys in lost if not any(key.startswith(("http", "[")) for key in keys)], (path, lost)


def check_links(view: VaultView, planned: Planned, keep: str, drops: list[str]) -> None:
    before = view.resolver()
    after = Resolver([path for path in view.files if path not in drops])
    told = {problem.path for problem in planned.problems}
    written = {plan.path: plan.content or b"" for plan in planned.changes.writes}
    for path, content in view.contents.items():
        source = str(path)
        if source in (keep, *drops) or source in told:
            continue
        meant = [before.resolve(link.path, source) for link in links_of(path, content)]
        found = [after.resolve(link.path, source) for link in links_of(path, written.get(path, content))]
        assert found == [keep if target in drops else target for target in meant], source


def check_rollback(view: VaultView, changes: ChangeSet) -> None:
    files = [PastWrite(path=plan.path, before=view.contents[plan.path], after=plan.content) for plan in changes.writes]
    left = {**view.contents, **{plan.path: plan.content or b"" for plan in changes.writes}}
    for move in changes.moves:
        image = left.pop(move.source)
        left[move.destination] = image
        files.append(PastWrite(path=move.source, before=image, after=image, moved_to=move.destination))
    back = plan_rollback(files, left)
    assert isinstance(back, Restored)
    exact = invert_changes(changes, view.contents)
    assert {plan.path: plan.content for plan in back.changes.writes} == {
        plan.path: plan.content for plan in exact.writes
    }
    assert set(back.changes.moves) == set(exact.moves)


LINES = st.sampled_from(
    [
        "The tower was built in 1840.", "It is not open.", "Three keepers lived there. They left.", "- one thing",
        "- another thing", "## Story", "> quoted words", "`code` and more", "| a | b |", "熱い。冷たい。", "1. first",
        "See [[Other]].", "#tag", "", "", "*It is open.*", "```", "---", "$$x$$", "word ^id",
    ]
)  # fmt: skip
TEXTS = st.lists(LINES, max_size=12).map(lambda lines: "\n".join(lines) + "\n")


@settings(max_examples=300, deadline=None)
@given(kept=TEXTS, others=st.lists(TEXTS, min_size=1, max_size=3))
def test_a_merged_text_says_what_each_says(kept: str, others: list[str]) -> None:
    merged = merge_texts(kept, others)
    members = [read_sentences(text) for text in (kept, *others)]
    lost = [one for sentences in members for one in missing_from(merged.text, sentences)]
    assert bool(lost) == bool(merged.lost)
    if not any(mark in text for text in (kept, *others) for mark in ("```", "$$")):
        assert not lost  # only behind an open fence can something come to read otherwise
        assert merge_texts(merged.text, others).added == ()
