"""The start of a dream and the choice of its pairs, on small values."""

from __future__ import annotations

from array import array
from collections import Counter
from dataclasses import replace
from datetime import date
from random import Random

import pytest

from aria_dream.ranking.walk import (
    Memory,
    NoStart,
    Start,
    Walkable,
    is_crossroads,
    is_index_page,
    may_be_dreamt,
    pick_start,
    walkable_notes,
)
from aria_dream.vault.graph import LinkGraph, NoteFacts

TODAY = date(2026, 11, 30)


def note(path: str, words: int = 100, degree: int = 1, **flags: bool) -> Walkable:
    return Walkable(path=path, words=words, degree=degree, visible=flags.pop("visible", True), **flags)


def start(notes: list[Walkable], seed: int = 1, memory: Memory | None = None) -> Start:
    picked = pick_start(notes, Random(seed), memory or Memory())
    assert isinstance(picked, Start)
    return picked


def test_only_notes_with_prose_of_their_own_are_picked() -> None:
    barred = [
        note("short.md", words=39),
        note("daily.md", daily=True),
        note("template.md", template=True),
        note("index.md", index=True),
        note("board.md", plugin=True),
        note("private.md", visible=False),
    ]
    good = [note("a.md", words=40), note("b.md", degree=0)]
    seen = {start(barred + good, seed).path for seed in range(200)}
    assert seen == {"a.md", "b.md"}


def test_the_weight_is_one_by_one_plus_degree() -> None:
    notes = [note("alone.md", degree=0), note("some.md", degree=1), note("hub.md", degree=9)]
    counts = Counter(start(notes, seed).path for seed in range(8000))
    total = 1 + 1 / 2 + 1 / 10
    for path, weight in (("alone.md", 1), ("some.md", 1 / 2), ("hub.md", 1 / 10)):
        assert counts[path] / 8000 == pytest.approx(weight / total, abs=0.02)


def test_recent_starts_wait_until_all_had_their_turn_then_the_oldest_come_back() -> None:
    notes = [note(f"{name}.md") for name in "abcd"]
    memory = Memory()
    first = []
    for seed in range(4):
        picked = start(notes, seed, memory)
        first.append(picked.path)
        memory = replace(memory, starts=(*memory.starts, picked.path))
    assert sorted(first) == ["a.md", "b.md", "c.md", "d.md"]
    again = {start(notes, seed, memory).path for seed in range(100)}
    assert again == set(first[:2])
    assert "longest ago" in start(notes, 0, memory).rule


def test_the_order_of_the_notes_changes_nothing() -> None:
    notes = [note(f"{number}.md", degree=number) for number in range(20)]
    assert [start(notes, seed) for seed in range(30)] == [start(notes[::-1], seed) for seed in range(30)]


@pytest.mark.parametrize(
    ("notes", "said"),
    [
        ([note("s.md", words=3), note("d.md", daily=True)], "short notes"),
        ([note("d.md", daily=True), note("t.md", template=True)], "daily and index"),
        ([note("e.md", words=0), note("p.md", plugin=True)], "all notes"),
    ],
)
def test_where_no_note_fits_the_rule_is_relaxed_and_says_so(notes: list[Walkable], said: str) -> None:
    picked = start(notes)
    assert picked.path == notes[0].path
    assert said in picked.rule


def test_nothing_to_start_from_is_one_sentence() -> None:
    assert isinstance(pick_start([], Random(0), Memory()), NoStart)
    assert isinstance(pick_start([note("a.md", visible=False)], Random(0), Memory()), NoStart)
    assert isinstance(pick_start([note("a.md", plugin=True)], Random(0), Memory()), NoStart)


def test_a_seed_or_the_writer_gives_the_start_but_never_an_invisible_note() -> None:
    notes = [note("a.md"), note("b.md", daily=True), note("c.md", visible=False)]
    seeded = pick_start(notes, Random(0), Memory(), seeded=("My idea", "b.md"))
    assert seeded == Start(path="b.md", rule="your seed “My idea”", cold=False)
    assert start(notes).path == "a.md"
    hidden = pick_start(notes, Random(0), Memory(), seeded=("My idea", "c.md"))
    assert hidden == Start(path="a.md", rule="low-degree pick", cold=True)
    assert pick_start(notes, Random(0), Memory(), asked="b.md") == Start(path="b.md", rule="as you asked", cold=False)
    assert isinstance(pick_start(notes, Random(0), Memory(), asked="c.md"), NoStart)


def test_each_way_to_a_start_draws_one_number() -> None:
    notes = [note("a.md"), note("b.md")]
    after = []
    for keywords in ({}, {"asked": "a.md"}, {"asked": "x.md"}):
        rng = Random(5)
        pick_start(notes, rng, Memory(), **keywords)  # type: ignore[arg-type] # keywords of a parametrised call
        after.append(rng.random())
    assert len(set(after)) == 1


@pytest.mark.parametrize(
    ("what", "path", "links", "own_words", "expected"),
    [
        ("a map of content: bare links", "Plants.md", 30, 0, True),
        ("a map of content with a phrase for each link", "Plants.md", 30, 120, True),
        ("a list under three sentences", "Tools.md", 12, 45, True),
        ("a hub with a thousand words around three hundred links", "All.md", 300, 1000, True),
        ("an essay that links a lot", "Essay.md", 40, 1200, False),
        ("an evergreen note", "Memory decays.md", 8, 200, False),
        ("a short note with a few links", "Idea.md", 5, 10, False),
        ("a stub", "Stub.md", 0, 0, False),
        ("a README's list with a sentence for each", "tools/README.md", 12, 200, True),
        ("a map of content by name", "🗺 Plants MOC.md", 6, 100, True),
        ("a start page", "00 Home.md", 20, 300, True),
        ("a folder note that lists", "recipes/Recipes.md", 37, 874, True),
        ("a folder note that thinks", "recipes/Recipes.md", 4, 300, False),
        ("a README that is a text", "README.md", 5, 600, False),
        ("a note about brewing at home", "Home brewing.md", 8, 150, False),
        ("a smock is no map of content", "Smock.md", 6, 100, False),
    ],
)
def test_index_pages(what: str, path: str, links: int, own_words: int, *, expected: bool) -> None:
    assert is_index_page(path, links, own_words) is expected, what


def test_notes_are_described_from_facts_and_graph() -> None:
    targets = [f"n/t{number} x.md" for number in range(9)]
    paths = ("MOC.md", "me.md", *targets)
    rows = [list(range(2, 11)), [0], [0], [2], *([] for _ in targets[2:])]
    offsets, flat = array("i", [0]), array("i")
    for row in rows:
        flat.extend(row)
        offsets.append(len(flat))
    graph = LinkGraph(paths=paths, offsets=offsets, targets=flat)

    def fact(path: str, **change: object) -> NoteFacts:
        values: dict[str, object] = {
            "path": path, "content_hash": b"", "words": 40, "aliases": (), "tags": (), "dream": True, "marker": "",
            "plugin": "", "ignored": False, "size_bytes": 0, "modified_ns": 0,
        }  # fmt: skip
        return NoteFacts(**(values | change))  # type: ignore[arg-type] # a table of defaults

    facts = [fact("MOC.md", words=50), fact("me.md", marker="log"), *(fact(path) for path in targets[2:])]
    facts += [fact(targets[0], dream=False), fact(targets[1], plugin="kanban")]
    described = walkable_notes(
        facts, graph, daily={targets[2]}, template={targets[3]}, hidden={targets[4]}
    )  # fmt: skip
    by_path = {note.path: note for note in described}
    assert [note.path for note in described] == list(paths)
    assert by_path["MOC.md"].index
    assert by_path["MOC.md"].degree == 10
    assert [by_path[path].degree for path in ("me.md", *targets[:3])] == [1, 2, 2, 1]
    assert [path for path, note in by_path.items() if not note.visible] == ["me.md", targets[0], targets[4]]
    assert by_path[targets[1]].plugin
    assert by_path[targets[2]].daily
    assert by_path[targets[3]].template


def test_what_is_no_start_is_no_other_end() -> None:
    prose = [note(f"{letter}.md") for letter in "abcde"]
    unfit = [note("stub.md", words=5), note("day.md", daily=True), note("i.md", index=True)]
    unfit += [note("t.md", template=True)]
    hidden = note("hidden.md", visible=False)
    assert may_be_dreamt([*prose, *unfit, hidden]) == {one.path for one in prose}
    short = [note(f"{letter}.md", words=9) for letter in "abcde"]
    assert may_be_dreamt([*short, note("long.md"), hidden]) == {*(one.path for one in short), "long.md"}
    assert may_be_dreamt([hidden]) == frozenset()
    assert may_be_dreamt([note("a.md"), note("b.md", words=3)]) == {"a.md", "b.md"}  # of so few none is left out


def test_where_everything_meets_tells_nothing() -> None:
    assert is_crossroads(note("Home.md", index=True), 100)
    assert is_crossroads(note("Books.md", words=3, degree=5), 100)
    assert not is_crossroads(note("Books.md", words=3, degree=4), 100)
    assert not is_crossroads(note("Essay.md", degree=30), 100)
    assert is_crossroads(note("Essay.md", degree=31), 100)
    assert not is_crossroads(note("Essay.md", degree=31), 1000)
