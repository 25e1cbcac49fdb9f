"""Reference definitions: found, used, and brought along when what they lead to gets another name."""

from __future__ import annotations

import pytest

from aria_dream.markdown.note import NotePath, parse_note
from aria_dream.review.definitions import find_definitions, reference_links, with_inline_links
from aria_dream.review.merging import plan_merge
from aria_dream.review.plan import Planned, VaultView


def merged(definition: str, *, source: str = "Index.md", drop: str = "Grafting 1.md", keep: str = "Grafting.md") -> str:
    """The definition in `source` after the merge of `drop` into `keep`."""
    texts = {keep: "Bind it with raffia.\n", drop: "Bind it.\n", source: f"See [the note][g].\n\n{definition}\n"}
    contents = {NotePath(path): text.encode("utf-8") for path, text in texts.items()}
    found = plan_merge(VaultView(files=tuple(texts), contents=contents), NotePath(keep), NotePath(drop))
    assert isinstance(found, Planned), found
    after = {str(plan.path): plan.content for plan in found.changes.writes}
    return (after.get(source) or contents[NotePath(source)]).decode().split("\n\n", 1)[1].rstrip("\n")


@pytest.mark.parametrize(("before", "after"), [
    ("[g]: <Grafting 1.md>", "[g]: <Grafting.md>"),
    ("[g]: Grafting%201.md", "[g]: Grafting.md"),
    ("[g]: Grafting%201", "[g]: Grafting"),
    ("[G]: <Grafting 1.md> 'the title'", "[G]: <Grafting.md> 'the title'"),
    ('[g]:   <Grafting 1.md>   "it"', '[g]:   <Grafting.md>   "it"'),
    ("[g]:\n  <Grafting 1.md>", "[g]:\n  <Grafting.md>"),
    ("> [g]: <Grafting 1.md>", "> [g]: <Grafting.md>"),
    ("[g]: <Grafting 1.md#Bark>", "[g]: <Grafting.md#Bark>"),
    ("[g]: <./Grafting 1.md>", "[g]: <./Grafting.md>"),
    ("[g]: https://example.org/Grafting%201.md", "[g]: https://example.org/Grafting%201.md"),
    ("[g]: <Grafting 2.md>", "[g]: <Grafting 2.md>"),
    ("    [g]: <Grafting 1.md>", "    [g]: <Grafting 1.md>"),  # code
    ("```\n[g]: <Grafting 1.md>\n```", "```\n[g]: <Grafting 1.md>\n```"),
    ("[^g]: See [x](<Grafting 1.md>) there.", "[^g]: See [x](<Grafting.md>) there."),
    ("[^g]: See [[Grafting 1]].", "[^g]: See [[Grafting|Grafting 1]]."),
])  # fmt: skip
def test_a_definition_follows(before: str, after: str) -> None:
    assert merged(before) == after


def test_a_definition_follows_across_folders_and_in_other_scripts() -> None:
    assert merged("[g]: <../Obst/Veredeln 1.md>", source="Index/Liste.md", drop="Obst/Veredeln 1.md",
                  keep="Obst/Veredeln.md") == "[g]: <../Obst/Veredeln.md>"  # fmt: skip
    assert merged("[g]: %E6%8E%A5%E3%81%8E%E6%9C%A8%201.md", drop="接ぎ木 1.md", keep="接ぎ木.md") in (
        "[g]: 接ぎ木.md", "[g]: %E6%8E%A5%E3%81%8E%E6%9C%A8.md"
    )  # fmt: skip


TEXT = "A [plan][p], a [P][], a [p], `[p]`, [other][q] and [[p]].\n\n[p]: img/plan.pdf 'Plan'\n[q]: https://example.org\n"


def test_uses_are_told_and_made_inline() -> None:
    note = parse_note(TEXT)
    assert [one.link.path for one in find_definitions(note)] == ["img/plan.pdf"]
    assert [note.text[start:end] for start, end, _ in reference_links(note)] == ["[plan][p]", "[P][]", "[p]"]
    assert with_inline_links(TEXT).startswith(
        "A [plan](img/plan.pdf 'Plan'), a [P](img/plan.pdf 'Plan'), a [p](img/plan.pdf 'Plan'), `[p]`, [other][q]"
    )


def test_hostile_text_takes_no_time() -> None:
    for text in ("[" * 20_000, "[a]: <" * 5_000, "[a][" * 5_000 + "\n\n[a]: b.md\n", "[a\\" * 5_000):
        assert with_inline_links(text) is not None
