"""Which names and paths may be created, and how a title becomes a name."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from aria_dream.markdown.note import NotePath
from aria_dream.vault.names import (
    NAME_BYTES_MAX,
    Refusal,
    fold_path,
    name_refusal,
    parse_target,
    path_refusal,
    shorten_name,
)

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.parametrize(
    "name",
    [
        *("CON", "con.md", "Nul", "AUX.tar.md", "COM1.md", "lpt9", "COM\u00b2.md", "CONIN$", "nul .md", "COM0"),
        *("a.", "a ", "a.md ", "a.md."),
        *('a"b', "a<b", "a>b", "a:b", "a|b", "a?b", "a*b", "a\\b", "a/b", "a\0b", "a\nb", "a\tb", "a\x7fb"),
        *("", ".", "..", "...", "\uff0e\uff0e", "\u2024", "a\ud800"),
        *("x" * 256, "\u0416" * 127 + ".md", "\U0001f6b2" * 64 + ".md"),
    ],
)
def test_names_that_some_disk_cannot_hold(name: str) -> None:
    assert name_refusal(name)


@pytest.mark.parametrize(
    "name",
    [
        *("a.md", "CONTACT.md", "console.md", "com10.md", "nullable.md", "..notes.md", "a..b", " lead.md", "100%.md"),
        *("R&D (draft) #1.md", "it's.md", "\u65e5\u672c.md", "a\uff0fb.md", "\u0416" * 126 + ".md", "x" * 255),
    ],
)
def test_names_that_every_disk_can_hold(name: str) -> None:
    assert name_refusal(name) is None


def test_hidden_folders_are_closed_but_for_the_vaults_trash() -> None:
    assert path_refusal(NotePath(".trash/a.md"))
    assert path_refusal(NotePath(".trash/a.md"), trash=True) is None
    assert path_refusal(NotePath(".trash/.git/a.md"), trash=True)
    assert path_refusal(NotePath("a/.trash/a.md"), trash=True)
    assert path_refusal(NotePath(".obsidian/a.md"), trash=True)


def test_the_cases_of_targets(cases: Path) -> None:
    rows = json.loads((cases / "62-proposal-path-traversal" / "paths.json").read_text())
    protected = [NotePath("dreaming.md")]
    got = {row["p"]: "deny" if isinstance(parse_target(row["p"], protected), Refusal) else "allow" for row in rows}
    assert got == {row["p"]: row["want"] for row in rows}


@pytest.mark.parametrize("target", ["a//b.md", "a/./b.md", "${HOME}/x.md", "~root/x.md", "%APPDATA%/x.md", "a%5Cb.md"])
def test_more_targets_that_are_refused(target: str) -> None:
    assert isinstance(parse_target(target), Refusal)


def test_a_refusal_shows_the_target_escaped() -> None:
    refusal = parse_target("a\u202eb\n.md")
    assert isinstance(refusal, Refusal)
    assert refusal.reason.isascii()
    assert refusal.reason.isprintable()


@pytest.mark.parametrize(
    ("title", "name"),
    [
        ("Compost", "Compost.md"),
        ("A: B / C?", "A B C.md"),
        ("  .hidden. ", "hidden.md"),
        ("con", "_con.md"),
        ("", "Untitled.md"),
        ("???", "Untitled.md"),
        ("a\nb\tc", "a b c.md"),
        ("x" * 300, "x" * 252 + ".md"),
        ("\U0001f6b2" * 100, "\U0001f6b2" * 63 + ".md"),
        ("\u0416" * 200, "\u0416" * 126 + ".md"),
    ],
)
def test_a_title_becomes_a_name(title: str, name: str) -> None:
    assert shorten_name(title) == name
    assert name_refusal(name) is None


@pytest.mark.parametrize(
    "unit",
    [
        "\U0001f469\u200d\U0001f469\u200d\U0001f467",  # a family of three, joined
        "e\u0301",
        "\U0001f44d\U0001f3fd",  # with a skin tone
        "\u2764\ufe0f",
        "\U0001f1e9\U0001f1ea",  # a flag is two letters
    ],
)
def test_a_title_is_cut_where_a_reader_sees_a_character_end(unit: str) -> None:
    for lead in ("", "a", "ab", "abc"):
        stem = shorten_name(lead + unit * 100).removesuffix(".md").removeprefix(lead)
        assert stem
        assert stem == unit * stem.count(unit)


def test_titles_with_the_same_cut_get_different_names() -> None:
    taken: list[str] = []
    for ending in range(12):
        name = shorten_name("\U0001f6b2" * 100 + str(ending), taken)
        assert len(name.encode()) <= NAME_BYTES_MAX
        assert fold_path(name) not in {fold_path(other) for other in taken}
        taken.append(name)
    assert shorten_name("Ideas", ["ideas.md"]) == "Ideas 2.md"
