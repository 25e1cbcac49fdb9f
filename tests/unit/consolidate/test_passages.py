"""What is an atom, and what is none."""

from __future__ import annotations

import pytest

from aria_dream.consolidate.passages import passages_of_note, told_apart
from aria_dream.markdown.note import parse_note

PROSE = "The lighthouse was automated in a year that nobody here remembers well, and the keepers left on one boat."
MORE = " ".join(f"Word{n} and more of it stands here for length, so that the note is long." for n in range(20))


def ids(text: str, path: str = "A.md") -> dict[tuple[str, ...], str]:
    return {passage.headings: passage.id for passage in passages_of_note(path, parse_note(text))}


def test_a_short_note_is_one_atom() -> None:
    (passage,) = passages_of_note("f/A.md", parse_note(f"---\nauthor: X\ncreated: 2024-01-01\n---\n# A\n\n{PROSE}\n"))
    assert (passage.path, passage.headings, passage.headline, passage.title) == ("f/A.md", (), "", "A")
    assert passage.words.startswith("the lighthouse was")
    assert passage.properties == (("author", "X"),)
    assert passage.text == f"# A\n\n{PROSE}\n"


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("A.md", ""),
        ("A.md", "Too short to say anything."),
        ("A.md", "> " + PROSE + "\n\nMy own three words.\n"),
        ("A.md", "> [!quote] Someone\n> " + PROSE + "\n"),
        (
            "A.md",
            f"```\n{PROSE}\n{PROSE}\n```\n\nThis is what I run on the server when the disk of it is full again.\n",
        ),
        ("A.md", "".join(f"- [ ] a thing to do number {n} of the list\n" for n in range(9))),
        ("Templates/A.md", PROSE),
        ("Book template.md", PROSE),
        ("Vorlagen/A.md", PROSE),
        ("A.md", f"# {{{{title}}}}\n\n{PROSE}\n"),
        ("A.md", f"<% tp.date.now() %>\n\n{PROSE}\n"),
        ("A.md", f"---\nkanban-plugin: board\n---\n{PROSE}\n"),
        ("A.md", "|a|b|\n|-|-|\n" + "".join(f"|row {n} of it|another cell of the row|\n" for n in range(9))),
        ("A.md", "茶を淹れる。"),
    ],
)
def test_what_is_none(path: str, text: str) -> None:
    assert passages_of_note(path, parse_note(text)) == ()


def test_what_only_the_vault_knows() -> None:
    assert passages_of_note("2024-01-01.md", parse_note(PROSE), set_apart=True) == ()


def test_placeholders_in_code_make_no_template() -> None:
    assert passages_of_note("A.md", parse_note(f"{PROSE}\n\nWrite `{{{{date}}}}` for the date.\n"))


def test_unspaced_scripts_are_counted() -> None:
    assert passages_of_note(
        "A.md",
        parse_note("煎茶は七十度くらいの湯で淹れる。茶葉は二人分で四グラム。一分待ってから、最後の一滴まで注ぎ切る。"),
    )


def test_the_sections_of_a_long_note() -> None:
    text = f"# Book\n\nPreamble.\n\n## One\n\n{MORE}\n\n## Two\n\n{PROSE}\n\n### Deeper\n\n{PROSE}\n\n## Empty\n\nNo.\n"
    found = passages_of_note("A.md", parse_note(text))
    assert [passage.headings for passage in found] == [(), ("Book", "One"), ("Book", "Two"), ("Book", "Two", "Deeper")]
    assert found[2].text == f"## Two\n\n{PROSE}\n\n"
    assert all(text[passage.start : passage.end] == passage.text for passage in found)
    assert found[2].fingerprint == found[3].fingerprint


def test_ids_survive_edits_elsewhere() -> None:
    before = f"## One\n\n{MORE}\n\n## Two\n\n{PROSE}\n"
    after = f"New first lines.\n\n## Zero\n\n{PROSE}\n\n## One\n\n{MORE} And a word.\n\n## Two\n\n{PROSE}\n"
    assert ids(before).items() <= ids(after).items()
    assert ids(before)[("Two",)] != ids(before, "B.md")[("Two",)]


def test_sections_under_one_heading_have_ids_of_their_own() -> None:
    found = passages_of_note("A.md", parse_note(f"## One\n\n{MORE}\n\n## Two\n\n{PROSE}\n\n## Two\n\n{PROSE}\n"))
    assert len({passage.id for passage in found}) == 4
    assert [passage.number for passage in found] == [1, 1, 1, 2]


def test_layout_does_not_change_the_fingerprint() -> None:
    (one,) = passages_of_note("A.md", parse_note(PROSE))
    (other,) = passages_of_note(
        "B.md",
        parse_note("\ufeff---\nx: 1\n---\r\n# B\r\n\r\n*The* lighthouse" + PROSE[14:].replace(" in ", "\r\nin ")),
    )
    assert one.fingerprint == other.fingerprint
    assert one.state_hash != other.state_hash  # the property x


@pytest.mark.parametrize(
    ("before", "after", "seen"),
    [
        ("The US team met us there.", "The us team met us there.", True),
        ("Let's eat, Ann, they said.", "Let's eat Ann, they said.", True),
        ("The boat was late again.", "*The* boat   was\nlate again.", False),
        ("It's late, she said to Ann.", "It\u2019s late, she said to Ann.", False),
    ],
)
def test_a_judge_sees_capitals_and_stops(before: str, after: str, *, seen: bool) -> None:
    """What decides a verdict and is no part of the fingerprint must let the pair be judged again."""
    (one,) = passages_of_note("A.md", parse_note(f"{PROSE} {before}"))
    (other,) = passages_of_note("A.md", parse_note(f"{PROSE} {after}"))
    assert one.fingerprint == other.fingerprint
    assert (one.state_hash != other.state_hash) == seen


@pytest.mark.parametrize(
    ("paths", "told"),
    [
        (("a/One.md", "b/Two.md"), ("One", "Two")),
        (("a/One.md", "b/one.md"), ("a/One", "b/one")),
        (("One.md", "b/One.md"), ("One", "b/One")),
        (("One.md", "One.md"), ("One", "One")),
    ],
)
def test_two_of_one_title_are_told_apart(paths: tuple[str, str], told: tuple[str, str]) -> None:
    first, second = (passages_of_note(path, parse_note(PROSE))[0] for path in paths)
    assert told_apart(first, second) == told
