"""Which notes are ours, whose the day is, and which seeds wait, in a vault on the disk."""

from __future__ import annotations

from datetime import date
from typing import TYPE_CHECKING

from aria_dream.adapters.index.index import read_vault
from aria_dream.adapters.watch.own_notes import find_own_notes, read_day_owner, read_new_seeds
from tests.daemon_bench import NOTES
from tests.watched import write

if TYPE_CHECKING:
    from pathlib import Path

    import pytest

LOG = "---\naria-dream: log\n{}---\n"
TODAY = date(2026, 11, 30)


def test_our_notes_are_found_by_their_marker(tmp_path: Path) -> None:
    root = write(
        tmp_path / "vault",
        {
            **NOTES,
            "dreams/2026-11-30 dream.md": LOG.format(""),
            "dreams/2026-11-29 dream 2.md": LOG.format(""),
            "dreams/2026-11-31 dream.md": LOG.format(""),
            "dreams/2026-11-28 dream.md": "a writer's own\n",
            "dreams/2026-11-30 dream.sync-conflict-20261130-101010-ABCDEFG.md": LOG.format(""),
            "journal/2026-11-30 dream.md": LOG.format(""),
        },
    )
    own = find_own_notes(read_vault(root, None), "dreams")
    assert (own.folder, own.review, own.seeds) == ("dreams", "dreams/Dream review.md", "dreams/Dream seeds.md")
    assert own.logs == {
        "dreams/2026-11-30 dream.md": TODAY,
        "dreams/2026-11-29 dream 2.md": date(2026, 11, 29),
        "dreams/2026-11-31 dream.md": None,
        "journal/2026-11-30 dream.md": TODAY,
    }
    assert find_own_notes(read_vault(root, None), "journal").folder == "dreams"


def test_the_owner_is_read_whatever_the_head_looks_like(tmp_path: Path) -> None:
    for head, owner in {"host: desk\n": "desk", 'host: "no"\n': "no", "host:\n": "", "": "", "host: [\n": ""}.items():
        root = write(tmp_path / "vault", {**NOTES, "dreams/2026-11-30 dream.md": LOG.format(head)})
        index = read_vault(root, None)
        assert read_day_owner(index, find_own_notes(index, "dreams"), TODAY) == owner, head
        assert read_day_owner(index, find_own_notes(index, "dreams"), date(2026, 12, 1)) == ""


def test_of_two_owners_both_machines_name_the_same(tmp_path: Path) -> None:
    notes = {f"dreams/2026-11-30 dream{number}.md": LOG.format(f"host: {host}\n")
             for number, host in (("", "desk"), (" 2", "attic"))}  # fmt: skip
    index = read_vault(write(tmp_path / "vault", {**NOTES, **notes}), None)
    assert read_day_owner(index, find_own_notes(index, "dreams"), TODAY) == "attic"


def test_seeds_wait_that_are_internal_open_and_name_a_note(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    seed = "\n## {} — {}\n- kind: {}\n- status: {}\n- source: https://example.org\n- resonance: [[{}]]\n"
    text = "".join(
        seed.format(*values)
        for values in (
            ("2026-11-29", "late", "internal", "open", "Compost"),
            ("2026-11-01", "early", "internal", "open", "Microbes"),
            ("2026-11-01", "nowhere", "internal", "open", "No such note"),
            ("2026-11-01", "done", "internal", "dreamt", "Compost"),
            ("2026-11-01", "outside", "external-novelty", "open", "Compost"),
        )
    )
    root = write(tmp_path / "vault", {**NOTES, "dreams/Dream seeds.md": f"---\naria-dream: seeds\n---\n{text}"})
    index = read_vault(root, None)
    own = find_own_notes(index, "dreams")
    early, late = read_new_seeds(index, own, frozenset())
    assert read_new_seeds(index, own, frozenset({early})) == (late,)
    moved = f"---\naria-dream: seeds\n---\nI moved them.\n{text.replace('[[Compost]]', '[[Compost]] and more')}"
    write(root, {"dreams/Dream seeds.md": moved})
    assert read_new_seeds(index, own, frozenset()) == (early, late)
