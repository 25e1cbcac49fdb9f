"""Mutation tests of the contract: each rule broken alone turns exactly that rule red, and mending it turns it green."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, replace
from datetime import datetime
from typing import TYPE_CHECKING, Any

import pytest

from aria_dream.synthesis.contract import check, render_verdict
from aria_dream.synthesis.entry import NewCandidate, Said, render_entry, render_log_head, render_status
from aria_dream.synthesis.lesson import (
    Lesson,
    MechanicalRedGreen,
    OperatorOutcome,
    TwoSource,
    lesson_record,
    render_lessons,
)
from aria_dream.synthesis.log_text import FIELDS, LABELS
from aria_dream.synthesis.snapshot import Snapshot, parse_snapshot, render_snapshot, take_snapshot

if TYPE_CHECKING:
    from collections.abc import Callable

DATE = "2026-11-30"
AT = datetime(2026, 11, 30, 3, 12)  # noqa: DTZ001 - local time, as the entry shows it
OLD_ROW = {
    "lesson_id": "l007", "lesson": "Old.", "type": "doctrine", "confidence": 0.5, "source_events": ["a:1", "b:2"],
    "created_at": "2026-10-01", "admission": {"kind": "two-source"},
}  # fmt: skip
OLD_LESSONS = "".join(json.dumps(row) + "\n" for row in (OLD_ROW, OLD_ROW, {**OLD_ROW, "lesson_id": "l003"})).encode()
EARLIER = NewCandidate(
    id="ni-20261129-01", name="earlier", evidence=("a:1", "b:2"), failure_class="c", proposed_change="d",
    mutation_proof="break: x -> y red; restore: x -> y green",
)  # fmt: skip
OLD_LOG = (
    render_log_head() + "\n" + render_entry(AT.replace(day=29), "explicit", {LABELS[0]: Said("2")}, [EARLIER])
).encode()
LESSONS = (
    Lesson(
        lesson_id="l008", lesson="Two said it.", type="failure-mode", confidence=0.6, source_events=("a:3", "b:4"),
        created_at=DATE, admission=TwoSource(),
    ),
    Lesson(
        lesson_id="l009", lesson="One directed it.", type="doctrine", confidence=0.75, source_events=("a:5", "b:6"),
        created_at=DATE, admission=OperatorOutcome(operator_ref="a:5", outcome_ref="b:6"),
    ),
    Lesson(
        lesson_id="l010", lesson="A machine showed it.", type="procedural", confidence=0.85, source_events=("run:1",),
        created_at=DATE, admission=MechanicalRedGreen(red_exit=1, artifact_ref="checks/x.txt"),
    ),
)  # fmt: skip
CANDIDATE = replace(EARLIER, id="ni-20261130-01", name="short name")


@dataclass(frozen=True)
class Output:
    """What a run left behind."""

    log: bytes
    rows: tuple[dict[str, Any], ...]
    old: bytes = OLD_LESSONS

    @property
    def lessons(self) -> bytes:
        return self.old + "".join(json.dumps(row) + "\n" for row in self.rows).encode()

    def edited(self, old: str, new: str) -> Output:
        """The appended part with one text replaced, once."""
        head, tail = self.log[: len(OLD_LOG)], self.log[len(OLD_LOG) :].decode()
        assert old in tail
        return replace(self, log=head + tail.replace(old, new, 1).encode())

    def with_row(self, number: int, **fields: object) -> Output:
        """One row with some fields set; `...` removes a field."""
        row = {**self.rows[number], **fields}
        kept = {name: value for name, value in row.items() if value is not ...}
        return replace(self, rows=(*self.rows[:number], kept, *self.rows[number + 1 :]))


BEFORE = take_snapshot(OLD_LOG, OLD_LESSONS)
SAID = {LABELS[0]: Said("9"), LABELS[1]: Said("l008, l009, l010"), LABELS[2]: Said("ni-20261130-01")}
ENTRY = render_entry(AT, "nightly", SAID, [CANDIDATE])
GOOD = Output(OLD_LOG + b"\n" + ENTRY.encode(), tuple(lesson_record(lesson) for lesson in LESSONS))


def rules(output: Output, before: Snapshot = BEFORE) -> set[str]:
    """The names of the rules that fail."""
    return {failure.partition(":")[0] for failure in check(before, output.log, output.lessons, DATE).failures}


def test_the_uncorrupted_output_is_green() -> None:
    verdict = check(BEFORE, GOOD.log, GOOD.lessons, DATE)
    assert verdict.failures == ()
    assert render_verdict(verdict) == (
        f"DREAM_CONTRACT PASS date={DATE} lessons_added=3 candidates=1 failures=none"
    )
    assert check(BEFORE, GOOD.log, render_lessons(OLD_LESSONS, LESSONS), DATE) == verdict


def test_an_earlier_entry_lost() -> None:
    assert "dream-prefix" in rules(replace(GOOD, log=GOOD.log[:60] + GOOD.log[200:]))


def test_the_line_of_a_failure() -> None:
    broken = GOOD.edited("**status:** proposed", "**status:** approved")
    line = render_verdict(check(BEFORE, broken.log, broken.lessons, DATE))
    assert line.startswith(f"DREAM_CONTRACT FAIL date={DATE} lessons_added=3 candidates=1 failures=candidate: ")
    assert "|self-ratifying: " in line
    assert "\n" not in line


LOG_MUTATIONS: dict[str, tuple[str, Callable[[Output], Output]]] = {
    "an earlier byte changed": (
        "dream-prefix", lambda o: replace(o, log=o.log.replace(b"# Dream log", b"# Dream lob"))),
    "no section": ("section-missing", lambda o: replace(o, log=OLD_LOG, rows=())),
    "a section without its marks": ("section-missing", lambda o: o.edited("## 2026-11-30", "2026-11-30")),
    "a section inside a fence": ("section-missing", lambda o: o.edited("## 2026", "```\n## 2026")),
    "a section inside a comment": ("section-missing", lambda o: o.edited("## 2026", "<!--\n## 2026")),
    "a section of no date": ("section-missing", lambda o: o.edited("## 2026-11-30", "## 2026-11-31")),
    "a section of level three": ("section-missing", lambda o: o.edited("## 2026-11-30", "### 2026-11-30")),
    "self-approval in the prose": ("self-ratifying", lambda o: o.edited("**Patterns observed:** None",
        "**Patterns observed:** the candidate is self-approved")),
    "a merged change in the prose": ("self-ratifying", lambda o: o.edited("**Patterns observed:** None",
        "**Patterns observed:** ni-20261130-01 was merged")),
    "approval inferred": ("self-ratifying", lambda o: o.edited("**Patterns observed:** None",
        "**Patterns observed:** no answer, so approval is implied")),
    "the operator's word generated": ("candidate", lambda o: o.edited("**operator evidence:** pending",
        "**operator evidence:** chat of today")),
    "a candidate of another status": ("candidate", lambda o: o.edited("**status:** proposed", "**status:** blocked")),
    "a candidate of status Proposed": ("candidate", lambda o: o.edited("**status:** proposed", "**status:** Proposed")),
    "a status behind other fields": ("candidate", lambda o: o.edited("- **status:** proposed\n", "").edited(
        "- **operator gate", "- **status:** proposed\n- **operator gate")),
    "two statuses": ("candidate", lambda o: o.edited("- **evidence", "- **status:** rejected\n- **evidence")),
    "a gate that is no choice": ("candidate", lambda o: o.edited("approve / reject / revise", "none needed")),
    "verified by itself": ("self-ratifying", lambda o: o.edited("**failure class:** c",
        "**failure class:** c, verified by dream")),
    "a candidate of another day": ("candidate", lambda o: o.edited("### ni-20261130-01", "### ni-20261128-01")),
    "a candidate without a number": ("candidate", lambda o: o.edited("### ni-20261130-01", "### ni-20261130")),
    "a candidate without a name": ("candidate", lambda o: o.edited(" - short name", "")),
    "a candidate hidden at level four": ("candidate", lambda o: o.edited("### ni-", "#### ni-")),
    "a candidate twice": ("candidate", lambda o: o.edited("### ni-", ENTRY[ENTRY.index("### ni-") :] + "\n### ni-")),
    "a decision in the same run": ("status", lambda o: replace(o, log=o.log + b"\n" + render_status(
        "ni-20261130-01", "approved", "proposed", "chat of 2026-11-30 09:00", AT).encode())),
    "a decision without evidence": ("status", lambda o: replace(o, log=o.log + b"\n" + render_status(
        "ni-20261129-01", "approved", "proposed", "approved", AT).encode())),
    "a decision about nothing": ("status", lambda o: replace(o, log=o.log + b"\n" + render_status(
        "ni-20261101-01", "merged", "approved", "chat of 2026-11-30 09:00", AT).encode())),
    "a decision of no kind": ("status", lambda o: replace(o, log=o.log + b"\n" + render_status(
        "ni-20261129-01", "applied", "proposed", "chat of 2026-11-30 09:00", AT).encode())),
}  # fmt: skip


@pytest.mark.parametrize("name", LOG_MUTATIONS)
def test_a_corrupted_log_fails_by_its_rule_alone(name: str) -> None:
    rule, corrupt = LOG_MUTATIONS[name]
    assert rules(corrupt(GOOD)) == {rule}
    assert rules(GOOD) == set()


def test_a_log_that_is_gone() -> None:
    assert {f.partition(":")[0] for f in check(BEFORE, None, GOOD.lessons, DATE).failures} == {"dream-missing"}


@pytest.mark.parametrize("date", ["2026-11-28", "2026-12-24"])
def test_the_wrong_date(date: str) -> None:
    moved = GOOD.edited("## 2026-11-30", f"## {date}")
    assert rules(moved) == {"section-date", "newest-date"}


def test_a_later_section_from_before_is_newer() -> None:
    log = OLD_LOG.replace(b"## 2026-11-29", b"## 2026-12-29")
    before = take_snapshot(log, OLD_LESSONS)
    assert rules(replace(GOOD, log=log + GOOD.log[len(OLD_LOG) :]), before) == {"newest-date"}


@pytest.mark.parametrize("label", LABELS)
def test_each_label_is_needed_and_says_something(label: str) -> None:
    line = re.search(rf"- \*\*{label}:\*\* .*\n", ENTRY)
    assert line is not None
    empty = GOOD.edited(line[0], f"- **{label}:**\n")
    assert check(BEFORE, empty.log, empty.lessons, DATE).failures == (f"label-empty: {label}",)
    dash = GOOD.edited(line[0], f"- **{label}:** —\n")
    assert check(BEFORE, dash.log, dash.lessons, DATE).failures == (f"label-empty: {label}",)
    gone = GOOD.edited(line[0], "")
    assert check(BEFORE, gone.log, gone.lessons, DATE).failures == (f"label-missing: {label}",)
    fenced = GOOD.edited(line[0], f"\n```\n{line[0]}```\n\n")
    assert check(BEFORE, fenced.log, fenced.lessons, DATE).failures == (f"label-missing: {label}",)


SHAPES = ["### {}\n\nx\n", "### {}:\nx\n", "#### **{}**\n- x\n", "- {}: x\n", "* **{}**: x\n", "**{}:** x\n",
          "**{}**\n\nx\n", "__{}__: x\n", "1. **{}:** x\n", "- **{}:**\n  - x\n", "- **{} (2):** x\n",
          "### {}\n#### more\nx\n"]  # fmt: skip


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_a_label_may_be_a_heading_a_list_item_or_bold(shape: str, end: str) -> None:
    entry = f"## {DATE} (explicit)\n\n" + "\n".join(shape.format(label) for label in LABELS)
    assert rules(Output(OLD_LOG + b"\n" + entry.replace("\n", end).encode(), ())) == set()
    empty = entry.replace(shape.format(LABELS[4]), shape.format(LABELS[4]).replace("x", ""))
    emptied = check(BEFORE, OLD_LOG + b"\n" + empty.replace("\n", end).encode(), OLD_LESSONS, DATE)
    if "more" not in shape:
        assert emptied.failures == (f"label-empty: {LABELS[4]}",)


def test_a_label_in_running_text_is_none() -> None:
    entry = ENTRY.replace("- **Patterns observed:** None", "So much for Patterns observed: none of them")
    assert rules(Output(OLD_LOG + b"\n" + entry.encode(), GOOD.rows)) == {"label-missing"}


@pytest.mark.parametrize("field", FIELDS[1:])
def test_each_field_of_a_candidate_is_needed(field: str) -> None:
    line = re.search(rf"- \*\*{field}:\*\* .*\n", ENTRY)
    assert line is not None
    gone = GOOD.edited(line[0], "")
    name = f"candidate: {CANDIDATE.id}: it has no {field}"
    assert check(BEFORE, gone.log, gone.lessons, DATE).failures == (name,)
    empty = GOOD.edited(line[0], f"- **{field}:**\n")
    assert check(BEFORE, empty.log, empty.lessons, DATE).failures == (name,)


def test_a_fenced_candidate_is_an_example() -> None:
    block = ENTRY[ENTRY.index("### ni-") :]
    fenced = f"~~~markdown\n{block.replace('proposed', 'approved')}~~~\n"
    log = GOOD.log + b"\n" + fenced.encode()
    verdict = check(BEFORE, log, GOOD.lessons, DATE)
    assert (verdict.failures, verdict.candidates) == ((), 1)


def test_names_of_files_and_things_decide_nothing() -> None:
    names = "notes/Plan approved.md:3; was-merged-x; approved/plan.md:4; self-confirmation; pr:merged-12"
    assert rules(GOOD.edited("**Patterns observed:** None", f"**Patterns observed:** {names}")) == set()
    for words in ("approved/merged", "approved.", "(merged)", "**approved**", "pre-approved", "Approved: by us"):
        said = GOOD.edited("**Patterns observed:** None", f"**Patterns observed:** {words}")
        assert rules(said) == {"self-ratifying"}, words


def test_a_plain_denial_ratifies_nothing() -> None:
    said = GOOD.edited("**Patterns observed:** None", "**Patterns observed:** nothing was approved, none merged")
    assert rules(said) == set()


def test_a_change_of_status_alone_is_no_synthesis() -> None:
    tail = render_status("ni-20261129-01", "approved", "proposed", "chat of 2026-11-30 09:00, Anna", AT)
    verdict = check(BEFORE, OLD_LOG + b"\n" + tail.encode(), OLD_LESSONS, "2026-12-05")
    assert (verdict.failures, verdict.candidates) == ((), 0)
    with_prose = check(BEFORE, OLD_LOG + b"\nprose\n\n" + tail.encode(), OLD_LESSONS, "2026-12-05")
    assert [failure.partition(":")[0] for failure in with_prose.failures] == ["section-missing"]


def test_several_runs_of_one_day() -> None:
    second = render_entry(AT.replace(hour=14), "explicit", {})
    log = GOOD.log + b"\n" + second.encode()
    assert rules(replace(GOOD, log=log)) == set()
    assert rules(Output(log, (), GOOD.lessons), take_snapshot(GOOD.log, GOOD.lessons)) == set()


ROW_MUTATIONS: dict[str, tuple[str, Callable[[Output], Output]]] = {
    "a number skipped": ("lesson-id", lambda o: o.with_row(2, lesson_id="l011")),
    "a number of the past": ("lesson-id", lambda o: o.with_row(2, lesson_id="l007")),
    "a number twice": ("lesson-id", lambda o: o.with_row(2, lesson_id="l009")),
    "the count instead of the largest": ("lesson-id", lambda o: o.with_row(0, lesson_id="l004")),
    "a number without noughts": ("lesson-id", lambda o: o.with_row(0, lesson_id="l8")),
    "a number that is none": ("lesson-id", lambda o: o.with_row(0, lesson_id=8)),
    "no text": ("lesson", lambda o: o.with_row(0, lesson=" ")),
    "another type": ("lesson", lambda o: o.with_row(0, type="insight")),
    "no type": ("lesson", lambda o: o.with_row(0, type=...)),
    "too sure": ("lesson", lambda o: o.with_row(0, confidence=1.01)),
    "less than nothing": ("lesson", lambda o: o.with_row(0, confidence=-0.1)),
    "confidence in words": ("lesson", lambda o: o.with_row(0, confidence="0.6")),
    "confidence true": ("lesson", lambda o: o.with_row(0, confidence=True)),
    "too sure of a machine": ("lesson", lambda o: o.with_row(2, confidence=0.86)),
    "one source for two": ("lesson", lambda o: o.with_row(0, source_events=["a:3"])),
    "one source twice": ("lesson", lambda o: o.with_row(0, source_events=["a:3", " A:3 "])),
    "no source": ("lesson", lambda o: o.with_row(2, source_events=[])),
    "an empty source": ("lesson", lambda o: o.with_row(0, source_events=["a:3", ""])),
    "sources in one text": ("lesson", lambda o: o.with_row(0, source_events="a:3; b:4")),
    "yesterday": ("lesson", lambda o: o.with_row(0, created_at="2026-11-29")),
    "a time instead of a date": ("lesson", lambda o: o.with_row(0, created_at="2026-11-30T03:12:00Z")),
    "no admission": ("lesson", lambda o: o.with_row(0, admission=...)),
    "admission in a word": ("lesson", lambda o: o.with_row(0, admission="two-source")),
    "admission of another kind": ("lesson", lambda o: o.with_row(0, admission={"kind": "self-evident"})),
    "no operator": ("lesson", lambda o: o.with_row(1, admission={"kind": "operator-outcome", "outcome_ref": "b:6"})),
    "no outcome": ("lesson", lambda o: o.with_row(1, admission={"kind": "operator-outcome", "operator_ref": "a:5"})),
    "the directive as its outcome": ("lesson", lambda o: o.with_row(
        1, admission={"kind": "operator-outcome", "operator_ref": "a:5", "outcome_ref": "a:5"})),
    "a red that was green": ("lesson", lambda o: o.with_row(2, admission={**o.rows[2]["admission"], "red_exit": 0})),
    "a green that was red": ("lesson", lambda o: o.with_row(2, admission={**o.rows[2]["admission"], "green_exit": 1})),
    "a green in words": ("lesson", lambda o: o.with_row(2, admission={**o.rows[2]["admission"], "green_exit": "0"})),
    "no red": ("lesson", lambda o: o.with_row(
        2, admission={"kind": "mechanical-red-green", "green_exit": 0, "artifact_ref": "x"})),
    "no artifact": ("lesson", lambda o: o.with_row(2, admission={**o.rows[2]["admission"], "artifact_ref": ""})),
    "a lesson that ratifies itself": ("self-ratifying", lambda o: o.with_row(
        0, lesson="This lesson counts as approved by the operator.")),
    "an old row changed": ("lessons-prefix", lambda o: replace(o, old=o.old.replace(b"Old.", b"New.", 1))),
    "an old row gone": ("lessons-prefix", lambda o: replace(o, old=o.old.partition(b"\n")[2], rows=o.rows[:1])),
    "rows inserted before": ("lessons-prefix", lambda o: replace(
        o, old=(json.dumps(o.rows[0]) + "\n").encode() + o.old, rows=())),
}  # fmt: skip


@pytest.mark.parametrize("name", ROW_MUTATIONS)
def test_a_corrupted_row_fails_by_its_rule(name: str) -> None:
    rule, corrupt = ROW_MUTATIONS[name]
    found = rules(corrupt(GOOD))
    if rule == "lessons-prefix":
        assert rule in found
    else:
        assert found == {rule}


@pytest.mark.parametrize("tail", [b"{", b"[]\n", b"not json\n", b'{"confidence": NaN}\n', b'"l011"\n'])
def test_lines_that_are_no_rows(tail: bytes) -> None:
    verdict = check(BEFORE, GOOD.log, GOOD.lessons + tail, DATE)
    assert {failure.partition(":")[0] for failure in verdict.failures} == {"lessons-json"}


def test_a_torn_last_line() -> None:
    assert check(BEFORE, GOOD.log, GOOD.lessons[:-1], DATE).failures == ()
    torn = check(BEFORE, GOOD.log, GOOD.lessons[:-3], DATE)
    assert [failure.partition(":")[0] for failure in torn.failures] == ["lessons-json"]


def test_lessons_that_are_gone() -> None:
    assert [f.partition(":")[0] for f in check(BEFORE, GOOD.log, None, DATE).failures] == ["lessons-missing"]


def test_blank_lines_and_other_line_ends_are_no_change() -> None:
    crlf = OLD_LESSONS.replace(b"\n", b"\r\n\r\n")
    assert take_snapshot(None, crlf).lessons.prefix_hash == BEFORE.lessons.prefix_hash
    assert rules(replace(GOOD, old=crlf)) == set()


def test_nothing_was_there_before() -> None:
    nothing = take_snapshot(None, None)
    assert (nothing.dream.missing, nothing.lessons.missing) == (True, True)
    entry = render_entry(AT, "explicit", {})
    assert check(nothing, entry.encode(), None, DATE).failures == ()
    first = {**GOOD.rows[0], "lesson_id": "l001"}
    entry = render_entry(AT, "explicit", {LABELS[1]: Said("l001")})
    assert check(nothing, entry.encode(), (json.dumps(first) + "\n").encode(), DATE).failures == ()


def test_the_snapshot_document() -> None:
    document = json.loads(render_snapshot(BEFORE))
    assert document["schema_version"] == 1
    assert set(document["dream"]) == {"missing", "byte_length", "prefix_hash"}
    assert set(document["lessons"]) == {"missing", "line_count", "prefix_hash", "ids"}
    assert document["lessons"]["ids"] == ["l007", "l007", "l003"]
    assert parse_snapshot(render_snapshot(BEFORE)) == BEFORE


@pytest.mark.parametrize(
    "text",
    ["", "[]", "{}", '{"schema_version": 2}', '{"schema_version": 1}', '{"schema_version":1,"dream":{},"lessons":{}}'],
)
def test_what_is_no_snapshot(text: str) -> None:
    assert isinstance(parse_snapshot(text), str)


def test_another_implementations_snapshot_of_nothing() -> None:
    text = '{"schema_version":1,"dream":{"missing":true},"lessons":{"missing":true,"line_count":0,"prefix_hash":null}}'
    assert parse_snapshot(text) == take_snapshot(None, None)
