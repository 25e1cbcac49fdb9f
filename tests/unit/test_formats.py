"""docs/FORMATS.md is held to the code: its examples are parsed, its tables compared."""

from __future__ import annotations

import json
import re
from dataclasses import fields
from datetime import UTC, date, datetime
from pathlib import Path
from typing import get_args

import pytest

from aria_dream import errors
from aria_dream.adapters.gate.consent import CONSENT, Confirmed, Unconfirmed, read_consent, write_consent
from aria_dream.adapters.gate.rate_limit_backoff import PAUSE, note_failure
from aria_dream.adapters.state.status import DOINGS, LastRun, parse_status, render_status
from aria_dream.consolidate import open_conflicts, open_pairs, open_reminders
from aria_dream.consolidate.judged import WORDS
from aria_dream.consolidate.open_conflicts import OpenConflict, render_open
from aria_dream.consolidate.open_list import MARKS, Decided, read_answers
from aria_dream.consolidate.open_pairs import OpenPair, render_pairs
from aria_dream.consolidate.open_reminders import render_reminders
from aria_dream.consolidate.passage_difference import Difference
from aria_dream.consolidate.passages import passage_id
from aria_dream.consolidate.record import End, parse_consolidations
from aria_dream.consolidate.report import Report, read_report, render_report, render_report_head
from aria_dream.consolidate.settled import WHATS, parse_settled, recalled_record, settled_record
from aria_dream.consolidate.stale import stale_by_date
from aria_dream.consolidate.work import Candidate, Member
from aria_dream.evals.reach_corpus import (
    FINDINGS,
    MADE,
    answer_record,
    model_record,
    parse_reach_answers,
    parse_reach_corpus,
)
from aria_dream.markdown.note import parse_note
from aria_dream.notes.change_grammar import DONE, LEADS, VERBS
from aria_dream.notes.dream_log import parse_blocks, render_block, render_head
from aria_dream.notes.episode import EpisodeRecord, episode_record, parse_episodes
from aria_dream.notes.jsonl import parse_records
from aria_dream.notes.review_note import HEADINGS, read_managed, render_managed, render_review_head
from aria_dream.notes.seeds import KEYS, parse_seeds, render_seeds_head
from aria_dream.notes.ticks import read_ticks
from aria_dream.policy.settings import Settings
from aria_dream.reach.citation import Source
from aria_dream.reach.reach import Answer
from aria_dream.reach.reach_block import render_reach_block
from aria_dream.reach.reach_events import Failure
from aria_dream.reach.reach_reading import parse_reach_blocks
from aria_dream.reach.reach_record import Step, parse_reaches, reach_record
from aria_dream.review.journal import parse_journal
from aria_dream.review.proposal import (
    EVENTS,
    KINDS,
    Event,
    Proposal,
    event_record,
    planned_record,
    proposal_id,
    proposed_record,
)
from aria_dream.review.reach_proposals import AskedPair, Reached, render_orphan
from aria_dream.review.showing import MOST_LINES, MOST_REMARKS, NOT_SHOWN
from aria_dream.schedule.run_record import RunEnd, ended_record, parse_run_log, since_record, started_record
from aria_dream.synthesis.contract import check
from aria_dream.synthesis.entry import render_log_head
from aria_dream.synthesis.evidence import find_red_green, parse_evidence
from aria_dream.synthesis.lesson import KINDS as ADMISSION_KINDS
from aria_dream.synthesis.lesson import LESSON_TYPES, MECHANICAL_CAP, read_rows, row_failures
from aria_dream.synthesis.log_text import (
    FIELDS,
    LABELS,
    current_status,
    find_candidates,
    find_sections,
    section_labels,
    visible,
)
from aria_dream.synthesis.memory import source_paths
from aria_dream.synthesis.snapshot import render_snapshot, take_snapshot

PAGE = (Path(__file__).resolve().parents[2] / "docs" / "FORMATS.md").read_text("utf-8")
AT = datetime(2026, 11, 30, tzinfo=UTC)


def example(name: str) -> str:
    """The text inside the fence that follows `<!-- example: NAME -->`."""
    ((_, found),) = re.findall(rf"<!-- example: {name} -->\n(`{{3,}})\w+\n(.*?)\n?\1\n", PAGE, re.DOTALL)
    assert isinstance(found, str)
    return f"{found}\n"


def table(heading: str) -> list[list[str]]:
    """Rows of the first table under a heading (or behind a line that starts like it), header left out."""
    behind = PAGE[PAGE.index(heading) :]
    (rows, *_) = re.findall(r"(?:^\|.*\n)+", behind, re.MULTILINE)
    return [[cell.strip() for cell in row.strip("|").split("|")] for row in rows.splitlines()[2:]]


def names(cell: str) -> list[str]:
    """Everything in backticks."""
    return re.findall(r"`([^`]+)`", cell)


def test_exit_codes() -> None:
    documented = {int(code): meaning for code, meaning in table("## Exit codes")}
    tree = [errors.AriaDreamError]
    for error in tree:
        tree.extend(error.__subclasses__())
    own = [error for error in tree if error.__module__ == errors.__name__]
    assert {error.exit_code: error.meaning for error in own} == {
        code: meaning for code, meaning in documented.items() if code not in (0, 2)
    }
    assert len({error.exit_code for error in own}) == len(own)


def test_every_example_is_tested() -> None:
    assert re.findall(r"<!-- example: ([\w-]+) -->", PAGE) == [
        "dream-note",
        "reach-block",
        "review-note",
        "review-changes",
        "orphan-note",
        "report-note",
        "near-pairs",
        "open-contradictions",
        "reminders",
        "settled",
        "seeds-note",
        "dream-log",
        "lessons",
        "evidence",
        "snapshot",
        "proposals",
        "runs",
        "reach-runs",
        "daemon-runs",
        "consolidations",
        "status",
        "consent",
        "reach-corpus",
        "reach-answers",
    ]


def test_the_dream_note() -> None:
    text = example("dream-note")
    ((block,), problems) = parse_blocks(text)
    assert problems == ()
    assert f"{render_head(date(2026, 11, 30))}\n{render_block(block)}" == text
    assert len(block.pairs) == len(block.drops) == 2
    assert read_ticks(text.replace("[ ]", "[x]"))[1] == ()


def test_the_reach_block() -> None:
    text = example("reach-block")
    ((block,), problems) = parse_reach_blocks(text)
    assert problems == ()
    assert render_reach_block(block) == text


def test_the_steps_of_a_reach() -> None:
    ((reach,), problems) = parse_reaches(example("reach-runs"))
    assert problems == ()
    assert reach.step == "landed"
    assert render_reach_block(reach.block) == example("reach-block")
    rows = {names(row[0])[0]: row for row in table("| field of a reach")}
    assert set(rows) == set(reach_record(reach)) - {"type", "version"}
    assert names(rows["step"][1]) == list(get_args(Step))


def test_the_pause(tmp_path: Path) -> None:
    note_failure(tmp_path, Failure("login", "log in again"), "log in", AT)
    written = json.loads((tmp_path / PAUSE).read_text(encoding="utf-8"))
    assert [names(row[0])[0] for row in table(f"### `{PAUSE}`")] == list(written)


def test_the_review_note() -> None:
    text = example("review-note")
    block, problems = read_managed(text)
    assert problems == ()
    assert block is not None
    assert f"{render_review_head()}{render_managed(block.items)}\n" == text
    assert ", ".join(HEADINGS.values()) in PAGE
    assert list(HEADINGS) == list(KINDS)


def test_the_orphan_note() -> None:
    argument = (
        "Bakers who feed a starter by smell keep it alive longer than bakers who feed it by the clock.",
        "The nearest known work times feeding by pH and never by smell.",
    )
    source = Source(url="https://example.org/starter-ph", title="Feeding a starter by pH")
    reached = Reached(
        id="9f86", at=AT, asked=AskedPair(from_="Compost.md", to="Sourdough starter.md", score=0.7, way=None),
        answer=Answer(verdict="orphan", argument=argument, sources=(source,), edge=""),
        model="Codex (gpt-5.5)", note="dreams/2026-11-30 dream.md",
    )  # fmt: skip
    assert render_orphan(reached) == example("orphan-note")


def test_the_report_note() -> None:
    text = example("report-note")
    block, problems = read_report(text)
    assert problems == ()
    assert block is not None
    report = Report(
        nights=block.nights,
        waiting=(("Notes to merge", 1),),
        conflicts=(("Rain", "Rain in the log"),),
        look_alike=(("Compost", "Hot heaps"),),
    )
    assert f"{render_report_head()}{render_report(report)}\n" == text


def test_the_lists_of_what_nobody_has_settled() -> None:
    pairs, conflicts, due = example("near-pairs"), example("open-contradictions"), example("reminders")
    boxes: dict[str, str] = {}
    for name, text in (
        (open_pairs.NAME, pairs), (open_conflicts.NAME, conflicts), (open_reminders.NAME, due)
    ):  # fmt: skip
        assert read_answers(text, name).given == ()
        for line in (line for line in text.splitlines() if line.startswith("- [ ]")):
            (answer,) = read_answers(text.replace(line, line.replace("[ ]", "[x]")), name).given
            boxes["undo until …" if answer.is_undo else answer.what] = MARKS[answer.what]
            assert answer.key in line
    documented = {names(row[0])[0]: row[1] for row in table("| box | its id | once ticked |")}
    assert boxes.keys() == documented.keys()
    assert all(f"`^{mark}-…`" in documented[what] for what, mark in boxes.items() if what in MARKS)
    assert set(MARKS) == set(WHATS) == set(documented) - {"undo until …"}
    item = OpenConflict(
        key="fd61a03af4f77d870fc21e05e7e80678", first="Rain", second="Rain in the log", subject="rain week",
        first_claim="It rains 3 days a week.", second_claim="It rains 4 days a week.",
    )  # fmt: skip
    assert render_open([item]) == conflicts.strip()
    note = parse_note("---\nreview_by: 2026-10-31\n---\nHail is covered.\n")
    reminders = list(stale_by_date("Insurance.md", note, today=date(2026, 11, 30)))
    assert render_reminders(reminders, lambda _path: "[[Insurance]]") == due.strip()
    members = [
        Member(id=passage_id("Compost.md", ()), path="Compost.md", title="Compost", state="", is_note=True),
        Member(
            id=passage_id("Garden/Heaps.md", ("Hot heaps",)),
            path="Garden/Heaps.md",
            title="Heaps › Hot heaps",
            state="",
            is_note=False,
        ),
    ]
    found = Candidate(key="9f86d081884c7d659a2feaa0c55ad015" * 2, first=members[0], second=members[1], rank=1,
                      cosine=0.93, overlap=0.61)  # fmt: skip
    decided = Decided(
        key="60303ae22b998861bce3b28f33eec1be", what="different", titles=("Tides", "Ebb"), until="2 Dec 01:07"
    )
    difference = Difference(
        what="2 sentences are the same, and the rest is told in other words or only once",
        only_first=("A hot heap is turned twice a week.",),
        only_second=("A cold heap is turned twice a week.",),
    )
    shown = render_pairs(
        [OpenPair(pair=found, reason="rank 1 by likeness; one says “hot”, the other “cold”", difference=difference)],
        lambda path: f"[[{path.rpartition('/')[2].removesuffix('.md')}]]",
        section=lambda member: "[[Compost]]" if member.is_note else "[[Heaps#Hot heaps]]",
        decided=[decided],
    )
    assert shown == pairs.strip()


def test_what_was_settled() -> None:
    (one,) = parse_settled(example("settled")).values()
    assert (one.what, one.titles) == ("different", ("Tides", "Ebb"))
    records = [record for _, record in parse_records(example("settled"))[0]]
    documented = {names(row[0])[0]: set(names(row[1])) for row in table("| type | holds | meaning |")}
    assert {str(record["type"]): set(record) - {"type", "version", "at"} for record in records} == documented
    assert records[0] == settled_record(one.key, one.what, one.titles, one.at)
    assert records[2] == recalled_record(str(records[2]["key"]), datetime.fromisoformat(str(records[2]["at"])))


def test_consolidations() -> None:
    (run,) = parse_consolidations(example("consolidations"))
    assert run.end is End.DONE
    assert run.is_told
    assert (run.proposals, run.escalated, run.pairs_judged) == (["cn2sit"], 1, 1)
    records = [record for _, record in parse_records(example("consolidations"))[0]]
    head = {"type", "version", "event", "id", "at"}
    rows = table("| event | holds | meaning |\n| --- | --- | --- |\n| `started`")
    documented = {names(row[0])[0]: names(row[1]) for row in rows}
    assert list(documented) == ["started", "resumed", "triaged", "judged", "brought", "ended", "told"]
    for record in records:
        assert set(record) - head == set(documented[str(record["event"])])
    verdicts = next(line for line in PAGE.splitlines() if line.startswith("Verdicts: "))
    assert names(verdicts)[: len(WORDS)] == list(WORDS)


def test_the_changes_of_the_review_note() -> None:
    text = example("review-changes")
    block, problems = read_managed(text)
    assert problems == ()
    assert block is not None
    assert f"{render_review_head()}{render_managed(block.items, block.changes)}\n" == text
    assert [change.kind for change in block.changes] == [kind for kind in KINDS if kind != "link"]
    page = table_free("**Bold line**")
    assert [name for name in names(page) if name in LEADS.values()] == list(LEADS.values())
    assert [name for name in names(page) if name in VERBS.values()] == list(VERBS.values())
    assert [name for name in names(table_free("**Decided line**, in place of all that")) if name in DONE.values()] == [
        *DONE.values()
    ]
    assert {key for key in NOT_SHOWN if f"`{key}`" in table_free("**Other lines**")} == {"body", "model"}
    assert f"at most {MOST_REMARKS} are shown" in PAGE
    assert f"Beyond {MOST_LINES} lines" in PAGE
    assert {tick.id for tick in read_ticks(text)[0]} == {"stfamx", "cfz4qq"}


def table_free(start: str) -> str:
    """The list item that starts so."""
    (line,) = (line for line in PAGE.splitlines() if line.startswith(f"- {start}"))
    return line


def test_the_seeds_note() -> None:
    seeds, problems = parse_seeds(example("seeds-note"))
    assert problems == ()
    assert [seed.kind for seed in seeds] == ["external-novelty", "internal"]
    assert tuple(names(row[0])[0] for row in table("### `Dream seeds.md`")) == KEYS


def test_proposals() -> None:
    states, problems = parse_journal(example("proposals"))
    assert problems == ()
    (state,) = states.values()
    assert (state.state, state.paths[0], state.janus) == ("applied", "garden/Compost.md", "STANDS")
    assert state.edits
    rows = {names(row[0])[0]: row for row in table("Every record has `event`")}
    assert tuple(rows) == (*EVENTS, "renamed")
    assert set(names(rows["proposed"][2])) == set(proposed_record(state.proposal)) - {"event", "version", "at", "id"}
    edits = planned_record("x", state.edits, AT)["edits"]
    assert isinstance(edits, list)
    assert set(names(rows["planned"][2])) == {"edits", *edits[0]}
    assert names(next(line for line in PAGE.splitlines() if line.startswith("- `kind`:"))) == ["kind", *KINDS]


@pytest.mark.parametrize("event", [event for event in get_args(Event) if event != "proposed"])
def test_states_are_as_the_table_says(event: Event) -> None:
    before = ["applied"] if event == "rolled_back" else ["rejected"] if event == "reopened" else []
    paths = ("A.md", "B.md")
    id_ = proposal_id("link", paths, 0)
    proposal = Proposal(id=id_, kind="link", paths=paths, round=0, at=AT, expires_at=None, titles=("A", "B"))
    details: dict[str, object] = {"edits": [], "edge": "feeds", "verdict": "STANDS"}
    steps = [event_record(name, id_, AT, **details) for name in (*before, event)]  # type: ignore[arg-type] # literals
    states, problems = parse_journal("\n".join(json.dumps(step) for step in [proposed_record(proposal), *steps]))
    assert problems == ()
    documented = {names(row[0])[0]: row[1].strip("`") for row in table("Every record has `event`")}[event]
    assert states[id_].state == ("proposed" if documented == "unchanged" else documented)


def test_runs() -> None:
    (episode,), problems = parse_episodes(example("runs"))
    assert problems == ()
    assert isinstance(episode, EpisodeRecord)
    documented = [names(row[0])[0] for row in table("### `runs.jsonl`")]
    assert documented == list(episode_record(episode))
    (record,), _ = parse_records(example("runs"))
    assert record[1] == json.loads(json.dumps(episode_record(episode)))


def test_the_dream_log() -> None:
    text = example("dream-log")
    shown = visible(text)
    (section,) = find_sections(shown)
    assert section_labels(section.body) == dict.fromkeys(LABELS, True)
    (candidate,) = find_candidates(shown)
    assert [name for name, _ in candidate.fields] == [name.replace("_", " ") for name in FIELDS]
    assert current_status(shown) == {candidate.id: "approved"}
    before = render_log_head().encode()
    assert text.startswith(before.decode())
    proposed, _, status = text.partition("\n### status")
    row = example("lessons").splitlines(keepends=True)[0].encode()
    earlier = row.replace(b'"l004"', b'"l003"')
    first = check(take_snapshot(before, earlier), proposed.encode(), earlier + row, "2026-11-30")
    assert first.failures == ()
    after = f"{proposed}\n### status{status}".encode()
    again = check(take_snapshot(proposed.encode(), b""), after, b"", "2026-12-01")
    assert again.failures == ()


def test_the_lessons() -> None:
    rows = read_rows(example("lessons").encode())
    documented = [names(row[0])[0] for row in table("### `runtime/LESSONS.jsonl`")]
    for number, row in enumerate(rows, start=4):
        assert row.record is not None
        assert list(row_failures(row.record, number=number, date="2026-11-30")) == []
        assert list(row.record) == documented
    described = {names(row[0])[0]: row[1] for row in table("### `runtime/LESSONS.jsonl`")}
    assert tuple(names(described["type"])) == LESSON_TYPES
    assert [name for name in names(described["admission"]) if name in ADMISSION_KINDS] == list(ADMISSION_KINDS)
    assert str(MECHANICAL_CAP) in described["confidence"]


def test_the_evidence() -> None:
    rows, problems = parse_evidence(example("evidence"), UTC)
    assert problems == ()
    assert len(find_red_green(rows)) == 1


def test_the_snapshot() -> None:
    text = example("snapshot")
    assert render_snapshot(take_snapshot(render_log_head().encode(), b"")) == text
    document = json.loads(text)
    described = {names(row[0])[0]: names(row[1]) for row in table("### The snapshot of")}
    assert list(described) == list(document)
    for part in ("dream", "lessons"):
        assert [name for name in described[part] if name in document[part]] == list(document[part])


def test_where_the_sources_lie() -> None:
    documented = [names(row[0])[0] for row in table("### The memory folder")]
    assert source_paths(Settings()) == tuple(getattr(Settings(), key) for key in documented)


def test_runs_of_the_daemon() -> None:
    text = example("daemon-runs")
    log = parse_run_log(text)
    (run,) = log.runs
    assert log.since is not None
    records = [json.loads(line) for line in text.splitlines()]
    assert records == [since_record(log.since), started_record(run), ended_record(run)]
    rows = {names(row[0])[0]: row[1] for row in table("| field of a run |")}
    assert set(rows) == {*records[1], *records[2]} - {"type", "version", "at"}
    ends = [end.value for end in RunEnd]
    assert [name for name in names(rows["end"]) if name in ends] == ends


def test_the_status() -> None:
    status = parse_status(example("status"))
    assert status is not None
    assert json.loads(render_status(status)) == json.loads(example("status"))
    rows = {names(row[0])[0]: row[1] for row in table("### `status.json`")}
    assert list(rows) == list(json.loads(render_status(status)))
    assert tuple(names(rows["doing"])) == DOINGS
    assert names(rows["last_run"])[:-1] == [field.name for field in fields(LastRun)]


def test_files_for_measuring_a_reach() -> None:
    items, problems = parse_reach_corpus(example("reach-corpus"))
    assert problems == ()
    assert [item.is_external for item in items] == [False, True]
    documented = {name for row in table("### `examples/reach-corpus.jsonl`") for name in names(row[0] + row[1])}
    for line in example("reach-corpus").splitlines():
        assert set(json.loads(line)) <= documented
    models, answers, faults = parse_reach_answers(example("reach-answers"))
    assert faults == ()
    records = [*map(model_record, models), *map(answer_record, answers)]
    assert records == [json.loads(line) for line in example("reach-answers").splitlines()]
    rows = {name: row[1] for row in table("### `examples/reach-answers.jsonl`") for name in names(row[0])}
    assert set(rows) == {*records[0], *records[1], "honest"} - {"type"}
    assert names(rows["made"]) == sorted(MADE)
    assert set(names(rows["findings"])) == set(FINDINGS)


def test_the_consent(tmp_path: Path) -> None:
    (tmp_path / CONSENT).write_text(example("consent"), encoding="utf-8")
    found = read_consent(tmp_path, machine="desk")
    assert isinstance(found, Confirmed)
    assert isinstance(read_consent(tmp_path, machine="lap"), Unconfirmed)
    write_consent(tmp_path, AT)
    documented = [names(row[0])[0] for row in table("### `consent.json`")]
    written = json.loads((tmp_path / CONSENT).read_text("utf-8"))
    assert documented == list(written) == list(json.loads(example("consent")))


def test_markers() -> None:
    documented = {names(row[0])[0] for row in table("Our own notes bear")}
    written = (render_head(date(2026, 1, 1)), render_review_head(), render_seeds_head(), render_log_head())
    assert {found for text in written for found in re.findall(r"^aria-dream: (\w+)$", text, re.MULTILINE)} <= documented
