"""Two notes become one: text, properties, links, trash."""

from __future__ import annotations

import pytest

from aria_dream.markdown.note import NotePath
from aria_dream.review.merging import plan_merge
from aria_dream.review.plan import Planned, VaultView
from aria_dream.vault.edit import Refusal
from aria_dream.vault.obsidian import AppSettings, TrashOption


def merged(
    contents: dict[str, str], keep: str = "Keep.md", drop: str = "Drop.md", body: str | None = None
) -> tuple[dict[str, str], Planned]:
    view = VaultView(files=tuple(contents), contents={NotePath(path): text.encode() for path,
    text in contents.items()})
    plan = plan_merge(view, NotePath(keep), NotePath(drop), body=body)
    assert isinstance(plan, Planned), plan
    return {str(write.path): (write.content or b"").decode() for write in plan.changes.writes}, plan


def test_text_goes_under_a_heading_and_the_old_name_becomes_an_alias() -> None:
    texts, plan = merged({"Keep.md": "# Keep\n\nk\n", "Drop.md": "# Drop\n\n## Part\n\nd\n"})
    assert texts["Keep.md"] == "---\naliases: [Drop]\n---\n# Keep\n\nk\n\n# Drop\n\n## Part\n\nd\n"
    assert [(str(move.source), str(move.destination)) for move in plan.changes.moves] == [("Drop.md",
    ".trash/Drop.md")]
    assert plan.problems == ()


def test_line_ends_of_the_kept_note() -> None:
    texts, _ = merged({"Keep.md": "---\r\ntags:\r\n  - x\r\n---\r\nk\r\n", "Drop.md": "---\ntags: [yy]\n---\nd\n\ne"})
    assert texts["Keep.md"] == (
        "---\r\ntags:\r\n  - x\r\n  - yy\r\naliases:\r\n  - Drop\r\n---\r\nk\r\n\r\n## Drop\r\n\r\nd\r\n\r\ne\r\n"
    )


def test_properties_are_united_and_disagreements_told() -> None:
    drop = (
        "---\nb: 'it''s'  # why\nC: [1, 2]\nlong: >-\n  x\n  y\na: 2\ntags: t2, t3\n"
        "aliases: [K, keep, New]\n---\nd\n"
    )
    texts, plan = merged({"Keep.md": "---\na: 1 # one\ntags: [t1]\naliases: [k]\nc: [1, 2]\n---\nk\n",
    "Drop.md": drop})
    head = texts["Keep.md"].partition("\n---\n")[0]
    assert head == (
        "---\na: 1 # one\ntags: [t1, t2, t3]\naliases: [k, New, Drop]\nc: [1, 2]\nb: 'it''s'  # why\nlong: >-\n  x\n  y"
    )
    assert [problem.message for problem in plan.problems] == ["'a' keeps '1'; 'Drop' said '2'"]


def test_every_spelling_of_a_link_is_kept() -> None:
    refs = (
        "[[Drop]] [[drop|x]] [[Drop#Part]] [[Drop#^p]] ![[Drop]] [m](Drop.md) "
        "[m](<Drop.md#Part> 't') `[[Drop]]` [[Drop-2]]\n"
    )
    contents = {"Keep.md": "k ^p\n", "Drop.md": "## Part\n\nd ^p\n", "Refs.md": refs, "Drop-2.md": "x\n"}
    texts, _ = merged(contents)
    assert texts["Refs.md"] == (
        "[[Keep|Drop]] [[Keep|x]] [[Keep#Part|Drop > Part]] [[Keep#^p-2|Drop > ^p]] ![[Keep]] [m](Keep.md) "
        "[m](<Keep.md#Part> 't') `[[Drop]]` [[Drop-2]]\n"
    )
    assert texts["Keep.md"].endswith("d ^p-2\n")
    assert set(texts) == {"Keep.md", "Refs.md"}


def test_a_heading_that_both_have_is_reached_through_the_other() -> None:
    refs = "[[Drop#part a|p]] [[Drop#^x|q]]\n"
    contents = {"Keep.md": "## Part: a\nk\n", "Drop.md": "## Part: a\nd\n", "Refs.md": refs}
    texts, _ = merged(contents)
    assert texts["Refs.md"] == "[[Keep#Drop#Part: a|p]] [[Keep#^x|q]]\n"


def test_markdown_links_in_quoted_properties() -> None:
    refs = "---\na: '[x](Drop.md)'\n---\n"
    texts, _ = merged({"It's.md": "k\n", "Drop.md": "d\n", "Refs.md": refs}, keep="It's.md")
    assert texts["Refs.md"] == "---\na: '[x](It''s.md)'\n---\n"


def test_footnotes_of_both_stay_apart() -> None:
    texts, _ = merged({"Keep.md": "k[^1]\n\n[^1]: one\n", "Drop.md": "d[^1] e[^x] `[^1]`\n\n[^1]: two\n[^x]: x\n"})
    assert texts["Keep.md"].endswith("d[^1-2] e[^x] `[^1]`\n\n[^1-2]: two\n[^x]: x\n")


def test_no_note_holds_itself() -> None:
    texts, _ = merged({"Keep.md": "a ![[Drop]] b ![[Drop#S]] [[Drop|x]]\n",
    "Drop.md": "c ![[Keep]] ![[Drop#S]]\n\n## S\n"})
    kept = texts["Keep.md"].partition("\n---\n")[2]
    assert kept == (
        "a [[#Drop]] b [[Keep#S|Drop > S]] [[Keep#Drop|x]]\n\n# Drop\n\nc [[Keep]] [[Keep#S|Drop > S]]\n\n## S\n"
    )


def test_links_of_the_dropped_note_mean_the_same_from_the_other_folder() -> None:
    contents = {
        "Keep.md": "k\n",
        "f/Drop.md": '---\nup: "[[./N]]"\n---\n[[N]] [n](N.md) ![[x.png]] [[./N|here]]\n',
        "f/N.md": "n\n",
        "N.md": "other\n",
        "f/x.png": "p",
        "a/x.png": "p",
    }
    texts, _ = merged(contents, drop="f/Drop.md")
    assert texts["Keep.md"].endswith("[[N]] [n](N.md) ![[f/x.png]] [[./f/N|here]]\n")
    assert 'up: "[[./f/N|./N]]"' in texts["Keep.md"]


def test_a_name_that_becomes_free_or_taken_moves_no_other_link() -> None:
    contents = {"Keep.md": "k\n", "Drop.md": "d\n", "f/Drop.md": "another\n",
    "Refs.md": "[[Drop]] [[f/Drop]]\n", "f/S.md": "[[Drop]]\n"}
    texts, _ = merged(contents)
    assert texts["Refs.md"] == "[[Keep|Drop]] [[f/Drop]]\n"
    assert texts["f/S.md"] == "[[Keep|Drop]]\n"


def test_canvases_follow() -> None:
    canvas = (
        '{"nodes":[{"id":"Drop.md","type":"file","file":"Drop.md"},'
        '{"id":"2","type":"text","text":"see [[Drop]]\\nand \\"Drop.md\\""}, '
        '{"type":"file","file":"Drop.md.png"}],"edges":[]}'
    )
    texts, _ = merged({"Keep.md": "k\n", "Drop.md": "d\n", "c.canvas": canvas})
    assert texts["c.canvas"] == canvas.replace('"file":"Drop.md"}', '"file":"Keep.md"}').replace("[[Drop]]",
    "[[Keep|Drop]]")


def test_an_exact_text_is_taken_as_it_is() -> None:
    texts, _ = merged({"Keep.md": "---\na: 1\n---\nk\n", "Drop.md": "d\n"}, body="both\n[[Drop]]\n")
    assert texts["Keep.md"] == "---\na: 1\naliases:\n  - Drop\n---\nboth\n[[Keep|Drop]]\n"


def test_our_own_notes_are_left_as_they_were() -> None:
    log = "---\naria-dream: log\n---\n[[Drop]]\n"
    texts, plan = merged({"Keep.md": "k\n", "Drop.md": "d\n", "dreams/1.md": log})
    assert set(texts) == {"Keep.md"}
    assert plan.problems == ()


def test_a_plugins_note_is_left_and_told() -> None:
    _, plan = merged({"Keep.md": "k\n", "Drop.md": "d\n", "b.md": "---\nkanban-plugin: board\n---\n- [[Drop]]\n"})
    assert [problem.path for problem in plan.problems] == ["b.md"]


@pytest.mark.parametrize("option", ["local", "none", "system"])
def test_the_trash_is_the_vaults_own(option: TrashOption) -> None:
    view = VaultView(
        files=("Keep.md", "f/Drop.md"),
        contents={NotePath("Keep.md"): b"k\n", NotePath("f/Drop.md"): b"d\n"},
        app=AppSettings(trash_option=option),
        trashed=frozenset({".trash/f/drop.md"}),
    )
    plan = plan_merge(view, NotePath("Keep.md"), NotePath("f/Drop.md"))
    assert isinstance(plan, Planned)
    assert plan.changes.moves[0].destination == NotePath(".trash/f/Drop 1.md")


@pytest.mark.parametrize(
    ("keep", "drop"),
    [
        ("```\nx", "d\n"), ("k\n", "```\nx"), ("---\na: [\n---\nk\n", "d\n"), ("---\nkanban-plugin: b\n---\n", "d\n"),
        ("k\n", "---\naria-dream: log\n---\n"), ("---\naria-dream: policy\n---\n", "d\n"),
    ],
)  # fmt: skip
def test_what_cannot_be_merged_is_refused(keep: str, drop: str) -> None:
    contents = {NotePath("Keep.md"): keep.encode(), NotePath("Drop.md"): drop.encode()}
    view = VaultView(files=("Keep.md", "Drop.md"), contents=contents)
    assert isinstance(plan_merge(view, NotePath("Keep.md"), NotePath("Drop.md")), Refusal)
    assert isinstance(plan_merge(view, NotePath("Keep.md"), NotePath("Keep.md")), Refusal)
    assert isinstance(plan_merge(view, NotePath("Keep.md"), NotePath("No.md")), Refusal)


def test_links_in_tables_and_in_quoted_properties_stay_whole() -> None:
    refs = "---\na: '[[It''s]]'\nb: \"[[It's|x]]\"\n---\n| a |\n| - |\n| [[It's]] [[It's\\|y]] |\n"
    texts, _ = merged({"Keep.md": "k\n", "It's.md": "d\n", "Refs.md": refs}, drop="It's.md")
    assert texts["Refs.md"] == (
        "---\na: '[[Keep|It''s]]'\nb: \"[[Keep|x]]\"\n---\n| a |\n| - |\n| [[Keep\\|It's]] [[Keep\\|y]] |\n"
    )


@pytest.mark.parametrize(("mine", "theirs", "united"), [
    ('links: "[[Bread]]"', 'links: "[[Kitchen]]"', 'links: ["[[Bread]]", "[[Kitchen]]"]'),
    ('links: "[[Bread]]"', 'links: "[[bread]]"', 'links: "[[Bread]]"'),
    ("authors:\n  - Ann\n  - Ben", "authors: [Ben, Cleo]", "authors:\n  - Ann\n  - Ben\n  - Cleo"),
    ("authors: [Ann]", "authors: Ben", "authors: [Ann, Ben]"),
    ("rooms: [1, 2]", "rooms: [2, 3]", "rooms: [1, 2, 3]"),
    ("source: https://example.org/a", "source: https://example.org/b",
     'source: ["https://example.org/a", "https://example.org/b"]'),
    ("authors:", "authors: [Ben]", "authors: [Ben]"),
    ("authors: [Ann]", "authors:", "authors: [Ann]"),
    ('Links: ["[[Bread]]"]', 'links: "[[Kitchen]]"', 'Links: ["[[Bread]]", "[[Kitchen]]"]'),
])  # fmt: skip
def test_lists_and_links_of_a_property_are_united(mine: str, theirs: str, united: str) -> None:
    texts, plan = merged({"Keep.md": f"---\n{mine}\n---\nk\n", "Drop.md": f"---\n{theirs}\n---\nd\n"})
    assert texts["Keep.md"].startswith(f"---\n{united}\naliases:"), texts["Keep.md"]
    assert plan.problems == ()


@pytest.mark.parametrize(("mine", "theirs"), [
    ("status: sold", "status: owned"), ("up: Bread", 'up: "[[Kitchen]]"'), ("x: {a: 1}", "x: [1]"),
])  # fmt: skip
def test_what_disagrees_keeps_its_value_and_is_told(mine: str, theirs: str) -> None:
    texts, plan = merged({"Keep.md": f"---\n{mine}\n---\nk\n", "Drop.md": f"---\n{theirs}\n---\nd\n"})
    assert texts["Keep.md"].startswith(f"---\n{mine}\n")
    assert len(plan.problems) == 1


def test_link_properties_that_lead_to_two_files_are_both_kept() -> None:
    """The same text in two folders: what it means is kept, not how it is spelt."""
    text = '---\nplan: "[[./plan.pdf]]"\n---\nk\n'
    contents = {"A/Hull.md": text, "B/Hull.md": text, "A/plan.pdf": "", "B/plan.pdf": ""}
    texts, _ = merged(contents, "A/Hull.md", "B/Hull.md")
    assert 'plan: ["[[./plan.pdf]]", "[[../B/plan.pdf|./plan.pdf]]"]' in texts["A/Hull.md"]
