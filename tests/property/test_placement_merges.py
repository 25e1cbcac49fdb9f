"""On real vaults: after a merge every link of every note means what it meant, the dropped note's the kept one."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING

import pytest

from aria_dream.markdown.note import NotePath, parse_note
from aria_dream.review.merging import plan_merge
from aria_dream.review.plan import Planned, VaultView, changes_of
from aria_dream.review.rollback import Restored, plan_rollback
from aria_dream.vault.canvas import parse_canvas
from aria_dream.vault.edit import Refusal, decode_note, encode_note, invert_changes
from aria_dream.vault.resolve import Resolver
from aria_dream.world import PastWrite

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from aria_dream.markdown.link import Link

MERGES_A_VAULT = 12
VAULTS = ("foam-docs", "horcy-zh-tw", "jackyzha0-2023-03", "kepano", "logseq-docs")


def read_view(root: Path) -> VaultView:
    files = sorted(place.relative_to(root).as_posix() for place in root.rglob("*") if place.is_file())
    files = [path for path in files if not path.startswith(".") and "/." not in path]
    contents = {NotePath(path): (root / path).read_bytes() for path in files if path.endswith((".md", ".canvas"))}
    return VaultView(files=tuple(files), contents=contents)


def links_of(path: NotePath, content: bytes) -> tuple[Link, ...]:
    text = decode_note(content)
    return parse_canvas(text)[0] if path.suffix == ".canvas" else parse_note(text).links


@pytest.mark.shared
@pytest.mark.parametrize("vault", VAULTS)
def test_links_mean_what_they_meant(shared: Path, vault: str) -> None:
    view, rng = read_view(shared / "vaults" / vault), random.Random(vault)
    links = {path: links_of(path, content) for path, content in view.contents.items()}
    before = view.resolver()
    counts: dict[str, int] = {}
    for source, found in links.items():
        for link in found:
            target = before.resolve(link.path, str(source))
            if target and target != str(source) and target.endswith(".md"):
                counts[target] = counts.get(target, 0) + 1
    notes = [str(path) for path in view.contents if path.suffix == ".md"]
    linked = [path for path in notes if counts.get(path)]
    merged = 0
    for drop in rng.sample(linked, min(MERGES_A_VAULT, len(linked))):
        keep = rng.choice([path for path in notes if path != drop])
        near = nearby(view, links, drop, keep)
        plan = plan_merge(near, NotePath(keep), NotePath(drop))
        if isinstance(plan, Refusal):
            continue
        merged += 1
        check(plan, near, links, keep, drop)
    assert merged >= min(4, len(linked))


def nearby(view: VaultView, links: Mapping[NotePath, tuple[Link, ...]], drop: str, keep: str) -> VaultView:
    """The view with the contents that this merge needs: what `notes_to_read` says, found the plain way."""
    name = drop.rpartition("/")[2][:-3].lower()
    wanted = {
        path
        for path, found in links.items()
        if str(path) in (drop, keep) or any(name in link.path.lower() for link in found)
    }
    return VaultView(files=view.files, contents={path: view.contents[path] for path in wanted})


def check(
    plan: Planned, view: VaultView, links: Mapping[NotePath, tuple[Link, ...]], keep: str, drop: str
) -> None:
    assert changes_of(plan.edits, view.contents) == plan.changes
    before = view.resolver()
    after = Resolver([path for path in view.files if path != drop])
    contents = dict(view.contents)
    for write in plan.changes.writes:
        assert write.content is not None
        contents[write.path] = write.content
    told = {problem.path for problem in plan.problems}
    for path, content in contents.items():
        if str(path) in (keep, drop):
            continue
        meant = [before.resolve(link.path, str(path)) for link in links[path]]
        wanted = [keep if target == drop else target for target in meant]
        found = links_of(path, content)
        if str(path) not in told:
            assert [after.resolve(link.path, str(path)) for link in found] == wanted
            others = [link for link in links[path] if before.resolve(link.path, str(path)) not in (keep, drop)]
            now = [link for link in found if after.resolve(link.path, str(path)) != keep]
            assert [(link.subpath, link.embed) for link in now] == [(link.subpath, link.embed) for link in others]
    kept = parse_note(decode_note(contents[NotePath(keep)]))
    both = [parse_note(decode_note(view.contents[NotePath(path)])) for path in (keep, drop)]
    had = {tag.lower() for note in both for tag in note.tags}
    assert {tag.lower() for tag in kept.tags} >= had
    assert not any(link.embed and after.resolve(link.path, keep) == keep and link.path for link in kept.links) or any(
        link.embed and before.resolve(link.path, keep) == keep for link in links[NotePath(keep)]
    )
    changed = {write.path: write.content for write in plan.changes.writes}
    files = [PastWrite(path=path, before=view.contents[path], after=content) for path, content in changed.items()]
    move = plan.changes.moves[0]
    image = view.contents[move.source]
    files.append(PastWrite(path=move.source, before=image, after=image, moved_to=move.destination))
    left = {path: content for path, content in contents.items() if str(path) != drop} | {move.destination: image}
    back = plan_rollback(files, left)
    assert isinstance(back, Restored)
    exact = invert_changes(plan.changes, view.contents)
    assert {plan.path: plan.content for plan in back.changes.writes} == {
        plan.path: plan.content for plan in exact.writes
    }
    assert back.changes.moves == exact.moves
    assert encode_note(kept.text) == contents[NotePath(keep)]
