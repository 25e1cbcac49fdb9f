"""Where notes are named without a link that the index knows."""

from __future__ import annotations

from typing import TYPE_CHECKING

from aria_dream.adapters.disk.places import Places
from aria_dream.adapters.index.dreamt_vault import read_dreamt_vault
from aria_dream.adapters.index.mentions import UnindexedMentions, find_mentions

if TYPE_CHECKING:
    from pathlib import Path

OLD = "Garten/Veredeln 1.md"
NOTES = {
    OLD: "Bind it. `[[Veredeln 1]]`\n",
    "Veredeln.md": "Bind it with raffia.\n",
    "Index.md": "See [it][v].\n\n[v]: <Garten/Veredeln 1.md>\n\n```dataview\nLIST FROM [[Veredeln 1]]\n```\n",
    "Skript.md": 'Text.\n\n```dataviewjs\ndv.page("Garten/Veredeln 1")\n```\n\n`= [[veredeln 1]].file.name`\n',
    "Prose.md": 'She called it "Veredeln 1" and `Veredeln` and ```no``` more.\n',
    "Garten.base": 'filters:\n  and:\n    - file.name == "Veredeln 1"\n    - file.path == "Garten/Other.md"\n',
    ".obsidian/bookmarks.json":
        '{"items":[{"type":"group","items":[{"type":"file","path":"Garten/Veredeln 1.md"}]},{"type":"search"}]}',
    "dreams/Dream review.md": "---\naria-dream: review\n---\n```diff\n[[Veredeln 1]]\n```\n",
}  # fmt: skip


def mentions_of(root: Path, notes: dict[str, str]) -> tuple[UnindexedMentions, tuple[str, ...]]:
    for name, text in notes.items():
        place = root / "vault" / name
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(text, encoding="utf-8", newline="")
    vault = read_dreamt_vault(root / "vault", Places(state=root / "state", cache=root / "cache"), environ={})
    found = find_mentions(vault.index)
    return found, found.unfollowed(OLD, vault.index.resolver)


def test_every_place_is_named_once(tmp_path: Path) -> None:
    found, said = mentions_of(tmp_path, NOTES)
    assert found.sources([OLD]) == ("Index.md",)
    assert [one.partition(" names ")[0] for one in said] == [
        "Garten.base, line 3", "Index.md, line 6", "Skript.md, line 4", "Skript.md, line 7",
        "a bookmark (.obsidian/bookmarks.json)",
    ]  # fmt: skip


def test_what_cannot_be_read_names_nothing(tmp_path: Path) -> None:
    broken = {OLD: "x\n", "A.base": "\x00", ".obsidian/bookmarks.json": "{", "B.md": "```\n"}
    assert mentions_of(tmp_path, broken)[1] == ()
