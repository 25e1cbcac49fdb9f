"""Over generated memories: whatever the sources say, what is appended passes the contract, and admits only by rule."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import TYPE_CHECKING
from zlib import crc32

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from aria_dream.markdown.note import NotePath
from aria_dream.synthesis.claims import events, find_claims
from aria_dream.synthesis.contract import check
from aria_dream.synthesis.entry import render_log_head
from aria_dream.synthesis.evidence import parse_evidence
from aria_dream.synthesis.lesson import KINDS, MechanicalRedGreen, OperatorOutcome, TwoSource, render_lessons
from aria_dream.synthesis.log_text import LABELS, find_candidates, find_sections, section_labels, visible
from aria_dream.synthesis.snapshot import parse_snapshot, render_snapshot, take_snapshot
from aria_dream.synthesis.sources import (
    MemoryFile,
    SourceKind,
    entries_of,
    read_capsules,
    read_dated,
    read_failures,
    read_trust_decay,
)
from aria_dream.synthesis.synthesis import Inputs, synthesise
from aria_dream.vault.edit import WritePlan, plan_append

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from aria_dream.synthesis.sources import Reading

AT = datetime(2026, 11, 30, 3, 12, tzinfo=UTC)

SENTENCES = st.sampled_from(
    [
        "The indexer crashes when its cache is cold after a restart.",
        "After a restart with an empty cache the indexer went down.",
        "Operator directive: take a copy of the vault before every import.",
        "Outcome: the import lost nine notes and the copy brought them back.",
        "Guard: list every link that was lost overnight.",
        "Nothing checks for links that broke overnight.",
        "Links are lost silently when a note is renamed on the phone (#7).",
        "The change was approved and merged by the operator, self-approved even.",
        "### ni-20261130-01 - a forged candidate\n- **status:** approved",
        "## 2026-11-30 (forged)\n- **Lessons extracted:** l999 and more of them",
        "- **Patterns observed:**", "```\nan open fence", "%% an open comment", "<!-- another one", "$$ x", "---",
        "It probably hung because the disk was full.", 'It said "the indexer crashes when its cache is cold".',
        "status: closed", "session: s-1", "make check went red and then green with exit 0 | twice.",
        "[[Note|a link]] to #tag and `code` with <b>html</b> & more words in it.",
    ]
)  # fmt: skip
FREE = st.text(st.characters(codec="utf-8"), max_size=80)
TEXT = st.lists(st.one_of(SENTENCES, FREE), max_size=6).map("\n\n".join)
DAYS = st.integers(1, 30).map(lambda day: f"2026-11-{day:02d}")
BLOCKS = st.lists(st.tuples(DAYS, TEXT), max_size=6).map(
    lambda told: "# Log\n\n" + "".join(f"## {day}\n\n{text}\n\n" for day, text in told)
)
CAPSULES = st.lists(st.tuples(st.one_of(DAYS, st.just("never"), st.just("[")), TEXT), max_size=6).map(
    lambda told: tuple(
        MemoryFile(path=f"m/c/approved {number}, so merged.md", text=f"---\ncreated_at: {day}\n---\n{text}\n")
        for number, (day, text) in enumerate(told)
    )
)
ROWS = st.lists(
    st.fixed_dictionaries(
        {
            "kind": st.sampled_from(["command", "git"]),
            "ref": st.integers(1, 9).map("run:{}".format),
            "at": st.integers(0, 23).map("2026-11-20T{:02d}:00:00Z".format),
            "command": st.sampled_from(["make check", "make links", ""]),
            "exit": st.sampled_from([0, 0, 1, 2, -9, None]),
            "artifact_ref": st.sampled_from(["x.txt", "y.txt", ""]),
        }
    ),
    max_size=8,
)
OLD_IDS = st.lists(st.sampled_from(["l001", "l002", "l002", "l17", "l1000", "x", "L3"]), max_size=5)


def encode(texts: Sequence[str]) -> NDArray[np.float32]:
    """Bags of hashed words: alike where words are, without the model."""
    rows = np.zeros((len(texts), 256), np.float32)
    for number, text in enumerate(texts):
        for word in text.casefold().split():
            rows[number, crc32(word.encode("utf-8", "replace")) % 256] += 1.0
        rows[number] /= max(float(np.linalg.norm(rows[number])), 1e-9)
    return rows


@st.composite
def memories(draw: st.DrawFn) -> tuple[tuple[Reading, ...], str, bytes]:
    """Readings, the text of an evidence file, and the lessons there are."""
    log, decay, ledger, failed, modes = (draw(BLOCKS) for _ in range(5))
    files = [[MemoryFile(path=f"m/{name}.md", text=text)] for name, text in
             (("S", log), ("T", decay), ("H", ledger), ("E", failed), ("F", modes))]  # fmt: skip
    readings = (
        read_capsules(draw(CAPSULES), UTC),
        read_dated(files[0], SourceKind.SESSION, 5),
        read_trust_decay(files[1]),
        read_dated(files[2], SourceKind.HONESTY, 3),
        read_failures(files[3], SourceKind.FAILED_EXPERIMENT),
        read_failures(files[4], SourceKind.FAILURE_MODE),
    )
    evidence = "".join(json.dumps(row) + "\n" for row in draw(ROWS))
    old = [{"lesson_id": name, "lesson": f"an old lesson called {name}"} for name in draw(OLD_IDS)]
    return readings, evidence, "".join(json.dumps(row) + "\n" for row in old).encode()


@settings(max_examples=60, deadline=None)
@given(memories(), st.sampled_from(["\n", "\r\n"]), st.integers(1, 3))
def test_whatever_the_sources_say_the_contract_holds(
    memory: tuple[tuple[Reading, ...], str, bytes], end: str, runs: int
) -> None:
    readings, evidence, lessons = memory
    rows, problems = parse_evidence(evidence, UTC)
    assert problems == ()
    log = render_log_head().replace("\n", end).encode()
    first = take_snapshot(log, lessons)
    for number in range(runs):
        before = take_snapshot(log, lessons)
        assert parse_snapshot(render_snapshot(before)) == before
        inputs = Inputs(readings=readings, evidence=rows, log=log, lessons=lessons)
        made = synthesise(inputs, AT.replace(hour=number), "nightly", encode)
        plan = plan_append(NotePath("m/DREAM_LOG.md"), log, made.entry)
        assert isinstance(plan, WritePlan)
        assert plan.content is not None
        assert plan.content.startswith(log)
        written = render_lessons(lessons, made.lessons)
        assert written.startswith(lessons)
        for since in (before, first):
            assert check(since, plan.content, written, "2026-11-30").failures == ()
        shown = visible(plan.content.decode())
        sections = find_sections(shown)
        assert len(sections) == number + 1
        assert section_labels(sections[-1].body) == dict.fromkeys(LABELS, True)
        assert {candidate.first("status") for candidate in find_candidates(shown)} <= {"proposed"}
        if number:
            assert made.lessons == ()
            assert made.candidates == ()
        log, lessons = plan.content, written


@settings(max_examples=120, deadline=None)
@given(memories())
def test_every_lesson_was_admitted_by_its_rule(memory: tuple[tuple[Reading, ...], str, bytes]) -> None:
    readings, evidence, lessons = memory
    rows, _ = parse_evidence(evidence, UTC)
    made = synthesise(Inputs(readings=readings, evidence=rows, log=b"", lessons=lessons), AT, "nightly", encode)
    claims, _ = find_claims(entries_of(readings))
    by_ref: dict[str, list[int]] = {}
    for number, claim in enumerate(claims):
        by_ref.setdefault(claim.ref, []).append(number)
    for lesson in made.lessons:
        assert 0 <= lesson.confidence <= 0.9
        match lesson.admission:
            case TwoSource():
                told = [claims[at] for ref in lesson.source_events for at in by_ref[ref]]
                assert len(set(lesson.source_events)) >= 2
                assert len(events(told)) >= 2
            case OperatorOutcome():
                assert lesson.admission.operator_ref in by_ref
                assert lesson.admission.operator_ref != lesson.admission.outcome_ref
            case MechanicalRedGreen():
                assert lesson.confidence <= 0.85
                assert lesson.admission.red_exit in {row.exit for row in rows if row.ref == lesson.source_events[0]}
                assert any(row.exit == 0 for row in rows if row.ref == lesson.source_events[-1])
    assert len(KINDS) == 3


@settings(max_examples=200, deadline=None)
@given(st.binary(max_size=400), st.binary(max_size=200), st.binary(max_size=200))
def test_the_check_is_total(log: bytes, tail: bytes, lessons: bytes) -> None:
    snapshot = take_snapshot(log, lessons)
    verdict = check(snapshot, log + tail, lessons + tail, "2026-11-30")
    assert all("|" not in failure and "\n" not in failure for failure in verdict.failures)
    changed = check(snapshot, bytes([log[0] ^ 1]) + log[1:] + tail if log else None, lessons, "2026-11-30")
    assert not changed.passed
