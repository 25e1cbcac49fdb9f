"""Where prose names a note, case by case."""

from __future__ import annotations

import pytest

from aria_dream.markdown.note import parse_note
from aria_dream.markdown.prose import read_prose
from aria_dream.review.mention import find_mentions


def mentions(text: str, *names: str) -> list[str]:
    return [text[found.start : found.end] for found in find_mentions(text, [(0, len(text))], names)]


@pytest.mark.parametrize(
    ("text", "name", "found"),
    [
        ("Graph Theoryish and graph theory", "Graph Theory", ["graph theory"]),
        ("Graph  Theory, Graph\u00a0Theory", "Graph Theory", ["Graph  Theory", "Graph\u00a0Theory"]),
        ("note-2 and Note's and notes, note.", "note", ["Note", "note"]),
        ("Node.js is not Node.", "Node", ["Node"]),
        ("C++ and C# but C", "C", ["C"]),
        ("C++, C++x", "C++", ["C++"]),
        ("ASP.NET and .NET", ".NET", [".NET"]),
        ("What is love? Nothing.", "What is love?", ["What is love?"]),
        ("a cat", "A", []),
        ("It's us and US", "US", ["US"]),
        ("who is the WHO", "WHO", ["WHO"]),
        ("don't don", "don", ["don"]),
        ("l'été, L’Été, mété", "Été", ["été", "Été"]),
        ("it’s Don’t", "Don't", ["Don’t"]),
        ("snake_note note_case", "note", []),
        ("un**note**d **note** ==note==", "note", ["note", "note"]),
        ("!note \\note @note #note", "note", []),
        ("STRASSE straße", "Straße", ["STRASSE", "straße"]),
        ("Cafe\u0301 cafe caf\u00e9", "Café", ["Cafe\u0301", "caf\u00e9"]),
        ("caf\u00e9 cafe\u0301 cafe", "cafe", ["cafe"]),
        ("ΣΟΦΟΣ σοφος", "Σοφος", ["ΣΟΦΟΣ", "σοφος"]),
        ("Überlingen über", "Über", ["über"]),
        ("关于图论的书", "图论", ["图论"]),
        ("使用AI模型", "AI", ["AI"]),
        ("スーパーマーケット スーパー", "スーパー", ["スーパー"]),
        ("水が", "水", []),
        ("1984 was", "1984", []),
        ("Привет мир, привет", "Привет", ["Привет", "привет"]),
        ("пересказ сказ", "сказ", ["сказ"]),
    ],
)
def test_whole_words(text: str, name: str, found: list[str]) -> None:
    assert mentions(text, name) == found


def test_the_first_and_the_longest_name_wins() -> None:
    assert mentions("so sourdough starter", "Sourdough", "Sourdough starter") == ["sourdough starter"]
    assert mentions("levain, then sourdough", "Sourdough", "Levain")[0] == "levain"


def test_names_that_say_nothing_find_nothing() -> None:
    assert mentions("a - b", "", " ", "-") == []


@pytest.mark.parametrize(
    "line",
    [
        "# Term", "Term\n===", "`Term`", "```\nTerm\n```", "    Term", "$Term$", "$$\nTerm\n$$", "%% Term %%",
        "%%\nTerm\n%%",
        "<!-- Term -->", "<div>Term</div>", "<div>\n\nTerm\n\n</div>", "see <b>Term</b>", '<a title="Term">x</a>',
        "https://x.org/Term", "www.x.org/?q=Term", "<https://x.org/Term>", "Term@x.org", "mailto:Term@x.org",
        "[[Other|Term]]", "[[Term]]", "![[Term]]", "[Term](x.md)", "![Term](a.png)", "[x](Term.md)",
        "[Term][r]", "[Term]",
        "[^Term]", "[Term]: https://x.org", "[^1]: Term", "^[Term]", "#Term", "#a/Term", "x ^Term",
        "| Term |\n| - |\n| Term |",
        "| Term", "> [!note] Term", "> [!Term]", "Term:: x", "- [ ] Term:: x", "(Term:: x)", "{{Term}}", "<% Term %>",
        "---\nx: Term\n---", "- - -\n<!--\nTerm\n-->", "R&Term;", "folder/Term", "Term.md",
    ],
)  # fmt: skip
def test_what_is_no_prose(line: str) -> None:
    note = parse_note(line + "\n\nprose\n")
    assert list(find_mentions(note.text, read_prose(note).runs, ["Term"])) == []
    assert list(find_mentions(note.text, read_prose(note).runs, ["prose"]))


@pytest.mark.parametrize("mark", ["%%", "$$"])
def test_behind_what_is_never_closed_is_no_prose(mark: str) -> None:
    note = parse_note(f"Term {mark} Term\n\nTerm\n")
    assert [found.start for found in find_mentions(note.text, read_prose(note).runs, ["Term"])] == [0]


@pytest.mark.parametrize(
    "line",
    [
        "Term", "- Term", "  - Term", "1. Term", "> Term", "> [!note] title\n> Term", "- [ ] Term", "**Term**",
        "_Term_", "(Term)",
        "“Term”", "x<br>Term", "a $5 Term $6", "Term[^1]", "[[Other]] Term", "*a* Term", "Term\\*",
        "# H\nTerm", "—Term—",
    ],
)  # fmt: skip
def test_what_is_prose(line: str) -> None:
    note = parse_note("x\n\n" + line + "\n")
    assert len(list(find_mentions(note.text, read_prose(note).runs, ["Term"]))) == 1


def test_hostile_lines_take_linear_time() -> None:
    for piece in ("[", "{{", "<", "(a", "a@", "<% ", "https:", "![", "<a b='", "| ", "::", "x" * 50):
        note = parse_note(piece * (100_000 // len(piece)))
        list(find_mentions(note.text, read_prose(note).runs, ["Term"]))
