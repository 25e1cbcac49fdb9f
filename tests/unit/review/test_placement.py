"""Where an approved link goes, and how it is written."""

from __future__ import annotations

from dataclasses import replace

import pytest

from aria_dream.markdown.note import NotePath, parse_note
from aria_dream.ranking.names import NameStore
from aria_dream.review.placement import (
    AlreadyLinked,
    Placement,
    PlacementPolicy,
    Style,
    Target,
    one_more_link,
    plan_link,
)
from aria_dream.vault.edit import Edit, Refusal, content_hash
from aria_dream.vault.obsidian import AppSettings, LinkFormat
from aria_dream.vault.resolve import Resolver

FILES = ("Essay.md", "Rye.md", "x/A.md", "y/A.md", "x/Deep note.md", "R #1.md", "p (1).md", "sub/Source.md",
"Rye.png")


def style(
    *,
    markdown: bool = False,
    format_: LinkFormat = "shortest",
    placement: PlacementPolicy = "mention-then-related",
    heading: str = "Related",
) -> Style:
    app = AppSettings(use_markdown_links=markdown, new_link_format=format_)
    return Style(resolver=Resolver(FILES), app=app, placement=placement, related_heading=heading)


def placed(text: str, target: str = "Rye.md", *aliases: str, how: Style | None = None, path: str = "Essay.md") -> str:
    facts = Target(path=target, title=target.rpartition("/")[2][:-3], aliases=aliases)
    found = plan_link(NotePath(path), text.encode(), facts, how or style())
    assert isinstance(found, Placement), found
    assert found.plan.expected_hash == content_hash(text.encode())
    assert found.plan.content is not None
    return found.plan.content.decode()


@pytest.mark.parametrize(
    ("text", "target", "aliases", "result"),
    [
        ("so rye is", "Rye.md", (), "so [[Rye|rye]] is"),
        ("so Rye is Rye", "Rye.md", (), "so [[Rye]] is Rye"),
        ("so secale is", "Rye.md", ("Secale",), "so [[Rye|secale]] is"),
        ("so A is", "x/A.md", (), "so [[x/A|A]] is"),
        ("a deep note", "x/Deep note.md", (), "a [[Deep note|deep note]]"),
        ("a p (1)", "p (1).md", (), "a [[p (1)]]"),
        ("# Rye\r\n\r\nso rye\r\n", "Rye.md", (), "# Rye\r\n\r\nso [[Rye|rye]]\r\n"),
        ("\ufeffrye", "Rye.md", (), "\ufeff[[Rye|rye]]"),
    ],
)
def test_a_mention_becomes_the_link(text: str, target: str, aliases: tuple[str, ...], result: str) -> None:
    assert placed(text, target, *aliases) == result


def test_an_alias_that_is_another_notes_name_is_no_mention() -> None:
    assert placed("a deep note\n", "Rye.md", "Deep note").endswith("- [[Rye]]\n")


def test_links_as_the_vault_writes_them() -> None:
    assert placed("a deep note", "x/Deep note.md", how=style(markdown=True)) == "a [deep note](Deep%20note.md)"
    assert placed("deep note", "x/Deep note.md", how=style(format_="absolute")) == "[[x/Deep note|deep note]]"
    relative = style(markdown=True, format_="relative")
    assert placed("deep note", "x/Deep note.md", how=relative,
    path="sub/Source.md") == "[deep note](../x/Deep%20note.md)"
    assert placed("secale", "p (1).md", "Secale", how=style(markdown=True)) == "[secale](p%20%281%29.md)"
    assert placed("x\n", "R #1.md").endswith("- [R #1](R%20%231.md)\n"), "a wikilink cannot hold the name"


@pytest.mark.parametrize(
    ("text", "result"),
    [
        ("x\n", "x\n\n## Related\n\n- [[Rye]]\n"),
        ("x", "x\n\n## Related\n\n- [[Rye]]"),
        ("x\r\ny", "x\r\ny\r\n\r\n## Related\r\n\r\n- [[Rye]]"),
        ("", "## Related\n\n- [[Rye]]\n"),
        ("---\na: 1\n---\n", "---\na: 1\n---\n\n## Related\n\n- [[Rye]]\n"),
        ("# related\n\n* x\n\ny\n", "# related\n\n* x\n* [[Rye]]\n\ny\n"),
        ("#### RELATED:\n1. x\n2. y", "#### RELATED:\n1. x\n2. y\n3. [[Rye]]"),
        ("## Related\n- [ ] x\n  - y\n\n## Next\n", "## Related\n- [ ] x\n  - y\n- [[Rye]]\n\n## Next\n"),
        ("Related\n---\n\nwords\n\n[^1]: f\n", "Related\n---\n\nwords\n\n- [[Rye]]\n\n[^1]: f\n"),
        ("## Related\n# Next\n", "## Related\n\n- [[Rye]]\n\n# Next\n"),
        ("## Related\nNext\n===\n", "## Related\n\n- [[Rye]]\n\nNext\n===\n"),
        ("## Related\n\n- x\n\n---\nfoot\n", "## Related\n\n- x\n- [[Rye]]\n\n---\nfoot\n"),
        ("## Related\r\n\r\n- x\r\n", "## Related\r\n\r\n- x\r\n- [[Rye]]\r\n"),
        ("```\n## Related\n```\n> ## Related\n", "```\n## Related\n```\n> ## Related\n\n## Related\n\n- [[Rye]]\n"),
        ("%%\n## Related\n- x\n%%\n", "%%\n## Related\n- x\n%%\n\n## Related\n\n- [[Rye]]\n"),
        ("## Related\n- x\n  ```\n  code\n", "## Related\n- x\n  ```\n  code\n- [[Rye]]\n"),
    ],
)
def test_a_bullet_under_the_related_heading(text: str, result: str) -> None:
    assert placed(text, how=style(placement="related")) == result


def test_another_heading_and_other_policies() -> None:
    assert placed("## Siehe auch\n", how=style(heading="siehe AUCH")) == "## Siehe auch\n\n- [[Rye]]\n"
    assert placed("a rye\n", how=style(placement="mention")) == "a [[Rye|rye]]\n"
    for text, placement in ((b"rye", "none"), (b"wheat", "mention")):
        how = Style(resolver=Resolver(FILES), app=AppSettings(), placement=placement)  # type: ignore[arg-type]  # of the two
        assert isinstance(plan_link(NotePath("Essay.md"), text, Target(path="Rye.md", title="Rye"), how), Refusal)


@pytest.mark.parametrize(
    "text",
    ["```\nx", "<!-- x", "%%\nx", "$$\nx", "---\na: 1\n", "---\nkanban-plugin: board\n---\nrye", "\ufeff---\nx: "],
)
def test_a_note_that_cannot_take_it_is_refused(text: str) -> None:
    found = plan_link(NotePath("Essay.md"), text.encode(), Target(path="Rye.md", title="Rye"), style())
    assert isinstance(found, Refusal), found


@pytest.mark.parametrize("path", ["Rye.md", "Rye.png", "d.excalidraw.md"])
def test_what_is_no_note_or_the_target_itself_is_refused(path: str) -> None:
    assert isinstance(plan_link(NotePath(path), b"rye", Target(path="Rye.md", title="Rye"), style()), Refusal)


def test_a_target_that_is_gone_is_refused() -> None:
    assert isinstance(plan_link(NotePath("Essay.md"), b"rye", Target(path="No.md", title="No"), style()), Refusal)


@pytest.mark.parametrize("text", ["[[rye]] rye", "[x](Rye.md)", '---\nup: "[[Rye]]"\n---\n', "![[Rye#h]]"])
def test_what_is_linked_is_not_linked_again(text: str) -> None:
    target = Target(path="Rye.md", title="Rye")
    assert isinstance(plan_link(NotePath("Essay.md"), text.encode(), target, style()), AlreadyLinked)
    assert isinstance(plan_link(NotePath("Essay.md"), text.encode(), target, style(), again=True), Placement)


def test_bytes_that_are_no_utf8_stay() -> None:
    before = b"\xff\xfe? no".replace(b"\xff\xfe", b"\xc3(\xe9") + b" rye \xed\xa0\x80"
    found = plan_link(NotePath("Essay.md"), before, Target(path="Rye.md", title="Rye"), style())
    assert isinstance(found, Placement)
    assert found.plan.content == before.replace(b"rye", b"[[Rye|rye]]")


def test_a_list_that_ends_in_a_comment_takes_no_bullet() -> None:
    text = b"## Related\n\n- x %%\n- y\n\n%%\n"
    assert isinstance(plan_link(NotePath("Essay.md"), text, Target(path="Rye.md", title="Rye"), style()), Refusal)


@pytest.mark.parametrize(
    ("text", "edit"),
    [
        ("a [[X]] b`", Edit(0, 1, "[[Rye]] `")),
        ("a #tag `", Edit(0, 1, "[[Rye]] `")),
        ("a\n\n# H\n\n-->", Edit(0, 1, "[[Rye]]\n\n<!--")),
        ("a ^id", Edit(2, 5, "[[Rye]]")),
        ("a", Edit(0, 1, "[[Rye]] [[Rye]]")),
        ("a", Edit(0, 1, "![[Rye]]")),
        ("a", Edit(0, 1, "[[Rye#h]]")),
        ("a", Edit(0, 1, "[[Essay]]")),
        ("a", Edit(0, 1, "`[[Rye]]`")),
        ("a", Edit(0, 1, "%% [[Rye]] %%")),
        ("a", Edit(0, 1, "# [[Rye]]")),
    ],
)
def test_a_change_that_does_more_than_it_should_is_seen(text: str, edit: Edit) -> None:
    resolver = Resolver(FILES)
    assert one_more_link(parse_note("a"), (Edit(0, 1, "[[Rye]]"),), "Rye.md", "Essay.md", resolver)
    assert not one_more_link(parse_note(text), (edit,), "Rye.md", "Essay.md", resolver)


def test_a_name_with_brackets_gets_a_markdown_link() -> None:
    how = Style(resolver=Resolver(("Essay.md", "A [x].md")), app=AppSettings())
    assert placed("x\n", "A [x].md", how=how) == "x\n\n## Related\n\n- [A \\[x\\]](A%20%5Bx%5D.md)\n"


def named(text: str, edge: str, how: Style) -> str:
    found = plan_link(NotePath("Essay.md"), text.encode(), Target(path="Rye.md", title="Rye"), how, edge=edge)
    assert isinstance(found, Placement), found
    assert found.plan.content is not None
    return found.plan.content.decode()


def test_a_named_link_goes_where_its_name_can_stand() -> None:
    """The name of an edge was paid for; the writer's own sentence has no place for it."""
    assert named("so rye is\n", "fed alike", style()) == "so rye is\n\n## Related\n\n- [[Rye]] — fed alike\n"
    assert named("# Related\r\n* x\r\n", "fed alike", style()) == "# Related\r\n* x\r\n* [[Rye]] — fed alike\r\n"
    assert named("so rye is\n", "fed alike", style(placement="related")).endswith("- [[Rye]] — fed alike\n")
    assert named("so rye is\n", "fed alike", style(placement="mention")) == "so [[Rye|rye]] is\n"


def test_a_name_that_would_act_is_left_out() -> None:
    for edge in ("see [[Deep note]]", "#tag", "^block"):
        assert named("x\n", edge, style()).endswith("- [[Rye]]\n"), edge
@pytest.mark.parametrize(
    "field",
    [
        "method:: rye", "- method:: rye", "- [ ] method:: rye and more", "> method:: rye",
        "> [!note]\n> - method:: rye",
        "1. way:: rye", "**method**:: rye", "so (way:: rye) it", "so (way:: a (cold) rye) it", "so [way:: rye] it",
        "way:: x, rye [[Essay]]", "  - way:: rye\r",
    ],
)  # fmt: skip
def test_the_value_of_a_field_is_no_place_for_a_link(field: str) -> None:
    text = f"{field}\n"
    after = placed(text)
    assert after.startswith(text)
    assert "[[Rye]]" in after
    assert placed(f"{field}\n\nso rye is\n") == f"{field}\n\nso [[Rye|rye]] is\n"


NAMES = NameStore(("Rye", "Wild rye", "京都", "东京都", "A deep note"))


@pytest.mark.parametrize(
    ("text", "result"),
    [
        ("wild rye and rye is", "wild rye and [[Rye|rye]] is"),
        ("wild-rye, rye", "wild-rye, [[Rye|rye]]"),
        ("two wild ryes, a rye.", "two wild ryes, a [[Rye|rye]]."),
        ("a rye bread with rye.", "a rye bread with [[Rye|rye]]."),
        ("he said “we had no rye there” of rye.", "he said “we had no rye there” of [[Rye|rye]]."),
    ],
)
def test_the_place_is_where_the_name_stands_for_itself(text: str, result: str) -> None:
    assert placed(text, how=replace(style(), names=NAMES)) == result


def test_a_link_goes_to_the_end_where_the_name_is_only_part_of_others() -> None:
    after = placed("so wild rye is\n", how=replace(style(), names=NAMES))
    assert after.startswith("so wild rye is\n")
    assert "[[Rye]]" in after
