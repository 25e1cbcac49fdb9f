"""On the notes of real vaults: a placed link changes its span and nothing else,
and taking it back gives the bytes."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING

import pytest

from aria_dream.markdown.note import NotePath, parse_note
from aria_dream.review.placement import AlreadyLinked, Placement, Style, Target, plan_link
from aria_dream.review.rollback import Restored, plan_rollback
from aria_dream.vault.edit import Refusal, decode_note, encode_note
from aria_dream.vault.obsidian import AppSettings
from aria_dream.vault.resolve import Resolver
from aria_dream.world import PastWrite

if TYPE_CHECKING:
    from pathlib import Path

    from aria_dream.markdown.link import Link
    from aria_dream.markdown.note import Note

NOTES_A_VAULT = 60
TARGETS_A_NOTE = 6
VAULTS = ("foam-docs", "horcy-zh-tw", "jackyzha0-2023-03", "kepano", "logseq-docs", "vaultofknowledge")


def files_of(root: Path) -> list[str]:
    return sorted(place.relative_to(root).as_posix() for place in root.rglob("*") if place.is_file())


def named_notes(text: str, notes: list[str]) -> list[str]:
    """Notes whose name the text seems to hold, so that mentions are tried and not only lists."""
    low = text.lower()
    return [path for path in notes if path.rpartition("/")[2][:-3].lower() in low]


@pytest.mark.shared
@pytest.mark.parametrize("vault", VAULTS)
@pytest.mark.parametrize("markdown", [False, True])
def test_a_link_is_placed_and_taken_back(shared: Path, vault: str, markdown: bool) -> None:
    root, rng = shared / "vaults" / vault, random.Random(f"{vault} {markdown}")
    files = files_of(root)
    notes = [path for path in files if path.endswith(".md")]
    resolver = Resolver(files)
    style = Style(resolver=resolver, app=AppSettings(use_markdown_links=markdown))
    seen: dict[str, int] = {}
    for path in rng.sample(notes, min(NOTES_A_VAULT, len(notes))):
        before = (root / path).read_bytes()
        named = named_notes(decode_note(before), notes)
        wanted = [*rng.sample(named, min(TARGETS_A_NOTE - 1, len(named))), rng.choice(notes)]
        for target in wanted:
            facts = Target(path=target, title=target.rpartition("/")[2][:-3])
            found = plan_link(NotePath(path), before, facts, style)
            kind = found.where if isinstance(found, Placement) else type(found).__name__
            seen[kind] = seen.get(kind, 0) + 1
            if isinstance(found, Placement):
                check(found, before, target, resolver)
            else:
                assert isinstance(found, (AlreadyLinked, Refusal))
    assert seen.get("new section", 0) + seen.get("related", 0) > 0, seen
    if vault != "horcy-zh-tw":  # the one name that others of its notes hold is the word "note" inside longer ones
        assert seen.get("mention", 0) > 0, seen


def check(found: Placement, before: bytes, target: str, resolver: Resolver) -> None:
    text, edit = decode_note(before), found.edit
    after = found.plan.content
    assert after is not None
    assert after == encode_note(text[: edit.start]) + encode_note(edit.new) + encode_note(text[edit.end :])
    assert after.endswith(b"\n") == before.endswith(b"\n") or not before.strip()
    if before.count(b"\r\n") == before.count(b"\n"):
        assert after.count(b"\r\n") == after.count(b"\n") or not before.count(b"\n")
    old, new = parse_note(text), parse_note(decode_note(after))
    links = list(new.links)
    added = [link for link in new.links if link.start >= edit.start and link.end <= edit.start + len(edit.new)]
    assert len(added) == 1
    assert resolver.resolve(added[0].path, str(found.plan.path)) == target
    links.remove(added[0])
    assert [link_facts(link) for link in links] == [link_facts(link) for link in old.links]
    assert note_facts(old, "") == note_facts(new, "Related" if found.where == "new section" else "")
    past = PastWrite(path=found.plan.path, before=before, after=after)
    back = plan_rollback([past], {found.plan.path: after})
    assert isinstance(back, Restored)
    assert [plan.content for plan in back.changes.writes] == [before]


def link_facts(link: Link) -> tuple[object, ...]:
    return link.raw, link.path, link.subpath, link.display, link.embed, link.in_frontmatter


def note_facts(note: Note, heading: str) -> tuple[object, ...]:
    headings = [(found.level, found.text) for found in note.headings]
    if heading:
        assert headings.pop() == (2, heading)
    blocks = [block.name for block in note.block_ids]
    hidden = [note.text[span.start : span.end].rstrip() for span in note.opaque]
    return headings, blocks, hidden, note.tags, note.aliases, note.properties
