"""What was written is taken back under whatever names its notes bear by then; the rest is told, with file and line."""

from __future__ import annotations

import json
from datetime import timedelta
from itertools import permutations
from typing import TYPE_CHECKING

import pytest

from aria_dream.markdown.note import NotePath
from aria_dream.review.merging import plan_merge
from aria_dream.review.plan import Planned
from aria_dream.review.proposal import Proposal, event_record, planned_record, proposal_id
from aria_dream.usecases.review import Settlement, renew_lines, settle, undo_decision
from tests.proposed import lay_out, open_session
from tests.reviewed import COMPOST, NOTES, REVIEW, SLACK, id_of, night, run, states, tick, write

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path


LINK = id_of(COMPOST)
PAIR = ("Altitude.md", "Altitude 1.md")
MERGE = proposal_id("merge", PAIR, 0)
TEXT = "At altitude a dough rises faster. Bakers use less starter and colder water. The crust dries sooner.\n"
TEA = "See [[Altitude 1]], [[Altitude 1|there]], ![[Altitude 1]] and [md](Altitude%201.md).\nOn [[Altitude 1#Oven]].\n"


@pytest.fixture
def home(tmp_path: Path) -> Path:
    return tmp_path / "home"


@pytest.fixture
def vault(tmp_path: Path) -> Path:
    return tmp_path / "vault"


def merged(vault: Path, others: Mapping[str, str] | None = None) -> None:
    """Two notes become one by a tick."""
    lay_out(vault)
    for name, text in {PAIR[0]: TEXT, PAIR[1]: TEXT, "Tea.md": TEA, **(others or {})}.items():
        write(vault, name, text)
    session = open_session(vault)
    found = plan_merge(session.view(PAIR, inbound=True), *map(NotePath, PAIR))
    assert isinstance(found, Planned)
    session.store.propose(
        [
            Proposal(
                id=MERGE,
                kind="merge",
                paths=PAIR,
                round=0,
                at=session.now,
                expires_at=session.now + timedelta(days=60),
                titles=("Altitude", "Altitude 1"),
                confidence=0.9,
                reason="the same",
                judge="qwen3:4b",
            )
        ]
    )
    session.store.note(planned_record(MERGE, found.edits, session.now))
    renew_lines(session, Settlement())
    tick(vault / REVIEW, MERGE)
    settle(open_session(vault))
    assert "[[Altitude|there]]" in read(vault, "Tea.md")


def read(vault: Path, name: str) -> str:
    return (vault / name).read_bytes().decode()


def exchange(vault: Path, name: str, old: str, new: str) -> None:
    text = read(vault, name)
    assert old in text, text
    write(vault, name, text.replace(old, new))


def rename(vault: Path, old: str, new: str, *notes: str) -> None:
    """As Obsidian does it: the file moves, and the links in `notes` follow."""
    (vault / new).parent.mkdir(parents=True, exist_ok=True)
    (vault / old).rename(vault / new)
    one, other = (name.rpartition("/")[2].removesuffix(".md") for name in (old, new))
    for name in notes:
        text = read(vault, name).replace(f"[[{one}]]", f"[[{other}]]").replace(f"[[{one}|", f"[[{other}|")
        write(vault, name, text.replace(f"[[{one}#", f"[[{other}#").replace(f"({one}.md", f"({other}.md"))


@pytest.mark.parametrize(
    ("goal", "by"),
    [("Höhe.md", "command"), ("altitude.md", "box"), ("high/Altitude.md", "command"), ("a/Höhe.md", "box")],
)
def test_a_merge_is_undone_whatever_the_kept_note_is_called(vault: Path, by: str, goal: str) -> None:
    merged(vault)
    rename(vault, "Altitude.md", goal, "Tea.md")
    if by == "box":
        tick(vault / REVIEW, MERGE, "-undo")
    done = run(*(("rollback", vault, MERGE) if by == "command" else ("apply", vault)))
    assert "Undone" in done.stdout
    assert "not undone" not in done.stdout
    assert (read(vault, "Tea.md"), read(vault, goal), read(vault, "Altitude 1.md")) == (TEA, TEXT, TEXT)


@pytest.mark.parametrize("order", list(permutations(range(3))))
@pytest.mark.parametrize("by", ["command", "renamed"])
def test_links_that_share_a_heading_are_undone_in_any_order(vault: Path, order: tuple[int, ...], by: str) -> None:
    lay_out(vault)
    names, source = ["Tea", "Bread", "Rain"], "Altitude.md"
    for name in [*names, "Altitude"]:
        write(vault, f"{name}.md", f"{name} says nothing yet.\n")
    before = read(vault, source)
    ids = [proposal_id("link", (source, f"{name}.md"), 0) for name in names]
    for id_, name in zip(ids, names, strict=True):
        session = open_session(vault)
        session.store.propose(
            [
                Proposal(
                    id=id_,
                    kind="link",
                    paths=(source, f"{name}.md"),
                    round=0,
                    at=session.now,
                    titles=("Altitude", name),
                    expires_at=session.now + timedelta(days=60),
                    confidence=0.9,
                    reason="both",
                    judge="qwen3:4b",
                )
            ]
        )
        session.store.note(event_record("approved", id_, session.now, by="terminal"))
        settle(session)
        if by == "renamed" and name == "Tea":
            rename(vault, source, "High.md")
            settle(open_session(vault))
    source_now = "High.md" if by == "renamed" else source
    assert read(vault, source_now).count("- [[") == 3
    for number in order:
        done = Settlement()
        session = open_session(vault)
        undo_decision(session, session.records().states[ids[number]], done, by="terminal")
        assert (done.undone, done.not_undone) == ([ids[number]], [])
    assert read(vault, source_now) == before


def test_a_link_that_was_pointed_elsewhere_stays_and_is_told(vault: Path) -> None:
    merged(vault)
    exchange(vault, "Tea.md", "[[Altitude|there]]", "[[Bread|there]]")
    done = run("rollback", vault, MERGE, "--json", check=False)
    assert done.returncode == 6
    found = json.loads(done.stdout)
    assert found["undone"] == [MERGE]
    assert (found["error"], found["exit_code"]) == ("one place was not undone", 6)
    (one,) = found["not_undone"]
    assert (one["id"], one["path"], one["line"]) == (MERGE, "Tea.md", 1)
    assert "[[Bread|there]]" in one["said"]
    assert read(vault, "Tea.md") == TEA.replace("[[Altitude 1|there]]", "[[Bread|there]]")


@pytest.mark.parametrize(
    ("old", "new", "kept"),
    [
        ("[[Altitude|there]]", "[[Altitude|over there]]", "[[Altitude|over there]]"),
        ("![[Altitude]]", "", ""),
        ("[[Altitude|there]]", "[[Altitude|there]] and [[Altitude]]", "[[Altitude 1|there]] and [[Altitude]]"),
        (", ![[Altitude]]", ", hm, ![[Altitude]]", ", hm, ![[Altitude 1]]"),
    ],
)
def test_each_link_is_undone_by_itself(vault: Path, old: str, new: str, kept: str) -> None:
    merged(vault)
    exchange(vault, "Tea.md", old, new)
    done = run("rollback", vault, MERGE, check=False)
    assert "Undone" in done.stdout
    assert read(vault, "Tea.md") == TEA.replace(old.replace("Altitude", "Altitude 1"), kept)
    told = old.replace("Altitude", "Altitude 1") not in read(vault, "Tea.md")
    assert (done.returncode, "Tea.md:1: " in done.stdout) == ((6, True) if told else (0, False))


def test_what_a_box_left_stands_below_its_line(vault: Path, home: Path) -> None:
    merged(vault)
    exchange(vault, "Tea.md", "[[Altitude|there]]", "[[Bread|there]]")
    tick(vault / REVIEW, MERGE, "-undo")
    assert run("apply", vault, check=False).returncode == 6
    assert states(home)[MERGE].state == "rolled_back"
    lines = read(vault, REVIEW).splitlines()
    (at,) = (number for number, line in enumerate(lines) if line.startswith("- undone: "))
    assert lines[at + 1].startswith("- not undone: Tea.md:1: ")
    held = read(vault, REVIEW)
    assert run("apply", vault).returncode == 0
    assert read(vault, REVIEW) == held


def test_a_note_in_the_way_stops_everything(vault: Path) -> None:
    merged(vault)
    write(vault, "Altitude 1.md", "Something else entirely.\n")
    held = {path: path.read_bytes() for path in vault.rglob("*.md") if "dreams" not in path.parts}
    done = run("rollback", vault, MERGE, check=False)
    assert done.returncode == 6
    assert "Altitude 1.md is in the way" in done.stdout
    assert {path: path.read_bytes() for path in held} == held


def test_links_come_back_though_the_kept_note_is_gone(vault: Path) -> None:
    merged(vault)
    (vault / "Altitude.md").unlink()
    done = run("rollback", vault, MERGE, check=False)
    assert done.returncode == 6
    assert "Altitude.md: is not found any more" in done.stdout
    assert (read(vault, "Tea.md"), read(vault, "Altitude 1.md")) == (TEA, TEXT)


def test_a_link_of_the_writer_is_never_captured(vault: Path) -> None:
    merged(vault)
    write(vault, "sub/Altitude 1.md", "A namesake.\n")
    write(vault, "Mine.md", "First.\nTo [[Altitude 1]].\n")
    done = run("rollback", vault, MERGE, check=False)
    assert done.returncode == 6
    assert "Mine.md:2: [[Altitude 1]] leads to sub/Altitude 1.md" in done.stdout
    assert "[[Altitude|there]]" in read(vault, "Tea.md")


@pytest.mark.parametrize(
    ("renamed", "by"),
    [
        ("source", "box"),
        ("source", "command"),
        ("target", "command"),
        ("both", "box"),
        ("both", "command"),
        ("folder", "box"),
    ],
)
def test_a_placed_link_is_undone_after_renames(vault: Path, by: str, renamed: str) -> None:
    note = night(vault)
    tick(note, LINK)
    settle(open_session(vault))
    ours = [note.relative_to(vault).as_posix(), REVIEW]
    source, target = "Compost.md", "Sourdough starter.md"
    if renamed in ("source", "both"):
        source = "Heap.md"
        rename(vault, "Compost.md", source, *ours)
    if renamed in ("target", "both"):
        target = "Levain.md"
        rename(vault, "Sourdough starter.md", target, source, *ours)
    if renamed == "folder":
        source = "old/Compost.md"
        rename(vault, "Compost.md", source)
        rename(vault, "Sourdough starter.md", "old/Sourdough starter.md")
    if by == "box":
        tick(note, LINK, "-undo")
    done = run(*(("rollback", vault, LINK) if by == "command" else ("apply", vault)))
    assert "Undone" in done.stdout, done.stdout
    assert read(vault, source) == NOTES["Compost.md"]


def test_the_link_under_related_goes_and_the_writers_own_stay(vault: Path) -> None:
    note = night(vault)
    tick(note, id_of(SLACK))
    settle(open_session(vault))
    assert "## Related" in read(vault, "Slack water.md")
    rename(vault, "Falling asleep.md", "Hypnagogia.md", "Slack water.md", note.relative_to(vault).as_posix(), REVIEW)
    write(vault, "Slack water.md", read(vault, "Slack water.md") + "- [[Tides]]\r\n")
    assert "Undone" in run("rollback", vault, id_of(SLACK)).stdout
    text = read(vault, "Slack water.md")
    assert text.startswith(NOTES["Slack water.md"])
    assert text.endswith("## Related\r\n\r\n- [[Tides]]\r\n")


def test_a_pair_that_a_merge_linked_is_told_so(vault: Path) -> None:
    lay_out(vault)
    pair = ("Tea.md", "Altitude.md")
    for name in pair:
        write(vault, name, f"{name} says nothing yet.\n")
    session = open_session(vault)
    id_ = proposal_id("link", pair, 0)
    session.store.propose(
        [
            Proposal(
                id=id_, kind="link", paths=pair, round=0, at=session.now, expires_at=session.now + timedelta(days=60),
                titles=("Tea", "Altitude"), confidence=0.9, reason="both", judge="qwen3:4b",
            )
        ]
    )  # fmt: skip
    merged(vault)
    told = run("apply", vault).stdout
    assert "The change “Merge: Altitude ← Altitude 1” has linked them: Tea ↔ Altitude" in told
    assert "yourself" not in told + open_session(vault).store.read().states[id_].reason


def test_a_later_change_is_undone_first(vault: Path) -> None:
    merged(vault)
    pair = ("Keep.md", "Altitude.md")
    session = open_session(vault)
    found = plan_merge(session.view(pair, inbound=True), *map(NotePath, pair))
    assert isinstance(found, Planned)
    id_ = proposal_id("merge", pair, 0)
    session.store.propose(
        [
            Proposal(
                id=id_, kind="merge", paths=pair, round=0, at=session.now, expires_at=session.now + timedelta(days=60),
                titles=("Keep", "Altitude"), confidence=0.9, reason="the same", judge="qwen3:4b",
            )
        ]
    )  # fmt: skip
    session.store.note(planned_record(id_, found.edits, session.now))
    renew_lines(session, Settlement())
    tick(vault / REVIEW, id_)
    settle(open_session(vault))
    done = run("rollback", vault, MERGE, check=False)
    assert (done.returncode, "undo that first" in done.stdout) == (6, True)
    assert "Undone" in run("rollback", vault, id_).stdout
    assert "Undone" in run("rollback", vault, MERGE).stdout
    assert read(vault, "Tea.md") == TEA


@pytest.mark.parametrize(("named", "code"), [("zzzzzz", 4), (MERGE, 6)])
def test_an_undo_that_cannot_be_is_an_error_in_json_too(vault: Path, named: str, code: int) -> None:
    merged(vault)
    run("rollback", vault, MERGE)
    done = run("rollback", vault, named, "--json", check=False)
    found = json.loads(done.stdout)
    assert (done.returncode, found["exit_code"]) == (code, code)
    assert found["error"] in done.stderr
