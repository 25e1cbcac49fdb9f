"""What of a memory is read, in which order, and what is left out."""

from __future__ import annotations

from datetime import UTC, date

import pytest

from aria_dream.synthesis.sources import (
    MemoryFile,
    SourceKind,
    read_capsules,
    read_dated,
    read_failures,
    read_trust_decay,
)


def capsule(name: str, head: str, body: str = "Something was done.") -> MemoryFile:
    return MemoryFile(path=f"memory/capsules/{name}.md", text=f"---\n{head}\n---\n\n{body}\n")


def dated(text: str) -> list[str]:
    reading = read_dated([MemoryFile(path="S.md", text=text)], SourceKind.SESSION, 5)
    return [entry.title for entry in reading.entries]


def test_the_newest_capsules_by_instant() -> None:
    times = {
        "a": "2026-11-20", "b": "2026-11-21T08:00:00+00:00", "c": "2026-11-21T10:00:00+05:00",
        "d": "'2026-11-25'", "e": "2026-11-24T23:59:59Z", "f": "2026-11-19 12:00", "g": "2026-11-18",
    }  # fmt: skip
    reading = read_capsules([capsule(name, f"created_at: {at}") for name, at in times.items()], UTC)
    assert [entry.path[-4] for entry in reading.entries] == ["d", "e", "b", "c", "a"]


@pytest.mark.parametrize(
    ("file", "reason"),
    [
        (MemoryFile(path="c.md", text="no head at all"), "no frontmatter"),
        (capsule("c", "title: x"), "created_at is missing"),
        (capsule("c", "created_at: last week"), "no date"),
        (capsule("c", "created_at: [2026]"), "no date"),
        (capsule("c", "created_at: 2026-13-40"), "no date"),
        (capsule("c", "created_at: ["), "not read"),
        (capsule("c", "created_at: 2026-11-20", body=""), "no text"),
        (capsule("c", "created_at: 2026-11-20", body="```\ncode only\n```"), "no text"),
    ],
)
def test_an_invalid_capsule_is_left_out_with_its_reason(file: MemoryFile, reason: str) -> None:
    reading = read_capsules([file], UTC)
    assert reading.entries == ()
    (said,) = reading.left_out
    assert file.path in said
    assert reason in said


def test_blocks_newest_first_however_the_log_grows() -> None:
    days = ["2026-11-21", "2026-11-23", "2026-11-23", "2026-11-26", "2026-11-27", "2026-11-28"]
    down = "".join(f"## {day} no {number}\n\ntext\n\n" for number, day in enumerate(days))
    assert [title[-1] for title in dated(down)] == ["5", "4", "3", "2", "1"]
    up = "".join(f"## {day} no {number}\n\ntext\n\n" for number, day in reversed(list(enumerate(days))))
    assert [title[-1] for title in dated(up)] == ["5", "4", "3", "2", "1"]


def test_what_is_not_live() -> None:
    text = """# Log
## 2026-11-28 real
text
### 2026-11-29 a part of it
```
## 2026-11-30 an example in a fence
```
## 2026-11-27 (archived)
text
## 2026-11-26
status: superseded
text
# Archive
## 2026-11-25 old
text
## 2026-99-99 no date
"""
    reading = read_dated([MemoryFile(path="S.md", text=text)], SourceKind.SESSION, 5)
    assert [(entry.title, entry.line, entry.day) for entry in reading.entries] == [
        ("2026-11-28 real", 2, date(2026, 11, 28))
    ]
    assert len(reading.left_out) == 3


def test_list_items_with_dates_where_no_heading_has_one() -> None:
    assert dated("# Log\n- 2026-11-20: one\n- 2026-11-21 14:30 two\n- no date\n") == [
        "2026-11-21 14:30 two", "2026-11-20: one",
    ]  # fmt: skip
    reading = read_dated([MemoryFile(path="S.md", text="only prose")], SourceKind.SESSION, 5)
    assert reading.left_out == ("S.md: it has no dated block",)


def test_times_order_the_blocks_of_a_day() -> None:
    assert dated("## 2026-11-20 09:00\nx\n## 2026-11-20 21:00\nx\n## 2026-11-20 7:00\nx\n") == [
        "2026-11-20 21:00", "2026-11-20 09:00", "2026-11-20 7:00",
    ]  # fmt: skip


def test_open_trust_decay_captures() -> None:
    text = """# Trust decay
- [ ] open box
- [x] closed box
## Open
- an open item
- status: closed, though under open
## Closed
- a closed item
## A capture of its own
- **status:** open
It was said too early.
## Another (resolved)
text
## Third
status: resolved
"""
    reading = read_trust_decay([MemoryFile(path="T.md", text=text)])
    titles = [entry.title for entry in reading.entries]
    assert "A capture of its own" in titles
    assert "an open item" in titles
    assert not {"a closed item", "Another (resolved)", "Third"} & set(titles)
    boxes = read_trust_decay([MemoryFile(path="T.md", text="- [ ] open box\n- [x] closed box\n- [X] closed too\n")])
    assert [(entry.title, entry.ref) for entry in boxes.entries] == [("open box", "T.md:1")]
    assert len(boxes.left_out) == 2


def test_recent_failures() -> None:
    text = "# F\n" + "".join(f"## 2026-11-{day} entry\ntext\n" for day in (12, 20, 14, 16, 18, 10)) + "## undated\nx\n"
    reading = read_failures([MemoryFile(path="F.md", text=text)], SourceKind.FAILED_EXPERIMENT)
    assert [entry.day.day if entry.day else 0 for entry in reading.entries] == [20, 18, 16, 14, 12]
    items = read_failures([MemoryFile(path="F.md", text="- one thing\n- another thing\n")], SourceKind.FAILURE_MODE)
    assert [entry.title for entry in items.entries] == ["another thing", "one thing"]
