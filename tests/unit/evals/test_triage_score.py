"""Figures of a judge, computed by hand for a handful of pairs."""

from __future__ import annotations

import json

import pytest

from aria_dream.evals.triage_score import KindScore, parse_corpus, render_bar, score_triage
from aria_dream.judging.triage_prompt import Drop, Keep, Unreadable

NOTE = {"path": "a.md", "title": "a", "text": "x"}


def line(name: str, kind: str = "bridge", label: str = "keep") -> str:
    return json.dumps({"id": name, "kind": kind, "label": label, "a": NOTE, "b": {**NOTE, "path": "b.md"}})


CORPUS = "\n".join(
    [line("1", "bridge", "keep"), line("2", "bridge", "keep"), line("3", "near_duplicate", "drop"),
     line("4", "hub_noise", "drop"), ""]
)  # fmt: skip


def test_figures() -> None:
    pairs, problems = parse_corpus(CORPUS)
    assert problems == ()
    first = (Keep(None, "a"), Unreadable("b"), Keep(0.9, "c"), Drop(None, "d"))
    score = score_triage(pairs, first, (Keep(None, "z"), Drop(None, "b"), Keep(None, "c"), Drop(None, "d")))
    assert (score.pairs, score.accuracy, score.false_keep, score.false_drop) == (4, 0.5, 0.5, 0.5)
    assert (score.unreadable, score.agreement) == (1, 0.75)
    assert round(score.bridge_against_noise, 3) == 0.667
    assert score.kinds == (
        KindScore(kind="bridge", right=1, of=2),
        KindScore(kind="hub_noise", right=1, of=1),
        KindScore(kind="near_duplicate", right=0, of=1),
    )
    assert score_triage((), (), ()).accuracy == 0.0


def test_a_line_that_is_no_pair_is_told() -> None:
    broken = ["{", "[]", line("1", "bridge", "maybe"), '{"id": 1, "label": "keep", "kind": "x", "a": {}, "b": {}}']
    pairs, problems = parse_corpus("\n".join([CORPUS.splitlines()[0], *broken]), "c.jsonl")
    assert len(pairs) == 1
    assert [problem.line for problem in problems] == [2, 3, 4, 5]


@pytest.mark.parametrize(
    "path",
    ["../A.md", "B/../../A.md", "/etc/A.md", "C:/A.md", "..\\A.md", "B//A.md", "./A.md", "B/...", "", "A\0.md"],
)
def test_a_path_that_leads_out_of_the_corpus_is_no_note(path: str) -> None:
    pair = json.loads(CORPUS.splitlines()[0])
    pair["a"]["path"] = path
    assert [problem.line for problem in parse_corpus(json.dumps(pair))[1]] == [1]


def test_names_and_texts_that_a_note_may_have() -> None:
    pair = json.loads(CORPUS.splitlines()[0])
    for path in ("Who?.md", "A: B.md", "…/x.md", ".hidden/A.md", "A..md"):
        pair["a"]["path"] = path
        assert parse_corpus(json.dumps(pair))[1] == ()
    pair["a"]["text"] = "half a character \ud800"
    assert len(parse_corpus(json.dumps(pair))[1]) == 1


@pytest.mark.parametrize(
    ("change", "why"),
    [
        ({"label": "KEEP"}, "the label of a pair is keep or drop"),
        ({"a": {**NOTE, "path": "A.md/b.md"}}, "no folder in the path of a note ends in .md"),
        ({"a": {**NOTE, "path": f"{'ä' * 130}.md"}}, "a name in the path of a note has more than 240 bytes"),
        ({"a": {**NOTE, "path": "../b.md"}}, "the path of a note leads nowhere in a vault"),
        ({"a": {**NOTE, "text": 7}}, "this line is no labelled pair: an object with id, kind, label, a and b"),
        ({"b": NOTE}, "the two notes of this pair are one"),
        ({"b": "note"}, "this line is no labelled pair: an object with id, kind, label, a and b"),
        ({}, "the id 1 is that of line 1 already"),
    ],
)
def test_what_is_wrong_with_a_line_is_said(change: dict[str, object], why: str) -> None:
    told = json.dumps({**json.loads(line("1" if not change else "2")), **change})
    pairs, problems = parse_corpus(f"{line('1')}\r\n\r\n{told}\r\n", "c.jsonl")
    assert [pair.id for pair in pairs] == ["1"]
    assert [str(problem) for problem in problems] == [f"c.jsonl:3: {why}"]


def test_a_path_may_lack_its_ending_and_a_note_its_title() -> None:
    pair = {**json.loads(line("1")), "a": {"path": "B/Tides v1.2", "text": "x"}}
    (found,), problems = parse_corpus(json.dumps(pair))
    assert problems == ()
    assert (found.a.path, found.a.title) == ("B/Tides v1.2.md", "Tides v1.2")


def test_a_line_ends_at_a_line_feed_and_nowhere_else() -> None:
    pair = json.loads(line("1"))
    pair["a"] = {**NOTE, "text": "one\u2028two\x85three"}
    (found,), problems = parse_corpus("\ufeff" + json.dumps(pair, ensure_ascii=False) + "\n")
    assert problems == ()
    assert found.a.text == "one\u2028two\x85three"


def test_bars() -> None:
    assert render_bar(0.5, 4) == "██··"
    assert render_bar(-1, 2) == "··"
    assert render_bar(2, 2) == "██"
