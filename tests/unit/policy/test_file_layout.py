"""Which folder is ours, once people and syncs have renamed, moved and emptied what lies in it."""

from __future__ import annotations

from datetime import date

import pytest

from aria_dream.policy.file_layout import VaultNames, choose_home, choose_log, log_notes

REVIEW, SEEDS, LOG = "Dream review.md", "Dream seeds.md", "2026-11-30 dream.md"
MARKERS = {REVIEW: "review", SEEDS: "seeds", LOG: "log"}
DAY = date(2026, 11, 30)


def names(ours: dict[str, str], *others: str, days: dict[str, date] | None = None, shut: str = "") -> VaultNames:
    """Of a vault that holds the notes `ours` (path to marker) and `others`."""
    return VaultNames.of(
        files=(*ours, *others), markers=ours, link_sources=lambda _: (), days=days, shut=[shut] if shut else ()
    )


def in_folder(folder: str, *files: str) -> dict[str, str]:
    return {f"{folder}/{file}": MARKERS[file] for file in files}


@pytest.mark.parametrize(
    ("ours", "others", "folder"),
    [
        (in_folder("dreams", REVIEW, SEEDS, LOG), (), "dreams"),
        (in_folder("Nights", REVIEW, SEEDS, LOG), (), "Nights"),
        (in_folder("Notizen/dreams", REVIEW, LOG), ("Garden.md",), "Notizen/dreams"),
        (in_folder("DREAMS", REVIEW, LOG), (), "DREAMS"),
        # the review note was moved, emptied or deleted: the others tell
        (in_folder("dreams", SEEDS, LOG) | in_folder("Inbox", REVIEW), ("Inbox/a.md", "Inbox/b.md"), "dreams"),
        (in_folder("dreams", LOG), ("dreams/mine.md", "dreams/too.md"), "dreams"),
        (in_folder("Nights", SEEDS, LOG), ("Nights/Dream review.md",), "Nights"),
        # a copy in a backup, and one note of ours among the writer's
        (in_folder("dreams", REVIEW, LOG) | in_folder("Backup/dreams", REVIEW, SEEDS, LOG), (), "dreams"),
        (in_folder("Nights", REVIEW, LOG) | in_folder("dreams", LOG), (), "Nights"),
        (in_folder("dreams", REVIEW) | in_folder("Archive", LOG), ("Archive/a.md", "Archive/b.md"), "dreams"),
    ],
)
def test_the_folder_is_where_our_notes_lie(ours: dict[str, str], others: tuple[str, ...], folder: str) -> None:
    home = choose_home(names(ours, *others), "dreams")
    assert (home.folder, home.exists) == (folder, True)
    assert bool(home.moved) == (folder.casefold() != "dreams")
    assert all(path in ours for path in (home.review, home.seeds) if path.rpartition("/")[2] in str(ours))


def test_a_note_of_ours_among_the_writers_makes_no_folder_ours() -> None:
    home = choose_home(names(in_folder("Archive", LOG), "Archive/a.md", "Archive/b.md"), "dreams")
    assert (home.folder, home.exists) == ("dreams", False)


def test_a_dream_note_counts_wherever_it_lies_and_whatever_it_is_called() -> None:
    ours = {**in_folder("dreams", REVIEW), **in_folder("Archive", LOG), "The heap.md": "log"}
    vault = names(ours, "Archive/a.md", days={"The heap.md": date(2026, 11, 29)})
    assert log_notes(vault) == (("The heap.md", date(2026, 11, 29)), (f"Archive/{LOG}", DAY))
    assert choose_log(vault, choose_home(vault, "dreams"), DAY) == f"dreams/{LOG}"


def test_a_folder_that_may_not_be_entered_is_not_replaced() -> None:
    vault = VaultNames.of(
        files=("a.md",), markers={}, link_sources=lambda _: (), folders=("dreams",), shut=("dreams",)
    )
    assert choose_home(vault, "dreams").folder == "dreams"
    assert choose_home(names({}, "dreams/a.md"), "dreams").folder == "aria dreams"
