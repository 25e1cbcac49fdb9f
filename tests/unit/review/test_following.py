"""Which file is which after a writer has renamed, edited, copied and replaced notes."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from aria_dream.review.following import follow
from aria_dream.vault.identity import names_of, print_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

HEIGHT = "At altitude a dough rises faster. Bakers use less starter, see [[Bread]]. The crust dries sooner.\n"
BREAD = "A loaf is baked in the morning. It sleeps in the cold.\n"
BEFORE = {"Altitude.md": HEIGHT, "Bread.md": BREAD, "Copy.md": HEIGHT, "img/a.png": ""}
KNOWN = {path: print_of(text) if path.endswith(".md") else () for path, text in BEFORE.items() if path != "Copy.md"}
EDITED = HEIGHT.replace("rises", "grows")


def followed(now: Mapping[str, str], hints: Mapping[str, str] | None = None) -> dict[str, str]:
    def read(paths: Iterable[str]) -> dict[str, str]:
        return {path: now[path] for path in paths}

    return follow(KNOWN, names_of(KNOWN, BEFORE), frozenset(now), read, hints)


@pytest.mark.parametrize(
    ("altitude", "changed"),
    [
        ("Altitude.md", {"Altitude.md": HEIGHT}),
        ("Altitude.md", {"Altitude.md": EDITED}),
        ("Altitude.md", {"Altitude.md": EDITED, "Backup.md": HEIGHT}),  # a copy of the writer's is no rename
        ("Altitude.md", {"Altitude.md": "All of it is new.\n"}),
        ("Höhe.md", {"Höhe.md": HEIGHT.replace("[[Bread]]", "[[folder/Brot]]")}),
        ("f/Altitude.md", {"f/Altitude.md": EDITED}),
        ("altitude.md", {"altitude.md": "All of it is new.\n"}),
        ("Höhe.md", {"Höhe.md": EDITED, "Altitude.md": "Another note. Of other things.\n"}),
        ("f/Altitude.md", {"f/Altitude.md": HEIGHT, "New copy.md": HEIGHT}),
        ("", {}),  # the copy that was there before is not taken for it
        ("", {"One.md": HEIGHT, "Other.md": HEIGHT}),
        ("", {"One.md": "Not it at all. Nothing alike.\n"}),
    ],
)
def test_a_note_is_found_by_what_it_says(altitude: str, changed: Mapping[str, str]) -> None:
    now = {**{path: text for path, text in BEFORE.items() if path != "Altitude.md"}, **changed}
    assert followed(now).get("Altitude.md", "") == altitude


def test_two_notes_that_exchanged_their_names() -> None:
    now = {**BEFORE, "Altitude.md": BREAD, "Bread.md": HEIGHT}
    found = followed(now)
    assert (found["Altitude.md"], found["Bread.md"]) == ("Bread.md", "Altitude.md")


def test_an_attachment_goes_by_its_name_and_a_hint_counts() -> None:
    now = {"x/a.png": "", "Leaf.md": "All of it is new.\n", "Bread.md": BREAD}
    assert followed(now, {"Altitude.md": "Leaf.md"}) == {
        "Altitude.md": "Leaf.md", "Bread.md": "Bread.md", "img/a.png": "x/a.png"
    }  # fmt: skip


def test_what_was_there_is_known() -> None:
    names = names_of(KNOWN, BEFORE)
    assert [names.had(path) for path in ("Copy.md", "New copy.md")] == [True, False]
