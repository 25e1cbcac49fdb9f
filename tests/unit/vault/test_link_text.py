"""A link is written in the vault's style and always means the file it is written for."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aria_dream.vault.link_form import link_target
from aria_dream.vault.obsidian import AppSettings
from aria_dream.vault.resolve import Resolver

FILES = ("Note.md", "a/Note.md", "a/Only.md", "b/c/Note.md", "b/pic.png", "v1.2.md", "Odd#name.md")


def written(target: str, source: str, link_format: str = "shortest") -> str:
    app = AppSettings(new_link_format=link_format)  # type: ignore[arg-type]  # parametrised over the Literal
    return link_target(Resolver(FILES), app, target, source)


@pytest.mark.parametrize(
    ("target", "source", "link_format", "expected"),
    [
        ("a/Only.md", "Note.md", "shortest", "Only"),
        ("a/Only.md", "Note.md", "absolute", "a/Only"),
        ("a/Only.md", "b/c/Note.md", "relative", "../../a/Only"),
        ("a/Note.md", "b/c/Note.md", "shortest", "a/Note"),
        ("b/c/Note.md", "a/Only.md", "shortest", "b/c/Note"),
        ("Note.md", "a/Only.md", "shortest", "Note"),
        ("b/pic.png", "Note.md", "shortest", "pic.png"),
        ("v1.2.md", "Note.md", "shortest", "v1.2"),
    ],
)
def test_forms(target: str, source: str, link_format: str, expected: str) -> None:
    assert written(target, source, link_format) == expected


def test_a_file_that_no_text_means_gets_none() -> None:
    files = ("a/x.md", "a/X.md")
    resolver = Resolver(files)
    for target in files:
        text = link_target(resolver, AppSettings(), target, "b.md")
        assert text == "" or resolver.resolve(text, "b.md") == target


NAMES = st.sampled_from(["Note", "note", "Other", "v1.2", "pic.png", "a b"])
PATHS = st.builds(
    lambda folders, name: "/".join([*folders, name + ".md"]),
    st.lists(st.sampled_from(["a", "b", "A"]), max_size=2),
    NAMES,
)


@given(st.sets(PATHS, min_size=2, max_size=8), st.sampled_from(["shortest", "relative", "absolute"]), st.data())
def test_whatever_is_written_means_the_target(files: set[str], link_format: str, data: st.DataObject) -> None:
    resolver = Resolver(files)
    target, source = data.draw(st.sampled_from(sorted(files))), data.draw(st.sampled_from(sorted(files)))
    app = AppSettings(new_link_format=link_format)  # type: ignore[arg-type]  # parametrised over the Literal
    text = link_target(resolver, app, target, source)
    assert text == "" or resolver.resolve(text, source) == target
