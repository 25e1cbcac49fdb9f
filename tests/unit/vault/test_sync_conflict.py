"""Copies that a sync left: every wording of the field, the original beside it, and names that a writer chooses."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from aria_dream.adapters.index.index import read_vault
from aria_dream.vault.sync_conflict import copies_among, is_near_copy, original_of_copy, originals_of_copy

if TYPE_CHECKING:
    from pathlib import Path

NAMED = [
    "Tea.sync-conflict-20261120-101010-ABCDEFG", "Tea (Anna's conflicted copy 2026-11-20)", "Tea (conflicted copy)",
    "Tea (Anna (work)'s conflicted copy 2026-11-20)", "Tea (conflicted copy 2026-11-20 101010)",
    "Tea (Conflicted copy Anna's iPhone (2) 202611201010)", "Tea (Anna's conflicting copy 2026-11-20)",
    "Tea (Unicode Encoding Conflict)", "Tea (Case Conflict)", "Tea (Case Conflict 1)", "Tea (Conflict 2026-11-20)",
    "Tea (SFConflict anna@example.org 2026-11-20-10-10-10)", "Tea_conflict-20261120-101010", "Tea_conf(1)",
    "Tea_DiskStation_Sep-12-1032-2018_Conflict", "Tea_Anna-PC_2026-11-20_Conflict", "Tea [Conflict]",
    "Tea (In Konflikt stehende Kopie von Anna 2026-11-20)", "Tea (Annas in Konflikt stehende Kopie 2026-11-20)",
    "Tea (Copie en conflit de Anna 2026-11-20)", "Tea (copia en conflicto de Anna 2026-11-20)",
    "Tea (Copia conflictiva de Anna 2026-11-20)", "Tea (Copia in conflitto di Anna 2026-11-20)",
    "Tea (Cópia em conflito de Anna 2026-11-20)", "Tea (Conflicterende kopie van Anna 2026-11-20)",
    "Tea (kopia powodująca konflikt użytkownika Anna 2026-11-20)", "Tea (Annas motstridiga kopia 2026-11-20)",
    "Tea (Annas modstridende kopi 2026-11-20)", "Tea (Конфликтующая копия пользователя Anna 2026-11-20)",
    "Tea (конфліктна копія користувача Anna)", "Tea (Anna の競合コピー 2026-11-20)",
    "Tea (Anna 上の問題のあるコピー 2026-11-20)", "Tea（Anna 的冲突副本 2026-11-20）",
    "Tea (Anna 的衝突複本 2026-11-20)",
    "Tea (Anna의 충돌 사본 2026-11-20)", "Tea (Salinan konflik Anna)", "Tea (สำเนาที่ขัดแย้งของ Anna)",
    "Tea (Αντίγραφο σε διένεξη Anna 2026-11-20)", "Tea (עותק מתנגש של Anna 2026-11-20)",
    "Tea (# Name clash 2026-11-20 aB3 #)", "Tea (نسخة متعارضة Anna 2026-11-20)",
]  # fmt: skip
WEAK = ["Tea 2", "Tea 14", "Tea (1)", "Tea(1)", "Tea-DESKTOP-AB12CD", "Tea-Annas-MacBook-Pro", "Tea_Conflict",
        "Tea (Vietnam conflict)", "Tea - conflict copy", "Tea.conflict1", "Tea-conflict-20261120", "Tea.conflicted",
        "Tea (vastuoluline koopia Anna 2026-11-20)", "Tea (árekstur afrit Anna 2026-11-20 (1))"]  # fmt: skip
TEXT = "".join(f"Line {number} says how the tea is made, and how long it stands.\n" for number in range(12))


@pytest.mark.parametrize("name", NAMED)
def test_a_name_that_only_a_sync_gives(name: str) -> None:
    assert original_of_copy(f"a/{name}.md") == "a/Tea.md"
    assert copies_among([f"a/{name}.md"], [f"a/{name}.md", "a/Tea.md"]) == {f"a/{name}.md": "a/Tea.md"}
    assert copies_among([f"a/{name}.md"], [f"a/{name}.md", "b/Tea.md"]) == {}, "its original is gone: it is a note"


@pytest.mark.parametrize("name", WEAK)
def test_a_name_that_a_writer_may_choose_too(name: str) -> None:
    assert original_of_copy(f"{name}.md") is None
    assert "Tea.md" in originals_of_copy(f"{name}.md", weak=True)


@pytest.mark.parametrize(
    "name",
    ["Conflict", "On conflicted copies", "sync-conflict", "a (b)", "2026-11-20", "Tea-pot", "Tea 1", "Tea 2026",
     "(conflicted copy)", "Copy of the conflict", "The conflict (a copy)", "Hydro (Unicode)"],
)  # fmt: skip
def test_a_name_that_is_none_of_a_copy(name: str) -> None:
    assert original_of_copy(f"{name}.md") is None
    assert list(originals_of_copy(f"{name}.md", weak=True)) == []


def test_a_copy_of_a_copy_is_one_of_the_note_and_case_and_accents_do_not_part_them() -> None:
    second = "Tea (conflicted copy 2026-11-20 101010) (conflicted copy 2026-11-21 101010).md"
    first = "Tea (conflicted copy 2026-11-20 101010).md"
    assert copies_among([first, second], ["Tea.md", first, second]) == {first: "Tea.md", second: "Tea.md"}
    assert copies_among([second], ["Tea.md", second]) == {second: "Tea.md"}
    accent = "Cafe\u0301 (Unicode Encoding Conflict).md"
    assert copies_among([accent], ["Caf\u00e9.md", accent]) == {accent: "Caf\u00e9.md"}


def test_what_is_nearly_equal() -> None:
    assert is_near_copy(TEXT, TEXT)
    assert is_near_copy(TEXT, TEXT.replace("\n", "\r\n"))
    assert is_near_copy(TEXT, TEXT + "And the pot is warmed first.\n")
    assert not is_near_copy(TEXT, "Something else.\n" * 12)
    assert not is_near_copy("# Week\n", "# Week\n\nWe met.\n"), "a template has few lines"
    assert not is_near_copy("", "")


@pytest.mark.parametrize("name", WEAK)
def test_a_weak_name_counts_where_both_say_nearly_the_same(tmp_path: Path, name: str) -> None:
    (tmp_path / "Tea.md").write_text(TEXT, encoding="utf-8")
    (tmp_path / f"{name}.md").write_text(TEXT + "And the pot is warmed first.\n", encoding="utf-8")
    assert read_vault(tmp_path, None).copies == {f"{name}.md": "Tea.md"}
    (tmp_path / f"{name}.md").write_text("A note of its own, about something else.\n" * 9, encoding="utf-8")
    assert read_vault(tmp_path, None).copies == {}


def test_a_note_called_conflict_is_a_note(tmp_path: Path) -> None:
    for name in ("Conflict", "War (conflict of 1914)", "Tea (conflicted copy 2026-11-20)"):
        (tmp_path / f"{name}.md").write_text(TEXT, encoding="utf-8")
    assert read_vault(tmp_path, None).copies == {}
