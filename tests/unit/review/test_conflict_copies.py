"""Copies that a sync made of our own notes are merged by what they say, or left to a person."""

from __future__ import annotations

from dataclasses import replace
from datetime import time
from typing import TYPE_CHECKING

import pytest

from aria_dream.adapters.disk.files import DiskVault
from aria_dream.adapters.index.index import read_vault
from aria_dream.adapters.watch.own_notes import find_own_notes, merge_conflict_copies
from aria_dream.consolidate.open_conflicts import OpenConflict, render_open
from aria_dream.consolidate.open_list import read_answers
from aria_dream.consolidate.open_lists import LISTS
from aria_dream.consolidate.open_pairs import OpenPair, apart_key, render_pairs
from aria_dream.consolidate.work import Candidate, Member
from aria_dream.notes.change_grammar import ChangeItem, DecidedChange, LoggedChange, plain_ends
from aria_dream.notes.dream_log import DreamBlock, LoggedStart, parse_blocks, render_block, render_head
from aria_dream.notes.dream_note_grammar import LoggedLink, LoggedPair
from aria_dream.notes.review_note import ReviewItem, read_managed, render_managed, render_review_head
from aria_dream.notes.ticks import read_ticks
from aria_dream.review.conflict_copies import LeftAlone, merge_reviews, merge_sections
from aria_dream.vault.sync_conflict import original_of_copy
from tests.daemon_bench import NOON
from tests.watched import write

if TYPE_CHECKING:
    from pathlib import Path

    from aria_dream.notes.boxes import Decides

DAY = NOON.date()


def pair(id_: str, *ticked: Decides) -> LoggedPair:
    return LoggedPair(
        id=id_, from_=LoggedLink(target="Compost", title="Compost", style="wiki"),
        to=LoggedLink(target="Moon", title="Moon", style="wiki"), score=0.5, path=None, reason="slow", judge="judge",
        probability=0.6, ticked=frozenset(ticked),
    )  # fmt: skip


def block(minute: int, *pairs: LoggedPair) -> str:
    start = LoggedStart(title="Compost", cold=True, rule="pick", seed=minute)
    return render_block(DreamBlock(at=time(3, minute), kind="idle dream", start=start, pairs=pairs, drops=()))


def log(*blocks: str, host: str = "") -> str:
    return "\n".join([render_head(DAY, host), *blocks])


FIRST, SECOND = block(1, pair("aaaaaa")), block(2, pair("bbbbbb"))


def test_two_machines_dreamt_and_both_dreams_stand() -> None:
    merged = merge_sections(log(FIRST, host="desk"), log(SECOND, host="attic"))
    assert merged == log(FIRST, SECOND, host="desk")
    assert merge_sections(log(FIRST, SECOND), log(SECOND)) == log(FIRST, SECOND)
    assert len(parse_blocks(str(merged))[0]) == 2


def test_a_tick_in_either_counts() -> None:
    ticked = block(1, pair("aaaaaa", "link"))
    for one, other in ((FIRST, ticked), (ticked, FIRST), (ticked, ticked)):
        merged = merge_sections(log(one), log(other, SECOND))
        assert merged == log(ticked, SECOND)
    never = block(1, pair("aaaaaa", "never"))
    ((both,), _) = read_ticks(str(merge_sections(log(ticked), log(never))))
    assert both.choice == "both"


def test_a_decision_is_worth_more_than_boxes() -> None:
    boxes = [line for line in FIRST.splitlines() if "^aria-" in line]
    decided = FIRST.replace("\n".join(boxes), "    - linked in Compost, 07:41 ^aria-aaaaaa")
    assert decided != FIRST
    assert merge_sections(log(FIRST), log(decided)) == log(decided)
    assert merge_sections(log(decided), log(FIRST)) == log(decided)


@pytest.mark.parametrize(
    "copy",
    [
        log(FIRST.replace("Started cold", "I write here. Started cold")),
        log(FIRST + "my own line\n"),
        log(FIRST).replace("---\n\n##", "---\nmy own line\n\n##"),
        log(FIRST).replace("date: ", "mood: calm\ndate: "),
        log(block(1, pair("aaaaaa"), pair("cccccc"))),
    ],
)
def test_a_writers_words_are_not_guessed_about(copy: str) -> None:
    assert isinstance(merge_sections(log(FIRST), copy), LeftAlone)
    assert isinstance(merge_sections(copy, log(FIRST)), LeftAlone)


def test_the_line_ends_are_the_originals() -> None:
    merged = merge_sections(log(FIRST).replace("\n", "\r\n"), log(SECOND))
    assert str(merged).replace("\r\n", "\n") == log(FIRST, SECOND)
    assert "\n" not in str(merged).replace("\r\n", "")


def test_a_heading_in_code_opens_nothing() -> None:
    fenced = FIRST + "\n```\n## 03:02 — idle dream\n```\n"
    assert merge_sections(log(fenced), log(fenced)) == log(fenced)
    assert "## 03:02 — idle dream\n\n**[[Compost]]" in str(merge_sections(log(fenced), log(fenced, SECOND)))


def test_seeds_of_both_and_a_dreamt_one_stays_dreamt() -> None:
    head = "---\naria-dream: seeds\n---\n\n"
    one = "## 2026-11-29 — One\n- kind: internal\n- status: open\n- resonance: [[Compost]]\n"
    other = "\n## 2026-11-29 — Two\n- kind: internal\n- status: open\n- resonance: [[Moon]]\n"
    dreamt = one.replace("open", "dreamt")
    assert merge_sections(head + one, head + dreamt + other) == head + dreamt + other
    assert merge_sections(head + dreamt, head + one) == head + dreamt
    assert isinstance(merge_sections(head + one, head + one.replace("Compost", "Moon")), LeftAlone)


def review(*items: LoggedPair) -> str:
    listed = [ReviewItem(kind="link", pair=item, dreamt_on=DAY) for item in items]
    return render_review_head() + render_managed(listed) + "\n"


def test_the_review_lists_what_both_list_and_what_is_still_open() -> None:
    copy = review(pair("aaaaaa", "link"), pair("bbbbbb"), pair("cccccc"))
    merged = merge_reviews(review(pair("aaaaaa")), copy, lambda id_: id_ != "cccccc")
    assert merged == review(pair("aaaaaa", "link"), pair("bbbbbb"))
    same = review(pair("aaaaaa"))
    assert merge_reviews(same, same, lambda _: True) == same
    for odd in (same.replace("Write above", "I wrote above"), same.replace("kept: slow", "kept: fast slow\nmine")):
        assert isinstance(merge_reviews(same, odd, lambda _: True), LeftAlone)


def changes(*items: ChangeItem) -> str:
    return render_review_head() + render_managed((), items) + "\n"


def test_changes_of_both_and_a_tick_only_under_the_text_it_was_set_for() -> None:
    ends = (LoggedLink(target="Keep", title="Keep", style="wiki"), LoggedLink(target="", title="Drop", style="plain"))
    merge = LoggedChange(
        id="aaaaaa", kind="merge", ends=ends, proposed_on=DAY, reason="same", judge="m", confidence=0.9,
        mark="00000001", diff=("Keep.md", "+ x"),
    )  # fmt: skip
    ticked = replace(merge, approve_ticked=True)
    other = replace(merge, id="bbbbbb")
    done = DecidedChange(id="aaaaaa", kind="merge", ends=plain_ends(ends), said="done", at="07:41", undo_until="09:41")
    undo = replace(done, undo_ticked=True)

    def merged(ours: ChangeItem, *theirs: ChangeItem, open_: bool = True) -> str | LeftAlone:
        return merge_reviews(changes(ours), changes(*theirs), lambda _: open_)

    assert merged(merge, ticked, other) == changes(ticked, other)
    assert merged(merge, other, open_=False) == changes(merge)
    assert merged(merge, replace(ticked, mark="00000002")) == changes(merge)
    assert merged(ticked, done) == changes(done)
    assert merged(done, ticked) == changes(done)
    assert merged(done, undo) == changes(undo)
    assert merged(other, undo, open_=False) == changes(other, undo)
    assert merged(replace(done, said="undone", undo_until=""), undo) == changes(
        replace(done, said="undone", undo_until="")
    )


@pytest.mark.parametrize(
    ("copy", "original"),
    [
        ("dreams/A (conflicted copy 2026-11-30).md", "dreams/A.md"),
        ("dreams/A (Ann's conflicted copy 2026-11-30).md", "dreams/A.md"),
        ("dreams/A.sync-conflict-20261130-101010-ABCDEFG.md", "dreams/A.md"),
        ("A [conflicted].md", "A.md"),
        ("A_conf(1).md", "A.md"),
        ("A.md", None),
        ("dreams/no ending", None),
    ],
)
def test_the_name_tells_the_original(copy: str, original: str | None) -> None:
    assert original_of_copy(copy) == original


NAME = "dreams/2026-11-30 dream"


def vault(tmp_path: Path, copy: str) -> Path:
    return write(
        tmp_path / "vault",
        {
            "dreams/Dream review.md": review(),
            f"{NAME}.md": log(FIRST),
            f"{NAME} (conflicted copy 2026-11-30).md": copy,
            "Mine (conflicted copy 2026-11-30).md": "my words",
            "Mine.md": "other words",
        },
    )


def test_on_the_disk_the_copy_goes_to_the_trash(tmp_path: Path) -> None:
    copy = log(SECOND)
    root = vault(tmp_path, copy)
    for number in ("", " 2"):
        index = read_vault(root, None)
        own = find_own_notes(index, "dreams")
        assert list(own.logs) == [f"{NAME}.md"]
        assert merge_conflict_copies(index, own, DiskVault(root, tmp_path / "state"), lambda _: True) == ()
        assert (root / f"{NAME}.md").read_text("utf-8") == log(FIRST, SECOND)
        trashed = root / ".trash" / f"{NAME} (conflicted copy 2026-11-30){number}.md"
        assert trashed.read_text("utf-8") == copy
        assert (root / "Mine (conflicted copy 2026-11-30).md").read_text("utf-8") == "my words"
        write(root, {f"{NAME} (conflicted copy 2026-11-30).md": copy})


def test_on_the_disk_a_copy_with_a_writers_words_stays(tmp_path: Path) -> None:
    root = vault(tmp_path, log(FIRST + "mine\n"))
    index = read_vault(root, None)
    before = {path: path.read_bytes() for path in root.rglob("*.md")}
    own, files = find_own_notes(index, "dreams"), DiskVault(root, tmp_path / "state")
    found = merge_conflict_copies(index, own, files, lambda _: True)
    assert [problem.path for problem in found] == [f"{NAME} (conflicted copy 2026-11-30).md"]
    assert {path: path.read_bytes() for path in root.rglob("*.md")} == before


def test_managed_block_is_whole_after_a_merge() -> None:
    merged = merge_reviews(review(pair("aaaaaa")), review(pair("bbbbbb")), lambda _: True)
    assert read_managed(str(merged))[1] == ()


def test_on_the_disk_a_reviews_copy_brings_the_ticks_of_every_list(tmp_path: Path) -> None:
    """A contradiction ticked here, a near pair ticked there: both hold, and what was settled here stays away."""
    conflicts = [
        OpenConflict(key=f"{n:032x}", first="Rain", second="Sun", subject="rain", first_claim="3", second_claim="4")
        for n in range(3)
    ]
    members = [Member(id=name, path=f"{name}.md", title=name, state="s", is_note=True) for name in ("Heap", "Compost")]
    near = OpenPair(pair=Candidate(key="k", first=members[0], second=members[1], rank=1), reason="alike")
    pairs = render_pairs([near], lambda path: f"[[{path.removesuffix('.md')}]]")
    here = f"{review(pair('aaaaaa'))}\n{render_open(conflicts[:1]).replace('[ ]', '[x]')}\n"
    there = f"{review(pair('aaaaaa'))}\n{render_open(conflicts)}\n\n{pairs.replace('[ ] different', '[x] different')}\n"
    root = vault(tmp_path, log(FIRST))
    name = "dreams/Dream review"
    write(root, {f"{name}.md": here, f"{name} (conflicted copy 2026-11-30).md": there})
    index = read_vault(root, None)
    own, files = find_own_notes(index, "dreams"), DiskVault(root, tmp_path / "state")
    settled = f"{1:032x}"
    assert merge_conflict_copies(index, own, files, lambda key: key != settled) == ()
    text = (root / f"{name}.md").read_text("utf-8")
    answers = [answer.key for each in LISTS for answer in read_answers(text, each).given]
    assert answers == [f"{0:032x}", apart_key(near.pair)]
    assert settled not in text
    assert f"{2:032x}" in text
    assert not (root / f"{name} (conflicted copy 2026-11-30).md").exists()
    edited = text.replace("alike", "akin")
    write(root, {f"{name}.md": text, f"{name} (conflicted copy 2026-11-30).md": edited})
    index = read_vault(root, None)
    (problem,) = merge_conflict_copies(index, own, files, lambda _: True)
    assert "the list “near pairs” in one of them was edited" in problem.message
    assert (root / f"{name}.md").read_text("utf-8") == text
