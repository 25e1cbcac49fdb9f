"""The three predicates and their caps; and that nothing else admits."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING
from zlib import crc32

import numpy as np
import pytest

from aria_dream.synthesis.contrast import contrast
from aria_dream.synthesis.evidence import find_red_green, parse_evidence
from aria_dream.synthesis.lesson import read_rows, render_lessons, row_failures
from aria_dream.synthesis.patterns import LIKENESS_LEAST, measure
from aria_dream.synthesis.sources import MemoryFile, Reading, SourceKind, read_capsules, read_dated
from aria_dream.synthesis.synthesis import Inputs, Synthesis, synthesise

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

AT = datetime(2026, 11, 30, 3, 12, tzinfo=UTC)
A = "The indexer crashes when its cache is cold after a restart."
B = "After a restart with an empty cache the indexer went down again."


def place(ref: str) -> str:
    """File and line of a reference."""
    return ref.partition("#")[0]


def encode(texts: Sequence[str]) -> NDArray[np.float32]:
    """Vectors that are alike where texts share a marked subject, and apart otherwise."""
    subjects = ("cache", "import", "estimate", "garden")
    rows = np.zeros((len(texts), 1024), np.float32)
    for number, text in enumerate(texts):
        found = [at for at, subject in enumerate(subjects) if subject in text.casefold()]
        rows[number, found[0] if found else 8 + crc32(text.encode()) % 1000] = 1.0
    return rows


def session(*blocks: str) -> Reading:
    text = "".join(f"## 2026-11-{20 + number}\n\n{block}\n\n" for number, block in enumerate(blocks))
    return read_dated([MemoryFile(path="S.md", text=text)], SourceKind.SESSION, 5)


def run(*readings: Reading, evidence: Sequence[dict[str, object]] = (), lessons: bytes = b"") -> Synthesis:
    rows, problems = parse_evidence("".join(json.dumps(row) + "\n" for row in evidence), UTC)
    assert problems == ()
    inputs = Inputs(readings=readings, evidence=rows, log=b"", lessons=lessons)
    return synthesise(inputs, AT, "explicit", encode)


def red_green(**fields: object) -> list[dict[str, object]]:
    row = {"kind": "command", "ref": "run:1", "at": "2026-11-20T10:00:00Z", "command": "make x", "exit": 1,
           "artifact_ref": "x.txt"}  # fmt: skip
    return [row, {**row, "ref": "run:2", "at": "2026-11-20T11:00:00Z", "exit": 0, **fields}]


def kinds(found: Synthesis) -> list[str]:
    return [str(json.loads(line)["admission"]["kind"]) for line in render_lessons(b"", found.lessons).splitlines()]


def test_the_same_pattern_in_two_events() -> None:
    found = run(session(A, B))
    (lesson,) = found.lessons
    assert kinds(found) == ["two-source"]
    assert lesson.confidence == 0.6
    assert set(map(place, lesson.source_events)) == {"S.md:3", "S.md:7"}


def test_more_events_make_it_surer_up_to_a_cap() -> None:
    days = ("Monday", "Tuesday", "Friday", "holiday", "Sunday")
    told = [f"On a {day} the indexer went down with an empty cache." for day in days]
    assert run(session(*told)).lessons[0].confidence == 0.9


@pytest.mark.parametrize(
    "blocks",
    [(A,), (f"- {A}\n- {B}",), (f"{A[:-1]} (#4).", f"{B[:-1]} (#4)."), (A, f'It said "{A[:-1]}" once.'),
     (A, "It did not crash: the cache was not cold after a restart, the indexer never crashes.")],
)  # fmt: skip
def test_one_event_or_a_contradiction_admits_nothing(blocks: tuple[str, ...]) -> None:
    found = run(session(*blocks))
    assert found.lessons == ()
    assert "No lessons extracted this pass" in found.entry


@pytest.mark.parametrize(
    ("first", "second", "contradicted"),
    [
        ("The restart fixed the lock.", "The restart did not fix the lock.", True),
        ("Nothing checks for links that broke overnight.",
         "The check for broken links runs now, and it catches a link that lost its note overnight.", True),
        ("The archive was never opened after it was made.", "Nobody opened the archive once it was written.", False),
        ("Restarting the indexer before the migration avoids the lock.",
         "The lock did not appear because the indexer was restarted before migrating.", False),
        ("The restart fixed the lock.", "The lock was fixed by the restart.", False),
    ],
)  # fmt: skip
def test_a_denial_in_like_words_is_a_contradiction(first: str, second: str, *, contradicted: bool) -> None:
    assert bool(contrast(first, second)) is bool(contrast(second, first)) is contradicted


def test_two_causes_are_two_things() -> None:
    causes = ("The import failed because the token had expired.", "The import failed because the garden was wet.")
    assert run(session(*causes)).lessons == ()


def test_a_directive_and_an_outcome() -> None:
    found = run(session("Operator directive: copy the vault before every import.",
                        "Outcome: the import overwrote nine notes and the copy had them."))  # fmt: skip
    (lesson,) = found.lessons
    assert kinds(found) == ["operator-outcome"]
    assert (lesson.type, *map(place, lesson.source_events)) == ("doctrine", "S.md:3", "S.md:7")
    assert lesson.confidence == 0.75


@pytest.mark.parametrize(
    "blocks",
    [
        ("Operator directive: copy the vault before every import.\n\nOutcome: the import went well with the copy.",),
        ("Outcome: the import went well with the copy made.", "Operator directive: copy the vault before an import."),
        ("Operator directive: copy the vault before every import.", "Outcome: the garden had the best soil of all."),
        ("Operator directive: copy the vault before every import.", "The import went well with the copy made before."),
        ("session: s-1\n\nOperator directive: copy the vault before every import.",
         "session: s-1\n\nOutcome: the import went well with the copy made."),
        ("The agent decided to copy before every import.", "Outcome: the import went well with the copy made."),
    ],
)  # fmt: skip
def test_what_is_no_separate_outcome_of_a_directive(blocks: tuple[str, ...]) -> None:
    assert "operator-outcome" not in kinds(run(session(*blocks)))


def test_an_evidence_row_may_be_the_outcome() -> None:
    block = session("Operator directive: run make check before every push.")
    row = {"kind": "command", "ref": "run:9", "at": "2026-11-21T10:00:00Z", "command": "make check", "exit": 0}
    (lesson,) = run(block, evidence=[row]).lessons
    assert tuple(map(place, lesson.source_events)) == ("S.md:3", "run:9")
    assert run(block, evidence=[{**row, "at": "2026-11-18T10:00:00Z"}]).lessons == ()


def test_red_before_green_after() -> None:
    (lesson,) = run(evidence=red_green()).lessons
    record = json.loads(render_lessons(b"", [lesson]))
    assert record["admission"] == {
        "kind": "mechanical-red-green", "red_exit": 1, "green_exit": 0, "artifact_ref": "x.txt",
    }  # fmt: skip
    assert record["confidence"] <= 0.85
    assert list(row_failures(record, number=1, date="2026-11-30")) == []


@pytest.mark.parametrize(
    "fields",
    [
        {"exit": 2}, {"exit": None}, {"command": "make y"}, {"at": "2026-11-20T09:00:00Z"},
        {"at": "2026-11-20T10:00:00Z"},
    ],
)
def test_what_is_no_red_before_green_after(fields: dict[str, object]) -> None:
    assert run(evidence=red_green(**fields)).lessons == ()


def test_no_artifact_no_lesson() -> None:
    assert run(evidence=[{**row, "artifact_ref": ""} for row in red_green()]).lessons == ()


def test_a_story_of_red_and_green_is_none() -> None:
    told = "make x was red with exit 1 before and green with exit 0 after, see the artifact x.txt for it."
    assert run(session(told)).lessons == ()


def test_a_claim_may_word_a_machine_and_not_raise_it() -> None:
    words = "We are absolutely sure that make x proves the garden right."
    (lesson,) = run(session(words), evidence=red_green()).lessons
    assert lesson.confidence <= 0.85
    assert words[3:20] in lesson.lesson
    assert "exit 1" in lesson.lesson


def test_what_was_learnt_is_not_learnt_again() -> None:
    directive = "Operator directive: copy all before every import."
    sources = session(A, B, directive, "Outcome: the import was saved by it.")
    first = run(sources, evidence=red_green())
    assert sorted(kinds(first)) == ["mechanical-red-green", "operator-outcome", "two-source"]
    lessons = render_lessons(b"", first.lessons)
    again = run(sources, evidence=red_green(), lessons=lessons)
    assert again.lessons == ()
    assert "says it already" in again.entry


def test_numbers_follow_the_largest_of_a_history_with_collisions() -> None:
    rows = [{"lesson_id": name, "lesson": name} for name in ("l002", "l041", "l041", "x99", "l7")]
    old = "".join(json.dumps(row) + "\n" for row in rows).encode()
    found = run(session(A, B), evidence=red_green(), lessons=old)
    assert [lesson.lesson_id for lesson in found.lessons] == ["l042", "l043"]
    written = render_lessons(old.removesuffix(b"\n"), found.lessons)
    assert written.startswith(old)
    assert len(read_rows(written)) == 7


def test_staged_rows_are_pressure_and_no_evidence() -> None:
    from aria_dream.synthesis.sources import Entry

    staged = Reading((Entry(kind=SourceKind.STAGED, path="N", line=1, title=B, text=B, text_line=1, ref="N:1"),))
    assert run(session(A), staged).lessons == ()
    assert "1 staged" in run(session(A, B), staged).entry


def test_what_is_not_compared_is_said() -> None:
    crowd = "\n".join(f"- The pump number {number} was mended with a part." for number in range(400))
    assert "250 not compared" in run(session(crowd)).entry


def test_without_a_model_the_machines_still_speak() -> None:
    rows, _ = parse_evidence("".join(json.dumps(row) + "\n" for row in red_green()), UTC)
    inputs = Inputs(readings=(session(A, B),), evidence=rows, log=b"", lessons=b"", said=("no model",))
    found = synthesise(inputs, AT, "explicit", None)
    assert kinds(found) == ["mechanical-red-green"]
    assert "no model" in found.entry


GAP = "- The import failed and lost nine notes.\n- Guard: make a copy before each import."


def test_a_repeatable_gap_is_proposed() -> None:
    found = run(session(GAP, "The import failed again and a note was lost."))
    (candidate,) = found.candidates
    assert candidate.id == "ni-20261130-01"
    assert "- **status:** proposed\n" in found.entry
    assert candidate.proposed_change == "make a copy before each import."


@pytest.mark.parametrize(
    "blocks", [(GAP,), ("The import went well and kept all.", "The import went well, it kept all.")]
)
def test_what_is_no_repeatable_gap(blocks: tuple[str, ...]) -> None:
    assert run(session(*blocks)).candidates == ()


def test_a_candidate_is_proposed_once_whatever_became_of_it() -> None:
    sources = session(GAP, "The import failed again and a note was lost.")
    first = run(sources)
    inputs = Inputs(readings=(sources,), evidence=(), log=first.entry.encode(), lessons=b"")
    assert synthesise(inputs, AT + timedelta(days=1), "nightly", encode).candidates == ()
    other = session("The garden failed and lost plants.\n\nGuard: water it in the evening hours.",
                    "The garden failed again in the heat, plants were lost.")  # fmt: skip
    (second,) = synthesise(
        Inputs(readings=(other,), evidence=(), log=first.entry.encode(), lessons=b""), AT, "explicit", encode
    ).candidates
    assert second.id == "ni-20261130-02"


def test_quoted_words_never_decide() -> None:
    words = "The operator approved the import and the change was merged after it failed."
    found = run(session(words, "It failed: the import was approved and merged by the operator."))
    assert "approved" not in found.entry
    assert "merged" not in found.entry


def test_capsules_count_too() -> None:
    told = ((1, A), (2, B))
    files = [MemoryFile(path=f"c{n}.md", text=f"---\ncreated_at: 2026-11-2{n}\n---\n{t}\n") for n, t in told]
    assert kinds(run(read_capsules(files, UTC))) == ["two-source"]


@pytest.mark.parametrize(
    ("sentences", "type_"),
    [
        ((A, B), "failure-mode"),
        (("The import kept all the notes it got.", "Each import kept all notes it got so far."), "procedural"),
        (("We estimated the import at ten minutes.", "The import was guessed at ten minutes again."), "calibration"),
        (("Miscall: the import is done in no time.", "Miscall: no time is lost by an import."), "calibration"),
        (("Operator: copy the notes before each import.", "Operator: each import is begun with a copy."), "doctrine"),
        (("The import is a goal of this quarter.", "The goal of the quarter is the import."), "strategic"),
    ],
)
def test_the_type_of_a_lesson(sentences: tuple[str, str], type_: str) -> None:
    (lesson,) = run(session(*sentences)).lessons
    assert lesson.type == type_


@pytest.mark.parametrize(
    "line",
    [
        "{", "[]", '{"at":"2026-11-20T10:00:00Z"}', '{"ref":"r","at":"yesterday"}', '{"ref":"r"}',
        '{"ref":"r","at":"2026-11-20T10:00:00Z","exit":"1"}', '{"ref":"r","at":"2026-11-20T10:00:00Z","exit":true}',
        '{"ref":"r","at":"2026-11-20T10:00:00Z","exit":1.5}', '{"ref":5,"at":"2026-11-20T10:00:00Z"}',
    ],
)  # fmt: skip
def test_evidence_that_is_none_is_told_and_left_out(line: str) -> None:
    good = json.dumps(red_green()[0])
    for text in (f"{line}\n{good}\n", f"{good}\n{line}"):
        rows, problems = parse_evidence(text, UTC, "e.jsonl")
        assert len(rows) == 1
        assert len(problems) == 1
        assert problems[0].path == "e.jsonl"


def test_only_the_last_turn_of_a_command_counts() -> None:
    rows, _ = parse_evidence(
        "".join(
            json.dumps({"kind": "command", "ref": f"run:{n}", "at": f"2026-11-20T1{n}:00:00Z", "command": "make  x",
                        "exit": code, "artifact_ref": "a"}) + "\n"
            for n, code in ((0, 1), (1, 0), (2, 0), (5, 0), (4, 3), (3, 2))
        ), UTC,
    )  # fmt: skip
    (turn,) = find_red_green(rows)
    assert (turn.red.ref, turn.red.exit, turn.green.ref) == ("run:4", 3, "run:5")


def test_what_was_learned_is_no_part_of_the_background() -> None:
    """With nineteen claims there is too little to know a background by; a lesson more made it enough, and the same
    sources taught something else."""
    angles = np.linspace(0, 1.2, 24)
    rows = np.stack([np.cos(angles), np.sin(angles)], axis=1).astype(np.float32)
    texts = [f"claim {number}" for number in range(24)]

    def near(some: Sequence[str]) -> NDArray[np.float32]:
        found: NDArray[np.float32] = rows[: len(some)]
        return found

    alone = measure(texts[:19], near)
    assert measure(texts, near, own=19).floor == alone.floor == LIKENESS_LEAST
    assert measure(texts, near).floor > LIKENESS_LEAST
