from __future__ import annotations

import pytest

from aria_dream.vault.resolve import Resolver


def test_a_tie_goes_to_the_shorter_path_then_to_the_first() -> None:
    resolver = Resolver(["bb/Tie.md", "aa/Tie.md", "ccc/Tie.md", "x/s.md"])
    assert resolver.candidates("Tie", "x/s.md") == ("aa/Tie.md", "bb/Tie.md", "ccc/Tie.md")
    assert resolver.is_ambiguous("Tie", "x/s.md")
    assert resolver.is_ambiguous("Tie.md", "x/s.md")


def test_a_suffix_starts_at_a_folder() -> None:
    assert Resolver(["ab/Note.md", "s.md"]).resolve("b/Note", "s.md") is None


@pytest.mark.parametrize("link", ["./Note", "../Note", "../../Note", "../../../a/Note", "/Note", "..", "/", "a/", ""])
def test_a_relative_link_is_exact(link: str) -> None:
    """`./` and `../` do not fall back to the bare name, and climbing out of the vault finds nothing."""
    assert Resolver(["a/Note.md", "p/s.md"]).resolve(link, "p/s.md") == ("p/s.md" if link == "" else None)


def test_percent_is_first_literal() -> None:
    assert Resolver(["a%20b.md", "a b.md"]).resolve("a%20b", "s.md") == "a%20b.md"
    assert Resolver(["a b.md"]).resolve("a%20b", "s.md") == "a b.md"
    assert Resolver(["a b.md"]).resolve("a%zzb", "s.md") is None


def test_names_that_differ_by_case_only() -> None:
    resolver = Resolver(["x/note.md", "x/Note.md", "People/BookFusion.md", "Plugins/bookfusion.md"])
    assert resolver.resolve("Note", "s.md") == "x/Note.md"
    assert resolver.resolve("note", "s.md") == "x/note.md"
    assert resolver.resolve("NOTE", "s.md") == "x/Note.md"
    # In different folders the case of the link is no argument.
    assert resolver.resolve("bookfusion", "s.md") == "People/BookFusion.md"
    assert resolver.is_ambiguous("bookfusion", "s.md")


def test_an_exact_path_is_not_ambiguous() -> None:
    resolver = Resolver(["Note.md", "a/Note.md"])
    assert resolver.resolve("Note", "a/s.md") == "Note.md"
    assert not resolver.is_ambiguous("Note", "a/s.md")
    assert resolver.candidates("Note", "a/s.md") == ("Note.md", "a/Note.md")


def test_lower_casing_is_not_folding() -> None:
    resolver = Resolver(["straße.md", "ΛΌΓΟΣ.md", "Cafe\u0301.md", "no\u00a0break.md"])
    assert resolver.resolve("strasse", "s.md") is None
    assert resolver.resolve("λόγοσ", "s.md") == "ΛΌΓΟΣ.md"
    assert resolver.resolve("CAF\u00c9", "s.md") == "Cafe\u0301.md"
    assert resolver.resolve("No break", "s.md") == "no\u00a0break.md"


def test_dot_folders_hold_no_targets() -> None:
    resolver = Resolver([".trash/A.md", "x/.y/B.md", ".c.md", "D.md"])
    assert [resolver.resolve(name, "s.md") for name in ("A", "B", ".c", "D")] == [None, None, None, "D.md"]
